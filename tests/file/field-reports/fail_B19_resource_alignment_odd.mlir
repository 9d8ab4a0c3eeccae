// RUN: hlo-opt --emit=none %s
// B19: powers of two only.
func.func @main() -> tensor<1xf32> {
  %0 = stablehlo.constant dense_resource<w> : tensor<1xf32>
  return %0 : tensor<1xf32>
}
{-# dialect_resources: { builtin: { w: "0x0300000000008040" } } #-}
