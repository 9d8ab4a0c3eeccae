/* Dynamic operations become the ones that HLO has, where their sizes are constants or can be
 * computed from constants and static types; what a type says by that flows on to its users. */
#include "passes/stablehlo/legalize.h"

#include "base/vec.h"
#include "eval/eval.h"
#include "ir/infer.h"

/* Of one computation of sizes. */
enum { MAX_FOLDED = 10000, MAX_FOLDED_BYTES = 1 << 16 };

/* ---- constants ---- */

static bool is_constant(const hilo_module *m, hilo_inst i) {
  return hilo_inst_is(m, i, HILO_OP_CONSTANT) &&
         hilo_literal_get(m, hilo_inst_literal(m, i))->kind <= HILO_LITERAL_SPLAT;
}

static hilo_value value_of(hilo_legalizer *l, hilo_inst constant) {
  const hilo_literal_row *row = hilo_literal_get(l->m, hilo_inst_literal(l->m, constant));
  const hilo_type type = {row->type};
  const hilo_type_row *t = hilo_type_row_of(&l->m->types, type);
  if (row->kind == HILO_LITERAL_DENSE) return (hilo_value){.type = type, .data = row->data};
  const uint32_t bytes = hilo_etype_bytes((hilo_etype)t->etype);
  char *data = hilo_arena_alloc(l->ctx->scratch, t->n_elements * bytes + 1, 8);
  for (uint64_t k = 0; k < t->n_elements; k++) memcpy(data + k * bytes, row->data, bytes);
  return (hilo_value){.type = type, .data = data};
}

static bool is_static(const hilo_module *m, hilo_inst i) {
  return !(hilo_type_row_of(&m->types, hilo_inst_type(m, i))->flags & HILO_TYPE_DYNAMIC);
}

/* A size that the operand's type fixes. */
static bool known_size(const hilo_module *m, hilo_inst i) {
  return hilo_inst_is(m, i, HILO_OP_GET_DIMENSION_SIZE) && is_static(m, hilo_inst_operand(m, i, 0));
}

static bool can_fold(const hilo_module *m, hilo_inst i) {
  const hilo_type_row *t = hilo_type_row_of(&m->types, hilo_inst_type(m, i));
  return hilo_inst_has(m, i, HILO_TRAIT_PURE | HILO_TRAIT_ELEMENTWISE) &&
         !hilo_inst_has(m, i, HILO_TRAIT_CALLS | HILO_TRAIT_VIEW) &&
         !hilo_inst_is(m, i, HILO_OP_PARAMETER) && hilo_etype_is_array((hilo_etype)t->etype) &&
         is_static(m, i) && t->bytes <= MAX_FOLDED_BYTES;
}

/* The constant that `i`, whose operands are constants, gives; in its place. */
static hilo_inst fold_one(hilo_legalizer *l, hilo_inst i) {
  hilo_module *m = l->m;
  if (known_size(m, i)) {
    const int64_t size = hilo_inst_dims(m, hilo_inst_operand(m, i, 0)).v[hilo_inst_index(m, i)];
    return hilo_build_int(m, i, hilo_inst_etype(m, i), size);
  }
  const uint32_t n = hilo_inst_n_operands(m, i);
  hilo_value *operands = HILO_NEW_ARRAY(l->ctx->scratch, hilo_value, n + 1), result;
  for (uint32_t k = 0; k < n; k++) operands[k] = value_of(l, hilo_inst_operand(m, i, k));
  hilo_scratch one;
  hilo_scratch_init(&one, l->ctx->scratch);
  hilo_heap heap = {.max = 64 * MAX_FOLDED_BYTES};
  const hilo_eval eval = {
      .m = m, .types = &m->types, .heap = &heap, .scratch = &one.arena, .diags = NULL};
  hilo_inst constant = HILO_INST_NONE;
  if (hilo_eval_inst(&eval, i, operands, &result) == HILO_OK) {
    const hilo_type_row *t = hilo_type_row_of(&m->types, result.type);
    const hilo_inst_desc desc = {
        .op = HILO_OP_CONSTANT,
        .type = result.type,
        .attr = hilo_literal_put(m, result.type, result.data,
                                 t->n_elements * hilo_etype_bytes((hilo_etype)t->etype), true)
                    .ix};
    constant = hilo_inst_insert_before(m, i, &desc);
    hilo_value_release(&eval, &result);
  }
  hilo_heap_clear(&heap);
  hilo_scratch_deinit(&one);
  return constant;
}

/* `i` computed now, with all it needs; none if something is not known. */
static hilo_inst fold(hilo_legalizer *l, hilo_inst wanted) {
  hilo_module *m = l->m;
  hilo_vec(hilo_inst) stack = {0};
  hilo_inst result = HILO_INST_NONE;
  uint32_t steps = 0;
  if (is_constant(m, wanted)) return wanted;
  HILO_PUSH(l->ctx->scratch, &stack, wanted);
  while (stack.n) {
    const hilo_inst i = stack.v[stack.n - 1];
    if (++steps > MAX_FOLDED || (!can_fold(m, i) && !known_size(m, i))) return HILO_INST_NONE;
    uint32_t k = 0;
    const uint32_t n = known_size(m, i) ? 0 : hilo_inst_n_operands(m, i);
    while (k < n && is_constant(m, hilo_inst_operand(m, i, k))) k++;
    if (k < n) {
      HILO_PUSH(l->ctx->scratch, &stack, hilo_inst_operand(m, i, k));
      continue;
    }
    result = fold_one(l, i);
    if (!result.ix) return HILO_INST_NONE;
    hilo_inst_replace_uses(m, i, result);
    stack.n--;
  }
  return result;
}

/* The integers of operand k, or n = UINT32_MAX. */
static hilo_dims ints_of(hilo_legalizer *l, hilo_inst i, uint32_t k) {
  const hilo_dims unknown = {NULL, UINT32_MAX};
  const hilo_inst constant = fold(l, hilo_inst_operand(l->m, i, k));
  if (!constant.ix) return unknown;
  const hilo_etype etype = hilo_inst_etype(l->m, constant);
  const uint64_t n = hilo_type_row_of(&l->m->types, hilo_inst_type(l->m, constant))->n_elements;
  if (!hilo_etype_is_integer(etype) || n > 2 * HILO_MAX_RANK) return unknown;
  int64_t *list = HILO_NEW_ARRAY(l->ctx->scratch, int64_t, n + 1);
  const uint32_t bits = hilo_etype_table[etype].bits;
  for (uint64_t e = 0; e < n; e++) {
    uint64_t word = 0;
    memcpy(&word, hilo_literal_element(l->m, hilo_inst_literal(l->m, constant), e),
           hilo_etype_bytes(etype));
    list[e] = (int64_t)word;
    if (hilo_etype_class_of(etype) == HILO_CLASS_SIGNED && bits < 64)
      list[e] = (int64_t)(word << (64 - bits)) >> (64 - bits);
  }
  return (hilo_dims){list, (uint32_t)n};
}

/* ---- operations ---- */

/* The result's dimensions: as declared, else by the operand that lists them. */
static bool result_type(hilo_legalizer *l, hilo_inst i, uint32_t k, hilo_type *out) {
  hilo_module *m = l->m;
  *out = hilo_inst_type(m, i);
  if (is_static(m, i)) return true;
  const hilo_dims dims = ints_of(l, i, k);
  if (dims.n != hilo_inst_dims(m, i).n) return false;
  for (uint32_t d = 0; d < dims.n; d++)
    if (dims.v[d] < 0) return false;
  *out = hilo_type_array(&m->types, hilo_inst_etype(m, i), dims);
  return true;
}

/* An instruction on the first `n` operands of `i`, instead of it. */
static void become(hilo_legalizer *l, hilo_inst i, hilo_op op, hilo_type type, uint32_t n,
                   uint32_t attr) {
  hilo_module *m = l->m;
  hilo_inst operands[2];
  for (uint32_t k = 0; k < n; k++) operands[k] = hilo_inst_operand(m, i, k);
  hilo_inst_desc desc = {.op = op,
                         .type = type,
                         .operands = operands,
                         .n_operands = n,
                         .attr = attr,
                         .extra = hilo_inst_extra_record(m, i)};
  if (!type.ix) {
    desc.type = hilo_inst_type(m, i);
    desc.type = hilo_infer_desc(m, &desc);
  }
  if (!desc.type.ix) {
    hilo_legalize_refuse(l, i, "the sizes that `%s` takes do not fit its operand",
                         hilo_op_name(hilo_inst_op(m, i)));
    return;
  }
  hilo_legalize_replace(l, i, hilo_inst_insert_before(m, i, &desc));
}

static void pad(hilo_legalizer *l, hilo_inst i) {
  const hilo_pad_attrs a = {
      .low = ints_of(l, i, 2), .high = ints_of(l, i, 3), .interior = ints_of(l, i, 4)};
  const uint32_t rank = hilo_inst_dims(l->m, i).n;
  if (a.low.n != rank || a.high.n != rank || a.interior.n != rank) return;
  become(l, i, HILO_OP_PAD, HILO_TYPE_NONE, 2, hilo_pad_put(&l->m->records, &a).ix);
}

static void slice(hilo_legalizer *l, hilo_inst i) {
  const hilo_slice_attrs a = {
      .starts = ints_of(l, i, 1), .limits = ints_of(l, i, 2), .strides = ints_of(l, i, 3)};
  const uint32_t rank = hilo_inst_dims(l->m, i).n;
  if (a.starts.n != rank || a.limits.n != rank || a.strides.n != rank) return;
  become(l, i, HILO_OP_SLICE, HILO_TYPE_NONE, 1, hilo_slice_put(&l->m->records, &a).ix);
}

static void gather(hilo_legalizer *l, hilo_inst i) {
  hilo_gather_attrs a = hilo_attrs(l->m, i, gather);
  a.slice_sizes = ints_of(l, i, 2);
  if (a.slice_sizes.n != hilo_inst_dims(l->m, hilo_inst_operand(l->m, i, 0)).n) return;
  become(l, i, HILO_OP_GATHER, HILO_TYPE_NONE, 2, hilo_gather_put(&l->m->records, &a).ix);
}

/* The padding is a matrix: low and high of each spatial dimension. */
static void convolution(hilo_legalizer *l, hilo_inst i) {
  hilo_module *m = l->m;
  hilo_conv_attrs a = hilo_attrs(m, i, conv);
  hilo_window_attrs w = hilo_window_get(&m->records, a.window);
  const hilo_dims list = ints_of(l, i, 2);
  int64_t low[HILO_MAX_RANK], high[HILO_MAX_RANK];
  if (list.n != 2 * w.size.n) return;
  for (uint32_t d = 0; d < w.size.n; d++) {
    low[d] = list.v[2 * d];
    high[d] = list.v[2 * d + 1];
  }
  w.pad_low = (hilo_dims){low, w.size.n};
  w.pad_high = (hilo_dims){high, w.size.n};
  a.window = hilo_window_put(&m->records, &w);
  become(l, i, HILO_OP_CONVOLUTION, HILO_TYPE_NONE, 2, hilo_conv_put(&m->records, &a).ix);
}

static void broadcast(hilo_legalizer *l, hilo_inst i) {
  hilo_type type;
  const hilo_dims_attrs a = {.dims = hilo_attrs(l->m, i, dynamic_broadcast).dims};
  if (result_type(l, i, 1, &type))
    become(l, i, HILO_OP_BROADCAST, type, 1, hilo_dims_put(&l->m->records, &a).ix);
}

/* HLO's own dynamic-reshape takes a scalar per dimension, StableHLO's one vector. */
static bool takes_vector(const hilo_module *m, hilo_inst i) {
  return hilo_inst_n_operands(m, i) == 2 && hilo_inst_dims(m, hilo_inst_operand(m, i, 1)).n == 1;
}

void hilo_legalize_dynamic(hilo_legalizer *l, hilo_inst i) {
  hilo_type type;
  switch (hilo_inst_op(l->m, i)) {
  case HILO_OP_DYNAMIC_BROADCAST_IN_DIM: broadcast(l, i); break;
  case HILO_OP_DYNAMIC_RESHAPE:
    if (takes_vector(l->m, i) && result_type(l, i, 1, &type))
      become(l, i, HILO_OP_RESHAPE, type, 1, 0);
    break;
  case HILO_OP_DYNAMIC_IOTA:
    if (result_type(l, i, 0, &type)) become(l, i, HILO_OP_IOTA, type, 0, hilo_inst_index(l->m, i));
    break;
  case HILO_OP_DYNAMIC_PAD: pad(l, i); break;
  case HILO_OP_REAL_DYNAMIC_SLICE: slice(l, i); break;
  case HILO_OP_DYNAMIC_GATHER: gather(l, i); break;
  case HILO_OP_DYNAMIC_CONV: convolution(l, i); break;
  default: break;
  }
}

/* ---- types ---- */

void hilo_legalize_refine(hilo_legalizer *l, hilo_inst i) {
  hilo_module *m = l->m;
  const hilo_type type = hilo_inst_type(m, i);
  if (!(hilo_type_row_of(&m->types, type)->flags & HILO_TYPE_DYNAMIC)) return;
  const uint32_t n = hilo_inst_n_operands(m, i);
  if (!n || hilo_inst_n_called(m, i)) return;
  for (uint32_t k = 0; k < n; k++)
    if (!is_static(m, hilo_inst_operand(m, i, k))) return;
  hilo_inst *operands = HILO_NEW_ARRAY(l->ctx->scratch, hilo_inst, n);
  for (uint32_t k = 0; k < n; k++) operands[k] = hilo_inst_operand(m, i, k);
  const hilo_inst_desc desc = {.op = hilo_inst_op(m, i),
                               .type = type,
                               .operands = operands,
                               .n_operands = n,
                               .attr = hilo_inst_attr(m, i).ix};
  const hilo_type better = hilo_infer_desc(m, &desc);
  if (better.ix && hilo_type_etype(&m->types, better) == hilo_type_etype(&m->types, type))
    hilo_inst_set_type(m, i, better);
}

static bool is_unbounded(const hilo_module *m, hilo_type type, uint32_t *dim) {
  if (!hilo_type_is_array(&m->types, type)) return false;
  const hilo_dims dims = hilo_type_dims(&m->types, type);
  for (*dim = 0; *dim < dims.n; ++*dim)
    if (dims.v[*dim] == HILO_UNBOUNDED) return true;
  return false;
}

static void refuse_params(hilo_legalizer *l) {
  hilo_module *m = l->m;
  for (uint32_t k = 0; m->entry.ix && k < hilo_comp_n_params(m, m->entry); k++) {
    const hilo_inst param = hilo_comp_param(m, m->entry, k);
    const hilo_dims dims = hilo_inst_dims(m, param);
    if (!hilo_type_is_array(&m->types, hilo_inst_type(m, param))) continue;
    for (uint32_t d = 0; d < dims.n; d++) {
      if (dims.v[d] != HILO_UNBOUNDED) continue;
      hilo_sb type = hilo_sb_make(l->ctx->scratch);
      hilo_type_print(&m->types, &m->records, &m->strings, hilo_inst_type(m, param), false, &type);
      l->status = hilo_inst_error(m, l->ctx->diags, HILO_DIAG_EMOD025, param,
                                  "dimension %u of argument %u, `%.*s`, is dynamic", d, k,
                                  HILO_FMT(hilo_sb_view(&type)));
      hilo_sb_free(&type);
    }
  }
}

void hilo_legalize_check_dynamic(hilo_legalizer *l) {
  hilo_module *m = l->m;
  uint32_t dim;
  refuse_params(l);
  if (l->status != HILO_OK) return;
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      if (!is_unbounded(m, hilo_inst_type(m, i), &dim)) continue;
      hilo_legalize_refuse(l, i,
                           "dimension %u of what `%s` gives is known at run time only: HLO needs "
                           "sizes that are constants or computed from them",
                           dim, hilo_op_name(hilo_inst_op(m, i)));
    }
  }
}
