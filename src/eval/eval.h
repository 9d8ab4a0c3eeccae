/* The reference evaluator: what an instruction gives for given operand values.
 *
 * A value is a type and its elements: arrays dense and row-major whatever the layout, in the memory
 * format of literals (etypes.def), tuples as a list of values. Values are never changed once made,
 * so results may share bytes with operands and literals. The semantics are StableHLO's and, where
 * HLO says more, XLA's. Floats are computed in double and rounded once, which for f32 and narrower
 * formats gives the correctly rounded result of + - * / sqrt and less than one ulp elsewhere.
 *
 * One function per operation; ops.def names it. hilo_eval_has says whether there is one: loops,
 * calls, reductions, contractions, complex numbers and dynamic dimensions are not there. */
#ifndef HILO_EVAL_EVAL_H
#define HILO_EVAL_EVAL_H

#include "ir/module.h"

typedef struct hilo_value {
  hilo_type type;
  union {
    const char *data;                  /* arrays */
    const struct hilo_value *elements; /* tuples */
  };
} hilo_value;

typedef struct {
  const hilo_module *m;
  hilo_arena *arena;  /* where results live */
  hilo_diags *diags;  /* NULL: refusals are silent */
  uint64_t max_bytes; /* of one result; 0: no limit */
} hilo_eval;

/* Is there an evaluator for this operation at all? */
bool hilo_eval_has(hilo_op op);

/* The value of `i` for operand values that have the types of its operands, into *out.
 * HILO_LIMIT_ERROR, with a diagnostic, if the operation, one of its element types or its size is
 * beyond what is there. Only bad operand values can make it fail otherwise, never the elements. */
HILO_NODISCARD hilo_status hilo_eval_inst(const hilo_eval *e, hilo_inst i,
                                          const hilo_value *operands, hilo_value *out);

/* A literal as a value; splats are spread out. False if it was elided or is too large. */
bool hilo_eval_literal(const hilo_eval *e, hilo_literal literal, hilo_value *out);

/* `convert` of `total` elements of real types, as they lie in literals. */
void hilo_eval_convert_elements(hilo_etype from, hilo_etype to, const char *in, uint64_t total,
                                char *data);

/* The one element of an integer or pred array of one element, as 64 bits: signed ones
 * sign-extended, unsigned ones zero-extended. False for other values. */
bool hilo_value_int(const hilo_module *m, const hilo_value *value, int64_t *out);

#endif
