// RUN: hlo-opt --passes=mhlo-legalize-to-stablehlo %s
// What StableHLO lacks keeps its operation, in CHLO's words where these are.
module @m {
  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = mhlo.add %arg0, %arg0 : tensor<4xf32>
    %1 = mhlo.erf %0 : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
