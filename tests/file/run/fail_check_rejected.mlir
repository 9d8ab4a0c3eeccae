// RUN: hlo-run --check %s

func.func @right() {
  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  check.expect_eq %a, %a : tensor<2xf32>
  func.return
}

// -----

func.func @broken() {
  %a = stablehlo.constant dense<[1.0, 2.0] : tensor<2xf32>
  func.return
}

// -----

func.func @behind() {
  %a = stablehlo.constant dense<3> : tensor<i8>
  check.expect_eq %a, %a : tensor<i8>
  func.return
}
