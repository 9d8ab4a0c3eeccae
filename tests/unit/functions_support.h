/* One operation over given operands, evaluated directly or as what the CHLO pass makes of it. */
#ifndef HILO_TESTS_FUNCTIONS_SUPPORT_H
#define HILO_TESTS_FUNCTIONS_SUPPORT_H

#include "eval/eval.h"
#include "ir_support.h"
#include "passes/passes.h"

#include <math.h>
#include <stdlib.h>

enum { DIRECT, EXPANDED };

typedef struct {
  hilo_arena arena, scratch;
  hilo_heap heap;
  hilo_module *m;
} bench;

static inline void bench_open(bench *b) {
  hilo_arena_init(&b->arena, NULL, NULL);
  hilo_arena_init(&b->scratch, NULL, NULL);
  b->heap = (hilo_heap){0};
  b->m = hilo_module_create(&b->arena, NULL);
  b->m->dialect = HILO_DIALECT_STABLEHLO;
}
static inline void bench_close(bench *b) {
  hilo_heap_clear(&b->heap);
  hilo_arena_deinit(&b->scratch);
  hilo_arena_deinit(&b->arena);
}

static inline hilo_type vector_of(bench *b, hilo_etype etype, int64_t n) {
  return hilo_type_array(&b->m->types, etype, HILO_DIMS_OF(n));
}

/* True if the pass changed something. */
static inline bool expand(bench *b) {
  const hilo_pass_options options = {0};
  hilo_diags diags = hilo_diags_make(&b->arena);
  hilo_pass_ctx ctx = {.diags = &diags, .scratch = &b->scratch, .options = &options};
  bool changed = false;
  assert_int_equal(hilo_pass_chlo_legalize_to_stablehlo(b->m, &ctx, &changed), HILO_OK);
  return changed;
}

/* What the root of computation c is for these parameters. */
static inline hilo_value run(bench *b, hilo_comp c, const hilo_value *args) {
  hilo_diags diags = hilo_diags_make(&b->arena);
  const hilo_eval e = {
      .m = b->m, .types = &b->m->types, .heap = &b->heap, .scratch = &b->scratch, .diags = &diags};
  hilo_value *values = HILO_NEW_ZEROED(&b->arena, hilo_value, b->m->n_inst_slots + 1);
  HILO_FOR_EACH_INST(b->m, c, i) {
    hilo_value operands[4], *out = &values[hilo_ix(b->m, i)];
    if (hilo_inst_is(b->m, i, HILO_OP_PARAMETER)) {
      *out = args[hilo_inst_index(b->m, i)];
      continue;
    }
    for (uint32_t k = 0; k < hilo_inst_n_operands(b->m, i); k++)
      operands[k] = values[hilo_ix(b->m, hilo_inst_operand(b->m, i, k))];
    if (hilo_eval_inst(&e, i, operands, out) != HILO_OK)
      fail_msg("`%s` is refused", hilo_op_get(hilo_inst_op(b->m, i))->mlir);
  }
  return values[hilo_ix(b->m, hilo_comp_root(b->m, c))];
}

/* op(args), one way or the other; `attr` as the operation has it. */
static inline hilo_value apply(bench *b, int way, hilo_op op, uint32_t attr, hilo_type result,
                               const hilo_value *args, uint32_t n) {
  const hilo_comp c =
      hilo_comp_add(b->m, hilo_comp_fresh_name(b->m, hilo_module_string(b->m, HILO_STR("f"))));
  hilo_inst params[3];
  for (uint32_t k = 0; k < n; k++) {
    const hilo_inst_desc desc = {.op = HILO_OP_PARAMETER, .type = args[k].type, .attr = k};
    params[k] = hilo_inst_add(b->m, c, &desc);
  }
  const hilo_inst_desc desc = {
      .op = op, .type = result, .operands = params, .n_operands = n, .attr = attr};
  hilo_comp_set_root(b->m, c, hilo_inst_add(b->m, c, &desc));
  if (way == EXPANDED) {
    if (!expand(b)) fail_msg("`%s` is not expanded", hilo_op_get(op)->mlir);
    HILO_FOR_EACH_INST(b->m, c, i) assert_int_not_equal(hilo_inst_op(b->m, i), op);
  }
  return run(b, c, args);
}

/* ---- elements as doubles ---- */

static inline void put_part(hilo_etype etype, char *data, size_t k, double x) {
  const bool wide = etype == HILO_F64 || etype == HILO_C128;
  const float narrow = (float)x;
  memcpy(data + k * (wide ? 8 : 4), wide ? (const void *)&x : &narrow, wide ? 8 : 4);
}
static inline double part(hilo_etype etype, const char *data, size_t k) {
  double x;
  float narrow;
  if (etype == HILO_F64 || etype == HILO_C128) {
    memcpy(&x, data + k * 8, 8);
    return x;
  }
  memcpy(&narrow, data + k * 4, 4);
  return (double)narrow;
}

/* How many numbers of the format lie between x and y; 0 for two NaNs, infinite for one. Zeros are
 * equal. */
static inline double ulps_between(hilo_etype etype, double x, double y) {
  if (isnan(x) || isnan(y)) return isnan(x) && isnan(y) ? 0 : (double)INFINITY;
  const bool wide = etype == HILO_F64 || etype == HILO_C128;
  int64_t key[2];
  const double v[2] = {x, y};
  for (int k = 0; k < 2; k++) {
    const float narrow = (float)v[k];
    int32_t bits;
    if (wide)
      memcpy(&key[k], &v[k], 8);
    else
      memcpy(&bits, &narrow, 4), key[k] = bits;
    if (key[k] < 0) key[k] = (wide ? INT64_MIN : INT32_MIN) - key[k];
  }
  return fabs((double)key[0] - (double)key[1]);
}

#endif
