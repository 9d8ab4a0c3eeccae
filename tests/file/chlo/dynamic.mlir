// RUN: hlo-opt --passes=chlo-legalize-to-stablehlo %s

func.func @main(%arg0: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %0 = "chlo.sinh"(%arg0) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  func.return %0 : tensor<?x2xf32>
}
func.func @broadcast(%arg0: tensor<?x?xf32>, %arg1: tensor<?xf32>) -> tensor<?x?xf32> {
  %0 = "chlo.broadcast_add"(%arg0, %arg1) : (tensor<?x?xf32>, tensor<?xf32>) -> tensor<?x?xf32>
  func.return %0 : tensor<?x?xf32>
}
