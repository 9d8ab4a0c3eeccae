#include "ir/infer/infer_parts.h"

/* Rules of CHLO's operations with implicit broadcasting: operands are aligned at their last
 * dimensions, or the one of lower rank as `broadcast_dimensions` says, and size 1 stretches. */

/* Dimension i of a result of rank `rank`, as operand k sees it: 1 where it has none. */
static int64_t size_at(const hilo_type_row *r, uint32_t i, uint32_t rank, hilo_dims dims,
                       bool *dynamic) {
  *dynamic = false;
  uint32_t own = r->n;
  if (dims.n && r->n < rank) {
    for (uint32_t k = 0; k < dims.n; k++)
      if (dims.v[k] == i) own = k;
  } else if (i + r->n >= rank) {
    own = i + r->n - rank;
  }
  if (own >= r->n) return 1;
  *dynamic = row_dynamic(r) >> own & 1;
  return r->items[own];
}

/* The common dimensions of operands first … end-1 as an array of `etype`. */
static bool gives_broadcast(hilo_infer *c, hilo_shape *out, uint32_t first, uint32_t end,
                            hilo_dims dims, hilo_etype etype) {
  uint32_t rank = 0, least = UINT32_MAX;
  for (uint32_t k = first; k < end; k++) {
    const uint32_t n = operand_row(c, k)->n;
    if (n > rank) rank = n;
    if (n < least) least = n;
  }
  if (dims.n && dims.n != least)
    return hilo_infer_fail(c, HILO_DIAG_EMOD919, "broadcast_dimensions of `%s` are %s, expected %u",
                           op_name(c), hilo_infer_dims_text(c, dims), least);
  if (!hilo_infer_check_sorted_dims(c, dims, rank, "broadcast_dimensions") ||
      !hilo_infer_new_array(c, out, etype, rank, 0))
    return false;
  for (uint32_t i = 0; i < rank; i++) {
    int64_t size = 1;
    bool dynamic = false;
    for (uint32_t k = first; k < end; k++) {
      bool its_dynamic;
      const int64_t its = size_at(operand_row(c, k), i, rank, dims, &its_dynamic);
      if (its == 1) continue;
      if (!same_size(its, size) && size != 1)
        return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                               "operand %u of `%s` is %s, which does not go with operand %u, %s, "
                               "in dimension %u of the result",
                               k, op_name(c), hilo_infer_type_text(c, operand_type(c, k)), first,
                               hilo_infer_type_text(c, operand_type(c, first)), i);
      if (size == 1 || size == HILO_UNBOUNDED) size = its;
      dynamic |= its_dynamic;
    }
    new_dims(c, out)[i] = size;
    if (dynamic) out->dynamic |= 1ull << i;
  }
  return true;
}

static bool check_same_etype(hilo_infer *c, uint32_t a, uint32_t b) {
  if (operand_row(c, a)->etype == operand_row(c, b)->etype) return true;
  return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                         "operand %u of `%s` is %s and operand %u is %s, expected one element type",
                         a, op_name(c), hilo_infer_type_text(c, operand_type(c, a)), b,
                         hilo_infer_type_text(c, operand_type(c, b)));
}

static hilo_dims dims_attr(const hilo_infer *c) {
  return hilo_dims_get(&c->m->records, (hilo_record){c->attr}).dims;
}

bool hilo_infer_broadcast_binary(hilo_infer *c, hilo_shape *out) {
  return hilo_infer_array_operands(c, 0) && check_same_etype(c, 0, 1) &&
         gives_broadcast(c, out, 0, 2, dims_attr(c), (hilo_etype)operand_row(c, 0)->etype);
}

bool hilo_infer_broadcast_complex(hilo_infer *c, hilo_shape *out) {
  if (!hilo_infer_array_operands(c, 0) || !check_same_etype(c, 0, 1)) return false;
  const hilo_etype t = (hilo_etype)operand_row(c, 0)->etype;
  if (t != HILO_F32 && t != HILO_F64)
    return hilo_infer_fail(c, HILO_DIAG_EMOD902, "`%s` of %s, expected f32 or f64", op_name(c),
                           etype_name(t));
  return gives_broadcast(c, out, 0, 2, dims_attr(c), t == HILO_F32 ? HILO_C64 : HILO_C128);
}

bool hilo_infer_broadcast_compare(hilo_infer *c, hilo_shape *out) {
  const hilo_broadcast_compare_attrs a =
      hilo_broadcast_compare_get(&c->m->records, (hilo_record){c->attr});
  if (!hilo_infer_array_operands(c, 0) || !check_same_etype(c, 0, 1)) return false;
  if (a.direction < HILO_EQ || a.direction > HILO_LT || a.type < HILO_COMPARE_DEFAULT ||
      a.type > HILO_COMPARE_UNSIGNED)
    return hilo_infer_fail(c, HILO_DIAG_EMOD902, "`%s` has direction %lld and type %lld",
                           op_name(c), (long long)a.direction, (long long)a.type);
  return gives_broadcast(c, out, 0, 2, a.dims, HILO_PRED);
}

bool hilo_infer_broadcast_select(hilo_infer *c, hilo_shape *out) {
  if (!hilo_infer_array_operands(c, 0) || !check_same_etype(c, 1, 2)) return false;
  if (operand_row(c, 0)->etype != HILO_PRED)
    return hilo_infer_fail(c, HILO_DIAG_EMOD902, "operand 0 of `%s` is %s, expected pred",
                           op_name(c), hilo_infer_type_text(c, operand_type(c, 0)));
  return gives_broadcast(c, out, 0, 3, HILO_DIMS_NONE, (hilo_etype)operand_row(c, 1)->etype);
}

/* A scalar's value in the dimensions of the operand. */
bool hilo_infer_constant_like(hilo_infer *c, hilo_shape *out) {
  if (!hilo_infer_array_operand(c, 0)) return false;
  if (c->attr == 0 || c->attr >= c->m->literal.n)
    return hilo_infer_fail(c, HILO_DIAG_EMOD913, "`%s` has no value", op_name(c));
  const hilo_type_row *value =
      type_row(c, (hilo_type){hilo_literal_get(c->m, (hilo_literal){c->attr})->type});
  if (!row_is_scalar(value))
    return hilo_infer_fail(c, HILO_DIAG_EMOD913, "the value of `%s` is no scalar", op_name(c));
  return hilo_infer_gives_etype(c, out, operand_type(c, 0), (hilo_etype)value->etype);
}
