/* Comparisons: six directions by the kinds of lanes; complex numbers have no order. */
#include "eval/kernels.h"
#include "ir/etype_format.h"

#define DIRECTIONS(M)                                                                              \
  M(EQ, ==, hilo_complex_EQ)                                                                       \
  M(NE, !=, hilo_complex_NE)                                                                       \
  M(GE, >=, NULL)                                                                                  \
  M(GT, >, NULL)                                                                                   \
  M(LE, <=, NULL)                                                                                  \
  M(LT, <, NULL)
#define KERNELS(direction, op, of_complex)                                                         \
  HILO_KERNEL2(direction##_s, s, u, a op b)                                                        \
  HILO_KERNEL2(direction##_u, u, u, a op b)                                                        \
  HILO_KERNEL2(direction##_f, f, u, a op b)
DIRECTIONS(KERNELS)

static const hilo_kernels by_direction[] = {
#define ROW(direction, op, of_complex)                                                             \
  [HILO_##direction] = {direction##_s, direction##_u, direction##_u, direction##_f, of_complex},
    DIRECTIONS(ROW)};

const hilo_kernels *hilo_compare_kernels(const hilo_module *m, hilo_inst compare) {
  return &by_direction[hilo_attrs(m, compare, compare).direction];
}

/* -NaN < -inf < … < -0 < 0 < … < inf < NaN: bits of floats as sign and magnitude, put in the order
 * of two's complement. */
static int64_t order_key(uint64_t bits, unsigned width) {
  const int64_t x = hilo_bits_extend(bits, width);
  return x < 0 ? (int64_t)((uint64_t)x ^ (hilo_bits_mask(width) >> 1)) : x;
}

static void load_keys(hilo_float_format f, const char *data, uint64_t at, uint32_t n,
                      hilo_lanes *out) {
  const size_t bytes = hilo_float_element_bytes(f);
  const bool has_sign = hilo_float_descs[f].specials != HILO_SPECIALS_SCALE;
  for (uint32_t k = 0; k < n; k++) {
    const uint64_t bits = hilo_float_load(f, data + (at + k) * bytes);
    out->s[k] = has_sign ? order_key(bits, hilo_float_descs[f].bits) : (int64_t)bits;
  }
}

static void compare_total_order(const hilo_eval *e, hilo_kernel kernel, const hilo_value *args,
                                hilo_value *out, char *data) {
  const hilo_float_format f = hilo_etype_float_format(hilo_value_etype(e, &args[0]));
  hilo_lanes lanes[3];
  hilo_lanes *const x[3] = {&lanes[0], &lanes[1], &lanes[2]};
  const uint64_t total = hilo_value_n_elements(e, out);
  for (uint64_t at = 0; at < total; at += HILO_LANES) {
    const uint32_t n = total - at < HILO_LANES ? (uint32_t)(total - at) : HILO_LANES;
    for (uint32_t k = 0; k < 2; k++) load_keys(f, args[k].data, at, n, x[k]);
    kernel(x, n, 64);
    hilo_lanes_store(HILO_PRED, data, at, n, x[0]);
  }
  out->data = data;
}

hilo_status hilo_eval_compare(const hilo_eval *e, hilo_inst i, hilo_compare_direction direction,
                              hilo_compare_type type, const hilo_value *args, hilo_value *out) {
  const hilo_kernels *kernels = &by_direction[direction];
  const bool is_float = hilo_etype_is_float(hilo_value_etype(e, &args[0]));
  if (!is_float || type != HILO_COMPARE_TOTALORDER)
    return hilo_eval_elementwise(e, i, kernels, args, 2, out);
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  compare_total_order(e, kernels->s, args, out, data);
  return HILO_OK;
}

hilo_status hilo_eval_op_compare(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                 hilo_value *out) {
  const hilo_compare_attrs attrs = hilo_attrs(e->m, i, compare);
  return hilo_eval_compare(e, i, (hilo_compare_direction)attrs.direction,
                           (hilo_compare_type)attrs.type, args, out);
}
