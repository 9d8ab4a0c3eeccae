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
  uint32_t stack, number;
} stack_scope;

typedef struct {
  uint32_t first, n; /* of the scopes */
  bool backward;
} name_scopes;

typedef struct {
  hilo_finder *f;
  hilo_store paths;    /* of scopes; a handle names a stack */
  hilo_store prefixes; /* of op_names, all but the primitive; a handle names its scopes */
  hilo_map stack_of;   /* path → stack */
  hilo_map seen;       /* (stack, number) */
  hilo_map prefix_of;  /* prefix → 1 + its scopes */
  hilo_vec(stack) stacks;
  hilo_vec(hilo_str) texts; /* by stack: its path */
  hilo_vec(stack_scope) scopes;
  hilo_vec(name_scopes) names; /* by prefix, in order of first appearance */
  hilo_str last_prefix;        /* the one that was looked at last, and what it is */
  uint32_t last_scopes;
  uint32_t n_labels; /* T: layers of all stacks */
  bool has_backward;
  uint32_t *label; /* by instruction: its region by itself; 0: none */
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
  name_scopes name = {.first = s->scopes.n};
  hilo_scope found[HILO_MAX_SCOPES];
  name.n = hilo_scopes_of(text, s->f->arena, found, &name.backward);
  for (uint32_t k = 0; k < name.n; k++) {
    const stack_scope scope = {stack_at(s, found[k].path), found[k].number};
    see(s, scope.stack, scope.number);
    HILO_PUSH(s->f->arena, &s->scopes, scope);
  }
  HILO_PUSH(s->f->arena, &s->names, name);
  return s->names.n;
}

/* What decides: all but the last component, the primitive, if that is nothing more. */
static hilo_str prefix_of(hilo_str name) {
  const char *slash = memrchr(name.p, '/', name.n), *open = memrchr(name.p, '(', name.n);
  if (!slash || (open && open > slash)) return name;
  return (hilo_str){name.p, (size_t)(slash - name.p) + 1};
}

/* The scopes of an op_name: 1 + their place among `names`. Each prefix is taken apart once, and
 * looked for where it is not the one of the name before. */
static uint32_t scopes_of_name(scoping *s, hilo_label name) {
  const hilo_str prefix = prefix_of(hilo_label_of(s->f->m, name));
  if (s->last_scopes && hilo_str_eq(prefix, s->last_prefix)) return s->last_scopes;
  bool inserted;
  uint32_t *known = hilo_map_at(&s->prefix_of, hilo_string_put(&s->prefixes, prefix).ix, &inserted);
  if (inserted) *known = new_scopes(s, prefix);
  s->last_prefix = prefix;
  return s->last_scopes = *known;
}

/* By instruction: 0, or as above. */
static void find_scopes(scoping *s, uint32_t *scopes) {
  const hilo_entry_graph *g = &s->f->graph;
  enum { N_KNOWN = 4096 }; /* records that are known, direct mapped */
  struct known {
    uint32_t record, scopes;
  } *known = HILO_NEW_ZEROED(g->arena, struct known, N_KNOWN);
  for (uint32_t k = 0; k < g->n; k++) {
    const hilo_record record = hilo_inst_meta_record(g->m, g->order[k]);
    if (!record.ix || hilo_inst_is(g->m, g->order[k], HILO_OP_PARAMETER)) continue;
    const uint32_t at = (record.ix ^ record.ix >> 12) % N_KNOWN;
    if (known[at].record != record.ix) {
      const hilo_label name = hilo_meta_op_name(&g->m->labels, record);
      known[at].record = record.ix;
      known[at].scopes = name.ix ? scopes_of_name(s, name) : 0;
    }
    scopes[hilo_ix(g->m, g->order[k])] = known[at].scopes;
  }
}

/* The outermost scope that is a layer of a stack; NULL: none is. */
static const stack_scope *outermost(const scoping *s, const name_scopes *name) {
  for (uint32_t k = 0; k < name->n; k++) {
    const stack_scope *scope = &s->scopes.v[name->first + k];
    if (s->stacks.v[scope->stack].counts_up) return scope;
  }
  return NULL;
}

/* Which scopes count up; labels, from 1 on, in order of first appearance. */
static void find_stacks(scoping *s) {
  for (uint32_t k = 0; k < s->stacks.n; k++) {
    stack *its = &s->stacks.v[k];
    its->counts_up = its->n >= 2 && its->first <= 1 && its->last - its->first + 1 == its->n;
  }
  for (uint32_t k = 0; k < s->names.n; k++) {
    const stack_scope *scope = outermost(s, &s->names.v[k]);
    if (!scope) continue;
    s->has_backward |= s->names.v[k].backward;
    stack *its = &s->stacks.v[scope->stack];
    if (its->used) continue;
    its->used = true;
    its->base = s->n_labels;
    s->n_labels += its->n;
  }
}

/* The region that instructions with these scopes belong to by themselves; 0: none. */
static uint32_t region_of_name(const scoping *s, const name_scopes *name) {
  const stack_scope *scope = outermost(s, name);
  if (!scope) return 0;
  const stack *its = &s->stacks.v[scope->stack];
  const uint32_t label = its->base + (uint32_t)(scope->number - its->first) + 1;
  return hilo_layer_region_of(name->backward ? 2 * s->n_labels + 1 - label : label);
}

/* By instruction: its scopes become its label. */
static void set_labels(scoping *s) {
  const hilo_module *m = s->f->m;
  uint32_t *of_name = HILO_NEW_ZEROED(s->f->arena, uint32_t, s->names.n + 1);
  for (uint32_t k = 0; k < s->names.n; k++) of_name[k + 1] = region_of_name(s, &s->names.v[k]);
  /* Constants come before all layers: those of equal layers may differ. */
  for (uint32_t ix = 1; ix < m->n_inst_slots; ix++)
    s->label[ix] = m->inst.op[ix] == HILO_OP_CONSTANT ? 0 : of_name[s->label[ix]];
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
  enum { NOBODY = 0, SEVERAL = UINT32_MAX }; /* else the label of all users */
  uint32_t *users = HILO_NEW_ZEROED(g->arena, uint32_t, m->n_inst_slots);
  for (uint32_t at = g->n; at-- > 0;) {
    const uint32_t ix = hilo_ix(m, g->order[at]);
    const bool is_light = !hilo_bitset_get(heavy, ix);
    if (is_light && users[ix] == SEVERAL) s->label[ix] = 0;
    /* Unlabelled light values pass on who uses them; all others are users themselves. */
    const uint32_t user = is_light && !s->label[ix] ? users[ix] : s->label[ix];
    if (user == NOBODY) continue;
    HILO_FOR_EACH_NEED(m, g->order[at], need) {
      const uint32_t its = hilo_ix(m, need);
      if (user != SEVERAL && (user == s->label[its] || user == users[its])) continue;
      users[its] = users[its] == NOBODY ? user : SEVERAL;
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
  t.hash = HILO_NEW_ARRAY(f->arena, uint64_t, m->n_inst_slots);
  uint64_t *needed = hilo_bitset_create(f->arena, m->n_inst_slots);
  for (uint32_t at = f->graph.n; at-- > 0;) {
    const hilo_inst i = f->graph.order[at];
    const uint32_t ix = hilo_ix(m, i);
    if (!hilo_bitset_get(t.compared, region[ix])) continue;
    const bool is_needed = s->label[ix] || hilo_bitset_get(needed, ix);
    const bool is_tail = !is_needed && region[ix] % 2;
    if (is_tail) {
      hilo_bitset_set(t.tail, ix);
      HILO_PUSH(f->arena, &t.list, i);
    }
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
  scoping s = {.f = f, .label = f->own};
  hilo_store_init(&s.paths, f->arena, NULL);
  hilo_store_init(&s.prefixes, f->arena, NULL);
  s.stack_of = hilo_map_make(f->arena);
  s.seen = hilo_map_make(f->arena);
  s.prefix_of = hilo_map_make(f->arena);
  find_scopes(&s, f->own);
  find_stacks(&s);
  set_labels(&s);
  if (s.n_labels) {
    drop_shared_labels(&s);
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
  hilo_map_free(&s.prefix_of);
}
