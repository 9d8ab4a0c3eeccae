/* The random modules, the check of rewrites by evaluation and the reducer, shown on passes that are
 * wrong on purpose. */
#include "reduce.h"

#include "ir/hlo_print.h"
#include "ir/verify.h"
#include "properties.h"
#include "random_module.h"
#include "rewrite/replace.h"

#include "test_support.h"

static hilo_arena arena;

static int set_up(void **state) {
  (void)state;
  hilo_arena_init(&arena, NULL, NULL);
  return 0;
}
static int tear_down(void **state) {
  (void)state;
  hilo_arena_deinit(&arena);
  return 0;
}

/* ---- wrong passes ---- */

/* Swaps the operands of every subtraction. */
static hilo_status swap_operands(hilo_module *m, hilo_pass_ctx *ctx, bool *changed) {
  (void)ctx;
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      if (!hilo_inst_is(m, i, HILO_OP_SUBTRACT)) continue;
      const hilo_inst operands[] = {hilo_inst_operand(m, i, 1), hilo_inst_operand(m, i, 0)};
      if (hilo_inst_eq(operands[0], operands[1])) continue;
      hilo_inst_set_operands(m, i, operands, 2);
      *changed = true;
    }
  }
  return HILO_OK;
}

/* Renames the module and keeps it for itself. */
static hilo_status tell_nothing(hilo_module *m, hilo_pass_ctx *ctx, bool *changed) {
  (void)ctx, (void)changed;
  m->header.name = hilo_module_string(m, HILO_STR("another"));
  return HILO_OK;
}

/* Makes the type of every slice that of its operand. */
static hilo_status break_slices(hilo_module *m, hilo_pass_ctx *ctx, bool *changed) {
  (void)ctx;
  HILO_FOR_EACH_INST(m, m->entry, i) {
    if (!hilo_inst_is(m, i, HILO_OP_SLICE)) continue;
    const hilo_type type = hilo_inst_type(m, hilo_inst_operand(m, i, 0));
    if (hilo_type_eq(type, hilo_inst_type(m, i))) continue;
    hilo_inst_set_type(m, i, type);
    *changed = true;
  }
  return HILO_OK;
}

/* ---- finding them ---- */

static const hilo_pass_info wrong_passes[] = {
    {.key = "swap", .contract = "E", .kind = 'M', .run = swap_operands},
    {.key = "tell-nothing", .contract = "E", .kind = 'M', .run = tell_nothing},
    {.key = "break-slices", .contract = "E", .kind = 'M', .run = break_slices},
};

static hilo_violation check(const hilo_module *m, const hilo_pass_info *pass, bool is_tame,
                            hilo_arena *to) {
  char property[80];
  snprintf(property, sizeof(property), "pass %s", pass->key);
  const hilo_property_options options = {.is_tame = is_tame,
                                         .only = property,
                                         .extra = pass,
                                         .max_bytes = 1 << 28,
                                         .max_steps = 1000000};
  return hilo_check_properties(m, &options, to, NULL);
}

typedef struct {
  const hilo_pass_info *pass;
  const char *kind;
  bool is_tame;
} failure;

static bool still_fails(void *user, const hilo_module *m) {
  const failure *f = user;
  hilo_arena scratch;
  hilo_arena_init(&scratch, NULL, NULL);
  const hilo_violation v = check(m, f->pass, f->is_tame, &scratch);
  const bool fails = v.property && strcmp(v.kind, f->kind) == 0;
  hilo_arena_deinit(&scratch);
  return fails;
}

/* How many of the first seeds show that the pass is wrong; the reduced modules have at most `most`
 * instructions. */
static uint32_t find(const hilo_pass_info *pass, const char *kind, uint32_t n_seeds,
                     uint32_t n_wanted, uint32_t most) {
  uint32_t n_found = 0, n_before = 0, n_after = 0;
  for (uint64_t seed = 0; seed < n_seeds && n_found < n_wanted; seed++) {
    hilo_arena_reset(&arena);
    const hilo_random_options options = {.seed = seed};
    const hilo_random_result made = hilo_random_module(&arena, &options);
    const hilo_violation v = check(made.m, pass, made.is_tame, &arena);
    if (!v.property) continue;
    assert_string_equal(v.kind, kind);
    failure f = {pass, kind, made.is_tame};
    const hilo_module *small = hilo_reduce(made.m, still_fails, &f, 2000, &arena);
    assert_true(still_fails(&f, small));
    if (small->n_insts > most) {
      hilo_sb text = hilo_sb_make(&arena);
      hilo_hlo_print(small, NULL, &text);
      fail_msg("still large:\n%s", hilo_sb_cstr(&text));
    }
    n_found++;
    n_before += made.m->n_insts;
    n_after += small->n_insts;
  }
  printf("%s: found by %u modules of %.1f instructions, reduced to %.1f\n", pass->key, n_found,
         (double)n_before / n_found, (double)n_after / n_found);
  return n_found;
}

static void test_swapped_operands_are_found_and_reduced(void **state) {
  (void)state;
  /* Two values, their difference, and perhaps a loop or call around it that the result needs. */
  assert_int_equal(find(&wrong_passes[0], "values", 1000, 10, 12), 10);
}

static void test_untold_changes_are_found(void **state) {
  (void)state;
  assert_int_equal(find(&wrong_passes[1], "changed", 3, 3, 1), 3);
}

static void test_broken_modules_are_found(void **state) {
  (void)state;
  assert_int_equal(find(&wrong_passes[2], "broken", 400, 5, 4), 5);
}

/* ---- the generator ---- */

static void test_a_seed_is_a_module(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < 20; seed++) {
    const hilo_random_options options = {.seed = seed};
    const hilo_module *a = hilo_random_module(&arena, &options).m;
    const hilo_module *b = hilo_random_module(&arena, &options).m;
    hilo_sb first = hilo_sb_make(&arena), second = hilo_sb_make(&arena);
    hilo_hlo_print(a, NULL, &first);
    hilo_hlo_print(b, NULL, &second);
    assert_string_equal(hilo_sb_cstr(&first), hilo_sb_cstr(&second));
    hilo_arena_reset(&arena);
  }
}

/* Every family makes well-typed modules by itself. */
static void test_families(void **state) {
  (void)state;
  for (const char *const *family = hilo_random_families(); *family; family++) {
    for (uint64_t seed = 0; seed < 60; seed++) {
      const hilo_random_options options = {.seed = seed, .family = *family, .size = 12};
      const hilo_random_result made = hilo_random_module(&arena, &options);
      hilo_diags diags = hilo_diags_make(&arena);
      assert_int_equal(made.n_refused, 0);
      assert_int_equal(hilo_verify(made.m, &diags), HILO_OK);
      hilo_arena_reset(&arena);
    }
  }
}

/* Whatever bytes make the choices, the module is a valid one. */
static void test_bytes_as_choices(void **state) {
  (void)state;
  uint8_t bytes[300];
  for (unsigned k = 0; k < 200; k++) {
    for (unsigned n = 0; n < sizeof(bytes); n++) bytes[n] = (uint8_t)(k * 7 + n * n * (k % 5));
    const hilo_random_options options = {.bytes = bytes, .n_bytes = k};
    const hilo_random_result made = hilo_random_module(&arena, &options);
    hilo_diags diags = hilo_diags_make(&arena);
    assert_int_equal(made.n_refused, 0);
    assert_int_equal(hilo_verify(made.m, &diags), HILO_OK);
    hilo_arena_reset(&arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_swapped_operands_are_found_and_reduced, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(test_untold_changes_are_found, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_broken_modules_are_found, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_a_seed_is_a_module, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_families, set_up, tear_down),
      cmocka_unit_test_setup_teardown(test_bytes_as_choices, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
