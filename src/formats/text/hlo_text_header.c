/* The head of a module in HLO text: the `HloModule` line and the tables of stack frames. */
#include "formats/text/hlo_text_impl.h"

bool hilo_text_at_keyword(const text_reader *r, const char *word) {
  return hilo_str_is(text_ident_at(r->p), word);
}

/* ---- lists of the header ---- */

/* A shape index kept in the module's arena. */
static bool keep_index(text_reader *r, hilo_dims *out) {
  uint32_t at = 0, n = 0;
  if (!hilo_text_shape_index(r, &at, &n)) return false;
  int64_t *copy = HILO_NEW_ARRAY(r->arena, int64_t, n);
  if (n) memcpy(copy, r->ints.v + at, n * sizeof(*copy));
  r->ints.n = at;
  *out = (hilo_dims){copy, n};
  return true;
}

static bool parameter_number(text_reader *r, int64_t *out) {
  text_skip(r);
  const char *at = r->p;
  if (!text_int(r, out, "the number of a parameter")) return false;
  return *out >= 0 ||
         hilo_text_fail(r, HILO_DIAG_EMOD916, at, "the number of a parameter is negative");
}

/* `{ {0}: (1, {}, may-alias), … }` */
static bool read_aliases(text_reader *r) {
  if (!text_want(r, '{', "to start the aliases")) return false;
  text_skip(r);
  while (!text_eat(r, '}')) {
    hilo_alias alias = {.kind = HILO_ALIAS_MAY};
    const uint32_t at = text_offset(r, r->p);
    if (!keep_index(r, &alias.output_index) ||
        !text_want(r, ':', "behind the index of an output") ||
        !text_want(r, '(', "before the number of a parameter") ||
        !parameter_number(r, &alias.param) ||
        !text_want(r, ',', "behind the number of a parameter") ||
        !keep_index(r, &alias.param_index))
      return false;
    text_skip(r);
    if (text_eat(r, ',')) {
      text_skip(r);
      const hilo_str word = text_ident_at(r->p);
      const bool must = hilo_str_is(word, "must-alias");
      if (!must && !hilo_str_is(word, "may-alias"))
        return hilo_text_expected(r, "`may-alias` or `must-alias`");
      r->p += word.n;
      if (must) alias.kind = HILO_ALIAS_MUST;
    }
    if (!text_want(r, ')', "behind an alias")) return false;
    HILO_PUSH(r->arena, &r->m->header.aliases, alias);
    HILO_PUSH(&r->scratch->arena, &r->alias_at, at);
    text_skip(r);
    if (*r->p != '}' && !text_want(r, ',', "or `}` behind an alias")) return false;
    text_skip(r);
  }
  return true;
}

/* `{ (0, {}), … }` */
static bool read_donors(text_reader *r) {
  if (!text_want(r, '{', "to start the buffer donors")) return false;
  text_skip(r);
  while (!text_eat(r, '}')) {
    hilo_buffer_donor donor;
    const uint32_t at = text_offset(r, r->p);
    if (!text_want(r, '(', "before the number of a parameter") ||
        !parameter_number(r, &donor.param) ||
        !text_want(r, ',', "behind the number of a parameter") ||
        !keep_index(r, &donor.param_index) || !text_want(r, ')', "behind a buffer donor"))
      return false;
    HILO_PUSH(r->arena, &r->m->header.buffer_donors, donor);
    HILO_PUSH(&r->scratch->arena, &r->donor_at, at);
    text_skip(r);
    if (*r->p != '}' && !text_want(r, ',', "or `}` behind a buffer donor")) return false;
    text_skip(r);
  }
  return true;
}

/* `{(type, …)->type}` */
static bool read_entry_layout(text_reader *r) {
  hilo_vec(hilo_type) params = {0};
  r->layout_at = text_offset(r, r->p);
  if (!text_want(r, '{', "to start the layout of the entry") ||
      !text_want(r, '(', "before the parameters"))
    return false;
  text_skip(r);
  while (!text_eat(r, ')')) {
    hilo_type type;
    text_skip(r);
    if (!hilo_text_type(r, &type)) return false;
    HILO_PUSH(&r->scratch->arena, &params, type);
    text_skip(r);
    if (*r->p != ')' && !text_want(r, ',', "or `)` behind the type of a parameter")) return false;
    text_skip(r);
  }
  text_skip(r);
  if (r->p[0] != '-' || r->p[1] != '>')
    return hilo_text_expected(r, "`->` and the type of the result");
  r->p += 2;
  text_skip(r);
  hilo_module_header *h = &r->m->header;
  if (!hilo_text_type(r, &h->entry_result_type)) return false;
  h->entry_param_types = HILO_NEW_ARRAY(r->arena, hilo_type, params.n + 1);
  if (params.n) memcpy(h->entry_param_types, params.v, params.n * sizeof(*params.v));
  h->n_entry_param_types = params.n;
  return text_want(r, '}', "behind the layout of the entry");
}

static bool read_bools(text_reader *r, hilo_dims *out) {
  uint32_t at, n;
  if (!hilo_text_bools(r, &at, &n)) return false;
  int64_t *copy = HILO_NEW_ARRAY(r->arena, int64_t, n);
  if (n) memcpy(copy, r->ints.v + at, n * sizeof(*copy));
  r->ints.n = at;
  *out = (hilo_dims){copy, n};
  return true;
}

static bool read_count(text_reader *r, int64_t *out) {
  const char *at = r->p;
  if (!text_int(r, out, "a count")) return false;
  return *out > 0 || hilo_text_fail(r, HILO_DIAG_EMOD900, at, "the count is at least 1, saw %lld",
                                    (long long)*out);
}

/* Kept as it stands: `, name={…}`. */
static bool keep_verbatim(text_reader *r, hilo_str name) {
  const char *close = *r->p == '{' ? text_close(r, r->p) : NULL;
  if (!close) return hilo_text_expected(r, "braces that are closed");
  r->m->header.header_words = hilo_str_copy(r->arena, (hilo_str){name.p, (size_t)(close - name.p)});
  r->p = close;
  return true;
}

/* ---- the line ---- */

static const hilo_str words[] = {
#define W(text)                                                                                    \
  { text, sizeof(text) - 1 }
    W("is_scheduled"),
    W("input_output_alias"),
    W("buffer_donor"),
    W("alias_passthrough_params"),
    W("entry_computation_layout"),
    W("allow_spmd_sharding_propagation_to_parameters"),
    W("allow_spmd_sharding_propagation_to_output"),
    W("replica_count"),
    W("num_partitions"),
    W("frontend_attributes"),
    W("origin_recovery_table"),
#undef W
};

static bool read_attribute(text_reader *r, hilo_str name, uint32_t which) {
  hilo_module_header *h = &r->m->header;
  switch (which) {
  case 0: return hilo_text_bool(r, &h->is_scheduled);
  case 1: return read_aliases(r);
  case 2: return read_donors(r);
  case 3: return hilo_text_bool(r, &h->alias_passthrough_params);
  case 4: return read_entry_layout(r);
  case 5: return read_bools(r, &h->allow_spmd_params);
  case 6: return read_bools(r, &h->allow_spmd_output);
  case 7: return read_count(r, &h->num_replicas);
  case 8: return read_count(r, &h->num_partitions);
  case 9: {
    uint32_t record;
    if (!hilo_text_frontend(r, &record)) return false;
    h->frontend.ix = record;
    return true;
  }
  default: return keep_verbatim(r, name);
  }
}

bool hilo_text_header(text_reader *r) {
  r->p += strlen("HloModule");
  text_skip(r);
  const hilo_str name = text_ident_at(r->p);
  if (!name.n) return hilo_text_expected(r, "the name of the module");
  r->p += name.n;
  r->m->header.name = hilo_string_put(&r->m->strings, name);
  uint32_t seen = 0;
  for (;;) {
    text_skip(r);
    if (!text_eat(r, ',')) return true;
    text_skip(r);
    const hilo_str word = text_ident_at(r->p);
    if (!word.n || word.p[word.n] != '=') return hilo_text_expected(r, "an attribute `name=value`");
    uint32_t which = 0;
    while (which < HILO_COUNT(words) && !hilo_str_eq(words[which], word)) which++;
    if (which == HILO_COUNT(words)) {
      const hilo_str near = hilo_str_nearest(word, words, HILO_COUNT(words));
      return hilo_text_fail(r, HILO_DIAG_EMOD900, word.p,
                            "a module has no attribute `%.*s`%s%.*s%s", HILO_FMT(word),
                            near.n ? "; did you mean `" : "", HILO_FMT(near), near.n ? "`?" : "");
    }
    if (seen >> which & 1)
      return hilo_text_fail(r, HILO_DIAG_EMOD900, word.p, "the attribute `%.*s` is given twice",
                            HILO_FMT(word));
    seen |= 1u << which;
    r->p += word.n + 1;
    text_skip(r);
    if (!read_attribute(r, word, which)) return false;
  }
}

/* ---- stack frames ---- */

/* `1 "name"` for each entry; numbers count from 1. */
static bool read_names(text_reader *r, const char *title, hilo_string **out, uint32_t *n) {
  hilo_vec(hilo_string) list = {0};
  text_skip(r);
  if (!hilo_text_at_keyword(r, title)) {
    const hilo_str seen = hilo_text_seen(r, r->p);
    return hilo_text_fail(r, HILO_DIAG_EMOD900, r->p, "expected `%s`, saw %.*s", title,
                          HILO_FMT(seen));
  }
  r->p += strlen(title);
  for (text_skip(r); text_is(*r->p, TEXT_DIGIT); text_skip(r)) {
    int64_t number;
    hilo_string name;
    const char *at = r->p;
    if (!text_int(r, &number, "a number")) return false;
    if (number != list.n + 1)
      return hilo_text_fail(r, HILO_DIAG_EMOD900, at, "expected the number %u, saw %lld",
                            list.n + 1, (long long)number);
    text_skip(r);
    if (!hilo_text_string_put(r, &name, "a name in quotes")) return false;
    HILO_PUSH(&r->scratch->arena, &list, name);
  }
  *out = HILO_NEW_ARRAY(r->arena, hilo_string, list.n);
  if (list.n) memcpy(*out, list.v, list.n * sizeof(*list.v));
  *n = list.n;
  HILO_VEC_FREE(&r->scratch->arena, &list);
  return true;
}

/* `1 {file_name_id=1 line=2 …}`: the values of `names`, in their order, on `ints`. */
static bool read_rows(text_reader *r, const char *title, const hilo_str *names, uint32_t n_names,
                      uint32_t *n) {
  text_skip(r);
  if (!hilo_text_at_keyword(r, title)) {
    const hilo_str seen = hilo_text_seen(r, r->p);
    return hilo_text_fail(r, HILO_DIAG_EMOD900, r->p, "expected `%s`, saw %.*s", title,
                          HILO_FMT(seen));
  }
  r->p += strlen(title);
  *n = 0;
  for (text_skip(r); text_is(*r->p, TEXT_DIGIT); text_skip(r), ++*n) {
    int64_t number;
    const char *at = r->p;
    if (!text_int(r, &number, "a number")) return false;
    if (number != *n + 1)
      return hilo_text_fail(r, HILO_DIAG_EMOD900, at, "expected the number %u, saw %lld", *n + 1,
                            (long long)number);
    if (!text_want(r, '{', "behind the number")) return false;
    const uint32_t row = r->ints.n;
    for (uint32_t i = 0; i < n_names; i++) TEXT_PUSH_INT(r, 0);
    text_skip(r);
    while (!text_eat(r, '}')) {
      const hilo_str word = text_ident_at(r->p);
      uint32_t i = 0;
      while (i < n_names && !hilo_str_eq(names[i], word)) i++;
      if (i == n_names || word.p[word.n] != '=')
        return hilo_text_expected(r, "a field of this table or `}`");
      r->p += word.n + 1;
      text_skip(r);
      if (!text_int(r, &r->ints.v[row + i], "an integer")) return false;
      text_skip(r);
      text_eat(r, ',');
      text_skip(r);
    }
  }
  return true;
}

static uint32_t as_id(int64_t v) { return v >= 0 && v <= UINT32_MAX ? (uint32_t)v : 0; }

bool hilo_text_stack_frames(text_reader *r) {
  static const hilo_str location_names[] = {{"file_name_id", 12}, {"function_name_id", 16},
                                            {"line", 4},          {"end_line", 8},
                                            {"column", 6},        {"end_column", 10}};
  static const hilo_str frame_names[] = {{"file_location_id", 16}, {"parent_frame_id", 15}};
  hilo_module_header *h = &r->m->header;
  uint32_t n = 0;
  if (!read_names(r, "FileNames", &h->stack.file_names, &h->stack.n_file_names) ||
      !read_names(r, "FunctionNames", &h->stack.function_names, &h->stack.n_function_names) ||
      !read_rows(r, "FileLocations", location_names, HILO_COUNT(location_names), &n))
    return false;
  h->stack.locations = HILO_NEW_ARRAY(r->arena, struct hilo_file_location, n);
  h->stack.n_locations = n;
  for (uint32_t i = 0; i < n; i++) {
    const int64_t *v = r->ints.v + (size_t)i * HILO_COUNT(location_names);
    h->stack.locations[i] =
        (struct hilo_file_location){as_id(v[0]), as_id(v[1]), v[2], v[3], v[4], v[5]};
  }
  r->ints.n = 0;
  if (!read_rows(r, "StackFrames", frame_names, HILO_COUNT(frame_names), &n)) return false;
  h->stack.frames = HILO_NEW_ARRAY(r->arena, struct hilo_stack_frame, n);
  h->stack.n_frames = n;
  for (uint32_t i = 0; i < n; i++) {
    const int64_t *v = r->ints.v + 2 * (size_t)i;
    /* The text has the parent's number plus one; a frame without a parent names itself or 1. */
    h->stack.frames[i] = (struct hilo_stack_frame){as_id(v[0]), as_id(v[1] - 1)};
  }
  r->ints.n = 0;
  return true;
}
