/* Layers by repetition, for programs without scopes: the sequence of heavy operations (dots,
 * convolutions, collectives) of a stack of equal layers has a period.
 *
 * For each period up to MAX_PERIOD one pass counts how much of the sequence repeats after it; what
 * the best one covers is taken out and the rest searched again, for other stacks. The cut between
 * two periods is the value that all of the next one needs and that needs most of the one before.
 * Cost: n * MAX_PERIOD comparisons of heavy operations for each stack, and linear in the rest. */
#include "analysis/canonical.h"
#include "analysis/metrics.h"
#include "partition/layers_parts.h"

#include <stdlib.h>

enum { MAX_PERIOD = 256, SET_WORDS = MAX_PERIOD / 64, MIN_PERIODS = 3, MAX_STACKS = 16 };

/* Anchors first … first + length - 1 equal the ones a period later. */
typedef struct {
  uint32_t first, length, period;
} run;

typedef struct {
  uint64_t words[SET_WORDS];
} anchor_set;

typedef struct {
  hilo_finder *f;
  hilo_vec(uint32_t) anchors; /* places in post-order */
  hilo_vec(uint64_t) signatures;
  anchor_set *needs, *needed_by; /* by place: anchors of the period before and behind a cut */
  uint64_t *taken;               /* bit by anchor: in a run that was chosen before */
  hilo_vec(run) runs;            /* chosen, then in order */
  hilo_vec(hilo_inst) cuts;
  hilo_vec(uint32_t) run_of_cut;
} repetition;

static void find_anchors(repetition *r) {
  const hilo_entry_graph *g = &r->f->graph;
  hilo_canonical *canonical = hilo_canonical_make(g->m, g->arena);
  for (uint32_t at = 0; at < g->n; at++) {
    const hilo_inst i = g->order[at];
    if (!hilo_inst_has(g->m, i, HILO_TRAIT_COLLECTIVE) && !hilo_metrics_inst_macs(g->m, i))
      continue;
    uint64_t h = hilo_canonical_inst_hash(canonical, i, true);
    for (uint32_t k = 0; k < hilo_inst_n_operands(g->m, i); k++)
      h = hilo_hash_combine(h, hilo_inst_type(g->m, hilo_inst_operand(g->m, i, k)).ix);
    HILO_PUSH(g->arena, &r->anchors, at);
    HILO_PUSH(g->arena, &r->signatures, h);
  }
}

static bool repeats(const repetition *r, uint32_t anchor, uint32_t period) {
  return anchor + period < r->signatures.n && !hilo_bitset_get(r->taken, anchor) &&
         !hilo_bitset_get(r->taken, anchor + period) &&
         r->signatures.v[anchor] == r->signatures.v[anchor + period];
}

/* The next run of this period from anchor `at` on, of MIN_PERIODS at least; length 0: none. */
static run next_run(const repetition *r, uint32_t period, uint32_t at) {
  run its = {at, 0, period};
  while (its.first + period < r->signatures.n) {
    its.length = 0;
    while (repeats(r, its.first + its.length, period)) its.length++;
    if (its.length >= (MIN_PERIODS - 1) * period) return its;
    its.first += its.length + 1;
  }
  its.length = 0;
  return its;
}

static uint32_t behind(run its) { return its.first + its.length + its.period; }

/* The period that repeats most, 0: none. */
static uint32_t best_period(const repetition *r) {
  uint32_t best = 0, best_total = 0;
  for (uint32_t period = 1; period <= MAX_PERIOD && period < r->signatures.n; period++) {
    uint32_t total = 0;
    for (run its = next_run(r, period, 0); its.length; its = next_run(r, period, behind(its)))
      total += its.length;
    if (total <= best_total) continue;
    best_total = total;
    best = period;
  }
  return best;
}

static int by_first(const void *a, const void *b) {
  const run *x = a, *y = b;
  return (x->first > y->first) - (x->first < y->first);
}

/* Stack after stack (forward and backward layers, encoder and decoder), the one that repeats most
 * first. */
static void find_runs(repetition *r) {
  r->taken = hilo_bitset_create(r->f->arena, r->signatures.n);
  for (uint32_t k = 0, period; k < MAX_STACKS && (period = best_period(r)); k++) {
    run its = next_run(r, period, 0);
    for (; its.length; its = next_run(r, period, behind(its))) {
      HILO_PUSH(r->f->arena, &r->runs, its);
      for (uint32_t at = its.first; at < behind(its); at++) hilo_bitset_set(r->taken, at);
    }
  }
  if (r->runs.n) qsort(r->runs.v, r->runs.n, sizeof(run), by_first);
}

static bool set_has_all(const anchor_set *s, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (!(s->words[k / 64] >> (k % 64) & 1)) return false;
  return true;
}

static uint32_t set_count(const anchor_set *s) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < SET_WORDS; k++) n += (uint32_t)__builtin_popcountll(s->words[k]);
  return n;
}

static void set_join(anchor_set *to, const anchor_set *from) {
  for (uint32_t k = 0; k < SET_WORDS; k++) to->words[k] |= from->words[k];
}

/* Which of the `period` anchors from `first` on each place of [low, high] needs, or is needed by.
 */
static void spread(repetition *r, uint32_t first, uint32_t period, uint32_t low, uint32_t high) {
  const hilo_entry_graph *g = &r->f->graph;
  memset(r->needs + low, 0, (high - low + 1) * sizeof(anchor_set));
  memset(r->needed_by + low, 0, (high - low + 1) * sizeof(anchor_set));
  for (uint32_t k = 0; k < period; k++) {
    r->needs[r->anchors.v[first + k]].words[k / 64] |= 1ull << (k % 64);
    r->needed_by[r->anchors.v[first + period + k]].words[k / 64] |= 1ull << (k % 64);
  }
  for (uint32_t at = low; at <= high; at++) {
    HILO_FOR_EACH_NEED(g->m, g->order[at], need) {
      const uint32_t its = g->place[hilo_ix(g->m, need)] - 1;
      if (its >= low) set_join(&r->needs[at], &r->needs[its]);
    }
  }
  for (uint32_t at = high + 1; at-- > low;) {
    HILO_FOR_EACH_NEED(g->m, g->order[at], need) {
      const uint32_t its = g->place[hilo_ix(g->m, need)] - 1;
      if (its >= low) set_join(&r->needed_by[its], &r->needed_by[at]);
    }
  }
}

/* The cut between the period that begins with anchor `first` and the next; HILO_INST_NONE: none. */
static hilo_inst find_cut(repetition *r, uint32_t first, uint32_t period) {
  uint32_t low = UINT32_MAX, high = 0, most = 0;
  for (uint32_t k = 0; k < 2 * period; k++) {
    const uint32_t at = r->anchors.v[first + k];
    if (at < low) low = at;
    if (at > high) high = at;
  }
  spread(r, first, period, low, high);
  hilo_inst cut = HILO_INST_NONE;
  for (uint32_t at = low; at <= high; at++) {
    if (!set_has_all(&r->needed_by[at], period)) continue;
    const uint32_t n = set_count(&r->needs[at]);
    if (n <= most) continue;
    most = n;
    cut = r->f->graph.order[at];
  }
  return cut;
}

static void cut_run(repetition *r, uint32_t nth) {
  const run its = r->runs.v[nth];
  const uint32_t before = r->cuts.n, n_periods = its.length / its.period + 1;
  for (uint32_t k = 0; k + 1 < n_periods; k++) {
    const hilo_inst cut = find_cut(r, its.first + k * its.period, its.period);
    if (!cut.ix) break;
    HILO_PUSH(r->f->kept_arena, &r->cuts, cut);
    HILO_PUSH(r->f->arena, &r->run_of_cut, nth + 1);
  }
  if (r->cuts.n - before < MIN_PERIODS - 1) r->cuts.n = r->run_of_cut.n = before;
}

static bool is_of_gradient(const hilo_module *m, hilo_inst i) {
  const hilo_str name = hilo_label_of(m, hilo_inst_meta(m, i).op_name);
  const char wrapper[] = "transpose(";
  for (size_t at = 0; at + sizeof(wrapper) - 1 <= name.n; at++)
    if (!memcmp(name.p + at, wrapper, sizeof(wrapper) - 1)) return true;
  return false;
}

/* A cut is the last value of the region before it. */
static void set_regions(repetition *r) {
  hilo_finder *f = r->f;
  hilo_finder_set_layers(f, r->cuts.n);
  uint32_t nth = 0;
  for (uint32_t k = 0; k < r->cuts.n; k++) {
    const uint32_t region = hilo_layer_region_of(k + 1);
    nth = k && r->run_of_cut.v[k] == r->run_of_cut.v[k - 1] ? nth + 1 : 1;
    f->own[hilo_ix(f->m, r->cuts.v[k])] = region;
    f->out->regions[region] = (hilo_layer_region){
        .flow = is_of_gradient(f->m, r->cuts.v[k]) ? HILO_FLOW_BACKWARD : HILO_FLOW_FORWARD,
        .run = r->run_of_cut.v[k],
        .layer = nth,
    };
  }
  hilo_entry_graph_max(&f->graph, f->own, f->out->region);
  for (uint32_t k = 0; k < r->cuts.n; k++) {
    uint32_t before = 0;
    HILO_FOR_EACH_NEED(f->m, r->cuts.v[k], need) {
      const uint32_t its = f->out->region[hilo_ix(f->m, need)];
      if (its > before) before = its;
    }
    f->out->region[hilo_ix(f->m, r->cuts.v[k])] = before;
  }
}

void hilo_layers_by_repetition(hilo_finder *f) {
  repetition r = {.f = f};
  find_anchors(&r);
  find_runs(&r);
  if (r.runs.n) {
    r.needs = HILO_NEW_ARRAY(f->arena, anchor_set, f->graph.n);
    r.needed_by = HILO_NEW_ARRAY(f->arena, anchor_set, f->graph.n);
  }
  for (uint32_t nth = 0; nth < r.runs.n; nth++) cut_run(&r, nth);
  if (r.cuts.n) {
    set_regions(&r);
    f->out->cuts = r.cuts.v;
    f->out->n_cuts = r.cuts.n;
    f->out->source = HILO_LAYERS_BY_REPETITION;
  }
  HILO_VEC_FREE(f->arena, &r.anchors);
  HILO_VEC_FREE(f->arena, &r.signatures);
  HILO_VEC_FREE(f->arena, &r.runs);
  HILO_VEC_FREE(f->arena, &r.run_of_cut);
}
