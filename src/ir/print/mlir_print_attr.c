/* The dictionary of attributes behind an operation: what its operation has no other place for, and
 * what any instruction may carry. Entries are collected, sorted by name and printed. */
#include "ir/print/mlir_print_impl.h"

hilo_sb *mlir_dict_add(mlir_printer *p, hilo_str key) {
  if (p->dict.n) p->dict.v[p->dict.n - 1].n = p->tmp.n - p->dict.v[p->dict.n - 1].at;
  HILO_PUSH(p->scratch, &p->dict, ((mlir_dict_item){key, p->tmp.n, 0}));
  return &p->tmp;
}

/* The end of the value (or key) at `p`: the next comma, or `=` if `key`, outside of brackets and
 * strings. */
static const char *entry_end(const char *p, const char *end, bool key) {
  uint32_t depth = 0;
  for (; p < end; p++) {
    if (*p == '"') {
      for (p++; p < end && *p != '"'; p++)
        if (*p == '\\') p++;
    } else if (strchr("([{<", *p)) {
      depth++;
    } else if (strchr(")]}", *p) || (*p == '>' && p[-1] != '-')) {
      if (depth) depth--;
    } else if (!depth && (*p == ',' || (key && *p == '='))) {
      return p;
    }
  }
  return end;
}

static mlir_word_place place_of(hilo_str key) {
  if (hilo_str_is(key, "name")) return MLIR_WORD_NAME;
  if (hilo_str_is(key, "manual_axes")) return MLIR_WORD_LAST;
  const bool leads =
      hilo_str_ends(key, "_axes") || hilo_str_is(key, "axes") || hilo_str_is(key, "params");
  return leads ? MLIR_WORD_LEADING : MLIR_WORD_BEHIND;
}

/* As it stands behind a word: numbers without their type, directions by name. */
static hilo_str bare_value(hilo_str key, hilo_str value) {
  static const char *const directions[] = {"NONE", "FORWARD", "BACKWARD", "BOTH"};
  const char *colon =
      value.n && *value.p >= '0' && *value.p <= '9' ? memchr(value.p, ':', value.n) : NULL;
  int64_t number;
  if (!colon) return value;
  value = hilo_str_trim((hilo_str){value.p, (size_t)(colon - value.p)});
  if (hilo_str_is(key, "allowed_direction") && hilo_str_parse_i64(value, &number) && number >= 0 &&
      number < (int64_t)HILO_COUNT(directions))
    return hilo_str_of(directions[number]);
  return value;
}

void mlir_print_words(mlir_printer *p, hilo_str dictionary, mlir_word_place place) {
  if (dictionary.n < 2) return;
  const char *at = dictionary.p + 1, *end = dictionary.p + dictionary.n - 1;
  while (at < end) {
    const char *key_end = entry_end(at, end, true);
    const char *value_end = key_end < end ? entry_end(key_end + 1, end, false) : end;
    const char *from = key_end < end ? key_end + 1 : end;
    const hilo_str key = hilo_str_trim((hilo_str){at, (size_t)(key_end - at)});
    const hilo_str value =
        bare_value(key, hilo_str_trim((hilo_str){from, (size_t)(value_end - from)}));
    at = value_end + 1;
    if (place_of(key) != place) continue;
    hilo_sb_char(p->out, place == MLIR_WORD_NAME ? '<' : ' ');
    if (place == MLIR_WORD_BEHIND || place == MLIR_WORD_LAST) {
      hilo_sb_str(p->out, key);
      hilo_sb_char(p->out, '=');
    }
    hilo_sb_str(p->out, value);
    if (place == MLIR_WORD_NAME) hilo_sb_char(p->out, '>');
  }
}

static bool is_word(const char *p, const char *end) {
  for (; p < end; p++)
    if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || *p == '_')) return false;
  return true;
}

void mlir_dict_add_text(mlir_printer *p, hilo_str text) {
  const char *at = text.p, *end = text.p + text.n;
  while (at < end) {
    const char *key_end = entry_end(at, end, true), *value_end = key_end;
    hilo_str value = {0};
    if (key_end < end && *key_end == '=') {
      value_end = entry_end(key_end + 1, end, false);
      value = hilo_str_trim((hilo_str){key_end + 1, (size_t)(value_end - key_end - 1)});
    }
    hilo_sb_str(mlir_dict_add(p, hilo_str_trim((hilo_str){at, (size_t)(key_end - at)})), value);
    at = value_end < end ? value_end + 1 : end;
  }
}

/* Names are sorted without their quotes. */
static int compare_keys(hilo_str a, hilo_str b) {
  if (a.n && *a.p == '"') a = (hilo_str){a.p + 1, a.n - 1};
  if (b.n && *b.p == '"') b = (hilo_str){b.p + 1, b.n - 1};
  return hilo_str_compare(a, b);
}

void mlir_dict_print(mlir_printer *p, const char *open) {
  if (!p->dict.n) return;
  p->dict.v[p->dict.n - 1].n = p->tmp.n - p->dict.v[p->dict.n - 1].at;
  for (uint32_t k = 1; k < p->dict.n; k++) {
    const mlir_dict_item item = p->dict.v[k];
    uint32_t at = k;
    for (; at && compare_keys(item.key, p->dict.v[at - 1].key) < 0; at--)
      p->dict.v[at] = p->dict.v[at - 1];
    p->dict.v[at] = item;
  }
  hilo_sb_cat(p->out, open);
  for (uint32_t k = 0; k < p->dict.n; k++) {
    if (k) PRINT(p->out, ", ");
    hilo_sb_str(p->out, p->dict.v[k].key);
    if (!p->dict.v[k].n) continue; /* a unit attribute */
    PRINT(p->out, " = ");
    hilo_sb_bytes(p->out, p->tmp.p + p->dict.v[k].at, p->dict.v[k].n);
  }
  hilo_sb_char(p->out, '}');
  p->dict.n = 0;
  hilo_sb_clear(&p->tmp);
}

bool mlir_has_extra(const mlir_printer *p, hilo_inst i) {
  const uint32_t ix = hilo_ix(p->m, i);
  return p->m->inst.extra[ix] ||
         hilo_type_row_of(&p->m->types, (hilo_type){p->m->inst.type[ix]})->bare;
}

/* Shardy's own form is an attribute of its own; all others are HLO's text. */
void mlir_dict_add_sharding(mlir_printer *p, hilo_record sharding, hilo_record spelling,
                            bool in_signature) {
  enum { NAMED = 100 };
  const hilo_sharding_attrs s = hilo_sharding_get(&p->m->records, sharding);
  const hilo_str named = hilo_string_of(p->m, s.named);
  if (s.kind == NAMED && named.n && *named.p == '<') {
    hilo_sb *out = DICT(p, "sdy.sharding");
    hilo_sb_cat(out, in_signature ? "#sdy.sharding" : "#sdy.sharding_per_value<[");
    hilo_sb_str(out, named);
    if (!in_signature) PRINT(out, "]>");
    return;
  }
  hilo_sb text = hilo_sb_make(p->scratch);
  hilo_hlo_print_sharding(p->m, sharding, spelling, &text);
  hilo_mlir_print_string(hilo_sb_view(&text), DICT(p, "mhlo.sharding"));
  hilo_sb_free(&text);
}

void mlir_dict_add_frontend(mlir_printer *p, hilo_record frontend) {
  const hilo_dims kv = hilo_string_map_get(&p->m->records, frontend).kv;
  hilo_sb *out = DICT(p, "mhlo.frontend_attributes");
  hilo_sb_char(out, '{');
  for (uint32_t k = 0; k + 1 < kv.n; k += 2) {
    if (k) PRINT(out, ", ");
    hilo_mlir_print_identifier(hilo_string_of(p->m, (hilo_string){(uint32_t)kv.v[k]}), out);
    PRINT(out, " = ");
    hilo_mlir_print_string(hilo_string_of(p->m, (hilo_string){(uint32_t)kv.v[k + 1]}), out);
  }
  hilo_sb_char(out, '}');
}

void mlir_dict_add_shape(mlir_printer *p, const char *key, hilo_type type) {
  hilo_sb text = hilo_sb_make(p->scratch);
  hilo_type_print(&p->m->types, &p->m->records, &p->m->strings, type, true, &text);
  hilo_mlir_print_string(hilo_sb_view(&text), mlir_dict_add(p, hilo_str_of(key)));
  hilo_sb_free(&text);
}

void mlir_dict_add_layout(mlir_printer *p, hilo_record layout, uint32_t rank) {
  hilo_sb text = hilo_sb_make(p->scratch);
  hilo_layout_print(&p->m->types, &p->m->records, &p->m->strings, layout, rank, &text);
  hilo_mlir_print_string(hilo_sb_view(&text), DICT(p, "mhlo.layout_mode"));
  hilo_sb_free(&text);
}

/* MLIR's dictionary, not JSON's: the first name is followed by `=`. */
static bool is_dictionary(hilo_str text) {
  if (text.n < 2 || text.p[0] != '{' || text.p[text.n - 1] != '}') return false;
  const hilo_str inner = hilo_str_trim((hilo_str){text.p + 1, text.n - 2});
  const char *end = inner.p + inner.n, *at = entry_end(inner.p, end, true);
  return !inner.n || (at < end && *at == '=') ||
         (is_word(inner.p, at) && !memchr(inner.p, ':', (size_t)(at - inner.p)));
}

void mlir_add_backend_config(mlir_printer *p, hilo_str text, bool typed) {
  if (!is_dictionary(text))
    hilo_mlir_print_string(text, DICT(p, "backend_config"));
  else if (typed)
    hilo_sb_str(DICT(p, "backend_config"), text);
  else
    hilo_sb_str(DICT(p, "mhlo.backend_config"), text);
}

void mlir_dict_add_extra(mlir_printer *p, hilo_inst i) {
  const hilo_module *m = p->m;
  const hilo_type type = hilo_inst_type(m, i);
  const hilo_op op = hilo_inst_op(m, i);
  const hilo_record record = hilo_inst_extra_record(m, i);
  const hilo_str kept =
      record.ix ? hilo_string_of(m, hilo_extra_get(&m->records, record).mlir) : (hilo_str){0};
  const bool has_shape = kept.n && memmem(kept.p, kept.n, "xla_shape", strlen("xla_shape"));
  if (hilo_type_row_of(&m->types, type)->bare && !has_shape)
    mlir_dict_add_shape(p, "xla_shape", type);
  if (!record.ix) return;
  const hilo_extra_attrs e = hilo_extra_get(&m->records, record);
  if (e.frontend.ix) mlir_dict_add_frontend(p, e.frontend);
  if (e.sharding.ix) mlir_dict_add_sharding(p, e.sharding, e.sharding_spelling, false);
  if (e.backend_config.ix && op != HILO_OP_CUSTOM_CALL) {
    const hilo_str text = hilo_string_of(m, e.backend_config);
    hilo_sb *out = DICT(p, "mhlo.backend_config");
    if (is_dictionary(text))
      hilo_sb_str(out, text);
    else
      hilo_mlir_print_string(text, out);
  }
  if (e.origin.ix)
    hilo_mlir_print_string(hilo_string_of(m, e.origin), DICT(p, "mhlo.original_value"));
  if (e.mlir.ix) mlir_dict_add_text(p, hilo_string_of(m, e.mlir));
  if (e.channel_id > 0 && !hilo_inst_has(m, i, HILO_TRAIT_COLLECTIVE | HILO_TRAIT_TRANSFER))
    hilo_sb_printf(DICT(p, "channel_id"), "%lld : i64", (long long)e.channel_id);
}
