// A captured value is carried unchanged: the same loop in HLO.
// RUN: hlo-opt --emit=hlo %s
func.func @main(%x: tensor<2xf32>, %y: tensor<2xf32>, %i: tensor<i32>) -> tensor<2xf32> {
  %0:2 = stablehlo.while(%a = %x, %b = %i) : tensor<2xf32>, tensor<i32>
  cond {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %p = stablehlo.compare LT, %b, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %s = stablehlo.add %a, %y : tensor<2xf32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %j = stablehlo.add %b, %one : tensor<i32>
    stablehlo.return %s, %j : tensor<2xf32>, tensor<i32>
  }
  return %0#0 : tensor<2xf32>
}
