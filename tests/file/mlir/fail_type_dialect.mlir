// RUN: hlo-opt --emit=none %s
func.func @main(%a: !foo.bar) {
  return
}
