// all_to_all that splits one dimension and joins another; composites; rng; Shardy.
// RUN: hlo-opt --emit=hlo %s
module @m attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func @main(%a: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}, %s: tensor<f32>) -> (tensor<8x3xf32>, tensor<4x6xf32>, tensor<2xf32>, tensor<4x6xf32>, tensor<4x6xf32>) {
    %0 = "stablehlo.all_to_all"(%a) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 1 : i64}> : (tensor<4x6xf32>) -> tensor<8x3xf32>
    %1 = stablehlo.composite "my.op" %a {composite_attributes = {n = 1 : i64}, decomposition = @f, version = 3 : i32} : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %c = stablehlo.constant dense<2> : tensor<1xi64>
    %2 = stablehlo.rng %s, %s, %c, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<2xf32>
    %3 = sdy.sharding_constraint %a <@mesh, [{"x", "y"}, {}]> : tensor<4x6xf32>
    %4 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"y"}, {}]>] out_shardings=[<@mesh, [{"y"}, {}]>] manual_axes={"x", "y"} (%x: tensor<2x6xf32>) {
      %5 = stablehlo.tanh %x : tensor<2x6xf32>
      sdy.return %5 : tensor<2x6xf32>
    } : (tensor<4x6xf32>) -> tensor<4x6xf32>
    return %0, %1, %2, %3, %4 : tensor<8x3xf32>, tensor<4x6xf32>, tensor<2xf32>, tensor<4x6xf32>, tensor<4x6xf32>
  }
  func.func private @f(%a: tensor<4x6xf32>) -> tensor<4x6xf32> {
    return %a : tensor<4x6xf32>
  }
}
