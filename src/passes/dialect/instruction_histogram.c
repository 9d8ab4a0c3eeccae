/* 31 instruction-histogram: how many instructions of each operation there are, by falling count,
 * then by name; those of fusion bodies by themselves. One record in the log: INFO with
 * --print-module-stats, else DEBUG. O(instructions + operations). */
#include "passes/passes.h"

typedef struct {
  uint32_t n, by_op[HILO_OP_COUNT];
} histogram;

/* `dot 3, add 2`. Operations stand by name in ops.def. */
static void print(const histogram *h, hilo_sb *out) {
  uint16_t order[HILO_OP_COUNT];
  uint32_t n = 0;
  for (uint16_t op = 1; op < HILO_OP_COUNT; op++) {
    if (!h->by_op[op]) continue;
    uint32_t at = n++;
    for (; at > 0 && h->by_op[order[at - 1]] < h->by_op[op]; at--) order[at] = order[at - 1];
    order[at] = op;
  }
  for (uint32_t k = 0; k < n; k++)
    hilo_sb_printf(out, "%s%s %u", k ? ", " : "", hilo_op_name((hilo_op)order[k]),
                   h->by_op[order[k]]);
}

HILO_DECLARE_PASS(instruction_histogram) {
  (void)changed;
  const bool is_info = ctx->options->print_module_stats;
  if (!hilo_log_is_on(ctx->log, is_info ? HILO_LEVEL_INFO : HILO_LEVEL_DEBUG)) return HILO_OK;
  histogram *outside = HILO_NEW_ZEROED(ctx->scratch, histogram, 2), *inside = outside + 1;
  HILO_FOR_EACH_COMP(m, c) {
    histogram *h = hilo_comp_get(m, c)->flags & HILO_COMP_FUSION ? inside : outside;
    HILO_FOR_EACH_INST(m, c, i) {
      h->by_op[hilo_inst_op(m, i)]++;
      h->n++;
    }
  }
  hilo_sb sb = hilo_sb_make(ctx->scratch);
  hilo_sb_printf(&sb, "%u instructions: ", outside->n);
  print(outside, &sb);
  if (inside->n) {
    hilo_sb_printf(&sb, "; in fusions %u: ", inside->n);
    print(inside, &sb);
  }
  if (is_info)
    HILO_LOG(ctx->log, INFO, "%.*s", HILO_FMT(hilo_sb_view(&sb)));
  else
    HILO_LOG(ctx->log, DEBUG, "%.*s", HILO_FMT(hilo_sb_view(&sb)));
  hilo_sb_free(&sb);
  return HILO_OK;
}
