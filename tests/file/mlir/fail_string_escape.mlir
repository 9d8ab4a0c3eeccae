// RUN: hlo-opt --emit=none %s
func.func @main() {
  %0 = stablehlo.custom_call @"a\q"() : () -> tensor<f32>
  return
}
