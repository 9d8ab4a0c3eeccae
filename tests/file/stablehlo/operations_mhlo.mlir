// The same in MHLO, which has fewer pretty forms.
// RUN: hlo-opt --emit=mhlo %s
func.func @f(%a: tensor<2x3xf32>, %i: tensor<2xi32>, %c: tensor<4xcomplex<f32>>, %s: tensor<f32>, %p: tensor<i1>, %t: !stablehlo.token, %idx: tensor<i32>, %v: tensor<3xf32>, %im: tensor<1x4x4x2xf32>, %ke: tensor<3x3x2x5xf32>, %q: tensor<2xui64>, %sq: tensor<3x3xf32>) {
%b1 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2xf32>
%b2 = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>
%2 = stablehlo.slice %a [0:1, 1:3:2] : (tensor<2x3xf32>) -> tensor<1x1xf32>
%3 = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
%4 = stablehlo.dot_general %a, %a, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>
%5 = stablehlo.reverse %a, dims = [0] : tensor<2x3xf32>
%6 = stablehlo.concatenate %a, %a, dim = 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
%7 = stablehlo.pad %a, %s, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
%8 = stablehlo.iota dim = 0 : tensor<4xf32>
%9 = stablehlo.dynamic_slice %a, %idx, %idx, sizes = [1, 2] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
%10 = stablehlo.dynamic_update_slice %a, %9, %idx, %idx : (tensor<2x3xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
%11 = stablehlo.compare LT, %a, %a, FLOAT : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
%12 = stablehlo.select %p, %a, %a : tensor<i1>, tensor<2x3xf32>
%13 = stablehlo.clamp %s, %a, %s : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
%14 = stablehlo.convolution(%im, %ke) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [true, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x4x4x2xf32>, tensor<3x3x2x5xf32>) -> tensor<1x4x4x5xf32>
%15 = stablehlo.fft %c, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
%16:2 = stablehlo.rng_bit_generator %q, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x3xui32>)
%17 = stablehlo.rng %s, %s, %i, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi32>) -> tensor<2x3xf32>
%18 = stablehlo.reduce_precision %a, format = e5m2 : tensor<2x3xf32>
%19 = stablehlo.get_dimension_size %a, dim = 0 : (tensor<2x3xf32>) -> tensor<i32>
%20 = stablehlo.set_dimension_size %a, %idx, dim = 0 : (tensor<2x3xf32>, tensor<i32>) -> tensor<?x3xf32, #stablehlo.bounds<2, ?>>
%21 = stablehlo.cholesky %sq, lower = true : tensor<3x3xf32>
%22 = stablehlo.complex %a, %a : tensor<2x3xcomplex<f32>>
%23 = stablehlo.real %c : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
%24 = stablehlo.create_token : !stablehlo.token
%25 = stablehlo.after_all %t, %t : !stablehlo.token
%26 = stablehlo.partition_id : tensor<ui32>
%27 = stablehlo.optimization_barrier %a : tensor<2x3xf32>
%28 = stablehlo.tuple %a, %a : tuple<tensor<2x3xf32>, tensor<2x3xf32>>
%29 = stablehlo.get_tuple_element %28[0] : (tuple<tensor<2x3xf32>, tensor<2x3xf32>>) -> tensor<2x3xf32>
%30 = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<6xf32>
%31 = stablehlo.bitcast_convert %a : (tensor<2x3xf32>) -> tensor<2x3xi32>
%32 = stablehlo.convert %a : (tensor<2x3xf32>) -> tensor<2x3xi32>
%33 = stablehlo.reduce(%a init: %s) applies stablehlo.add across dimensions = [0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3xf32>
%34 = stablehlo.custom_call @foo(%a) {api_version = 4 : i32, backend_config = {a = 1 : i64}, has_side_effect = true, operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
%35 = "stablehlo.gather"(%a, %idx) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0]>, indices_are_sorted = true, slice_sizes = array<i64: 1, 3>}> : (tensor<2x3xf32>, tensor<i32>) -> tensor<3xf32>
%36 = "stablehlo.sort"(%v) <{dimension = 0 : i64, is_stable = true}> ({
 ^bb0(%x: tensor<f32>, %y: tensor<f32>):
 %1 = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
 stablehlo.return %1 : tensor<i1> }) : (tensor<3xf32>) -> tensor<3xf32>
%37 = "stablehlo.map"(%a) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg14: tensor<f32>):
      stablehlo.return %arg14 : tensor<f32>
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%38 = "stablehlo.select_and_scatter"(%a, %a, %s) <{padding = dense<0> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg14: tensor<f32>, %arg15: tensor<f32>):
      %1 = stablehlo.compare GE, %arg14, %arg15 : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }, {
    ^bb0(%arg14: tensor<f32>, %arg15: tensor<f32>):
      %1 = stablehlo.add %arg14, %arg15 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
%39 = "stablehlo.reduce_window"(%a, %s) <{padding = dense<0> : tensor<2x2xi64>, base_dilations = array<i64: 1, 1>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 1, 1>, window_strides = array<i64: 1, 1>}> ({
    ^bb0(%arg14: tensor<f32>, %arg15: tensor<f32>):
      %1 = stablehlo.add %arg14, %arg15 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
%40 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> ({
    ^bb0(%arg14: tensor<f32>, %arg15: tensor<f32>):
      %1 = stablehlo.add %arg14, %arg15 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%41 = "stablehlo.all_gather"(%a) <{all_gather_dim = 1 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, use_global_device_ids}> : (tensor<2x3xf32>) -> tensor<2x6xf32>
%42 = "stablehlo.all_to_all"(%a) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
%43 = "stablehlo.collective_permute"(%a) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
%44 = "stablehlo.case"(%idx) ({
      stablehlo.return %a : tensor<2x3xf32>
    }, {
      stablehlo.return %a : tensor<2x3xf32>
    }) : (tensor<i32>) -> tensor<2x3xf32>
%45 = "stablehlo.triangular_solve"(%sq, %sq) <{left_side=true,lower=true,unit_diagonal=true,transpose_a=#stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xf32>,tensor<3x3xf32>) -> tensor<3x3xf32>
%46 = "stablehlo.batch_norm_inference"(%a, %v, %v, %v, %v) <{epsilon = 1.000000e+00 : f32, feature_index = 1 : i64}> : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
%47:2 = "stablehlo.infeed"(%t) <{infeed_config = "x", layout = [[1, 0]]}> : (!stablehlo.token) -> (tensor<2x3xf32>, !stablehlo.token)
%48 = "stablehlo.outfeed"(%a, %t) <{outfeed_config = "x"}> : (tensor<2x3xf32>, !stablehlo.token) -> !stablehlo.token
%49 = "stablehlo.send"(%a, %t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 2>, is_host_transfer = true}> : (tensor<2x3xf32>, !stablehlo.token) -> !stablehlo.token
%50:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<2x3xf32>, !stablehlo.token)
%51 = "stablehlo.reduce_scatter"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64, use_global_device_ids}> ({
    ^bb0(%arg14: tensor<f32>, %arg15: tensor<f32>):
      %1 = stablehlo.add %arg14, %arg15 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<2x3xf32>) -> tensor<1x3xf32>
%52 = "stablehlo.scatter"(%v, %idx, %s) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>, unique_indices = true}> ({
    ^bb0(%arg14: tensor<f32>, %arg15: tensor<f32>):
      %1 = stablehlo.add %arg14, %arg15 : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<3xf32>, tensor<i32>, tensor<f32>) -> tensor<3xf32>
%53 = stablehlo.is_finite %a : (tensor<2x3xf32>) -> tensor<2x3xi1>
%54:2 = stablehlo.while(%w = %a, %z = %idx) : tensor<2x3xf32>, tensor<i32>
 cond {
   stablehlo.return %p : tensor<i1>
 } do {
   stablehlo.return %w, %z : tensor<2x3xf32>, tensor<i32>
 }
%55 = func.call @g(%a) : (tensor<2x3xf32>) -> tensor<2x3xf32>
%56 = stablehlo.dot %v, %v, precision = [DEFAULT, DEFAULT] : (tensor<3xf32>, tensor<3xf32>) -> tensor<f32>
%57 = stablehlo.broadcast %a, sizes = [5] : (tensor<2x3xf32>) -> tensor<5x2x3xf32>
%58 = stablehlo.einsum %a, %a, config = "ab,cb->ac" : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
%59 = stablehlo.dynamic_broadcast_in_dim %a, %i, dims = [0, 1] {known_expanding_dimensions = array<i64: 0>} : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<?x?xf32>
%60 = stablehlo.real_dynamic_slice %a, %i, %i, %i : (tensor<2x3xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
%61 = stablehlo.dynamic_iota %i, dim = 0 : (tensor<2xi32>) -> tensor<?x?xf32>
%62 = stablehlo.dynamic_reshape %a, %i : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<?x?xf32>
%63 = stablehlo.dynamic_pad %a, %s, %i, %i, %i : (tensor<2x3xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
%64 = stablehlo.composite "a.b" %a {composite_attributes = {a = 1 : i64, b = "x"}, decomposition = @g, version = 2 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
%65 = "stablehlo.torch_index_select"(%a, %i) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>
%66 = "stablehlo.dynamic_gather"(%a, %idx, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0], start_index_map = [0]>, indices_are_sorted = true}> : (tensor<2x3xf32>, tensor<i32>, tensor<2xi32>) -> tensor<?xf32>
return
}
func.func private @g(%a: tensor<2x3xf32>) -> tensor<2x3xf32> { return %a : tensor<2x3xf32> }
