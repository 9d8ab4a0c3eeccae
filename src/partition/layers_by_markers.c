/* Layers between markers of the framework, or of the loop unroller where there are none.
 *
 * A marker that ends a layer closes the latest open start among the things that it needs: one pass
 * in post-order. Pairs are numbered by the post-order of their ends. A start without an end is a
 * layer as well: it lasts until the next cut. */
#include "analysis/custom_call.h"
#include "partition/layers_parts.h"

enum { FAMILY_LOOP = 1, FAMILY_MODULE };

typedef struct {
  hilo_inst inst;
  uint8_t family;
  bool is_end;
  hilo_flow flow;
  int64_t count; /* boundaryCount of its configuration; -1: none */
} marker;

static int64_t boundary_count(hilo_str config) {
  const hilo_str key = HILO_STR("boundaryCount=");
  for (size_t at = 0; at + key.n < config.n; at++) {
    if (memcmp(config.p + at, key.p, key.n)) continue;
    int64_t count = -1;
    for (at += key.n; at < config.n && config.p[at] >= '0' && config.p[at] <= '9'; at++) {
      if (count > INT64_MAX / 10 - 1) return -1;
      count = (count < 0 ? 0 : count) * 10 + (config.p[at] - '0');
    }
    return count;
  }
  return -1;
}

static marker classify(const hilo_module *m, hilo_inst i) {
  const hilo_str target = hilo_custom_call_target(m, i);
  const hilo_extra_attrs extra = hilo_inst_extra(m, i);
  return (marker){
      .inst = i,
      .family = hilo_str_starts(target, "AwsNeuronModuleMarker") ? FAMILY_MODULE : FAMILY_LOOP,
      .is_end = hilo_is_marker_end(m, i),
      .flow = hilo_str_ends(target, "-Forward")    ? HILO_FLOW_FORWARD
              : hilo_str_ends(target, "-Backward") ? HILO_FLOW_BACKWARD
                                                   : HILO_FLOW_NONE,
      .count = boundary_count(hilo_string_of(m, extra.backend_config)),
  };
}

typedef struct {
  hilo_finder *f;
  uint8_t family;           /* the one that cuts */
  hilo_vec(marker) markers; /* in post-order */
  uint32_t *open;           /* by instruction: 1 + the start whose span it is in; 0: none */
  uint32_t *end_of;         /* by marker: 1 + the end of a start; 0: none */
} pairing;

static uint8_t cutting_family(const hilo_entry_graph *g) {
  uint8_t family = 0;
  if (!hilo_module_has_op(g->m, HILO_OP_CUSTOM_CALL)) return family;
  for (uint32_t at = 0; at < g->n; at++) {
    if (!hilo_is_marker(g->m, g->order[at])) continue;
    const uint8_t its = classify(g->m, g->order[at]).family;
    if (its > family) family = its;
  }
  return family;
}

/* The latest span among what `i` needs. */
static uint32_t span_of_needs(const pairing *p, hilo_inst i) {
  uint32_t latest = 0;
  HILO_FOR_EACH_NEED(p->f->m, i, need) {
    const uint32_t its = p->open[hilo_ix(p->f->m, need)];
    if (its > latest) latest = its;
  }
  return latest;
}

static hilo_status close_span(pairing *p, const marker *end, uint32_t start) {
  const hilo_module *m = p->f->m;
  const hilo_str target = hilo_custom_call_target(m, end->inst);
  if (!start)
    return hilo_inst_error(m, p->f->diags, HILO_DIAG_MOD001, end->inst,
                           "the marker `%.*s` ends a layer that no marker starts",
                           HILO_FMT(target));
  const marker *begin = &p->markers.v[start - 1];
  const hilo_str its = hilo_inst_name_text(m, begin->inst, p->f->arena);
  if (begin->flow != end->flow)
    return hilo_inst_error(m, p->f->diags, HILO_DIAG_MOD001, end->inst,
                           "the marker `%.*s` ends the layer that `%.*s` starts in the other "
                           "direction",
                           HILO_FMT(target), HILO_FMT(its));
  if (begin->count != end->count)
    return hilo_inst_error(m, p->f->diags, HILO_DIAG_MOD001, end->inst,
                           "the marker has boundaryCount=%lld, but `%.*s`, which starts its layer, "
                           "has %lld",
                           (long long)end->count, HILO_FMT(its), (long long)begin->count);
  if (p->end_of[start - 1])
    return hilo_inst_error(m, p->f->diags, HILO_DIAG_MOD001, end->inst,
                           "the layer that `%.*s` starts was ended before", HILO_FMT(its));
  p->end_of[start - 1] = p->markers.n + 1;
  return HILO_OK;
}

/* Spans and pairs. All faults are reported. */
static hilo_status pair(pairing *p) {
  const hilo_entry_graph *g = &p->f->graph;
  hilo_status status = HILO_OK;
  p->open = HILO_NEW_ZEROED(g->arena, uint32_t, g->m->n_inst_slots);
  p->end_of = HILO_NEW_ZEROED(g->arena, uint32_t, g->n);
  for (uint32_t at = 0; at < g->n; at++) {
    const hilo_inst i = g->order[at];
    uint32_t span = span_of_needs(p, i);
    if (hilo_is_marker(g->m, i)) {
      const marker mark = classify(g->m, i);
      if (mark.family == p->family) {
        if (mark.is_end && close_span(p, &mark, span) != HILO_OK) status = HILO_INPUT_ERROR;
        HILO_PUSH(g->arena, &p->markers, mark);
        span = mark.is_end ? 0 : p->markers.n;
      }
    }
    p->open[hilo_ix(g->m, i)] = span;
  }
  return status;
}

/* The starts in the order of their layers: by the place of the end, or their own without one.
 * Markers are in post-order, so that is one pass over them. */
static hilo_inst *number(pairing *p, uint32_t *start_of_end) {
  hilo_finder *f = p->f;
  uint32_t n_layers = 0, n_cuts = 0;
  for (uint32_t k = 0; k < p->markers.n; k++) n_layers += !p->markers.v[k].is_end;
  hilo_finder_set_layers(f, n_layers);
  hilo_inst *cuts = HILO_NEW_ARRAY(f->kept_arena, hilo_inst, p->markers.n);
  uint32_t layer = 0;
  for (uint32_t k = 0; k < p->markers.n; k++) {
    const marker *mark = &p->markers.v[k];
    if (!mark->is_end && p->end_of[k]) continue;
    const marker *start = mark->is_end ? &p->markers.v[start_of_end[k]] : mark;
    const uint32_t region = hilo_layer_region_of(++layer);
    f->own[hilo_ix(f->m, start->inst)] = region;
    f->out->regions[region].flow = start->flow;
    cuts[n_cuts++] = start->inst;
    if (mark->is_end) {
      f->own[hilo_ix(f->m, mark->inst)] = region + 1;
      cuts[n_cuts++] = mark->inst;
    } else {
      f->out->n_open++;
    }
  }
  f->out->n_cuts = n_cuts;
  return cuts;
}

/* Runs, and numbers in the stack: backward layers count down from the last forward one. */
static void number_runs(hilo_layers *layers) {
  uint32_t n_of[3] = {0}, seen[3] = {0}, run = 0;
  for (uint32_t j = 1; j <= layers->n_layers; j++)
    n_of[layers->regions[hilo_layer_region_of(j)].flow]++;
  for (uint32_t j = 1; j <= layers->n_layers; j++) {
    hilo_layer_region *r = &layers->regions[hilo_layer_region_of(j)];
    if (j == 1 || r->flow != r[-2].flow) run++;
    r->run = run;
    const uint32_t nth = seen[r->flow]++;
    const bool downwards = r->flow == HILO_FLOW_BACKWARD && nth < n_of[HILO_FLOW_FORWARD];
    r->layer = downwards ? n_of[HILO_FLOW_FORWARD] - 1 - nth : nth;
  }
}

/* Where the regions that cuts open do not follow one another, the layers lie inside each other. */
static hilo_status check_order(const hilo_finder *f) {
  hilo_status status = HILO_OK;
  for (uint32_t k = 0; k < f->out->n_cuts; k++) {
    const uint32_t ix = hilo_ix(f->m, f->out->cuts[k]);
    if (f->out->region[ix] == f->own[ix]) continue;
    status = hilo_inst_error(f->m, f->diags, HILO_DIAG_MOD001, f->out->cuts[k],
                             "the marker needs a value of a layer that ends after it: layers may "
                             "not lie inside each other");
  }
  return status;
}

hilo_status hilo_layers_by_markers(hilo_finder *f) {
  pairing p = {.f = f, .family = cutting_family(&f->graph)};
  if (!p.family) return HILO_OK;
  HILO_TRY(pair(&p));
  uint32_t *start_of_end = HILO_NEW_ZEROED(f->arena, uint32_t, p.markers.n + 1);
  for (uint32_t k = 0; k < p.markers.n; k++)
    if (p.end_of[k]) start_of_end[p.end_of[k] - 1] = k;
  f->out->cuts = number(&p, start_of_end);
  number_runs(f->out);
  f->out->source = HILO_LAYERS_BY_MARKERS;
  hilo_entry_graph_max(&f->graph, f->own, f->out->region);
  HILO_VEC_FREE(f->arena, &p.markers);
  return check_order(f);
}
