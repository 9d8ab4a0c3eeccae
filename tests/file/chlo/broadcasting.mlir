// RUN: hlo-opt --passes=chlo-legalize-to-stablehlo %s

func.func @main(%arg0: tensor<2x1xi32>, %arg1: tensor<3xi32>) -> tensor<2x3xi32> {
  %0 = "chlo.broadcast_add"(%arg0, %arg1) : (tensor<2x1xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  func.return %0 : tensor<2x3xi32>
}
func.func @and(%arg0: tensor<2x1xi32>, %arg1: tensor<3xi32>) -> tensor<2x3xi32> {
  %0 = "chlo.broadcast_and"(%arg0, %arg1) : (tensor<2x1xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  func.return %0 : tensor<2x3xi32>
}
func.func @atan2(%arg0: tensor<2x1xf32>, %arg1: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = "chlo.broadcast_atan2"(%arg0, %arg1) : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}
func.func @divide(%arg0: tensor<2x1xf32>, %arg1: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = "chlo.broadcast_divide"(%arg0, %arg1) : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}
func.func @maximum(%arg0: tensor<2x1xi32>, %arg1: tensor<3xi32>) -> tensor<2x3xi32> {
  %0 = "chlo.broadcast_maximum"(%arg0, %arg1) : (tensor<2x1xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  func.return %0 : tensor<2x3xi32>
}
func.func @minimum(%arg0: tensor<2x1xi32>, %arg1: tensor<3xi32>) -> tensor<2x3xi32> {
  %0 = "chlo.broadcast_minimum"(%arg0, %arg1) : (tensor<2x1xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  func.return %0 : tensor<2x3xi32>
}
func.func @multiply(%arg0: tensor<2x1xi32>, %arg1: tensor<3xi32>) -> tensor<2x3xi32> {
  %0 = "chlo.broadcast_multiply"(%arg0, %arg1) : (tensor<2x1xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  func.return %0 : tensor<2x3xi32>
}
func.func @or(%arg0: tensor<2x1xi32>, %arg1: tensor<3xi32>) -> tensor<2x3xi32> {
  %0 = "chlo.broadcast_or"(%arg0, %arg1) : (tensor<2x1xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  func.return %0 : tensor<2x3xi32>
}
func.func @power(%arg0: tensor<2x1xf32>, %arg1: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = "chlo.broadcast_power"(%arg0, %arg1) : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}
func.func @remainder(%arg0: tensor<2x1xi32>, %arg1: tensor<3xi32>) -> tensor<2x3xi32> {
  %0 = "chlo.broadcast_remainder"(%arg0, %arg1) : (tensor<2x1xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  func.return %0 : tensor<2x3xi32>
}
func.func @shift_left(%arg0: tensor<2x1xi32>, %arg1: tensor<3xi32>) -> tensor<2x3xi32> {
  %0 = "chlo.broadcast_shift_left"(%arg0, %arg1) : (tensor<2x1xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  func.return %0 : tensor<2x3xi32>
}
func.func @shift_right_arithmetic(%arg0: tensor<2x1xi32>, %arg1: tensor<3xi32>) -> tensor<2x3xi32> {
  %0 = "chlo.broadcast_shift_right_arithmetic"(%arg0, %arg1) : (tensor<2x1xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  func.return %0 : tensor<2x3xi32>
}
func.func @shift_right_logical(%arg0: tensor<2x1xi32>, %arg1: tensor<3xi32>) -> tensor<2x3xi32> {
  %0 = "chlo.broadcast_shift_right_logical"(%arg0, %arg1) : (tensor<2x1xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  func.return %0 : tensor<2x3xi32>
}
func.func @subtract(%arg0: tensor<2x1xi32>, %arg1: tensor<3xi32>) -> tensor<2x3xi32> {
  %0 = "chlo.broadcast_subtract"(%arg0, %arg1) : (tensor<2x1xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  func.return %0 : tensor<2x3xi32>
}
func.func @xor(%arg0: tensor<2x1xi32>, %arg1: tensor<3xi32>) -> tensor<2x3xi32> {
  %0 = "chlo.broadcast_xor"(%arg0, %arg1) : (tensor<2x1xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  func.return %0 : tensor<2x3xi32>
}
func.func @next_after(%arg0: tensor<2x1xf32>, %arg1: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = "chlo.broadcast_next_after"(%arg0, %arg1) : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}
func.func @along(%arg0: tensor<2x3xf32>, %arg1: tensor<2xf32>) -> tensor<2x3xf32> {
  %0 = "chlo.broadcast_add"(%arg0, %arg1) <{broadcast_dimensions = array<i64: 0>}> : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}
func.func @same(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = "chlo.broadcast_add"(%arg0, %arg1) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}
func.func @complex(%arg0: tensor<2x1xf32>, %arg1: tensor<f32>) -> tensor<2x1xcomplex<f32>> {
  %0 = "chlo.broadcast_complex"(%arg0, %arg1) : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x1xcomplex<f32>>
  func.return %0 : tensor<2x1xcomplex<f32>>
}
func.func @compare(%arg0: tensor<2x1xf32>, %arg1: tensor<3xf32>) -> tensor<2x3xi1> {
  %0 = "chlo.broadcast_compare"(%arg0, %arg1) <{comparison_direction = #chlo<comparison_direction GT>, compare_type = #chlo<comparison_type TOTALORDER>}> : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  func.return %0 : tensor<2x3xi1>
}
func.func @select(%arg0: tensor<2x1xi1>, %arg1: tensor<3xf32>, %arg2: tensor<f32>) -> tensor<2x3xf32> {
  %0 = "chlo.broadcast_select"(%arg0, %arg1, %arg2) : (tensor<2x1xi1>, tensor<3xf32>, tensor<f32>) -> tensor<2x3xf32>
  func.return %0 : tensor<2x3xf32>
}
