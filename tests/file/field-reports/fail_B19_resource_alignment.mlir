// RUN: hlo-opt --emit=none %s
// B19: an alignment of 0 is an error, not an allocation that fails.
func.func @main() -> tensor<1xf32> {
  %0 = stablehlo.constant dense_resource<w> : tensor<1xf32>
  return %0 : tensor<1xf32>
}
{-# dialect_resources: { builtin: { w: "0x0000000000008040" } } #-}
