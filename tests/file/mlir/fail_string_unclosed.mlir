// RUN: hlo-opt --emit=none %s
func.func @main() attributes {a = "b} {
  return
}
