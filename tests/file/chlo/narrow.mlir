// RUN: hlo-opt --passes=chlo-legalize-to-stablehlo %s
// 16-bit floats are computed in f32 and rounded once.

func.func @main(%arg0: tensor<2xf16>) -> tensor<2xf16> {
  %0 = "chlo.asinh"(%arg0) : (tensor<2xf16>) -> tensor<2xf16>
  func.return %0 : tensor<2xf16>
}
