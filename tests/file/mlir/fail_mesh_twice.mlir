// RUN: hlo-opt --emit=none %s
sdy.mesh @m = <["x"=2]>
sdy.mesh @m = <["x"=2]>
func.func @main() {
  return
}
