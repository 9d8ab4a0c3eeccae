// Legacy operations and size-1 broadcasts in HLO.
// RUN: hlo-opt --emit=hlo %s
func.func @main(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>, %i: tensor<5xi32>, %v: tensor<3xf32>, %k: tensor<3x2x2xf32>, %j: tensor<3x4xi32>) -> (tensor<2x4xf32>, tensor<4x2xf32>, tensor<2xf32>, tensor<2x5xf32>, tensor<3x2x4xf32>, tensor<f32>, tensor<7x3xf32>, tensor<2x3xf32>) {
  %0 = stablehlo.einsum %a, %b, config = "ij,jk->ik" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = stablehlo.einsum %a, %b, config = "ij,jk->ki" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<4x2xf32>
  %2 = stablehlo.unary_einsum %a, config = "ij->i" : (tensor<2x3xf32>) -> tensor<2xf32>
  %3 = "stablehlo.torch_index_select"(%a, %i) <{batch_dims = 0 : i64, dim = 1 : i64}> : (tensor<2x3xf32>, tensor<5xi32>) -> tensor<2x5xf32>
  %4 = "stablehlo.torch_index_select"(%k, %j) <{batch_dims = 1 : i64, dim = 2 : i64}> : (tensor<3x2x2xf32>, tensor<3x4xi32>) -> tensor<3x2x4xf32>
  %5 = stablehlo.dot %v, %v : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
  %6 = stablehlo.reshape %v : (tensor<3xf32>) -> tensor<1x3xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<1x3xf32>) -> tensor<7x3xf32>
  %8 = "stablehlo.cross-replica-sum"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0, %1, %2, %3, %4, %5, %7, %8 : tensor<2x4xf32>, tensor<4x2xf32>, tensor<2xf32>, tensor<2x5xf32>, tensor<3x2x4xf32>, tensor<f32>, tensor<7x3xf32>, tensor<2x3xf32>
}
