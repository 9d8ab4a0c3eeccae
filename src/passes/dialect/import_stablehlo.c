/* 1a mhlo-legalize-to-stablehlo: a module that was imported as MHLO is one of StableHLO.
 *
 * Operations are the same in the IR, and what StableHLO lacks (fusion, copy, topk, erf,
 * asynchronous pairs) keeps its operation, so this is one bit. Writing StableHLO text needs more:
 * hlo-legalize-to-stablehlo does that for a module of HLO. O(1). */
#include "passes/passes.h"

HILO_DECLARE_PASS(mhlo_legalize_to_stablehlo) {
  (void)ctx;
  if (m->dialect != HILO_DIALECT_MHLO) return HILO_OK;
  m->dialect = HILO_DIALECT_STABLEHLO;
  *changed = true;
  return HILO_OK;
}
