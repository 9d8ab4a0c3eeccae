// RUN: hlo-opt --emit=none %s
func.func @main(%a: memref<4xf32>) {
  return
}
