// RUN: hlo-opt --emit=none %s
func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %r = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0], algorithm = <lhs_precision_type = i8, rhs_precision_type = i8, accumulation_type = i32> : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  return %r : tensor<4xf32>
}
