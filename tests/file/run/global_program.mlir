// RUN: hlo-opt --emit=hlo -o %t/global.hlo %s
// RUN: hlo-run %s --against=%t/global.hlo --outputs=%t/out.npz
// RUN: hlo-run %s
// A program that nobody has partitioned: each rank has the whole of the values outside of manual computations, in which it has its tile. By hand: each of 2 x 2 ranks
// adds 10 times its place along y to its tile; along x, which the body sums over, tiles are of rows 0-1 and 2-3.
module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @m = <["x"=2, "y"=2]>
  func.func @main() -> (tensor<4x2xf32>, tensor<2x2xf32>, tensor<4xf32>) {
    %a = stablehlo.constant dense<[[0.0, 1.0], [2.0, 3.0], [4.0, 5.0], [6.0, 7.0]]> : tensor<4x2xf32>
    %0 = sdy.sharding_constraint %a <@m, [{"x"}, {"y"}]> : tensor<4x2xf32>
    %1 = sdy.reshard %0 <@m, [{}, {}]> : tensor<4x2xf32>
    %2 = sdy.propagation_barrier %1 allowed_direction=NONE : tensor<4x2xf32>
    sdy.sharding_group %2 group_id=21 : tensor<4x2xf32>
    %3:2 = sdy.manual_computation(%2) in_shardings=[<@m, [{"x"}, {"y"}]>] out_shardings=[<@m, [{"x"}, {"y"}]>, <@m, [{}, {"y"}]>] manual_axes={"x", "y"} (%b: tensor<2x1xf32>) {
      %p = stablehlo.partition_id : tensor<ui32>
      %two = stablehlo.constant dense<2> : tensor<ui32>
      %y = stablehlo.remainder %p, %two : tensor<ui32>
      %f = stablehlo.convert %y : (tensor<ui32>) -> tensor<f32>
      %ten = stablehlo.constant dense<10.0> : tensor<f32>
      %t = stablehlo.multiply %f, %ten : tensor<f32>
      %s = stablehlo.broadcast_in_dim %t, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
      %moved = stablehlo.add %b, %s : tensor<2x1xf32>
      %sum = "stablehlo.all_reduce"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%l: tensor<f32>, %r: tensor<f32>):
        %z = stablehlo.add %l, %r : tensor<f32>
        stablehlo.return %z : tensor<f32>
      }) : (tensor<2x1xf32>) -> tensor<2x1xf32>
      sdy.return %moved, %sum : tensor<2x1xf32>, tensor<2x1xf32>
    } : (tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<2x2xf32>)
    %4 = sdy.manual_computation(%2) in_shardings=[<@m, [{"x"}, {}]>] out_shardings=[<@m, [{"x", "y"}]>] manual_axes={"x"} (%b: tensor<2x2xf32>) {
      %c = stablehlo.slice %b [0:2, 1:2] : (tensor<2x2xf32>) -> tensor<2x1xf32>
      %d = stablehlo.reshape %c : (tensor<2x1xf32>) -> tensor<2xf32>
      sdy.return %d : tensor<2xf32>
    } : (tensor<4x2xf32>) -> tensor<4xf32>
    return %3#0, %3#1, %4 : tensor<4x2xf32>, tensor<2x2xf32>, tensor<4xf32>
  }
}
