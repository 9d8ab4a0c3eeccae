/* What the files of the HLO text reader share: the reader's state, the lexer, and who reads what.
 *
 * There are no tokens in between: a function is called with `p` at the first byte of what it reads
 * and leaves it behind the last one. Blanks and comments are skipped by the caller that knows they
 * may stand there (`text_skip`). The text is read in place. `end` is a blank: the text ends in one,
 * or was copied, so that loops over names, digits and blanks stop by themselves, and only what may
 * run over blanks (strings, comments) looks at `end`.
 *
 * Functions return false after they have reported an error (`text_fail`); the loop over
 * instructions resumes at the next one. After an error nothing is built any more, and an
 * instruction that could not be built is known as TEXT_POISON, which uses without complaint.
 *
 * What repeats is read once: the spelling of types, shardings, groups and the like is looked up in
 * a memo before it is parsed. */
#ifndef HILO_FORMATS_HLO_TEXT_IMPL_H
#define HILO_FORMATS_HLO_TEXT_IMPL_H

#include "formats/device_list.h"
#include "formats/hlo_text.h"
#include "ir/hlo_print.h"

/* ---- bytes ---- */
enum {
  TEXT_BLANK = 1 << 0, /* space, tab, CR, LF */
  TEXT_SLASH = 1 << 1, /* may start a comment */
  TEXT_IDENT = 1 << 2, /* letters, digits, _ - . */
  TEXT_ALPHA = 1 << 3, /* letters and _: what a name starts with */
  TEXT_DIGIT = 1 << 4,
};
extern const uint8_t hilo_text_class[256];
static inline bool text_is(char c, unsigned classes) {
  return (hilo_text_class[(uint8_t)c] & classes) != 0;
}

/* ---- attributes ---- */
typedef enum {
#define HILO_TEXT_ATTR(id, name, kind) TEXT_ATTR_##id,
#include "formats/text/hlo_text_attrs.def"
#undef HILO_TEXT_ATTR
  TEXT_N_ATTRS
} text_attr;

/* A value as it was read: which member counts follows from the attribute's kind. */
typedef union {
  int64_t i; /* INT, BOOL */
  double f;  /* FLOAT */
  struct {
    uint32_t at, n;
  } list;     /* of `ints`: INTS, PAIRS, SLICE, PADDING, TYPES, … */
  hilo_str s; /* WORD */
  struct {
    uint32_t a, b;
  } h; /* handles: STRING (a), SHARDING (record, spelling), GROUPS, WINDOW, COMPUTATION … */
} text_value;

typedef struct {
  uint64_t bits[2];
} text_attr_set;
static inline bool text_set_has(const text_attr_set *s, text_attr a) {
  return s->bits[a >> 6] >> (a & 63) & 1;
}
static inline void text_set_add(text_attr_set *s, text_attr a) {
  s->bits[a >> 6] |= 1ull << (a & 63);
}

/* The attributes of the instruction that is being read; only those in `seen` hold anything. */
typedef struct {
  text_attr_set seen;
  text_value v[TEXT_N_ATTRS];
  uint32_t at[TEXT_N_ATTRS]; /* offset of the attribute's name */
} text_attrs;

/* ---- words, names, memo ---- */
/* Find a word of a fixed list: open addressing by length and three letters. */
typedef struct {
  const hilo_str *words;
  uint8_t slot[512]; /* index + 1 */
} text_words;
void hilo_text_words_init(text_words *w, const hilo_str *words, uint32_t n);
/* Are n bytes the same? For names, of which few are long. */
static inline bool text_same(const char *a, const char *b, size_t n) {
  uint64_t x, y, differs = 0;
  if (n < 8) {
    for (size_t i = 0; i < n; i++) differs |= (uint64_t)(uint8_t)(a[i] ^ b[i]);
    return !differs;
  }
  for (size_t i = 0; i + 8 < n; i += 8) {
    memcpy(&x, a + i, sizeof(x));
    memcpy(&y, b + i, sizeof(y));
    differs |= x ^ y;
  }
  memcpy(&x, a + n - 8, sizeof(x));
  memcpy(&y, b + n - 8, sizeof(y));
  return !(differs | (x ^ y));
}
static inline uint32_t text_word_hash(const char *p, size_t n) {
  return ((uint32_t)(uint8_t)p[0] * 0x9E3779B1u ^ (uint32_t)(uint8_t)p[n - 1] * 0x85EBCA6Bu ^
          (uint32_t)(uint8_t)p[n / 2] * 0xC2B2AE35u ^ (uint32_t)n * 0x27D4EB2Fu) >>
         23;
}
/* Index of the word, -1: none. n > 0. */
static inline int text_word_find(const text_words *w, const char *p, size_t n) {
  for (uint32_t i = text_word_hash(p, n);; i = (i + 1) & 511) {
    if (!w->slot[i]) return -1;
    const hilo_str word = w->words[w->slot[i] - 1];
    if (word.n == n && text_same(word.p, p, n)) return w->slot[i] - 1;
  }
}

enum { TEXT_POISON = UINT32_MAX };

/* A name of an instruction or computation. The key is its text; entries of instructions of earlier
 * computations stay, which is how a second use of a name in the module is noticed. `scope` of a
 * computation is a TEXT_COMP_*. */
enum { TEXT_COMP_READING, TEXT_COMP_DONE, TEXT_COMP_FAILED };
typedef struct {
  uint32_t hash, at, n; /* at: offset of the text; n 0: free slot */
  uint32_t scope;       /* of the computation that defined it last */
  uint32_t value;       /* bare index, or TEXT_POISON */
  uint32_t def;         /* offset of that definition */
} text_symbol;
typedef struct {
  text_symbol *v;
  uint32_t n, mask;
} text_symbols;

/* Spelling → what it came to. */
typedef enum {
  TEXT_MEMO_TYPE,
  TEXT_MEMO_SHARDING,
  TEXT_MEMO_GROUPS,
  TEXT_MEMO_FRONTEND,
  TEXT_MEMO_WINDOW,
} text_memo_kind;
typedef struct {
  uint32_t hash, at, n; /* n 0: free */
  uint32_t kind, a, b;
} text_memo_slot;
typedef struct {
  text_memo_slot *v;
  uint32_t n, mask;
} text_memo;

/* ---- errors ---- */
typedef struct {
  uint32_t at, note_at; /* note_at UINT32_MAX: no note */
  hilo_diag_code code;
  hilo_str message, note;
} text_error;

/* A name that was used and not found; whether it comes later is known at the end of its scope. */
typedef struct {
  uint32_t at, n, error, scope;
} text_missing;

typedef struct {
  uint32_t at;
  hilo_string name;
} text_mesh_use;

/* Types that were read lately, by the hash of their text; see hilo_text_type. */
typedef struct {
  uint64_t hash;
  const char *text;
  uint32_t n, type; /* n 0: free */
} text_recent_type;
typedef struct {
  const char *text;
  uint32_t hash, n, record; /* n 0: free */
} text_recent_meta;
enum { TEXT_RECENT_TYPES = 256, TEXT_RECENT_STRINGS = 1024, TEXT_RECENT_META = 1024 };

typedef struct text_reader {
  const char *p, *text, *end;
  hilo_module *m;
  hilo_arena *arena;     /* the module's */
  hilo_scratch *scratch; /* dropped when the module is read */
  hilo_str file_name;
  hilo_diags *diags;
  hilo_vec(text_error) errors;
  bool gave_up;       /* too many errors, or one that makes the rest meaningless: reading ends */
  uint8_t style_seen; /* HILO_TEXT_* bits of `style` that have been decided */

  text_words op_words, attr_words, etype_words;
  text_symbols insts, comps;
  text_memo memo;
  text_recent_type recent_types[TEXT_RECENT_TYPES];
  text_recent_meta recent_meta[TEXT_RECENT_META];
  struct {
    uint32_t hash, string;
  } recent_strings[TEXT_RECENT_STRINGS]; /* string 0: free */
  uint64_t *used_names; /* base and number of all instructions, made when the first name clashes */
  uint32_t n_used_names, used_names_mask;
  hilo_map type_sizes;        /* of tuple types that were inferred: see infer_type */
  hilo_map next_number;       /* base → number to try next for a name that clashed */
  hilo_map comp_names;        /* of base and number */
  hilo_vec(text_symbol) undo; /* entries that a nested computation hides */

  /* the computation that is being read */
  hilo_comp comp;
  uint32_t scope, last_scope, depth; /* depth: of nested computations */
  uint32_t type_depth;               /* of buffers and physical shapes */
  uint32_t nesting;                  /* of instructions in operands */
  hilo_vec(text_missing) missing;    /* instructions */
  hilo_vec(text_missing) missing_comps;
  hilo_vec(uint64_t) params; /* number << 32 | offset */
  uint32_t entry_at;         /* offset of ENTRY; UINT32_MAX: none yet */
  uint32_t layout_at;        /* of entry_computation_layout */
  hilo_vec(uint32_t) alias_at;
  hilo_vec(uint32_t) donor_at;

  /* the instruction that is being read */
  hilo_vec(hilo_inst) operands; /* a stack: instructions can stand inside of operands */
  hilo_vec(hilo_comp) called;
  hilo_vec(int64_t) ints;
  hilo_vec(hilo_type) types;
  hilo_sb sb;
  bool poisoned; /* one of its operands is, or it has an error: it will not be built */
  text_attrs attrs;

  uint64_t n_devices; /* that spellings of this module have been expanded to */
  const char *last_metadata;
  uint32_t last_metadata_n, last_metadata_record;
  struct { /* names of Shardy meshes that attributes mention */
    text_mesh_use *v;
    uint32_t n, cap;
  } meshes;
} text_reader;

/* ---- lexer: hlo_text_lex.c ---- */
void hilo_text_skip_slow(text_reader *r);
/* Skip blanks and comments. */
static inline void text_skip(text_reader *r) {
  if (HILO_LIKELY(!text_is(*r->p, TEXT_BLANK | TEXT_SLASH))) return;
  if (*r->p == ' ' && r->p < r->end && !text_is(r->p[1], TEXT_BLANK | TEXT_SLASH)) {
    r->p++;
    return;
  }
  hilo_text_skip_slow(r);
}
/* The first byte in memory that is not zero, of eight. */
static inline uint32_t text_first_byte(uint64_t x) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  return (uint32_t)__builtin_ctzll(x) >> 3;
#else
  return (uint32_t)__builtin_clzll(x) >> 3;
#endif
}
/* The first n bytes in memory of eight, n below 8, the others zero. */
static inline uint64_t text_first_bytes(uint64_t x, uint32_t n) {
  const uint64_t all = ~(uint64_t)0;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  return x & ~(all << 8 * n);
#else
  return n ? x & all << (64 - 8 * n) : 0;
#endif
}
static inline uint32_t text_offset(const text_reader *r, const char *p) {
  return (uint32_t)(p - r->text);
}
/* The identifier at `p` (letters, digits, `_`, `-`, `.`), maybe empty. */
static inline hilo_str text_ident_at(const char *p) {
  const char *q = p;
  while (text_is(*q, TEXT_IDENT)) q++;
  return (hilo_str){p, (size_t)(q - p)};
}
/* The same, 16 bytes at once: for what may be long. */
static inline hilo_str text_name_at(const text_reader *r, const char *p) {
  typedef int8_t bytes16 __attribute__((vector_size(16)));
  const char *q = p;
  while (r->end - q >= 16) {
    bytes16 x;
    uint64_t is_name[2];
    memcpy(&x, q, sizeof(x));
    const bytes16 lower = x | 0x20;
    const bytes16 ok = ((lower >= 'a') & (lower <= 'z')) | ((x >= '0') & (x <= '9')) | (x == '_') |
                       (x == '-') | (x == '.');
    memcpy(is_name, &ok, sizeof(is_name));
    if (~is_name[0]) return (hilo_str){p, (size_t)(q - p) + text_first_byte(~is_name[0])};
    if (~is_name[1]) return (hilo_str){p, (size_t)(q - p) + 8 + text_first_byte(~is_name[1])};
    q += 16;
  }
  while (text_is(*q, TEXT_IDENT)) q++;
  return (hilo_str){p, (size_t)(q - p)};
}
/* The first `a` or `b`, or the end. */
static inline const char *text_find_either(const char *p, const char *end, char a, char b) {
  typedef int8_t bytes16 __attribute__((vector_size(16)));
  for (; end - p >= 16; p += 16) {
    bytes16 x;
    uint64_t found[2];
    memcpy(&x, p, sizeof(x));
    const bytes16 is_it = (x == (int8_t)a) | (x == (int8_t)b);
    memcpy(found, &is_it, sizeof(found));
    if (found[0]) return p + text_first_byte(found[0]);
    if (found[1]) return p + 8 + text_first_byte(found[1]);
  }
  while (p < end && *p != a && *p != b) p++;
  return p;
}
/* Step over `c` if it stands here. */
static inline bool text_eat(text_reader *r, char c) {
  if (*r->p != c || r->p == r->end) return false;
  r->p++;
  return true;
}

/* Report an error at a place in the text; returns false. */
bool hilo_text_fail(text_reader *r, hilo_diag_code code, const char *at, const char *fmt, ...)
    HILO_PRINTF(4, 5);
/* A second place for the error reported last. */
void hilo_text_note(text_reader *r, uint32_t at, const char *fmt, ...) HILO_PRINTF(3, 4);
/* `expected <what>, saw <what stands here>`; false. */
bool hilo_text_expected(text_reader *r, const char *what);
/* Blanks, then `c`, or an error that says what it is for. */
bool hilo_text_want(text_reader *r, char c, const char *what);
static inline bool text_want(text_reader *r, char c, const char *what) {
  text_skip(r);
  if (HILO_LIKELY(*r->p == c && r->p < r->end)) {
    r->p++;
    return true;
  }
  return hilo_text_want(r, c, what);
}
/* What stands at `p`, for messages, in the scratch arena. */
hilo_str hilo_text_seen(text_reader *r, const char *p);
void hilo_text_report(text_reader *r); /* hand all errors over to `diags`, in order */

bool hilo_text_int_slow(text_reader *r, int64_t *out, const char *what);
/* A decimal integer of 64 bits. */
static inline bool text_int(text_reader *r, int64_t *out, const char *what) {
  const char *p = r->p;
  uint32_t digit = (uint32_t)(uint8_t)*p - '0';
  if (digit > 9) return hilo_text_int_slow(r, out, what);
  uint64_t v = 0;
  do {
    v = v * 10 + digit;
    digit = (uint32_t)(uint8_t) * ++p - '0';
  } while (digit <= 9);
  if (p - r->p > 18) return hilo_text_int_slow(r, out, what);
  r->p = p;
  *out = (int64_t)v;
  return true;
}
bool hilo_text_bool(text_reader *r, bool *out);
/* A quoted string, unescaped; in scratch memory or the text, valid until the next one. */
bool hilo_text_string(text_reader *r, hilo_str *out, const char *what);
/* hilo_string_put with a memory for what was put lately. */
hilo_string hilo_text_intern(text_reader *r, hilo_str s);
bool hilo_text_string_put(text_reader *r, hilo_string *out, const char *what);
/* A number or word up to the first byte that cannot belong to one, as a double. */
bool hilo_text_double(text_reader *r, double *out, const char *what);
/* Behind the brace that closes the one at `p`, strings skipped; NULL: it is not closed. */
static inline const char *text_close(const text_reader *r, const char *p) {
  return hilo_hlo_close_brace(p, r->end);
}
/* `{1,2,3}` appended to `ints`. */
bool hilo_text_ints(text_reader *r, char open, char close, uint32_t *at, uint32_t *n,
                    const char *what);
static inline hilo_dims text_dims(const text_reader *r, uint32_t at, uint32_t n) {
  return (hilo_dims){r->ints.v + at, n};
}
#define TEXT_PUSH_INT(r, x) HILO_PUSH(&(r)->scratch->arena, &(r)->ints, (int64_t)(x))

/* ---- names and memo: hlo_text_names.c ---- */
void hilo_text_symbols_init(text_reader *r, text_symbols *s, uint32_t n);
void hilo_text_symbols_grow(text_reader *r, text_symbols *s);
/* The slot of a name, free (n 0) if it was never seen. */
text_symbol *hilo_text_symbol(const text_reader *r, const text_symbols *s, hilo_str name,
                              uint32_t hash);
/* The entry of a name that this computation defines now, its value TEXT_POISON; NULL: it has one
 * (reported). *seen_before: some computation did. Valid until the next declaration. */
text_symbol *hilo_text_declare_inst(text_reader *r, hilo_str name, bool *seen_before);
/* A name whose instruction has errors: its uses are no errors of their own. */
void hilo_text_declare_failed(text_reader *r, hilo_str name);
/* Names mean again what they did when `undo` had n entries: a nested computation ends. */
void hilo_text_undo_to(text_reader *r, uint32_t n);
/* A name for the instruction that is free in the module: `name` itself if it is. */
hilo_name hilo_text_unique_name(text_reader *r, hilo_str name, bool seen_before);
hilo_name hilo_text_made_name(text_reader *r, hilo_str base); /* for one without a name */
void hilo_text_nearest_inst(text_reader *r, hilo_str name, uint32_t scope, hilo_sb *out);
void hilo_text_resolve_missing(text_reader *r, uint32_t first, uint32_t scope);
text_memo_slot *hilo_text_memo_find(text_reader *r, text_memo_kind kind, const char *p, size_t n);
/* Fill the free slot that `find` gave. */
void hilo_text_memo_set(text_reader *r, text_memo_slot *slot, text_memo_kind kind, const char *p,
                        size_t n, uint32_t a, uint32_t b);

/* ---- types: hlo_text_type.c ---- */
bool hilo_text_type(text_reader *r, hilo_type *out);
/* The same, or none if no type starts here. */
bool hilo_text_maybe_type(text_reader *r, hilo_type *out);

/* ---- literals: hlo_text_literal.c ---- */
bool hilo_text_literal(text_reader *r, hilo_type type, hilo_literal *out);
/* With the types written before the values, as in custom calls. */
bool hilo_text_typed_literal(text_reader *r, hilo_literal *out);

/* ---- shardings and groups: hlo_text_group.c, hlo_text_sharding.c ---- */
enum { TEXT_MAX_ALL_DEVICES = 1 << 24 }; /* that the iotas and meshes of a module expand to */
/* `[2,4]<=[4,2]T(1,0)`; where it is no iota, the devices follow. */
typedef struct {
  hilo_dims dims;
  int64_t n; /* their product */
  bool is_iota;
  hilo_iota iota;
} text_tiles;
bool hilo_text_tile_assignment(text_reader *r, text_tiles *tiles);
hilo_record hilo_text_put_iota_spelling(text_reader *r, const text_tiles *tiles);
/* Every device of the list occurs once; with `exactly`, they are 0 to n-1. */
bool hilo_text_devices_are_distinct(text_reader *r, const char *at, hilo_dims list, bool exactly);
bool hilo_text_groups(text_reader *r, uint32_t *record, uint32_t *spelling);
bool hilo_text_sharding(text_reader *r, uint32_t *record, uint32_t *spelling);
/* A mesh: `mesh['x'=2,'y'=4]`, maybe with `, device_ids=(…)`. */
typedef struct {
  hilo_str names[HILO_MAX_RANK];
  int64_t sizes[HILO_MAX_RANK];
  uint32_t n;
  int64_t n_devices;
  hilo_dims devices; /* n 0: 0 to n_devices - 1 */
  hilo_iota iota;    /* reshape.n 0: the devices were listed */
} text_mesh;
bool hilo_text_mesh(text_reader *r, text_mesh *mesh);
bool hilo_text_axis(text_reader *r, const text_mesh *mesh, hilo_mesh_axis *out);
/* No two axes of the list share devices. */
bool hilo_text_axes_are_apart(text_reader *r, const text_mesh *mesh, const hilo_mesh_axis *axes,
                              uint32_t n, const char *at);

/* ---- what any instruction may carry: hlo_text_meta.c ---- */
bool hilo_text_metadata(text_reader *r, uint32_t *out);
bool hilo_text_frontend(text_reader *r, uint32_t *out);
bool hilo_text_string_or_json(text_reader *r, uint32_t *out);
bool hilo_text_statistics(text_reader *r, uint32_t *at, uint32_t *n);
bool hilo_text_origin(text_reader *r, uint32_t *out);
bool hilo_text_accuracy(text_reader *r, uint32_t *out);

/* ---- attributes: hlo_text_attrs.c, hlo_text_value.c, hlo_text_build.c ---- */
/* `, name=value …` up to what is none. `wrapped`: the operation inside of an async one in its short
 * form. */
bool hilo_text_attributes(text_reader *r, hilo_op op, hilo_op wrapped, const char *op_at);
bool hilo_text_bools(text_reader *r, uint32_t *at, uint32_t *n);
bool hilo_text_attribute_value(text_reader *r, text_attr attr, text_value *v);
hilo_str hilo_text_attr_name(text_attr attr);
void hilo_text_attr_words(text_words *w);
bool hilo_text_window(text_reader *r, uint32_t *out);
bool hilo_text_dim_labels(text_reader *r, uint32_t *out);
bool hilo_text_aliasing(text_reader *r, uint32_t *at, uint32_t *n);
bool hilo_text_shape_index(text_reader *r, uint32_t *at, uint32_t *n);
bool hilo_text_computation_name(text_reader *r, uint32_t *out);
/* The `attr` column of an instruction from what was read. `at`: its opcode, for messages. */
bool hilo_text_build_attr(text_reader *r, hilo_op op, const hilo_inst *operands,
                          uint32_t n_operands, const char *at, uint32_t *out);
/* The `extra` record: of the operation, of the instruction, or both, where an asynchronous start
 * and the operation inside it share one text. */
enum { TEXT_EXTRA_OF_OPERATION = 1, TEXT_EXTRA_OF_INSTRUCTION = 2, TEXT_EXTRA_ALL = 3 };
hilo_record hilo_text_build_extra(text_reader *r, hilo_type type, unsigned which);
/* The called computations, in the order of the IR, on r->called. */
bool hilo_text_build_called(text_reader *r, hilo_op op, const hilo_inst *operands,
                            uint32_t n_operands, const char *at);

/* ---- module: hlo_text_header.c, hlo_text_inst.c, hlo_text_comp.c, hlo_text_read.c ---- */
bool hilo_text_header(text_reader *r);
bool hilo_text_stack_frames(text_reader *r);
bool hilo_text_at_keyword(const text_reader *r, const char *word);
bool hilo_text_instruction(text_reader *r, bool *is_root, hilo_inst *out);
/* A computation, `ENTRY` included. */
bool hilo_text_computation(text_reader *r);
bool hilo_text_nested_computation(text_reader *r, uint32_t *out);
/* A name for a computation that is free in the module. */
hilo_name hilo_text_unique_comp_name(text_reader *r, hilo_str text);
/* Find an operand by name; TEXT_POISON if there is none (reported, or resolved later). */
uint32_t hilo_text_find_inst(text_reader *r, hilo_str name);
void hilo_text_see_style(text_reader *r, uint8_t bit, bool is_on);
/* The asynchronous start that an update or done belongs to, none: its operand is something else. */
hilo_inst hilo_text_async_start(const hilo_module *m, hilo_inst i);

#endif
