/* Layers by the scopes in op_name, as JAX and torch-xla write them: `layers_3/attention/…`.
 *
 * A stack is a scope whose numbers count up from 0 or 1. Its layers get labels, gradients the
 * mirrored ones behind them; an instruction's region is the largest label of what it needs. What
 * all layers share (rotary tables, masks) loses its label first; what hangs behind the last layer
 * of a run and is not like what hangs behind the one before (head and loss, update of the
 * embedding) is the region after it. */
#include "analysis/canonical.h"
#include "analysis/metrics.h"
#include "partition/layers_parts.h"
#include "partition/scope.h"

#include <stdlib.h>

/* ---- stacks ---- */

typedef struct {
  uint64_t first, last; /* numbers */
  uint32_t n;           /* numbers seen, once each */
  uint32_t base;        /* labels of the stacks before it; set when the stack counts up */
  bool counts_up, used;
} stack;

typedef struct {
  uint32_t n;
  bool backward;
  struct {
    uint32_t stack;
    uint64_t number;
  } scope[HILO_MAX_SCOPES];
} name_scopes;

typedef struct {
  hilo_finder *f;
  hilo_store paths;            /* of scopes; a handle names a stack */
  hilo_store prefixes;         /* of op_names, all but the primitive; a handle names its scopes */
  hilo_map stack_of;           /* path → stack */
  hilo_map seen;               /* (stack, number) */
  hilo_map name_of, prefix_of; /* op_name, prefix → 1 + its scopes */
  hilo_vec(stack) stacks;
  hilo_vec(hilo_str) texts; /* by stack: its path */
  hilo_vec(name_scopes) names;
  uint32_t *scopes;  /* by instruction: 0: none, or 1 + the place among `names` */
  uint32_t n_labels; /* T: layers of all stacks */
  bool has_backward;
  uint32_t *label; /* by instruction, 1 … 2T; 0: none */
} scoping;

static void see(scoping *s, uint32_t which, uint64_t number) {
  bool inserted;
  hilo_map_at(&s->seen, (uint64_t)which << 32 | number, &inserted);
  stack *k = &s->stacks.v[which];
  if (inserted) k->n++;
  if (number < k->first) k->first = number;
  if (number > k->last) k->last = number;
}

static uint32_t stack_at(scoping *s, hilo_str path) {
  bool inserted;
  uint32_t *at = hilo_map_at(&s->stack_of, hilo_string_put(&s->paths, path).ix, &inserted);
  if (inserted) {
    *at = s->stacks.n;
    HILO_PUSH(s->f->arena, &s->stacks, ((stack){.first = UINT64_MAX}));
    HILO_PUSH(s->f->arena, &s->texts, path);
  }
  return *at;
}

static uint32_t new_scopes(scoping *s, hilo_str text) {
  name_scopes scopes = {0};
  hilo_scope found[HILO_MAX_SCOPES];
  scopes.n = hilo_scopes_of(text, s->f->arena, found, &scopes.backward);
  for (uint32_t k = 0; k < scopes.n; k++) {
    scopes.scope[k].stack = stack_at(s, found[k].path);
    scopes.scope[k].number = found[k].number;
    see(s, scopes.scope[k].stack, found[k].number);
  }
  HILO_PUSH(s->f->arena, &s->names, scopes);
  return s->names.n;
}

/* What decides: all but the last component, the primitive, if that is nothing more. */
static hilo_str prefix_of(hilo_str name) {
  for (size_t n = name.n; n; n--) {
    if (name.p[n - 1] == '(') break;
    if (name.p[n - 1] == '/') return (hilo_str){name.p, n};
  }
  return name;
}

/* The scopes of an op_name: 1 + their place among `names`. Each name, and each prefix of names, is
 * looked at once. */
static uint32_t scopes_of_name(scoping *s, hilo_label name) {
  bool inserted;
  uint32_t *at = hilo_map_at(&s->name_of, name.ix, &inserted);
  if (!inserted) return *at;
  const hilo_str prefix = prefix_of(hilo_label_of(s->f->m, name));
  uint32_t *known = hilo_map_at(&s->prefix_of, hilo_string_put(&s->prefixes, prefix).ix, &inserted);
  if (inserted) *known = new_scopes(s, prefix);
  return *at = *known;
}

/* By instruction: 0, or as above. */
static void find_scopes(scoping *s) {
  const hilo_entry_graph *g = &s->f->graph;
  enum { UNSEEN, NO_NAME }; /* else 1 + what scopes_of_name says */
  uint32_t *of_record = HILO_NEW_ZEROED(g->arena, uint32_t, g->m->labels.next);
  s->scopes = HILO_NEW_ZEROED(g->arena, uint32_t, g->m->n_inst_slots);
  for (uint32_t at = 0; at < g->n; at++) {
    const hilo_record record = hilo_inst_meta_record(g->m, g->order[at]);
    if (!record.ix || hilo_inst_is(g->m, g->order[at], HILO_OP_PARAMETER)) continue;
    uint32_t *known = &of_record[record.ix];
    if (*known == UNSEEN) {
      const hilo_label name = hilo_meta_op_name(&g->m->labels, record);
      *known = name.ix ? 1 + scopes_of_name(s, name) : NO_NAME;
    }
    s->scopes[hilo_ix(g->m, g->order[at])] = *known - 1;
  }
}

static const name_scopes *scopes_of_inst(const scoping *s, hilo_inst i) {
  const uint32_t at = s->scopes[hilo_ix(s->f->m, i)];
  return at ? &s->names.v[at - 1] : NULL;
}

/* The outermost scope that is a layer of a stack. */
static bool outermost(const scoping *s, const name_scopes *n, uint32_t *which, uint64_t *number) {
  for (uint32_t k = 0; n && k < n->n; k++) {
    if (!s->stacks.v[n->scope[k].stack].counts_up) continue;
    *which = n->scope[k].stack;
    *number = n->scope[k].number;
    return true;
  }
  return false;
}

/* Which scopes count up; labels in order of first appearance. */
static void find_stacks(scoping *s) {
  const hilo_entry_graph *g = &s->f->graph;
  find_scopes(s);
  for (uint32_t k = 0; k < s->stacks.n; k++) {
    stack *its = &s->stacks.v[k];
    its->counts_up = its->n >= 2 && its->first <= 1 && its->last - its->first + 1 == its->n;
  }
  for (uint32_t at = 0; at < g->n; at++) {
    const name_scopes *names = scopes_of_inst(s, g->order[at]);
    uint32_t which = 0;
    uint64_t number;
    if (!outermost(s, names, &which, &number)) continue;
    s->has_backward |= names->backward;
    stack *its = &s->stacks.v[which];
    if (its->used) continue;
    its->used = true;
    its->base = s->n_labels;
    s->n_labels += its->n;
  }
}

static void set_labels(scoping *s) {
  const hilo_entry_graph *g = &s->f->graph;
  for (uint32_t at = 0; at < g->n; at++) {
    const hilo_inst i = g->order[at];
    const name_scopes *names = scopes_of_inst(s, i);
    uint32_t which = 0;
    uint64_t number = 0;
    /* Constants come before all layers: those of equal layers may differ. */
    if (hilo_inst_is(g->m, i, HILO_OP_CONSTANT) || !outermost(s, names, &which, &number)) continue;
    const stack *its = &s->stacks.v[which];
    const uint32_t label = its->base + (uint32_t)(number - its->first) + 1;
    s->label[hilo_ix(g->m, i)] = names->backward ? 2 * s->n_labels + 1 - label : label;
  }
}

/* ---- what layers share ---- */

static bool is_heavy(const hilo_module *m, hilo_inst i) {
  return hilo_inst_has(m, i, HILO_TRAIT_COLLECTIVE) ||
         (hilo_metrics_has_macs(m, i) && hilo_metrics_inst_macs(m, i) > 0);
}

/* A value of a light cone that two other layers use, or that something shared uses, is shared. */
static void drop_shared_labels(scoping *s) {
  const hilo_entry_graph *g = &s->f->graph;
  const hilo_module *m = g->m;
  uint64_t *heavy = hilo_bitset_create(g->arena, m->n_inst_slots);
  for (uint32_t at = 0; at < g->n; at++) {
    bool is = is_heavy(m, g->order[at]);
    HILO_FOR_EACH_NEED(m, g->order[at], need) { is |= hilo_bitset_get(heavy, hilo_ix(m, need)); }
    if (is) hilo_bitset_set(heavy, hilo_ix(m, g->order[at]));
  }
  struct users {
    uint32_t one, other; /* labels of users, two of them at most */
    bool shared;
  } *users = HILO_NEW_ZEROED(g->arena, struct users, m->n_inst_slots);
  for (uint32_t at = g->n; at-- > 0;) {
    const uint32_t ix = hilo_ix(m, g->order[at]);
    if (hilo_bitset_get(heavy, ix)) {
      users[ix] = (struct users){0};
    } else {
      users[ix].shared |= users[ix].other != 0;
      if (users[ix].shared) s->label[ix] = 0;
    }
    const struct users mine = users[ix];
    /* Unlabelled light values pass on who uses them; all others are users themselves. */
    const bool through = !s->label[ix] && !hilo_bitset_get(heavy, ix);
    const uint32_t labels[2] = {through ? mine.one : s->label[ix], through ? mine.other : 0};
    HILO_FOR_EACH_NEED(m, g->order[at], need) {
      const uint32_t its = hilo_ix(m, need);
      struct users *u = &users[its];
      u->shared |= mine.shared;
      for (uint32_t k = 0; k < 2; k++) {
        if (!labels[k] || labels[k] == s->label[its] || labels[k] == u->one) continue;
        if (!u->one)
          u->one = labels[k];
        else if (!u->other)
          u->other = labels[k];
      }
    }
  }
}

/* ---- what hangs behind a layer ---- */

typedef struct {
  hilo_finder *f;
  hilo_canonical *canonical;
  uint64_t *tail;           /* bit by instruction: no labelled one of its layer needs it */
  uint64_t *inner;          /* bit by instruction: something of its tail needs it */
  uint64_t *hash;           /* by instruction: of its cone in its tail */
  const uint64_t *ends_run; /* bit by region */
  uint64_t *compared;       /* bit by region: one that ends a run, or the layer before it */
  hilo_vec(hilo_inst) list; /* of the tails of these, users first */
} tails;

static tails find_tails(scoping *s, const uint64_t *ends_run) {
  hilo_finder *f = s->f;
  const hilo_module *m = f->m;
  const uint32_t *region = f->out->region;
  tails t = {.f = f, .canonical = hilo_canonical_make(m, f->arena), .ends_run = ends_run};
  const uint32_t n_regions = 2 * f->out->n_layers + 1;
  t.compared = hilo_bitset_create(f->arena, n_regions);
  for (uint32_t r = 0; r < n_regions; r++) {
    if (!hilo_bitset_get(ends_run, r)) continue;
    hilo_bitset_set(t.compared, r);
    if (r >= 2) hilo_bitset_set(t.compared, r - 2);
  }
  t.tail = hilo_bitset_create(f->arena, m->n_inst_slots);
  t.inner = hilo_bitset_create(f->arena, m->n_inst_slots);
  t.hash = HILO_NEW_ZEROED(f->arena, uint64_t, m->n_inst_slots);
  uint64_t *needed = hilo_bitset_create(f->arena, m->n_inst_slots);
  for (uint32_t at = f->graph.n; at-- > 0;) {
    const hilo_inst i = f->graph.order[at];
    const uint32_t ix = hilo_ix(m, i);
    const bool is_needed = s->label[ix] || hilo_bitset_get(needed, ix);
    const bool is_tail = !is_needed && region[ix] % 2;
    if (is_tail) hilo_bitset_set(t.tail, ix);
    if (is_tail && hilo_bitset_get(t.compared, region[ix])) HILO_PUSH(f->arena, &t.list, i);
    HILO_FOR_EACH_NEED(m, i, need) {
      const uint32_t its = hilo_ix(m, need);
      if (region[its] != region[ix]) continue;
      if (is_needed) hilo_bitset_set(needed, its);
      if (is_tail && !hilo_inst_is_root(m, i)) hilo_bitset_set(t.inner, its);
    }
  }
  return t;
}

static void hash_tails(tails *t) {
  const hilo_module *m = t->f->m;
  for (uint32_t at = t->list.n; at-- > 0;) {
    const hilo_inst i = t->list.v[at];
    const uint32_t ix = hilo_ix(m, i);
    uint64_t h = hilo_canonical_inst_hash(t->canonical, i, true);
    HILO_FOR_EACH_NEED(m, i, need) {
      const uint32_t its = hilo_ix(m, need);
      h = hilo_hash_combine(h, hilo_bitset_get(t->tail, its) &&
                                       t->f->out->region[its] == t->f->out->region[ix]
                                   ? t->hash[its]
                                   : hilo_inst_type(m, need).ix);
    }
    t->hash[ix] = h;
  }
}

static bool is_sink(const tails *t, hilo_inst i) {
  return !hilo_bitset_get(t->inner, hilo_ix(t->f->m, i)) && !hilo_inst_is_root(t->f->m, i);
}

/* Regions of layers that end a run: what is behind them and not behind the one before goes to the
 * region after. */
static void move_ends_of_runs(tails *t) {
  const uint64_t *ends_run = t->ends_run;
  const hilo_module *m = t->f->m;
  uint32_t *region = t->f->out->region;
  hilo_map in_layer = hilo_map_make(t->f->arena); /* (hash, region) → sinks not matched yet */
  for (uint32_t at = t->list.n; at-- > 0;) {
    if (!is_sink(t, t->list.v[at])) continue;
    const uint32_t ix = hilo_ix(m, t->list.v[at]);
    bool inserted;
    ++*hilo_map_at(&in_layer, hilo_hash_combine(t->hash[ix], region[ix]), &inserted);
  }
  uint64_t *stays = hilo_bitset_create(t->f->arena, m->n_inst_slots);
  for (uint32_t at = t->list.n; at-- > 0;) {
    const uint32_t ix = hilo_ix(m, t->list.v[at]);
    if (!is_sink(t, t->list.v[at]) || region[ix] < 3 || !hilo_bitset_get(ends_run, region[ix]))
      continue;
    bool inserted;
    uint32_t *left =
        hilo_map_at(&in_layer, hilo_hash_combine(t->hash[ix], region[ix] - 2), &inserted);
    if (!*left) continue;
    --*left;
    hilo_bitset_set(stays, ix);
  }
  hilo_vec(uint32_t) moved = {0};
  for (uint32_t at = 0; at < t->list.n; at++) {
    const hilo_inst i = t->list.v[at];
    const uint32_t ix = hilo_ix(m, i);
    if (!hilo_bitset_get(ends_run, region[ix])) continue;
    if (!hilo_bitset_get(stays, ix)) {
      HILO_PUSH(t->f->arena, &moved, ix);
      continue;
    }
    HILO_FOR_EACH_NEED(m, i, need) {
      const uint32_t its = hilo_ix(m, need);
      if (region[its] == region[ix]) hilo_bitset_set(stays, its);
    }
  }
  for (uint32_t k = 0; k < moved.n; k++) region[moved.v[k]]++;
  hilo_map_free(&in_layer);
}

/* ---- all of it ---- */

static void describe(scoping *s) {
  hilo_sb sb = hilo_sb_make(s->f->kept_arena);
  for (uint32_t k = 0; k < s->stacks.n; k++) {
    if (!s->stacks.v[k].used) continue;
    hilo_str path = s->texts.v[k];
    while (path.n && (*path.p == '/' || *path.p == '.')) path.p++, path.n--;
    hilo_sb_cat(&sb, sb.n ? " and " : "");
    hilo_sb_str(&sb, path);
    hilo_sb_cat(&sb, "_N");
  }
  s->f->out->stacks = hilo_sb_view(&sb);
}

/* The regions' table; a bit by region for the layers that end a run. */
static uint64_t *make_regions(scoping *s) {
  hilo_layers *out = s->f->out;
  const uint32_t t = s->n_labels, n = s->has_backward ? 2 * t : t;
  hilo_finder_set_layers(s->f, n);
  uint64_t *ends_run = hilo_bitset_create(s->f->arena, 2 * n + 2);
  for (uint32_t k = 0; k < s->stacks.n; k++) {
    const stack *its = &s->stacks.v[k];
    if (!its->used) continue;
    for (uint32_t layer = 0; layer < its->n; layer++) {
      const uint32_t label = its->base + layer + 1, mirrored = 2 * t + 1 - label;
      out->regions[hilo_layer_region_of(label)] =
          (hilo_layer_region){.flow = HILO_FLOW_FORWARD, .run = its->base + 1, .layer = layer};
      if (s->has_backward)
        out->regions[hilo_layer_region_of(mirrored)] = (hilo_layer_region){
            .flow = HILO_FLOW_BACKWARD, .run = 2 * t - its->base, .layer = layer};
    }
    hilo_bitset_set(ends_run, hilo_layer_region_of(its->base + its->n));
    if (s->has_backward) hilo_bitset_set(ends_run, hilo_layer_region_of(2 * t - its->base));
  }
  return ends_run;
}

void hilo_layers_by_scopes(hilo_finder *f) {
  scoping s = {.f = f};
  hilo_store_init(&s.paths, f->arena, NULL);
  hilo_store_init(&s.prefixes, f->arena, NULL);
  s.stack_of = hilo_map_make(f->arena);
  s.seen = hilo_map_make(f->arena);
  s.name_of = hilo_map_make(f->arena);
  s.prefix_of = hilo_map_make(f->arena);
  find_stacks(&s);
  if (s.n_labels) {
    s.label = HILO_NEW_ZEROED(f->arena, uint32_t, f->m->n_inst_slots);
    set_labels(&s);
    drop_shared_labels(&s);
    for (uint32_t ix = 0; ix < f->m->n_inst_slots; ix++)
      f->own[ix] = s.label[ix] ? hilo_layer_region_of(s.label[ix]) : 0;
    const uint64_t *ends_run = make_regions(&s);
    hilo_entry_graph_max(&f->graph, f->own, f->out->region);
    tails t = find_tails(&s, ends_run);
    hash_tails(&t);
    move_ends_of_runs(&t);
    describe(&s);
    f->out->source = HILO_LAYERS_BY_SCOPES;
  }
  hilo_map_free(&s.stack_of);
  hilo_map_free(&s.seen);
  hilo_map_free(&s.name_of);
  hilo_map_free(&s.prefix_of);
}
