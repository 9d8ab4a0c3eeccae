// RUN: hlo-opt --emit=none %s
func.func @main(%a: tensor<4xf32, #stablehlo.bounds<3>>) {
  return
}
