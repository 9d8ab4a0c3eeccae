/* What signatures look at: not the metadata of instructions, but all of an attribute. */
#include "test_support.h"

#include "analysis/canonical.h"
#include "formats/hlo_text.h"

/* The signature of a domain whose sharding has metadata, as has the instruction. */
static void sign(const char *of_inst, const char *of_sharding, const char *file,
                 char out[HILO_SHA256_HEX + 1]) {
  char text[600];
  const int n = snprintf(text, sizeof text,
                         "HloModule m\n\nENTRY e {\n  p = f32[8] parameter(0)\n  ROOT d = f32[8] "
                         "domain(p), domain={kind=\"sharding\", entry={maximal device=0 "
                         "metadata={{op_name=\"%s\" source_file=\"%s\" source_line=3},{op_name="
                         "\"z\" profile_type={1,2}}}}, exit={devices=[2]<=[2]}}, "
                         "metadata={op_name=\"%s\"}\n}\n",
                         of_sharding, file, of_inst);
  hilo_arena arena, scratch;
  hilo_arena_init(&arena, NULL, NULL);
  hilo_arena_init(&scratch, NULL, NULL);
  hilo_diags diags = hilo_diags_make(&arena);
  hilo_module *m;
  assert_int_equal(
      hilo_hlo_text_read(&arena, (hilo_str){text, (size_t)n}, HILO_STR("m"), &diags, &m), HILO_OK);
  hilo_module_signature(m, &scratch, out);
  hilo_arena_deinit(&scratch);
  hilo_arena_deinit(&arena);
}

static void test_metadata(void **state) {
  (void)state;
  char first[HILO_SHA256_HEX + 1], other[HILO_SHA256_HEX + 1];
  sign("jit(f)/a", "a", "x.py", first);
  sign("jit(f)/b", "a", "x.py", other);
  assert_string_equal(first, other);
  sign("jit(f)/a", "b", "x.py", other);
  assert_string_not_equal(first, other);
  sign("jit(f)/a", "a", "y.py", other);
  assert_string_not_equal(first, other);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_metadata)};
  return cmocka_run_group_tests_name("canonical", tests, NULL, NULL);
}
