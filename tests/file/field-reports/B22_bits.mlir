// RUN: hlo-opt --emit=none %s
// B22: bits of the right width, and f64 data as f64.
func.func @main() -> (tensor<bf16>, tensor<f32>) {
  %0 = stablehlo.constant dense<0x7FC0> : tensor<bf16>
  %1 = stablehlo.constant dense<2.5> : tensor<f64>
  %2 = stablehlo.convert %1 : (tensor<f64>) -> tensor<f32>
  return %0, %2 : tensor<bf16>, tensor<f32>
}
