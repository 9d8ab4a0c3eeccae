/* The batch norms. With N elements for each feature, c = x - mean, d = sqrt(variance + epsilon):
 *
 *   inference  scale * c / d + offset
 *   training   the same with mean = sum(x) / N, variance = sum(c * c) / N; gives these, too
 *   grad       grad_scale = sum(grad * c) / d, grad_offset = sum(grad),
 *              grad_operand = scale / (d * N) * (N * grad - grad_offset - c * sum(grad * c) / (d *
 * d))
 *
 * All in double from the operands on, each result rounded once. Epsilon is first rounded to the
 * element type, as the specification's constant is. */
#include "eval/results.h"

#include "eval/lanes.h"
#include "ir/etype_format.h"

#include <math.h>

typedef struct {
  const hilo_eval *e;
  hilo_inst inst;
  hilo_etype etype;
  hilo_dims dims;
  uint64_t total, features, inner; /* elements; features; neighbours of one feature */
  double per_feature, epsilon;     /* N above */
} norm;

/* Elements start … start + n - 1, and the feature of each. */
typedef struct {
  uint64_t start, next;
  uint32_t n;
  uint64_t at, left; /* the next element's feature, and how many elements it goes on */
  uint64_t feature[HILO_LANES];
} block;

static double rounded(hilo_etype etype, double x) {
  const hilo_float_format format = hilo_etype_float_format(etype);
  return hilo_float_to_double(format, hilo_float_from_double(format, x));
}

static norm open_norm(const hilo_eval *e, hilo_inst i, const hilo_value *args) {
  const hilo_batch_norm_attrs attrs = hilo_attrs(e->m, i, batch_norm);
  norm b = {.e = e,
            .inst = i,
            .etype = hilo_value_etype(e, &args[0]),
            .dims = hilo_type_dims(&e->m->types, args[0].type),
            .total = hilo_value_n_elements(e, &args[0]),
            .inner = 1};
  b.features = (uint64_t)b.dims.v[attrs.feature_index];
  for (uint32_t d = (uint32_t)attrs.feature_index + 1; d < b.dims.n; d++)
    b.inner *= (uint64_t)b.dims.v[d];
  b.per_feature = b.features ? (double)(b.total / b.features) : 0;
  b.epsilon = rounded(b.etype, (double)attrs.epsilon);
  return b;
}

static void begin_blocks(const norm *b, block *at) {
  at->next = at->at = 0;
  at->left = b->inner;
}
static bool next_block(const norm *b, block *at) {
  const uint64_t rest = b->total - at->next;
  at->start = at->next;
  at->n = rest < HILO_LANES ? (uint32_t)rest : HILO_LANES;
  at->next += at->n;
  for (uint32_t k = 0; k < at->n; k++) {
    at->feature[k] = at->at;
    if (--at->left) continue;
    at->left = b->inner;
    if (++at->at == b->features) at->at = 0;
  }
  return at->n > 0;
}
static void load_block(const norm *b, const block *at, const hilo_value *v, hilo_lanes *x) {
  hilo_lanes_load(b->etype, v->data, at->start, at->n, x);
}

/* One double a feature, in scratch: zeros, or those of an operand. */
static double *new_features(const norm *b) {
  return HILO_NEW_ZEROED(b->e->scratch, double, b->features + 1);
}
static double *load_features(const norm *b, const hilo_value *v) {
  double *features = new_features(b);
  hilo_float_array_to_double(hilo_etype_float_format(b->etype), v->data, b->features, features);
  return features;
}
static hilo_status give_features(const norm *b, const double *features, hilo_value *v) {
  char *data = hilo_eval_new_array(b->e, b->inst, v);
  if (!data) return HILO_LIMIT_ERROR;
  hilo_float_array_from_double(hilo_etype_float_format(b->etype), features, b->features, data);
  return HILO_OK;
}

static double *deviations(const norm *b, const double *variance) {
  double *d = new_features(b);
  for (uint64_t f = 0; f < b->features; f++) d[f] = sqrt(variance[f] + b->epsilon);
  return d;
}

static hilo_status normalise(const norm *b, const hilo_value *args, const double *mean,
                             const double *variance, hilo_value *out) {
  const double *scale = load_features(b, &args[1]), *offset = load_features(b, &args[2]);
  const double *d = deviations(b, variance);
  char *data = hilo_eval_new_array(b->e, b->inst, out);
  if (!data) return HILO_LIMIT_ERROR;
  hilo_lanes x;
  block at;
  for (begin_blocks(b, &at); next_block(b, &at);) {
    load_block(b, &at, &args[0], &x);
    for (uint32_t k = 0; k < at.n; k++) {
      const uint64_t f = at.feature[k];
      x.f[k] = scale[f] * ((x.f[k] - mean[f]) / d[f]) + offset[f];
    }
    hilo_lanes_store(b->etype, data, at.start, at.n, &x);
  }
  return HILO_OK;
}

hilo_status hilo_eval_op_batch_norm_inference(const hilo_eval *e, hilo_inst i,
                                              const hilo_value *args, hilo_value *out) {
  const norm b = open_norm(e, i, args);
  return normalise(&b, args, load_features(&b, &args[3]), load_features(&b, &args[4]), out);
}

/* sums[f] += (x - from[f]) ^ power; power 1 or 2 */
static void add_powers(const norm *b, const hilo_value *v, const double *from, int power,
                       double *sums) {
  hilo_lanes x;
  block at;
  for (begin_blocks(b, &at); next_block(b, &at);) {
    load_block(b, &at, v, &x);
    for (uint32_t k = 0; k < at.n; k++) {
      const uint64_t f = at.feature[k];
      const double c = x.f[k] - from[f];
      sums[f] += power == 1 ? c : c * c;
    }
  }
}

hilo_status hilo_eval_op_batch_norm_training(const hilo_eval *e, hilo_inst i,
                                             const hilo_value *args, hilo_value *out) {
  const norm b = open_norm(e, i, args);
  double *mean = new_features(&b), *variance = new_features(&b);
  add_powers(&b, &args[0], new_features(&b), 1, mean);
  for (uint64_t f = 0; f < b.features; f++) mean[f] /= b.per_feature;
  add_powers(&b, &args[0], mean, 2, variance);
  for (uint64_t f = 0; f < b.features; f++) variance[f] /= b.per_feature;
  hilo_value *results = hilo_eval_new_typed_tuple(e, i, out);
  if (!results) return HILO_LIMIT_ERROR;
  hilo_status status = normalise(&b, args, mean, variance, &results[0]);
  if (status == HILO_OK) status = give_features(&b, mean, &results[1]);
  return status == HILO_OK ? give_features(&b, variance, &results[2]) : status;
}

/* What the gradients share: sum(grad) and sum(grad * c) of each feature, and d. */
typedef struct {
  double *sum, *products, *deviation;
  const double *mean;
} sums;

static sums gradient_sums(const norm *b, const hilo_value *args) {
  const sums s = {.sum = new_features(b),
                  .products = new_features(b),
                  .deviation = deviations(b, load_features(b, &args[3])),
                  .mean = load_features(b, &args[2])};
  hilo_lanes x, grad;
  block at;
  for (begin_blocks(b, &at); next_block(b, &at);) {
    load_block(b, &at, &args[0], &x);
    load_block(b, &at, &args[4], &grad);
    for (uint32_t k = 0; k < at.n; k++) {
      const uint64_t f = at.feature[k];
      s.sum[f] += grad.f[k];
      s.products[f] += grad.f[k] * (x.f[k] - s.mean[f]);
    }
  }
  return s;
}

static hilo_status give_gradient(const norm *b, const hilo_value *args, const sums *s,
                                 hilo_value *out) {
  const double *scale = load_features(b, &args[1]), *d = s->deviation, per = b->per_feature;
  char *data = hilo_eval_new_array(b->e, b->inst, out);
  if (!data) return HILO_LIMIT_ERROR;
  hilo_lanes x, grad;
  block at;
  for (begin_blocks(b, &at); next_block(b, &at);) {
    load_block(b, &at, &args[0], &x);
    load_block(b, &at, &args[4], &grad);
    for (uint32_t k = 0; k < at.n; k++) {
      const uint64_t f = at.feature[k];
      const double by = (x.f[k] - s->mean[f]) * s->products[f] / (d[f] * d[f]);
      x.f[k] = scale[f] / d[f] / per * (per * grad.f[k] - s->sum[f] - by);
    }
    hilo_lanes_store(b->etype, data, at.start, at.n, &x);
  }
  return HILO_OK;
}

hilo_status hilo_eval_op_batch_norm_grad(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                         hilo_value *out) {
  const norm b = open_norm(e, i, args);
  const sums s = gradient_sums(&b, args);
  hilo_value *results = hilo_eval_new_typed_tuple(e, i, out);
  if (!results) return HILO_LIMIT_ERROR;
  hilo_status status = give_gradient(&b, args, &s, &results[0]);
  for (uint64_t f = 0; f < b.features; f++) s.products[f] /= s.deviation[f];
  if (status == HILO_OK) status = give_features(&b, s.products, &results[1]);
  return status == HILO_OK ? give_features(&b, s.sum, &results[2]) : status;
}
