#include "passes/dialect/op_fusion.h"

#include "passes/dialect/empty.h"
#include "passes/dialect/outputs.h"
#include "rewrite/neuron_attrs.h"

/* A value shows an aliased parameter's bytes if it is the parameter or a view of one. */
static uint32_t shown_by(const hilo_op_fusion *f, hilo_inst i) {
  const hilo_module *m = f->m;
  const hilo_inst source = hilo_view_of(m, i);
  return source.ix ? f->shows[hilo_ix(m, source)] : 0;
}

static void note_aliases(hilo_op_fusion *f) {
  hilo_module *m = f->m;
  const uint32_t n_params = hilo_comp_n_params(m, m->entry);
  f->writes_aliased = hilo_bitset_create(f->scratch, f->n_slots);
  f->shows = HILO_NEW_ZEROED(f->scratch, uint32_t, f->n_slots);
  f->writer_of = HILO_NEW_ZEROED(f->scratch, hilo_inst, (size_t)n_params + 1);
  for (uint32_t k = 0; k < m->header.aliases.n; k++) {
    const hilo_alias *alias = &m->header.aliases.v[k];
    uint32_t output;
    if (!hilo_alias_output(m, alias, &output)) continue;
    const hilo_inst writer = hilo_output(m, output);
    hilo_bitset_set(f->writes_aliased, hilo_ix(m, writer));
    if (alias->param < 0 || alias->param >= n_params) continue;
    f->writer_of[alias->param] = writer;
    f->shows[hilo_ix(m, hilo_comp_param(m, m->entry, (uint32_t)alias->param))] =
        (uint32_t)alias->param + 1;
  }
  HILO_FOR_EACH_INST(m, m->entry, i) {
    if (!hilo_inst_is(m, i, HILO_OP_PARAMETER)) f->shows[hilo_ix(m, i)] = shown_by(f, i);
  }
}

hilo_op_fusion hilo_op_fusion_make(hilo_module *m, hilo_arena *scratch) {
  hilo_op_fusion f = {.m = m, .scratch = scratch, .n_slots = m->n_inst_slots};
  f.taken = hilo_bitset_create(scratch, f.n_slots);
  if (m->header.aliases.n) note_aliases(&f);
  return f;
}

/* Of integers that step 25 narrows, or of no element, which step 28 folds away. */
static bool must_be_seen(const hilo_module *m, hilo_inst i) {
  const hilo_etype etype = hilo_inst_etype(m, i);
  return etype == HILO_S64 || etype == HILO_U64 || hilo_type_is_empty(m, hilo_inst_type(m, i));
}

bool hilo_op_fusion_may_join(const hilo_op_fusion *f, hilo_inst i) {
  const hilo_module *m = f->m;
  const uint32_t ix = hilo_ix(m, i);
  if (hilo_bitset_get(f->taken, ix) || hilo_control_has(m, i)) return false;
  if (f->writes_aliased && hilo_bitset_get(f->writes_aliased, ix)) return false;
  if (must_be_seen(m, i)) return false;
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
    if (must_be_seen(m, hilo_inst_operand(m, i, k))) return false;
  return !hilo_inst_extra_record(m, i).ix || !hilo_neuron_of_inst(m, i).no_opt.ix;
}

bool hilo_op_fusion_may_sink(const hilo_op_fusion *f, hilo_inst i, hilo_inst last) {
  hilo_module *m = f->m;
  if (!f->shows || !hilo_comp_eq(hilo_inst_comp(m, i), m->entry)) return true;
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++) {
    const uint32_t shown = f->shows[hilo_ix(m, hilo_inst_operand(m, i, k))];
    if (!shown) continue;
    const hilo_inst writer = f->writer_of[shown - 1];
    if (hilo_inst_before(m, i, writer) && hilo_inst_before(m, writer, last)) return false;
  }
  return true;
}

void hilo_op_fusion_add(hilo_op_fusion *f, const char *kind, const hilo_inst *members, uint32_t n,
                        bool is_closed) {
  const hilo_op_cluster cluster = {hilo_str_of(kind), f->members.n, n, is_closed};
  for (uint32_t k = 0; k < n; k++) {
    hilo_bitset_set(f->taken, hilo_ix(f->m, members[k]));
    HILO_PUSH(f->scratch, &f->members, members[k]);
  }
  HILO_PUSH(f->scratch, &f->clusters, cluster);
}
