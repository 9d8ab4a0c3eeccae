// RUN: hlo2penguin --input=%s --output=penguin.py
func.func @main(%a: tensor<?x4xf32>, %n: tensor<3xi32>) -> tensor<?x?x4xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %n, dims = [1, 2] : (tensor<?x4xf32>, tensor<3xi32>) -> tensor<?x?x4xf32>
  return %0 : tensor<?x?x4xf32>
}
