// RUN: hlo-opt --passes=chlo-legalize-to-stablehlo %s

func.func @main(%arg0: tensor<2xbf16>, %arg1: tensor<2xbf16>) -> tensor<2xbf16> {
  %0 = "chlo.next_after"(%arg0, %arg1) : (tensor<2xbf16>, tensor<2xbf16>) -> tensor<2xbf16>
  func.return %0 : tensor<2xbf16>
}
