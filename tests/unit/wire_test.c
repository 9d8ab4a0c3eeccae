/* The wire format: varints, the walker's reading of every kind of field, and its writing. */
#include "test_support.h"

#include "wire_oracle.h"

static hilo_arena arena;

static int setup(void **state) {
  (void)state;
  hilo_arena_init(&arena, NULL, NULL);
  return 0;
}
static int teardown(void **state) {
  (void)state;
  hilo_arena_deinit(&arena);
  return 0;
}

static hilo_wire_reader reader(void) { return (hilo_wire_reader){.scratch = &arena}; }

static void test_varints(void **state) {
  (void)state;
  const uint64_t values[] = {0,          1,          127,
                             128,        300,        16383,
                             16384,      1ull << 32, (1ull << 32) | 77,
                             1ull << 55, 1ull << 56, 1ull << 62,
                             UINT64_MAX};
  for (size_t i = 0; i < HILO_COUNT(values); i++) {
    for (size_t padding = 0; padding <= 8; padding += 8) { /* with and without room to look ahead */
      hilo_sb sb = hilo_sb_make(&arena);
      hilo_wire_put_varint(&sb, values[i]);
      assert_int_equal(sb.n, hilo_wire_varint_bytes(values[i]));
      const size_t n = sb.n;
      for (size_t k = 0; k < padding; k++) hilo_sb_char(&sb, (char)0xff);
      const char *p = sb.p;
      uint64_t v;
      assert_true(hilo_wire_varint(&p, sb.p + sb.n, &v));
      assert_int_equal(v, values[i]);
      assert_int_equal(p - sb.p, n);
      p = sb.p;
      if (!padding) assert_false(hilo_wire_varint(&p, sb.p + n - 1, &v));
    }
  }
  const char *p = "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
  uint64_t v;
  assert_false(hilo_wire_varint(&p, p + 12, &v)); /* eleven bytes and more */
}

static void test_packed_and_unpacked_are_one_list(void **state) {
  (void)state;
  hilo_wire_reader r = reader();
  hilo_wire_shape s;
  /* dimensions: 1, packed 2 300, 4 5; element_type 11 twice, the last one wins */
  const hilo_str bytes = HILO_STR("\x18\x01\x1a\x03\x02\xac\x02\x18\x04\x18\x05\x10\x0b\x10\x04");
  assert_true(hilo_wire_decode(&r, &hilo_wire_shape_fields, bytes, &s));
  const int64_t want[] = {1, 2, 300, 4, 5};
  assert_int_equal(s.dimensions.n, 5);
  assert_memory_equal(s.dimensions.v, want, sizeof(want));
  assert_int_equal(s.element_type, 4);
  assert_null(s.layout.p);
}

static void test_messages_in_parts_are_joined(void **state) {
  (void)state;
  hilo_wire_reader r = reader();
  hilo_wire_shape s;
  hilo_wire_layout l;
  /* layout twice: minor_to_major 1, then minor_to_major 0 and memory space 5 */
  const hilo_str bytes = HILO_STR("\x2a\x03\x0a\x01\x01\x2a\x05\x0a\x01\x00\x40\x05");
  assert_true(hilo_wire_decode(&r, &hilo_wire_shape_fields, bytes, &s));
  assert_true(hilo_wire_decode(&r, &hilo_wire_layout_fields, s.layout, &l));
  assert_int_equal(l.minor_to_major.n, 2);
  assert_int_equal(l.minor_to_major.v[1], 0);
  assert_int_equal(l.memory_space, 5);
}

static void test_the_last_member_of_a_oneof_counts(void **state) {
  (void)state;
  hilo_wire_reader r = reader();
  hilo_wire_payload w;
  assert_true(hilo_wire_decode(&r, &hilo_wire_payload_fields, HILO_STR("\x0a\x01x\x10\x00"), &w));
  assert_int_equal(w.payload_source_case, HILO_WIRE_PAYLOAD_ID);
  assert_int_equal(w.value.n, 0);
}

static void test_unknown_fields_are_counted(void **state) {
  (void)state;
  hilo_wire_reader r = reader();
  hilo_wire_shape s;
  /* field 100 as a varint, 101 as 4 bytes, 102 as 8, 103 as a span */
  const hilo_str bytes = HILO_STR("\xa0\x06\x01\xad\x06\x01\x02\x03\x04\xb1\x06\x01\x02\x03\x04\x05"
                                  "\x06\x07\x08\xba\x06\x02xy\x10\x0b");
  assert_true(hilo_wire_decode(&r, &hilo_wire_shape_fields, bytes, &s));
  assert_int_equal(s.head.n_unknown, 4);
  assert_int_equal(s.head.unknown_number, 100);
  assert_int_equal(s.element_type, 11);
}

static void test_faults_are_named(void **state) {
  (void)state;
  static const struct {
    const char *bytes;
    size_t n;
    const char *what, *field;
  } cases[] = {
      {"\x10", 1, "the input ends within it", "element_type"},
      {"\x12\x01\x0b", 3, "its wire type does not fit the field", "element_type"},
      {"\x1a\x05\x01", 3, "its length is beyond the end of the message that holds it",
       "dimensions"},
      {"\x1a\x01\x80", 3, "the input ends within it", "dimensions"},
      {"\x13\x14", 2, "it is a group, which HLO does not use", "element_type"},
      {"\x0b\x0c", 2, "it is a group, which HLO does not use", NULL},
      {"\x00\x01", 2, "the tag is not that of a field", NULL},
      {"\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12,
       "its varint is longer than ten bytes", "element_type"},
  };
  for (size_t i = 0; i < HILO_COUNT(cases); i++) {
    hilo_wire_reader r = reader();
    hilo_wire_shape s;
    assert_false(
        hilo_wire_decode(&r, &hilo_wire_shape_fields, (hilo_str){cases[i].bytes, cases[i].n}, &s));
    assert_string_equal(r.error.what, cases[i].what);
    if (cases[i].field)
      assert_string_equal(r.error.field->name, cases[i].field);
    else
      assert_null(r.error.field);
  }
}

/* A list whose parts alternate with another field costs time quadratic in their number, so their
 * number is bounded. */
static void test_many_parts_are_refused(void **state) {
  (void)state;
  hilo_sb sb = hilo_sb_make(&arena);
  for (int i = 0; i < 200000; i++) hilo_sb_cat(&sb, "\x18\x01\x10\x01");
  hilo_wire_reader r = reader();
  hilo_wire_shape s;
  assert_false(hilo_wire_decode(&r, &hilo_wire_shape_fields, hilo_sb_view(&sb), &s));
  assert_string_equal(r.error.what, "it comes in too many parts");
  assert_true(arena.reserved_bytes < 256u << 20);
}

static void test_depth_is_checked_without_recursion(void **state) {
  (void)state;
  enum { DEPTH = 100000 };
  hilo_str inner = HILO_STR("\x10\x0d");
  /* Written from the inside out, into the end of one buffer. */
  const size_t cap = DEPTH * 8;
  char *buffer = hilo_arena_alloc(&arena, cap, 1), *p = buffer + cap;
  p -= inner.n;
  memcpy(p, inner.p, inner.n);
  for (int i = 0; i < DEPTH; i++) {
    hilo_sb head = hilo_sb_make(&arena);
    hilo_wire_put_tag(&head, HILO_WIRE_SHAPE_TUPLE_SHAPES, HILO_WIRE_LENGTH);
    hilo_wire_put_varint(&head, (uint64_t)(buffer + cap - p));
    p -= head.n;
    memcpy(p, head.p, head.n);
    hilo_sb_free(&head);
  }
  const hilo_str bytes = {p, (size_t)(buffer + cap - p)};
  hilo_wire_reader r = reader();
  assert_false(hilo_wire_check(&r, &hilo_wire_shape_fields, bytes, 100));
  assert_string_equal(r.error.what, "it is nested too deep");
  assert_true(hilo_wire_check(&r, &hilo_wire_shape_fields, bytes, DEPTH + 1));
}

/* What is encoded decodes to the same. */
static void test_encode_decode(void **state) {
  (void)state;
  struct {
    hilo_wire_instruction w;
    hilo_wire_set set;
  } s;
  memset(&s, 0, sizeof(s));
  int64_t ids[300];
  for (int i = 0; i < 300; i++) ids[i] = i * 1000;
  s.w.name = HILO_STR("a");
  s.w.dimensions = (hilo_dims){ids, 300};
  s.w.exponent_bits = -5;
  s.w.epsilon = 0.5f;
  s.w.is_host_transfer = true;
  s.w.k = -1;
  const uint32_t numbers[] = {HILO_WIRE_INSTRUCTION_NAME,    HILO_WIRE_INSTRUCTION_DIMENSIONS,
                              HILO_WIRE_INSTRUCTION_EPSILON, HILO_WIRE_INSTRUCTION_IS_HOST_TRANSFER,
                              HILO_WIRE_INSTRUCTION_K,       HILO_WIRE_INSTRUCTION_EXPONENT_BITS};
  for (size_t i = 0; i < HILO_COUNT(numbers); i++) hilo_wire_set_add(&s.set, numbers[i]);
  hilo_sb all = hilo_sb_make(&arena), parts = hilo_sb_make(&arena);
  hilo_wire_encode(&all, &hilo_wire_instruction_fields, &s.set, 1, 127, &s.w);
  hilo_wire_encode(&parts, &hilo_wire_instruction_fields, &s.set, 1, 63, &s.w);
  hilo_wire_encode(&parts, &hilo_wire_instruction_fields, &s.set, 64, 127, &s.w);
  assert_int_equal(all.n, parts.n);
  assert_memory_equal(all.p, parts.p, all.n);
  hilo_wire_reader r = reader();
  hilo_wire_instruction back;
  assert_true(hilo_wire_decode(&r, &hilo_wire_instruction_fields, hilo_sb_view(&all), &back));
  assert_str(back.name, "a");
  assert_int_equal(back.dimensions.n, 300);
  assert_memory_equal(back.dimensions.v, ids, sizeof(ids));
  assert_int_equal(back.exponent_bits, -5);
  assert_true(back.epsilon == 0.5f);
  assert_true(back.is_host_transfer);
  assert_int_equal(back.k, -1);
  Xla__HloInstructionProto *theirs =
      xla__hlo_instruction_proto__unpack(NULL, all.n, (const uint8_t *)all.p);
  assert_non_null(theirs);
  assert_null(oracle_message(&r, &hilo_wire_instruction_fields, hilo_sb_view(&all), &theirs->base));
  xla__hlo_instruction_proto__free_unpacked(theirs, NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_varints, setup, teardown),
      cmocka_unit_test_setup_teardown(test_packed_and_unpacked_are_one_list, setup, teardown),
      cmocka_unit_test_setup_teardown(test_messages_in_parts_are_joined, setup, teardown),
      cmocka_unit_test_setup_teardown(test_the_last_member_of_a_oneof_counts, setup, teardown),
      cmocka_unit_test_setup_teardown(test_unknown_fields_are_counted, setup, teardown),
      cmocka_unit_test_setup_teardown(test_faults_are_named, setup, teardown),
      cmocka_unit_test_setup_teardown(test_many_parts_are_refused, setup, teardown),
      cmocka_unit_test_setup_teardown(test_depth_is_checked_without_recursion, setup, teardown),
      cmocka_unit_test_setup_teardown(test_encode_decode, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
