// RUN: hlo-run %s
// Dimensions without bound have a size of their own when inputs are seeded, the same everywhere.
func.func @main(%a: tensor<?x4xf32>, %b: tensor<4x?xf32>) -> (tensor<?x?xf32>, tensor<i32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<?x4xf32>, tensor<4x?xf32>) -> tensor<?x?xf32>
  %1 = stablehlo.get_dimension_size %0, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
  return %0, %1 : tensor<?x?xf32>, tensor<i32>
}
