// RUN: hlo-opt --emit=hlo %s
// Scalar predicates and bounds become arrays in HLO; CHLO is expanded on the way.

func.func @main(%p: tensor<i1>, %x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %low: tensor<f32>) -> tensor<2x3xf32> {
  %0 = stablehlo.select %p, %x, %y : tensor<i1>, tensor<2x3xf32>
  %1 = stablehlo.clamp %low, %0, %y : (tensor<f32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = chlo.square %1 : tensor<2x3xf32> -> tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}
