/* The parts of the partitioner, each by itself: the graph of the entry, layers found in each way,
 * values that move, groups, names of scopes, what orders pieces. */
#include "formats/hlo_text.h"
#include "partition/cut.h"
#include "partition/entry_graph.h"
#include "partition/scope.h"

#include "arena_support.h"

#define SUM                                                                                        \
  "HloModule m\n"                                                                                  \
  "sum {\n x.a = f32[] parameter(0)\n x.b = f32[] parameter(1)\n ROOT x.r = f32[] add(x.a, "       \
  "x.b)\n}\n"
#define ENTRY SUM "ENTRY main {\n"
#define MARK(name, x, word)                                                                        \
  name " = f32[4] custom-call(" x "), custom_call_target=\"AwsNeuronModuleMarker" word "\"\n"
#define LOOP(name, x, word, more)                                                                  \
  name " = f32[4] custom-call(" x "), custom_call_target=\"NeuronBoundaryMarker-" word "\"" more   \
       "\n"
#define DOT(name, x, w, scope)                                                                     \
  name " = f32[4,4] dot(" x ", " w "), lhs_contracting_dims={1}, rhs_contracting_dims={0}, "       \
       "metadata={op_name=\"" scope "/dot\"}\n"

static hilo_module *parse(const char *text) {
  hilo_diags diags = hilo_diags_make(&arena);
  hilo_module *m = NULL;
  if (hilo_hlo_text_read(&arena, hilo_str_of(text), HILO_STR("test"), &diags, &m) != HILO_OK) {
    hilo_sb sb = hilo_sb_make(&arena);
    hilo_diags_render(&diags, &sb);
    fail_msg("%s", hilo_sb_cstr(&sb));
  }
  return m;
}

static uint32_t ix_of(const hilo_module *m, const char *name) {
  HILO_FOR_EACH_INST(m, m->entry, i) {
    if (hilo_str_is(hilo_inst_name_text(m, i, &scratch), name)) return hilo_ix(m, i);
  }
  fail_msg("no instruction `%s`", name);
  return 0;
}

/* ---- the graph ---- */

static void halves_are_one_node(void **state) {
  (void)state;
  const hilo_module *m = parse(ENTRY "p = f32[4] parameter(0)\n"
                                     "q = f32[4] negate(p)\n"
                                     "s = f32[4] all-reduce-start(p), to_apply=sum\n"
                                     "d = f32[4] all-reduce-done(s), control-predecessors={q}\n"
                                     "ROOT r = f32[4] negate(d)\n}\n");
  const hilo_entry_graph g = hilo_entry_graph_make(m, &arena, &arena);
  assert_true(g.contracted && !g.cyclic);
  assert_int_equal(g.node[ix_of(m, "s")], g.node[ix_of(m, "d")]);
  assert_true(hilo_bitset_get(g.half, ix_of(m, "s")) && !hilo_bitset_get(g.half, ix_of(m, "q")));
  /* What one half needs counts for the other. */
  uint32_t *own = HILO_NEW_ZEROED(&arena, uint32_t, m->n_inst_slots);
  uint32_t *reached = HILO_NEW_ZEROED(&arena, uint32_t, m->n_inst_slots);
  own[ix_of(m, "q")] = 3;
  hilo_entry_graph_max(&g, own, reached);
  assert_int_equal(reached[ix_of(m, "s")], 3);
  assert_int_equal(reached[ix_of(m, "r")], 3);
  assert_int_equal(reached[ix_of(m, "p")], 0);
  assert_false(hilo_entry_graph_parts_halves(&g, reached));
}

static void a_cycle_through_halves_undoes_them(void **state) {
  (void)state;
  const hilo_module *m = parse(ENTRY "p = f32[4] parameter(0)\n"
                                     "s = f32[4] all-reduce-start(p), to_apply=sum\n"
                                     "q = f32[4] negate(p), control-predecessors={s}\n"
                                     "d = f32[4] all-reduce-done(s), control-predecessors={q}\n"
                                     "ROOT r = f32[4] add(d, q)\n}\n");
  const hilo_entry_graph g = hilo_entry_graph_make(m, &arena, &arena);
  assert_true(g.cyclic && !g.contracted);
  assert_int_not_equal(g.node[ix_of(m, "s")], g.node[ix_of(m, "d")]);
}

static void a_post_order_begins_at_the_root(void **state) {
  (void)state;
  const hilo_module *m = parse(ENTRY "p = f32[4] parameter(0)\n"
                                     "unused = f32[4] sine(p)\n"
                                     "a = f32[4] negate(p)\n"
                                     "b = f32[4] cosine(p)\n"
                                     "ROOT r = f32[4] add(b, a)\n}\n");
  const hilo_entry_graph g = hilo_entry_graph_make(m, &arena, &arena);
  static const char *const wanted[] = {"p", "b", "a", "r", "unused"};
  assert_int_equal(g.n, HILO_COUNT(wanted));
  for (uint32_t k = 0; k < g.n; k++) assert_int_equal(g.place[ix_of(m, wanted[k])], 1 + k);
}

/* ---- layers ---- */

static hilo_layers find(const hilo_module *m) {
  hilo_diags diags = hilo_diags_make(&arena);
  hilo_layers layers;
  assert_int_equal(hilo_layers_find(m, &(hilo_layers_options){.detect = true}, &diags, &scratch,
                                    &arena, &layers),
                   HILO_OK);
  return layers;
}

/* `names`, blanks between, are in this region. */
static void expect_region(const hilo_module *m, const hilo_layers *layers, uint32_t region,
                          const char *names) {
  char buffer[256];
  snprintf(buffer, sizeof(buffer), "%s", names);
  for (char *name = strtok(buffer, " "); name; name = strtok(NULL, " "))
    if (layers->region[ix_of(m, name)] != region)
      fail_msg("`%s` is in region %u, not %u", name, layers->region[ix_of(m, name)], region);
}

static void markers_number_layers_by_their_ends(void **state) {
  (void)state;
  const hilo_module *m = parse(
      ENTRY "p = f32[4] parameter(0)\n w = f32[4] parameter(1)\n"
            "x = f32[4] exponential(p)\n" /* the way into the first layer stays before it */
            "wc = f32[4] negate(w)\n"     /* for one layer only: goes into it */
      MARK("s1", "x", "Start-Forward") "a1 = f32[4] add(s1, p)\n" MARK("e1", "a1", "End-Forward")
          MARK("s2", "e1", "Start-Forward") "a2 = f32[4] add(s2, wc)\n" MARK(
              "e2", "a2",
              "End-Forward") "g = f32[4] sine(e2)\n" MARK("s3", "g",
                                                          "Start-Backward") "a3 = f32[4] "
                                                                            "multiply(s3, "
                                                                            "a2)\n" MARK(
                                                                                "e3", "a3",
                                                                                "End-"
                                                                                "Back"
                                                                                "war"
                                                                                "d") "ROOT r = "
                                                                                     "f32[4] "
                                                                                     "negate(e3)"
                                                                                     "\n}\n");
  const hilo_layers layers = find(m);
  assert_int_equal(layers.source, HILO_LAYERS_BY_MARKERS);
  assert_int_equal(layers.n_layers, 3);
  assert_int_equal(layers.n_open, 0);
  expect_region(m, &layers, 0, "x");
  expect_region(m, &layers, 1, "a1");
  expect_region(m, &layers, 3, "a2 wc");
  expect_region(m, &layers, 4, "g");
  expect_region(m, &layers, 5, "a3");
  expect_region(m, &layers, 6, "r");
  assert_int_equal(layers.regions[3].run, layers.regions[1].run);
  assert_int_not_equal(layers.regions[5].run, layers.regions[1].run);
  assert_int_equal(layers.regions[5].flow, HILO_FLOW_BACKWARD);
}

static void a_start_without_an_end_is_a_layer(void **state) {
  (void)state;
  const hilo_module *m = parse(
      ENTRY
      "p = f32[4] parameter(0)\n" MARK("s1", "p", "Start-Forward") "a1 = f32[4] sine(s1)\n" MARK(
          "s2", "a1",
          "Start-Forward") "a2 = f32[4] sine(s2)\n" MARK("e2", "a2",
                                                         "End-Forward") "ROOT r = f32[4] "
                                                                        "negate(e2)\n}\n");
  const hilo_layers layers = find(m);
  assert_int_equal(layers.n_layers, 2);
  assert_int_equal(layers.n_open, 1);
  expect_region(m, &layers, 1, "a1");
  expect_region(m, &layers, 3, "a2");
}

static void markers_of_loops_cut_only_alone(void **state) {
  (void)state;
#define TWO_TURNS(first, second)                                                                   \
  LOOP("s1", "p", "Start", first)                                                                  \
  "a1 = f32[4] sine(s1)\n" LOOP("e1", "a1", "End", first)                                          \
      LOOP("s2", "e1", "Start", second) "a2 = f32[4] sine(s2)\n" LOOP("e2", "a2", "End", second)
#define COUNT(n) ", backend_config=\"boundaryCount=" n "\""
  const hilo_module *m = parse(ENTRY "p = f32[4] parameter(0)\n" TWO_TURNS(
      COUNT("0"), COUNT("1")) "ROOT r = f32[4] negate(e2)\n}\n");
  assert_int_equal(find(m).n_layers, 2);
  m = parse(ENTRY "p = f32[4] parameter(0)\n" TWO_TURNS("", "")
                MARK("s3", "e2", "Start-Forward") "a3 = f32[4] sine(s3)\n" MARK(
                    "e3", "a3", "End-Forward") "ROOT r = f32[4] negate(e3)\n}\n");
  const hilo_layers layers = find(m);
  assert_int_equal(layers.n_layers, 1);
  expect_region(m, &layers, 0, "a1 a2");
  expect_region(m, &layers, 1, "a3");
}

static void scopes_are_layers(void **state) {
  (void)state;
  /* `table` is made in the first layer's name but used by all: it belongs to none. */
  const hilo_module *m = parse(
      ENTRY "p = f32[4,4] parameter(0)\n w = f32[4,4] parameter(1)\n"
            "i = f32[4,4] parameter(2)\n"
            "table = f32[4,4] cosine(i), metadata={op_name=\"jit(f)/layers_0/cos\"}\n" //
      DOT("d0", "p", "w", "jit(f)/layers_0") "a0 = f32[4,4] add(d0, table)\n"          //
      DOT("d1", "a0", "w", "jit(f)/layers_1") "a1 = f32[4,4] add(d1, table), "
                                              "metadata={op_name=\"jit(f)/layers_1/add\"}\n" //
      DOT("d2", "a1", "w", "jit(f)/layers_2") "a2 = f32[4,4] add(d2, table), "
                                              "metadata={op_name=\"jit(f)/layers_2/add\"}\n"
                                              "ROOT r = f32[4,4] negate(a2)\n}\n");
  const hilo_layers layers = find(m);
  assert_int_equal(layers.source, HILO_LAYERS_BY_SCOPES);
  assert_int_equal(layers.n_layers, 3);
  assert_true(hilo_str_is(layers.stacks, "layers_N"));
  expect_region(m, &layers, 0, "table");
  expect_region(m, &layers, 1, "d0 a0");
  expect_region(m, &layers, 3, "d1 a1");
  expect_region(m, &layers, 5, "d2 a2");
}

static void repetition_of_heavy_operations_is_layers(void **state) {
  (void)state;
#define LAYER(d, t, x) DOT(d, x, "w", "jit(f)") t " = f32[4,4] tanh(" d ")\n"
  const hilo_module *m =
      parse(ENTRY "p = f32[4,4] parameter(0)\n w = f32[4,4] parameter(1)\n" LAYER("d0", "t0", "p")
                LAYER("d1", "t1", "t0") LAYER("d2", "t2", "t1")
                    LAYER("d3", "t3", "t2") "ROOT r = f32[4,4] negate(t3)\n}\n");
  const hilo_layers layers = find(m);
  assert_int_equal(layers.source, HILO_LAYERS_BY_REPETITION);
  assert_int_equal(layers.n_layers, 3); /* three cuts: what is before the first is region 0 */
  for (uint32_t k = 0; k < 3; k++)
    assert_int_equal(layers.regions[2 * k + 1].run, layers.regions[1].run);
}

/* ---- groups ---- */

/* Layers by letter: f and b have 100 MACs and a run for each stretch of a letter, F has 300; a `.`
 * is a gap of 50 MACs behind the layer before. */
static hilo_layers layers_of(const char *text) {
  hilo_layers layers = {.source = HILO_LAYERS_BY_MARKERS};
  layers.regions = HILO_NEW_ZEROED(&arena, hilo_layer_region, 2 * strlen(text) + 1);
  char last = 0;
  uint32_t run = 0;
  for (; *text; text++) {
    hilo_layer_region *gap = &layers.regions[2 * layers.n_layers];
    if (*text == '.') {
      gap->macs = 50;
      continue;
    }
    const char letter = *text == 'F' ? 'f' : *text;
    run += letter != last;
    last = letter;
    layers.n_layers++;
    gap[1] = (hilo_layer_region){.flow = letter == 'b' ? HILO_FLOW_BACKWARD : HILO_FLOW_FORWARD,
                                 .run = run,
                                 .macs = *text == 'F' ? 300 : 100};
  }
  return layers;
}

/* The units of a grouping as first-last, without prologue and epilogue's own if they are alone. */
static void expect_groups(const char *layers_text, hilo_group_options options, const char *wanted) {
  const hilo_layers layers = layers_of(layers_text);
  const hilo_units units = hilo_layers_group(&layers, &options, &arena);
  hilo_sb sb = hilo_sb_make(&arena);
  for (uint32_t k = 0; k < units.n; k++)
    hilo_sb_printf(&sb, "%s%u-%u", k ? " " : "", units.v[k].first, units.v[k].last);
  if (!hilo_str_is(hilo_sb_view(&sb), wanted))
    fail_msg("`%s`: %s, wanted %s", layers_text, hilo_sb_cstr(&sb), wanted);
}

static void layers_are_grouped(void **state) {
  (void)state;
  const hilo_group_options one = {.layers_per_module = 1}, all = {.layers_per_module = 0},
                           two = {.layers_per_module = 2};
  expect_groups("fff", one, "0-0 1-2 3-4 5-5 6-6");
  expect_groups("fff", all, "0-6");
  expect_groups("fff", two, "0-0 1-4 5-5 6-6");      /* the last run is shorter */
  expect_groups("ffbb", two, "0-0 1-3 4-4 5-7 8-8"); /* never forward and backward */
  expect_groups("fbb", two, "0-0 1-1 2-2 3-5 6-6");
  /* Fewer MACs than the threshold: whole; with --mmf one layer each, but not below it either. */
  hilo_group_options by_macs = {.layers_per_module = -1, .mac_target = 200, .mac_threshold = 1000};
  expect_groups("ffff", by_macs, "0-8");
  by_macs.one_layer_each = true;
  expect_groups("ffff", by_macs, "0-8");
  by_macs.mac_threshold = 100;
  expect_groups("ffff", by_macs, "0-0 1-2 3-4 5-6 7-7 8-8");
  by_macs.one_layer_each = false;
  expect_groups("ffff", by_macs, "0-0 1-4 5-7 8-8");
  expect_groups("ff.ff", by_macs,
                "0-0 1-4 5-7 8-8"); /* gaps count when layers differ only by them */
  /* As many as fit, but rather a divisor that is more than half of it. */
  by_macs.mac_target = 300;
  expect_groups("ffff", by_macs, "0-0 1-4 5-7 8-8");
  by_macs.mac_target = 500;
  expect_groups("ffffffff", by_macs, "0-0 1-8 9-15 16-16");
  expect_groups("fffffff", by_macs, "0-0 1-10 11-13 14-14");
  /* Unlike layers: closed before the one that would bring it above; one that is too large alone. */
  by_macs.mac_target = 250;
  expect_groups("ffFff", by_macs, "0-0 1-4 5-6 7-9 10-10");
  by_macs.mac_target = 0;
  expect_groups("ff", by_macs, "0-0 1-2 3-3 4-4");
  expect_groups("", one, "0-0");
}

static void runs_that_end_short_are_counted(void **state) {
  (void)state;
  const hilo_layers layers = layers_of("fffbb");
  const hilo_units units =
      hilo_layers_group(&layers, &(hilo_group_options){.layers_per_module = 2}, &arena);
  assert_int_equal(units.n_short_runs, 1);
}

/* ---- names of scopes ---- */

static void expect_scopes(const char *name, bool backward, const char *wanted) {
  hilo_scope scopes[HILO_MAX_SCOPES];
  bool is_backward;
  const uint32_t n = hilo_scopes_of(hilo_str_of(name), &arena, scopes, &is_backward);
  hilo_sb sb = hilo_sb_make(&arena);
  for (uint32_t k = 0; k < n; k++)
    hilo_sb_printf(&sb, "%s%.*s:%llu", k ? " " : "", HILO_FMT(scopes[k].path),
                   (unsigned long long)scopes[k].number);
  if (!hilo_str_is(hilo_sb_view(&sb), wanted) || is_backward != backward)
    fail_msg("`%s`: %s, wanted %s", name, hilo_sb_cstr(&sb), wanted);
}

static void scopes_are_read(void **state) {
  (void)state;
  expect_scopes("jit(f)/model/layers_3/attention/dot_general", false, "/model/layers:3");
  expect_scopes("jit(f)/transpose(jvp(layers_12))/mul", true, "/layers:12");
  expect_scopes("jit(f)/jvp(layers_2)/checkpoint/rematted_computation/tanh", false, "/layers:2");
  expect_scopes("h.0/mlp_1/add", false, "h:0 h.0/mlp:1");
  expect_scopes("block7/log1p", false, "block:7");
  expect_scopes("jit(f)/atan2/x", false, "");
  expect_scopes("layers_3", false, ""); /* the primitive */
  expect_scopes("", false, "");
  expect_scopes("jit(layers_3/x)/y", false, "");
  expect_scopes("layers_99999999999999999999/x", false, "");
}

/* ---- what orders pieces ---- */

static hilo_cut cut_by_layer(hilo_module *m, hilo_layers *layers, hilo_units *units) {
  static const hilo_pass_options pass_options;
  hilo_diags diags = hilo_diags_make(&arena);
  hilo_pass_ctx ctx = {.scratch = &scratch, .diags = &diags, .options = &pass_options};
  *layers = find(m);
  *units = hilo_layers_group(layers, &(hilo_group_options){.layers_per_module = 1}, &arena);
  hilo_cut cut;
  const hilo_cut_options how = {.share = true, .share_scalars = true};
  assert_int_equal(hilo_partition_cut(m, layers, units, &how, &ctx, &arena, &cut), HILO_OK);
  return cut;
}

static void tokens_order_pieces_through_what_is_not_computed(void **state) {
  (void)state;
  /* The second layer reads nothing of the first but a token, by way of a token that no piece makes.
   */
  hilo_module *m = parse(
      ENTRY "p = f32[4] parameter(0)\n q = f32[4] parameter(1)\n" MARK(
          "s1", "p", "Start-Forward") "n1 = token[] after-all()\n"
                                      "o1 = token[] outfeed(s1, n1), outfeed_shape=f32[4]{0}\n"
                                      "a1 = f32[4] sine(s1)\n" MARK(
                                          "e1", "a1",
                                          "End-Forward") "both = token[] after-all(o1)\n" //
      MARK("s2", "q",
           "Start-Forward") "o2 = token[] outfeed(s2, both), outfeed_shape=f32[4]{0}\n"
                            "a2 = f32[4] cosine(s2)\n" MARK(
                                "e2", "a2",
                                "End-Forward") "ROOT r = (f32[4], f32[4]) tuple(e1, e2)\n}\n");
  hilo_layers layers;
  hilo_units units;
  const hilo_cut cut = cut_by_layer(m, &layers, &units);
  assert_int_equal(cut.n_pieces, 2);
  assert_int_equal(cut.pieces[1].n_after, 1);
  assert_int_equal(cut.pieces[1].after[0], 0);
}

static void readers_of_an_overwritten_input_come_first(void **state) {
  (void)state;
  hilo_module *m =
      parse("HloModule m, input_output_alias={ {1}: (1, {}, must-alias) }\nENTRY main {\n"
            "p = f32[4] parameter(0)\n q = f32[4] parameter(1)\n" MARK(
                "s1", "q", "Start-Forward") "a1 = f32[4] sine(s1)\n" MARK("e1", "a1", "End-Forward")
                MARK("s2", "p", "Start-Forward") "a2 = f32[4] cosine(s2)\n" MARK(
                    "e2", "a2", "End-Forward") "ROOT r = (f32[4], f32[4]) tuple(e1, e2)\n}\n");
  hilo_layers layers;
  hilo_units units;
  const hilo_cut cut = cut_by_layer(m, &layers, &units);
  assert_int_equal(cut.n_pieces, 2);
  assert_int_equal(cut.pieces[1].n_aliases, 1); /* it takes the input, which it does not read */
  assert_int_equal(cut.pieces[1].n_inputs, 2);
  assert_int_equal(cut.pieces[1].n_after, 1);
}

static void equal_layers_are_one_definition(void **state) {
  (void)state;
  /* The order in which independent values are written says nothing. */
  hilo_module *m =
      parse(ENTRY "p = f32[4] parameter(0)\n w = f32[4] parameter(1)\n v = f32[4] parameter(2)\n" //
            MARK("s1", "p", "Start-Forward") "a1 = f32[4] sine(s1)\n b1 = f32[4] cosine(w)\n"
                                             "c1 = f32[4] add(a1, b1)\n" MARK("e1", "c1",
                                                                              "End-Forward") //
            MARK("s2", "e1", "Start-Forward") "b2 = f32[4] cosine(v)\n a2 = f32[4] sine(s2)\n"
                                              "c2 = f32[4] add(a2, b2)\n" MARK("e2", "c2",
                                                                               "End-Forward") //
            "ROOT r = f32[4] negate(e2)\n}\n");
  hilo_layers layers;
  hilo_units units;
  const hilo_cut cut = cut_by_layer(m, &layers, &units);
  assert_int_equal(cut.n_pieces, 3);
  assert_int_equal(cut.n_definitions, 2);
  assert_int_equal(cut.definitions[0].n_instances, 2);
  const hilo_module *definition = hilo_cut_extract(&cut, 0, &arena);
  assert_int_equal(hilo_comp_n_params(definition, definition->entry), 2);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(halves_are_one_node),
      cmocka_unit_test(a_cycle_through_halves_undoes_them),
      cmocka_unit_test(a_post_order_begins_at_the_root),
      cmocka_unit_test(markers_number_layers_by_their_ends),
      cmocka_unit_test(a_start_without_an_end_is_a_layer),
      cmocka_unit_test(markers_of_loops_cut_only_alone),
      cmocka_unit_test(scopes_are_layers),
      cmocka_unit_test(repetition_of_heavy_operations_is_layers),
      cmocka_unit_test(layers_are_grouped),
      cmocka_unit_test(runs_that_end_short_are_counted),
      cmocka_unit_test(scopes_are_read),
      cmocka_unit_test(tokens_order_pieces_through_what_is_not_computed),
      cmocka_unit_test(readers_of_an_overwritten_input_come_first),
      cmocka_unit_test(equal_layers_are_one_definition),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
