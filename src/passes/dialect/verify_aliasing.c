/* 30 verify-aliasing: has the module after step 29 the meaning it had without shared buffers?
 *
 * Written apart from step 29, by another method: one forward sweep numbers the instructions and
 * labels each value with the aliased parameter whose bytes it may show (itself, a reshape, bitcast,
 * element or tuple of one, a control-dependency call's data; a tuple of several shows the mixture
 * `MANY`). Any operand with a label is a read at the reader's number. A pair holds iff no read of
 * its parameter has a number above that of the operation that writes the output, and a read at that
 * very number is a direct one by an operation that reads each element before it writes it. Also
 * checked: each output and parameter in one pair, equal types, a name on the writer. A violation is
 * a fault of hilo and is reported as such, all of them. O(instructions). */
#include "ir/module.h"
#include "passes/passes.h"

enum { NOTHING = 0, MANY = UINT32_MAX };

/* The last read of a parameter. */
typedef struct {
  uint32_t number; /* of the reader; 0: nothing reads it */
  hilo_inst reader;
  bool in_place; /* it reads the parameter itself, each element before it writes it */
} reads;

typedef struct {
  const hilo_module *m;
  hilo_diags *diags;
  uint32_t *number; /* per instruction, from 1 in program order */
  uint32_t *label;  /* per instruction: parameter number + 1 */
  reads *of_param;
  reads of_many;
  uint32_t *n_pairs_of_param, *n_pairs_of_output;
  hilo_status status;
} checker;

static bool is_control_dep(const hilo_module *m, hilo_inst i) {
  if (!hilo_inst_is(m, i, HILO_OP_CUSTOM_CALL)) return false;
  return hilo_str_is(hilo_string_of(m, hilo_attrs(m, i, custom_call).target),
                     "AwsNeuronControlDep");
}

static uint32_t join(uint32_t a, uint32_t b) {
  if (a == NOTHING || a == b) return b;
  return b == NOTHING ? a : MANY;
}

static uint32_t label_of(const checker *c, hilo_inst i) {
  const hilo_module *m = c->m;
  const uint32_t n = hilo_inst_n_operands(m, i);
  uint32_t label = NOTHING;
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_PARAMETER: return hilo_inst_index(m, i) + 1;
  case HILO_OP_TUPLE:
    for (uint32_t k = 0; k < n; k++)
      label = join(label, c->label[hilo_ix(m, hilo_inst_operand(m, i, k))]);
    return label;
  case HILO_OP_GET_TUPLE_ELEMENT: {
    const hilo_inst tuple = hilo_inst_operand(m, i, 0);
    if (hilo_inst_is(m, tuple, HILO_OP_TUPLE))
      return c->label[hilo_ix(m, hilo_inst_operand(m, tuple, hilo_inst_index(m, i)))];
    return c->label[hilo_ix(m, tuple)];
  }
  case HILO_OP_RESHAPE:
  case HILO_OP_BITCAST: return c->label[hilo_ix(m, hilo_inst_operand(m, i, 0))];
  case HILO_OP_CUSTOM_CALL:
    return is_control_dep(m, i) && n ? c->label[hilo_ix(m, hilo_inst_operand(m, i, n - 1))]
                                     : NOTHING;
  default: return NOTHING;
  }
}

/* Does every element of the result depend on that element of the operand alone, or not on what is
 * overwritten? */
static bool reads_before_it_writes(const hilo_module *m, hilo_inst w, uint32_t operand) {
  switch (hilo_inst_op(m, w)) {
  case HILO_OP_COPY: return true;
  case HILO_OP_DYNAMIC_UPDATE_SLICE:
  case HILO_OP_SCATTER: return operand == 0;
  default: break;
  }
  if (!hilo_op_has(hilo_inst_op(m, w), HILO_TRAIT_ELEMENTWISE)) return false;
  const hilo_type_info a =
      hilo_type_get(&m->types, hilo_inst_type(m, hilo_inst_operand(m, w, operand)));
  const hilo_type_info b = hilo_type_get(&m->types, hilo_inst_type(m, w));
  return a.bytes == b.bytes && hilo_dims_eq(a.dims, b.dims);
}

static void note_read(checker *c, hilo_inst reader, uint32_t operand) {
  const hilo_module *m = c->m;
  const hilo_inst value = hilo_inst_operand(m, reader, operand);
  const uint32_t label = c->label[hilo_ix(m, value)];
  if (label == NOTHING) return;
  reads *r = label == MANY ? &c->of_many : &c->of_param[label - 1];
  const uint32_t at = c->number[hilo_ix(m, reader)];
  if (r->number != at) *r = (reads){.number = at, .reader = reader, .in_place = true};
  r->in_place &=
      hilo_inst_is(m, value, HILO_OP_PARAMETER) && reads_before_it_writes(m, reader, operand);
}

static void sweep(checker *c) {
  const hilo_module *m = c->m;
  const hilo_inst root = hilo_comp_root(m, m->entry);
  uint32_t n = 0;
  HILO_FOR_EACH_INST(m, m->entry, i) {
    c->number[hilo_ix(m, i)] = ++n;
    c->label[hilo_ix(m, i)] = label_of(c, i);
    if (hilo_inst_eq(i, root) && hilo_inst_is(m, i, HILO_OP_TUPLE)) continue;
    const uint32_t n_operands = hilo_inst_n_operands(m, i);
    const uint32_t first = is_control_dep(m, i) ? n_operands - 1 : 0;
    for (uint32_t k = first; k < n_operands; k++) note_read(c, i, k);
  }
}

static void fault(checker *c, hilo_inst at, const char *what, uint32_t output, uint32_t param,
                  hilo_inst reader) {
  hilo_arena *arena = c->diags->arena;
  const hilo_str writer = hilo_inst_name_text(c->m, at, arena);
  const hilo_str who = reader.ix ? hilo_inst_name_text(c->m, reader, arena) : HILO_STR("");
  c->status = hilo_inst_error(
      c->m, c->diags, HILO_DIAG_IARC001, at,
      "output %u in the buffer of parameter %u, written by `%.*s`: %s%s%.*s%s", output, param,
      HILO_FMT(writer), what, who.n ? " `" : "", HILO_FMT(who), who.n ? "`" : "");
}

static bool has_name(const hilo_module *m, hilo_inst w) {
  uint32_t k = 0;
  for (;;) {
    const hilo_dims names = hilo_neuron_get(&m->records, hilo_inst_extra(m, w).neuron).sym_names;
    if (k < names.n && names.v[k]) return true;
    if (hilo_inst_is(m, w, HILO_OP_GET_TUPLE_ELEMENT)) {
      k = hilo_inst_index(m, w);
      w = hilo_inst_operand(m, w, 0);
    } else if (hilo_inst_is(m, w, HILO_OP_FUSION)) {
      w = hilo_comp_root(m, hilo_inst_called(m, w, 0));
      if (hilo_inst_is(m, w, HILO_OP_TUPLE)) w = hilo_inst_operand(m, w, k);
      k = 0;
    } else {
      return false;
    }
  }
}

static void check_order(checker *c, hilo_inst w, const reads *r, uint32_t output, uint32_t param) {
  /* An element of a tuple is written where the tuple is. */
  hilo_inst writer = w;
  while (hilo_inst_is(c->m, writer, HILO_OP_GET_TUPLE_ELEMENT))
    writer = hilo_inst_operand(c->m, writer, 0);
  const uint32_t at = c->number[hilo_ix(c->m, writer)];
  if (r->number > at) fault(c, w, "read after it by", output, param, r->reader);
  if (r->number == at && !r->in_place)
    fault(c, w, "it reads the parameter other than element by element", output, param,
          HILO_INST_NONE);
}

static void check_pair(checker *c, const hilo_alias *alias) {
  const hilo_module *m = c->m;
  const hilo_inst root = hilo_comp_root(m, m->entry);
  const bool is_tuple = hilo_inst_is(m, root, HILO_OP_TUPLE);
  if (alias->param_index.n) return; /* a part of a tuple, which nothing writes */
  const int64_t number = is_tuple && alias->output_index.n == 1 ? alias->output_index.v[0] : 0;
  if (alias->output_index.n != is_tuple || number < 0 ||
      (is_tuple && number >= hilo_inst_n_operands(m, root)) || alias->param < 0 ||
      alias->param >= hilo_comp_n_params(m, m->entry)) {
    c->status = hilo_diag_add(c->diags, HILO_DIAG_IARC001, &HILO_NOWHERE,
                              "an alias of parameter %lld names no output or no parameter",
                              (long long)alias->param);
    return;
  }
  const uint32_t output = (uint32_t)number, p = (uint32_t)alias->param;
  const hilo_inst w = is_tuple ? hilo_inst_operand(m, root, output) : root;
  const hilo_inst param = hilo_comp_param(m, m->entry, p);
  if (c->n_pairs_of_param[p]++ || c->n_pairs_of_output[output]++)
    fault(c, w, "one of them is in two pairs", output, p, HILO_INST_NONE);
  const hilo_type_info of_param = hilo_type_get(&m->types, hilo_inst_type(m, param));
  if (of_param.n_elements == 0) return;
  if (!hilo_type_compatible(&m->types, hilo_inst_type(m, param), hilo_inst_type(m, w)))
    fault(c, w, "their types differ", output, p, HILO_INST_NONE);
  if (!has_name(m, w)) fault(c, w, "it has no output name", output, p, HILO_INST_NONE);
  check_order(c, w, &c->of_param[p], output, p);
  check_order(c, w, &c->of_many, output, p);
}

HILO_DECLARE_PASS(verify_aliasing) {
  (void)changed;
  if (m->header.aliases.n == 0) return HILO_OK;
  const uint32_t n_params = hilo_comp_n_params(m, m->entry);
  const hilo_inst root = hilo_comp_root(m, m->entry);
  checker c = {.m = m, .diags = ctx->diags, .status = HILO_OK};
  c.number = HILO_NEW_ZEROED(ctx->scratch, uint32_t, m->n_inst_slots);
  c.label = HILO_NEW_ZEROED(ctx->scratch, uint32_t, m->n_inst_slots);
  c.of_param = HILO_NEW_ZEROED(ctx->scratch, reads, n_params + 1);
  c.n_pairs_of_param = HILO_NEW_ZEROED(ctx->scratch, uint32_t, n_params + 1);
  c.n_pairs_of_output = HILO_NEW_ZEROED(ctx->scratch, uint32_t, hilo_inst_n_operands(m, root) + 1);
  sweep(&c);
  for (uint32_t k = 0; k < m->header.aliases.n; k++) check_pair(&c, &m->header.aliases.v[k]);
  return c.status;
}
