// RUN: hlo-opt --emit=none %s
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r = stablehlo.custom_call @f(%a, %b) {operand_layouts = [dense<0> : tensor<1xindex>]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
