// Locations, with their aliases at the end.
// RUN: hlo-opt --emit=stablehlo --print-locations %s
module @m {
  func.func public @main(%a: tensor<2xf32> loc("args[0]"), %s: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.sine %a : tensor<2xf32> loc("jit(f)/sin"("model.py":3:7))
    %1 = stablehlo.cosine %0 : tensor<2xf32> loc("jit(f)/cos"("model.py":3:7))
    %2 = stablehlo.reduce(%1 init: %s) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32> loc("model.py":4:1)
    return %2 : tensor<f32>
  }
}
