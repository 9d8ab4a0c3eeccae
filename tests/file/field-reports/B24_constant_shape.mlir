// RUN: hlo-opt --emit=hlo %s
func.func @main(%a: tensor<1x4xf32>) -> tensor<?x?x4xf32> {
  %n = stablehlo.constant dense<[2, 3, 4]> : tensor<3xi32>
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %n, dims = [1, 2] : (tensor<1x4xf32>, tensor<3xi32>) -> tensor<?x?x4xf32>
  return %0 : tensor<?x?x4xf32>
}
