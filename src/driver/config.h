/* The configuration of one run: a field for each row of options.def.
 *
 * The command line makes it and nothing changes it afterwards, so workers share it without locks.
 * Strings belong to the arena that the command line was parsed in, and end in NUL. */
#ifndef HILO_DRIVER_CONFIG_H
#define HILO_DRIVER_CONFIG_H

#include "base/diag.h"

typedef enum { HILO_TOOL_PENGUIN = 1, HILO_TOOL_OPT = 2, HILO_TOOL_RUN = 4 } hilo_tool;

typedef enum { HILO_REPORT_NONE, HILO_REPORT_TEXT, HILO_REPORT_JSON } hilo_report;
typedef enum {
  HILO_EMIT_AS_INPUT,
  HILO_EMIT_HLO,
  HILO_EMIT_PROTO,
  HILO_EMIT_STABLEHLO,
  HILO_EMIT_MHLO,
  HILO_EMIT_NONE,
} hilo_emit;
typedef enum {
  HILO_PIPELINE_NONE,
  HILO_PIPELINE_HLO,
  HILO_PIPELINE_MHLO_SPINE,
  HILO_PIPELINE_STABLEHLO_SPINE,
} hilo_pipeline;
typedef enum { HILO_STATISTICS_PIPELINE, HILO_STATISTICS_LIST } hilo_statistics;
/* Bits of --implicit-integer-downcast. */
enum {
  HILO_INTEGER_DOT = 1,
  HILO_INTEGER_SCATTER = 2,
  HILO_INTEGER_ALL_REDUCE = 4,
  HILO_INTEGER_POW = 8,
  HILO_INTEGER_REDUCE_SCATTER = 16,
};

typedef struct {
  const hilo_str *v;
  uint32_t n;
} hilo_words;
typedef struct {
  const float *v;
  uint32_t n; /* even */
} hilo_numbers;

typedef enum {
#define HILO_OPTION(id, name, type, initial, word, visibility, category, tools, state, help)       \
  HILO_OPTION_##id,
#include "driver/options.def"
#undef HILO_OPTION
  HILO_OPTION_COUNT
} hilo_option_id;

/* The field that each type of row gets; the actions and the words that write to another row's field
 * get none. */
#define HILO_CONFIG_FIELD_BOOL(id) bool id;
#define HILO_CONFIG_FIELD_STRING(id) hilo_str id;
#define HILO_CONFIG_FIELD_INT(id) int32_t id;
#define HILO_CONFIG_FIELD_UINT(id) uint32_t id;
#define HILO_CONFIG_FIELD_LONG(id) int64_t id;
#define HILO_CONFIG_FIELD_NUMBER(id) double id;
#define HILO_CONFIG_FIELD_PAIRS(id) hilo_numbers id;
#define HILO_CONFIG_FIELD_WORDS(id) hilo_words id;
#define HILO_CONFIG_FIELD_LIST(id) hilo_words id;
#define HILO_CONFIG_FIELD_SEED(id) int64_t id;
#define HILO_CONFIG_FIELD_LEVEL(id) hilo_level id;
#define HILO_CONFIG_FIELD_REPORT(id) hilo_report id;
#define HILO_CONFIG_FIELD_EMIT(id) hilo_emit id;
#define HILO_CONFIG_FIELD_PIPELINE(id) hilo_pipeline id;
#define HILO_CONFIG_FIELD_STATISTICS(id) hilo_statistics id;
#define HILO_CONFIG_FIELD_INTEGER_OPS(id) uint32_t id;
#define HILO_CONFIG_FIELD_INVERSE(id)
#define HILO_CONFIG_FIELD_PREFIX(id)
#define HILO_CONFIG_FIELD_HELP(id)
#define HILO_CONFIG_FIELD_HELP_HIDDEN(id)
#define HILO_CONFIG_FIELD_HELP_LIST(id)
#define HILO_CONFIG_FIELD_HELP_LIST_HIDDEN(id)
#define HILO_CONFIG_FIELD_VERSION(id)
#define HILO_CONFIG_FIELD_EXPLAIN(id)

typedef struct hilo_config {
#define HILO_OPTION(id, name, type, initial, word, visibility, category, tools, state, help)       \
  HILO_CONFIG_FIELD_##type(id)
#include "driver/options.def"
#undef HILO_OPTION
  hilo_tool tool;
  hilo_words files;                              /* hlo-run: the positional words */
  uint64_t given[(HILO_OPTION_COUNT + 63) / 64]; /* see hilo_config_is_given */
} hilo_config;

/* Whether the option stood on the command line (or in the partitioner's string). */
static inline bool hilo_config_is_given(const hilo_config *config, hilo_option_id id) {
  return config->given[id / 64] >> (id % 64) & 1;
}

/* Every field at its initial value. */
void hilo_config_init(hilo_config *config, hilo_tool tool);
/* Settle the values that depend on others: call once, when all words are read. */
void hilo_config_settle(hilo_config *config);
/* Check the values that the parser takes on trust: NCC_EARG001 for each fault. A WARNING for each
 * flag given whose effect does not exist. */
hilo_status hilo_config_check(const hilo_config *config, hilo_diags *diags);
/* Make the output directory with its parents; NCC_EMOD906 and NCC_EMOD018 when that fails. */
hilo_status hilo_config_create_out_dir(const hilo_config *config, hilo_diags *diags);

#endif
