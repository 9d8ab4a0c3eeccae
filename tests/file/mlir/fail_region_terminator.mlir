// RUN: hlo-opt --emit=none %s
func.func @main(%c: tensor<i1>) {
  "stablehlo.if"(%c) ({
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> ()
  return
}
