/* batch-norm-expander: batch norms become reductions and elementwise operations, by the formulas of
 * XLA's BatchNormExpander.
 *
 * Everything but the feature dimension is reduced. Types below f32 are computed in f32, since the
 * variance is a difference of two means and 16 bits would leave nothing of it; the results are
 * converted back. --expand-batch-norm-training expands training only, …-and-grad the gradient, too;
 * named by --passes without either flag, the pass expands all three. */
#include "passes/passes.h"
#include "rewrite/build.h"

typedef struct {
  hilo_module *m;
  hilo_inst at;
  hilo_etype etype; /* as given, and as computed in */
  hilo_etype work;
  hilo_type full, features; /* in `work` */
  int64_t feature;
  double epsilon, n_per_feature;
  int64_t reduced[HILO_MAX_RANK];
  uint32_t n_reduced;
} norm;

static norm norm_of(hilo_module *m, hilo_inst i) {
  const hilo_inst x = hilo_inst_operand(m, i, 0);
  const hilo_batch_norm_attrs attrs = hilo_attrs(m, i, batch_norm);
  const hilo_etype etype = hilo_inst_etype(m, x);
  norm b = {.m = m,
            .at = i,
            .etype = etype,
            .work = hilo_etype_table[etype].bits < 32 ? HILO_F32 : etype,
            .feature = attrs.feature_index,
            .epsilon = attrs.epsilon,
            .n_per_feature = 1};
  const hilo_dims dims = hilo_inst_dims(m, x);
  for (uint32_t d = 0; d < dims.n; d++) {
    if (d == b.feature) continue;
    b.reduced[b.n_reduced++] = d;
    b.n_per_feature *= (double)dims.v[d];
  }
  b.full = hilo_type_array(&m->types, b.work, dims);
  b.features = hilo_type_array(&m->types, b.work, HILO_DIMS_OF(dims.v[b.feature]));
  return b;
}

static hilo_inst operand(const norm *b, uint32_t k) {
  return hilo_build_convert(b->m, b->at, hilo_inst_operand(b->m, b->at, k), b->work);
}
static hilo_inst binary(const norm *b, hilo_op op, hilo_inst x, hilo_inst y) {
  return hilo_build_binary(b->m, b->at, op, x, y);
}
static hilo_inst add(const norm *b, hilo_inst x, hilo_inst y) {
  return binary(b, HILO_OP_ADD, x, y);
}
static hilo_inst subtract(const norm *b, hilo_inst x, hilo_inst y) {
  return binary(b, HILO_OP_SUBTRACT, x, y);
}
static hilo_inst multiply(const norm *b, hilo_inst x, hilo_inst y) {
  return binary(b, HILO_OP_MULTIPLY, x, y);
}
static hilo_inst divide(const norm *b, hilo_inst x, hilo_inst y) {
  return binary(b, HILO_OP_DIVIDE, x, y);
}
static hilo_inst rsqrt(const norm *b, hilo_inst x) {
  return hilo_build_unary(b->m, b->at, HILO_OP_RSQRT, x);
}

/* A scalar over a whole type, as XLA writes it. */
static hilo_inst all(const norm *b, hilo_type type, double value) {
  const hilo_inst scalar = hilo_build_float(b->m, b->at, b->work, value);
  return hilo_build_broadcast(b->m, b->at, scalar, type, HILO_DIMS_NONE);
}

/* One value per feature, for every element. */
static hilo_inst spread(const norm *b, hilo_inst x) {
  return hilo_build_broadcast(b->m, b->at, x, b->full, HILO_DIMS_OF(b->feature));
}

static hilo_inst sum(const norm *b, hilo_inst x) {
  const hilo_inst zero = hilo_build_float(b->m, b->at, b->work, 0);
  return hilo_build_reduce(b->m, b->at, HILO_OP_ADD, x, zero,
                           (hilo_dims){b->reduced, b->n_reduced});
}

/* The values as a tuple of the types that the operation gives. */
static hilo_inst results(const norm *b, const hilo_inst values[3]) {
  hilo_inst elements[3];
  for (uint32_t k = 0; k < 3; k++)
    elements[k] = hilo_build_convert(b->m, b->at, values[k], b->etype);
  const hilo_inst tuple = hilo_build_tuple(b->m, b->at, elements, 3);
  hilo_inst_set_type(b->m, tuple, hilo_inst_type(b->m, b->at));
  return tuple;
}

/* One instruction a line: the order of the operands of a call is the compiler's, that of the
 * instructions must not be. */

/* mean = E[x], var = E[x²] - E[x]², y = (x - mean) * rsqrt(var + epsilon) * scale + offset */
static hilo_inst expand_training(const norm *b) {
  const hilo_inst x = operand(b, 0);
  const hilo_inst scale = spread(b, operand(b, 1));
  const hilo_inst offset = spread(b, operand(b, 2));
  const hilo_inst n = all(b, b->features, b->n_per_feature);
  const hilo_inst epsilon = all(b, b->full, b->epsilon);
  const hilo_inst square = multiply(b, x, x);
  const hilo_inst mean = divide(b, sum(b, x), n);
  const hilo_inst square_mean = divide(b, sum(b, square), n);
  const hilo_inst mean_square = multiply(b, mean, mean);
  const hilo_inst variance = subtract(b, square_mean, mean_square);
  const hilo_inst deviation = add(b, spread(b, variance), epsilon);
  const hilo_inst centered = subtract(b, x, spread(b, mean));
  const hilo_inst normal = multiply(b, centered, rsqrt(b, deviation));
  const hilo_inst scaled = multiply(b, normal, scale);
  const hilo_inst y = add(b, scaled, offset);
  return results(b, (hilo_inst[]){y, mean, variance});
}

/* y = x * scale' + offset', scale' = scale * rsqrt(var + epsilon), offset' = offset - mean * scale'
 */
static hilo_inst expand_inference(const norm *b) {
  const hilo_inst x = operand(b, 0);
  const hilo_inst scale = operand(b, 1);
  const hilo_inst offset = operand(b, 2);
  const hilo_inst mean = operand(b, 3);
  const hilo_inst variance = operand(b, 4);
  const hilo_inst epsilon = all(b, b->features, b->epsilon);
  const hilo_inst true_scale = multiply(b, scale, rsqrt(b, add(b, variance, epsilon)));
  const hilo_inst true_offset = subtract(b, offset, multiply(b, mean, true_scale));
  const hilo_inst scaled = multiply(b, x, spread(b, true_scale));
  const hilo_inst y = add(b, scaled, spread(b, true_offset));
  return hilo_build_convert(b->m, b->at, y, b->etype);
}

/* With g the gradient of y, N the elements per feature, r = rsqrt(var + epsilon):
 * grad_offset = Σg, grad_scale = Σ(g (x - mean)) r,
 * grad_x = scale r / N * (N g - Σg - (x - mean) Σ(g (x - mean)) / (var + epsilon)) */
static hilo_inst expand_grad(const norm *b) {
  const hilo_inst x = operand(b, 0);
  const hilo_inst scale = spread(b, operand(b, 1));
  const hilo_inst mean = spread(b, operand(b, 2));
  const hilo_inst variance = operand(b, 3);
  const hilo_inst grad_y = operand(b, 4);
  const hilo_inst n = all(b, b->full, b->n_per_feature);
  const hilo_inst feature_deviation = add(b, variance, all(b, b->features, b->epsilon));
  const hilo_inst full_epsilon = all(b, b->full, b->epsilon);
  const hilo_inst deviation = add(b, spread(b, variance), full_epsilon);
  const hilo_inst centered = subtract(b, x, mean);
  const hilo_inst projection = sum(b, multiply(b, grad_y, centered));
  const hilo_inst grad_offset = sum(b, grad_y);
  const hilo_inst grad_scale = multiply(b, projection, rsqrt(b, feature_deviation));
  const hilo_inst i1 = multiply(b, grad_y, n);
  const hilo_inst i4 = multiply(b, spread(b, projection), centered);
  const hilo_inst i5 = divide(b, i4, deviation);
  const hilo_inst i3 = subtract(b, i1, spread(b, grad_offset));
  const hilo_inst i6 = subtract(b, i3, i5);
  const hilo_inst scale_r = multiply(b, scale, rsqrt(b, deviation));
  const hilo_inst grad_x = multiply(b, divide(b, scale_r, n), i6);
  return results(b, (hilo_inst[]){grad_x, grad_scale, grad_offset});
}

static bool match(const hilo_module *m, hilo_inst i, const hilo_pass_ctx *ctx) {
  const hilo_pass_options *o = ctx->options;
  const bool all_three = !o->expand_batch_norm_training && !o->expand_batch_norm_grad;
  bool wanted = false;
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_BATCH_NORM_TRAINING: wanted = all_three || o->expand_batch_norm_training; break;
  case HILO_OP_BATCH_NORM_GRAD: wanted = all_three || o->expand_batch_norm_grad; break;
  case HILO_OP_BATCH_NORM_INFERENCE: wanted = all_three; break;
  default: break;
  }
  /* The number of elements must be known. */
  return wanted && !(hilo_type_row_of(&m->types, hilo_inst_type(m, i))->flags & HILO_TYPE_DYNAMIC);
}

static hilo_inst expand(hilo_module *m, hilo_inst i, hilo_pass_ctx *ctx) {
  (void)ctx;
  const norm b = norm_of(m, i);
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_BATCH_NORM_TRAINING: return expand_training(&b);
  case HILO_OP_BATCH_NORM_GRAD: return expand_grad(&b);
  default: return expand_inference(&b);
  }
}

HILO_DECLARE_PASS(batch_norm_expander) {
  static const hilo_expander expander = {match, expand};
  return hilo_expand(m, ctx, &expander, changed);
}
