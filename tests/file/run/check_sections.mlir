// RUN: hlo-run --check %s

func.func @first() {
  %a = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %b = stablehlo.add %a, %a : tensor<2xi64>
  check.expect_eq_const %b, dense<[2, 4]> : tensor<2xi64>
  func.return
}

func.func @second() {
  %a = stablehlo.constant dense<0.5> : tensor<f32>
  %b = stablehlo.cosine %a : tensor<f32>
  check.expect_close %b, %b, max_ulp_difference = 0 : tensor<f32>, tensor<f32>
  check.expect_almost_eq_const %b, dense<0.8776> : tensor<f32>
  func.return
}

// -----

func.func @nothing(%arg0: tensor<2xf32>) -> tensor<2xf32> {
  func.return %arg0 : tensor<2xf32>
}

// -----

module @ranks {
  func.func @id() -> tensor<ui32> {
    %0 = stablehlo.partition_id : tensor<ui32>
    interpreter.print %0 : tensor<ui32>
    func.return %0 : tensor<ui32>
  }
  func.func @main() {
    %results:2 = "interpreter.run_parallel"() {
      programs = [[@id, @id]]
    } : () -> (tensor<ui32>, tensor<ui32>)
    check.expect_eq_const %results#0, dense<0> : tensor<ui32>
    check.expect_eq_const %results#1, dense<1> : tensor<ui32>
    func.return
  }
}
