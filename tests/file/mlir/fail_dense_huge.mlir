// RUN: hlo-opt --emit=none %s
func.func @main() {
  %0 = stablehlo.constant dense<[1.0]> : tensor<1000000000000xf32>
  return
}
