// RUN: hlo-opt --passes=stablehlo-legalize-quant-to-math %s
// Open dimensions: constants are broadcast to the sizes of the value.
func.func @main(%x: tensor<?x4xf32>, %y: tensor<?x4x!quant.uniform<i8:f32:1, {0.5, 0.25, 1.0, 2.0:1}>>) -> tensor<?x4x!quant.uniform<i8:f32, 0.5:3>> {
  %0 = stablehlo.uniform_quantize %x : (tensor<?x4xf32>) -> tensor<?x4x!quant.uniform<i8:f32, 0.5:3>>
  %1 = "stablehlo.add"(%0, %y) : (tensor<?x4x!quant.uniform<i8:f32, 0.5:3>>, tensor<?x4x!quant.uniform<i8:f32:1, {0.5, 0.25, 1.0, 2.0:1}>>) -> tensor<?x4x!quant.uniform<i8:f32, 0.5:3>>
  return %1 : tensor<?x4x!quant.uniform<i8:f32, 0.5:3>>
}
