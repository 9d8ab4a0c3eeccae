// RUN: hlo-opt --emit=none %s
func.func @main(%a: tensor<4x!quant.uniform<f99:f32, 1.0>>) {
  return
}
