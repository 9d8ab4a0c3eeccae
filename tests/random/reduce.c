#include "reduce.h"

#include "ir/verify.h"
#include "passes/passes.h"
#include "rewrite/build.h"

typedef struct {
  hilo_still_fails *fails;
  void *user;
  bool keeps_dead;        /* what fails needs something that nothing uses */
  uint32_t left;          /* how often it may still be asked */
  hilo_scratch arenas[2]; /* the best so far in one of them */
  uint32_t now;
  hilo_module *best;
  hilo_scratch scratch;
} reducer;

/* ---- trying ---- */

static hilo_arena *other_arena(reducer *r) { return &r->arenas[!r->now].arena; }

/* A copy of the best to work on. */
static hilo_module *begin(reducer *r) {
  hilo_arena_reset(other_arena(r));
  return hilo_module_clone(r->best, other_arena(r));
}

/* Instructions, then what stands beside them, then what constants are not. */
static uint64_t measure(const hilo_module *m) {
  uint64_t beside = m->header.aliases.n + m->header.buffer_donors.n, costly = 0, elements = 0;
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      const hilo_op op = hilo_inst_op(m, i);
      costly += op == HILO_OP_PARAMETER ? 2 : op == HILO_OP_CONSTANT ? 1 : 3;
      beside += hilo_inst_meta_record(m, i).ix != 0;
      for (uint32_t e = hilo_control_first_pred(m, i); e; e = m->edge.v[e].next_of_succ) beside++;
      beside += hilo_inst_type(m, i).ix != hilo_type_bare(&m->types, hilo_inst_type(m, i)).ix;
      elements += hilo_inst_n_operands(m, i);
    }
  }
  return costly * 1000000 + elements * 1000 + beside;
}

static bool run(reducer *r, hilo_module *m, hilo_pass_fn pass) {
  const hilo_pass_options options = {0};
  hilo_diags diags = hilo_diags_make(&r->scratch.arena);
  hilo_pass_ctx ctx = {.diags = &diags, .scratch = &r->scratch.arena, .options = &options};
  bool changed = false;
  const bool ok = pass(m, &ctx, &changed) == HILO_OK;
  hilo_arena_reset(&r->scratch.arena);
  return ok && changed;
}

/* What nothing needs goes: instructions, computations, parameters of the entry. */
static void sweep(reducer *r, hilo_module *m) {
  for (bool again = true; again;) {
    again = false;
    HILO_FOR_EACH_COMP(m, c) {
      hilo_inst last = hilo_comp_last(m, c);
      while (last.ix) {
        const hilo_inst i = last;
        last = hilo_inst_prev(m, last);
        const bool is_kept_param = hilo_inst_is(m, i, HILO_OP_PARAMETER) &&
                                   (!hilo_comp_eq(c, m->entry) || m->header.aliases.n ||
                                    m->header.buffer_donors.n || m->header.weight_files);
        const bool is_kept = r->keeps_dead && !hilo_inst_is(m, i, HILO_OP_PARAMETER);
        if (hilo_inst_has_uses(m, i) || hilo_inst_is_root(m, i) || is_kept_param || is_kept)
          continue;
        hilo_control_remove_all(m, i);
        const bool renumbers = hilo_inst_is(m, i, HILO_OP_PARAMETER);
        hilo_inst_erase(m, i);
        for (uint32_t k = 0; renumbers && k < hilo_comp_n_params(m, c); k++)
          hilo_inst_set_attr(m, hilo_comp_param(m, c, k), k);
        again = true;
      }
    }
    HILO_FOR_EACH_COMP(m, c) {
      if (hilo_comp_eq(c, m->entry) || hilo_comp_get(m, c)->n_callers || r->keeps_dead) continue;
      hilo_comp_erase(m, c);
      again = true;
    }
  }
  m->header.entry_param_types = NULL;
  m->header.n_entry_param_types = 0;
  m->header.entry_result_type = HILO_TYPE_NONE;
}

/* Is the changed copy smaller, valid, and does it fail? Then it is the best from now on. */
static bool keep_if(reducer *r, hilo_module *m) {
  sweep(r, m);
  if (r->left == 0 || measure(m) >= measure(r->best)) return false;
  hilo_diags diags = hilo_diags_make(&r->scratch.arena);
  const bool is_valid = hilo_verify(m, &diags) == HILO_OK;
  hilo_arena_reset(&r->scratch.arena);
  if (!is_valid) return false;
  r->left--;
  if (!r->fails(r->user, m)) return false;
  r->best = m;
  r->now = !r->now;
  return true;
}

/* What was replaced goes, even where dead code stays. */
static void erase_unused(hilo_module *m, hilo_inst i) {
  if (hilo_inst_has_uses(m, i) || hilo_inst_is_root(m, i) || hilo_inst_is(m, i, HILO_OP_PARAMETER))
    return;
  hilo_control_remove_all(m, i);
  hilo_inst_erase(m, i);
}

/* ---- what is tried ---- */

static bool try_pass(reducer *r, hilo_pass_fn pass) {
  hilo_module *m = begin(r);
  return run(r, m, pass) && keep_if(r, m);
}

static void drop_aliases(hilo_module *m) { m->header.aliases.n = m->header.buffer_donors.n = 0; }
static void drop_metadata(hilo_module *m) {
  HILO_FOR_EACH_COMP(m, c)
  HILO_FOR_EACH_INST(m, c, i) hilo_inst_set_meta(m, i, HILO_RECORD_NONE);
}
static void drop_edges(hilo_module *m) {
  HILO_FOR_EACH_COMP(m, c)
  HILO_FOR_EACH_INST(m, c, i) hilo_control_remove_all(m, i);
}
static void drop_layouts(hilo_module *m) {
  HILO_FOR_EACH_COMP(m, c)
  HILO_FOR_EACH_INST(m, c, i)
  hilo_inst_set_type(m, i, hilo_type_bare(&m->types, hilo_inst_type(m, i)));
}

static bool drop_beside(reducer *r) {
  static void (*const drops[])(hilo_module *) = {drop_aliases, drop_metadata, drop_edges,
                                                 drop_layouts};
  bool any = false;
  for (size_t k = 0; k < HILO_COUNT(drops); k++) {
    hilo_module *m = begin(r);
    drops[k](m);
    any |= keep_if(r, m);
  }
  return any;
}

/* Elements of the root tuple: halves, quarters, … single ones. */
static bool drop_results(reducer *r) {
  bool any = false;
  const hilo_inst root = hilo_comp_root(r->best, r->best->entry);
  if (!hilo_inst_is(r->best, root, HILO_OP_TUPLE)) return false;
  for (uint32_t size = hilo_inst_n_operands(r->best, root) / 2; size > 0; size /= 2) {
    for (uint32_t at = 0;;) {
      const hilo_inst old = hilo_comp_root(r->best, r->best->entry);
      const uint32_t n = hilo_inst_n_operands(r->best, old);
      if (at >= n) break;
      hilo_module *m = begin(r);
      drop_aliases(m);
      const hilo_inst tuple = hilo_comp_root(m, m->entry);
      hilo_vec(hilo_inst) kept = {0};
      for (uint32_t k = 0; k < n; k++)
        if (k < at || k >= at + size) HILO_PUSH(m->arena, &kept, hilo_inst_operand(m, tuple, k));
      hilo_comp_set_root(m, m->entry, hilo_build_tuple(m, tuple, kept.v, kept.n));
      erase_unused(m, tuple);
      if (keep_if(r, m))
        any = true;
      else
        at += size;
    }
  }
  return any;
}

/* One instruction's value as the whole result. */
static bool cut_short(reducer *r) {
  const uint32_t n = hilo_comp_get(r->best, r->best->entry)->n_insts;
  for (uint32_t at = 0; at + 1 < n; at++) {
    hilo_module *m = begin(r);
    hilo_inst i = hilo_comp_first(m, m->entry);
    for (uint32_t k = 0; k < at && i.ix; k++) i = hilo_inst_next(m, i);
    if (!i.ix || hilo_inst_is_root(m, i) || hilo_inst_is(m, i, HILO_OP_PARAMETER)) continue;
    drop_aliases(m);
    const hilo_inst old = hilo_comp_root(m, m->entry);
    hilo_comp_set_root(m, m->entry, i);
    erase_unused(m, old);
    if (keep_if(r, m)) return true;
  }
  return false;
}

typedef enum { BY_OPERAND, BY_PARAMETER, BY_ZERO, BY_ONE, N_WAYS } method;

/* Something else of the same type, before `i`; none if there is nothing. `k`: which operand. */
static hilo_inst substitute(hilo_module *m, hilo_inst i, method way, uint32_t k) {
  const hilo_type type = hilo_inst_type(m, i);
  if (way == BY_OPERAND) {
    if (k >= hilo_inst_n_operands(m, i)) return HILO_INST_NONE;
    const hilo_inst o = hilo_inst_operand(m, i, k);
    return hilo_type_compatible(&m->types, type, hilo_inst_type(m, o)) ? o : HILO_INST_NONE;
  }
  const hilo_op op = hilo_inst_op(m, i);
  const bool is_leaf = op == HILO_OP_PARAMETER || op == HILO_OP_CONSTANT;
  if (way == BY_PARAMETER) {
    if (!hilo_comp_eq(hilo_inst_comp(m, i), m->entry) || is_leaf ||
        hilo_type_etype(&m->types, type) == HILO_TOKEN)
      return HILO_INST_NONE;
    return hilo_inst_insert_before(
        m, i,
        &(hilo_inst_desc){.op = HILO_OP_PARAMETER,
                          .type = type,
                          .attr = hilo_comp_n_params(m, hilo_inst_comp(m, i))});
  }
  if (!hilo_type_is_array(&m->types, type) || op == HILO_OP_CONSTANT) return HILO_INST_NONE;
  const hilo_etype etype = hilo_type_etype(&m->types, type);
  if (hilo_etype_is_complex(etype)) {
    const char zeros[16] = {0};
    return way == BY_ZERO ? hilo_build_splat(m, i, type, zeros) : HILO_INST_NONE;
  }
  return hilo_build_splat_int(m, i, type, way == BY_ONE);
}

/* The instruction `at` of the module, in the order of computations. */
static hilo_inst nth(const hilo_module *m, uint32_t at) {
  HILO_FOR_EACH_COMP(m, c) {
    const uint32_t n = hilo_comp_get(m, c)->n_insts;
    if (at >= n) {
      at -= n;
      continue;
    }
    hilo_inst i = hilo_comp_first(m, c);
    while (at--) i = hilo_inst_next(m, i);
    return i;
  }
  return HILO_INST_NONE;
}

static bool try_way(reducer *r, uint32_t at, method way, uint32_t k) {
  hilo_module *m = begin(r);
  const hilo_inst i = nth(m, at);
  const hilo_inst by = i.ix ? substitute(m, i, way, k) : i;
  if (!by.ix) return false;
  hilo_inst_replace_uses(m, i, by);
  erase_unused(m, i);
  return keep_if(r, m);
}

static bool replace_some(reducer *r) {
  bool any = false;
  for (uint32_t at = r->best->n_insts; at-- > 0 && r->left;) {
    const hilo_inst i = nth(r->best, at);
    if (!i.ix) continue;
    const uint32_t n = hilo_inst_n_operands(r->best, i);
    bool done = false;
    for (uint32_t k = 0; k < n && !done; k++) done = try_way(r, at, BY_OPERAND, k);
    for (method way = BY_PARAMETER; way < N_WAYS && !done; way++) done = try_way(r, at, way, 0);
    any |= done;
  }
  return any;
}

static bool is_dead(const hilo_module *m, hilo_inst i) {
  return i.ix && !hilo_inst_has_uses(m, i) && !hilo_inst_is_root(m, i) &&
         !hilo_inst_is(m, i, HILO_OP_PARAMETER);
}

/* Dead instructions, `size` of them at a time. */
static bool drop_dead(reducer *r) {
  bool any = false;
  for (uint32_t at = r->best->comp.n; r->keeps_dead && at-- > 1;) {
    hilo_module *m = begin(r);
    if (at >= m->comp.n) continue;
    const hilo_comp c = hilo_comp_at(m, at);
    if (!hilo_comp_is_live(m, c) || hilo_comp_eq(c, m->entry) || hilo_comp_get(m, c)->n_callers)
      continue;
    hilo_comp_erase(m, c);
    any |= keep_if(r, m);
  }
  for (uint32_t size = r->best->n_insts / 2 + 1; r->keeps_dead && size > 0; size /= 2) {
    for (uint32_t at = r->best->n_insts; at > 0;) {
      hilo_module *m = begin(r);
      uint32_t n = 0;
      for (; at > 0 && n < size; at--) {
        const hilo_inst i = nth(m, at - 1);
        if (!is_dead(m, i)) continue;
        hilo_control_remove_all(m, i);
        hilo_inst_erase(m, i);
        n++;
      }
      if (n) any |= keep_if(r, m);
    }
  }
  return any;
}

/* ---- all of it ---- */

/* Does it fail without its dead code? */
static void decide_about_dead(reducer *r) {
  hilo_module *m = begin(r);
  sweep(r, m);
  r->keeps_dead = !r->fails(r->user, m);
}

static void reduce(reducer *r) {
  decide_about_dead(r);
  for (bool any = true; any && r->left;) {
    any = drop_results(r);
    any |= cut_short(r);
    any |= drop_beside(r);
    any |= drop_dead(r);
    any |= replace_some(r);
    any |= try_pass(r, hilo_pass_call_inliner);
    any |= try_pass(r, hilo_pass_tuple_simplifier);
    any |= try_pass(r, hilo_pass_dce);
    any |= try_pass(r, hilo_pass_common_instruction_elimination);
  }
}

hilo_module *hilo_reduce(const hilo_module *m, hilo_still_fails *fails, void *user, uint32_t most,
                         hilo_arena *arena) {
  reducer r = {.fails = fails, .user = user, .left = most};
  hilo_scratch_init(&r.arenas[0], arena);
  hilo_scratch_init(&r.arenas[1], arena);
  hilo_scratch_init(&r.scratch, arena);
  r.best = hilo_module_clone(m, &r.arenas[0].arena);
  reduce(&r);
  hilo_module *smallest = hilo_module_clone(r.best, arena);
  hilo_scratch_deinit(&r.scratch);
  hilo_scratch_deinit(&r.arenas[1]);
  hilo_scratch_deinit(&r.arenas[0]);
  return smallest;
}
