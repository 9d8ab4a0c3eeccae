// RUN: hlo-opt --emit=none %s
// B29: quantised types are read, per tensor, per axis and by blocks.
func.func @main(%x: tensor<4xf32>, %y: tensor<4x2x!quant.uniform<i8:f32:{0:2, 1:2}, {{2.0:10}, {3.0:1}}>>)
    -> (tensor<4x!quant.uniform<i8:f32, 0.5:3>>, tensor<4x!quant.uniform<u8:f32:0, {0.5, 0.25:7, 1.0, 2.0}>>) {
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5:3>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<4x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<4xf32>
  %2 = stablehlo.uniform_quantize %1 : (tensor<4xf32>) -> tensor<4x!quant.uniform<u8:f32:0, {0.5, 0.25:7, 1.0, 2.0}>>
  return %0, %2 : tensor<4x!quant.uniform<i8:f32, 0.5:3>>, tensor<4x!quant.uniform<u8:f32:0, {0.5, 0.25:7, 1.0, 2.0}>>
}
