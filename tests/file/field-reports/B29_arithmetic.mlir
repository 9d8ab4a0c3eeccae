// RUN: hlo-opt --emit=hlo %s
// B29: quantised arithmetic becomes that on real numbers, and the integers that are stored.
func.func @main(%x: tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5:3>> {
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5:3>>
  %1 = stablehlo.add %0, %0 : tensor<4x!quant.uniform<i8:f32, 0.5:3>>
  return %1 : tensor<4x!quant.uniform<i8:f32, 0.5:3>>
}
