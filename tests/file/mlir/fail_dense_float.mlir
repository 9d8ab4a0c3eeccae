// RUN: hlo-opt --emit=none %s
func.func @main() {
  %0 = stablehlo.constant dense<1.5> : tensor<i32>
  return
}
