// RUN: hlo-opt --emit=none %s
func.func @main(%a: !t) {
  return
}
