#include "passes/stablehlo/marks.h"

#include "ir/neuron_input.h"
#include "passes/frontend.h"

void hilo_mark_add(hilo_module *m, hilo_inst i, const char *name, hilo_str value) {
  hilo_extra_attrs extra = hilo_inst_extra(m, i);
  hilo_sb sb = hilo_sb_make(m->arena);
  if (extra.mlir.ix) {
    hilo_sb_str(&sb, hilo_string_of(m, extra.mlir));
    hilo_sb_cat(&sb, ", ");
  }
  hilo_sb_printf(&sb, "%s = %.*s", name, HILO_FMT(value));
  extra.mlir = hilo_module_string(m, hilo_sb_view(&sb));
  hilo_sb_free(&sb);
  hilo_inst_set_extra(m, i, &extra);
}

/* The end of an entry: the next comma outside of brackets and strings. */
static const char *entry_end(const char *p, const char *end) {
  uint32_t depth = 0;
  for (; p < end && (depth || *p != ','); p++) {
    if (*p == '"') {
      for (p++; p < end && *p != '"'; p++)
        if (*p == '\\') p++;
      if (p == end) break;
    } else if (strchr("([{<", *p)) {
      depth++;
    } else if (depth && strchr(")]}>", *p)) {
      depth--;
    }
  }
  return p < end ? p : end;
}

/* The next entry of a dictionary's inside, and its name. False: there is none. */
static bool next_entry(hilo_str *rest, hilo_str *entry, hilo_str *name) {
  if (!rest->n) return false;
  const char *end = rest->p + rest->n, *stop = entry_end(rest->p, end);
  *entry = hilo_str_trim((hilo_str){rest->p, (size_t)(stop - rest->p)});
  *rest = stop < end ? (hilo_str){stop + 1, (size_t)(end - stop - 1)} : (hilo_str){0};
  size_t n = 0;
  while (n < entry->n && entry->p[n] != ' ' && entry->p[n] != '=') n++;
  *name = (hilo_str){entry->p, n};
  return true;
}

hilo_str hilo_mark_find(const hilo_module *m, hilo_inst i, const char *name) {
  const hilo_record record = hilo_inst_extra_record(m, i);
  const hilo_str none = {0};
  if (!record.ix) return none;
  hilo_str rest = hilo_string_of(m, hilo_extra_get(&m->records, record).mlir), entry, its_name;
  while (next_entry(&rest, &entry, &its_name))
    if (hilo_str_is(its_name, name) && entry.n > its_name.n)
      return (hilo_str){entry.p + its_name.n, entry.n - its_name.n};
  return none;
}

static int hex_digit(char c) {
  return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : c - 'a' + 10;
}

/* The text of a string that the reader has found well-formed. */
static hilo_str unescaped(hilo_arena *arena, hilo_str raw) {
  char *to = HILO_NEW_ARRAY(arena, char, raw.n + 1);
  size_t n = 0;
  for (size_t k = 0; k < raw.n; k++) {
    char c = raw.p[k];
    if (c == '\\' && k + 1 < raw.n) {
      c = raw.p[++k];
      if (c == 'n' || c == 't')
        c = c == 'n' ? '\n' : '\t';
      else if (c != '"' && c != '\\' && k + 1 < raw.n) {
        c = (char)(hex_digit(c) << 4 | hex_digit(raw.p[k + 1]));
        k++;
      }
    }
    to[n++] = c;
  }
  to[n] = 0;
  return (hilo_str){to, n};
}

/* `"x"` is x, `3 : i32` is 3, no value at all is true. */
static hilo_str plain_value(hilo_arena *arena, hilo_str entry, size_t name) {
  hilo_str value = hilo_str_trim((hilo_str){entry.p + name, entry.n - name});
  if (!value.n) return HILO_STR("true");
  value = hilo_str_trim((hilo_str){value.p + 1, value.n - 1}); /* the `=` */
  if (value.n >= 2 && *value.p == '"')
    return unescaped(arena, (hilo_str){value.p + 1, value.n - 2});
  const char *colon = value.n ? memchr(value.p, ':', value.n) : NULL;
  return hilo_str_copy(
      arena, hilo_str_trim(colon ? (hilo_str){value.p, (size_t)(colon - value.p)} : value));
}

void hilo_marks_take_neuron_text(hilo_module *m, hilo_inst i, hilo_str text) {
  hilo_extra_attrs extra = hilo_inst_extra(m, i);
  bool any = false;
  hilo_str entry, name;
  while (next_entry(&text, &entry, &name)) {
    if (!hilo_neuron_is_input(name)) continue;
    const hilo_str key = hilo_str_copy(m->arena, name);
    const hilo_str value = plain_value(m->arena, entry, name.n);
    extra.frontend = hilo_frontend_set(m, extra.frontend, key.p, value.p);
    any = true;
  }
  if (!any) return;
  hilo_inst_set_extra(m, i, &extra);
  hilo_neuron_take_input(m, i);
}

void hilo_marks_take_neuron(hilo_module *m, hilo_inst i) {
  hilo_marks_take_neuron_text(m, i, hilo_string_of(m, hilo_inst_extra(m, i).mlir));
}

/* `["a", "b"]` as `a,b`; p NULL: it is no such list. */
static hilo_str joined_names(hilo_arena *arena, hilo_str entry) {
  const char *at = entry.n ? memchr(entry.p, '[', entry.n) : NULL, *end = entry.p + entry.n;
  hilo_sb sb = hilo_sb_make(arena);
  if (!at) return (hilo_str){0};
  for (uint32_t k = 0; (at = memchr(at, '"', (size_t)(end - at))); k++) {
    const char *close = ++at;
    while (close < end && *close != '"') close += *close == '\\' ? 2 : 1;
    if (close >= end) return (hilo_str){0};
    const hilo_str name = unescaped(arena, (hilo_str){at, (size_t)(close - at)});
    if (name.n && memchr(name.p, ',', name.n)) return (hilo_str){0};
    if (k) hilo_sb_char(&sb, ',');
    hilo_sb_str(&sb, name);
    at = close + 1;
  }
  return hilo_str_copy(arena, hilo_sb_view(&sb));
}

void hilo_marks_take_names(hilo_module *m, hilo_str attributes) {
  static const char *const keys[] = {HILO_INPUT_NAMES, HILO_OUTPUT_NAMES};
  hilo_str entry, name;
  while (next_entry(&attributes, &entry, &name)) {
    for (size_t k = 0; k < HILO_COUNT(keys); k++) {
      if (!hilo_str_is(name, keys[k])) continue;
      const hilo_str list = joined_names(m->arena, entry);
      if (list.p) m->header.frontend = hilo_frontend_set(m, m->header.frontend, keys[k], list.p);
    }
  }
  hilo_neuron_take_names(m);
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool hilo_mark_next_int(hilo_str *value, char until, int64_t *out) {
  const char *p = value->p, *end = p + value->n;
  while (p < end && *p != until && !is_digit(*p)) {
    /* `i64` is a type */
    if (*p == 'i')
      while (p + 1 < end && is_digit(p[1])) p++;
    p++;
  }
  const char *first = p;
  while (p < end && is_digit(*p)) p++;
  *value = (hilo_str){p, (size_t)(end - p)};
  return hilo_str_parse_i64((hilo_str){first, (size_t)(p - first)}, out);
}

void hilo_marks_drop(hilo_module *m, hilo_inst i) {
  if (!hilo_inst_extra_record(m, i).ix) return;
  hilo_extra_attrs extra = hilo_inst_extra(m, i);
  if (!extra.mlir.ix) return;
  extra.mlir = HILO_STRING_EMPTY;
  hilo_inst_set_extra(m, i, &extra);
}
