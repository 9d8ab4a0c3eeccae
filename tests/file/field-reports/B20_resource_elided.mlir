// RUN: hlo-opt --emit=stablehlo %s
// B20: a value that its printer left out says so itself.
func.func @main() -> tensor<2xf32> {
  %0 = stablehlo.constant dense_resource<__elided__> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
