// RUN: hlo-opt --emit=hlo %s
func.func @main(%x: tensor<3x4xf32>) -> tensor<3x4x!quant.uniform<i8:f32:1, {0.5, 0.25}>> {
  %1 = stablehlo.uniform_quantize %x : (tensor<3x4xf32>) -> tensor<3x4x!quant.uniform<i8:f32:1, {0.5, 0.25}>>
  return %1 : tensor<3x4x!quant.uniform<i8:f32:1, {0.5, 0.25}>>
}
