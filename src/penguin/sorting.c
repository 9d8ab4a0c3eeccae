/* sort and top-k.
 *
 * A comparator is read as a list of keys: c(a0, b0), or lexicographically
 * or(c(a0, b0), and(a0 == b0, next)). One key on the first operand is one statement; any other list
 * is one stable sort per key, the last key first, each with its key moved to operand 0. Orders that
 * `comparison_dir` cannot say (raw total order, or folded and descending, where NaNs come first)
 * are sorted by integer keys. */
#include "ir/implicit_iota.h"
#include "penguin/reducer_text.h"

static bool refuse_keys(hilo_printer *p, hilo_inst i, hilo_keys_status status) {
  const hilo_comp comparator = hilo_inst_called(p->m, i, 0);
  switch (status) {
  case HILO_KEYS_OK: return false;
  case HILO_KEYS_TOO_MANY:
    HILO_REFUSE(p, SORT_FORM, i, "the comparator of this `sort` has more than %d keys",
                HILO_MAX_SORT_KEYS);
    return true;
  case HILO_KEYS_NOT_COMPARE:
    HILO_REFUSE(p, SORT_FORM, i,
                "the comparator of this `sort` returns `%s` in a form that is not recognised: "
                "expected one compare, or a lexicographic chain of them",
                hilo_op_get(hilo_inst_op(p->m, hilo_comp_root(p->m, comparator)))->hlo);
    return true;
  case HILO_KEYS_NOT_ARGUMENTS:
    HILO_REFUSE(p, SORT_ARGUMENTS, i,
                "the comparator of this `sort` compares something other than the two parameters of "
                "one operand: expected parameters 2k and 2k+1");
    return true;
  }
  return true;
}

static const char *direction_name(hilo_compare_direction direction) {
  switch (direction) {
  case HILO_LE: return "'le'";
  case HILO_GT: return "'gt'";
  case HILO_GE: return "'ge'";
  default: return "'lt'";
  }
}

/* The order that `comparison_dir` means for floats: -0 equals 0, NaNs equal and last. */
static bool needs_integer_key(const hilo_pair_compare *key) {
  const bool descends = key->direction == HILO_GT || key->direction == HILO_GE;
  return key->total || (key->folded && descends);
}

/* Integers that order as the key's floats do. */
static uint32_t integer_key(hilo_printer *p, hilo_inst i, hilo_type shape,
                            const hilo_pair_compare *key, uint32_t x) {
  const hilo_step step = {i, shape, false};
  if (key->folded) {
    const uint32_t zero = hilo_step_splat(p, step, key->etype, 0);
    const uint32_t is_zero = hilo_step_compare(p, step, HILO_EQ, x, zero);
    const uint32_t unsigned_zero = hilo_step_select(p, step, key->etype, is_zero, zero, x);
    const uint32_t is_nan = hilo_step_compare(p, step, HILO_NE, x, x);
    const uint32_t nan = hilo_step_splat(
        p, step, key->etype, hilo_py_float_bits(key->etype, (double)__builtin_nanf("")));
    x = hilo_step_select(p, step, key->etype, is_nan, nan, unsigned_zero);
  }
  return hilo_step_total_order_key(p, step, key->etype, x);
}

static bool has_implicit_iota(const hilo_printer *p, hilo_inst i) {
  return hilo_inst_n_operands(p->m, i) == 1 &&
         hilo_has_implicit_iota(p->m, hilo_inst_extra_record(p->m, i));
}

/* One stable sort of the tensors `current` by one key; they become the sorted ones. */
static void sort_once(hilo_printer *p, hilo_inst i, const hilo_pair_compare *key, bool last,
                      bool single, uint32_t *current, uint32_t n) {
  const hilo_sort_attrs attrs = hilo_attrs(p->m, i, sort);
  const bool implicit_iota = has_implicit_iota(p, i);
  const hilo_type key_type = hilo_inst_type(p->m, hilo_inst_operand(p->m, i, key->operand));
  const bool by_integer = needs_integer_key(key);
  const uint32_t n_results = n + implicit_iota;
  uint32_t *srcs = HILO_NEW_ARRAY(p->arena, uint32_t, n + 1);
  hilo_result *dsts = HILO_NEW_ZEROED(p->arena, hilo_result, n_results + 1);
  uint32_t *from = HILO_NEW_ARRAY(p->arena, uint32_t, n_results + 1); /* operand of each result */
  uint32_t n_srcs = 0, n_dsts = 0;
  if (by_integer) {
    const uint32_t var = integer_key(p, i, key_type, key, current[key->operand]);
    srcs[n_srcs++] = var;
    from[n_dsts] = UINT32_MAX;
    dsts[n_dsts++] =
        (hilo_result){.shape = key_type,
                      .dtype = (uint16_t)hilo_signed_of_width(hilo_etype_table[key->etype].bits),
                      .mnemonic = HILO_OP_SORT};
  }
  for (uint32_t k = 0; k < n_results; k++) {
    /* The key's operand leads, the others keep their order; an implicit iota is result 1, also
       behind an integer key. */
    uint32_t operand = k;
    if (by_integer && implicit_iota)
      operand = 1 - k;
    else if (!by_integer && key->operand)
      operand = k == 0 ? key->operand : k <= key->operand ? k - 1 : k;
    const hilo_type type = hilo_leaf_type(p, hilo_inst_type(p->m, i), operand);
    if (operand < n) srcs[n_srcs++] = current[operand];
    from[n_dsts] = operand;
    dsts[n_dsts++] = (hilo_result){.shape = type,
                                   .dtype = (uint16_t)hilo_type_etype(&p->m->types, type),
                                   .mnemonic = HILO_OP_SORT,
                                   .of = last ? i : HILO_INST_NONE,
                                   .leaf = operand};
  }
  hilo_open_with(p, HILO_CTOR_TENSOR_OP, i, srcs, n_srcs, dsts, n_dsts);
  hilo_put_tag(p, "sort");
  hilo_put_int(p, "dimension", attrs.dimension);
  hilo_put_flag(p, "is_stable", attrs.is_stable || !single);
  hilo_put_key(p, "comparison_dir");
  hilo_sb_cat(p->out, direction_name(key->direction));
  if (implicit_iota) hilo_put_flag(p, "implicit_iota", true);
  hilo_close(p);
  for (uint32_t k = 0; k < n_dsts; k++)
    if (from[k] != UINT32_MAX) current[from[k]] = dsts[k].var;
}

void hilo_emit_sort(hilo_printer *p, hilo_inst i) {
  hilo_sort_keys keys;
  const hilo_keys_status status = hilo_region_sort_keys(p->m, hilo_inst_called(p->m, i, 0), &keys);
  if (refuse_keys(p, i, status)) return;
  const uint32_t n = hilo_inst_n_operands(p->m, i);
  for (uint32_t k = 0; k < keys.n; k++)
    if (keys.v[k].operand >= n) {
      refuse_keys(p, i, HILO_KEYS_NOT_ARGUMENTS);
      return;
    }
  const bool implicit_iota = has_implicit_iota(p, i);
  if (implicit_iota && keys.n != 1) {
    refuse_keys(p, i, HILO_KEYS_NOT_COMPARE);
    return;
  }
  uint32_t *current = HILO_NEW_ARRAY(p->arena, uint32_t, n + 2);
  for (uint32_t k = 0; k < n; k++) current[k] = hilo_operand_var(p, i, k);
  for (uint32_t k = keys.n; k-- > 0;) sort_once(p, i, &keys.v[k], k == 0, keys.n == 1, current, n);
  hilo_bind(p, i, current, n + implicit_iota);
}

/* Results: values, indices. */
void hilo_put_top_k(hilo_printer *p, hilo_inst i, int64_t k) {
  const hilo_type source = hilo_inst_type(p->m, hilo_inst_operand(p->m, i, 0));
  const hilo_type result = hilo_inst_type(p->m, i);
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, "top_k");
  hilo_put_int(p, "k", k);
  hilo_put_int(p, "axis", (int64_t)hilo_type_dims(&p->m->types, source).n - 1);
  hilo_put_flag(p, "is_ascend", false);
  hilo_put_flag(p, "is_barrier", false);
  HILO_PUT(p->out, ", ret_type='both'");
  hilo_put_shape(p, "src_shape", source);
  hilo_put_dtype(p, "dtype", hilo_type_etype(&p->m->types, hilo_leaf_type(p, result, 0)));
  hilo_put_dtype(p, "indices_dtype", hilo_type_etype(&p->m->types, hilo_leaf_type(p, result, 1)));
  hilo_close(p);
}

void hilo_emit_topk(hilo_printer *p, hilo_inst i) {
  const hilo_topk_attrs attrs = hilo_attrs(p->m, i, topk);
  if (!attrs.largest) {
    HILO_REFUSE(p, OP, i, "`topk` with `largest=false` has no Penguin form: negate the operand");
    return;
  }
  hilo_put_top_k(p, i, attrs.k);
}
