// RUN: hlo-opt --emit=hlo %s
// B29: what has no meaning is one error a value, with operation and type.
func.func @main(%x: tensor<4x!quant.any<i8:f32>>) -> tensor<4x!quant.any<i8:f32>> {
  %1 = stablehlo.add %x, %x : tensor<4x!quant.any<i8:f32>>
  return %1 : tensor<4x!quant.any<i8:f32>>
}
