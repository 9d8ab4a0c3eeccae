// RUN: hlo-opt --emit=none %s
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<true> : tensor<i1>
  %x = "stablehlo.if"(%c) ({
    %y = stablehlo.add %a, %b : tensor<4xf32>
    stablehlo.return %y : tensor<4xf32>
  }, {
    stablehlo.return %a : tensor<4xf32>
  }) : (tensor<i1>) -> tensor<4xf32>
  %r = stablehlo.add %y, %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
