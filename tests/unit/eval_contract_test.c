/* dot, ragged-dot, scaled-dot and convolution over random dimension numbers and all element types,
 * against their definitions summed up element by element in 64-bit integers. Operands hold small
 * integers, so that sums are exact and results rounded once are the only right ones. */
#include "eval/eval_parts.h"
#include "eval_random_support.h"

#include <math.h>

/* ---- numbers ---- */

typedef struct {
  int64_t re, im;
} number;

/* A tensor and the numbers in it. */
typedef struct {
  tensor t;
  number *v;
} numbered;

static int64_t small_number(eval_fixture *f, hilo_etype etype) {
  const hilo_etype_class class = hilo_etype_class_of(etype);
  const unsigned bits = hilo_etype_table[etype].bits;
  if (class == HILO_CLASS_PRED || etype == HILO_U1) return rand_in(f, 0, 1);
  if (etype == HILO_S1) return rand_in(f, -1, 0);
  if (etype == HILO_F8E8M0FNU) return 1 << rand_in(f, 0, 2); /* powers of two only */
  if (class == HILO_CLASS_UNSIGNED) return rand_in(f, 0, bits == 2 ? 3 : 5);
  return rand_in(f, bits == 2 ? -2 : -3, bits == 2 ? 1 : 3);
}

static hilo_etype part_etype(hilo_etype etype) {
  return etype == HILO_C64 ? HILO_F32 : etype == HILO_C128 ? HILO_F64 : etype;
}

/* x as an element of this type. */
static void store_number(hilo_etype etype, number x, char *to) {
  const hilo_etype part = part_etype(etype);
  hilo_eval_convert_elements(HILO_S64, part, (const char *)&x.re, 1, to);
  if (part != etype)
    hilo_eval_convert_elements(HILO_S64, part, (const char *)&x.im, 1, to + hilo_etype_bytes(part));
}

static numbered rand_numbers(eval_fixture *f, hilo_etype etype, const int64_t *dims,
                             uint32_t rank) {
  numbered x = {.t = {.etype = etype, .rank = rank}};
  memcpy(x.t.dims, dims, rank * sizeof(int64_t));
  tensor_alloc(f, &x.t);
  const int64_t n = tensor_count(&x.t);
  x.v = HILO_NEW_ZEROED(&f->arena, number, n + 1);
  /* As many parts as there are, at once. */
  const bool is_complex = hilo_etype_is_complex(etype);
  int64_t *parts = HILO_NEW_ARRAY(&f->arena, int64_t, 2 * (size_t)n + 1);
  for (int64_t k = 0; k < n; k++) {
    x.v[k].re = small_number(f, etype);
    if (is_complex) x.v[k].im = small_number(f, etype);
    parts[is_complex ? 2 * k : k] = x.v[k].re;
    if (is_complex) parts[2 * k + 1] = x.v[k].im;
  }
  hilo_eval_convert_elements(HILO_S64, part_etype(etype), (const char *)parts,
                             (uint64_t)(is_complex ? 2 * n : n), x.t.data);
  return x;
}

static number plus_times(number sum, number a, number b) {
  sum.re += a.re * b.re - a.im * b.im;
  sum.im += a.re * b.im + a.im * b.re;
  return sum;
}

static void expect_number(hilo_etype etype, number x, const char *got, int64_t k) {
  char expected[16];
  if (etype == HILO_PRED) x.re = x.re != 0;
  store_number(etype, x, expected);
  if (memcmp(got + k * hilo_etype_bytes(etype), expected, hilo_etype_bytes(etype)) != 0)
    fail_msg("element %lld of %s differs from %lld", (long long)k, hilo_etype_table[etype].hlo,
             (long long)x.re);
}

/* Operands and result that go together. */
static void rand_etypes(eval_fixture *f, int at, hilo_etype types[3]) {
  static const hilo_etype mixed[][3] = {
      {HILO_S8, HILO_S8, HILO_S32},          {HILO_S8, HILO_U8, HILO_S32},
      {HILO_U4, HILO_S4, HILO_S16},          {HILO_S32, HILO_S32, HILO_S64},
      {HILO_BF16, HILO_BF16, HILO_F32},      {HILO_F8E4M3FN, HILO_F8E5M2, HILO_F32},
      {HILO_F8E4M3FN, HILO_BF16, HILO_BF16}, {HILO_F16, HILO_F32, HILO_F64},
      {HILO_S8, HILO_BF16, HILO_F32},        {HILO_S8, HILO_S8, HILO_F32},
      {HILO_F32, HILO_C64, HILO_C64},        {HILO_C64, HILO_C64, HILO_C128},
      {HILO_PRED, HILO_S8, HILO_S32}};
  static const hilo_etype same[] = {
      HILO_PRED,      HILO_S1,         HILO_S2,       HILO_S4,         HILO_S8,
      HILO_S16,       HILO_S32,        HILO_S64,      HILO_U1,         HILO_U2,
      HILO_U4,        HILO_U8,         HILO_U16,      HILO_U32,        HILO_U64,
      HILO_F4E2M1FN,  HILO_F6E2M3FN,   HILO_F6E3M2FN, HILO_F8E3M4,     HILO_F8E4M3,
      HILO_F8E4M3FN,  HILO_F8E4M3FNUZ, HILO_F8E5M2,   HILO_F8E5M2FNUZ, HILO_F8E4M3B11FNUZ,
      HILO_F8E8M0FNU, HILO_F16,        HILO_BF16,     HILO_F32,        HILO_F64,
      HILO_C64,       HILO_C128};
  (void)f;
  const size_t n = HILO_COUNT(same) + HILO_COUNT(mixed), k = (size_t)at % n;
  for (uint32_t j = 0; j < 3; j++)
    types[j] = k < HILO_COUNT(same) ? same[k] : mixed[k - HILO_COUNT(same)][j];
}

/* ---- dot ---- */

typedef struct {
  uint32_t n_batch, n_k, n_outer[2], rank[2];
  int64_t batch[2][8], k[2][8], outer[2][8]; /* dimensions, by side */
  int64_t batch_size[8], k_size[8], outer_size[2][8], dims[2][16], result[24];
  uint32_t result_rank;
} dot_numbers;

static void rand_dot(eval_fixture *f, dot_numbers *d, int64_t most) {
  d->n_batch = (uint32_t)rand_in(f, 0, 2), d->n_k = (uint32_t)rand_in(f, 0, 2);
  const int64_t least = rand_once_in(f, 30) ? 0 : 1;
  for (uint32_t b = 0; b < d->n_batch; b++) d->batch_size[b] = rand_in(f, least, 3);
  for (uint32_t b = 0; b < d->n_k; b++) d->k_size[b] = rand_in(f, least, most);
  d->result_rank = 0;
  for (uint32_t b = 0; b < d->n_batch; b++) d->result[d->result_rank++] = d->batch_size[b];
  for (uint32_t s = 0; s < 2; s++) {
    d->n_outer[s] = (uint32_t)rand_in(f, 0, 2);
    d->rank[s] = d->n_batch + d->n_k + d->n_outer[s];
    int64_t order[16];
    rand_subset(f, d->rank[s], d->rank[s], rand_once_in(f, 2), order);
    memcpy(d->batch[s], order, d->n_batch * sizeof(int64_t));
    memcpy(d->k[s], order + d->n_batch, d->n_k * sizeof(int64_t));
    memcpy(d->outer[s], order + d->n_batch + d->n_k, d->n_outer[s] * sizeof(int64_t));
    qsort(d->outer[s], d->n_outer[s], sizeof(int64_t), compare_i64);
    for (uint32_t b = 0; b < d->n_batch; b++) d->dims[s][d->batch[s][b]] = d->batch_size[b];
    for (uint32_t b = 0; b < d->n_k; b++) d->dims[s][d->k[s][b]] = d->k_size[b];
    for (uint32_t b = 0; b < d->n_outer[s]; b++) {
      d->outer_size[s][b] = rand_in(f, least, most);
      d->dims[s][d->outer[s][b]] = d->outer_size[s][b];
      d->result[d->result_rank++] = d->outer_size[s][b];
    }
  }
}

static number dot_element(const dot_numbers *d, const numbered *x, const int64_t *index) {
  int64_t k[8], at[2][16], n_k = 1;
  for (uint32_t b = 0; b < d->n_k; b++) n_k *= d->k_size[b];
  number sum = {0};
  for (int64_t j = 0; j < n_k; j++) {
    index_of(d->k_size, d->n_k, j, k);
    const int64_t *r = index + d->n_batch;
    for (uint32_t s = 0; s < 2; s++) {
      for (uint32_t b = 0; b < d->n_batch; b++) at[s][d->batch[s][b]] = index[b];
      for (uint32_t b = 0; b < d->n_outer[s]; b++) at[s][d->outer[s][b]] = *r++;
      for (uint32_t b = 0; b < d->n_k; b++) at[s][d->k[s][b]] = k[b];
    }
    sum = plus_times(sum, x[0].v[place_of(d->dims[0], d->rank[0], at[0])],
                     x[1].v[place_of(d->dims[1], d->rank[1], at[1])]);
  }
  return sum;
}

static hilo_dot_attrs dot_attrs(const dot_numbers *d) {
  return (hilo_dot_attrs){.lhs_batch = {d->batch[0], d->n_batch},
                          .rhs_batch = {d->batch[1], d->n_batch},
                          .lhs_contracting = {d->k[0], d->n_k},
                          .rhs_contracting = {d->k[1], d->n_k}};
}

static void dots(void **state) {
  eval_fixture *f = *state;
  for (int c = 0; c < 900; c++) {
    eval_renew(f);
    dot_numbers d = {0};
    hilo_etype types[3];
    rand_dot(f, &d, c % 9 == 0 ? 11 : 4);
    rand_etypes(f, c, types);
    numbered x[2];
    hilo_value args[2];
    for (uint32_t s = 0; s < 2; s++) {
      x[s] = rand_numbers(f, types[s], d.dims[s], d.rank[s]);
      args[s] = tensor_value(f, &x[s].t);
    }
    const hilo_dot_attrs attrs = dot_attrs(&d);
    const hilo_type to =
        hilo_type_array(&f->m->types, types[2], (hilo_dims){d.result, d.result_rank});
    const char *got = eval_op(f, HILO_OP_DOT, hilo_dot_put(&f->m->records, &attrs).ix, to, args, 2);
    int64_t n = 1, index[24];
    for (uint32_t r = 0; r < d.result_rank; r++) n *= d.result[r];
    for (int64_t k = 0; k < n; k++) {
      index_of(d.result, d.result_rank, k, index);
      expect_number(types[2], dot_element(&d, x, index), got, k);
    }
  }
}

/* Beyond the tiles in every direction, and not multiples of them. */
static void large_dots(void **state) {
  eval_fixture *f = *state;
  static const hilo_etype types[] = {HILO_F32, HILO_F64, HILO_S32, HILO_S64, HILO_C64};
  static const int64_t sizes[][3] = {{130, 261, 300}, {1, 700, 513}, {515, 1, 300}, {3, 5, 1000}};
  for (size_t c = 0; c < HILO_COUNT(types) * HILO_COUNT(sizes); c++) {
    eval_renew(f);
    const int64_t *size = sizes[c % HILO_COUNT(sizes)], m = size[0], n = size[1], depth = size[2];
    const hilo_etype etype = types[c / HILO_COUNT(sizes)];
    const bool flips = c % 3 == 0; /* the left side as [k, m] */
    const numbered a =
        rand_numbers(f, etype, flips ? (int64_t[]){depth, m} : (int64_t[]){m, depth}, 2);
    const numbered b = rand_numbers(f, etype, (int64_t[]){depth, n}, 2);
    const hilo_value args[2] = {tensor_value(f, &a.t), tensor_value(f, &b.t)};
    const hilo_dot_attrs attrs = {.lhs_contracting = flips ? HILO_DIMS_OF(0) : HILO_DIMS_OF(1),
                                  .rhs_contracting = HILO_DIMS_OF(0)};
    const hilo_type to = hilo_type_array(&f->m->types, etype, HILO_DIMS_OF(m, n));
    const char *got = eval_op(f, HILO_OP_DOT, hilo_dot_put(&f->m->records, &attrs).ix, to, args, 2);
    for (int64_t i = 0; i < m; i++)
      for (int64_t j = 0; j < n; j += 1 + (int64_t)(rand64(f) % 50)) {
        number sum = {0};
        for (int64_t k = 0; k < depth; k++)
          sum = plus_times(sum, a.v[flips ? k * m + i : i * depth + k], b.v[k * n + j]);
        expect_number(etype, sum, got, i * n + j);
      }
  }
}

/* Not integers: f32 is as near to the sum as blocks of f32 are, f64 likewise; integers wrap. */
static void dots_of_any_numbers(void **state) {
  eval_fixture *f = *state;
  enum { N = 777 };
  float a32[N], b32[N];
  double a64[N], b64[N];
  int32_t ai[N], bi[N];
  long double sum32 = 0, sum64 = 0, size32 = 0, size64 = 0;
  uint32_t sum_i = 0;
  for (int k = 0; k < N; k++) {
    a64[k] = (double)rand_in(f, -1000000, 1000000) / 777777;
    b64[k] = (double)rand_in(f, -1000000, 1000000) / 333333;
    a32[k] = (float)a64[k], b32[k] = (float)b64[k];
    ai[k] = (int32_t)rand64(f), bi[k] = (int32_t)rand64(f);
    sum32 += (long double)a32[k] * (long double)b32[k];
    size32 += fabsl((long double)a32[k] * (long double)b32[k]);
    sum64 += (long double)a64[k] * (long double)b64[k];
    size64 += fabsl((long double)a64[k] * (long double)b64[k]);
    sum_i += (uint32_t)ai[k] * (uint32_t)bi[k];
  }
  const hilo_dot_attrs attrs = {.lhs_contracting = HILO_DIMS_OF(0),
                                .rhs_contracting = HILO_DIMS_OF(0)};
  const uint32_t attr = hilo_dot_put(&f->m->records, &attrs).ix;
  hilo_value args[2] = {{.type = type_of(f->m, "f32[777]"), .data = (const char *)a32},
                        {.type = type_of(f->m, "f32[777]"), .data = (const char *)b32}};
  float r32;
  memcpy(&r32, eval_op(f, HILO_OP_DOT, attr, type_of(f->m, "f32[]"), args, 2), 4);
  assert_true(fabsl((long double)r32 - sum32) < 1e-7L * size32);
  args[0] = (hilo_value){.type = type_of(f->m, "f64[777]"), .data = (const char *)a64};
  args[1] = (hilo_value){.type = type_of(f->m, "f64[777]"), .data = (const char *)b64};
  double r64;
  memcpy(&r64, eval_op(f, HILO_OP_DOT, attr, type_of(f->m, "f64[]"), args, 2), 8);
  assert_true(fabsl((long double)r64 - sum64) < 1e-13L * size64);
  args[0] = (hilo_value){.type = type_of(f->m, "s32[777]"), .data = (const char *)ai};
  args[1] = (hilo_value){.type = type_of(f->m, "s32[777]"), .data = (const char *)bi};
  uint32_t ri;
  memcpy(&ri, eval_op(f, HILO_OP_DOT, attr, type_of(f->m, "s32[]"), args, 2), 4);
  assert_int_equal(ri, sum_i);
}

static void dots_that_are_refused(void **state) {
  eval_fixture *f = *state;
  const hilo_value args[2] = {{.type = type_of(f->m, "f32[0,2]"), .data = ""},
                              {.type = type_of(f->m, "f32[4]"), .data = ""}};
  const hilo_dot_attrs attrs = {.lhs_contracting = HILO_DIMS_OF(1),
                                .rhs_contracting = HILO_DIMS_OF(0),
                                .sparsity = HILO_DIMS_OF(1, 0, 1, 2, 4)};
  const hilo_comp none = {0};
  hilo_value out;
  assert_int_equal(try_eval_op(f, HILO_OP_DOT, hilo_dot_put(&f->m->records, &attrs).ix,
                               type_of(f->m, "f32[0]"), args, 2, none, &out),
                   HILO_LIMIT_ERROR);
}

/* A block of 32 f32 terms is summed up as f32; blocks are summed up in double. */
static void f32_sums_go_by_blocks(void **state) {
  eval_fixture *f = *state;
  float a[64], b[64];
  for (int k = 0; k < 64; k++) a[k] = k == 0 ? 16777216 : k < 32 ? 1 : 0.5f, b[k] = 1;
  const hilo_value args[2] = {{.type = type_of(f->m, "f32[64]"), .data = (const char *)a},
                              {.type = type_of(f->m, "f32[64]"), .data = (const char *)b}};
  const hilo_dot_attrs attrs = {.lhs_contracting = HILO_DIMS_OF(0),
                                .rhs_contracting = HILO_DIMS_OF(0)};
  float r;
  memcpy(&r,
         eval_op(f, HILO_OP_DOT, hilo_dot_put(&f->m->records, &attrs).ix, type_of(f->m, "f32[]"),
                 args, 2),
         4);
  assert_true(r == 16777216 + 16); /* the ones are lost, the halves are not */
}

/* ---- scaled-dot ---- */

static void scaled_dots(void **state) {
  eval_fixture *f = *state;
  static const hilo_etype types[] = {HILO_F8E4M3FN, HILO_F8E5M2, HILO_F4E2M1FN, HILO_BF16};
  for (int c = 0; c < 200; c++) {
    eval_renew(f);
    dot_numbers d = {0};
    rand_dot(f, &d, 6);
    numbered x[4], scaled[2];
    hilo_value args[4];
    for (uint32_t s = 0; s < 2; s++) {
      x[s] = rand_numbers(f, types[rand64(f) % HILO_COUNT(types)], d.dims[s], d.rank[s]);
      int64_t blocks[16], at[16];
      const uint32_t rank = rand_once_in(f, 5) ? 0 : d.rank[s];
      for (uint32_t k = 0; k < rank; k++) {
        blocks[k] = d.dims[s][k];
        if (blocks[k] % 2 == 0 && blocks[k] && rand_once_in(f, 2)) blocks[k] /= 2;
        if (blocks[k] && rand_once_in(f, 4)) blocks[k] = 1;
      }
      x[2 + s] = rand_numbers(f, HILO_F8E8M0FNU, blocks, rank);
      scaled[s] = x[s];
      const int64_t n = tensor_count(&x[s].t);
      scaled[s].v = HILO_NEW_ZEROED(&f->arena, number, n + 1);
      for (int64_t k = 0; k < n; k++) {
        index_of(d.dims[s], d.rank[s], k, at);
        for (uint32_t b = 0; b < rank; b++) at[b] = at[b] * blocks[b] / d.dims[s][b];
        scaled[s].v[k].re = x[s].v[k].re * x[2 + s].v[place_of(blocks, rank, at)].re;
      }
      args[s] = tensor_value(f, &x[s].t);
      args[2 + s] = tensor_value(f, &x[2 + s].t);
    }
    const hilo_dot_attrs attrs = dot_attrs(&d);
    const hilo_type to =
        hilo_type_array(&f->m->types, HILO_F32, (hilo_dims){d.result, d.result_rank});
    const char *got =
        eval_op(f, HILO_OP_SCALED_DOT, hilo_dot_put(&f->m->records, &attrs).ix, to, args, 4);
    int64_t n = 1, index[24];
    for (uint32_t r = 0; r < d.result_rank; r++) n *= d.result[r];
    for (int64_t k = 0; k < n; k++) {
      index_of(d.result, d.result_rank, k, index);
      expect_number(HILO_F32, dot_element(&d, scaled, index), got, k);
    }
  }
}

/* ---- ragged-dot: as a dense product over groups that masks what is in none ---- */

/* Which group is place x of the ragged dimension in? -1: none. Negative sizes count as 0. */
static int64_t group_of(const int64_t *sizes, int64_t n_groups, int64_t x) {
  int64_t end = 0;
  for (int64_t g = 0; g < n_groups; g++)
    if (x < (end += sizes[g] < 0 ? 0 : sizes[g])) return g;
  return -1;
}

typedef enum { RAGGED_ROWS, RAGGED_CONTRACTING, RAGGED_BATCH } ragged_mode;

/* lhs [b, p, r, q, k] with r ragged among rows (or [b, m, p, r, q]), rhs [g, b, k, n] or
 * [b, p, r, q, n]; sizes [b, p, g] or [g]. */
static void ragged_case(eval_fixture *f, ragged_mode mode, bool has_lists) {
  const int64_t b = rand_in(f, 1, 2), p = rand_in(f, 1, 3), r = rand_in(f, 1, 7);
  const int64_t q = rand_in(f, 1, 2), g = rand_in(f, 1, 4), o = rand_in(f, 1, 3);
  const int64_t n = rand_in(f, 1, 4);
  const bool is_rows = mode == RAGGED_ROWS;
  const int64_t lhs_rows[5] = {b, p, r, q, o}, lhs_k[5] = {b, o, p, r, q};
  const int64_t rhs_rows[4] = {b, o, g, n}, rhs_k[5] = {b, p, r, q, n};
  const numbered lhs = rand_numbers(f, HILO_F32, is_rows ? lhs_rows : lhs_k, 5);
  const numbered rhs =
      is_rows ? rand_numbers(f, HILO_F32, rhs_rows, 4) : rand_numbers(f, HILO_F32, rhs_k, 5);
  const int64_t lists[3] = {b, p, g};
  tensor sizes = {.etype = HILO_S64, .rank = has_lists ? 3 : 1};
  memcpy(sizes.dims, has_lists ? lists : lists + 2, sizes.rank * sizeof(int64_t));
  tensor_alloc(f, &sizes);
  int64_t *size = (int64_t *)(void *)sizes.data;
  for (int64_t k = 0; k < tensor_count(&sizes); k++) size[k] = rand_in(f, -1, 4);
  const hilo_value args[3] = {tensor_value(f, &lhs.t), tensor_value(f, &rhs.t),
                              tensor_value(f, &sizes)};
  const hilo_dot_attrs rows = {.lhs_batch = HILO_DIMS_OF(0),
                               .rhs_batch = HILO_DIMS_OF(0),
                               .lhs_contracting = HILO_DIMS_OF(4),
                               .rhs_contracting = HILO_DIMS_OF(1),
                               .lhs_ragged = HILO_DIMS_OF(2),
                               .rhs_group = HILO_DIMS_OF(2)};
  const hilo_dot_attrs contracting = {.lhs_batch = HILO_DIMS_OF(0),
                                      .rhs_batch = HILO_DIMS_OF(0),
                                      .lhs_contracting = HILO_DIMS_OF(2, 3, 4),
                                      .rhs_contracting = HILO_DIMS_OF(1, 2, 3),
                                      .lhs_ragged =
                                          mode == RAGGED_BATCH ? HILO_DIMS_OF(0) : HILO_DIMS_OF(3)};
  const hilo_type to =
      is_rows                ? hilo_type_array(&f->m->types, HILO_F32, HILO_DIMS_OF(b, p, r, q, n))
      : mode == RAGGED_BATCH ? hilo_type_array(&f->m->types, HILO_F32, HILO_DIMS_OF(b, o, n))
                             : hilo_type_array(&f->m->types, HILO_F32, HILO_DIMS_OF(g, b, o, n));
  const uint32_t attr = hilo_dot_put(&f->m->records, is_rows ? &rows : &contracting).ix;
  const char *got = eval_op(f, HILO_OP_RAGGED_DOT, attr, to, args, 3);
  int64_t result[5], index[5];
  const hilo_dims dims = hilo_type_dims(&f->m->types, to);
  memcpy(result, dims.v, dims.n * sizeof(int64_t));
  const int64_t total = (int64_t)hilo_type_row_of(&f->m->types, to)->n_elements;
  for (int64_t at = 0; at < total; at++) {
    index_of(result, dims.n, at, index);
    number sum = {0};
    if (is_rows) {
      const int64_t *list = size + (has_lists ? (index[0] * p + index[1]) * g : 0);
      const int64_t group = group_of(list, g, index[2]);
      for (int64_t k = 0; group >= 0 && k < o; k++)
        sum = plus_times(sum, lhs.v[(at / n) * o + k],
                         rhs.v[((index[0] * o + k) * g + group) * n + index[4]]);
    } else {
      const int64_t *i = mode == RAGGED_BATCH ? index : index + 1;
      for (int64_t k = 0; k < p * r * q; k++) {
        const int64_t *list = size + (has_lists ? (i[0] * p + k / (r * q)) * g : 0);
        if (mode == RAGGED_CONTRACTING && group_of(list, g, k / q % r) != index[0]) continue;
        sum = plus_times(sum, lhs.v[(i[0] * o + i[1]) * p * r * q + k],
                         rhs.v[(i[0] * p * r * q + k) * n + i[2]]);
      }
    }
    expect_number(HILO_F32, sum, got, at);
  }
}

static void ragged_dots(void **state) {
  eval_fixture *f = *state;
  for (int c = 0; c < 300; c++) {
    eval_renew(f);
    const ragged_mode mode = (ragged_mode)(c % 3);
    ragged_case(f, mode, mode != RAGGED_BATCH && c % 2);
  }
}

/* ---- convolution ---- */

typedef struct {
  uint32_t rank;
  int64_t images, features, outputs, batch_groups, feature_groups;
  int64_t in[4], kernel[4], out[4];
  int64_t stride[4], low[4], high[4], window_dilation[4], base_dilation[4], reversal[4];
  int64_t in_order[6], kernel_order[6],
      out_order[6]; /* batch, feature, spatial: dimension numbers */
  int64_t in_dims[6], kernel_dims[6], out_dims[6];
} conv_numbers;

static int64_t dilated(int64_t size, int64_t by) { return size ? (size - 1) * by + 1 : 0; }

static void rand_conv(eval_fixture *f, conv_numbers *c) {
  c->rank = (uint32_t)rand_in(f, 0, 3);
  c->batch_groups = c->feature_groups = 1;
  if (rand_once_in(f, 3))
    c->feature_groups = rand_in(f, 1, 3);
  else if (rand_once_in(f, 3))
    c->batch_groups = rand_in(f, 1, 3);
  const int64_t groups = c->batch_groups * c->feature_groups;
  c->images = c->batch_groups * rand_in(f, 1, 2);
  c->features = c->feature_groups * rand_in(f, 1, 3);
  c->outputs = groups * rand_in(f, 1, 3);
  for (uint32_t d = 0; d < c->rank; d++) {
    do {
      c->in[d] = rand_once_in(f, 30) ? 0 : rand_in(f, 1, 6);
      c->kernel[d] = rand_in(f, 1, 3);
      c->stride[d] = rand_in(f, 1, 3);
      c->low[d] = rand_in(f, -2, 3), c->high[d] = rand_in(f, -2, 3);
      c->window_dilation[d] = rand_in(f, 1, 3), c->base_dilation[d] = rand_in(f, 1, 3);
      c->reversal[d] = rand_in(f, 0, 1);
      const int64_t room = dilated(c->in[d], c->base_dilation[d]) + c->low[d] + c->high[d] -
                           dilated(c->kernel[d], c->window_dilation[d]);
      c->out[d] = room < 0 ? 0 : room / c->stride[d] + 1;
    } while (c->out[d] == 0 && !rand_once_in(f, 10));
  }
  int64_t *orders[3] = {c->in_order, c->kernel_order, c->out_order};
  int64_t *dims[3] = {c->in_dims, c->kernel_dims, c->out_dims};
  const int64_t *spatial[3] = {c->in, c->kernel, c->out};
  const int64_t firsts[3][2] = {{c->images, c->features},
                                {c->features / c->feature_groups, c->outputs},
                                {c->images / c->batch_groups, c->outputs}};
  for (int k = 0; k < 3; k++) {
    rand_subset(f, c->rank + 2, c->rank + 2, false, orders[k]);
    dims[k][orders[k][0]] = firsts[k][0], dims[k][orders[k][1]] = firsts[k][1];
    for (uint32_t d = 0; d < c->rank; d++) dims[k][orders[k][2 + d]] = spatial[k][d];
  }
}

/* Sum over the kernel's elements; which input element one meets is searched for. */
static number conv_element(const conv_numbers *c, const numbered *x, const int64_t *index) {
  int64_t k_index[6], in_index[6], n_kernel = 1;
  for (uint32_t d = 0; d < c->rank + 2; d++) n_kernel *= c->kernel_dims[d];
  const int64_t image = index[c->out_order[0]], output = index[c->out_order[1]];
  const int64_t per_batch_group = c->outputs / c->batch_groups;
  const int64_t per_feature_group = c->outputs / c->feature_groups;
  number sum = {0};
  for (int64_t k = 0; k < n_kernel; k++) {
    index_of(c->kernel_dims, c->rank + 2, k, k_index);
    if (k_index[c->kernel_order[1]] != output) continue;
    in_index[c->in_order[0]] = image + output / per_batch_group * (c->images / c->batch_groups);
    in_index[c->in_order[1]] = k_index[c->kernel_order[0]] +
                               output / per_feature_group * (c->features / c->feature_groups);
    bool is_there = true;
    for (uint32_t d = 0; d < c->rank; d++) {
      int64_t place = k_index[c->kernel_order[2 + d]];
      if (c->reversal[d]) place = c->kernel[d] - 1 - place;
      const int64_t at = index[c->out_order[2 + d]] * c->stride[d] + place * c->window_dilation[d];
      int64_t found = -1;
      for (int64_t j = 0; j < c->in[d]; j++)
        if (j * c->base_dilation[d] + c->low[d] == at) found = j;
      in_index[c->in_order[2 + d]] = found;
      is_there &= found >= 0;
    }
    if (is_there)
      sum = plus_times(sum, x[0].v[place_of(c->in_dims, c->rank + 2, in_index)], x[1].v[k]);
  }
  return sum;
}

static uint32_t conv_attr(eval_fixture *f, const conv_numbers *c) {
  const uint32_t n = c->rank;
  const hilo_window_attrs window = {.size = {c->kernel, n},
                                    .stride = {c->stride, n},
                                    .pad_low = {c->low, n},
                                    .pad_high = {c->high, n},
                                    .window_dilation = {c->window_dilation, n},
                                    .base_dilation = {c->base_dilation, n},
                                    .reversal = {c->reversal, n}};
  const hilo_conv_dims_attrs dims = {.input_batch = c->in_order[0],
                                     .input_feature = c->in_order[1],
                                     .input_spatial = {c->in_order + 2, n},
                                     .kernel_input_feature = c->kernel_order[0],
                                     .kernel_output_feature = c->kernel_order[1],
                                     .kernel_spatial = {c->kernel_order + 2, n},
                                     .output_batch = c->out_order[0],
                                     .output_feature = c->out_order[1],
                                     .output_spatial = {c->out_order + 2, n}};
  const hilo_conv_attrs attrs = {.window = hilo_window_put(&f->m->records, &window),
                                 .dim_numbers = hilo_conv_dims_put(&f->m->records, &dims),
                                 .feature_group_count = c->feature_groups,
                                 .batch_group_count = c->batch_groups};
  return hilo_conv_put(&f->m->records, &attrs).ix;
}

static void check_conv(eval_fixture *f, const conv_numbers *c, const hilo_etype types[3]) {
  const uint32_t rank = c->rank + 2;
  const numbered x[2] = {rand_numbers(f, types[0], c->in_dims, rank),
                         rand_numbers(f, types[1], c->kernel_dims, rank)};
  const hilo_value args[2] = {tensor_value(f, &x[0].t), tensor_value(f, &x[1].t)};
  const hilo_type to = hilo_type_array(&f->m->types, types[2], (hilo_dims){c->out_dims, rank});
  const char *got = eval_op(f, HILO_OP_CONVOLUTION, conv_attr(f, c), to, args, 2);
  int64_t n = 1, index[6];
  for (uint32_t d = 0; d < rank; d++) n *= c->out_dims[d];
  for (int64_t k = 0; k<n; k += n> 2000 ? rand_in(f, 1, 50) : 1) {
    index_of(c->out_dims, rank, k, index);
    expect_number(types[2], conv_element(c, x, index), got, k);
  }
}

static void convolutions(void **state) {
  eval_fixture *f = *state;
  for (int k = 0; k < 900; k++) {
    eval_renew(f);
    conv_numbers c = {0};
    hilo_etype types[3];
    rand_conv(f, &c);
    rand_etypes(f, k, types);
    check_conv(f, &c, types);
  }
}

/* More rows, columns and terms than a tile has. */
static void large_convolutions(void **state) {
  eval_fixture *f = *state;
  static const hilo_etype types[3] = {HILO_F32, HILO_F32, HILO_F32};
  conv_numbers c = {.rank = 2,
                    .images = 1,
                    .features = 37,
                    .outputs = 5,
                    .batch_groups = 1,
                    .feature_groups = 1,
                    .in = {13, 12},
                    .kernel = {3, 3},
                    .out = {13, 12},
                    .stride = {1, 1},
                    .low = {1, 1},
                    .high = {1, 1},
                    .window_dilation = {1, 1},
                    .base_dilation = {1, 1},
                    .in_order = {0, 3, 1, 2},
                    .kernel_order = {2, 3, 0, 1},
                    .out_order = {0, 3, 1, 2},
                    .in_dims = {1, 13, 12, 37},
                    .kernel_dims = {3, 3, 37, 5},
                    .out_dims = {1, 13, 12, 5}};
  check_conv(f, &c, types);
  c.outputs = 270, c.out_dims[3] = 270, c.kernel_dims[3] = 270;
  c.in[0] = 2, c.in_dims[1] = 2, c.out[0] = 2, c.out_dims[1] = 2;
  check_conv(f, &c, types);
}

/* Images of 11 MB of terms each: two at a time, then one, for either group of the batch. */
static void convolutions_of_many_images(void **state) {
  eval_fixture *f = *state;
  static const hilo_etype types[3] = {HILO_C64, HILO_C64, HILO_C64};
  const conv_numbers c = {.rank = 2,
                          .images = 6,
                          .features = 1,
                          .outputs = 2,
                          .batch_groups = 2,
                          .feature_groups = 1,
                          .in = {700, 1000},
                          .kernel = {2, 1},
                          .out = {699, 1000},
                          .stride = {1, 1},
                          .window_dilation = {1, 1},
                          .base_dilation = {1, 1},
                          .in_order = {3, 0, 1, 2},
                          .kernel_order = {0, 1, 2, 3},
                          .out_order = {0, 1, 2, 3},
                          .in_dims = {1, 700, 1000, 6},
                          .kernel_dims = {1, 2, 2, 1},
                          .out_dims = {3, 2, 699, 1000}};
  check_conv(f, &c, types);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(dots, set_up, tear_down),
      cmocka_unit_test_setup_teardown(large_dots, set_up, tear_down),
      cmocka_unit_test_setup_teardown(dots_of_any_numbers, set_up, tear_down),
      cmocka_unit_test_setup_teardown(f32_sums_go_by_blocks, set_up, tear_down),
      cmocka_unit_test_setup_teardown(dots_that_are_refused, set_up, tear_down),
      cmocka_unit_test_setup_teardown(scaled_dots, set_up, tear_down),
      cmocka_unit_test_setup_teardown(ragged_dots, set_up, tear_down),
      cmocka_unit_test_setup_teardown(convolutions, set_up, tear_down),
      cmocka_unit_test_setup_teardown(large_convolutions, set_up, tear_down),
      cmocka_unit_test_setup_teardown(convolutions_of_many_images, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
