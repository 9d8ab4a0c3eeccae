// RUN: hlo-opt --passes=convert-custom-call-to-all-reduce %s
module @m attributes {mhlo.num_replicas = 4 : i32} {
  func.func @main(%arg0: tensor<4xf32>, %arg1: tensor<2xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>) {
    %0 = stablehlo.custom_call @mhlo.all_reduce(%arg0) {called_computations = [@f], mhlo.attributes = {channel_handle = #mhlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}} : (tensor<4xf32>) -> tensor<4xf32>
    %1:2 = stablehlo.custom_call @mhlo.all_reduce(%arg0, %arg1) {called_computations = [@f], mhlo.attributes = {replica_groups = dense<[[0, 1, 2], [3, -1, -1]]> : tensor<2x3xi64>}} : (tensor<4xf32>, tensor<2xf32>) -> (tensor<4xf32>, tensor<2xf32>)
    %2 = stablehlo.custom_call @mhlo.all_reduce(%arg0) {called_computations = [@f], mhlo.attributes = {replica_groups = dense<> : tensor<0x0xi64>}} : (tensor<4xf32>) -> tensor<4xf32>
    return %0, %1#0, %1#1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<4xf32>
  }
  func.func private @f(%arg0: tensor<f32>, %arg1: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.add %arg0, %arg1 : tensor<f32>
    return %0 : tensor<f32>
  }
}
