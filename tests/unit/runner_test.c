/* The runner, with a registry of its own: one pass that does what it says, one that breaks the
 * module, one that does not tell that it changed it. */
#include "formats/load.h"
#include "rewrite/build.h"
#include "rewrite/runner.h"
#include "test_support.h"

static const char text[] = "HloModule m\nENTRY e {\n p = f32[4] parameter(0)\n"
                           " n = f32[4] negate(p)\n ROOT r = f32[4] exponential(n)\n}\n";

static hilo_inst root_of(const hilo_module *m) { return hilo_comp_root(m, m->entry); }

static hilo_status add_nothing(hilo_module *m, hilo_pass_ctx *ctx, bool *changed) {
  (void)m, (void)ctx, (void)changed;
  return HILO_OK;
}
/* The root's type is no longer that of its operand. */
static hilo_status break_type(hilo_module *m, hilo_pass_ctx *ctx, bool *changed) {
  (void)ctx;
  const int64_t dims[] = {5};
  hilo_inst_set_type(m, root_of(m), hilo_type_array(&m->types, HILO_F32, (hilo_dims){dims, 1}));
  *changed = true;
  return HILO_OK;
}
/* What reads stands before what is read. */
static hilo_status break_order(hilo_module *m, hilo_pass_ctx *ctx, bool *changed) {
  (void)ctx;
  const hilo_inst read = hilo_inst_operand(m, root_of(m), 0);
  hilo_inst_move(m, root_of(m), root_of(m), m->entry, read);
  *changed = true;
  return HILO_OK;
}

static const hilo_pass_info registry[] = {
    {"add-nothing", "", 0, 'S', "E", add_nothing},
    {"break-type", "", 0, 'S', "E", break_type},
    {"break-order", "", 0, 'S', "E", break_order},
};

typedef struct {
  hilo_arena arena, scratch;
  hilo_diags diags;
  hilo_pass_options pass_options;
  hilo_runner runner;
  hilo_module *m;
} bench;

static void bench_init(bench *b, bool verify_each) {
  hilo_arena_init(&b->arena, NULL, NULL);
  hilo_arena_init(&b->scratch, NULL, NULL);
  b->diags = hilo_diags_make(&b->arena);
  b->pass_options = (hilo_pass_options){0};
  const hilo_runner_options options = {.verify_each = verify_each};
  b->runner = hilo_runner_make(&b->arena, &b->scratch, &b->diags, &b->pass_options, &options);
  assert_int_equal(hilo_load_bytes(&b->arena, hilo_str_of(text), HILO_STR("m"), &b->diags, &b->m),
                   HILO_OK);
}
static void bench_deinit(bench *b) {
  hilo_arena_deinit(&b->scratch);
  hilo_arena_deinit(&b->arena);
}

/* Runs the passes in order until one fails; which one did, or their number. */
static uint32_t run_all(bench *b, const uint32_t *passes, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (hilo_runner_run(&b->runner, b->m, &registry[passes[k]]) != HILO_OK) return k;
  return n;
}

static bool is_blamed(bench *b, const char *key) {
  hilo_sb rendered = hilo_sb_make(&b->arena);
  hilo_diags_render(&b->diags, &rendered);
  hilo_sb note = hilo_sb_make(&b->arena);
  hilo_sb_printf(&note, "the module was broken by pass `%s`", key);
  return strstr(hilo_sb_cstr(&rendered), hilo_sb_cstr(&note)) != NULL;
}

static void check_blame(uint32_t broken) {
  bench b;
  const uint32_t passes[] = {0, broken, 0};
  bench_init(&b, true);
  assert_int_equal(run_all(&b, passes, 3), 1);
  assert_int_equal(b.diags.n_errors, 1);
  assert_true(is_blamed(&b, registry[broken].key));
  assert_false(is_blamed(&b, "add-nothing"));
  bench_deinit(&b);
}

static void the_pass_that_broke_the_module_is_blamed(void **state) {
  (void)state;
  check_blame(1);
  check_blame(2);
}

/* Without the switch nobody looks; the pass behind would be none the wiser. */
static void without_the_switch_nobody_is_blamed(void **state) {
  (void)state;
  bench b;
  const uint32_t passes[] = {1, 0};
  bench_init(&b, false);
  assert_int_equal(run_all(&b, passes, 2), 2);
  assert_int_equal(b.diags.n_errors, 0);
  bench_deinit(&b);
}

static void good_passes_are_not_blamed(void **state) {
  (void)state;
  bench b;
  const uint32_t passes[] = {0, 0};
  bench_init(&b, true);
  assert_int_equal(run_all(&b, passes, 2), 2);
  assert_int_equal(b.diags.n, 0);
  assert_int_equal(b.runner.stats.v[0].n_runs, 2);
  bench_deinit(&b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_pass_that_broke_the_module_is_blamed),
      cmocka_unit_test(without_the_switch_nobody_is_blamed),
      cmocka_unit_test(good_passes_are_not_blamed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
