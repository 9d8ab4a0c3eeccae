// RUN: hlo-opt --emit=none %s
// B24: dynamic dimensions are read.
func.func @main(%a: tensor<?x4xf32>, %n: tensor<2xi64>) -> tensor<?x4xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %n, dims = [0, 1] : (tensor<?x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  return %0 : tensor<?x4xf32>
}
