/* The configuration: initial values, values that follow from others, and the checks that the
 * parser leaves open because LLVM's would. */
#include "driver/config.h"

#include "base/file.h"
#include "driver/option_table.h"

#define INIT_BOOL(id, initial) config->id = initial;
#define INIT_STRING(id, initial) config->id = HILO_STR(initial);
#define INIT_INT(id, initial) config->id = initial;
#define INIT_UINT(id, initial) config->id = initial;
#define INIT_LONG(id, initial) config->id = initial;
#define INIT_NUMBER(id, initial) config->id = initial;
#define INIT_PAIRS(id, initial)
#define INIT_WORDS(id, initial)
#define INIT_LIST(id, initial)
#define INIT_SEED(id, initial) config->id = initial;
#define INIT_LEVEL(id, initial) config->id = initial;
#define INIT_REPORT(id, initial) config->id = initial;
#define INIT_EMIT(id, initial) config->id = initial;
#define INIT_PIPELINE(id, initial) config->id = initial;
#define INIT_STATISTICS(id, initial) config->id = initial;
#define INIT_INTEGER_OPS(id, initial) config->id = initial;
#define INIT_INVERSE(id, initial)
#define INIT_PREFIX(id, initial)
#define INIT_HELP(id, initial)
#define INIT_HELP_HIDDEN(id, initial)
#define INIT_HELP_LIST(id, initial)
#define INIT_HELP_LIST_HIDDEN(id, initial)
#define INIT_VERSION(id, initial)
#define INIT_EXPLAIN(id, initial)

void hilo_config_init(hilo_config *config, hilo_tool tool) {
  *config = (hilo_config){.tool = tool};
#define HILO_OPTION(id, name, type, initial, word, visibility, category, tools, state, help)       \
  INIT_##type(id, initial)
#include "driver/options.def"
#undef HILO_OPTION
}

/* Caps of merged collectives: small numbers are MiB, as an older driver wrote them. */
static void settle_cap(int64_t *cap) {
  enum { MIB = 1 << 20 };
  if (*cap > 0 && *cap < MIB) *cap *= MIB;
}

static void settle_switch(const hilo_config *config, hilo_option_id id, bool *on) {
  if (!hilo_config_is_given(config, id)) *on = config->coalesce_collectives;
}

void hilo_config_settle(hilo_config *config) {
  enum { TILED_INSTRUCTIONS_PER_CORE = 5000000 };
  if (config->tiled_inst_limit == 0)
    config->tiled_inst_limit =
        TILED_INSTRUCTIONS_PER_CORE * (config->logical_nc_config == 2 ? 2 : 1);
  if (config->modular_flow_mac_threshold < 0)
    config->modular_flow_mac_threshold = config->modular_flow_mac_target;
  if (config->num_neuroncores_per_sengine < 0)
    config->num_neuroncores_per_sengine = config->logical_nc_config;
  if (config->pipeline == HILO_PIPELINE_MHLO_SPINE) config->stablehlo_lowering = false;
  if (config->pipeline == HILO_PIPELINE_STABLEHLO_SPINE) config->stablehlo_lowering = true;
  settle_cap(&config->max_all_gathers_buffer_size);
  settle_cap(&config->max_all_reduce_buffer_size);
  settle_cap(&config->max_reduce_scatter_buffer_size);
  settle_switch(config, HILO_OPTION_coalesce_all_gathers, &config->coalesce_all_gathers);
  settle_switch(config, HILO_OPTION_coalesce_all_reduces, &config->coalesce_all_reduces);
  settle_switch(config, HILO_OPTION_coalesce_reduce_scatters, &config->coalesce_reduce_scatters);
}

static void check_target(const hilo_config *config, hilo_diags *diags) {
  static const char *const targets[] = {"inf1",  "trn1", "inf2",  "gen3", "core_v4",
                                        "trn1n", "trn2", "trn2n", "trn3"};
  hilo_str known[HILO_COUNT(targets)];
  for (size_t i = 0; i < HILO_COUNT(targets); i++) {
    if (hilo_str_is(config->target_instance, targets[i])) return;
    known[i] = hilo_str_of(targets[i]);
  }
  hilo_str nearest = hilo_str_nearest(config->target_instance, known, HILO_COUNT(known));
  if (!nearest.p) nearest = HILO_STR("trn1");
  (void)hilo_diag_add(diags, HILO_DIAG_EARG001, NULL,
                      "`%.*s` is not a target instance; `%.*s` is one, the others are inf1, trn1, "
                      "inf2, gen3, core_v4, trn1n, trn2, trn2n, trn3",
                      HILO_FMT(config->target_instance), HILO_FMT(nearest));
}

static void warn_about_flags(const hilo_config *config, hilo_diags *diags) {
  for (hilo_option_id id = 0; id < HILO_OPTION_COUNT; id++) {
    const hilo_option *option = &hilo_options[id];
    if (option->state == HILO_STATE_DONE || !hilo_config_is_given(config, id)) continue;
    (void)hilo_diag_add(diags, HILO_DIAG_EARG901, NULL,
                        option->state == HILO_STATE_LATER
                            ? "`--%s%s` is accepted but has no effect in this version yet"
                            : "`--%s%s` is accepted for old scripts and has no effect",
                        option->name, option->type == HILO_TYPE_PREFIX ? "*" : "");
  }
}

/* Like a flag without effect, since scripts may know more numbers than there are passes. */
static void check_fuzz_aliases(const hilo_config *config, hilo_diags *diags) {
  enum { N_FUZZES = 5 };
  if (config->fuzz_aliases >= 0 && config->fuzz_aliases <= N_FUZZES) return;
  (void)hilo_diag_add(diags, HILO_DIAG_EARG901, NULL,
                      "`--fuzz-aliases` is %d and has no effect; it can be 0 to %d",
                      config->fuzz_aliases, N_FUZZES);
}

hilo_status hilo_config_check(const hilo_config *config, hilo_diags *diags) {
  const uint32_t before = diags->n_errors;
  check_target(config, diags);
  if (config->logical_nc_config != 1 && config->logical_nc_config != 2)
    (void)hilo_diag_add(diags, HILO_DIAG_EARG001, NULL,
                        "--logical-nc-config is %d; it can be 1 or 2", config->logical_nc_config);
  if (!hilo_str_is(config->coalesce_mode, "merge") &&
      !hilo_str_is(config->coalesce_mode, "adjacent") &&
      !hilo_str_is(config->coalesce_mode, "overlap"))
    (void)hilo_diag_add(diags, HILO_DIAG_EARG001, NULL,
                        "--coalesce-mode is `%.*s`; it can be merge, adjacent or overlap",
                        HILO_FMT(config->coalesce_mode));
  check_fuzz_aliases(config, diags);
  warn_about_flags(config, diags);
  return diags->n_errors > before ? HILO_INPUT_ERROR : HILO_OK;
}

hilo_status hilo_config_create_out_dir(const hilo_config *config, hilo_diags *diags) {
  if (config->out_dir.n == 0) return HILO_OK;
  const hilo_status status = hilo_file_make_directories(diags->arena, config->out_dir.p, diags);
  if (status != HILO_OK)
    (void)hilo_diag_add(diags, HILO_DIAG_EMOD018, NULL,
                        "there is no output directory `%.*s`; name another with --out-dir",
                        HILO_FMT(config->out_dir));
  return status;
}
