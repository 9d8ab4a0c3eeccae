/* Finds layers one way or another, then settles what lies before and between them. */
#include "partition/layers.h"

#include "analysis/custom_call.h"
#include "analysis/metrics.h"
#include "partition/layers_parts.h"

enum { MAX_CHEAP_CONSTANT = 4096 };

/* ---- what is cheap ---- */

bool hilo_partition_is_view(const hilo_module *m, hilo_inst i) {
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_GET_TUPLE_ELEMENT:
  case HILO_OP_RESHAPE:
  case HILO_OP_BITCAST:
  case HILO_OP_BROADCAST: return true;
  default: return false;
  }
}

bool hilo_partition_is_transparent(const hilo_module *m, hilo_inst i) {
  return hilo_is_marker(m, i) ||
         (hilo_inst_is(m, i, HILO_OP_COPY) &&
          hilo_inst_type(m, i).ix == hilo_inst_type(m, hilo_inst_operand(m, i, 0)).ix);
}

/* A load of a parameter is read again like the parameter. */
static bool may_be_cheap(const hilo_module *m, hilo_inst i) {
  return hilo_partition_is_view(m, i) ||
         (hilo_is_custom_call_to(m, i, HILO_TARGET_TRANSFER) && hilo_inst_n_operands(m, i) == 1);
}

uint64_t *hilo_partition_cheap(const hilo_module *m, hilo_arena *arena) {
  uint64_t *cheap = hilo_bitset_create(arena, m->n_inst_slots);
  HILO_FOR_EACH_INST(m, m->entry, i) {
    bool is = false;
    switch (hilo_inst_op(m, i)) {
    case HILO_OP_CONSTANT:
      is = hilo_type_row_of(&m->types, hilo_inst_type(m, i))->bytes <= MAX_CHEAP_CONSTANT;
      break;
    case HILO_OP_IOTA:
    case HILO_OP_PARTITION_ID:
    case HILO_OP_REPLICA_ID: is = true; break;
    default:
      if (!may_be_cheap(m, i)) break;
      const hilo_inst operand = hilo_inst_operand(m, i, 0);
      is = hilo_inst_is(m, operand, HILO_OP_PARAMETER) ||
           hilo_bitset_get(cheap, hilo_ix(m, operand));
      break;
    }
    if (is && !hilo_control_has(m, i)) hilo_bitset_set(cheap, hilo_ix(m, i));
  }
  return cheap;
}

/* ---- regions without work ---- */

static bool is_plumbing(const hilo_module *m, hilo_inst i) {
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_TUPLE:
  case HILO_OP_GET_TUPLE_ELEMENT:
  case HILO_OP_PARAMETER:
  case HILO_OP_CONSTANT:
  case HILO_OP_BITCAST: return true;
  default: return hilo_partition_is_transparent(m, i);
  }
}

/* A region of plumbing joins the next one that has anything, the last of them the one before. */
static void merge_plumbing(hilo_finder *f) {
  hilo_layers *out = f->out;
  const uint32_t n = 2 * out->n_layers + 1;
  uint64_t *works = hilo_bitset_create(f->arena, n);
  for (uint32_t at = 0; at < f->graph.n; at++) {
    const hilo_inst i = f->graph.order[at];
    const uint32_t ix = hilo_ix(f->m, i);
    if (hilo_bitset_get(works, out->region[ix])) continue;
    if (!is_plumbing(f->m, i) && !hilo_bitset_get(out->cheap, ix))
      hilo_bitset_set(works, out->region[ix]);
  }
  uint32_t *target = HILO_NEW_ARRAY(f->arena, uint32_t, n);
  uint32_t next = 0, last = 0;
  bool any = false;
  for (uint32_t r = n; r-- > 0;) {
    if (hilo_bitset_get(works, r)) {
      next = r;
      last = any ? last : r;
      any = true;
    }
    target[r] = any ? next : UINT32_MAX;
  }
  for (uint32_t at = 0; any && at < f->graph.n; at++) {
    uint32_t *region = &out->region[hilo_ix(f->m, f->graph.order[at])];
    *region = target[*region] == UINT32_MAX ? last : target[*region];
  }
}

static void count_macs(hilo_finder *f) {
  for (uint32_t at = 0; at < f->graph.n; at++) {
    const hilo_inst i = f->graph.order[at];
    if (!hilo_metrics_has_macs(f->m, i)) continue;
    uint64_t *macs = &f->out->regions[f->out->region[hilo_ix(f->m, i)]].macs;
    const uint64_t its = hilo_metrics_inst_macs(f->m, i);
    *macs = hilo_plus_u64(*macs, its);
  }
}

/* ---- all of it ---- */

void hilo_finder_set_layers(hilo_finder *f, uint32_t n_layers) {
  f->out->n_layers = n_layers;
  f->out->regions = HILO_NEW_ZEROED(f->kept_arena, hilo_layer_region, 2 * (size_t)n_layers + 1);
}

static void keep_whole(hilo_finder *f) {
  f->out->source = HILO_LAYERS_NONE;
  memset(f->out->region, 0, f->m->n_inst_slots * sizeof(uint32_t));
  f->out->stacks = (hilo_str){0};
  f->out->n_open = 0;
  hilo_finder_set_layers(f, 0);
}

hilo_status hilo_layers_find(const hilo_module *m, const hilo_layers_options *options,
                             hilo_diags *diags, hilo_arena *scratch, hilo_arena *arena,
                             hilo_layers *out) {
  *out = (hilo_layers){0};
  out->region = HILO_NEW_ZEROED(arena, uint32_t, m->n_inst_slots);
  out->cheap = hilo_partition_cheap(m, arena);
  hilo_finder f = {.m = m, .arena = scratch, .kept_arena = arena, .diags = diags, .out = out};
  f.graph = hilo_entry_graph_make(m, scratch, arena);
  out->place = f.graph.place;
  f.own = HILO_NEW_ZEROED(scratch, uint32_t, m->n_inst_slots);
  HILO_TRY(hilo_layers_by_markers(&f));
  if (out->source == HILO_LAYERS_NONE && options->detect) hilo_layers_by_scopes(&f);
  if (out->source == HILO_LAYERS_NONE && options->detect) hilo_layers_by_repetition(&f);
  if (out->source != HILO_LAYERS_NONE) {
    hilo_layers_move(&f);
    merge_plumbing(&f);
  }
  out->torn = hilo_entry_graph_parts_halves(&f.graph, out->region);
  if (out->torn || out->source == HILO_LAYERS_NONE) keep_whole(&f);
  count_macs(&f);
  return HILO_OK;
}
