// RUN: hlo-opt --emit=none %s
// B20: so is one that the section lacks.
func.func @main() -> tensor<2xf32> {
  %0 = stablehlo.constant dense_resource<w1> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
{-# dialect_resources: { builtin: { w: "0x040000000000803F0000803F" } } #-}
