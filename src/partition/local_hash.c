#include "partition/local_hash.h"

uint64_t hilo_local_hash(const hilo_module *m, hilo_canonical *canonical, hilo_inst i) {
  const uint32_t ix = hilo_ix(m, i);
  const hilo_extra_attrs extra = hilo_inst_extra(m, i);
  uint64_t h = hilo_hash_combine(m->inst.op[ix], m->inst.type[ix]);
  h = hilo_hash_combine(h, m->inst.attr[ix]);
  h = hilo_hash_combine(h, (uint64_t)extra.frontend.ix << 32 | extra.backend_config.ix);
  h = hilo_hash_combine(h, (uint64_t)extra.result_accuracy.ix << 1 | (extra.channel_id != 0));
  for (uint32_t k = 0; k < hilo_inst_n_called(m, i); k++) {
    const hilo_digest digest = hilo_canonical_digest(canonical, hilo_inst_called(m, i, k));
    h = hilo_hash_combine(h, hilo_hash_bytes(&digest, sizeof(digest)));
  }
  return h;
}
