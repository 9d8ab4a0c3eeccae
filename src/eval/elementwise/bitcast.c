/* bitcast: the bytes of the operand in the order of its layout, taken as those of the result in the
 * order of its own. Values are row-major, so both orders are applied: to the physical order of the
 * operand, the bits cut anew where the widths differ, and back from that of the result.
 *
 * Elements below 8 bits count as packed, the first one in the lowest bits. */
#include "eval/eval_parts.h"
#include "eval/strided.h"

/* The physical order as a box, major to minor, with the steps of a row-major value. */
typedef struct {
  int64_t size[HILO_MAX_RANK];
  hilo_strides strides;
  uint32_t rank;
} physical;

/* A tile of k sizes cuts the last k dimensions into tiles: number of tiles, then place in them. */
static bool apply_tile(physical *p, const int64_t *tile, uint32_t k) {
  if (k > p->rank || p->rank + k > HILO_MAX_RANK) return false;
  const uint32_t outer = p->rank - k;
  for (uint32_t d = 0; d < k; d++) {
    const int64_t size = p->size[outer + d], step = p->strides.step[outer + d];
    if (tile[d] < 1 || size % tile[d]) return false;
    p->size[outer + k + d] = tile[d];
    p->strides.step[outer + k + d] = step;
  }
  for (uint32_t d = 0; d < k; d++) {
    p->size[outer + d] /= tile[d];
    p->strides.step[outer + d] *= tile[d];
  }
  p->rank += k;
  return true;
}

/* False: tiles that do not fit, and so are padded. */
static bool physical_order(const hilo_eval *e, hilo_type type, hilo_dims dims, physical *p) {
  const hilo_record record = hilo_type_get(&e->m->types, type).layout;
  const hilo_layout_attrs layout = hilo_layout_get(&e->m->records, record);
  const hilo_strides dense = hilo_strides_row_major(dims);
  const bool is_permuted = layout.minor_to_major.n == dims.n;
  p->rank = dims.n;
  p->strides.start = 0;
  for (uint32_t d = 0; d < dims.n; d++) {
    const int64_t from = is_permuted ? layout.minor_to_major.v[dims.n - 1 - d] : d;
    p->size[d] = dims.v[from];
    p->strides.step[d] = dense.step[from];
  }
  for (uint32_t t = 0; t < layout.tiles.n; t += 1 + (uint32_t)layout.tiles.v[t])
    if (!apply_tile(p, layout.tiles.v + t + 1, (uint32_t)layout.tiles.v[t])) return false;
  return true;
}

static bool is_row_major(const physical *p) {
  hilo_walk w = hilo_walk_of((hilo_dims){p->size, p->rank});
  hilo_walk_follow(&w, &p->strides);
  hilo_walk_simplify(&w);
  return w.rank == 0 || (w.rank == 1 && w.step[0][0] == 1);
}

/* The bytes of `in` as elements of type `to`, in scratch; both in physical order. */
static const char *recut(const hilo_eval *e, hilo_etype from, const char *in, hilo_etype to,
                         uint64_t n_to) {
  char *data = hilo_arena_alloc_array(e->scratch, n_to + 1, hilo_etype_bytes(to), 16);
  hilo_eval_recut_elements(from, to, in, n_to, data);
  return data;
}

/* Do the elements of `from` fill those of `to` exactly? Types of 6 bits are packed by nobody, and
 * nobody cuts numbers of 16 bytes into such of less than one. */
static bool same_bits(hilo_etype from, uint64_t n_from, hilo_etype to, uint64_t n_to) {
  const unsigned from_bits = hilo_etype_table[from].bits, to_bits = hilo_etype_table[to].bits;
  if (from == to || from_bits == to_bits) return n_from == n_to;
  const bool is_odd = (from_bits < 8 && (8 % from_bits || to_bits > 64)) ||
                      (to_bits < 8 && (8 % to_bits || from_bits > 64));
  uint64_t a, b;
  return !is_odd && hilo_mul_u64(n_from, from_bits, &a) && hilo_mul_u64(n_to, to_bits, &b) &&
         a == b;
}

hilo_status hilo_eval_op_bitcast(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                 hilo_value *out) {
  const hilo_etype from = hilo_value_etype(e, &args[0]), to = hilo_value_etype(e, out);
  const hilo_dims in_dims = hilo_type_dims(&e->m->types, args[0].type);
  const hilo_dims out_dims = hilo_type_dims(&e->m->types, out->type);
  const uint64_t n = hilo_value_n_elements(e, &args[0]), n_to = hilo_value_n_elements(e, out);
  if (!same_bits(from, n, to, n_to))
    return hilo_eval_refuse(e, i, "operand and result do not have the same bits");
  physical p, q;
  const hilo_type in_type = hilo_inst_type(e->m, hilo_inst_operand(e->m, i, 0));
  if (!physical_order(e, in_type, in_dims, &p) || !physical_order(e, out->type, out_dims, &q))
    return hilo_eval_refuse(e, i, "the tiles of its layout have padding");
  const bool is_recut =
      from != to && (hilo_etype_table[from].bits < 8 || hilo_etype_table[to].bits < 8);
  if (!is_recut && is_row_major(&p) && is_row_major(&q)) return hilo_eval_pass_on(&args[0], out);

  const char *bytes = args[0].data;
  if (!is_row_major(&p)) {
    const hilo_dims box = {p.size, p.rank};
    const hilo_strides dense = hilo_strides_row_major(box);
    const uint32_t size = hilo_etype_bytes(from);
    char *ordered = hilo_arena_alloc_array(e->scratch, n + 1, size, 16);
    hilo_strided_copy(box, size, ordered, &dense, args[0].data, &p.strides);
    bytes = ordered;
  }
  if (is_recut) bytes = recut(e, from, bytes, to, n_to);
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  const hilo_dims box = {q.size, q.rank};
  const hilo_strides dense = hilo_strides_row_major(box);
  hilo_strided_copy(box, hilo_etype_bytes(to), data, &q.strides, bytes, &dense);
  return HILO_OK;
}
