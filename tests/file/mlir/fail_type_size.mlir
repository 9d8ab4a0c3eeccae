// RUN: hlo-opt --emit=none %s
func.func @main(%a: tensor<400000000000000000x400000000000000000xf32>) {
  return
}
