/* Regions and elements for tests of operations that call a computation of scalars. Elements are
 * computed here one by one, in C's own types. */
#ifndef HILO_TESTS_EVAL_REDUCE_SUPPORT_H
#define HILO_TESTS_EVAL_REDUCE_SUPPORT_H

#include "eval_support.h"
#include "ir/etype_format.h"

#include <math.h>

/* ---- elements ---- */

static inline double get_float(const tensor *t, int64_t at) {
  const hilo_float_format format = hilo_etype_float_format(t->etype);
  return hilo_float_to_double(format,
                              hilo_float_load(format, t->data + at * hilo_etype_bytes(t->etype)));
}
static inline void set_float(tensor *t, int64_t at, double x) {
  const hilo_float_format format = hilo_etype_float_format(t->etype);
  hilo_float_store(format, t->data + at * hilo_etype_bytes(t->etype),
                   hilo_float_from_double(format, x));
}
static inline int64_t get_int(const tensor *t, int64_t at) {
  const uint32_t bytes = hilo_etype_bytes(t->etype);
  const unsigned bits = hilo_etype_table[t->etype].bits;
  uint64_t raw = 0;
  memcpy(&raw, t->data + at * bytes, bytes);
  if (t->etype == HILO_PRED) return raw != 0;
  if (bits < 64) raw &= (1ull << bits) - 1;
  const bool negative = hilo_etype_class_of(t->etype) == HILO_CLASS_SIGNED && raw >> (bits - 1);
  return (int64_t)(negative && bits < 64 ? raw - (1ull << bits) : raw);
}
static inline void set_int(tensor *t, int64_t at, int64_t x) {
  const unsigned bits = hilo_etype_table[t->etype].bits;
  if (t->etype == HILO_PRED) x = x != 0;
  if (bits < 8) {
    const int64_t low = x & ((1 << bits) - 1);
    x = hilo_etype_class_of(t->etype) == HILO_CLASS_SIGNED && low >> (bits - 1) ? low - (1 << bits)
                                                                                : low;
  }
  memcpy(t->data + at * hilo_etype_bytes(t->etype), &x, hilo_etype_bytes(t->etype));
}

static inline tensor new_tensor(eval_fixture *f, hilo_etype etype, const int64_t *dims,
                                uint32_t rank) {
  tensor t = {.etype = etype, .rank = rank};
  if (rank) memcpy(t.dims, dims, rank * sizeof(int64_t));
  tensor_alloc(f, &t);
  return t;
}

/* A float with few bits, so that sums of some hundred of them are exact; one in four is a corner.
 */
static inline double rand_float(eval_fixture *f, bool corners) {
  static const double corner[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 1e-30, -448, 6};
  if (corners && rand_once_in(f, 4)) return corner[rand64(f) % HILO_COUNT(corner)];
  return (double)rand_in(f, -16, 16) / 4;
}
static inline tensor rand_elements(eval_fixture *f, hilo_etype etype, const int64_t *dims,
                                   uint32_t rank, bool corners) {
  tensor t = new_tensor(f, etype, dims, rank);
  for (int64_t k = 0; k < tensor_count(&t); k++)
    if (hilo_etype_is_float(etype))
      set_float(&t, k, rand_float(f, corners));
    else
      set_int(&t, k, (int64_t)rand64(f));
  return t;
}

/* Equal bits, or two NaNs. */
static inline void assert_same_elements(const tensor *expected, const char *data, const char *what,
                                        int round) {
  const uint32_t bytes = hilo_etype_bytes(expected->etype);
  tensor got = *expected;
  got.data = (char *)(uintptr_t)data;
  for (int64_t k = 0; k < tensor_count(expected); k++) {
    if (memcmp(expected->data + k * bytes, data + k * bytes, bytes) == 0) continue;
    if (hilo_etype_is_float(expected->etype)) {
      const double x = get_float(expected, k), y = get_float(&got, k);
      if (isnan(x) && isnan(y)) continue;
      fail_msg("%s of %s, round %d, element %lld: %.17g, expected %.17g", what,
               hilo_etype_table[expected->etype].hlo, round, (long long)k, y, x);
    }
    fail_msg("%s of %s, round %d, element %lld: %lld, expected %lld", what,
             hilo_etype_table[expected->etype].hlo, round, (long long)k,
             (long long)get_int(&got, k), (long long)get_int(expected, k));
  }
}

/* ---- regions ---- */

static inline hilo_comp new_region(eval_fixture *f) {
  return hilo_comp_add(f->m,
                       hilo_comp_fresh_name(f->m, hilo_module_string(f->m, HILO_STR("region"))));
}
static inline hilo_inst region_inst(eval_fixture *f, hilo_comp c, hilo_op op, hilo_etype etype,
                                    uint32_t attr, const hilo_inst *operands, uint32_t n) {
  const hilo_inst_desc desc = {.op = op,
                               .type = hilo_type_scalar(&f->m->types, etype),
                               .operands = operands,
                               .n_operands = n,
                               .attr = attr};
  return hilo_inst_add(f->m, c, &desc);
}
static inline hilo_inst region_param(eval_fixture *f, hilo_comp c, hilo_etype etype, uint32_t k) {
  return region_inst(f, c, HILO_OP_PARAMETER, etype, k, NULL, 0);
}
static inline hilo_inst region_compare(eval_fixture *f, hilo_comp c, hilo_inst a, hilo_inst b,
                                       hilo_compare_direction direction, hilo_compare_type type) {
  const hilo_compare_attrs attrs = {.direction = direction, .type = type};
  return region_inst(f, c, HILO_OP_COMPARE, HILO_PRED, hilo_compare_put(&f->m->records, &attrs).ix,
                     (hilo_inst[]){a, b}, 2);
}
static inline void region_root_tuple(eval_fixture *f, hilo_comp c, const hilo_inst *operands,
                                     uint32_t n) {
  hilo_type types[8];
  for (uint32_t k = 0; k < n; k++) types[k] = hilo_inst_type(f->m, operands[k]);
  const hilo_inst_desc desc = {.op = HILO_OP_TUPLE,
                               .type = hilo_type_tuple(&f->m->types, types, n),
                               .operands = operands,
                               .n_operands = n};
  hilo_comp_set_root(f->m, c, hilo_inst_add(f->m, c, &desc));
}
/* op(param 0, param 1). */
static inline hilo_comp region_of_op(eval_fixture *f, hilo_op op, hilo_etype etype) {
  const hilo_comp c = new_region(f);
  const hilo_inst params[2] = {region_param(f, c, etype, 0), region_param(f, c, etype, 1)};
  hilo_comp_set_root(f->m, c, region_inst(f, c, op, etype, 0, params, 2));
  return c;
}
/* compare(param 0, param 1). */
static inline hilo_comp region_of_compare(eval_fixture *f, hilo_compare_direction direction,
                                          hilo_compare_type type, hilo_etype etype) {
  const hilo_comp c = new_region(f);
  const hilo_inst a = region_param(f, c, etype, 0), b = region_param(f, c, etype, 1);
  hilo_comp_set_root(f->m, c, region_compare(f, c, a, b, direction, type));
  return c;
}

/* ---- the same functions in C ---- */

static inline double float_of_op(hilo_op op, double a, double b) {
  switch (op) {
  case HILO_OP_ADD: return a + b;
  case HILO_OP_SUBTRACT: return a - b;
  case HILO_OP_MULTIPLY: return a * b;
  case HILO_OP_MAXIMUM:
    return isnan(a) || isnan(b) ? NAN : a == b ? (signbit(a) ? b : a) : fmax(a, b);
  case HILO_OP_MINIMUM:
    return isnan(a) || isnan(b) ? NAN : a == b ? (signbit(a) ? a : b) : fmin(a, b);
  default: fail(); return 0;
  }
}
static inline int64_t int_of_op(hilo_op op, hilo_etype etype, int64_t a, int64_t b) {
  const uint64_t x = (uint64_t)a, y = (uint64_t)b;
  const bool is_signed = hilo_etype_class_of(etype) == HILO_CLASS_SIGNED;
  const bool less = is_signed ? a < b : x < y;
  switch (op) {
  case HILO_OP_ADD: return (int64_t)(etype == HILO_PRED ? x | y : x + y);
  case HILO_OP_SUBTRACT: return (int64_t)(x - y);
  case HILO_OP_MULTIPLY: return (int64_t)(x * y);
  case HILO_OP_MAXIMUM: return less ? b : a;
  case HILO_OP_MINIMUM: return less ? a : b;
  case HILO_OP_AND: return a & b;
  case HILO_OP_OR: return a | b;
  case HILO_OP_XOR: return a ^ b;
  default: fail(); return 0;
  }
}
/* t[to] = op(t[to], x[from]), rounded and cut to the type. */
static inline void apply_op(hilo_op op, tensor *t, int64_t to, const tensor *x, int64_t from) {
  if (hilo_etype_is_float(t->etype))
    set_float(t, to, float_of_op(op, get_float(t, to), get_float(x, from)));
  else
    set_int(t, to, int_of_op(op, t->etype, get_int(t, to), get_int(x, from)));
}
static inline void copy_element(tensor *t, int64_t to, const tensor *x, int64_t from) {
  const uint32_t bytes = hilo_etype_bytes(t->etype);
  memcpy(t->data + to * bytes, x->data + from * bytes, bytes);
}

/* An operation that folds, and is there for this type. */
static inline hilo_op rand_fold_op(eval_fixture *f, hilo_etype etype) {
  static const hilo_op ops[] = {HILO_OP_ADD, HILO_OP_MULTIPLY, HILO_OP_MAXIMUM, HILO_OP_MINIMUM,
                                HILO_OP_AND, HILO_OP_OR,       HILO_OP_XOR,     HILO_OP_SUBTRACT};
  const uint32_t n = etype == HILO_PRED ? 7 : hilo_etype_is_float(etype) ? 4 : HILO_COUNT(ops);
  return ops[rand64(f) % n];
}

/* Every real element type in turn. */
static inline hilo_etype real_etype(int k) {
  static const hilo_etype all[] = {HILO_PRED,       HILO_S1,
                                   HILO_S2,         HILO_S4,
                                   HILO_S8,         HILO_S16,
                                   HILO_S32,        HILO_S64,
                                   HILO_U1,         HILO_U2,
                                   HILO_U4,         HILO_U8,
                                   HILO_U16,        HILO_U32,
                                   HILO_U64,        HILO_F4E2M1FN,
                                   HILO_F6E2M3FN,   HILO_F6E3M2FN,
                                   HILO_F8E3M4,     HILO_F8E4M3,
                                   HILO_F8E4M3FN,   HILO_F8E4M3B11FNUZ,
                                   HILO_F8E5M2,     HILO_F8E4M3FNUZ,
                                   HILO_F8E5M2FNUZ, HILO_F16,
                                   HILO_BF16,       HILO_F32,
                                   HILO_F64,        HILO_F8E8M0FNU};
  return all[(size_t)k % HILO_COUNT(all)];
}

/* ---- the fixture of a test program ---- */

static eval_fixture f;

static inline int set_up(void **state) {
  (void)state;
  f = (eval_fixture){.seed = 4};
  eval_open(&f);
  return 0;
}
static inline int tear_down(void **state) {
  (void)state;
  eval_close(&f);
  return 0;
}

#endif
