// RUN: hlo-opt --passes=chlo-legalize-to-stablehlo %s
// HLO has these itself, and JAX leaves them to it.

func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "chlo.erf"(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
func.func @tan(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "chlo.tan"(%arg0) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
