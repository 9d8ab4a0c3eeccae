// RUN: hlo-opt --emit=none %s
func.func @main(%c: tensor<i1>) {
  "stablehlo.if"(%c) ({
    func.return
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> ()
  return
}
