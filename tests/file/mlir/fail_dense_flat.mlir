// RUN: hlo-opt --emit=none %s
func.func @main() {
  %0 = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<2x2xi32>
  return
}
