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
/* Room for the elements of an array type; NULL if it has dynamic dimensions, no size or one beyond
 * the limit. */
char *hilo_eval_new_array(const hilo_eval *e, hilo_type type);

static inline hilo_etype hilo_value_etype(const hilo_eval *e, const hilo_value *v) {
  return hilo_type_etype(&e->m->types, v->type);
}
static inline uint64_t hilo_value_n_elements(const hilo_eval *e, const hilo_value *v) {
  return hilo_type_row_of(&e->m->types, v->type)->n_elements;
}

#endif
