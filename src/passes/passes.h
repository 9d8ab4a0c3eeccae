/* Every pass of this library: bodies in hlo/ (passes over HLO, before import) and dialect/ (steps
 * of the two spines). Their keys, summaries and contracts are rows of driver/passes.def. */
#ifndef HILO_PASSES_PASSES_H
#define HILO_PASSES_PASSES_H

#include "rewrite/pass.h"

/* hlo/ */
HILO_DECLARE_PASS(tuple_simplifier);
HILO_DECLARE_PASS(call_inliner);
HILO_DECLARE_PASS(dce);
HILO_DECLARE_PASS(conditional_to_select);
HILO_DECLARE_PASS(unroll_while_loop);
HILO_DECLARE_PASS(opt_barrier_removal);
HILO_DECLARE_PASS(canonicalize_boundary_marker);
HILO_DECLARE_PASS(boundary_marker_removal);
HILO_DECLARE_PASS(collective_token_removal);
HILO_DECLARE_PASS(unpack_nested_transfers);
HILO_DECLARE_PASS(transform_variadic_reduce);
HILO_DECLARE_PASS(inline_weights);
HILO_DECLARE_PASS(tokens_to_control_deps);
HILO_DECLARE_PASS(preserve_control_deps);
HILO_DECLARE_PASS(common_instruction_elimination);
HILO_DECLARE_PASS(collective_stream_id_injector);
HILO_DECLARE_PASS(batch_norm_expander);
HILO_DECLARE_PASS(batch_norm_training_upcast);
HILO_DECLARE_PASS(inject_numerical_errors);
HILO_DECLARE_PASS(stub);
HILO_DECLARE_PASS(remove_passthrough_outputs);
HILO_DECLARE_PASS(remove_aliases);
HILO_DECLARE_PASS(add_must_aliases);
HILO_DECLARE_PASS(add_may_aliases);
HILO_DECLARE_PASS(flip_must_aliases);
HILO_DECLARE_PASS(flip_may_aliases);

/* stablehlo/ */
HILO_DECLARE_PASS(chlo_legalize_to_stablehlo);
HILO_DECLARE_PASS(hlo_legalize_to_stablehlo);
HILO_DECLARE_PASS(stablehlo_legalize_quant_to_math);
HILO_DECLARE_PASS(stablehlo_legalize_to_hlo);

/* dialect/ */
HILO_DECLARE_PASS(flatten_control_deps);
HILO_DECLARE_PASS(canonicalizer);
HILO_DECLARE_PASS(mhlo_legalize_to_stablehlo);
HILO_DECLARE_PASS(convert_custom_call_to_all_reduce);
HILO_DECLARE_PASS(collective_broadcast_to_all_gather);
HILO_DECLARE_PASS(verify_supported_ops);
HILO_DECLARE_PASS(canonicalize_conv);
HILO_DECLARE_PASS(lower_complex);
HILO_DECLARE_PASS(lower_complex_extra);
HILO_DECLARE_PASS(remove_optimization_barriers);
HILO_DECLARE_PASS(convert_fs_patterns_to_cc);
HILO_DECLARE_PASS(remove_dead_values);
HILO_DECLARE_PASS(neuron_inst_combine);
HILO_DECLARE_PASS(fusion_to_composite);
HILO_DECLARE_PASS(neuron_op_fusion);
HILO_DECLARE_PASS(fold_iota);
HILO_DECLARE_PASS(replace_token_type);
HILO_DECLARE_PASS(prune_functions);
HILO_DECLARE_PASS(sixty_four_hack);
HILO_DECLARE_PASS(penguinize_io);
HILO_DECLARE_PASS(legalize_shift_right_arithmetic);
HILO_DECLARE_PASS(legalize_scatter);
HILO_DECLARE_PASS(canonicalize_for_penguin);
HILO_DECLARE_PASS(tensorizer_legalization);
HILO_DECLARE_PASS(legalize_alias);
HILO_DECLARE_PASS(verify_aliasing);
HILO_DECLARE_PASS(instruction_histogram);

#endif
