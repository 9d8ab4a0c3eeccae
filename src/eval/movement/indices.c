#include "eval/movement/indices.h"

#include "eval/lanes.h"

void hilo_indices_load(hilo_etype etype, const char *data, uint64_t at, uint64_t n, int64_t *out) {
  const bool can_exceed = etype == HILO_U64;
  hilo_lanes x;
  for (uint64_t k = 0; k < n; k += HILO_LANES) {
    const uint32_t count = n - k < HILO_LANES ? (uint32_t)(n - k) : HILO_LANES;
    hilo_lanes_load(etype, data, at + k, count, &x);
    for (uint32_t j = 0; j < count; j++)
      out[k + j] = can_exceed && x.u[j] > INT64_MAX ? INT64_MAX : x.s[j];
  }
}
