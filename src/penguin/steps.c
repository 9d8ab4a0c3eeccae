/* Single steps: the elementwise operations from which the composed emitters build their
 * statements. An intermediate is named by its own mnemonic; the last step takes the name of the
 * instruction that is being decomposed. */
#include "penguin/elementwise.h"
#include "penguin/printer.h"

static hilo_result result_of(const hilo_printer *p, hilo_step s, hilo_op op, hilo_etype etype) {
  return (hilo_result){
      .shape = s.shape,
      .dtype = (uint16_t)etype,
      .mnemonic = (uint16_t)(s.last ? hilo_inst_op(p->m, s.at) : op),
      .of = s.last ? s.at : HILO_INST_NONE,
  };
}

static uint32_t finish(hilo_printer *p, hilo_step s, uint32_t var) {
  hilo_close(p);
  if (s.last) hilo_bind(p, s.at, &var, 1);
  return var;
}

static uint32_t named_step(hilo_printer *p, hilo_step s, hilo_op op, hilo_etype result,
                           const char *ref, const char *tag, const uint32_t *srcs, uint32_t n) {
  hilo_result r = result_of(p, s, op, result);
  hilo_open_with(p, HILO_CTOR_TENSOR_OP, s.at, srcs, n, &r, 1);
  hilo_put_op(p, ref);
  hilo_put_tag(p, tag);
  return finish(p, s, r.var);
}

uint32_t hilo_step_unary(hilo_printer *p, hilo_step s, hilo_op op, hilo_etype etype, uint32_t x) {
  return named_step(p, s, op, etype, hilo_unary_ref(op, etype), "unary", &x, 1);
}

uint32_t hilo_step_binary(hilo_printer *p, hilo_step s, hilo_op op, hilo_etype etype, uint32_t x,
                          uint32_t y) {
  const uint32_t srcs[] = {x, y};
  return named_step(p, s, op, etype, hilo_binary_ref(op, etype), "binary", srcs, 2);
}

uint32_t hilo_step_compare(hilo_printer *p, hilo_step s, hilo_compare_direction direction,
                           uint32_t x, uint32_t y) {
  const uint32_t srcs[] = {x, y};
  return named_step(p, s, HILO_OP_COMPARE, HILO_PRED, hilo_compare_ref(direction), "binary", srcs,
                    2);
}

uint32_t hilo_step_select(hilo_printer *p, hilo_step s, hilo_etype etype, uint32_t pred, uint32_t x,
                          uint32_t y) {
  const uint32_t srcs[] = {pred, x, y};
  return named_step(p, s, HILO_OP_SELECT, etype, "np.select", "ternary", srcs, 3);
}

uint32_t hilo_step_convert(hilo_printer *p, hilo_step s, hilo_etype to, uint32_t x) {
  hilo_result r = result_of(p, s, HILO_OP_CONVERT, to);
  hilo_open_with(p, HILO_CTOR_TENSOR_OP, s.at, &x, 1, &r, 1);
  hilo_put_tag(p, "convert");
  hilo_put_dtype(p, "dtype", to);
  return finish(p, s, r.var);
}

uint32_t hilo_step_bitcast(hilo_printer *p, hilo_step s, hilo_etype to, uint32_t x) {
  hilo_result r = result_of(p, s, HILO_OP_BITCAST_CONVERT, to);
  hilo_open_with(p, HILO_CTOR_BITCAST, s.at, &x, 1, &r, 1);
  hilo_put_dtype(p, "dtype", to);
  return finish(p, s, r.var);
}

uint32_t hilo_step_copy(hilo_printer *p, hilo_inst at, hilo_result result, uint32_t source) {
  const uint16_t dtype = result.dtype;
  const bool offloaded = !p->o->memcpy_disabled;
  hilo_open_with(p, offloaded ? HILO_CTOR_MEMCPY : HILO_CTOR_TENSOR_OP, at, &source, 1, &result, 1);
  if (offloaded) {
    hilo_put_dtype(p, "dtype", dtype);
  } else {
    hilo_put_tag(p, result.mnemonic == HILO_OP_RESHAPE ? "reshape" : "copy");
    hilo_put_shape(p, "shape", result.shape);
  }
  hilo_close(p);
  return result.var;
}

hilo_etype hilo_signed_of_width(unsigned bits) {
  return bits == 8    ? HILO_S8
         : bits == 16 ? HILO_S16
         : bits == 32 ? HILO_S32
         : bits == 64 ? HILO_S64
                      : HILO_INVALID;
}

hilo_etype hilo_unsigned_of_width(unsigned bits) {
  return bits == 8    ? HILO_U8
         : bits == 16 ? HILO_U16
         : bits == 32 ? HILO_U32
         : bits == 64 ? HILO_U64
                      : HILO_INVALID;
}

uint32_t hilo_step_total_order_key(hilo_printer *p, hilo_step s, hilo_etype etype, uint32_t x) {
  const unsigned width = hilo_etype_table[etype].bits;
  const hilo_etype integer = hilo_signed_of_width(width);
  /* Negative floats order the wrong way round as integers: flip all bits of theirs but the sign. */
  const hilo_step inner = {s.at, s.shape, false};
  const uint32_t bits = hilo_step_bitcast(p, inner, integer, x);
  const uint32_t count = hilo_step_splat(p, inner, integer, width - 1);
  const uint32_t sign =
      hilo_step_binary(p, inner, HILO_OP_SHIFT_RIGHT_ARITHMETIC, integer, bits, count);
  const uint32_t mask = hilo_step_splat(p, inner, integer, (1ull << (width - 1)) - 1);
  const uint32_t flips = hilo_step_binary(p, inner, HILO_OP_AND, integer, sign, mask);
  return hilo_step_binary(p, s, HILO_OP_XOR, integer, bits, flips);
}
