// RUN: hlo-opt --emit=none %s
func.func @main(%a: tensor<i32>) {
  %0 = "stablehlo.while"(%a) ({
  ^bb0(%x: tensor<i32>):
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<i32>) -> tensor<i32>
  return
}
