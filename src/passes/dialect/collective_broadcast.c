/* 3 collective-broadcast-to-all-gather: everybody gathers what the group has, and takes the part of
 * its first member, which is the source.
 *
 *   collective-broadcast(x: [d0, …]) {groups of G}  →
 *     g = all-gather(x) {dimension 0, groups}: [G d0, …];  slice(g)[0:d0, …]
 *
 * A scalar is gathered as [1]; in groups of one the operand itself is the result. Groups must have
 * one size and hold every participant (others would get zeros), and the source must not be chosen
 * at run time; what is left is refused by step 4. With a channel the ids of the input are
 * partitions, while an all-gather has flattened ids: those of each replica. O(instructions +
 * ranks). */
#include "analysis/groups.h"
#include "analysis/ranks.h"
#include "passes/passes.h"
#include "rewrite/build.h"

/* The groups as ranks; false if they are not of one size, or leave somebody out. */
static bool find_groups(const hilo_module *m, hilo_inst i, hilo_pass_ctx *ctx,
                        hilo_rank_groups *out) {
  const hilo_ranks ranks =
      hilo_ranks_of(m, ctx->options->num_partitions, ctx->options->num_replicas);
  const uint32_t n = (uint32_t)(ranks.n_partitions * ranks.n_replicas);
  hilo_diags unheard = hilo_diags_make(ctx->scratch);
  if (hilo_rank_groups_of(m, i, (uint32_t)ranks.n_replicas, (uint32_t)ranks.n_partitions,
                          ctx->scratch, &unheard, out) != HILO_OK)
    return false;
  for (uint32_t g = 1; g < out->n_groups; g++)
    if (out->first[g + 1] - out->first[g] != out->first[1]) return false;
  for (uint32_t r = 0; r < n; r++)
    if (out->group_of[r] == HILO_NO_GROUP) return false;
  return out->n_groups != 0;
}

static bool matches(const hilo_module *m, hilo_inst i, const hilo_pass_ctx *ctx) {
  (void)ctx;
  if (!hilo_inst_is(m, i, HILO_OP_COLLECTIVE_BROADCAST) || hilo_inst_n_operands(m, i) != 1)
    return false;
  return !hilo_attrs(m, i, collective).has_dynamic_root &&
         hilo_type_is_array(&m->types, hilo_inst_type(m, i));
}

static hilo_record flattened(hilo_module *m, const hilo_rank_groups *groups, hilo_arena *scratch) {
  const uint32_t n = groups->first[groups->n_groups];
  int64_t *sizes = HILO_NEW_ARRAY(scratch, int64_t, groups->n_groups);
  int64_t *ids = HILO_NEW_ARRAY(scratch, int64_t, n + 1);
  for (uint32_t g = 0; g < groups->n_groups; g++)
    sizes[g] = groups->first[g + 1] - groups->first[g];
  for (uint32_t k = 0; k < n; k++) ids[k] = groups->ranks[k];
  const hilo_replica_groups_attrs attrs = {.sizes = {sizes, groups->n_groups}, .ids = {ids, n}};
  return hilo_replica_groups_put(&m->records, &attrs);
}

static hilo_inst gather(hilo_module *m, hilo_inst i, hilo_inst x, const hilo_rank_groups *groups,
                        hilo_arena *scratch) {
  hilo_collective_attrs attrs = hilo_attrs(m, i, collective);
  const hilo_extra_attrs old = hilo_inst_extra(m, i);
  hilo_extra_attrs extra = {.channel_id = old.channel_id,
                            .frontend = old.frontend,
                            .backend_config = old.backend_config,
                            .neuron = old.neuron};
  if (old.channel_id > 0) {
    attrs.groups = flattened(m, groups, scratch);
    attrs.use_global_device_ids = true;
  } else {
    extra.groups_spelling = old.groups_spelling;
  }
  attrs.dimension = 1;
  const hilo_dims dims = hilo_inst_dims(m, x);
  int64_t gathered[HILO_MAX_RANK];
  memcpy(gathered, dims.v, dims.n * sizeof(int64_t));
  gathered[0] *= groups->first[1];
  const hilo_inst_desc desc = {
      .op = HILO_OP_ALL_GATHER,
      .type = hilo_type_array(&m->types, hilo_inst_etype(m, x), (hilo_dims){gathered, dims.n}),
      .operands = &x,
      .n_operands = 1,
      .attr = hilo_collective_put(&m->records, &attrs).ix};
  const hilo_inst all = hilo_inst_insert_before(m, i, &desc);
  hilo_inst_set_extra(m, all, &extra);
  return all;
}

static hilo_inst first_part(hilo_module *m, hilo_inst at, hilo_inst all, hilo_type type) {
  const hilo_dims limits = hilo_type_dims(&m->types, type);
  int64_t starts[HILO_MAX_RANK] = {0}, strides[HILO_MAX_RANK];
  for (uint32_t d = 0; d < limits.n; d++) strides[d] = 1;
  const hilo_slice_attrs attrs = {
      .starts = {starts, limits.n}, .limits = limits, .strides = {strides, limits.n}};
  const hilo_inst_desc desc = {.op = HILO_OP_SLICE,
                               .type = type,
                               .operands = &all,
                               .n_operands = 1,
                               .attr = hilo_slice_put(&m->records, &attrs).ix};
  return hilo_inst_insert_before(m, at, &desc);
}

static hilo_inst expand(hilo_module *m, hilo_inst i, hilo_pass_ctx *ctx) {
  hilo_rank_groups groups;
  if (!find_groups(m, i, ctx, &groups)) return HILO_INST_NONE;
  hilo_inst x = hilo_inst_operand(m, i, 0);
  if (groups.first[1] == 1) return x;
  const hilo_type type = hilo_inst_type(m, i);
  const hilo_dims dims = hilo_type_dims(&m->types, type);
  uint64_t most;
  if (dims.n && (!hilo_mul_u64((uint64_t)dims.v[0], groups.first[1], &most) || most > INT64_MAX))
    return HILO_INST_NONE;
  hilo_type part = hilo_type_bare(&m->types, type);
  if (!dims.n) {
    const int64_t one = 1;
    part = hilo_type_array(&m->types, hilo_inst_etype(m, i), (hilo_dims){&one, 1});
    x = hilo_build_reshape(m, i, x, part);
  }
  const hilo_inst all = gather(m, i, x, &groups, ctx->scratch);
  const hilo_inst first = first_part(m, i, all, part);
  return dims.n ? first : hilo_build_reshape(m, i, first, type);
}

HILO_DECLARE_PASS(collective_broadcast_to_all_gather) {
  static const hilo_expander expander = {matches, expand};
  return hilo_expand(m, ctx, &expander, changed);
}
