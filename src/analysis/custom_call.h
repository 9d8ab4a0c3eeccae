/* Which custom call is it? Targets that several passes must know. */
#ifndef HILO_ANALYSIS_CUSTOM_CALL_H
#define HILO_ANALYSIS_CUSTOM_CALL_H

#include "ir/module.h"

#define HILO_TARGET_CONTROL_DEP "AwsNeuronControlDep"
#define HILO_TARGET_TRANSFER "AwsNeuronTransferWithStaticRing"

/* The target; empty if `i` is no custom call. */
hilo_str hilo_custom_call_target(const hilo_module *m, hilo_inst i);
static inline bool hilo_is_custom_call_to(const hilo_module *m, hilo_inst i, const char *target) {
  return hilo_inst_is(m, i, HILO_OP_CUSTOM_CALL) &&
         hilo_str_is(hilo_custom_call_target(m, i), target);
}
/* One of the six boundary markers (collectives 15); is it one of the three that end a region? */
bool hilo_is_marker(const hilo_module *m, hilo_inst i);
bool hilo_is_marker_end(const hilo_module *m, hilo_inst i);

#endif
