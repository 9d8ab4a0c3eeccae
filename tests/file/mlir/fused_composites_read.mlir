// RUN: hlo-opt --passes=stablehlo-legalize-to-hlo,fusion-to-composite %s
// A composite of a known kind is a fusion, with a body of its own where two share a function; a value that is returned and used inside
// is copied, since the root of a fused computation has no users. Of an unknown kind, or of none, it is inlined by step 14a.
module @m {
  func.func private @hilo.genComposite.0(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {genComposite = true, noDelete = true} {
    %0 = stablehlo.exponential %arg0 : tensor<4xf32>
    %1 = stablehlo.negate %0 : tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @hilo.genComposite.1(%arg0: tensor<4xf32>) -> tensor<4xf32> attributes {genComposite = true, noDelete = true} {
    %0 = stablehlo.exponential %arg0 : tensor<4xf32>
    %1 = stablehlo.negate %0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @plain(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.negate %arg0 : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func public @main(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %0:2 = stablehlo.composite "composite.Fused" %arg0 {CompositeKind = "Elementwise", decomposition = @hilo.genComposite.0} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %1:2 = stablehlo.composite "composite.Fused" %0#1 {CompositeKind = "Elementwise", decomposition = @hilo.genComposite.0} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %2 = stablehlo.composite "composite.Fused" %arg0 {CompositeKind = "FusedComposite", decomposition = @plain} : (tensor<4xf32>) -> tensor<4xf32>
    %3 = stablehlo.composite "my.op" %2 {decomposition = @plain} : (tensor<4xf32>) -> tensor<4xf32>
    %4 = stablehlo.composite "composite.Fused" %3 {CompositeKind = "Elementwise", decomposition = @hilo.genComposite.1} : (tensor<4xf32>) -> tensor<4xf32>
    return %0#0, %1#0, %1#1, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}
