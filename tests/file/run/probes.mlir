// RUN: hlo-run --check --probe-output-dir=probes %s
// RUN: ls probes
// RUN: cat probes/index.csv

func.func @main() {
  %a = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xbf16>
  %b = interpreter.probe %a, probe_id = "one" : tensor<2xbf16>
  check.expect_serialized_eq %b, probe_id = "one" : tensor<2xbf16>
  func.return
}
