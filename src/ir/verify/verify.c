#include "ir/verify/verify_parts.h"

/* After hilo_verify(m) == HILO_OK, all of this holds. The file that checks it is named behind it.
 *
 * Structure (verify_graph.c)
 *  1. There is one live entry computation.
 *  2. Every computation has at least one instruction; its list runs from `first` to `last` with
 *     consistent links, holds `n_insts` live instructions that name it as theirs, and order keys
 *     grow along it while it is marked ordered. Counts of the module add up.
 *  3. Operands are live instructions of the same computation (closedness). Each operand slot is in
 *     the use list of its value, and use lists hold nothing else.
 *  4. An operand stands before its users.
 *  5. Control edges join live instructions of one computation, and are acyclic together with the
 *     data edges.
 *  6. Each computation has one root, in it, the only instruction with the root flag.
 *  7. Parameters are numbered 0 … n-1, each once.
 *  8. Names of instructions are unique in the module, those of computations too, none is empty.
 *  9. Called computations are live, `n_callers` counts the references, and no computation reaches
 *     itself through calls.
 *
 * Types and values (verify_types.c)
 * 10. Dimensions are not negative unless unbounded; numbers of elements and bytes fit int64; tuples
 *     nest at most HILO_MAX_TYPE_DEPTH deep.
 * 11. Layouts are permutations of the dimensions; tiles and sizes in them are positive.
 * 12. A constant's literal has its type, and as many bytes as the type needs.
 *
 * Operations (infer*.c, through hilo_infer_run)
 * 13. The number of operands and of called computations is what the operation takes; attributes are
 *     of its family.
 * 14. Element types, ranks, dimension numbers, windows, slices, paddings, index maps are what the
 *     operation allows.
 * 15. Called computations have the signature that their role asks for.
 * 16. The declared type is the inferred one, up to layouts and dynamic bits.
 *
 * Distribution (verify_collective.c, verify_chain.c, verify_sharding.c)
 * 17. Replica groups name each rank once, from 0 on, in groups of one size where that is needed;
 *     source-target pairs name each source and target once. Counts of replicas and partitions are
 *     kept to where the module states them. A channel that several collectives use is a warning.
 * 18. What an asynchronous operation or transfer starts is finished once, by its own other half.
 * 19. Shardings have as many devices as tiles, each once, as many tile dimensions as the array has,
 *     and one element for each leaf of a tuple.
 * 20. Manual regions (SPMDFullToShardShape … SPMDShardToFullShape) do not nest.
 *
 * The rest (verify_alias.c)
 * 21. Aliases of calls name operands and results that exist and have one type; constrained layouts
 *     are given for every operand, with its type; the root of a fused computation has no users.
 * 22. Aliases and donors of the module name parameters and results that exist, each once, of one
 *     size (of one type where aliasing is a must). The entry layout has the types of the entry.
 *
 * Method: one walk over the graph, then one over the instructions in program order. A value whose
 * declared type turned out wrong is not held against its users. Cost: O(instructions + operands +
 * sizes of distinct attributes), no recursion on the depth of calls, of graphs or of types. */

const char *hilo_verify_name(hilo_verifier *v, hilo_inst i) {
  enum { NAME_BYTES = 200 };
  hilo_sb *sb = &v->infer.text[v->infer.next_text++ % HILO_COUNT(v->infer.text)];
  hilo_sb_clear(sb);
  hilo_name_print(v->m, hilo_inst_name(v->m, i), sb);
  if (sb->n > NAME_BYTES) {
    sb->n = NAME_BYTES;
    hilo_sb_cat(sb, "...");
  }
  return hilo_sb_cstr(sb);
}

void hilo_verify_comp_error(hilo_verifier *v, hilo_diag_code code, hilo_comp c, const char *fmt,
                            ...) {
  hilo_place place = HILO_NOWHERE;
  place.file = v->m->input_name;
  if (c.ix) place.computation = hilo_comp_name_text(v->m, c, v->diags->arena);
  va_list args;
  va_start(args, fmt);
  (void)hilo_diag_vadd(v->diags, code, &place, fmt, args);
  va_end(args);
}

/* Does the instruction depend on something that is known to be wrong? */
static bool depends_on_wrong(const hilo_verifier *v, uint32_t ix) {
  const hilo_module *m = v->m;
  const hilo_operand_slot *slots = m->operand.v + m->inst.operands[ix];
  if (v->any_wrong_inst)
    for (uint32_t k = 0; k < m->inst.n_operands[ix]; k++)
      if (hilo_bitset_get(v->wrong_insts, slots[k].value)) return true;
  const uint32_t at = m->inst.called[ix];
  for (uint32_t k = 0; at && k < m->called.v[at]; k++) {
    const uint32_t c = m->called.v[at + 1 + k];
    if (v->any_wrong_comp && hilo_bitset_get(v->wrong_comps, c)) return true;
    if (v->any_wrong_inst && hilo_bitset_get(v->wrong_insts, m->comp.v[c].root)) return true;
  }
  return false;
}

static void mark_wrong(hilo_verifier *v, uint32_t ix) {
  hilo_bitset_set(v->wrong_insts, ix);
  v->any_wrong_inst = true;
}

/* The first element where a tuple differs from what was inferred: naming it says more than two long
 * types. */
static bool report_element(hilo_verifier *v, hilo_inst i, const hilo_shape *shape, hilo_type t) {
  hilo_infer *c = &v->infer;
  const hilo_type_row *r = hilo_type_row_of(&v->m->types, t);
  const hilo_type_row *want = shape->type.ix ? hilo_type_row_of(&v->m->types, shape->type) : NULL;
  const uint32_t n = want ? want->n : shape->n;
  if ((want ? want->etype : (uint8_t)shape->etype) != HILO_TUPLE || r->etype != HILO_TUPLE ||
      r->n != n)
    return false;
  for (uint32_t k = 0; k < n; k++) {
    const hilo_type declared = {(uint32_t)r->items[k]};
    const hilo_shape element =
        want ? (hilo_shape){.type = {(uint32_t)want->items[k]}} : c->elements.v[shape->at + k];
    if (hilo_infer_matches(c, &element, declared)) continue;
    hilo_verify_error(v, HILO_DIAG_EMOD918, i, "element %u of `%s` is declared as %s, expected %s",
                      k, hilo_op_name(hilo_inst_op(v->m, i)), hilo_infer_type_text(c, declared),
                      hilo_infer_shape_text(c, &element));
    return true;
  }
  return false;
}

/* Programs repeat themselves: layers hold the same operations on the same types. The rule of an
 * instruction sees its operation, attributes, declared type, types of operands, called
 * computations, and for collectives the extra record; where all of these are those of an
 * instruction whose rule held, it holds again. A table by hash remembers the last such instruction.
 */
enum { PROVED_SLOTS = 4096 };

static uint32_t rule_hash(const hilo_module *m, uint32_t ix) {
  uint64_t h = m->inst.op[ix] * 0x9e3779b97f4a7c15ull + m->inst.attr[ix];
  h = (h ^ m->inst.type[ix]) * 0xbf58476d1ce4e5b9ull;
  const hilo_operand_slot *slots = m->operand.v + m->inst.operands[ix];
  const uint32_t *types = m->inst.type;
  for (const hilo_operand_slot *s = slots, *end = s + m->inst.n_operands[ix]; s != end; s++)
    h = (h ^ types[s->value]) * 0x9e3779b97f4a7c15ull;
  return (uint32_t)(h >> 40) & (PROVED_SLOTS - 1);
}

static bool has_same_rule(const hilo_module *m, uint32_t a, uint32_t b) {
  const hilo_inst_columns *x = &m->inst;
  const uint32_t n = x->n_operands[a];
  if (x->op[a] != x->op[b] || x->attr[a] != x->attr[b] || x->type[a] != x->type[b] ||
      n != x->n_operands[b])
    return false;
  const hilo_operand_slot *p = m->operand.v + x->operands[a], *q = m->operand.v + x->operands[b];
  const uint32_t *types = x->type;
  for (const hilo_operand_slot *end = p + n; p != end; p++, q++)
    if (types[p->value] != types[q->value]) return false;
  if (x->extra[a] != x->extra[b] && hilo_op_has((hilo_op)x->op[a], HILO_TRAIT_COLLECTIVE))
    return false;
  const uint32_t *f = m->called.v + x->called[a], *g = m->called.v + x->called[b];
  if (f == g || (*f == 0 && *g == 0)) return true;
  return *f == *g && memcmp(f, g, (*f + 1ull) * sizeof(*f)) == 0;
}

static void verify_rule(hilo_verifier *v, hilo_inst i, uint32_t ix) {
  hilo_infer *c = &v->infer;
  hilo_shape shape;
  uint32_t *slot = &v->proved[rule_hash(v->m, ix)];
  if (HILO_LIKELY(*slot && has_same_rule(v->m, *slot, ix))) return;
  hilo_infer_set_inst(c, i);
  if (HILO_UNLIKELY(!hilo_infer_run(c, &shape))) {
    mark_wrong(v, ix);
    return;
  }
  if (HILO_LIKELY(hilo_infer_matches(c, &shape, c->declared))) {
    *slot = ix;
    return;
  }
  mark_wrong(v, ix);
  if (!report_element(v, i, &shape, c->declared))
    hilo_verify_error(v, HILO_DIAG_EMOD918, i, "`%s` is declared as %s, expected %s", op_name(c),
                      hilo_infer_type_text(c, c->declared), hilo_infer_shape_text(c, &shape));
}

/* What some operations have to keep to besides the rule of their type. */
static void verify_special(hilo_verifier *v, hilo_inst i, hilo_op op) {
  switch (op) {
  case HILO_OP_CONSTANT: hilo_verify_constant(v, i); break;
  case HILO_OP_CALL:
  case HILO_OP_CUSTOM_CALL:
  case HILO_OP_FUSION: hilo_verify_call(v, i); break;
  default: break;
  }
  const unsigned traits = hilo_op_table[op].traits;
  if (traits & HILO_TRAIT_COLLECTIVE && !(traits & HILO_TRAIT_ASYNC_DONE))
    hilo_verify_collective(v, i);
  if (traits & (HILO_TRAIT_ASYNC_START | HILO_TRAIT_ASYNC_DONE | HILO_TRAIT_TRANSFER))
    hilo_verify_chain(v, i);
}

static void verify_inst(hilo_verifier *v, hilo_inst i) {
  const hilo_module *m = v->m;
  const uint32_t ix = hilo_ix(m, i);
  const hilo_op op = (hilo_op)m->inst.op[ix];
  if (HILO_UNLIKELY(!hilo_verify_type(v, i, (hilo_type){m->inst.type[ix]}))) {
    mark_wrong(v, ix);
    return;
  }
  if (HILO_UNLIKELY((v->any_wrong_inst || v->any_wrong_comp) && depends_on_wrong(v, ix))) return;
  verify_rule(v, i, ix);
  if (HILO_UNLIKELY(v->any_wrong_inst && hilo_bitset_get(v->wrong_insts, ix))) return;
  if (m->inst.extra[ix]) {
    const hilo_extra_attrs extra = hilo_inst_extra(m, i);
    if (extra.sharding.ix) hilo_verify_sharding(v, i, extra.sharding);
    if (extra.channel_id) hilo_verify_channel(v, i, &extra);
    if (extra.replicated_at_leaves.n)
      hilo_verify_replicated_leaves(v, i, extra.replicated_at_leaves);
  }
  verify_special(v, i, op);
}

static void init(hilo_verifier *v, const hilo_module *m, hilo_diags *diags, hilo_arena *arena) {
  *v = (hilo_verifier){.m = m, .diags = diags, .arena = arena};
  hilo_infer_init(&v->infer, m, arena, diags);
  v->wrong_insts = hilo_bitset_create(arena, m->n_inst_slots);
  v->wrong_comps = hilo_bitset_create(arena, m->comp.n);
  v->good_types = hilo_bitset_create(arena, m->types.next);
  v->proved = HILO_NEW_ZEROED(arena, uint32_t, PROVED_SLOTS);
  v->wrong_types = hilo_bitset_create(arena, m->types.next);
  v->tuple_depths = hilo_map_make(arena);
  v->tuple_leaves = hilo_map_make(arena);
  v->collectives = hilo_map_make(arena);
  v->shardings = hilo_map_make(arena);
  v->channel_owners = hilo_map_make(arena);
}

static void verify(hilo_verifier *v) {
  const hilo_module *m = v->m;
  if (!hilo_verify_graph(v)) return;
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) verify_inst(v, i);
    if (v->has_manual_regions) hilo_verify_manual_regions(v, c);
  }
  hilo_verify_report_channels(v);
  hilo_verify_header(v);
}

static uint32_t count_limits(const hilo_diags *diags, uint32_t from) {
  uint32_t n = 0;
  for (uint32_t k = from; k < diags->n; k++) n += diags->list[k].code == HILO_DIAG_EMOD907;
  return n;
}

hilo_status hilo_verify(const hilo_module *m, hilo_diags *diags) {
  const uint32_t n_errors = diags->n_errors, n_shown = diags->n;
  hilo_scratch scratch;
  hilo_scratch_init(&scratch, diags->arena);
  hilo_verifier v;
  init(&v, m, diags, &scratch.arena);
  verify(&v);
  hilo_scratch_deinit(&scratch);
  const uint32_t n_new = diags->n_errors - n_errors;
  if (n_new == 0) return HILO_OK;
  return count_limits(diags, n_shown) == n_new ? HILO_LIMIT_ERROR : HILO_INPUT_ERROR;
}
