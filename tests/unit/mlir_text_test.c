/* The MLIR reader: what forms become in the IR, values of constants, sections, every truncation. */
#include "formats/mlir_text.h"
#include "ir/hlo_print.h"
#include "ir/verify.h"
#include "test_support.h"

static hilo_arena arena;
static hilo_diags diags;
static hilo_module *m;

static int set_up(void **state) {
  (void)state;
  hilo_arena_init(&arena, NULL, NULL);
  diags = hilo_diags_make(&arena);
  m = NULL;
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  hilo_arena_deinit(&arena);
  return 0;
}

static const char *rendered(void) {
  hilo_sb text = hilo_sb_make(&arena);
  hilo_diags_render(&diags, &text);
  return hilo_sb_cstr(&text);
}

static void read(const char *text) {
  if (hilo_mlir_read(&arena, hilo_str_of(text), HILO_STR("t.mlir"), &diags, &m) != HILO_OK ||
      hilo_verify(m, &diags) != HILO_OK)
    fail_msg("%s", rendered());
}

static void refuse(const char *text, const char *message) {
  diags = hilo_diags_make(&arena);
  assert_int_equal(hilo_mlir_read(&arena, hilo_str_of(text), HILO_STR("t.mlir"), &diags, &m),
                   HILO_INPUT_ERROR);
  assert_null(m);
  assert_int_equal(diags.n_errors, 1);
  if (!strstr(rendered(), message)) fail_msg("expected `%s` in %s", message, rendered());
}

/* ---- helpers ---- */

static hilo_inst root(void) { return hilo_comp_root(m, m->entry); }

static uint32_t count(hilo_op op) {
  uint32_t n = 0;
  HILO_FOR_EACH_COMP(m, c) { HILO_FOR_EACH_INST(m, c, i) n += hilo_inst_is(m, i, op); }
  return n;
}

/* The bits of the elements of the constant in `dense<value> : type`, the root. */
static void expect_elements(const char *value, const char *type, const uint64_t *want, uint32_t n) {
  char text[1000];
  snprintf(text, sizeof(text),
           "func.func @main() -> %s {\n  %%0 = stablehlo.constant dense<%s> : %s\n"
           "  return %%0 : %s\n}\n",
           type, value, type, type);
  diags = hilo_diags_make(&arena);
  read(hilo_str_copy(&arena, hilo_str_of(text)).p);
  const hilo_literal l = hilo_inst_literal(m, root());
  const uint32_t size = hilo_etype_bytes(hilo_inst_etype(m, root()));
  for (uint32_t i = 0; i < n; i++) {
    uint64_t bits = 0;
    memcpy(&bits, hilo_literal_element(m, l, i), size < 8 ? size : 8);
    assert_int_equal(bits, want[i]);
  }
}
#define EXPECT(value, type, ...)                                                                   \
  expect_elements(value, type, (const uint64_t[]){__VA_ARGS__},                                    \
                  sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t))

/* ---- tests ---- */

static void literals(void **state) {
  (void)state;
  EXPECT("[1.0, -2.5]", "tensor<2xf32>", 0x3f800000, 0xc0200000);
  EXPECT("1.0", "tensor<2xf32>", 0x3f800000, 0x3f800000);
  EXPECT("0x7FC00000", "tensor<f32>", 0x7fc00000);
  EXPECT("0x7FC0", "tensor<bf16>", 0x7fc0);
  EXPECT("[[1, 2], [3, -4]]", "tensor<2x2xi32>", 1, 2, 3, 0xfffffffc);
  EXPECT("[-8, 7]", "tensor<2xi4>", 0x8, 0x7);
  EXPECT("[255, 0]", "tensor<2xui8>", 255, 0);
  EXPECT("18446744073709551615", "tensor<ui64>", UINT64_MAX);
  EXPECT("[true, false]", "tensor<2xi1>", 1, 0);
  EXPECT("(1.0, -1.0)", "tensor<complex<f32>>", 0xbf8000003f800000);
  EXPECT("\"0x0000803F00000040\"", "tensor<2xf32>", 0x3f800000, 0x40000000);
  EXPECT("\"0x0000803F\"", "tensor<2xf32>", 0x3f800000, 0x3f800000);
  EXPECT("\"0x0100\"", "tensor<2xi1>", 1, 0);
  EXPECT("1.5", "tensor<f8E4M3FN>", 0x3c);
  EXPECT("2.5", "tensor<f64>", 0x4004000000000000);
  EXPECT("-0.0", "tensor<f16>", 0x8000);
}

/* B22: bits of the wrong width. */
static void wide_bits(void **state) {
  (void)state;
  refuse("func.func @main() {\n  %0 = stablehlo.constant dense<0x7FF0000000000000> : tensor<f32>\n"
         "  return\n}\n",
         "t.mlir:2:33: the bits `0x7FF0000000000000` are wider than `f32`, which has 32");
}

/* B19, B20: blobs with a bad alignment, or none. */
static void resources(void **state) {
  (void)state;
  static const char body[] = "func.func @main() -> tensor<1xf32> {\n"
                             "  %0 = stablehlo.constant dense_resource<w> : tensor<1xf32>\n"
                             "  return %0 : tensor<1xf32>\n}\n";
  char text[600];
  snprintf(text, sizeof(text),
           "%s{-# dialect_resources: { builtin: { w: \"0x040000000000803F\" } } #-}\n", body);
  read(text);
  uint32_t bits;
  memcpy(&bits, hilo_literal_element(m, hilo_inst_literal(m, root()), 0), sizeof(bits));
  assert_int_equal(bits, 0x3f800000);
  snprintf(text, sizeof(text),
           "%s{-# dialect_resources: { builtin: { w: \"0x0000000000008040\" } } #-}\n", body);
  refuse(text, "t.mlir:5:43: the alignment of the resource `w` is 0, expected a power of two");
  refuse(body, "t.mlir:2:42: there is no resource `w` in the file");
}

/* Values that a loop uses from outside are carried, constants cloned. */
static void captures(void **state) {
  (void)state;
  read("func.func @main(%a: tensor<i32>, %n: tensor<i32>) -> tensor<i32> {\n"
       "  %one = stablehlo.constant dense<1> : tensor<i32>\n"
       "  %0 = stablehlo.while(%i = %a) : tensor<i32>\n"
       "  cond {\n"
       "    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
       "    stablehlo.return %c : tensor<i1>\n"
       "  } do {\n"
       "    %s = stablehlo.add %i, %one : tensor<i32>\n"
       "    stablehlo.return %s : tensor<i32>\n"
       "  }\n"
       "  return %0 : tensor<i32>\n}\n");
  assert_true(hilo_inst_is(m, root(), HILO_OP_GET_TUPLE_ELEMENT));
  const hilo_inst loop = hilo_inst_operand(m, root(), 0);
  assert_true(hilo_inst_is(m, loop, HILO_OP_WHILE));
  assert_int_equal(hilo_type_n_elements_of_tuple(&m->types, hilo_inst_type(m, loop)), 2);
  assert_int_equal(count(HILO_OP_CONSTANT), 2);
}

static void branches(void **state) {
  (void)state;
  read("func.func @main(%c: tensor<i1>, %a: tensor<f32>, %b: tensor<f32>) -> (tensor<f32>, "
       "tensor<f32>) {\n"
       "  %0:2 = \"stablehlo.if\"(%c) ({\n"
       "    stablehlo.return %a, %b : tensor<f32>, tensor<f32>\n"
       "  }, {\n"
       "    stablehlo.return %b, %b : tensor<f32>, tensor<f32>\n"
       "  }) : (tensor<i1>) -> (tensor<f32>, tensor<f32>)\n"
       "  return %0#1, %0#0 : tensor<f32>, tensor<f32>\n}\n");
  const hilo_inst choice = hilo_inst_operand(m, hilo_inst_operand(m, root(), 0), 0);
  assert_true(hilo_inst_is(m, choice, HILO_OP_CONDITIONAL));
  assert_int_equal(hilo_inst_n_operands(m, hilo_inst_operand(m, choice, 1)), 2);
  assert_int_equal(hilo_inst_n_operands(m, hilo_inst_operand(m, choice, 2)), 1);
  assert_true(m->inst.flags[hilo_ix(m, hilo_inst_operand(m, choice, 1))] & HILO_INST_CAPTURED);
}

/* Equal reducers are one computation, however they are written. */
static void shared_regions(void **state) {
  (void)state;
  read("func.func @main(%a: tensor<4xf32>, %z: tensor<f32>) -> tensor<f32> {\n"
       "  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : "
       "(tensor<4xf32>, tensor<f32>) -> tensor<f32>\n"
       "  %1 = stablehlo.reduce(%a init: %0) across dimensions = [0] : (tensor<4xf32>, "
       "tensor<f32>) -> tensor<f32>\n"
       "   reducer(%x: tensor<f32>, %y: tensor<f32>) {\n"
       "    %s = stablehlo.add %x, %y : tensor<f32>\n"
       "    stablehlo.return %s : tensor<f32>\n"
       "  }\n"
       "  return %1 : tensor<f32>\n}\n");
  const hilo_inst second = root(), first = hilo_inst_operand(m, second, 1);
  assert_true(hilo_comp_eq(hilo_inst_called(m, first, 0), hilo_inst_called(m, second, 0)));
}

static void locations(void **state) {
  (void)state;
  read("#loc = loc(unknown)\n"
       "func.func @main(%a: tensor<f32> loc(\"x\")) -> tensor<f32> {\n"
       "  %0 = stablehlo.abs %a : tensor<f32> loc(#loc2)\n"
       "  %1 = stablehlo.abs %0 : tensor<f32> loc(callsite(\"g\"(\"g.py\":9:1) at #loc1))\n"
       "  %2 = stablehlo.abs %1 : tensor<f32> loc(fused[\"p\", \"q\"])\n"
       "  return %2 : tensor<f32> loc(#loc)\n} loc(#loc)\n"
       "#loc1 = loc(\"f.py\":7:3 to :12)\n"
       "#loc2 = loc(\"jit(f)/abs\"(#loc1))\n");
  hilo_meta_attrs meta = hilo_inst_meta(m, root());
  assert_true(hilo_str_is(hilo_label_of(m, meta.op_name), "p;q"));
  meta = hilo_inst_meta(m, hilo_inst_operand(m, root(), 0));
  assert_true(hilo_str_is(hilo_label_of(m, meta.source_file), "g.py"));
  assert_int_equal(meta.source_line, 9);
  meta = hilo_inst_meta(m, hilo_inst_operand(m, hilo_inst_operand(m, root(), 0), 0));
  assert_true(hilo_str_is(hilo_label_of(m, meta.op_name), "jit(f)/abs"));
  assert_int_equal(meta.source_line, 7);
  assert_int_equal(meta.source_column, 3);
  assert_int_equal(meta.source_end_column, 12);
  assert_true(hilo_str_is(
      hilo_label_of(m, hilo_inst_meta(m, hilo_comp_param(m, m->entry, 0)).op_name), "x"));
}

/* B27, and what functions and modules say. */
static void declarations(void **state) {
  (void)state;
  read("module @jit_f attributes {mhlo.num_partitions = 2 : i32, jax.uses_shape_polymorphism = "
       "false} {\n"
       "  sdy.mesh @m = <[\"x\"=2]>\n"
       "  func.func public @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}]>, "
       "tf.aliasing_output = 0 : i32},\n"
       "      %b: tensor<4xf32> {jax.buffer_donor = true, mhlo.sharding = \"{replicated}\"})\n"
       "      -> (tensor<4xf32> {jax.result_info = \"[0]\"}) {\n"
       "    %0 = sdy.sharding_constraint %a <@m, [{\"x\", ?}]> : tensor<4xf32>\n"
       "    %1 = stablehlo.add %0, %b {my.attr = 7 : i8} : tensor<4xf32>\n"
       "    return %1 : tensor<4xf32>\n  }\n}\n");
  assert_int_equal(m->header.num_partitions, 2);
  assert_true(hilo_str_is(hilo_string_of(m, m->header.mlir_attributes),
                          "jax.uses_shape_polymorphism = false"));
  assert_int_equal(m->header.meshes.n, 1);
  assert_true(hilo_str_is(hilo_string_of(m, m->header.meshes.v[0].text), "<[\"x\"=2]>"));
  assert_int_equal(m->header.aliases.n, 1);
  assert_int_equal(m->header.buffer_donors.n, 1);
  const hilo_func_attrs f =
      hilo_func_get(&m->records, (hilo_record){hilo_comp_get(m, m->entry)->func});
  assert_true(hilo_str_is(hilo_string_of(m, (hilo_string){(uint32_t)f.results.v[0]}),
                          "jax.result_info = \"[0]\""));
  assert_true(hilo_str_is(hilo_string_of(m, hilo_inst_extra(m, root()).mlir), "my.attr = 7 : i8"));
  const hilo_inst constraint = hilo_inst_operand(m, root(), 0);
  const hilo_sharding_attrs s =
      hilo_sharding_get(&m->records, hilo_inst_extra(m, constraint).sharding);
  assert_true(hilo_str_is(hilo_string_of(m, s.named), "<@m, [{\"x\", ?}]>"));
}

/* B24, B29: dynamic and quantised types are read. */
static void odd_types(void **state) {
  (void)state;
  read("!q = !quant.uniform<i8<-127:127>:f32:0, {0.5:3, 0.25}>\n"
       "func.func @main(%a: tensor<?x4xf32>, %n: tensor<2xi64>, %x: tensor<2xf32>, %d: "
       "tensor<?xf32, #stablehlo.bounds<8>>)\n"
       "    -> (tensor<?x4xf32>, tensor<2x!q>) {\n"
       "  %0 = stablehlo.dynamic_broadcast_in_dim %a, %n, dims = [0, 1] : (tensor<?x4xf32>, "
       "tensor<2xi64>) -> tensor<?x4xf32>\n"
       "  %1 = \"stablehlo.uniform_quantize\"(%x) : (tensor<2xf32>) -> tensor<2x!q>\n"
       "  return %0, %1 : tensor<?x4xf32>, tensor<2x!q>\n}\n");
  const hilo_record quant =
      hilo_type_quant(&m->types, hilo_inst_type(m, hilo_inst_operand(m, root(), 1)));
  const hilo_quant_attrs q = hilo_quant_get(&m->records, quant);
  assert_int_equal(q.storage, HILO_S8);
  assert_int_equal(q.scales.n, 2);
  assert_int_equal(q.zero_points.v[0], 3);
  assert_int_equal(q.min, -127);
  const hilo_type_info d =
      hilo_type_get(&m->types, hilo_inst_type(m, hilo_comp_param(m, m->entry, 3)));
  assert_int_equal(d.dims.v[0], 8);
  assert_true(d.is_dynamic);
}

static void sections(void **state) {
  (void)state;
  static const char text[] =
      "// one\n\n// -----\nmodule {\n}\n// -----\n\nfunc.func @main() {\n  retur\n}\n";
  hilo_str rest = hilo_str_of(text);
  hilo_mlir_section section;
  uint32_t line = 1;
  assert_true(hilo_mlir_next_section(&rest, &line, &section));
  assert_int_equal(section.first_line, 4);
  assert_true(hilo_mlir_next_section(&rest, &line, &section));
  assert_int_equal(section.first_line, 7);
  assert_int_equal(hilo_mlir_read_section(&arena, section, HILO_STR("t.mlir"), &diags, &m),
                   HILO_INPUT_ERROR);
  assert_non_null(
      strstr(rendered(), "t.mlir:9:3: unknown operation `retur`; did you mean `return`?"));
  assert_false(hilo_mlir_next_section(&rest, &line, &section));
}

/* Every prefix, and every byte changed, ends in a module or in one error. */
static void damaged(void **state) {
  (void)state;
  static const char text[] =
      "#l = loc(\"a\"(\"f\":1:2))\n!t = tensor<2xf32>\nmodule @m attributes {mhlo.num_replicas = 1 "
      ": i32} {\n"
      "  func.func @main(%a: !t {mhlo.sharding = \"{replicated}\"}, %c: tensor<i1>) -> (!t {x.y}) "
      "{\n"
      "    %0:2 = stablehlo.custom_call @f(%a) {api_version = 4 : i32, backend_config = {a = [1, "
      "2]}} : (!t) -> (!t, !t) loc(#l)\n"
      "    %1 = \"stablehlo.if\"(%c) ({\n      stablehlo.return %0#1 : !t\n    }, {\n      "
      "stablehlo.return %a : !t\n"
      "    }) : (tensor<i1>) -> !t\n    %2 = stablehlo.constant dense<[1.0, 0x7FC00000]> : !t\n"
      "    %3 = stablehlo.constant dense_resource<w> : !t\n"
      "    %4 = stablehlo.dot_general %2, %3, contracting_dims = [0] x [0] : (!t, !t) -> "
      "tensor<f32>\n"
      "    %5 = stablehlo.reduce(%1 init: %4) applies stablehlo.add across dimensions = [0] : (!t, "
      "tensor<f32>) -> tensor<f32>\n"
      "    return %1 : !t\n  }\n}\n{-# dialect_resources: { builtin: { w: "
      "\"0x040000000000803F00000040\" } } #-}\n";
  read(text);
  for (size_t n = 0; n < sizeof(text) - 1; n++) {
    tear_down(NULL), set_up(NULL);
    char *copy = malloc(n + 1); /* of the exact size, so that reading beyond it is seen */
    memcpy(copy, text, n);
    const hilo_status status =
        hilo_mlir_read(&arena, (hilo_str){copy, n}, HILO_STR("t"), &diags, &m);
    assert_int_equal(diags.n_errors, status == HILO_OK ? 0 : 1);
    free(copy);
  }
  char changed[sizeof(text)];
  static const char bytes[] = "\"{}<>()[]%#!@x0,:=-\n\\/";
  for (size_t at = 0; at < sizeof(text) - 1; at++)
    for (size_t k = 0; k < sizeof(bytes) - 1; k++) {
      tear_down(NULL), set_up(NULL);
      memcpy(changed, text, sizeof(text));
      changed[at] = bytes[k];
      const hilo_status status =
          hilo_mlir_read(&arena, (hilo_str){changed, sizeof(text) - 1}, HILO_STR("t"), &diags, &m);
      assert_int_equal(diags.n_errors, status == HILO_OK ? 0 : 1);
      if (status == HILO_OK) assert_true(hilo_verify(m, &diags) == HILO_OK || diags.n_errors);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(literals), TEST(wide_bits),      TEST(resources),    TEST(captures),
      TEST(branches), TEST(locations),      TEST(declarations), TEST(odd_types),
      TEST(sections), TEST(shared_regions), TEST(damaged),
  };
  return cmocka_run_group_tests_name("mlir_text", tests, NULL, NULL);
}
