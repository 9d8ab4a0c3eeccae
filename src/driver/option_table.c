/* Values of options: text to field, field to text.
 *
 * The accepted spellings and the error texts are those of LLVM's command line library, so that
 * scripts written for the original see the same words. Each type has one case in `set` and one in
 * `print`. */
#include "driver/option_table.h"

#include <limits.h>
#include <stdlib.h>

/* Where a row's value lives. INVERSE rows name the field in the column `initial`. */
#define OFFSET_OF(field) (uint16_t) offsetof(hilo_config, field)
#define OFFSET_BOOL(id, initial) OFFSET_OF(id)
#define OFFSET_STRING(id, initial) OFFSET_OF(id)
#define OFFSET_INT(id, initial) OFFSET_OF(id)
#define OFFSET_UINT(id, initial) OFFSET_OF(id)
#define OFFSET_LONG(id, initial) OFFSET_OF(id)
#define OFFSET_NUMBER(id, initial) OFFSET_OF(id)
#define OFFSET_PAIRS(id, initial) OFFSET_OF(id)
#define OFFSET_WORDS(id, initial) OFFSET_OF(id)
#define OFFSET_LIST(id, initial) OFFSET_OF(id)
#define OFFSET_SEED(id, initial) OFFSET_OF(id)
#define OFFSET_LEVEL(id, initial) OFFSET_OF(id)
#define OFFSET_REPORT(id, initial) OFFSET_OF(id)
#define OFFSET_EMIT(id, initial) OFFSET_OF(id)
#define OFFSET_PIPELINE(id, initial) OFFSET_OF(id)
#define OFFSET_STATISTICS(id, initial) OFFSET_OF(id)
#define OFFSET_INTEGER_OPS(id, initial) OFFSET_OF(id)
#define OFFSET_INVERSE(id, initial) OFFSET_OF(initial)
#define OFFSET_PREFIX(id, initial) 0
#define OFFSET_HELP(id, initial) 0
#define OFFSET_HELP_HIDDEN(id, initial) 0
#define OFFSET_HELP_LIST(id, initial) 0
#define OFFSET_HELP_LIST_HIDDEN(id, initial) 0
#define OFFSET_VERSION(id, initial) 0
#define OFFSET_EXPLAIN(id, initial) 0

#define TOOLS_P HILO_TOOL_PENGUIN
#define TOOLS_O HILO_TOOL_OPT
#define TOOLS_R HILO_TOOL_RUN
#define TOOLS_PO (HILO_TOOL_PENGUIN | HILO_TOOL_OPT)
#define TOOLS_OR (HILO_TOOL_OPT | HILO_TOOL_RUN)
#define TOOLS_POR (HILO_TOOL_PENGUIN | HILO_TOOL_OPT | HILO_TOOL_RUN)

const hilo_option hilo_options[HILO_OPTION_COUNT] = {
#define HILO_OPTION(id, name, type, initial, word, visibility, category, tools, state, help)       \
  {name,                                                                                           \
   word,                                                                                           \
   help,                                                                                           \
   OFFSET_##type(id, initial),                                                                     \
   HILO_TYPE_##type,                                                                               \
   HILO_VISIBLE_##visibility,                                                                      \
   HILO_CATEGORY_##category,                                                                       \
   TOOLS_##tools,                                                                                  \
   HILO_STATE_##state},
#include "driver/options.def"
#undef HILO_OPTION
};

_Static_assert(sizeof(hilo_config) < UINT16_MAX, "offsets are 16 bits wide");
_Static_assert(sizeof(hilo_level) == sizeof(int), "enum fields are written as int");

static const hilo_enum_word level_words[] = {
    {"error", "errors only", HILO_LEVEL_ERROR},
    {"user", NULL, HILO_LEVEL_ERROR}, /* the driver's own word, documented nowhere */
    {"warning", "and warnings", HILO_LEVEL_WARNING},
    {"info", "and progress", HILO_LEVEL_INFO},
    {"debug", "everything", HILO_LEVEL_DEBUG},
    {NULL, NULL, 0}};
static const hilo_enum_word report_words[] = {
    {"text", "a table (no value means this)", HILO_REPORT_TEXT},
    {"json", "one JSON object", HILO_REPORT_JSON},
    {NULL, NULL, 0}};
static const hilo_enum_word emit_words[] = {{"hlo", "HLO text", HILO_EMIT_HLO},
                                            {"proto", "HloModuleProto", HILO_EMIT_PROTO},
                                            {"stablehlo", "StableHLO text", HILO_EMIT_STABLEHLO},
                                            {"mhlo", "MHLO text", HILO_EMIT_MHLO},
                                            {"none", "nothing", HILO_EMIT_NONE},
                                            {NULL, NULL, 0}};
static const hilo_enum_word pipeline_words[] = {
    {"hlo", "the HLO passes that hlo2penguin runs", HILO_PIPELINE_HLO},
    {"mhlo-spine", "the MHLO steps", HILO_PIPELINE_MHLO_SPINE},
    {"stablehlo-spine", "the StableHLO steps", HILO_PIPELINE_STABLEHLO_SPINE},
    {NULL, NULL, 0}};
static const hilo_enum_word statistics_words[] = {
    {"list", "merged, sorted by name", HILO_STATISTICS_LIST},
    {"pipeline", "in the order of the passes", HILO_STATISTICS_PIPELINE},
    {NULL, NULL, 0}};
static const hilo_enum_word integer_words[] = {
    {"dot", "dot", HILO_INTEGER_DOT},
    {"scatter", "scatter", HILO_INTEGER_SCATTER},
    {"all_reduce", "all-reduce", HILO_INTEGER_ALL_REDUCE},
    {"pow", "power", HILO_INTEGER_POW},
    {"reduce_scatter", "reduce-scatter", HILO_INTEGER_REDUCE_SCATTER},
    {NULL, NULL, 0}};

/* What does not depend on the row but on its type. */
static const struct {
  const char *word; /* of the value */
  const hilo_enum_word *words;
  hilo_value_use use;
} types[HILO_TYPE_COUNT] = {
    [HILO_TYPE_BOOL] = {NULL, NULL, HILO_VALUE_OPTIONAL},
    [HILO_TYPE_INVERSE] = {NULL, NULL, HILO_VALUE_OPTIONAL},
    [HILO_TYPE_STRING] = {"string", NULL, HILO_VALUE_REQUIRED},
    [HILO_TYPE_INT] = {"int", NULL, HILO_VALUE_REQUIRED},
    [HILO_TYPE_UINT] = {"uint", NULL, HILO_VALUE_REQUIRED},
    [HILO_TYPE_LONG] = {"long", NULL, HILO_VALUE_REQUIRED},
    [HILO_TYPE_NUMBER] = {"number", NULL, HILO_VALUE_REQUIRED},
    [HILO_TYPE_PAIRS] = {"number", NULL, HILO_VALUE_REQUIRED},
    [HILO_TYPE_WORDS] = {"string", NULL, HILO_VALUE_REQUIRED},
    [HILO_TYPE_LIST] = {"string", NULL, HILO_VALUE_REQUIRED},
    [HILO_TYPE_SEED] = {"int", NULL, HILO_VALUE_OPTIONAL},
    [HILO_TYPE_LEVEL] = {"value", level_words, HILO_VALUE_REQUIRED},
    [HILO_TYPE_REPORT] = {"value", report_words, HILO_VALUE_OPTIONAL},
    [HILO_TYPE_EMIT] = {"value", emit_words, HILO_VALUE_REQUIRED},
    [HILO_TYPE_PIPELINE] = {"value", pipeline_words, HILO_VALUE_REQUIRED},
    [HILO_TYPE_STATISTICS] = {"value", statistics_words, HILO_VALUE_REQUIRED},
    [HILO_TYPE_INTEGER_OPS] = {"value", integer_words, HILO_VALUE_REQUIRED},
    [HILO_TYPE_PREFIX] = {NULL, NULL, HILO_VALUE_OPTIONAL},
    [HILO_TYPE_HELP] = {NULL, NULL, HILO_VALUE_DISALLOWED},
    [HILO_TYPE_HELP_HIDDEN] = {NULL, NULL, HILO_VALUE_DISALLOWED},
    [HILO_TYPE_HELP_LIST] = {NULL, NULL, HILO_VALUE_DISALLOWED},
    [HILO_TYPE_HELP_LIST_HIDDEN] = {NULL, NULL, HILO_VALUE_DISALLOWED},
    [HILO_TYPE_VERSION] = {NULL, NULL, HILO_VALUE_DISALLOWED},
    [HILO_TYPE_EXPLAIN] = {"string", NULL, HILO_VALUE_REQUIRED},
};

hilo_value_use hilo_option_value_use(const hilo_option *option) { return types[option->type].use; }

const char *hilo_option_value_word(const hilo_option *option) {
  return types[option->type].word && option->word[0] ? option->word : types[option->type].word;
}

const hilo_enum_word *hilo_option_enum_words(const hilo_option *option) {
  return types[option->type].words;
}

static void *field_of(const hilo_option *option, hilo_config *config) {
  return (char *)config + option->offset;
}

static const void *field_in(const hilo_option *option, const hilo_config *config) {
  return (const char *)config + option->offset;
}

static const char *complain(hilo_arena *arena, hilo_str value, const char *fmt) {
  hilo_sb sb = hilo_sb_make(arena);
  for (const char *c = fmt; *c; c++)
    if (*c == '%')
      hilo_sb_str(&sb, value);
    else
      hilo_sb_char(&sb, *c);
  return hilo_sb_cstr(&sb);
}

static bool is_one_of(hilo_str value, const char *const *words, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (hilo_str_is(value, words[i])) return true;
  return false;
}

static bool parse_bool(hilo_str value, bool *out) {
  static const char *const on[] = {"", "true", "TRUE", "True", "1"};
  static const char *const off[] = {"false", "FALSE", "False", "0"};
  *out = is_one_of(value, on, HILO_COUNT(on));
  return *out || is_one_of(value, off, HILO_COUNT(off));
}

static unsigned digit_of(char c) {
  if (c >= '0' && c <= '9') return (unsigned)(c - '0');
  if (c >= 'a' && c <= 'z') return (unsigned)(c - 'a') + 10;
  if (c >= 'A' && c <= 'Z') return (unsigned)(c - 'A') + 10;
  return UINT_MAX;
}

/* Takes the prefix off and says which radix it stands for. */
static unsigned take_radix(hilo_str *s) {
  if (s->n < 2 || s->p[0] != '0') return 10;
  const char mark = (char)(s->p[1] | 0x20);
  const unsigned radix = mark == 'x' ? 16 : mark == 'b' ? 2 : s->p[1] == 'o' ? 8 : 0;
  const size_t skip = radix ? 2 : digit_of(s->p[1]) < 10 ? 1 : 0;
  s->p += skip;
  s->n -= skip;
  return radix ? radix : skip ? 8 : 10;
}

/* Magnitude and sign; the whole slice must be digits. */
static bool parse_integer(hilo_str s, bool *negative, uint64_t *out) {
  *negative = s.n && s.p[0] == '-';
  if (*negative) s.p++, s.n--;
  const unsigned radix = take_radix(&s);
  uint64_t v = 0;
  for (size_t i = 0; i < s.n; i++) {
    const unsigned digit = digit_of(s.p[i]);
    if (digit >= radix || __builtin_mul_overflow(v, (uint64_t)radix, &v) ||
        __builtin_add_overflow(v, (uint64_t)digit, &v))
      return false;
  }
  *out = v;
  return s.n != 0;
}

static bool parse_signed(hilo_str s, int64_t min, int64_t max, int64_t *out) {
  bool negative;
  uint64_t v;
  if (!parse_integer(s, &negative, &v)) return false;
  if (v > (uint64_t)INT64_MAX + negative) return false;
  *out = negative ? (int64_t)(0 - v) : (int64_t)v;
  return *out >= min && *out <= max;
}

static bool parse_unsigned(hilo_str s, uint64_t max, uint64_t *out) {
  bool negative;
  return parse_integer(s, &negative, out) && !negative && *out <= max;
}

/* As strtod reads it: hex, inf and nan included, and the empty text is 0. */
static bool parse_number(hilo_arena *arena, hilo_str s, double *out) {
  const char *text = hilo_str_copy(arena, s).p;
  char *end;
  *out = strtod(text, &end);
  return end == text + s.n;
}

static const hilo_enum_word *find_word(const hilo_enum_word *words, hilo_str value) {
  for (; words->word; words++)
    if (hilo_str_is(value, words->word)) return words;
  return NULL;
}

/* Room for one more element: capacity is the next power of two, so it need not be stored. */
static void *grow(hilo_arena *arena, const void *v, uint32_t n, size_t size) {
  void *copy = hilo_arena_alloc_array(arena, n ? 2 * (size_t)n : 1, size, 8);
  if (n) memcpy(copy, v, n * size);
  return copy;
}

void hilo_words_push(hilo_arena *arena, hilo_words *words, hilo_str word) {
  hilo_str *v = (words->n & (words->n - 1)) == 0 ? grow(arena, words->v, words->n, sizeof(*v))
                                                 : (hilo_str *)(uintptr_t)words->v;
  v[words->n++] = word;
  words->v = v;
}

/* The next piece of a comma-separated text; false at its end. */
static bool next_piece(hilo_str *rest, hilo_str *piece) {
  if (!rest->p) return false;
  const char *comma = rest->n ? memchr(rest->p, ',', rest->n) : NULL;
  *piece = (hilo_str){rest->p, comma ? (size_t)(comma - rest->p) : rest->n};
  *rest = comma ? (hilo_str){comma + 1, rest->n - piece->n - 1} : (hilo_str){NULL, 0};
  return true;
}

static void set_words(hilo_words *words, hilo_arena *arena, hilo_str value) {
  hilo_str piece;
  while (next_piece(&value, &piece))
    if (piece.n) hilo_words_push(arena, words, hilo_str_copy(arena, piece));
}

static const char *set_integer_ops(uint32_t *set, hilo_arena *arena, hilo_str value) {
  hilo_str piece;
  while (next_piece(&value, &piece)) {
    const hilo_enum_word *word = find_word(integer_words, piece);
    if (!word) return complain(arena, piece, "Cannot find option named '%'!");
    *set |= (uint32_t)word->value;
  }
  return NULL;
}

static const char *push_number(hilo_numbers *numbers, hilo_arena *arena, hilo_str value) {
  double number;
  if (!parse_number(arena, value, &number))
    return complain(arena, value, "'%' value invalid for floating point argument!");
  float *v = (numbers->n & (numbers->n - 1)) == 0
                 ? grow(arena, numbers->v, numbers->n, sizeof(float))
                 : (float *)(uintptr_t)numbers->v;
  v[numbers->n++] = (float)number;
  numbers->v = v;
  return NULL;
}

static const char *set_bool(bool *field, bool inverse, hilo_arena *arena, hilo_str value) {
  bool on;
  if (!parse_bool(value, &on))
    return complain(arena, value, "'%' is invalid value for boolean argument! Try 0 or 1");
  *field = on != inverse;
  return NULL;
}

static const char *set_integer(const hilo_option *option, void *field, hilo_arena *arena,
                               hilo_str value) {
  int64_t number;
  uint64_t natural;
  switch (option->type) {
  case HILO_TYPE_INT:
    if (!parse_signed(value, INT32_MIN, INT32_MAX, &number))
      return complain(arena, value, "'%' value invalid for integer argument!");
    *(int32_t *)field = (int32_t)number;
    return NULL;
  case HILO_TYPE_UINT:
    if (!parse_unsigned(value, UINT32_MAX, &natural))
      return complain(arena, value, "'%' value invalid for uint argument!");
    *(uint32_t *)field = (uint32_t)natural;
    return NULL;
  default:
    if (!parse_signed(value, INT64_MIN, INT64_MAX, &number))
      return complain(arena, value, "'%' value invalid for long argument!");
    *(int64_t *)field = number;
    return NULL;
  }
}

static const char *set_enum(const hilo_option *option, void *field, hilo_arena *arena,
                            hilo_str value) {
  const hilo_enum_word *word = find_word(hilo_option_enum_words(option), value);
  if (!word) return complain(arena, value, "Cannot find option named '%'!");
  *(int *)field = word->value;
  return NULL;
}

const char *hilo_option_set(const hilo_option *option, hilo_config *config, hilo_arena *arena,
                            hilo_str value, bool has_value) {
  void *field = field_of(option, config);
  switch ((hilo_option_type)option->type) {
  case HILO_TYPE_BOOL:
  case HILO_TYPE_INVERSE: return set_bool(field, option->type == HILO_TYPE_INVERSE, arena, value);
  case HILO_TYPE_STRING: *(hilo_str *)field = hilo_str_copy(arena, value); return NULL;
  case HILO_TYPE_INT:
  case HILO_TYPE_UINT:
  case HILO_TYPE_LONG: return set_integer(option, field, arena, value);
  case HILO_TYPE_SEED: return set_integer(option, field, arena, has_value ? value : HILO_STR("0"));
  case HILO_TYPE_NUMBER:
    return parse_number(arena, value, field)
               ? NULL
               : complain(arena, value, "'%' value invalid for floating point argument!");
  case HILO_TYPE_PAIRS: return push_number(field, arena, value);
  case HILO_TYPE_WORDS: set_words(field, arena, value); return NULL;
  case HILO_TYPE_LIST: hilo_words_push(arena, field, hilo_str_copy(arena, value)); return NULL;
  case HILO_TYPE_REPORT:
    return set_enum(option, field, arena, has_value ? value : HILO_STR("text"));
  case HILO_TYPE_LEVEL:
  case HILO_TYPE_EMIT:
  case HILO_TYPE_PIPELINE:
  case HILO_TYPE_STATISTICS: return set_enum(option, field, arena, value);
  case HILO_TYPE_INTEGER_OPS: return set_integer_ops(field, arena, value);
  default: return NULL; /* the actions have no field */
  }
}

static void print_words(const hilo_words *words, hilo_sb *out) {
  for (uint32_t i = 0; i < words->n; i++) {
    if (i) hilo_sb_char(out, ',');
    hilo_sb_str(out, words->v[i]);
  }
}

static void print_numbers(const hilo_numbers *numbers, hilo_sb *out) {
  for (uint32_t i = 0; i < numbers->n; i++)
    hilo_sb_printf(out, "%s%.9g", i ? " " : "", (double)numbers->v[i]);
}

static void print_enum(const hilo_enum_word *words, int value, hilo_sb *out) {
  for (; words->word; words++)
    if (words->value == value) {
      hilo_sb_cat(out, words->word);
      return;
    }
}

static void print_set(const hilo_enum_word *words, uint32_t set, hilo_sb *out) {
  const char *comma = "";
  for (; words->word; words++)
    if (set & (uint32_t)words->value) {
      hilo_sb_printf(out, "%s%s", comma, words->word);
      comma = ",";
    }
}

void hilo_option_print(const hilo_option *option, const hilo_config *config, hilo_sb *out) {
  const void *field = field_in(option, config);
  switch ((hilo_option_type)option->type) {
  case HILO_TYPE_BOOL: hilo_sb_cat(out, *(const bool *)field ? "true" : "false"); return;
  case HILO_TYPE_INVERSE: hilo_sb_cat(out, *(const bool *)field ? "false" : "true"); return;
  case HILO_TYPE_STRING: hilo_sb_str(out, *(const hilo_str *)field); return;
  case HILO_TYPE_INT: hilo_sb_i64(out, *(const int32_t *)field); return;
  case HILO_TYPE_UINT: hilo_sb_u64(out, *(const uint32_t *)field); return;
  case HILO_TYPE_LONG:
  case HILO_TYPE_SEED: hilo_sb_i64(out, *(const int64_t *)field); return;
  case HILO_TYPE_NUMBER: hilo_sb_printf(out, "%.17g", *(const double *)field); return;
  case HILO_TYPE_PAIRS: print_numbers(field, out); return;
  case HILO_TYPE_WORDS:
  case HILO_TYPE_LIST: print_words(field, out); return;
  case HILO_TYPE_INTEGER_OPS:
    print_set(hilo_option_enum_words(option), *(const uint32_t *)field, out);
    return;
  case HILO_TYPE_LEVEL:
  case HILO_TYPE_REPORT:
  case HILO_TYPE_EMIT:
  case HILO_TYPE_PIPELINE:
  case HILO_TYPE_STATISTICS:
    print_enum(hilo_option_enum_words(option), *(const int *)field, out);
    return;
  default: return;
  }
}
