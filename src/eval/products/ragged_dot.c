/* ragged-dot: a dot with one dimension of the left side, the ragged one, cut into groups whose
 * sizes are an operand. What the groups do depends on what the ragged dimension is:
 *
 *   an outer one   [b, m, k], [g, b, k, n] -> [b, m, n]: each group has a right side of its own;
 * rows behind the last group are 0 contracting    [b, m, k], [b, k, n] -> [g, b, m, n]: a result
 * for each group a batch one    a plain dot: the groups say nothing about the result
 *
 * Sizes are a list for all, or one list for each index of the dimensions of the ragged one's kind
 * that stand before it (behind the batch dimensions, where it is none itself). Groups that reach
 * over the end are cut there; negative sizes count as 0. */
#include "eval/movement/indices.h"
#include "eval/products/dot_sides.h"

typedef struct {
  const hilo_eval *e;
  hilo_product product;
  hilo_dot_operand lhs, rhs;
  hilo_dot_side left, right;
  uint64_t before, ragged,
      behind; /* sizes of the ragged dimension's kind: the part is their product
               */
  const int64_t *sizes;
  uint64_t n_groups, n_lists; /* lists of sizes: 1, or batch * before */
  hilo_gemm_room room;
  char *data;
} ragged;

static void find_part(ragged *r, hilo_dot_part part, int64_t dim) {
  r->before = r->behind = 1;
  uint64_t *count = &r->before;
  for (uint32_t k = 0; k < r->left.n[part]; k++) {
    const int64_t d = r->left.dims[part][k];
    if (d == dim)
      count = &r->behind;
    else
      *count *= (uint64_t)r->lhs.dims.v[d];
  }
  r->ragged = (uint64_t)r->lhs.dims.v[dim];
}

/* Where group g begins and ends, for the at-th list (batch index times `before` plus place there).
 */
static void group_range(const ragged *r, uint64_t at, uint64_t g, uint64_t *begin, uint64_t *end) {
  const int64_t *sizes = r->sizes + (r->n_lists == 1 ? 0 : at) * r->n_groups;
  *begin = *end = 0;
  for (uint64_t k = 0; k <= g; k++) {
    *begin = *end;
    const uint64_t size = sizes[k] < 0 ? 0 : (uint64_t)sizes[k], room = r->ragged - *end;
    *end += size < room ? size : room;
  }
}

static void multiply(const ragged *r, const hilo_dense_factor *a, const hilo_dense_factor *b,
                     uint64_t m, uint64_t n, uint64_t k, uint64_t start) {
  const hilo_gemm_job job = {.product = &r->product,
                             .m = m,
                             .n = n,
                             .k = k,
                             .a = hilo_factor_of(a, true),
                             .b = hilo_factor_of(b, true),
                             .data = r->data,
                             .start = start,
                             .step = n};
  hilo_gemm(&job, &r->room);
}

/* The left side as [batch][before][ragged][behind][k], the right one as [batch][group][n][k]: the
 * rows of a group are neighbours. Rows that no group has stay 0. */
static void multiply_rows(ragged *r, hilo_dims group) {
  const uint64_t batches = r->left.count[HILO_DOT_BATCH], depth = r->left.count[HILO_DOT_K];
  const uint64_t n = r->right.count[HILO_DOT_OUTER] / (r->n_groups ? r->n_groups : 1);
  /* The group dimension first among the outer ones. */
  int64_t *outer = r->right.dims[HILO_DOT_OUTER];
  for (uint32_t k = 1; k < r->right.n[HILO_DOT_OUTER]; k++)
    for (uint32_t j = k; j > 0 && outer[j] == group.v[0]; j--)
      outer[j] = outer[j - 1], outer[j - 1] = group.v[0];
  hilo_dense_factor a = {.product = &r->product, .etype = r->lhs.etype, .step = depth};
  hilo_dense_factor b = {.product = &r->product, .etype = r->rhs.etype, .step = depth};
  a.data = hilo_dot_side_load(r->e->scratch, &r->lhs, &r->left, NULL);
  b.data = hilo_dot_side_load(r->e->scratch, &r->rhs, &r->right, NULL);
  for (uint64_t at = 0; at < batches * r->before; at++)
    for (uint64_t g = 0; g < r->n_groups; g++) {
      uint64_t begin, end;
      group_range(r, at, g, &begin, &end);
      const uint64_t row = (at * r->ragged + begin) * r->behind;
      a.start = row * depth;
      b.start = (at / r->before * r->n_groups + g) * n * depth;
      multiply(r, &a, &b, (end - begin) * r->behind, n, depth, row * n);
    }
}

/* The k of one group, packed: of each `outer` the parts before * (begin … end) * behind. */
static uint64_t pack_group(const ragged *r, uint64_t batch, uint64_t g, const char *from,
                           uint32_t size, uint64_t n_outer, char *to) {
  const char *first = to;
  for (uint64_t o = 0; o < n_outer; o++)
    for (uint64_t p = 0; p < r->before; p++) {
      uint64_t begin, end;
      group_range(r, batch * r->before + p, g, &begin, &end);
      const uint64_t at = ((batch * n_outer + o) * r->before + p) * r->ragged + begin;
      const uint64_t bytes = (end - begin) * r->behind * size;
      if (bytes) memcpy(to, from + at * r->behind * size, bytes);
      to += bytes;
    }
  return n_outer ? (uint64_t)(to - first) / n_outer / size : 0;
}

static void multiply_contracted(ragged *r) {
  const uint64_t batches = r->left.count[HILO_DOT_BATCH], depth = r->left.count[HILO_DOT_K];
  const uint64_t m = r->left.count[HILO_DOT_OUTER], n = r->right.count[HILO_DOT_OUTER];
  const uint32_t lhs_size = hilo_etype_bytes(r->lhs.etype),
                 rhs_size = hilo_etype_bytes(r->rhs.etype);
  const char *lhs = hilo_dot_side_load(r->e->scratch, &r->lhs, &r->left, NULL);
  const char *rhs = hilo_dot_side_load(r->e->scratch, &r->rhs, &r->right, NULL);
  char *a_packed = hilo_arena_alloc_array(r->e->scratch, m * depth + 1, lhs_size, 64);
  char *b_packed = hilo_arena_alloc_array(r->e->scratch, n * depth + 1, rhs_size, 64);
  for (uint64_t g = 0; g < r->n_groups; g++)
    for (uint64_t batch = 0; batch < batches; batch++) {
      const uint64_t k = pack_group(r, batch, g, lhs, lhs_size, m, a_packed);
      (void)pack_group(r, batch, g, rhs, rhs_size, n, b_packed);
      const hilo_dense_factor a = {&r->product, r->lhs.etype, a_packed, 0, k};
      const hilo_dense_factor b = {&r->product, r->rhs.etype, b_packed, 0, k};
      multiply(r, &a, &b, m, n, k, (g * batches + batch) * m * n);
    }
}

static void multiply_batches(ragged *r) {
  const uint64_t depth = r->left.count[HILO_DOT_K];
  const uint64_t m = r->left.count[HILO_DOT_OUTER], n = r->right.count[HILO_DOT_OUTER];
  hilo_dense_factor a = {.product = &r->product, .etype = r->lhs.etype, .step = depth};
  hilo_dense_factor b = {.product = &r->product, .etype = r->rhs.etype, .step = depth};
  a.data = hilo_dot_side_load(r->e->scratch, &r->lhs, &r->left, NULL);
  b.data = hilo_dot_side_load(r->e->scratch, &r->rhs, &r->right, NULL);
  for (uint64_t batch = 0; batch < r->left.count[HILO_DOT_BATCH]; batch++) {
    a.start = batch * m * depth;
    b.start = batch * n * depth;
    multiply(r, &a, &b, m, n, depth, batch * m * n);
  }
}

static void load_sizes(ragged *r, const hilo_value *sizes) {
  const uint64_t n = hilo_value_n_elements(r->e, sizes);
  const hilo_dims dims = hilo_type_dims(&r->e->m->types, sizes->type);
  int64_t *all = HILO_NEW_ARRAY(r->e->scratch, int64_t, n + 1);
  hilo_indices_load(hilo_value_etype(r->e, sizes), sizes->data, 0, n, all);
  r->sizes = all;
  r->n_groups = dims.n ? (uint64_t)dims.v[dims.n - 1] : 0;
  r->n_lists = r->n_groups ? n / r->n_groups : 1;
}

hilo_status hilo_eval_op_ragged_dot(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                    hilo_value *out) {
  const hilo_dot_attrs attrs = hilo_attrs(e->m, i, dot);
  const hilo_etype result = hilo_value_etype(e, out);
  ragged r = {.e = e};
  r.lhs = hilo_dot_operand_of(e, &args[0]);
  r.rhs = hilo_dot_operand_of(e, &args[1]);
  if (!hilo_sum_takes(r.lhs.etype, result) || !hilo_sum_takes(r.rhs.etype, result))
    return hilo_eval_refuse(e, i, "products of complex numbers do not give a real result");
  r.product = hilo_product_of(result, r.lhs.etype, r.rhs.etype);
  r.left = hilo_dot_side_of(r.lhs.dims, attrs.lhs_batch, attrs.lhs_contracting);
  r.right = hilo_dot_side_of(r.rhs.dims, attrs.rhs_batch, attrs.rhs_contracting);
  load_sizes(&r, &args[2]);
  r.data = hilo_eval_new_array(e, i, out);
  if (!r.data) return HILO_LIMIT_ERROR;
  memset(r.data, 0, hilo_value_n_elements(e, out) * hilo_etype_bytes(result));
  if (hilo_value_n_elements(e, out) == 0) return HILO_OK;
  r.room = hilo_gemm_room_of(e->scratch, &r.product, r.left.count[HILO_DOT_OUTER],
                             r.right.count[HILO_DOT_OUTER], r.left.count[HILO_DOT_K]);
  const int64_t dim = attrs.lhs_ragged.v[0];
  if (hilo_dims_contain(attrs.lhs_batch, dim)) {
    multiply_batches(&r);
  } else if (hilo_dims_contain(attrs.lhs_contracting, dim)) {
    find_part(&r, HILO_DOT_K, dim);
    multiply_contracted(&r);
  } else {
    find_part(&r, HILO_DOT_OUTER, dim);
    multiply_rows(&r, attrs.rhs_group);
  }
  return HILO_OK;
}
