/* Computations of HLO text: `ENTRY %name (p: type) -> type { instructions }, execution_thread="…"`.
 *
 * After an error in an instruction reading resumes at the next line that looks like one, so that
 * one run shows all errors. */
#include "formats/text/hlo_text_impl.h"

#include "ir/hlo_print.h"

#include <stdlib.h>

enum { MAX_DEPTH = 50 }; /* of computations inside of attributes */

hilo_name hilo_text_unique_comp_name(text_reader *r, hilo_str text) {
  hilo_name name = hilo_name_parse(r->m, text);
  for (uint32_t next = 1;; next++) {
    bool inserted;
    const uint64_t key =
        (uint64_t)name.base.ix << 32 | (name.num == HILO_NO_NUM ? 0 : name.num + 1);
    uint32_t *hint = hilo_map_at(&r->comp_names, key, &inserted);
    if (inserted) return name;
    if (*hint > next) next = *hint;
    *hint = next + 1;
    name.num = next;
  }
}

/* ---- signatures ---- */

/* `(p0: f32[2], p1: s32[]) -> f32[2]`: what counts is the result. */
static bool read_signature(text_reader *r, hilo_type *result, const char **at) {
  r->p++;
  text_skip(r);
  while (!text_eat(r, ')')) {
    hilo_type type;
    text_skip(r);
    text_eat(r, '%');
    const hilo_str name = text_ident_at(r->p);
    if (!name.n) return hilo_text_expected(r, "the name of a parameter or `)`");
    r->p += name.n;
    if (!text_want(r, ':', "behind the name of a parameter")) return false;
    text_skip(r);
    if (!hilo_text_type(r, &type)) return false;
    text_skip(r);
    if (*r->p != ')' && !text_want(r, ',', "or `)` behind a parameter")) return false;
    text_skip(r);
  }
  text_skip(r);
  if (r->p[0] != '-' || r->p[1] != '>')
    return hilo_text_expected(r, "`->` and the type of the result");
  r->p += 2;
  text_skip(r);
  *at = r->p;
  return hilo_text_type(r, result);
}

static void check_result(text_reader *r, hilo_type result, const char *at) {
  const hilo_inst root = hilo_comp_root(r->m, r->comp);
  if (!root.ix) return;
  const hilo_type type = hilo_inst_type(r->m, root);
  if (hilo_type_compatible(&r->m->types, type, result)) return;
  hilo_sb sb = hilo_sb_make(&r->scratch->arena);
  hilo_sb_cat(&sb, "the signature promises `");
  hilo_type_print(&r->m->types, &r->m->records, &r->m->strings, result, false, &sb);
  hilo_sb_cat(&sb, "`, the root is `");
  hilo_type_print(&r->m->types, &r->m->records, &r->m->strings, type, false, &sb);
  hilo_sb_char(&sb, '`');
  hilo_text_fail(r, HILO_DIAG_EMOD903, at, "%.*s", HILO_FMT(hilo_sb_view(&sb)));
}

/* ---- parameters ---- */

static int by_number(const void *a, const void *b) {
  uint64_t x, y;
  memcpy(&x, a, sizeof(x));
  memcpy(&y, b, sizeof(y));
  return (x > y) - (x < y);
}

/* The numbers of the parameters, from `first` on the list, are 0 to n-1. */
static void check_params(text_reader *r, uint32_t first) {
  const uint32_t n = r->params.n - first;
  if (!n) return;
  uint64_t *params = r->params.v + first;
  bool in_order = true;
  for (uint32_t i = 0; i < n; i++) in_order &= params[i] >> 32 == i;
  if (in_order) return;
  qsort(params, n, sizeof(*params), by_number);
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t number = (uint32_t)(params[i] >> 32), at = (uint32_t)params[i];
    const uint32_t before = i ? (uint32_t)(params[i - 1] >> 32) : UINT32_MAX;
    if (i && number == before) {
      hilo_text_fail(r, HILO_DIAG_EMOD903, r->text + at, "parameter %u is defined twice", number);
      hilo_text_note(r, (uint32_t)params[i - 1], "the first one");
    } else if (number != before + 1) {
      hilo_text_fail(r, HILO_DIAG_EMOD903, r->text + at,
                     "the parameters have a gap: %u is defined, %u is not", number, before + 1);
    }
  }
}

/* ---- recovery ---- */

/* Does a line that starts at p look like an instruction, or like the end of the computation? */
static bool can_resume_at(const text_reader *r, const char *p) {
  if (*p == '}') return true;
  if (*p == '%') return true;
  hilo_str word = text_ident_at(p);
  if (hilo_str_is(word, "ROOT") || hilo_str_is(word, "ENTRY") || hilo_str_is(word, "HloModule"))
    return true;
  if (!word.n || !text_is(*p, TEXT_ALPHA)) return false;
  const char *q = p + word.n;
  if (!text_is(*q, TEXT_BLANK)) return false;
  while (q < r->end && text_is(*q, TEXT_BLANK)) q++;
  return *q == '=';
}

/* Is p the first of its line but for blanks? */
static bool starts_line(const text_reader *r, const char *p) {
  while (p > r->text && (p[-1] == ' ' || p[-1] == '\t' || p[-1] == '\r')) p--;
  return p == r->text || p[-1] == '\n';
}

/* From what failed, at `from`, to the next place to resume at. */
static void recover(text_reader *r, const char *from) {
  if (r->p > from && starts_line(r, r->p) && can_resume_at(r, r->p)) return;
  while (r->p < r->end) {
    const char *newline = memchr(r->p, '\n', (size_t)(r->end - r->p));
    if (!newline) {
      r->p = r->end;
      return;
    }
    const char *p = newline + 1;
    while (p < r->end && (*p == ' ' || *p == '\t' || *p == '\r')) p++;
    r->p = p;
    if (can_resume_at(r, p)) return;
  }
}

/* ---- bodies ---- */

typedef struct {
  hilo_inst root, last;
  const char *root_at;
} body;

static void read_one(text_reader *r, body *b) {
  const char *at = r->p;
  bool is_root;
  hilo_inst inst;
  const bool ok = hilo_text_instruction(r, &is_root, &inst);
  if (is_root && b->root_at) {
    hilo_text_fail(r, HILO_DIAG_EMOD903, at, "a computation has one `ROOT`, this is the second");
    hilo_text_note(r, text_offset(r, b->root_at), "the first one");
  } else if (is_root) {
    b->root = inst;
    b->root_at = at;
  }
  b->last = inst;
  if (!ok) recover(r, at);
}

/* From `{` to `}`; the computation is r->comp. */
static bool read_body(text_reader *r, const char *name_at) {
  const uint32_t params = r->params.n, missing = r->missing.n;
  body b = {0};
  if (!text_want(r, '{', "to start the instructions")) return false;
  bool closed = false;
  uint32_t n = 0;
  for (; r->p < r->end && !r->gave_up; n++) {
    text_skip(r);
    if (text_eat(r, '}')) {
      closed = true;
      break;
    }
    const hilo_str word = text_ident_at(r->p);
    if (hilo_str_is(word, "ENTRY") || hilo_str_is(word, "HloModule")) break;
    read_one(r, &b);
  }
  if (!closed && !r->gave_up) {
    hilo_text_fail(r, HILO_DIAG_EMOD900, r->p >= r->end ? r->end : r->p,
                   "the computation is not closed: expected `}`");
    hilo_text_note(r, text_offset(r, name_at), "it starts here");
  }
  if (closed && n == 0)
    hilo_text_fail(r, HILO_DIAG_EMOD903, name_at, "the computation has no instructions");
  hilo_text_resolve_missing(r, missing, r->scope);
  check_params(r, params);
  r->params.n = params;
  const hilo_inst root = b.root_at ? b.root : b.last;
  if (root.ix) hilo_comp_set_root(r->m, r->comp, root);
  return closed;
}

/* What a computation changes in the reader and a nested one gives back. */
typedef struct {
  hilo_comp comp;
  uint32_t scope, undo;
  bool poisoned;
} context;

static context enter(text_reader *r, hilo_comp comp) {
  const context outer = {r->comp, r->scope, r->undo.n, r->poisoned};
  r->comp = comp;
  r->scope = ++r->last_scope;
  return outer;
}

static void leave(text_reader *r, const context *outer) {
  r->comp = outer->comp;
  r->scope = outer->scope;
  r->poisoned = outer->poisoned;
  hilo_text_undo_to(r, outer->undo);
}

bool hilo_text_nested_computation(text_reader *r, uint32_t *out) {
  if (r->depth == MAX_DEPTH) {
    hilo_text_fail(r, HILO_DIAG_EMOD907, r->p, "computations nest deeper than %d", MAX_DEPTH);
    r->gave_up = true; /* there is no telling where reading could resume */
    return false;
  }
  const uint32_t n_errors = r->errors.n;
  text_attrs *attrs = HILO_NEW(&r->scratch->arena, text_attrs);
  memcpy(attrs, &r->attrs, sizeof(*attrs));
  const uint32_t nesting = r->nesting;
  r->nesting = 0;
  r->depth++;
  const hilo_comp c = hilo_comp_add(r->m, hilo_text_unique_comp_name(r, HILO_STR("_")));
  const context outer = enter(r, c);
  const bool closed = read_body(r, r->p);
  leave(r, &outer);
  r->depth--;
  r->nesting = nesting;
  memcpy(&r->attrs, attrs, sizeof(*attrs));
  *out = r->errors.n == n_errors ? hilo_comp_ix(r->m, c) : TEXT_POISON;
  if (*out == TEXT_POISON) r->poisoned = true;
  return closed;
}

/* ---- computations ---- */

static text_symbol *declare(text_reader *r, hilo_str name) {
  text_symbols *s = &r->comps;
  if (s->n + s->n / 2 >= s->mask) hilo_text_symbols_grow(r, s);
  const uint32_t hash = hilo_hash_name(name.p, name.n);
  text_symbol *slot = hilo_text_symbol(r, s, name, hash);
  const uint32_t at = text_offset(r, name.p);
  if (slot->n) {
    hilo_text_fail(r, HILO_DIAG_EMOD903, name.p, "the name `%.*s` is used for a second computation",
                   HILO_FMT(name));
    hilo_text_note(r, slot->def, "the first one");
    return NULL;
  }
  *slot = (text_symbol){hash, at, (uint32_t)name.n, TEXT_COMP_READING, TEXT_POISON, at};
  s->n++;
  return slot;
}

/* `}, execution_thread="host"` */
static bool read_tail(text_reader *r) {
  for (;;) {
    text_skip(r);
    if (!text_eat(r, ',')) return true;
    text_skip(r);
    const hilo_str word = text_ident_at(r->p);
    if (!hilo_str_is(word, "execution_thread") || word.p[word.n] != '=')
      return hilo_text_expected(r, "`execution_thread=`");
    r->p += word.n + 1;
    hilo_string thread;
    if (!hilo_text_string_put(r, &thread, "the name of a thread in quotes")) return false;
    if (!hilo_str_is(hilo_string_of(r->m, thread), "main"))
      r->m->comp.v[hilo_comp_ix(r->m, r->comp)].execution_thread = thread.ix;
  }
}

static void set_entry(text_reader *r, uint32_t at, hilo_comp c) {
  if (r->entry_at != UINT32_MAX) {
    hilo_text_fail(r, HILO_DIAG_EMOD903, r->text + at,
                   "a module has one `ENTRY`, this is the second");
    hilo_text_note(r, r->entry_at, "the first one");
    return;
  }
  r->entry_at = at;
  r->m->entry = c;
}

/* Read what stands between name and end; false: the rest of the computation is lost. */
static bool read_parts(text_reader *r, hilo_str name) {
  hilo_type result = HILO_TYPE_NONE;
  const char *result_at = NULL;
  text_skip(r);
  if (!r->nesting) hilo_text_see_style(r, HILO_TEXT_SIGNATURES, *r->p == '(');
  bool ok = *r->p != '(' || read_signature(r, &result, &result_at);
  if (!ok) {
    /* The instructions may be in order all the same: they start on the next line. */
    const char *newline = memchr(r->p, '\n', (size_t)(r->end - r->p));
    const char *brace = newline ? newline : r->p;
    while (brace > name.p && text_is(brace[-1], TEXT_BLANK)) brace--;
    if (!newline || brace[-1] != '{') return false;
    r->p = brace - 1;
  }
  if (!read_body(r, name.p)) return false;
  if (ok && result.ix) check_result(r, result, result_at);
  return read_tail(r);
}

bool hilo_text_computation(text_reader *r) {
  const uint32_t at = text_offset(r, r->p), n_errors = r->errors.n;
  const bool is_entry = hilo_text_at_keyword(r, "ENTRY");
  if (is_entry) {
    r->p += strlen("ENTRY");
    text_skip(r);
  }
  text_eat(r, '%');
  const hilo_str name = text_ident_at(r->p);
  if (!name.n || !text_is(*name.p, TEXT_ALPHA))
    return hilo_text_expected(r, "the name of a computation");
  if (hilo_str_is(name, "HloModule"))
    return hilo_text_fail(r, HILO_DIAG_EMOD900, name.p,
                          "a second module starts here: a text holds one module");
  r->p += name.n;
  text_symbol *symbol = declare(r, name);
  const uint32_t slot = symbol ? (uint32_t)(symbol - r->comps.v) : 0;
  const hilo_comp c = hilo_comp_add(r->m, hilo_text_unique_comp_name(r, name));
  r->m->comp.v[hilo_comp_ix(r->m, c)].ordinal = hilo_comp_ix(r->m, c);
  const context outer = enter(r, c);
  const bool ok = read_parts(r, name);
  leave(r, &outer);
  if (is_entry) set_entry(r, at, c);
  if (!is_entry && r->entry_at == UINT32_MAX) r->m->entry = c;
  if (symbol) {
    symbol = &r->comps.v[slot];
    symbol->scope = r->errors.n == n_errors ? TEXT_COMP_DONE : TEXT_COMP_FAILED;
    if (symbol->scope == TEXT_COMP_DONE) symbol->value = hilo_comp_ix(r->m, c);
  }
  return ok;
}
