/* hlo-legalize-to-stablehlo: HLO's form of the operations that both have becomes StableHLO's.
 *
 *   names      the entry is `main` and public, all other computations are private functions
 *   tuples     one that is only a list of values (carried, captured, returned) stays a list; any
 *              other, and one of a single value that a function returns, is written as a tuple
 *   rng        takes the result's shape as a third operand
 *
 * What StableHLO can't say stays as it is: the printer refuses it by name. */
#include "base/vec.h"
#include "passes/passes.h"
#include "rewrite/build.h"
#include "rewrite/replace.h"

/* ---- tuples ---- */

/* Does operand k of `user` stand for a list of values in StableHLO? */
static bool is_list_operand(const hilo_module *m, hilo_inst user, uint32_t k) {
  switch (hilo_inst_op(m, user)) {
  case HILO_OP_WHILE:
  case HILO_OP_OPT_BARRIER: return true;
  case HILO_OP_CONDITIONAL: return k > 0;
  default: return false;
  }
}

static bool is_list(const hilo_module *m, hilo_inst tuple, const uint64_t *functions) {
  const uint32_t n = hilo_inst_n_operands(m, tuple);
  for (hilo_use u = hilo_first_use(m, tuple); u.slot; u = hilo_next_use(m, u))
    if (!is_list_operand(m, hilo_use_user(m, u), hilo_use_operand_index(m, u))) return false;
  const bool in_function = hilo_bitset_get(functions, hilo_comp_ix(m, hilo_inst_comp(m, tuple)));
  return !hilo_inst_is_root(m, tuple) || !in_function || n != 1;
}

static bool calls_by_name(hilo_op op) {
  return op == HILO_OP_CALL || op == HILO_OP_CUSTOM_CALL || op == HILO_OP_ASYNC_START;
}

/* A bit per computation that is a function: the entry, what is called by name, what nothing calls.
 */
static uint64_t *find_functions(const hilo_module *m, hilo_arena *scratch) {
  uint64_t *functions = hilo_bitset_create(scratch, m->comp.n);
  HILO_FOR_EACH_COMP(m, c) {
    if (!hilo_comp_get(m, c)->n_callers) hilo_bitset_set(functions, hilo_comp_ix(m, c));
    HILO_FOR_EACH_INST(m, c, i) {
      for (uint32_t k = 0; calls_by_name(hilo_inst_op(m, i)) && k < hilo_inst_n_called(m, i); k++)
        hilo_bitset_set(functions, hilo_comp_ix(m, hilo_inst_called(m, i, k)));
    }
  }
  return functions;
}

static void mark_tuples(hilo_module *m, const uint64_t *functions) {
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      uint16_t *flags = &m->inst.flags[hilo_ix(m, i)];
      if (hilo_inst_is(m, i, HILO_OP_TUPLE) && !is_list(m, i, functions))
        *flags |= HILO_INST_AS_WRITTEN;
    }
  }
}

/* ---- names ---- */

static void name_functions(hilo_module *m) {
  const hilo_string main_name = hilo_module_string(m, HILO_STR("main"));
  const hilo_name name = hilo_comp_name(m, m->entry);
  if (name.base.ix != main_name.ix || name.num != HILO_NO_NUM) {
    HILO_FOR_EACH_COMP(m, c) {
      const hilo_name other = hilo_comp_name(m, c);
      if (other.base.ix == main_name.ix && other.num == HILO_NO_NUM)
        hilo_comp_set_name(m, c, hilo_comp_fresh_name(m, main_name));
    }
    hilo_comp_set_name(m, m->entry, (hilo_name){main_name, HILO_NO_NUM});
  }
  HILO_FOR_EACH_COMP(m, c) {
    if (!hilo_comp_eq(c, m->entry)) m->comp.v[hilo_comp_ix(m, c)].flags |= HILO_COMP_PRIVATE;
  }
}

/* ---- operations ---- */

/* Two operands become three: the shape of the result is the last. */
static void add_rng_shape(hilo_module *m, hilo_inst rng) {
  const hilo_dims dims = hilo_inst_dims(m, rng);
  const int64_t rank = dims.n;
  const hilo_type type = hilo_type_array(&m->types, HILO_S64, (hilo_dims){&rank, 1});
  const hilo_inst_desc desc = {
      .op = HILO_OP_CONSTANT,
      .type = type,
      .attr = hilo_literal_put(m, type, dims.v, dims.n * sizeof(int64_t), true).ix,
  };
  const hilo_inst operands[] = {hilo_inst_operand(m, rng, 0), hilo_inst_operand(m, rng, 1),
                                hilo_inst_insert_before(m, rng, &desc)};
  hilo_inst_set_operands(m, rng, operands, 3);
}

static void legalize(hilo_module *m, hilo_inst i) {
  if (hilo_inst_is(m, i, HILO_OP_RNG) && hilo_inst_n_operands(m, i) == 2) add_rng_shape(m, i);
}

HILO_DECLARE_PASS(hlo_legalize_to_stablehlo) {
  if (m->dialect != HILO_DIALECT_HLO) return HILO_OK;
  *changed = true;
  m->dialect = HILO_DIALECT_STABLEHLO;
  name_functions(m);
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      legalize(m, i);
      ctx->n_matched++;
    }
  }
  mark_tuples(m, find_functions(m, ctx->scratch));
  return HILO_OK;
}
