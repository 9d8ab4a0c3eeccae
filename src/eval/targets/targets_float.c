/* Activations, softmax and norms as custom calls: in double, rounded once. */
#include "eval/targets/targets.h"

#include "eval/lanes.h"

#include <math.h>

/* ---- activations ---- */

static double normal_distribution(double x) { return 0.5 * erfc(-x * 0.70710678118654752440); }
static double gelu(double x) { return x * normal_distribution(x); }
static double gelu_derivative(double x) {
  return normal_distribution(x) + x * exp(-0.5 * x * x) * 0.39894228040143267794;
}
static double gelu_by_tanh(double x) {
  return 0.5 * x * (1 + tanh(0.79788456080286535588 * (x + 0.044715 * x * x * x)));
}
static double logistic(double x) {
  const double small = exp(-fabs(x));
  return (x >= 0 ? 1 : small) / (1 + small);
}
static double silu(double x) { return x * logistic(x); }
static double silu_derivative(double x) {
  const double s = logistic(x);
  return s + x * s * (1 - s);
}

hilo_status hilo_target_activation(const hilo_eval *e, hilo_inst i, hilo_str target,
                                   const hilo_value *args, hilo_value *out) {
  static const struct {
    const char *target;
    double (*function)(double x);
  } functions[] = {
      {"AwsNeuronErf", erf},
      {"AwsNeuronGelu", gelu},
      {"AwsNeuronGeluApprxTanh", gelu_by_tanh},
      {"AwsNeuronGeluBackward", gelu_derivative},
      {"AwsNeuronSilu", silu},
      {"AwsNeuronSiluBackward", silu_derivative},
  };
  size_t f = 0;
  while (!hilo_str_is(target, functions[f].target)) f++;
  if (!hilo_inst_n_operands(e->m, i)) return hilo_target_error(e, i, target, "has no operand");
  const hilo_etype from = hilo_value_etype(e, &args[0]), to = hilo_value_etype(e, out);
  if (!hilo_etype_is_float(from) || !hilo_etype_is_float(to))
    return hilo_target_error(e, i, target, "is a function of floats");
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  const uint64_t total = hilo_value_n_elements(e, out);
  if (total != hilo_value_n_elements(e, &args[0]))
    return hilo_target_error(e, i, target, "has a result of another size than its operand");
  hilo_lanes x;
  for (uint64_t at = 0; at < total; at += HILO_LANES) {
    const uint32_t n = total - at < HILO_LANES ? (uint32_t)(total - at) : HILO_LANES;
    hilo_lanes_load(from, args[0].data, at, n, &x);
    for (uint32_t k = 0; k < n; k++) x.f[k] = functions[f].function(x.f[k]);
    hilo_lanes_store(to, data, at, n, &x);
  }
  return HILO_OK;
}

/* ---- rows along an axis ---- */

/* Element k of row r at (r / inner * size + k) * inner + r % inner. */
typedef struct {
  uint64_t rows, size, inner;
} axis_walk;

static axis_walk walk_of(const hilo_eval *e, const hilo_value *v, uint32_t axis) {
  const hilo_dims dims = hilo_type_dims(&e->m->types, v->type);
  axis_walk w = {.size = (uint64_t)dims.v[axis], .inner = 1};
  for (uint32_t d = axis + 1; d < dims.n; d++) w.inner *= (uint64_t)dims.v[d];
  w.rows = w.size ? hilo_value_n_elements(e, v) / w.size : 0;
  return w;
}
static uint64_t place(const axis_walk *w, uint64_t row, uint64_t k) {
  return (row / w->inner * w->size + k) * w->inner + row % w->inner;
}

/* All elements as doubles. */
static double *widened(const hilo_eval *e, const hilo_value *v) {
  const uint64_t n = hilo_value_n_elements(e, v);
  double *x = HILO_NEW_ARRAY(e->scratch, double, n + 1);
  hilo_eval_convert_elements(hilo_value_etype(e, v), HILO_F64, v->data, n, (char *)x);
  return x;
}
static void narrow(const hilo_eval *e, const double *x, hilo_value *out) {
  hilo_eval_convert_elements(HILO_F64, hilo_value_etype(e, out), (const char *)x,
                             hilo_value_n_elements(e, out), (char *)hilo_buffer_bytes(out->owner));
}

static bool are_floats(const hilo_eval *e, const hilo_value *args, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (!hilo_etype_is_float(hilo_value_etype(e, &args[k]))) return false;
  return true;
}

/* ---- softmax ---- */

static void softmax_row(const axis_walk *w, uint64_t row, double *x) {
  double max = -INFINITY, sum = 0;
  for (uint64_t k = 0; k < w->size; k++) {
    const double a = x[place(w, row, k)];
    max = isnan(a) || a > max ? a : max;
    if (isnan(a)) break;
  }
  for (uint64_t k = 0; k < w->size; k++) {
    double *a = &x[place(w, row, k)];
    sum += *a = exp(*a - max);
  }
  for (uint64_t k = 0; k < w->size; k++) x[place(w, row, k)] /= sum;
}

/* y (g - sum of y g) */
static void softmax_gradient_row(const axis_walk *w, uint64_t row, const double *y, double *g) {
  double sum = 0;
  for (uint64_t k = 0; k < w->size; k++) sum += y[place(w, row, k)] * g[place(w, row, k)];
  for (uint64_t k = 0; k < w->size; k++) {
    const uint64_t at = place(w, row, k);
    g[at] = y[at] * (g[at] - sum);
  }
}

hilo_status hilo_target_softmax(const hilo_eval *e, hilo_inst i, hilo_str target,
                                const hilo_value *args, hilo_value *out) {
  const uint32_t n = hilo_str_ends(target, "Backward") ? 2 : 1;
  uint32_t axis;
  hilo_value *results;
  if (hilo_inst_n_operands(e->m, i) < n || !are_floats(e, args, n))
    return hilo_target_error(e, i, target, "has not the floats that it takes");
  HILO_TRY(hilo_target_axis(e, i, target, &args[0], &axis));
  HILO_TRY(hilo_target_results(e, i, target, 1, out, &results));
  const axis_walk w = walk_of(e, &args[0], axis);
  const uint64_t total = hilo_value_n_elements(e, &args[0]);
  if (hilo_value_n_elements(e, &args[n - 1]) != total ||
      hilo_value_n_elements(e, &results[0]) != total)
    return hilo_target_error(e, i, target, "has operands and a result of different sizes");
  double *y = widened(e, &args[0]), *g = n == 2 ? widened(e, &args[1]) : NULL;
  for (uint64_t row = 0; row < w.rows; row++)
    if (g)
      softmax_gradient_row(&w, row, y, g);
    else
      softmax_row(&w, row, y);
  narrow(e, g ? g : y, &results[0]);
  return HILO_OK;
}

/* ---- RMS norm ---- */

typedef struct {
  axis_walk w;
  double epsilon;
  const double *x, *weight, *gradient;
  double *out, *weight_gradient;
} rms;

static double inverse_rms(const rms *r, uint64_t row) {
  double sum = 0;
  for (uint64_t k = 0; k < r->w.size; k++) {
    const double a = r->x[place(&r->w, row, k)];
    sum += a * a;
  }
  return 1 / sqrt(sum / (double)r->w.size + r->epsilon);
}

static void rms_row(const rms *r, uint64_t row) {
  const double inverse = inverse_rms(r, row);
  for (uint64_t k = 0; k < r->w.size; k++) {
    const uint64_t at = place(&r->w, row, k);
    r->out[at] = r->x[at] * inverse * r->weight[k];
  }
}

/* With n = x / rms: dx = (g w - n mean(g w n)) / rms, and the weight's sum of g n. */
static void rms_gradient_row(const rms *r, uint64_t row) {
  const double inverse = inverse_rms(r, row);
  double projection = 0;
  for (uint64_t k = 0; k < r->w.size; k++) {
    const uint64_t at = place(&r->w, row, k);
    const double normal = r->x[at] * inverse;
    r->weight_gradient[k] += r->gradient[at] * normal;
    projection += r->gradient[at] * r->weight[k] * normal;
  }
  projection /= (double)r->w.size;
  for (uint64_t k = 0; k < r->w.size; k++) {
    const uint64_t at = place(&r->w, row, k);
    r->out[at] = inverse * (r->gradient[at] * r->weight[k] - r->x[at] * inverse * projection);
  }
}

hilo_status hilo_target_rms_norm(const hilo_eval *e, hilo_inst i, hilo_str target,
                                 const hilo_value *args, hilo_value *out) {
  const bool backward = hilo_str_ends(target, "Backward");
  const uint32_t x = backward ? 1 : 0; /* then weight and epsilon */
  uint32_t axis;
  hilo_value *results;
  if (hilo_inst_n_operands(e->m, i) < x + 3 || !are_floats(e, args, x + 3) ||
      !hilo_value_n_elements(e, &args[x + 2]))
    return hilo_target_error(e, i, target, "has not the floats that it takes");
  HILO_TRY(hilo_target_axis(e, i, target, &args[x], &axis));
  HILO_TRY(hilo_target_results(e, i, target, backward ? 2 : 1, out, &results));
  rms r = {.w = walk_of(e, &args[x], axis), .epsilon = widened(e, &args[x + 2])[0]};
  const uint64_t total = hilo_value_n_elements(e, &args[x]);
  if (hilo_value_n_elements(e, &args[x + 1]) != r.w.size ||
      hilo_value_n_elements(e, &results[0]) != total ||
      hilo_value_n_elements(e, &args[0]) != total ||
      (backward && hilo_value_n_elements(e, &results[1]) != r.w.size))
    return hilo_target_error(e, i, target, "has operands and results of sizes that do not fit");
  r.x = widened(e, &args[x]);
  r.weight = widened(e, &args[x + 1]);
  r.out = HILO_NEW_ARRAY(e->scratch, double, total + 1);
  r.weight_gradient = HILO_NEW_ZEROED(e->scratch, double, r.w.size + 1);
  if (backward) r.gradient = widened(e, &args[0]);
  for (uint64_t row = 0; row < r.w.rows; row++)
    if (backward)
      rms_gradient_row(&r, row);
    else
      rms_row(&r, row);
  narrow(e, r.out, &results[0]);
  if (backward) narrow(e, r.weight_gradient, &results[1]);
  return HILO_OK;
}

/* ---- layer norm ---- */

typedef struct {
  axis_walk w;
  double epsilon;
  double *x;
  const double *scale, *shift; /* NULL: not asked for */
} layer_norm;

static bool has_word(hilo_str config, const char *word) {
  return config.n && memmem(config.p, config.n, word, strlen(word));
}

static void layer_norm_row(const layer_norm *l, uint64_t row) {
  double mean = 0, variance = 0;
  for (uint64_t k = 0; k < l->w.size; k++) mean += l->x[place(&l->w, row, k)];
  mean /= (double)l->w.size;
  for (uint64_t k = 0; k < l->w.size; k++) {
    const double away = l->x[place(&l->w, row, k)] - mean;
    variance += away * away;
  }
  const double deviation = sqrt(variance / (double)l->w.size + l->epsilon);
  for (uint64_t k = 0; k < l->w.size; k++) {
    double *x = &l->x[place(&l->w, row, k)];
    *x = (*x - mean) / deviation;
    if (l->scale) *x *= l->scale[k];
    if (l->shift) *x += l->shift[k];
  }
}

/* That of oneDNN in XLA:CPU, along the last dimension: (x, scale, shift), the last two as `rescale`
 * has them; epsilon as the bits of an f32, 0 if it is not there. */
hilo_status hilo_target_layer_norm(const hilo_eval *e, hilo_inst i, hilo_str target,
                                   const hilo_value *args, hilo_value *out) {
  const hilo_str config = hilo_target_config(e, i);
  const bool scales = has_word(config, "\"SCALE");
  const bool shifts = has_word(config, "\"SHIFT") || has_word(config, "SCALE_AND_SHIFT");
  const uint32_t n = 1 + scales + shifts;
  hilo_value *results;
  uint64_t bits = 0;
  float epsilon;
  const uint32_t rank =
      hilo_inst_n_operands(e->m, i) ? hilo_type_dims(&e->m->types, args[0].type).n : 0;
  if (hilo_inst_n_operands(e->m, i) < n || !rank || !are_floats(e, args, n))
    return hilo_target_error(e, i, target, "has not the floats that it takes");
  if (has_word(config, "epsilon_typecast") &&
      (!hilo_target_number(config, "epsilon_typecast", &bits) || bits > INT32_MAX))
    return hilo_target_error(e, i, target, "has an epsilon that is no number above 0");
  memcpy(&epsilon, &(uint32_t){(uint32_t)bits}, sizeof(epsilon));
  HILO_TRY(hilo_target_results(e, i, target, 1, out, &results));
  layer_norm l = {.w = walk_of(e, &args[0], rank - 1), .epsilon = (double)epsilon};
  bool fits = hilo_value_n_elements(e, &results[0]) == hilo_value_n_elements(e, &args[0]);
  for (uint32_t k = 1; k < n; k++) fits = fits && hilo_value_n_elements(e, &args[k]) == l.w.size;
  if (!fits)
    return hilo_target_error(e, i, target, "has operands and a result of sizes that do not fit");
  l.x = widened(e, &args[0]);
  if (scales) l.scale = widened(e, &args[1]);
  if (shifts) l.shift = widened(e, &args[n - 1]);
  for (uint64_t row = 0; row < l.w.rows; row++) layer_norm_row(&l, row);
  narrow(e, l.x, &results[0]);
  return HILO_OK;
}
