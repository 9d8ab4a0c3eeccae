#include "ir/infer/infer_parts.h"

/* Rules of the operations that move or make data without computing on it: broadcast, reshape,
 * transpose, slices, pad, concatenate, iota, tuples, constants, dynamic sizes. */

static hilo_dims dims_attr(const hilo_infer *c) {
  return hilo_dims_get(&c->m->records, (hilo_record){c->attr}).dims;
}

/* ---- given by the declared type ---- */

bool hilo_infer_declared(hilo_infer *c, hilo_shape *out) {
  return c->declared.ix && gives(c, out, c->declared);
}

bool hilo_infer_constant(hilo_infer *c, hilo_shape *out) {
  if (c->attr == 0 || c->attr >= c->m->literal.n)
    return hilo_infer_fail(c, HILO_DIAG_EMOD913, "`constant` has no value");
  return gives(c, out, (hilo_type){hilo_literal_get(c->m, (hilo_literal){c->attr})->type});
}

bool hilo_infer_iota(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *r = hilo_infer_declared_array(c);
  if (!r) return false;
  if (r->etype == HILO_PRED)
    return hilo_infer_fail(c, HILO_DIAG_EMOD902, "`iota` of pred, expected a number");
  if (c->attr >= r->n)
    return hilo_infer_fail(
        c, HILO_DIAG_EMOD919, "`iota` counts along dimension %u, but gives %s of %u dimension%s",
        c->attr, hilo_infer_type_text(c, c->declared), r->n, r->n == 1 ? "" : "s");
  return gives(c, out, c->declared);
}

/* An array of the operand's element type and the declared dimensions. */
static bool gives_declared_dims(hilo_infer *c, hilo_shape *out, const hilo_type_row *declared) {
  return hilo_infer_gives_etype(c, out, c->declared, (hilo_etype)operand_row(c, 0)->etype) &&
         (out->type.ix || out->n == declared->n);
}

bool hilo_infer_broadcast(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *r = hilo_infer_array_operand(c, 0),
                      *to = r ? hilo_infer_declared_array(c) : NULL;
  if (!to) return false;
  const hilo_dims dims = dims_attr(c);
  if (dims.n != r->n)
    return hilo_infer_fail(
        c, HILO_DIAG_EMOD919, "`broadcast` of %s names %u dimensions %s, expected %u",
        hilo_infer_type_text(c, operand_type(c, 0)), dims.n, hilo_infer_dims_text(c, dims), r->n);
  if (!hilo_infer_check_dims(c, dims, to->n, "dimensions")) return false;
  const bool stretches = c->m->dialect != HILO_DIALECT_HLO; /* StableHLO: size 1 to any size */
  for (uint32_t i = 0; i < dims.n; i++)
    if (!same_size(r->items[i], to->items[dims.v[i]]) && !(stretches && r->items[i] == 1))
      return hilo_infer_fail(
          c, HILO_DIAG_EMOD919,
          "`broadcast` puts dimension %u of %s at dimension %lld of %s: the sizes "
          "%lld and %lld must be equal",
          i, hilo_infer_type_text(c, operand_type(c, 0)), (long long)dims.v[i],
          hilo_infer_type_text(c, c->declared), (long long)r->items[i],
          (long long)to->items[dims.v[i]]);
  return gives_declared_dims(c, out, to);
}

static bool is_unbounded(const hilo_type_row *r) {
  for (uint32_t i = 0; i < r->n; i++)
    if (r->items[i] == HILO_UNBOUNDED) return true;
  return false;
}

static bool check_same_count(hilo_infer *c, const hilo_type_row *from, const hilo_type_row *to) {
  if (HILO_LIKELY(from->n_elements == to->n_elements) || is_unbounded(from) || is_unbounded(to))
    return true;
  return hilo_infer_fail(
      c, HILO_DIAG_EMOD918, "`%s` of %s to %s: %llu and %llu elements, expected the same number",
      op_name(c), hilo_infer_type_text(c, operand_type(c, 0)), hilo_infer_type_text(c, c->declared),
      (unsigned long long)from->n_elements, (unsigned long long)to->n_elements);
}

bool hilo_infer_reshape(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *r = hilo_infer_array_operand(c, 0),
                      *to = r ? hilo_infer_declared_array(c) : NULL;
  return to && check_same_count(c, r, to) && gives_declared_dims(c, out, to);
}

/* HLO passes one scalar per dimension of the result, StableHLO one vector. */
bool hilo_infer_dynamic_reshape(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *to = hilo_infer_array_operands(c, 0) ? hilo_infer_declared_array(c) : NULL;
  if (!to) return false;
  if (c->n_operands == 2 && operand_row(c, 1)->n == 1) {
    if (!same_size(operand_row(c, 1)->items[0], to->n))
      return hilo_infer_fail(
          c, HILO_DIAG_EMOD919, "`dynamic-reshape` to %s takes %lld sizes, expected %u",
          hilo_infer_type_text(c, c->declared), (long long)operand_row(c, 1)->items[0], to->n);
  } else if (c->n_operands != to->n + 1) {
    return hilo_infer_fail(c, HILO_DIAG_EMOD917,
                           "`dynamic-reshape` to %s has %u operands, expected %u",
                           hilo_infer_type_text(c, c->declared), c->n_operands, to->n + 1);
  }
  for (uint32_t k = 1; k < c->n_operands; k++)
    if (!hilo_etype_is_integer((hilo_etype)operand_row(c, k)->etype) || operand_row(c, k)->n > 1)
      return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                             "operand %u of `dynamic-reshape` is %s, expected an integer size", k,
                             hilo_infer_type_text(c, operand_type(c, k)));
  return check_same_count(c, operand_row(c, 0), to) && gives_declared_dims(c, out, to);
}

bool hilo_infer_bitcast(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *r = hilo_infer_array_operand(c, 0),
                      *to = r ? hilo_infer_declared_array(c) : NULL;
  if (!to) return false;
  if (r->bytes != to->bytes && !((r->flags | to->flags) & HILO_TYPE_DYNAMIC))
    return hilo_infer_fail(c, HILO_DIAG_EMOD918,
                           "`bitcast` of %s to %s: %llu and %llu bytes, expected the same number",
                           hilo_infer_type_text(c, operand_type(c, 0)),
                           hilo_infer_type_text(c, c->declared), (unsigned long long)r->bytes,
                           (unsigned long long)to->bytes);
  return gives(c, out, c->declared);
}

/* ---- along dimensions ---- */

bool hilo_infer_transpose(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *r = hilo_infer_array_operand(c, 0);
  if (!r) return false;
  const hilo_dims perm = dims_attr(c);
  if (perm.n != r->n)
    return hilo_infer_fail(
        c, HILO_DIAG_EMOD919,
        "`transpose` of %s has dimensions %s, expected a permutation of %u numbers",
        hilo_infer_type_text(c, operand_type(c, 0)), hilo_infer_dims_text(c, perm), r->n);
  if (!hilo_infer_check_dims(c, perm, r->n, "dimensions") ||
      !hilo_infer_new_array(c, out, (hilo_etype)r->etype, r->n, 0))
    return false;
  const uint64_t dynamic = row_dynamic(r);
  int64_t *dims = new_dims(c, out);
  for (uint32_t i = 0; i < r->n; i++) {
    dims[i] = r->items[perm.v[i]];
    out->dynamic |= (dynamic >> perm.v[i] & 1) << i;
  }
  return true;
}

bool hilo_infer_reverse(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *r = hilo_infer_array_operand(c, 0);
  return r && hilo_infer_check_dims(c, dims_attr(c), r->n, "dimensions") &&
         gives(c, out, operand_type(c, 0));
}

bool hilo_infer_concatenate(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *first = hilo_infer_array_operand(c, 0);
  if (!first) return false;
  const hilo_dims dims = dims_attr(c);
  if (dims.n != 1)
    return hilo_infer_fail(c, HILO_DIAG_EMOD919, "`concatenate` has dimensions %s, expected one",
                           hilo_infer_dims_text(c, dims));
  if (!hilo_infer_check_dims(c, dims, first->n, "dimensions")) return false;
  const int64_t along = dims.v[0];
  int64_t sum = first->items[along];
  uint64_t dynamic = row_dynamic(first);
  for (uint32_t k = 1; k < c->n_operands; k++) {
    const hilo_type_row *r = hilo_infer_array_operand(c, k);
    if (!r) return false;
    bool fits = r->n == first->n && r->etype == first->etype;
    for (uint32_t i = 0; fits && i < r->n; i++)
      fits = i == along || same_size(r->items[i], first->items[i]);
    if (!fits)
      return hilo_infer_fail(
          c, HILO_DIAG_EMOD902,
          "operand %u of `concatenate` is %s and operand 0 is %s: they may differ "
          "in dimension %lld only",
          k, hilo_infer_type_text(c, operand_type(c, k)),
          hilo_infer_type_text(c, operand_type(c, 0)), (long long)along);
    dynamic |= row_dynamic(r);
    if (sum == HILO_UNBOUNDED || r->items[along] == HILO_UNBOUNDED)
      sum = HILO_UNBOUNDED;
    else if (!hilo_infer_mul_add(c, sum, 1, r->items[along], &sum))
      return false;
  }
  if (!hilo_infer_new_array(c, out, (hilo_etype)first->etype, first->n, dynamic)) return false;
  int64_t *to = new_dims(c, out);
  memcpy(to, first->items, first->n * sizeof(int64_t));
  to[along] = sum;
  return true;
}

bool hilo_infer_slice(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *r = hilo_infer_array_operand(c, 0);
  if (!r) return false;
  const hilo_slice_attrs a = hilo_slice_get(&c->m->records, (hilo_record){c->attr});
  if (a.starts.n != r->n || a.limits.n != r->n || (a.strides.n && a.strides.n != r->n))
    return hilo_infer_fail(
        c, HILO_DIAG_EMOD919,
        "`slice` of %s has %u starts, %u limits and %u strides, expected %u each",
        hilo_infer_type_text(c, operand_type(c, 0)), a.starts.n, a.limits.n, a.strides.n, r->n);
  if (!hilo_infer_new_array(c, out, (hilo_etype)r->etype, r->n, 0)) return false;
  int64_t *dims = new_dims(c, out);
  for (uint32_t i = 0; i < r->n; i++) {
    const int64_t start = a.starts.v[i], limit = a.limits.v[i];
    const int64_t stride = a.strides.n ? a.strides.v[i] : 1, size = r->items[i];
    if (start < 0 || limit < start || (limit > size && size != HILO_UNBOUNDED) || stride < 1)
      return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                             "`slice` takes [%lld:%lld:%lld] of dimension %u of %s, expected 0 <= "
                             "start <= limit <= %lld and a stride of 1 or more",
                             (long long)start, (long long)limit, (long long)stride, i,
                             hilo_infer_type_text(c, operand_type(c, 0)), (long long)size);
    dims[i] = (limit - start) / stride + ((limit - start) % stride != 0);
    if (dims[i] != 1) out->dynamic |= row_dynamic(r) & 1ull << i;
  }
  return true;
}

/* The start indices from operand `first` on: scalars of one integer type, one per dimension, or the
 * older form, one vector. */
static bool check_start_indices(hilo_infer *c, uint32_t first, uint32_t rank) {
  const uint32_t n = c->n_operands - first;
  if (!hilo_infer_array_operands(c, first)) return false;
  const hilo_type_row *index = n ? operand_row(c, first) : NULL;
  const bool is_vector = n == 1 && index->n == 1;
  if (is_vector ? !same_size(index->items[0], rank) : n != rank)
    return hilo_infer_fail(c, HILO_DIAG_EMOD917, "`%s` of %s has %lld start indices, expected %u",
                           op_name(c), hilo_infer_type_text(c, operand_type(c, 0)),
                           is_vector ? (long long)index->items[0] : (long long)n, rank);
  for (uint32_t k = 0; k < n; k++) {
    const hilo_type_row *r = operand_row(c, first + k);
    if (!hilo_etype_is_integer((hilo_etype)r->etype) || r->n != is_vector ||
        r->etype != index->etype)
      return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                             "start index %u of `%s` is %s, expected integer scalars of one type",
                             k, op_name(c), hilo_infer_type_text(c, operand_type(c, first + k)));
  }
  return true;
}

bool hilo_infer_dynamic_slice(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *r = hilo_infer_array_operand(c, 0);
  if (!r || !check_start_indices(c, 1, r->n)) return false;
  const hilo_dims sizes = dims_attr(c);
  if (sizes.n != r->n)
    return hilo_infer_fail(c, HILO_DIAG_EMOD919, "`dynamic-slice` of %s has sizes %s, expected %u",
                           hilo_infer_type_text(c, operand_type(c, 0)),
                           hilo_infer_dims_text(c, sizes), r->n);
  if (!hilo_infer_new_array(c, out, (hilo_etype)r->etype, r->n, 0)) return false;
  for (uint32_t i = 0; i < r->n; i++) {
    if (sizes.v[i] < 0 || (sizes.v[i] > r->items[i] && r->items[i] != HILO_UNBOUNDED))
      return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                             "`dynamic-slice` takes %lld of dimension %u of %s, expected 0 to %lld",
                             (long long)sizes.v[i], i, hilo_infer_type_text(c, operand_type(c, 0)),
                             (long long)r->items[i]);
    new_dims(c, out)[i] = sizes.v[i];
  }
  return true;
}

bool hilo_infer_dynamic_update_slice(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *r = hilo_infer_array_operand(c, 0),
                      *update = r ? hilo_infer_array_operand(c, 1) : NULL;
  if (!update || !check_start_indices(c, 2, r->n)) return false;
  bool fits = update->n == r->n && update->etype == r->etype;
  for (uint32_t i = 0; fits && i < r->n; i++)
    fits = update->items[i] <= r->items[i] || r->items[i] == HILO_UNBOUNDED;
  if (!fits)
    return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                           "`dynamic-update-slice` puts %s into %s, expected the same element type "
                           "and rank and no larger dimension",
                           hilo_infer_type_text(c, operand_type(c, 1)),
                           hilo_infer_type_text(c, operand_type(c, 0)));
  return gives(c, out, operand_type(c, 0));
}

bool hilo_infer_pad(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *r = hilo_infer_array_operand(c, 0),
                      *value = r ? hilo_infer_array_operand(c, 1) : NULL;
  if (!value) return false;
  const hilo_pad_attrs a = hilo_pad_get(&c->m->records, (hilo_record){c->attr});
  if (value->n != 0 || value->etype != r->etype)
    return hilo_infer_fail(c, HILO_DIAG_EMOD902, "the padding value of `pad` is %s, expected %s[]",
                           hilo_infer_type_text(c, operand_type(c, 1)), row_etype_name(r));
  if (a.low.n != r->n || a.high.n != r->n || (a.interior.n && a.interior.n != r->n))
    return hilo_infer_fail(c, HILO_DIAG_EMOD919, "`pad` of %s pads %u dimensions, expected %u",
                           hilo_infer_type_text(c, operand_type(c, 0)), a.low.n, r->n);
  if (!hilo_infer_new_array(c, out, (hilo_etype)r->etype, r->n, row_dynamic(r))) return false;
  for (uint32_t i = 0; i < r->n; i++) {
    const int64_t size = r->items[i], gaps = size > 0 ? size - 1 : 0;
    const int64_t interior = a.interior.n ? a.interior.v[i] : 0;
    int64_t padded = HILO_UNBOUNDED;
    if (interior < 0)
      return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                             "`pad` has an interior padding of %lld in dimension %u, expected 0 or "
                             "more",
                             (long long)interior, i);
    if (size != HILO_UNBOUNDED) {
      if (!hilo_infer_mul_add(c, gaps, interior, size, &padded) ||
          !hilo_infer_mul_add(c, a.low.v[i], 1, padded, &padded) ||
          !hilo_infer_mul_add(c, a.high.v[i], 1, padded, &padded))
        return false;
      if (padded < 0)
        return hilo_infer_fail(
            c, HILO_DIAG_EMOD919,
            "`pad` leaves %lld elements in dimension %u of %s, expected 0 or more",
            (long long)padded, i, hilo_infer_type_text(c, operand_type(c, 0)));
    }
    new_dims(c, out)[i] = padded;
  }
  return true;
}

/* ---- dynamic sizes ---- */

static bool check_size_dimension(hilo_infer *c, const hilo_type_row *r) {
  if (c->attr >= r->n)
    return hilo_infer_fail(c, HILO_DIAG_EMOD919, "`%s` names dimension %u of %s, which has %u",
                           op_name(c), c->attr, hilo_infer_type_text(c, operand_type(c, 0)), r->n);
  if (r->items[c->attr] > INT32_MAX)
    return hilo_infer_fail(c, HILO_DIAG_EMOD907,
                           "`%s` of a dimension of %lld elements, at most %d are supported",
                           op_name(c), (long long)r->items[c->attr], INT32_MAX);
  return true;
}

bool hilo_infer_get_dimension_size(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *r = hilo_infer_array_operand(c, 0);
  return r && check_size_dimension(c, r) && hilo_infer_gives_scalar(c, out, HILO_S32);
}

bool hilo_infer_set_dimension_size(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *r = hilo_infer_array_operand(c, 0),
                      *size = r ? hilo_infer_array_operand(c, 1) : NULL;
  if (!size || !check_size_dimension(c, r)) return false;
  if (size->etype != HILO_S32 || size->n != 0)
    return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                           "the size of `set-dimension-size` is %s, expected s32[]",
                           hilo_infer_type_text(c, operand_type(c, 1)));
  if (!hilo_infer_new_array(c, out, (hilo_etype)r->etype, r->n, row_dynamic(r) | 1ull << c->attr))
    return false;
  memcpy(new_dims(c, out), r->items, r->n * sizeof(int64_t));
  return true;
}

/* ---- tuples ---- */

bool hilo_infer_tuple(hilo_infer *c, hilo_shape *out) {
  hilo_infer_new_tuple(c, out, c->n_operands);
  for (uint32_t k = 0; k < c->n_operands; k++)
    new_elements(c, out)[k] = existing(c, operand_type(c, k));
  return true;
}

bool hilo_infer_get_tuple_element(hilo_infer *c, hilo_shape *out) {
  const hilo_type t = operand_type(c, 0);
  const hilo_type_row *r = type_row(c, t);
  if (r->etype != HILO_TUPLE)
    return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                           "operand 0 of `get-tuple-element` is %s, expected a "
                           "tuple",
                           hilo_infer_type_text(c, t));
  if (c->attr >= r->n)
    return hilo_infer_fail(c, HILO_DIAG_EMOD919,
                           "`get-tuple-element` takes element %u of %s, which has %u", c->attr,
                           hilo_infer_type_text(c, t), r->n);
  return gives(c, out, (hilo_type){(uint32_t)r->items[c->attr]});
}
