/* MX formats as custom calls: a block of elements along one dimension shares a scale, a power of
 * two stored as E8M0. Quantised data may be packed: four 8-bit floats in a u32, the first in the
 * lowest byte, along the quantised dimension. */
#include "eval/targets/targets.h"

#include "analysis/target_config.h"
#include "eval/products/dot_sides.h"

#include <math.h>

enum { PACK = 4, SCALE_BIAS = 127 };

/* [outer, size, inner] around a dimension. */
typedef struct {
  uint64_t outer, size, inner;
} around;

static around around_dim(hilo_dims dims, uint32_t d) {
  around a = {1, (uint64_t)dims.v[d], 1};
  for (uint32_t k = 0; k < d; k++) a.outer *= (uint64_t)dims.v[k];
  for (uint32_t k = d + 1; k < dims.n; k++) a.inner *= (uint64_t)dims.v[k];
  return a;
}

/* ---- quantising ---- */

static bool element_type(hilo_str dtype, hilo_etype *out) {
  hilo_str name = dtype;
  if (hilo_str_starts(name, "float8_"))
    name = (hilo_str){name.p + 7, name.n - 7};
  else if (hilo_str_starts(name, "f8"))
    name = (hilo_str){name.p + 2, name.n - 2};
  *out = HILO_F8E5M2;
  if (hilo_str_is(name, "e5m2") || hilo_str_is(name, "E5M2")) return true;
  *out = HILO_F8E4M3FN;
  return hilo_str_is(name, "e4m3fn") || hilo_str_is(name, "E4M3FN");
}

typedef struct {
  around a;
  uint64_t block;
  hilo_etype element;
  double largest;
  int largest_exponent;
  const double *x;
  char *values; /* 8-bit floats, packed or not as they lie */
  bool packed;
  char *scales;
  hilo_etype scale_etype;
} quantizer;

/* The exponent that brings the largest of a block to that of the element type. */
static int block_exponent(const quantizer *q, uint64_t at) {
  double largest = 0;
  for (uint64_t k = 0; k < q->block; k++) {
    const double a = fabs(q->x[at + k * q->a.inner]);
    if (!(a <= largest)) largest = a;
  }
  int exponent;
  (void)frexp(largest, &exponent);
  exponent += -1 - q->largest_exponent;
  return exponent < -SCALE_BIAS ? -SCALE_BIAS : exponent > SCALE_BIAS ? SCALE_BIAS : exponent;
}

static void quantize_block(const quantizer *q, uint64_t o, uint64_t b, uint64_t j) {
  const uint64_t at = (o * q->a.size + b * q->block) * q->a.inner + j;
  const int exponent = block_exponent(q, at);
  for (uint64_t k = 0; k < q->block; k++) {
    double scaled = ldexp(q->x[at + k * q->a.inner], -exponent);
    if (scaled > q->largest) scaled = q->largest;
    if (scaled < -q->largest) scaled = -q->largest;
    const uint64_t row = b * q->block + k;
    const uint64_t to =
        q->packed ? ((o * (q->a.size / PACK) + row / PACK) * q->a.inner + j) * PACK + row % PACK
                  : (o * q->a.size + row) * q->a.inner + j;
    hilo_eval_convert_elements(HILO_F64, q->element, (const char *)&scaled, 1, q->values + to);
  }
  const uint64_t to = (o * (q->a.size / q->block) + b) * q->a.inner + j;
  const int64_t biased = exponent + SCALE_BIAS;
  if (q->scale_etype == HILO_F8E8M0FNU)
    q->scales[to] = (char)biased;
  else
    hilo_eval_convert_elements(HILO_S64, q->scale_etype, (const char *)&biased, 1,
                               q->scales + to * hilo_etype_bytes(q->scale_etype));
}

hilo_status hilo_target_quantize(const hilo_eval *e, hilo_inst i, hilo_str target,
                                 const hilo_value *args, hilo_value *out) {
  hilo_quantize_config config;
  quantizer q;
  hilo_value *results;
  if (!hilo_config_quantize(e->scratch, hilo_target_config(e, i), &config) ||
      hilo_inst_n_operands(e->m, i) != 1 || !element_type(config.dtype, &q.element) ||
      !hilo_etype_is_float(hilo_value_etype(e, &args[0])))
    return hilo_target_error(e, i, target, "is malformed: it quantises one array of floats");
  const hilo_dims dims = hilo_type_dims(&e->m->types, args[0].type);
  const int64_t dim = config.dim < 0 ? config.dim + dims.n : config.dim;
  if (dim < 0 || dim >= dims.n || config.block_size < 1 || dims.v[dim] % config.block_size)
    return hilo_target_error(e, i, target, "has a dimension that is no multiple of its blocks");
  HILO_TRY(hilo_target_results(e, i, target, 2, out, &results));
  const hilo_etype data = hilo_value_etype(e, &results[0]);
  q.a = around_dim(dims, (uint32_t)dim);
  q.block = (uint64_t)config.block_size;
  q.packed = data == HILO_U32;
  q.largest = q.element == HILO_F8E5M2 ? 57344 : 448;
  q.largest_exponent = q.element == HILO_F8E5M2 ? 15 : 8;
  q.scale_etype = hilo_value_etype(e, &results[1]);
  const uint64_t total = q.a.outer * q.a.size * q.a.inner;
  if (results[0].owner->bytes != total || (!q.packed && data != q.element) ||
      (q.packed && q.a.size % PACK) || hilo_value_n_elements(e, &results[1]) != total / q.block ||
      !(q.scale_etype == HILO_F8E8M0FNU || hilo_etype_is_integer(q.scale_etype)))
    return hilo_target_error(e, i, target, "has results that do not fit its operand");
  double *x = HILO_NEW_ARRAY(e->scratch, double, total + 1);
  hilo_eval_convert_elements(hilo_value_etype(e, &args[0]), HILO_F64, args[0].data, total,
                             (char *)x);
  q.x = x;
  q.values = hilo_buffer_bytes(results[0].owner);
  q.scales = hilo_buffer_bytes(results[1].owner);
  for (uint64_t o = 0; o < q.a.outer; o++)
    for (uint64_t b = 0; b < q.a.size / q.block; b++)
      for (uint64_t j = 0; j < q.a.inner; j++) quantize_block(&q, o, b, j);
  return HILO_OK;
}

/* ---- block-scaled dot ---- */

static double factor_of(hilo_etype etype, const char *scales, uint64_t at) {
  const uint32_t bytes = hilo_etype_bytes(etype);
  double factor;
  int64_t biased;
  if (hilo_etype_is_float(etype)) {
    hilo_eval_convert_elements(etype, HILO_F64, scales + at * bytes, 1, (char *)&factor);
    return factor;
  }
  hilo_eval_convert_elements(etype, HILO_S64, scales + at * bytes, 1, (char *)&biased);
  return ldexp(1, (int)biased - SCALE_BIAS);
}

/* A side as f64: elements times the scale of their block. The scales have the same rank, each of
 * their sizes divides that of the data. */
static bool dequantize(const hilo_eval *e, const hilo_value *v, const hilo_value *scale,
                       hilo_dot_operand *out) {
  const hilo_dims dims = hilo_type_dims(&e->m->types, v->type);
  const hilo_dims blocks = hilo_type_dims(&e->m->types, scale->type);
  if (dims.n != blocks.n || !hilo_etype_is_float(hilo_value_etype(e, v))) return false;
  for (uint32_t d = 0; d < dims.n; d++)
    if (blocks.v[d] < 1 || dims.v[d] % blocks.v[d]) return false;
  const uint64_t total = hilo_value_n_elements(e, v);
  double *x = HILO_NEW_ARRAY(e->scratch, double, total + 1);
  hilo_eval_convert_elements(hilo_value_etype(e, v), HILO_F64, v->data, total, (char *)x);
  int64_t index[HILO_MAX_RANK] = {0};
  for (uint64_t at = 0; at < total; at++) {
    uint64_t block = 0;
    for (uint32_t d = 0; d < dims.n; d++)
      block = block * (uint64_t)blocks.v[d] + (uint64_t)(index[d] / (dims.v[d] / blocks.v[d]));
    x[at] *= factor_of(hilo_value_etype(e, scale), scale->data, block);
    for (uint32_t d = dims.n; d-- > 0 && ++index[d] == dims.v[d];) index[d] = 0;
  }
  *out = (hilo_dot_operand){HILO_F64, dims, (const char *)x};
  return true;
}

/* Operands: lhs, rhs, their scales. Packed data is unpacked before: a u32 says nothing of the
 * element type, and its size along the contracting dimension is a quarter. */
hilo_status hilo_target_scaled_dot(const hilo_eval *e, hilo_inst i, hilo_str target,
                                   const hilo_value *args, hilo_value *out) {
  hilo_scaled_dot_config c;
  hilo_dot_operand v[2];
  if (hilo_inst_n_operands(e->m, i) != 4 ||
      !hilo_config_scaled_dot(e->scratch, hilo_target_config(e, i), &c))
    return hilo_target_error(e, i, target, "is malformed: it takes two arrays and their scales");
  for (uint32_t k = 0; k < 2; k++)
    if (!dequantize(e, &args[k], &args[k + 2], &v[k]))
      return hilo_target_error(e, i, target,
                               "has data that are no floats, or scales that do not divide them");
  const hilo_dot_pairing p[2] = {{c.lhs_batch, c.lhs_contracting},
                                 {c.rhs_batch, c.rhs_contracting}};
  for (uint32_t k = 0; k < 2; k++)
    for (uint32_t j = 0; j < p[k].batch.n + p[k].contracting.n; j++) {
      const int64_t d = j < p[k].batch.n ? p[k].batch.v[j] : p[k].contracting.v[j - p[k].batch.n];
      if (d < 0 || d >= v[k].dims.n)
        return hilo_target_error(e, i, target, "names a dimension that its operand has not");
    }
  return hilo_dot_multiply(e, i, v, p, out);
}
