// CHLO, quantised types, Shardy, kept attributes, transfers: printed as they were.
// RUN: hlo-opt --emit=stablehlo %s
module @more attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32, jax.uses_shape_polymorphism = false} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4x3xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>, tf.aliasing_output = 0 : i32}, %b: tensor<3xf32> {jax.buffer_donor = true, mhlo.layout_mode = "{0}"}, %t: !stablehlo.token, %i: tensor<2xi32>) -> (tensor<4x3xf32> {jax.result_info = "r", sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
    %0 = chlo.broadcast_add %a, %b {broadcast_dimensions = array<i64: 1>} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
    %1 = chlo.broadcast_compare %a, %b {broadcast_dimensions = array<i64: 1>, compare_type = #chlo<comparison_type FLOAT>, comparison_direction = #chlo<comparison_direction LT>} : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xi1>
    %2 = chlo.lgamma %0 : tensor<4x3xf32> -> tensor<4x3xf32>
    %v, %ix = chlo.top_k(%2, k = 2) : tensor<4x3xf32> -> (tensor<4x2xf32>, tensor<4x2xi32>)
    %3 = "chlo.constant_like"(%a) <{value = 1.5 : f32}> : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %4 = stablehlo.uniform_quantize %3 : (tensor<4x3xf32>) -> tensor<4x3x!quant.uniform<i8<-100:100>:f32:1, {0.1:-30, 0.5, 2.0:3}>>
    %5 = stablehlo.uniform_dequantize %4 : (tensor<4x3x!quant.uniform<i8<-100:100>:f32:1, {0.1:-30, 0.5, 2.0:3}>>) -> tensor<4x3xf32>
    %6 = sdy.sharding_constraint %5 <@mesh, [{"x"}, {}]> : tensor<4x3xf32>
    %7 = sdy.manual_computation(%6) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%x: tensor<2x3xf32>) {
      %y = stablehlo.tanh %x : tensor<2x3xf32>
      sdy.return %y : tensor<2x3xf32>
    } : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %8 = stablehlo.add %7, %a {mhlo.frontend_attributes = {k = "v", "x y" = "1"}, my_attr = [1 : i32, "two"]} : tensor<4x3xf32>
    %9 = "stablehlo.send"(%8, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<4x3xf32>, !stablehlo.token) -> !stablehlo.token
    %10:3 = "stablehlo.infeed"(%9) <{infeed_config = "x"}> : (!stablehlo.token) -> (tensor<3xf32>, tensor<2xi32>, !stablehlo.token)
    %11 = mhlo.copy %8 : tensor<4x3xf32>
    %12 = stablehlo.exponential %11 {result_accuracy = #stablehlo.result_accuracy<rtol = 1.000000e-03, ulps = 2, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4x3xf32>
    return %12 : tensor<4x3xf32>
  }
}
