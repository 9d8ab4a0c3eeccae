// RUN: hlo-opt --passes=chlo-legalize-to-stablehlo %s

func.func @main(%arg0: tensor<2xi8>, %arg1: tensor<2xi8>) -> tensor<2xi8> {
  %0 = "chlo.mulhi"(%arg0, %arg1) : (tensor<2xi8>, tensor<2xi8>) -> tensor<2xi8>
  func.return %0 : tensor<2xi8>
}
func.func @of_64_bits(%arg0: tensor<2xi64>, %arg1: tensor<2xi64>) -> tensor<2xi64> {
  %0 = "chlo.mulhi"(%arg0, %arg1) : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi64>
  func.return %0 : tensor<2xi64>
}
func.func @unsigned(%arg0: tensor<2xui64>, %arg1: tensor<2xui64>) -> tensor<2xui64> {
  %0 = "chlo.mulhi"(%arg0, %arg1) : (tensor<2xui64>, tensor<2xui64>) -> tensor<2xui64>
  func.return %0 : tensor<2xui64>
}
