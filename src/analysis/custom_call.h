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
bool hilo_is_marker_call(const hilo_module *m, hilo_inst custom_call);
bool hilo_is_marker_end_call(const hilo_module *m, hilo_inst custom_call);
static inline bool hilo_is_marker(const hilo_module *m, hilo_inst i) {
  return hilo_inst_is(m, i, HILO_OP_CUSTOM_CALL) && hilo_is_marker_call(m, i);
}
static inline bool hilo_is_marker_end(const hilo_module *m, hilo_inst i) {
  return hilo_inst_is(m, i, HILO_OP_CUSTOM_CALL) && hilo_is_marker_end_call(m, i);
}

#endif
