// RUN: hlo-opt --emit=none %s
func.func @main() {
  %0 = stablehlo.constant dense<2> : tensor<i1>
  return
}
