#include "eval/elementwise/quantized.h"

#include "eval/lanes.h"
#include "ir/etype_format.h"

#include <math.h>

static hilo_record quant_of(const hilo_eval *e, hilo_type t) {
  return hilo_type_quant(&e->m->types, t);
}

bool hilo_eval_is_movement(hilo_op op) {
  switch (op) {
  case HILO_OP_ADD_DEPENDENCY:
  case HILO_OP_ALL_GATHER:
  case HILO_OP_ALL_TO_ALL:
  case HILO_OP_BITCAST:
  case HILO_OP_BITCAST_CONVERT:
  case HILO_OP_BROADCAST:
  case HILO_OP_CALL:
  case HILO_OP_COLLECTIVE_BROADCAST:
  case HILO_OP_COLLECTIVE_PERMUTE:
  case HILO_OP_COMPOSITE:
  case HILO_OP_CONCATENATE:
  case HILO_OP_CONDITIONAL:
  case HILO_OP_CONSTANT:
  case HILO_OP_COPY:
  case HILO_OP_CUSTOM_CALL:
  case HILO_OP_DOMAIN:
  case HILO_OP_DYNAMIC_BROADCAST_IN_DIM:
  case HILO_OP_DYNAMIC_GATHER:
  case HILO_OP_DYNAMIC_PAD:
  case HILO_OP_DYNAMIC_RESHAPE:
  case HILO_OP_DYNAMIC_SLICE:
  case HILO_OP_DYNAMIC_UPDATE_SLICE:
  case HILO_OP_FUSION:
  case HILO_OP_GATHER:
  case HILO_OP_GET_DIMENSION_SIZE:
  case HILO_OP_GET_TUPLE_ELEMENT:
  case HILO_OP_INFEED:
  case HILO_OP_OPT_BARRIER:
  case HILO_OP_OUTFEED:
  case HILO_OP_PAD:
  case HILO_OP_PARAMETER:
  case HILO_OP_REAL_DYNAMIC_SLICE:
  case HILO_OP_RECV:
  case HILO_OP_RESHAPE:
  case HILO_OP_REVERSE:
  case HILO_OP_SELECT:
  case HILO_OP_SEND:
  case HILO_OP_SET_DIMENSION_SIZE:
  case HILO_OP_SLICE:
  case HILO_OP_TORCH_INDEX_SELECT:
  case HILO_OP_TRANSPOSE:
  case HILO_OP_TUPLE:
  case HILO_OP_WHILE: return true;
  default: return false;
  }
}

/* ---- which scale ---- */

/* Element k's is at the sum of (k / inner % size / block) * step over the axes. */
typedef struct {
  uint64_t inner, size, block, step;
} scale_axis;

typedef struct {
  hilo_quant_attrs attrs;
  hilo_float_format format; /* of the expressed type */
  hilo_etype storage, expressed;
  double min, max;
  uint32_t n_axes;
  scale_axis axes[HILO_MAX_RANK];
} quantisation;

static double rounded(const quantisation *q, double x) {
  return hilo_float_to_double(q->format, hilo_float_from_double(q->format, x));
}

static void storage_range(quantisation *q) {
  const unsigned bits = hilo_etype_table[q->storage].bits;
  const bool is_signed = hilo_etype_class_of(q->storage) == HILO_CLASS_SIGNED;
  q->min = is_signed ? -ldexp(1, (int)bits - 1) : 0;
  q->max = ldexp(1, (int)bits - is_signed) - 1;
  if (!q->attrs.has_range) return;
  q->min = (double)q->attrs.min;
  q->max = (double)q->attrs.max;
}

/* Steps through the blocks: row-major, dimensions without a block size being one block. */
static bool open_axes(quantisation *q, hilo_dims dims) {
  uint64_t inner = 1, blocks = 1;
  for (uint32_t d = dims.n; d-- > 0;) {
    const uint64_t size = (uint64_t)dims.v[d];
    for (uint32_t a = 0; a < q->attrs.axes.n; a++) {
      if (q->attrs.axes.v[a] != d) continue;
      const int64_t block = q->attrs.block_sizes.n ? q->attrs.block_sizes.v[a] : 1;
      if (block < 1 || q->n_axes == HILO_MAX_RANK) return false;
      q->axes[q->n_axes++] = (scale_axis){inner, size, (uint64_t)block, blocks};
      blocks *= size / (uint64_t)block + (size % (uint64_t)block != 0);
    }
    inner *= size;
  }
  const uint64_t n = q->attrs.scales.n, n_zero = q->attrs.zero_points.n;
  return inner == 0 ||
         (blocks == n && (n_zero == 0 || n_zero == n) && q->n_axes == q->attrs.axes.n);
}

/* The quantisation of the elements of `t`; false with a diagnostic if it does not fit them. */
static bool open_quantisation(const hilo_eval *e, hilo_inst i, hilo_type t, quantisation *q) {
  *q = (quantisation){.attrs = hilo_quant_get(&e->m->records, quant_of(e, t))};
  q->storage = hilo_type_etype(&e->m->types, t);
  q->expressed = (hilo_etype)q->attrs.expressed;
  if (q->attrs.any || !hilo_etype_is_integer(q->storage) || !hilo_etype_is_float(q->expressed) ||
      !open_axes(q, hilo_type_dims(&e->m->types, t))) {
    (void)hilo_eval_refuse(e, i, "its scales are not known, or do not fit its dimensions");
    return false;
  }
  q->format = hilo_etype_float_format(q->expressed);
  storage_range(q);
  return true;
}

static uint64_t scale_index(const quantisation *q, uint64_t k) {
  uint64_t index = 0;
  for (uint32_t a = 0; a < q->n_axes; a++) {
    const scale_axis *x = &q->axes[a];
    index += k / x->inner % x->size / x->block * x->step;
  }
  return index;
}

static double scale_of(const quantisation *q, uint64_t index) {
  return rounded(q, hilo_float_double_of_bits((uint64_t)q->attrs.scales.v[index]));
}
static int64_t zero_point_of(const quantisation *q, uint64_t index) {
  return q->attrs.zero_points.n ? q->attrs.zero_points.v[index] : 0;
}

/* ---- elements: every step is rounded to the expressed type ---- */

static void dequantise(const quantisation *q, const char *in, uint64_t total, char *data) {
  hilo_lanes x;
  for (uint64_t at = 0; at < total; at += HILO_LANES) {
    const uint32_t n = total - at < HILO_LANES ? (uint32_t)(total - at) : HILO_LANES;
    hilo_lanes_load(q->storage, in, at, n, &x);
    for (uint32_t k = 0; k < n; k++) {
      const uint64_t index = scale_index(q, at + k);
      const int64_t above = x.s[k] - zero_point_of(q, index);
      x.f[k] = rounded(q, (double)above) * scale_of(q, index);
    }
    hilo_lanes_store(q->expressed, data, at, n, &x);
  }
}

/* NaN becomes 0, as everywhere where floats become integers. */
static double quantised(const quantisation *q, double x, uint64_t index) {
  x = rounded(q, x / scale_of(q, index));
  x = rounded(q, x + rounded(q, (double)zero_point_of(q, index)));
  x = x < q->min ? q->min : x > q->max ? q->max : x;
  return isnan(x) ? 0 : rint(x);
}

static void quantise(const quantisation *q, const char *in, uint64_t total, char *data) {
  hilo_lanes x;
  for (uint64_t at = 0; at < total; at += HILO_LANES) {
    const uint32_t n = total - at < HILO_LANES ? (uint32_t)(total - at) : HILO_LANES;
    hilo_lanes_load(q->expressed, in, at, n, &x);
    for (uint32_t k = 0; k < n; k++) x.s[k] = (int64_t)quantised(q, x.f[k], scale_index(q, at + k));
    hilo_lanes_store(q->storage, data, at, n, &x);
  }
}

/* ---- values ---- */

static bool real_type(const hilo_eval *e, hilo_inst i, const quantisation *q, hilo_type t,
                      hilo_type *out) {
  if (!e->types) {
    (void)hilo_eval_refuse(e, i, "its real numbers have a type that is not there");
    return false;
  }
  *out = hilo_type_array(e->types, q->expressed, hilo_type_dims(&e->m->types, t));
  return true;
}

/* The real numbers of a quantised value; any other is shared. */
static hilo_status to_real(const hilo_eval *e, hilo_inst i, const hilo_value *in, hilo_value *out) {
  *out = *in;
  if (!quant_of(e, in->type).ix) {
    hilo_buffer_retain(in->owner);
    return HILO_OK;
  }
  quantisation q;
  if (!open_quantisation(e, i, in->type, &q) || !real_type(e, i, &q, in->type, &out->type))
    return HILO_LIMIT_ERROR;
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  dequantise(&q, in->data, hilo_value_n_elements(e, in), data);
  return HILO_OK;
}

static hilo_status from_real(const hilo_eval *e, hilo_inst i, const hilo_value *in,
                             const quantisation *q, hilo_value *out) {
  if (hilo_value_etype(e, in) != q->expressed)
    return hilo_eval_refuse(e, i, "its real numbers are not of the type that is quantised");
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  quantise(q, in->data, hilo_value_n_elements(e, in), data);
  return HILO_OK;
}

hilo_status hilo_eval_quantised(const hilo_eval *e, hilo_inst i, hilo_eval_fn *fn,
                                const hilo_value *args, hilo_value *out) {
  /* The region has quantised types itself. */
  if (hilo_op_has(hilo_inst_op(e->m, i), HILO_TRAIT_CALLS)) return fn(e, i, args, out);
  const uint32_t n = hilo_inst_n_operands(e->m, i);
  hilo_value *real = HILO_NEW_ARRAY(e->scratch, hilo_value, n + 1);
  for (uint32_t k = 0; k < n; k++) HILO_TRY(to_real(e, i, &args[k], &real[k]));
  quantisation q;
  hilo_value result = {.type = out->type};
  const bool is_quantised = quant_of(e, out->type).ix != 0;
  if (is_quantised &&
      (!open_quantisation(e, i, out->type, &q) || !real_type(e, i, &q, out->type, &result.type)))
    return HILO_LIMIT_ERROR;
  HILO_TRY(fn(e, i, real, &result));
  for (uint32_t k = 0; k < n; k++) hilo_value_release(e, &real[k]);
  if (!is_quantised) {
    *out = result;
    return HILO_OK;
  }
  HILO_TRY(from_real(e, i, &result, &q, out));
  hilo_value_release(e, &result);
  return HILO_OK;
}

/* Real numbers come, real numbers go: all is done on the way in and out. */
hilo_status hilo_eval_op_uniform_quantize(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                          hilo_value *out) {
  if (hilo_value_etype(e, &args[0]) != hilo_value_etype(e, out))
    return hilo_eval_refuse(e, i, "its operand is not of the type that is quantised");
  return hilo_eval_pass_on(&args[0], out);
}

hilo_status hilo_eval_op_uniform_dequantize(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                            hilo_value *out) {
  return hilo_eval_op_uniform_quantize(e, i, args, out);
}
