// RUN: hlo-opt --emit=none %s
func.func @f() {
  return
}
func.func @f() {
  return
}
