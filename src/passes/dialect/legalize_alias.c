/* 29 legalize-alias: an output that shares a parameter's buffer is written only after every read of
 * it.
 *
 * Let W be the operation that produces output o, aliased to parameter p, and R those that read p or
 * a view of it. The pair is safe iff every other r in R stands before W, and W, if it reads p
 * itself, does so directly and index by index: elementwise of equal width, copy, or as the operand
 * that a dynamic-update-slice or scatter updates. Results of multi-result operations and of fusions
 * are never safe.
 *
 * An unsafe pair gets a copy of the value behind the last read of *every* aliased parameter, in
 * output order (so swaps read temporaries); the name moves to it. A copy that step 28 made is moved
 * there instead, if what it copies lies in no aliased buffer. With --drop-unsafe-may-alias an
 * unsafe may-alias is dropped. O(pairs + reads), each view visited once. */
#include "analysis/custom_call.h"
#include "base/vec.h"
#include "passes/dialect/empty.h"
#include "passes/dialect/outputs.h"
#include "passes/passes.h"
#include "rewrite/neuron_attrs.h"
#include "rewrite/replace.h"

typedef struct {
  uint32_t alias;  /* of the header */
  uint32_t output; /* number */
  hilo_inst param, last_read;
  bool unsafe;
} pair;

typedef struct {
  hilo_module *m;
  hilo_pass_ctx *ctx;
  hilo_vec(pair) pairs;
  hilo_inst last_read; /* of all aliased parameters; none: nothing reads them */
  bool changed;
} aliaser;

/* ---- the table ---- */

static hilo_status report(aliaser *a, uint32_t alias, const char *what, long long number) {
  return hilo_diag_add(a->ctx->diags, HILO_DIAG_EMOD916, &HILO_NOWHERE,
                       "entry %u of input_output_alias: %s %lld", alias, what, number);
}

static bool same_buffer(const hilo_module *m, hilo_type output, hilo_type param) {
  if (hilo_type_is_empty(m, param)) return true; /* nothing is stored */
  return hilo_type_compatible(&m->types, output, param);
}

/* Each alias once, its output and parameter found and of one type. */
static hilo_status read_table(aliaser *a) {
  const hilo_module *m = a->m;
  hilo_status status = HILO_OK;
  uint64_t *params = hilo_bitset_create(a->ctx->scratch, hilo_comp_n_params(m, m->entry));
  uint64_t *outputs = hilo_bitset_create(a->ctx->scratch, hilo_n_outputs(m));
  for (uint32_t k = 0; k < m->header.aliases.n; k++) {
    const hilo_alias *alias = &m->header.aliases.v[k];
    pair p = {.alias = k};
    if (!hilo_alias_output(m, alias, &p.output)) {
      status = report(a, k, "there is no such output; outputs:", hilo_n_outputs(m));
    } else if (alias->param < 0 || alias->param >= hilo_comp_n_params(m, m->entry)) {
      status = report(a, k, "there is no parameter", alias->param);
    } else if (alias->param_index.n) {
      continue; /* a part of a tuple parameter, which the printer takes apart: nobody writes it */
    } else if (!hilo_bitset_insert(params, (uint32_t)alias->param)) {
      status = report(a, k, "another output already has the buffer of parameter", alias->param);
    } else if (!hilo_bitset_insert(outputs, p.output)) {
      status = report(a, k, "another parameter already gives its buffer to output", p.output);
    } else {
      p.param = hilo_comp_param(m, m->entry, (uint32_t)alias->param);
      const hilo_type type = hilo_inst_type(m, hilo_output(m, p.output));
      if (same_buffer(m, type, hilo_inst_type(m, p.param)))
        HILO_PUSH(a->ctx->scratch, &a->pairs, p);
      else
        status = report(a, k, "the types of output and parameter differ, output", p.output);
    }
  }
  return status;
}

/* An output that is a parameter, or a view of one, would be read when it is copied late. Step 28
 * has copied these; where it did not run, that is done here. */
static void copy_parameters(aliaser *a) {
  hilo_module *m = a->m;
  for (uint32_t k = 0; k < a->pairs.n; k++) {
    const uint32_t output = a->pairs.v[k].output;
    const hilo_inst value = hilo_output(m, output);
    if (!hilo_inst_is(m, hilo_view_source(m, value), HILO_OP_PARAMETER)) continue;
    const hilo_inst_desc desc = {.op = HILO_OP_COPY,
                                 .type = hilo_inst_type(m, value),
                                 .operands = &value,
                                 .n_operands = 1,
                                 .meta = hilo_inst_meta_record(m, value)};
    hilo_set_output(m, output, hilo_inst_insert_after(m, value, &desc));
    a->changed = true;
  }
}

/* ---- reads ---- */

/* Does the value of `user` lie where its operand `k` does, or is it only passed on? */
static bool is_view_of_operand(const hilo_module *m, hilo_inst user, uint32_t k) {
  switch (hilo_inst_op(m, user)) {
  case HILO_OP_RESHAPE:
  case HILO_OP_BITCAST:
  case HILO_OP_GET_TUPLE_ELEMENT:
  case HILO_OP_TUPLE: return true;
  case HILO_OP_CUSTOM_CALL:
    return hilo_is_custom_call_to(m, user, HILO_TARGET_CONTROL_DEP) &&
           k + 1 == hilo_inst_n_operands(m, user);
  default: return false;
  }
}

/* A predecessor operand of a control-dependency call is order only. */
static bool is_read(const hilo_module *m, hilo_inst user, uint32_t k) {
  return !hilo_is_custom_call_to(m, user, HILO_TARGET_CONTROL_DEP) ||
         k + 1 == hilo_inst_n_operands(m, user);
}

typedef void (*reader_fn)(aliaser *a, pair *p, hilo_inst reader, uint32_t operand, bool is_direct);

/* Call `fn` for every read of p's parameter, views included, but for being returned. */
static void for_each_read(aliaser *a, pair *p, reader_fn fn) {
  const hilo_module *m = a->m;
  const hilo_inst root = hilo_entry_root(m);
  hilo_vec(hilo_inst) todo = {0};
  HILO_PUSH(a->ctx->scratch, &todo, p->param);
  while (todo.n) {
    const hilo_inst value = HILO_POP(&todo);
    for (hilo_use u = hilo_first_use(m, value); u.slot; u = hilo_next_use(m, u)) {
      const hilo_inst user = hilo_use_user(m, u);
      const uint32_t k = hilo_use_operand_index(m, u);
      if (!is_read(m, user, k)) continue;
      if (hilo_inst_eq(user, root) && hilo_inst_is(m, user, HILO_OP_TUPLE)) continue;
      fn(a, p, user, k, hilo_inst_eq(value, p->param));
      if (is_view_of_operand(m, user, k)) HILO_PUSH(a->ctx->scratch, &todo, user);
    }
  }
  HILO_VEC_FREE(a->ctx->scratch, &todo);
}

/* ---- safety ---- */

/* May `w` write the buffer of its operand k while it reads it? */
static bool is_in_place(const hilo_module *m, hilo_inst w, uint32_t k) {
  if (hilo_inst_is(m, w, HILO_OP_DYNAMIC_UPDATE_SLICE) || hilo_inst_is(m, w, HILO_OP_SCATTER))
    return k == 0;
  if (!hilo_inst_has(m, w, HILO_TRAIT_ELEMENTWISE)) return false;
  const hilo_type in = hilo_inst_type(m, hilo_inst_operand(m, w, k)), out = hilo_inst_type(m, w);
  return hilo_dims_eq(hilo_type_dims(&m->types, in), hilo_type_dims(&m->types, out)) &&
         hilo_etype_table[hilo_type_etype(&m->types, in)].bits ==
             hilo_etype_table[hilo_type_etype(&m->types, out)].bits;
}

static hilo_inst later(hilo_module *m, hilo_inst a, hilo_inst b) {
  if (!a.ix) return b;
  return hilo_inst_before(m, a, b) ? b : a;
}

static void weigh_read(aliaser *a, pair *p, hilo_inst reader, uint32_t operand, bool is_direct) {
  hilo_module *m = a->m;
  const hilo_inst w = hilo_output(m, p->output);
  p->last_read = later(m, p->last_read, reader);
  a->last_read = later(m, a->last_read, reader);
  if (hilo_inst_eq(reader, w)) {
    if (!is_direct || !is_in_place(m, w, operand)) p->unsafe = true;
  } else if (!hilo_inst_before(m, reader, w)) {
    p->unsafe = true;
  }
}

static void weigh(aliaser *a, pair *p) {
  const hilo_inst w = hilo_output(a->m, p->output);
  p->unsafe = hilo_inst_is(a->m, w, HILO_OP_GET_TUPLE_ELEMENT) ||
              hilo_inst_is(a->m, w, HILO_OP_FUSION) || hilo_inst_is(a->m, w, HILO_OP_PARAMETER);
  for_each_read(a, p, weigh_read);
  if (hilo_type_is_empty(a->m, hilo_inst_type(a->m, p->param))) p->unsafe = false;
}

/* ---- copies ---- */

/* The slot that names output `number` leaves its operation for `to`. */
static void move_name(aliaser *a, hilo_inst from, hilo_inst to) {
  hilo_module *m = a->m;
  uint32_t k = 0;
  while (hilo_inst_is(m, from, HILO_OP_GET_TUPLE_ELEMENT)) {
    k = hilo_inst_index(m, from);
    from = hilo_inst_operand(m, from, 0);
  }
  for (hilo_neuron_attrs n = hilo_neuron_of_inst(m, from);
       hilo_inst_is(m, from, HILO_OP_FUSION) && (k >= n.sym_names.n || !n.sym_names.v[k]);
       n = hilo_neuron_of_inst(m, from)) {
    const hilo_inst root = hilo_comp_root(m, hilo_inst_called(m, from, 0));
    from = hilo_inst_is(m, root, HILO_OP_TUPLE) ? hilo_inst_operand(m, root, k) : root;
    k = 0;
    if (hilo_inst_is(m, from, HILO_OP_GET_TUPLE_ELEMENT)) {
      k = hilo_inst_index(m, from);
      from = hilo_inst_operand(m, from, 0);
    }
  }
  hilo_neuron_attrs old = hilo_neuron_of_inst(m, from);
  int64_t *name = HILO_NEW_ZEROED(a->ctx->scratch, int64_t, 1);
  if (k < old.sym_names.n) {
    *name = old.sym_names.v[k];
    int64_t *rest = HILO_NEW_ARRAY(a->ctx->scratch, int64_t, old.sym_names.n);
    memcpy(rest, old.sym_names.v, old.sym_names.n * sizeof(int64_t));
    rest[k] = 0;
    bool empty = true;
    for (uint32_t s = 0; s < old.sym_names.n; s++) empty &= rest[s] == 0;
    old.sym_names = empty ? HILO_DIMS_NONE : (hilo_dims){rest, old.sym_names.n};
    hilo_inst_set_neuron(m, from, &old);
  }
  hilo_neuron_attrs fresh = hilo_neuron_of_inst(m, to);
  if (*name) fresh.sym_names = (hilo_dims){name, 1};
  fresh.aliasing_copy = true;
  hilo_inst_set_neuron(m, to, &fresh);
}

/* Is it a copy for this output only, of something that shares no aliased buffer but the pair's? */
static bool may_move_copy(const aliaser *a, const pair *p, hilo_inst value,
                          const uint64_t *aliased_params) {
  const hilo_module *m = a->m;
  if (!hilo_inst_is(m, value, HILO_OP_COPY) || hilo_control_has(m, value)) return false;
  if (hilo_inst_count_uses(m, value) != 1) return false;
  const hilo_inst direct = hilo_inst_operand(m, value, 0);
  if (hilo_inst_eq(direct, p->param)) return true;
  const hilo_inst source = hilo_view_source(m, direct);
  return !hilo_inst_is(m, source, HILO_OP_PARAMETER) ||
         !hilo_bitset_get(aliased_params, hilo_inst_index(m, source));
}

static void copy_late(aliaser *a, const pair *p, hilo_inst *last, const uint64_t *aliased_params) {
  hilo_module *m = a->m;
  const hilo_inst value = hilo_output(m, p->output);
  *last = later(m, *last, value);
  if (may_move_copy(a, p, value, aliased_params)) {
    const hilo_inst pos = hilo_inst_next(m, *last);
    if (!hilo_inst_eq(*last, value)) hilo_inst_move(m, value, value, m->entry, pos);
    hilo_neuron_attrs neuron = hilo_neuron_of_inst(m, value);
    neuron.aliasing_copy = true;
    hilo_inst_set_neuron(m, value, &neuron);
    *last = value;
    return;
  }
  const hilo_inst_desc desc = {.op = HILO_OP_COPY,
                               .type = hilo_inst_type(m, value),
                               .operands = &value,
                               .n_operands = 1,
                               .meta = hilo_inst_meta_record(m, value)};
  const hilo_inst copy = hilo_inst_insert_after(m, *last, &desc);
  m->inst.ordinal[hilo_ix(m, copy)] = m->inst.ordinal[hilo_ix(m, value)];
  move_name(a, value, copy);
  hilo_set_output(m, p->output, copy);
  *last = copy;
}

static void drop_aliases(hilo_module *m, const uint64_t *dropped) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < m->header.aliases.n; k++)
    if (!hilo_bitset_get(dropped, k)) m->header.aliases.v[n++] = m->header.aliases.v[k];
  m->header.aliases.n = n;
}

static void legalize_pairs(aliaser *a) {
  hilo_module *m = a->m;
  uint64_t *dropped = hilo_bitset_create(a->ctx->scratch, m->header.aliases.n);
  uint64_t *aliased = hilo_bitset_create(a->ctx->scratch, hilo_comp_n_params(m, m->entry));
  uint32_t *pair_of = HILO_NEW_ZEROED(a->ctx->scratch, uint32_t, hilo_n_outputs(m) + 1);
  uint32_t n_unsafe = 0;
  for (uint32_t k = 0; k < a->pairs.n; k++) {
    pair *p = &a->pairs.v[k];
    hilo_bitset_set(aliased, hilo_inst_index(m, p->param));
    if (!p->unsafe) continue;
    a->ctx->n_matched++;
    a->changed = true;
    n_unsafe++;
    if (a->ctx->options->drop_unsafe_may_alias &&
        m->header.aliases.v[p->alias].kind == HILO_ALIAS_MAY)
      hilo_bitset_set(dropped, p->alias);
    else
      pair_of[p->output] = k + 1;
  }
  const hilo_inst root = hilo_entry_root(m);
  if (n_unsafe && hilo_has_output_tuple(m)) /* copies go before it, wherever the last read is */
    hilo_inst_move(m, root, root, m->entry, HILO_INST_NONE);
  hilo_inst last = a->last_read;
  const uint32_t n_outputs = hilo_n_outputs(m);
  for (uint32_t k = 0; k < n_outputs; k++) {
    if (!pair_of[k]) continue;
    copy_late(a, &a->pairs.v[pair_of[k] - 1], &last, aliased);
    a->ctx->n_rewritten++;
  }
  drop_aliases(m, dropped);
}

HILO_DECLARE_PASS(legalize_alias) {
  if (m->header.aliases.n == 0) return HILO_OK;
  aliaser a = {.m = m, .ctx = ctx};
  HILO_TRY(read_table(&a));
  copy_parameters(&a);
  for (uint32_t k = 0; k < a.pairs.n; k++) weigh(&a, &a.pairs.v[k]);
  legalize_pairs(&a);
  *changed |= a.changed;
  return HILO_OK;
}
