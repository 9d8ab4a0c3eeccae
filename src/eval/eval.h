/* The reference evaluator: what an instruction gives for given operand values.
 *
 * A value is a type and its elements: arrays dense and row-major whatever the layout, in the memory
 * format of literals (etypes.def), tuples as a list of values. The semantics are StableHLO's and,
 * where HLO says more, XLA's. Floats are computed in double and rounded once, which for f32 and
 * narrower formats gives the correctly rounded result of + - * / sqrt and less than one ulp
 * elsewhere.
 *
 * One function per operation; ops.def names it. Single instructions are evaluated here; machine.h
 * runs whole computations, with ranks and control flow. */
#ifndef HILO_EVAL_EVAL_H
#define HILO_EVAL_EVAL_H

#include "eval/heap.h"
#include "ir/module.h"

/* The type of a value has static dimensions: those of the value at run time, where the
 * instruction's type is dynamic. */
typedef struct hilo_value {
  hilo_type type;
  union {
    const char *data;                  /* arrays */
    const struct hilo_value *elements; /* tuples */
  };
  hilo_buffer *owner; /* of data or elements; NULL: bytes that outlive the evaluation (a literal's,
                         the caller's) */
} hilo_value;

typedef struct hilo_machine hilo_machine;
typedef struct hilo_draws hilo_draws; /* draws.h */

typedef struct {
  const hilo_module *m;
  hilo_store *types;       /* m->types, for types of run-time shapes; NULL: these are refused */
  hilo_heap *heap;         /* where results live */
  hilo_arena *scratch;     /* of one instruction: reset behind it, and bounded, by whoever drives */
  hilo_diags *diags;       /* NULL: refusals are silent */
  uint64_t dying;          /* bit k: nobody reads operand k after this instruction */
  hilo_machine *machine;   /* that runs called computations; NULL: they cannot be run */
  uint32_t rank;           /* in the machine */
  uint64_t seed;           /* of `rng`, the same on every rank */
  const hilo_draws *draws; /* who draws random numbers; NULL: an ordinal says whose they are */
  bool real_copies;        /* `copy` gives bytes of its own: somebody overwrites arguments */
  uint64_t *rng_state;     /* of rng-get-and-update-state: two words, the lower first, kept by the
                              machine for each rank; NULL: the operation is refused */
} hilo_eval;

/* What *rng_state is to begin with: XLA's choice. */
#define HILO_RNG_STATE_START                                                                       \
  { 0x7012395u, 0 }

/* Is there an evaluator for this operation at all? */
bool hilo_eval_has(hilo_op op);

/* The value of `i` for operand values that have the types of its operands, into *out, which the
 * caller releases (or drops the heap). HILO_LIMIT_ERROR, with a diagnostic, if the operation, one
 * of its element types or its size is beyond what is there. */
HILO_NODISCARD hilo_status hilo_eval_inst(const hilo_eval *e, hilo_inst i,
                                          const hilo_value *operands, hilo_value *out);

/* One more holder of the same bytes. */
static inline hilo_value hilo_value_share(const hilo_value *v) {
  hilo_buffer_retain(v->owner);
  return *v;
}
/* Give up a value, with all it holds. */
void hilo_value_release(const hilo_eval *e, hilo_value *v);

/* `convert` of `total` elements, as they lie in literals. */
void hilo_eval_convert_elements(hilo_etype from, hilo_etype to, const char *in, uint64_t total,
                                char *data);

/* The one element of an integer or pred array of one element, as 64 bits: signed ones
 * sign-extended, unsigned ones zero-extended. False for other values. */
bool hilo_value_int(const hilo_module *m, const hilo_value *value, int64_t *out);

#endif
