// RUN: hlo-opt --emit=none %s
func.func @main(%a: tensor<4x!quant.uniform<i8:f32, -1.0>>) {
  return
}
