#include "driver/report.h"

#include "driver/pass_table.h"

#include <stdlib.h>
#include <string.h>

/* ---- --stats ---- */

typedef struct {
  uint32_t n_comps, n_operands, n_uses;
  uint64_t constant_bytes;
  uint32_t by_op[HILO_OP_COUNT];
} counts;

static void count(const hilo_module *m, counts *n) {
  HILO_FOR_EACH_COMP(m, c) {
    n->n_comps++;
    HILO_FOR_EACH_INST(m, c, i) {
      n->by_op[hilo_inst_op(m, i)]++;
      n->n_operands += hilo_inst_n_operands(m, i);
    }
  }
  for (uint32_t k = 1; k < m->literal.n; k++) n->constant_bytes += m->literal.v[k].bytes;
}

/* Opcodes by falling count, then by name, which is the order of ops.def. */
static uint32_t sort_ops(const counts *n, uint16_t order[HILO_OP_COUNT]) {
  uint32_t n_ops = 0;
  for (uint16_t op = 1; op < HILO_OP_COUNT; op++) {
    if (!n->by_op[op]) continue;
    uint32_t at = n_ops++;
    for (; at > 0 && n->by_op[order[at - 1]] < n->by_op[op]; at--) order[at] = order[at - 1];
    order[at] = op;
  }
  return n_ops;
}

void hilo_report_stats(const hilo_module *m, hilo_report form, hilo_arena *scratch, hilo_sb *out) {
  counts *n = HILO_NEW_ZEROED(scratch, counts, 1);
  count(m, n);
  const hilo_module_bytes bytes = hilo_module_live_bytes(m);
  const uint64_t core = bytes.total - bytes.strings - bytes.literals;
  const double per_inst = m->n_insts ? (double)core / m->n_insts : 0;
  uint16_t order[HILO_OP_COUNT];
  const uint32_t n_ops = sort_ops(n, order);
  if (form == HILO_REPORT_JSON) {
    hilo_sb_printf(
        out,
        "{\"instructions\": %u, \"computations\": %u, \"operands\": %u, \"live_bytes\": "
        "%llu, \"string_bytes\": %llu, \"literal_bytes\": %llu, \"constant_bytes\": %llu, "
        "\"bytes_per_instruction\": %.1f, \"opcodes\": {",
        m->n_insts, n->n_comps, n->n_operands, (unsigned long long)bytes.total,
        (unsigned long long)bytes.strings, (unsigned long long)bytes.literals,
        (unsigned long long)n->constant_bytes, per_inst);
    for (uint32_t k = 0; k < n_ops; k++)
      hilo_sb_printf(out, "%s\"%s\": %u", k ? ", " : "", hilo_op_name((hilo_op)order[k]),
                     n->by_op[order[k]]);
    hilo_sb_cat(out, "}}\n");
    return;
  }
  hilo_sb_printf(out, "%10u instructions\n%10u computations\n%10u operands\n", m->n_insts,
                 n->n_comps, n->n_operands);
  hilo_sb_printf(out, "%10llu bytes live: columns %llu, operands %llu, records %llu, types %llu, ",
                 (unsigned long long)bytes.total, (unsigned long long)bytes.columns,
                 (unsigned long long)bytes.operands, (unsigned long long)bytes.records,
                 (unsigned long long)bytes.types);
  hilo_sb_printf(out, "strings %llu, literals %llu, other %llu\n",
                 (unsigned long long)bytes.strings, (unsigned long long)bytes.literals,
                 (unsigned long long)(bytes.other + bytes.comps));
  hilo_sb_printf(out, "%10.1f bytes an instruction, without strings and literals\n", per_inst);
  hilo_sb_printf(out, "%10llu bytes of constants\n", (unsigned long long)n->constant_bytes);
  for (uint32_t k = 0; k < n_ops; k++)
    hilo_sb_printf(out, "%10u %s\n", n->by_op[order[k]], hilo_op_name((hilo_op)order[k]));
}

/* ---- --time-passes ---- */

void hilo_report_passes(const hilo_runner *runner, hilo_report form, hilo_sb *out) {
  const bool json = form == HILO_REPORT_JSON;
  uint64_t ns = 0;
  if (json)
    hilo_sb_cat(out, "[");
  else
    hilo_sb_cat(out, "      ms  runs  changed    before     after   peak KiB  pass\n");
  for (uint32_t k = 0; k < runner->stats.n; k++) {
    const hilo_pass_stats *s = &runner->stats.v[k];
    ns += s->ns;
    if (json)
      hilo_sb_printf(
          out,
          "%s{\"pass\": \"%s\", \"ns\": %llu, \"runs\": %u, \"changed\": %u, \"before\": %u, "
          "\"after\": %u, \"peak_bytes\": %llu}",
          k ? ",\n " : "", s->pass->key, (unsigned long long)s->ns, s->n_runs, s->n_changed,
          s->n_before, s->n_after, (unsigned long long)s->peak_bytes);
    else
      hilo_sb_printf(out, "%8.3f %5u %8u %9u %9u %10llu  %s\n", (double)s->ns / 1e6, s->n_runs,
                     s->n_changed, s->n_before, s->n_after,
                     (unsigned long long)(s->peak_bytes >> 10), s->pass->key);
  }
  if (json)
    hilo_sb_cat(out, "]\n");
  else
    hilo_sb_printf(out, "%8.3f in all\n", (double)ns / 1e6);
}

/* ---- --mlir-pass-statistics ---- */

static int by_key(const void *a, const void *b) {
  const hilo_pass_stats *const *x = a, *const *y = b;
  return strcmp((*x)->pass->key, (*y)->pass->key);
}

void hilo_report_statistics(const hilo_runner *runner, hilo_statistics form, hilo_arena *scratch,
                            hilo_sb *out) {
  static const char rule[] =
      "===-------------------------------------------------------------------------===";
  const uint32_t n = runner->stats.n;
  const hilo_pass_stats **rows = HILO_NEW_ARRAY(scratch, const hilo_pass_stats *, (size_t)n + 1);
  for (uint32_t k = 0; k < n; k++) rows[k] = &runner->stats.v[k];
  if (form == HILO_STATISTICS_LIST && n) qsort(rows, n, sizeof(rows[0]), by_key);
  hilo_sb_printf(out, "%s\n                         ... Pass statistics report ...\n%s\n", rule,
                 rule);
  for (uint32_t k = 0; k < n; k++) {
    const hilo_pass_stats *s = rows[k];
    const struct {
      uint32_t count;
      const char *name, *what;
    } lines[] = {{s->n_runs, "num-runs", "Number of times that the pass ran"},
                 {s->n_changed, "num-changed", "Number of runs that changed the module"},
                 {s->n_matched, "num-matched", "Number of places that it looked at"},
                 {s->n_rewritten, "num-rewritten", "Number of places that it rewrote"}};
    hilo_sb_printf(out, "%s\n", s->pass->key);
    for (size_t l = 0; l < HILO_COUNT(lines); l++)
      hilo_sb_printf(out, "  (S) %6u %-13s - %s\n", lines[l].count, lines[l].name, lines[l].what);
  }
}

/* ---- --list-passes ---- */

void hilo_report_pass_list(hilo_sb *out) {
  for (int id = 0; id < HILO_PASS_COUNT; id++) {
    const hilo_pass_info *pass = &hilo_pass_table[id];
    const char *kind = pass->kind == 'M' ? "module" : pass->kind == 'E' ? "expander" : "step";
    hilo_sb_printf(out, "%-42s %-8s  %s\n", pass->key, kind, pass->summary);
  }
}
