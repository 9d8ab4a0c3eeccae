/* Terms and sums of products: from element types and to them. */
#include "eval/lanes.h"
#include "eval/products/gemm.h"
#include "ir/etype_format.h"

static hilo_sum sum_of(hilo_etype result, bool is_wide) {
  switch (hilo_etype_class_of(result)) {
  case HILO_CLASS_FLOAT: return result == HILO_F32 && !is_wide ? HILO_SUM_F32 : HILO_SUM_F64;
  case HILO_CLASS_COMPLEX: return result == HILO_C64 && !is_wide ? HILO_SUM_C64 : HILO_SUM_C128;
  case HILO_CLASS_PRED: return HILO_SUM_U64;
  default: return hilo_etype_table[result].bits <= 32 ? HILO_SUM_U32 : HILO_SUM_U64;
  }
}

static bool is_wide(hilo_etype etype) { return etype == HILO_F64 || etype == HILO_C128; }

hilo_product hilo_product_of(hilo_etype result, hilo_etype lhs, hilo_etype rhs) {
  static const uint8_t bytes[][2] = {
      [HILO_SUM_U32] = {4, 4}, [HILO_SUM_U64] = {8, 8},  [HILO_SUM_F32] = {4, 8},
      [HILO_SUM_F64] = {8, 8}, [HILO_SUM_C64] = {8, 16}, [HILO_SUM_C128] = {16, 16}};
  hilo_product p = {.result = result, .sum = sum_of(result, is_wide(lhs) || is_wide(rhs))};
  p.term_bytes = bytes[p.sum][0];
  p.sum_bytes = bytes[p.sum][1];
  return p;
}

/* The type that operands are converted to. */
static hilo_etype term_etype(const hilo_product *p) {
  switch (p->sum) {
  case HILO_SUM_F32: return HILO_F32;
  case HILO_SUM_F64: return HILO_F64;
  case HILO_SUM_C64: return HILO_C64;
  case HILO_SUM_C128: return HILO_C128;
  default: return p->result;
  }
}

static void low_halves(const uint64_t *from, uint32_t n, uint32_t *to) {
  for (uint32_t k = 0; k < n; k++) to[k] = (uint32_t)from[k];
}
static void as_integers(const uint32_t *from, uint32_t n, uint64_t *to) {
  for (uint32_t k = 0; k < n; k++) to[k] = from[k];
}

static void load_integers(const hilo_product *p, hilo_etype etype, const char *data, uint64_t at,
                          uint64_t n, char *to) {
  hilo_lanes x;
  for (uint64_t k = 0; k < n; k += HILO_LANES) {
    const uint32_t count = n - k < HILO_LANES ? (uint32_t)(n - k) : HILO_LANES;
    hilo_lanes_load(etype, data, at + k, count, &x);
    hilo_lanes_convert(etype, p->result, count, &x);
    if (p->sum == HILO_SUM_U32)
      low_halves(x.u, count, (uint32_t *)(void *)(to + k * sizeof(uint32_t)));
    else
      memcpy(to + k * sizeof(uint64_t), x.u, count * sizeof(uint64_t));
  }
}

void hilo_terms_load(const hilo_product *p, hilo_etype etype, const char *data, uint64_t at,
                     uint64_t n, void *to) {
  const char *from = data + at * hilo_etype_bytes(etype);
  const hilo_etype term = term_etype(p);
  if (etype == term && (p->sum == HILO_SUM_F32 || p->sum >= HILO_SUM_F64))
    memcpy(to, from, n * p->term_bytes);
  else if (p->sum == HILO_SUM_F32 && hilo_etype_is_float(etype))
    hilo_float_array_to_f32(hilo_etype_float_format(etype), from, n, to);
  else if (p->sum == HILO_SUM_U32 || p->sum == HILO_SUM_U64)
    load_integers(p, etype, data, at, n, to);
  else
    hilo_eval_convert_elements(etype, term, from, n, to);
}

void hilo_sums_store(const hilo_product *p, const void *sums, uint64_t n, char *data, uint64_t at) {
  const char *from = sums;
  char *to = data + at * hilo_etype_bytes(p->result);
  if (p->sum == HILO_SUM_F32 || p->sum == HILO_SUM_F64) {
    hilo_float_array_from_double(hilo_etype_float_format(p->result), sums, n, to);
    return;
  }
  if (p->sum == HILO_SUM_C64 || p->sum == HILO_SUM_C128) {
    hilo_eval_convert_elements(HILO_C128, p->result, from, n, to);
    return;
  }
  hilo_lanes x;
  for (uint64_t k = 0; k < n; k += HILO_LANES) {
    const uint32_t count = n - k < HILO_LANES ? (uint32_t)(n - k) : HILO_LANES;
    if (p->sum == HILO_SUM_U32)
      as_integers((const uint32_t *)(const void *)(from + k * sizeof(uint32_t)), count, x.u);
    else
      memcpy(x.u, from + k * sizeof(uint64_t), count * sizeof(uint64_t));
    hilo_lanes_store(p->result, data, at + k, count, &x);
  }
}
