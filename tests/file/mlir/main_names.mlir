// RUN: hlo-opt --passes=stablehlo-legalize-to-hlo %s
// RUN: hlo-opt --passes=stablehlo-legalize-to-hlo --emit=proto -o named.pb %s
// RUN: hlo2penguin --input=%t/named.pb --output=%t/penguin.py --no-dbg
// RUN: cat penguin.py
// RUN: penguin run --seed 1 %t/penguin.py
// Names of inputs and results come with the main function, or with the module's frontend attributes; a proto keeps them.
module @m {
  func.func public @main(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {input_names = ["tokens", "weights"], output_names = ["loss", "grad \22w\22"]} {
    %0 = stablehlo.add %arg0, %arg1 : tensor<4xf32>
    return %0, %arg1 : tensor<4xf32>, tensor<4xf32>
  }
}
