/* The LAPACK routines of lapack.h. Computed in long double, rounded once.
 *
 * Where a factorisation is not unique, LAPACK's choice is taken: getrf's pivot is the first entry
 * of largest |re| + |im|, the reflectors of geqrf give a diagonal of the sign opposite to the
 * entry's. The signs of eigenvectors are nobody's choice; here an eigenvector's largest entry is
 * positive. */
#include "eval/numeric/lapack.h"

#include "eval/numeric/linear_algebra.h"

/* ---- a call: its operands and options ---- */

typedef struct {
  const hilo_eval *e;
  hilo_inst inst;
  const hilo_value *args;
  hilo_value *out;     /* the whole result */
  hilo_value *results; /* its elements, or itself */
  uint32_t n_results;
  hilo_etype etype;              /* of the matrices */
  uint64_t batch, rows, columns; /* of the first operand */
} call;

/* `key = 78 : ui8` in the dictionary of the backend config: the number; 0 without it. */
static int option(const call *c, const char *key) {
  const hilo_string config = hilo_inst_extra(c->e->m, c->inst).backend_config;
  const hilo_str text = hilo_string_of(c->e->m, config);
  const size_t length = strlen(key);
  for (size_t at = 0; at + length < text.n; at++) {
    const bool starts = at == 0 || memchr(" {,", text.p[at - 1], 3) != NULL;
    if (!starts || memcmp(text.p + at, key, length) != 0) continue;
    size_t p = at + length;
    while (p < text.n && (text.p[p] == ' ' || text.p[p] == '=')) p++;
    int number = 0;
    for (; p < text.n && text.p[p] >= '0' && text.p[p] <= '9' && number < 1000; p++)
      number = number * 10 + (text.p[p] - '0');
    return number;
  }
  return 0;
}

static hilo_status refuse(const call *c, const char *what) {
  return hilo_eval_refuse(c->e, c->inst, what);
}

/* Results of these element types, in this number: made, for the routine to fill. */
static bool open_results(call *c, uint32_t n) {
  const hilo_store *types = &c->e->m->types;
  const bool is_tuple = hilo_type_is_tuple(types, c->out->type);
  const hilo_type type = c->out->type;
  if ((is_tuple ? hilo_type_n_elements_of_tuple(types, type) : 1) != n) {
    (void)refuse(c, "it does not have the results of its routine");
    return false;
  }
  c->n_results = n;
  c->results = is_tuple ? hilo_eval_new_tuple(c->e, c->inst, n, c->out) : c->out;
  if (!c->results) return false;
  for (uint32_t k = 0; k < n; k++) {
    if (is_tuple) c->results[k].type = hilo_type_element(types, type, k);
    if (!hilo_eval_new_array(c->e, c->inst, &c->results[k])) return false;
  }
  return true;
}

/* Result k has this element type and this many elements. */
static bool expects(const call *c, uint32_t k, hilo_etype etype, uint64_t n) {
  return hilo_value_etype(c->e, &c->results[k]) == etype &&
         hilo_value_n_elements(c->e, &c->results[k]) == n;
}

/* The bytes of result k, which this call made. */
static char *bytes_of(const call *c, uint32_t k) { return hilo_buffer_bytes(c->results[k].owner); }

static void set_info(const call *c, uint32_t k, uint64_t batch, uint64_t info) {
  const int32_t value = (int32_t)info;
  memcpy(bytes_of(c, k) + batch * sizeof(value), &value, sizeof(value));
}

static uint64_t matrix_size(const call *c) { return c->rows * c->columns; }

static void load_matrix(const call *c, uint64_t batch, hilo_wide *a) {
  for (uint64_t k = 0; k < matrix_size(c); k++)
    a[k] = hilo_wide_load(c->etype, c->args[0].data, batch * matrix_size(c) + k);
}
static void store_matrix(const call *c, uint64_t batch, const hilo_wide *a) {
  for (uint64_t k = 0; k < matrix_size(c); k++)
    hilo_wide_store(c->etype, bytes_of(c, 0), batch * matrix_size(c) + k, a[k]);
}

/* ---- potrf ---- */

static hilo_status potrf(call *c) {
  const uint64_t n = c->rows;
  if (!open_results(c, 2)) return HILO_LIMIT_ERROR;
  if (c->columns != n || !expects(c, 0, c->etype, c->batch * n * n) ||
      !expects(c, 1, HILO_S32, c->batch))
    return refuse(c, "its shapes are not those of potrf");
  hilo_wide *a = hilo_matrix_new(c->e, c->inst, n, n);
  if (!a) return HILO_LIMIT_ERROR;
  const bool is_lower = option(c, "uplo") == 'L';
  memcpy(bytes_of(c, 0), c->args[0].data, c->batch * n * n * hilo_etype_bytes(c->etype));
  for (uint64_t batch = 0; batch < c->batch; batch++) {
    hilo_triangle_load(c->etype, c->args[0].data, batch * n * n, n, is_lower, a);
    set_info(c, 1, batch, hilo_cholesky(a, n));
    hilo_triangle_store(c->etype, a, n, is_lower, bytes_of(c, 0), batch * n * n);
  }
  return HILO_OK;
}

/* ---- trsm ---- */

static hilo_status trsm(call *c) {
  const hilo_value *b = &c->args[1];
  const hilo_dims dims = hilo_type_dims(&c->e->m->types, b->type);
  const bool is_left = option(c, "side") == 'L';
  if (!open_results(c, 1)) return HILO_LIMIT_ERROR;
  if (dims.n < 2 || c->rows != c->columns ||
      (uint64_t)dims.v[is_left ? dims.n - 2 : dims.n - 1] != c->rows ||
      !expects(c, 0, hilo_value_etype(c->e, b), hilo_value_n_elements(c->e, b)))
    return refuse(c, "its shapes are not those of trsm");
  const int form = option(c, "trans_x");
  const hilo_solve solve = {
      .is_left = is_left,
      .is_lower = option(c, "uplo") == 'L',
      .has_unit_diagonal = option(c, "diag") == 'U',
      .is_transposed = form == 'T' || form == 'C',
      .is_conjugated = form == 'C',
  };
  return hilo_triangular_solve(c->e, c->inst, &solve, &c->args[0], b, bytes_of(c, 0));
}

/* ---- getrf ---- */

static long double size_of(hilo_wide x) { return fabsl(x.re) + fabsl(x.im); }

/* In place; pivots are rows, counted from 1. The first zero pivot, counted from 1, or 0. */
static uint64_t factor_lu(hilo_wide *a, uint64_t rows, uint64_t columns, int32_t *pivots) {
  uint64_t info = 0;
  const uint64_t steps = rows < columns ? rows : columns;
  for (uint64_t j = 0; j < steps; j++) {
    uint64_t pivot = j;
    for (uint64_t r = j + 1; r < rows; r++)
      if (size_of(a[r * columns + j]) > size_of(a[pivot * columns + j])) pivot = r;
    pivots[j] = (int32_t)(pivot + 1);
    for (uint64_t k = 0; pivot != j && k < columns; k++) {
      const hilo_wide swap = a[j * columns + k];
      a[j * columns + k] = a[pivot * columns + k], a[pivot * columns + k] = swap;
    }
    const hilo_wide *top = a + j * columns;
    if (size_of(top[j]) == 0) {
      if (!info) info = j + 1;
      continue;
    }
    for (uint64_t r = j + 1; r < rows; r++) {
      hilo_wide *row = a + r * columns;
      row[j] = hilo_wide_divide(row[j], top[j]);
      for (uint64_t k = j + 1; k < columns; k++)
        row[k] = hilo_wide_subtract(row[k], hilo_wide_multiply(row[j], top[k]));
    }
  }
  return info;
}

static hilo_status getrf(call *c) {
  const uint64_t steps = c->rows < c->columns ? c->rows : c->columns;
  if (!open_results(c, 3)) return HILO_LIMIT_ERROR;
  if (!expects(c, 0, c->etype, c->batch * matrix_size(c)) ||
      !expects(c, 1, HILO_S32, c->batch * steps) || !expects(c, 2, HILO_S32, c->batch))
    return refuse(c, "its shapes are not those of getrf");
  hilo_wide *a = hilo_matrix_new(c->e, c->inst, c->rows, c->columns);
  if (!a) return HILO_LIMIT_ERROR;
  int32_t *pivots = (int32_t *)(void *)bytes_of(c, 1);
  for (uint64_t batch = 0; batch < c->batch; batch++) {
    load_matrix(c, batch, a);
    set_info(c, 2, batch, factor_lu(a, c->rows, c->columns, pivots + batch * steps));
    store_matrix(c, batch, a);
  }
  return HILO_OK;
}

/* ---- geqrf, orgqr, ungqr: reflectors I - tau v v*, v's first entry being 1 ---- */

/* Make the reflector that takes column j below the diagonal to zero: v in its place, tau. */
static hilo_wide reflector(hilo_wide *a, uint64_t rows, uint64_t columns, uint64_t j) {
  hilo_wide *first = a + j * columns + j;
  long double below = 0;
  for (uint64_t r = j + 1; r < rows; r++) below += hilo_wide_square(a[r * columns + j]);
  if (below == 0 && first->im == 0) return (hilo_wide){0, 0};
  const long double norm = sqrtl(below + hilo_wide_square(*first));
  const long double beta = signbit(first->re) ? norm : -norm;
  const hilo_wide tau = {(beta - first->re) / beta, -first->im / beta};
  const hilo_wide divisor = {first->re - beta, first->im};
  for (uint64_t r = j + 1; r < rows; r++)
    a[r * columns + j] = hilo_wide_divide(a[r * columns + j], divisor);
  *first = (hilo_wide){beta, 0};
  return tau;
}

/* Columns from `from` on of x become (I - tau v v*) of them; v stands in column j of a. */
static void reflect(const hilo_wide *a, uint64_t rows, uint64_t columns, uint64_t j, hilo_wide tau,
                    hilo_wide *x, uint64_t from) {
  for (uint64_t k = from; k < columns; k++) {
    hilo_wide dot = x[j * columns + k];
    for (uint64_t r = j + 1; r < rows; r++)
      dot = hilo_wide_add(
          dot, hilo_wide_multiply(hilo_wide_conjugate(a[r * columns + j]), x[r * columns + k]));
    dot = hilo_wide_multiply(tau, dot);
    x[j * columns + k] = hilo_wide_subtract(x[j * columns + k], dot);
    for (uint64_t r = j + 1; r < rows; r++)
      x[r * columns + k] =
          hilo_wide_subtract(x[r * columns + k], hilo_wide_multiply(a[r * columns + j], dot));
  }
}

static hilo_status geqrf(call *c) {
  const uint64_t steps = c->rows < c->columns ? c->rows : c->columns;
  if (!open_results(c, 2)) return HILO_LIMIT_ERROR;
  if (!expects(c, 0, c->etype, c->batch * matrix_size(c)) ||
      !expects(c, 1, c->etype, c->batch * steps))
    return refuse(c, "its shapes are not those of geqrf");
  hilo_wide *a = hilo_matrix_new(c->e, c->inst, c->rows, c->columns);
  if (!a) return HILO_LIMIT_ERROR;
  for (uint64_t batch = 0; batch < c->batch; batch++) {
    load_matrix(c, batch, a);
    for (uint64_t j = 0; j < steps; j++) {
      const hilo_wide tau = reflector(a, c->rows, c->columns, j);
      reflect(a, c->rows, c->columns, j, hilo_wide_conjugate(tau), a, j + 1);
      hilo_wide_store(c->etype, bytes_of(c, 1), batch * steps + j, tau);
    }
    store_matrix(c, batch, a);
  }
  return HILO_OK;
}

/* The first columns of the product of the reflectors. */
static hilo_status orgqr(call *c) {
  const hilo_dims taus = hilo_type_dims(&c->e->m->types, c->args[1].type);
  if (!open_results(c, 1)) return HILO_LIMIT_ERROR;
  const uint64_t steps = taus.n ? (uint64_t)taus.v[taus.n - 1] : 0;
  if (!expects(c, 0, c->etype, c->batch * matrix_size(c)) || c->columns > c->rows ||
      steps > c->columns || hilo_value_n_elements(c->e, &c->args[1]) != c->batch * steps ||
      hilo_value_etype(c->e, &c->args[1]) != c->etype)
    return refuse(c, "its shapes are not those of orgqr");
  hilo_wide *a = hilo_matrix_new(c->e, c->inst, c->rows, c->columns);
  hilo_wide *q = hilo_matrix_new(c->e, c->inst, c->rows, c->columns);
  if (!a || !q) return HILO_LIMIT_ERROR;
  for (uint64_t batch = 0; batch < c->batch; batch++) {
    load_matrix(c, batch, a);
    for (uint64_t k = 0; k < matrix_size(c); k++)
      q[k] = (hilo_wide){k / c->columns == k % c->columns, 0};
    for (uint64_t j = steps; j-- > 0;)
      reflect(a, c->rows, c->columns, j,
              hilo_wide_load(c->etype, c->args[1].data, batch * steps + j), q, 0);
    store_matrix(c, batch, q);
  }
  return HILO_OK;
}

/* ---- syevd, heevd: by Jacobi ---- */

/* Rotate so that a[p][q] becomes zero; v gathers the rotations. a is Hermitian, all of it held. */
static void rotate(hilo_wide *a, hilo_wide *v, uint64_t n, uint64_t p, uint64_t q) {
  const hilo_wide x = a[p * n + q];
  const long double size = sqrtl(hilo_wide_square(x));
  if (size == 0) return;
  const hilo_wide phase = {x.re / size, x.im / size};
  const long double theta = (a[q * n + q].re - a[p * n + p].re) / (2 * size);
  const long double t = (theta < 0 ? -1 : 1) / (fabsl(theta) + sqrtl(theta * theta + 1));
  const long double cosine = 1 / sqrtl(t * t + 1), sine = t * cosine;
  const hilo_wide s = hilo_wide_scale(phase, sine), s_conjugate = hilo_wide_conjugate(s);
  for (uint64_t k = 0; k < n; k++) { /* columns: p takes c p - s* q, q takes s p + c q */
    for (int m = 0; m < 2; m++) {
      hilo_wide *row = (m ? v : a) + k * n;
      const hilo_wide at_p = row[p], at_q = row[q];
      row[p] =
          hilo_wide_subtract(hilo_wide_scale(at_p, cosine), hilo_wide_multiply(s_conjugate, at_q));
      row[q] = hilo_wide_add(hilo_wide_multiply(s, at_p), hilo_wide_scale(at_q, cosine));
    }
  }
  for (uint64_t k = 0; k < n; k++) {
    const hilo_wide at_p = a[p * n + k], at_q = a[q * n + k];
    a[p * n + k] = hilo_wide_subtract(hilo_wide_scale(at_p, cosine), hilo_wide_multiply(s, at_q));
    a[q * n + k] =
        hilo_wide_add(hilo_wide_multiply(s_conjugate, at_p), hilo_wide_scale(at_q, cosine));
  }
  a[p * n + q] = a[q * n + p] = (hilo_wide){0, 0};
}

enum { MAX_SWEEPS = 60 };

/* False if it does not converge, as with NaN. */
static bool diagonalise(hilo_wide *a, hilo_wide *v, uint64_t n) {
  for (uint64_t k = 0; k < n * n; k++) v[k] = (hilo_wide){k / n == k % n, 0};
  for (int sweep = 0; sweep < MAX_SWEEPS; sweep++) {
    long double off = 0, all = 0;
    for (uint64_t k = 0; k < n * n; k++) {
      all += hilo_wide_square(a[k]);
      if (k / n != k % n) off += hilo_wide_square(a[k]);
    }
    if (!isfinite(all)) return false;
    if (off <= all * 0x1p-124L) return true;
    for (uint64_t p = 0; p < n; p++)
      for (uint64_t q = p + 1; q < n; q++) rotate(a, v, n, p, q);
  }
  return false;
}

/* Column k of v, its largest entry made positive, as column `to` of result 0. */
static void store_eigenvector(const call *c, const hilo_wide *v, uint64_t n, uint64_t k,
                              uint64_t first, uint64_t to) {
  uint64_t largest = 0;
  for (uint64_t r = 1; r < n; r++)
    if (hilo_wide_square(v[r * n + k]) > hilo_wide_square(v[largest * n + k]) * (1 + 1e-9L))
      largest = r;
  const hilo_wide x = v[largest * n + k];
  const long double size = sqrtl(hilo_wide_square(x));
  const hilo_wide phase = {x.re / size, -x.im / size};
  for (uint64_t r = 0; r < n; r++)
    hilo_wide_store(c->etype, bytes_of(c, 0), first + r * n + to,
                    hilo_wide_multiply(v[r * n + k], phase));
}

/* Eigenvalues ascending, ties in the order found. */
static void store_eigen(const call *c, const hilo_wide *a, const hilo_wide *v, uint64_t n,
                        uint64_t batch, hilo_etype real) {
  const bool has_vectors = option(c, "mode") == 'V';
  for (uint64_t k = 0; k < n; k++) {
    const long double value = a[k * n + k].re;
    uint64_t place = 0;
    for (uint64_t other = 0; other < n; other++) {
      const long double than = a[other * n + other].re;
      place += than < value || (than == value && other < k);
    }
    hilo_wide_store(real, bytes_of(c, 1), batch * n + place, (hilo_wide){value, 0});
    if (has_vectors) store_eigenvector(c, v, n, k, batch * n * n, place);
  }
}

static void store_nan(const call *c, uint64_t n, uint64_t batch, hilo_etype real) {
  for (uint64_t k = 0; k < n; k++)
    hilo_wide_store(real, bytes_of(c, 1), batch * n + k, (hilo_wide){NAN, 0});
}

static hilo_status syevd(call *c) {
  const uint64_t n = c->rows;
  const hilo_etype real = c->etype == HILO_C64    ? HILO_F32
                          : c->etype == HILO_C128 ? HILO_F64
                                                  : c->etype;
  if (!open_results(c, 3)) return HILO_LIMIT_ERROR;
  if (c->columns != n || !expects(c, 0, c->etype, c->batch * n * n) ||
      !expects(c, 1, real, c->batch * n) || !expects(c, 2, HILO_S32, c->batch))
    return refuse(c, "its shapes are not those of syevd");
  hilo_wide *a = hilo_matrix_new(c->e, c->inst, n, n), *v = hilo_matrix_new(c->e, c->inst, n, n);
  if (!a || !v) return HILO_LIMIT_ERROR;
  const bool is_lower = option(c, "uplo") == 'L';
  memcpy(bytes_of(c, 0), c->args[0].data, c->batch * n * n * hilo_etype_bytes(c->etype));
  for (uint64_t batch = 0; batch < c->batch; batch++) {
    hilo_triangle_load(c->etype, c->args[0].data, batch * n * n, n, is_lower, a);
    for (uint64_t r = 0; r < n; r++) {
      a[r * n + r].im = 0;
      for (uint64_t k = r + 1; k < n; k++) a[r * n + k] = hilo_wide_conjugate(a[k * n + r]);
    }
    const bool is_done = diagonalise(a, v, n);
    set_info(c, 2, batch, is_done ? 0 : 1);
    if (is_done)
      store_eigen(c, a, v, n, batch, real);
    else
      store_nan(c, n, batch, real);
  }
  return HILO_OK;
}

/* ---- by name ---- */

static const struct {
  const char *name;
  const char *types;
  uint32_t n_operands;
  hilo_status (*run)(call *c);
} routines[] = {
    {"potrf", "sdcz", 1, potrf}, {"trsm", "sdcz", 2, trsm}, {"getrf", "sdcz", 1, getrf},
    {"geqrf", "sdcz", 1, geqrf}, {"orgqr", "sd", 2, orgqr}, {"ungqr", "cz", 2, orgqr},
    {"syevd", "sd", 1, syevd},   {"heevd", "cz", 1, syevd},
};

bool hilo_lapack_has_name(hilo_str target) {
  return target.n > 7 && memcmp(target.p, "lapack_", 7) == 0;
}

static hilo_etype etype_of_letter(char letter) {
  switch (letter) {
  case 's': return HILO_F32;
  case 'd': return HILO_F64;
  case 'c': return HILO_C64;
  case 'z': return HILO_C128;
  default: return HILO_INVALID;
  }
}

hilo_status hilo_lapack_call(const hilo_eval *e, hilo_inst i, hilo_str target,
                             const hilo_value *args, hilo_value *out) {
  static const char none[] = "of LAPACK's routines there are potrf, trsm, getrf, geqrf, orgqr, "
                             "ungqr, syevd and heevd, as `lapack_<type><routine>_ffi`";
  call c = {.e = e, .inst = i, .args = args, .out = out};
  for (size_t k = 0; k < HILO_COUNT(routines); k++) {
    const size_t n = strlen(routines[k].name);
    if (target.n != 8 + n + 4 || memcmp(target.p + 8, routines[k].name, n) != 0 ||
        memcmp(target.p + 8 + n, "_ffi", 4) != 0 || !strchr(routines[k].types, target.p[7]))
      continue;
    const uint32_t n_operands = hilo_inst_n_operands(e->m, i);
    const hilo_etype etype = etype_of_letter(target.p[7]);
    if (n_operands != routines[k].n_operands || !hilo_type_is_array(&e->m->types, args[0].type) ||
        hilo_value_etype(e, &args[0]) != etype)
      return hilo_eval_refuse(e, i, "its operands are not those of its routine");
    const hilo_dims dims = hilo_type_dims(&e->m->types, args[0].type);
    if (dims.n < 2) return hilo_eval_refuse(e, i, "its operand is not a matrix");
    c.etype = etype;
    c.rows = (uint64_t)dims.v[dims.n - 2], c.columns = (uint64_t)dims.v[dims.n - 1];
    c.batch = 1;
    for (uint32_t d = 0; d < dims.n - 2; d++) c.batch *= (uint64_t)dims.v[d];
    return routines[k].run(&c);
  }
  return hilo_eval_refuse(e, i, none);
}
