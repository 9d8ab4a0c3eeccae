#include "properties.h"

#include "analysis/canonical.h"
#include "driver/pipeline.h"
#include "driver/run/run_prove.h"
#include "formats/hlo_proto.h"
#include "formats/hlo_text.h"
#include "formats/mlir_text.h"
#include "ir/hlo_print.h"
#include "ir/mlir_print.h"
#include "ir/verify.h"

#include <stdio.h>

typedef struct {
  const hilo_module *m;
  const hilo_property_options *options;
  hilo_arena *arena; /* of the verdict */
  hilo_scratch module_arena, scratch;
  hilo_pass_options pass_options;
  hilo_config config;
  hilo_prover *prover; /* from the module as it is */
  hilo_diags diags;
  hilo_pass_counts *counts;
  char property[160];
  hilo_violation violation;
} checker;

/* ---- verdicts ---- */

static bool is_done(const checker *c) { return c->violation.property != NULL; }

/* Is this property to be checked now? */
static bool enter(checker *c, const char *property) {
  if (is_done(c)) return false;
  if (c->options->only && strcmp(c->options->only, property) != 0) return false;
  snprintf(c->property, sizeof(c->property), "%s", property);
  if (c->options->stage) c->options->stage(c->options->user, c->property);
  c->diags = hilo_diags_make(c->arena);
  hilo_arena_reset(&c->module_arena.arena);
  return true;
}

static void violate(checker *c, const char *kind, hilo_str detail) {
  if (is_done(c)) return;
  c->violation = (hilo_violation){hilo_str_copy(c->arena, hilo_str_of(c->property)).p, kind,
                                  hilo_str_copy(c->arena, detail)};
}

static hilo_str first_message(checker *c) {
  hilo_sb sb = hilo_sb_make(c->arena);
  hilo_diags_render(&c->diags, &sb);
  if (!sb.n) hilo_sb_cat(&sb, "no diagnostic");
  return hilo_sb_view(&sb);
}

static hilo_str signature_of(checker *c, const hilo_module *m) {
  char hex[HILO_SHA256_HEX + 1];
  hilo_module_signature(m, &c->scratch.arena, hex);
  hilo_arena_reset(&c->scratch.arena);
  return hilo_str_copy(c->arena, hilo_str_of(hex));
}

/* The first line in which two texts part. */
static hilo_str difference(checker *c, hilo_str a, hilo_str b) {
  size_t k = 0, start = 0;
  for (; k < a.n && k < b.n && a.p[k] == b.p[k]; k++)
    if (a.p[k] == '\n') start = k + 1;
  hilo_sb sb = hilo_sb_make(c->arena);
  const hilo_str *both[] = {&a, &b};
  for (int side = 0; side < 2; side++) {
    size_t end = start;
    while (end < both[side]->n && both[side]->p[end] != '\n' && end < start + 500) end++;
    hilo_sb_printf(&sb, "%s %.*s\n", side ? "second:" : "first: ", (int)(end - start),
                   both[side]->p + start);
  }
  return hilo_sb_view(&sb);
}

/* ---- forms ---- */

static hilo_module *read_back(checker *c, hilo_str bytes, bool is_proto) {
  hilo_module *back = NULL;
  hilo_arena *arena = &c->module_arena.arena;
  const hilo_str name = HILO_STR("written");
  const hilo_status status = is_proto ? hilo_hlo_proto_read(arena, bytes, name, &c->diags, &back)
                                      : hilo_hlo_text_read(arena, bytes, name, &c->diags, &back);
  if (status != HILO_OK)
    violate(c, "unread", first_message(c));
  else if (hilo_verify(back, &c->diags) != HILO_OK)
    violate(c, "broken", first_message(c));
  return is_done(c) ? NULL : back;
}

static bool write_form(checker *c, const hilo_module *m, bool is_proto, hilo_sb *out) {
  if (!is_proto) return hilo_hlo_print(m, NULL, out), true;
  if (hilo_hlo_proto_write(m, out, &c->diags) == HILO_OK) return true;
  violate(c, "unwritten", first_message(c));
  return false;
}

static void check_form(checker *c, const char *property, bool is_proto) {
  if (!enter(c, property)) return;
  hilo_arena *arena = &c->module_arena.arena;
  if (hilo_hlo_check_ops(c->m, &c->diags) != HILO_OK) return; /* not HLO */
  hilo_sb once = hilo_sb_make(arena), twice = hilo_sb_make(arena);
  if (!write_form(c, c->m, is_proto, &once)) return;
  const hilo_module *back = read_back(c, hilo_sb_view(&once), is_proto);
  if (!back || !write_form(c, back, is_proto, &twice)) return;
  if (!hilo_str_eq(hilo_sb_view(&once), hilo_sb_view(&twice)))
    violate(c, "differs",
            is_proto ? HILO_STR("other bytes")
                     : difference(c, hilo_sb_view(&once), hilo_sb_view(&twice)));
  else if (!hilo_str_eq(signature_of(c, c->m), signature_of(c, back)))
    violate(c, "signature", HILO_STR("the signature is another one"));
}

static hilo_runner runner_of(checker *c, const hilo_runner_options *options) {
  return hilo_runner_make(c->arena, &c->scratch.arena, &c->diags, &c->pass_options, options);
}

/* In MLIR several results are no tuple, and parameters come first: both sides without tuples that
 * are taken apart and without dead code. */
static hilo_module *normalised(checker *c, const hilo_module *m) {
  static const hilo_pass_id passes[] = {HILO_PASS_tuple_simplifier, HILO_PASS_dce};
  const hilo_runner_options none = {0};
  hilo_runner runner = runner_of(c, &none);
  hilo_module *copy = hilo_module_clone(m, &c->module_arena.arena);
  HILO_FOR_EACH_COMP(copy, comp) /* it has no layouts */
  HILO_FOR_EACH_INST(copy, comp, i)
  hilo_inst_set_type(copy, i, hilo_type_bare(&copy->types, hilo_inst_type(copy, i)));
  for (size_t k = 0; k < HILO_COUNT(passes); k++)
    if (hilo_runner_run(&runner, copy, &hilo_pass_table[passes[k]]) != HILO_OK)
      violate(c, "broken", first_message(c));
  return copy;
}

/* Asynchronous calls are printed as results of their own, which are not read back as one bundle. */
static bool is_sayable(const hilo_module *m) {
  HILO_FOR_EACH_COMP(m, c)
  HILO_FOR_EACH_INST(m, c, i) if (hilo_inst_is(m, i, HILO_OP_ASYNC_START)) return false;
  return true;
}

/* A tuple of one is its element in MLIR, branches have no operands that they do not use, functions
 * of CHLO are expanded on the way back, and the halves of a send come back side by side. */
static bool keeps_form(const hilo_module *m) {
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      const hilo_type type = hilo_inst_type(m, i);
      if (hilo_inst_is(m, i, HILO_OP_CONDITIONAL)) return false;
      if (hilo_inst_is(m, i, HILO_OP_SEND_DONE) &&
          !hilo_inst_eq(hilo_inst_prev(m, i), hilo_inst_operand(m, i, 0)))
        return false;
      if (strstr(hilo_op_get(hilo_inst_op(m, i))->mlir, "chlo.")) return false;
      if (hilo_type_is_tuple(&m->types, type) && hilo_type_n_elements_of_tuple(&m->types, type) < 2)
        return false;
    }
  }
  return true;
}

static void compare_signatures(checker *c, const hilo_module *back) {
  if (!keeps_form(c->m)) return;
  const hilo_module *a = normalised(c, c->m), *b = normalised(c, back);
  if (is_done(c) || hilo_str_eq(signature_of(c, a), signature_of(c, b))) return;
  hilo_arena *arena = &c->module_arena.arena;
  hilo_sb first = hilo_sb_make(arena), second = hilo_sb_make(arena), both = hilo_sb_make(arena);
  const hilo_print_options options = {.no_metadata = true};
  hilo_hlo_print(a, &options, &first);
  hilo_hlo_print(b, &options, &second);
  hilo_sb_printf(&both, "the signature is another one\n%.*s\n%.*s", HILO_FMT(hilo_sb_view(&first)),
                 HILO_FMT(hilo_sb_view(&second)));
  violate(c, "signature", hilo_sb_view(&both));
}

static bool draws_by_itself(const hilo_module *m) {
  HILO_FOR_EACH_COMP(m, comp) {
    HILO_FOR_EACH_INST(m, comp, i) {
      if (hilo_inst_is(m, i, HILO_OP_RNG)) return true;
    }
  }
  return false;
}

static void check_stablehlo(checker *c) {
  if (!enter(c, "stablehlo") || c->m->dialect != HILO_DIALECT_HLO || !is_sayable(c->m)) return;
  hilo_arena *arena = &c->module_arena.arena;
  const hilo_runner_options none = {0};
  hilo_runner runner = runner_of(c, &none);
  hilo_module *m = hilo_module_clone(c->m, arena), *back = NULL;
  hilo_sb text = hilo_sb_make(arena);
  /* What it cannot say it refuses. */
  if (hilo_runner_run(&runner, m, &hilo_pass_table[HILO_PASS_hlo_legalize_to_stablehlo]) !=
          HILO_OK ||
      hilo_mlir_print(m, NULL, &c->diags, &text) != HILO_OK) {
    if (!c->diags.n_errors) violate(c, "silent", HILO_STR("refused without a diagnostic"));
    return;
  }
  if (hilo_mlir_read(arena, hilo_sb_view(&text), HILO_STR("written"), &c->diags, &back) !=
      HILO_OK) {
    violate(c, "unread", first_message(c));
    return;
  }
  if (hilo_verify(back, &c->diags) != HILO_OK || hilo_pipeline_to_hlo(&runner, back) != HILO_OK ||
      hilo_verify(back, &c->diags) != HILO_OK) {
    violate(c, "broken", first_message(c));
    return;
  }
  back->header.num_replicas = c->m->header.num_replicas;
  back->header.num_partitions = c->m->header.num_partitions;
  /* A text that is read anew numbers its draws anew, which the prover does not. */
  if (hilo_prover_gave_up(c->prover) || draws_by_itself(c->m)) return;
  hilo_prover_after(c->prover, back, &hilo_pass_table[HILO_PASS_hlo_legalize_to_stablehlo], true);
  if (hilo_prover_failed(c->prover) || hilo_prover_gave_up(c->prover))
    violate(c, "values",
            hilo_prover_why(c->prover).n ? hilo_prover_why(c->prover) : first_message(c));
  hilo_prover_rewind(c->prover);
  if (!is_done(c)) compare_signatures(c, back);
}

/* ---- passes ---- */

static void tell(checker *c, const hilo_pass_info *pass, const char *what, hilo_str why) {
  if (c->options->told) c->options->told(c->options->user, pass, what, why);
}

static bool is_exact_contract(const hilo_pass_info *pass) {
  return pass->contract[0] == 'E' || pass->contract[0] == '-';
}

/* Run it on a copy. NULL: it refused, or violated something. */
static hilo_module *run_pass(checker *c, hilo_module *m, const hilo_pass_info *pass,
                             bool *changed) {
  const hilo_runner_options none = {0};
  hilo_runner runner = runner_of(c, &none);
  const uint64_t before = hilo_module_state_hash(m);
  const hilo_status status = hilo_runner_run(&runner, m, pass);
  *changed = runner.last.n_changed != 0;
  if (status != HILO_OK) {
    if (!c->diags.n_errors) violate(c, "silent", HILO_STR("refused without a diagnostic"));
    return NULL;
  }
  if (hilo_verify(m, &c->diags) != HILO_OK) {
    violate(c, "broken", first_message(c));
    return NULL;
  }
  if (*changed != (before != hilo_module_state_hash(m)))
    violate(c, "changed",
            *changed ? HILO_STR("it says that it changed the module, and did not")
                     : HILO_STR("it changed the module and does not say so"));
  if (*changed && pass->contract[0] == '-')
    violate(c, "changed", HILO_STR("it must not change the module"));
  return is_done(c) ? NULL : m;
}

static void compare_values(checker *c, const hilo_module *m, const hilo_pass_info *pass,
                           hilo_pass_counts *counts) {
  if (hilo_prover_gave_up(c->prover)) {
    counts->n_not_evaluated++;
    tell(c, pass, "not evaluated", hilo_prover_why(c->prover));
    return;
  }
  if ((!c->options->is_tame && !is_exact_contract(pass)) || pass->contract[0] == 'X') {
    counts->n_not_evaluated++;
    tell(c, pass, "not evaluated", HILO_STR("its contract does not cover the module"));
    return;
  }
  hilo_prover_after(c->prover, m, pass, true);
  if (hilo_prover_failed(c->prover)) {
    counts->n_failed++;
    violate(c, "values", first_message(c));
  } else if (hilo_prover_gave_up(c->prover) && !c->options->may_be_foreign) {
    violate(c, "unevaluated", hilo_prover_why(c->prover));
  } else if (hilo_prover_gave_up(c->prover)) {
    counts->n_not_evaluated++;
    tell(c, pass, "not evaluated", hilo_prover_why(c->prover));
  } else {
    counts->n_equal++;
    tell(c, pass, "equal", (hilo_str){0});
  }
  hilo_prover_rewind(c->prover);
}

static void check_pass(checker *c, const hilo_pass_info *pass, hilo_pass_counts *counts) {
  char property[120], again[128];
  snprintf(property, sizeof(property), "pass %s", pass->key);
  snprintf(again, sizeof(again), "pass %s twice", pass->key);
  const bool wants_again = c->options->only && strcmp(c->options->only, again) == 0;
  if (wants_again ? !enter(c, again) : !enter(c, property)) return;
  bool changed = false, more = false;
  hilo_module *m = run_pass(c, hilo_module_clone(c->m, &c->module_arena.arena), pass, &changed);
  if (!m && !is_done(c)) {
    counts->n_refused++;
    tell(c, pass, "refused", c->diags.n ? c->diags.list[0].message : (hilo_str){0});
    return;
  }
  if (m && !changed) tell(c, pass, "unchanged", (hilo_str){0});
  if (m && changed) {
    counts->n_changed++;
    if (!wants_again) compare_values(c, m, pass, counts);
  }
  if (is_done(c)) {
    tell(c, pass, "failed", c->violation.detail);
    return;
  }
  /* The steps of the dialects are made to run once. */
  if (!m || !changed || pass->kind == 'S' || (c->options->only && !wants_again)) return;
  snprintf(c->property, sizeof(c->property), "%s", again);
  if (c->options->stage) c->options->stage(c->options->user, c->property);
  if (run_pass(c, m, pass, &more) && more) {
    violate(c, "again", HILO_STR("it changes once more what it left"));
    tell(c, pass, "failed", c->violation.detail);
  }
}

/* Those that need another dialect than the module has, a model's directory, or have their own
 * check. */
static bool is_for(const checker *c, hilo_pass_id id) {
  const bool is_hlo = c->m->dialect == HILO_DIALECT_HLO;
  if (id == HILO_PASS_chlo_legalize_to_stablehlo || id == HILO_PASS_stablehlo_legalize_to_hlo)
    return !is_hlo;
  return is_hlo;
}

static void check_passes(checker *c) {
  hilo_pass_counts unwanted = {0};
  hilo_violation first = {0};
  for (uint32_t id = 0; id < HILO_PASS_COUNT; id++) {
    if (!is_for(c, (hilo_pass_id)id)) continue;
    check_pass(c, &hilo_pass_table[id], c->counts ? &c->counts[id] : &unwanted);
    if (!c->options->only_passes || !is_done(c)) continue;
    /* The passes behind it are wanted all the same. */
    if (!first.property) first = c->violation;
    c->violation = (hilo_violation){0};
  }
  if (first.property) c->violation = first;
  if (c->options->extra) check_pass(c, c->options->extra, &unwanted);
}

/* ---- pipelines ---- */

/* Follows a pipeline step by step. */
typedef struct {
  checker *c;
  hilo_prover *prover;
  const char *pipeline;
  uint64_t hash;
} follower;

static hilo_prover *new_prover(checker *c, bool from_first) {
  const hilo_prover_options options = {.seed = (int64_t)(c->options->seed & 0xffff),
                                       .n_replicas = (uint32_t)c->m->header.num_replicas,
                                       .n_partitions = (uint32_t)c->m->header.num_partitions,
                                       .max_bytes = c->options->max_bytes,
                                       .max_steps = c->options->max_steps,
                                       .from_first = from_first};
  return hilo_prover_make(c->arena, &options, &c->diags);
}

static void before_step(void *ctx, const hilo_module *m, const hilo_pass_info *pass) {
  follower *f = ctx;
  snprintf(f->c->property, sizeof(f->c->property), "pipeline %s", f->pipeline);
  if (f->c->options->stage) f->c->options->stage(f->c->options->user, f->c->property);
  (void)pass;
  f->hash = hilo_module_state_hash(m);
  hilo_prover_before(f->prover, m);
}

static void violate_step(follower *f, const hilo_pass_info *pass, const char *kind, hilo_str why) {
  hilo_sb sb = hilo_sb_make(f->c->arena);
  hilo_sb_printf(&sb, "at step `%s`: %.*s", pass->key, HILO_FMT(why));
  violate(f->c, kind, hilo_sb_view(&sb));
}

static void after_step(void *ctx, const hilo_module *m, const hilo_pass_stats *run, bool changed) {
  follower *f = ctx;
  checker *c = f->c;
  if (is_done(c)) return;
  if (hilo_verify(m, &c->diags) != HILO_OK) violate_step(f, run->pass, "broken", first_message(c));
  if (changed != (f->hash != hilo_module_state_hash(m)))
    violate_step(f, run->pass, "changed",
                 HILO_STR("it does not tell whether it changed the module"));
  if (changed && !c->options->is_tame && !is_exact_contract(run->pass)) {
    /* From here on from new inputs: what it did is beyond its contract. */
    hilo_prover_drop(f->prover);
    f->prover = new_prover(c, false);
    return;
  }
  hilo_prover_after(f->prover, m, run->pass, changed);
  if (hilo_prover_failed(f->prover)) violate_step(f, run->pass, "values", first_message(c));
  if (hilo_prover_gave_up(f->prover) && !c->options->may_be_foreign)
    violate_step(f, run->pass, "unevaluated", hilo_prover_why(f->prover));
}

static void check_pipeline(checker *c, const char *name, const hilo_pipeline_table *first,
                           const hilo_pipeline_table *second) {
  char property[80];
  snprintf(property, sizeof(property), "pipeline %s", name);
  if (!enter(c, property) || c->m->dialect != HILO_DIALECT_HLO) return;
  follower f = {.c = c, .prover = new_prover(c, false), .pipeline = name};
  const hilo_runner_options options = {
      .hooks = {.ctx = &f, .before = before_step, .after = after_step}};
  c->pass_options.stablehlo = (second ? second : first)->spine != HILO_SPINE_MHLO;
  hilo_runner runner = runner_of(c, &options);
  hilo_module *m = hilo_module_clone(c->m, &c->module_arena.arena);
  hilo_status status = hilo_pipeline_run(first, &runner, m, &c->config, NULL);
  if (status == HILO_OK && second && !is_done(c))
    status = hilo_pipeline_run(second, &runner, m, &c->config, NULL);
  if (status != HILO_OK && !is_done(c) && !c->diags.n_errors)
    violate(c, "silent", HILO_STR("refused without a diagnostic"));
  hilo_prover_drop(f.prover);
}

/* Every gate of the pipelines, and what tunes their steps, by the seed: each on and off, in any
 * company. */
static void choose_flags(checker *c) {
  hilo_config_init(&c->config, HILO_TOOL_OPT);
  bool *const gates[] = {&c->config.verify_supported_ops,
                         &c->config.mlir_canonicalizer,
                         &c->config.preserve_control_deps,
                         &c->config.canonicalize_conv,
                         &c->config.canonicalize_conv_wide,
                         &c->config.lower_complex,
                         &c->config.lower_complex_extra,
                         &c->config.remove_opt_barriers,
                         &c->config.remat,
                         &c->config.coalesce_collectives,
                         &c->config.no_coalesce_in_loops,
                         &c->config.neuron_op_fusion,
                         &c->config.fuse_dot_logistic,
                         &c->config.general_elementwise_fusion,
                         &c->config.fold_iota,
                         &c->config.schedule,
                         &c->config.schedule_clone,
                         &c->config.analyze_schedule,
                         &c->config.schedule_fusion,
                         &c->config.hoist_compute,
                         &c->config.disable_memcast_motion,
                         &c->config.verify_aliasing,
                         &c->config.drop_unsafe_may_alias,
                         &c->config.expand_batch_norm_training_and_grad,
                         &c->config.drop_collective_tokens,
                         &c->config.disable_early_opt_barrier_removal};
  static const char *const modes[] = {"merge", "adjacent", "overlap", "merge"};
  const uint64_t s = hilo_hash_bytes(&c->options->seed, sizeof(c->options->seed));
  for (size_t k = 0; k < HILO_COUNT(gates); k++) *gates[k] = s >> k & 1;
  c->config.verify_hlo = c->config.verify_supported_ops;
  c->config.coalesce_mode = hilo_str_of(modes[s >> 32 & 3]);
  c->config.max_mem_multiple = s >> 34 & 1 ? 0.5 : 0;
  c->config.min_def_use_distance = s >> 35 & 1 ? 2 : 32;
  c->config.schedule_effort = 1 + (s >> 36 & 1);
  c->config.constant_decomposition_threshold = s >> 37 & 1 ? 16 : 4096;
  c->config.broadcast_num_elements_to_fold = s >> 38 & 1 ? 0 : 1024;
  c->config.native_int64 = (s >> 39 & 3) == 3;
  hilo_config_settle(&c->config);
  c->pass_options = hilo_pipeline_pass_options(&c->config);
}

/* ---- all of it ---- */

static void check_all(checker *c) {
  if (enter(c, "verify") && hilo_verify(c->m, &c->diags) != HILO_OK)
    violate(c, "broken", first_message(c));
  if (is_done(c)) return;
  const bool only_passes = c->options->only_passes;
  if (!only_passes) {
    check_form(c, "text", false);
    check_form(c, "proto", true);
  }
  if (is_done(c)) return;
  snprintf(c->property, sizeof(c->property), "evaluate");
  if (c->options->stage) c->options->stage(c->options->user, c->property);
  c->prover = new_prover(c, true);
  hilo_prover_before(c->prover, c->m);
  if (hilo_prover_gave_up(c->prover) && !c->options->may_be_foreign &&
      (!c->options->only || strcmp(c->options->only, "evaluate") == 0))
    violate(c, "unevaluated", hilo_prover_why(c->prover));
  if (!only_passes) check_stablehlo(c);
  check_passes(c);
  if (!only_passes) {
    check_pipeline(c, "hlo", &hilo_pipeline_hlo, NULL);
    check_pipeline(c, "hlo, mhlo-spine", &hilo_pipeline_hlo, &hilo_pipeline_mhlo_spine);
    check_pipeline(c, "hlo, stablehlo-spine", &hilo_pipeline_hlo, &hilo_pipeline_stablehlo_spine);
    check_pipeline(c, "mhlo-spine", &hilo_pipeline_mhlo_spine, NULL);
    check_pipeline(c, "stablehlo-spine", &hilo_pipeline_stablehlo_spine, NULL);
  }
  hilo_prover_drop(c->prover);
}

hilo_violation hilo_check_properties(const hilo_module *m, const hilo_property_options *options,
                                     hilo_arena *arena, hilo_pass_counts *counts) {
  checker c = {.m = m, .options = options, .arena = arena, .counts = counts};
  hilo_scratch_init(&c.module_arena, arena);
  hilo_scratch_init(&c.scratch, arena);
  choose_flags(&c);
  c.diags = hilo_diags_make(arena);
  check_all(&c);
  hilo_scratch_deinit(&c.scratch);
  hilo_scratch_deinit(&c.module_arena);
  return c.violation;
}
