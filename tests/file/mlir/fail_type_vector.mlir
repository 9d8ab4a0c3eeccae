// RUN: hlo-opt --emit=none %s
func.func @main(%a: vector<4xf32>) {
  return
}
