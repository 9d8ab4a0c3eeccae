// RUN: hlo-opt --emit=none %s
func.func @main(%a: tensor<f32>) -> tensor<i32> {
  return %a : tensor<f32>
}
