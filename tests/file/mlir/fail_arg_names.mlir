// RUN: hlo-opt --emit=none %s
func.func @main(tensor<f32>) {
  return
}
