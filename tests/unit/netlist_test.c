/* What a netlist must hold before it is written: each way in which a cut can be wrong is
 * NCC_MOD900. */
#include "driver/netlist.h"
#include "formats/hlo_text.h"

#include "arena_support.h"

#define MARK(name, x, word)                                                                        \
  name " = f32[4] custom-call(" x "), custom_call_target=\"AwsNeuronModuleMarker" word             \
       "-Forward\"\n"

/* Three layers of two definitions: p → sine → cosine → sine. Lives in `arena`. */
static hilo_cut *cut_three(void) {
  static const char text[] = "HloModule m\nENTRY main {\np = f32[4] parameter(0)\n" MARK(
      "s1", "p", "Start") "a1 = f32[4] sine(s1)\n" MARK("e1", "a1", "End")
      MARK("s2", "e1", "Start") "a2 = f32[4] cosine(s2)\n" MARK("e2", "a2", "End")
          MARK("s3", "e2", "Start") "a3 = f32[4] sine(s3)\n" MARK(
              "e3", "a3", "End") "ROOT r = (f32[4], f32[4]) tuple(e3, e1)\n}\n";
  hilo_diags *diags = HILO_NEW(&arena, hilo_diags);
  *diags = hilo_diags_make(&arena);
  hilo_module *m = NULL;
  assert_int_equal(hilo_hlo_text_read(&arena, hilo_str_of(text), HILO_STR("test"), diags, &m),
                   HILO_OK);
  hilo_layers *layers = HILO_NEW(&arena, hilo_layers);
  hilo_units *units = HILO_NEW(&arena, hilo_units);
  hilo_cut *cut = HILO_NEW(&arena, hilo_cut);
  assert_int_equal(
      hilo_layers_find(m, &(hilo_layers_options){.detect = true}, diags, &scratch, &arena, layers),
      HILO_OK);
  *units = hilo_layers_group(layers, &(hilo_group_options){.layers_per_module = 1}, &arena);
  hilo_pass_ctx ctx = {.diags = diags, .scratch = &scratch};
  const hilo_cut_options options = {.share = true, .share_scalars = true};
  assert_int_equal(hilo_partition_cut(m, layers, units, &options, &ctx, &arena, cut), HILO_OK);
  assert_int_equal(cut->n_pieces, 3);
  assert_int_equal(cut->n_definitions, 2);
  return cut;
}

static void expect(const hilo_cut *cut, const char *wanted) {
  hilo_diags diags = hilo_diags_make(&arena);
  const hilo_status status = hilo_netlist_check(cut, &diags, &scratch);
  assert_int_equal(status == HILO_OK, !wanted);
  if (!wanted) return;
  assert_int_equal(diags.n_errors, 1);
  hilo_sb sb = hilo_sb_make(&arena);
  hilo_diags_render(&diags, &sb);
  const char *text = hilo_sb_cstr(&sb);
  if (!strstr(text, "NCC_MOD900") || !strstr(text, wanted)) fail_msg("%s, wanted %s", text, wanted);
}

static void a_sound_cut_passes(void **state) {
  (void)state;
  expect(cut_three(), NULL);
}

static void each_input_is_computed_before(void **state) {
  (void)state;
  hilo_cut *cut = cut_three();
  hilo_inst in = cut->pieces[0].outputs[0];
  const hilo_inst of_last = cut->pieces[2].outputs[0];
  cut->pieces[1].inputs = &in;
  expect(cut, NULL);
  in = of_last;
  expect(cut, "partition 1 needs a value of a later one");
  in = hilo_comp_root(cut->m, cut->m->entry); /* no output of a piece */
  expect(cut, "partition 1 has an input nobody computes");
}

static void each_value_is_computed_once(void **state) {
  (void)state;
  hilo_cut *cut = cut_three();
  cut->producer[hilo_ix(cut->m, cut->pieces[2].outputs[0])] = 1;
  expect(cut, "partition 2 computes a value that another one computes as well");
}

static void each_output_is_computed(void **state) {
  (void)state;
  hilo_cut *cut = cut_three();
  cut->producer[hilo_ix(cut->m, cut->outputs[0])] = 0;
  cut->n_pieces = 2; /* without the one that computes it */
  expect(cut, "no partition computes output 0");
}

static void instances_have_the_interface_of_their_definition(void **state) {
  (void)state;
  hilo_cut *cut = cut_three();
  cut->pieces[2].n_inputs++;
  expect(cut, "partition 2 has another interface than its definition");
}

static void order_is_that_of_the_list(void **state) {
  (void)state;
  hilo_cut *cut = cut_three();
  const uint32_t after[] = {1};
  cut->pieces[1].after = after;
  cut->pieces[1].n_after = 1;
  expect(cut, "partition 1 must run behind a later one");
}

static void every_definition_has_an_instance(void **state) {
  (void)state;
  hilo_cut *cut = cut_three();
  cut->definitions[1].n_instances = 0;
  expect(cut, "definition 1 has no instance");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(a_sound_cut_passes, set_up, tear_down),
      cmocka_unit_test_setup_teardown(each_input_is_computed_before, set_up, tear_down),
      cmocka_unit_test_setup_teardown(each_value_is_computed_once, set_up, tear_down),
      cmocka_unit_test_setup_teardown(each_output_is_computed, set_up, tear_down),
      cmocka_unit_test_setup_teardown(instances_have_the_interface_of_their_definition, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(order_is_that_of_the_list, set_up, tear_down),
      cmocka_unit_test_setup_teardown(every_definition_has_an_instance, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
