/* Shardy's operations and shardings in HLO's form. */
#include "passes/stablehlo/legalize.h"

void hilo_legalize_sdy(hilo_legalizer *l) { (void)l; }
