#include "ir/verify/verify_parts.h"

/* Shardings and manual regions: invariants 19 and 20 of verify.c. Each pair of a sharding and a
 * type is looked at once, and reported at the first instruction that has it. */

enum {
  REPLICATED = 0,
  MAXIMAL = 1,
  TUPLE_OF = 2,
  TILED = 3,
  MANUAL = 4,
  UNKNOWN = 5,
  UNREDUCED = 6,
  NAMED = 100
};

static const char *type_text(hilo_verifier *v, hilo_type t) {
  return hilo_infer_type_text(&v->infer, t);
}

/* Devices that shardings may name; 0: the module does not say. */
static int64_t n_devices(const hilo_verifier *v) {
  const int64_t n = v->m->header.num_partitions;
  return n > 1 ? n : 0;
}

static bool check_devices(hilo_verifier *v, hilo_inst i, hilo_dims devices) {
  const int64_t n = n_devices(v);
  hilo_map seen = hilo_map_make(v->arena);
  bool ok = true;
  for (uint32_t k = 0; ok && k < devices.n; k++) {
    const int64_t d = devices.v[k];
    bool inserted = true;
    if (d >= 0) hilo_map_at(&seen, (uint64_t)d, &inserted);
    ok = d >= 0 && inserted && (!n || d < n);
    if (d < 0)
      hilo_verify_error(v, HILO_DIAG_EMOD921, i,
                        "the sharding names device %lld, expected 0 or more", (long long)d);
    else if (!inserted)
      hilo_verify_error(v, HILO_DIAG_EMOD921, i,
                        "the sharding names device %lld twice, expected each device once",
                        (long long)d);
    else if (!ok)
      hilo_verify_error(v, HILO_DIAG_EMOD921, i,
                        "the sharding names device %lld, but the module has %lld partitions",
                        (long long)d, (long long)n);
  }
  hilo_map_free(&seen);
  return ok;
}

static bool check_tiles(hilo_verifier *v, hilo_inst i, const hilo_sharding_attrs *s) {
  int64_t product = 1;
  for (uint32_t k = 0; k < s->tile_dims.n; k++) {
    if (s->tile_dims.v[k] < 1 || __builtin_mul_overflow(product, s->tile_dims.v[k], &product)) {
      hilo_verify_error(v, HILO_DIAG_EMOD921, i, "the sharding has tile dimensions %s",
                        hilo_infer_dims_text(&v->infer, s->tile_dims));
      return false;
    }
  }
  if (product == s->devices.n) return true;
  hilo_verify_error(
      v, HILO_DIAG_EMOD921, i,
      "the sharding has tile dimensions %s, that is %lld tiles, but %u devices, expected "
      "as many",
      hilo_infer_dims_text(&v->infer, s->tile_dims), (long long)product, s->devices.n);
  return false;
}

/* A sharding without elements, on an array, token, or all leaves of a tuple. */
static bool check_plain(hilo_verifier *v, hilo_inst i, const hilo_sharding_attrs *s, hilo_type t) {
  const hilo_type_row *r = hilo_type_row_of(&v->m->types, t);
  if (s->kind == MAXIMAL) {
    if (s->devices.n == 1) return check_devices(v, i, s->devices);
    hilo_verify_error(v, HILO_DIAG_EMOD921, i, "the maximal sharding has %u devices, expected 1",
                      s->devices.n);
    return false;
  }
  if (s->kind != TILED) return true;
  if (!check_tiles(v, i, s) || !check_devices(v, i, s->devices)) return false;
  if (!hilo_etype_is_array((hilo_etype)r->etype)) return true;
  const uint32_t extra = (uint32_t)s->replicate_on_last_tile_dim + s->last_tile_dims.n;
  if (s->tile_dims.n == r->n + extra) return true;
  hilo_verify_error(v, HILO_DIAG_EMOD921, i,
                    "the sharding has tile dimensions %s for %s, expected %u and %u for subgroups",
                    hilo_infer_dims_text(&v->infer, s->tile_dims), type_text(v, t), r->n, extra);
  return false;
}

/* Elements belong to the leaves, in order: an explicit stack of tuples on the way. */
typedef struct {
  hilo_type type;
  uint32_t k;
} leaf_frame;

static void check_elements(hilo_verifier *v, hilo_inst i, const hilo_sharding_attrs *s,
                           hilo_type t) {
  const hilo_store *types = &v->m->types;
  const uint32_t n_leaves = hilo_verify_count_leaves(v, t);
  if (s->elements.n != n_leaves) {
    hilo_verify_error(v, HILO_DIAG_EMOD921, i,
                      "the sharding has %u elements, but %s has %u leaves, expected as many",
                      s->elements.n, type_text(v, t), n_leaves);
    return;
  }
  hilo_vec(leaf_frame) stack = {0};
  HILO_PUSH(v->arena, &stack, ((leaf_frame){t, 0}));
  for (uint32_t at = 0; stack.n;) {
    leaf_frame *top = &stack.v[stack.n - 1];
    const hilo_type_row *r = hilo_type_row_of(types, top->type);
    const bool is_leaf = r->etype != HILO_TUPLE || r->n == 0;
    if (is_leaf) {
      const hilo_sharding_attrs element =
          hilo_sharding_get(&v->m->records, (hilo_record){(uint32_t)s->elements.v[at++]});
      if (!check_plain(v, i, &element, top->type)) break;
      stack.n--;
    } else if (top->k < r->n) {
      const hilo_type next = {(uint32_t)r->items[top->k++]};
      HILO_PUSH(v->arena, &stack, ((leaf_frame){next, 0}));
    } else {
      stack.n--;
    }
  }
  HILO_VEC_FREE(v->arena, &stack);
}

void hilo_verify_sharding(hilo_verifier *v, hilo_inst i, hilo_record sharding) {
  bool inserted;
  const hilo_type t = hilo_type_bare(&v->m->types, hilo_inst_type(v->m, i));
  hilo_map_at(&v->shardings, (uint64_t)sharding.ix << 32 | t.ix, &inserted);
  if (!inserted) return;
  const hilo_sharding_attrs s = hilo_sharding_get(&v->m->records, sharding);
  const bool known = (s.kind >= REPLICATED && s.kind <= UNREDUCED) || s.kind == NAMED;
  if (!known)
    hilo_verify_error(v, HILO_DIAG_EMOD921, i, "the sharding is of the unknown kind %lld",
                      (long long)s.kind);
  else if (s.kind == TUPLE_OF && hilo_inst_is(v->m, i, HILO_OP_OUTFEED))
    return; /* one for each leaf of what is sent, and one for the token */
  else if (s.kind == TUPLE_OF)
    check_elements(v, i, &s, t);
  else
    (void)check_plain(v, i, &s, t);
}

void hilo_verify_replicated_leaves(hilo_verifier *v, hilo_inst i, hilo_dims leaves) {
  const hilo_type t = hilo_inst_type(v->m, i);
  const uint32_t n = hilo_verify_count_leaves(v, t);
  if (leaves.n != n)
    hilo_verify_error(v, HILO_DIAG_EMOD921, i,
                      "parameter_replicated_at_leaf_buffers has %u entries, but %s has %u leaves",
                      leaves.n, type_text(v, t), n);
}

/* ---- manual regions ---- */

static bool is_call_of(const hilo_module *m, uint32_t ix, const char *target) {
  if (m->inst.op[ix] != HILO_OP_CUSTOM_CALL) return false;
  const hilo_custom_call_attrs a =
      hilo_custom_call_get(&m->records, (hilo_record){m->inst.attr[ix]});
  return hilo_str_is(hilo_string_of(m, a.target), target);
}

/* A region that is manual in all dimensions; those manual in some may hold others. */
static bool is_all_manual(const hilo_module *m, uint32_t ix) {
  const hilo_extra_attrs extra = hilo_inst_extra(m, hilo_inst_at(m, ix));
  return extra.sharding.ix && hilo_sharding_get(&m->records, extra.sharding).kind == MANUAL;
}

void hilo_verify_manual_regions(hilo_verifier *v, hilo_comp c) {
  const hilo_module *m = v->m;
  const uint32_t n = hilo_comp_get(m, c)->n_insts, first = hilo_comp_get(m, c)->first;
  const uint32_t *position = v->position, base = position[first] - 1;
  /* By position: the call that opened the region a value comes from; 0: none. */
  uint32_t *opened = hilo_arena_resize_block(v->arena, NULL, (n + 1ull) * sizeof(uint32_t));
  HILO_FOR_EACH_INST(m, c, i) {
    const uint32_t ix = hilo_ix(m, i), at = position[ix] - base;
    opened[at] = 0;
    for (uint32_t k = 0; k < m->inst.n_operands[ix] && !opened[at]; k++) {
      const uint32_t from = position[m->operand.v[m->inst.operands[ix] + k].value] - base;
      if (from < at) opened[at] = opened[from];
    }
    if (is_call_of(m, ix, "SPMDShardToFullShape")) {
      opened[at] = 0;
    } else if (is_call_of(m, ix, "SPMDFullToShardShape")) {
      if (opened[at])
        hilo_verify_error(
            v, HILO_DIAG_EMOD902, i,
            "`SPMDFullToShardShape` inside the manual region that `%s` opens, expected "
            "`SPMDShardToFullShape` between them",
            hilo_verify_name(v, hilo_inst_at(m, opened[at])));
      opened[at] = is_all_manual(m, ix) ? ix : 0;
    }
  }
  hilo_arena_resize_block(v->arena, opened, 0);
}
