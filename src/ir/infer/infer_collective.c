#include "ir/infer/infer_parts.h"

/* Rules of the collectives and their asynchronous halves. How much a gather grows or a scatter
 * shrinks is told by the size of a replica group where that is known, else by the declared type. */

static hilo_collective_attrs collective_attr(const hilo_infer *c) {
  return hilo_collective_get(&c->m->records, (hilo_record){c->attr});
}

static bool has_channel(const hilo_infer *c) {
  return c->extra.ix && hilo_extra_get(&c->m->records, c->extra).channel_id != 0;
}

hilo_group_mode hilo_infer_group_mode(const hilo_infer *c, const hilo_collective_attrs *a) {
  return hilo_group_mode_of(c->op, has_channel(c), a->use_global_device_ids);
}

/* The product of two counts; 0 if one is not known or the product does not fit. */
static int64_t known_product(int64_t a, int64_t b) {
  int64_t r;
  return a > 0 && b > 0 && !__builtin_mul_overflow(a, b, &r) ? r : 0;
}

int64_t hilo_infer_group_size(const hilo_infer *c, const hilo_collective_attrs *a) {
  const hilo_module_header *h = &c->m->header;
  const hilo_group_mode mode = hilo_infer_group_mode(c, a);
  const hilo_dims sizes = hilo_replica_groups_get(&c->m->records, a->groups).sizes;
  int64_t size = 0;
  if (sizes.n) {
    size = sizes.v[0];
    for (uint32_t i = 1; i < sizes.n; i++)
      if (sizes.v[i] != size) return 0;
  } else if (mode == HILO_MODE_CROSS_PARTITION) {
    size = h->num_partitions;
  } else if (mode == HILO_MODE_FLATTENED_ID) {
    size = known_product(h->num_replicas, h->num_partitions);
  } else {
    size = h->num_replicas;
  }
  return mode == HILO_MODE_CROSS_REPLICA_AND_PARTITION ? known_product(size, h->num_partitions)
                                                       : size;
}

/* ---- results that are the operands ---- */

static bool gives_all_operands(hilo_infer *c, hilo_shape *out) {
  if (!hilo_infer_array_operands(c, 0)) return false;
  if (c->n_operands == 1) return gives(c, out, operand_type(c, 0));
  return hilo_infer_tuple(c, out);
}

/* One reducer for all operands: (T, T) -> T on scalars, floats of any precision. XLA also takes a
 * tuple of one. */
static bool check_collective_reducer(hilo_infer *c) {
  const hilo_comp f = called_comp(c, 0);
  if (!hilo_infer_check_n_params(c, f, 2, "reducer")) return false;
  hilo_type types[3] = {comp_param_type(c, f, 0), comp_param_type(c, f, 1), comp_result(c, f)};
  const hilo_type_row *r = type_row(c, types[2]);
  if (r->etype == HILO_TUPLE && r->n == 1) {
    types[2] = (hilo_type){(uint32_t)r->items[0]};
    r = type_row(c, types[2]);
  }
  for (uint32_t k = 0; k < 3; k++)
    if (bare(c, types[k]).ix != bare(c, types[2]).ix || !row_is_scalar(r))
      return hilo_infer_fail(
          c, HILO_DIAG_EMOD914,
          "the reducer `%s` takes %s and %s and gives %s, expected one scalar type",
          hilo_infer_comp_text(c, f), hilo_infer_type_text(c, types[0]),
          hilo_infer_type_text(c, types[1]), hilo_infer_type_text(c, types[2]));
  for (uint32_t k = 0; k < c->n_operands; k++)
    if (!same_kind((hilo_etype)operand_row(c, k)->etype, (hilo_etype)r->etype))
      return hilo_infer_fail(c, HILO_DIAG_EMOD914,
                             "the reducer `%s` of `%s` is for %s, but operand %u is %s",
                             hilo_infer_comp_text(c, f), op_name(c), row_etype_name(r), k,
                             hilo_infer_type_text(c, operand_type(c, k)));
  return true;
}

static bool all_reduce_rule(hilo_infer *c, hilo_shape *out) {
  return gives_all_operands(c, out) && check_collective_reducer(c);
}

static bool collective_broadcast_rule(hilo_infer *c, hilo_shape *out) {
  return gives_all_operands(c, out);
}

/* StableHLO may give the rank of each operand's root in its group as a last operand. */
static bool check_roots(hilo_infer *c) {
  const uint32_t n = c->n_operands - 1;
  const hilo_type_row *roots = operand_row(c, n);
  if (n && roots->etype == HILO_S32 && roots->n == 1 && same_size(roots->items[0], n)) return true;
  return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                         "the roots of `%s` are %s, expected one s32 for each operand before them",
                         op_name(c), hilo_infer_type_text(c, operand_type(c, n)));
}

/* ---- all-gather and reduce-scatter ---- */

/* The declared type of result k: of the whole, or of an element of a tuple of n. */
static const hilo_type_row *declared_part(const hilo_infer *c, hilo_type whole, uint32_t k,
                                          uint32_t n) {
  if (!whole.ix) return NULL;
  const hilo_type_row *r = type_row(c, whole);
  if (n > 1) {
    if (r->etype != HILO_TUPLE || k >= r->n) return NULL;
    r = type_row(c, (hilo_type){(uint32_t)r->items[k]});
  }
  return row_is_array(r) ? r : NULL;
}

static bool check_collective_dim(hilo_infer *c, const hilo_collective_attrs *a,
                                 const hilo_type_row *r, uint32_t k) {
  if (a->dimension >= 1 && a->dimension <= r->n) return true;
  return hilo_infer_fail(c, HILO_DIAG_EMOD919, "`%s` works along dimension %lld of operand %u, %s",
                         op_name(c), (long long)a->dimension - 1, k,
                         hilo_infer_type_text(c, operand_type(c, k)));
}

/* By what factor the collective's dimension changes; 0 and an error if nothing tells. `whole` is
 * the declared type of the results. */
static int64_t shard_count(hilo_infer *c, const hilo_collective_attrs *a, hilo_type whole,
                           bool grows) {
  const int64_t group = hilo_infer_group_size(c, a);
  if (group > 0) return group;
  const hilo_type_row *in = operand_row(c, 0), *out = declared_part(c, whole, 0, c->n_operands);
  const int64_t at = a->dimension - 1;
  if (!out || out->n != in->n) {
    if (whole.ix)
      hilo_infer_report(c, HILO_DIAG_EMOD918, "`%s` of %s cannot give %s", op_name(c),
                        hilo_infer_type_text(c, operand_type(c, 0)),
                        hilo_infer_type_text(c, whole));
    return 0;
  }
  const int64_t large = grows ? out->items[at] : in->items[at];
  const int64_t small = grows ? in->items[at] : out->items[at];
  if (small <= 0 || large < small) return 1;
  return large / small + (large % small != 0);
}

static bool gathered(hilo_infer *c, hilo_shape *out, hilo_type whole) {
  const hilo_collective_attrs a = collective_attr(c);
  for (uint32_t k = 0; k < c->n_operands; k++) {
    const hilo_type_row *r = hilo_infer_array_operand(c, k);
    if (!r || !check_collective_dim(c, &a, r, k)) return false;
  }
  const int64_t count = shard_count(c, &a, whole, true);
  *out = (hilo_shape){0};
  if (!count) return false;
  if (c->n_operands > 1) hilo_infer_new_tuple(c, out, c->n_operands);
  for (uint32_t k = 0; k < c->n_operands; k++) {
    const hilo_type_row *r = operand_row(c, k);
    hilo_shape one;
    if (!hilo_infer_new_array(c, &one, (hilo_etype)r->etype, r->n, row_dynamic(r))) return false;
    int64_t *dims = new_dims(c, &one);
    memcpy(dims, r->items, r->n * sizeof(int64_t));
    int64_t *dim = &dims[a.dimension - 1];
    if (*dim != HILO_UNBOUNDED && !hilo_infer_mul_add(c, *dim, count, 0, dim)) return false;
    if (c->n_operands > 1)
      new_elements(c, out)[k] = one;
    else
      *out = one;
  }
  return true;
}

static bool all_gather_rule(hilo_infer *c, hilo_shape *out) {
  return gathered(c, out, c->declared);
}

/* Element k of the declared tuple; none if it is not declared. */
static hilo_type declared_element(const hilo_infer *c, uint32_t k) {
  if (!c->declared.ix) return HILO_TYPE_NONE;
  const hilo_type_row *r = type_row(c, c->declared);
  return (hilo_type){r->etype == HILO_TUPLE && k < r->n ? (uint32_t)r->items[k] : 0};
}

bool hilo_infer_all_gather_start(hilo_infer *c, hilo_shape *out) {
  hilo_shape in, result;
  if (c->n_operands == 1)
    in = existing(c, operand_type(c, 0));
  else
    hilo_infer_tuple(c, &in);
  if (!gathered(c, &result, declared_element(c, 1))) return false;
  hilo_infer_new_tuple(c, out, 2);
  new_elements(c, out)[0] = in;
  new_elements(c, out)[1] = result;
  return true;
}

static bool reduce_scatter_rule(hilo_infer *c, hilo_shape *out) {
  const hilo_collective_attrs a = collective_attr(c);
  for (uint32_t k = 0; k < c->n_operands; k++) {
    const hilo_type_row *r = hilo_infer_array_operand(c, k);
    if (!r || !check_collective_dim(c, &a, r, k)) return false;
  }
  const int64_t count = shard_count(c, &a, c->declared, false);
  *out = (hilo_shape){0};
  if (!count || !check_collective_reducer(c)) return false;
  if (c->n_operands > 1) hilo_infer_new_tuple(c, out, c->n_operands);
  for (uint32_t k = 0; k < c->n_operands; k++) {
    const hilo_type_row *r = operand_row(c, k);
    const int64_t size = r->items[a.dimension - 1];
    hilo_shape one;
    if (size != HILO_UNBOUNDED && size % count)
      return hilo_infer_fail(
          c, HILO_DIAG_EMOD919,
          "`reduce-scatter` cuts dimension %lld of %s into %lld parts, expected a "
          "size that divides",
          (long long)a.dimension - 1, hilo_infer_type_text(c, operand_type(c, k)),
          (long long)count);
    if (!hilo_infer_new_array(c, &one, (hilo_etype)r->etype, r->n, row_dynamic(r))) return false;
    memcpy(new_dims(c, &one), r->items, r->n * sizeof(int64_t));
    if (size != HILO_UNBOUNDED) new_dims(c, &one)[a.dimension - 1] = size / count;
    if (c->n_operands > 1)
      new_elements(c, out)[k] = one;
    else
      *out = one;
  }
  return true;
}

/* ---- all-to-all ---- */

/* StableHLO cuts one dimension of each operand and joins along another. */
static bool split_and_joined(hilo_infer *c, hilo_shape *out, uint32_t k, int64_t split,
                             int64_t join, int64_t count) {
  const hilo_type_row *r = hilo_infer_array_operand(c, k);
  if (!r) return false;
  if (split < 0 || split >= r->n || join < 0 || join >= r->n)
    return hilo_infer_fail(c, HILO_DIAG_EMOD919, "`all-to-all` works along dimension %lld of %s",
                           (long long)(split < 0 || split >= r->n ? split : join),
                           hilo_infer_type_text(c, operand_type(c, k)));
  const int64_t size = r->items[split];
  if (count > 0 && size != HILO_UNBOUNDED && size % count)
    return hilo_infer_fail(
        c, HILO_DIAG_EMOD919,
        "`all-to-all` cuts dimension %lld of %s into %lld parts, expected a size "
        "that divides",
        (long long)split, hilo_infer_type_text(c, operand_type(c, k)), (long long)count);
  if (split == join || count <= 0) return gives(c, out, operand_type(c, k));
  if (!hilo_infer_new_array(c, out, (hilo_etype)r->etype, r->n, row_dynamic(r))) return false;
  int64_t *dims = new_dims(c, out);
  memcpy(dims, r->items, r->n * sizeof(int64_t));
  if (size != HILO_UNBOUNDED) dims[split] = size / count;
  return dims[join] == HILO_UNBOUNDED || hilo_infer_mul_add(c, dims[join], count, 0, &dims[join]);
}

static bool all_split_and_joined(hilo_infer *c, hilo_shape *out, const hilo_collective_attrs *a) {
  if (c->n_operands == 1)
    return split_and_joined(c, out, 0, a->split_dimension, a->concat_dimension, a->split_count);
  hilo_infer_new_tuple(c, out, c->n_operands);
  for (uint32_t k = 0; k < c->n_operands; k++) {
    hilo_shape one = {0};
    if (!split_and_joined(c, &one, k, a->split_dimension, a->concat_dimension, a->split_count))
      return false;
    new_elements(c, out)[k] = one;
  }
  return true;
}

static bool all_to_all_rule(hilo_infer *c, hilo_shape *out) {
  const hilo_collective_attrs a = collective_attr(c);
  if (a.split_count) return all_split_and_joined(c, out, &a);
  const int64_t group = hilo_infer_group_size(c, &a);
  if (a.dimension && c->n_operands != 1)
    return hilo_infer_fail(c, HILO_DIAG_EMOD917,
                           "`all-to-all` along a dimension has %u operands, expected 1",
                           c->n_operands);
  if (a.dimension) return split_and_joined(c, out, 0, a.dimension - 1, a.dimension - 1, group);
  if (group > 0 && c->n_operands != group)
    return hilo_infer_fail(
        c, HILO_DIAG_EMOD917, "`all-to-all` has %u operand%s for a group of %lld, expected %lld",
        c->n_operands, c->n_operands == 1 ? "" : "s", (long long)group, (long long)group);
  for (uint32_t k = 0; k < c->n_operands; k++) {
    if (!hilo_infer_array_operand(c, k)) return false;
    if (!hilo_infer_same_types(c, operand_type(c, 0), operand_type(c, k)))
      return hilo_infer_fail(
          c, HILO_DIAG_EMOD902,
          "operand %u of `all-to-all` is %s and operand 0 is %s, expected one type", k,
          hilo_infer_type_text(c, operand_type(c, k)), hilo_infer_type_text(c, operand_type(c, 0)));
  }
  return hilo_infer_tuple(c, out);
}

/* Operands: input, output, then where and how much to take and to put, in one shape of integers. */
bool hilo_infer_ragged_all_to_all(hilo_infer *c, hilo_shape *out) {
  if (!hilo_infer_array_operands(c, 0)) return false;
  const hilo_type_row *in = operand_row(c, 0), *result = operand_row(c, 1);
  bool fits = in->etype == result->etype && in->n == result->n && in->n > 0;
  for (uint32_t i = 1; fits && i < in->n; i++) fits = same_size(in->items[i], result->items[i]);
  if (!fits)
    return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                           "`ragged-all-to-all` of %s into %s: they may differ in dimension 0 only",
                           hilo_infer_type_text(c, operand_type(c, 0)),
                           hilo_infer_type_text(c, operand_type(c, 1)));
  for (uint32_t k = 2; k < 6; k++) {
    const hilo_type_row *r = operand_row(c, k);
    if (!hilo_etype_is_integer((hilo_etype)r->etype) || r->n < 1 || r->n > 2 ||
        !hilo_infer_same_dims(r, operand_row(c, 2)))
      return hilo_infer_fail(
          c, HILO_DIAG_EMOD902,
          "operand %u of `ragged-all-to-all` is %s, expected integers of the shape "
          "of operand 2",
          k, hilo_infer_type_text(c, operand_type(c, k)));
  }
  return gives(c, out, operand_type(c, 1));
}

/* ---- collective-permute ---- */

/* The in-place form writes slices of operand 0 into operand 1, at the offsets of operands 2 and 3.
 */
static bool is_in_place(const hilo_infer *c) {
  if (c->n_operands != 4) return false;
  return collective_attr(c).slice_sizes.n || !row_is_array(operand_row(c, 2));
}

static bool check_in_place(hilo_infer *c) {
  const bool fits = operand_row(c, 0)->etype == operand_row(c, 1)->etype &&
                    operand_row(c, 2)->etype == HILO_TUPLE &&
                    operand_row(c, 3)->etype == HILO_TUPLE;
  if (fits) return true;
  return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                         "`%s` in place takes %s, %s, %s and offsets, expected a source, a "
                         "destination and two tuples of offsets",
                         op_name(c), hilo_infer_type_text(c, operand_type(c, 0)),
                         hilo_infer_type_text(c, operand_type(c, 1)),
                         hilo_infer_type_text(c, operand_type(c, 2)));
}

static bool collective_permute_rule(hilo_infer *c, hilo_shape *out) {
  if (is_in_place(c)) return check_in_place(c) && gives(c, out, operand_type(c, 1));
  return gives_all_operands(c, out);
}

bool hilo_infer_collective_permute_start(hilo_infer *c, hilo_shape *out) {
  hilo_shape in, result;
  if (is_in_place(c)) {
    if (!check_in_place(c)) return false;
    in = existing(c, operand_type(c, 0));
    result = existing(c, operand_type(c, 1));
  } else {
    if (!gives_all_operands(c, &in)) return false;
    result = in;
  }
  const hilo_type_row *declared = c->declared.ix ? type_row(c, c->declared) : NULL;
  const uint32_t n = declared && declared->etype == HILO_TUPLE && declared->n > 2 ? declared->n : 2;
  hilo_infer_new_tuple(c, out, n);
  new_elements(c, out)[0] = in;
  new_elements(c, out)[1] = result;
  for (uint32_t k = 2; k < n; k++) new_elements(c, out)[k] = existing(c, declared_element(c, k));
  return true;
}

/* ---- the done halves ---- */

/* The second element of what the start gives. */
bool hilo_infer_second_of_start(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *r = operand_row(c, 0);
  if (r->etype == HILO_TUPLE && r->n >= 2) return gives(c, out, (hilo_type){(uint32_t)r->items[1]});
  return hilo_infer_fail(c, HILO_DIAG_EMOD922,
                         "the operand of `%s` is %s, expected the tuple of its start", op_name(c),
                         hilo_infer_type_text(c, operand_type(c, 0)));
}

/* ---- tokens ---- */

/* The last of several operands may be a token (or the u8 scalar that step 19 makes of one), which
 * passes through to the last result: it orders the collective among others. */
static bool ends_in_token(const hilo_infer *c) {
  if (c->n_operands < 2) return false;
  const hilo_type_row *last = operand_row(c, c->n_operands - 1), *first = operand_row(c, 0);
  if (last->etype == HILO_TOKEN) return true;
  return last->etype == HILO_U8 && last->n == 0 && !(first->etype == HILO_U8 && first->n == 0);
}

/* `rule` for the operands before the token; the results and the token are a tuple. */
static bool before_token(hilo_infer *c, hilo_shape *out,
                         bool (*rule)(hilo_infer *c, hilo_shape *out)) {
  if (!ends_in_token(c)) return rule(c, out);
  const hilo_type declared = c->declared;
  const uint32_t n = --c->n_operands;
  if (n == 1) c->declared = declared_element(c, 0);
  hilo_shape results;
  const bool ok = rule(c, &results);
  c->n_operands = n + 1;
  c->declared = declared;
  if (!ok) return false;
  hilo_infer_new_tuple(c, out, n + 1);
  for (uint32_t k = 0; k < n; k++)
    new_elements(c, out)[k] = n == 1 ? results : new_elements(c, &results)[k];
  new_elements(c, out)[n] = existing(c, operand_type(c, n));
  return true;
}

static bool with_roots(hilo_infer *c, hilo_shape *out,
                       bool (*rule)(hilo_infer *c, hilo_shape *out)) {
  if (HILO_LIKELY(!collective_attr(c).has_dynamic_root)) return before_token(c, out, rule);
  if (!check_roots(c)) return false;
  c->n_operands--;
  const bool ok = rule(c, out);
  c->n_operands++;
  return ok;
}

#define RULE(name)                                                                                 \
  bool hilo_infer_##name(hilo_infer *c, hilo_shape *out) { return with_roots(c, out, name##_rule); }
RULE(all_reduce)
RULE(collective_broadcast)
RULE(all_gather)
RULE(reduce_scatter)
RULE(all_to_all)
RULE(collective_permute)
