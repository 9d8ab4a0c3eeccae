// RUN: hlo-opt --emit=none %s
func.func @main() {
  %0 = stablehlo.constant dense<1.0> : tensor<complex<f32>>
  return
}
