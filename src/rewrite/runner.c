#include "rewrite/runner.h"

#include "base/timer.h"
#include "ir/verify.h"

#include <string.h>

hilo_runner hilo_runner_make(hilo_arena *arena, hilo_arena *scratch, hilo_diags *diags,
                             const hilo_pass_options *pass_options,
                             const hilo_runner_options *options) {
  return (hilo_runner){
      .options = *options,
      .ctx = {.diags = diags, .scratch = scratch, .options = pass_options},
      .arena = arena,
  };
}

static uint64_t hash_inst(const hilo_module *m, uint64_t h, uint32_t ix) {
  const hilo_inst_columns *c = &m->inst;
  const uint32_t fixed[] = {
      ix,          c->op[ix],        c->type[ix],     c->attr[ix],      c->extra[ix],
      c->meta[ix], c->name_base[ix], c->name_num[ix], c->n_operands[ix]};
  h = hilo_hash_combine(h, hilo_hash_bytes(fixed, sizeof(fixed)));
  for (uint32_t k = 0; k < c->n_operands[ix]; k++)
    h = hilo_hash_combine(h, m->operand.v[c->operands[ix] + k].value);
  const uint32_t at = c->called[ix];
  for (uint32_t k = 0; at && k < m->called.v[at]; k++)
    h = hilo_hash_combine(h, m->called.v[at + 1 + k]);
  for (uint32_t e = hilo_control_first_pred(m, hilo_inst_at(m, ix)); e;
       e = m->edge.v[e].next_of_succ)
    h = hilo_hash_combine(h, m->edge.v[e].pred);
  return h;
}

uint64_t hilo_module_state_hash(const hilo_module *m) {
  const hilo_module_header *head = &m->header;
  uint64_t h = hilo_hash_bytes(head, offsetof(hilo_module_header, stack));
  h = hilo_hash_combine(h, head->input_names.n * 31 + head->output_names.n);
  h = hilo_hash_combine(h, hilo_hash_bytes(head->slow_ins.v, head->slow_ins.n * sizeof(int64_t)));
  h = hilo_hash_combine(h, hilo_hash_bytes(head->slow_outs.v, head->slow_outs.n * sizeof(int64_t)));
  h = hilo_hash_combine(h, (uint64_t)m->dialect << 1 | head->has_control_deps);
  for (uint32_t i = 0; i < head->aliases.n; i++)
    h = hilo_hash_combine(h, (uint64_t)head->aliases.v[i].kind << 32 |
                                 (uint64_t)head->aliases.v[i].param);
  HILO_FOR_EACH_COMP(m, c) {
    const hilo_comp_row *row = hilo_comp_get(m, c);
    h = hilo_hash_combine(h, (uint64_t)row->root << 32 | row->n_params);
    for (uint32_t ix = row->first; ix; ix = m->inst.next[ix]) h = hash_inst(m, h, ix);
  }
  return h;
}

static hilo_pass_stats *stats_of(hilo_runner *runner, const hilo_pass_info *pass) {
  for (uint32_t i = 0; i < runner->stats.n; i++)
    if (runner->stats.v[i].pass == pass) return &runner->stats.v[i];
  HILO_PUSH(runner->arena, &runner->stats, ((hilo_pass_stats){.pass = pass}));
  return &runner->stats.v[runner->stats.n - 1];
}

static hilo_status finish(hilo_runner *runner, const hilo_module *m, const hilo_pass_info *pass,
                          hilo_status status) {
  if (status == HILO_OK && runner->options.verify_each) {
    status = hilo_verify(m, runner->ctx.diags);
    if (status != HILO_OK)
      hilo_diag_note(runner->ctx.diags, "the module was broken by pass `%s`", pass->key);
  } else if (status != HILO_OK) {
    hilo_diag_note(runner->ctx.diags, "found by pass `%s`", pass->key);
  }
  return status;
}

hilo_status hilo_runner_run(hilo_runner *runner, hilo_module *m, const hilo_pass_info *pass) {
  const hilo_pass_hooks *hooks = &runner->options.hooks;
  if (hooks->before) hooks->before(hooks->ctx, m, pass);
  hilo_pass_stats run = {.pass = pass, .n_runs = 1, .n_before = m->n_insts};
  runner->ctx.n_matched = runner->ctx.n_rewritten = 0;
  const uint64_t hash = runner->options.check_changed ? hilo_module_state_hash(m) : 0;
  const uint64_t start = hilo_now_ns();
  bool changed = false;
  hilo_status status = pass->run(m, &runner->ctx, &changed);
  run.ns = hilo_now_ns() - start;
  if (status == HILO_OK && runner->options.check_changed)
    HILO_CHECK(changed == (hash != hilo_module_state_hash(m)));
  run.n_after = m->n_insts;
  run.n_changed = changed;
  run.n_matched = runner->ctx.n_matched;
  run.n_rewritten = runner->ctx.n_rewritten;
  run.peak_bytes = m->arena->peak_bytes + runner->ctx.scratch->peak_bytes;
  hilo_pass_stats *sum = stats_of(runner, pass);
  if (!sum->n_runs) sum->n_before = run.n_before;
  sum->n_runs++;
  sum->n_changed += changed;
  sum->n_after = run.n_after;
  sum->n_matched += run.n_matched;
  sum->n_rewritten += run.n_rewritten;
  sum->ns += run.ns;
  if (run.peak_bytes > sum->peak_bytes) sum->peak_bytes = run.peak_bytes;
  runner->last = run;
  status = finish(runner, m, pass, status);
  hilo_arena_reset(runner->ctx.scratch);
  if (status == HILO_OK && hooks->after) hooks->after(hooks->ctx, m, &run, changed);
  if (status != HILO_OK && hooks->failed) hooks->failed(hooks->ctx, m, pass);
  return status;
}
