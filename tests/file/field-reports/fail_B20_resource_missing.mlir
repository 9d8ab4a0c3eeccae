// RUN: hlo-opt --emit=none %s
// B20: a key without a resource is named.
func.func @main() -> tensor<2xf32> {
  %0 = stablehlo.constant dense_resource<w1> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
