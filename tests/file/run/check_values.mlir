// RUN: hlo-run --check %s
// What StableHLO's and MHLO's operations give, against values worked out by hand.
func.func @dynamic_conv() {
  %lhs = stablehlo.constant dense<[[[1.0], [2.0], [3.0]]]> : tensor<1x3x1xf32>
  %rhs = stablehlo.constant dense<[[[10.0]], [[1.0]]]> : tensor<2x1x1xf32>
  %pad = stablehlo.constant dense<[[1, 0]]> : tensor<1x2xi64>
  %0 = "stablehlo.dynamic_conv"(%lhs, %rhs, %pad) {
    window_strides = array<i64: 1>,
    dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>,
    batch_group_count = 1 : i64, feature_group_count = 1 : i64
  } : (tensor<1x3x1xf32>, tensor<2x1x1xf32>, tensor<1x2xi64>) -> tensor<1x3x1xf32>
  check.expect_eq_const %0, dense<[[[1.0], [12.0], [23.0]]]> : tensor<1x3x1xf32>
  return
}
func.func @minimum_broadcast_shapes() {
  %a = stablehlo.constant dense<[2, 3, 4]> : tensor<3xindex>
  %b = stablehlo.constant dense<[3, 4]> : tensor<2xindex>
  %0:2 = mhlo.minimum_broadcast_shapes %a, %b : tensor<3xindex>, tensor<2xindex> -> tensor<?xindex>, tensor<?xindex>
  check.expect_eq_const %0#0, dense<[2, 12]> : tensor<2xindex>
  check.expect_eq_const %0#1, dense<[12]> : tensor<1xindex>
  return
}
func.func @trace() {
  %a = stablehlo.constant dense<[2, 3]> : tensor<2xi32>
  "mhlo.trace"(%a) {tag = "seen"} : (tensor<2xi32>) -> ()
  check.expect_eq_const %a, dense<[2, 3]> : tensor<2xi32>
  return
}
// zeta(2, 1) = pi^2 / 6, polygamma(1, x) = zeta(2, x) = zeta(2, x - 1) - 1 / (x - 1)^2.
func.func @zeta_and_polygamma_of_broadcast_operands() {
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %x = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = chlo.broadcast_zeta %two, %x : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  check.expect_close_const %0, dense<[1.64493407, 0.644934067, 0.394934067]> : tensor<3xf32>
  %1 = chlo.broadcast_polygamma %one, %x : (tensor<f32>, tensor<3xf32>) -> tensor<3xf32>
  check.expect_close_const %1, dense<[1.64493407, 0.644934067, 0.394934067]> : tensor<3xf32>
  return
}
func.func @ragged_dot() {
  %lhs = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %rhs = stablehlo.constant dense<[[[1.0], [10.0]], [[100.0], [1000.0]]]> : tensor<2x2x1xf32>
  %sizes = stablehlo.constant dense<[2, 1]> : tensor<2xi64>
  %0 = "chlo.ragged_dot"(%lhs, %rhs, %sizes) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<
      lhs_batching_dimensions = [], rhs_batching_dimensions = [],
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1],
      lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>
  } : (tensor<3x2xf32>, tensor<2x2x1xf32>, tensor<2xi64>) -> tensor<3x1xf32>
  check.expect_eq_const %0, dense<[[21.0], [43.0], [6500.0]]> : tensor<3x1xf32>
  return
}
func.func @scan_from_the_far_end() {
  %x = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %init = stablehlo.constant dense<100> : tensor<i32>
  %0:2 = chlo.scan(%x) inits(%init) dimension=0 attributes {is_reverse = true} {
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %1 = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %1, %1 : tensor<i32>, tensor<i32>
  } : (tensor<4xi32>, tensor<i32>) -> (tensor<4xi32>, tensor<i32>)
  check.expect_eq_const %0#0, dense<[110, 109, 107, 104]> : tensor<4xi32>
  check.expect_eq_const %0#1, dense<110> : tensor<i32>
  return
}
// 1.5 = 3 * 0.5: the sum of the real numbers, quantised again and clamped to what i8 holds.
func.func @quantised_reduce() {
  %x = stablehlo.constant dense<[[1.5, -0.5], [2.0, 1.0]]> : tensor<2x2xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %q = stablehlo.uniform_quantize %x : (tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<i8:f32, 0.5:3>>
  %i = stablehlo.uniform_quantize %zero : (tensor<f32>) -> tensor<!quant.uniform<i8:f32, 0.5:3>>
  %0 = "stablehlo.reduce"(%q, %i) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<!quant.uniform<i8:f32, 0.5:3>>):
    %1 = stablehlo.add %a, %b : tensor<!quant.uniform<i8:f32, 0.5:3>>
    stablehlo.return %1 : tensor<!quant.uniform<i8:f32, 0.5:3>>
  }) : (tensor<2x2x!quant.uniform<i8:f32, 0.5:3>>, tensor<!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  %r = stablehlo.uniform_dequantize %0 : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2xf32>
  check.expect_eq_const %r, dense<[3.5, 0.5]> : tensor<2xf32>
  %big = stablehlo.constant dense<[60.0, 40.0]> : tensor<2xf32>
  %bq = stablehlo.uniform_quantize %big : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 0.5:3>>
  %2 = "stablehlo.reduce"(%bq, %i) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<!quant.uniform<i8:f32, 0.5:3>>, %b: tensor<!quant.uniform<i8:f32, 0.5:3>>):
    %1 = stablehlo.add %a, %b : tensor<!quant.uniform<i8:f32, 0.5:3>>
    stablehlo.return %1 : tensor<!quant.uniform<i8:f32, 0.5:3>>
  }) : (tensor<2x!quant.uniform<i8:f32, 0.5:3>>, tensor<!quant.uniform<i8:f32, 0.5:3>>) -> tensor<!quant.uniform<i8:f32, 0.5:3>>
  %s = stablehlo.uniform_dequantize %2 : (tensor<!quant.uniform<i8:f32, 0.5:3>>) -> tensor<f32>
  check.expect_eq_const %s, dense<62.0> : tensor<f32>
  return
}
func.func @triangular_solve_with_a_zero_on_the_diagonal() {
  %a = stablehlo.constant dense<[[2.0, 0.0], [1.0, 0.0]]> : tensor<2x2xf32>
  %b = stablehlo.constant dense<[[4.0], [3.0]]> : tensor<2x1xf32>
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
  check.expect_eq_const %0, dense<[[2.0], [0x7F800000]]> : tensor<2x1xf32>
  return
}
func.func private @twice_plus(%a: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.add %a, %a : tensor<2xf32>
  %1 = stablehlo.add %0, %b : tensor<2xf32>
  return %1 : tensor<2xf32>
}
func.func @composite() {
  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = stablehlo.constant dense<[10.0, 20.0]> : tensor<2xf32>
  %0 = stablehlo.composite "my.op" %a, %b {decomposition = @twice_plus} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  check.expect_eq_const %0, dense<[12.0, 24.0]> : tensor<2xf32>
  return
}
func.func private @sum(%a: tensor<2xi32>) -> tensor<2xi32> {
  %0 = "mhlo.cross-replica-sum"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2xi32>) -> tensor<2xi32>
  return %0 : tensor<2xi32>
}
func.func @cross_replica_sum() {
  %a = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %b = stablehlo.constant dense<[10, 20]> : tensor<2xi32>
  %0:2 = "interpreter.run_parallel"(%a, %b) {programs = [[@sum], [@sum]]} : (tensor<2xi32>, tensor<2xi32>) -> (tensor<2xi32>, tensor<2xi32>)
  check.expect_eq_const %0#0, dense<[11, 22]> : tensor<2xi32>
  check.expect_eq_const %0#1, dense<[11, 22]> : tensor<2xi32>
  return
}
