// RUN: hlo-opt --emit=none %s
func.func @main(%a: tensor<complex<i32>>) {
  return
}
