// RUN: hlo-opt --passes=chlo-legalize-to-stablehlo %s

func.func @main(%arg0: tensor<2xf32>) -> tensor<2xi1> {
  %0 = "chlo.is_inf"(%arg0) : (tensor<2xf32>) -> tensor<2xi1>
  func.return %0 : tensor<2xi1>
}
func.func @positive(%arg0: tensor<2xf32>) -> tensor<2xi1> {
  %0 = "chlo.is_pos_inf"(%arg0) : (tensor<2xf32>) -> tensor<2xi1>
  func.return %0 : tensor<2xi1>
}
func.func @negative(%arg0: tensor<2xf32>) -> tensor<2xi1> {
  %0 = "chlo.is_neg_inf"(%arg0) : (tensor<2xf32>) -> tensor<2xi1>
  func.return %0 : tensor<2xi1>
}
