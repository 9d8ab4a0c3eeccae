// RUN: hlo-opt --emit=none %s
// B27: what JAX writes of Shardy is read, meshes and users.
sdy.mesh @m = <["x"=2]>
func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}]>, mhlo.layout_mode = "default"}) -> tensor<4xf32> {
  %0 = sdy.sharding_constraint %a <@m, [{"x"}]> : tensor<4xf32>
  %1 = sdy.manual_computation(%0) in_shardings=[<@m, [{"x"}]>] out_shardings=[<@m, [{"x"}]>] manual_axes={"x"} (%b: tensor<2xf32>) {
    %2 = stablehlo.add %b, %b : tensor<2xf32>
    sdy.return %2 : tensor<2xf32>
  } : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
