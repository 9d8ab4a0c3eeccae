/* A piece that must write over an input of the module which later pieces read: it copies the old
 * value first, and the later ones read the copy. So the alias holds in the piece, whoever links.
 * Views of the input are in every piece that needs them, so those of later pieces become views of
 * the copy. Linear in the uses of the inputs that are written over. */
#include "partition/cut_parts.h"
#include "rewrite/build.h"

typedef hilo_vec(hilo_inst) inst_list;

typedef struct {
  hilo_inst user;
  uint32_t operand;
} late_use;

typedef struct {
  hilo_cutter *c;
  const uint64_t *cheap; /* bit by instruction, of those that were there before */
  uint32_t n_known;
  inst_list values;        /* the input, and views of it */
  hilo_map place_of;       /* instruction → 1 + its place among `values` */
  inst_list twins;         /* by value: what later pieces use instead; HILO_INST_NONE: not needed */
  hilo_vec(late_use) late; /* in later pieces, of one of the values */
} keeping;

static bool is_repeated(const keeping *k, hilo_inst i) {
  const hilo_module *m = k->c->m;
  const uint32_t ix = hilo_ix(m, i);
  if (hilo_control_has(m, i)) return false;
  return hilo_cut_is_view(m, i) || (ix < k->n_known && hilo_bitset_get(k->cheap, ix));
}

static void add_value(keeping *k, hilo_inst v) {
  bool inserted;
  uint32_t *at = hilo_map_at(&k->place_of, hilo_ix(k->c->m, v), &inserted);
  if (!inserted) return;
  HILO_PUSH(k->c->scratch, &k->values, v);
  HILO_PUSH(k->c->scratch, &k->twins, HILO_INST_NONE);
  *at = k->values.n;
}

/* Uses of the input in units behind `writer`. */
static void find_late_uses(keeping *k, hilo_inst input, uint32_t writer) {
  const hilo_module *m = k->c->m;
  k->values.n = k->twins.n = k->late.n = 0;
  hilo_map_free(&k->place_of);
  add_value(k, input);
  for (uint32_t at = 0; at < k->values.n; at++)
    for (hilo_use u = hilo_first_use(m, k->values.v[at]); u.slot; u = hilo_next_use(m, u)) {
      const hilo_inst user = hilo_use_user(m, u);
      /* What the module returns is computed in its own unit. */
      const hilo_inst reader = hilo_inst_is_root(m, user) ? k->values.v[at] : user;
      if (!hilo_inst_is_root(m, user) && is_repeated(k, user))
        add_value(k, user);
      else if (k->c->unit[hilo_ix(m, reader)] > writer)
        HILO_PUSH(k->c->scratch, &k->late, ((late_use){user, hilo_use_operand_index(m, u)}));
    }
}

static uint32_t place_of(const keeping *k, hilo_inst v) {
  return hilo_map_get(&k->place_of, hilo_ix(k->c->m, v), 0);
}

/* The first operand of a value that is to have a twin before it; 0: none. */
static uint32_t operand_without_twin(const keeping *k, hilo_inst v) {
  for (uint32_t o = 0; o < hilo_inst_n_operands(k->c->m, v); o++) {
    const uint32_t its = place_of(k, hilo_inst_operand(k->c->m, v, o));
    if (its && !k->twins.v[its - 1].ix) return its;
  }
  return 0;
}

static hilo_inst make_twin(keeping *k, hilo_inst v) {
  hilo_module *m = k->c->m;
  if (v.ix == k->values.v[0].ix) return hilo_build_copy(m, hilo_inst_next(m, v), v);
  const uint32_t n = hilo_inst_n_operands(m, v);
  hilo_inst *operands = HILO_NEW_ARRAY(k->c->scratch, hilo_inst, n + 1);
  for (uint32_t o = 0; o < n; o++) {
    operands[o] = hilo_inst_operand(m, v, o);
    const uint32_t its = place_of(k, operands[o]);
    if (its) operands[o] = k->twins.v[its - 1];
  }
  return hilo_inst_clone_before(m, v, hilo_inst_next(m, v), operands);
}

/* Twins of what it is made of come first. */
static hilo_inst twin_of(keeping *k, hilo_inst v) {
  hilo_vec(uint32_t) stack = {0};
  HILO_PUSH(k->c->scratch, &stack, place_of(k, v));
  while (stack.n) {
    const uint32_t at = stack.v[stack.n - 1] - 1;
    const uint32_t before = at && !k->twins.v[at].ix ? operand_without_twin(k, k->values.v[at]) : 0;
    if (before) {
      HILO_PUSH(k->c->scratch, &stack, before);
      continue;
    }
    if (!k->twins.v[at].ix) k->twins.v[at] = make_twin(k, k->values.v[at]);
    stack.n--;
  }
  return k->twins.v[place_of(k, v) - 1];
}

void hilo_cut_keep_old_values(hilo_cutter *c) {
  hilo_cut *cut = c->cut;
  hilo_module *m = c->m;
  keeping k = {.c = c, .n_known = m->n_inst_slots, .place_of = hilo_map_make(c->scratch)};
  for (uint32_t a = 0; a < cut->n_aliases; a++) {
    const hilo_piece_alias *alias = &cut->aliases[a];
    if (alias->kind != HILO_ALIAS_MUST) continue;
    if (!k.cheap) k.cheap = hilo_partition_cheap(m, c->scratch);
    const uint32_t writer = c->unit[hilo_ix(m, cut->outputs[alias->output])];
    const uint32_t n_known = m->n_inst_slots;
    find_late_uses(&k, cut->inputs[alias->input], writer);
    for (uint32_t at = 0; at < k.late.n; at++) {
      const late_use use = k.late.v[at];
      const hilo_inst value = hilo_inst_operand(m, use.user, use.operand);
      const hilo_inst twin = twin_of(&k, value);
      hilo_inst_set_operand(m, use.user, use.operand, twin);
      if (hilo_inst_is_root(m, use.user)) cut->outputs[use.operand] = twin;
    }
    hilo_cut_set_units_of_new(c, n_known, writer);
  }
}
