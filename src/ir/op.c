#include "ir/op.h"

const hilo_op_info hilo_op_table[HILO_OP_COUNT] = {
    [HILO_OP_DEAD] = {"dead", "dead", 0, 0, 0, HILO_FAMILY_none},
#define HILO_OP(op, hlo, mlir, min, max, family, traits, shape, eval, emitter)                     \
  [HILO_OP_##op] = {hlo, mlir, min, max, (traits), HILO_FAMILY_##family},
#include "ir/ops.def"
#undef HILO_OP
};

const hilo_etype_info hilo_etype_table[HILO_ETYPE_COUNT] = {
#define HILO_ETYPE(etype, number, hlo, mlir, bits, class)                                          \
  [HILO_##etype] = {hlo, mlir, number, bits, HILO_CLASS_##class},
#include "ir/etypes.def"
#undef HILO_ETYPE
};

/* ops.def is sorted by enum name, which is not the order of the texts; a linear walk over 185 short
 * strings, led by their length and first letter, costs less than it seems, and readers keep what
 * they found in a table of their own. */
hilo_op hilo_op_from_hlo(hilo_str name) {
  for (int op = 1; name.n && op < HILO_OP_COUNT; op++)
    if (hilo_str_is(name, hilo_op_table[op].hlo)) return (hilo_op)op;
  return HILO_OP_DEAD;
}

/* ---- names in MLIR ---- */

bool hilo_op_next_spelling(hilo_op op, uint32_t *at, hilo_str *dialect, hilo_str *name) {
  const char *p = hilo_op_table[op].mlir + *at;
  if (!*p) return false;
  const char *end = strchr(p, '|');
  const size_t n = end ? (size_t)(end - p) : strlen(p);
  *at += (uint32_t)(end ? n + 1 : n);
  const char *dot = memchr(p, '.', n);
  *dialect = dot ? (hilo_str){p, (size_t)(dot - p)} : HILO_STR("");
  *name = dot ? (hilo_str){dot + 1, n - (size_t)(dot + 1 - p)} : (hilo_str){p, n};
  return true;
}

hilo_op hilo_op_from_mlir(hilo_str name) {
  const char *dot = name.n ? memchr(name.p, '.', name.n) : NULL;
  if (!dot) return HILO_OP_DEAD;
  const hilo_str dialect = {name.p, (size_t)(dot - name.p)};
  const hilo_str rest = {dot + 1, name.n - dialect.n - 1};
  const bool takes_bare = hilo_str_is(dialect, "stablehlo") || hilo_str_is(dialect, "mhlo");
  if (hilo_str_is(dialect, "hlo")) return HILO_OP_DEAD;
  for (int op = 1; op < HILO_OP_COUNT; op++) {
    hilo_str its_dialect, its_name;
    for (uint32_t at = 0; hilo_op_next_spelling((hilo_op)op, &at, &its_dialect, &its_name);)
      if (hilo_str_eq(rest, its_name) &&
          (its_dialect.n ? hilo_str_eq(its_dialect, dialect) : takes_bare))
        return (hilo_op)op;
  }
  return HILO_OP_DEAD;
}

/* How well a module of the dialect is served by a spelling: 0 not at all. */
static int spelling_rank(hilo_str dialect, bool mhlo) {
  if (!dialect.n) return 4;
  if (hilo_str_is(dialect, "hlo")) return 0;
  if (hilo_str_is(dialect, "mhlo")) return mhlo ? 3 : 1;
  return 2;
}

bool hilo_op_mlir_name(hilo_op op, bool mhlo, hilo_sb *out) {
  hilo_str dialect, name, best_dialect = {0}, best = {0};
  int best_rank = 1;
  for (uint32_t at = 0; hilo_op_next_spelling(op, &at, &dialect, &name);) {
    const int rank = spelling_rank(dialect, mhlo);
    if (rank < best_rank) continue;
    best_rank = rank, best_dialect = dialect, best = name;
  }
  if (!best.n) return false;
  if (best_dialect.n)
    hilo_sb_str(out, best_dialect);
  else
    hilo_sb_cat(out, mhlo ? "mhlo" : "stablehlo");
  hilo_sb_char(out, '.');
  hilo_sb_str(out, best);
  return true;
}

const char *hilo_op_mnemonic(hilo_op op) {
  const char *const all = hilo_op_table[op].mlir;
  const char *bar = strrchr(all, '|'), *dot = strrchr(all, '.');
  const char *tail = bar && (!dot || bar > dot) ? bar : dot;
  return tail ? tail + 1 : all;
}

hilo_etype hilo_etype_from_hlo(hilo_str name) {
  for (int t = 1; t < HILO_ETYPE_COUNT; t++)
    if (hilo_str_is(name, hilo_etype_table[t].hlo)) return (hilo_etype)t;
  return HILO_INVALID;
}

hilo_etype hilo_etype_from_number(int64_t number) {
  for (int t = 1; t < HILO_ETYPE_COUNT; t++)
    if (hilo_etype_table[t].number == number) return (hilo_etype)t;
  return HILO_INVALID;
}
