// RUN: hlo-run --check-pass=chlo-legalize-to-stablehlo,stablehlo-legalize-to-hlo,dce,hlo-legalize-to-stablehlo %s
// RUN: hlo-opt --emit=hlo -o %t/m.hlo %s
// RUN: hlo-run --against=%t/m.hlo --ulp=4 %s
// The numbers that rng draws are the same in every form of a program: operations before it come and go (the expansion of sinh,
// constants), and so does one that nobody uses, and what dce removes.
func.func @main(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<4xf32>, tensor<2xi32>, tensor<2xi32>) {
  %unused = chlo.lgamma %x : tensor<3xf32> -> tensor<3xf32>
  %s = chlo.sinh %x : tensor<3xf32> -> tensor<3xf32>
  %a = stablehlo.constant dense<0.0> : tensor<f32>
  %b = stablehlo.constant dense<1.0> : tensor<f32>
  %n = stablehlo.constant dense<4> : tensor<1xi64>
  %u = stablehlo.rng %a, %b, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  %v = stablehlo.rng %a, %b, %n, distribution = NORMAL : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %c9 = stablehlo.constant dense<1000> : tensor<i32>
  %n2 = stablehlo.constant dense<2> : tensor<1xi64>
  %w0 = func.call @draw(%c0, %c9) : (tensor<i32>, tensor<i32>) -> tensor<2xi32>
  %w = stablehlo.rng %c0, %c9, %n2, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<1xi64>) -> tensor<2xi32>
  return %s, %v, %w, %w0 : tensor<3xf32>, tensor<4xf32>, tensor<2xi32>, tensor<2xi32>
}
func.func private @draw(%a: tensor<i32>, %b: tensor<i32>) -> tensor<2xi32> {
  %n = stablehlo.constant dense<2> : tensor<1xi64>
  %u = stablehlo.rng %a, %b, %n, distribution = UNIFORM : (tensor<i32>, tensor<i32>, tensor<1xi64>) -> tensor<2xi32>
  return %u : tensor<2xi32>
}
