/* Terms and sums of products: from element types and to them. */
#include "eval/gemm.h"
#include "eval/lanes.h"
#include "ir/etype_format.h"

hilo_sum hilo_sum_of(hilo_etype result) {
  switch (hilo_etype_class_of(result)) {
  case HILO_CLASS_FLOAT: return HILO_SUM_F64;
  case HILO_CLASS_COMPLEX: return HILO_SUM_C128;
  case HILO_CLASS_PRED: return HILO_SUM_U64;
  default: return hilo_etype_table[result].bits <= 32 ? HILO_SUM_U32 : HILO_SUM_U64;
  }
}

/* The type that operands are converted to. */
static hilo_etype term_etype(hilo_etype result) {
  if (hilo_etype_is_float(result)) return HILO_F64;
  return hilo_etype_is_complex(result) ? HILO_C128 : result;
}

static void low_halves(const uint64_t *from, uint32_t n, uint32_t *to) {
  for (uint32_t k = 0; k < n; k++) to[k] = (uint32_t)from[k];
}
static void as_integers(const uint32_t *from, uint32_t n, uint64_t *to) {
  for (uint32_t k = 0; k < n; k++) to[k] = from[k];
}

void hilo_sum_load(hilo_etype result, hilo_etype etype, const char *data, uint64_t at, uint64_t n,
                   void *to) {
  const hilo_sum sum = hilo_sum_of(result);
  if (sum == HILO_SUM_F64 && hilo_etype_is_float(etype)) {
    hilo_float_array_to_double(hilo_etype_float_format(etype), data + at * hilo_etype_bytes(etype),
                               n, to);
    return;
  }
  char *p = to;
  hilo_lanes x;
  for (uint64_t k = 0; k < n; k += HILO_LANES) {
    const uint32_t count = n - k < HILO_LANES ? (uint32_t)(n - k) : HILO_LANES;
    hilo_lanes_load(etype, data, at + k, count, &x);
    hilo_lanes_convert(etype, term_etype(result), count, &x);
    if (sum == HILO_SUM_U32)
      low_halves(x.u, count, (uint32_t *)(void *)(p + k * sizeof(uint32_t)));
    else
      memcpy(p + k * hilo_sum_bytes(sum), &x, count * (size_t)hilo_sum_bytes(sum));
  }
}

void hilo_sum_store(hilo_etype result, const void *sums, uint64_t n, char *data, uint64_t at) {
  const hilo_sum sum = hilo_sum_of(result);
  const char *p = sums;
  if (sum == HILO_SUM_F64) {
    hilo_float_array_from_double(hilo_etype_float_format(result), sums, n,
                                 data + at * hilo_etype_bytes(result));
    return;
  }
  hilo_lanes x;
  for (uint64_t k = 0; k < n; k += HILO_LANES) {
    const uint32_t count = n - k < HILO_LANES ? (uint32_t)(n - k) : HILO_LANES;
    if (sum == HILO_SUM_U32)
      as_integers((const uint32_t *)(const void *)(p + k * sizeof(uint32_t)), count, x.u);
    else
      memcpy(&x, p + k * hilo_sum_bytes(sum), count * (size_t)hilo_sum_bytes(sum));
    hilo_lanes_store(result, data, at + k, count, &x);
  }
}
