/* Reading a module from HLO text: set-up, the sequence of its parts, and the checks that need all
 * of it. */
#include "formats/text/hlo_text_impl.h"

#include "ir/hlo_print.h"

#include <stdio.h>

/* ---- words ---- */

static const hilo_str op_words[HILO_OP_COUNT] = {
    [0] = {"", 0},
#define HILO_OP(op, hlo, mlir, min, max, family, traits, shape, eval, emitter)                     \
  [HILO_OP_##op] = {hlo, sizeof(hlo) - 1},
#include "ir/ops.def"
#undef HILO_OP
};

static const hilo_str etype_words[HILO_ETYPE_COUNT] = {
#define HILO_ETYPE(etype, number, hlo, mlir, bits, class) {hlo, sizeof(hlo) - 1},
#include "ir/etypes.def"
#undef HILO_ETYPE
};

/* ---- set-up ---- */

/* Instructions stand on lines of their own, two blanks in; what does not is met by growth. Many
 * lines without instructions do not count: room is for no more than the text can hold. */
static uint32_t count_instructions(const char *p, const char *end) {
  enum { SHORTEST = 16 }; /* ` a=f32[]tanh(b)` and the end of its line */
  const uint64_t most = (uint64_t)(end - p) / SHORTEST;
  uint64_t n = 0;
  while ((p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
    p++;
    n += p < end && (*p == ' ' || *p == '\t');
  }
  if (n > most) n = most;
  return n < UINT32_MAX / 4 ? (uint32_t)n : UINT32_MAX / 4;
}

/* The text without the blanks at its end; the byte behind it is a blank, if need be in a copy. */
static hilo_str settle(hilo_scratch *scratch, hilo_str text) {
  size_t n = text.n;
  while (n && text_is(text.p[n - 1], TEXT_BLANK)) n--;
  if (n < text.n) return (hilo_str){text.p, n};
  char *copy = hilo_arena_resize_block(&scratch->arena, NULL, n + 1);
  if (n) memcpy(copy, text.p, n);
  copy[n] = '\n';
  return (hilo_str){copy, n};
}

static void init_parts(text_reader *r, hilo_arena *arena, hilo_scratch *scratch, hilo_str text,
                       hilo_str file_name, hilo_diags *diags) {
  memset(r, 0, sizeof(*r));
  r->arena = arena;
  r->scratch = scratch;
  r->text = r->p = text.p;
  r->end = text.p + text.n;
  r->file_name = file_name;
  r->diags = diags;
  r->entry_at = UINT32_MAX;
  r->sb = hilo_sb_make(&scratch->arena);
  /* So that there is something to point at, however little is on them. */
  HILO_RESERVE(&scratch->arena, &r->ints, 64);
  HILO_RESERVE(&scratch->arena, &r->operands, 64);
  HILO_RESERVE(&scratch->arena, &r->types, 64);
  r->type_sizes = hilo_map_make(&scratch->arena);
  r->next_number = hilo_map_make(&scratch->arena);
  r->comp_names = hilo_map_make(&scratch->arena);
  hilo_text_words_init(&r->op_words, op_words, HILO_OP_COUNT);
  hilo_text_words_init(&r->etype_words, etype_words, HILO_ETYPE_COUNT);
  hilo_text_attr_words(&r->attr_words);
}

static void init(text_reader *r, hilo_arena *arena, hilo_scratch *scratch, hilo_str text,
                 hilo_str file_name, hilo_diags *diags) {
  init_parts(r, arena, scratch, text, file_name, diags);
  r->m = hilo_module_create(arena, NULL);
  r->m->header.text_style = HILO_TEXT_KNOWN;
  r->m->input_name = hilo_str_copy(arena, file_name);
}

/* ---- the parts ---- */

/* To the next line that starts in the first column with a name. */
static void recover(text_reader *r) {
  while (r->p < r->end) {
    const char *newline = memchr(r->p, '\n', (size_t)(r->end - r->p));
    r->p = newline ? newline + 1 : r->end;
    if (r->p < r->end && (text_is(*r->p, TEXT_ALPHA) || *r->p == '%')) return;
  }
}

static void read_computations(text_reader *r) {
  uint32_t n = 0;
  for (;;) {
    text_skip(r);
    if (r->p >= r->end || r->gave_up) break;
    const char *start = r->p;
    n++;
    if (!hilo_text_computation(r) && r->p == start) {
      if (hilo_text_at_keyword(r, "HloModule")) break;
      recover(r);
    } else if (r->errors.n && r->p < r->end && !text_is(r->p[-1], TEXT_BLANK) && r->p[-1] != '}' &&
               r->p[-1] != '"') {
      recover(r);
    }
  }
  if (n == 0 && !r->errors.n)
    hilo_text_fail(r, HILO_DIAG_EMOD900, r->end, "the module has no computations");
}

static void read_module(text_reader *r) {
  if ((size_t)(r->end - r->p) >= 3 && memcmp(r->p, "\xEF\xBB\xBF", 3) == 0) r->p += 3;
  text_skip(r);
  if (r->p >= r->end) {
    hilo_text_fail(r, HILO_DIAG_EMOD900, r->end, "the text is empty: expected `HloModule`");
    return;
  }
  const bool has_header = hilo_text_at_keyword(r, "HloModule");
  if (!has_header && !text_is(*r->p, TEXT_ALPHA) && *r->p != '%') {
    hilo_text_expected(r, "`HloModule`");
    return;
  }
  if (has_header && !hilo_text_header(r)) recover(r);
  text_skip(r);
  if (hilo_text_at_keyword(r, "FileNames") && !hilo_text_stack_frames(r)) recover(r);
  const uint32_t n = count_instructions(r->p, r->end);
  hilo_module_reserve(r->m, n, n + n / 2, n / 16);
  hilo_text_symbols_init(r, &r->insts, n);
  hilo_text_symbols_init(r, &r->comps, 64);
  read_computations(r);
  if (!has_header && r->m->entry.ix) {
    const hilo_str name = hilo_comp_name_text(r->m, r->m->entry, &r->scratch->arena);
    hilo_sb_clear(&r->sb);
    hilo_sb_printf(&r->sb, "module_%.*s", HILO_FMT(name));
    r->m->header.name = hilo_string_put(&r->m->strings, hilo_sb_view(&r->sb));
  }
}

/* ---- checks of the whole ---- */

static void resolve_computations(text_reader *r) {
  hilo_vec(hilo_str) names = {0};
  for (uint32_t i = 0; r->missing_comps.n && i <= r->comps.mask && names.n < 2000; i++)
    if (r->comps.v[i].n)
      HILO_PUSH(&r->scratch->arena, &names,
                ((hilo_str){r->text + r->comps.v[i].at, r->comps.v[i].n}));
  for (uint32_t i = 0; i < r->missing_comps.n; i++) {
    const text_missing *m = &r->missing_comps.v[i];
    if (m->error >= r->errors.n) continue;
    const hilo_str name = {r->text + m->at, m->n};
    text_error *e = &r->errors.v[m->error];
    const text_symbol *s = hilo_text_symbol(r, &r->comps, name, hilo_hash_name(name.p, name.n));
    hilo_sb sb = hilo_sb_make(&r->scratch->arena);
    if (s->n) {
      hilo_sb_printf(&sb,
                     "the computation `%.*s` comes later: computations stand before their callers",
                     HILO_FMT(name));
      e->note_at = s->def;
      e->note = HILO_STR("it is here");
    } else {
      const hilo_str near = i < 20 ? hilo_str_nearest(name, names.v, names.n) : (hilo_str){0};
      hilo_sb_printf(&sb, "there is no computation `%.*s`%s%.*s%s", HILO_FMT(name),
                     near.n ? "; did you mean `" : "", HILO_FMT(near), near.n ? "`?" : "");
    }
    e->message = hilo_sb_view(&sb);
  }
}

/* Does a shape index lead to a part of the type? */
static bool index_exists(const hilo_store *types, hilo_type type, hilo_dims index) {
  for (uint32_t i = 0; i < index.n; i++) {
    if (!hilo_type_is_tuple(types, type) || index.v[i] < 0 ||
        index.v[i] >= hilo_type_n_elements_of_tuple(types, type))
      return false;
    type = hilo_type_element(types, type, (uint32_t)index.v[i]);
  }
  return true;
}

static bool param_exists(const text_reader *r, int64_t param, hilo_dims index) {
  const hilo_module *m = r->m;
  if (param >= hilo_comp_n_params(m, m->entry)) return false;
  return index_exists(&m->types, hilo_inst_type(m, hilo_comp_param(m, m->entry, (uint32_t)param)),
                      index);
}

static void check_aliases(text_reader *r) {
  const hilo_module_header *h = &r->m->header;
  const hilo_type result = hilo_inst_type(r->m, hilo_comp_root(r->m, r->m->entry));
  for (uint32_t i = 0; i < h->aliases.n; i++) {
    const hilo_alias *a = &h->aliases.v[i];
    const char *at = r->text + r->alias_at.v[i];
    if (!index_exists(&r->m->types, result, a->output_index))
      hilo_text_fail(r, HILO_DIAG_EMOD916, at, "the entry has no output of this index");
    if (!param_exists(r, a->param, a->param_index))
      hilo_text_fail(r, HILO_DIAG_EMOD916, at, "the entry has no parameter %lld of this index",
                     (long long)a->param);
  }
  for (uint32_t i = 0; i < h->buffer_donors.n; i++) {
    const hilo_buffer_donor *d = &h->buffer_donors.v[i];
    if (!param_exists(r, d->param, d->param_index))
      hilo_text_fail(r, HILO_DIAG_EMOD916, r->text + r->donor_at.v[i],
                     "the entry has no parameter %lld of this index", (long long)d->param);
  }
}

static void layout_mismatch(text_reader *r, const char *what, hilo_type promised, hilo_type type) {
  const hilo_module *m = r->m;
  hilo_sb sb = hilo_sb_make(&r->scratch->arena);
  hilo_sb_printf(&sb, "`entry_computation_layout` gives %s the type `", what);
  hilo_type_print(&m->types, &m->records, &m->strings, promised, false, &sb);
  hilo_sb_cat(&sb, "`, the entry has `");
  hilo_type_print(&m->types, &m->records, &m->strings, type, false, &sb);
  hilo_sb_char(&sb, '`');
  hilo_text_fail(r, HILO_DIAG_EMOD903, r->text + r->layout_at, "%.*s", HILO_FMT(hilo_sb_view(&sb)));
}

static void check_entry_layout(text_reader *r) {
  const hilo_module *m = r->m;
  const hilo_module_header *h = &m->header;
  if (!h->entry_param_types) return;
  const uint32_t n = hilo_comp_n_params(m, m->entry);
  if (n != h->n_entry_param_types) {
    hilo_text_fail(r, HILO_DIAG_EMOD903, r->text + r->layout_at,
                   "`entry_computation_layout` has %u parameters, the entry has %u",
                   h->n_entry_param_types, n);
    return;
  }
  for (uint32_t i = 0; i < n; i++) {
    const hilo_type type = hilo_inst_type(m, hilo_comp_param(m, m->entry, i));
    if (hilo_type_compatible(&m->types, h->entry_param_types[i], type)) continue;
    char what[40];
    snprintf(what, sizeof(what), "parameter %u", i);
    layout_mismatch(r, what, h->entry_param_types[i], type);
  }
  const hilo_type result = hilo_inst_type(m, hilo_comp_root(m, m->entry));
  if (!hilo_type_compatible(&m->types, h->entry_result_type, result))
    layout_mismatch(r, "the result", h->entry_result_type, result);
}

/* Shardy's attributes name meshes that the module's own attribute defines. */
static void warn_of_missing_meshes(text_reader *r) {
  const hilo_module *m = r->m;
  const hilo_string_map_attrs map = hilo_string_map_get(&m->records, m->header.frontend);
  hilo_str meshes = {0};
  for (uint32_t i = 0; i + 1 < map.kv.n; i += 2)
    if (hilo_str_is(hilo_string_of(m, (hilo_string){(uint32_t)map.kv.v[i]}), "xla.sdy.meshes"))
      meshes = hilo_string_of(m, (hilo_string){(uint32_t)map.kv.v[i + 1]});
  const hilo_str text = {r->text, (size_t)(r->end - r->text)};
  for (uint32_t i = 0; i < r->meshes.n; i++) {
    const hilo_str name = hilo_string_of(m, r->meshes.v[i].name);
    if (name.n && meshes.n && memmem(meshes.p, meshes.n, name.p, name.n)) continue;
    hilo_place place = HILO_NOWHERE;
    place.file = r->file_name;
    hilo_place_locate(&place, text, r->meshes.v[i].at);
    hilo_diag_add(r->diags, HILO_DIAG_EMOD911, &place,
                  "the sharding names the mesh `@%.*s`, which the module does not define",
                  HILO_FMT(name));
    hilo_diag_note_source(r->diags, text, r->meshes.v[i].at);
  }
}

/* ---- finish ---- */

static void check(text_reader *r) {
  resolve_computations(r);
  if (r->errors.n) return;
  check_entry_layout(r);
  check_aliases(r);
}

hilo_status hilo_hlo_text_read(hilo_arena *arena, hilo_str text, hilo_str file_name,
                               hilo_diags *diags, hilo_module **out) {
  *out = NULL;
  if (text.n >= UINT32_MAX) {
    hilo_place place = HILO_NOWHERE;
    place.file = file_name;
    hilo_diag_add(diags, HILO_DIAG_EMOD907, &place, "the text has %zu bytes, more than 4 GiB",
                  text.n);
    return HILO_LIMIT_ERROR;
  }
  hilo_scratch scratch;
  hilo_scratch_init(&scratch, arena);
  text_reader *r = HILO_NEW(&scratch.arena, text_reader);
  init(r, arena, &scratch, settle(&scratch, text), file_name, diags);
  read_module(r);
  check(r);
  if (r->errors.n) {
    hilo_text_report(r);
    hilo_scratch_deinit(&scratch);
    return HILO_INPUT_ERROR;
  }
  warn_of_missing_meshes(r);
  hilo_module_number(r->m, &r->scratch->arena);
  hilo_module_trim(r->m);
  *out = r->m;
  hilo_scratch_deinit(&scratch);
  return HILO_OK;
}

bool hilo_hlo_text_read_sharding(hilo_module *m, hilo_arena *arena, hilo_str text,
                                 hilo_record *sharding, hilo_record *spelling, hilo_str *message) {
  hilo_scratch scratch;
  hilo_scratch_init(&scratch, m->arena);
  text_reader *r = HILO_NEW(&scratch.arena, text_reader);
  init_parts(r, m->arena, &scratch, settle(&scratch, text), m->input_name, NULL);
  r->m = m;
  text_skip(r);
  if (hilo_text_sharding(r, &sharding->ix, &spelling->ix)) {
    text_skip(r);
    if (r->p < r->end) hilo_text_expected(r, "the end of the sharding");
  }
  const bool ok = !r->errors.n;
  *message = ok ? (hilo_str){0} : hilo_str_copy(arena, r->errors.v[0].message);
  hilo_scratch_deinit(&scratch);
  return ok;
}

bool hilo_hlo_text_read_type(hilo_module *m, hilo_str text, hilo_type *type) {
  hilo_scratch scratch;
  hilo_scratch_init(&scratch, m->arena);
  text_reader *r = HILO_NEW(&scratch.arena, text_reader);
  init_parts(r, m->arena, &scratch, settle(&scratch, text), m->input_name, NULL);
  r->m = m;
  text_skip(r);
  bool ok = hilo_text_type(r, type);
  text_skip(r);
  ok = ok && !r->errors.n && r->p >= r->end;
  hilo_scratch_deinit(&scratch);
  return ok;
}
