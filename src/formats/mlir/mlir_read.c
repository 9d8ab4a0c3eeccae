/* From the text to a module: set-up, the parts, checks of the whole, sections of a file. */
#include "formats/mlir/mlir_impl.h"

static const hilo_str attr_words[MLIR_N_ATTRS] = {
#define HILO_MLIR_ATTR(name, kind) [MLIR_ATTR_##name] = {#name, sizeof(#name) - 1},
#include "formats/mlir/mlir_attrs.def"
#undef HILO_MLIR_ATTR
};

static const hilo_str etype_words[HILO_ETYPE_COUNT] = {
#define HILO_ETYPE(etype, number, hlo, mlir, bits, class) [HILO_##etype] = {mlir, sizeof(mlir) - 1},
#include "ir/etypes.def"
#undef HILO_ETYPE
};

/* Names beside those of ops.def. */
static const struct {
  const char *name;
  uint16_t op;
} special_words[] = {
    {"module", MLIR_OP_MODULE},           {"builtin.module", MLIR_OP_MODULE},
    {"func.func", MLIR_OP_FUNC},          {"func", MLIR_OP_FUNC},
    {"return", MLIR_OP_RETURN},           {"func.return", MLIR_OP_RETURN},
    {"stablehlo.return", MLIR_OP_RETURN}, {"mhlo.return", MLIR_OP_RETURN},
    {"sdy.return", MLIR_OP_RETURN},       {"sdy.mesh", MLIR_OP_MESH},
    {"sdy.constant", HILO_OP_CONSTANT},   {"call", HILO_OP_CALL},
};

/* ---- set-up ---- */

/* All names of operations with their dialects. */
static void init_ops(mlir_reader *r) {
  enum { MOST = 3 * HILO_OP_COUNT + HILO_COUNT(special_words) };
  hilo_arena *scratch = &r->scratch->arena;
  hilo_str *words = HILO_NEW_ARRAY(scratch, hilo_str, MOST);
  char *bytes = HILO_NEW_ARRAY(scratch, char, MOST * 48);
  uint32_t n = 0;
  r->op_ids = HILO_NEW_ARRAY(scratch, uint16_t, MOST);
  for (int op = 1; op < HILO_OP_COUNT; op++) {
    hilo_str dialect, name;
    for (uint32_t at = 0; hilo_op_next_spelling((hilo_op)op, &at, &dialect, &name);) {
      if (hilo_str_is(dialect, "hlo")) continue;
      for (int k = 0; k < (dialect.n ? 1 : 2); k++) {
        const hilo_str prefix = dialect.n ? dialect : k ? HILO_STR("mhlo") : HILO_STR("stablehlo");
        memcpy(bytes, prefix.p, prefix.n);
        bytes[prefix.n] = '.';
        memcpy(bytes + prefix.n + 1, name.p, name.n);
        words[n] = (hilo_str){bytes, prefix.n + 1 + name.n};
        r->op_ids[n++] = (uint16_t)op;
        bytes += prefix.n + 1 + name.n;
      }
    }
  }
  for (uint32_t k = 0; k < HILO_COUNT(special_words); k++) {
    words[n] = hilo_str_of(special_words[k].name);
    r->op_ids[n++] = special_words[k].op;
  }
  r->n_op_words = n;
  hilo_mlir_words_init(r, &r->op_words, words, n);
}

/* The text with blanks behind it that do not belong to it, as many as anybody looks ahead; if need
 * be in a copy. */
static hilo_str settle(hilo_scratch *scratch, hilo_str text) {
  enum { AHEAD = 8 };
  size_t n = text.n;
  while (n && mlir_is(text.p[n - 1], MLIR_BLANK)) n--;
  if (text.n - n >= AHEAD) return (hilo_str){text.p, n};
  char *copy = hilo_arena_resize_block(&scratch->arena, NULL, n + AHEAD);
  if (n) memcpy(copy, text.p, n);
  memset(copy + n, '\n', AHEAD);
  return (hilo_str){copy, n};
}

static void init(mlir_reader *r, hilo_arena *arena, hilo_scratch *scratch,
                 hilo_mlir_section section, hilo_str file_name, hilo_diags *diags) {
  memset(r, 0, sizeof(*r));
  const hilo_str text = settle(scratch, section.text);
  r->arena = arena;
  r->scratch = scratch;
  r->text = r->p = text.p;
  r->end = r->full_end = text.p + text.n;
  r->first_line = section.first_line;
  r->file_name = file_name;
  r->diags = diags;
  hilo_arena *a = &scratch->arena;
  r->sb = hilo_sb_make(a);
  r->kept = hilo_sb_make(a);
  HILO_RESERVE(a, &r->ints, 256);
  HILO_RESERVE(a, &r->operands, 64);
  HILO_RESERVE(a, &r->operand_at, 64);
  HILO_RESERVE(a, &r->types, 64);
  HILO_RESERVE(a, &r->called, 64);
  r->function_by_name = hilo_map_make(a);
  r->shardings = hilo_map_make(a);
  r->spellings = hilo_map_make(a);
  r->applied = hilo_map_make(a);
  r->shared = hilo_map_make(a);
  init_ops(r);
  hilo_mlir_words_init(r, &r->attr_words, attr_words, MLIR_N_ATTRS);
  hilo_mlir_words_init(r, &r->etype_words, etype_words, HILO_ETYPE_COUNT);
  r->m = hilo_module_create(arena, NULL);
  r->m->input_name = hilo_str_copy(arena, file_name);
}

/* ---- the parts ---- */

/* `}` closes nothing here; the section of resources ends the text. */
static bool top_level(mlir_reader *r) {
  if (r->end - r->p >= 3 && memcmp(r->p, "\xEF\xBB\xBF", 3) == 0) r->p += 3;
  mlir_skip(r);
  if (mlir_at_end(r)) return hilo_mlir_expected(r, "a module");
  for (;;) {
    if (!hilo_mlir_block(r)) return false;
    if (mlir_at_end(r)) return true;
    return hilo_mlir_fail(r, HILO_DIAG_EMOD904, r->p, "`}` closes nothing");
  }
}

/* ---- finish ---- */

static void name_regions(mlir_reader *r) {
  hilo_module *m = r->m;
  for (uint32_t i = 0; i < r->regions.n; i++) {
    const hilo_comp c = hilo_comp_at(m, (uint32_t)r->regions.v[i]);
    const hilo_string base = {(uint32_t)(r->regions.v[i] >> 32)};
    if (hilo_comp_is_live(m, c)) hilo_comp_set_name(m, c, hilo_comp_fresh_name(m, base));
  }
}

static void name_module(mlir_reader *r) {
  if (r->m->header.name.ix) return;
  r->m->header.name = hilo_string_put(&r->m->strings, HILO_STR("module"));
}

static bool read(mlir_reader *r) {
  uint32_t n = hilo_mlir_scan(r);
  n += n / 8; /* arguments and elements of results have no lines of their own */
  hilo_module_reserve(r->m, n, n + n / 2, n / 32 + 8);
  hilo_mlir_names_init(r, n);
  /* The rest of the text ends before the resources, and before the blanks there. */
  if (r->resources) r->end = r->resources - 3;
  while (r->end > r->text && mlir_is(r->end[-1], MLIR_BLANK)) r->end--;
  if (!top_level(r) || !hilo_mlir_check_functions(r)) return false;
  r->m->dialect = r->saw_mhlo && !r->saw_stablehlo ? HILO_DIALECT_MHLO : HILO_DIALECT_STABLEHLO;
  name_regions(r);
  name_module(r);
  hilo_module_number(r->m, &r->scratch->arena);
  hilo_module_trim(r->m);
  return true;
}

hilo_status hilo_mlir_read_section(hilo_arena *arena, hilo_mlir_section section, hilo_str file_name,
                                   hilo_diags *diags, hilo_module **out) {
  *out = NULL;
  if (section.text.n >= UINT32_MAX) {
    hilo_place place = HILO_NOWHERE;
    place.file = file_name;
    (void)hilo_diag_add(diags, HILO_DIAG_EMOD907, &place, "the text has %zu bytes, more than 4 GiB",
                        section.text.n);
    return HILO_LIMIT_ERROR;
  }
  hilo_scratch scratch;
  hilo_scratch_init(&scratch, arena);
  mlir_reader *r = HILO_NEW(&scratch.arena, mlir_reader);
  init(r, arena, &scratch, section, file_name, diags);
  const bool ok = read(r);
  if (ok) *out = r->m;
  hilo_scratch_deinit(&scratch);
  return ok ? HILO_OK : HILO_INPUT_ERROR;
}

hilo_status hilo_mlir_read(hilo_arena *arena, hilo_str text, hilo_str file_name, hilo_diags *diags,
                           hilo_module **out) {
  return hilo_mlir_read_section(arena, (hilo_mlir_section){text, 1}, file_name, diags, out);
}

/* ---- sections ---- */

static bool is_separator(const char *p, const char *end) {
  static const char mark[] = "// -----";
  return (size_t)(end - p) >= sizeof(mark) - 1 && memcmp(p, mark, sizeof(mark) - 1) == 0;
}

/* Nothing but blanks and comments? */
static bool is_blank(hilo_str s) {
  const char *p = s.p, *end = s.p + s.n;
  while (p < end) {
    if (mlir_is(*p, MLIR_BLANK)) {
      p++;
    } else if (end - p > 1 && p[0] == '/' && p[1] == '/') {
      const char *newline = memchr(p, '\n', (size_t)(end - p));
      p = newline ? newline : end;
    } else {
      return false;
    }
  }
  return true;
}

bool hilo_mlir_next_section(hilo_str *rest, uint32_t *line, hilo_mlir_section *section) {
  while (rest->n) {
    const char *start = rest->p, *end = rest->p + rest->n, *p = start;
    const uint32_t first = *line;
    while (p < end && !is_separator(p, end)) {
      const char *newline = memchr(p, '\n', (size_t)(end - p));
      p = newline ? newline + 1 : end;
      ++*line;
    }
    *section = (hilo_mlir_section){{start, (size_t)(p - start)}, first};
    const char *newline = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
    if (newline) ++*line;
    p = newline ? newline + 1 : end;
    *rest = (hilo_str){p, (size_t)(end - p)};
    if (!is_blank(section->text)) return true;
  }
  return false;
}
