// RUN: hlo-opt --emit=none %s
module {
  %0 = stablehlo.constant dense<1> : tensor<i32>
}
