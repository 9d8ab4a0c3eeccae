/* What the emitter prints for reducers. */
#include "penguin/reducer_text.h"

const char *hilo_reducer_ref(hilo_reducer r) {
  const bool logical = r.etype == HILO_PRED;
  if (r.overwrites) return "None";
  switch (r.op) {
  case HILO_OP_ADD: return "np.add";
  case HILO_OP_MULTIPLY: return "np.multiply";
  case HILO_OP_MAXIMUM: return "np.maximum";
  case HILO_OP_MINIMUM: return "np.minimum";
  case HILO_OP_AND: return logical ? "np.logical_and" : "np.bitwise_and";
  case HILO_OP_OR: return logical ? "np.logical_or" : "np.bitwise_or";
  case HILO_OP_XOR: return logical ? "np.logical_xor" : "np.bitwise_xor";
  case HILO_OP_SUBTRACT: return "np.subtract";
  case HILO_OP_DIVIDE: return "np.divide";
  default: return "np.fmod";
  }
}

const char *hilo_reducer_name(hilo_reducer r) {
  return r.overwrites ? "None" : hilo_reducer_ref(r) + sizeof("np.") - 1;
}

static bool integer_identity(hilo_op op, hilo_etype etype, uint64_t *bits) {
  const unsigned width = hilo_etype_table[etype].bits;
  const bool is_pred = etype == HILO_PRED;
  const bool is_signed = hilo_etype_class_of(etype) == HILO_CLASS_SIGNED;
  const uint64_t ones = is_pred ? 1 : width < 64 ? (1ull << width) - 1 : UINT64_MAX;
  const uint64_t top = 1ull << (width - 1);
  switch (op) {
  case HILO_OP_MULTIPLY: *bits = 1; return true;
  case HILO_OP_MAXIMUM: *bits = is_signed ? top : 0; return true;
  case HILO_OP_MINIMUM: *bits = is_signed ? top - 1 : ones; return true;
  case HILO_OP_AND: *bits = ones; return true;
  default: *bits = 0; return true;
  }
}

bool hilo_reducer_identity(hilo_reducer r, hilo_etype etype, uint64_t *bits) {
  if (!hilo_etype_is_float(etype)) return integer_identity(r.op, etype, bits);
  switch (r.op) {
  case HILO_OP_ADD: *bits = hilo_py_float_bits(etype, 0.0); return true;
  case HILO_OP_MULTIPLY: *bits = hilo_py_float_bits(etype, 1.0); return true;
  case HILO_OP_MAXIMUM: *bits = hilo_py_float_bits(etype, -(double)__builtin_inf()); break;
  case HILO_OP_MINIMUM: *bits = hilo_py_float_bits(etype, (double)__builtin_inf()); break;
  default: return false;
  }
  return hilo_py_is_inf(etype, *bits);
}

void hilo_put_identity(hilo_printer *p, hilo_reducer r, hilo_etype etype) {
  uint64_t bits;
  if (hilo_reducer_identity(r, etype, &bits))
    hilo_py_scalar(p->out, etype, bits);
  else if (r.op == HILO_OP_MAXIMUM)
    HILO_PUT(p->out, "float('-inf')");
  else if (r.op == HILO_OP_MINIMUM)
    HILO_PUT(p->out, "float('inf')");
  else
    HILO_PUT(p->out, "None");
}
