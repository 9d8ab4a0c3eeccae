/* Custom calls that the evaluator knows. Internal to eval. */
#ifndef HILO_EVAL_TARGETS_H
#define HILO_EVAL_TARGETS_H

#include "eval/eval_parts.h"

typedef hilo_status hilo_target_fn(const hilo_eval *e, hilo_inst i, hilo_str target,
                                   const hilo_value *args, hilo_value *out);

/* The text of the backend config. */
hilo_str hilo_target_config(const hilo_eval *e, hilo_inst i);
/* The number behind `key` in a config, as JSON or as a dictionary of MLIR; false: there is none. */
bool hilo_target_number(hilo_str config, const char *key, uint64_t *out);
/* "`X` has …": an input error about the call. */
hilo_status hilo_target_error(const hilo_eval *e, hilo_inst i, hilo_str target, const char *what);
/* Result k of n: `out` itself, or an element of the tuple that it becomes. Set up by
 * hilo_target_results, which checks the number and makes room for arrays of the declared types. */
HILO_NODISCARD hilo_status hilo_target_results(const hilo_eval *e, hilo_inst i, hilo_str target,
                                               uint32_t n, hilo_value *out, hilo_value **results);
/* The axis in the backend config, of operand `of`; without one the last. */
HILO_NODISCARD hilo_status hilo_target_axis(const hilo_eval *e, hilo_inst i, hilo_str target,
                                            const hilo_value *of, uint32_t *axis);

/* ---- targets_float.c ---- */
hilo_target_fn hilo_target_activation;
hilo_target_fn hilo_target_softmax;
hilo_target_fn hilo_target_rms_norm;
hilo_target_fn hilo_target_layer_norm;
/* ---- ranks/shard_shapes.c ---- */
hilo_target_fn hilo_target_full_to_shard;
/* ---- targets_pick.c ---- */
hilo_target_fn hilo_target_arg_extreme;
hilo_target_fn hilo_target_resize;
hilo_target_fn hilo_target_resize_gradient;
/* ---- targets_random.c ---- */
hilo_target_fn hilo_target_dropout;
/* ---- targets_scaled.c ---- */
hilo_target_fn hilo_target_quantize;
hilo_target_fn hilo_target_scaled_dot;

#endif
