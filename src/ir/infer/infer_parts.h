/* What the files of shape inference share: the instruction under inference, the result under
 * construction, and the words of their errors.
 *
 * A result is built without interning anything, so that the verifier, which runs this for every
 * instruction of a module, compares it with the declared type at the cost of a few words, and works
 * on a module that it must not change. */
#ifndef HILO_IR_INFER_PARTS_H
#define HILO_IR_INFER_PARTS_H

#include "ir/group_mode.h"
#include "ir/infer.h"

/* A result: an existing type (`type` set), or an array or tuple whose dimensions or elements stand
 * in the pools of the hilo_infer. Dynamic bits: one per dimension. */
typedef struct {
  hilo_type type;
  hilo_etype etype; /* of an array, or HILO_TUPLE */
  uint32_t n;       /* dimensions or elements */
  uint32_t at;      /* the first, in the pool */
  uint64_t dynamic;
} hilo_shape;

/* The instruction, from the module or from a description. One of them serves a whole module; its
 * memory is blocks of `arena`, given back by hilo_infer_deinit. */
typedef struct hilo_infer {
  const hilo_module *m;
  hilo_arena *arena;
  hilo_diags *diags; /* NULL: say nothing */
  hilo_inst inst;    /* none: a description */
  hilo_op op;
  uint32_t n_operands, n_called;
  const hilo_operand_slot *slots; /* operands of an instruction */
  const hilo_inst *operands;      /* operands of a description */
  const hilo_type *value_types;   /* of operands at run time, in place of the declared ones */
  const uint32_t *called_ixs;     /* called computations of an instruction */
  const hilo_comp *called;        /* of a description */
  uint32_t attr;
  hilo_record extra;
  hilo_type declared; /* none: no hint */
  hilo_vec(int64_t) dims;
  hilo_vec(hilo_shape) elements;
  hilo_map same; /* pairs of types that differ in dynamic bits only: 1, or otherwise: 0 */
  hilo_sb text[4];
  uint32_t next_text;
} hilo_infer;

typedef bool hilo_infer_fn(hilo_infer *c, hilo_shape *out);
/* hilo_infer_<shape> for every word of ops.def's column: true and *out, or false and a diagnostic.
 */
#define HILO_OP(op, hlo, mlir, min, max, family, traits, shape, eval, emitter)                     \
  hilo_infer_fn hilo_infer_##shape;
#include "ir/ops.def"
#undef HILO_OP

void hilo_infer_init(hilo_infer *c, const hilo_module *m, hilo_arena *arena, hilo_diags *diags);
void hilo_infer_deinit(hilo_infer *c);
void hilo_infer_set_inst(hilo_infer *c, hilo_inst i);
/* Infer the current instruction: counts and family first, then the rule of its operation. */
bool hilo_infer_run(hilo_infer *c, hilo_shape *out);
/* Is `shape` the type `t`, but for layouts and dynamic bits? */
bool hilo_infer_matches(hilo_infer *c, const hilo_shape *shape, hilo_type t);
/* Are two types the same but for layouts and dynamic bits? */
bool hilo_infer_same_types(hilo_infer *c, hilo_type a, hilo_type b);

/* ---- errors: return false, so that `return hilo_infer_fail(…)` ends a rule ---- */
void hilo_infer_report(hilo_infer *c, hilo_diag_code code, const char *fmt, ...) HILO_PRINTF(3, 4)
    __attribute__((cold));
#define hilo_infer_fail(c, ...) (hilo_infer_report((c), __VA_ARGS__), false)
/* Texts for messages: each valid until the fourth next one. Long ones are cut. */
const char *hilo_infer_type_text(hilo_infer *c, hilo_type t);
const char *hilo_infer_shape_text(hilo_infer *c, const hilo_shape *shape);
const char *hilo_infer_dims_text(hilo_infer *c, hilo_dims dims);
const char *hilo_infer_comp_text(hilo_infer *c, hilo_comp comp); /* its name */

static inline const char *op_name(const hilo_infer *c) { return hilo_op_name(c->op); }

/* ---- operands ---- */
static inline hilo_type operand_type(const hilo_infer *c, uint32_t k) {
  HILO_DCHECK(k < c->n_operands);
  if (HILO_UNLIKELY(c->value_types != NULL)) return c->value_types[k];
  if (c->slots) return (hilo_type){c->m->inst.type[c->slots[k].value]};
  return hilo_inst_type(c->m, c->operands[k]);
}
static inline const hilo_type_row *type_row(const hilo_infer *c, hilo_type t) {
  return hilo_type_row_of(&c->m->types, t);
}
static inline const hilo_type_row *operand_row(const hilo_infer *c, uint32_t k) {
  return type_row(c, operand_type(c, k));
}
static inline hilo_type bare(const hilo_infer *c, hilo_type t) {
  return hilo_type_bare(&c->m->types, t);
}
static inline hilo_dims row_dims(const hilo_type_row *r) { return (hilo_dims){r->items, r->n}; }
static inline uint64_t row_dynamic(const hilo_type_row *r) {
  return r->flags & HILO_TYPE_HAS_BITS ? (uint64_t)r->items[r->n] : 0;
}
static inline const char *etype_name(hilo_etype t) { return hilo_etype_table[t].hlo; }
static inline const char *row_etype_name(const hilo_type_row *r) {
  return hilo_etype_table[r->etype].hlo;
}
static inline bool row_is_array(const hilo_type_row *r) {
  return hilo_etype_is_array((hilo_etype)r->etype);
}
static inline bool row_is_scalar(const hilo_type_row *r) { return row_is_array(r) && r->n == 0; }
/* The row of an operand that must be an array; NULL after an error. */
const hilo_type_row *hilo_infer_array_operand(hilo_infer *c, uint32_t k);
/* All operands from `first` must be arrays. */
bool hilo_infer_array_operands(hilo_infer *c, uint32_t first);
/* The declared type, which must be there and be an array; NULL after an error. */
const hilo_type_row *hilo_infer_declared_array(hilo_infer *c);

/* Sizes agree: equal, or one of them is not known. */
static inline bool same_size(int64_t a, int64_t b) {
  return a == b || a == HILO_UNBOUNDED || b == HILO_UNBOUNDED;
}
/* Equal ranks and agreeing sizes. */
bool hilo_infer_same_dims(const hilo_type_row *a, const hilo_type_row *b);
/* Floats of any precision count as one kind, other element types only as themselves. */
static inline bool same_kind(hilo_etype a, hilo_etype b) {
  return a == b || (hilo_etype_is_float(a) && hilo_etype_is_float(b));
}
/* Are these dimension numbers of an array of this rank, each at most once? Else an error about
 * `what`. */
bool hilo_infer_check_dims(hilo_infer *c, hilo_dims dims, int64_t rank, const char *what);
/* Likewise, and ascending. */
bool hilo_infer_check_sorted_dims(hilo_infer *c, hilo_dims dims, int64_t rank, const char *what);
static inline uint64_t dims_mask(hilo_dims dims) {
  uint64_t mask = 0;
  for (uint32_t i = 0; i < dims.n; i++) mask |= 1ull << dims.v[i];
  return mask;
}

/* ---- called computations ---- */
static inline hilo_comp called_comp(const hilo_infer *c, uint32_t k) {
  HILO_DCHECK(k < c->n_called);
  return c->called_ixs ? hilo_comp_at(c->m, c->called_ixs[k]) : c->called[k];
}
static inline hilo_type comp_param_type(const hilo_infer *c, hilo_comp comp, uint32_t k) {
  return hilo_inst_type(c->m, hilo_comp_param(c->m, comp, k));
}
/* The type of its root; HILO_TYPE_NONE without one. */
static inline hilo_type comp_result(const hilo_infer *c, hilo_comp comp) {
  const uint32_t root = hilo_comp_get(c->m, comp)->root;
  return (hilo_type){root ? c->m->inst.type[root] : 0};
}
/* The computation takes `n` parameters and has a root. `role`: `body`, `reducer`, … */
bool hilo_infer_check_n_params(hilo_infer *c, hilo_comp comp, uint32_t n, const char *role);
/* Parameter k takes what operand k (plus `shift`) gives, for all parameters. */
bool hilo_infer_check_params(hilo_infer *c, hilo_comp comp, uint32_t shift, const char *role);
/* The computation gives a scalar pred. */
bool hilo_infer_check_gives_pred(hilo_infer *c, hilo_comp comp, const char *role);
/* A reducer of n values: takes n accumulators and n inputs, gives the accumulators. `inits` and
 * `inputs`: the operand that each starts with, and the one whose elements it takes; strict: element
 * types agree exactly, else floats of any precision do. */
bool hilo_infer_check_reducer(hilo_infer *c, hilo_comp comp, uint32_t n, uint32_t first_init,
                              uint32_t first_input, bool strict);

/* ---- results ---- */
static inline bool gives(hilo_infer *c, hilo_shape *out, hilo_type t) {
  *out = (hilo_shape){.type = bare(c, t)};
  return true;
}
/* An array of rank n; its dimensions are at `new_dims(c, out)`. False with an error if n is beyond
 * the limit. */
bool hilo_infer_new_array(hilo_infer *c, hilo_shape *out, hilo_etype etype, uint32_t n,
                          uint64_t dynamic);
static inline int64_t *new_dims(hilo_infer *c, const hilo_shape *shape) {
  return shape->at ? c->dims.v + shape->at : c->dims.v;
}
/* The array `r` with another element type. */
bool hilo_infer_gives_etype(hilo_infer *c, hilo_shape *out, hilo_type t, hilo_etype etype);
bool hilo_infer_gives_scalar(hilo_infer *c, hilo_shape *out, hilo_etype etype);
/* A tuple of n elements, at `new_elements(c, out)`, all to be filled in. */
void hilo_infer_new_tuple(hilo_infer *c, hilo_shape *out, uint32_t n);
static inline hilo_shape *new_elements(hilo_infer *c, const hilo_shape *shape) {
  return shape->at ? c->elements.v + shape->at : c->elements.v;
}
static inline hilo_shape existing(hilo_infer *c, hilo_type t) {
  return (hilo_shape){.type = bare(c, t)};
}
static inline hilo_shape scalar_shape(hilo_etype etype) { return (hilo_shape){.etype = etype}; }
/* a * b + add, or false with a limit error. */
bool hilo_infer_mul_add(hilo_infer *c, int64_t a, int64_t b, int64_t add, int64_t *out);

/* ---- windows ---- */
static inline int64_t window_at(hilo_dims list, uint32_t i, int64_t otherwise) {
  return list.n ? list.v[i] : otherwise;
}
/* The size of dimension i after the window has gone over `size`; false with an error. */
bool hilo_infer_window_output(hilo_infer *c, const hilo_window_attrs *w, uint32_t i, int64_t size,
                              int64_t *out);
/* All lists of the window have n entries or none, `size` has n. */
bool hilo_infer_check_window(hilo_infer *c, const hilo_window_attrs *w, uint32_t n);

/* ---- collectives ---- */
hilo_group_mode hilo_infer_group_mode(const hilo_infer *c, const hilo_collective_attrs *a);
/* Participants of one group; 0: not known. Groups of several sizes count as not known. */
int64_t hilo_infer_group_size(const hilo_infer *c, const hilo_collective_attrs *a);

#endif
