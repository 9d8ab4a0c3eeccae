// RUN: hlo-opt --emit=none %s
func.func @main(%a: tensor<i32>) {
  %0:2 = stablehlo.while(%i = %a, %j = %a) : tensor<i32>
  cond {
  } do {
  }
  return
}
