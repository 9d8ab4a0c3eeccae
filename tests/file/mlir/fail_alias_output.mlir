// RUN: hlo-opt --emit=none %s
func.func @main(%a: tensor<f32> {tf.aliasing_output = 1 : i32}) -> tensor<f32> {
  return %a : tensor<f32>
}
