#include "partition/scope.h"

/* Transformations that are looked through, and what is left out with all inside it. */
static const char *const wrappers[] = {"transpose(", "jvp(", "vmap("};
static const char *const left_out[] = {"jit(", "pjit("};
/* Components without a layer's meaning, and primitives that end in a number. */
static const char *const no_scopes[] = {"checkpoint", "rematted_computation", "atan2", "exp2",
                                        "log2"};

static size_t word_at(hilo_str s, size_t at, const char *const *words, size_t n_words) {
  for (size_t k = 0; k < n_words; k++) {
    const size_t n = strlen(words[k]);
    if (s.n - at >= n && memcmp(s.p + at, words[k], n) == 0) return n;
  }
  return 0;
}

/* Just behind the parenthesis that closes the one before `at`. */
static size_t skip_parentheses(hilo_str s, size_t at) {
  for (uint32_t depth = 1; at < s.n && depth; at++) {
    if (s.p[at] == '(') depth++;
    if (s.p[at] == ')') depth--;
  }
  return at;
}

/* The name without wrappers. */
static hilo_str unwrap(hilo_str s, hilo_arena *arena, bool *backward) {
  char *text = HILO_NEW_ARRAY(arena, char, s.n + 1);
  size_t n = 0;
  for (size_t at = 0; at < s.n;) {
    const bool at_word = at == 0 || s.p[at - 1] == '/' || s.p[at - 1] == '(';
    const size_t wrapper = at_word ? word_at(s, at, wrappers, HILO_COUNT(wrappers)) : 0;
    const size_t out = at_word ? word_at(s, at, left_out, HILO_COUNT(left_out)) : 0;
    if (wrapper) *backward |= s.p[at] == 't';
    if (out)
      at = skip_parentheses(s, at + out);
    else if (wrapper)
      at += wrapper;
    else if (s.p[at] == ')')
      at++;
    else
      text[n++] = s.p[at++];
  }
  return (hilo_str){text, n};
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Split `name_3` into the length of `name` and 3. A bare number belongs to the component before. */
static bool split_number(hilo_str component, size_t *stem, uint64_t *number) {
  size_t at = component.n;
  while (at && is_digit(component.p[at - 1])) at--;
  const hilo_str digits = {component.p + at, component.n - at};
  if (!digits.n || digits.n > 9 || !hilo_str_parse_u64(digits, number)) return false;
  if (at > 1 && (component.p[at - 1] == '_' || component.p[at - 1] == '.')) at--;
  *stem = at;
  return true;
}

static bool is_no_scope(hilo_str component) {
  for (size_t k = 0; k < HILO_COUNT(no_scopes); k++)
    if (hilo_str_is(component, no_scopes[k])) return true;
  return false;
}

uint32_t hilo_scopes_of(hilo_str op_name, hilo_arena *arena, hilo_scope scopes[HILO_MAX_SCOPES],
                        bool *backward) {
  *backward = false;
  const hilo_str s = unwrap(op_name, arena, backward);
  uint32_t n = 0;
  for (size_t at = 0; at < s.n && n < HILO_MAX_SCOPES;) {
    const char *slash = memchr(s.p + at, '/', s.n - at);
    if (!slash) break; /* the primitive */
    const hilo_str component = {s.p + at, (size_t)(slash - s.p) - at};
    size_t stem = 0;
    uint64_t number = 0;
    if (!is_no_scope(component) && split_number(component, &stem, &number) && (stem || at))
      scopes[n++] = (hilo_scope){{s.p, at + stem}, (uint32_t)number};
    at += component.n + 1;
  }
  return n;
}
