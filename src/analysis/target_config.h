/* The backend_config of custom calls: numbers, JSON fields. */
#ifndef HILO_ANALYSIS_TARGET_CONFIG_H
#define HILO_ANALYSIS_TARGET_CONFIG_H

#include "ir/module.h"

/* A decimal number, quotes and blanks around it allowed. */
bool hilo_config_int(hilo_str config, int64_t *out);

/* The fields of QuantizeMX. False: malformed. */
typedef struct {
  hilo_str dtype; /* empty: not given */
  hilo_str scale_method;
  int64_t dim, block_size;
} hilo_quantize_config;
bool hilo_config_quantize(hilo_arena *arena, hilo_str config, hilo_quantize_config *out);

/* The four lists of __op$block_scaled_dot. */
typedef struct {
  hilo_dims lhs_batch, lhs_contracting, rhs_batch, rhs_contracting;
} hilo_scaled_dot_config;
bool hilo_config_scaled_dot(hilo_arena *arena, hilo_str config, hilo_scaled_dot_config *out);

#endif
