#include "ir/verify_parts.h"

/* Gather and scatter whose indices count up past the operand: invariant 23 of verify.c. A position
 * table that is shorter than the sequence which reads it is the usual cause; HLO would clamp such
 * an index (or drop the update) without a word. */

/* The iota that `i` is, behind operations that keep the order of its elements, and the dimension of
 * `i` along which it counts. Dimensions of size 1 may come and go; any other change ends the
 * search. */
static bool find_iota(const hilo_module *m, hilo_inst i, uint32_t *dimension, int64_t *length) {
  enum { MAX_STEPS = 16 };
  int64_t last_dims[HILO_MAX_RANK];
  const hilo_dims dims = hilo_inst_dims(m, i);
  uint32_t n_last = 0, at_last = 0;
  hilo_inst from = i;
  for (uint32_t k = 0; k < MAX_STEPS && !hilo_inst_is(m, from, HILO_OP_IOTA); k++) {
    const hilo_op op = hilo_inst_op(m, from);
    if (op != HILO_OP_RESHAPE && op != HILO_OP_CONVERT && op != HILO_OP_COPY &&
        op != HILO_OP_BITCAST)
      return false;
    from = hilo_inst_operand(m, from, 0);
  }
  if (!hilo_inst_is(m, from, HILO_OP_IOTA)) return false;
  /* Sizes other than 1 of both, in order, must be the same. */
  const hilo_dims iota_dims = hilo_inst_dims(m, from);
  const uint32_t counts = hilo_inst_index(m, from);
  if (iota_dims.v[counts] == 1) return false;
  for (uint32_t k = 0; k < iota_dims.n; k++) {
    if (k == counts) at_last = n_last;
    if (iota_dims.v[k] != 1) last_dims[n_last++] = iota_dims.v[k];
  }
  uint32_t n = 0;
  bool found = false;
  for (uint32_t k = 0; k < dims.n; k++) {
    if (dims.v[k] == 1) continue;
    if (n == n_last || dims.v[k] != last_dims[n]) return false;
    if (n == at_last) *dimension = k, *length = dims.v[k], found = true;
    n++;
  }
  return found && n == n_last;
}

/* `map`: where an index vector points to; `window`: size of what is taken there, per operand
 * dimension. Only vectors of one number can count up along another dimension. */
static void check_indices(hilo_verifier *v, hilo_inst i, hilo_inst indices, int64_t vector_dim,
                          hilo_dims map, int64_t window, hilo_diag_code code) {
  const hilo_module *m = v->m;
  uint32_t dimension = 0;
  int64_t length = 0;
  if (map.n != 1 || !find_iota(m, indices, &dimension, &length) || dimension == vector_dim) return;
  const int64_t size = hilo_inst_dims(m, hilo_inst_operand(m, i, 0)).v[map.v[0]];
  if (size == HILO_UNBOUNDED || length <= size - window + 1) return;
  hilo_verify_error(
      v, code, i,
      "the indices count from 0 to %lld (%lld of them), but dimension %lld of operand 0 "
      "has size %lld",
      (long long)length - 1, (long long)length, (long long)map.v[0], (long long)size);
}

void hilo_verify_iota_indices(hilo_verifier *v, hilo_inst i) {
  const hilo_module *m = v->m;
  if (hilo_inst_is(m, i, HILO_OP_GATHER)) {
    const hilo_gather_attrs a = hilo_attrs(m, i, gather);
    if (a.start_index_map.n == 1)
      check_indices(v, i, hilo_inst_operand(m, i, 1), a.index_vector_dim, a.start_index_map,
                    a.slice_sizes.v[a.start_index_map.v[0]], HILO_DIAG_EVRF056);
    return;
  }
  const hilo_scatter_attrs a = hilo_attrs(m, i, scatter);
  const uint32_t n = hilo_inst_n_operands(m, i) / 2;
  if (a.scatter_dims_to_operand_dims.n == 1 &&
      hilo_dims_contain(a.inserted_window_dims, a.scatter_dims_to_operand_dims.v[0]))
    check_indices(v, i, hilo_inst_operand(m, i, n), a.index_vector_dim,
                  a.scatter_dims_to_operand_dims, 1, HILO_DIAG_EVRF031);
}
