/* What a pass is: a plain function over a module, and a row of driver/passes.def.
 *
 * A pass walks in program order, collects what matches, rewrites after the walk, and says
 * truthfully in *changed whether it changed anything. It reports bad input to ctx->diags and
 * returns the status. Scratch memory comes from ctx->scratch, which the runner resets behind each
 * pass. */
#ifndef HILO_REWRITE_PASS_H
#define HILO_REWRITE_PASS_H

#include "base/log.h"
#include "ir/module.h"

/* The flags that tune passes, filled in by the driver from the command line (driver/options.def).
 */
typedef struct {
  bool stablehlo;                           /* which spine: codes of diagnostics */
  hilo_str target;                          /* --target-instance */
  bool native_int64;                        /* --native-int64: step 25 does nothing */
  bool verify_hlo;                          /* --verify-hlo and not --disable-verifier */
  bool verify_supported_ops;                /* step 4 refuses */
  bool lower_complex;                       /* step 6 will run */
  bool lower_complex_extra;                 /* step 7 will */
  bool canonicalize_conv_wide;              /* step 5 takes 31 input features */
  bool fuse_dot_logistic;                   /* step 15.2 and 15.3 */
  bool general_elementwise_fusion;          /* step 15.6 */
  bool unsafe_fp8e4m3fn;                    /* --experimental-unsafe-fp8e4m3fn-as-fp8e4m3 */
  uint32_t integer_downcast;                /* --implicit-integer-downcast: HILO_DOWNCAST_* */
  int64_t constant_decomposition_threshold; /* bytes, step 28A */
  int64_t broadcast_num_elements_to_fold;   /* step 27.8 */
  bool expand_batch_norm_training, expand_batch_norm_grad;
  bool print_module_stats; /* step 31 speaks up */
  bool drop_collective_tokens;
  bool drop_unsafe_may_alias;
  const hilo_str *error_targets; /* of #52: NAME or NAME=NUMBER */
  uint32_t n_error_targets;
  int64_t fixpoint_limit; /* rounds of passes that repeat themselves; 0: as many as they take */
  int64_t num_replicas, num_partitions; /* --num-…; 0: as the module says */
  int64_t schedule_effort;              /* step 17: 1, or 2 to search */
  bool schedule_clone;                  /* step 17: shared broadcasts get a clone a user */
  bool remat_rope;              /* step 10 makes sines and cosines again, whatever the budget */
  double max_mem_multiple;      /* budget of steps 10 and 11 by parameter bytes; 0: the device */
  int64_t min_def_use_distance; /* step 10: instructions from reader to reader */
  bool coalesce[3];             /* step 11: all-gathers, all-reduces, reduce-scatters */
  int64_t coalesce_caps[3];     /* bytes of a merged one */
  bool coalesce_adjacent;       /* move only */
  bool coalesce_for_overlap;    /* not what compute covers */
  bool schedule_for_target;     /* step 17: the target's model of memory decides */
  bool no_coalesce_in_loops;
} hilo_pass_options;

enum {
  HILO_DOWNCAST_DOT = 1,
  HILO_DOWNCAST_SCATTER = 2,
  HILO_DOWNCAST_ALL_REDUCE = 4,
  HILO_DOWNCAST_POW = 8,
  HILO_DOWNCAST_REDUCE_SCATTER = 16,
};

typedef struct hilo_pass_ctx {
  hilo_diags *diags;
  hilo_arena *scratch;
  const hilo_pass_options *options;
  hilo_log *log;                                /* for what a step's text promises; NULL: none */
  struct hilo_schedule_report *schedule_report; /* of steps 17 and 18; NULL: nobody wants it */
  uint32_t n_matched, n_rewritten; /* for the step's INFO line; passes count, the runner clears */
} hilo_pass_ctx;

typedef hilo_status (*hilo_pass_fn)(hilo_module *m, hilo_pass_ctx *ctx, bool *changed);

/* May a pass that repeats itself until nothing changes go another round after `n_rounds`? */
static inline bool hilo_pass_may_repeat(const hilo_pass_ctx *ctx, uint32_t n_rounds) {
  const int64_t limit = ctx->options ? ctx->options->fixpoint_limit : 0;
  return limit <= 0 || n_rounds < limit;
}

#define HILO_DECLARE_PASS(symbol)                                                                  \
  hilo_status hilo_pass_##symbol(hilo_module *m, hilo_pass_ctx *ctx, bool *changed)

/* ---- the driver of expander passes ---- */
typedef struct {
  bool (*match)(const hilo_module *m, hilo_inst i, const hilo_pass_ctx *ctx);
  /* Build the replacement before `i` and return it (it may be an existing value); HILO_INST_NONE
   * declines. */
  hilo_inst (*expand)(hilo_module *m, hilo_inst i, hilo_pass_ctx *ctx);
} hilo_expander;

/* Per computation that is no fusion body: collect matches in program order, re-test each just
 * before it is expanded, replace it where expansion gave a value of equal type. New instructions
 * are not revisited; they get the metadata, ordinal and sharding of the original where they have
 * none. Dead originals go. */
hilo_status hilo_expand(hilo_module *m, hilo_pass_ctx *ctx, const hilo_expander *expander,
                        bool *changed);

#endif
