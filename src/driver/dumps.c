#include "driver/dumps.h"

#include "base/file.h"
#include "driver/pipeline.h"
#include "ir/hlo_print.h"

static bool names(hilo_words words, const hilo_pass_info *pass) {
  for (uint32_t i = 0; i < words.n; i++) {
    const hilo_pass_id id = hilo_pipeline_find(words.v[i]);
    if (id != HILO_PASS_COUNT && &hilo_pass_table[id] == pass) return true;
  }
  return false;
}

bool hilo_dumps_wanted(const hilo_config *config) {
  return config->mlir_print_ir_before.n || config->mlir_print_ir_before_all ||
         config->mlir_print_ir_after.n || config->mlir_print_ir_after_all ||
         config->mlir_print_ir_after_failure || config->mlir_pass_statistics ||
         config->mlir_pass_pipeline_crash_reproducer.n;
}

static void dump(const hilo_dumper *d, const hilo_module *m, const char *before_key,
                 const char *key, const char *behind_key) {
  hilo_sb sb = hilo_sb_make(d->arena);
  hilo_sb_printf(&sb, "// %s%s%s\n", before_key, key, behind_key);
  const hilo_print_options options = {.elide_large_constants = true};
  hilo_hlo_print(m, &options, &sb);
  hilo_log_print_console(d->log, hilo_sb_view(&sb));
  hilo_sb_free(&sb);
}

static void before_pass(void *ctx, const hilo_module *m, const hilo_pass_info *pass) {
  hilo_dumper *d = ctx;
  const hilo_config *config = d->config;
  if (names(config->print_before, pass)) dump(d, m, "before ", pass->key, "");
  if (config->mlir_print_ir_before_all || names(config->mlir_print_ir_before, pass))
    dump(d, m, "-----// IR Dump Before ", pass->key, " //----- //");
  if (config->mlir_pass_pipeline_crash_reproducer.n) {
    hilo_arena_reset(&d->copies.arena);
    d->was = hilo_module_clone(m, &d->copies.arena);
  }
  hilo_prover_before(d->prover, m);
}

static void after_pass(void *ctx, const hilo_module *m, const hilo_pass_stats *run, bool changed) {
  hilo_dumper *d = ctx;
  const hilo_config *config = d->config;
  const char *key = run->pass->key;
  if (names(config->print_after, run->pass) || (config->print_changed && changed))
    dump(d, m, "after ", key, "");
  if ((config->mlir_print_ir_after_all || names(config->mlir_print_ir_after, run->pass)) &&
      !config->mlir_print_ir_after_failure && (changed || !config->mlir_print_ir_after_change))
    dump(d, m, "-----// IR Dump After ", key, " //----- //");
  hilo_prover_after(d->prover, m, run->pass, changed);
}

/* The module as the pass found it, which is enough to see it fail again. */
static void write_reproducer(hilo_dumper *d, const hilo_pass_info *pass) {
  const char *path = d->config->mlir_pass_pipeline_crash_reproducer.p;
  hilo_sb sb = hilo_sb_make(d->arena);
  hilo_sb_printf(&sb, "// hlo-opt --passes=%s %s\n", pass->key, path);
  hilo_hlo_print(d->was, NULL, &sb);
  /* If it cannot be written, that is said beside what the pass said. */
  if (hilo_file_write(d->arena, path, hilo_sb_view(&sb), d->diags) == HILO_OK)
    HILO_LOG(d->log, INFO, "%s failed; `%s` has the module that it was given", pass->key, path);
  hilo_sb_free(&sb);
}

static void failed_pass(void *ctx, const hilo_module *m, const hilo_pass_info *pass) {
  hilo_dumper *d = ctx;
  if (d->config->mlir_print_ir_after_failure)
    dump(d, m, "-----// IR Dump After ", pass->key, " Failed //----- //");
  if (d->was) write_reproducer(d, pass);
}

void hilo_dumper_init(hilo_dumper *d, const hilo_config *config, const hilo_log *log,
                      hilo_diags *diags, hilo_prover *prover, hilo_arena *arena) {
  *d =
      (hilo_dumper){.config = config, .log = log, .diags = diags, .prover = prover, .arena = arena};
  hilo_scratch_init(&d->copies, arena);
}

hilo_pass_hooks hilo_dumper_hooks(hilo_dumper *d) {
  return (hilo_pass_hooks){d, before_pass, after_pass, failed_pass};
}
