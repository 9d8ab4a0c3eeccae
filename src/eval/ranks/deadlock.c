/* Who waits for what, when nobody can go on. */
#include "eval/machine/machine_parts.h"

enum { SHOWN = 64 };

/* Where the fiber stands: the step under way, or, at its end, the root. */
static hilo_inst inst_of(const hilo_fiber *f) {
  const hilo_plan *plan = f->top->plan;
  const uint32_t at = f->top->at < plan->n_steps ? f->top->at : plan->root;
  return plan->steps[at].inst;
}

static void say_fiber(const hilo_machine *k, const hilo_fiber *f) {
  const hilo_inst at = inst_of(f), from = hilo_pending_of(f->waits_for)->inst;
  hilo_diags *diags = k->o->diags;
  int64_t line;
  const hilo_str file = hilo_inst_source(k->m, from, &line);
  const long long channel = (long long)hilo_inst_extra(k->m, from).channel_id;
  const hilo_str name = hilo_inst_name_text(k->m, at, diags->arena);
  hilo_sb sb = hilo_sb_make(diags->arena);
  if (!hilo_inst_eq(at, from)) {
    const hilo_str started = hilo_inst_name_text(k->m, from, diags->arena);
    hilo_sb_printf(&sb, " of `%.*s`", HILO_FMT(started));
  }
  if (channel) hilo_sb_printf(&sb, ", channel %lld,", channel);
  if (hilo_inst_op(k->m, from) == HILO_OP_ASYNC_START) hilo_sb_printf(&sb, " for its computation");
  hilo_meetings_say(k, f->waits_for, &sb);
  hilo_transfers_say(k, f, from, &sb);
  if (file.n) hilo_sb_printf(&sb, " (%.*s:%lld)", HILO_FMT(file), (long long)line);
  hilo_diag_note(diags, "rank %u waits at `%.*s`, %s%s", f->rank, HILO_FMT(name),
                 hilo_op_get(hilo_inst_op(k->m, at))->hlo, hilo_sb_cstr(&sb));
}

/* Oldest fiber of a rank first. */
static const hilo_fiber *nth_oldest(const hilo_machine *k, uint32_t rank, uint32_t n) {
  uint32_t count = 0;
  for (const hilo_fiber *f = k->newest[rank]; f; f = f->older) count++;
  const hilo_fiber *f = n < count ? k->newest[rank] : NULL;
  for (uint32_t j = count; f && j > n + 1; j--) f = f->older;
  return f;
}

hilo_status hilo_machine_report_deadlock(hilo_machine *k) {
  uint32_t n_waiting = 0, n_ended = 0, n_said = 0;
  hilo_inst first = HILO_INST_NONE;
  if (!k->o->diags) return HILO_INPUT_ERROR;
  for (uint32_t r = 0; r < k->n_ranks; r++) {
    if (k->newest[r]) {
      n_waiting++;
      if (!first.ix) first = hilo_pending_of(nth_oldest(k, r, 0)->waits_for)->inst;
    } else {
      n_ended++;
    }
  }
  (void)hilo_inst_error(k->m, k->o->diags, HILO_DIAG_EMOD915, first,
                        "the program hangs: %u of %u ranks wait%s, and %u ended", n_waiting,
                        k->n_ranks, n_waiting == 1 ? "s" : "", n_ended);
  for (uint32_t r = 0; r < k->n_ranks && n_said < SHOWN; r++) {
    const hilo_fiber *f;
    for (uint32_t n = 0; n_said < SHOWN && (f = nth_oldest(k, r, n)); n++, n_said++)
      say_fiber(k, f);
  }
  if (n_waiting > n_said) hilo_diag_note(k->o->diags, "... and more");
  return HILO_INPUT_ERROR;
}
