/* 14 neuron-inst-combine: a reduction of a slice, beside the same reduction of the whole, is a
 * slice of that one's result.
 *
 *   r1 = reduce(x, i) {D1, f};  s = slice(x);  r2 = reduce(s, i) {D2, f}  →
 *     r2 = slice(r1), reshaped to the old type
 *
 * Sums are of the same elements in the same order, so the result is equal bit by bit. Conditions:
 * one input each; s has no other use; equal bodies and initial values; nothing is cut off in a
 * dimension of D1 or D2; a dimension in only one of them has one element; no control edges and no
 * no-opt marks. r1 moves before r2 if it stood later. Entry only.
 *
 * Reductions are found by a key (operand, initial value, body, the dimensions with more than one
 * element), and a rewrite queues what it may have made possible: a second run finds nothing.
 * O(instructions). */
#include "analysis/canonical.h"
#include "base/vec.h"
#include "passes/passes.h"
#include "rewrite/build.h"
#include "rewrite/neuron_attrs.h"
#include "rewrite/replace.h"

typedef struct {
  hilo_module *m;
  hilo_pass_ctx *ctx;
  hilo_canonical *bodies; /* no body changes here */
  hilo_map by_key;        /* → the first reduction of the entry with that key */
  hilo_vec(hilo_inst) queue;
} combiner;

static bool is_plain_reduce(const hilo_module *m, hilo_inst i) {
  return hilo_inst_is(m, i, HILO_OP_REDUCE) && hilo_inst_n_operands(m, i) == 2 &&
         !hilo_control_has(m, i) && !hilo_neuron_of_inst(m, i).no_opt.ix;
}

/* ---- keys ---- */

/* Scalars: the same instruction, or equal constants. */
static uint64_t value_key(const hilo_module *m, hilo_inst i) {
  if (!hilo_inst_is(m, i, HILO_OP_CONSTANT)) return hilo_ix(m, i);
  const hilo_literal_row *row = hilo_literal_get(m, hilo_inst_literal(m, i));
  return hilo_hash_combine(row->type, hilo_hash_bytes(row->data, row->bytes));
}

static bool same_value(const hilo_module *m, hilo_inst a, hilo_inst b) {
  if (hilo_inst_eq(a, b)) return true;
  return hilo_inst_is(m, a, HILO_OP_CONSTANT) && hilo_inst_is(m, b, HILO_OP_CONSTANT) &&
         hilo_literal_eq(m, hilo_inst_literal(m, a), hilo_inst_literal(m, b));
}

static bool is_wide_reduced(hilo_dims reduced, hilo_dims of, uint32_t d) {
  return of.v[d] != 1 && hilo_dims_contain(reduced, d);
}

/* The key of `reduce` as if its operand were `x`, which has the same rank. */
static uint64_t reduce_key(combiner *c, hilo_inst reduce, hilo_inst x) {
  const hilo_module *m = c->m;
  const hilo_dims reduced = hilo_attrs(m, reduce, dims).dims, of = hilo_inst_dims(m, x);
  const hilo_digest body = hilo_canonical_digest(c->bodies, hilo_inst_called(m, reduce, 0));
  uint64_t key = hilo_hash_combine(hilo_ix(m, x), value_key(m, hilo_inst_operand(m, reduce, 1)));
  key = hilo_hash_combine(key, hilo_hash_bytes(&body, sizeof(body)));
  for (uint32_t d = 0; d < of.n; d++)
    if (is_wide_reduced(reduced, of, d)) key = hilo_hash_combine(key, d);
  return key;
}

/* What equal keys promise, looked at. */
static bool reduce_alike(combiner *c, hilo_inst whole, hilo_inst part, hilo_inst x) {
  const hilo_module *m = c->m;
  if (!hilo_inst_eq(hilo_inst_operand(m, whole, 0), x) || hilo_inst_eq(whole, part) ||
      !same_value(m, hilo_inst_operand(m, whole, 1), hilo_inst_operand(m, part, 1)) ||
      !hilo_digest_eq(hilo_canonical_digest(c->bodies, hilo_inst_called(m, whole, 0)),
                      hilo_canonical_digest(c->bodies, hilo_inst_called(m, part, 0))))
    return false;
  const hilo_dims of = hilo_inst_dims(m, x), a = hilo_attrs(m, whole, dims).dims,
                  b = hilo_attrs(m, part, dims).dims;
  for (uint32_t d = 0; d < of.n; d++)
    if (is_wide_reduced(a, of, d) != is_wide_reduced(b, of, d)) return false;
  return true;
}

/* ---- the rewrite ---- */

/* Does the slice keep all of every dimension that either reduction is over? */
static bool keeps_reduced(const hilo_module *m, hilo_inst slice, hilo_dims a, hilo_dims b) {
  const hilo_slice_attrs s = hilo_attrs(m, slice, slice);
  const hilo_dims of = hilo_inst_dims(m, hilo_inst_operand(m, slice, 0));
  for (uint32_t d = 0; d < of.n; d++) {
    if (!hilo_dims_contain(a, d) && !hilo_dims_contain(b, d)) continue;
    if (s.starts.v[d] != 0 || s.limits.v[d] != of.v[d] || s.strides.v[d] != 1) return false;
  }
  return true;
}

static hilo_inst slice_of(combiner *c, hilo_inst whole, hilo_inst slice, hilo_inst part) {
  hilo_module *m = c->m;
  const hilo_slice_attrs s = hilo_attrs(m, slice, slice);
  const hilo_dims reduced = hilo_attrs(m, whole, dims).dims, of = hilo_inst_dims(m, whole);
  const hilo_dims kept = hilo_inst_dims(m, slice);
  int64_t starts[HILO_MAX_RANK], limits[HILO_MAX_RANK], strides[HILO_MAX_RANK],
      sizes[HILO_MAX_RANK];
  uint32_t n = 0;
  bool is_identity = true;
  for (uint32_t d = 0; d < kept.n; d++) {
    if (hilo_dims_contain(reduced, d)) continue;
    starts[n] = s.starts.v[d], limits[n] = s.limits.v[d], strides[n] = s.strides.v[d];
    sizes[n] = kept.v[d];
    is_identity &= sizes[n] == of.v[n];
    n++;
  }
  hilo_inst value = whole;
  if (!is_identity) {
    const hilo_slice_attrs attrs = {{starts, n}, {limits, n}, {strides, n}};
    const hilo_inst_desc desc = {
        .op = HILO_OP_SLICE,
        .type = hilo_type_array(&m->types, hilo_inst_etype(m, whole), (hilo_dims){sizes, n}),
        .operands = &whole,
        .n_operands = 1,
        .attr = hilo_slice_put(&m->records, &attrs).ix,
        .meta = hilo_inst_meta_record(m, part)};
    value = hilo_inst_insert_before(m, part, &desc);
    m->inst.ordinal[hilo_ix(m, value)] = hilo_inst_ordinal(m, part);
  }
  if (hilo_type_compatible(&m->types, hilo_inst_type(m, value), hilo_inst_type(m, part)))
    return value;
  return hilo_build_reshape(m, part, value, hilo_inst_type(m, part));
}

static void raise_above(hilo_module *m, hilo_inst whole, hilo_inst part) {
  if (hilo_inst_before(m, whole, part)) return;
  const hilo_inst init = hilo_inst_operand(m, whole, 1);
  if (!hilo_inst_before(m, init, part))
    hilo_inst_set_operand(m, whole, 1, hilo_inst_operand(m, part, 1));
  hilo_inst_move(m, whole, whole, hilo_inst_comp(m, part), part);
}

/* A slice with one use, by a reduction, may now be such a pair. */
static void enqueue(combiner *c, hilo_inst slice) {
  if (hilo_inst_is(c->m, slice, HILO_OP_SLICE)) HILO_PUSH(c->ctx->scratch, &c->queue, slice);
}

static bool combine(combiner *c, hilo_inst slice) {
  hilo_module *m = c->m;
  if (!hilo_inst_is(m, slice, HILO_OP_SLICE) || !hilo_inst_has_one_use(m, slice) ||
      hilo_inst_is_root(m, slice) || hilo_control_has(m, slice) ||
      hilo_neuron_of_inst(m, slice).no_opt.ix)
    return false;
  const hilo_inst part = hilo_use_user(m, hilo_first_use(m, slice));
  if (!is_plain_reduce(m, part) || !hilo_inst_eq(hilo_inst_operand(m, part, 0), slice))
    return false;
  const hilo_inst x = hilo_inst_operand(m, slice, 0);
  const uint32_t found = hilo_map_get(&c->by_key, reduce_key(c, part, x), 0);
  if (!found) return false;
  const hilo_inst whole = hilo_inst_at(m, found);
  if (!is_plain_reduce(m, whole) || !reduce_alike(c, whole, part, x)) return false;
  c->ctx->n_matched++;
  if (!keeps_reduced(m, slice, hilo_attrs(m, whole, dims).dims, hilo_attrs(m, part, dims).dims))
    return false;
  raise_above(m, whole, part);
  const hilo_inst value = slice_of(c, whole, slice, part);
  if (hilo_inst_eq(value, whole))
    hilo_replace_with_existing(m, part, value);
  else
    hilo_replace_with_fresh(m, part, value);
  hilo_erase(m, slice);
  enqueue(c, value);
  enqueue(c, x);
  c->ctx->n_rewritten++;
  return true;
}

HILO_DECLARE_PASS(neuron_inst_combine) {
  combiner c = {.m = m, .ctx = ctx, .by_key = hilo_map_make(ctx->scratch)};
  HILO_FOR_EACH_INST(m, m->entry, i) {
    enqueue(&c, i);
    if (!is_plain_reduce(m, i)) continue;
    if (!c.bodies) c.bodies = hilo_canonical_make(m, ctx->scratch);
    bool inserted;
    uint32_t *first =
        hilo_map_at(&c.by_key, reduce_key(&c, i, hilo_inst_operand(m, i, 0)), &inserted);
    if (inserted) *first = hilo_ix(m, i);
  }
  for (uint32_t k = 0; c.bodies && k < c.queue.n; k++) *changed |= combine(&c, c.queue.v[k]);
  HILO_VEC_FREE(ctx->scratch, &c.queue);
  return HILO_OK;
}
