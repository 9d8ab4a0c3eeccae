/* Internal to step 4: the checks of single operations that a table cannot say. */
#ifndef HILO_PASSES_SUPPORT_CHECKS_H
#define HILO_PASSES_SUPPORT_CHECKS_H

#include "passes/dialect/support_table.h"

typedef struct {
  hilo_module *m;
  hilo_pass_ctx *ctx;
  bool enforces_limits; /* of the target */
  hilo_type_support types[HILO_ETYPE_COUNT];
  hilo_status status;
} hilo_support_checker;

/* Report; an error-level code makes the status an error. */
void hilo_support_report(hilo_support_checker *c, hilo_diag_code code, hilo_inst i, const char *fmt,
                         ...) HILO_PRINTF(4, 5);
static inline hilo_diag_code hilo_support_code(const hilo_support_checker *c,
                                               hilo_spine_code code) {
  return c->ctx->options->stablehlo ? code.stablehlo : code.mhlo;
}

/* reduce, reduce-window, select-and-scatter, scatter, collectives that reduce, sort: regions,
 * windows, operand counts. */
void hilo_support_check_region(hilo_support_checker *c, hilo_inst i);
/* gather and scatter by iota reach beyond the operand. */
void hilo_support_check_bounds(hilo_support_checker *c, hilo_inst i);
void hilo_support_check_custom_call(hilo_support_checker *c, hilo_inst i);

#endif
