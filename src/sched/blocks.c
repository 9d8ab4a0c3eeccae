#include "sched/blocks.h"

#include "base/vec.h"

/* Most modules are one block, fusions apart. */
static hilo_comp_list entry_alone(const hilo_module *m, hilo_arena *arena) {
  hilo_comp_list out = {.v = HILO_NEW(arena, hilo_comp)};
  if (m->entry.ix) out.v[out.n++] = m->entry;
  out.n_reached = out.n;
  return out;
}

hilo_comp_list hilo_blocks_make(const hilo_module *m, hilo_arena *arena) {
  if (hilo_module_is_one_block(m)) return entry_alone(m, arena);
  hilo_comp_list all = hilo_module_comps_postorder(m, arena);
  uint64_t *is_block = hilo_bitset_create(arena, hilo_module_n_comps(m));
  if (m->entry.ix) hilo_bitset_set(is_block, hilo_comp_ix(m, m->entry));
  for (uint32_t k = all.n_reached; k-- > 0;) {
    if (!hilo_bitset_get(is_block, hilo_comp_ix(m, all.v[k]))) continue;
    HILO_FOR_EACH_INST(m, all.v[k], i) {
      if (!hilo_op_runs_blocks(hilo_inst_op(m, i))) continue;
      for (uint32_t c = 0; c < hilo_inst_n_called(m, i); c++)
        hilo_bitset_set(is_block, hilo_comp_ix(m, hilo_inst_called(m, i, c)));
    }
  }
  hilo_comp_list out = {.v = all.v};
  for (uint32_t k = 0; k < all.n_reached; k++)
    if (hilo_bitset_get(is_block, hilo_comp_ix(m, all.v[k]))) out.v[out.n++] = all.v[k];
  out.n_reached = out.n;
  return out;
}
