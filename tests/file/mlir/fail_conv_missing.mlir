// RUN: hlo-opt --emit=none %s
func.func @main(%a: tensor<1x4x1xf32>, %k: tensor<1x1x1xf32>) {
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1]x[0, i, o]->[b, 0, f], window = {} : (tensor<1x4x1xf32>, tensor<1x1x1xf32>) -> tensor<1x4x1xf32>
  return
}
