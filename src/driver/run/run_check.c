/* hlo-run --check: the test modules of StableHLO, section by section, function by function. */
#include "base/decompress.h"
#include "base/file.h"
#include "driver/run/check_ops.h"
#include "driver/run/run_job.h"
#include "formats/detect.h"
#include "formats/load.h"
#include "formats/mlir_text.h"
#include "ir/verify.h"
#include "passes/passes.h"

#include <inttypes.h>

typedef struct {
  hilo_run_job *j;
  hilo_str file;
  uint32_t line; /* of the section; 0: the file is one */
  hilo_module *m;
  hilo_check_state state;
  hilo_run_result result;
  uint32_t n_run;
} checker;

static void worsen(checker *k, hilo_run_result result) {
  if (result > k->result || result == HILO_RUN_REJECTED) k->result = result;
}

/* ---- which functions ---- */

/* A bit per computation: it holds a test operation, or calls one that does. */
static uint64_t *find_tested(const hilo_module *m, hilo_arena *arena) {
  uint64_t *tested = hilo_bitset_create(arena, hilo_module_n_comps(m));
  const hilo_comp_list comps = hilo_module_comps_postorder(m, arena);
  for (uint32_t c = 0; c < comps.n; c++) {
    HILO_FOR_EACH_INST(m, comps.v[c], i) {
      bool is_test = hilo_is_test_op(m, i);
      for (uint32_t t = 0; t < hilo_inst_n_called(m, i); t++)
        is_test |= hilo_bitset_get(tested, hilo_comp_ix(m, hilo_inst_called(m, i, t)));
      if (is_test) hilo_bitset_set(tested, hilo_comp_ix(m, comps.v[c]));
    }
  }
  return tested;
}

/* ---- one function ---- */

static void print_head(checker *k, hilo_comp c, hilo_sb *out) {
  hilo_sb_str(out, k->file);
  if (k->line) hilo_sb_printf(out, ":%u", k->line);
  if (!c.ix) return;
  const hilo_str name = hilo_comp_name_text(k->m, c, &k->j->table_arena);
  hilo_sb_printf(out, " @%.*s", HILO_FMT(name));
}

static void print_json(checker *k, hilo_comp c, const char *verdict, hilo_str why) {
  hilo_sb *out = &k->j->text;
  hilo_sb_cat(out, "{\"file\": ");
  hilo_sb_json(out, k->file);
  hilo_sb_printf(out, ", \"line\": %u, \"function\": ", k->line);
  if (c.ix)
    hilo_sb_json(out, hilo_comp_name_text(k->m, c, &k->j->table_arena));
  else
    hilo_sb_cat(out, "null");
  hilo_sb_printf(out, ", \"result\": \"%s\", \"checks\": %u, \"failed\": %u, \"why\": ", verdict,
                 k->state.n_checks, k->state.n_failed);
  hilo_sb_json(out, why);
  hilo_sb_cat(out, "}\n");
}

static void print_line(checker *k, hilo_comp c, const char *verdict, hilo_str why) {
  if (k->j->config->json) {
    print_json(k, c, verdict, why);
    return;
  }
  hilo_sb *out = &k->j->text;
  print_head(k, c, out);
  hilo_sb_printf(out, ": %s", verdict);
  if (k->state.n_failed)
    hilo_sb_printf(out, ", %u of %u checks", k->state.n_failed, k->state.n_checks);
  else if (k->state.n_checks)
    hilo_sb_printf(out, ", %u check%s", k->state.n_checks, k->state.n_checks == 1 ? "" : "s");
  if (why.n) hilo_sb_printf(out, ": %.*s", HILO_FMT(why));
  hilo_sb_char(out, '\n');
}

static hilo_str why_not(checker *k, const hilo_diags *diags) {
  hilo_sb text = hilo_sb_make(&k->j->table_arena);
  if (diags->n) {
    hilo_sb_str(&text, diags->list[0].message);
    if (diags->list[0].place.instruction.n)
      hilo_sb_printf(&text, " (at `%.*s`)", HILO_FMT(diags->list[0].place.instruction));
  }
  return hilo_sb_view(&text);
}

static void run_function(checker *k, hilo_comp c) {
  hilo_run_job *j = k->j;
  hilo_sb details = hilo_sb_make(&j->table_arena);
  hilo_diags diags = hilo_diags_make(&j->table_arena);
  k->state.n_checks = k->state.n_failed = k->state.depth = 0;
  k->state.out = &details;
  k->state.first_probe = k->state.probes.n;
  k->n_run++;
  if (hilo_comp_n_params(k->m, c)) {
    print_line(k, c, "not run", HILO_STR("it has parameters, for which no inputs are stated"));
    worsen(k, HILO_RUN_NOT_EVALUATED);
    return;
  }
  const hilo_run_options options = {.n_replicas = 1,
                                    .n_partitions = 1,
                                    .max_bytes = (uint64_t)j->config->max_bytes,
                                    .max_steps = (uint64_t)j->config->max_steps,
                                    .diags = &diags,
                                    .custom_call = hilo_check_custom_call,
                                    .user = &k->state};
  const hilo_arrays none = {.n_ranks = 1};
  const hilo_status status = hilo_evaluate(k->m, c, &none, &options, &j->table_arena, &j->outcome);
  hilo_outcome_drop(&j->outcome);
  if (status != HILO_OK) {
    worsen(k, hilo_run_result_of(status));
    print_line(k, c, "not evaluated", why_not(k, &diags));
  } else {
    if (k->state.n_failed) worsen(k, HILO_RUN_DIFFERENT);
    print_line(k, c, k->state.n_failed ? "failed" : "passed", (hilo_str){0});
  }
  if (!j->config->json) hilo_sb_str(&j->text, hilo_sb_view(&details));
}

/* ---- one module ---- */

static void check_module(checker *k) {
  const uint64_t *tested = find_tested(k->m, &k->j->table_arena);
  const uint32_t before = k->n_run;
  k->state.m = k->m;
  k->state.max_steps = (uint64_t)k->j->config->max_steps;
  k->state.arena = &k->j->table_arena;
  HILO_FOR_EACH_COMP(k->m, c) {
    if (!hilo_bitset_get(tested, hilo_comp_ix(k->m, c))) continue;
    if (hilo_comp_get(k->m, c)->n_callers && !hilo_comp_eq(c, k->m->entry)) continue;
    run_function(k, c);
  }
  if (k->n_run > before) return;
  k->state.n_checks = k->state.n_failed = 0;
  print_line(k, HILO_COMP_NONE, "nothing to check", (hilo_str){0});
}

/* Upstream's interpreter has no CHLO: what its tests state is what the expansions give. */
static hilo_status expand_chlo(checker *k) {
  const hilo_pass_options options = {0};
  hilo_pass_ctx ctx = {.diags = k->j->diags, .scratch = &k->j->table_arena, .options = &options};
  bool changed = false;
  return hilo_pass_chlo_legalize_to_stablehlo(k->m, &ctx, &changed);
}

static void check_loaded(checker *k, hilo_status status) {
  if (status == HILO_OK && !k->j->config->no_verify) status = hilo_verify(k->m, k->j->diags);
  if (status == HILO_OK) status = expand_chlo(k);
  if (status == HILO_OK) {
    check_module(k);
  } else {
    k->state.n_checks = k->state.n_failed = 0;
    print_line(k, HILO_COMP_NONE, "rejected", (hilo_str){0});
    worsen(k, HILO_RUN_REJECTED);
  }
  hilo_arena_reset(&k->j->table_arena);
}

/* ---- one file ---- */

/* Every probe of the file as probeN.npy, and its line for index.csv. */
static hilo_status write_probes(checker *k) {
  hilo_run_job *j = k->j;
  for (uint32_t p = 0; p < k->state.probes.n; p++) {
    const hilo_probe *probe = &k->state.probes.v[p];
    hilo_sb path = hilo_sb_make(&j->table_arena);
    hilo_sb_printf(&path, "%.*s/probe%u.npy", HILO_FMT(j->config->probe_output_dir), ++j->n_probes);
    HILO_TRY(hilo_file_write(&j->table_arena, hilo_sb_cstr(&path), probe->npy, j->diags));
    hilo_sb_printf(&j->probe_index, "%.*s,%.*s,%s\n", HILO_FMT(probe->id), HILO_FMT(probe->type),
                   hilo_sb_cstr(&path));
  }
  return HILO_OK;
}

static hilo_status read_file(hilo_run_job *j, hilo_str path, hilo_str *out) {
  HILO_TRY(hilo_file_read(&j->case_arena, path.p, HILO_MAX_INPUT_BYTES, j->diags, out));
  const hilo_compression kind = hilo_compression_detect(*out);
  if (kind == HILO_COMPRESSION_NONE) return HILO_OK;
  return hilo_decompress(&j->case_arena, kind, *out, HILO_DECOMPRESS_MAX_BYTES, path, j->diags,
                         out);
}

static void check_sections(checker *k, hilo_str text) {
  hilo_mlir_section section;
  uint32_t line = 1;
  hilo_str rest = text;
  while (hilo_mlir_next_section(&rest, &line, &section)) {
    k->line = section.first_line;
    check_loaded(k,
                 hilo_mlir_read_section(&k->j->module_arena, section, k->file, k->j->diags, &k->m));
    hilo_arena_reset(&k->j->module_arena);
  }
}

hilo_run_result hilo_run_check_file(hilo_run_job *j, hilo_str path) {
  checker k = {.j = j, .file = path, .state.probe_arena = &j->case_arena};
  hilo_str text = {0};
  if (read_file(j, path, &text) != HILO_OK) return HILO_RUN_REJECTED;
  if (hilo_input_detect(text, &j->table_arena).kind == HILO_INPUT_MLIR_TEXT)
    check_sections(&k, text);
  else
    check_loaded(&k, hilo_load_bytes(&j->module_arena, text, path, j->diags, &k.m));
  if (j->config->probe_output_dir.n && write_probes(&k) != HILO_OK) return HILO_RUN_REJECTED;
  return k.result;
}
