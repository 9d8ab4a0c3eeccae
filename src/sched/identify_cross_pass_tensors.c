/* 9 identify-cross-pass-tensors: note on values of the forward pass that the backward pass reads
 * them.
 *
 * The backward pass begins where an AwsNeuronModuleMarkerStart-Backward is, or, without any, where
 * op_name says so (`transpose(jvp(`, `gradients/`, `backward`); what depends on it belongs to it.
 * Without either sign nothing is noted. O(n + e). */
#include "analysis/custom_call.h"
#include "base/vec.h"
#include "rewrite/neuron_attrs.h"
#include "sched/steps.h"

/* What begins it; `known` keeps answers by string, since many instructions share a name. */
static bool is_marker_of_backward(const hilo_module *m, hilo_inst i, hilo_map *known) {
  (void)known;
  return hilo_is_custom_call_to(m, i, "AwsNeuronModuleMarkerStart-Backward");
}

static bool says_backward(hilo_str name) {
  static const char *const signs[] = {"transpose(jvp(", "gradients/", "backward"};
  for (size_t k = 0; k < HILO_COUNT(signs); k++)
    if (memmem(name.p, name.n, signs[k], strlen(signs[k]))) return true;
  return false;
}

static bool is_named_backward(const hilo_module *m, hilo_inst i, hilo_map *known) {
  enum { NO = 1, YES = 2 };
  const hilo_label name = hilo_meta_op_name(&m->labels, hilo_inst_meta_record(m, i));
  if (!name.ix) return false;
  bool inserted;
  uint32_t *its = hilo_map_at(known, name.ix, &inserted);
  if (inserted) *its = says_backward(hilo_label_of(m, name)) ? YES : NO;
  return *its == YES;
}

static bool depends_on(const hilo_module *m, hilo_inst i, const uint64_t *set) {
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
    if (hilo_bitset_get(set, hilo_ix(m, hilo_inst_operand(m, i, k)))) return true;
  return false;
}

/* The backward pass by one sign; NULL: it does not occur. */
static uint64_t *find_backward(const hilo_module *m,
                               bool (*begins)(const hilo_module *, hilo_inst, hilo_map *),
                               hilo_arena *arena) {
  uint64_t *out = NULL; /* until it begins */
  hilo_map known = hilo_map_make(arena);
  HILO_FOR_EACH_INST(m, m->entry, i) {
    if (!(out && depends_on(m, i, out)) && !begins(m, i, &known)) continue;
    if (!out) out = hilo_bitset_create(arena, m->n_inst_slots);
    hilo_bitset_set(out, hilo_ix(m, i));
  }
  return out;
}

static bool crosses(const hilo_module *m, hilo_inst i, const uint64_t *backward) {
  if (hilo_inst_is(m, i, HILO_OP_PARAMETER) || hilo_inst_is(m, i, HILO_OP_CONSTANT)) return false;
  if (hilo_bitset_get(backward, hilo_ix(m, i))) return false;
  for (hilo_use u = hilo_first_use(m, i); u.slot; u = hilo_next_use(m, u)) {
    const hilo_inst user = hilo_use_user(m, u);
    if (hilo_bitset_get(backward, hilo_ix(m, user)) && !hilo_inst_is(m, user, HILO_OP_TUPLE))
      return true;
  }
  return false;
}

HILO_DECLARE_PASS(identify_cross_pass_tensors) {
  const uint64_t *backward = find_backward(m, is_marker_of_backward, ctx->scratch);
  if (!backward) backward = find_backward(m, is_named_backward, ctx->scratch);
  if (!backward) return HILO_OK;
  HILO_FOR_EACH_INST(m, m->entry, i) {
    if (!crosses(m, i, backward)) continue;
    ctx->n_matched++;
    hilo_neuron_attrs neuron = hilo_neuron_of_inst(m, i);
    if (neuron.cross_pass) continue;
    neuron.cross_pass = true;
    hilo_inst_set_neuron(m, i, &neuron);
    ctx->n_rewritten++;
  }
  *changed |= ctx->n_rewritten != 0;
  return HILO_OK;
}
