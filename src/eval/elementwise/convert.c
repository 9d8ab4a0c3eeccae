/* convert, bitcast-convert, reduce-precision.
 *
 * Integers wrap, floats are rounded once, floats to integers are cut towards zero and saturate, NaN
 * becomes 0; anything but zero becomes true. Complex numbers lose their imaginary part on the way
 * to anything else, and get one of 0. */
#include "eval/kernels.h"
#include "ir/etype_format.h"

#include <complex.h>
#include <math.h>

/* A double that rounds to any narrower float as x itself does: beyond 53 bits the lowest bit says
 * whether anything was lost (rounding to odd). */
static double odd_from_u64(uint64_t x) {
  if (x < 1ull << 53) return (double)x;
  const int lost = 11 - __builtin_clzll(x);
  return ldexp((double)(x >> lost | ((x & ((1ull << lost) - 1)) != 0)), lost);
}
static double odd_from_s64(int64_t x) {
  return x < 0 ? -odd_from_u64(0 - (uint64_t)x) : odd_from_u64((uint64_t)x);
}

static int64_t saturate_signed(double x, unsigned bits) {
  const double limit = ldexp(1, (int)bits - 1);
  const int64_t max = (int64_t)(hilo_bits_mask(bits) >> 1);
  if (isnan(x)) return 0;
  if (x >= limit) return max;
  return x <= -limit ? -max - 1 : (int64_t)x;
}
static uint64_t saturate_unsigned(double x, unsigned bits) {
  if (!(x > 0)) return 0; /* NaN, too */
  return x >= ldexp(1, (int)bits) ? hilo_bits_mask(bits) : (uint64_t)x;
}

static hilo_etype part_of(hilo_etype t) {
  return t == HILO_C64 ? HILO_F32 : t == HILO_C128 ? HILO_F64 : t;
}
static void drop_imaginary(uint32_t n, hilo_lanes *x) {
  for (uint32_t k = 0; k < n; k++) x->f[k] = creal(x->c[k]);
}
static void add_imaginary(uint32_t n, hilo_lanes *x) {
  for (uint32_t k = n; k-- > 0;) x->c[k] = x->f[k]; /* from the end: they take more room */
}

/* From integers to f64 once, to narrower floats through rounding to odd. */
static void ints_to_floats(hilo_etype from, hilo_etype to, uint32_t n, hilo_lanes *x) {
  const bool is_signed = hilo_etype_class_of(from) == HILO_CLASS_SIGNED;
  for (uint32_t k = 0; k < n; k++) {
    const int64_t s = x->s[k];
    if (to == HILO_F64)
      x->f[k] = is_signed ? (double)s : (double)(uint64_t)s;
    else
      x->f[k] = is_signed ? odd_from_s64(s) : odd_from_u64((uint64_t)s);
  }
}

static void floats_to_ints(hilo_etype to, uint32_t n, hilo_lanes *x) {
  const unsigned bits = hilo_etype_table[to].bits;
  const hilo_etype_class class = hilo_etype_class_of(to);
  for (uint32_t k = 0; k < n; k++) {
    const double f = x->f[k];
    if (class == HILO_CLASS_PRED)
      x->u[k] = f != 0;
    else if (class == HILO_CLASS_SIGNED)
      x->s[k] = saturate_signed(f, bits);
    else
      x->u[k] = saturate_unsigned(f, bits);
  }
}

static void convert_real(hilo_etype from, hilo_etype to, uint32_t n, hilo_lanes *x) {
  if (hilo_etype_is_float(from) == hilo_etype_is_float(to)) return;
  if (hilo_etype_is_float(to))
    ints_to_floats(from, to, n, x);
  else
    floats_to_ints(to, n, x);
}

void hilo_lanes_convert(hilo_etype from, hilo_etype to, uint32_t n, hilo_lanes *x) {
  const bool from_complex = hilo_etype_is_complex(from), to_complex = hilo_etype_is_complex(to);
  if (from_complex && !to_complex) drop_imaginary(n, x);
  if (!from_complex || !to_complex) convert_real(part_of(from), part_of(to), n, x);
  if (to_complex && !from_complex) add_imaginary(n, x);
}

void hilo_eval_convert_elements(hilo_etype from, hilo_etype to, const char *in, uint64_t total,
                                char *data) {
  if (hilo_etype_is_float(from) && hilo_etype_is_float(to)) {
    hilo_float_array_convert(hilo_etype_float_format(from), in, total, hilo_etype_float_format(to),
                             data);
    return;
  }
  hilo_lanes x;
  for (uint64_t at = 0; at < total; at += HILO_LANES) {
    const uint32_t n = total - at < HILO_LANES ? (uint32_t)(total - at) : HILO_LANES;
    hilo_lanes_load(from, in, at, n, &x);
    hilo_lanes_convert(from, to, n, &x);
    hilo_lanes_store(to, data, at, n, &x);
  }
}

hilo_status hilo_eval_op_convert(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                 hilo_value *out) {
  const hilo_etype from = hilo_value_etype(e, &args[0]), to = hilo_value_etype(e, out);
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  hilo_eval_convert_elements(from, to, args[0].data, hilo_value_n_elements(e, out), data);
  out->data = data;
  return HILO_OK;
}

/* Between sub-byte types of equal width: the bits, in the form of the result's type. */
static void recode(hilo_etype to, const char *in, uint64_t total, char *data) {
  const unsigned bits = hilo_etype_table[to].bits;
  const uint8_t sign =
      (uint8_t)(hilo_etype_class_of(to) == HILO_CLASS_SIGNED ? 1u << (bits - 1) : 0);
  for (uint64_t k = 0; k < total; k++) {
    const uint8_t low = (uint8_t)in[k] & (uint8_t)hilo_bits_mask(bits);
    data[k] = (char)((low ^ sign) - sign);
  }
}

/* Between a type below 8 bits and one of `ratio` times its width: the low part first. */
static void unpack(hilo_etype from, hilo_etype to, const char *in, uint64_t total, char *data) {
  const uint32_t bytes = hilo_etype_bytes(from);
  const unsigned bits = hilo_etype_table[to].bits, ratio = hilo_etype_table[from].bits / bits;
  for (uint64_t k = 0; k < total; k++) {
    uint64_t wide = 0;
    memcpy(&wide, in + k / ratio * bytes, bytes);
    data[k] = (char)(wide >> (k % ratio * bits));
  }
  recode(to, data, total, data);
}
static void pack(hilo_etype from, hilo_etype to, const char *in, uint64_t total, char *data) {
  const uint32_t bytes = hilo_etype_bytes(to);
  const unsigned bits = hilo_etype_table[from].bits, ratio = hilo_etype_table[to].bits / bits;
  for (uint64_t k = 0; k < total; k++) {
    uint64_t wide = 0;
    for (unsigned part = 0; part < ratio; part++)
      wide |= ((uint64_t)(uint8_t)*in++ & hilo_bits_mask(bits)) << (part * bits);
    memcpy(data + k * bytes, &wide, bytes);
  }
  if (hilo_etype_table[to].bits < 8) recode(to, data, total, data);
}

/* Elements of 8 bits and more lie as they are defined to be cut: the lowest part first. */
void hilo_eval_recut_elements(hilo_etype from, hilo_etype to, const char *in, uint64_t total,
                              char *data) {
  const unsigned from_bits = hilo_etype_table[from].bits, to_bits = hilo_etype_table[to].bits;
  if (from_bits >= 8 && to_bits >= 8)
    memcpy(data, in, total * hilo_etype_bytes(to));
  else if (from_bits == to_bits)
    recode(to, in, total, data);
  else if (from_bits > to_bits)
    unpack(from, to, in, total, data);
  else
    pack(from, to, in, total, data);
}

/* The type as it is cut: StableHLO's i1 is one bit, HLO's pred eight. In memory u1 is as pred is.
 */
static hilo_etype as_cut(const hilo_eval *e, const hilo_value *v) {
  const hilo_etype etype = hilo_value_etype(e, v);
  return etype == HILO_PRED && e->m->dialect != HILO_DIALECT_HLO ? HILO_U1 : etype;
}

hilo_status hilo_eval_op_bitcast_convert(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                         hilo_value *out) {
  const hilo_etype from = as_cut(e, &args[0]), to = as_cut(e, out);
  if (hilo_etype_table[from].bits >= 8 && hilo_etype_table[to].bits >= 8)
    return hilo_eval_pass_on(&args[0], out);
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  hilo_eval_recut_elements(from, to, args[0].data, hilo_value_n_elements(e, out), data);
  return HILO_OK;
}

/* `bits` of an IEEE format with exponent and mantissa cut to these widths, as XLA does it: the
 * mantissa is rounded to nearest even, too large becomes infinity, and what the short exponent has
 * no normal number for becomes zero. */
static uint64_t reduce_bits(const hilo_float_desc *desc, uint64_t bits, unsigned exponent_bits,
                            unsigned mantissa_bits) {
  const unsigned man = desc->man_bits;
  const uint64_t sign = bits & 1ull << (desc->bits - 1);
  const uint64_t inf = hilo_bits_mask(desc->exp_bits) << man;
  uint64_t x = bits ^ sign;
  if (x > inf) return mantissa_bits ? bits : sign | inf;
  if (x == inf) return bits;
  if (mantissa_bits < man) {
    const unsigned cut = man - mantissa_bits;
    const uint64_t last = x >> cut & 1;
    x = (x + (1ull << (cut - 1)) - 1 + last) & ~((1ull << cut) - 1);
  }
  if (exponent_bits < desc->exp_bits) {
    const uint64_t bias = (1ull << (desc->exp_bits - 1)) - 1;
    const uint64_t short_bias = (1ull << (exponent_bits - 1)) - 1;
    const uint64_t exponent = x >> man;
    if (exponent > bias + short_bias) x = inf;
    if (exponent <= bias - short_bias) x = 0;
  }
  return sign | x;
}

static void reduce_precision(hilo_float_format f, const char *in, uint64_t total,
                             const hilo_reduce_precision_attrs *attrs, char *data) {
  /* Formats that are not laid out as IEEE's pass through f32, which holds them. */
  const hilo_float_format work =
      hilo_float_descs[f].specials == HILO_SPECIALS_IEEE ? f : HILO_FLOAT_F32;
  const size_t bytes = hilo_float_element_bytes(f);
  for (uint64_t k = 0; k < total; k++) {
    uint64_t bits = hilo_float_load(f, in + k * bytes);
    if (work != f) bits = hilo_float_from_double(work, hilo_float_to_double(f, bits));
    bits = reduce_bits(&hilo_float_descs[work], bits, (unsigned)attrs->exponent_bits,
                       (unsigned)attrs->mantissa_bits);
    if (work != f) bits = hilo_float_from_double(f, hilo_float_to_double(work, bits));
    hilo_float_store(f, data + k * bytes, bits);
  }
}

void hilo_eval_reduce_precision_elements(const hilo_module *m, hilo_inst i, const char *in,
                                         uint64_t total, char *data) {
  const hilo_reduce_precision_attrs attrs = hilo_attrs(m, i, reduce_precision);
  reduce_precision(hilo_etype_float_format(hilo_inst_etype(m, i)), in, total, &attrs, data);
}

hilo_status hilo_eval_op_reduce_precision(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                          hilo_value *out) {
  const hilo_etype etype = hilo_value_etype(e, out);
  if (!hilo_etype_is_float(etype)) return hilo_eval_refuse(e, i, "its element type is not there");
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  const hilo_reduce_precision_attrs attrs = hilo_attrs(e->m, i, reduce_precision);
  if (attrs.exponent_bits < 1 || attrs.mantissa_bits < 0)
    return hilo_eval_refuse(e, i, "its format has no exponent");
  hilo_eval_reduce_precision_elements(e->m, i, args[0].data, hilo_value_n_elements(e, out), data);
  out->data = data;
  return HILO_OK;
}
