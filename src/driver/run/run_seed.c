#include "driver/run/run_seed.h"

#include "analysis/custom_call.h"
#include "analysis/outside.h"
#include "driver/run/run_uses.h"

#include <inttypes.h>

enum { BLOCK = 256, SHARDING_REPLICATED = 0, SHARDING_TILED = 3 };
#define GOLDEN 0x9e3779b97f4a7c15ull

typedef struct {
  const hilo_module *m;
  const hilo_leaves *leaves;
  const hilo_use_facts *facts;
  uint32_t n_replicas, n_partitions;
  uint64_t seed;
  hilo_arena *arena;
  bool is_whole; /* see is_unpartitioned */
} seeder;

static uint64_t bits_at(uint64_t key, uint64_t k) { return hilo_hash_u64(key + (k + 1) * GOLDEN); }
static double unit_of(uint64_t bits) { return (double)(bits >> 11) * 0x1p-53; } /* [0, 1) */

/* ---- which ranks share a slice ---- */

/* The sharding of the leaf's parameter; of a tuple, that of the leaf. */
static hilo_record sharding_of(const seeder *s, uint32_t leaf) {
  const hilo_leaf *l = &s->leaves->v[leaf];
  const hilo_inst param = hilo_comp_param(s->m, s->m->entry, l->param);
  const hilo_record extra = hilo_inst_extra_record(s->m, param);
  hilo_record record = HILO_RECORD_NONE;
  if (extra.ix) record = hilo_extra_get(&s->m->records, extra).sharding;
  if (!record.ix && l->param < s->m->header.n_spmd_param_shardings)
    record = s->m->header.spmd_param_shardings[l->param];
  if (!record.ix) return record;
  const hilo_sharding_attrs a = hilo_sharding_get(&s->m->records, record);
  if (!a.elements.n) return record;
  uint32_t at = 0; /* of the parameter's leaves */
  while (at < leaf && s->leaves->v[leaf - at - 1].param == l->param) at++;
  return at < a.elements.n ? (hilo_record){(uint32_t)a.elements.v[at]} : HILO_RECORD_NONE;
}

/* The number of the partition's tile. */
static uint32_t tile_of(const hilo_sharding_attrs *a, uint32_t partition) {
  int64_t copies = 1;
  if (a->replicate_on_last_tile_dim && a->tile_dims.n) copies = a->tile_dims.v[a->tile_dims.n - 1];
  for (uint32_t k = 0; k < a->devices.n; k++)
    if (a->devices.v[k] == partition) return (uint32_t)(k / (copies > 0 ? copies : 1));
  return partition;
}

/* Is the program one that nobody has partitioned yet, so that each rank has the whole of a value?
 */
static bool is_unpartitioned(const hilo_module *m) {
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      if (hilo_is_custom_call_to(m, i, "Sharding") ||
          hilo_is_custom_call_to(m, i, "SPMDFullToShardShape") ||
          hilo_is_custom_call_to(m, i, "SPMDShardToFullShape"))
        return true;
    }
  }
  return false;
}

/* Equal keys, equal slices. */
static uint32_t shard_of(const seeder *s, uint32_t leaf, uint32_t rank) {
  if (s->facts[leaf].demands & 1u << HILO_DEMAND_UNIFORM) return 0;
  if (s->is_whole) return rank / s->n_partitions * s->n_partitions;
  const hilo_record record = sharding_of(s, leaf);
  if (!record.ix) return rank;
  const hilo_sharding_attrs a = hilo_sharding_get(&s->m->records, record);
  const uint32_t replica = rank / s->n_partitions;
  uint32_t tile = rank % s->n_partitions;
  if (a.kind == SHARDING_REPLICATED) tile = 0;
  if (a.kind == SHARDING_TILED) tile = tile_of(&a, tile);
  return replica * s->n_partitions + tile;
}

/* ---- values ---- */

static double normal_of(uint64_t bits) {
  double sum = 0;
  for (int k = 0; k < 4; k++) sum += (double)(bits >> 16 * k & 0xffff) * 0x1p-16;
  return (sum - 2) * 1.7320508075688772; /* sqrt 3: variance 1 */
}

static bool has(const hilo_use_facts *f, hilo_demand kind) { return f->demands >> kind & 1; }

static double float_of(const hilo_use_facts *f, uint64_t bits) {
  const double u = unit_of(bits);
  if (has(f, HILO_DEMAND_RANGE)) return f->lo + u * (f->hi - f->lo);
  if (has(f, HILO_DEMAND_UNIT)) return (2 * u - 1) * 0.95;
  if (has(f, HILO_DEMAND_POSITIVE)) return 0.1 + 1.9 * u;
  if (has(f, HILO_DEMAND_NONZERO)) return (bits & 1 ? 1 : -1) * (0.5 + 1.5 * u);
  return normal_of(bits) * (has(f, HILO_DEMAND_SCALE) ? f->scale : 1);
}

/* The whole numbers lo … hi, within what the type holds. */
static int64_t within(hilo_etype etype, double lo, double hi, uint64_t bits) {
  const unsigned width = hilo_etype_table[etype].bits;
  const bool is_signed = hilo_etype_class_of(etype) == HILO_CLASS_SIGNED;
  const double least = is_signed ? -(double)(1ull << (width < 54 ? width - 1 : 53)) : 0;
  const double most = (double)(1ull << (width - is_signed < 53 ? width - is_signed : 53)) - 1;
  if (lo < least) lo = least;
  if (hi > most) hi = most;
  if (hi < lo) hi = lo;
  const int64_t from = (int64_t)lo;
  return from + (int64_t)(bits % ((uint64_t)((int64_t)hi - from) + 1));
}

static int64_t whole_of(const hilo_use_facts *f, hilo_etype etype, uint64_t bits) {
  const bool is_signed = hilo_etype_class_of(etype) == HILO_CLASS_SIGNED;
  if (etype == HILO_PRED) return (int64_t)(bits >> 63);
  if (has(f, HILO_DEMAND_RANGE)) {
    const bool must_be_positive = has(f, HILO_DEMAND_NONZERO) && f->lo <= 0 && f->hi >= 1;
    return within(etype, must_be_positive ? 1 : f->lo, f->hi, bits);
  }
  if (has(f, HILO_DEMAND_SPREAD)) return within(etype, is_signed ? -0x1p20 : 0, 0x1p20, bits);
  if (has(f, HILO_DEMAND_NONZERO)) {
    const int64_t v = within(etype, 1, 7, bits >> 1);
    return is_signed && bits & 1 ? -v : v;
  }
  if (etype == HILO_U32) return (int64_t)(bits >> 32);
  return is_signed ? within(etype, -8, 8, bits) : within(etype, 0, 15, bits);
}

static void fill(hilo_etype etype, const hilo_use_facts *f, uint64_t key, uint64_t n, char *data) {
  const bool is_complex = hilo_etype_is_complex(etype), is_float = hilo_etype_is_float(etype);
  if (etype == HILO_C64) etype = HILO_F32;
  if (etype == HILO_C128) etype = HILO_F64;
  const uint64_t total = is_complex ? 2 * n : n;
  union {
    double f[BLOCK];
    int64_t s[BLOCK];
  } block;
  for (uint64_t at = 0; at < total; at += BLOCK) {
    const uint32_t count = total - at < BLOCK ? (uint32_t)(total - at) : BLOCK;
    for (uint32_t k = 0; k < count; k++) {
      const uint64_t bits = bits_at(key, at + k);
      if (etype == HILO_F8E8M0FNU)
        block.f[k] = (double)(1 << bits % 5) * 0.25;
      else if (is_float || is_complex)
        block.f[k] = float_of(f, bits);
      else
        block.s[k] = whole_of(f, etype, bits);
    }
    hilo_eval_convert_elements(is_float || is_complex ? HILO_F64 : HILO_S64, etype,
                               (const char *)&block, count, data + at * hilo_etype_bytes(etype));
  }
}

/* Add the size to the diagonal of each matrix, so that none is singular. */
static void make_dominant(hilo_etype etype, hilo_dims dims, uint64_t n, char *data) {
  if (dims.n < 2 || dims.v[dims.n - 1] != dims.v[dims.n - 2] || !n) return;
  const uint64_t side = (uint64_t)dims.v[dims.n - 1];
  const double diagonal[2] = {(double)side + 1, 0};
  char element[16];
  const bool is_complex = hilo_etype_is_complex(etype);
  const hilo_etype part = etype == HILO_C64 ? HILO_F32 : etype == HILO_C128 ? HILO_F64 : etype;
  hilo_eval_convert_elements(HILO_F64, part, (const char *)diagonal, is_complex ? 2 : 1, element);
  const uint32_t size = hilo_etype_bytes(etype);
  for (uint64_t k = 0; k < n; k++)
    if (k / side % side == k % side) memcpy(data + k * size, element, size);
}

static int64_t size_of(hilo_dims dims, uint32_t d) {
  return dims.v[d] < 0 ? HILO_OPEN_SIZE : dims.v[d];
}

/* UINT64_MAX: too many. */
static uint64_t n_elements_of(hilo_dims dims) {
  uint64_t n = 1;
  for (uint32_t d = 0; d < dims.n; d++)
    if (!hilo_mul_u64(n, (uint64_t)size_of(dims, d), &n)) return UINT64_MAX;
  return n;
}

static void make_leaf(const seeder *s, uint32_t leaf, hilo_array *out) {
  const hilo_type_info info = hilo_type_get(&s->m->types, s->leaves->v[leaf].type);
  const uint32_t n_ranks = s->n_replicas * s->n_partitions;
  const uint64_t n = n_elements_of(info.dims), bytes = n * hilo_etype_bytes(info.etype);
  const char **slices = HILO_NEW_ZEROED(s->arena, const char *, n_ranks);
  int64_t *sizes = HILO_NEW_ARRAY(s->arena, int64_t, info.dims.n + 1); /* may outlive the module */
  for (uint32_t d = 0; d < info.dims.n; d++) sizes[d] = size_of(info.dims, d);
  const hilo_dims dims = {sizes, info.dims.n};
  *out = (hilo_array){info.etype, dims, n, slices};
  for (uint32_t r = 0; r < n_ranks; r++) {
    const uint32_t shard = shard_of(s, leaf, r);
    if (shard < r && shard_of(s, leaf, shard) == shard) { /* made already */
      slices[r] = slices[shard];
      continue;
    }
    char *data = hilo_arena_alloc(s->arena, bytes + 1, 64);
    const uint64_t key =
        hilo_hash_combine(hilo_hash_combine(hilo_hash_u64(s->seed + GOLDEN), leaf), shard);
    fill(info.etype, &s->facts[leaf], key, n, data);
    if (has(&s->facts[leaf], HILO_DEMAND_DOMINANT)) make_dominant(info.etype, dims, n, data);
    slices[r] = data;
  }
}

/* ---- all of them ---- */

static hilo_status refuse(hilo_diags *diags, const char *fmt, ...) HILO_PRINTF(2, 3);
static hilo_status refuse(hilo_diags *diags, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  (void)hilo_diag_vadd(diags, HILO_DIAG_EMOD907, NULL, fmt, args);
  va_end(args);
  return HILO_LIMIT_ERROR;
}

static hilo_status check(const seeder *s, uint64_t max_bytes, const uint64_t *skip,
                         hilo_diags *diags) {
  uint64_t total = 0;
  for (uint32_t k = 0; k < s->leaves->n; k++) {
    if (skip && hilo_bitset_get(skip, k)) continue;
    const hilo_type_info info = hilo_type_get(&s->m->types, s->leaves->v[k].type);
    if (info.etype == HILO_TOKEN) continue;
    if (!hilo_etype_is_array(info.etype))
      return refuse(diags, "parameter %u is `%s`, for which there are no values",
                    s->leaves->v[k].param, hilo_etype_table[info.etype].hlo);
    const uint64_t each = (uint64_t)hilo_etype_bytes(info.etype) * s->n_replicas * s->n_partitions;
    total = hilo_plus_u64(total, hilo_times_u64(n_elements_of(info.dims), each));
  }
  if (max_bytes && total > max_bytes)
    return refuse(diags, "its parameters alone need %" PRIu64 " bytes; --max-bytes is %" PRIu64,
                  total, max_bytes);
  return HILO_OK;
}

hilo_status hilo_seed_inputs(const hilo_module *m, const hilo_leaves *leaves, int64_t seed,
                             uint32_t n_replicas, uint32_t n_partitions, uint64_t max_bytes,
                             const uint64_t *skip, hilo_arena *arena, hilo_diags *diags,
                             hilo_arrays *out) {
  seeder s = {m,
              leaves,
              NULL,
              n_replicas,
              n_partitions,
              (uint64_t)seed,
              arena,
              .is_whole = is_unpartitioned(m)};
  HILO_TRY(check(&s, max_bytes, skip, diags));
  s.facts = hilo_uses_of_params(m, leaves, arena);
  *out = (hilo_arrays){HILO_NEW_ZEROED(arena, hilo_array, leaves->n + 1), leaves->n,
                       n_replicas * n_partitions};
  for (uint32_t k = 0; k < leaves->n; k++) {
    if (skip && hilo_bitset_get(skip, k)) continue;
    if (hilo_type_etype(&m->types, leaves->v[k].type) == HILO_TOKEN)
      out->v[k].etype = HILO_TOKEN;
    else
      make_leaf(&s, k, &out->v[k]);
  }
  return HILO_OK;
}

void hilo_seed_feed(uint64_t seed, uint64_t key, hilo_etype etype, uint64_t n, char *data) {
  const hilo_use_facts none = {0};
  fill(etype, &none, hilo_hash_combine(hilo_hash_u64(seed + GOLDEN), key), n, data);
}

uint32_t hilo_seed_n_fed(const hilo_module *m, hilo_arena *scratch) {
  const hilo_map sent = hilo_sent_channels_of(m, scratch);
  uint32_t n = 0;
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) n += hilo_comes_from_outside(m, &sent, i);
  }
  return n;
}

uint32_t hilo_seed_elided(hilo_module *m, int64_t seed, uint64_t max_bytes) {
  const hilo_use_facts none = {0};
  uint64_t total = 0;
  uint32_t n = 0;
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      if (!hilo_inst_is(m, i, HILO_OP_CONSTANT)) continue;
      const hilo_literal old = hilo_inst_literal(m, i);
      const hilo_type_info info = hilo_type_get(&m->types, hilo_inst_type(m, i));
      if (hilo_literal_get(m, old)->kind != HILO_LITERAL_ELIDED || !hilo_etype_is_array(info.etype))
        continue;
      uint64_t bytes;
      if (!hilo_mul_u64(info.n_elements, hilo_etype_bytes(info.etype), &bytes) ||
          !hilo_add_u64(total, bytes, &total) || (max_bytes && total > max_bytes))
        return n;
      char *data = hilo_arena_alloc(m->arena, bytes + 1, 64);
      fill(info.etype, &none, hilo_hash_combine(hilo_hash_u64((uint64_t)seed), old.ix),
           info.n_elements, data);
      hilo_inst_set_attr(m, i, hilo_literal_put(m, info.bare, data, bytes, false).ix);
      n++;
    }
  }
  return n;
}
