#include "eval/draws.h"

#include "analysis/custom_call.h"
#include "base/map.h"
#include "base/vec.h"
#include "eval/eval_parts.h"

#include <stdlib.h>

static bool draws(const hilo_module *m, hilo_inst i) {
  if (hilo_inst_is(m, i, HILO_OP_RNG)) return true;
  return hilo_is_custom_call_to(m, i, "AwsNeuronDropout") ||
         hilo_is_custom_call_to(m, i, "AwsNeuronDropoutMaskV1");
}

static int by_ordinal(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

hilo_draws hilo_draws_of(const hilo_module *m, hilo_arena *arena) {
  hilo_vec(uint32_t) list = {0};
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      if (draws(m, i) && hilo_inst_ordinal(m, i)) HILO_PUSH(arena, &list, hilo_inst_ordinal(m, i));
    }
  }
  if (list.n) qsort(list.v, list.n, sizeof(*list.v), by_ordinal);
  /* Clones have the ordinal of what they were made from. */
  uint32_t n = 0;
  for (uint32_t k = 0; k < list.n; k++)
    if (!n || list.v[n - 1] != list.v[k]) list.v[n++] = list.v[k];
  return (hilo_draws){list.v, n};
}

static uint64_t identity_of(const hilo_eval *e, hilo_inst i) {
  const uint32_t ordinal = hilo_inst_ordinal(e->m, i);
  if (!ordinal) {
    const hilo_str name = hilo_inst_name_text(e->m, i, e->scratch);
    return hilo_hash_bytes(name.p, name.n);
  }
  const hilo_draws *d = e->draws;
  uint32_t low = 0, high = d ? d->n : 0;
  while (low < high) {
    const uint32_t mid = (low + high) / 2;
    if (d->ordinals[mid] < ordinal)
      low = mid + 1;
    else
      high = mid;
  }
  return d ? low : ordinal;
}

uint64_t hilo_eval_draw_key(const hilo_eval *e, hilo_inst i) {
  uint64_t x = e->seed + (identity_of(e, i) + 1) * 0x9E3779B97F4A7C15u;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}
