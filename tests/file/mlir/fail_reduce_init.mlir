// RUN: hlo-opt --emit=none %s
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %s = stablehlo.reduce(%a) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>) -> tensor<f32>
  return %r : tensor<4xf32>
}
