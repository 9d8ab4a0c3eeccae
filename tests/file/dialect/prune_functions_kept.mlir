// RUN: hlo-opt --passes=prune-functions %s
// noDelete keeps a function and what it calls.
module @kept {
  func.func @main(%arg0: tensor<f32>) -> tensor<f32> {
    return %arg0 : tensor<f32>
  }
  func.func private @kept(%arg0: tensor<f32>) -> tensor<f32> attributes {noDelete = true} {
    %0 = func.call @callee(%arg0) : (tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @callee(%arg0: tensor<f32>) -> tensor<f32> {
    %0 = stablehlo.add %arg0, %arg0 : tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @gone(%arg0: tensor<f32>) -> tensor<f32> attributes {noDelete = false} {
    return %arg0 : tensor<f32>
  }
}
