/* What the files of the MLIR text reader share: its state, the lexer, and who reads what.
 *
 * There are no tokens and no tree in between: a function is called with `p` at the first byte of
 * what it reads and leaves it behind the last one; operations become instructions as soon as they
 * have been read. What stands at `end` and behind it are blanks that do not count, so that
 * loops over names and digits stop by themselves. Functions return false after they have reported
 * an error. The first error ends reading.
 *
 * Regions nest by recursion, which MLIR_MAX_DEPTH bounds; so do types and attributes. Lists of an
 * operation (operands, types, integers) are taken from stacks of the reader, which the operation
 * puts back. */
#ifndef HILO_FORMATS_MLIR_IMPL_H
#define HILO_FORMATS_MLIR_IMPL_H

#include "formats/mlir_text.h"

enum {
  MLIR_MAX_DEPTH = 256,          /* of regions, of types, of attributes, of locations: each */
  MLIR_MAX_OPERANDS = 1 << 20,   /* of an operation; likewise results and regions */
  MLIR_MAX_KEPT_BYTES = 1 << 24, /* of one attribute that is kept as text, its aliases expanded */
};

/* ---- bytes ---- */

enum {
  MLIR_BLANK = 1 << 0,
  MLIR_SLASH = 1 << 1,
  MLIR_IDENT = 1 << 2,  /* letters, digits, _ $ . */
  MLIR_SUFFIX = 1 << 3, /* these and -: behind %, @, #, ! */
  MLIR_ALPHA = 1 << 4,  /* letters and _ */
  MLIR_DIGIT = 1 << 5,
};
extern const uint8_t hilo_mlir_class[256];
static inline bool mlir_is(char c, unsigned classes) {
  return (hilo_mlir_class[(uint8_t)c] & classes) != 0;
}

/* ---- attributes ---- */

typedef enum {
#define HILO_MLIR_ATTR(name, kind) MLIR_ATTR_##name,
#include "formats/mlir/mlir_attrs.def"
#undef HILO_MLIR_ATTR
  MLIR_N_ATTRS
} mlir_attr;

typedef enum {
  MLIR_INT,
  MLIR_BOOL,
  MLIR_FLOAT,
  MLIR_STRING,
  MLIR_INTS,
  MLIR_MATRIX,
  MLIR_ENUM,
  MLIR_ENUMS,
  MLIR_VALUE,
  MLIR_SYMBOL,
  MLIR_SYMBOLS,
  MLIR_TEXT,
  MLIR_CONFIG,
  MLIR_CHANNEL,
  MLIR_DIMENSIONS,
  MLIR_DOT,
  MLIR_RAGGED,
  MLIR_SCATTER,
  MLIR_ALGORITHM,
  MLIR_ACCURACY,
  MLIR_ALIASES,
  MLIR_LAYOUTS,
  MLIR_GROUPS,
  MLIR_SHARDING,
} mlir_kind;

/* A value as it was read: which member counts follows from the kind. */
typedef union {
  int64_t i;  /* INT, BOOL */
  double f;   /* FLOAT */
  hilo_str s; /* STRING, ENUM (the word), TEXT; CONFIG: the string's contents or the dictionary */
  struct {
    uint32_t at, n, columns;
  } list; /* of `ints`: INTS, MATRIX (n in all), ENUMS, ALIASES, SYMBOLS (computations) … */
  struct {
    uint32_t a, b;
  } h; /* handles: VALUE (literal, type), SYMBOL (computation), structured ones (record) */
} mlir_value;

typedef struct {
  uint64_t seen[2], used[2]; /* bits: attributes that were read, that became part of the IR */
  mlir_value v[MLIR_N_ATTRS];
  uint32_t at[MLIR_N_ATTRS], end[MLIR_N_ATTRS]; /* of `name = value` in the text */
} mlir_attrs;
_Static_assert(MLIR_N_ATTRS <= 128, "bits of mlir_attrs");

/* ---- names of values ---- */

/* A value: an instruction, or an element of the tuple `producer` that becomes one when it is used.
 */
typedef struct {
  uint32_t inst; /* 0: not made yet */
  uint32_t producer, index;
} mlir_result;

/* `%name` or `%name:n`: the values from `first` on. */
typedef struct {
  uint32_t hash, at, n; /* the text, without % */
  uint32_t first, n_values;
  struct mlir_frame *frame; /* that defines it; NULL: its region has ended */
} mlir_name;

/* What an outer value may become in a region that uses it. */
typedef enum {
  MLIR_ISOLATED,  /* a function: nothing */
  MLIR_CONSTANTS, /* constants are cloned */
  MLIR_CARRIED,   /* constants, and further elements of the one tuple that is the parameter */
} mlir_capture;

/* Values of the surrounding computation that the regions of an operation take along. */
typedef struct {
  hilo_vec(hilo_inst) outer;
  hilo_map index; /* outer → its place + 1 */
} mlir_captured;

/* A region that is being read. */
typedef struct mlir_frame {
  struct mlir_frame *parent;
  hilo_comp comp;
  mlir_capture mode;
  const char *op_name;    /* for messages */
  uint32_t first_defined; /* in `defined` */
  hilo_inst param;        /* CARRIED: the tuple */
  uint32_t n_own;         /* CARRIED: elements before the captured ones */
  mlir_captured *captured;
  struct {
    hilo_inst outer, local;
  } * imported; /* outer values that the region has made its own */
  uint32_t n_imported, cap_imported;
  hilo_map import_map; /* once there are many: outer → index + 1 */
  hilo_inst *results;  /* of its terminator */
  uint32_t n_results;
  bool has_results;   /* the terminator was read */
  const char *end_at; /* the terminator's place */
} mlir_frame;

/* ---- symbols and aliases ---- */

typedef struct {
  hilo_comp comp;
  hilo_string name;   /* with the names of nested modules */
  uint32_t first_use; /* offset, for functions that are never defined */
  bool is_defined, is_public, has_body, is_used;
} mlir_function;

typedef struct {
  hilo_str name; /* with # or ! */
  uint32_t at;   /* of the value */
  uint32_t type; /* types: once known */
  uint32_t meta; /* locations: once known, plus 1 */
  bool is_busy;  /* is being read: it depends on itself if it is asked for again */
} mlir_alias;

/* A resource: its name, and the offset of the string with its bytes. */
typedef struct {
  hilo_str name;
  uint32_t at;
} mlir_blob;

typedef struct {
  uint32_t hash, at, n, type; /* n 0: free */
} mlir_recent_type;
enum { MLIR_RECENT_TYPES = 512 };

/* Words to numbers: open addressing, for sets that are known when reading begins. */
typedef struct {
  uint16_t *slot; /* index + 1 */
  const hilo_str *words;
  uint32_t mask;
} mlir_words;

/* Operations that are no rows of ops.def, or more than one. */
typedef enum {
  MLIR_OP_MODULE = HILO_OP_COUNT,
  MLIR_OP_FUNC,
  MLIR_OP_RETURN,
  MLIR_OP_MESH,
  MLIR_OP_CARRIED, /* check.*, interpreter.*, sdy.*: a custom-call of the operation's name */
} mlir_special;

/* `%name:n_values` left of the `=`: the offset of the name, its length, and the number that it is
 * (mlir_name_at). */
typedef struct {
  uint32_t at, n, n_values, number;
} mlir_result_name;

/* An operation that is being read. Lists are offsets into the stacks of the reader. */
typedef struct {
  uint32_t op; /* hilo_op or mlir_special */
  hilo_str name;
  const char *at; /* of the name */
  bool is_generic;
  uint32_t results, n_results; /* names left of `=`, in `result_names` */
  uint32_t n_result_values;
  uint32_t operands, n_operands;
  uint32_t operand_types, n_operand_types, result_types, n_result_types;
  bool has_types;
  uint32_t called, n_called;
  uint32_t ints;
  uint32_t kept; /* in `kept`: text of attributes without a place */
  hilo_extra_attrs extra;
  bool has_extra;
  hilo_record meta;
  mlir_captured captured;               /* by while, if and case */
  hilo_vec(struct mlir_frame *) frames; /* their regions */
  uint32_t n_init;                      /* scan: operands are inputs, then these */
  mlir_attrs attrs;                     /* last: its values are not cleared */
} mlir_op;

typedef struct mlir_reader {
  const char *p, *text, *end;
  const char *full_end; /* with the resources */
  hilo_module *m;
  hilo_arena *arena;
  hilo_scratch *scratch;
  hilo_str file_name;
  uint32_t first_line;
  hilo_diags *diags;
  bool failed;
  uint32_t region_depth, type_depth, attr_depth, loc_depth, alias_depth;
  /* words */
  mlir_words op_words, attr_words, etype_words, alias_words;
  uint16_t *op_ids; /* of op_words: hilo_op or mlir_special */
  uint32_t n_op_words;
  hilo_vec(mlir_alias) aliases;
  hilo_map alias_map;  /* where there are too many for words */
  hilo_vec(char) open; /* brackets, while a value is stepped over */
  /* values */
  hilo_vec(mlir_name) names;
  uint32_t *name_slots, name_mask; /* of names that are no numbers */
  uint32_t n_hashed;               /* so many */
  uint32_t *numbered;              /* %N → index into names + 1, below n_numbered */
  uint32_t n_numbered;
  hilo_vec(uint32_t) defined; /* names in order of definition, for the end of regions */
  hilo_vec(mlir_result) values;
  mlir_frame *frame;
  /* symbols */
  hilo_map function_by_name; /* string handle → index into functions */
  hilo_vec(mlir_function) functions;
  hilo_str prefix; /* of nested modules: `a::b::` */
  uint32_t n_modules;
  /* stacks */
  hilo_vec(hilo_inst) operands;
  hilo_vec(uint32_t) operand_at;
  hilo_vec(hilo_type) types;
  hilo_vec(int64_t) ints;
  hilo_vec(hilo_comp) called;
  hilo_vec(mlir_result_name) result_names;
  hilo_sb kept;
  hilo_sb sb;
  /* memos */
  mlir_recent_type recent_types[MLIR_RECENT_TYPES];
  const mlir_recent_type *last_tensor; /* of these: the one read last */
  hilo_map shardings;                  /* string handle → sharding record */
  hilo_map spellings;                  /* string handle → its spelling */
  hilo_map applied; /* reducers written as `applies op`: op and element type → computation */
  hilo_map shared;  /* hash of a region → its computation */
  hilo_string op_bases[HILO_OP_COUNT];
  hilo_vec(uint64_t) regions; /* computation, base of its name << 32: named at the end */
  /* resources */
  const char *resources; /* behind {-#; NULL: there are none */
  bool read_resources;
  hilo_vec(mlir_blob) blobs;
  bool saw_stablehlo, saw_mhlo;
} mlir_reader;

/* ---- lexer: mlir_lex.c ---- */

void hilo_mlir_skip_slow(mlir_reader *r);
static inline void mlir_skip(mlir_reader *r) {
  if (HILO_LIKELY(!mlir_is(*r->p, MLIR_BLANK | MLIR_SLASH))) return;
  if (*r->p == ' ' && r->p < r->end && !mlir_is(r->p[1], MLIR_BLANK | MLIR_SLASH)) {
    r->p++;
    return;
  }
  hilo_mlir_skip_slow(r);
}
static inline uint32_t mlir_offset(const mlir_reader *r, const char *p) {
  return (uint32_t)(p - r->text);
}
static inline bool mlir_at_end(const mlir_reader *r) { return r->p >= r->end; }
/* Report the first error, at a place in the text; false. */
bool hilo_mlir_fail(mlir_reader *r, hilo_diag_code code, const char *at, const char *fmt, ...)
    HILO_PRINTF(4, 5) __attribute__((cold));
/* The same as a syntax error at `p`: `expected <what>, saw <what stands here>`. */
bool hilo_mlir_expected(mlir_reader *r, const char *what) __attribute__((cold));
/* A second place for the error that was reported. */
void hilo_mlir_note(mlir_reader *r, uint32_t at, const char *fmt, ...) HILO_PRINTF(3, 4);
bool hilo_mlir_want_slow(mlir_reader *r, char c, const char *what) __attribute__((cold));
/* Blanks, then `c` if it stands there. */
static inline bool mlir_eat(mlir_reader *r, char c) {
  mlir_skip(r);
  if (*r->p != c || r->p >= r->end) return false;
  r->p++;
  return true;
}
static inline bool mlir_want(mlir_reader *r, char c, const char *what) {
  mlir_skip(r);
  if (HILO_LIKELY(*r->p == c && r->p < r->end)) {
    r->p++;
    return true;
  }
  return hilo_mlir_want_slow(r, c, what);
}
/* Blanks, then `->`. */
bool hilo_mlir_eat_arrow(mlir_reader *r);
/* The identifier at `p`, maybe empty. */
static inline hilo_str mlir_ident_at(const char *p) {
  const char *q = p;
  if (!mlir_is(*q, MLIR_ALPHA)) return (hilo_str){p, 0};
  while (mlir_is(*q, MLIR_IDENT)) q++;
  return (hilo_str){p, (size_t)(q - p)};
}
static inline hilo_str mlir_suffix_at(const char *p) {
  const char *q = p;
  while (mlir_is(*q, MLIR_SUFFIX)) q++;
  return (hilo_str){p, (size_t)(q - p)};
}
enum { MLIR_MAX_DIGITS = 8 };

/* The name at p, and the number that it is; UINT32_MAX: none, or a long one. */
static inline hilo_str mlir_name_at(const char *p, uint32_t *number) {
  const char *q = p;
  uint32_t v = 0;
  for (uint32_t digit; (digit = (uint32_t)(uint8_t)*q - '0') <= 9; q++) v = v * 10 + digit;
  const size_t n = (size_t)(q - p);
  if (HILO_LIKELY(n && n <= MLIR_MAX_DIGITS && (*p != '0' || n == 1) &&
                  !mlir_is(*q, MLIR_SUFFIX))) {
    *number = v;
    return (hilo_str){p, n};
  }
  while (mlir_is(*q, MLIR_SUFFIX)) q++;
  *number = UINT32_MAX;
  return (hilo_str){p, (size_t)(q - p)};
}
/* Blanks, then this word if it stands there. */
bool hilo_mlir_eat_word(mlir_reader *r, const char *word);
bool hilo_mlir_want_word(mlir_reader *r, const char *word);
bool hilo_mlir_int_slow(mlir_reader *r, int64_t *out, const char *what);
/* An integer of 64 bits, decimal or hexadecimal; blanks before it. */
static inline bool mlir_int(mlir_reader *r, int64_t *out, const char *what) {
  mlir_skip(r);
  const char *p = r->p;
  uint32_t digit = (uint32_t)(uint8_t)*p - '0';
  if (digit > 9) return hilo_mlir_int_slow(r, out, what);
  uint64_t v = 0;
  do {
    v = v * 10 + digit;
    digit = (uint32_t)(uint8_t) * ++p - '0';
  } while (digit <= 9);
  if (p - r->p > 18 || *p == 'x') return hilo_mlir_int_slow(r, out, what);
  r->p = p;
  *out = (int64_t)v;
  return true;
}
/* A string in double quotes, unescaped: in the text, or in scratch memory for good. */
bool hilo_mlir_string(mlir_reader *r, hilo_str *out, const char *what);
/* Behind the quote that closes the string at `p`; NULL: it is not closed on its line. */
const char *hilo_mlir_string_end(const mlir_reader *r, const char *p);
/* `@name` or `@"name"`, `::@nested` included as `a::b`. */
bool hilo_mlir_symbol_name(mlir_reader *r, hilo_str *out);
/* Step over a value of any kind, up to the comma, bracket or `:` that ends it: brackets and strings
 * match. */
bool hilo_mlir_skip_value(mlir_reader *r);
/* Step over one group of brackets, which starts at `p`. */
bool hilo_mlir_skip_group(mlir_reader *r);
/* What stands at `p`, for messages. */
hilo_str hilo_mlir_seen(mlir_reader *r, const char *p);

void hilo_mlir_words_init(mlir_reader *r, mlir_words *w, const hilo_str *words, uint32_t n);
/* Index of the word, -1: none. */
static inline int mlir_word_find(const mlir_words *w, const char *p, size_t n) {
  if (!w->slot) return -1;
  for (uint32_t i = hilo_hash_name(p, n) & w->mask;; i = (i + 1) & w->mask) {
    if (!w->slot[i]) return -1;
    const hilo_str word = w->words[w->slot[i] - 1];
    if (word.n == n && memcmp(word.p, p, n) == 0) return w->slot[i] - 1;
  }
}
static inline hilo_dims mlir_dims(const mlir_reader *r, uint32_t at, uint32_t n) {
  return (hilo_dims){n ? r->ints.v + at : NULL, n};
}
static inline hilo_dims mlir_list(const mlir_reader *r, const mlir_value *v) {
  return mlir_dims(r, v->list.at, v->list.n);
}
#define MLIR_PUSH_INT(r, x) HILO_PUSH(&(r)->scratch->arena, &(r)->ints, (int64_t)(x))
/* Count a level of nesting: `if (!mlir_enter(r, &r->type_depth, "types")) return false;` */
bool hilo_mlir_too_deep(mlir_reader *r, const char *what);
static inline bool mlir_enter(mlir_reader *r, uint32_t *depth, const char *what) {
  if (HILO_LIKELY(++*depth <= MLIR_MAX_DEPTH)) return true;
  return hilo_mlir_too_deep(r, what);
}

/* ---- aliases: mlir_alias.c ---- */

/* Find all definitions of aliases, which stand on lines of their own, and the resources; count the
 * lines that may hold operations. */
uint32_t hilo_mlir_scan(mlir_reader *r);
/* The alias at `p` (`#name` or `!name` that is no dialect's), NULL: none stands here. `p` is left
 * where it is. */
mlir_alias *hilo_mlir_alias_at(mlir_reader *r, size_t *length);
/* `#name = value` at the top level: stepped over, as it is known. */
bool hilo_mlir_alias_definition(mlir_reader *r);
/* Read the alias at `p`, if there is one, in place of what stands here: sets `p` to its value and
 * remembers where to come back. */
typedef struct {
  const char *back; /* NULL: there was no alias */
  mlir_alias *alias;
} mlir_detour;
bool hilo_mlir_enter_alias(mlir_reader *r, mlir_detour *detour);
void hilo_mlir_leave_alias(mlir_reader *r, const mlir_detour *detour);
/* The text from `from` to `to` with aliases expanded, appended to `sb`. */
bool hilo_mlir_keep_text(mlir_reader *r, const char *from, const char *to, hilo_sb *sb);

/* ---- types: mlir_type.c, mlir_quant.c ---- */

bool hilo_mlir_type(mlir_reader *r, hilo_type *out);
/* `(type, type)` or one type without parentheses, onto the stack of types. */
bool hilo_mlir_type_list_parens(mlir_reader *r, uint32_t *at, uint32_t *n);
bool hilo_mlir_function_type(mlir_reader *r, uint32_t *inputs, uint32_t *n_inputs,
                             uint32_t *results, uint32_t *n_results);
/* The element type `i32`, `bf16`, `complex<f32>` … at `p`, HILO_INVALID if it is none (no error).
 */
hilo_etype hilo_mlir_etype(mlir_reader *r);
/* The inside of `!quant.uniform<…>`, p behind the `<`, up to and with the `>`. */
bool hilo_mlir_quant(mlir_reader *r, bool any, hilo_record *out);

/* ---- literals: mlir_literal.c, mlir_resource.c ---- */

/* `dense<…> : type`, `dense_resource<…> : type`, `1.0 : f32`, `array<…>`: a literal and its type.
 */
bool hilo_mlir_elements(mlir_reader *r, hilo_literal *out, hilo_type *type);
/* The bytes of the resource of this name; an error at `at` if there is none. */
bool hilo_mlir_resource(mlir_reader *r, hilo_str name, const char *at, const char **data,
                        uint64_t *bytes);
/* The value of a hexadecimal digit, -1: it is none. */
int hilo_mlir_hex_digit(char c);

/* ---- locations: mlir_loc.c ---- */

/* ` loc(…)` if it stands here. */
bool hilo_mlir_loc(mlir_reader *r, hilo_record *meta);

/* ---- attributes: mlir_attr.c, mlir_dims.c ---- */

static inline bool mlir_has(const mlir_op *o, mlir_attr a) {
  return o->attrs.seen[a >> 6] >> (a & 63) & 1;
}
static inline void mlir_use(mlir_op *o, mlir_attr a) { o->attrs.used[a >> 6] |= 1ull << (a & 63); }
/* Read a value of attribute `a`, `p` at its first byte. */
bool hilo_mlir_attr_value(mlir_reader *r, mlir_op *o, mlir_attr a);
/* `{a = b, c}` if it stands here. `close`: the bracket behind it. */
bool hilo_mlir_attr_dict(mlir_reader *r, mlir_op *o);
/* The same behind the `{`, up to and with the `}`. */
bool hilo_mlir_attr_entries(mlir_reader *r, mlir_op *o);
/* The first letter of an entry up to its value: a bare name or a string. */
bool hilo_mlir_attr_name(mlir_reader *r, hilo_str *out);
bool hilo_mlir_int_attr(mlir_reader *r, int64_t *out);
bool hilo_mlir_bool_attr(mlir_reader *r, int64_t *out);
bool hilo_mlir_string_attr(mlir_reader *r, hilo_str *out);
bool hilo_mlir_ints(mlir_reader *r, mlir_value *v);
bool hilo_mlir_matrix(mlir_reader *r, mlir_value *v);
/* The word of `#stablehlo<precision HIGHEST>`, or the bare word. */
bool hilo_mlir_enum(mlir_reader *r, hilo_str *out);
/* Index of the word in a list that NULL ends; -1 and an error if it is none. */
int hilo_mlir_enum_index(mlir_reader *r, const char *at, hilo_str word, const char *const *words,
                         const char *what);
/* {a = "b", c = "d"} as a string_map. */
bool hilo_mlir_string_map(mlir_reader *r, hilo_record *out);
/* structured ones */
bool hilo_mlir_dot_dims(mlir_reader *r, hilo_record *out);
bool hilo_mlir_ragged_dims(mlir_reader *r, hilo_record *out);
bool hilo_mlir_dimensions(mlir_reader *r, mlir_value *v); /* gather's or a convolution's */
bool hilo_mlir_conv_dims(mlir_reader *r, hilo_record *out);
bool hilo_mlir_scatter_dims(mlir_reader *r, hilo_record *out);
bool hilo_mlir_channel(mlir_reader *r, int64_t *out);
bool hilo_mlir_algorithm(mlir_reader *r, int64_t *out);
bool hilo_mlir_accuracy(mlir_reader *r, hilo_record *out);
bool hilo_mlir_aliases(mlir_reader *r, mlir_value *v);
bool hilo_mlir_layouts(mlir_reader *r, mlir_value *v);
bool hilo_mlir_groups(mlir_reader *r, mlir_value *v);
/* `#stablehlo.replica_group_mesh_axes<mesh = @m, axes = [...]>`, in mlir_sharding.c. */
bool hilo_mlir_mesh_groups(mlir_reader *r, hilo_record *groups, hilo_record *spelling);

/* ---- values: mlir_value.c ---- */

void hilo_mlir_names_init(mlir_reader *r, uint32_t n);
/* Define `%name` with its values; an error if it is visible already. */
bool hilo_mlir_define(mlir_reader *r, const mlir_result_name *defined, const mlir_result *values);
/* The same for an argument. */
static inline bool mlir_define_argument(mlir_reader *r, const char *at, const mlir_result *value) {
  mlir_result_name name = {.at = mlir_offset(r, at), .n_values = 1};
  name.n = (uint32_t)mlir_name_at(at, &name.number).n;
  return hilo_mlir_define(r, &name, value);
}
/* `%name` or `%name#2`, pushed on `operands`. */
bool hilo_mlir_operand(mlir_reader *r);
/* Operands separated by commas, up to what is none. *trailing: a comma stands behind the last one;
 * NULL: it must not. */
bool hilo_mlir_operands(mlir_reader *r, bool *trailing);
/* The value as an instruction of the current region. */
hilo_inst hilo_mlir_local(mlir_reader *r, const mlir_name *name, uint32_t k, const char *at);
/* A captured value inside of another region of the same operation. */
hilo_inst hilo_mlir_carried(mlir_reader *r, mlir_frame *f, uint32_t k);
void hilo_mlir_push_frame(mlir_reader *r, mlir_frame *f);
void hilo_mlir_pop_frame(mlir_reader *r);

/* ---- operations: mlir_op.c, mlir_form.c, mlir_region.c, mlir_build.c, mlir_build_attr.c ---- */

/* Statements up to the `}` that ends the region (not read). */
bool hilo_mlir_block(mlir_reader *r);
bool hilo_mlir_operation(mlir_reader *r);
bool hilo_mlir_unknown_op(mlir_reader *r, const mlir_op *o);
/* The pretty form of an operation behind its name. */
bool hilo_mlir_form(mlir_reader *r, mlir_op *o);
/* `: types` in whatever form stands there, by the rules of `mode`. */
typedef enum {
  MLIR_TYPES_FUNCTION, /* (a, b) -> c, or a, b -> c */
  MLIR_TYPES_SAME,     /* one for operands and result */
  MLIR_TYPES_RESULTS,  /* of the results */
  MLIR_TYPES_PAIRS,    /* of operands and results, one each */
  MLIR_TYPES_SELECT,
  MLIR_TYPES_COMPLEX,
  MLIR_TYPES_TUPLE,
  MLIR_TYPES_CARRIED, /* one for all, or one for each operand and no results */
} mlir_types_mode;
bool hilo_mlir_types(mlir_reader *r, mlir_op *o, mlir_types_mode mode);
/* `{ … }` as the next region of the operation. */
bool hilo_mlir_region(mlir_reader *r, mlir_op *o);
/* The same as `(` or `,` precedes it in generic form, arguments behind `^bb0`. */
bool hilo_mlir_generic_region(mlir_reader *r, mlir_op *o);
/* Are these an asynchronous bundle and the `future` that stands for it? */
bool hilo_mlir_same_bundle(const mlir_reader *r, hilo_type bundle, hilo_type future);
/* The same with named arguments, whose types stand on the stack of types. */
typedef struct {
  const char *at; /* name without % */
  size_t n;
  hilo_record meta;
} mlir_arg;
typedef hilo_vec(mlir_arg) mlir_args;
bool hilo_mlir_region_args(mlir_reader *r, mlir_op *o, const mlir_arg *args, const hilo_type *types,
                           uint32_t n);
/* `^bb0(%a: t):` if it stands here, the types pushed. */
bool hilo_mlir_block_head(mlir_reader *r, mlir_args *args);
/* `%name: type loc(…)`, the type pushed. */
bool hilo_mlir_region_arg(mlir_reader *r, mlir_arg *arg);
/* The region that was read as a called computation of the operation; while, if and case are closed
 * once all of their regions and types are known. */
bool hilo_mlir_end_region(mlir_reader *r, mlir_op *o, const mlir_frame *f);
bool hilo_mlir_close_while(mlir_reader *r, mlir_op *o);
bool hilo_mlir_close_branches(mlir_reader *r, mlir_op *o);
void hilo_mlir_set_root(mlir_reader *r, hilo_comp comp, const hilo_inst *results, uint32_t n);
/* The results of the terminator of the current region. */
bool hilo_mlir_return(mlir_reader *r, mlir_op *o);
/* The reducer `applies op` as a called computation. */
bool hilo_mlir_applied(mlir_reader *r, mlir_op *o, hilo_op applied);
/* Computation `c` or an equal one that was read before. */
hilo_comp hilo_mlir_share(mlir_reader *r, hilo_comp c);
/* The finished operation as instructions, and its results named. */
bool hilo_mlir_build(mlir_reader *r, mlir_op *o);
/* The `attr` column. */
bool hilo_mlir_build_attr(mlir_reader *r, mlir_op *o, uint32_t *out);
/* An instruction at the end of the current region, with a fresh name. */
hilo_inst hilo_mlir_add(mlir_reader *r, const hilo_inst_desc *desc);
hilo_inst hilo_mlir_add_to(mlir_reader *r, hilo_comp comp, const hilo_inst_desc *desc);
hilo_inst hilo_mlir_element(mlir_reader *r, hilo_comp comp, hilo_inst tuple, uint32_t index);
hilo_inst hilo_mlir_tuple(mlir_reader *r, hilo_comp comp, const hilo_inst *parts, uint32_t n);
/* Attributes without a place and those nobody used, as text into extra.mlir. */
bool hilo_mlir_finish_extra(mlir_reader *r, mlir_op *o);

/* ---- modules and functions: mlir_func.c, mlir_sharding.c, mlir_carried.c ---- */

bool hilo_mlir_module_op(mlir_reader *r, mlir_op *o);
bool hilo_mlir_func(mlir_reader *r, mlir_op *o);
/* The computation of function `name`, which may come later. */
hilo_comp hilo_mlir_function(mlir_reader *r, hilo_str name, const char *at);
bool hilo_mlir_check_functions(mlir_reader *r);
/* The contents of mhlo.sharding. */
bool hilo_mlir_sharding(mlir_reader *r, hilo_str text, const char *at, hilo_record *sharding,
                        hilo_record *spelling);
/* `#sdy.sharding<…>` or `<…>` at `p` as a sharding in named form. */
bool hilo_mlir_sdy_sharding(mlir_reader *r, hilo_record *out);
bool hilo_mlir_mesh(mlir_reader *r, mlir_op *o);
/* sdy.*, check.*, interpreter.* in pretty form, behind the name. */
bool hilo_mlir_carried_form(mlir_reader *r, mlir_op *o);
/* Its operands and `extra` record before it is built, and its record. */
bool hilo_mlir_prepare_carried(mlir_reader *r, mlir_op *o);
void hilo_mlir_build_carried(mlir_reader *r, mlir_op *o, hilo_inst_desc *desc);

#endif
