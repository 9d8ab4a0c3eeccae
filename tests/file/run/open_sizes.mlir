// RUN: hlo-run %s
// Dimensions without bound have a size of their own when inputs are seeded, the same everywhere, as sizes that are operands.
func.func @main(%a: tensor<?x4xf32>, %b: tensor<4x?xf32>, %n: tensor<i32>) -> (tensor<?x?xf32>, tensor<i32>, tensor<?x2xi64>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<?x4xf32>, tensor<4x?xf32>) -> tensor<?x?xf32>
  %1 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  %2 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
  %3 = stablehlo.constant dense<2> : tensor<1xi32>
  %4 = stablehlo.concatenate %2, %3, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %5 = stablehlo.dynamic_iota %4, dim = 0 : (tensor<2xi32>) -> tensor<?x2xi64>
  return %0, %1, %5 : tensor<?x?xf32>, tensor<i32>, tensor<?x2xi64>
}
