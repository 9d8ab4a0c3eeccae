/* HLO protos: the corpus read and written, against protobuf-c, damaged at every byte, without
 * memory. */
#include "test_support.h"

#include "base/file.h"
#include "formats/hlo_proto.h"
#include "formats/load.h"
#include "ir/hlo_print.h"
#include "wire_oracle.h"

#include <glob.h>

static hilo_arena arena;
static hilo_diags diags;

static int setup(void **state) {
  (void)state;
  hilo_arena_init(&arena, NULL, NULL);
  diags = hilo_diags_make(&arena);
  return 0;
}
static int teardown(void **state) {
  (void)state;
  hilo_arena_deinit(&arena);
  return 0;
}

static const char *rendered(void) {
  hilo_sb sb = hilo_sb_make(&arena);
  hilo_diags_render(&diags, &sb);
  return hilo_sb_cstr(&sb);
}

static hilo_module *read_or_fail(hilo_str bytes, const char *name) {
  hilo_module *m = NULL;
  if (hilo_load_bytes(&arena, bytes, hilo_str_of(name), &diags, &m) != HILO_OK)
    fail_msg("%s: %s", name, rendered());
  return m;
}

static hilo_str write_or_fail(const hilo_module *m) {
  hilo_sb sb = hilo_sb_make(&arena);
  if (hilo_hlo_proto_write(m, &sb, &diags) != HILO_OK) fail_msg("%s", rendered());
  return hilo_sb_view(&sb);
}

/* A shape, and an instruction, as XLA writes them. */
static void put_shape(hilo_sb *out, uint32_t number, uint32_t etype, const char *dims) {
  const size_t at = hilo_wire_begin(out, number);
  hilo_wire_put_int(out, HILO_WIRE_SHAPE_ELEMENT_TYPE, etype);
  hilo_wire_put_bytes(out, HILO_WIRE_SHAPE_DIMENSIONS, hilo_str_of(dims));
  hilo_wire_end(out, at);
}

typedef struct {
  const char *name, *opcode;
  int64_t id;
  const char *operands; /* bytes of ids below 128 */
} plain_inst;

static hilo_str make_module(const plain_inst *insts, size_t n, int64_t root) {
  hilo_sb sb = hilo_sb_make(&arena);
  hilo_wire_put_bytes(&sb, HILO_WIRE_MODULE_NAME, HILO_STR("m"));
  const size_t comp = hilo_wire_begin(&sb, HILO_WIRE_MODULE_COMPUTATIONS);
  hilo_wire_put_bytes(&sb, HILO_WIRE_COMPUTATION_NAME, HILO_STR("main"));
  int64_t parameter = 0;
  for (size_t i = 0; i < n; i++) {
    const size_t at = hilo_wire_begin(&sb, HILO_WIRE_COMPUTATION_INSTRUCTIONS);
    hilo_wire_put_bytes(&sb, HILO_WIRE_INSTRUCTION_NAME, hilo_str_of(insts[i].name));
    hilo_wire_put_bytes(&sb, HILO_WIRE_INSTRUCTION_OPCODE, hilo_str_of(insts[i].opcode));
    put_shape(&sb, HILO_WIRE_INSTRUCTION_SHAPE, 11, "\x02\x03");
    if (!strcmp(insts[i].opcode, "parameter"))
      hilo_wire_put_int(&sb, HILO_WIRE_INSTRUCTION_PARAMETER_NUMBER, parameter++);
    hilo_wire_put_int(&sb, HILO_WIRE_INSTRUCTION_ID, insts[i].id);
    hilo_wire_put_bytes(&sb, HILO_WIRE_INSTRUCTION_OPERAND_IDS, hilo_str_of(insts[i].operands));
    hilo_wire_end(&sb, at);
  }
  hilo_wire_put_int(&sb, HILO_WIRE_COMPUTATION_ID, 1);
  hilo_wire_put_int(&sb, HILO_WIRE_COMPUTATION_ROOT_ID, root);
  hilo_wire_end(&sb, comp);
  hilo_wire_put_int(&sb, HILO_WIRE_MODULE_ENTRY_COMPUTATION_ID, 1);
  return hilo_sb_view(&sb);
}

static const plain_inst small[] = {{"p0", "parameter", 1, ""},
                                   {"p1.7", "parameter", 2, ""},
                                   {"a.1", "add", 3, "\x01\x02"},
                                   {"a.2", "multiply", 4, "\x03\x03"}};

static void test_a_module_is_what_it_says(void **state) {
  (void)state;
  hilo_module *m = read_or_fail(make_module(small, 4, 4), "small");
  const hilo_inst root = hilo_comp_root(m, m->entry), a = hilo_inst_operand(m, root, 0);
  assert_int_equal(m->n_insts, 4);
  assert_int_equal(hilo_inst_op(m, root), HILO_OP_MULTIPLY);
  assert_true(hilo_inst_eq(a, hilo_inst_operand(m, root, 1)));
  assert_int_equal(hilo_inst_count_uses(m, a), 2);
  assert_str(hilo_inst_name_text(m, hilo_comp_param(m, m->entry, 1), &arena), "p1.7");
  assert_int_equal(hilo_inst_ordinal(m, a), 3);
  assert_int_equal(hilo_inst_dims(m, a).v[1], 3);
}

/* Names that XLA would change on the way in. */
static void test_names_are_made_clean(void **state) {
  (void)state;
  const plain_inst insts[] = {{"s8", "parameter", 1, ""},
                              {"7x", "parameter", 2, ""},
                              {"__y", "parameter", 3, ""},
                              {"a b/c", "add", 4, "\x01\x02"}};
  static const char *const want[] = {"s8_", "_x", "a_y", "a_b_c"};
  hilo_module *m = read_or_fail(make_module(insts, 4, 4), "names");
  uint32_t k = 0;
  HILO_FOR_EACH_INST(m, m->entry, i) assert_str(hilo_inst_name_text(m, i, &arena), want[k++]);
}

static void test_nested_without_end(void **state) {
  (void)state;
  enum { DEPTH = 100000 };
  char *buffer = hilo_arena_alloc(&arena, DEPTH * 16, 1), *p = buffer + DEPTH * 16;
  const char *end = p;
  *--p = 13;
  *--p = 0x10;
  for (int i = 0; i < DEPTH; i++) {
    char head[12];
    hilo_sb sb = {.p = head, .cap = sizeof(head), .arena = &arena};
    hilo_wire_put_tag(&sb, HILO_WIRE_SHAPE_TUPLE_SHAPES, HILO_WIRE_LENGTH);
    hilo_wire_put_varint(&sb, (uint64_t)(end - p));
    p -= sb.n;
    memcpy(p, head, sb.n);
    *--p = 13; /* TUPLE */
    *--p = 0x10;
  }
  hilo_sb sb = hilo_sb_make(&arena);
  const size_t comp = hilo_wire_begin(&sb, HILO_WIRE_MODULE_COMPUTATIONS);
  hilo_wire_put_bytes(&sb, HILO_WIRE_COMPUTATION_NAME, HILO_STR("main"));
  const size_t inst = hilo_wire_begin(&sb, HILO_WIRE_COMPUTATION_INSTRUCTIONS);
  hilo_wire_put_bytes(&sb, HILO_WIRE_INSTRUCTION_NAME, HILO_STR("p"));
  hilo_wire_put_bytes(&sb, HILO_WIRE_INSTRUCTION_OPCODE, HILO_STR("parameter"));
  hilo_wire_put_bytes(&sb, HILO_WIRE_INSTRUCTION_SHAPE, (hilo_str){p, (size_t)(end - p)});
  hilo_wire_end(&sb, inst);
  hilo_wire_end(&sb, comp);
  hilo_module *m;
  assert_int_equal(hilo_hlo_proto_read(&arena, hilo_sb_view(&sb), HILO_STR("deep"), &diags, &m),
                   HILO_INPUT_ERROR);
  assert_int_equal(diags.n_errors, 1);
  if (!strstr(rendered(), "nested more than 100 deep")) fail_msg("%s", rendered());
}

/* Cut off behind every byte, and every bit of every byte flipped: an error or a module, never more.
 */
static void test_damage_at_every_byte(void **state) {
  (void)state;
  const hilo_str bytes = make_module(small, 4, 4);
  for (size_t n = 0; n < bytes.n; n++) {
    hilo_arena one;
    hilo_arena_init(&one, NULL, NULL);
    hilo_diags own = hilo_diags_make(&one);
    hilo_module *m;
    char *exact = malloc(n + 1); /* so that AddressSanitizer sees a step beyond the end */
    memcpy(exact, bytes.p, n);
    const hilo_status status =
        hilo_hlo_proto_read(&one, (hilo_str){exact, n}, HILO_STR("cut"), &own, &m);
    assert_true(status == HILO_OK || own.n_errors > 0);
    free(exact);
    hilo_arena_deinit(&one);
  }
  for (size_t i = 0; i < bytes.n * 8; i++) {
    hilo_arena one;
    hilo_arena_init(&one, NULL, NULL);
    hilo_diags own = hilo_diags_make(&one);
    hilo_module *m = NULL;
    char *flipped = malloc(bytes.n);
    memcpy(flipped, bytes.p, bytes.n);
    flipped[i / 8] = (char)(flipped[i / 8] ^ 1 << (i % 8));
    const hilo_status status =
        hilo_load_bytes(&one, (hilo_str){flipped, bytes.n}, HILO_STR("flipped"), &own, &m);
    assert_true(status == HILO_OK || own.n_errors > 0);
    if (status == HILO_OK) {
      hilo_sb sb = hilo_sb_make(&one);
      assert_int_equal(hilo_hlo_proto_write(m, &sb, &own), HILO_OK);
    }
    free(flipped);
    hilo_arena_deinit(&one);
  }
}

static void load_and_write(hilo_arena *one, hilo_str bytes) {
  hilo_diags own = hilo_diags_make(one);
  hilo_module *m;
  hilo_sb sb = hilo_sb_make(one);
  assert_int_equal(hilo_load_bytes(one, bytes, hilo_str_of("small"), &own, &m), HILO_OK);
  assert_int_equal(hilo_hlo_proto_write(m, &sb, &own), HILO_OK);
}

/* Memory that runs out at any request is given back, wherever that is. */
static void test_without_memory(void **state) {
  (void)state;
  const hilo_str bytes = make_module(small, 4, 4);
  volatile bool done = false;
  for (volatile uint64_t limit = 0; !done; limit++) {
    test_allocator t;
    test_allocator_init(&t, limit);
    hilo_arena one;
    jmp_buf oom;
    hilo_arena_init(&one, &t.allocator, &oom);
    if (!setjmp(oom)) {
      load_and_write(&one, bytes);
      done = true;
    }
    hilo_arena_deinit(&one);
    assert_int_equal(t.n_live, 0);
  }
}

/* B10: a module beyond 2 GiB is refused before a byte is written, with its size and its largest
 * constant. */
static void test_too_large_for_a_message(void **state) {
  (void)state;
  hilo_module *m = read_or_fail(make_module(small, 4, 4), "small");
  const hilo_type type = hilo_type_array(&m->types, HILO_F32, HILO_DIMS_OF(600000000));
  const float one = 1;
  const hilo_inst_desc desc = {
      .op = HILO_OP_CONSTANT, .type = type, .attr = hilo_literal_splat(m, type, &one).ix};
  hilo_inst_add(m, m->entry, &desc);
  hilo_sb sb = hilo_sb_make(&arena);
  assert_int_equal(hilo_hlo_proto_write(m, &sb, &diags), HILO_LIMIT_ERROR);
  assert_int_equal(sb.n, 0);
  if (!strstr(rendered(), "takes 2400000000 bytes as a protobuf, which holds at most 2147483647") ||
      !strstr(rendered(), "the largest constant is `constant` with 2400000000 bytes"))
    fail_msg("%s", rendered());
}

/* ---- the corpus ---- */

static void compare_with_protobuf_c(hilo_str bytes, const char *name) {
  Xla__HloModuleProto *theirs =
      xla__hlo_module_proto__unpack(NULL, bytes.n, (const uint8_t *)bytes.p);
  assert_non_null(theirs);
  hilo_wire_reader r = {.scratch = &arena};
  const char *fault = oracle_message(&r, &hilo_wire_module_fields, bytes, &theirs->base);
  if (fault) fail_msg("%s: the readers disagree about `%s`", name, fault);
  xla__hlo_module_proto__free_unpacked(theirs, NULL);
}

/* Read, write, read, write: the second writing gives the bytes of the first. */
static void test_round_trips(void **state) {
  (void)state;
  const char *corpus = test_corpus();
  if (!corpus) skip();
  static const char *const patterns[] = {"/jax/*/model.hlo.pb", "/jax/sharded/*/model.hlo.pb",
                                         "/hlo-pb/*.pb"};
  size_t n = 0;
  for (size_t k = 0; k < HILO_COUNT(patterns); k++) {
    char pattern[4096];
    glob_t files;
    snprintf(pattern, sizeof(pattern), "%s%s", corpus, patterns[k]);
    if (glob(pattern, 0, NULL, &files)) continue;
    for (size_t i = 0; i < files.gl_pathc; i++, n++) {
      hilo_arena_reset(&arena);
      diags = hilo_diags_make(&arena);
      const char *name = files.gl_pathv[i];
      hilo_str bytes;
      assert_int_equal(hilo_file_read(&arena, name, 1u << 30, &diags, &bytes), HILO_OK);
      if (k < 2) compare_with_protobuf_c(bytes, name);
      const hilo_module *m = read_or_fail(bytes, name);
      const hilo_str once = write_or_fail(m);
      const hilo_module *again = read_or_fail(once, name);
      const hilo_str twice = write_or_fail(again);
      assert_int_equal(m->n_insts, again->n_insts);
      assert_int_equal(once.n, twice.n);
      assert_memory_equal(once.p, twice.p, once.n);
    }
    globfree(&files);
  }
  assert_true(n > 90);
}

static hilo_str printed(const hilo_module *m) {
  hilo_sb sb = hilo_sb_make(&arena);
  hilo_hlo_print(m, NULL, &sb);
  return hilo_sb_view(&sb);
}

/* Text, proto, text: the same text. And what a program's proto and its text say is the same module,
 * but for the order of computations and what only the text's header says. */
static void test_text_and_proto(void **state) {
  (void)state;
  const char *corpus = test_corpus();
  if (!corpus) skip();
  static const char *const patterns[] = {"/jax/*/model.hlo.txt", "/jax/sharded/*/model.hlo.txt"};
  size_t n = 0;
  for (size_t k = 0; k < HILO_COUNT(patterns); k++) {
    char path[4096];
    glob_t files;
    snprintf(path, sizeof(path), "%s%s", corpus, patterns[k]);
    if (glob(path, 0, NULL, &files)) continue;
    for (size_t i = 0; i < files.gl_pathc; i++, n++) {
      hilo_arena_reset(&arena);
      diags = hilo_diags_make(&arena);
      const char *name = files.gl_pathv[i];
      hilo_module *m = NULL, *other = NULL;
      if (hilo_load(&arena, name, &diags, &m) != HILO_OK) fail_msg("%s", rendered());
      const hilo_str text = printed(m);
      hilo_module *again = read_or_fail(write_or_fail(m), name);
      again->header.text_style = m->header.text_style;
      const hilo_str text_again = printed(again);
      if (text.n != text_again.n) fail_msg("%s", name);
      assert_memory_equal(text.p, text_again.p, text.n);
      snprintf(path, sizeof(path), "%.*s.pb", (int)strlen(name) - 4, name);
      if (hilo_load(&arena, path, &diags, &other) != HILO_OK) fail_msg("%s", rendered());
      assert_int_equal(m->n_insts, other->n_insts);
      assert_int_equal(hilo_module_n_comps(m), hilo_module_n_comps(other));
    }
    globfree(&files);
  }
  assert_true(n > 90);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_a_module_is_what_it_says, setup, teardown),
      cmocka_unit_test_setup_teardown(test_names_are_made_clean, setup, teardown),
      cmocka_unit_test_setup_teardown(test_nested_without_end, setup, teardown),
      cmocka_unit_test_setup_teardown(test_damage_at_every_byte, setup, teardown),
      cmocka_unit_test_setup_teardown(test_without_memory, setup, teardown),
      cmocka_unit_test_setup_teardown(test_too_large_for_a_message, setup, teardown),
      cmocka_unit_test_setup_teardown(test_round_trips, setup, teardown),
      cmocka_unit_test_setup_teardown(test_text_and_proto, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
