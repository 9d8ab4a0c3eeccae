/* Aliases: `#loc3 = loc("f.py":7:3)`, `!t = tensor<4xf32>`.
 *
 * Definitions stand on lines of their own, before or behind their uses, so that one walk over the
 * lines finds all of them before anything is read. The value is read where the alias is used, as if
 * it stood there; types and locations are remembered. */
#include "formats/mlir/mlir_impl.h"

/* The name (with # or !) of the definition that starts at p; length 0: none does. *value: behind
 * the `=`. */
static size_t definition_at(const char *p, const char *end, const char **value) {
  if ((*p != '#' && *p != '!') || p >= end) return 0;
  const char *q = p + 1;
  while (mlir_is(*q, MLIR_SUFFIX)) q++;
  const size_t n = (size_t)(q - p);
  while (*q == ' ' || *q == '\t') q++;
  if (n < 2 || q >= end || q[0] != '=' || q[1] == '=') return 0;
  *value = q + 1;
  return n;
}

uint32_t hilo_mlir_scan(mlir_reader *r) {
  uint64_t n = 0;
  const char *p = r->text;
  while (p < r->end) {
    const char *value, *start = p;
    while (*p == ' ' || *p == '\t') p++;
    n += p > start && p < r->end;
    if (HILO_UNLIKELY(*p == '#' || *p == '!')) {
      const size_t length = definition_at(p, r->end, &value);
      if (length) {
        const mlir_alias alias = {.name = {p, length}, .at = mlir_offset(r, value)};
        HILO_PUSH(&r->scratch->arena, &r->aliases, alias);
      }
    } else if (HILO_UNLIKELY(*p == '{' && p[1] == '-' && p[2] == '#')) {
      r->resources = p + 3;
      break;
    }
    const char *newline = memchr(p, '\n', (size_t)(r->end - p));
    p = newline ? newline + 1 : r->end;
  }
  hilo_str *words = HILO_NEW_ARRAY(&r->scratch->arena, hilo_str, r->aliases.n + 1);
  for (uint32_t i = 0; i < r->aliases.n; i++) words[i] = r->aliases.v[i].name;
  if (r->aliases.n < UINT16_MAX) hilo_mlir_words_init(r, &r->alias_words, words, r->aliases.n);
  enum { SHORTEST = 24 }; /* ` %1 = mhlo.tanh %0 : t` and the end of its line */
  const uint64_t most = (uint64_t)(r->end - r->text) / SHORTEST;
  if (n > most) n = most;
  return n < UINT32_MAX / 8 ? (uint32_t)n : UINT32_MAX / 8;
}

static mlir_alias *find(mlir_reader *r, const char *p, size_t n) {
  if (r->aliases.n < UINT16_MAX) {
    const int at = mlir_word_find(&r->alias_words, p, n);
    return at < 0 ? NULL : &r->aliases.v[at];
  }
  if (!r->alias_map.arena) {
    r->alias_map = hilo_map_make(&r->scratch->arena);
    for (uint32_t i = 0; i < r->aliases.n; i++)
      hilo_map_set(&r->alias_map, hilo_hash_bytes(r->aliases.v[i].name.p, r->aliases.v[i].name.n),
                   i + 1);
  }
  const uint32_t at = hilo_map_get(&r->alias_map, hilo_hash_bytes(p, n), 0);
  return at && hilo_str_eq(r->aliases.v[at - 1].name, (hilo_str){p, n}) ? &r->aliases.v[at - 1]
                                                                        : NULL;
}

mlir_alias *hilo_mlir_alias_at(mlir_reader *r, size_t *length) {
  const char *p = r->p;
  if (*p != '#' && *p != '!') return NULL;
  const hilo_str rest = mlir_suffix_at(p + 1);
  if (!rest.n || rest.p[rest.n] == '<' || memchr(rest.p, '.', rest.n)) return NULL;
  *length = rest.n + 1;
  return find(r, p, rest.n + 1);
}

bool hilo_mlir_alias_definition(mlir_reader *r) {
  const char *value;
  const size_t n = definition_at(r->p, r->end, &value);
  if (!n) return hilo_mlir_expected(r, "the definition of an alias, as `#name = value`");
  /* The value ends with its line, or with the line on which its brackets are closed. */
  uint32_t open = 0;
  const char *p = value;
  while (p < r->end && (*p == ' ' || *p == '\t')) p++;
  for (; p < r->end && (open || *p != '\n'); p++) {
    if (*p == '"') {
      const char *close = hilo_mlir_string_end(r, p);
      p = close ? close - 1 : r->end - 1;
    } else if (*p == '-' && p[1] == '>') {
      p++;
    } else if (*p == '/' && p[1] == '/') {
      const char *newline = memchr(p, '\n', (size_t)(r->end - p));
      p = newline ? newline - 1 : r->end - 1;
    } else if (*p == '(' || *p == '[' || *p == '{' || *p == '<') {
      open++;
    } else if (open && (*p == ')' || *p == ']' || *p == '}' || *p == '>')) {
      open--;
    }
  }
  r->p = p;
  return true;
}

bool hilo_mlir_enter_alias(mlir_reader *r, mlir_detour *detour) {
  size_t n;
  *detour = (mlir_detour){0};
  mlir_skip(r);
  if (HILO_LIKELY(*r->p != '#' && *r->p != '!')) return true;
  mlir_alias *alias = hilo_mlir_alias_at(r, &n);
  if (!alias) {
    const hilo_str rest = mlir_suffix_at(r->p + 1);
    if (rest.n && rest.p[rest.n] != '<' && !memchr(rest.p, '.', rest.n))
      return hilo_mlir_fail(r, HILO_DIAG_EMOD904, r->p, "the alias `%.*s` is not defined",
                            (int)(rest.n + 1 > 100 ? 100 : rest.n + 1), r->p);
    return true;
  }
  if (alias->is_busy)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD904, r->p, "the alias `%.*s` is defined by itself",
                          HILO_FMT(alias->name));
  if (!mlir_enter(r, &r->alias_depth, "aliases")) return false;
  detour->back = r->p + n;
  detour->alias = alias;
  alias->is_busy = true;
  r->p = r->text + alias->at;
  mlir_detour inner;
  if (!hilo_mlir_enter_alias(r, &inner)) return false;
  if (!inner.back) return true;
  /* An alias of an alias: come back from both at once. */
  inner.alias->is_busy = false;
  r->alias_depth--;
  return true;
}

void hilo_mlir_leave_alias(mlir_reader *r, const mlir_detour *detour) {
  if (!detour->back) return;
  detour->alias->is_busy = false;
  r->alias_depth--;
  r->p = detour->back;
}

bool hilo_mlir_keep_text(mlir_reader *r, const char *from, const char *to, hilo_sb *sb) {
  const char *p = from, *run = from, *const here = r->p;
  while (p < to) {
    if (*p == '"') {
      const char *close = hilo_mlir_string_end(r, p);
      p = close && close <= to ? close : to;
      continue;
    }
    if (*p != '#' && *p != '!') {
      p++;
      continue;
    }
    size_t n;
    r->p = p;
    mlir_detour detour;
    const mlir_alias *alias = hilo_mlir_alias_at(r, &n);
    if (!alias) {
      p++;
      continue;
    }
    hilo_sb_bytes(sb, run, (size_t)(p - run));
    if (!hilo_mlir_enter_alias(r, &detour)) return false;
    const char *start = r->p;
    if (!hilo_mlir_skip_value(r) || !hilo_mlir_keep_text(r, start, r->p, sb)) return false;
    hilo_mlir_leave_alias(r, &detour);
    p = run = r->p;
    if (sb->n > MLIR_MAX_KEPT_BYTES)
      return hilo_mlir_fail(r, HILO_DIAG_EMOD907, from,
                            "the attribute is too large: more than %d "
                            "bytes with its aliases",
                            MLIR_MAX_KEPT_BYTES);
  }
  hilo_sb_bytes(sb, run, (size_t)(to - run));
  r->p = here;
  return true;
}
