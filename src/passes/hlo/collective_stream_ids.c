/* #81 aws_neuron_collective_stream_id_injector: every collective gets the frontend attribute
 * `stream_id`.
 *
 * Two exemplars are looked for: the first collective (of each computation; a later computation
 * overwrites) with a result that is no integer and `collective_type` tp_* or fsdp_*. Then "0" goes
 * to those with the groups of the tensor-parallel exemplar and to everybody else, "1" to those with
 * the groups of the FSDP one. Old values are overwritten. collective-permute always gets "0": the
 * emitter fails on a collective without the attribute. */
#include "passes/frontend.h"
#include "passes/passes.h"

static bool is_typed(hilo_op op) {
  switch (op) {
  case HILO_OP_ALL_GATHER:
  case HILO_OP_ALL_GATHER_START:
  case HILO_OP_ALL_REDUCE:
  case HILO_OP_ALL_REDUCE_START:
  case HILO_OP_REDUCE_SCATTER:
  case HILO_OP_ALL_TO_ALL:
  case HILO_OP_COLLECTIVE_BROADCAST:
  case HILO_OP_RAGGED_ALL_TO_ALL: return true;
  default: return false;
  }
}

static bool is_permute(hilo_op op) {
  return op == HILO_OP_COLLECTIVE_PERMUTE || op == HILO_OP_COLLECTIVE_PERMUTE_START;
}

static bool gives_integer(const hilo_module *m, hilo_inst i) {
  hilo_type t = hilo_inst_type(m, i);
  while (hilo_type_is_tuple(&m->types, t) && hilo_type_n_elements_of_tuple(&m->types, t))
    t = hilo_type_element(&m->types, t, 0);
  return hilo_etype_is_integer(hilo_type_etype(&m->types, t));
}

typedef struct {
  bool found;
  hilo_record groups;
} exemplar;

static void note_exemplar(const hilo_module *m, hilo_inst i, const char *scatter,
                          const char *gather, bool *seen_here, exemplar *out) {
  if (*seen_here || gives_integer(m, i)) return;
  const hilo_str type = hilo_frontend_get(m, hilo_inst_extra(m, i).frontend, "collective_type");
  if (!hilo_str_is(type, scatter) && !hilo_str_is(type, gather)) return;
  *seen_here = true;
  *out = (exemplar){true, hilo_attrs(m, i, collective).groups};
}

static const char *stream_of(const hilo_module *m, hilo_inst i, exemplar tp, exemplar fsdp) {
  if (!is_typed(hilo_inst_op(m, i))) return "0";
  const hilo_record groups = hilo_attrs(m, i, collective).groups;
  if (tp.found && hilo_record_eq(groups, tp.groups)) return "0";
  return fsdp.found && hilo_record_eq(groups, fsdp.groups) ? "1" : "0";
}

HILO_DECLARE_PASS(collective_stream_id_injector) {
  exemplar tp = {0}, fsdp = {0};
  HILO_FOR_EACH_COMP(m, c) {
    bool tp_here = false, fsdp_here = false;
    HILO_FOR_EACH_INST(m, c, i) {
      if (!is_typed(hilo_inst_op(m, i))) continue;
      note_exemplar(m, i, "tp_reduce_scatter", "tp_all_gather", &tp_here, &tp);
      note_exemplar(m, i, "fsdp_reduce_scatter", "fsdp_all_gather", &fsdp_here, &fsdp);
    }
  }
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      const hilo_op op = hilo_inst_op(m, i);
      if (!is_typed(op) && !is_permute(op)) continue;
      ctx->n_matched++;
      hilo_extra_attrs extra = hilo_inst_extra(m, i);
      const hilo_record stamped =
          hilo_frontend_set(m, extra.frontend, "stream_id", stream_of(m, i, tp, fsdp));
      if (hilo_record_eq(stamped, extra.frontend)) continue;
      extra.frontend = stamped;
      hilo_inst_set_extra(m, i, &extra);
      ctx->n_rewritten++;
      *changed = true;
    }
  }
  return HILO_OK;
}
