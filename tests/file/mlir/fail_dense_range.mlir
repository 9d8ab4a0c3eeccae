// RUN: hlo-opt --emit=none %s
func.func @main() {
  %0 = stablehlo.constant dense<256> : tensor<i8>
  return
}
