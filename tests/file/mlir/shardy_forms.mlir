// RUN: hlo-opt %s
// RUN: hlo-run %s
// Shardy's operations in the forms that upstream reads.
sdy.mesh @m = <["x"=2]>
func.func @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>}) -> tensor<8xf32> {
  %2 = "sdy.propagation_barrier"(%a) <{allowed_direction = 0 : i32}> : (tensor<8xf32>) -> tensor<8xf32>
  "sdy.sharding_group"(%2) <{group_id = 21 : i64}> : (tensor<8xf32>) -> ()
  %s = sdy.sharding_constraint %2 <@m, [{"x"}]> : tensor<8xf32>
  %b = sdy.all_gather [{"x"}] %s out_sharding=<@m, [{}]> : tensor<8xf32>
  %c = sdy.all_slice [{"x"}] %b out_sharding=<@m, [{"x"}]> : tensor<8xf32>
  %d = sdy.named_computation<"foo">(%c) in_shardings=[<@m, [{"x"}]>] out_shardings=[<@m, [{"x"}]>] (%arg1: tensor<8xf32>) {
    %5 = stablehlo.negate %arg1 : tensor<8xf32>
    sdy.return %5 : tensor<8xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  %e = sdy.collective_permute %d out_sharding=<@m, [{"x"}]> : tensor<8xf32>
  return %e : tensor<8xf32>
}
