// What HLO has no form for, each with one error.
// RUN: hlo-opt --emit=hlo %s
func.func @main(%a: tensor<2x2xf32>, %n: tensor<1xi32>) -> (tensor<2xf32>, tensor<?xf32>) {
  %0 = stablehlo.unary_einsum %a, config = "ii->i" : (tensor<2x2xf32>) -> tensor<2xf32>
  %1 = stablehlo.dynamic_reshape %a, %n : (tensor<2x2xf32>, tensor<1xi32>) -> tensor<?xf32>
  return %0, %1 : tensor<2xf32>, tensor<?xf32>
}
