#include "sched/budget.h"

#include "analysis/device.h"

static double bytes_of_params(const hilo_module *m) {
  double bytes = 0;
  for (uint32_t k = 0; k < hilo_comp_n_params(m, m->entry); k++)
    bytes += (double)hilo_type_row_of(&m->types, hilo_inst_type(m, hilo_comp_param(m, m->entry, k)))
                 ->bytes;
  return bytes;
}

uint64_t hilo_memory_budget(const hilo_module *m, const hilo_pass_options *options,
                            uint64_t static_bytes) {
  if (options->max_mem_multiple > 0) {
    const double most = (double)(UINT64_MAX / 4);
    const double bytes = options->max_mem_multiple * bytes_of_params(m);
    return (uint64_t)(bytes < most ? bytes : most);
  }
  const uint64_t usable = HILO_DEVICE_BYTES / 10 * 9;
  return static_bytes < usable ? usable - static_bytes : 0;
}

uint64_t hilo_static_bytes(const hilo_module *m) {
  uint64_t bytes = 0;
  HILO_FOR_EACH_INST(m, m->entry, i) {
    if (!hilo_inst_is(m, i, HILO_OP_PARAMETER) && !hilo_inst_is(m, i, HILO_OP_CONSTANT)) continue;
    const uint64_t its = hilo_type_row_of(&m->types, hilo_inst_type(m, i))->bytes;
    bytes = hilo_plus_u64(bytes, its);
  }
  return bytes;
}
