/* What hlo-run says about results: summaries, comparisons, and where in the user's program a value
 * was computed. */
#ifndef HILO_DRIVER_RUN_REPORT_H
#define HILO_DRIVER_RUN_REPORT_H

#include "driver/run/run_compare.h"

/* ` f32[2,3] min -1.5 max 2 mean 0.25`, and how many values are not finite, over all ranks. */
void hilo_report_array(const hilo_array *array, uint32_t n_ranks, hilo_sb *out);

/* The instruction that computes the k-th flat result (tokens counted) of a computation: through
 * tuples, copies, calls and loops, and what these only hand on. */
hilo_inst hilo_result_producer(const hilo_module *m, hilo_comp c, uint32_t k);
/* `%name = op`, and the op_name and source line of its metadata. One line, without its end. */
void hilo_report_inst(const hilo_module *m, hilo_inst i, hilo_sb *out);

typedef struct {
  const hilo_module *m; /* whose results they are: says where a differing one was computed */
  bool json;
  hilo_tolerance tolerance;
  const hilo_tolerance *tolerances; /* one a numbered output; NULL: `tolerance` for all */
} hilo_report_options;

/* Compare two lists, arrays with arrays in order, and print a line (or JSON record) each. False:
 * some differ. Lists that do not fit each other are an error, NCC_EMOD931. */
HILO_NODISCARD hilo_status hilo_report_comparisons(const hilo_arrays *got,
                                                   const hilo_arrays *expected,
                                                   const hilo_report_options *options,
                                                   hilo_diags *diags, hilo_sb *out, bool *equal);

#endif
