// RUN: hlo-opt --emit=hlo %s
func.func @main(%a: tensor<2x2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.unary_einsum %a, config = "ii->i" : (tensor<2x2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
