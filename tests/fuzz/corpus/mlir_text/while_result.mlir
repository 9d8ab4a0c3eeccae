// RUN: hlo-opt --emit=none %s
func.func @main(%a: tensor<i32>) {
  %0 = stablehlo.while(%i = %a) : tensor<i32>
  cond {
    %c = stablehlo.constant dense<true> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    stablehlo.return %i, %i : tensor<i32>, tensor<i32>
  }
  return
}
