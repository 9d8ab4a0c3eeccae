#include "ir/infer/infer_parts.h"

/* Rules of the operations that StableHLO and MHLO have and HLO has not. Dynamic ones take sizes as
 * operands, so that their result has the declared dimensions, of which only the rank and what is
 * static elsewhere can be checked. */

/* Operand k is a vector of `n` integers. */
static bool check_index_vector(hilo_infer *c, uint32_t k, int64_t n, const char *what) {
  const hilo_type_row *r = operand_row(c, k);
  if (hilo_etype_is_integer((hilo_etype)r->etype) && r->n == 1 && same_size(r->items[0], n))
    return true;
  return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                         "the %s of `%s` are %s, expected a vector of %lld "
                         "integers",
                         what, op_name(c), hilo_infer_type_text(c, operand_type(c, k)),
                         (long long)n);
}

static bool check_rank(hilo_infer *c, const hilo_type_row *to, uint32_t rank) {
  if (to->n == rank) return true;
  return hilo_infer_fail(c, HILO_DIAG_EMOD918, "`%s` gives %s, expected %u dimension%s", op_name(c),
                         hilo_infer_type_text(c, c->declared), rank, rank == 1 ? "" : "s");
}

/* The declared dimensions, of the element type of operand 0. */
static bool gives_declared(hilo_infer *c, hilo_shape *out) {
  return hilo_infer_gives_etype(c, out, c->declared, (hilo_etype)operand_row(c, 0)->etype);
}

static const hilo_type_row *operands_and_declared(hilo_infer *c) {
  return hilo_infer_array_operands(c, 0) ? hilo_infer_declared_array(c) : NULL;
}

bool hilo_infer_dynamic_broadcast_in_dim(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *to = operands_and_declared(c);
  if (!to) return false;
  const hilo_type_row *r = operand_row(c, 0);
  const hilo_dynamic_broadcast_attrs a =
      hilo_dynamic_broadcast_get(&c->m->records, (hilo_record){c->attr});
  if (!check_index_vector(c, 1, to->n, "output dimensions") ||
      !hilo_infer_check_dims(c, a.dims, to->n, "broadcast_dimensions") ||
      !hilo_infer_check_dims(c, a.expanding, r->n, "known_expanding_dimensions") ||
      !hilo_infer_check_dims(c, a.nonexpanding, r->n, "known_nonexpanding_dimensions"))
    return false;
  if (a.dims.n != r->n)
    return hilo_infer_fail(c, HILO_DIAG_EMOD919, "`%s` of %s names %u dimensions %s, expected %u",
                           op_name(c), hilo_infer_type_text(c, operand_type(c, 0)), a.dims.n,
                           hilo_infer_dims_text(c, a.dims), r->n);
  for (uint32_t i = 0; i < r->n; i++) {
    const int64_t from = r->items[i], size = to->items[a.dims.v[i]];
    if (!same_size(from, size) && from != 1)
      return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                             "`%s` puts dimension %u of %s at dimension %lld of %s: expected size "
                             "1 or %lld",
                             op_name(c), i, hilo_infer_type_text(c, operand_type(c, 0)),
                             (long long)a.dims.v[i], hilo_infer_type_text(c, c->declared),
                             (long long)size);
  }
  return gives_declared(c, out);
}

bool hilo_infer_dynamic_iota(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *to = operands_and_declared(c);
  if (!to || !check_index_vector(c, 0, to->n, "sizes")) return false;
  if (c->attr >= to->n)
    return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                           "`%s` counts along dimension %u, but gives %s of %u dimensions",
                           op_name(c), c->attr, hilo_infer_type_text(c, c->declared), to->n);
  return gives(c, out, c->declared);
}

bool hilo_infer_dynamic_pad(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *to = operands_and_declared(c);
  if (!to) return false;
  const hilo_type_row *r = operand_row(c, 0), *value = operand_row(c, 1);
  if (value->n || value->etype != r->etype)
    return hilo_infer_fail(c, HILO_DIAG_EMOD902, "the padding value of `%s` is %s, expected %s[]",
                           op_name(c), hilo_infer_type_text(c, operand_type(c, 1)),
                           row_etype_name(r));
  return check_index_vector(c, 2, r->n, "low paddings") &&
         check_index_vector(c, 3, r->n, "high paddings") &&
         check_index_vector(c, 4, r->n, "interior paddings") && check_rank(c, to, r->n) &&
         gives_declared(c, out);
}

bool hilo_infer_real_dynamic_slice(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *to = operands_and_declared(c);
  if (!to) return false;
  const uint32_t rank = operand_row(c, 0)->n;
  return check_index_vector(c, 1, rank, "start indices") &&
         check_index_vector(c, 2, rank, "limit indices") &&
         check_index_vector(c, 3, rank, "strides") && check_rank(c, to, rank) &&
         gives_declared(c, out);
}

/* ---- quantised elements ---- */

static hilo_record quant_of(const hilo_infer *c, hilo_type t) {
  return hilo_type_quant(&c->m->types, t);
}

bool hilo_infer_uniform_quantize(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *r = hilo_infer_array_operand(c, 0),
                      *to = r ? hilo_infer_declared_array(c) : NULL;
  if (!to) return false;
  if (!quant_of(c, c->declared).ix)
    return hilo_infer_fail(c, HILO_DIAG_EMOD918, "`%s` gives %s, expected quantised elements",
                           op_name(c), hilo_infer_type_text(c, c->declared));
  if (!hilo_etype_is_float((hilo_etype)r->etype) && !quant_of(c, operand_type(c, 0)).ix)
    return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                           "operand 0 of `%s` is %s, expected floats or quantised elements",
                           op_name(c), hilo_infer_type_text(c, operand_type(c, 0)));
  if (!hilo_infer_same_dims(r, to))
    return hilo_infer_fail(c, HILO_DIAG_EMOD918, "`%s` of %s gives %s, expected equal dimensions",
                           op_name(c), hilo_infer_type_text(c, operand_type(c, 0)),
                           hilo_infer_type_text(c, c->declared));
  return hilo_infer_gives_etype(c, out, operand_type(c, 0), (hilo_etype)to->etype);
}

bool hilo_infer_uniform_dequantize(hilo_infer *c, hilo_shape *out) {
  if (!hilo_infer_array_operand(c, 0)) return false;
  const hilo_record quant = quant_of(c, operand_type(c, 0));
  if (!quant.ix)
    return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                           "operand 0 of `%s` is %s, expected quantised elements", op_name(c),
                           hilo_infer_type_text(c, operand_type(c, 0)));
  const hilo_etype to = (hilo_etype)hilo_quant_get(&c->m->records, quant).expressed;
  return hilo_infer_gives_etype(c, out, operand_type(c, 0), to);
}

/* ---- composites, products by text, and what is left of older dialects ---- */

bool hilo_infer_composite(hilo_infer *c, hilo_shape *out) {
  const hilo_comp f = called_comp(c, 0);
  return hilo_infer_check_params(c, f, 0, "decomposition") && gives(c, out, comp_result(c, f));
}

bool hilo_infer_einsum(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *to = operands_and_declared(c);
  const hilo_str config = hilo_string_get(
      &c->m->strings, hilo_einsum_get(&c->m->records, (hilo_record){c->attr}).config);
  if (!to) return false;
  if (!config.n || !memmem(config.p, config.n, "->", 2))
    return hilo_infer_fail(c, HILO_DIAG_EMOD902, "`%s` by `%.*s`, expected the form `ab,bc->ac`",
                           op_name(c), HILO_FMT(config));
  return gives(c, out, c->declared);
}

bool hilo_infer_torch_index_select(hilo_infer *c, hilo_shape *out) {
  if (!hilo_infer_array_operands(c, 0)) return false;
  const hilo_type_row *r = operand_row(c, 0), *index = operand_row(c, 1);
  const hilo_torch_index_attrs a = hilo_torch_index_get(&c->m->records, (hilo_record){c->attr});
  if (a.dim < 0 || a.dim >= r->n || a.batch_dims < 0 || a.batch_dims > a.dim ||
      a.batch_dims > index->n || !hilo_etype_is_integer((hilo_etype)index->etype))
    return hilo_infer_fail(
        c, HILO_DIAG_EMOD919, "`%s` takes dimension %lld of %s at %s with %lld batch dimensions",
        op_name(c), (long long)a.dim, hilo_infer_type_text(c, operand_type(c, 0)),
        hilo_infer_type_text(c, operand_type(c, 1)), (long long)a.batch_dims);
  const uint32_t dim = (uint32_t)a.dim, batch = (uint32_t)a.batch_dims;
  if (!hilo_infer_new_array(c, out, (hilo_etype)r->etype, r->n - 1 + index->n - batch, 0))
    return false;
  uint32_t at = 0;
  int64_t *dims = new_dims(c, out);
  for (uint32_t i = 0; i < dim; i++) dims[at++] = r->items[i];
  for (uint32_t i = batch; i < index->n; i++) dims[at++] = index->items[i];
  for (uint32_t i = dim + 1; i < r->n; i++) dims[at++] = r->items[i];
  return true;
}

/* One vector of sizes for each vector of sizes. */
bool hilo_infer_minimum_broadcast_shapes(hilo_infer *c, hilo_shape *out) {
  for (uint32_t k = 0; k < c->n_operands; k++)
    if (!check_index_vector(c, k, HILO_UNBOUNDED, "shapes")) return false;
  return c->declared.ix ? gives(c, out, c->declared) : hilo_infer_tuple(c, out);
}

bool hilo_infer_trace(hilo_infer *c, hilo_shape *out) {
  hilo_infer_new_tuple(c, out, 0);
  return hilo_infer_array_operand(c, 0) != NULL;
}
