#include "sched/aliased.h"

#include "base/vec.h"
#include "sched/motion.h"

uint64_t *hilo_aliased_make(const hilo_module *m, hilo_arena *arena) {
  if (!m->header.aliases.n) return NULL;
  uint64_t *out = hilo_bitset_create(arena, m->n_inst_slots);
  for (uint32_t a = 0; a < m->header.aliases.n; a++) {
    const hilo_alias *alias = &m->header.aliases.v[a];
    const hilo_inst output = hilo_motion_output(m, alias->output_index);
    if (output.ix) hilo_bitset_set(out, hilo_ix(m, output));
    if (alias->param >= 0 && alias->param < hilo_comp_n_params(m, m->entry))
      hilo_bitset_set(out, hilo_ix(m, hilo_comp_param(m, m->entry, (uint32_t)alias->param)));
  }
  HILO_FOR_EACH_INST(m, m->entry, i) {
    if (!hilo_motion_is_view(m, i)) continue;
    for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
      if (hilo_bitset_get(out, hilo_ix(m, hilo_inst_operand(m, i, k))))
        hilo_bitset_set(out, hilo_ix(m, i));
  }
  return out;
}
