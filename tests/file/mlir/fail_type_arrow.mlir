// RUN: hlo-opt --emit=none %s
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r = stablehlo.dot %a, %b : tensor<4xf32>
  return %r : tensor<4xf32>
}
