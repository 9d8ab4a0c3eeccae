// RUN: hlo-opt --emit=none %s
func.func @main(%a: tensor<*xf32>) {
  return
}
