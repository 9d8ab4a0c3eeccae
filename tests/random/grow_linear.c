/* Steps: products of arrays, factorisations, transforms, batch norms. */
#include "grow.h"

#include <math.h>

/* The results of these are compared with tolerances that grow with the sums: moderate operands. */
static grown moderate(grower *g, scope *s, hilo_etype etype, hilo_dims dims) {
  for (uint32_t k = 0; k < 3; k++) {
    const grown v = take_like(g, s, etype, dims, false);
    if (v.size <= 20 || !g->is_tame) return v;
  }
  return (grown){constant_of(g, s, etype, dims), 3, true, true};
}

static double sum_size(const grower *g, hilo_etype etype, double a, double b, double n) {
  (void)g;
  return hilo_etype_is_integer(etype) ? a * b * n : a * b * sqrt(n + 1);
}

static hilo_etype product_etype(grower *g) {
  static const hilo_etype types[] = {HILO_F32, HILO_F32, HILO_F32, HILO_BF16, HILO_F16,
                                     HILO_F64, HILO_S32, HILO_S8,  HILO_C64,  HILO_U8};
  return types[below(g, HILO_COUNT(types))];
}

void step_dot(grower *g, scope *s) {
  const hilo_etype etype = product_etype(g);
  const uint32_t n_batch = below(g, 2),
                 n_contracting = (uint32_t)between(g, chance(g, 10) ? 0 : 1, 2);
  const uint32_t lhs_free = below(g, 2 + (n_batch == 0)), rhs_free = below(g, 2);
  const uint32_t lhs_rank = n_batch + n_contracting + lhs_free;
  const uint32_t rhs_rank = n_batch + n_contracting + rhs_free;
  const int64_t *lhs_order = random_order(g, lhs_rank), *rhs_order = random_order(g, rhs_rank);
  int64_t *lhs = HILO_NEW_ARRAY(g->arena, int64_t, lhs_rank + 1);
  int64_t *rhs = HILO_NEW_ARRAY(g->arena, int64_t, rhs_rank + 1);
  double n_terms = 1;
  for (uint32_t k = 0; k < lhs_rank; k++) lhs[lhs_order[k]] = between(g, 1, 4);
  for (uint32_t k = 0; k < rhs_rank; k++) rhs[rhs_order[k]] = between(g, 1, 4);
  for (uint32_t k = 0; k < n_batch + n_contracting; k++) {
    rhs[rhs_order[k]] = lhs[lhs_order[k]];
    if (k >= n_batch) n_terms *= (double)lhs[lhs_order[k]];
  }
  const grown x = moderate(g, s, etype, (hilo_dims){lhs, lhs_rank});
  const grown y = moderate(g, s, etype, (hilo_dims){rhs, rhs_rank});
  const hilo_dot_attrs attrs = {.lhs_batch = {lhs_order, n_batch},
                                .lhs_contracting = {lhs_order + n_batch, n_contracting},
                                .rhs_batch = {rhs_order, n_batch},
                                .rhs_contracting = {rhs_order + n_batch, n_contracting}};
  hilo_etype to = etype;
  if (chance(g, 30) && (etype == HILO_BF16 || etype == HILO_F16)) to = HILO_F32;
  if (chance(g, 30) && etype == HILO_S8) to = HILO_S32;
  const hilo_inst i =
      put_simple(g, s, HILO_OP_DOT, hilo_type_scalar(&g->m->types, to),
                 (const hilo_inst[]){x.i, y.i}, 2, hilo_dot_put(&g->m->records, &attrs).ix);
  (void)keep(g, s, i, sum_size(g, etype, x.size, y.size, n_terms),
             hilo_etype_is_integer(etype) && x.is_exact && y.is_exact,
             x.is_uniform && y.is_uniform);
}

void step_convolution(grower *g, scope *s) {
  const hilo_etype etype = chance(g, 70) ? HILO_F32 : product_etype(g);
  const uint32_t n = (uint32_t)between(g, 1, 2), rank = n + 2;
  const int64_t groups = chance(g, 25) ? 2 : 1;
  const bool by_batch = groups > 1 && chance(g, 50);
  const int64_t *in = random_order(g, rank), *kernel = random_order(g, rank),
                *out = random_order(g, rank);
  int64_t *lhs = HILO_NEW_ARRAY(g->arena, int64_t, rank),
          *rhs = HILO_NEW_ARRAY(g->arena, int64_t, rank);
  int64_t w[7][MAX_RANK];
  const int64_t features = between(g, 1, 2);
  double n_terms = (double)features;
  lhs[in[0]] = (by_batch ? groups : 1) * between(g, 1, 2);
  lhs[in[1]] = (by_batch ? 1 : groups) * features;
  rhs[kernel[0]] = features;
  rhs[kernel[1]] = groups * between(g, 1, 2);
  for (uint32_t k = 0; k < n; k++) {
    lhs[in[k + 2]] = between(g, 3, 5);
    rhs[kernel[k + 2]] = w[0][k] = between(g, 1, 3);
    w[1][k] = chance(g, 70) ? 1 : 2;
    w[2][k] = between(g, 0, 2);
    w[3][k] = chance(g, 10) ? -1 : between(g, 0, 2);
    w[4][k] = chance(g, 80) ? 1 : 2;
    w[5][k] = chance(g, 80) ? 1 : 2;
    w[6][k] = chance(g, 85) ? 0 : 1;
    n_terms *= (double)w[0][k];
  }
  const grown x = moderate(g, s, etype, (hilo_dims){lhs, rank});
  const grown y = moderate(g, s, etype, (hilo_dims){rhs, rank});
  const hilo_window_attrs window = {{w[0], n}, {w[1], n}, {w[2], n}, {w[3], n},
                                    {w[4], n}, {w[5], n}, {w[6], n}};
  const hilo_conv_dims_attrs dims = {.input_batch = in[0],
                                     .input_feature = in[1],
                                     .input_spatial = {in + 2, n},
                                     .kernel_input_feature = kernel[0],
                                     .kernel_output_feature = kernel[1],
                                     .kernel_spatial = {kernel + 2, n},
                                     .output_batch = out[0],
                                     .output_feature = out[1],
                                     .output_spatial = {out + 2, n}};
  const hilo_conv_attrs attrs = {.window = hilo_window_put(&g->m->records, &window),
                                 .dim_numbers = hilo_conv_dims_put(&g->m->records, &dims),
                                 .feature_group_count = by_batch ? 1 : groups,
                                 .batch_group_count = by_batch ? groups : 1};
  const hilo_inst i =
      put_simple(g, s, HILO_OP_CONVOLUTION, hilo_type_scalar(&g->m->types, etype),
                 (const hilo_inst[]){x.i, y.i}, 2, hilo_conv_put(&g->m->records, &attrs).ix);
  (void)keep(g, s, i, sum_size(g, etype, x.size, y.size, n_terms),
             hilo_etype_is_integer(etype) && x.is_exact && y.is_exact,
             x.is_uniform && y.is_uniform);
}

/* A constant matrix with a large diagonal. */
static hilo_inst dominant(grower *g, scope *s, hilo_etype etype, int64_t n) {
  const hilo_dims dims = {copy_dims(g, HILO_DIMS_OF(n, n)), 2};
  const hilo_type type = array_of(g, etype, dims);
  const hilo_type ints = array_of(g, HILO_S32, dims);
  const hilo_inst rows = put_simple(g, s, HILO_OP_IOTA, ints, NULL, 0, 0);
  const hilo_inst columns = put_simple(g, s, HILO_OP_IOTA, ints, NULL, 0, 1);
  const hilo_inst on =
      put_simple(g, s, HILO_OP_COMPARE, HILO_TYPE_NONE, (const hilo_inst[]){rows, columns}, 2,
                 hilo_compare_put(&g->m->records, &(hilo_compare_attrs){0}).ix);
  (void)type;
  const hilo_inst both[] = {on, splat(g, s, etype, dims, 4), splat(g, s, etype, dims, 0.25)};
  return put_simple(g, s, HILO_OP_SELECT, HILO_TYPE_NONE, both, 3, 0);
}

void step_cholesky(grower *g, scope *s) {
  const hilo_etype etype = chance(g, 70) ? HILO_F32 : HILO_F64;
  const hilo_linalg_attrs attrs = {.lower = chance(g, 50)};
  const hilo_inst a = dominant(g, s, etype, between(g, 1, 4));
  const hilo_inst i = put_simple(g, s, HILO_OP_CHOLESKY, HILO_TYPE_NONE, &a, 1,
                                 hilo_linalg_put(&g->m->records, &attrs).ix);
  /* What the other triangle holds is not specified: only the valid one goes on. */
  const hilo_dims dims = dims_of(g, i);
  const hilo_type ints = array_of(g, HILO_S32, dims);
  const hilo_inst rows = put_simple(g, s, HILO_OP_IOTA, ints, NULL, 0, 0);
  const hilo_inst columns = put_simple(g, s, HILO_OP_IOTA, ints, NULL, 0, 1);
  const hilo_compare_attrs at = {.direction = attrs.lower ? HILO_GE : HILO_LE};
  const hilo_inst valid =
      put_simple(g, s, HILO_OP_COMPARE, HILO_TYPE_NONE, (const hilo_inst[]){rows, columns}, 2,
                 hilo_compare_put(&g->m->records, &at).ix);
  const hilo_inst both[] = {valid, i, splat(g, s, etype, dims, 0)};
  (void)keep(g, s, put_simple(g, s, HILO_OP_SELECT, HILO_TYPE_NONE, both, 3, 0), 4, false, true);
}

void step_triangular_solve(grower *g, scope *s) {
  const hilo_etype etype = chance(g, 70) ? HILO_F32 : HILO_F64;
  const int64_t n = between(g, 1, 4), m = between(g, 1, 4);
  const hilo_linalg_attrs attrs = {.left_side = chance(g, 50),
                                   .lower = chance(g, 50),
                                   .unit_diagonal = chance(g, 20),
                                   .transpose_a = between(g, 1, 3)};
  const hilo_inst a = dominant(g, s, etype, n);
  const grown b = moderate(
      g, s, etype,
      (hilo_dims){copy_dims(g, attrs.left_side ? HILO_DIMS_OF(n, m) : HILO_DIMS_OF(m, n)), 2});
  const hilo_inst i =
      put_simple(g, s, HILO_OP_TRIANGULAR_SOLVE, HILO_TYPE_NONE, (const hilo_inst[]){a, b.i}, 2,
                 hilo_linalg_put(&g->m->records, &attrs).ix);
  (void)keep(g, s, i, 2 * b.size, false, b.is_uniform);
}

void step_fft(grower *g, scope *s) {
  static const hilo_etype types[4] = {HILO_C64, HILO_C64, HILO_F32, HILO_C64};
  const uint32_t type = below(g, 4);
  int64_t *dims = copy_dims(g, random_dims(g, 1, 2));
  const uint32_t rank = dims[0] && chance(g, 50) ? 1 : 1;
  int64_t length = between(g, 1, 8);
  /* The last dimension is the transformed one. */
  dims[rank - 1] = type == 3 ? length / 2 + 1 : length;
  const hilo_fft_attrs attrs = {.type = type, .length = {&length, 1}};
  const grown x = moderate(g, s, types[type], (hilo_dims){dims, rank});
  const hilo_inst i = put_simple(g, s, HILO_OP_FFT, HILO_TYPE_NONE, &x.i, 1,
                                 hilo_fft_put(&g->m->records, &attrs).ix);
  (void)keep(g, s, i, x.size * (double)length, false, x.is_uniform);
}

void step_batch_norm(grower *g, scope *s) {
  const hilo_etype etype = chance(g, 70) ? HILO_F32 : chance(g, 50) ? HILO_F64 : HILO_BF16;
  const hilo_dims dims = random_dims(g, 2, MAX_RANK);
  const uint32_t feature = below(g, dims.n);
  if (n_elements(dims) == 0) return;
  const hilo_dims features = {copy_dims(g, HILO_DIMS_OF(dims.v[feature])), 1};
  const hilo_batch_norm_attrs attrs = {.epsilon = 0.125f, .feature_index = feature};
  const uint32_t attr = hilo_batch_norm_put(&g->m->records, &attrs).ix;
  const uint32_t way = below(g, 3);
  grown from[5] = {moderate(g, s, etype, dims)};
  hilo_inst operands[5] = {from[0].i};
  for (uint32_t k = 1; k < 5; k++) {
    from[k] = moderate(g, s, etype, features);
    operands[k] = from[k].i;
  }
  const bool is_uniform = from[0].is_uniform && from[1].is_uniform && from[2].is_uniform;
  if (way == 0) {
    const hilo_inst i =
        put_simple(g, s, HILO_OP_BATCH_NORM_TRAINING, HILO_TYPE_NONE, operands, 3, attr);
    const grown like[] = {
        {i, 40, false, is_uniform}, {i, 4, false, is_uniform}, {i, 16, false, is_uniform}};
    keep_elements(g, s, i, like, 3);
    return;
  }
  /* A variance is not negative. */
  const uint32_t variance = way == 1 ? 4 : 3;
  const hilo_inst abs = put_simple(g, s, HILO_OP_ABS, HILO_TYPE_NONE, &operands[variance], 1, 0);
  operands[variance] = abs;
  if (way == 1) {
    const hilo_inst i =
        put_simple(g, s, HILO_OP_BATCH_NORM_INFERENCE, HILO_TYPE_NONE, operands, 5, attr);
    (void)keep(g, s, i, 200, false, false);
    return;
  }
  operands[4] = moderate(g, s, etype, dims).i;
  const hilo_inst i = put_simple(g, s, HILO_OP_BATCH_NORM_GRAD, HILO_TYPE_NONE, operands, 5, attr);
  const grown like[] = {{i, 2000, false, false}, {i, 2000, false, false}, {i, 200, false, false}};
  keep_elements(g, s, i, like, 3);
}
