// RUN: hlo-run --check-pass=stablehlo-legalize-quant-to-math,chlo-legalize-to-stablehlo,stablehlo-legalize-to-hlo %s
// Quantised programs of every form give the same bits as arithmetic: per tensor, per axis, by blocks (one cut), a range of one's
// own, bounds that f32 has not, narrow expressed types, regions of quantised scalars, real and quantised operands together.
!t8 = !quant.uniform<i8:f32, 0.5:3>
!t8b = !quant.uniform<i8:f32, 0.125:-7>
!u4 = !quant.uniform<u4:f32, 1.5:2>
!axis = !quant.uniform<i8:f32:1, {0.5:3, 0.25, 0.125:-9, 2.0:1}>
!block = !quant.uniform<i8:f32:{0:2, 1:3}, {{2.0:10, 0.5:1}, {3.0:1, 0.25:-2}}>
!range = !quant.uniform<i8<-100:99>:f32, 0.0625>
!wide = !quant.uniform<i32:f32, 0.001:5>
!axis2 = !quant.uniform<i8:f32:1, {0.5, 0.25, 0.125, 2.0, 0.75}>
!half = !quant.uniform<i16:bf16, 0.3:100>
!q16 = !quant.uniform<i16:f16, 0.3>
func.func @main(%x: tensor<3x4xf32>, %q: tensor<3x4x!t8>, %b: tensor<3x4x!block>, %w: tensor<4x5x!axis2>, %h: tensor<7xbf16>,
    %f: tensor<7xf16>, %n: tensor<3x4x!u4>)
    -> (tensor<3x4x!t8b>, tensor<3x4x!axis>, tensor<3x4xf32>, tensor<3x4x!block>, tensor<3x4x!range>, tensor<3x4x!wide>,
        tensor<3x5xf32>, tensor<3x5x!wide>, tensor<7x!half>, tensor<7xbf16>, tensor<7x!q16>, tensor<3x!t8>, tensor<3x4xi1>, tensor<3x4x!u4>,
        tensor<3x4x!t8>) {
  %0 = stablehlo.uniform_quantize %x : (tensor<3x4xf32>) -> tensor<3x4x!t8>
  %1 = "stablehlo.add"(%0, %q) : (tensor<3x4x!t8>, tensor<3x4x!t8>) -> tensor<3x4x!t8b>
  %2 = stablehlo.uniform_quantize %1 : (tensor<3x4x!t8b>) -> tensor<3x4x!axis>
  %3 = stablehlo.uniform_dequantize %b : (tensor<3x4x!block>) -> tensor<3x4xf32>
  %4 = stablehlo.multiply %3, %x : tensor<3x4xf32>
  %5 = stablehlo.uniform_quantize %4 : (tensor<3x4xf32>) -> tensor<3x4x!block>
  %6 = stablehlo.uniform_quantize %4 : (tensor<3x4xf32>) -> tensor<3x4x!range>
  %7 = stablehlo.uniform_quantize %4 : (tensor<3x4xf32>) -> tensor<3x4x!wide>
  %8 = "stablehlo.dot_general"(%x, %w) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}
    : (tensor<3x4xf32>, tensor<4x5x!axis2>) -> tensor<3x5xf32>
  %9 = "stablehlo.dot_general"(%0, %w) {dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}
    : (tensor<3x4x!t8>, tensor<4x5x!axis2>) -> tensor<3x5x!wide>
  %10 = stablehlo.uniform_quantize %h : (tensor<7xbf16>) -> tensor<7x!half>
  %11 = stablehlo.uniform_dequantize %10 : (tensor<7x!half>) -> tensor<7xbf16>
  %12 = stablehlo.uniform_quantize %f : (tensor<7xf16>) -> tensor<7x!q16>
  %13 = stablehlo.tanh %12 : tensor<7x!q16>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %z = stablehlo.uniform_quantize %zero : (tensor<f32>) -> tensor<!t8>
  %14 = "stablehlo.reduce"(%0, %z) ({
  ^bb0(%a: tensor<!t8>, %c: tensor<!t8>):
    %s = stablehlo.add %a, %c : tensor<!t8>
    stablehlo.return %s : tensor<!t8>
  }) {dimensions = array<i64: 1>} : (tensor<3x4x!t8>, tensor<!t8>) -> tensor<3x!t8>
  %15 = stablehlo.compare LT, %0, %q : (tensor<3x4x!t8>, tensor<3x4x!t8>) -> tensor<3x4xi1>
  %16 = stablehlo.multiply %n, %n : tensor<3x4x!u4>
  %17 = stablehlo.select %15, %0, %q : tensor<3x4xi1>, tensor<3x4x!t8>
  return %1, %2, %3, %5, %6, %7, %8, %9, %10, %11, %13, %14, %15, %16, %17 : tensor<3x4x!t8b>, tensor<3x4x!axis>, tensor<3x4xf32>, tensor<3x4x!block>,
    tensor<3x4x!range>, tensor<3x4x!wide>, tensor<3x5xf32>, tensor<3x5x!wide>, tensor<7x!half>, tensor<7xbf16>, tensor<7x!q16>, tensor<3x!t8>,
    tensor<3x4xi1>, tensor<3x4x!u4>, tensor<3x4x!t8>
}
