#include "rewrite/equal.h"

/* What of the `extra` record takes part in equality. */
static uint64_t extra_key(const hilo_module *m, hilo_record r) {
  if (!r.ix) return 0;
  const hilo_extra_attrs e = hilo_extra_get(&m->records, r);
  const uint32_t parts[] = {e.frontend.ix, e.backend_config.ix,   e.result_accuracy.ix,
                            e.neuron.ix,   e.execution_thread.ix, e.is_composite};
  for (size_t k = 0; k < HILO_COUNT(parts); k++)
    if (parts[k]) return hilo_hash_bytes(parts, sizeof(parts));
  return 0;
}

static bool same_extra(const hilo_module *m, hilo_record x, hilo_record y) {
  if (x.ix == y.ix) return true;
  const hilo_extra_attrs a = hilo_extra_get(&m->records, x), b = hilo_extra_get(&m->records, y);
  return a.frontend.ix == b.frontend.ix && a.backend_config.ix == b.backend_config.ix &&
         a.result_accuracy.ix == b.result_accuracy.ix && a.neuron.ix == b.neuron.ix &&
         a.execution_thread.ix == b.execution_thread.ix && a.is_composite == b.is_composite;
}

static hilo_digest called_digest(hilo_equality *e, hilo_inst i, uint32_t k) {
  if (!e->canonical) e->canonical = hilo_canonical_make(e->m, e->scratch);
  return hilo_canonical_digest(e->canonical, hilo_inst_called(e->m, i, k));
}

uint32_t hilo_equality_hash(const hilo_equality *e, uint32_t ix) {
  const hilo_module *m = e->m;
  const hilo_inst_columns *c = &m->inst;
  uint64_t h = (uint64_t)c->op[ix] << 32 | c->type[ix];
  h = hilo_hash_combine(h, (uint64_t)c->attr[ix] << 32 | c->n_operands[ix]);
  if (c->extra[ix]) h = hilo_hash_combine(h, extra_key(m, (hilo_record){c->extra[ix]}));
  const hilo_operand_slot *operand = m->operand.v + c->operands[ix];
  for (uint32_t k = 0; k < c->n_operands[ix]; k++) h = hilo_hash_combine(h, operand[k].value);
  return (uint32_t)(h ^ h >> 32);
}

bool hilo_equality_same(hilo_equality *e, uint32_t a, uint32_t b) {
  const hilo_module *m = e->m;
  const hilo_inst_columns *c = &m->inst;
  if (c->op[a] != c->op[b] || c->type[a] != c->type[b] || c->attr[a] != c->attr[b] ||
      c->n_operands[a] != c->n_operands[b])
    return false;
  for (uint32_t k = 0; k < c->n_operands[a]; k++)
    if (m->operand.v[c->operands[a] + k].value != m->operand.v[c->operands[b] + k].value)
      return false;
  if (!same_extra(m, (hilo_record){c->extra[a]}, (hilo_record){c->extra[b]})) return false;
  const hilo_inst x = hilo_inst_at(m, a), y = hilo_inst_at(m, b);
  const uint32_t n = hilo_inst_n_called(m, x);
  if (n != hilo_inst_n_called(m, y)) return false;
  for (uint32_t k = 0; k < n; k++)
    if (!hilo_comp_eq(hilo_inst_called(m, x, k), hilo_inst_called(m, y, k)) &&
        !hilo_digest_eq(called_digest(e, x, k), called_digest(e, y, k)))
      return false;
  return true;
}
