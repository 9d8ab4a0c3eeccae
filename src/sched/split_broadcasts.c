#include "sched/split_broadcasts.h"

#include "rewrite/neuron_attrs.h"
#include "rewrite/replace.h"

#include <stdlib.h>

static uint64_t operand_bytes(const hilo_module *m, hilo_inst i) {
  uint64_t bytes = 0;
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++) {
    const uint64_t its =
        hilo_type_row_of(&m->types, hilo_inst_type(m, hilo_inst_operand(m, i, k)))->bytes;
    bytes = hilo_plus_u64(bytes, its);
  }
  return bytes;
}

static bool qualifies(const hilo_module *m, const hilo_motion *motion, hilo_inst i,
                      uint64_t bytes) {
  if (!hilo_inst_is(m, i, HILO_OP_BROADCAST) && !hilo_inst_is(m, i, HILO_OP_IOTA)) return false;
  if (operand_bytes(m, i) > bytes / 8 || hilo_control_has(m, i)) return false;
  return hilo_motion_is_movable(motion, i);
}

static int by_number(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

/* Users by place, each once. */
static uint32_t find_users(const hilo_lifetimes *l, hilo_inst i, uint32_t *users) {
  const hilo_module *m = l->m;
  uint32_t n_uses = 0, n = 0;
  for (hilo_use u = hilo_first_use(m, i); u.slot; u = hilo_next_use(m, u))
    users[n_uses++] = l->place[hilo_ix(m, hilo_use_user(m, u))];
  qsort(users, n_uses, sizeof(uint32_t), by_number);
  for (uint32_t k = 0; k < n_uses; k++)
    if (!n || users[n - 1] != users[k]) users[n++] = users[k];
  return n;
}

static void use_instead(hilo_module *m, hilo_inst user, hilo_inst from, hilo_inst to) {
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, user); k++)
    if (hilo_inst_eq(hilo_inst_operand(m, user, k), from)) hilo_inst_set_operand(m, user, k, to);
}

static void clone_for(hilo_module *m, hilo_inst original, hilo_inst user, hilo_splits *splits) {
  const hilo_inst clone = hilo_inst_clone_before(m, original, user, NULL);
  hilo_neuron_attrs neuron = hilo_neuron_of_inst(m, clone);
  if (!neuron.remat_value.ix) {
    const hilo_str name = hilo_inst_name_text(m, original, splits->arena);
    neuron.remat_value = hilo_module_string(m, name);
    hilo_inst_set_neuron(m, clone, &neuron);
  }
  use_instead(m, user, original, clone);
  HILO_PUSH(splits->arena, splits, ((struct hilo_split_clone){original, clone, user}));
}

bool hilo_broadcasts_split(hilo_module *m, const hilo_schedule_profile *p,
                           const hilo_motion *motion, hilo_splits *splits) {
  const hilo_lifetimes *l = &p->lifetimes;
  const uint32_t before = splits->n;
  for (uint32_t b = 0; b <= p->peak_at && b < l->n; b++) {
    const hilo_inst i = l->insts[b];
    if (p->last[b] <= p->peak_at || !l->bytes[b] || !qualifies(m, motion, i, l->bytes[b])) continue;
    if (hilo_inst_is_root(m, i)) continue;
    uint32_t *users =
        HILO_NEW_ARRAY(splits->arena, uint32_t, (size_t)hilo_inst_count_uses(m, i) + 2);
    const uint32_t n = find_users(l, i, users);
    for (uint32_t k = 1; k < n; k++) clone_for(m, i, l->insts[users[k]], splits);
  }
  return splits->n > before;
}

void hilo_broadcasts_join(hilo_module *m, hilo_splits *splits, uint32_t first) {
  while (splits->n > first) {
    const struct hilo_split_clone it = splits->v[--splits->n];
    use_instead(m, it.user, it.clone, it.original);
    HILO_CHECK(hilo_erase(m, it.clone));
  }
}
