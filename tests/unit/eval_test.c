/* The evaluator's elementwise operations and what moves elements: every pair of 8-bit integers,
 * corner cases of the wider ones, functions of floats against mpmath, arithmetic against numpy. */
#include "eval/eval.h"

#include "eval/eval_parts.h"
#include "ir_support.h"
#include "num/float_format.h"

#include <math.h>
#include <zlib.h>

static hilo_arena arena;
static hilo_heap heap;
static hilo_module *m;

static int set_up(void **state) {
  (void)state;
  hilo_arena_init(&arena, NULL, NULL);
  heap = (hilo_heap){0};
  m = hilo_module_create(&arena, NULL);
  return 0;
}
static int tear_down(void **state) {
  (void)state;
  hilo_heap_clear(&heap);
  hilo_arena_deinit(&arena);
  return 0;
}

static hilo_type vector_of(hilo_etype etype, int64_t n) {
  return hilo_type_array(&m->types, etype, HILO_DIMS_OF(n));
}

/* An instruction of this operation over parameters of these types, in a computation of its own. */
static hilo_inst make(hilo_op op, uint32_t attr, hilo_type result, const hilo_type *types,
                      uint32_t n) {
  const hilo_comp c =
      hilo_comp_add(m, hilo_comp_fresh_name(m, hilo_module_string(m, HILO_STR("f"))));
  hilo_inst params[3];
  for (uint32_t k = 0; k < n; k++) {
    const hilo_inst_desc desc = {.op = HILO_OP_PARAMETER, .type = types[k], .attr = k};
    params[k] = hilo_inst_add(m, c, &desc);
  }
  const hilo_inst_desc desc = {
      .op = op, .type = result, .operands = params, .n_operands = n, .attr = attr};
  return hilo_inst_add(m, c, &desc);
}

static hilo_status try_eval(hilo_op op, uint32_t attr, hilo_type result, const hilo_value *args,
                            uint32_t n, hilo_value *out) {
  hilo_type types[3];
  for (uint32_t k = 0; k < n; k++) types[k] = args[k].type;
  const hilo_eval e = {.m = m, .heap = &heap, .scratch = &arena};
  return hilo_eval_inst(&e, make(op, attr, result, types, n), args, out);
}

static const void *eval(hilo_op op, uint32_t attr, hilo_type result, const hilo_value *args,
                        uint32_t n) {
  hilo_value out;
  assert_int_equal(try_eval(op, attr, result, args, n, &out), HILO_OK);
  return out.data;
}

static hilo_value value(hilo_type type, const void *data) {
  return (hilo_value){.type = type, .data = data};
}

static uint32_t compare_attr(hilo_compare_direction direction, hilo_compare_type type) {
  const hilo_compare_attrs attrs = {.direction = direction, .type = type};
  return hilo_compare_put(&m->records, &attrs).ix;
}

/* ---- all pairs of 8 bits ---- */

enum { N_PAIRS = 65536 };

static int sign_of(int x) { return (x > 0) - (x < 0); }
static int power_of(int a, int b) {
  int r = 1;
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
  for (int k = 0; k < b; k++) r = (r * a) % 256;
  return r;
}

/* What the operation gives for numbers a, b of 8 bits, before it is cut to 8 bits. */
static int expected_pair(hilo_op op, int a, int b) {
  const unsigned amount = (unsigned)b & 255;
  switch (op) {
  case HILO_OP_ADD: return a + b;
  case HILO_OP_SUBTRACT: return a - b;
  case HILO_OP_MULTIPLY: return a * b;
  case HILO_OP_DIVIDE: return b ? a / b : -1;
  case HILO_OP_REMAINDER: return b ? a % b : a;
  case HILO_OP_POWER: return power_of(a, b);
  case HILO_OP_MAXIMUM: return a > b ? a : b;
  case HILO_OP_MINIMUM: return a < b ? a : b;
  case HILO_OP_AND: return a & b;
  case HILO_OP_OR: return a | b;
  case HILO_OP_XOR: return a ^ b;
  case HILO_OP_MULHI: return (a * b) >> 8;
  case HILO_OP_SHIFT_LEFT: return amount < 8 ? (a & 255) << amount : 0;
  case HILO_OP_SHIFT_RIGHT_LOGICAL: return amount < 8 ? (a & 255) >> amount : 0;
  case HILO_OP_SHIFT_RIGHT_ARITHMETIC: {
    const int s = (a & 255) >= 128 ? (a & 255) - 256 : a & 255;
    return amount < 8 ? s >> amount : (s < 0 ? -1 : 0);
  }
  default: fail(); return 0;
  }
}

static void all_pairs(hilo_etype etype) {
  static const hilo_op ops[] = {HILO_OP_ADD,
                                HILO_OP_SUBTRACT,
                                HILO_OP_MULTIPLY,
                                HILO_OP_DIVIDE,
                                HILO_OP_REMAINDER,
                                HILO_OP_POWER,
                                HILO_OP_MAXIMUM,
                                HILO_OP_MINIMUM,
                                HILO_OP_AND,
                                HILO_OP_OR,
                                HILO_OP_XOR,
                                HILO_OP_MULHI,
                                HILO_OP_SHIFT_LEFT,
                                HILO_OP_SHIFT_RIGHT_LOGICAL,
                                HILO_OP_SHIFT_RIGHT_ARITHMETIC};
  const bool is_signed = etype == HILO_S8;
  uint8_t *a = malloc(N_PAIRS), *b = malloc(N_PAIRS);
  for (int k = 0; k < N_PAIRS; k++) a[k] = (uint8_t)(k >> 8), b[k] = (uint8_t)k;
  const hilo_type type = vector_of(etype, N_PAIRS);
  const hilo_value args[2] = {value(type, a), value(type, b)};
  for (size_t o = 0; o < HILO_COUNT(ops); o++) {
    const uint8_t *r = eval(ops[o], 0, type, args, 2);
    for (int k = 0; k < N_PAIRS; k++) {
      const int x = is_signed ? (int8_t)a[k] : a[k], y = is_signed ? (int8_t)b[k] : b[k];
      const uint8_t expected = (uint8_t)expected_pair(ops[o], x, y);
      if (r[k] != expected)
        fail_msg("%s(%d, %d) is %u, expected %u", hilo_op_get(ops[o])->hlo, x, y, r[k], expected);
    }
  }
  for (int d = HILO_EQ; d <= HILO_LT; d++) {
    const uint8_t *r = eval(HILO_OP_COMPARE, compare_attr((hilo_compare_direction)d, 0),
                            vector_of(HILO_PRED, N_PAIRS), args, 2);
    for (int k = 0; k < N_PAIRS; k++) {
      const int x = is_signed ? (int8_t)a[k] : a[k], y = is_signed ? (int8_t)b[k] : b[k];
      const bool expected[] = {[HILO_EQ] = x == y, [HILO_NE] = x != y, [HILO_GE] = x >= y,
                               [HILO_GT] = x > y,  [HILO_LE] = x <= y, [HILO_LT] = x < y};
      assert_int_equal(r[k], expected[d]);
    }
  }
  free(a);
  free(b);
}

static void all_pairs_of_s8(void **state) {
  (void)state;
  all_pairs(HILO_S8);
}
static void all_pairs_of_u8(void **state) {
  (void)state;
  all_pairs(HILO_U8);
}

static void all_s8_and_u8_alone(void **state) {
  (void)state;
  uint8_t a[256];
  for (int k = 0; k < 256; k++) a[k] = (uint8_t)k;
  const hilo_value s = value(vector_of(HILO_S8, 256), a), u = value(vector_of(HILO_U8, 256), a);
  const uint8_t *abs_s = eval(HILO_OP_ABS, 0, s.type, &s, 1);
  const uint8_t *neg_s = eval(HILO_OP_NEGATE, 0, s.type, &s, 1);
  const uint8_t *sign_s = eval(HILO_OP_SIGN, 0, s.type, &s, 1);
  const uint8_t *not_u = eval(HILO_OP_NOT, 0, u.type, &u, 1);
  const uint8_t *clz_s = eval(HILO_OP_CLZ, 0, s.type, &s, 1);
  const uint8_t *popcnt_s = eval(HILO_OP_POPCNT, 0, s.type, &s, 1);
  for (int k = 0; k < 256; k++) {
    const int x = (int8_t)a[k];
    assert_int_equal(abs_s[k], (uint8_t)(x < 0 ? -x : x)); /* |-128| is -128 */
    assert_int_equal(neg_s[k], (uint8_t)-x);
    assert_int_equal((int8_t)sign_s[k], sign_of(x));
    assert_int_equal(not_u[k], 255 - k);
    int leading = 8, ones = 0;
    for (int bit = 0; bit < 8; bit++)
      if (k >> bit & 1) leading = 7 - bit, ones++;
    assert_int_equal(clz_s[k], leading);
    assert_int_equal(popcnt_s[k], ones);
  }
}

/* ---- wider and narrower integers ---- */

static int64_t one_int(hilo_op op, hilo_etype etype, int64_t a, int64_t b) {
  const hilo_type type = vector_of(etype, 1);
  const hilo_value args[2] = {value(type, &a), value(type, &b)};
  const uint32_t n = (uint32_t)hilo_op_get(op)->min_operands;
  const hilo_value out = value(type, eval(op, 0, type, args, n));
  int64_t r;
  assert_true(hilo_value_int(m, &out, &r));
  return r;
}

static void corners_of_wide_integers(void **state) {
  (void)state;
  assert_true(one_int(HILO_OP_DIVIDE, HILO_S32, INT32_MIN, -1) == INT32_MIN);
  assert_true(one_int(HILO_OP_DIVIDE, HILO_S64, INT64_MIN, -1) == INT64_MIN);
  assert_true(one_int(HILO_OP_REMAINDER, HILO_S64, INT64_MIN, -1) == 0);
  assert_true(one_int(HILO_OP_DIVIDE, HILO_S64, 7, 0) == -1);
  assert_true(one_int(HILO_OP_DIVIDE, HILO_U32, 7, 0) == UINT32_MAX);
  assert_true(one_int(HILO_OP_DIVIDE, HILO_U64, -1, 10) == 1844674407370955161);
  assert_true(one_int(HILO_OP_REMAINDER, HILO_S32, -7, 2) == -1);
  assert_true(one_int(HILO_OP_REMAINDER, HILO_U64, -1, 0) == -1);
  assert_true(one_int(HILO_OP_ADD, HILO_S64, INT64_MAX, 1) == INT64_MIN);
  assert_true(one_int(HILO_OP_MULTIPLY, HILO_S32, 1 << 20, 1 << 12) == 0);
  assert_true(one_int(HILO_OP_NEGATE, HILO_S64, INT64_MIN, 0) == INT64_MIN);
  assert_true(one_int(HILO_OP_ABS, HILO_S64, INT64_MIN, 0) == INT64_MIN);
  assert_true(one_int(HILO_OP_POWER, HILO_S64, 3, 39) == 4052555153018976267);
  assert_true(one_int(HILO_OP_POWER, HILO_S32, -1, -3) == -1);
  assert_true(one_int(HILO_OP_POWER, HILO_S32, 0, 0) == 1);
  assert_true(one_int(HILO_OP_POWER, HILO_S32, 0, -1) == 0);
  assert_true(one_int(HILO_OP_SHIFT_LEFT, HILO_S64, 1, 63) == INT64_MIN);
  assert_true(one_int(HILO_OP_SHIFT_LEFT, HILO_S64, 1, 64) == 0);
  assert_true(one_int(HILO_OP_SHIFT_LEFT, HILO_U32, 3, 31) == 0x80000000);
  assert_true(one_int(HILO_OP_SHIFT_RIGHT_ARITHMETIC, HILO_S32, -8, 40) == -1);
  assert_true(one_int(HILO_OP_SHIFT_RIGHT_ARITHMETIC, HILO_S32, -8, -1) == -1);
  assert_true(one_int(HILO_OP_SHIFT_RIGHT_LOGICAL, HILO_S32, -1, 28) == 15);
  assert_true(one_int(HILO_OP_MULHI, HILO_U64, -1, -1) == -2);
  assert_true(one_int(HILO_OP_MULHI, HILO_S64, INT64_MIN, INT64_MIN) == INT64_C(1) << 62);
  assert_true(one_int(HILO_OP_CLZ, HILO_S64, 0, 0) == 64);
  assert_true(one_int(HILO_OP_CLZ, HILO_U16, 1, 0) == 15);
}

static void sub_byte_integers_wrap_at_their_width(void **state) {
  (void)state;
  assert_true(one_int(HILO_OP_ADD, HILO_S4, 7, 1) == -8);
  assert_true(one_int(HILO_OP_ADD, HILO_U4, 15, 2) == 1);
  assert_true(one_int(HILO_OP_DIVIDE, HILO_S4, -8, -1) == -8);
  assert_true(one_int(HILO_OP_DIVIDE, HILO_U2, 3, 0) == 3);
  assert_true(one_int(HILO_OP_NOT, HILO_U1, 0, 0) == 1);
  assert_true(one_int(HILO_OP_SHIFT_RIGHT_ARITHMETIC, HILO_U4, 8, 3) == 15);
  assert_true(one_int(HILO_OP_POPCNT, HILO_S4, -1, 0) == 4);
  /* A packed reader may leave rubbish above the four bits. */
  assert_true(one_int(HILO_OP_COPY, HILO_S4, 0x77, 0) == 7);
}

static void preds_are_logic(void **state) {
  (void)state;
  const char a[4] = {0, 0, 1, 1}, b[4] = {0, 1, 0, 1};
  const hilo_type type = vector_of(HILO_PRED, 4);
  const hilo_value args[2] = {value(type, a), value(type, b)};
  assert_memory_equal(eval(HILO_OP_ADD, 0, type, args, 2), "\0\1\1\1", 4);
  assert_memory_equal(eval(HILO_OP_MULTIPLY, 0, type, args, 2), "\0\0\0\1", 4);
  assert_memory_equal(eval(HILO_OP_MAXIMUM, 0, type, args, 2), "\0\1\1\1", 4);
  assert_memory_equal(eval(HILO_OP_XOR, 0, type, args, 2), "\0\1\1\0", 4);
  assert_memory_equal(eval(HILO_OP_NOT, 0, type, args, 1), "\1\1\0\0", 4);
  assert_memory_equal(eval(HILO_OP_COMPARE, compare_attr(HILO_GT, 0), type, args, 2), "\0\0\1\0",
                      4);
}

/* ---- floats ---- */

static uint64_t splitmix(uint64_t k, uint64_t seed) {
  uint64_t x = (k + 1) * 0x9E3779B97F4A7C15u + seed;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

static void functions_are_within_one_ulp(void **state) {
  (void)state;
  static const struct {
    hilo_op op;
    uint32_t in, out;
  } rows[] = {
#define FUNCTIONS
#include "eval_vectors.inc"
#undef FUNCTIONS
  };
  uint32_t n_exact = 0;
  for (size_t k = 0; k < HILO_COUNT(rows); k++) {
    const hilo_type type = vector_of(HILO_F32, 1);
    const hilo_value arg = value(type, &rows[k].in);
    uint32_t r;
    memcpy(&r, eval(rows[k].op, 0, type, &arg, 1), sizeof(r));
    const uint32_t distance = r > rows[k].out ? r - rows[k].out : rows[k].out - r;
    if (distance > 1)
      fail_msg("%s(%08x) is %08x, expected %08x", hilo_op_get(rows[k].op)->hlo, rows[k].in, r,
               rows[k].out);
    n_exact += distance == 0;
  }
  assert_true(HILO_COUNT(rows) > 400);
  assert_true(n_exact + 2 >= HILO_COUNT(rows)); /* rounded once: nearly all are the nearest */
}

static void arithmetic_is_numpys(void **state) {
  (void)state;
  static const struct {
    hilo_op op;
    hilo_etype etype;
    uint32_t crc;
  } rows[] = {
#define ARITHMETIC
#include "eval_vectors.inc"
#undef ARITHMETIC
  };
  enum { N = 100000 };
  for (size_t k = 0; k < HILO_COUNT(rows); k++) {
    const uint32_t size = hilo_etype_bytes(rows[k].etype);
    char *a = malloc(N * size), *b = malloc(N * size), *r = malloc(N * size);
    for (uint64_t i = 0; i < N; i++) {
      const uint64_t x = splitmix(i, 1), y = splitmix(i, 2);
      memcpy(a + i * size, &x, size);
      memcpy(b + i * size, &y, size);
    }
    const hilo_type type = vector_of(rows[k].etype, N);
    const hilo_value args[2] = {value(type, a), value(type, b)};
    memcpy(r, eval(rows[k].op, 0, type, args, 2), N * size);
    const hilo_value result = value(type, r);
    const uint64_t nan = size == 1 ? 127 : 1;
    const char *is_nan = eval(HILO_OP_COMPARE, compare_attr(HILO_NE, 0), vector_of(HILO_PRED, N),
                              (hilo_value[]){result, result}, 2);
    for (uint64_t i = 0; i < N; i++)
      if (is_nan[i]) memcpy(r + i * size, &nan, size);
    const uLong crc = crc32(0, (const unsigned char *)r, (uInt)(N * size));
    if (crc != rows[k].crc)
      fail_msg("%s of %s differs", hilo_op_get(rows[k].op)->hlo,
               hilo_etype_table[rows[k].etype].hlo);
    free(a), free(b), free(r);
  }
}

static float one_float(hilo_op op, float a, float b, float c) {
  const hilo_type type = vector_of(HILO_F32, 1);
  const hilo_value args[3] = {value(type, &a), value(type, &b), value(type, &c)};
  float r;
  memcpy(&r, eval(op, 0, type, args, (uint32_t)hilo_op_get(op)->min_operands), sizeof(r));
  return r;
}

#define assert_same_float(x, y)                                                                    \
  assert_int_equal(hilo_float_bits_of_f32(x), hilo_float_bits_of_f32(y))

static void corners_of_floats(void **state) {
  (void)state;
  assert_true(isnan(one_float(HILO_OP_MAXIMUM, NAN, 1, 0)));
  assert_true(isnan(one_float(HILO_OP_MINIMUM, 1, NAN, 0)));
  assert_same_float(one_float(HILO_OP_MAXIMUM, -0.0f, 0.0f, 0), 0.0f);
  assert_same_float(one_float(HILO_OP_MINIMUM, 0.0f, -0.0f, 0), -0.0f);
  assert_true(isnan(one_float(HILO_OP_CLAMP, 0, NAN, 1)));
  assert_same_float(one_float(HILO_OP_CLAMP, 0, 5, 1), 1.0f);
  assert_same_float(one_float(HILO_OP_CLAMP, 2, 5, 1), 1.0f); /* min(max(x, low), high) */
  assert_same_float(one_float(HILO_OP_SIGN, -0.0f, 0, 0), -0.0f);
  assert_same_float(one_float(HILO_OP_SIGN, -3, 0, 0), -1.0f);
  assert_true(isnan(one_float(HILO_OP_SIGN, NAN, 0, 0)));
  assert_same_float(one_float(HILO_OP_REMAINDER, -7, 2, 0), -1.0f);
  assert_true(isnan(one_float(HILO_OP_REMAINDER, 7, 0, 0)));
  assert_same_float(one_float(HILO_OP_ROUND_NEAREST_EVEN, 2.5f, 0, 0), 2.0f);
  assert_same_float(one_float(HILO_OP_ROUND_NEAREST_AFZ, 2.5f, 0, 0), 3.0f);
  assert_same_float(one_float(HILO_OP_ROUND_NEAREST_AFZ, -0.3f, 0, 0), -0.0f);
  assert_same_float(one_float(HILO_OP_CEIL, -0.5f, 0, 0), -0.0f);
  assert_same_float(one_float(HILO_OP_POWER, -2, 3, 0), -8.0f);
  assert_same_float(one_float(HILO_OP_POWER, 0, 0, 0), 1.0f);
  assert_same_float(one_float(HILO_OP_DIVIDE, 1, -0.0f, 0), -INFINITY);
  assert_same_float(one_float(HILO_OP_LOG, 0, 0, 0), -INFINITY);
  assert_true(isnan(one_float(HILO_OP_LOG, -1, 0, 0)));
  assert_same_float(one_float(HILO_OP_LOGISTIC, -INFINITY, 0, 0), 0.0f);
  assert_same_float(one_float(HILO_OP_ATAN2, -0.0f, -1, 0), -3.14159265f);
  const float x[4] = {1, INFINITY, NAN, -0.0f};
  const hilo_value arg = value(vector_of(HILO_F32, 4), x);
  assert_memory_equal(eval(HILO_OP_IS_FINITE, 0, vector_of(HILO_PRED, 4), &arg, 1), "\1\0\0\1", 4);
}

static void total_order_tells_all_floats_apart(void **state) {
  (void)state;
  const float negative_nan = hilo_float_f32_of_bits(0xFFC00000);
  const float signalling = hilo_float_f32_of_bits(0x7F800001);
  const float in_order[] = {negative_nan, -INFINITY, -1, -0.0f, 0, 1, INFINITY, signalling, NAN};
  enum { N = HILO_COUNT(in_order) };
  float a[N * N], b[N * N];
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++)
      memcpy(&a[i * N + k], &in_order[i], 4), memcpy(&b[i * N + k], &in_order[k], 4);
  const hilo_type type = vector_of(HILO_F32, N * N);
  const hilo_value args[2] = {value(type, a), value(type, b)};
  const char *less = eval(HILO_OP_COMPARE, compare_attr(HILO_LT, HILO_COMPARE_TOTALORDER),
                          vector_of(HILO_PRED, N * N), args, 2);
  const char *equal = eval(HILO_OP_COMPARE, compare_attr(HILO_EQ, HILO_COMPARE_TOTALORDER),
                           vector_of(HILO_PRED, N * N), args, 2);
  const char *ieee =
      eval(HILO_OP_COMPARE, compare_attr(HILO_LE, 0), vector_of(HILO_PRED, N * N), args, 2);
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++) {
      assert_int_equal(less[i * N + k], i < k);
      assert_int_equal(equal[i * N + k], i == k);
      const bool is_number = i > 0 && k > 0 && i < 7 && k < 7;
      assert_int_equal(ieee[i * N + k], is_number && in_order[i] <= in_order[k]);
    }
}

/* ---- conversions ---- */

static const void *convert(hilo_etype from, hilo_etype to, const void *data, int64_t n) {
  const hilo_value arg = value(vector_of(from, n), data);
  return eval(HILO_OP_CONVERT, 0, vector_of(to, n), &arg, 1);
}

static void floats_saturate_as_integers(void **state) {
  (void)state;
  const float f[] = {NAN, INFINITY, -INFINITY, 3.99f, -3.99f, 3e9f, -3e9f, 127.5f, -128.9f, 300};
  const int8_t s8[] = {0, 127, -128, 3, -3, 127, -128, 127, -128, 127};
  const uint8_t u8[] = {0, 255, 0, 3, 0, 255, 0, 127, 0, 255};
  const int32_t s32[] = {0, INT32_MAX, INT32_MIN, 3, -3, INT32_MAX, INT32_MIN, 127, -128, 300};
  const char pred[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  assert_memory_equal(convert(HILO_F32, HILO_S8, f, 10), s8, sizeof(s8));
  assert_memory_equal(convert(HILO_F32, HILO_U8, f, 10), u8, sizeof(u8));
  assert_memory_equal(convert(HILO_F32, HILO_S32, f, 10), s32, sizeof(s32));
  assert_memory_equal(convert(HILO_F32, HILO_PRED, f, 10), pred, sizeof(pred));
  const double d[] = {9223372036854775807.0, -9223372036854775808.0, 18446744073709551615.0, -1};
  const int64_t s64[] = {INT64_MAX, INT64_MIN, INT64_MAX, -1};
  const uint64_t u64[] = {1ull << 63, 0, UINT64_MAX, 0};
  assert_memory_equal(convert(HILO_F64, HILO_S64, d, 4), s64, sizeof(s64));
  assert_memory_equal(convert(HILO_F64, HILO_U64, d, 4), u64, sizeof(u64));
  const char s4[] = {0, 7, -8, 3, -3, 7, -8, 7, -8, 7};
  assert_memory_equal(convert(HILO_F32, HILO_S4, f, 10), s4, sizeof(s4));
}

/* The processor converts 64-bit integers to f32 with one rounding. */
static void integers_become_floats_in_one_rounding(void **state) {
  (void)state;
  enum { N = 20000 };
  int64_t x[N];
  for (uint64_t k = 0; k < N; k++) {
    x[k] = (int64_t)(splitmix(k, 5) >> (k % 64));
    /* Just above the middle of two f32 or two doubles: where two roundings go wrong. */
    if (k % 3 == 0)
      x[k] = (int64_t)((1ull << 62 | splitmix(k, 6) >> 2) & ~0x7FFFFFFFFFull) | 1ll << 38 | 1;
    if (k % 5 == 0) x[k] = -x[k];
  }
  const float *f = convert(HILO_S64, HILO_F32, x, N);
  const double *d = convert(HILO_S64, HILO_F64, x, N);
  const float *fu = convert(HILO_U64, HILO_F32, x, N);
  for (int k = 0; k < N; k++) {
    assert_same_float(f[k], (float)x[k]);
    assert_same_float(fu[k], (float)(uint64_t)x[k]);
    assert_true(d[k] == (double)x[k]);
  }
  const int64_t hard[] = {(1ll << 62) + (1ll << 54) + 1, 256 + 1 + (1ll << 40)};
  const uint16_t *half = convert(HILO_S64, HILO_BF16, hard, 2);
  assert_int_equal(half[0], 0x5E81); /* 2^62 (1 + 2^-8 + …) is above the middle: 2^62 (1 + 2^-7) */
  assert_int_equal(half[1], 0x5380);
}

static void integers_wrap(void **state) {
  (void)state;
  const int32_t x[] = {0, -1, 256, 300, INT32_MIN};
  const uint8_t u8[] = {0, 255, 0, 44, 0};
  const int64_t s64[] = {0, -1, 256, 300, INT32_MIN};
  const char pred[] = {0, 1, 1, 1, 1}, s2[] = {0, -1, 0, 0, 0};
  assert_memory_equal(convert(HILO_S32, HILO_U8, x, 5), u8, sizeof(u8));
  assert_memory_equal(convert(HILO_S32, HILO_S64, x, 5), s64, sizeof(s64));
  assert_memory_equal(convert(HILO_S32, HILO_PRED, x, 5), pred, sizeof(pred));
  assert_memory_equal(convert(HILO_S32, HILO_S2, x, 5), s2, sizeof(s2));
  const char flags[] = {0, 1};
  const float ones[] = {0, 1};
  assert_memory_equal(convert(HILO_PRED, HILO_F32, flags, 2), ones, sizeof(ones));
}

static void precision_is_reduced_as_by_a_real_format(void **state) {
  (void)state;
  const hilo_reduce_precision_attrs attrs = {.exponent_bits = 5, .mantissa_bits = 10};
  const uint32_t record = hilo_reduce_precision_put(&m->records, &attrs).ix;
  enum { N = 50000 };
  uint32_t x[N];
  for (uint32_t k = 0; k < N; k++) {
    /* Exponents around those of f16. */
    const uint64_t r = splitmix(k, 9);
    x[k] = (uint32_t)(r & 0x807FFFFF) | (uint32_t)(100 + (r >> 32) % 50) << 23;
  }
  const hilo_value arg = value(vector_of(HILO_F32, N), x);
  const uint32_t *r = eval(HILO_OP_REDUCE_PRECISION, record, arg.type, &arg, 1);
  for (uint32_t k = 0; k < N; k++) {
    const uint64_t half =
        hilo_float_from_double(HILO_FLOAT_F16, hilo_float_to_double(HILO_FLOAT_F32, x[k]));
    uint32_t expected = (uint32_t)hilo_float_from_double(
        HILO_FLOAT_F32, hilo_float_to_double(HILO_FLOAT_F16, half));
    /* No subnormal numbers; what rounds up to the smallest normal one is that. */
    const float magnitude = fabsf(hilo_float_f32_of_bits(x[k]));
    if (magnitude < 0x1p-14f && magnitude < 0x1.ffep-15f) expected &= 0x80000000;
    if (magnitude >= 0x1.ffep-15f && magnitude < 0x1p-14f) continue;
    if (r[k] != expected) fail_msg("%08x gives %08x, expected %08x", x[k], r[k], expected);
  }
  const float special[] = {NAN, INFINITY, -0.0f};
  const hilo_value s = value(vector_of(HILO_F32, 3), special);
  const float *kept = eval(HILO_OP_REDUCE_PRECISION, record, s.type, &s, 1);
  assert_true(isnan(kept[0]) && isinf(kept[1]) && kept[2] == 0 && signbit(kept[2]));
}

static void bits_are_kept_by_bitcasts(void **state) {
  (void)state;
  const float f[2] = {1, -2};
  const hilo_value v = value(vector_of(HILO_F32, 2), f);
  assert_memory_equal(eval(HILO_OP_BITCAST_CONVERT, 0, vector_of(HILO_S32, 2), &v, 1), f, 8);
  /* To a narrower type: the new dimension's first element is the lowest part. */
  const uint16_t parts[] = {0, 0x3F80, 0, 0xC000};
  const hilo_type halves = hilo_type_array(&m->types, HILO_U16, HILO_DIMS_OF(2, 2));
  assert_memory_equal(eval(HILO_OP_BITCAST_CONVERT, 0, halves, &v, 1), parts, 8);
  const char u4[] = {0, 7, 8, 15}, s4[] = {0, 7, -8, -1};
  const hilo_value u = value(vector_of(HILO_U4, 4), u4);
  assert_memory_equal(eval(HILO_OP_BITCAST_CONVERT, 0, vector_of(HILO_S4, 4), &u, 1), s4, 4);
}

/* ---- moving elements ---- */

static uint32_t dims_attr(hilo_dims dims) {
  const hilo_dims_attrs attrs = {.dims = dims};
  return hilo_dims_put(&m->records, &attrs).ix;
}

static void elements_are_moved(void **state) {
  (void)state;
  int16_t x[24];
  for (int k = 0; k < 24; k++) x[k] = (int16_t)k;
  const hilo_value v = value(type_of(m, "s16[2,3,4]"), x);
  const int16_t *t =
      eval(HILO_OP_TRANSPOSE, dims_attr(HILO_DIMS_OF(2, 0, 1)), type_of(m, "s16[4,2,3]"), &v, 1);
  const int16_t *r = eval(HILO_OP_REVERSE, dims_attr(HILO_DIMS_OF(0, 2)), v.type, &v, 1);
  const hilo_slice_attrs slice = {.starts = HILO_DIMS_OF(1, 0, 1),
                                  .limits = HILO_DIMS_OF(2, 3, 4),
                                  .strides = HILO_DIMS_OF(1, 2, 2)};
  const int16_t *s =
      eval(HILO_OP_SLICE, hilo_slice_put(&m->records, &slice).ix, type_of(m, "s16[1,2,2]"), &v, 1);
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 2; j++)
      for (int k = 0; k < 3; k++) assert_int_equal(t[(i * 2 + j) * 3 + k], x[(j * 3 + k) * 4 + i]);
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 4; k++)
        assert_int_equal(r[(i * 3 + j) * 4 + k], x[((1 - i) * 3 + j) * 4 + 3 - k]);
  const int16_t sliced[] = {13, 15, 21, 23};
  assert_memory_equal(s, sliced, sizeof(sliced));
  const hilo_value row = value(type_of(m, "s16[3]"), x);
  const int16_t *b =
      eval(HILO_OP_BROADCAST, dims_attr(HILO_DIMS_OF(1)), type_of(m, "s16[2,3,2]"), &row, 1);
  for (int k = 0; k < 12; k++) assert_int_equal(b[k], k / 2 % 3);
  const hilo_value one = value(type_of(m, "s16[]"), &x[7]);
  const int16_t *splat = eval(HILO_OP_BROADCAST, dims_attr(HILO_DIMS_NONE), v.type, &one, 1);
  for (int k = 0; k < 24; k++) assert_int_equal(splat[k], 7);
  assert_memory_equal(eval(HILO_OP_RESHAPE, 0, type_of(m, "s16[6,4]"), &v, 1), x, sizeof(x));
  assert_non_null(
      eval(HILO_OP_BROADCAST, dims_attr(HILO_DIMS_OF(1)), type_of(m, "s16[0,3]"), &row, 1));
}

static void values_are_made(void **state) {
  (void)state;
  const int32_t *i = eval(HILO_OP_IOTA, 1, type_of(m, "s32[2,3]"), NULL, 0);
  const int32_t iota[] = {0, 1, 2, 0, 1, 2};
  assert_memory_equal(i, iota, sizeof(iota));
  const uint8_t *wraps = eval(HILO_OP_IOTA, 0, type_of(m, "u8[300]"), NULL, 0);
  assert_int_equal(wraps[299], 43);
  const float *f = eval(HILO_OP_IOTA, 0, type_of(m, "f32[300]"), NULL, 0);
  assert_true(f[299] == 299);
  const hilo_type type = type_of(m, "f32[2,2]");
  const float one = 1;
  const float *ones = eval(HILO_OP_CONSTANT, hilo_literal_splat(m, type, &one).ix, type, NULL, 0);
  for (int k = 0; k < 4; k++) assert_true(ones[k] == 1);
  hilo_value out;
  assert_int_equal(try_eval(HILO_OP_CONSTANT, hilo_literal_elided(m, type).ix, type, NULL, 0, &out),
                   HILO_LIMIT_ERROR);
}

static void choices(void **state) {
  (void)state;
  const char pred[] = {1, 0, 1}, no = 0;
  const double a[] = {1, 2, 3}, b[] = {-1, -2, -3}, mixed[] = {1, -2, 3}, clamped[] = {1, 2, 2};
  const hilo_type type = vector_of(HILO_F64, 3), scalar = type_of(m, "f64[]");
  const hilo_value x = value(type, a), y = value(type, b);
  const hilo_value each[3] = {value(vector_of(HILO_PRED, 3), pred), x, y};
  assert_memory_equal(eval(HILO_OP_SELECT, 0, type, each, 3), mixed, sizeof(mixed));
  const hilo_value whole[3] = {value(type_of(m, "pred[]"), &no), x, y};
  assert_memory_equal(eval(HILO_OP_SELECT, 0, type, whole, 3), b, sizeof(b));
  const double low = 1, high = 2;
  const hilo_value limits[3] = {value(scalar, &low), x, value(scalar, &high)};
  assert_memory_equal(eval(HILO_OP_CLAMP, 0, type, limits, 3), clamped, sizeof(clamped));
}

static void tuples_hold_values(void **state) {
  (void)state;
  const float f = 3;
  const int32_t s = 4;
  const hilo_value args[2] = {value(type_of(m, "f32[]"), &f), value(type_of(m, "s32[]"), &s)};
  hilo_value tuple, element;
  assert_int_equal(try_eval(HILO_OP_TUPLE, 0, type_of(m, "(f32[], s32[])"), args, 2, &tuple),
                   HILO_OK);
  assert_int_equal(try_eval(HILO_OP_GET_TUPLE_ELEMENT, 1, args[1].type, &tuple, 1, &element),
                   HILO_OK);
  int64_t r;
  assert_true(hilo_value_int(m, &element, &r));
  assert_int_equal(r, 4);
  assert_false(hilo_value_int(m, &args[0], &r));
}

static void what_is_beyond_is_refused(void **state) {
  (void)state;
  hilo_diags diags = hilo_diags_make(&arena);
  hilo_heap small = {.max = 1 << 20};
  const hilo_type big = vector_of(HILO_F32, 1 << 20);
  const hilo_eval e = {.m = m, .heap = &small, .scratch = &arena, .diags = &diags};
  hilo_value out;
  const hilo_inst iota = make(HILO_OP_IOTA, 0, big, NULL, 0);
  assert_int_equal(hilo_eval_inst(&e, iota, NULL, &out), HILO_LIMIT_ERROR);
  assert_int_equal(diags.n_errors, 1);
  assert_int_equal(small.live, 0);
}

static void an_operand_nobody_reads_again_is_reused(void **state) {
  (void)state;
  hilo_eval e = {.m = m, .heap = &heap, .scratch = &arena};
  const hilo_type type = vector_of(HILO_S32, 8);
  const hilo_inst iota = make(HILO_OP_IOTA, 0, type, NULL, 0);
  hilo_value in, kept = {.type = type}, taken = {.type = type};
  assert_int_equal(hilo_eval_inst(&e, iota, NULL, &in), HILO_OK);
  const char *copy = hilo_eval_new_from(&e, iota, &in, 0, &kept);
  assert_ptr_not_equal(copy, in.data);
  assert_memory_equal(copy, in.data, 32);
  e.dying = 1;
  assert_ptr_equal(hilo_eval_new_from(&e, iota, &in, 0, &taken), in.data);
  hilo_value_release(&e, &in);
  hilo_value_release(&e, &kept);
  assert_int_equal(heap.live, 32);
  hilo_value_release(&e, &taken);
  assert_int_equal(heap.live, 0);
  assert_null(heap.first);
  assert_int_equal(heap.peak, 64);
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
      TEST(all_pairs_of_s8),
      TEST(all_pairs_of_u8),
      TEST(all_s8_and_u8_alone),
      TEST(corners_of_wide_integers),
      TEST(sub_byte_integers_wrap_at_their_width),
      TEST(preds_are_logic),
      TEST(functions_are_within_one_ulp),
      TEST(arithmetic_is_numpys),
      TEST(corners_of_floats),
      TEST(total_order_tells_all_floats_apart),
      TEST(floats_saturate_as_integers),
      TEST(integers_become_floats_in_one_rounding),
      TEST(integers_wrap),
      TEST(precision_is_reduced_as_by_a_real_format),
      TEST(bits_are_kept_by_bitcasts),
      TEST(elements_are_moved),
      TEST(values_are_made),
      TEST(choices),
      TEST(tuples_hold_values),
      TEST(what_is_beyond_is_refused),
      TEST(an_operand_nobody_reads_again_is_reused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
