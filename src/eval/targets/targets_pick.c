/* Custom calls that pick elements: the place of an extreme, resizing and its gradient. */
#include "eval/targets/targets.h"

#include "eval/lanes.h"

#include <math.h>

static double *widened(const hilo_eval *e, const hilo_value *v) {
  const uint64_t n = hilo_value_n_elements(e, v);
  double *x = HILO_NEW_ARRAY(e->scratch, double, n + 1);
  hilo_eval_convert_elements(hilo_value_etype(e, v), HILO_F64, v->data, n, (char *)x);
  return x;
}

/* ---- arg-max and arg-min ---- */

/* Is element a of x better than element b? Equals are not. Integers are compared as such: f64 does
 * not hold all of 64 bits. */
static bool is_better(hilo_etype etype, const char *data, uint64_t a, uint64_t b, bool max) {
  hilo_lanes x, y;
  hilo_lanes_load(etype, data, a, 1, &x);
  hilo_lanes_load(etype, data, b, 1, &y);
  switch (hilo_etype_class_of(etype)) {
  case HILO_CLASS_SIGNED: return max ? x.s[0] > y.s[0] : x.s[0] < y.s[0];
  case HILO_CLASS_FLOAT: return max ? x.f[0] > y.f[0] : x.f[0] < y.f[0];
  default: return max ? x.u[0] > y.u[0] : x.u[0] < y.u[0];
  }
}

/* The index, or the extreme and the index; the first of equals. */
hilo_status hilo_target_arg_extreme(const hilo_eval *e, hilo_inst i, hilo_str target,
                                    const hilo_value *args, hilo_value *out) {
  const bool max = hilo_str_ends(target, "Max");
  const bool both = hilo_type_is_tuple(&e->m->types, out->type);
  uint32_t axis;
  hilo_value *results;
  if (!hilo_inst_n_operands(e->m, i)) return hilo_target_error(e, i, target, "has no operand");
  HILO_TRY(hilo_target_axis(e, i, target, &args[0], &axis));
  HILO_TRY(hilo_target_results(e, i, target, both ? 2 : 1, out, &results));
  const hilo_dims dims = hilo_type_dims(&e->m->types, args[0].type);
  const hilo_etype etype = hilo_value_etype(e, &args[0]);
  const hilo_value *index = &results[both];
  const uint64_t size = (uint64_t)dims.v[axis];
  uint64_t inner = 1;
  for (uint32_t d = axis + 1; d < dims.n; d++) inner *= (uint64_t)dims.v[d];
  const uint64_t rows = size ? hilo_value_n_elements(e, &args[0]) / size : 0;
  const uint32_t bytes = hilo_etype_bytes(etype);
  if (!size || hilo_value_n_elements(e, index) != rows ||
      !hilo_etype_is_integer(hilo_value_etype(e, index)) || hilo_etype_is_complex(etype) ||
      (both && (hilo_value_n_elements(e, &results[0]) != rows ||
                hilo_value_etype(e, &results[0]) != etype)))
    return hilo_target_error(e, i, target, "has results that do not fit its operand");
  for (uint64_t row = 0; row < rows; row++) {
    const uint64_t base = row / inner * size * inner + row % inner;
    hilo_lanes best = {.u = {0}};
    for (uint64_t k = 1; k < size; k++)
      if (is_better(etype, args[0].data, base + k * inner, base + best.u[0] * inner, max))
        best.u[0] = k;
    hilo_lanes_store(hilo_value_etype(e, index), hilo_buffer_bytes(index->owner), row, 1, &best);
    if (both)
      memcpy(hilo_buffer_bytes(results[0].owner) + row * bytes,
             args[0].data + (base + best.u[0] * inner) * bytes, bytes);
  }
  return HILO_OK;
}

/* ---- resizing ---- */

/* Where a new position falls between the old ones. */
typedef struct {
  uint64_t low, high;
  double weight; /* of the upper one */
} sample;

typedef enum { NEAREST, BILINEAR, ALIGN_CORNERS, HALF_PIXEL } resize_mode;

static sample sample_at(uint64_t k, uint64_t from, uint64_t to, resize_mode mode) {
  if (mode == NEAREST) return (sample){k * from / to, k * from / to, 0};
  const double ratio = (double)from / (double)to;
  double at = (double)k * ratio;
  if (mode == ALIGN_CORNERS) at = to > 1 ? (double)k * ((double)(from - 1) / (double)(to - 1)) : 0;
  if (mode == HALF_PIXEL) at = ((double)k + 0.5) * ratio - 0.5;
  at = at < 0 ? 0 : at > (double)(from - 1) ? (double)(from - 1) : at;
  const uint64_t low = (uint64_t)at;
  return (sample){low, low + 1 < from ? low + 1 : from - 1, at - (double)low};
}

/* One dimension: [outer, from, inner] to [outer, to, inner]. */
static double *resize_dim(hilo_arena *arena, const double *x, uint64_t outer, uint64_t from,
                          uint64_t to, uint64_t inner, resize_mode mode) {
  double *y = HILO_NEW_ARRAY(arena, double, outer *to *inner + 1);
  for (uint64_t k = 0; k < to; k++) {
    const sample s = sample_at(k, from, to, mode);
    for (uint64_t o = 0; o < outer; o++) {
      const double *low = x + (o * from + s.low) * inner, *high = x + (o * from + s.high) * inner;
      double *row = y + (o * to + k) * inner;
      for (uint64_t j = 0; j < inner; j++)
        row[j] = s.weight == 0 ? low[j] : low[j] * (1 - s.weight) + high[j] * s.weight;
    }
  }
  return y;
}

static bool find_mode(hilo_str config, resize_mode *mode) {
  hilo_str digits = config;
  if (digits.n == 4 && digits.p[0] == '"') digits = (hilo_str){digits.p + 1, 2};
  if (digits.n != 2) return false;
  for (uint32_t k = 0; k < 2; k++)
    if (digits.p[k] != '0' && digits.p[k] != '1') return false;
  *mode = digits.p[0] == '1' ? ALIGN_CORNERS : digits.p[1] == '1' ? HALF_PIXEL : BILINEAR;
  return true;
}

hilo_status hilo_target_resize(const hilo_eval *e, hilo_inst i, hilo_str target,
                               const hilo_value *args, hilo_value *out) {
  resize_mode mode = NEAREST;
  hilo_value *results;
  if (!hilo_inst_n_operands(e->m, i)) return hilo_target_error(e, i, target, "has no operand");
  if (!hilo_str_is(target, "ResizeNearest") && !find_mode(hilo_target_config(e, i), &mode))
    return hilo_target_error(e, i, target, "has a backend_config that is not two digits");
  HILO_TRY(hilo_target_results(e, i, target, 1, out, &results));
  const hilo_dims from = hilo_type_dims(&e->m->types, args[0].type);
  const hilo_dims to = hilo_type_dims(&e->m->types, results[0].type);
  const hilo_etype etype = hilo_value_etype(e, &args[0]);
  if (from.n != to.n || hilo_etype_is_complex(etype))
    return hilo_target_error(e, i, target, "has a result that does not fit its operand");
  const double *x = widened(e, &args[0]);
  uint64_t outer = 1;
  for (uint32_t d = 0; d < from.n; d++) {
    uint64_t inner = 1;
    for (uint32_t k = d + 1; k < from.n; k++) inner *= (uint64_t)from.v[k];
    if (from.v[d] == 0 && to.v[d] != 0)
      return hilo_target_error(e, i, target, "has nothing to take elements from");
    if (from.v[d] != to.v[d])
      x = resize_dim(e->scratch, x, outer, (uint64_t)from.v[d], (uint64_t)to.v[d], inner, mode);
    outer *= (uint64_t)to.v[d];
  }
  hilo_eval_convert_elements(HILO_F64, hilo_value_etype(e, &results[0]), (const char *)x, outer,
                             hilo_buffer_bytes(results[0].owner));
  return HILO_OK;
}

/* The sum over each window of the nearest upsampling's gradient. */
hilo_status hilo_target_resize_gradient(const hilo_eval *e, hilo_inst i, hilo_str target,
                                        const hilo_value *args, hilo_value *out) {
  hilo_value *results;
  if (!hilo_inst_n_operands(e->m, i)) return hilo_target_error(e, i, target, "has no operand");
  HILO_TRY(hilo_target_results(e, i, target, 1, out, &results));
  const hilo_dims from = hilo_type_dims(&e->m->types, args[0].type);
  const hilo_dims to = hilo_type_dims(&e->m->types, results[0].type);
  bool fits = from.n == to.n && !hilo_etype_is_complex(hilo_value_etype(e, &args[0]));
  for (uint32_t d = 0; fits && d < from.n; d++) fits = to.v[d] > 0 && from.v[d] % to.v[d] == 0;
  if (!fits)
    return hilo_target_error(e, i, target, "has a result that does not divide its operand");
  const double *x = widened(e, &args[0]);
  const uint64_t n_in = hilo_value_n_elements(e, &args[0]),
                 n_out = hilo_value_n_elements(e, &results[0]);
  double *sums = HILO_NEW_ZEROED(e->scratch, double, n_out + 1);
  int64_t index[HILO_MAX_RANK] = {0};
  for (uint64_t at = 0; at < n_in; at++) {
    int64_t place = 0;
    for (uint32_t d = 0; d < from.n; d++)
      place = place * to.v[d] + index[d] / (from.v[d] / to.v[d]);
    sums[place] += x[at];
    for (uint32_t d = from.n; d-- > 0 && ++index[d] == from.v[d];) index[d] = 0;
  }
  hilo_eval_convert_elements(HILO_F64, hilo_value_etype(e, &results[0]), (const char *)sums, n_out,
                             hilo_buffer_bytes(results[0].owner));
  return HILO_OK;
}
