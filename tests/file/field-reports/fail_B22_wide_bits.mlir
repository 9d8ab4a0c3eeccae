// RUN: hlo-opt --emit=none %s
// B22: bits of the wrong width are refused.
func.func @main() -> tensor<f32> {
  %0 = stablehlo.constant dense<0x7FF0000000000000> : tensor<f32>
  return %0 : tensor<f32>
}
