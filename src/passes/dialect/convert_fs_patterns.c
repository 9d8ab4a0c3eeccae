/* 12 convert-fs-patterns-to-cc: what the pattern is, nobody outside has published. The flag is
 * accepted, a WARNING says that nothing is rewritten, and AwsFSPattern5 is a known target as input
 * (support_targets.c). */
#include "passes/passes.h"

HILO_DECLARE_PASS(convert_fs_patterns_to_cc) {
  (void)m;
  *changed = false;
  return hilo_diag_add(
      ctx->diags, HILO_DIAG_EARG901, NULL,
      "--convert-fs-patterns-to-cc: the pattern is not known, nothing is rewritten; "
      "calls to AwsFSPattern5 in the input are kept");
}
