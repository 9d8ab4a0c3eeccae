// RUN: hlo-opt --emit=stablehlo %s
// RUN: hlo-opt --emit=hlo %s
// Operations that the other files here lack.
func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<f32>) {
  %0 = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = chlo.constant dense<2.5> : tensor<f32>
  return %x, %0, %2 : tensor<4xf32>, tensor<4xf32>, tensor<f32>
}
