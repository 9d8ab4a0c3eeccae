/* Shape inference: for every rule what it gives, and what it refuses. */
#include "ir/infer.h"
#include "ir_support.h"

static hilo_arena arena;
static hilo_module *m;
static hilo_diags diags;
/* Set before a case, and forgotten after it. */
static hilo_comp called[8];
static uint32_t n_called;

static int set_up(void **state) {
  (void)state;
  hilo_arena_init(&arena, NULL, NULL);
  m = hilo_module_create(&arena, NULL);
  diags = hilo_diags_make(&arena);
  n_called = 0;
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  hilo_arena_deinit(&arena);
  return 0;
}

static void calls(const char *signature) { called[n_called++] = comp_of(m, signature); }

/* An instruction with parameters of these types (text, blanks between) as operands. */
static hilo_inst_desc describe(hilo_comp c, hilo_op op, uint32_t attr, const char *operands,
                               const char *hint, hilo_inst *params) {
  uint32_t n = 0;
  for (const char *p = operands; *p;) {
    const hilo_inst_desc param = {.op = HILO_OP_PARAMETER, .type = parse_type_at(m, &p), .attr = n};
    params[n++] = hilo_inst_add(m, c, &param);
    while (*p == ' ') p++;
  }
  return (hilo_inst_desc){.op = op,
                          .type = hint ? type_of(m, hint) : HILO_TYPE_NONE,
                          .operands = params,
                          .n_operands = n,
                          .attr = attr,
                          .called = called,
                          .n_called = n_called};
}

static hilo_comp fresh_comp(void) {
  return hilo_comp_add(m, hilo_comp_fresh_name(m, hilo_module_string(m, HILO_STR("c"))));
}

static void check_gives(hilo_op op, uint32_t attr, const char *operands, const char *hint,
                        const char *expected, int line) {
  hilo_inst params[32];
  const hilo_comp c = fresh_comp();
  hilo_inst_desc desc = describe(c, op, attr, operands, hint, params);
  const hilo_type t = hilo_infer_desc(m, &desc);
  if (!t.ix) {
    desc.type = hint ? desc.type : type_of(m, expected);
    hilo_type ignored;
    assert_int_not_equal(hilo_infer_type(m, hilo_inst_add(m, c, &desc), &diags, &ignored), HILO_OK);
    const hilo_str message = diags.n ? diags.list[diags.n - 1].message : HILO_STR("no word");
    fail_msg("line %d: refused: %.*s", line, HILO_FMT(message));
  }
  if (t.ix != type_of(m, expected).ix) fail_msg("line %d: not %s", line, expected);
  /* The same through an instruction that is declared so. */
  desc.type = t;
  hilo_type again;
  assert_int_equal(hilo_infer_type(m, hilo_inst_add(m, c, &desc), &diags, &again), HILO_OK);
  assert_int_equal(again.ix, t.ix);
  n_called = 0;
}

/* `said` must stand in the message; `declared` is the type of the instruction. */
static void check_refuses(hilo_op op, uint32_t attr, const char *operands, const char *declared,
                          hilo_diag_code code, const char *said, int line) {
  hilo_inst params[32];
  const hilo_comp c = fresh_comp();
  const hilo_inst_desc desc = describe(c, op, attr, operands, declared, params);
  hilo_type t;
  diags = hilo_diags_make(&arena);
  if (hilo_infer_type(m, hilo_inst_add(m, c, &desc), &diags, &t) == HILO_OK || diags.n != 1)
    fail_msg("line %d: accepted, or %u messages", line, diags.n);
  const hilo_str message = diags.list[0].message;
  if (diags.list[0].code != code || !memmem(message.p, message.n, said, strlen(said)))
    fail_msg("line %d: %s: %.*s", line, hilo_diag_name(diags.list[0].code), HILO_FMT(message));
  assert_int_equal(hilo_infer_desc(m, &desc).ix, 0);
  n_called = 0;
}

#define GIVES(op, attr, operands, hint, expected)                                                  \
  check_gives(HILO_OP_##op, (attr), operands, hint, expected, __LINE__)
#define REFUSES(op, attr, operands, declared, code, said)                                          \
  check_refuses(HILO_OP_##op, (attr), operands, declared, HILO_DIAG_##code, said, __LINE__)
#define ATTR(family, ...)                                                                          \
  hilo_##family##_put(&m->records, &(const hilo_##family##_attrs){__VA_ARGS__}).ix
#define DIMS(...) ATTR(dims, .dims = HILO_DIMS_OF(__VA_ARGS__))

static void elementwise(void **state) {
  (void)state;
  GIVES(ADD, 0, "f32[4,8] f32[4,8]", NULL, "f32[4,8]");
  GIVES(ADD, 0, "pred[] pred[]", NULL, "pred[]");
  GIVES(ADD, 0, "f32[<=4] f32[4]", NULL, "f32[<=4]");
  GIVES(ADD, 0, "f32[4] f32[<=4]", NULL, "f32[<=4]");
  REFUSES(ADD, 0, "f32[4,8] f32[8,4]", "f32[4,8]", EMOD902,
          "operand 0 is f32[4,8] and operand 1 is "
          "f32[8,4]");
  REFUSES(ADD, 0, "f32[4] bf16[4]", "f32[4]", EMOD902, "must have one type");
  REFUSES(ADD, 0, "f32[4]", "f32[4]", EMOD917, "1 operand, expected 2");
  REFUSES(ADD, 0, "f32[4] (f32[4])", "f32[4]", EMOD902,
          "operand 1 of `add` is (f32[4]), expected an "
          "array");
  REFUSES(SUBTRACT, 0, "pred[] pred[]", "pred[]", EMOD902, "expected a numeric");
  GIVES(AND, 0, "pred[2] pred[2]", NULL, "pred[2]");
  REFUSES(AND, 0, "f32[2] f32[2]", "f32[2]", EMOD902, "expected an integer or pred");
  GIVES(SHIFT_LEFT, 0, "u4[2] u4[2]", NULL, "u4[2]");
  REFUSES(SHIFT_LEFT, 0, "pred[2] pred[2]", "pred[2]", EMOD902, "expected an integer");
  GIVES(ATAN2, 0, "f16[2] f16[2]", NULL, "f16[2]");
  REFUSES(ATAN2, 0, "s32[2] s32[2]", "s32[2]", EMOD902, "a float or complex");
  GIVES(NEGATE, 0, "u32[3]", NULL, "u32[3]");
  REFUSES(NEGATE, 0, "pred[3]", "pred[3]", EMOD902, "expected a numeric");
  GIVES(NOT, 0, "pred[3]", NULL, "pred[3]");
  REFUSES(NOT, 0, "f32[3]", "f32[3]", EMOD902, "an integer or pred");
  GIVES(FLOOR, 0, "f32[3]", NULL, "f32[3]");
  REFUSES(FLOOR, 0, "c64[3]", "c64[3]", EMOD902, "expected a float type");
  GIVES(EXP, 0, "c64[3]", NULL, "c64[3]");
  REFUSES(EXP, 0, "s32[3]", "s32[3]", EMOD902, "a float or complex");
  GIVES(CLZ, 0, "s8[]", NULL, "s8[]");
  REFUSES(CLZ, 0, "pred[]", "pred[]", EMOD902, "expected an integer");
  REFUSES(SIGN, 0, "u8[]", "u8[]", EMOD902, "a signed integer, float or complex");
  GIVES(ABS, 0, "c128[2]", NULL, "f64[2]");
  GIVES(ABS, 0, "s32[2]", NULL, "s32[2]");
  GIVES(REAL, 0, "c64[2]", NULL, "f32[2]");
  GIVES(IMAG, 0, "f32[2]", NULL, "f32[2]");
  REFUSES(REAL, 0, "s32[2]", "s32[2]", EMOD902, "a float or complex");
  GIVES(COMPLEX, 0, "f32[2] f32[2]", NULL, "c64[2]");
  GIVES(COMPLEX, 0, "f64[] f64[]", NULL, "c128[]");
  REFUSES(COMPLEX, 0, "f16[] f16[]", "c64[]", EMOD902, "expected f32 or f64");
  GIVES(IS_FINITE, 0, "bf16[<=7]", NULL, "pred[<=7]");
  REFUSES(IS_FINITE, 0, "s32[]", "pred[]", EMOD902, "expected a float type");
  GIVES(REDUCE_PRECISION, ATTR(reduce_precision, .exponent_bits = 5, .mantissa_bits = 2), "f32[2]",
        NULL, "f32[2]");
  REFUSES(REDUCE_PRECISION, ATTR(reduce_precision, .mantissa_bits = 2), "f32[2]", "f32[2]", EMOD902,
          "0 exponent and 2 mantissa bits");
  GIVES(COPY, 0, "(f32[2], token[])", NULL, "(f32[2], token[])");
}

static void comparisons(void **state) {
  (void)state;
  GIVES(COMPARE, ATTR(compare, .direction = HILO_LT), "f32[4] f32[4]", NULL, "pred[4]");
  GIVES(COMPARE, ATTR(compare, .type = HILO_COMPARE_TOTALORDER), "f32[4] f32[4]", NULL, "pred[4]");
  GIVES(COMPARE, ATTR(compare, .type = HILO_COMPARE_UNSIGNED), "pred[] pred[]", NULL, "pred[]");
  GIVES(COMPARE, 0, "f32[4] f32[<=4]", NULL, "pred[<=4]");
  REFUSES(COMPARE, ATTR(compare, .type = HILO_COMPARE_UNSIGNED), "s32[4] s32[4]", "pred[4]",
          EMOD902, "type UNSIGNED, expected SIGNED");
  REFUSES(COMPARE, ATTR(compare, .direction = HILO_LT), "c64[4] c64[4]", "pred[4]", EMOD902,
          "expected EQ or NE");
  REFUSES(COMPARE, ATTR(compare, .direction = 9), "s32[4] s32[4]", "pred[4]", EMOD902,
          "direction 9");
  REFUSES(COMPARE, 0, "s32[4] s32[5]", "pred[4]", EMOD902, "must have one type");
  GIVES(SELECT, 0, "pred[4] f32[4] f32[4]", NULL, "f32[4]");
  REFUSES(SELECT, 0, "pred[] f32[4] f32[4]", "f32[4]", EMOD902, "their dimensions must agree");
  REFUSES(SELECT, 0, "s32[4] f32[4] f32[4]", "f32[4]", EMOD902, "expected pred");
  REFUSES(SELECT, 0, "pred[4] f32[4] s32[4]", "f32[4]", EMOD902,
          "operand 1 is f32[4] and operand 2 "
          "is s32[4]");
  GIVES(CLAMP, 0, "f32[4] f32[4] f32[4]", NULL, "f32[4]");
  REFUSES(CLAMP, 0, "f32[] f32[4] f32[]", "f32[4]", EMOD902, "operand 0 of `clamp` is f32[]");
  m->dialect = HILO_DIALECT_STABLEHLO;
  GIVES(CLAMP, 0, "f32[] f32[4] f32[]", NULL, "f32[4]");
  GIVES(SELECT, 0, "pred[] f32[4] f32[4]", NULL, "f32[4]");
}

static void conversions(void **state) {
  (void)state;
  GIVES(CONVERT, 0, "f32[4,<=2]", "s8[]", "s8[4,<=2]");
  REFUSES(CONVERT, 0, "f32[4]", "(s8[4])", EMOD918, "gives an array, but is declared as (s8[4])");
  GIVES(BITCAST_CONVERT, 0, "f32[4]", "s32[]", "s32[4]");
  GIVES(BITCAST_CONVERT, 0, "f32[4]", "s8[]", "s8[4,4]");
  GIVES(BITCAST_CONVERT, 0, "s4[3,8]", "u32[]", "u32[3]");
  GIVES(BITCAST_CONVERT, 0, "c128[2]", "c64[]", "c64[2,2]");
  REFUSES(BITCAST_CONVERT, 0, "s8[3]", "s32[]", EMOD902, "expected a last dimension of 4");
  REFUSES(BITCAST_CONVERT, 0, "s8[]", "s32[]", EMOD902, "expected a last dimension of 4");
  REFUSES(BITCAST_CONVERT, 0, "c64[3]", "f32[3,2]", EMOD902, "both or none complex");
  GIVES(STOCHASTIC_CONVERT, 0, "f32[4] u32[4]", "bf16[4]", "bf16[4]");
  REFUSES(STOCHASTIC_CONVERT, 0, "f32[4] u16[4]", "bf16[4]", EMOD902,
          "unsigned integers of the width");
}

static void movement(void **state) {
  (void)state;
  GIVES(BROADCAST, DIMS(1), "f32[3]", "f32[2,3]", "f32[2,3]");
  GIVES(BROADCAST, 0, "s32[]", "f32[2,3]", "s32[2,3]");
  REFUSES(BROADCAST, DIMS(0), "f32[3]", "f32[2,3]", EMOD919, "the sizes 3 and 2 must be equal");
  REFUSES(BROADCAST, DIMS(2), "f32[3]", "f32[2,3]", EMOD919,
          "name dimension 2, expected dimensions below 2");
  REFUSES(BROADCAST, DIMS(1, 1), "f32[3,3]", "f32[2,3]", EMOD919, "dimension 1 twice in {1,1}");
  REFUSES(BROADCAST, 0, "f32[3]", "f32[2,3]", EMOD919, "names 0 dimensions {}, expected 1");
  GIVES(RESHAPE, 0, "f32[6]", "f32[2,3]", "f32[2,3]");
  REFUSES(RESHAPE, 0, "f32[6]", "f32[2,4]", EMOD918, "6 and 8 elements");
  GIVES(DYNAMIC_RESHAPE, 0, "f32[6] s32[] s32[]", "f32[2,3]", "f32[2,3]");
  REFUSES(DYNAMIC_RESHAPE, 0, "f32[6] s32[]", "f32[2,3]", EMOD917, "has 2 operands, expected 3");
  GIVES(BITCAST, 0, "f32[6]", "s32[3,2]", "s32[3,2]");
  REFUSES(BITCAST, 0, "f32[6]", "bf16[6]", EMOD918, "24 and 12 bytes");
  GIVES(TRANSPOSE, DIMS(2, 0, 1), "f32[2,<=3,5]", NULL, "f32[5,2,<=3]");
  REFUSES(TRANSPOSE, DIMS(0, 0), "f32[2,3]", "f32[2,2]", EMOD919, "dimension 0 twice");
  REFUSES(TRANSPOSE, DIMS(0), "f32[2,3]", "f32[2,2]", EMOD919, "expected a permutation of 2");
  GIVES(REVERSE, DIMS(1), "f32[2,3]", NULL, "f32[2,3]");
  REFUSES(REVERSE, DIMS(-1), "f32[2,3]", "f32[2,3]", EMOD919, "name dimension -1");
  GIVES(CONCATENATE, DIMS(0), "f32[2,3] f32[0,3] f32[5,3]", NULL, "f32[7,3]");
  REFUSES(CONCATENATE, DIMS(0), "f32[2,3] f32[2,4]", "f32[4,3]", EMOD902,
          "may differ in dimension 0");
  REFUSES(CONCATENATE, DIMS(0), "f32[2,3] s32[2,3]", "f32[4,3]", EMOD902, "may differ");
  REFUSES(CONCATENATE, DIMS(2), "f32[2,3] f32[2,3]", "f32[4,3]", EMOD919, "name dimension 2");
  REFUSES(CONCATENATE, DIMS(0), "s1[9223372036854775807] s1[1]", "s1[4]", EMOD907, "64 bits");
  const uint32_t pad = ATTR(pad, .low = HILO_DIMS_OF(1, -1), .high = HILO_DIMS_OF(2, 0),
                            .interior = HILO_DIMS_OF(3, 0));
  GIVES(PAD, pad, "f32[3,2] f32[]", NULL, "f32[12,1]");
  REFUSES(PAD, pad, "f32[3,2] f32[1]", "f32[12,1]", EMOD902, "expected f32[]");
  REFUSES(PAD, pad, "f32[3] f32[]", "f32[12,1]", EMOD919, "pads 2 dimensions, expected 1");
  REFUSES(PAD, pad, "f32[3,0] f32[]", "f32[12,1]", EMOD919, "leaves -1 elements");
  GIVES(IOTA, 1, "", "s32[2,3]", "s32[2,3]");
  REFUSES(IOTA, 2, "", "s32[2,3]", EMOD919, "counts along dimension 2");
  REFUSES(IOTA, 0, "", "pred[2,3]", EMOD902, "expected a number");
  GIVES(TUPLE, 0, "f32[2] (s32[])", NULL, "(f32[2], (s32[]))");
  GIVES(TUPLE, 0, "", NULL, "()");
  GIVES(GET_TUPLE_ELEMENT, 1, "(f32[2], s32[])", NULL, "s32[]");
  REFUSES(GET_TUPLE_ELEMENT, 5, "(f32[2], s32[])", "s32[]", EMOD919,
          "element 5 of (f32[2], s32[]), "
          "which has 2");
  REFUSES(GET_TUPLE_ELEMENT, 0, "f32[4]", "f32[]", EMOD902, "expected a tuple");
  GIVES(GET_DIMENSION_SIZE, 1, "f32[2,<=5]", NULL, "s32[]");
  REFUSES(GET_DIMENSION_SIZE, 2, "f32[2,<=5]", "s32[]", EMOD919, "names dimension 2");
  GIVES(SET_DIMENSION_SIZE, 0, "f32[2,5] s32[]", NULL, "f32[<=2,5]");
  REFUSES(SET_DIMENSION_SIZE, 0, "f32[2,5] s64[]", "f32[<=2,5]", EMOD902, "expected s32[]");
  REFUSES(CONSTANT, 99, "", "f32[]", EMOD913, "has no value");
}

static void slices(void **state) {
  (void)state;
  const uint32_t slice = ATTR(slice, .starts = HILO_DIMS_OF(1, 0), .limits = HILO_DIMS_OF(8, 2),
                              .strides = HILO_DIMS_OF(3, 1));
  GIVES(SLICE, slice, "f32[8,2]", NULL, "f32[3,2]");
  REFUSES(SLICE, slice, "f32[7,2]", "f32[3,2]", EMOD919, "[1:8:3] of dimension 0 of f32[7,2]");
  REFUSES(SLICE, slice, "f32[8]", "f32[3]", EMOD919, "expected 1 each");
  REFUSES(
      SLICE,
      ATTR(slice, .starts = HILO_DIMS_OF(1), .limits = HILO_DIMS_OF(2), .strides = HILO_DIMS_OF(0)),
      "f32[8]", "f32[3]", EMOD919, "a stride of 1 or more");
  GIVES(DYNAMIC_SLICE, DIMS(2, 1), "f32[4,5] s32[] s32[]", NULL, "f32[2,1]");
  GIVES(DYNAMIC_SLICE, DIMS(2, 1), "f32[4,5] s64[2]", NULL, "f32[2,1]");
  GIVES(DYNAMIC_SLICE, 0, "f32[]", NULL, "f32[]");
  REFUSES(DYNAMIC_SLICE, DIMS(2, 1), "f32[4,5] s32[]", "f32[2,1]", EMOD917, "1 start indices");
  REFUSES(DYNAMIC_SLICE, DIMS(2, 6), "f32[4,5] s32[] s32[]", "f32[2,6]", EMOD919,
          "takes 6 of "
          "dimension 1");
  REFUSES(DYNAMIC_SLICE, DIMS(2), "f32[4,5] s32[] s32[]", "f32[2,6]", EMOD919, "sizes {2}");
  REFUSES(DYNAMIC_SLICE, DIMS(2, 2), "f32[4,5] s32[] s64[]", "f32[2,2]", EMOD902,
          "scalars of one "
          "type");
  GIVES(DYNAMIC_UPDATE_SLICE, 0, "f32[4,5] f32[1,5] u32[] u32[]", NULL, "f32[4,5]");
  REFUSES(DYNAMIC_UPDATE_SLICE, 0, "f32[4,5] f32[5,5] u32[] u32[]", "f32[4,5]", EMOD902,
          "puts f32[5,5] into f32[4,5]");
  REFUSES(DYNAMIC_UPDATE_SLICE, 0, "f32[4,5] f32[1] u32[] u32[]", "f32[4,5]", EMOD902, "same");
  REFUSES(DYNAMIC_UPDATE_SLICE, 0, "f32[4,5] f32[1,1] f32[] f32[]", "f32[4,5]", EMOD902,
          "integer "
          "scalars");
}

static void gathers(void **state) {
  (void)state;
  const uint32_t rows = ATTR(
      gather, .offset_dims = HILO_DIMS_OF(1), .collapsed_slice_dims = HILO_DIMS_OF(0),
      .start_index_map = HILO_DIMS_OF(0), .index_vector_dim = 1, .slice_sizes = HILO_DIMS_OF(1, 4));
  GIVES(GATHER, rows, "f32[8,4] s32[16,1]", NULL, "f32[16,4]");
  GIVES(GATHER, rows, "f32[8,4] s32[<=16]", NULL, "f32[<=16,4]");
  REFUSES(GATHER, rows, "f32[8,4] f32[16,1]", "f32[16,4]", EMOD902, "expected integers");
  REFUSES(GATHER, rows, "f32[8,4] s32[16,2]", "f32[16,4]", EMOD919,
          "start_index_map of `gather` has 1 "
          "entries {0}, but an index vector "
          "of s32[16,2] has 2");
  REFUSES(GATHER, rows, "f32[8,3] s32[16,1]", "f32[16,4]", EMOD919, "takes 4 of dimension 1");
  REFUSES(GATHER, rows, "f32[8] s32[16,1]", "f32[16]", EMOD919, "slice_sizes");
  const uint32_t batched =
      ATTR(gather, .collapsed_slice_dims = HILO_DIMS_OF(1), .start_index_map = HILO_DIMS_OF(1),
           .operand_batching_dims = HILO_DIMS_OF(0), .start_indices_batching_dims = HILO_DIMS_OF(0),
           .index_vector_dim = 2, .slice_sizes = HILO_DIMS_OF(1, 1));
  GIVES(GATHER, batched, "f32[3,9] s32[3,5,1]", NULL, "f32[3,5]");
  REFUSES(GATHER, batched, "f32[4,9] s32[3,5,1]", "f32[3,5]", EMOD919,
          "has size 4, but its partner in "
          "the indices 3");
  const uint32_t uncollapsed =
      ATTR(gather, .offset_dims = HILO_DIMS_OF(1), .start_index_map = HILO_DIMS_OF(0),
           .index_vector_dim = 1, .slice_sizes = HILO_DIMS_OF(1, 4));
  REFUSES(GATHER, uncollapsed, "f32[8,4] s32[16,1]", "f32[16,4]", EMOD919, "expected 2 together");
  const uint32_t unsorted =
      ATTR(gather, .offset_dims = HILO_DIMS_OF(2, 1), .start_index_map = HILO_DIMS_OF(0),
           .index_vector_dim = 1, .slice_sizes = HILO_DIMS_OF(1, 4));
  REFUSES(GATHER, unsorted, "f32[8,4] s32[16,1]", "f32[16,1,4]", EMOD919, "must be ascending");
  const uint32_t beyond = ATTR(
      gather, .offset_dims = HILO_DIMS_OF(1), .collapsed_slice_dims = HILO_DIMS_OF(0),
      .start_index_map = HILO_DIMS_OF(0), .index_vector_dim = 3, .slice_sizes = HILO_DIMS_OF(1, 4));
  REFUSES(GATHER, beyond, "f32[8,4] s32[16,1]", "f32[16,4]", EMOD919,
          "index_vector_dim of `gather` is "
          "3, expected 0 to 2");
}

static void scatters(void **state) {
  (void)state;
  const uint32_t rows =
      ATTR(scatter, .update_window_dims = HILO_DIMS_OF(1), .inserted_window_dims = HILO_DIMS_OF(0),
           .scatter_dims_to_operand_dims = HILO_DIMS_OF(0), .index_vector_dim = 1);
  calls("f32[] f32[] -> f32[]");
  GIVES(SCATTER, rows, "f32[8,4] s32[16,1] f32[16,4]", NULL, "f32[8,4]");
  calls("f32[] s32[] f32[] s32[] -> (f32[],s32[])");
  GIVES(SCATTER, rows, "f32[8,4] s32[8,4] s32[16,1] f32[16,4] s32[16,4]", NULL,
        "(f32[8,4], s32[8,4])");
  calls("f32[] f32[] -> f32[]");
  REFUSES(SCATTER, rows, "f32[8,4] s32[16,1] f32[15,4]", "f32[8,4]", EMOD919, "must have size 16");
  calls("f32[] f32[] -> f32[]");
  REFUSES(SCATTER, rows, "f32[8,4] s32[16,1] f32[16,5]", "f32[8,4]", EMOD919,
          "is larger than dimension "
          "1 of f32[8,4]");
  calls("f32[] f32[] -> f32[]");
  REFUSES(SCATTER, rows, "f32[8,4] s32[16,1] f32[16]", "f32[8,4]", EMOD919,
          "expected 2 dimensions");
  calls("f32[] f32[] -> f32[]");
  REFUSES(SCATTER, rows, "f32[8,4] s32[16,1]", "f32[8,4]", EMOD917,
          "has 2 operands, expected at least "
          "3");
  calls("f32[] f32[] -> s32[]");
  REFUSES(SCATTER, rows, "f32[8,4] s32[16,1] f32[16,4]", "f32[8,4]", EMOD914,
          "gives s32[], but its "
          "parameter 0 is f32[]");
  calls("f32[] -> f32[]");
  REFUSES(SCATTER, rows, "f32[8,4] s32[16,1] f32[16,4]", "f32[8,4]", EMOD914,
          "takes 1 parameter, "
          "expected 2");
}

static void products(void **state) {
  (void)state;
  const uint32_t matmul =
      ATTR(dot, .lhs_contracting = HILO_DIMS_OF(1), .rhs_contracting = HILO_DIMS_OF(0));
  GIVES(DOT, matmul, "f32[2,3] f32[3,5]", NULL, "f32[2,5]");
  GIVES(DOT, matmul, "s8[2,3] s8[3,5]", "s32[]", "s32[2,5]");
  GIVES(DOT, matmul, "f8e4m3fn[2,3] f8e5m2[3,5]", "bf16[]", "bf16[2,5]");
  REFUSES(DOT, matmul, "s32[2,3] s32[3,5]", "s8[2,5]", EMOD918, "is not narrower");
  REFUSES(DOT, matmul, "f32[2,3] f32[4,5]", "f32[2,5]", EMOD919, "have sizes 3 and 4");
  REFUSES(DOT, matmul, "f32[2] f32[4,5]", "f32[2,5]", EMOD919,
          "lhs_contracting_dims of `dot` name "
          "dimension 1");
  const uint32_t batched =
      ATTR(dot, .lhs_batch = HILO_DIMS_OF(0), .rhs_batch = HILO_DIMS_OF(1),
           .lhs_contracting = HILO_DIMS_OF(2), .rhs_contracting = HILO_DIMS_OF(0));
  GIVES(DOT, batched, "f32[<=7,2,3] f32[3,7,5]", NULL, "f32[<=7,2,5]");
  REFUSES(DOT, batched, "f32[6,2,3] f32[3,7,5]", "f32[7,2,5]", EMOD919, "batch dimensions 0");
  REFUSES(DOT, ATTR(dot, .lhs_contracting = HILO_DIMS_OF(1)), "f32[2,3] f32[3,5]", "f32[2,5]",
          EMOD919, "1 left and 0 right contracting");
  REFUSES(DOT,
          ATTR(dot, .lhs_batch = HILO_DIMS_OF(0), .rhs_batch = HILO_DIMS_OF(0),
               .lhs_contracting = HILO_DIMS_OF(0), .rhs_contracting = HILO_DIMS_OF(1)),
          "f32[2,2] f32[2,2]", "f32[2,2]", EMOD919,
          "stands in lhs_batch_dims and lhs_contracting_dims");
  const uint32_t ragged =
      ATTR(dot, .lhs_contracting = HILO_DIMS_OF(1), .rhs_contracting = HILO_DIMS_OF(1),
           .lhs_ragged = HILO_DIMS_OF(0), .rhs_group = HILO_DIMS_OF(0));
  GIVES(RAGGED_DOT, ragged, "f32[11,5] f32[3,5,7] s32[3]", NULL, "f32[11,7]");
  REFUSES(RAGGED_DOT, ragged, "f32[11,5] f32[3,5,7] s32[4]", "f32[11,7]", EMOD919,
          "expected 4 groups");
  const uint32_t ragged_sum =
      ATTR(dot, .lhs_contracting = HILO_DIMS_OF(1, 2), .rhs_contracting = HILO_DIMS_OF(0, 1),
           .lhs_ragged = HILO_DIMS_OF(2));
  GIVES(RAGGED_DOT, ragged_sum, "f32[11,19,5] f32[19,5,7] s64[19,3]", NULL, "f32[3,11,7]");
  REFUSES(RAGGED_DOT, ragged_sum, "f32[11,19,5] f32[19,5,7] s64[18,3]", "f32[3,11,7]", EMOD902,
          "the dimensions {19}");
  GIVES(SCALED_DOT, matmul, "f8e4m3fn[2,64] f8e4m3fn[64,5] f8e8m0fnu[2,2] f8e8m0fnu[2,5]", "f32[]",
        "f32[2,5]");
  REFUSES(SCALED_DOT, matmul, "f8e4m3fn[2,64] f8e4m3fn[64,5] f8e8m0fnu[2,3] f8e8m0fnu[2,5]",
          "f32[]", EMOD902, "the scale (operand 2)");
}

static uint32_t conv_attr(int64_t groups, int64_t stride) {
  const hilo_window_attrs window = {.size = HILO_DIMS_OF(3, 3),
                                    .stride = HILO_DIMS_OF(stride, stride),
                                    .pad_low = HILO_DIMS_OF(1, 1),
                                    .pad_high = HILO_DIMS_OF(1, 1)};
  const hilo_conv_dims_attrs dims = {.input_batch = 0,
                                     .input_feature = 3,
                                     .input_spatial = HILO_DIMS_OF(1, 2),
                                     .kernel_input_feature = 2,
                                     .kernel_output_feature = 3,
                                     .kernel_spatial = HILO_DIMS_OF(0, 1),
                                     .output_batch = 0,
                                     .output_feature = 3,
                                     .output_spatial = HILO_DIMS_OF(1, 2)};
  return ATTR(conv, .window = hilo_window_put(&m->records, &window),
              .dim_numbers = hilo_conv_dims_put(&m->records, &dims), .feature_group_count = groups,
              .batch_group_count = 1);
}

static void convolutions(void **state) {
  (void)state;
  GIVES(CONVOLUTION, conv_attr(1, 1), "f32[2,8,8,4] f32[3,3,4,16]", NULL, "f32[2,8,8,16]");
  GIVES(CONVOLUTION, conv_attr(2, 2), "bf16[<=2,8,8,4] bf16[3,3,2,16]", "f32[]", "f32[<=2,4,4,16]");
  REFUSES(CONVOLUTION, conv_attr(2, 1), "f32[2,8,8,4] f32[3,3,4,16]", "f32[2,8,8,16]", EMOD919,
          "4 input features in 2 groups, but a kernel for 4");
  REFUSES(CONVOLUTION, conv_attr(2, 1), "f32[2,8,8,4] f32[3,3,2,15]", "f32[2,8,8,15]", EMOD919,
          "15 output features");
  REFUSES(CONVOLUTION, conv_attr(1, 0), "f32[2,8,8,4] f32[3,3,4,16]", "f32[2,8,8,16]", EMOD919,
          "a stride of 0");
  REFUSES(CONVOLUTION, conv_attr(1, 1), "f32[2,8,8,4] f32[3,5,4,16]", "f32[2,8,8,16]", EMOD919,
          "has size 3 in dimension 1, but the kernel");
  REFUSES(CONVOLUTION, conv_attr(1, 1), "f32[2,8,4] f32[3,3,4,16]", "f32[2,8,8,16]", EMOD919,
          "operand 0 of `convolution` is f32[2,8,4], expected 4 dimensions");
  const hilo_conv_dims_attrs twice = {
      .input_feature = 0, .kernel_output_feature = 1, .output_feature = 1};
  REFUSES(CONVOLUTION, ATTR(conv, .dim_numbers = hilo_conv_dims_put(&m->records, &twice)),
          "f32[2,8] f32[8,3]", "f32[2,3]", EMOD919, "for the input name dimensions 0, 0 and {}");
}

static void algebra(void **state) {
  (void)state;
  GIVES(FFT, ATTR(fft, .type = 0, .length = HILO_DIMS_OF(8)), "c64[2,8]", NULL, "c64[2,8]");
  GIVES(FFT, ATTR(fft, .type = 2, .length = HILO_DIMS_OF(8)), "f32[2,8]", NULL, "c64[2,5]");
  GIVES(FFT, ATTR(fft, .type = 3, .length = HILO_DIMS_OF(4, 8)), "c128[4,5]", NULL, "f64[4,8]");
  REFUSES(FFT, ATTR(fft, .type = 2, .length = HILO_DIMS_OF(9)), "f32[2,8]", "c64[2,5]", EMOD919,
          "8 in dimension 1 of f32[2,8], expected 9");
  REFUSES(FFT, ATTR(fft, .type = 0, .length = HILO_DIMS_OF(8)), "f32[8]", "c64[8]", EMOD902,
          "expected complex numbers");
  REFUSES(FFT, ATTR(fft, .type = 0, .length = HILO_DIMS_NONE), "c64[8]", "c64[8]", EMOD919,
          "expected 1 to 3 numbers");
  GIVES(CHOLESKY, 0, "f32[2,3,3]", NULL, "f32[2,3,3]");
  REFUSES(CHOLESKY, 0, "f32[2,3]", "f32[2,3]", EMOD902, "expected square matrices");
  REFUSES(CHOLESKY, 0, "s32[3,3]", "s32[3,3]", EMOD902, "expected square matrices");
  const uint32_t left = ATTR(linalg, .left_side = true, .transpose_a = 1);
  GIVES(TRIANGULAR_SOLVE, left, "f32[3,3] f32[3,5]", NULL, "f32[3,5]");
  REFUSES(TRIANGULAR_SOLVE, left, "f32[3,3] f32[5,3]", "f32[5,3]", EMOD902, "from the left");
  REFUSES(TRIANGULAR_SOLVE, ATTR(linalg, .left_side = true), "f32[3,3] f32[3,5]", "f32[3,5]",
          EMOD902, "no transpose_a");
}

static void reductions(void **state) {
  (void)state;
  calls("f32[] f32[] -> f32[]");
  GIVES(REDUCE, DIMS(1), "f32[2,3,<=5] f32[]", NULL, "f32[2,<=5]");
  calls("f32[] s32[] f32[] s32[] -> (f32[],s32[])");
  GIVES(REDUCE, DIMS(0, 1), "f32[2,3] s32[2,3] f32[] s32[]", NULL, "(f32[], s32[])");
  calls("f32[] f32[] -> f32[]");
  REFUSES(REDUCE, DIMS(3), "f32[2,3] f32[]", "f32[2]", EMOD919, "name dimension 3");
  calls("f32[] f32[] -> f32[]");
  REFUSES(REDUCE, DIMS(1), "f32[2,3] f32[1]", "f32[2]", EMOD902, "initial value (operand 1)");
  calls("f32[] f32[] -> f32[]");
  REFUSES(REDUCE, DIMS(1), "s32[2,3] s32[]", "s32[2]", EMOD914, "is f32[], expected s32[]");
  calls("f32[] f32[] -> (f32[])");
  REFUSES(REDUCE, DIMS(1), "f32[2,3] f32[2,3] f32[] f32[]", "(f32[2])", EMOD914,
          "takes 2 parameters, "
          "expected 4");
  calls("f32[] f32[] -> f32[2]");
  REFUSES(REDUCE, DIMS(1), "f32[2,3] f32[]", "f32[2]", EMOD914,
          "gives f32[2], but its parameter 0");
  calls("f32[] f32[] -> f32[]");
  REFUSES(REDUCE, DIMS(1), "f32[2,3] f32[] f32[]", "f32[2]", EMOD917, "as many initial values");
  REFUSES(REDUCE, DIMS(1), "f32[2,3] f32[]", "f32[2]", EMOD914, "calls 0 computations, expected 1");
  const hilo_window_attrs window = {.size = HILO_DIMS_OF(1, 2),
                                    .stride = HILO_DIMS_OF(1, 2),
                                    .base_dilation = HILO_DIMS_OF(1, 2)};
  const uint32_t w = ATTR(window_op, .window = hilo_window_put(&m->records, &window));
  calls("f32[] f32[] -> f32[]");
  GIVES(REDUCE_WINDOW, w, "f32[3,8] f32[]", NULL, "f32[3,7]");
  calls("f32[] f32[] -> f32[]");
  REFUSES(REDUCE_WINDOW, w, "f32[8] f32[]", "f32[7]", EMOD919, "2 entries of its size, expected 1");
  calls("f32[] f32[] -> pred[]");
  calls("f32[] f32[] -> f32[]");
  GIVES(SELECT_AND_SCATTER, w, "f32[3,8] f32[3,7] f32[]", NULL, "f32[3,8]");
  calls("f32[] f32[] -> f32[]");
  calls("f32[] f32[] -> f32[]");
  REFUSES(SELECT_AND_SCATTER, w, "f32[3,8] f32[3,7] f32[]", "f32[3,8]", EMOD914, "expected pred[]");
  calls("f32[] f32[] -> pred[]");
  calls("f32[] f32[] -> f32[]");
  REFUSES(SELECT_AND_SCATTER, w, "f32[3,8] f32[3,6] f32[]", "f32[3,8]", EMOD902,
          "window leaves f32[3,"
          "7]");
}

static void folds(void **state) {
  (void)state;
  calls("f32[] s32[] -> pred[]");
  GIVES(MAP, DIMS(0), "f32[4] s32[4]", NULL, "pred[4]");
  calls("f32[] f32[] -> pred[]");
  REFUSES(MAP, DIMS(0), "f32[4] s32[4]", "pred[4]", EMOD914, "is f32[], expected s32[]");
  calls("f32[] s32[] -> pred[]");
  REFUSES(MAP, DIMS(1), "f32[4] s32[4]", "pred[4]", EMOD919, "expected all 1 in order");
  const uint32_t sort = ATTR(sort, .dimension = 1);
  calls("f32[] f32[] -> pred[]");
  GIVES(SORT, sort, "f32[4,5]", NULL, "f32[4,5]");
  calls("f32[] f32[] s32[] s32[] -> pred[]");
  GIVES(SORT, sort, "f32[4,5] s32[4,5]", NULL, "(f32[4,5], s32[4,5])");
  calls("f32[] f32[] -> pred[]");
  REFUSES(SORT, sort, "f32[4]", "f32[4]", EMOD919, "along dimension 1 of f32[4]");
  calls("f32[] f32[] -> f32[]");
  REFUSES(SORT, sort, "f32[4,5]", "f32[4,5]", EMOD914, "expected pred[]");
  calls("f32[] f32[] -> pred[]");
  REFUSES(SORT, sort, "s32[4,5]", "s32[4,5]", EMOD914, "the comparator");
  calls("f32[] f32[] s32[] s32[] -> pred[]");
  REFUSES(SORT, sort, "f32[4,5] s32[5,4]", "(f32[4,5], s32[5,4])", EMOD902,
          "dimensions must agree");
  GIVES(TOPK, ATTR(topk, .k = 3, .largest = true), "f32[4,5]", NULL, "(f32[4,3], s32[4,3])");
  REFUSES(TOPK, ATTR(topk, .k = 6), "f32[4,5]", "(f32[4,6], s32[4,6])", EMOD919,
          "takes 6 of f32[4,5]");
  const uint32_t scan = ATTR(scan, .dimension = 1, .num_carries = 1);
  calls("f32[3] s32[] -> (bf16[3],s32[])");
  GIVES(SCAN, scan, "f32[3,7] s32[]", NULL, "(bf16[3,7], s32[])");
  calls("f32[2] s32[] -> (bf16[3],s32[])");
  REFUSES(SCAN, scan, "f32[3,7] s32[]", "(bf16[3,7], s32[])", EMOD914, "whose slices it takes");
  calls("f32[3] s32[] -> (bf16[3],f32[])");
  REFUSES(SCAN, scan, "f32[3,7] s32[]", "(bf16[3,7], s32[])", EMOD914, "comes back as f32[]");
  const uint32_t norm = ATTR(batch_norm, .feature_index = 1);
  GIVES(BATCH_NORM_TRAINING, norm, "f32[4,5] f32[5] f32[5]", NULL, "(f32[4,5], f32[5], f32[5])");
  GIVES(BATCH_NORM_INFERENCE, norm, "f32[4,5] f32[5] f32[5] f32[5] f32[5]", NULL, "f32[4,5]");
  GIVES(BATCH_NORM_GRAD, norm, "f32[4,5] f32[5] f32[5] f32[5] f32[4,5]", NULL,
        "(f32[4,5], f32[5], f32[5])");
  REFUSES(BATCH_NORM_TRAINING, norm, "f32[4,5] f32[4] f32[5]", "(f32[4,5], f32[5], f32[5])",
          EMOD902, "one value per feature");
  REFUSES(BATCH_NORM_TRAINING, ATTR(batch_norm, .feature_index = 2), "f32[4,5] f32[5] f32[5]",
          "(f32[4,5], f32[5], f32[5])", EMOD919, "feature_index 2");
}

static uint32_t group_attr(int64_t n_groups, int64_t size, int64_t dimension) {
  int64_t sizes[8], ids[64];
  for (int64_t k = 0; k < n_groups; k++) sizes[k] = size;
  for (int64_t k = 0; k < n_groups * size; k++) ids[k] = k;
  const hilo_replica_groups_attrs groups = {.sizes = {sizes, (uint32_t)n_groups},
                                            .ids = {ids, (uint32_t)(n_groups * size)}};
  return ATTR(collective, .groups = hilo_replica_groups_put(&m->records, &groups),
              .dimension = dimension + 1);
}

static void collectives(void **state) {
  (void)state;
  GIVES(ALL_GATHER, group_attr(2, 4, 0), "f32[2,3]", NULL, "f32[8,3]");
  GIVES(ALL_GATHER, ATTR(collective, .dimension = 2), "f32[2,3]", "f32[2,9]", "f32[2,9]");
  GIVES(ALL_GATHER, group_attr(1, 4, 1), "f32[2,3] s8[1,1]", NULL, "(f32[2,12], s8[1,4])");
  GIVES(ALL_GATHER_START, group_attr(2, 4, 0), "f32[2,3]", NULL, "(f32[2,3], f32[8,3])");
  GIVES(ALL_GATHER_DONE, 0, "(f32[2,3], f32[8,3])", NULL, "f32[8,3]");
  REFUSES(ALL_GATHER, group_attr(2, 4, 2), "f32[2,3]", "f32[8,3]", EMOD919, "along dimension 2");
  REFUSES(ALL_GATHER_DONE, 0, "f32[8,3]", "f32[8,3]", EMOD922, "expected the tuple of its start");
  calls("f32[] f32[] -> f32[]");
  GIVES(ALL_REDUCE, group_attr(1, 2, -1), "f32[3] bf16[]", NULL, "(f32[3], bf16[])");
  calls("f32[] f32[] -> (f32[])");
  GIVES(ALL_REDUCE, 0, "bf16[3]", NULL, "bf16[3]");
  calls("f32[] f32[] -> f32[]");
  REFUSES(ALL_REDUCE, 0, "s32[3]", "s32[3]", EMOD914, "is for f32, but operand 0 is s32[3]");
  calls("f32[] f32[] -> pred[]");
  REFUSES(ALL_REDUCE, 0, "f32[3]", "f32[3]", EMOD914, "expected one scalar type");
  calls("f32[] f32[] -> f32[]");
  GIVES(ALL_REDUCE_START, 0, "f32[3]", NULL, "f32[3]");
  GIVES(ALL_REDUCE_DONE, 0, "f32[3]", NULL, "f32[3]");
  calls("f32[] f32[] -> f32[]");
  GIVES(REDUCE_SCATTER, group_attr(1, 4, 0), "f32[8,3]", NULL, "f32[2,3]");
  calls("f32[] f32[] -> f32[]");
  REFUSES(REDUCE_SCATTER, group_attr(1, 4, 1), "f32[8,3]", "f32[8,1]", EMOD919, "into 4 parts");
  GIVES(ALL_TO_ALL, group_attr(2, 2, -1), "f32[2] f32[2]", NULL, "(f32[2], f32[2])");
  GIVES(ALL_TO_ALL, group_attr(2, 2, 0), "f32[4]", NULL, "f32[4]");
  REFUSES(ALL_TO_ALL, group_attr(1, 2, -1), "f32[2]", "(f32[2])", EMOD917,
          "1 operand for a group of 2");
  REFUSES(ALL_TO_ALL, group_attr(1, 2, -1), "f32[2] f32[3]", "(f32[2], f32[3])", EMOD902,
          "one type");
  REFUSES(ALL_TO_ALL, group_attr(1, 2, 0), "f32[3]", "f32[3]", EMOD919, "into 2 parts");
  GIVES(ALL_TO_ALL, ATTR(collective, .split_dimension = 0, .concat_dimension = 1, .split_count = 2),
        "f32[4,3]", NULL, "f32[2,6]");
  GIVES(COLLECTIVE_BROADCAST, 0, "f32[2]", NULL, "f32[2]");
  GIVES(COLLECTIVE_PERMUTE, 0, "f32[2]", NULL, "f32[2]");
  GIVES(COLLECTIVE_PERMUTE, ATTR(collective, .slice_sizes = HILO_DIMS_OF(1, 1)),
        "f32[2] f32[4] (s32[]) (s32[])", NULL, "f32[4]");
  GIVES(COLLECTIVE_PERMUTE_START, 0, "f32[2]", "(f32[2], f32[2], u32[], u32[])",
        "(f32[2], f32[2], u32[], u32[])");
  GIVES(COLLECTIVE_PERMUTE_START, 0, "f32[2]", NULL, "(f32[2], f32[2])");
  REFUSES(COLLECTIVE_PERMUTE, 0, "token[]", "token[]", EMOD902, "expected an array");
  GIVES(RAGGED_ALL_TO_ALL, 0, "f32[8,3] f32[9,3] s32[4] s32[4] s32[4] s32[4]", NULL, "f32[9,3]");
  REFUSES(RAGGED_ALL_TO_ALL, 0, "f32[8,3] f32[9,4] s32[4] s32[4] s32[4] s32[4]", "f32[9,4]",
          EMOD902, "may differ in dimension 0 only");
}

static void control(void **state) {
  (void)state;
  const char *carried = "(f32[2],s32[])";
  calls("f32[2] s32[] -> f32[]");
  GIVES(CALL, 0, "f32[2] s32[]", NULL, "f32[]");
  calls("f32[2] s32[] -> f32[]");
  REFUSES(CALL, 0, "f32[3] s32[]", "f32[]", EMOD914,
          "is f32[2], but operand 0 of `call` is f32[3]");
  calls("f32[2] s32[] -> f32[]");
  REFUSES(CALL, 0, "f32[2]", "f32[]", EMOD914, "takes 2 parameters, expected 1");
  calls("f32[2] -> f32[2]");
  GIVES(FUSION, 0, "f32[2]", NULL, "f32[2]");
  calls("(f32[2],s32[]) -> (f32[2],s32[])");
  calls("(f32[2],s32[]) -> pred[]");
  GIVES(WHILE, 0, carried, NULL, "(f32[2], s32[])");
  calls("s32[] -> s32[]");
  calls("s32[] -> pred[]");
  GIVES(WHILE, 0, "s32[]", NULL, "s32[]");
  calls("s32[] -> f32[]");
  calls("s32[] -> pred[]");
  REFUSES(WHILE, 0, "s32[]", "s32[]", EMOD914, "takes s32[] but gives f32[]");
  calls("s32[] -> s32[]");
  calls("s32[] -> s32[]");
  REFUSES(WHILE, 0, "s32[]", "s32[]", EMOD914, "the condition `f.");
  calls("s32[] -> s32[]");
  REFUSES(WHILE, 0, "s32[]", "s32[]", EMOD914, "calls 1 computation, expected 2");
  calls("f32[2] -> f32[]");
  calls("s32[] -> f32[]");
  GIVES(CONDITIONAL, 0, "pred[] f32[2] s32[]", NULL, "f32[]");
  calls("f32[2] -> f32[]");
  calls("s32[] -> s32[]");
  REFUSES(CONDITIONAL, 0, "pred[] f32[2] s32[]", "f32[]", EMOD914,
          "gives s32[], but branch 0 gives "
          "f32[]");
  calls("f32[2] -> f32[]");
  REFUSES(CONDITIONAL, 0, "pred[] f32[2]", "f32[]", EMOD914, "has 1 branch, expected 2");
  calls("f32[2] -> f32[]");
  REFUSES(CONDITIONAL, 0, "s32[] f32[2] f32[2]", "f32[]", EMOD917, "3 operands, expected 2");
  calls("f32[2] -> f32[]");
  REFUSES(CONDITIONAL, 0, "f32[] f32[2]", "f32[]", EMOD902, "expected pred[] or s32[]");
  calls("f32[2] -> f32[]");
  REFUSES(CONDITIONAL, 0, "s32[] f32[3]", "f32[]", EMOD914,
          "takes f32[2], but operand 1 is f32[3]");
}

static void pairs_and_tokens(void **state) {
  (void)state;
  calls("f32[2] -> f32[]");
  GIVES(ASYNC_START, 0, "f32[2]", "((f32[2]), f32[], u32[])", "((f32[2]), f32[], u32[])");
  calls("f32[2] -> f32[]");
  GIVES(ASYNC_START, 0, "f32[2]", NULL, "((f32[2]), f32[])");
  GIVES(ASYNC_UPDATE, 0, "((f32[2]), f32[], u32[])", NULL, "((f32[2]), f32[], u32[])");
  GIVES(ASYNC_DONE, 0, "((f32[2]), f32[], u32[])", NULL, "f32[]");
  REFUSES(ASYNC_DONE, 0, "f32[2]", "f32[]", EMOD922, "expected the tuple of its start");
  GIVES(COPY_START, 0, "f32[2]", NULL, "(f32[2], f32[2], u32[])");
  GIVES(COPY_DONE, 0, "(f32[2], f32[2], u32[])", NULL, "f32[2]");
  REFUSES(COPY_DONE, 0, "(f32[2], f32[3], u32[])", "f32[2]", EMOD922, "expected one type");
  GIVES(AFTER_ALL, 0, "token[] token[]", NULL, "token[]");
  REFUSES(AFTER_ALL, 0, "token[] f32[]", "token[]", EMOD902, "operand 1 of `after-all` is f32[]");
  GIVES(ADD_DEPENDENCY, 0, "f32[2] token[]", NULL, "f32[2]");
  GIVES(SEND, 0, "f32[2] token[]", NULL, "(f32[2], u32[], token[])");
  GIVES(SEND_DONE, 0, "(f32[2], u32[], token[])", NULL, "token[]");
  GIVES(RECV, 0, "token[]", "(f32[2], u32[], token[])", "(f32[2], u32[], token[])");
  GIVES(RECV_DONE, 0, "(f32[2], u32[], token[])", NULL, "(f32[2], token[])");
  REFUSES(SEND, 0, "f32[2] f32[]", "(f32[2], u32[], token[])", EMOD902, "expected a token");
  REFUSES(RECV, 0, "token[]", "f32[2]", EMOD918, "is declared as f32[2], expected a tuple");
  GIVES(INFEED, 0, "token[]", "(f32[2], token[])", "(f32[2], token[])");
  GIVES(OUTFEED, ATTR(feed, .outfeed_shape = type_of(m, "f32[2]")), "f32[2] token[]", NULL,
        "token[]");
  REFUSES(OUTFEED, ATTR(feed, .outfeed_shape = type_of(m, "f32[3]")), "f32[2] token[]", "token[]",
          EMOD918, "outfeed_shape f32[3]");
  GIVES(PARTITION_ID, 0, "", NULL, "u32[]");
  GIVES(RNG, ATTR(rng, .distribution = 1), "f32[] f32[]", "f32[4]", "f32[4]");
  REFUSES(RNG, ATTR(rng, .distribution = 2), "s32[] s32[]", "s32[4]", EMOD902, "expected a float");
  REFUSES(RNG, 0, "f32[] f32[]", "f32[4]", EMOD902, "distribution 0");
  GIVES(RNG_BIT_GENERATOR, 0, "u64[2]", "(u64[2], u32[5])", "(u64[2], u32[5])");
  GIVES(RNG_GET_AND_UPDATE_STATE, 0, "", NULL, "u64[2]");
  GIVES(CUSTOM_CALL, 0, "f32[2]", "s8[3]", "s8[3]");
  GIVES(OPT_BARRIER, 0, "(f32[2])", NULL, "(f32[2])");
}

static void common_checks(void **state) {
  (void)state;
  REFUSES(ADD, 0, "f32[] f32[] f32[]", "f32[]", EMOD917, "3 operands, expected 2");
  REFUSES(CONCATENATE, DIMS(0), "", "f32[]", EMOD917, "0 operands, expected at least 1");
  REFUSES(TRANSPOSE, ATTR(pad, .low = HILO_DIMS_OF(1)), "f32[2]", "f32[2]", EMOD902,
          "attributes of family `pad`, not `dims`");
  calls("f32[] -> f32[]");
  REFUSES(ADD, 0, "f32[] f32[]", "f32[]", EMOD914, "calls 1 computation, expected 0");
  /* A product whose rank is beyond the limit. */
  char text[400] = "";
  for (int side = 0; side < 2; side++) {
    strcat(text, side ? " f32[" : "f32[");
    for (int k = 0; k < 40; k++) strcat(text, k ? ",1" : "1");
    strcat(text, "]");
  }
  REFUSES(DOT, 0, text, "f32[]", EMOD907, "80 dimensions, at most 64");
}

/* Every operation has a rule that answers for no operands at all without touching what is not
 * there. */
static void no_operands(void **state) {
  (void)state;
  for (int op = 1; op < HILO_OP_COUNT; op++) {
    const hilo_inst_desc desc = {.op = (hilo_op)op};
    const hilo_type t = hilo_infer_desc(m, &desc);
    const bool may = op == HILO_OP_TUPLE || op == HILO_OP_AFTER_ALL || op == HILO_OP_PARTITION_ID ||
                     op == HILO_OP_REPLICA_ID || op == HILO_OP_RNG_GET_AND_UPDATE_STATE;
    assert_int_equal(t.ix != 0, may);
  }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(elementwise),  TEST(comparisons), TEST(conversions),      TEST(movement),
      TEST(slices),       TEST(gathers),     TEST(scatters),         TEST(products),
      TEST(convolutions), TEST(algebra),     TEST(reductions),       TEST(folds),
      TEST(collectives),  TEST(control),     TEST(pairs_and_tokens), TEST(common_checks),
      TEST(no_operands),
  };
  return cmocka_run_group_tests_name("infer", tests, NULL, NULL);
}
