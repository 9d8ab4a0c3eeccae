// RUN: hlo-opt --emit=none %s
func.func @main() {
  call @main() : () -> ()
  return
}
