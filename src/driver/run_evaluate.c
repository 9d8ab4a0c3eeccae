#include "driver/run_evaluate.h"

#include <inttypes.h>

static uint64_t plus(uint64_t a, uint64_t b) {
  uint64_t sum;
  return hilo_add_u64(a, b, &sum) ? sum : UINT64_MAX;
}

static uint64_t bytes_of(const hilo_module *m, hilo_inst i) {
  return hilo_type_get(&m->types, hilo_inst_type(m, i)).bytes;
}

/* Operations whose result is made anew, next to their operands. */
static bool makes_bytes(const hilo_module *m, hilo_inst i) {
  if (hilo_inst_has(m, i,
                    HILO_TRAIT_VIEW | HILO_TRAIT_CALLS | HILO_TRAIT_ORDER | HILO_TRAIT_BARRIER |
                        HILO_TRAIT_SIDE_EFFECT | HILO_TRAIT_TRANSFER | HILO_TRAIT_ASYNC_START |
                        HILO_TRAIT_ASYNC_DONE))
    return false;
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_PARAMETER:
  case HILO_OP_CONSTANT:
  case HILO_OP_COPY:
  case HILO_OP_RESHAPE:
  case HILO_OP_BITCAST:
  case HILO_OP_DOMAIN: return false;
  default: return true;
  }
}

uint64_t hilo_evaluate_needs(const hilo_module *m, hilo_comp c, uint32_t n_ranks) {
  uint64_t params = 0, largest = 0;
  for (uint32_t p = 0; p < hilo_comp_n_params(m, c); p++)
    params = plus(params, bytes_of(m, hilo_comp_param(m, c, p)));
  HILO_FOR_EACH_INST(m, c, i) {
    if (makes_bytes(m, i) && bytes_of(m, i) > largest) largest = bytes_of(m, i);
  }
  uint64_t total;
  return hilo_mul_u64(plus(params, largest), n_ranks, &total) ? total : UINT64_MAX;
}

static hilo_status too_large(const hilo_run_options *options, uint64_t needed) {
  (void)hilo_diag_add(options->diags, HILO_DIAG_EMOD907, NULL,
                      "too large to evaluate: it needs at least %" PRIu64
                      " bytes; --max-bytes is %" PRIu64,
                      needed, options->max_bytes);
  return HILO_LIMIT_ERROR;
}

hilo_status hilo_evaluate(hilo_module *m, hilo_comp c, const hilo_arrays *inputs,
                          const hilo_run_options *options, hilo_arena *arena, hilo_outcome *out) {
  const uint32_t n_ranks = options->n_replicas * options->n_partitions;
  *out = (hilo_outcome){.heap = {.max = options->max_bytes}};
  const uint64_t needed = hilo_evaluate_needs(m, c, n_ranks);
  if (options->max_bytes && needed > options->max_bytes) return too_large(options, needed);
  const hilo_leaves leaves = hilo_leaves_of_params(m, c, arena);
  hilo_rank *ranks = HILO_NEW_ZEROED(arena, hilo_rank, n_ranks);
  for (uint32_t r = 0; r < n_ranks; r++) {
    ranks[r].program = c;
    ranks[r].args = hilo_arrays_to_params(m, c, &leaves, inputs, r, arena);
  }
  const hilo_machine_options machine = {.m = m,
                                        .types = &m->types,
                                        .heap = &out->heap,
                                        .arena = arena,
                                        .diags = options->diags,
                                        .n_replicas = options->n_replicas,
                                        .n_partitions = options->n_partitions,
                                        .max_steps = options->max_steps,
                                        .observe = options->observe,
                                        .custom_call = options->custom_call,
                                        .user = options->user};
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
