/* Step 4: a gather or scatter whose indices are an iota longer than the dimension it indexes, as a
 * sequence longer than its table of positions. XLA would clamp or drop; the target reads on. */
#include "passes/dialect/support_checks.h"

/* The iota behind what keeps its values, or none. */
static hilo_inst iota_behind(const hilo_module *m, hilo_inst i) {
  for (;;) {
    switch (hilo_inst_op(m, i)) {
    case HILO_OP_IOTA: return i;
    case HILO_OP_RESHAPE:
    case HILO_OP_BROADCAST:
    case HILO_OP_TRANSPOSE:
    case HILO_OP_COPY: break;
    case HILO_OP_CONVERT:
      if (!hilo_etype_is_integer(hilo_inst_etype(m, hilo_inst_operand(m, i, 0))) ||
          !hilo_etype_is_integer(hilo_inst_etype(m, i)))
        return HILO_INST_NONE;
      break;
    default: return HILO_INST_NONE;
    }
    i = hilo_inst_operand(m, i, 0);
  }
}

static void check_piece(hilo_support_checker *c, hilo_inst i, hilo_inst indices, int64_t dim,
                        hilo_diag_code code) {
  const hilo_module *m = c->m;
  const hilo_inst iota = iota_behind(m, indices);
  const hilo_dims table = hilo_inst_dims(m, hilo_inst_operand(m, i, 0));
  if (!iota.ix || dim < 0 || dim >= table.n) return;
  const int64_t length = hilo_inst_dims(m, iota).v[hilo_inst_index(m, iota)];
  if (length <= table.v[dim]) return;
  hilo_support_report(c, code, i,
                      "the indices of this `%s` run from 0 to %lld (an iota of %lld), dimension "
                      "%lld of the operand has %lld elements",
                      hilo_op_get(hilo_inst_op(m, i))->hlo, (long long)length - 1,
                      (long long)length, (long long)dim, (long long)table.v[dim]);
}

void hilo_support_check_bounds(hilo_support_checker *c, hilo_inst i) {
  const hilo_module *m = c->m;
  const bool is_gather = hilo_inst_is(m, i, HILO_OP_GATHER);
  if (!is_gather && hilo_inst_n_operands(m, i) != 3) return;
  const hilo_inst indices = hilo_inst_operand(m, i, 1);
  const hilo_dims map = is_gather ? hilo_attrs(m, i, gather).start_index_map
                                  : hilo_attrs(m, i, scatter).scatter_dims_to_operand_dims;
  const int64_t vector_dim = is_gather ? hilo_attrs(m, i, gather).index_vector_dim
                                       : hilo_attrs(m, i, scatter).index_vector_dim;
  const hilo_diag_code code = is_gather ? HILO_DIAG_EVRF056 : HILO_DIAG_EVRF031;
  const hilo_dims dims = hilo_inst_dims(m, indices);
  for (uint32_t d = 0; d < dims.n; d++)
    if (dims.v[d] == 0) return;
  if (map.n == 1) {
    check_piece(c, i, indices, map.v[0], code);
    return;
  }
  /* Several components: columns that were put side by side. */
  if (!hilo_inst_is(m, indices, HILO_OP_CONCATENATE) ||
      hilo_attrs(m, indices, dims).dims.v[0] != vector_dim ||
      hilo_inst_n_operands(m, indices) != map.n)
    return;
  for (uint32_t k = 0; k < map.n; k++)
    check_piece(c, i, hilo_inst_operand(m, indices, k), map.v[k], code);
}
