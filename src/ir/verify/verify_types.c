#include "ir/verify/verify_parts.h"

/* Types and constants: invariants 10 to 12 of verify.c. Each distinct type is checked once; tuples
 * are taken apart with an explicit stack, as their depth is the input's. */

typedef struct {
  uint32_t type, k;
} type_frame;

static void type_error(hilo_verifier *v, hilo_inst i, hilo_diag_code code, hilo_type t,
                       const char *what) {
  hilo_verify_error(v, code, i, "%s: %s", hilo_infer_type_text(&v->infer, t), what);
}

static bool check_layout(hilo_verifier *v, hilo_inst i, hilo_type t, const hilo_type_row *r) {
  const hilo_layout_attrs a = hilo_layout_get(&v->m->records, (hilo_record){r->layout});
  const hilo_dims order = a.minor_to_major;
  uint64_t seen = 0;
  bool fits = order.n == r->n || order.n == 0;
  for (uint32_t k = 0; fits && k < order.n; k++) {
    fits = order.v[k] >= 0 && order.v[k] < r->n && !(seen >> order.v[k] & 1);
    if (fits) seen |= 1ull << order.v[k];
  }
  if (!fits) {
    hilo_verify_error(
        v, HILO_DIAG_EMOD919, i, "the layout %s of %s is no permutation of its %u dimensions",
        hilo_infer_dims_text(&v->infer, order), hilo_infer_type_text(&v->infer, t), r->n);
    return false;
  }
  for (uint32_t k = 0; k < a.tiles.n;) {
    const int64_t n = a.tiles.v[k++];
    if (n < 0 || n > a.tiles.n - k) {
      /* Not with the instruction's text, which has no form for it. */
      hilo_verify_comp_error(v, HILO_DIAG_EMOD919, hilo_inst_comp(v->m, i),
                             "the list of tiles of the layout of `%s` is cut off",
                             hilo_verify_name(v, i));
      return false;
    }
    k += (uint32_t)n;
  }
  if (a.element_size_in_bits < 0 || a.memory_space < 0 || a.tail_padding_alignment < 0) {
    type_error(v, i, HILO_DIAG_EMOD919, t, "the layout has a negative size or memory space");
    return false;
  }
  return true;
}

static bool check_array(hilo_verifier *v, hilo_inst i, hilo_type t, const hilo_type_row *r) {
  for (uint32_t k = 0; k < r->n; k++)
    if (r->items[k] < 0 && r->items[k] != HILO_UNBOUNDED) {
      hilo_verify_error(v, HILO_DIAG_EMOD902, i, "dimension %u of %s is negative", k,
                        hilo_infer_type_text(&v->infer, t));
      return false;
    }
  if (r->n_elements > INT64_MAX || r->bytes > INT64_MAX) {
    type_error(v, i, HILO_DIAG_EMOD907, t, "the size in bytes does not fit 64 bits");
    return false;
  }
  return !r->layout || check_layout(v, i, t, r);
}

/* An array, token, buffer or opaque type; or a tuple whose elements were checked. */
static bool check_one(hilo_verifier *v, hilo_inst i, hilo_type t, const hilo_type_row *r) {
  switch (hilo_etype_class_of((hilo_etype)r->etype)) {
  case HILO_CLASS_TUPLE: break;
  case HILO_CLASS_INVALID:
    hilo_verify_error(v, HILO_DIAG_EMOD902, i, "a type without element type");
    return false;
  case HILO_CLASS_TOKEN:
  case HILO_CLASS_OPAQUE:
  case HILO_CLASS_BUFFER: return true;
  default: return check_array(v, i, t, r);
  }
  if (r->bytes > INT64_MAX) {
    type_error(v, i, HILO_DIAG_EMOD907, t, "the size in bytes does not fit 64 bits");
    return false;
  }
  uint32_t depth = 0;
  for (uint32_t k = 0; k < r->n; k++) {
    const uint32_t below = hilo_map_get(&v->tuple_depths, (uint64_t)r->items[k], 0);
    if (below > depth) depth = below;
  }
  hilo_map_set(&v->tuple_depths, t.ix, depth + 1);
  if (depth + 1 <= HILO_MAX_TYPE_DEPTH) return true;
  hilo_verify_error(v, HILO_DIAG_EMOD907, i, "tuples nest more than %d deep", HILO_MAX_TYPE_DEPTH);
  return false;
}

/* Elements before the tuples that hold them; each type once. */
static bool check_new_type(hilo_verifier *v, hilo_inst i, hilo_type t) {
  const hilo_store *types = &v->m->types;
  bool ok = true;
  hilo_vec(type_frame) stack = {0};
  HILO_PUSH(v->arena, &stack, ((type_frame){t.ix, 0}));
  while (ok && stack.n) {
    type_frame *top = &stack.v[stack.n - 1];
    const hilo_type_row *r = hilo_type_row_of(types, (hilo_type){top->type});
    if (r->etype == HILO_TUPLE && top->k < r->n) {
      const uint32_t element = (uint32_t)r->items[top->k++];
      if (hilo_bitset_get(v->wrong_types, element))
        ok = false;
      else if (!hilo_bitset_get(v->good_types, element))
        HILO_PUSH(v->arena, &stack, ((type_frame){element, 0}));
    } else {
      ok = check_one(v, i, (hilo_type){top->type}, r);
      hilo_bitset_set(ok ? v->good_types : v->wrong_types, top->type);
      stack.n--;
    }
  }
  /* What holds a wrong type is wrong, too. */
  for (uint32_t k = 0; !ok && k < stack.n; k++) hilo_bitset_set(v->wrong_types, stack.v[k].type);
  HILO_VEC_FREE(v->arena, &stack);
  return ok;
}

bool hilo_verify_type(hilo_verifier *v, hilo_inst i, hilo_type t) {
  if (HILO_LIKELY(hilo_bitset_get(v->good_types, t.ix))) return true;
  return !hilo_bitset_get(v->wrong_types, t.ix) && check_new_type(v, i, t);
}

/* Nesting is bounded here: types have been checked. Shared elements are counted once each by the
 * map. */
uint32_t hilo_verify_count_leaves(hilo_verifier *v, hilo_type t) {
  const hilo_type_row *r = hilo_type_row_of(&v->m->types, t);
  if (r->etype != HILO_TUPLE || r->n == 0) return 1;
  const uint32_t known = hilo_map_get(&v->tuple_leaves, t.ix, 0);
  if (known) return known;
  uint32_t sum = 0;
  for (uint32_t k = 0; k < r->n; k++) {
    const uint32_t part = hilo_verify_count_leaves(v, (hilo_type){(uint32_t)r->items[k]});
    sum = part > UINT32_MAX - sum ? UINT32_MAX : sum + part;
  }
  hilo_map_set(&v->tuple_leaves, t.ix, sum);
  return sum;
}

/* ---- constants ---- */

static uint64_t literal_bytes(const hilo_type_row *r, hilo_literal_kind kind) {
  if (kind == HILO_LITERAL_ELIDED) return 0;
  if (kind == HILO_LITERAL_TUPLE) return (uint64_t)r->n * sizeof(uint32_t);
  const uint64_t element = hilo_etype_bytes((hilo_etype)r->etype);
  if (kind == HILO_LITERAL_SPLAT) return element;
  uint64_t bytes;
  return hilo_mul_u64(r->n_elements, element, &bytes) ? bytes : UINT64_MAX;
}

/* One literal: its bytes, and for a tuple the types of its elements. */
static bool check_literal(hilo_verifier *v, hilo_inst i, uint32_t ix) {
  const hilo_module *m = v->m;
  const hilo_literal_row *row = &m->literal.v[ix];
  const hilo_type_row *r = hilo_type_row_of(&m->types, (hilo_type){row->type});
  const uint64_t want = literal_bytes(r, (hilo_literal_kind)row->kind);
  const bool is_tuple = r->etype == HILO_TUPLE;
  const bool kind_fits =
      row->kind == HILO_LITERAL_ELIDED ||
      (row->kind == HILO_LITERAL_TUPLE ? is_tuple : hilo_etype_is_array((hilo_etype)r->etype));
  if (!kind_fits || (row->kind != HILO_LITERAL_ELIDED && row->bytes != want)) {
    hilo_verify_error(v, HILO_DIAG_EMOD913, i, "a literal of type %s has %llu bytes, expected %llu",
                      hilo_infer_type_text(&v->infer, (hilo_type){row->type}),
                      (unsigned long long)row->bytes, (unsigned long long)want);
    return false;
  }
  for (uint32_t k = 0; row->kind == HILO_LITERAL_TUPLE && k < r->n; k++) {
    uint32_t element;
    memcpy(&element, row->data + k * sizeof(element), sizeof(element));
    if (!element || element >= ix ||
        m->literal.v[element].type !=
            hilo_type_bare(&m->types, (hilo_type){(uint32_t)r->items[k]}).ix) {
      hilo_verify_error(v, HILO_DIAG_EMOD913, i,
                        "element %u of a tuple literal is missing or of another type", k);
      return false;
    }
  }
  return true;
}

void hilo_verify_constant(hilo_verifier *v, hilo_inst i) {
  (void)check_literal(v, i, hilo_inst_literal(v->m, i).ix);
}
