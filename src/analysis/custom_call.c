#include "analysis/custom_call.h"

hilo_str hilo_custom_call_target(const hilo_module *m, hilo_inst i) {
  if (!hilo_inst_is(m, i, HILO_OP_CUSTOM_CALL)) return HILO_STR("");
  return hilo_string_of(m, hilo_attrs(m, i, custom_call).target);
}

bool hilo_is_marker_end_call(const hilo_module *m, hilo_inst i) {
  const hilo_str target = hilo_custom_call_target(m, i);
  return hilo_str_is(target, "NeuronBoundaryMarker-End") ||
         hilo_str_is(target, "AwsNeuronModuleMarkerEnd-Forward") ||
         hilo_str_is(target, "AwsNeuronModuleMarkerEnd-Backward");
}

bool hilo_is_marker_call(const hilo_module *m, hilo_inst i) {
  const hilo_str target = hilo_custom_call_target(m, i);
  return hilo_str_is(target, "NeuronBoundaryMarker-Start") ||
         hilo_str_is(target, "AwsNeuronModuleMarkerStart-Forward") ||
         hilo_str_is(target, "AwsNeuronModuleMarkerStart-Backward") ||
         hilo_is_marker_end_call(m, i);
}
