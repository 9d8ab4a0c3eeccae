// RUN: hlo-opt --emit=none %s
// B28: deep nesting is in tests/deep_input_test.py; an operation that nobody knows is refused before its regions.
func.func @main() {
  "t.a"() ({
    "t.a"() ({}) : () -> ()
  }) : () -> ()
  return
}
