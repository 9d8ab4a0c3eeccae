/* Types: `tensor<4x?xf32, #stablehlo.bounds<?, 8>>`, tuples, tokens, bundles of asynchronous
 * operations, function types.
 *
 * Programs have few types and write them over and over: the spelling of a tensor is looked up in a
 * small table before it is read. */
#include "formats/mlir/mlir_impl.h"

enum { MAX_REMEMBERED = 64 /* bytes of a spelling */ };

hilo_etype hilo_mlir_etype(mlir_reader *r) {
  mlir_skip(r);
  const hilo_str word = mlir_ident_at(r->p);
  if (!word.n) return HILO_INVALID;
  if (hilo_str_is(word, "complex") && r->p[word.n] == '<') {
    const char *start = r->p;
    r->p += word.n + 1;
    const hilo_etype part = hilo_mlir_etype(r);
    if ((part == HILO_F32 || part == HILO_F64) && mlir_eat(r, '>'))
      return part == HILO_F32 ? HILO_C64 : HILO_C128;
    r->p = start;
    return HILO_INVALID;
  }
  if (hilo_str_is(word, "index")) {
    r->p += word.n;
    return HILO_S64;
  }
  const int at = mlir_word_find(&r->etype_words, word.p, word.n);
  if (at <= 0) return HILO_INVALID;
  r->p += word.n;
  return (hilo_etype)at;
}

/* ---- tensors ---- */

/* `<3, ?, 5>` or `<bounds = [3, ?, 5]>` behind the name of the encoding. */
static bool bounds(mlir_reader *r, uint32_t rank, int64_t *dims, uint64_t *dynamic) {
  if (!mlir_want(r, '<', "to start bounds of dimensions")) return false;
  const bool listed = hilo_mlir_eat_word(r, "bounds");
  if (listed && (!mlir_want(r, '=', "behind `bounds`") || !mlir_want(r, '[', "to start bounds")))
    return false;
  for (uint32_t i = 0; i < rank; i++) {
    int64_t bound = 0;
    if (i && !mlir_want(r, ',', "before the bound of the next dimension")) return false;
    if (mlir_eat(r, '?')) continue;
    const char *at = r->p;
    if (!mlir_int(r, &bound, "a bound or `?`")) return false;
    if (bound < 0) return hilo_mlir_fail(r, HILO_DIAG_EMOD904, at, "a bound must not be negative");
    if (dims[i] != HILO_UNBOUNDED)
      return hilo_mlir_fail(r, HILO_DIAG_EMOD904, at,
                            "dimension %u has the size %lld: only dynamic dimensions have bounds",
                            i, (long long)dims[i]);
    dims[i] = bound;
    *dynamic |= 1ull << i;
  }
  if (listed && !mlir_want(r, ']', "behind the last bound")) return false;
  return mlir_want(r, '>', "behind the last bound");
}

static bool encoding(mlir_reader *r, uint32_t rank, int64_t *dims, uint64_t *dynamic) {
  mlir_detour detour;
  if (!hilo_mlir_enter_alias(r, &detour)) return false;
  const char *at = r->p;
  static const char *const names[] = {"#stablehlo.bounds", "#mhlo.bounds",
                                      "#stablehlo.type_extensions", "#mhlo.type_extensions"};
  for (size_t i = 0; i < HILO_COUNT(names); i++) {
    const size_t n = strlen(names[i]);
    if ((size_t)(r->end - at) < n || memcmp(at, names[i], n) != 0 || at[n] != '<') continue;
    r->p += n;
    if (!bounds(r, rank, dims, dynamic)) return false;
    hilo_mlir_leave_alias(r, &detour);
    return true;
  }
  const hilo_str seen = hilo_mlir_seen(r, at);
  return hilo_mlir_fail(r, HILO_DIAG_EMOD904, at,
                        "the encoding %.*s of a tensor is not known: expected "
                        "`#stablehlo.bounds<...>`",
                        HILO_FMT(seen));
}

static bool element_type(mlir_reader *r, hilo_etype *etype, hilo_record *quant) {
  *quant = HILO_RECORD_NONE;
  mlir_detour detour;
  if (!hilo_mlir_enter_alias(r, &detour)) return false;
  const bool uniform =
      hilo_str_starts((hilo_str){r->p, (size_t)(r->end - r->p)}, "!quant.uniform<");
  const bool any =
      !uniform && hilo_str_starts((hilo_str){r->p, (size_t)(r->end - r->p)}, "!quant.any<");
  if (uniform || any) {
    r->p += uniform ? strlen("!quant.uniform<") : strlen("!quant.any<");
    if (!hilo_mlir_quant(r, any, quant)) return false;
    *etype = (hilo_etype)hilo_quant_get(&r->m->records, *quant).storage;
  } else {
    *etype = hilo_mlir_etype(r);
    if (*etype == HILO_INVALID) return hilo_mlir_expected(r, "the element type of a tensor");
  }
  hilo_mlir_leave_alias(r, &detour);
  return true;
}

/* Behind `tensor<`. */
static bool tensor(mlir_reader *r, hilo_type *out) {
  int64_t dims[HILO_MAX_RANK];
  uint64_t dynamic = 0;
  uint32_t rank = 0;
  mlir_skip(r);
  if (*r->p == '*')
    return hilo_mlir_fail(r, HILO_DIAG_EMOD912, r->p,
                          "tensors without rank are not supported: expected dimensions");
  while (mlir_is(*r->p, MLIR_DIGIT) || *r->p == '?') {
    const char *at = r->p;
    int64_t size = HILO_UNBOUNDED;
    if (*r->p == '?') {
      r->p++;
    } else {
      uint64_t v = 0;
      for (; mlir_is(*r->p, MLIR_DIGIT); r->p++) {
        v = v * 10 + (uint64_t)(*r->p - '0');
        if (v > INT64_MAX / 16)
          return hilo_mlir_fail(r, HILO_DIAG_EMOD907, at, "the size of the dimension is too large");
      }
      size = (int64_t)v;
    }
    if (rank == HILO_MAX_RANK)
      return hilo_mlir_fail(r, HILO_DIAG_EMOD907, at,
                            "a tensor of more than %d dimensions, at most that many are supported",
                            HILO_MAX_RANK);
    dims[rank++] = size;
    mlir_skip(r);
    if (*r->p != 'x') return hilo_mlir_want_slow(r, 'x', "behind the size of a dimension");
    r->p++;
    mlir_skip(r);
  }
  hilo_etype etype;
  hilo_record quant;
  if (!element_type(r, &etype, &quant)) return false;
  if (mlir_eat(r, ',') && !encoding(r, rank, dims, &dynamic)) return false;
  if (!mlir_want(r, '>', "at the end of a tensor type")) return false;
  *out = hilo_type_array_quant(&r->m->types, etype, (hilo_dims){dims, rank},
                               dynamic ? &dynamic : NULL, HILO_RECORD_NONE, quant);
  return true;
}

/* The first byte in memory that is not zero, of eight. */
static uint32_t first_byte(uint64_t x) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  return (uint32_t)__builtin_ctzll(x) >> 3;
#else
  return (uint32_t)__builtin_clzll(x) >> 3;
#endif
}

/* The length of `tensor<…>` at p, 0 if it is not closed or too long to remember. Most have no
 * brackets inside: their end is found 16 bytes at once. */
static size_t tensor_length(const char *p, const char *end) {
  typedef int8_t bytes16 __attribute__((vector_size(16)));
  const char *q = p + 7;
  if (HILO_LIKELY(end - q >= 16)) {
    bytes16 x;
    uint64_t closes[2], others[2];
    memcpy(&x, q, sizeof(x));
    const bytes16 is_close = x == '>', is_other = (x == '<') | (x == '#') | (x == '!');
    memcpy(closes, &is_close, sizeof(closes));
    memcpy(others, &is_other, sizeof(others));
    if (HILO_LIKELY(!(others[0] | others[1]))) {
      if (closes[0]) return 8 + (size_t)first_byte(closes[0]);
      if (closes[1]) return 16 + (size_t)first_byte(closes[1]);
      q += 16;
    }
  }
  const char *last = end - p > MAX_REMEMBERED ? p + MAX_REMEMBERED : end;
  for (uint32_t open = 1; q < last; q++) {
    if (*q == '<') open++;
    if (*q == '>' && --open == 0) return (size_t)(q + 1 - p);
    if (*q == '#' || *q == '!') return 0;
  }
  return 0;
}

static inline uint64_t load8(const char *p) {
  uint64_t x;
  memcpy(&x, p, sizeof(x));
  return x;
}

/* Are these n >= 8 bytes the same? */
static inline bool same_text(const char *a, const char *b, size_t n) {
  for (size_t i = 0; i + 8 < n; i += 8)
    if (load8(a + i) != load8(b + i)) return false;
  return load8(a + n - 8) == load8(b + n - 8);
}

/* Of both ends: only a cache is addressed with it. */
static inline uint32_t hash_of_tensor(const char *p, size_t n) {
  const uint64_t near = n >= 16 ? load8(p + 7) : 0, middle = n >= 24 ? load8(p + n - 16) : 0;
  const uint64_t h = (load8(p + n - 8) ^ n) * 0x9E3779B97F4A7C15ull ^
                     (near * 0xC2B2AE3D27D4EB4Full + middle) * 0x165667B19E3779F9ull;
  return (uint32_t)(h >> 32);
}

/* Half of the types are that of the tensor before, or begin with its text and so end with it. */
static bool remembered_tensor(mlir_reader *r, hilo_type *out) {
  const char *start = r->p;
  const mlir_recent_type *last = r->last_tensor;
  if (last && last->n <= (size_t)(r->end - start) &&
      same_text(r->text + last->at, start, last->n)) {
    *out = (hilo_type){last->type};
    r->p += last->n;
    return true;
  }
  const size_t n = tensor_length(start, r->end);
  mlir_recent_type *slot = NULL;
  uint32_t hash = 0;
  if (HILO_LIKELY(n)) {
    hash = hash_of_tensor(start, n);
    slot = &r->recent_types[hash & (MLIR_RECENT_TYPES - 1)];
    if (HILO_LIKELY(slot->hash == hash && slot->n == n &&
                    same_text(r->text + slot->at, start, n))) {
      r->last_tensor = slot;
      *out = (hilo_type){slot->type};
      r->p += n;
      return true;
    }
  }
  r->p += 7;
  if (!tensor(r, out)) return false;
  if (slot && r->p == start + n) {
    *slot = (mlir_recent_type){hash, mlir_offset(r, start), (uint32_t)n, out->ix};
    r->last_tensor = slot;
  }
  return true;
}

/* ---- other types ---- */

/* Types up to `>`, as a tuple. */
static bool tuple(mlir_reader *r, hilo_type *out) {
  const uint32_t at = r->types.n;
  while (!mlir_eat(r, '>')) {
    hilo_type element;
    if (r->types.n > at && !mlir_want(r, ',', "or `>` in a list of types")) return false;
    if (!hilo_mlir_type(r, &element)) return false;
    HILO_PUSH(&r->scratch->arena, &r->types, element);
  }
  *out = hilo_type_tuple(&r->m->types, r->types.v + at, r->types.n - at);
  r->types.n = at;
  return true;
}

/* The bundle of an asynchronous operation as XLA's tuple: ((operands), result, contexts...). */
static bool bundle(mlir_reader *r, hilo_type *out) {
  hilo_type all;
  if (!tuple(r, &all)) return false;
  hilo_store *types = &r->m->types;
  const uint32_t n = hilo_type_n_elements_of_tuple(types, all);
  if (n < 2) return hilo_mlir_expected(r, "the types of operands and result in a bundle");
  const hilo_type first = hilo_type_element(types, all, 0);
  if (hilo_type_is_tuple(types, first)) {
    *out = all;
    return true;
  }
  const uint32_t at = r->types.n;
  HILO_PUSH(&r->scratch->arena, &r->types, hilo_type_tuple(types, &first, 1));
  for (uint32_t i = 1; i < n; i++)
    HILO_PUSH(&r->scratch->arena, &r->types, hilo_type_element(types, all, i));
  *out = hilo_type_tuple(types, r->types.v + at, n);
  r->types.n = at;
  return true;
}

static bool dialect_type(mlir_reader *r, hilo_type *out) {
  const hilo_str name = mlir_suffix_at(r->p + 1);
  const char *at = r->p;
  r->p += name.n + 1;
  if (hilo_str_is(name, "stablehlo.token") || hilo_str_is(name, "mhlo.token")) {
    *out = hilo_type_token(&r->m->types);
    return true;
  }
  if (hilo_str_is(name, "mhlo.async_bundle") && mlir_eat(r, '<')) return bundle(r, out);
  /* What an asynchronous operation gives, without its operands: a tuple marked by its first, empty
   * element, which the operation fills in. */
  if (hilo_str_is(name, "stablehlo.future") && mlir_eat(r, '<')) {
    hilo_type results, parts[2];
    if (!tuple(r, &results)) return false;
    parts[0] = hilo_type_tuple(&r->m->types, NULL, 0);
    parts[1] = hilo_type_n_elements_of_tuple(&r->m->types, results) == 1
                   ? hilo_type_element(&r->m->types, results, 0)
                   : results;
    *out = hilo_type_tuple(&r->m->types, parts, 2);
    return true;
  }
  return hilo_mlir_fail(r, HILO_DIAG_EMOD912, at,
                        "the type `!%.*s` is not supported: expected a tensor, tuple or token",
                        (int)(name.n > 100 ? 100 : name.n), name.p);
}

static bool any_type(mlir_reader *r, hilo_type *out) {
  const hilo_str rest = {r->p, (size_t)(r->end - r->p)};
  if (hilo_str_starts(rest, "tuple<")) {
    r->p += 6;
    return tuple(r, out);
  }
  if (*r->p == '!') return dialect_type(r, out);
  if (hilo_str_starts(rest, "memref<") || hilo_str_starts(rest, "vector<") ||
      hilo_str_starts(rest, "unranked_tensor<") || hilo_str_starts(rest, "none"))
    return hilo_mlir_fail(r, HILO_DIAG_EMOD912, r->p,
                          "this type is not supported: expected a tensor, tuple or token");
  const hilo_etype etype = hilo_mlir_etype(r);
  if (etype == HILO_INVALID) return hilo_mlir_expected(r, "a type");
  *out = hilo_type_scalar(&r->m->types, etype);
  return true;
}

bool hilo_mlir_type(mlir_reader *r, hilo_type *out) {
  mlir_skip(r);
  if (HILO_LIKELY(r->end - r->p > 8 && memcmp(r->p, "tensor<", 7) == 0))
    return remembered_tensor(r, out);
  mlir_detour detour;
  size_t n;
  mlir_alias *alias = *r->p == '!' ? hilo_mlir_alias_at(r, &n) : NULL;
  if (alias && alias->type) {
    r->p += n;
    *out = (hilo_type){alias->type};
    return true;
  }
  if (!mlir_enter(r, &r->type_depth, "types") || !hilo_mlir_enter_alias(r, &detour)) return false;
  const bool is_tensor = r->end - r->p > 8 && memcmp(r->p, "tensor<", 7) == 0;
  if (!(is_tensor ? remembered_tensor(r, out) : any_type(r, out))) return false;
  if (detour.back) detour.alias->type = out->ix;
  hilo_mlir_leave_alias(r, &detour);
  r->type_depth--;
  return true;
}

bool hilo_mlir_type_list_parens(mlir_reader *r, uint32_t *at, uint32_t *n) {
  *at = r->types.n;
  hilo_type type;
  if (!mlir_eat(r, '(')) {
    if (!hilo_mlir_type(r, &type)) return false;
    HILO_PUSH(&r->scratch->arena, &r->types, type);
    *n = 1;
    return true;
  }
  while (!mlir_eat(r, ')')) {
    if (r->types.n > *at && !mlir_want(r, ',', "or `)` in a list of types")) return false;
    if (!hilo_mlir_type(r, &type)) return false;
    HILO_PUSH(&r->scratch->arena, &r->types, type);
  }
  *n = r->types.n - *at;
  return true;
}

bool hilo_mlir_function_type(mlir_reader *r, uint32_t *inputs, uint32_t *n_inputs,
                             uint32_t *results, uint32_t *n_results) {
  mlir_skip(r);
  if (*r->p != '(') return hilo_mlir_want_slow(r, '(', "to start the type of a function");
  if (!hilo_mlir_type_list_parens(r, inputs, n_inputs)) return false;
  if (!hilo_mlir_eat_arrow(r)) return hilo_mlir_expected(r, "`->`");
  return hilo_mlir_type_list_parens(r, results, n_results);
}
