/* A walk over the regions that opens and closes units. */
#include "partition/group.h"

typedef struct {
  const hilo_layers *layers;
  const hilo_group_options *options;
  hilo_arena *arena;
  hilo_units units;
} grouping;

static uint32_t n_regions(const hilo_layers *layers) { return 2 * layers->n_layers + 1; }

static uint64_t total_macs(const hilo_layers *layers) {
  uint64_t total = 0;
  for (uint32_t r = 0; r < n_regions(layers); r++)
    total = hilo_plus_u64(total, layers->regions[r].macs);
  return total;
}

/* The unit takes in the next region. */
static void extend(grouping *g, uint32_t region) {
  hilo_unit *unit = &g->units.v[g->units.n - 1];
  unit->last = region;
  unit->macs = hilo_plus_u64(unit->macs, g->layers->regions[region].macs);
  g->units.of_region[region] = g->units.n - 1;
}

static void open(grouping *g, uint32_t region, hilo_flow flow) {
  g->units.v[g->units.n++] = (hilo_unit){.first = region, .flow = flow};
  extend(g, region);
}

static const hilo_layer_region *layer_at(const grouping *g, uint32_t layer) {
  return &g->layers->regions[2 * layer - 1];
}

/* A gap between two layers of a run belongs to the one before it. */
static bool gap_is_inside(const grouping *g, uint32_t layer) {
  return layer < g->layers->n_layers && layer_at(g, layer)->run == layer_at(g, layer + 1)->run;
}

static uint64_t macs_with_gap(const grouping *g, uint32_t layer) {
  const uint64_t macs = layer_at(g, layer)->macs;
  return gap_is_inside(g, layer) ? hilo_plus_u64(macs, g->layers->regions[2 * layer].macs) : macs;
}

/* Layers first … last of one run all have this many MACs; UINT64_MAX: they differ. */
static uint64_t common_macs(const grouping *g, uint32_t first, uint32_t last) {
  for (uint32_t layer = first + 1; layer <= last; layer++)
    if (layer_at(g, layer)->macs != layer_at(g, first)->macs) return UINT64_MAX;
  return macs_with_gap(g, first);
}

/* How many of `n` equal layers fill a module: as many as the target lets, but rather a number that
 * divides n and is more than half of it. */
static uint32_t layers_that_fit(uint64_t target, uint64_t macs, uint32_t n) {
  const uint64_t fit = macs ? target / macs : n;
  const uint32_t most = fit < 1 ? 1 : fit > n ? n : (uint32_t)fit;
  for (uint32_t fewer = most; fewer > most / 2; fewer--)
    if (n % fewer == 0) return fewer;
  return most;
}

/* Layers first … last of one run: units of `each` layers, or by MACs where each is 0. */
static void group_run(grouping *g, uint32_t first, uint32_t last, uint32_t each) {
  const uint64_t target = g->options->mac_target;
  const uint64_t common = common_macs(g, first, last);
  if (!each && common != UINT64_MAX) each = layers_that_fit(target, common, last - first + 1);
  if (each && (last - first + 1) % each && each < last - first + 1) g->units.n_short_runs++;
  uint32_t n = 0;
  uint64_t macs = 0;
  for (uint32_t layer = first; layer <= last; layer++) {
    const uint64_t its = macs_with_gap(g, layer);
    const bool full = each ? n == each : n && hilo_plus_u64(macs, its) > target;
    if (n == 0 || full) {
      open(g, 2 * layer - 1, layer_at(g, layer)->flow);
      n = 0;
      macs = 0;
    } else {
      extend(g, 2 * layer - 1);
    }
    n++;
    macs = hilo_plus_u64(macs, its);
    if (gap_is_inside(g, layer)) extend(g, 2 * layer);
  }
}

static void group_whole(grouping *g) {
  open(g, 0, HILO_FLOW_NONE);
  for (uint32_t r = 1; r < n_regions(g->layers); r++) extend(g, r);
}

hilo_units hilo_layers_group(const hilo_layers *layers, const hilo_group_options *options,
                             hilo_arena *arena) {
  grouping g = {.layers = layers, .options = options, .arena = arena};
  const uint32_t n = n_regions(layers);
  g.units.v = HILO_NEW_ARRAY(arena, hilo_unit, n);
  g.units.of_region = HILO_NEW_ZEROED(arena, uint32_t, n);
  const int64_t each = options->layers_per_module;
  if (each == 0 || (each < 0 && total_macs(layers) < options->mac_threshold)) {
    group_whole(&g);
    return g.units;
  }
  open(&g, 0, HILO_FLOW_NONE);
  for (uint32_t first = 1; first <= layers->n_layers;) {
    uint32_t last = first;
    while (gap_is_inside(&g, last)) last++;
    const uint32_t n_each = each > 0                  ? (uint32_t)(each < n ? each : n)
                            : options->one_layer_each ? 1
                                                      : 0;
    group_run(&g, first, last, n_each);
    open(&g, 2 * last, HILO_FLOW_NONE);
    first = last + 1;
  }
  return g.units;
}
