// RUN: hlo-run --check %s
// RUN: hlo-opt --emit=stablehlo %s -o again.mlir
// RUN: hlo-run --check again.mlir

module @roots {
  func.func @send(%a: tensor<2xf32>, %b: tensor<i32>, %root: tensor<2xi32>) -> (tensor<2xf32>, tensor<i32>) {
    %r:2 = "stablehlo.collective_broadcast"(%a, %b, %root) {
      replica_groups = dense<[[1, 0]]> : tensor<1x2xi64>, has_dynamic_root
    } : (tensor<2xf32>, tensor<i32>, tensor<2xi32>) -> (tensor<2xf32>, tensor<i32>)
    func.return %r#0, %r#1 : tensor<2xf32>, tensor<i32>
  }
  func.func @gather(%a: tensor<2xf32>, %root: tensor<1xi32>) -> tensor<2xf32> {
    %r = "stablehlo.collective_reduce"(%a, %root) <{
      has_dynamic_root, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>
    }> ({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<2xf32>, tensor<1xi32>) -> tensor<2xf32>
    func.return %r : tensor<2xf32>
  }
  func.func @main() {
    %a0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %a1 = stablehlo.constant dense<[3.0, 4.0]> : tensor<2xf32>
    %b0 = stablehlo.constant dense<5> : tensor<i32>
    %b1 = stablehlo.constant dense<6> : tensor<i32>
    %root = stablehlo.constant dense<[1, 0]> : tensor<2xi32>
    %results:4 = "interpreter.run_parallel"(%a0, %b0, %root, %a1, %b1, %root) {
      programs = [[@send], [@send]]
    } : (tensor<2xf32>, tensor<i32>, tensor<2xi32>, tensor<2xf32>, tensor<i32>, tensor<2xi32>)
      -> (tensor<2xf32>, tensor<i32>, tensor<2xf32>, tensor<i32>)
    check.expect_eq_const %results#0, dense<[1.0, 2.0]> : tensor<2xf32>
    check.expect_eq_const %results#1, dense<6> : tensor<i32>
    check.expect_eq_const %results#2, dense<[1.0, 2.0]> : tensor<2xf32>
    check.expect_eq_const %results#3, dense<6> : tensor<i32>
    %second = stablehlo.constant dense<[1]> : tensor<1xi32>
    %sums:2 = "interpreter.run_parallel"(%a0, %second, %a1, %second) {
      programs = [[@gather], [@gather]]
    } : (tensor<2xf32>, tensor<1xi32>, tensor<2xf32>, tensor<1xi32>) -> (tensor<2xf32>, tensor<2xf32>)
    check.expect_eq_const %sums#0, dense<0.0> : tensor<2xf32>
    check.expect_eq_const %sums#1, dense<[4.0, 6.0]> : tensor<2xf32>
    func.return
  }
}
