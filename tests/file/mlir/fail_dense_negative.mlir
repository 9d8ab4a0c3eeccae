// RUN: hlo-opt --emit=none %s
func.func @main() {
  %0 = stablehlo.constant dense<-1> : tensor<ui8>
  return
}
