/* The pipelines: which passes run, in which order, behind which gates. The order is the design. */
#ifndef HILO_DRIVER_PIPELINE_H
#define HILO_DRIVER_PIPELINE_H

#include "base/log.h"
#include "driver/config.h"
#include "driver/pass_table.h"

/* ONE: a step of both spines that is one pass, while the others of both have a twin
 * `stablehlo-<key>`. */
enum { HILO_SPINE_MHLO = 1, HILO_SPINE_STABLEHLO = 2, HILO_SPINE_BOTH = 3, HILO_SPINE_ONE = 7 };

/* A row: a pass, the spines that have it (0 in the HLO list), and the condition under which it runs
 * (NULL: always). */
typedef struct {
  hilo_pass_id pass;
  uint8_t spines;
  bool (*gate)(const hilo_config *config, const hilo_module *m);
} hilo_pipeline_row;

typedef struct {
  const hilo_pipeline_row *rows;
  uint32_t n;
  uint8_t spine; /* rows of the other one are not in the list */
} hilo_pipeline_table;

extern const hilo_pipeline_table hilo_pipeline_hlo; /* the default list of hlo2penguin */
extern const hilo_pipeline_table
    hilo_pipeline_pre_partition;                           /* what layers are looked for behind */
extern const hilo_pipeline_table hilo_pipeline_mhlo_spine; /* 32 steps */
extern const hilo_pipeline_table hilo_pipeline_stablehlo_spine; /* 37 steps */

/* What passes may know of the command line. Strings are the configuration's. */
hilo_pass_options hilo_pipeline_pass_options(const hilo_config *config);
/* Without hooks. Debug builds verify after each pass, and check that it told the truth of
 * "changed". */
hilo_runner_options hilo_pipeline_runner_options(const hilo_config *config);

/* The pass of this key, or of the step whose StableHLO twin has it; HILO_PASS_COUNT: there is
 * none. */
hilo_pass_id hilo_pipeline_find(hilo_str key);
/* Run the rows whose gates are open and whose keys --passes, --skip-pass and --disable-all-passes
 * let through. */
hilo_status hilo_pipeline_run(const hilo_pipeline_table *pipeline, hilo_runner *runner,
                              hilo_module *m, const hilo_config *config, hilo_log *log);
/* Convert a StableHLO or MHLO module to HLO, whatever passes are selected. */
hilo_status hilo_pipeline_to_hlo(hilo_runner *runner, hilo_module *m);
/* A WARNING for each name in --passes and --skip-pass that is no pass. */
void hilo_pipeline_warn_unknown(const hilo_config *config, hilo_log *log);

#endif
