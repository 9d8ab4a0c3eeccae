/* Shardy's operations as what XLA has for them, without any other step on the way to HLO. */
#ifndef HILO_PASSES_STABLEHLO_SDY_H
#define HILO_PASSES_STABLEHLO_SDY_H

#include "ir/module.h"

/* `sdy.*` calls become the custom calls Sharding, SPMDFullToShardShape and SPMDShardToFullShape,
 * and calls of their bodies; shardings by mesh become tilings. A module without `sdy.*` stays as it
 * is. HILO_INPUT_ERROR with diagnostics: something has no such form. */
HILO_NODISCARD hilo_status hilo_sdy_to_custom_calls(hilo_module *m, hilo_arena *scratch,
                                                    hilo_diags *diags);

#endif
