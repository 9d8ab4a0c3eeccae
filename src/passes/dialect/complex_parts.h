/* Internal to steps 6 and 7: complex values as pairs of reals. */
#ifndef HILO_PASSES_COMPLEX_PARTS_H
#define HILO_PASSES_COMPLEX_PARTS_H

#include "rewrite/pass.h"

typedef struct {
  hilo_inst re, im;
} hilo_complex;

typedef struct {
  hilo_module *m;
  hilo_pass_ctx *ctx;
  hilo_complex *parts; /* per slot that existed at the start; re none: not complex or not lowered */
  uint32_t n_slots;
  hilo_map pair_types; /* type handle → the type with a pair for every complex array */
} hilo_complex_lowering;

static inline bool hilo_is_complex(const hilo_module *m, hilo_inst i) {
  return hilo_etype_is_complex(hilo_inst_etype(m, i));
}
/* Can there be complex values at all? */
static inline bool hilo_complex_has_types(const hilo_module *m) {
  return hilo_types_have(&m->types, HILO_C64) || hilo_types_have(&m->types, HILO_C128);
}
/* Has the value been lowered to parts? Carriers of pairs have no complex type any more. */
static inline bool hilo_complex_is_lowered(const hilo_complex_lowering *l, hilo_inst i) {
  const uint32_t ix = hilo_ix(l->m, i);
  return ix < l->n_slots && l->parts[ix].re.ix;
}
/* f32 for c64, f64 for c128. */
static inline hilo_etype hilo_part_etype(hilo_etype complex) {
  return complex == HILO_C64 ? HILO_F32 : HILO_F64;
}

/* Can step 6 lower this instruction, whose result or some array operand is complex? Steps 4 and 6
 * both ask. */
bool hilo_complex_is_lowerable(const hilo_module *m, hilo_inst i);

/* One of the functions that step 7 expands; and is there any? */
bool hilo_complex_is_function(const hilo_module *m, hilo_inst i);
bool hilo_complex_has_functions(const hilo_module *m);

/* Step 6 without its condition: every complex value becomes two real ones. */
hilo_status hilo_lower_complex(hilo_module *m, hilo_pass_ctx *ctx, bool *changed);

/* The parts of an operand; a real one has a zero imaginary part, built before `at`. */
hilo_complex hilo_complex_operand(hilo_complex_lowering *l, hilo_inst at, uint32_t k);
/* `i` with the parts of its complex operands in place: `imaginary` says which. */
hilo_inst hilo_complex_part(hilo_complex_lowering *l, hilo_inst i, bool imaginary);

/* The parts of the result of an arithmetic or a structural instruction, built before it. */
hilo_complex hilo_complex_arithmetic(hilo_complex_lowering *l, hilo_inst i);
hilo_complex hilo_complex_structure(hilo_complex_lowering *l, hilo_inst i);
/* The real (or pred) result of real, imag, abs and compare; may be an existing value. */
hilo_inst hilo_complex_to_real(hilo_complex_lowering *l, hilo_inst i);

#endif
