// Dynamic operations whose sizes are constants, or computed from constants and static types.
// RUN: hlo-opt --emit=hlo %s
func.func @main(%a: tensor<2x3xf32>, %s: tensor<f32>, %i: tensor<1xi32>) -> (tensor<4x2x3xf32>, tensor<?xf32>, tensor<3x4xi32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>) {
  %n = stablehlo.get_dimension_size %a, dim = 0 : (tensor<2x3xf32>) -> tensor<i32>
  %m = stablehlo.get_dimension_size %a, dim = 1 : (tensor<2x3xf32>) -> tensor<i32>
  %p = stablehlo.multiply %n, %m : tensor<i32>
  %shape = stablehlo.reshape %p : (tensor<i32>) -> tensor<1xi32>
  %0 = stablehlo.constant dense<[4, 2, 3]> : tensor<3xi32>
  %1 = stablehlo.dynamic_broadcast_in_dim %a, %0, dims = [1, 2] : (tensor<2x3xf32>, tensor<3xi32>) -> tensor<4x2x3xf32>
  %2 = stablehlo.dynamic_reshape %a, %shape : (tensor<2x3xf32>, tensor<1xi32>) -> tensor<?xf32>
  %3 = stablehlo.tanh %2 : tensor<?xf32>
  %4 = stablehlo.constant dense<[3, 4]> : tensor<2xi32>
  %5 = stablehlo.dynamic_iota %4, dim = 1 : (tensor<2xi32>) -> tensor<3x4xi32>
  %6 = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
  %7 = stablehlo.constant dense<[0, 2]> : tensor<2xi32>
  %8 = stablehlo.dynamic_pad %a, %s, %6, %7, %6 : (tensor<2x3xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  %9 = stablehlo.constant dense<[2, 2]> : tensor<2xi32>
  %10 = stablehlo.constant dense<1> : tensor<2xi32>
  %11 = stablehlo.real_dynamic_slice %a, %6, %9, %10 : (tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  %12 = stablehlo.constant dense<[1, 3]> : tensor<2xi32>
  %13 = "stablehlo.dynamic_gather"(%a, %i, %12) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [0]>}> : (tensor<2x3xf32>, tensor<1xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %1, %3, %5, %8, %11, %13 : tensor<4x2x3xf32>, tensor<?xf32>, tensor<3x4xi32>, tensor<?x?xf32>, tensor<?x?xf32>, tensor<?x?xf32>
}
