/* stablehlo-legalize-quant-to-math: quantised elements become the integers that are stored.
 *
 * An operation on them is what StableHLO says it is: its operands become real numbers of the
 * expressed type, (stored - zero point) * scale; it is done on these; what it gives is quantised,
 * x / scale + zero point, clamped, rounded to even, stored. Every step is rounded to the expressed
 * type, as the evaluator has it (eval/elementwise/quantized.c), so that the values are the same to
 * the bit. What only moves elements moves the integers. What calls computations stays as it is: the
 * operations in its regions are rewritten.
 *
 * Instructions go last to first, so that operands are still those that were read when their user is
 * rewritten. Ends because what it builds has no quantised types. Linear; the scales of an array
 * with several become a constant of their number, not of its size. */
#include "passes/passes.h"
#include "passes/stablehlo/chlo.h"

#include "eval/elementwise/quantized.h"
#include "ir/etype_format.h"
#include "ir/mlir_print.h"
#include "rewrite/pass.h"
#include "rewrite/replace.h"

typedef struct {
  hilo_module *m;
  hilo_pass_ctx *ctx;
  hilo_status status;
  hilo_record *quant; /* of each instruction as read */
  uint32_t n_quant;
} legalizer;

/* What one rewrite is about: the quantisation of a value. */
typedef struct {
  hilo_quant_attrs attrs;
  hilo_etype storage, expressed;
  hilo_chlo real; /* arithmetic on arrays of its dimensions */
} quantisation;

static void refuse(legalizer *l, hilo_inst i, hilo_type type, const char *why) {
  hilo_sb text = hilo_sb_make(l->ctx->scratch);
  (void)hilo_mlir_print_type(l->m, type, false, &text);
  l->status =
      hilo_inst_error(l->m, l->ctx->diags, HILO_DIAG_EMOD941, i,
                      "`%s` has the quantised type `%.*s`, which HLO lacks: %s",
                      hilo_op_name(hilo_inst_op(l->m, i)), HILO_FMT(hilo_sb_view(&text)), why);
  hilo_sb_free(&text);
}

/* ---- types ---- */

/* As deep as types are nested. */
static bool has_quant(const hilo_store *types, hilo_type t) {
  if (!hilo_type_is_tuple(types, t))
    return hilo_type_is_array(types, t) && hilo_type_quant(types, t).ix;
  for (uint32_t k = 0; k < hilo_type_n_elements_of_tuple(types, t); k++)
    if (has_quant(types, hilo_type_element(types, t, k))) return true;
  return false;
}

/* The type of what is stored. */
static hilo_type stored_type(legalizer *l, hilo_type t) {
  hilo_store *types = &l->m->types;
  if (!has_quant(types, t)) return t;
  if (!hilo_type_is_tuple(types, t)) {
    const hilo_type_info info = hilo_type_get(types, t);
    return hilo_type_array_full(types, info.etype, info.dims, info.dynamic, info.layout);
  }
  const uint32_t n = hilo_type_n_elements_of_tuple(types, t);
  hilo_type *elements = HILO_NEW_ARRAY(l->ctx->scratch, hilo_type, n + 1);
  for (uint32_t k = 0; k < n; k++) elements[k] = stored_type(l, hilo_type_element(types, t, k));
  return hilo_type_tuple(types, elements, n);
}

static void store_constant(hilo_module *m, hilo_inst i, hilo_type type) {
  const hilo_literal_row row = *hilo_literal_get(m, hilo_inst_literal(m, i));
  hilo_literal stored = hilo_inst_literal(m, i);
  if (row.kind == HILO_LITERAL_DENSE)
    stored = hilo_literal_put(m, type, row.data, row.bytes, false);
  else if (row.kind == HILO_LITERAL_SPLAT)
    stored = hilo_literal_splat(m, type, row.data);
  else if (row.kind == HILO_LITERAL_ELIDED)
    stored = hilo_literal_elided(m, type);
  hilo_inst_set_attr(m, i, stored.ix);
}

/* Do the scales fit the dimensions, as far as these are known? */
static bool fits(const hilo_module *m, const hilo_quant_attrs *a, hilo_type type) {
  const hilo_type_row *row = hilo_type_row_of(&m->types, type);
  uint64_t n = 1;
  for (uint32_t k = 0; k < a->axes.n; k++) {
    const int64_t axis = a->axes.v[k];
    if (axis < 0 || axis >= row->n) return false;
    if (row->flags & HILO_TYPE_DYNAMIC) {
      if (a->block_sizes.n) return false;
      n = a->scales.n;
      continue;
    }
    const int64_t block = a->block_sizes.n ? a->block_sizes.v[k] : 1;
    if (block < 1) return false;
    n *= (uint64_t)(row->items[axis] / block + (row->items[axis] % block != 0));
  }
  return n == a->scales.n && (!a->zero_points.n || a->zero_points.n == n) &&
         (!a->block_sizes.n || a->block_sizes.n == a->axes.n) &&
         hilo_etype_is_integer((hilo_etype)a->storage) &&
         hilo_etype_is_float((hilo_etype)a->expressed);
}

/* Note what is quantised, and how. False: nothing is. */
static bool note_quantised(legalizer *l) {
  const hilo_module *m = l->m;
  bool some = false;
  l->n_quant = m->n_inst_slots;
  l->quant = HILO_NEW_ZEROED(l->ctx->scratch, hilo_record, l->n_quant);
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      const hilo_type type = hilo_inst_type(m, i);
      if (!has_quant(&m->types, type)) continue;
      some = true;
      if (!hilo_type_is_array(&m->types, type)) continue;
      l->quant[hilo_ix(m, i)] = hilo_type_quant(&m->types, type);
      if (!l->quant[hilo_ix(m, i)].ix) continue;
      const hilo_quant_attrs a = hilo_quant_get(&m->records, l->quant[hilo_ix(m, i)]);
      if (a.any)
        refuse(l, i, type, "its scales are not known");
      else if (!fits(m, &a, type))
        refuse(l, i, type, "its scales do not fit its dimensions");
    }
  }
  return some;
}

static void drop_quantised_types(legalizer *l) {
  hilo_module *m = l->m;
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      const hilo_type type = stored_type(l, hilo_inst_type(m, i));
      if (hilo_type_eq(type, hilo_inst_type(m, i))) continue;
      hilo_inst_set_type(m, i, type);
      if (hilo_inst_is(m, i, HILO_OP_CONSTANT)) store_constant(m, i, type);
    }
  }
}

static hilo_record quant_of(const legalizer *l, hilo_inst i) {
  const uint32_t ix = hilo_ix(l->m, i);
  return ix < l->n_quant ? l->quant[ix] : HILO_RECORD_NONE;
}

/* ---- scales and zero points ---- */

/* Of `x`, whose dimensions the value has; everything is built before `at`. */
static quantisation open(legalizer *l, hilo_inst at, hilo_inst x, hilo_record record) {
  const hilo_quant_attrs a = hilo_quant_get(&l->m->records, record);
  return (quantisation){
      .attrs = a,
      .storage = (hilo_etype)a.storage,
      .expressed = (hilo_etype)a.expressed,
      .real = hilo_chlo_like(l->m, at, x, (hilo_etype)a.expressed),
  };
}

static void put_element(hilo_etype etype, int64_t bits_or_int, bool is_float, char *to) {
  uint64_t word = (uint64_t)bits_or_int;
  if (is_float)
    word = hilo_float_from_double(hilo_etype_float_format(etype), hilo_float_double_of_bits(word));
  memcpy(to, &word, hilo_etype_bytes(etype));
}

/* Blocks along the dimensions that have some, one after another: [blocks, 1 or size of a block]. */
static hilo_inst spread_blocks(const quantisation *q, hilo_inst list, hilo_etype etype) {
  hilo_module *m = q->real.m;
  const hilo_inst at = q->real.at;
  const hilo_dims dims = hilo_type_dims(&m->types, q->real.type);
  int64_t pairs[2 * HILO_MAX_RANK], whole[HILO_MAX_RANK], from[HILO_MAX_RANK], n = 0, n_from = 0;
  bool is_cut = false;
  for (uint32_t d = 0; d < dims.n; d++) {
    int64_t block = 0;
    for (uint32_t k = 0; k < q->attrs.axes.n; k++)
      if (q->attrs.axes.v[k] == d) block = q->attrs.block_sizes.v[k];
    whole[d] = dims.v[d];
    if (block) {
      const int64_t blocks = dims.v[d] / block + (dims.v[d] % block != 0);
      from[n_from++] = n;
      pairs[n++] = blocks;
      pairs[n++] = block;
      whole[d] = blocks * block;
      is_cut |= whole[d] != dims.v[d];
    } else {
      pairs[n++] = dims.v[d];
    }
  }
  const hilo_type apart = hilo_type_array(&m->types, etype, (hilo_dims){pairs, (uint32_t)n});
  const hilo_type joined = hilo_type_array(&m->types, etype, (hilo_dims){whole, dims.n});
  const hilo_inst blocks =
      hilo_build_broadcast(m, at, list, apart, (hilo_dims){from, (uint32_t)n_from});
  const hilo_inst all = hilo_build_reshape(m, at, blocks, joined);
  if (!is_cut) return all;
  int64_t zeros[HILO_MAX_RANK] = {0}, ones[HILO_MAX_RANK];
  for (uint32_t d = 0; d < dims.n; d++) ones[d] = 1;
  const hilo_slice_attrs cut = {
      .starts = {zeros, dims.n}, .limits = dims, .strides = {ones, dims.n}};
  const hilo_inst_desc desc = {.op = HILO_OP_SLICE,
                               .type = hilo_type_array(&m->types, etype, dims),
                               .operands = &all,
                               .n_operands = 1,
                               .attr = hilo_slice_put(&m->records, &cut).ix};
  return hilo_inst_insert_before(m, at, &desc);
}

/* One number, or one an index along an axis, or one a block, everywhere in the array: `values` are
 * bits of doubles or integers, row-major over the dimensions that have several. */
static hilo_inst spread(const quantisation *q, hilo_dims values, hilo_etype etype) {
  hilo_module *m = q->real.m;
  const bool is_float = hilo_etype_is_float(etype);
  const uint32_t bytes = hilo_etype_bytes(etype);
  uint64_t element = 0;
  put_element(etype, values.v[0], is_float, (char *)&element);
  if (values.n == 1) return hilo_chlo_splat(&q->real, etype, &element);
  const hilo_dims dims = hilo_type_dims(&m->types, q->real.type);
  int64_t sizes[HILO_MAX_RANK], to[HILO_MAX_RANK];
  uint32_t n = 0;
  for (uint32_t d = 0; d < dims.n; d++)
    for (uint32_t k = 0; k < q->attrs.axes.n; k++) {
      if (q->attrs.axes.v[k] != d) continue;
      const int64_t block = q->attrs.block_sizes.n ? q->attrs.block_sizes.v[k] : 1;
      sizes[n] =
          q->attrs.block_sizes.n ? dims.v[d] / block + (dims.v[d] % block != 0) : (int64_t)values.n;
      to[n++] = d;
    }
  char *data = hilo_arena_alloc_array(m->arena, values.n, bytes, 8);
  for (uint32_t k = 0; k < values.n; k++)
    put_element(etype, values.v[k], is_float, data + (size_t)k * bytes);
  const hilo_type type = hilo_type_array(&m->types, etype, (hilo_dims){sizes, n});
  const hilo_inst_desc desc = {
      .op = HILO_OP_CONSTANT,
      .type = type,
      .attr = hilo_literal_put(m, type, data, (uint64_t)values.n * bytes, false).ix};
  const hilo_inst list = hilo_inst_insert_before(m, q->real.at, &desc);
  const hilo_type whole = hilo_type_with_etype(&m->types, q->real.type, etype);
  if (hilo_type_eq(type, whole)) return list;
  if (q->attrs.block_sizes.n) return spread_blocks(q, list, etype);
  if (q->real.shape.ix)
    return hilo_chlo_broadcast_to(m, q->real.at, list, q->real.shape, whole, (hilo_dims){to, n});
  return hilo_build_broadcast(m, q->real.at, list, whole, (hilo_dims){to, n});
}

static bool has_zero_points(const quantisation *q) {
  for (uint32_t k = 0; k < q->attrs.zero_points.n; k++)
    if (q->attrs.zero_points.v[k]) return true;
  return false;
}

/* ---- the two ways ---- */

/* (stored - zero point) * scale. The difference is exact. */
static hilo_inst dequantised(legalizer *l, hilo_inst at, hilo_inst x, hilo_record record) {
  enum { INT_BITS = 32 };
  hilo_module *m = l->m;
  const quantisation q = open(l, at, x, record);
  if (has_zero_points(&q)) {
    const hilo_etype wide = hilo_etype_table[q.storage].bits < INT_BITS ? HILO_S32 : HILO_S64;
    x = hilo_build_convert(m, at, x, wide);
    x = hilo_build_binary(m, at, HILO_OP_SUBTRACT, x, spread(&q, q.attrs.zero_points, wide));
  }
  x = hilo_build_convert(m, at, x, q.expressed);
  return hilo_build_binary(m, at, HILO_OP_MULTIPLY, x, spread(&q, q.attrs.scales, q.expressed));
}

static hilo_inst clamp(hilo_module *m, hilo_inst at, hilo_inst low, hilo_inst x, hilo_inst high) {
  const hilo_inst operands[] = {low, x, high};
  const hilo_inst_desc desc = {
      .op = HILO_OP_CLAMP, .type = hilo_inst_type(m, x), .operands = operands, .n_operands = 3};
  return hilo_inst_insert_before(m, at, &desc);
}

static double rounded(hilo_etype etype, double x) {
  const hilo_float_format f = hilo_etype_float_format(etype);
  return hilo_float_to_double(f, hilo_float_from_double(f, x));
}

/* x / scale + zero point, clamped, rounded to even. A bound that is no number of the expressed type
 * is kept by the integers, too. */
static hilo_inst quantised(legalizer *l, hilo_inst at, hilo_inst x, hilo_record record) {
  hilo_module *m = l->m;
  const quantisation q = open(l, at, x, record);
  const unsigned bits = hilo_etype_table[q.storage].bits;
  const bool is_signed = hilo_etype_class_of(q.storage) == HILO_CLASS_SIGNED;
  const int64_t max =
      q.attrs.has_range ? q.attrs.max : (int64_t)((~0ull >> (64 - bits)) >> is_signed);
  const int64_t min = q.attrs.has_range ? q.attrs.min : is_signed ? -max - 1 : 0;
  x = hilo_build_binary(m, at, HILO_OP_DIVIDE, x, spread(&q, q.attrs.scales, q.expressed));
  if (has_zero_points(&q)) {
    int64_t *points = HILO_NEW_ARRAY(l->ctx->scratch, int64_t, q.attrs.zero_points.n);
    for (uint32_t k = 0; k < q.attrs.zero_points.n; k++) {
      const double point = (double)q.attrs.zero_points.v[k];
      memcpy(&points[k], &point, sizeof(point));
    }
    const hilo_dims list = {points, q.attrs.zero_points.n};
    x = hilo_build_binary(m, at, HILO_OP_ADD, x, spread(&q, list, q.expressed));
  }
  x = clamp(m, at, hilo_build_float(m, at, q.expressed, (double)min), x,
            hilo_build_float(m, at, q.expressed, (double)max));
  x = hilo_build_convert(m, at, hilo_build_unary(m, at, HILO_OP_ROUND_NEAREST_EVEN, x), q.storage);
  if (rounded(q.expressed, (double)min) == (double)min &&
      rounded(q.expressed, (double)max) == (double)max)
    return x;
  return clamp(m, at, hilo_build_int(m, at, q.storage, min), x,
               hilo_build_int(m, at, q.storage, max));
}

/* ---- instructions ---- */

/* The operation on real numbers; of quantising and dequantising nothing is left. */
static hilo_inst on_reals(legalizer *l, hilo_inst i, const hilo_inst *reals) {
  hilo_module *m = l->m;
  if (hilo_inst_is(m, i, HILO_OP_UNIFORM_QUANTIZE) ||
      hilo_inst_is(m, i, HILO_OP_UNIFORM_DEQUANTIZE))
    return reals[0];
  const hilo_inst value = hilo_inst_clone_before(m, i, i, reals);
  const hilo_record record = quant_of(l, i);
  if (record.ix)
    hilo_inst_set_type(
        m, value,
        hilo_type_with_etype(&m->types, hilo_inst_type(m, i),
                             (hilo_etype)hilo_quant_get(&m->records, record).expressed));
  return value;
}

static void legalize(legalizer *l, hilo_inst i) {
  hilo_module *m = l->m;
  const hilo_op op = hilo_inst_op(m, i);
  const uint32_t n = hilo_inst_n_operands(m, i);
  bool is_quantised = quant_of(l, i).ix;
  for (uint32_t k = 0; k < n; k++) is_quantised |= quant_of(l, hilo_inst_operand(m, i, k)).ix != 0;
  if (!is_quantised || hilo_eval_is_movement(op) || hilo_op_has(op, HILO_TRAIT_CALLS)) return;
  l->ctx->n_matched++;
  hilo_inst *reals = HILO_NEW_ARRAY(l->ctx->scratch, hilo_inst, n + 1);
  for (uint32_t k = 0; k < n; k++) {
    const hilo_inst x = hilo_inst_operand(m, i, k);
    const hilo_record record = quant_of(l, x);
    const bool is_again = k && x.ix == hilo_inst_operand(m, i, k - 1).ix;
    reals[k] = !record.ix ? x : is_again ? reals[k - 1] : dequantised(l, i, x, record);
  }
  hilo_inst value = on_reals(l, i, reals);
  if (quant_of(l, i).ix) value = quantised(l, i, value, quant_of(l, i));
  HILO_CHECK(hilo_replace_with_fresh(m, i, value));
  l->ctx->n_rewritten++;
}

HILO_DECLARE_PASS(stablehlo_legalize_quant_to_math) {
  legalizer l = {.m = m, .ctx = ctx, .status = HILO_OK};
  if (m->dialect == HILO_DIALECT_HLO || !note_quantised(&l) || l.status != HILO_OK) return l.status;
  *changed = true;
  drop_quantised_types(&l);
  HILO_FOR_EACH_COMP(m, c) {
    hilo_inst next;
    for (hilo_inst i = hilo_comp_last(m, c); i.ix; i = next) {
      next = hilo_inst_prev(m, i);
      legalize(&l, i);
    }
  }
  return l.status;
}
