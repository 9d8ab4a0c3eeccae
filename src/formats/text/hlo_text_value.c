/* Attribute values of HLO text that have a grammar of their own: windows, dimension labels, alias
 * pairs, names of computations. */
#include "formats/text/hlo_text_impl.h"

/* ---- windows ---- */

typedef struct {
  int64_t v[HILO_MAX_RANK];
  uint32_t n;
} numbers;

typedef enum { SIZE, STRIDE, PAD, LHS_DILATE, RHS_DILATE, RHS_REVERSAL, N_PARTS } window_part;
static const hilo_str part_names[N_PARTS] = {{"size", 4},        {"stride", 6},
                                             {"pad", 3},         {"lhs_dilate", 10},
                                             {"rhs_dilate", 10}, {"rhs_reversal", 12}};

typedef struct {
  numbers part[N_PARTS];
  numbers pad_high;
} window;

/* `3x3`; `1_1x0_0` for pads. */
static bool read_numbers(text_reader *r, window *w, window_part part) {
  numbers *to = &w->part[part];
  do {
    if (to->n == HILO_MAX_RANK)
      return hilo_text_fail(r, HILO_DIAG_EMOD907, r->p, "the window has more than %d dimensions",
                            HILO_MAX_RANK);
    if (!text_int(r, &to->v[to->n], "a number for each dimension, as in `3x3`")) return false;
    if (part == PAD) {
      if (!text_eat(r, '_')) return hilo_text_want(r, '_', "between low and high padding");
      if (!text_int(r, &w->pad_high.v[to->n], "a high padding")) return false;
      w->pad_high.n++;
    }
    to->n++;
  } while (text_eat(r, 'x'));
  return true;
}

static bool read_window(text_reader *r, window *w) {
  const char *start = r->p++;
  text_skip(r);
  while (!text_eat(r, '}')) {
    const hilo_str word = text_ident_at(r->p);
    uint32_t part = 0;
    while (part < N_PARTS && !hilo_str_eq(part_names[part], word)) part++;
    if (part == N_PARTS || word.p[word.n] != '=')
      return hilo_text_expected(r, "`size=`, `stride=`, `pad=`, `lhs_dilate=`, `rhs_dilate=`, "
                                   "`rhs_reversal=` or `}`");
    if (w->part[part].n)
      return hilo_text_fail(r, HILO_DIAG_EMOD900, r->p, "`%.*s` is given twice", HILO_FMT(word));
    r->p += word.n + 1;
    text_skip(r);
    if (!read_numbers(r, w, (window_part)part)) return false;
    text_skip(r);
    text_eat(r, ',');
    text_skip(r);
  }
  for (uint32_t part = 1; part < N_PARTS; part++)
    if (w->part[part].n && w->part[part].n != w->part[SIZE].n)
      return hilo_text_fail(r, HILO_DIAG_EMOD900, start, "`%.*s` has %u dimensions, `size` has %u",
                            HILO_FMT(part_names[part]), w->part[part].n, w->part[SIZE].n);
  return true;
}

static hilo_dims filled(numbers *x, uint32_t n, int64_t otherwise) {
  if (!x->n)
    for (uint32_t i = 0; i < n; i++) x->v[i] = otherwise;
  return (hilo_dims){x->v, n};
}

bool hilo_text_window(text_reader *r, uint32_t *out) {
  const char *start = r->p;
  if (*start != '{') return hilo_text_want(r, '{', "to start a window");
  const char *end = memchr(start, '}', (size_t)(r->end - start));
  const size_t length = end ? (size_t)(end + 1 - start) : 0;
  if (length) {
    const text_memo_slot *slot = hilo_text_memo_find(r, TEXT_MEMO_WINDOW, start, length);
    if (slot->n) {
      *out = slot->a;
      r->p = end + 1;
      return true;
    }
  }
  window w;
  memset(&w, 0, sizeof(w));
  if (!read_window(r, &w)) return false;
  const uint32_t n = w.part[SIZE].n;
  const hilo_window_attrs attrs = {
      .size = {w.part[SIZE].v, n},
      .stride = filled(&w.part[STRIDE], n, 1),
      .pad_low = filled(&w.part[PAD], n, 0),
      .pad_high = filled(&w.pad_high, n, 0),
      .window_dilation = filled(&w.part[RHS_DILATE], n, 1),
      .base_dilation = filled(&w.part[LHS_DILATE], n, 1),
      .reversal = filled(&w.part[RHS_REVERSAL], n, 0),
  };
  *out = n ? hilo_window_put(&r->m->records, &attrs).ix : 0;
  if (length && r->p == end + 1)
    hilo_text_memo_set(r, hilo_text_memo_find(r, TEXT_MEMO_WINDOW, start, length), TEXT_MEMO_WINDOW,
                       start, length, *out, 0);
  return true;
}

/* ---- dimension labels ---- */

typedef struct {
  int64_t first, second; /* batch and feature, or input and output feature */
  int64_t spatial[10];
  uint32_t n_spatial;
} labels;

/* `b01f`: a letter or digit for each dimension, `?` for one that has no role. */
static bool read_labels(text_reader *r, labels *l, const char *letters, const char *which) {
  const char *start = r->p;
  bool seen[12] = {0};
  memset(l, 0, sizeof(*l));
  for (int64_t i = 0;; i++, r->p++) {
    const char c = *r->p;
    uint32_t role;
    if (c == '?') continue;
    if (c == letters[0] || c == letters[1])
      role = 10 + (c == letters[1]);
    else if (c >= '0' && c <= '9')
      role = (uint32_t)(c - '0');
    else
      break;
    if (seen[role])
      return hilo_text_fail(r, HILO_DIAG_EMOD900, r->p, "the %s has two dimensions `%c`", which, c);
    seen[role] = true;
    if (role == 10)
      l->first = i;
    else if (role == 11)
      l->second = i;
    else
      l->spatial[role] = i;
  }
  while (l->n_spatial < 10 && seen[l->n_spatial]) l->n_spatial++;
  for (uint32_t d = l->n_spatial; d < 10; d++)
    if (seen[d])
      return hilo_text_fail(r, HILO_DIAG_EMOD900, start,
                            "the %s has a spatial dimension %u, but no %u", which, d, l->n_spatial);
  if (!seen[10] || !seen[11])
    return hilo_text_fail(r, HILO_DIAG_EMOD900, start, "the %s has no dimension `%c`", which,
                          letters[seen[10]]);
  return true;
}

bool hilo_text_dim_labels(text_reader *r, uint32_t *out) {
  const char *start = r->p;
  labels in, kernel, result;
  if (!read_labels(r, &in, "bf", "input")) return false;
  if (!text_eat(r, '_'))
    return hilo_text_want(r, '_', "between the input's and the kernel's dimensions");
  if (!read_labels(r, &kernel, "io", "kernel")) return false;
  if (r->p[0] != '-' || r->p[1] != '>')
    return hilo_text_expected(r, "`->` and the result's dimensions");
  r->p += 2;
  if (!read_labels(r, &result, "bf", "result")) return false;
  if (text_is(*r->p, TEXT_IDENT)) return hilo_text_expected(r, "the end of the dimension labels");
  if (in.n_spatial != kernel.n_spatial || in.n_spatial != result.n_spatial)
    return hilo_text_fail(r, HILO_DIAG_EMOD900, start,
                          "input, kernel and result have %u, %u and %u spatial dimensions",
                          in.n_spatial, kernel.n_spatial, result.n_spatial);
  const hilo_conv_dims_attrs attrs = {
      .input_batch = in.first,
      .input_feature = in.second,
      .input_spatial = {in.spatial, in.n_spatial},
      .kernel_input_feature = kernel.first,
      .kernel_output_feature = kernel.second,
      .kernel_spatial = {kernel.spatial, kernel.n_spatial},
      .output_batch = result.first,
      .output_feature = result.second,
      .output_spatial = {result.spatial, result.n_spatial},
  };
  *out = hilo_conv_dims_put(&r->m->records, &attrs).ix;
  return true;
}

/* ---- aliases ---- */

bool hilo_text_shape_index(text_reader *r, uint32_t *at, uint32_t *n) {
  text_skip(r);
  if (!hilo_text_ints(r, '{', '}', at, n, "a tuple index")) return false;
  for (uint32_t i = 0; i < *n; i++)
    if (r->ints.v[*at + i] < 0)
      return hilo_text_fail(r, HILO_DIAG_EMOD916, r->p, "a tuple index is negative");
  return true;
}

/* `{{0}: (1, {}), {1}: (0, {0})}`: count and result index, operand, count and operand index. */
bool hilo_text_aliasing(text_reader *r, uint32_t *at, uint32_t *n) {
  *at = r->ints.n;
  if (!text_want(r, '{', "to start a list of aliases")) return false;
  text_skip(r);
  while (!text_eat(r, '}')) {
    uint32_t index, length;
    int64_t operand;
    const uint32_t count = r->ints.n;
    TEXT_PUSH_INT(r, 0);
    if (!hilo_text_shape_index(r, &index, &length)) return false;
    r->ints.v[count] = length;
    if (!text_want(r, ':', "behind the index of a result") ||
        !text_want(r, '(', "before an operand"))
      return false;
    text_skip(r);
    if (!text_int(r, &operand, "the number of an operand") ||
        !text_want(r, ',', "behind an operand"))
      return false;
    TEXT_PUSH_INT(r, operand);
    const uint32_t count2 = r->ints.n;
    TEXT_PUSH_INT(r, 0);
    if (!hilo_text_shape_index(r, &index, &length)) return false;
    r->ints.v[count2] = length;
    if (!text_want(r, ')', "behind an alias")) return false;
    text_skip(r);
    if (*r->p != '}' && !text_want(r, ',', "or `}` behind an alias")) return false;
    text_skip(r);
  }
  *n = r->ints.n - *at;
  return true;
}

/* ---- computations ---- */

bool hilo_text_computation_name(text_reader *r, uint32_t *out) {
  text_eat(r, '%');
  const hilo_str name = text_ident_at(r->p);
  if (!name.n) return hilo_text_expected(r, "the name of a computation");
  r->p += name.n;
  const text_symbol *s = hilo_text_symbol(r, &r->comps, name, hilo_hash_name(name.p, name.n));
  if (s->n && s->value != TEXT_POISON) {
    *out = s->value;
    return true;
  }
  *out = TEXT_POISON;
  r->poisoned = true;
  if (s->n && s->scope == TEXT_COMP_FAILED) return true; /* its errors have been reported */
  if (s->n)
    return hilo_text_fail(r, HILO_DIAG_EMOD920, name.p,
                          "`%.*s` calls itself: computations are not recursive", HILO_FMT(name));
  const text_missing missing = {text_offset(r, name.p), (uint32_t)name.n, r->errors.n, 0};
  HILO_PUSH(&r->scratch->arena, &r->missing_comps, missing);
  hilo_text_fail(r, HILO_DIAG_EMOD903, name.p, "there is no computation `%.*s`", HILO_FMT(name));
  return true;
}
