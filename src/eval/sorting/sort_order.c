#include "eval/sorting/sort_order.h"

#include "analysis/region.h"
#include "eval/eval_parts.h"
#include "eval/machine/apply.h"
#include "eval/movement/element_moves.h"

enum { MAX_ELEMENT_BYTES = 16 };

struct hilo_sort_order {
  const hilo_eval *e;
  uint32_t n;               /* arrays */
  const hilo_etype *etypes; /* theirs */
  hilo_sort_keys keys;      /* n = 0: not understood */
  uint64_t *values[HILO_MAX_SORT_KEYS];
  hilo_apply *apply; /* NULL: there is no region */
  const char *const *arrays;
  char **operands;   /* 2 n buffers of HILO_LANES elements */
  const char **args; /* the same, for hilo_apply_run */
  bool *is_read;     /* of 2 n parameters */
};

/* ---- keys ---- */

/* Float bits, sign and magnitude, in the order of unsigned numbers. */
static uint64_t ordered(uint64_t bits) { return bits >> 63 ? ~bits : bits | 1ull << 63; }

/* Lanes of a type as keys; false: there are NaNs where numbers are compared. */
static bool keys_of_lanes(const hilo_pair_compare *key, hilo_lanes *x, uint32_t n, uint64_t *out) {
  static const uint64_t nan = 0x7ff8000000000000;
  switch (hilo_etype_class_of(key->etype)) {
  case HILO_CLASS_SIGNED:
    for (uint32_t k = 0; k < n; k++) out[k] = x->u[k] ^ 1ull << 63;
    return true;
  case HILO_CLASS_FLOAT: break;
  default: memcpy(out, x->u, n * sizeof(*out)); return true;
  }
  for (uint32_t k = 0; k < n; k++) {
    if (!key->total) {
      if (x->f[k] == 0) x->u[k] = 0;
      if (x->f[k] != x->f[k]) {
        if (!key->folded) return false;
        x->u[k] = nan;
      }
    }
    out[k] = ordered(x->u[k]);
  }
  return true;
}

/* Ascending, whatever the direction of the key. */
static bool make_keys(const hilo_pair_compare *key, const char *array, uint64_t n, uint64_t *out) {
  const bool descending = key->direction == HILO_GT || key->direction == HILO_GE;
  hilo_lanes x;
  for (uint64_t at = 0; at < n; at += HILO_LANES) {
    const uint32_t count = n - at < HILO_LANES ? (uint32_t)(n - at) : HILO_LANES;
    hilo_lanes_load(key->etype, array, at, count, &x);
    if (!keys_of_lanes(key, &x, count, out + at)) return false;
    for (uint32_t k = 0; descending && k < count; k++) out[at + k] = ~out[at + k];
  }
  return true;
}

static hilo_status ask_keys(void *user, uint32_t n, const uint64_t *a, const uint64_t *b,
                            char *before) {
  const hilo_sort_order *o = user;
  const hilo_compare_direction last = o->keys.v[o->keys.n - 1].direction;
  const bool ties = last == HILO_LE || last == HILO_GE;
  for (uint32_t k = 0; k < n; k++) {
    uint32_t key = 0;
    while (key + 1 < o->keys.n && o->values[key][a[k]] == o->values[key][b[k]]) key++;
    const uint64_t x = o->values[key][a[k]], y = o->values[key][b[k]];
    before[k] = ties && key + 1 == o->keys.n ? x <= y : x < y;
  }
  return HILO_OK;
}

/* ---- the region ---- */

static hilo_status ask_region(void *user, uint32_t n, const uint64_t *a, const uint64_t *b,
                              char *before) {
  hilo_sort_order *o = user;
  for (uint32_t p = 0; p < 2 * o->n; p++)
    if (o->is_read[p])
      hilo_gather_elements(o->operands[p], o->arrays[p / 2], (const int64_t *)(p & 1 ? b : a), n,
                           hilo_etype_bytes(o->etypes[p / 2]));
  return hilo_apply_run(o->apply, n, o->args, &before);
}

static hilo_status open_region(hilo_sort_order *o, hilo_inst i, hilo_comp region) {
  const hilo_eval *e = o->e;
  const hilo_status status = hilo_apply_open(e, i, region, &o->apply);
  if (status != HILO_OK) return status;
  o->operands = HILO_NEW_ARRAY(e->scratch, char *, 2 * (size_t)o->n);
  o->args = HILO_NEW_ARRAY(e->scratch, const char *, 2 * (size_t)o->n);
  o->is_read = HILO_NEW_ARRAY(e->scratch, bool, 2 * (size_t)o->n);
  for (uint32_t p = 0; p < 2 * o->n; p++) {
    if (hilo_apply_param_etype(o->apply, p) != o->etypes[p / 2])
      return hilo_eval_refuse(e, i, "its comparator does not take the types of its operands");
    const hilo_inst param = hilo_comp_param(e->m, region, p);
    o->is_read[p] = hilo_inst_has_uses(e->m, param) || hilo_inst_is_root(e->m, param);
    o->operands[p] = hilo_arena_alloc(e->scratch, HILO_LANES * MAX_ELEMENT_BYTES, 64);
    memset(o->operands[p], 0, HILO_LANES * MAX_ELEMENT_BYTES);
    o->args[p] = o->operands[p];
  }
  return HILO_OK;
}

/* ---- both ---- */

/* Do the keys say all that the region says? Those before the last one must be strict. */
static bool understands(const hilo_sort_order *o) {
  for (uint32_t k = 0; k < o->keys.n; k++) {
    const hilo_pair_compare *key = &o->keys.v[k];
    const bool strict = key->direction == HILO_LT || key->direction == HILO_GT;
    if (key->operand >= o->n || key->etype != o->etypes[key->operand] ||
        hilo_etype_is_complex(key->etype) || (!strict && k + 1 < o->keys.n))
      return false;
  }
  return true;
}

hilo_status hilo_sort_order_open(const hilo_eval *e, hilo_inst i, hilo_comp region, uint32_t n,
                                 const hilo_etype *etypes, hilo_sort_order **out) {
  hilo_sort_order *o = HILO_NEW_ZEROED(e->scratch, hilo_sort_order, 1);
  *out = o;
  o->e = e;
  o->n = n;
  o->etypes = etypes;
  if (hilo_comp_n_params(e->m, region) != 2 * n)
    return hilo_eval_refuse(e, i, "its comparator does not take two elements of each operand");
  const hilo_status status = open_region(o, i, region);
  if (status != HILO_OK) return status;
  if (hilo_region_sort_keys(e->m, region, &o->keys) != HILO_KEYS_OK || !understands(o))
    o->keys.n = 0;
  return HILO_OK;
}

hilo_sort_order *hilo_sort_order_total(const hilo_eval *e, hilo_etype etype, bool descending) {
  hilo_sort_order *o = HILO_NEW_ZEROED(e->scratch, hilo_sort_order, 1);
  o->e = e;
  o->n = 1;
  o->keys.n = 1;
  o->keys.v[0] = (hilo_pair_compare){
      .direction = descending ? HILO_GT : HILO_LT, .etype = etype, .total = true};
  return o;
}

hilo_comparator hilo_sort_order_of(hilo_sort_order *o, const char *const *arrays, uint64_t n) {
  o->arrays = arrays;
  bool by_keys = o->keys.n > 0;
  for (uint32_t k = 0; by_keys && k < o->keys.n; k++) {
    o->values[k] = HILO_NEW_ARRAY(o->e->scratch, uint64_t, n + 1);
    by_keys = make_keys(&o->keys.v[k], arrays[o->keys.v[k].operand], n, o->values[k]);
  }
  return (hilo_comparator){by_keys ? ask_keys : ask_region, o};
}
