#include "driver/run/run_evaluate.h"

#include "driver/run/run_seed.h"
#include "driver/run/run_share.h"

#include <inttypes.h>

static uint64_t bytes_of(const hilo_module *m, hilo_inst i) {
  return hilo_type_get(&m->types, hilo_inst_type(m, i)).bytes;
}

/* Operations whose result shares the bytes of their operands. */
static bool shares_bytes(const hilo_module *m, hilo_inst i) {
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_TUPLE:
  case HILO_OP_GET_TUPLE_ELEMENT:
  case HILO_OP_CONSTANT:  /* the module's own */
  case HILO_OP_PARAMETER: /* counted with whoever made it */
  case HILO_OP_COPY:
  case HILO_OP_RESHAPE:
  case HILO_OP_BITCAST:
  case HILO_OP_OPT_BARRIER:
  case HILO_OP_DOMAIN:
  case HILO_OP_ADD_DEPENDENCY:
  case HILO_OP_WHILE: /* what it starts with; the body is counted apart */
  case HILO_OP_CALL:
  case HILO_OP_FUSION:
  case HILO_OP_CONDITIONAL:
  case HILO_OP_ASYNC_START:
  case HILO_OP_ASYNC_UPDATE:
  case HILO_OP_ASYNC_DONE:
  case HILO_OP_COPY_START:
  case HILO_OP_COPY_DONE: return true;
  default: return hilo_inst_has(m, i, HILO_TRAIT_ORDER);
  }
}

typedef struct {
  const hilo_module *m;
  uint32_t *last;   /* per instruction: the order of the last one that reads its bytes; 0: none */
  uint64_t *peaks;  /* per computation */
  uint64_t *ending; /* per order: bytes that nobody needs behind it */
} liveness;

static uint32_t order_instructions(const liveness *l, hilo_comp c, uint32_t *order) {
  uint32_t n = 0;
  HILO_FOR_EACH_INST(l->m, c, i) order[hilo_ix(l->m, i)] = ++n;
  return n;
}

/* From the last to the first, so that whoever shares bytes hands on how long they are needed. */
static void find_last_uses(const liveness *l, hilo_comp c, const uint32_t *order, uint32_t n) {
  const hilo_module *m = l->m;
  for (hilo_inst i = hilo_comp_last(m, c); i.ix; i = hilo_inst_prev(m, i)) {
    const uint32_t ix = hilo_ix(m, i);
    if (hilo_inst_is_root(m, i)) l->last[ix] = n;
    if (l->last[ix] < order[ix]) l->last[ix] = order[ix];
    const uint32_t until = shares_bytes(m, i) ? l->last[ix] : order[ix];
    for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++) {
      uint32_t *last = &l->last[hilo_ix(m, hilo_inst_operand(m, i, k))];
      if (*last < until) *last = until;
    }
  }
}

static uint64_t peak_of(const liveness *l, hilo_comp c, uint32_t *order) {
  const hilo_module *m = l->m;
  const uint32_t n = order_instructions(l, c, order);
  uint64_t live = 0, peak = 0;
  memset(l->ending, 0, (n + 1) * sizeof(*l->ending));
  find_last_uses(l, c, order, n);
  HILO_FOR_EACH_INST(m, c, i) {
    const uint32_t ix = hilo_ix(m, i);
    uint64_t inner = 0;
    for (uint32_t k = 0; k < hilo_inst_n_called(m, i); k++) {
      const uint64_t callee = l->peaks[hilo_comp_ix(m, hilo_inst_called(m, i, k))];
      if (callee > inner) inner = callee;
    }
    if (!shares_bytes(m, i)) {
      live = hilo_plus_u64(live, bytes_of(m, i));
      l->ending[l->last[ix]] = hilo_plus_u64(l->ending[l->last[ix]], bytes_of(m, i));
    }
    if (hilo_plus_u64(live, inner) > peak) peak = hilo_plus_u64(live, inner);
    if (live != UINT64_MAX) live -= l->ending[order[ix]];
  }
  return peak;
}

uint64_t hilo_evaluate_needs(const hilo_module *m, hilo_comp c, uint32_t n_ranks,
                             hilo_arena *scratch) {
  const hilo_comp_list comps = hilo_module_comps_postorder(m, scratch);
  liveness l = {.m = m};
  l.last = HILO_NEW_ZEROED(scratch, uint32_t, m->n_inst_slots);
  l.peaks = HILO_NEW_ZEROED(scratch, uint64_t, hilo_module_n_comps(m));
  l.ending = HILO_NEW_ARRAY(scratch, uint64_t, m->n_inst_slots + 1);
  uint32_t *order = HILO_NEW_ZEROED(scratch, uint32_t, m->n_inst_slots);
  for (uint32_t k = 0; k < comps.n; k++)
    l.peaks[hilo_comp_ix(m, comps.v[k])] = peak_of(&l, comps.v[k], order);
  uint64_t bytes = l.peaks[hilo_comp_ix(m, c)];
  for (uint32_t p = 0; p < hilo_comp_n_params(m, c); p++)
    bytes = hilo_plus_u64(bytes, bytes_of(m, hilo_comp_param(m, c, p)));
  uint64_t total;
  return hilo_mul_u64(bytes, n_ranks, &total) ? total : UINT64_MAX;
}

hilo_status hilo_evaluate_fits(const hilo_module *m, hilo_comp c, const hilo_run_options *options,
                               hilo_arena *scratch) {
  if (!options->max_bytes) return HILO_OK;
  const uint32_t n_ranks = options->n_replicas * options->n_partitions;
  const uint64_t needed = hilo_evaluate_needs(m, c, n_ranks, scratch);
  if (needed <= options->max_bytes) return HILO_OK;
  (void)hilo_diag_add(options->diags, HILO_DIAG_EMOD907, NULL,
                      "too large to evaluate: it needs about %" PRIu64
                      " bytes; --max-bytes is %" PRIu64,
                      needed, options->max_bytes);
  return HILO_LIMIT_ERROR;
}

hilo_status hilo_evaluate(hilo_module *m, hilo_comp c, const hilo_arrays *inputs,
                          const hilo_run_options *options, hilo_arena *arena, hilo_outcome *out) {
  const uint32_t n_ranks = options->n_replicas * options->n_partitions;
  *out = (hilo_outcome){.heap = {.max = options->max_bytes}};
  const hilo_leaves leaves = hilo_leaves_of_params(m, c, arena);
  hilo_rank *ranks = HILO_NEW_ZEROED(arena, hilo_rank, n_ranks);
  for (uint32_t r = 0; r < n_ranks; r++) {
    ranks[r].program = c;
    ranks[r].args = hilo_arrays_to_params(m, c, &leaves, inputs, r, arena);
  }
  hilo_sharing sharing = {.user = options->user, .observe = options->observe};
  if (options->share_buffers) hilo_share_make(&sharing, m, c, ranks, n_ranks, arena);
  const hilo_machine_options machine = {.m = m,
                                        .types = &m->types,
                                        .heap = &out->heap,
                                        .arena = arena,
                                        .diags = options->diags,
                                        .n_replicas = options->n_replicas,
                                        .n_partitions = options->n_partitions,
                                        .max_steps = options->max_steps,
                                        .feed = hilo_seed_feed,
                                        .seed = options->seed,
                                        .draws = options->draws,
                                        .partitions_first = options->partitions_first,
                                        .observe = options->share_buffers ? hilo_share_observe
                                                                          : options->observe,
                                        .custom_call = options->custom_call,
                                        .real_copies = options->share_buffers,
                                        .user = options->share_buffers ? &sharing : options->user};
  hilo_machine_stats stats = {0};
  hilo_status status = hilo_machine_run(&machine, ranks, &stats);
  out->steps = stats.steps;
  out->values = HILO_NEW_ARRAY(arena, hilo_value, n_ranks);
  for (uint32_t r = 0; r < n_ranks; r++) out->values[r] = ranks[r].result;
  if (status == HILO_OK)
    status = hilo_arrays_of_results(m, out->values, n_ranks, arena, options->diags, &out->results);
  if (status != HILO_OK) hilo_outcome_drop(out);
  return status;
}

void hilo_outcome_drop(hilo_outcome *outcome) { hilo_heap_clear(&outcome->heap); }
