// RUN: hlo-opt --passes=stablehlo-legalize-to-hlo %s
// RUN: hlo-opt --passes=stablehlo-legalize-to-hlo --emit=proto -o noted.pb %s
// RUN: hlo-opt --passes=hlo-legalize-to-stablehlo %t/noted.pb
// RUN: hlo2penguin --input=%t/noted.pb --output=%t/penguin.py --no-dbg --num-partitions=2
// RUN: cat penguin.py
// RUN: penguin check %t/penguin.py
// Attributes `neuron.…` of operations and arguments become frontend attributes, so that HLO keeps them; steps and printer read them.
module @m {
  func.func public @main(%arg0: tensor<4xf32> {neuron.transposable = true}, %arg1: tensor<4xf32> {mhlo.sharding = "{replicated}"}) -> (tensor<4xf32>, tensor<8xf32>) {
    %0 = stablehlo.add %arg0, %arg1 {neuron.no_opt = "keep, \22as is\22", neuron.non_local, other = 3 : i32} : tensor<4xf32>
    %1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}> {neuron.groupID = 7 : i32, neuron.transposable = false} : (tensor<4xf32>) -> tensor<8xf32>
    return %0, %1 : tensor<4xf32>, tensor<8xf32>
  }
}
