/* XLA's calls between full and shard shapes, in a program that nobody has partitioned yet.
 *
 * Every rank of such a program has the whole of each value, but for what lies between
 * SPMDFullToShardShape, which takes the rank's tile out of it, and SPMDShardToFullShape, to which
 * the partitions of a replica come with theirs. The sharding is that of the call that the first one
 * is applied to, and the second one's own. A value may be cut less than the sharding says, where
 * only some axes of the mesh are manual: these are the major ones of each dimension. */
#include "analysis/custom_call.h"
#include "eval/machine/machine_parts.h"
#include "eval/ranks/collective.h"
#include "eval/strided.h"
#include "eval/targets/targets.h"

enum { TILED = 3 };

typedef struct {
  hilo_sharding_attrs sharding;
  hilo_dims full, shard;
} cut;

static hilo_status refuse(const hilo_eval *e, hilo_inst i, const char *what) {
  return hilo_target_error(e, i, hilo_custom_call_target(e->m, i), what);
}

static hilo_status find_cut(const hilo_eval *e, hilo_inst i, hilo_inst sharded, hilo_type full,
                            hilo_type shard, cut *out) {
  const hilo_store *types = &e->m->types;
  const hilo_record extra = hilo_inst_extra_record(e->m, sharded);
  const hilo_record record =
      extra.ix ? hilo_extra_get(&e->m->records, extra).sharding : HILO_RECORD_NONE;
  if (!record.ix || !hilo_type_is_array(types, full) || !hilo_type_is_array(types, shard))
    return refuse(e, i, "has another type than its operand, and no sharding that says why");
  *out = (cut){hilo_sharding_get(&e->m->records, record), hilo_type_dims(types, full),
               hilo_type_dims(types, shard)};
  bool fits = out->full.n == out->shard.n && out->sharding.kind == TILED &&
              out->sharding.tile_dims.n >= out->full.n &&
              hilo_type_etype(types, full) == hilo_type_etype(types, shard);
  for (uint32_t d = 0; fits && d < out->full.n; d++) {
    const int64_t size = out->shard.v[d], whole = out->full.v[d];
    fits = size == whole || (size > 0 && whole > 0 && whole % size == 0 &&
                             out->sharding.tile_dims.v[d] % (whole / size) == 0);
  }
  return fits ? HILO_OK : refuse(e, i, "has another type than its sharding makes of its operand");
}

/* Where the tile of the k-th device lies in the whole. */
static hilo_strides find_tile(const cut *c, uint64_t k) {
  const hilo_dims tiles = c->sharding.tile_dims;
  hilo_strides out = hilo_strides_row_major(c->full);
  for (uint32_t d = tiles.n; d-- > 0;) {
    const int64_t n = tiles.v[d], at = (int64_t)(k % (uint64_t)n);
    k /= (uint64_t)n;
    if (d >= c->full.n || c->shard.v[d] == c->full.v[d]) continue;
    const int64_t parts = c->full.v[d] / c->shard.v[d];
    out.start += at / (n / parts) * c->shard.v[d] * out.step[d];
  }
  return out;
}

static bool is_same_shape(const hilo_eval *e, hilo_inst i, const hilo_value *arg) {
  return hilo_type_compatible(&e->m->types, arg->type, hilo_inst_type(e->m, i));
}

hilo_status hilo_target_full_to_shard(const hilo_eval *e, hilo_inst i, hilo_str target,
                                      const hilo_value *args, hilo_value *out) {
  if (hilo_inst_n_operands(e->m, i) != 1)
    return hilo_target_error(e, i, target, "takes one operand");
  if (is_same_shape(e, i, &args[0])) return hilo_eval_pass_on(&args[0], out);
  cut c;
  uint64_t k = 0;
  const uint32_t partition = e->machine ? e->rank % e->machine->o->n_partitions : 0;
  HILO_TRY(find_cut(e, i, hilo_inst_operand(e->m, i, 0), args[0].type, out->type, &c));
  while (k < c.sharding.devices.n && c.sharding.devices.v[k] != partition) k++;
  if (k == c.sharding.devices.n)
    return hilo_target_error(e, i, target, "has a sharding that leaves out a partition");
  const hilo_strides tile = find_tile(&c, k);
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  const hilo_strides dense = hilo_strides_row_major(c.shard);
  hilo_strided_copy(c.shard, hilo_etype_bytes(hilo_value_etype(e, out)), data, &dense, args[0].data,
                    &tile);
  return HILO_OK;
}

hilo_status hilo_collective_shard_to_full(const hilo_eval *e, const hilo_participants *all,
                                          hilo_value *results) {
  const hilo_inst i = all->insts[0];
  cut c;
  results[0].type = hilo_inst_type(e->m, i);
  HILO_TRY(find_cut(e, i, i, results[0].type, all->args[0][0].type, &c));
  if (c.sharding.devices.n != all->n)
    return refuse(e, i, "has a sharding over more or fewer devices than there are partitions");
  char *data = hilo_eval_new_array(e, i, &results[0]);
  if (!data) return HILO_LIMIT_ERROR;
  const uint32_t size = hilo_etype_bytes(hilo_value_etype(e, &results[0]));
  const hilo_strides dense = hilo_strides_row_major(c.shard);
  for (uint32_t k = 0; k < all->n; k++) {
    const hilo_strides tile = find_tile(&c, k);
    const uint64_t partition = (uint64_t)c.sharding.devices.v[k];
    if (partition >= all->n)
      return refuse(e, i, "has a sharding over a partition that there is not");
    hilo_strided_copy(c.shard, size, data, &tile, all->args[partition][0].data, &dense);
    if (k) results[k] = hilo_value_share(&results[0]);
  }
  return HILO_OK;
}

bool hilo_is_shard_to_full(const hilo_module *m, hilo_inst i) {
  return hilo_is_custom_call_to(m, i, "SPMDShardToFullShape") && hilo_inst_n_operands(m, i) == 1 &&
         !hilo_type_compatible(&m->types, hilo_inst_type(m, hilo_inst_operand(m, i, 0)),
                               hilo_inst_type(m, i));
}
