/* A sort of one operand may have two results: the second is an iota along the sorted dimension, in
 * the element type that the result declares, permuted as the operand is (step 27.1). The frontend
 * attribute `implicit_iota="true"` says so, since it lives through every form of a module. */
#ifndef HILO_IR_IMPLICIT_IOTA_H
#define HILO_IR_IMPLICIT_IOTA_H

#include "ir/module.h"

#define HILO_IMPLICIT_IOTA "implicit_iota"

/* Does this `extra` record of a sort say so? */
static inline bool hilo_has_implicit_iota(const hilo_module *m, hilo_record extra) {
  if (!extra.ix) return false;
  const hilo_record frontend = hilo_extra_get(&m->records, extra).frontend;
  if (!frontend.ix) return false;
  const hilo_dims kv = hilo_string_map_get(&m->records, frontend).kv;
  for (uint32_t k = 0; k + 1 < kv.n; k += 2)
    if (hilo_str_is(hilo_string_of(m, (hilo_string){(uint32_t)kv.v[k]}), HILO_IMPLICIT_IOTA))
      return hilo_str_is(hilo_string_of(m, (hilo_string){(uint32_t)kv.v[k + 1]}), "true");
  return false;
}

#endif
