/* StableHLO text, printed: module, functions, blocks.
 *
 * Regions are printed where they are called, whatever their depth, so the walk keeps its own stack:
 * a frame per open region, with the instruction that is next in it. Tuples that are several values
 * are never written; whoever uses one writes its elements (`mlir_value`). */
#include "ir/print/mlir_print_impl.h"

#include "base/vec.h"

#include <stdlib.h>

void mlir_refuse(mlir_printer *p, hilo_inst i, const char *what) {
  const char *dialect = p->options.mhlo ? "MHLO" : "StableHLO";
  p->failed = true;
  if (what)
    (void)hilo_inst_error(p->m, p->diags, HILO_DIAG_EMOD940, i, "%s has no form for %s", dialect,
                          what);
  else
    (void)hilo_inst_error(p->m, p->diags, HILO_DIAG_EMOD940, i, "%s has no operation `%s`", dialect,
                          hilo_op_name(hilo_inst_op(p->m, i)));
}

/* ---- words ---- */

static hilo_str spelled(mlir_printer *p, hilo_op op) {
  hilo_sb sb = hilo_sb_make(p->scratch);
  (void)hilo_op_mlir_name(op, p->options.mhlo, &sb);
  return hilo_sb_view(&sb);
}

static void init_words(mlir_printer *p) {
  p->dialect = p->options.mhlo ? HILO_STR("mhlo") : HILO_STR("stablehlo");
  for (int op = 1; op < HILO_OP_COUNT; op++) p->op_name[op] = spelled(p, (hilo_op)op);
  /* StableHLO's have a region and no updates; MHLO's say all that HLO does. */
  p->op_name[HILO_OP_ASYNC_START] = HILO_STR("mhlo.async_start");
  p->op_name[HILO_OP_ASYNC_DONE] = HILO_STR("mhlo.async_done");
}

/* ---- blocks ---- */

typedef struct {
  uint32_t comp, next; /* computation and instruction to print next in it */
  uint32_t owner;      /* the instruction whose region it is; 0: a function */
  uint32_t region;
} frame;

/* The other half of a transfer if that is its one user: the two are printed as one. */
static hilo_inst other_half(const hilo_module *m, hilo_inst i) {
  if (!hilo_inst_has_one_use(m, i) || hilo_inst_is_root(m, i)) return HILO_INST_NONE;
  const hilo_inst user = hilo_use_user(m, hilo_first_use(m, i));
  const bool is_done =
      hilo_inst_is(m, user, HILO_OP_SEND_DONE) || hilo_inst_is(m, user, HILO_OP_RECV_DONE);
  return is_done ? user : HILO_INST_NONE;
}

/* Is it printed where its send stands? A receive waits, so that what is sent before it must have
 * been sent. */
static bool is_printed_before(const hilo_module *m, hilo_inst i) {
  if (!hilo_inst_is(m, i, HILO_OP_SEND_DONE)) return false;
  const hilo_inst start = hilo_inst_operand(m, i, 0);
  return hilo_inst_is(m, start, HILO_OP_SEND) && hilo_inst_eq(other_half(m, start), i);
}

/* What is not written: its uses are written as what it stands for. */
static bool bind_silently(mlir_printer *p, hilo_inst i) {
  const hilo_module *m = p->m;
  const uint32_t ix = hilo_ix(m, i);
  switch ((hilo_op)m->inst.op[ix]) {
  case HILO_OP_PARAMETER: return true; /* named by whoever opened the region */
  case HILO_OP_RECV: return other_half(m, i).ix != 0;
  case HILO_OP_SEND_DONE: return is_printed_before(m, i);
  case HILO_OP_TUPLE:
    if (m->inst.flags[ix] & HILO_INST_AS_WRITTEN) return false;
    p->value[ix] = mlir_value_make(VALUE_TUPLE, ix, 0);
    return true;
  case HILO_OP_GET_TUPLE_ELEMENT: {
    const mlir_value tuple = p->value[m->operand.v[m->inst.operands[ix]].value];
    if (!mlir_value_is_several(tuple)) return false;
    p->value[ix] = mlir_value_element(p, tuple, m->inst.attr[ix]);
    return true;
  }
  default: return false;
  }
}

/* `%3 = `, `%3:2 = `, nothing. */
static void print_results(mlir_printer *p, hilo_inst i) {
  const uint32_t ix = hilo_ix(p->m, i);
  const bool several = mlir_has_several_results(p, i);
  const uint32_t n = several ? mlir_n_results(p, i) : 1;
  const value_kind kind = mlir_is_feed(p, i) ? VALUE_FEED : several ? VALUE_RESULTS : VALUE_RESULT;
  p->value[ix] = mlir_value_make(kind, p->next_num, several ? n : 0);
  if (!n) return;
  mlir_print_value(p, mlir_value_make(VALUE_RESULT, p->next_num++, 0));
  if (n > 1) hilo_sb_printf(p->out, ":%u", n);
  PRINT(p->out, " = ");
}

static void print_return(mlir_printer *p, const frame *f) {
  const hilo_module *m = p->m;
  const hilo_inst root = hilo_inst_at(m, m->comp.v[f->comp].root);
  mlir_newline(p);
  if (f->owner) {
    const bool mhlo = *p->op_name[p->m->inst.op[f->owner]].p == 'm';
    hilo_sb_cat(p->out, mlir_is_sdy(p, hilo_inst_at(p->m, f->owner)) ? "sdy."
                        : mhlo                                       ? "mhlo."
                                                                     : "stablehlo.");
  }
  PRINT(p->out, "return");
  const mlir_value v = mlir_value_of(p, root);
  if (mlir_value_is_several(v) && !mlir_value_count(p, v)) return;
  hilo_sb_char(p->out, ' ');
  mlir_print_value(p, v);
  PRINT(p->out, " : ");
  mlir_print_value_type(p, v, hilo_inst_type(m, root));
}

/* The end of an operation: its location. */
static void end_op(mlir_printer *p, hilo_inst i) {
  if (p->locations) mlir_print_location(p, i);
}

typedef hilo_vec(frame) frame_stack;

static void push_region(mlir_printer *p, frame_stack *stack, hilo_inst owner, uint32_t k) {
  mlir_open_region(p, owner, k);
  const uint32_t c = hilo_comp_ix(p->m, mlir_region(p, owner, k));
  HILO_PUSH(p->scratch, stack, ((frame){c, p->m->comp.v[c].first, hilo_ix(p->m, owner), k}));
}

/* The innermost region is complete: go on to its owner's next one, or to what stands behind it. */
static void close_region(mlir_printer *p, frame_stack *stack) {
  const frame f = HILO_POP(stack);
  print_return(p, &f);
  end_op(p, HILO_INST_NONE);
  if (!f.owner) return;
  p->indent -= 2;
  const hilo_inst owner = hilo_inst_at(p->m, f.owner);
  if (f.region + 1 < mlir_n_regions(p, owner)) {
    push_region(p, stack, owner, f.region + 1);
    return;
  }
  mlir_close_regions(p, owner);
  end_op(p, owner);
}

/* A list of values could not be told from the value. */
static bool feeds_short_tuple(const hilo_module *m, hilo_inst feed) {
  const hilo_type data = hilo_type_element(&m->types, hilo_inst_type(m, feed), 0);
  return hilo_type_is_tuple(&m->types, data) && hilo_type_n_elements_of_tuple(&m->types, data) < 2;
}

static void print_one(mlir_printer *p, frame_stack *stack, hilo_inst i) {
  const hilo_module *m = p->m;
  if (bind_silently(p, i)) return;
  const hilo_inst done = hilo_inst_is(m, i, HILO_OP_SEND) ? other_half(m, i) : HILO_INST_NONE;
  if (done.ix) i = done;
  if (hilo_control_has(m, i)) mlir_refuse(p, i, "control dependencies");
  if (mlir_is_feed(p, i) && feeds_short_tuple(m, i))
    mlir_refuse(p, i, "data in a tuple of no or one value");
  mlir_newline(p);
  print_results(p, i);
  const hilo_op op = hilo_inst_op(m, i);
  if (m->inst.called[hilo_ix(m, i)] && p->op_name[op].n && mlir_n_regions(p, i)) {
    push_region(p, stack, i, 0);
    return;
  }
  if (op == HILO_OP_REDUCE)
    mlir_close_regions(p, i);
  else
    mlir_print_op(p, i);
  end_op(p, i);
}

static void print_body(mlir_printer *p, hilo_comp c) {
  frame_stack stack = {0};
  p->indent = MLIR_FUNCTION_INDENT;
  HILO_PUSH(p->scratch, &stack,
            ((frame){hilo_comp_ix(p->m, c), hilo_comp_get(p->m, c)->first, 0, 0}));
  while (stack.n) {
    frame *top = &stack.v[stack.n - 1];
    if (!top->next) {
      close_region(p, &stack);
      continue;
    }
    const hilo_inst i = hilo_inst_at(p->m, top->next);
    top->next = p->m->inst.next[top->next];
    print_one(p, &stack, i);
  }
}

/* ---- functions ---- */

/* Computations that are called by name, and those that nothing calls. */
static uint64_t *find_functions(mlir_printer *p) {
  const hilo_module *m = p->m;
  uint64_t *functions = hilo_bitset_create(p->scratch, m->comp.n);
  p->asynchronous = hilo_bitset_create(p->scratch, m->comp.n);
  for (uint32_t ix = 1; ix < m->n_inst_slots; ix++) {
    const uint32_t at = m->inst.called[ix];
    const hilo_op op = (hilo_op)m->inst.op[ix];
    if (!at || op == HILO_OP_DEAD || mlir_n_regions(p, hilo_inst_at(m, ix)) || op == HILO_OP_REDUCE)
      continue;
    for (uint32_t k = 0; k < m->called.v[at]; k++) {
      hilo_bitset_set(functions, m->called.v[at + 1 + k]);
      if (op == HILO_OP_ASYNC_START) hilo_bitset_set(p->asynchronous, m->called.v[at + 1 + k]);
    }
  }
  for (uint32_t c = 1; c < m->comp.n; c++)
    if (!m->comp.v[c].n_callers) hilo_bitset_set(functions, c);
  return functions;
}

/* Place in the file and index of each function. */
typedef hilo_vec(uint64_t) function_list;

static int compare_places(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* In the order of the file. */
static function_list sort_functions(mlir_printer *p, const uint64_t *functions) {
  const hilo_module *m = p->m;
  function_list list = {0};
  HILO_FOR_EACH_COMP(m, c) {
    const uint32_t ix = hilo_comp_ix(m, c);
    if (hilo_bitset_get(functions, ix))
      HILO_PUSH(p->scratch, &list, (uint64_t)m->comp.v[ix].ordinal << 32 | ix);
  }
  qsort(list.v, list.n, sizeof(*list.v), compare_places);
  return list;
}

/* Result k of the entry as an alias index names it. */
static const hilo_alias *alias_of_param(const hilo_module *m, uint32_t param) {
  for (uint32_t k = 0; k < m->header.aliases.n; k++) {
    const hilo_alias *a = &m->header.aliases.v[k];
    if (a->param == param && !a->param_index.n && a->output_index.n <= 1) return a;
  }
  return NULL;
}

static bool is_donor(const hilo_module *m, uint32_t param) {
  for (uint32_t k = 0; k < m->header.buffer_donors.n; k++)
    if (m->header.buffer_donors.v[k].param == param && !m->header.buffer_donors.v[k].param_index.n)
      return true;
  return false;
}

static hilo_func_attrs func_of(const mlir_printer *p, hilo_comp c) {
  return hilo_func_get(&p->m->records, (hilo_record){hilo_comp_get(p->m, c)->func});
}

static void print_arg_attrs(mlir_printer *p, hilo_comp c, uint32_t k) {
  const hilo_module *m = p->m;
  const hilo_func_attrs func = func_of(p, c);
  if (k < func.arguments.n)
    mlir_dict_add_text(p, hilo_string_of(m, (hilo_string){(uint32_t)func.arguments.v[k]}));
  const hilo_inst param = hilo_comp_param(m, c, k);
  const hilo_type_row *row = hilo_type_row_of(&m->types, hilo_inst_type(m, param));
  const hilo_record extra = hilo_inst_extra_record(m, param);
  if (row->bare && row->etype != HILO_TUPLE)
    mlir_dict_add_layout(p, (hilo_record){row->layout}, row->n);
  if (row->bare && row->etype == HILO_TUPLE)
    mlir_dict_add_shape(p, "mhlo.xla_shape", hilo_inst_type(m, param));
  if (extra.ix) {
    const hilo_extra_attrs e = hilo_extra_get(&m->records, extra);
    if (e.frontend.ix) mlir_dict_add_frontend(p, e.frontend);
    if (e.sharding.ix) mlir_dict_add_sharding(p, e.sharding, e.sharding_spelling, true);
    if (e.replicated_at_leaves.n) {
      hilo_sb *out = DICT(p, "mhlo.parameter_replication");
      for (uint32_t l = 0; l < e.replicated_at_leaves.n; l++) {
        hilo_sb_cat(out, l ? ", " : "[");
        hilo_sb_cat(out, e.replicated_at_leaves.v[l] ? "true" : "false");
      }
      hilo_sb_char(out, ']');
    }
  }
  if (hilo_comp_eq(c, m->entry)) {
    const hilo_alias *alias = alias_of_param(m, k);
    if (alias) {
      const int64_t output = alias->output_index.n ? alias->output_index.v[0] : 0;
      hilo_sb_printf(DICT(p, "tf.aliasing_output"), "%lld : i32", (long long)output);
      if (alias->kind == HILO_ALIAS_MUST) PRINT(DICT(p, "mhlo.must_alias"), "true");
    } else if (is_donor(m, k)) {
      PRINT(DICT(p, "jax.buffer_donor"), "true");
    }
  }
  mlir_dict_print(p, " {");
}

static void print_result_attrs(mlir_printer *p, const hilo_func_attrs *func, uint32_t k) {
  if (k < func->results.n)
    mlir_dict_add_text(p, hilo_string_of(p->m, (hilo_string){(uint32_t)func->results.v[k]}));
  if (k < func->result_shardings.n && func->result_shardings.v[k])
    mlir_dict_add_sharding(p, (hilo_record){(uint32_t)func->result_shardings.v[k]},
                           HILO_RECORD_NONE, true);
  mlir_dict_print(p, " {");
}

static void print_results_of_function(mlir_printer *p, hilo_comp c) {
  const hilo_module *m = p->m;
  const hilo_inst root = hilo_comp_root(m, c);
  const hilo_type type = hilo_inst_type(m, root);
  const bool several = mlir_root_is_several(p, root);
  const uint32_t n = several ? hilo_type_n_elements_of_tuple(&m->types, type) : 1;
  if (!n) return;
  const hilo_func_attrs func = func_of(p, c);
  const bool enclosed = n > 1 || func.results.n || func.result_shardings.n;
  PRINT(p->out, " -> ");
  if (enclosed) hilo_sb_char(p->out, '(');
  for (uint32_t k = 0; k < n; k++) {
    if (k) PRINT(p->out, ", ");
    mlir_print_type(p, several ? hilo_type_element(&m->types, type, k) : type);
    print_result_attrs(p, &func, k);
  }
  if (enclosed) hilo_sb_char(p->out, ')');
}

static void print_function(mlir_printer *p, hilo_comp c) {
  const hilo_module *m = p->m;
  const hilo_comp_row *row = hilo_comp_get(m, c);
  const bool is_private = row->flags & HILO_COMP_PRIVATE && !hilo_comp_eq(c, m->entry);
  p->next_num = p->next_arg = 0;
  p->indent = 2;
  mlir_newline(p);
  hilo_sb_cat(p->out, is_private                  ? "func.func private "
                      : hilo_comp_eq(c, m->entry) ? "func.func public "
                                                  : "func.func ");
  mlir_print_symbol(m, hilo_comp_name(m, c), p->out);
  hilo_sb_char(p->out, '(');
  for (uint32_t k = 0; k < row->n_params; k++) {
    const hilo_inst param = hilo_comp_param(m, c, k);
    p->value[hilo_ix(m, param)] = mlir_value_make(VALUE_ARG, p->next_arg++, 0);
    if (k) PRINT(p->out, ", ");
    hilo_sb_printf(p->out, "%%arg%u: ", k);
    mlir_print_type(p, hilo_inst_type(m, param));
    print_arg_attrs(p, c, k);
    if (hilo_inst_meta_record(m, param).ix) end_op(p, param);
  }
  hilo_sb_char(p->out, ')');
  print_results_of_function(p, c);
  const hilo_string attributes = func_of(p, c).attributes;
  if (attributes.ix) mlir_dict_add_text(p, hilo_string_of(m, attributes));
  if (row->execution_thread || hilo_bitset_get(p->asynchronous, hilo_comp_ix(m, c)))
    mlir_print_thread(p, c, DICT(p, "execution_thread"));
  mlir_dict_print(p, " attributes {");
  PRINT(p->out, " {");
  print_body(p, c);
  p->indent = 2;
  mlir_newline(p);
  hilo_sb_char(p->out, '}');
  end_op(p, HILO_INST_NONE);
}

/* ---- the module ---- */

static void print_head(mlir_printer *p) {
  const hilo_module_header *h = &p->m->header;
  PRINT(p->out, "module");
  if (h->name.ix && !hilo_str_is(hilo_string_of(p->m, h->name), "module")) {
    PRINT(p->out, " @");
    hilo_mlir_print_identifier(hilo_string_of(p->m, h->name), p->out);
  }
  if (h->frontend.ix) mlir_dict_add_frontend(p, h->frontend);
  if (h->num_partitions)
    hilo_sb_printf(DICT(p, "mhlo.num_partitions"), "%lld : i32", (long long)h->num_partitions);
  if (h->num_replicas)
    hilo_sb_printf(DICT(p, "mhlo.num_replicas"), "%lld : i32", (long long)h->num_replicas);
  if (h->mlir_attributes.ix) mlir_dict_add_text(p, hilo_string_of(p->m, h->mlir_attributes));
  mlir_dict_print(p, " attributes {");
  PRINT(p->out, " {");
  p->indent = 2;
  for (uint32_t k = 0; k < h->meshes.n; k++) {
    mlir_newline(p);
    PRINT(p->out, "sdy.mesh @");
    hilo_mlir_print_identifier(hilo_string_of(p->m, h->meshes.v[k].name), p->out);
    PRINT(p->out, " = ");
    hilo_sb_str(p->out, hilo_string_of(p->m, h->meshes.v[k].text));
    if (h->meshes.v[k].attributes.ix) {
      hilo_sb_char(p->out, ' ');
      hilo_sb_str(p->out, hilo_string_of(p->m, h->meshes.v[k].attributes));
    }
    end_op(p, HILO_INST_NONE);
  }
}

static void print_module(mlir_printer *p) {
  const hilo_module *m = p->m;
  /* What most texts take: growing means copying, and what stays unused costs no memory. */
  hilo_sb_reserve(p->out, 128 * (size_t)m->n_insts + 256);
  const uint64_t *functions = find_functions(p);
  print_head(p);
  const function_list list = sort_functions(p, functions);
  for (uint32_t k = 0; k < list.n; k++)
    print_function(p, hilo_comp_at(m, (uint32_t)(list.v[k] & UINT32_MAX)));
  PRINT(p->out, "\n}");
  end_op(p, HILO_INST_NONE);
  PRINT(p->out, "\n");
  if (p->locations) mlir_print_locations(p);
}

hilo_status hilo_mlir_print(const hilo_module *m, const hilo_mlir_print_options *options,
                            hilo_diags *diags, hilo_sb *out) {
  hilo_scratch scratch;
  hilo_scratch_init(&scratch, out->arena);
  mlir_printer *p = HILO_NEW_ZEROED(&scratch.arena, mlir_printer, 1);
  p->m = m;
  p->out = out;
  p->scratch = &scratch.arena;
  p->diags = diags;
  if (options) p->options = *options;
  p->tmp = hilo_sb_make(&scratch.arena);
  p->value = HILO_NEW_ZEROED(&scratch.arena, mlir_value, m->n_inst_slots);
  init_words(p);
  if (p->options.locations) mlir_locations_init(p);
  print_module(p);
  const bool failed = p->failed;
  hilo_scratch_deinit(&scratch);
  return failed ? HILO_INPUT_ERROR : HILO_OK;
}
