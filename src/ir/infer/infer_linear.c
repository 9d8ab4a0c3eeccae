#include "ir/infer/infer_parts.h"

/* Rules of products and linear algebra: dot, ragged and scaled dot, convolution, fft, cholesky,
 * triangular-solve. The element type of a product may be asked for (the declared type): operands of
 * any types, results of any type that is not narrower than integer operands. */

static bool product_etype(hilo_infer *c, const hilo_type_row *lhs, const hilo_type_row *rhs,
                          hilo_etype *out) {
  const uint32_t lhs_bits = hilo_etype_table[lhs->etype].bits;
  const uint32_t rhs_bits = hilo_etype_table[rhs->etype].bits;
  const hilo_etype own = (hilo_etype)(rhs_bits > lhs_bits ? rhs->etype : lhs->etype);
  *out = own;
  if (!c->declared.ix) return true;
  const hilo_type_row *declared = hilo_infer_declared_array(c);
  if (!declared) return false;
  const hilo_etype asked = (hilo_etype)declared->etype;
  if (asked != own && !hilo_etype_is_float(own) &&
      hilo_etype_table[asked].bits < hilo_etype_table[own].bits)
    return hilo_infer_fail(c, HILO_DIAG_EMOD918,
                           "`%s` of %s gives %s, expected a type that is not narrower", op_name(c),
                           etype_name(own), etype_name(asked));
  *out = asked;
  return true;
}

/* ---- dot ---- */

/* Sizes that a sparse operand has only a part of: sparsity lists (type, operand, dimension, n, m),
 * and of m elements n are stored. */
static int64_t full_size(const hilo_dot_attrs *a, uint32_t side, int64_t dimension, int64_t size) {
  for (uint32_t i = 0; i + 4 < a->sparsity.n; i += 5) {
    const int64_t *s = a->sparsity.v + i;
    if (s[1] == side && s[2] == dimension && s[3] > 0 && s[4] > 0 && size % s[3] == 0 &&
        size / s[3] <= INT64_MAX / s[4])
      return size / s[3] * s[4];
  }
  return size;
}

static bool check_pairs(hilo_infer *c, const hilo_dot_attrs *a, hilo_dims lhs, hilo_dims rhs,
                        const char *what) {
  if (lhs.n != rhs.n)
    return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                           "`%s` has %u left and %u right %s dimensions, expected as many",
                           op_name(c), lhs.n, rhs.n, what);
  for (uint32_t i = 0; i < lhs.n; i++) {
    const int64_t l = full_size(a, 0, lhs.v[i], operand_row(c, 0)->items[lhs.v[i]]);
    const int64_t r = full_size(a, 1, rhs.v[i], operand_row(c, 1)->items[rhs.v[i]]);
    if (!same_size(l, r))
      return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                             "%s dimensions %lld of %s and %lld of %s have sizes %lld and %lld, "
                             "expected equal ones",
                             what, (long long)lhs.v[i], hilo_infer_type_text(c, operand_type(c, 0)),
                             (long long)rhs.v[i], hilo_infer_type_text(c, operand_type(c, 1)),
                             (long long)l, (long long)r);
  }
  return true;
}

/* Each dimension is batch, contracting, or neither. */
static bool check_one_use(hilo_infer *c, hilo_dims batch, hilo_dims contracting, uint32_t side) {
  static const char *const names[2][2] = {{"lhs_batch_dims", "lhs_contracting_dims"},
                                          {"rhs_batch_dims", "rhs_contracting_dims"}};
  const int64_t rank = operand_row(c, side)->n;
  if (!hilo_infer_check_dims(c, batch, rank, names[side][0]) ||
      !hilo_infer_check_dims(c, contracting, rank, names[side][1]))
    return false;
  const uint64_t both = dims_mask(batch) & dims_mask(contracting);
  if (both)
    return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                           "dimension %d of operand %u of `%s` stands in %s and %s",
                           __builtin_ctzll(both), side, op_name(c), names[side][0], names[side][1]);
  return true;
}

static bool check_dot(hilo_infer *c, const hilo_dot_attrs *a) {
  return hilo_infer_array_operands(c, 0) && check_one_use(c, a->lhs_batch, a->lhs_contracting, 0) &&
         check_one_use(c, a->rhs_batch, a->rhs_contracting, 1) &&
         check_pairs(c, a, a->lhs_batch, a->rhs_batch, "batch") &&
         check_pairs(c, a, a->lhs_contracting, a->rhs_contracting, "contracting");
}

typedef struct {
  int64_t dims[2 * HILO_MAX_RANK + 1];
  uint64_t dynamic;
  uint32_t n;
} dim_buffer;

static void append_dim(dim_buffer *b, int64_t size, bool dynamic) {
  if (dynamic && b->n < HILO_MAX_RANK) b->dynamic |= 1ull << b->n;
  b->dims[b->n++] = size;
}

static void append_listed(dim_buffer *b, const hilo_type_row *r, hilo_dims list) {
  for (uint32_t i = 0; i < list.n; i++)
    append_dim(b, r->items[list.v[i]], row_dynamic(r) >> list.v[i] & 1);
}

static void append_others(dim_buffer *b, const hilo_type_row *r, uint64_t listed) {
  for (uint32_t i = 0; i < r->n; i++)
    if (!(listed >> i & 1)) append_dim(b, r->items[i], row_dynamic(r) >> i & 1);
}

static bool gives_buffer(hilo_infer *c, hilo_shape *out, hilo_etype etype, const dim_buffer *b) {
  if (!hilo_infer_new_array(c, out, etype, b->n, b->dynamic)) return false;
  if (b->n) memcpy(new_dims(c, out), b->dims, b->n * sizeof(int64_t));
  return true;
}

static bool gives_dot(hilo_infer *c, hilo_shape *out, const hilo_dot_attrs *a) {
  const hilo_type_row *lhs = operand_row(c, 0), *rhs = operand_row(c, 1);
  hilo_etype etype;
  if (!product_etype(c, lhs, rhs, &etype)) return false;
  dim_buffer b;
  b.n = 0, b.dynamic = 0; /* not its dims: they are many */
  append_listed(&b, lhs, a->lhs_batch);
  append_others(&b, lhs, dims_mask(a->lhs_batch) | dims_mask(a->lhs_contracting));
  append_others(&b, rhs, dims_mask(a->rhs_batch) | dims_mask(a->rhs_contracting));
  return gives_buffer(c, out, etype, &b);
}

bool hilo_infer_dot(hilo_infer *c, hilo_shape *out) {
  const hilo_dot_attrs a = hilo_dot_get(&c->m->records, (hilo_record){c->attr});
  const uint32_t expected = 2 + a.sparsity.n / 5;
  if (c->n_operands != expected)
    return hilo_infer_fail(c, HILO_DIAG_EMOD917, "`dot` has %u operands, expected %u",
                           c->n_operands, expected);
  return check_dot(c, &a) && gives_dot(c, out, &a);
}

/* A scale is a scalar, or has the rank of what it scales and divides it. */
bool hilo_infer_scaled_dot(hilo_infer *c, hilo_shape *out) {
  const hilo_dot_attrs a = hilo_dot_get(&c->m->records, (hilo_record){c->attr});
  if (!check_dot(c, &a)) return false;
  for (uint32_t side = 0; side < 2; side++) {
    const hilo_type_row *r = operand_row(c, side), *scale = operand_row(c, side + 2);
    bool fits = scale->n == r->n || scale->n == 0;
    for (uint32_t i = 0; fits && i < scale->n; i++)
      fits = r->items[i] == scale->items[i] ||
             (scale->items[i] > 0 && r->items[i] % scale->items[i] == 0);
    if (!fits)
      return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                             "the scale (operand %u) of `scaled-dot` is %s, expected a scalar or "
                             "dimensions that divide those of %s",
                             side + 2, hilo_infer_type_text(c, operand_type(c, side + 2)),
                             hilo_infer_type_text(c, operand_type(c, side)));
  }
  return gives_dot(c, out, &a);
}

/* ---- ragged dot: the ragged dimension of the left side is cut into groups ---- */

/* The dimensions of the left side that group sizes may be given for separately: those of the ragged
 * one's kind that stand before it, behind the batch dimensions when it is no batch dimension. */
static void append_group_prefix(dim_buffer *b, const hilo_type_row *lhs, const hilo_dot_attrs *a,
                                int64_t ragged) {
  const uint64_t batch = dims_mask(a->lhs_batch), contracting = dims_mask(a->lhs_contracting);
  const hilo_dims list = batch >> ragged & 1 ? a->lhs_batch : a->lhs_contracting;
  if (!(batch >> ragged & 1)) append_listed(b, lhs, a->lhs_batch);
  if ((batch | contracting) >> ragged & 1) {
    for (uint32_t i = 0; i < list.n && list.v[i] != ragged; i++)
      append_dim(b, lhs->items[list.v[i]], false);
  } else {
    for (uint32_t i = 0; i < ragged; i++)
      if (!((batch | contracting) >> i & 1)) append_dim(b, lhs->items[i], false);
  }
}

static bool check_group_sizes(hilo_infer *c, const hilo_dot_attrs *a, int64_t *n_groups) {
  const hilo_type_row *lhs = operand_row(c, 0), *sizes = operand_row(c, 2);
  dim_buffer prefix;
  prefix.n = 0, prefix.dynamic = 0;
  append_group_prefix(&prefix, lhs, a, a->lhs_ragged.v[0]);
  bool fits = hilo_etype_is_integer((hilo_etype)sizes->etype) &&
              (sizes->n == 1 || sizes->n == prefix.n + 1);
  for (uint32_t i = 0; fits && i + 1 < sizes->n; i++)
    fits = same_size(sizes->items[i], prefix.dims[i]);
  if (!fits)
    return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                           "the group sizes of `ragged-dot` are %s, expected integers with the "
                           "dimensions %s and one for the groups",
                           hilo_infer_type_text(c, operand_type(c, 2)),
                           hilo_infer_dims_text(c, (hilo_dims){prefix.dims, prefix.n}));
  *n_groups = sizes->items[sizes->n - 1];
  return true;
}

bool hilo_infer_ragged_dot(hilo_infer *c, hilo_shape *out) {
  const hilo_dot_attrs a = hilo_dot_get(&c->m->records, (hilo_record){c->attr});
  if (!check_dot(c, &a)) return false;
  const hilo_type_row *lhs = operand_row(c, 0), *rhs = operand_row(c, 1);
  int64_t n_groups;
  hilo_etype etype;
  if (a.lhs_ragged.n != 1)
    return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                           "lhs_ragged_dims of `ragged-dot` are %s, expected one",
                           hilo_infer_dims_text(c, a.lhs_ragged));
  if (!hilo_infer_check_dims(c, a.lhs_ragged, lhs->n, "lhs_ragged_dims") ||
      !hilo_infer_check_dims(c, a.rhs_group, rhs->n, "rhs_group_dims") ||
      !check_group_sizes(c, &a, &n_groups) || !product_etype(c, lhs, rhs, &etype))
    return false;
  const uint64_t ragged = 1ull << a.lhs_ragged.v[0];
  const uint64_t lhs_batch = dims_mask(a.lhs_batch), lhs_contracting = dims_mask(a.lhs_contracting);
  const uint64_t rhs_used = dims_mask(a.rhs_batch) | dims_mask(a.rhs_contracting);
  const bool groups_rows = !(ragged & (lhs_batch | lhs_contracting));
  if (a.rhs_group.n != groups_rows || dims_mask(a.rhs_group) & rhs_used)
    return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                           "rhs_group_dims of `ragged-dot` are %s, expected %s",
                           hilo_infer_dims_text(c, a.rhs_group),
                           groups_rows ? "one dimension that is neither batch nor contracting"
                                       : "none, as the ragged dimension is batch or contracting");
  if (groups_rows && !same_size(rhs->items[a.rhs_group.v[0]], n_groups))
    return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                           "the group dimension of the right side of `ragged-dot` has size %lld, "
                           "expected %lld groups",
                           (long long)rhs->items[a.rhs_group.v[0]], (long long)n_groups);
  dim_buffer b;
  b.n = 0, b.dynamic = 0; /* not its dims: they are many */
  if (ragged & lhs_contracting) append_dim(&b, n_groups, false);
  append_listed(&b, lhs, a.lhs_batch);
  append_others(&b, lhs, lhs_batch | lhs_contracting);
  append_others(&b, rhs, rhs_used | dims_mask(a.rhs_group));
  return gives_buffer(c, out, etype, &b);
}

/* ---- convolution ---- */

/* Two named dimensions and the spatial ones are each dimension once. */
static bool check_conv_dims(hilo_infer *c, int64_t first, int64_t second, hilo_dims spatial,
                            const char *what) {
  const int64_t rank = (int64_t)spatial.n + 2;
  uint64_t seen = 0;
  bool fits = rank <= HILO_MAX_RANK;
  for (uint32_t i = 0; fits && i < rank; i++) {
    const int64_t d = i == 0 ? first : i == 1 ? second : spatial.v[i - 2];
    fits = d >= 0 && d < rank && !(seen >> d & 1);
    if (fits) seen |= 1ull << d;
  }
  if (fits) return true;
  return hilo_infer_fail(
      c, HILO_DIAG_EMOD919,
      "dim_labels of `convolution` for the %s name dimensions %lld, %lld and %s, "
      "expected each of 0 to %lld once",
      what, (long long)first, (long long)second, hilo_infer_dims_text(c, spatial),
      (long long)rank - 1);
}

static bool check_conv_numbers(hilo_infer *c, const hilo_conv_dims_attrs *d,
                               const hilo_window_attrs *w) {
  const uint32_t n = d->input_spatial.n;
  if (d->kernel_spatial.n != n || d->output_spatial.n != n)
    return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                           "dim_labels of `convolution` have %u, %u and %u spatial dimensions for "
                           "input, kernel and output, expected as many",
                           n, d->kernel_spatial.n, d->output_spatial.n);
  if (!check_conv_dims(c, d->input_batch, d->input_feature, d->input_spatial, "input") ||
      !check_conv_dims(c, d->kernel_input_feature, d->kernel_output_feature, d->kernel_spatial,
                       "kernel") ||
      !check_conv_dims(c, d->output_batch, d->output_feature, d->output_spatial, "output"))
    return false;
  for (uint32_t k = 0; k < 2; k++)
    if (operand_row(c, k)->n != n + 2)
      return hilo_infer_fail(
          c, HILO_DIAG_EMOD919,
          "operand %u of `convolution` is %s, expected %u dimensions as dim_labels "
          "have",
          k, hilo_infer_type_text(c, operand_type(c, k)), n + 2);
  return hilo_infer_check_window(c, w, n);
}

static bool check_conv_groups(hilo_infer *c, const hilo_conv_dims_attrs *d, int64_t feature_groups,
                              int64_t batch_groups) {
  const hilo_type_row *lhs = operand_row(c, 0), *rhs = operand_row(c, 1);
  const int64_t features = lhs->items[d->input_feature], batch = lhs->items[d->input_batch];
  const int64_t kernel_in = rhs->items[d->kernel_input_feature];
  const int64_t kernel_out = rhs->items[d->kernel_output_feature];
  if (feature_groups < 1 || batch_groups < 1 || (feature_groups > 1 && batch_groups > 1))
    return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                           "`convolution` has feature_group_count %lld and batch_group_count %lld, "
                           "expected 1 or more and one of them 1",
                           (long long)feature_groups, (long long)batch_groups);
  if (features != HILO_UNBOUNDED && kernel_in != HILO_UNBOUNDED &&
      (features % feature_groups || features / feature_groups != kernel_in))
    return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                           "`convolution` has %lld input features in %lld groups, but a kernel for "
                           "%lld features",
                           (long long)features, (long long)feature_groups, (long long)kernel_in);
  if (kernel_out != HILO_UNBOUNDED && (kernel_out % feature_groups || kernel_out % batch_groups))
    return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                           "`convolution` has %lld output features, expected a multiple of "
                           "feature_group_count %lld and batch_group_count %lld",
                           (long long)kernel_out, (long long)feature_groups,
                           (long long)batch_groups);
  if (batch != HILO_UNBOUNDED && batch % batch_groups)
    return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                           "`convolution` has a batch of %lld, expected a multiple of "
                           "batch_group_count %lld",
                           (long long)batch, (long long)batch_groups);
  return true;
}

bool hilo_infer_convolution(hilo_infer *c, hilo_shape *out) {
  if (!hilo_infer_array_operands(c, 0)) return false;
  const hilo_conv_attrs a = hilo_conv_get(&c->m->records, (hilo_record){c->attr});
  const hilo_conv_dims_attrs d = hilo_conv_dims_get(&c->m->records, a.dim_numbers);
  const hilo_window_attrs w = hilo_window_get(&c->m->records, a.window);
  const int64_t feature_groups = a.feature_group_count ? a.feature_group_count : 1;
  const int64_t batch_groups = a.batch_group_count ? a.batch_group_count : 1;
  if (!check_conv_numbers(c, &d, &w) || !check_conv_groups(c, &d, feature_groups, batch_groups))
    return false;
  const hilo_type_row *lhs = operand_row(c, 0), *rhs = operand_row(c, 1);
  hilo_etype etype;
  if (!product_etype(c, lhs, rhs, &etype) ||
      !hilo_infer_new_array(c, out, etype, d.output_spatial.n + 2, 0))
    return false;
  const int64_t batch = lhs->items[d.input_batch];
  int64_t *dims = new_dims(c, out);
  dims[d.output_batch] = batch == HILO_UNBOUNDED ? batch : batch / batch_groups;
  dims[d.output_feature] = rhs->items[d.kernel_output_feature];
  out->dynamic = (row_dynamic(lhs) >> d.input_batch & 1) << d.output_batch;
  for (uint32_t i = 0; i < d.input_spatial.n; i++) {
    const int64_t kernel = rhs->items[d.kernel_spatial.v[i]];
    if (!same_size(kernel, w.size.v[i]))
      return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                             "the window of `convolution` has size %lld in dimension %u, but the "
                             "kernel %s has %lld",
                             (long long)w.size.v[i], i, hilo_infer_type_text(c, operand_type(c, 1)),
                             (long long)kernel);
    const int64_t from = d.input_spatial.v[i], to = d.output_spatial.v[i];
    if (!hilo_infer_window_output(c, &w, i, lhs->items[from], &dims[to])) return false;
    const bool dynamic =
        (row_dynamic(lhs) >> from & 1) || (row_dynamic(rhs) >> d.kernel_spatial.v[i] & 1);
    out->dynamic |= (uint64_t)dynamic << to;
  }
  return true;
}

/* StableHLO's, whose padding is operand 2: the sizes of the result are as declared. */
bool hilo_infer_dynamic_conv(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *to = hilo_infer_array_operands(c, 0) ? hilo_infer_declared_array(c) : NULL;
  if (!to) return false;
  const hilo_conv_attrs a = hilo_conv_get(&c->m->records, (hilo_record){c->attr});
  const hilo_conv_dims_attrs d = hilo_conv_dims_get(&c->m->records, a.dim_numbers);
  const hilo_window_attrs w = hilo_window_get(&c->m->records, a.window);
  const int64_t feature_groups = a.feature_group_count ? a.feature_group_count : 1;
  const int64_t batch_groups = a.batch_group_count ? a.batch_group_count : 1;
  const hilo_type_row *padding = operand_row(c, 2);
  if (!check_conv_numbers(c, &d, &w) || !check_conv_groups(c, &d, feature_groups, batch_groups))
    return false;
  if (!hilo_etype_is_integer((hilo_etype)padding->etype) || padding->n != 2 ||
      !same_size(padding->items[0], d.input_spatial.n) || !same_size(padding->items[1], 2))
    return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                           "the padding of `dynamic_conv` is %s, expected integers of dimensions "
                           "[%u,2]",
                           hilo_infer_type_text(c, operand_type(c, 2)), d.input_spatial.n);
  hilo_etype etype;
  if (!product_etype(c, operand_row(c, 0), operand_row(c, 1), &etype)) return false;
  if (to->n != d.output_spatial.n + 2)
    return hilo_infer_fail(c, HILO_DIAG_EMOD918, "`dynamic_conv` gives %s, expected %u dimensions",
                           hilo_infer_type_text(c, c->declared), d.output_spatial.n + 2);
  return hilo_infer_gives_etype(c, out, c->declared, etype);
}

/* ---- fft and factorisations ---- */

enum { FFT_FORWARD, FFT_INVERSE, FFT_REAL, FFT_REAL_INVERSE };

static bool check_fft_length(hilo_infer *c, const hilo_fft_attrs *a, const hilo_type_row *r) {
  const uint32_t n = a->length.n;
  if (n < 1 || n > 3 || r->n < n)
    return hilo_infer_fail(
        c, HILO_DIAG_EMOD919,
        "`fft` of %s has fft_length %s, expected 1 to 3 numbers, at most the rank",
        hilo_infer_type_text(c, operand_type(c, 0)), hilo_infer_dims_text(c, a->length));
  if (a->type < FFT_REAL) return true;
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t dim = r->n - n + i;
    const bool half = a->type == FFT_REAL_INVERSE && i + 1 == n;
    int64_t want = a->length.v[i];
    if (half && !(want == 0 && r->items[dim] == 0)) want = want / 2 + 1;
    if (!same_size(r->items[dim], want))
      return hilo_infer_fail(
          c, HILO_DIAG_EMOD919,
          "`fft` with fft_length %s has %lld in dimension %u of %s, expected %lld",
          hilo_infer_dims_text(c, a->length), (long long)r->items[dim], dim,
          hilo_infer_type_text(c, operand_type(c, 0)), (long long)want);
  }
  return true;
}

bool hilo_infer_fft(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *r = hilo_infer_array_operand(c, 0);
  if (!r) return false;
  const hilo_fft_attrs a = hilo_fft_get(&c->m->records, (hilo_record){c->attr});
  const hilo_etype t = (hilo_etype)r->etype;
  if (a.type < FFT_FORWARD || a.type > FFT_REAL_INVERSE)
    return hilo_infer_fail(c, HILO_DIAG_EMOD902, "`fft` has type %lld, expected 0 to 3",
                           (long long)a.type);
  if (a.type == FFT_REAL ? t != HILO_F32 && t != HILO_F64 : !hilo_etype_is_complex(t))
    return hilo_infer_fail(c, HILO_DIAG_EMOD902, "`fft` of %s, expected %s for this type",
                           hilo_infer_type_text(c, operand_type(c, 0)),
                           a.type == FFT_REAL ? "f32 or f64" : "complex numbers");
  if (!check_fft_length(c, &a, r)) return false;
  if (a.type < FFT_REAL) return gives(c, out, operand_type(c, 0));
  const bool real = a.type == FFT_REAL;
  const hilo_etype to =
      real ? (t == HILO_F32 ? HILO_C64 : HILO_C128) : (t == HILO_C64 ? HILO_F32 : HILO_F64);
  if (!hilo_infer_gives_etype(c, out, operand_type(c, 0), to)) return false;
  const int64_t last = a.length.v[a.length.n - 1];
  if (!real || last) new_dims(c, out)[r->n - 1] = real ? last / 2 + 1 : last;
  return true;
}

static const hilo_type_row *square_operand(hilo_infer *c) {
  const hilo_type_row *r = hilo_infer_array_operand(c, 0);
  if (!r) return NULL;
  const hilo_etype t = (hilo_etype)r->etype;
  const bool is_square = r->n >= 2 && same_size(r->items[r->n - 2], r->items[r->n - 1]);
  if (is_square && (hilo_etype_is_float(t) || hilo_etype_is_complex(t))) return r;
  hilo_infer_report(c, HILO_DIAG_EMOD902,
                    "operand 0 of `%s` is %s, expected square matrices of floats "
                    "or complex numbers",
                    op_name(c), hilo_infer_type_text(c, operand_type(c, 0)));
  return NULL;
}

bool hilo_infer_cholesky(hilo_infer *c, hilo_shape *out) {
  return square_operand(c) && gives(c, out, operand_type(c, 0));
}

bool hilo_infer_triangular_solve(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *a = square_operand(c), *b = a ? hilo_infer_array_operand(c, 1) : NULL;
  if (!b) return false;
  const hilo_linalg_attrs attrs = hilo_linalg_get(&c->m->records, (hilo_record){c->attr});
  bool fits = b->n == a->n && b->etype == a->etype;
  for (uint32_t i = 0; fits && i + 2 < a->n; i++) fits = same_size(a->items[i], b->items[i]);
  if (fits) fits = same_size(a->items[a->n - 1], b->items[b->n - (attrs.left_side ? 2 : 1)]);
  if (!fits)
    return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                           "`triangular-solve` of %s and %s from the %s: batch dimensions and the "
                           "shared dimension must agree",
                           hilo_infer_type_text(c, operand_type(c, 0)),
                           hilo_infer_type_text(c, operand_type(c, 1)),
                           attrs.left_side ? "left" : "right");
  if (attrs.transpose_a < 1 || attrs.transpose_a > 3)
    return hilo_infer_fail(
        c, HILO_DIAG_EMOD902,
        "`triangular-solve` has no transpose_a, expected NO_TRANSPOSE, TRANSPOSE or "
        "ADJOINT");
  return gives(c, out, operand_type(c, 1));
}
