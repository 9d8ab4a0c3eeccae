/* What the files of stablehlo-legalize-to-hlo share. Each function rewrites one instruction into
 * HLO's form: true if it did (or reported why it can't). New instructions stand before it; it goes
 * once its uses are those of the new value. */
#ifndef HILO_PASSES_STABLEHLO_LEGALIZE_H
#define HILO_PASSES_STABLEHLO_LEGALIZE_H

#include "passes/stablehlo/marks.h"
#include "rewrite/build.h"
#include "rewrite/pass.h"
#include "rewrite/replace.h"

typedef struct {
  hilo_module *m;
  hilo_pass_ctx *ctx;
  hilo_status status; /* the worst so far */
  bool has_layouts;   /* some type was given one */
  uint32_t n_shaped;  /* bits of it: instructions as they were at first */
  uint64_t *shaped;   /* loops whose regions' parameters have been given types */
} hilo_legalizer;

/* `fresh` takes the place of `old`. */
void hilo_legalize_replace(hilo_legalizer *l, hilo_inst old, hilo_inst fresh);
/* One error (EMOD941) about `i`. */
void hilo_legalize_refuse(hilo_legalizer *l, hilo_inst i, const char *fmt, ...) HILO_PRINTF(3, 4);

/* legalize_dynamic.c: operations whose sizes are operands, where these are constants. `i` may have
 * got another type by it, and so may what uses it. */
void hilo_legalize_dynamic(hilo_legalizer *l, hilo_inst i);
/* Give `i` the type that its operands make, where that says more than its own. */
void hilo_legalize_refine(hilo_legalizer *l, hilo_inst i);
/* An error for each dimension without bound of the entry's parameters (EMOD025), and for what is
 * left of dynamic operations. */
void hilo_legalize_check_dynamic(hilo_legalizer *l);

/* legalize_legacy.c */
void hilo_legalize_einsum(hilo_legalizer *l, hilo_inst i); /* and unary_einsum */
void hilo_legalize_torch_index_select(hilo_legalizer *l, hilo_inst i);
void hilo_legalize_cross_replica_sum(hilo_legalizer *l, hilo_inst i);
void hilo_legalize_all_to_all(hilo_legalizer *l, hilo_inst i);
void hilo_legalize_approx_top_k(hilo_legalizer *l, hilo_inst i); /* a custom call */

/* legalize_sdy.c: `sdy.*` calls and shardings of Shardy's form */
void hilo_legalize_sdy(hilo_legalizer *l);

#endif
