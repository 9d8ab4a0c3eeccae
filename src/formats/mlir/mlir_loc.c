/* Locations: `loc("op_name"("file.py":7:3))`, call sites, fused ones, aliases of them. They become
 * metadata: op_name from names (several joined by `;`), file and line of the innermost place.
 *
 * Aliases are read once. The caller's side of a call site, which leads through whole call stacks,
 * is read only where the callee's says no file. */
#include "formats/mlir/mlir_impl.h"

typedef struct {
  hilo_sb *name;
  hilo_meta_attrs meta;
  bool has_file;
} place;

static bool location(mlir_reader *r, place *out);

/* `:7:3`, `:7:3 to :9`, `:7:3 to 8:9` behind a file name. */
static bool range(mlir_reader *r, place *out, hilo_str file) {
  int64_t line = 0, col = 0, end_line = 0, end_col = 0;
  r->p++;
  if (!mlir_int(r, &line, "a line number") || !mlir_want(r, ':', "between line and column") ||
      !mlir_int(r, &col, "a column number"))
    return false;
  if (hilo_mlir_eat_word(r, "to")) {
    mlir_skip(r);
    end_line = line;
    if (*r->p != ':' && !mlir_int(r, &end_line, "a line number")) return false;
    if (!mlir_want(r, ':', "before the last column") || !mlir_int(r, &end_col, "a column number"))
      return false;
  }
  if (out->has_file) return true;
  out->has_file = true;
  out->meta.source_file = hilo_module_label(r->m, file);
  out->meta.source_line = line;
  out->meta.source_column = col;
  out->meta.source_end_line = end_line;
  out->meta.source_end_column = end_col;
  return true;
}

/* A string: a file with its line, or a name, maybe with the place that it names. */
static bool named(mlir_reader *r, place *out) {
  hilo_str s;
  if (!hilo_mlir_string(r, &s, "a location")) return false;
  if (*r->p == ':') return range(r, out, s);
  if (s.n && out->name->n) hilo_sb_char(out->name, ';');
  hilo_sb_str(out->name, s);
  if (!mlir_eat(r, '(')) return true;
  const size_t before = out->name->n;
  if (!location(r, out)) return false;
  out->name->n = before; /* names of what is named are older than the name */
  return mlir_want(r, ')', "behind the place of a name");
}

static bool call_site(mlir_reader *r, place *out) {
  if (!mlir_want(r, '(', "behind `callsite`") || !location(r, out) || !hilo_mlir_want_word(r, "at"))
    return false;
  mlir_skip(r);
  if (out->has_file) {
    if (!hilo_mlir_skip_value(r)) return false;
  } else if (!location(r, out)) {
    return false;
  }
  return mlir_want(r, ')', "behind a call site");
}

static bool fused(mlir_reader *r, place *out) {
  if (mlir_eat(r, '<')) {
    if (!hilo_mlir_skip_value(r) || !mlir_want(r, '>', "behind the data of a fused location"))
      return false;
  }
  if (!mlir_want(r, '[', "to start fused locations")) return false;
  while (!mlir_eat(r, ']'))
    if (!location(r, out) || (!mlir_eat(r, ',') && *r->p != ']'))
      return hilo_mlir_expected(r, "`,` or `]` between fused locations");
  return true;
}

static bool location(mlir_reader *r, place *out) {
  mlir_detour detour;
  if (!mlir_enter(r, &r->loc_depth, "locations") || !hilo_mlir_enter_alias(r, &detour))
    return false;
  const bool wrapped = hilo_mlir_eat_word(r, "loc");
  if (wrapped && !mlir_want(r, '(', "behind `loc`")) return false;
  bool ok = true;
  mlir_skip(r);
  if (wrapped)
    ok = location(r, out) && mlir_want(r, ')', "at the end of a location");
  else if (*r->p == '"')
    ok = named(r, out);
  else if (hilo_mlir_eat_word(r, "callsite"))
    ok = call_site(r, out);
  else if (hilo_mlir_eat_word(r, "fused"))
    ok = fused(r, out);
  else if (!hilo_mlir_eat_word(r, "unknown"))
    ok = hilo_mlir_expected(r, "a location");
  if (!ok) return false;
  hilo_mlir_leave_alias(r, &detour);
  r->loc_depth--;
  return true;
}

static bool read(mlir_reader *r, hilo_record *out) {
  hilo_sb name = hilo_sb_make(&r->scratch->arena);
  place found = {.name = &name};
  if (!location(r, &found)) return false;
  found.meta.op_name = hilo_module_label(r->m, hilo_sb_view(&name));
  *out = hilo_attrs_are_empty(HILO_FAMILY_meta, &found.meta)
             ? HILO_RECORD_NONE
             : hilo_meta_put(&r->m->labels, &found.meta);
  hilo_sb_free(&name);
  return true;
}

bool hilo_mlir_loc(mlir_reader *r, hilo_record *meta) {
  mlir_skip(r);
  if (*r->p != 'l' || !hilo_mlir_eat_word(r, "loc")) return true;
  if (!mlir_want(r, '(', "behind `loc`")) return false;
  mlir_skip(r);
  size_t n;
  mlir_alias *alias = hilo_mlir_alias_at(r, &n);
  if (HILO_LIKELY(alias && alias->meta)) {
    r->p += n;
    *meta = (hilo_record){alias->meta - 1};
  } else {
    if (!read(r, meta)) return false;
    if (alias) alias->meta = meta->ix + 1;
  }
  return mlir_want(r, ')', "at the end of a location");
}
