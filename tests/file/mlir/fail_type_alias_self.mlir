// RUN: hlo-opt --emit=none %s
!t = !t
func.func @main(%a: !t) {
  return
}
