/* What the evaluators of single operations share. Internal to eval. */
#ifndef HILO_EVAL_EVAL_PARTS_H
#define HILO_EVAL_EVAL_PARTS_H

#include "eval/eval.h"

/* An evaluator: out->type is set on entry. */
typedef hilo_status hilo_eval_fn(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                 hilo_value *out);

#define HILO_OP(op, hlo, mlir, min, max, family, traits, shape, eval, emitter)                     \
  hilo_eval_fn hilo_eval_op_##eval;
#include "ir/ops.def"
#undef HILO_OP

/* "`add` of complex numbers cannot be evaluated"; silent without diags. */
hilo_status hilo_eval_refuse(const hilo_eval *e, hilo_inst i, const char *what);
/* Room for the elements of out->type, which becomes the value of *out; NULL, with a diagnostic, if
 * it has dynamic dimensions, no size or one beyond the limit. */
char *hilo_eval_new_array(const hilo_eval *e, hilo_inst i, hilo_value *out);
/* The same, in the bytes of operand k where these are of equal size and nobody else reads them;
 * else in new bytes that hold a copy of them. For operations that change a part of an operand. */
char *hilo_eval_new_from(const hilo_eval *e, hilo_inst i, const hilo_value *args, uint32_t k,
                         hilo_value *out);
/* The key of the random numbers of `i`: neighbours have unrelated ones. See draws.h. */
uint64_t hilo_eval_draw_key(const hilo_eval *e, hilo_inst i);
/* Room for n values, which become the elements of the tuple *out; the caller fills them in with
 * values that it holds (hilo_value_share for those of others). */
hilo_value *hilo_eval_new_tuple(const hilo_eval *e, hilo_inst i, uint32_t n, hilo_value *out);
/* *out becomes the elements of `in` under its own type: a reshape, a copy. */
static inline hilo_status hilo_eval_pass_on(const hilo_value *in, hilo_value *out) {
  const hilo_type type = out->type;
  *out = hilo_value_share(in);
  out->type = type;
  return HILO_OK;
}

/* The bits of `in` as `total` elements of type `to`, the low part first; between two widths one of
 * which divides the other, types of up to 8 bytes where one is below 8 bits. */
void hilo_eval_recut_elements(hilo_etype from, hilo_etype to, const char *in, uint64_t total,
                              char *data);

static inline hilo_etype hilo_value_etype(const hilo_eval *e, const hilo_value *v) {
  return hilo_type_etype(&e->m->types, v->type);
}
static inline uint64_t hilo_value_n_elements(const hilo_eval *e, const hilo_value *v) {
  return hilo_type_row_of(&e->m->types, v->type)->n_elements;
}

#endif
