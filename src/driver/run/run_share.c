#include "driver/run/run_share.h"

#include "driver/pass_table.h"
#include "driver/pipeline.h"
#include "passes/dialect/flatten_parameters.h"
#include "passes/dialect/outputs.h"

/* What shares buffers without an alias (loops, calls, barriers) goes first. */
static const hilo_pass_id steps[] = {
    HILO_PASS_call_inliner,  HILO_PASS_tuple_simplifier, HILO_PASS_unroll_while_loop,
    HILO_PASS_call_inliner,  HILO_PASS_tuple_simplifier, HILO_PASS_remove_optimization_barriers,
    HILO_PASS_penguinize_io, HILO_PASS_legalize_alias,
};

hilo_status hilo_share_legalize(hilo_module *m, const hilo_config *config, hilo_log *log,
                                hilo_diags *diags) {
  hilo_arena scratch, table;
  hilo_arena_init(&scratch, m->arena->allocator, m->arena->oom);
  hilo_arena_init(&table, m->arena->allocator, m->arena->oom);
  const hilo_pass_options pass_options = hilo_pipeline_pass_options(config);
  const hilo_runner_options options = hilo_pipeline_runner_options(config);
  hilo_runner runner = hilo_runner_make(&table, &scratch, diags, &pass_options, &options);
  runner.ctx.log = log;
  hilo_status status = hilo_pipeline_to_hlo(&runner, m);
  if (status == HILO_OK) {
    hilo_control_clear(m);
    hilo_flatten_parameters(m, &scratch);
  }
  for (size_t k = 0; k < HILO_COUNT(steps) && status == HILO_OK; k++)
    status = hilo_runner_run(&runner, m, &hilo_pass_table[steps[k]]);
  hilo_arena_deinit(&table);
  hilo_arena_deinit(&scratch);
  return status;
}

void hilo_share_make(hilo_sharing *s, const hilo_module *m, hilo_comp c, hilo_rank *ranks,
                     uint32_t n_ranks, hilo_arena *arena) {
  const uint32_t n = hilo_comp_eq(c, m->entry) ? m->header.aliases.n : 0;
  s->m = m;
  s->n_pairs = n;
  s->pair = HILO_NEW_ZEROED(arena, uint32_t, m->n_inst_slots);
  s->bytes = HILO_NEW_ZEROED(arena, char *, (size_t)n *n_ranks + 1);
  for (uint32_t k = 0; k < n; k++) {
    const hilo_alias *alias = &m->header.aliases.v[k];
    uint32_t output;
    if (!hilo_alias_output(m, alias, &output) || alias->param_index.n) continue;
    s->pair[hilo_ix(m, hilo_output(m, output))] = k + 1;
    const hilo_inst param = hilo_comp_param(m, c, (uint32_t)alias->param);
    const uint64_t bytes = hilo_type_get(&m->types, hilo_inst_type(m, param)).bytes;
    for (uint32_t r = 0; r < n_ranks; r++) {
      hilo_value *args = (hilo_value *)(uintptr_t)ranks[r].args; /* made by hilo_evaluate */
      char *own = hilo_arena_alloc(arena, bytes + 1, 64);
      memcpy(own, args[alias->param].data, bytes);
      args[alias->param].data = s->bytes[(size_t)r * n + k] = own;
    }
  }
}

void hilo_share_observe(void *user, uint32_t rank, hilo_inst i, const hilo_value *value) {
  const hilo_sharing *s = user;
  const uint32_t pair = s->pair[hilo_ix(s->m, i)];
  if (pair && value->data)
    memmove(s->bytes[(size_t)rank * s->n_pairs + pair - 1], value->data,
            hilo_type_get(&s->m->types, hilo_inst_type(s->m, i)).bytes);
  if (s->observe) s->observe(s->user, rank, i, value);
}
