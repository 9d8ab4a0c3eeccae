// RUN: hlo-opt --passes=chlo-legalize-to-stablehlo %s

func.func @main(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "chlo.constant_like"(%arg0) <{value = 2.5 : f32}> : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
func.func @open(%arg0: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %0 = "chlo.constant_like"(%arg0) <{value = 2.5 : f32}> : (tensor<?x2xf32>) -> tensor<?x2xf32>
  func.return %0 : tensor<?x2xf32>
}
