// RUN: hlo-opt --emit=none %s
func.func @main(%c: tensor<i1>, %a: tensor<i32>, %b: tensor<f32>) {
  %0 = "stablehlo.if"(%c) ({
    stablehlo.return %a : tensor<i32>
  }, {
    stablehlo.return %b : tensor<f32>
  }) : (tensor<i1>) -> tensor<i32>
  return
}
