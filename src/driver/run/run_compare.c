/* Comparison, in blocks: both sides are loaded as doubles and as bits, so that the rules are
 * written once for all element types. Equal bytes are skipped first, which is the usual case. */
#include "driver/run/run_compare.h"

#include "ir/etype_format.h"
#include "num/float_text.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

enum { BLOCK = 256 }; /* elements of a complex array count twice */

typedef struct {
  double value[BLOCK];
  uint64_t bits[BLOCK];
} block;

/* How the bits of an element say how far two of them are apart. */
typedef enum { KIND_WHOLE, KIND_SIGN_MAGNITUDE, KIND_MAGNITUDE } kind;

typedef struct {
  hilo_etype etype; /* of a part of an element */
  kind kind;
  unsigned bits;
  bool is_unsigned;
} lane_type;

static lane_type lane_type_of(hilo_etype etype) {
  if (etype == HILO_C64) etype = HILO_F32;
  if (etype == HILO_C128) etype = HILO_F64;
  const hilo_etype_class class = hilo_etype_class_of(etype);
  const kind k = class != HILO_CLASS_FLOAT ? KIND_WHOLE
                 : etype == HILO_F8E8M0FNU ? KIND_MAGNITUDE
                                           : KIND_SIGN_MAGNITUDE;
  return (lane_type){etype, k, hilo_etype_table[etype].bits, class == HILO_CLASS_UNSIGNED};
}

static void load(const lane_type *type, const char *data, uint64_t at, uint32_t n, block *out) {
  const uint32_t size = hilo_etype_bytes(type->etype);
  const char *from = data + at * size;
  if (type->kind == KIND_WHOLE) {
    hilo_eval_convert_elements(type->etype, type->is_unsigned ? HILO_U64 : HILO_S64, from, n,
                               (char *)out->bits);
    for (uint32_t k = 0; k < n; k++)
      out->value[k] = type->is_unsigned ? (double)out->bits[k] : (double)(int64_t)out->bits[k];
    return;
  }
  if (type->etype == HILO_F64)
    memcpy(out->value, from, n * sizeof(double));
  else
    hilo_eval_convert_elements(type->etype, HILO_F64, from, n, (char *)out->value);
  const uint64_t mask = type->bits < 64 ? (1ull << type->bits) - 1 : UINT64_MAX;
  for (uint32_t k = 0; k < n; k++) {
    uint64_t bits = 0;
    memcpy(&bits, from + (size_t)k * size, size);
    out->bits[k] = bits & mask;
  }
}

/* How many representable values lie between two finite ones; all of them count where one is not
 * finite. */
static uint64_t distance(const lane_type *type, const block *a, const block *b, uint32_t k) {
  const uint64_t x = a->bits[k], y = b->bits[k];
  if (x == y || (isnan(a->value[k]) && isnan(b->value[k]))) return 0;
  if (type->kind == KIND_WHOLE) {
    const bool less = type->is_unsigned ? x < y : (int64_t)x < (int64_t)y;
    return less ? y - x : x - y;
  }
  if (!isfinite(a->value[k]) || !isfinite(b->value[k])) return UINT64_MAX;
  const uint64_t sign = type->kind == KIND_SIGN_MAGNITUDE ? 1ull << (type->bits - 1) : 0;
  const uint64_t p = x & ~sign, q = y & ~sign;
  if ((x ^ y) & sign) return p + q;
  return p > q ? p - q : q - p;
}

static bool is_same(const hilo_tolerance *t, const block *a, const block *b, uint32_t k) {
  const double x = a->value[k], y = b->value[k];
  if (a->bits[k] == b->bits[k] || (isnan(x) && isnan(y))) return true;
  return !t->bitwise && x == y && fabs(x) < 0x1p53; /* whole numbers beyond lose digits */
}

typedef struct {
  bool same;
  uint64_t ulp;
  double difference, size; /* of the expected value */
  bool is_finite, signs_differ;
} pair;

static pair look_at(const hilo_tolerance *t, const lane_type *type, const block *a, const block *b,
                    uint32_t k) {
  const double x = a->value[k], y = b->value[k];
  pair p = {.same = is_same(t, a, b, k),
            .ulp = distance(type, a, b, k),
            .size = fabs(y),
            .is_finite = isfinite(x) && isfinite(y),
            .signs_differ = !!signbit(x) != !!signbit(y)};
  if (!p.same) p.difference = fabs(x - y);
  if (isnan(p.difference)) p.difference = INFINITY;
  return p;
}

/* By the modulus, or, where signs count, part by part. */
static pair join(const hilo_tolerance *t, const pair *re, const pair *im) {
  return (pair){.same = re->same && im->same,
                .ulp = re->ulp > im->ulp ? re->ulp : im->ulp,
                .difference = t->same_sign ? fmax(re->difference, im->difference)
                                           : hypot(re->difference, im->difference),
                .size = hypot(re->size, im->size),
                .is_finite = re->is_finite && im->is_finite,
                .signs_differ = (re->signs_differ && !re->same) || (im->signs_differ && !im->same)};
}

static bool passes(const hilo_tolerance *t, const pair *p) {
  if (p->ulp < t->min_ulp) return false;
  if (p->same) return true;
  if (t->same_sign && p->signs_differ) return false;
  if (p->is_finite && (t->atol != 0 || t->rtol != 0) &&
      p->difference <= t->atol + t->rtol * p->size)
    return true;
  return t->ulp && p->ulp <= t->ulp;
}

static void note(hilo_comparison *c, const hilo_tolerance *t, const pair *p, uint64_t place) {
  const double relative = p->difference / fmax(p->size, DBL_MIN);
  if (p->difference > c->max_abs) c->max_abs = p->difference;
  if (relative > c->max_rel) c->max_rel = relative;
  if (!p->same && p->ulp > c->max_ulp) c->max_ulp = p->ulp;
  if (passes(t, p)) return;
  if (!c->differing++) {
    c->first = place;
    c->ulp = p->ulp;
  }
}

static void compare_slices(const hilo_array *got, const hilo_array *expected, uint32_t rank,
                           const hilo_tolerance *t, hilo_comparison *c) {
  const uint32_t parts = hilo_etype_is_complex(got->etype) ? 2 : 1;
  lane_type types[2] = {lane_type_of(got->etype), lane_type_of(expected->etype)};
  if (got->etype != expected->etype) { /* whole numbers of two types meet as signed ones */
    if (hilo_etype_bytes(got->etype) < 8) types[0].is_unsigned = false;
    if (hilo_etype_bytes(expected->etype) < 8) types[1].is_unsigned = false;
  }
  block a, b;
  for (uint64_t at = 0; at < got->n; at += BLOCK / parts) {
    const uint64_t left = got->n - at;
    const uint32_t n = left < BLOCK / parts ? (uint32_t)left : BLOCK / parts;
    load(&types[0], got->slices[rank], at * parts, n * parts, &a);
    load(&types[1], expected->slices[rank], at * parts, n * parts, &b);
    for (uint32_t k = 0; k < n; k++) {
      pair p = look_at(t, &types[0], &a, &b, k * parts);
      if (parts == 2) {
        const pair im = look_at(t, &types[0], &a, &b, k * parts + 1);
        p = join(t, &p, &im);
      }
      note(c, t, &p, rank * got->n + at + k);
    }
  }
}

bool hilo_arrays_comparable(const hilo_array *got, const hilo_array *expected) {
  return hilo_dims_eq(got->dims, expected->dims) &&
         (got->etype == expected->etype ||
          (hilo_etype_is_integer(got->etype) && hilo_etype_is_integer(expected->etype)));
}

hilo_comparison hilo_compare(const hilo_array *got, const hilo_array *expected, uint32_t n_ranks,
                             const hilo_tolerance *tolerance) {
  hilo_comparison c = {0};
  if (got->etype == HILO_TOKEN) return c;
  c.elements = got->n * n_ranks;
  const uint64_t bytes = got->n * hilo_etype_bytes(got->etype);
  for (uint32_t r = 0; r < n_ranks; r++) {
    if (!bytes || (got->etype == expected->etype && !tolerance->min_ulp &&
                   memcmp(got->slices[r], expected->slices[r], bytes) == 0))
      continue;
    compare_slices(got, expected, r, tolerance, &c);
  }
  return c;
}

/* ---- text ---- */

static void print_float(hilo_etype etype, const char *data, hilo_sb *out) {
  uint64_t bits = 0;
  memcpy(&bits, data, hilo_etype_bytes(etype));
  char text[HILO_FLOAT_TEXT_MAX];
  hilo_sb_bytes(out, text, hilo_float_print_python(text, hilo_etype_float_format(etype), bits));
}

void hilo_element_print(const hilo_array *array, uint32_t rank, uint64_t k, hilo_sb *out) {
  const hilo_etype etype = array->etype;
  const char *data = array->slices[rank] + k * hilo_etype_bytes(etype);
  if (hilo_etype_is_complex(etype)) {
    const hilo_etype part = etype == HILO_C64 ? HILO_F32 : HILO_F64;
    hilo_sb_char(out, '(');
    print_float(part, data, out);
    hilo_sb_cat(out, ", ");
    print_float(part, data + hilo_etype_bytes(part), out);
    hilo_sb_char(out, ')');
  } else if (hilo_etype_is_float(etype)) {
    print_float(etype, data, out);
  } else if (etype == HILO_PRED) {
    hilo_sb_cat(out, *data ? "true" : "false");
  } else {
    const lane_type type = lane_type_of(etype);
    block one;
    load(&type, data, 0, 1, &one);
    if (type.is_unsigned)
      hilo_sb_u64(out, one.bits[0]);
    else
      hilo_sb_i64(out, (int64_t)one.bits[0]);
  }
}

void hilo_comparison_print_index(const hilo_comparison *c, const hilo_array *array,
                                 uint32_t n_ranks, hilo_sb *out) {
  const uint64_t n = array->n ? array->n : 1;
  uint64_t rest = c->first % n, stride = n;
  const char *comma = "";
  hilo_sb_char(out, '[');
  if (n_ranks > 1) {
    hilo_sb_printf(out, "%" PRIu64, c->first / n);
    comma = ", ";
  }
  for (uint32_t d = 0; d < array->dims.n; d++) {
    stride /= (uint64_t)array->dims.v[d] ? (uint64_t)array->dims.v[d] : 1;
    hilo_sb_printf(out, "%s%" PRIu64, comma, rest / stride);
    rest %= stride;
    comma = ", ";
  }
  hilo_sb_char(out, ']');
}

static void print_ulp(uint64_t ulp, hilo_sb *out) {
  if (ulp == UINT64_MAX)
    hilo_sb_cat(out, "inf");
  else
    hilo_sb_u64(out, ulp);
}

static void print_first(const hilo_comparison *c, const hilo_array *array, hilo_sb *out) {
  hilo_element_print(array, (uint32_t)(c->first / array->n), c->first % array->n, out);
}

void hilo_comparison_print(const hilo_comparison *c, hilo_str name, const hilo_array *got,
                           const hilo_array *expected, uint32_t n_ranks, hilo_sb *out) {
  if (!c->differing) {
    hilo_sb_printf(out, "%.*s: equal, %" PRIu64 " elements, max abs %.3g, max ulp ", HILO_FMT(name),
                   c->elements, c->max_abs);
    print_ulp(c->max_ulp, out);
    return;
  }
  hilo_sb_printf(out,
                 "%.*s: %" PRIu64 " of %" PRIu64 " elements differ, max abs %.3g, max rel %.3g, "
                 "max ulp ",
                 HILO_FMT(name), c->differing, c->elements, c->max_abs, c->max_rel);
  print_ulp(c->max_ulp, out);
  hilo_sb_cat(out, "; first at ");
  hilo_comparison_print_index(c, got, n_ranks, out);
  hilo_sb_cat(out, ": ");
  print_first(c, got, out);
  hilo_sb_cat(out, ", expected ");
  print_first(c, expected, out);
  hilo_sb_cat(out, ", ulp ");
  print_ulp(c->ulp, out);
}

/* Numbers that JSON lacks become strings. */
static void print_json_number(double v, hilo_sb *out) {
  char text[HILO_FLOAT_TEXT_MAX];
  const size_t n = hilo_float_print_python(text, HILO_FLOAT_F64, hilo_float_bits_of_double(v));
  if (isfinite(v))
    hilo_sb_bytes(out, text, n);
  else
    hilo_sb_json(out, (hilo_str){text, n});
}

static void print_json_element(const hilo_comparison *c, const hilo_array *array, hilo_sb *out) {
  hilo_sb text = hilo_sb_make(out->arena);
  print_first(c, array, &text);
  const char last = text.p[text.n - 1];
  if ((last >= '0' && last <= '9') || array->etype == HILO_PRED)
    hilo_sb_str(out, hilo_sb_view(&text));
  else
    hilo_sb_json(out, hilo_sb_view(&text));
  hilo_sb_free(&text);
}

void hilo_comparison_print_json(const hilo_comparison *c, hilo_str name, const hilo_array *got,
                                const hilo_array *expected, uint32_t n_ranks, hilo_str computed_by,
                                hilo_sb *out) {
  hilo_sb_cat(out, "{\"output\": ");
  hilo_sb_json(out, name);
  hilo_sb_printf(out, ", \"elements\": %" PRIu64 ", \"differing\": %" PRIu64 ", \"max_abs\": ",
                 c->elements, c->differing);
  print_json_number(c->max_abs, out);
  hilo_sb_cat(out, ", \"max_rel\": ");
  print_json_number(c->max_rel, out);
  hilo_sb_cat(out, ", \"max_ulp\": ");
  if (c->max_ulp == UINT64_MAX)
    hilo_sb_cat(out, "\"inf\"");
  else
    hilo_sb_u64(out, c->max_ulp);
  hilo_sb_cat(out, ", \"first_index\": ");
  if (!c->differing) {
    hilo_sb_cat(out, "null, \"got\": null, \"expected\": null}");
    return;
  }
  hilo_comparison_print_index(c, got, n_ranks, out);
  hilo_sb_cat(out, ", \"got\": ");
  print_json_element(c, got, out);
  hilo_sb_cat(out, ", \"expected\": ");
  print_json_element(c, expected, out);
  if (computed_by.n) {
    hilo_sb_cat(out, ", \"computed_by\": ");
    hilo_sb_json(out, computed_by);
  }
  hilo_sb_char(out, '}');
}
