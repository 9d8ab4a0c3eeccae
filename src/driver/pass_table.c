#include "driver/pass_table.h"

#include "passes/passes.h"
#include "sched/steps.h"

const hilo_pass_info hilo_pass_table[HILO_PASS_COUNT] = {
#define HILO_PASS(symbol, key, number, kind, contract, summary)                                    \
  [HILO_PASS_##symbol] = {key, summary, number, #kind[0], contract, hilo_pass_##symbol},
#include "driver/passes.def"
#undef HILO_PASS
};

hilo_pass_id hilo_pass_find(hilo_str key) {
  int id = 0;
  while (id < HILO_PASS_COUNT && !hilo_str_is(key, hilo_pass_table[id].key)) id++;
  return (hilo_pass_id)id;
}

hilo_str hilo_pass_suggest(hilo_str key) {
  hilo_str keys[HILO_PASS_COUNT];
  for (int id = 0; id < HILO_PASS_COUNT; id++) keys[id] = hilo_str_of(hilo_pass_table[id].key);
  return hilo_str_nearest(key, keys, HILO_PASS_COUNT);
}
