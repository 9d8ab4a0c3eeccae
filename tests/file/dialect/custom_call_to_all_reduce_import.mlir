// RUN: hlo-opt --emit=hlo --pipeline=stablehlo-spine %s
// Read as MLIR the attributes are there before the module becomes HLO.
module @m attributes {mhlo.num_replicas = 2 : i32} {
  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.custom_call @mhlo.all_reduce(%arg0) {called_computations = [@f], mhlo.attributes = {replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @f(%arg0: tensor<f32>, %arg1: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<f32>
    return %0 : tensor<f32>
  }
}
