// RUN: hlo-opt --emit=none %s
func.func @main(%a: tensor<99999999999999999999xf32>) {
  return
}
