// RUN: hlo-opt --emit=none %s
func.func @main(%c: tensor<i1>) {
  "stablehlo.if"(%c) ({
  ^bb0(%x: tensor<i32>):
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> ()
  return
}
