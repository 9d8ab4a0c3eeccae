/* 18 live-range-analysis: what is alive when, in the order that the module has, in the model of the
 * target. Writes nothing into the module. DEBUG: every value's range; INFO: the peak of the entry,
 * who is alive there; how much of the time of collectives is exposed (overlap.h), and which wait
 * longest; a WARNING where it does not fit a device. The JSON has every computation that runs as
 * such. Linear, but for sorting the values at the peak and the collectives. */
#include "sched/overlap.h"
#include "sched/schedule_report.h"
#include "sched/steps.h"

#include <stdlib.h>

typedef struct {
  const hilo_module *m;
  hilo_pass_ctx *ctx;
  hilo_arena *scratch;
} analyzer;

/* ---- log ---- */

static void log_ranges(const analyzer *a, const hilo_schedule_profile *p) {
  const hilo_lifetimes *l = &p->lifetimes;
  for (uint32_t b = 0; b < l->n; b++) {
    if (!l->bytes[b]) continue;
    const hilo_arena_mark mark = hilo_arena_get_mark(a->scratch);
    const hilo_str name = hilo_inst_name_text(a->m, l->insts[b], a->scratch);
    HILO_LOG(a->ctx->log, DEBUG, "%.*s Liverange = [%u, %u] %llu", HILO_FMT(name),
             hilo_schedule_first(p, b), p->last[b], (unsigned long long)l->bytes[b]);
    hilo_arena_rewind(a->scratch, mark);
  }
}

typedef struct {
  uint64_t bytes;
  uint32_t op;
} op_share;

static int larger_first(const void *a, const void *b) {
  const op_share *x = a, *y = b;
  if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
  return (x->op > y->op) - (x->op < y->op);
}

/* Bytes alive at the peak by what made them. */
static void log_shares(const analyzer *a, const hilo_schedule_profile *p, const uint32_t *buffers,
                       uint32_t n) {
  op_share shares[HILO_OP_COUNT] = {{0, 0}};
  for (uint32_t op = 0; op < HILO_OP_COUNT; op++) shares[op].op = op;
  for (uint32_t k = 0; k < n; k++)
    shares[hilo_inst_op(a->m, p->lifetimes.insts[buffers[k]])].bytes +=
        p->lifetimes.bytes[buffers[k]];
  qsort(shares, HILO_OP_COUNT, sizeof(op_share), larger_first);
  for (uint32_t k = 0; k < HILO_OP_COUNT && shares[k].bytes; k++)
    HILO_LOG(a->ctx->log, INFO, "AnalyzeSchedule: made by %s: %llu bytes, %.1f %%",
             hilo_op_name((hilo_op)shares[k].op), (unsigned long long)shares[k].bytes,
             100.0 * (double)shares[k].bytes / (double)p->peak);
}

static void log_peak(const analyzer *a, const hilo_schedule_profile *p) {
  const hilo_lifetimes *l = &p->lifetimes;
  const hilo_inst at = l->insts[p->peak_at];
  const hilo_str name = hilo_inst_name_text(a->m, at, a->scratch);
  const hilo_str op_name = hilo_label_of(a->m, hilo_inst_meta(a->m, at).op_name);
  HILO_LOG(a->ctx->log, INFO,
           "AnalyzeSchedule: static %llu bytes, peak %llu bytes at op %u of %u, `%.*s` (%s%s%.*s)",
           (unsigned long long)l->static_bytes, (unsigned long long)p->peak, p->peak_at, l->n,
           HILO_FMT(name), hilo_op_name(hilo_inst_op(a->m, at)), op_name.n ? ", " : "",
           HILO_FMT(op_name));
  uint32_t *buffers = NULL;
  const uint32_t n = hilo_schedule_live_at(p, p->peak_at, l->n, &buffers, a->scratch);
  for (uint32_t k = 0; k < n && k < HILO_REPORTED_VALUES; k++) {
    const hilo_str value = hilo_inst_name_text(a->m, l->insts[buffers[k]], a->scratch);
    HILO_LOG(a->ctx->log, INFO, "AnalyzeSchedule: alive there: `%.*s` [%u, %u] %llu bytes",
             HILO_FMT(value), hilo_schedule_first(p, buffers[k]), p->last[buffers[k]],
             (unsigned long long)l->bytes[buffers[k]]);
  }
  log_shares(a, p, buffers, n);
  HILO_LOG(a->ctx->log, INFO, "AnalyzeSchedule: bytes x ops %llu, device memory %llu bytes",
           (unsigned long long)p->byte_ops, HILO_DEVICE_BYTES);
}

static double us(uint64_t ps) { return (double)ps / 1e6; }

static void log_overlap(const analyzer *a, const hilo_overlap_report *o) {
  if (!o->all.n_collectives) return;
  HILO_LOG(a->ctx->log, INFO,
           "AnalyzeSchedule: %llu collectives send %llu bytes in %.1f us, of which %.1f us are "
           "exposed beside %.1f us of compute",
           (unsigned long long)o->all.n_collectives, (unsigned long long)o->all.sent_bytes,
           us(o->all.link_ps), us(o->all.exposed_ps), us(o->all.compute_ps));
  for (uint32_t k = 0; k < o->n_waits && k < HILO_REPORTED_VALUES; k++) {
    const hilo_str name = hilo_inst_name_text(a->m, o->waits[k].inst, a->scratch);
    HILO_LOG(a->ctx->log, INFO, "AnalyzeSchedule: exposed: `%.*s`, %llu bytes, %.1f of %.1f us",
             HILO_FMT(name), (unsigned long long)o->waits[k].sent_bytes, us(o->waits[k].exposed_ps),
             us(o->waits[k].link_ps));
  }
}

/* ---- JSON ---- */

static void put_name(const analyzer *a, hilo_inst i, hilo_sb *out) {
  const hilo_arena_mark mark = hilo_arena_get_mark(a->scratch);
  hilo_sb_json(out, hilo_inst_name_text(a->m, i, a->scratch));
  hilo_arena_rewind(a->scratch, mark);
}

static void put_computation(const analyzer *a, hilo_comp c, const hilo_schedule_profile *p,
                            hilo_sb *out) {
  const hilo_lifetimes *l = &p->lifetimes;
  hilo_sb_cat(out, "{\"computation\": ");
  hilo_sb_json(out, hilo_comp_name_text(a->m, c, a->scratch));
  hilo_sb_printf(out,
                 ", \"peak_bytes\": %llu, \"peak_at\": %u, \"static_bytes\": %llu, \"byte_ops\": "
                 "%llu,\n  \"order\": [",
                 (unsigned long long)p->peak, p->peak_at, (unsigned long long)l->static_bytes,
                 (unsigned long long)p->byte_ops);
  for (uint32_t k = 0; k < l->n; k++) {
    if (k) hilo_sb_cat(out, ", ");
    put_name(a, l->insts[k], out);
  }
  hilo_sb_cat(out, "],\n  \"intervals\": [");
  for (uint32_t b = 0, n = 0; b < l->n; b++)
    if (l->bytes[b])
      hilo_sb_printf(out, "%s[%u, %u, %llu]", n++ ? ", " : "", hilo_schedule_first(p, b),
                     p->last[b], (unsigned long long)l->bytes[b]);
  hilo_sb_cat(out, "],\n  \"profile\": [");
  for (uint32_t k = 0, from = 0; k < l->n; k++) {
    if (k + 1 < l->n && p->live[k + 1] == p->live[k]) continue;
    hilo_sb_printf(out, "%s[%u, %llu]", from ? ", " : "", k + 1 - from,
                   (unsigned long long)p->live[k]);
    from = k + 1;
  }
  hilo_sb_cat(out, "]}");
}

/* Whole nanoseconds. */
static void put_overlap(const analyzer *a, const hilo_overlap_report *o, hilo_sb *out) {
  hilo_sb_cat(out, "\"collectives\": ");
  hilo_overlap_put_json(&o->all, out);
  hilo_sb_cat(out, ", \"exposed\": [");
  for (uint32_t k = 0; k < o->n_waits && k < HILO_REPORTED_VALUES; k++) {
    hilo_sb_cat(out, k ? ",\n  {\"name\": " : "\n  {\"name\": ");
    put_name(a, o->waits[k].inst, out);
    hilo_sb_printf(out, ", \"sent_bytes\": %llu, \"link_ns\": %llu, \"exposed_ns\": %llu}",
                   (unsigned long long)o->waits[k].sent_bytes,
                   (unsigned long long)(o->waits[k].link_ps / 1000),
                   (unsigned long long)(o->waits[k].exposed_ps / 1000));
  }
  hilo_sb_cat(out, "]");
}

static void make_json(const analyzer *a, hilo_peaks *peaks, const hilo_overlap_report *overlap,
                      hilo_schedule_report *report) {
  const uint64_t *blocks = hilo_blocks_find(a->m, a->scratch);
  const hilo_comp_list comps = hilo_module_comps_postorder(a->m, a->scratch);
  hilo_sb out = hilo_sb_make(report->arena);
  hilo_sb_cat(&out, "{\"module\": ");
  hilo_sb_json(&out, hilo_string_of(a->m, a->m->header.name));
  hilo_sb_printf(&out, ", \"device_bytes\": %llu,\n", HILO_DEVICE_BYTES);
  put_overlap(a, overlap, &out);
  hilo_sb_cat(&out, ",\n\"computations\": [");
  bool first = true;
  for (uint32_t k = 0; k < comps.n_reached; k++) {
    if (!hilo_bitset_get(blocks, hilo_comp_ix(a->m, comps.v[k]))) continue;
    hilo_scratch own;
    hilo_scratch_init(&own, a->scratch);
    const hilo_schedule_profile p = hilo_schedule_profile_make(a->m, comps.v[k], peaks, &own.arena);
    hilo_sb_cat(&out, first ? "\n" : ",\n");
    first = false;
    put_computation(a, comps.v[k], &p, &out);
    hilo_scratch_deinit(&own);
  }
  hilo_sb_cat(&out, "]}\n");
  report->analysis = hilo_sb_view(&out);
}

HILO_DECLARE_PASS(live_range_analysis) {
  const analyzer a = {m, ctx, ctx->scratch};
  hilo_peaks *peaks = hilo_peaks_make(m, HILO_MEMORY_TARGET, ctx->scratch);
  const hilo_schedule_profile p = hilo_schedule_profile_make(m, m->entry, peaks, ctx->scratch);
  ctx->n_matched = p.lifetimes.n;
  if (hilo_log_is_on(ctx->log, HILO_LEVEL_DEBUG)) log_ranges(&a, &p);
  const bool logs = p.lifetimes.n && hilo_log_is_on(ctx->log, HILO_LEVEL_INFO);
  const bool writes = ctx->schedule_report && ctx->schedule_report->wants_json;
  hilo_overlap_report overlap = {0};
  if (logs || writes) overlap = hilo_overlap_report_make(m, &hilo_default_rates, ctx->scratch);
  if (logs) {
    log_peak(&a, &p);
    log_overlap(&a, &overlap);
  }
  const uint64_t all = hilo_plus_u64(p.peak, p.lifetimes.static_bytes);
  if (all > HILO_DEVICE_BYTES)
    HILO_LOG(ctx->log, WARNING,
             "AnalyzeSchedule: %llu bytes at the peak, %llu of them parameters and constants, are "
             "above the %llu bytes of a device",
             (unsigned long long)all, (unsigned long long)p.lifetimes.static_bytes,
             HILO_DEVICE_BYTES);
  if (writes) make_json(&a, peaks, &overlap, ctx->schedule_report);
  if (ctx->schedule_report && ctx->schedule_report->wants_picture)
    hilo_schedule_snapshot_take(ctx->schedule_report, &ctx->schedule_report->after, m,
                                ctx->scratch);
  *changed = false;
  return HILO_OK;
}
