#include "ir/op.h"

const hilo_op_info hilo_op_table[HILO_OP_COUNT] = {
    [HILO_OP_DEAD] = {"dead", "dead", 0, 0, 0, HILO_FAMILY_none},
#define HILO_OP(op, hlo, mlir, min, max, family, traits, shape, eval, emitter)                     \
  [HILO_OP_##op] = {hlo, mlir, min, max, (traits), HILO_FAMILY_##family},
#include "ir/ops.def"
#undef HILO_OP
};

const hilo_etype_info hilo_etype_table[HILO_ETYPE_COUNT] = {
#define HILO_ETYPE(etype, number, hlo, mlir, bits, class)                                          \
  [HILO_##etype] = {hlo, mlir, number, bits, HILO_CLASS_##class},
#include "ir/etypes.def"
#undef HILO_ETYPE
};

/* ops.def is sorted by enum name, which is not the order of the texts; a linear walk over 133 short
 * strings, led by their length and first letter, costs less than it seems, and readers keep what
 * they found in a table of their own. */
hilo_op hilo_op_from_hlo(hilo_str name) {
  for (int op = 1; op < HILO_OP_COUNT; op++)
    if (hilo_str_is(name, hilo_op_table[op].hlo)) return (hilo_op)op;
  return HILO_OP_DEAD;
}

hilo_op hilo_op_from_mlir(hilo_str name) {
  for (int op = 1; op < HILO_OP_COUNT; op++)
    if (hilo_str_is(name, hilo_op_table[op].mlir)) return (hilo_op)op;
  return HILO_OP_DEAD;
}

hilo_etype hilo_etype_from_hlo(hilo_str name) {
  for (int t = 1; t < HILO_ETYPE_COUNT; t++)
    if (hilo_str_is(name, hilo_etype_table[t].hlo)) return (hilo_etype)t;
  return HILO_INVALID;
}

hilo_etype hilo_etype_from_number(int64_t number) {
  for (int t = 1; t < HILO_ETYPE_COUNT; t++)
    if (hilo_etype_table[t].number == number) return (hilo_etype)t;
  return HILO_INVALID;
}
