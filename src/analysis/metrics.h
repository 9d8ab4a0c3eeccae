/* What a module does, in numbers: multiply-accumulates, bytes in and out, and whether compute or
 * memory bounds it. */
#ifndef HILO_ANALYSIS_METRICS_H
#define HILO_ANALYSIS_METRICS_H

#include "ir/module.h"

/* Sizes are in bytes; everything saturates. */
typedef struct {
  uint64_t macs;    /* of dots and convolutions, loops times their known trip count */
  uint64_t traffic; /* inputs, and outputs that are not aliased to an input */
  uint64_t aliased_output_bytes, constant_bytes;
  uint32_t n_inputs, n_outputs; /* leaves */
  double arithmetic_intensity;  /* 2 * macs / traffic; 0 without either */
  bool is_compute_bound;
} hilo_metrics;

/* Linear in the module. `scratch` is left as it was. */
hilo_metrics hilo_metrics_compute(const hilo_module *m, hilo_arena *scratch);
/* The JSON of the `hlo-metrics` attribute: one object, keys in ASCII order, no blanks. */
void hilo_metrics_put_json(const hilo_metrics *metrics, hilo_sb *out);
/* Multiply-accumulates of one dot or convolution, else 0. */
uint64_t hilo_metrics_inst_macs(const hilo_module *m, hilo_inst i);
/* May it have any? */
static inline bool hilo_metrics_has_macs(const hilo_module *m, hilo_inst i) {
  return hilo_inst_is(m, i, HILO_OP_DOT) || hilo_inst_is(m, i, HILO_OP_CONVOLUTION);
}

#endif
