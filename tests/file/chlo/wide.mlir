// RUN: hlo-opt --passes=chlo-legalize-to-stablehlo %s
// f64 has polynomials of its own.

func.func @main(%arg0: tensor<2xf64>) -> tensor<2xf64> {
  %0 = "chlo.erf_inv"(%arg0) : (tensor<2xf64>) -> tensor<2xf64>
  func.return %0 : tensor<2xf64>
}
