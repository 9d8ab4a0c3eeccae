/* Text of fusions of the kinds that the consumer knows (dialect-pipeline 2.5). In memory they are
 * fusions; other fusions are written as they are.
 *
 *   StableHLO   stablehlo.composite "composite.Fused" …  {CompositeKind = "<kind>"}, its
 * decomposition a private function @hilo.genComposite.<N> {genComposite = true, noDelete = true}
 *   MHLO        mhlo.fusion … {FusionKind = "<kind>"} */
#ifndef HILO_PASSES_FUSED_COMPOSITES_H
#define HILO_PASSES_FUSED_COMPOSITES_H

#include "ir/module.h"

/* What is written: of a module of HLO, before it becomes StableHLO. */
void hilo_fusions_to_composites(hilo_module *m);
void hilo_fusions_to_mhlo(hilo_module *m);
/* What was read: `i` as a fusion of the kind that its attributes name; none if they name none. Of a
 * composite this is a new instruction before it, with a body of its own. */
hilo_inst hilo_fusion_restore(hilo_module *m, hilo_inst i);

#endif
