// RUN: hlo-opt --emit=none %s
func.func @main(%a: tensor<f32>) -> tensor<f32> {
  return
}
