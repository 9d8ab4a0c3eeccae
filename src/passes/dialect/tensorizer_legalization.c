/* 28 tensorizer-legalization: every result of the entry is named on the operation that writes it.
 *
 * Stage A: splat constants larger than --constant-decomposition-threshold bytes become a broadcast
 * scalar. Stage B: empty.h takes the zero-sized values out. Then, per output:
 *
 *   a parameter or constant, or a view of one    a copy right behind it, which is named
 *   a value that an earlier output returned      a copy of it, which is named
 *   an AwsNeuronControlDep call                  its data operand, then as below
 *   a result of a fusion                         the value in its body that the root returns
 *   anything else                                in place
 *
 * The name (`output_names[i]`, else `output<i>`) goes into the `sym_names` of the producing
 * operation: one slot per result, other slots kept. O(outputs + constants). */
#include "analysis/custom_call.h"
#include "base/vec.h"
#include "passes/dialect/empty.h"
#include "passes/dialect/outputs.h"
#include "passes/passes.h"
#include "rewrite/build.h"
#include "rewrite/neuron_attrs.h"
#include "rewrite/replace.h"

/* ---- stage A ---- */

static bool split_splats(hilo_module *m, hilo_pass_ctx *ctx) {
  const int64_t threshold = ctx->options->constant_decomposition_threshold;
  bool changed = false;
  HILO_FOR_EACH_INST_SAFE(m, m->entry, i) {
    if (!hilo_inst_is(m, i, HILO_OP_CONSTANT)) continue;
    const hilo_literal_row row = *hilo_literal_get(m, hilo_inst_literal(m, i));
    const hilo_type type = hilo_inst_type(m, i);
    const hilo_type_row *shape = hilo_type_row_of(&m->types, type);
    if (row.kind != HILO_LITERAL_SPLAT || shape->n == 0 || threshold < 0 ||
        shape->bytes <= (uint64_t)threshold)
      continue;
    ctx->n_matched++;
    const hilo_type scalar = hilo_type_scalar(&m->types, hilo_type_etype(&m->types, type));
    const hilo_inst value = hilo_build_splat(m, i, scalar, row.data);
    hilo_inst_set_meta(m, value, hilo_inst_meta_record(m, i));
    hilo_replace_with_fresh(m, i, hilo_build_broadcast(m, i, value, type, HILO_DIMS_NONE));
    ctx->n_rewritten++;
    changed = true;
  }
  return changed;
}

/* ---- naming ---- */

typedef struct {
  hilo_module *m;
  hilo_pass_ctx *ctx;
  hilo_map returned; /* results that an earlier output returns: instruction and number */
  hilo_inst front; /* the first instruction that is no parameter: copies of these stand before it */
  bool changed;
} namer;

static hilo_string output_name(namer *n, uint32_t k) {
  hilo_module *m = n->m;
  if (k < m->header.output_names.n && m->header.output_names.v[k])
    return (hilo_string){(uint32_t)m->header.output_names.v[k]};
  hilo_sb sb = hilo_sb_make(n->ctx->scratch);
  hilo_sb_printf(&sb, "output%u", k);
  const hilo_string name = hilo_module_string(m, hilo_sb_view(&sb));
  hilo_sb_free(&sb);
  return name;
}

static uint32_t n_results(const hilo_module *m, hilo_inst i) {
  const hilo_type type = hilo_inst_type(m, i);
  return hilo_type_is_tuple(&m->types, type) ? hilo_type_n_elements_of_tuple(&m->types, type) : 1;
}

/* Slot `k` of the names of `i`. */
static void set_name(namer *n, hilo_inst i, uint32_t k, hilo_string name) {
  hilo_module *m = n->m;
  hilo_neuron_attrs neuron = hilo_neuron_of_inst(m, i);
  const uint32_t size = n_results(m, i);
  int64_t *slots = HILO_NEW_ZEROED(n->ctx->scratch, int64_t, size + 1);
  for (uint32_t s = 0; s < size && s < neuron.sym_names.n; s++) slots[s] = neuron.sym_names.v[s];
  if (slots[k] == name.ix) return;
  slots[k] = name.ix;
  neuron.sym_names = (hilo_dims){slots, size};
  hilo_inst_set_neuron(m, i, &neuron);
  n->changed = true;
}

/* The value in the body of a fusion that its result k is. */
static hilo_inst body_result(hilo_module *m, hilo_inst fusion, uint32_t k) {
  const hilo_inst root = hilo_comp_root(m, hilo_inst_own_called(m, fusion, 0));
  return hilo_inst_is(m, root, HILO_OP_TUPLE) ? hilo_inst_operand(m, root, k) : root;
}

/* Name result `k` of `i`; a body that hands a parameter through is named at the fusion. */
static void name_result(namer *n, hilo_inst i, uint32_t k, hilo_string name) {
  const hilo_module *m = n->m;
  for (;;) {
    if (hilo_inst_is(m, i, HILO_OP_GET_TUPLE_ELEMENT)) {
      k = hilo_inst_index(m, i);
      i = hilo_inst_operand(m, i, 0);
      continue;
    }
    if (!hilo_inst_is(m, i, HILO_OP_FUSION)) break;
    const hilo_inst inner = body_result(n->m, i, k);
    const bool is_written = !hilo_inst_is(m, hilo_view_source(m, inner), HILO_OP_PARAMETER) &&
                            !hilo_inst_is(m, inner, HILO_OP_CONSTANT);
    if (!is_written || hilo_type_is_tuple(&m->types, hilo_inst_type(m, inner))) break;
    i = inner;
    k = 0;
  }
  set_name(n, i, k, name);
}

/* ---- copies ---- */

static hilo_string shape_text(namer *n, hilo_type type) {
  const hilo_dims dims = hilo_type_dims(&n->m->types, type);
  hilo_sb sb = hilo_sb_make(n->ctx->scratch);
  hilo_sb_char(&sb, '[');
  for (uint32_t d = 0; d < dims.n; d++) {
    if (d) hilo_sb_char(&sb, ',');
    hilo_sb_i64(&sb, dims.v[d]);
  }
  hilo_sb_char(&sb, ']');
  const hilo_string text = hilo_module_string(n->m, hilo_sb_view(&sb));
  hilo_sb_free(&sb);
  return text;
}

/* Right behind the value; of a parameter, where the body begins. */
static hilo_inst copy_of(namer *n, hilo_inst value) {
  hilo_module *m = n->m;
  const bool of_param = hilo_inst_is(m, value, HILO_OP_PARAMETER);
  if (of_param && n->front.ix && hilo_inst_before(m, n->front, value) &&
      !hilo_control_has(m, value))
    hilo_inst_move(m, value, value, m->entry, n->front);
  const bool at_front = of_param && n->front.ix && hilo_inst_before(m, value, n->front);
  const hilo_inst_desc desc = {.op = HILO_OP_COPY,
                               .type = hilo_inst_type(m, value),
                               .operands = &value,
                               .n_operands = 1,
                               .meta = hilo_inst_meta_record(m, value)};
  const hilo_inst copy = at_front ? hilo_inst_insert_before(m, n->front, &desc)
                                  : hilo_inst_insert_after(m, value, &desc);
  m->inst.ordinal[hilo_ix(m, copy)] = m->inst.ordinal[hilo_ix(m, value)];
  if (n->ctx->options->stablehlo) {
    hilo_neuron_attrs neuron = {.actual_shape = shape_text(n, hilo_inst_type(m, value))};
    hilo_inst_set_neuron(m, copy, &neuron);
  }
  n->ctx->n_rewritten++;
  n->changed = true;
  return copy;
}

static hilo_inst through_control_deps(const hilo_module *m, hilo_inst value) {
  while (hilo_is_custom_call_to(m, value, HILO_TARGET_CONTROL_DEP))
    value = hilo_inst_operand(m, value, hilo_inst_n_operands(m, value) - 1);
  return value;
}

/* Does an earlier output return this result? From now on one does. */
static bool is_returned_again(namer *n, hilo_inst value) {
  const hilo_module *m = n->m;
  uint64_t result = (uint64_t)hilo_ix(m, value) << 32;
  if (hilo_inst_is(m, value, HILO_OP_GET_TUPLE_ELEMENT))
    result = ((uint64_t)hilo_ix(m, hilo_inst_operand(m, value, 0)) << 32) +
             hilo_inst_index(m, value) + 1;
  bool inserted;
  (void)hilo_map_at(&n->returned, result, &inserted);
  return !inserted;
}

static void legalize_output(namer *n, uint32_t k) {
  hilo_module *m = n->m;
  const hilo_inst old = hilo_output(m, k);
  const hilo_type type = hilo_inst_type(m, old);
  if (!hilo_type_is_array(&m->types, type)) return; /* step 26 did not run */
  n->ctx->n_matched++;
  hilo_inst value = through_control_deps(m, old);
  const hilo_inst source = hilo_view_source(m, value);
  const bool is_fixed =
      hilo_inst_is(m, source, HILO_OP_PARAMETER) || hilo_inst_is(m, source, HILO_OP_CONSTANT);
  if (is_fixed || is_returned_again(n, value)) value = copy_of(n, value);
  if (!hilo_inst_eq(value, old)) {
    hilo_set_output(m, k, value);
    n->changed = true;
  }
  name_result(n, value, 0, output_name(n, k));
}

static hilo_inst first_of_body(const hilo_module *m) {
  hilo_inst i = hilo_comp_first(m, m->entry);
  while (i.ix && hilo_inst_is(m, i, HILO_OP_PARAMETER)) i = hilo_inst_next(m, i);
  return i;
}

HILO_DECLARE_PASS(tensorizer_legalization) {
  *changed |= split_splats(m, ctx);
  *changed |= hilo_remove_empty(m, ctx);
  namer n = {.m = m, .ctx = ctx, .front = first_of_body(m)};
  n.returned = hilo_map_make(ctx->scratch);
  const uint32_t n_outputs = hilo_n_outputs(m);
  for (uint32_t k = 0; k < n_outputs; k++) legalize_output(&n, k);
  hilo_map_free(&n.returned);
  *changed |= n.changed;
  return HILO_OK;
}
