/* The rows of options.def as data, and the way from text to a field and back. Internal to the
 * driver: the command line, the help and the configuration are its users. */
#ifndef HILO_DRIVER_OPTION_TABLE_H
#define HILO_DRIVER_OPTION_TABLE_H

#include "driver/config.h"

typedef enum {
  HILO_TYPE_BOOL,
  HILO_TYPE_INVERSE,
  HILO_TYPE_STRING,
  HILO_TYPE_INT,
  HILO_TYPE_UINT,
  HILO_TYPE_LONG,
  HILO_TYPE_NUMBER,
  HILO_TYPE_PAIRS,
  HILO_TYPE_WORDS,
  HILO_TYPE_LIST,
  HILO_TYPE_SEED,
  HILO_TYPE_LEVEL,
  HILO_TYPE_REPORT,
  HILO_TYPE_EMIT,
  HILO_TYPE_PIPELINE,
  HILO_TYPE_STATISTICS,
  HILO_TYPE_INTEGER_OPS,
  HILO_TYPE_PREFIX,
  HILO_TYPE_HELP,
  HILO_TYPE_HELP_HIDDEN,
  HILO_TYPE_HELP_LIST,
  HILO_TYPE_HELP_LIST_HIDDEN,
  HILO_TYPE_VERSION,
  HILO_TYPE_EXPLAIN,
  HILO_TYPE_COUNT
} hilo_option_type;

typedef enum { HILO_VISIBLE_NORMAL, HILO_VISIBLE_HIDDEN, HILO_VISIBLE_REALLY } hilo_visibility;

/* In the order of their headings, which LLVM sorts; the last two have none. */
typedef enum {
  HILO_CATEGORY_GENERIC,
  HILO_CATEGORY_OWN,
  HILO_CATEGORY_OPT,
  HILO_CATEGORY_RUN,
  HILO_CATEGORY_COMPILE,
  HILO_CATEGORY_PARTITION,
  HILO_CATEGORY_EXTRA,
} hilo_category;
enum { HILO_N_HEADINGS = HILO_CATEGORY_COMPILE + 1 };

typedef enum { HILO_STATE_DONE, HILO_STATE_LATER, HILO_STATE_IGNORED } hilo_option_state;

typedef struct {
  const char *name, *word, *help;
  uint16_t offset; /* of the field in hilo_config */
  uint8_t type, visibility, category, tools, state;
} hilo_option;

/* A word of an enum. `help` NULL: accepted but not shown. The list ends with word NULL. */
typedef struct {
  const char *word, *help;
  int value;
} hilo_enum_word;

typedef enum { HILO_VALUE_OPTIONAL, HILO_VALUE_REQUIRED, HILO_VALUE_DISALLOWED } hilo_value_use;

extern const hilo_option hilo_options[HILO_OPTION_COUNT];

hilo_value_use hilo_option_value_use(const hilo_option *option);
/* What help calls the value, NULL where it shows none. */
const char *hilo_option_value_word(const hilo_option *option);
/* The words of an enum or set, NULL for other types. */
const hilo_enum_word *hilo_option_enum_words(const hilo_option *option);

/* Append one word; the list is in `arena`. */
void hilo_words_push(hilo_arena *arena, hilo_words *words, hilo_str word);
/* Store one value (of PAIRS: one number). `value` is what the word gave, or empty with `has_value`
 * false. NULL if it fits, else what is wrong with it, as LLVM words it, in the arena. */
const char *hilo_option_set(const hilo_option *option, hilo_config *config, hilo_arena *arena,
                            hilo_str value, bool has_value);
/* Append the field's value as the command line would write it. */
void hilo_option_print(const hilo_option *option, const hilo_config *config, hilo_sb *out);

#endif
