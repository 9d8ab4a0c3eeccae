#include "analysis/outside.h"

static uint64_t channel_of(const hilo_module *m, hilo_inst i) {
  return (uint64_t)hilo_inst_extra(m, i).channel_id;
}

hilo_map hilo_sent_channels_of(const hilo_module *m, hilo_arena *arena) {
  hilo_map sent = hilo_map_make(arena);
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      if (hilo_inst_is(m, i, HILO_OP_SEND)) hilo_map_set(&sent, channel_of(m, i), 1);
    }
  }
  return sent;
}

bool hilo_comes_from_outside(const hilo_module *m, const hilo_map *sent, hilo_inst i) {
  if (hilo_inst_is(m, i, HILO_OP_INFEED)) return true;
  if (!hilo_inst_is(m, i, HILO_OP_RECV) || !hilo_attrs(m, i, transfer).is_host_transfer)
    return false;
  return !hilo_map_get(sent, channel_of(m, i), 0);
}
