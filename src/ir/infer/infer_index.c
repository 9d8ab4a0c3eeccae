#include "ir/infer/infer_parts.h"

/* Rules of gather and scatter: dimension numbers relate an operand, a tensor of index vectors, and
 * windows at the places that they point to. An index tensor without a dimension for the vectors
 * (index_vector_dim equal to its rank) has vectors of one number. */

/* Rank of the index tensor with the dimension of the vectors. */
static int64_t expanded_rank(const hilo_type_row *indices, int64_t index_vector_dim) {
  return (int64_t)indices->n + (index_vector_dim == indices->n);
}

static bool check_indices(hilo_infer *c, uint32_t k, int64_t index_vector_dim, hilo_dims map,
                          const char *map_name) {
  const hilo_type_row *r = hilo_infer_array_operand(c, k);
  if (!r) return false;
  const hilo_type t = operand_type(c, k);
  if (!hilo_etype_is_integer((hilo_etype)r->etype))
    return hilo_infer_fail(c, HILO_DIAG_EMOD902, "the indices of `%s` are %s, expected integers",
                           op_name(c), hilo_infer_type_text(c, t));
  if (index_vector_dim < 0 || index_vector_dim > r->n)
    return hilo_infer_fail(
        c, HILO_DIAG_EMOD919,
        "index_vector_dim of `%s` is %lld, expected 0 to %u for indices of type %s", op_name(c),
        (long long)index_vector_dim, r->n, hilo_infer_type_text(c, t));
  const int64_t length = index_vector_dim == r->n ? 1 : r->items[index_vector_dim];
  if (!same_size(length, map.n))
    return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                           "%s of `%s` has %u entries %s, but an index vector of %s has %lld",
                           map_name, op_name(c), map.n, hilo_infer_dims_text(c, map),
                           hilo_infer_type_text(c, t), (long long)length);
  return true;
}

/* The operand's dimensions that are no window dimensions: taken or inserted ones and batching ones
 * exclude each other, and batching ones pair up with dimensions of the indices. */
static bool check_operand_dims(hilo_infer *c, const hilo_type_row *operand,
                               const hilo_type_row *indices, int64_t index_vector_dim,
                               hilo_dims removed, hilo_dims batching, hilo_dims index_batching,
                               hilo_dims map, const char *const names[4]) {
  if (!hilo_infer_check_sorted_dims(c, removed, operand->n, names[0]) ||
      !hilo_infer_check_sorted_dims(c, batching, operand->n, names[1]) ||
      !hilo_infer_check_dims(c, index_batching, indices->n, names[2]) ||
      !hilo_infer_check_dims(c, map, operand->n, names[3]))
    return false;
  if (dims_mask(batching) & (dims_mask(removed) | dims_mask(map)))
    return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                           "%s of `%s` are %s, which must not stand in %s or %s", names[1],
                           op_name(c), hilo_infer_dims_text(c, batching), names[0], names[3]);
  if (batching.n != index_batching.n || hilo_dims_contain(index_batching, index_vector_dim))
    return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                           "%s of `%s` are %s and %s are %s: expected as many, without "
                           "index_vector_dim",
                           names[1], op_name(c), hilo_infer_dims_text(c, batching), names[2],
                           hilo_infer_dims_text(c, index_batching));
  for (uint32_t i = 0; i < batching.n; i++)
    if (!same_size(operand->items[batching.v[i]], indices->items[index_batching.v[i]]))
      return hilo_infer_fail(
          c, HILO_DIAG_EMOD919,
          "batching dimension %lld of the operand of `%s` has size %lld, but its "
          "partner in the indices %lld",
          (long long)batching.v[i], op_name(c), (long long)operand->items[batching.v[i]],
          (long long)indices->items[index_batching.v[i]]);
  return true;
}

/* Size and dynamic bit of the at-th dimension of the indices that is not the vectors'. */
static int64_t batch_size(const hilo_type_row *indices, int64_t index_vector_dim, uint32_t at,
                          bool *dynamic) {
  const uint32_t d = at < index_vector_dim ? at : at + 1;
  *dynamic = row_dynamic(indices) >> d & 1;
  return indices->items[d];
}

static bool check_slice_sizes(hilo_infer *c, const hilo_type_row *r, const hilo_gather_attrs *a) {
  if (a->slice_sizes.n != r->n)
    return hilo_infer_fail(
        c, HILO_DIAG_EMOD919, "slice_sizes of `gather` are %s, expected %u for %s",
        hilo_infer_dims_text(c, a->slice_sizes), r->n, hilo_infer_type_text(c, operand_type(c, 0)));
  for (uint32_t i = 0; i < r->n; i++) {
    const int64_t size = a->slice_sizes.v[i];
    if (size < 0 || (size > r->items[i] && r->items[i] != HILO_UNBOUNDED))
      return hilo_infer_fail(
          c, HILO_DIAG_EMOD919, "`gather` takes %lld of dimension %u of %s, expected 0 to %lld",
          (long long)size, i, hilo_infer_type_text(c, operand_type(c, 0)), (long long)r->items[i]);
    const bool removed = hilo_dims_contain(a->collapsed_slice_dims, i) ||
                         hilo_dims_contain(a->operand_batching_dims, i);
    if (removed && size > 1)
      return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                             "`gather` takes %lld of dimension %u, which it collapses: expected 1",
                             (long long)size, i);
  }
  return true;
}

bool hilo_infer_gather(hilo_infer *c, hilo_shape *out) {
  static const char *const names[4] = {"collapsed_slice_dims", "operand_batching_dims",
                                       "start_indices_batching_dims", "start_index_map"};
  const hilo_type_row *r = hilo_infer_array_operand(c, 0);
  const hilo_gather_attrs a = hilo_gather_get(&c->m->records, (hilo_record){c->attr});
  if (!r || !check_indices(c, 1, a.index_vector_dim, a.start_index_map, names[3])) return false;
  const hilo_type_row *indices = operand_row(c, 1);
  if (!check_operand_dims(c, r, indices, a.index_vector_dim, a.collapsed_slice_dims,
                          a.operand_batching_dims, a.start_indices_batching_dims, a.start_index_map,
                          names) ||
      !check_slice_sizes(c, r, &a))
    return false;
  const uint32_t n_removed = a.collapsed_slice_dims.n + a.operand_batching_dims.n;
  if (a.offset_dims.n + n_removed != r->n)
    return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                           "`gather` of %s has %u offset_dims and %u collapsed or batching "
                           "dimensions, expected %u together",
                           hilo_infer_type_text(c, operand_type(c, 0)), a.offset_dims.n, n_removed,
                           r->n);
  const int64_t rank = expanded_rank(indices, a.index_vector_dim) - 1 + a.offset_dims.n;
  if (!hilo_infer_new_array(c, out, (hilo_etype)r->etype, (uint32_t)rank, 0) ||
      !hilo_infer_check_sorted_dims(c, a.offset_dims, rank, "offset_dims"))
    return false;
  const uint64_t is_offset = dims_mask(a.offset_dims);
  const uint64_t is_removed =
      dims_mask(a.collapsed_slice_dims) | dims_mask(a.operand_batching_dims);
  uint32_t window = 0, batch = 0;
  for (uint32_t i = 0; i < rank; i++) {
    bool dynamic;
    int64_t size;
    if (is_offset >> i & 1) {
      while (is_removed >> window & 1) window++;
      size = a.slice_sizes.v[window];
      dynamic = (row_dynamic(r) >> window & 1) && size == r->items[window];
      window++;
    } else {
      size = batch_size(indices, a.index_vector_dim, batch++, &dynamic);
    }
    new_dims(c, out)[i] = size;
    out->dynamic |= (uint64_t)dynamic << i;
  }
  return true;
}

/* StableHLO's, whose slice sizes are operand 2: the sizes of offset dimensions are as declared. */
bool hilo_infer_dynamic_gather(hilo_infer *c, hilo_shape *out) {
  static const char *const names[4] = {"collapsed_slice_dims", "operand_batching_dims",
                                       "start_indices_batching_dims", "start_index_map"};
  const hilo_type_row *r = hilo_infer_array_operands(c, 0) ? operand_row(c, 0) : NULL;
  const hilo_gather_attrs a = hilo_gather_get(&c->m->records, (hilo_record){c->attr});
  const hilo_type_row *to = r ? hilo_infer_declared_array(c) : NULL;
  if (!to || !check_indices(c, 1, a.index_vector_dim, a.start_index_map, names[3])) return false;
  const hilo_type_row *indices = operand_row(c, 1), *sizes = operand_row(c, 2);
  if (!check_operand_dims(c, r, indices, a.index_vector_dim, a.collapsed_slice_dims,
                          a.operand_batching_dims, a.start_indices_batching_dims, a.start_index_map,
                          names))
    return false;
  if (!hilo_etype_is_integer((hilo_etype)sizes->etype) || sizes->n != 1 ||
      !same_size(sizes->items[0], r->n))
    return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                           "the slice sizes of `dynamic_gather` are %s, expected %u integers",
                           hilo_infer_type_text(c, operand_type(c, 2)), r->n);
  const int64_t rank = expanded_rank(indices, a.index_vector_dim) - 1 + a.offset_dims.n;
  if (to->n != rank)
    return hilo_infer_fail(c, HILO_DIAG_EMOD918, "`dynamic_gather` gives %s, expected rank %lld",
                           hilo_infer_type_text(c, c->declared), (long long)rank);
  if (!hilo_infer_check_sorted_dims(c, a.offset_dims, rank, "offset_dims")) return false;
  const uint64_t is_offset = dims_mask(a.offset_dims);
  for (uint32_t i = 0, batch = 0; i < rank; i++) {
    bool dynamic;
    if (is_offset >> i & 1) continue;
    const int64_t size = batch_size(indices, a.index_vector_dim, batch++, &dynamic);
    if (!same_size(size, to->items[i]))
      return hilo_infer_fail(c, HILO_DIAG_EMOD918,
                             "`dynamic_gather` gives %s, expected size %lld in dimension %u",
                             hilo_infer_type_text(c, c->declared), (long long)size, i);
  }
  return hilo_infer_gives_etype(c, out, c->declared, (hilo_etype)r->etype);
}

/* ---- scatter: n operands, the indices, n updates ---- */

static bool check_update_dims(hilo_infer *c, const hilo_type_row *r, const hilo_type_row *indices,
                              const hilo_type_row *update, uint32_t k,
                              const hilo_scatter_attrs *a) {
  const uint64_t is_window = dims_mask(a->update_window_dims);
  const uint64_t is_removed =
      dims_mask(a->inserted_window_dims) | dims_mask(a->input_batching_dims);
  uint32_t window = 0, batch = 0;
  for (uint32_t i = 0; i < update->n; i++) {
    if (is_window >> i & 1) {
      while (is_removed >> window & 1) window++;
      const int64_t most = r->items[window++];
      if (update->items[i] > most && most != HILO_UNBOUNDED)
        return hilo_infer_fail(
            c, HILO_DIAG_EMOD919,
            "dimension %u of the updates (operand %u, %s) of `scatter` is larger "
            "than dimension %u of %s",
            i, k, hilo_infer_type_text(c, operand_type(c, k)), window - 1,
            hilo_infer_type_text(c, operand_type(c, 0)));
      continue;
    }
    bool dynamic;
    const int64_t size = batch_size(indices, a->index_vector_dim, batch++, &dynamic);
    if (!same_size(update->items[i], size))
      return hilo_infer_fail(
          c, HILO_DIAG_EMOD919,
          "dimension %u of the updates (operand %u, %s) of `scatter` is no window "
          "dimension, and must have size %lld as the indices",
          i, k, hilo_infer_type_text(c, operand_type(c, k)), (long long)size);
  }
  return true;
}

static bool check_scatter_operand(hilo_infer *c, uint32_t n, uint32_t k,
                                  const hilo_scatter_attrs *a) {
  const hilo_type_row *r = operand_row(c, k), *update = operand_row(c, n + 1 + k);
  const hilo_type_row *indices = operand_row(c, n);
  if (k && (!hilo_infer_same_dims(r, operand_row(c, 0)) ||
            !hilo_infer_same_dims(update, operand_row(c, n + 1))))
    return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                           "operand %u of `scatter` or its updates have other dimensions than the "
                           "first",
                           k);
  const int64_t rank = expanded_rank(indices, a->index_vector_dim) - 1 + a->update_window_dims.n;
  if (update->n != rank)
    return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                           "the updates (operand %u) of `scatter` are %s, expected %lld dimensions",
                           n + 1 + k, hilo_infer_type_text(c, operand_type(c, n + 1 + k)),
                           (long long)rank);
  return hilo_infer_check_sorted_dims(c, a->update_window_dims, rank, "update_window_dims") &&
         check_update_dims(c, r, indices, update, n + 1 + k, a);
}

bool hilo_infer_scatter(hilo_infer *c, hilo_shape *out) {
  static const char *const names[4] = {"inserted_window_dims", "input_batching_dims",
                                       "scatter_indices_batching_dims",
                                       "scatter_dims_to_operand_dims"};
  if (c->n_operands % 2 == 0)
    return hilo_infer_fail(
        c, HILO_DIAG_EMOD917,
        "`scatter` has %u operands, expected operands, indices and as many updates", c->n_operands);
  if (!hilo_infer_array_operands(c, 0)) return false;
  const uint32_t n = c->n_operands / 2;
  const hilo_scatter_attrs a = hilo_scatter_get(&c->m->records, (hilo_record){c->attr});
  const hilo_type_row *r = operand_row(c, 0), *indices = operand_row(c, n);
  if (!check_indices(c, n, a.index_vector_dim, a.scatter_dims_to_operand_dims, names[3]) ||
      !check_operand_dims(c, r, indices, a.index_vector_dim, a.inserted_window_dims,
                          a.input_batching_dims, a.scatter_indices_batching_dims,
                          a.scatter_dims_to_operand_dims, names))
    return false;
  const uint32_t n_dims =
      a.update_window_dims.n + a.inserted_window_dims.n + a.input_batching_dims.n;
  if (n_dims != r->n)
    return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                           "`scatter` into %s has %u window, inserted and batching dimensions, "
                           "expected %u",
                           hilo_infer_type_text(c, operand_type(c, 0)), n_dims, r->n);
  for (uint32_t k = 0; k < n; k++)
    if (!check_scatter_operand(c, n, k, &a)) return false;
  if (!hilo_infer_check_reducer(c, called_comp(c, 0), n, 0, n + 1, true)) return false;
  if (n == 1) return gives(c, out, operand_type(c, 0));
  hilo_infer_new_tuple(c, out, n);
  for (uint32_t k = 0; k < n; k++) new_elements(c, out)[k] = existing(c, operand_type(c, k));
  return true;
}
