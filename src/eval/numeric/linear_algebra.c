/* cholesky and triangular-solve, real and complex, on batches of matrices.
 *
 * Computed in long double and rounded once. A matrix that is not positive definite gives NaN
 * everywhere, as XLA does; of the other triangle nothing is read, and the result has zeros there.
 */
#include "eval/numeric/linear_algebra.h"

/* ---- cholesky ---- */

static long double factored_diagonal(const hilo_wide *row, uint64_t j) {
  long double d = row[j].re;
  for (uint64_t k = 0; k < j; k++) d -= hilo_wide_square(row[k]);
  return d;
}

uint64_t hilo_cholesky(hilo_wide *a, uint64_t n) {
  for (uint64_t j = 0; j < n; j++) {
    hilo_wide *row = a + j * n;
    const long double d = factored_diagonal(row, j);
    if (!(d > 0) || isinf(d)) return j + 1;
    row[j] = (hilo_wide){sqrtl(d), 0};
    for (uint64_t i = j + 1; i < n; i++) {
      hilo_wide *other = a + i * n, sum = other[j];
      for (uint64_t k = 0; k < j; k++)
        sum = hilo_wide_subtract(sum, hilo_wide_multiply(other[k], hilo_wide_conjugate(row[k])));
      other[j] = hilo_wide_divide(sum, row[j]);
    }
  }
  return 0;
}

hilo_wide *hilo_matrix_new(const hilo_eval *e, hilo_inst i, uint64_t rows, uint64_t columns) {
  uint64_t elements, bytes;
  if (!hilo_mul_u64(rows, columns, &elements) ||
      !hilo_mul_u64(elements, sizeof(hilo_wide), &bytes) ||
      (e->heap->max && bytes > e->heap->max)) {
    (void)hilo_eval_refuse(e, i, "it needs more memory than the limit");
    return NULL;
  }
  return hilo_arena_alloc(e->scratch, (size_t)bytes, _Alignof(hilo_wide));
}

void hilo_triangle_load(hilo_etype etype, const char *data, uint64_t at, uint64_t n, bool is_lower,
                        hilo_wide *a) {
  for (uint64_t r = 0; r < n; r++)
    for (uint64_t c = 0; c <= r; c++)
      a[r * n + c] = is_lower ? hilo_wide_load(etype, data, at + r * n + c)
                              : hilo_wide_conjugate(hilo_wide_load(etype, data, at + c * n + r));
}

void hilo_triangle_store(hilo_etype etype, const hilo_wide *a, uint64_t n, bool is_lower,
                         char *data, uint64_t at) {
  for (uint64_t r = 0; r < n; r++)
    for (uint64_t c = 0; c <= r; c++) {
      if (is_lower)
        hilo_wide_store(etype, data, at + r * n + c, a[r * n + c]);
      else
        hilo_wide_store(etype, data, at + c * n + r, hilo_wide_conjugate(a[r * n + c]));
    }
}

hilo_status hilo_eval_op_cholesky(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                  hilo_value *out) {
  const hilo_etype etype = hilo_value_etype(e, out);
  const hilo_dims dims = hilo_type_dims(&e->m->types, args[0].type);
  if (!hilo_etype_is_float(etype) && !hilo_etype_is_complex(etype))
    return hilo_eval_refuse(e, i, "its element type is not there");
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  const uint64_t total = hilo_value_n_elements(e, out);
  if (!total) return HILO_OK;
  const uint64_t n = (uint64_t)dims.v[dims.n - 1];
  hilo_wide *a = hilo_matrix_new(e, i, n, n);
  if (!a) return HILO_LIMIT_ERROR;
  const bool is_lower = hilo_attrs(e->m, i, linalg).lower;
  memset(data, 0, total * hilo_etype_bytes(etype)); /* zero in every format but f8e8m0fnu */
  for (uint64_t at = 0; at < total; at += n * n) {
    hilo_triangle_load(etype, args[0].data, at, n, is_lower, a);
    if (hilo_cholesky(a, n) == 0) {
      hilo_triangle_store(etype, a, n, is_lower, data, at);
      continue;
    }
    const hilo_wide nan = {NAN, hilo_etype_is_complex(etype) ? NAN : 0};
    for (uint64_t k = 0; k < n * n; k++) hilo_wide_store(etype, data, at + k, nan);
  }
  return HILO_OK;
}

/* ---- triangular-solve ---- */

/* m x = b for one right-hand side, in place. */
static void substitute(const hilo_wide *m, uint64_t n, bool is_lower, bool has_unit_diagonal,
                       hilo_wide *x) {
  for (uint64_t step = 0; step < n; step++) {
    const uint64_t i = is_lower ? step : n - 1 - step;
    const uint64_t first = is_lower ? 0 : i + 1, last = is_lower ? i : n;
    hilo_wide sum = x[i];
    for (uint64_t k = first; k < last; k++)
      sum = hilo_wide_subtract(sum, hilo_wide_multiply(m[i * n + k], x[k]));
    x[i] = has_unit_diagonal ? sum : hilo_wide_divide(sum, m[i * n + i]);
  }
}

/* X op(A) = B is op(A)^T X^T = B^T, so that all forms are one: a triangular matrix, and the columns
 * (or rows) of B. */
hilo_status hilo_triangular_solve(const hilo_eval *e, hilo_inst i, const hilo_solve *s,
                                  const hilo_value *a, const hilo_value *b, char *data) {
  const hilo_etype etype = hilo_value_etype(e, b);
  const hilo_dims dims = hilo_type_dims(&e->m->types, b->type);
  const uint64_t rows = (uint64_t)dims.v[dims.n - 2], columns = (uint64_t)dims.v[dims.n - 1];
  const uint64_t total = hilo_value_n_elements(e, b);
  if (!total) return HILO_OK;
  const uint64_t n = s->is_left ? rows : columns, n_lines = s->is_left ? columns : rows;
  const uint64_t line_step = s->is_left ? 1 : columns, step = s->is_left ? columns : 1;
  const bool is_turned = s->is_left == s->is_transposed;
  hilo_wide *m = hilo_matrix_new(e, i, n, n), *x = hilo_matrix_new(e, i, n, 1);
  if (!m || !x) return HILO_LIMIT_ERROR;
  for (uint64_t batch = 0; batch < total / (rows * columns); batch++) {
    for (uint64_t r = 0; r < n; r++)
      for (uint64_t c = 0; c < n; c++) {
        if (s->is_lower ? c > r : c < r) continue;
        const hilo_wide v = hilo_wide_load(etype, a->data, batch * n * n + r * n + c);
        m[is_turned ? c * n + r : r * n + c] = s->is_conjugated ? hilo_wide_conjugate(v) : v;
      }
    for (uint64_t line = 0; line < n_lines; line++) {
      const uint64_t at = batch * rows * columns + line * line_step;
      for (uint64_t k = 0; k < n; k++) x[k] = hilo_wide_load(etype, b->data, at + k * step);
      substitute(m, n, s->is_lower != is_turned, s->has_unit_diagonal, x);
      for (uint64_t k = 0; k < n; k++) hilo_wide_store(etype, data, at + k * step, x[k]);
    }
  }
  return HILO_OK;
}

enum { TRANSPOSE = 2, ADJOINT = 3 };

hilo_status hilo_eval_op_triangular_solve(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                          hilo_value *out) {
  const hilo_linalg_attrs attrs = hilo_attrs(e->m, i, linalg);
  const hilo_etype etype = hilo_value_etype(e, out);
  if (!hilo_etype_is_float(etype) && !hilo_etype_is_complex(etype))
    return hilo_eval_refuse(e, i, "its element type is not there");
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  const hilo_solve solve = {
      .is_left = attrs.left_side,
      .is_lower = attrs.lower,
      .has_unit_diagonal = attrs.unit_diagonal,
      .is_transposed = attrs.transpose_a == TRANSPOSE || attrs.transpose_a == ADJOINT,
      .is_conjugated = attrs.transpose_a == ADJOINT,
  };
  return hilo_triangular_solve(e, i, &solve, &args[0], &args[1], data);
}
