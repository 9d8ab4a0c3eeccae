/* Trip counts: the closed form against counting, simulation, and everything that is unknown. */
#include "rewrite/loop_count.h"

#include "ir_support.h"
#include "rewrite/build.h"

static hilo_arena arena;
static hilo_module *m;

static int set_up(void **state) {
  (void)state;
  hilo_arena_init(&arena, NULL, NULL);
  m = hilo_module_create(&arena, NULL);
  return 0;
}
static int tear_down(void **state) {
  (void)state;
  hilo_arena_deinit(&arena);
  return 0;
}

/* while (slot 0 DIRECTION bound) slot 0 = slot 0 OP step, over (counter, bound, f32[4]). */
typedef struct {
  hilo_etype etype;
  int64_t start, bound, step;
  hilo_compare_direction direction;
  hilo_op op;          /* 0: add */
  bool bound_first;    /* bound DIRECTION slot */
  bool bound_in_slot;  /* the condition reads slot 1 */
  bool start_is_param; /* the counter's initial value is a parameter of the entry */
  bool bound_is_param; /* likewise slot 1 */
  bool step_first;     /* step OP slot */
  bool keeps_no_bound; /* the body changes slot 1 */
} loop_spec;

static hilo_inst add_to(hilo_comp c, hilo_op op, hilo_type type, const hilo_inst *operands,
                        uint32_t n, uint32_t attr) {
  const hilo_inst_desc desc = {
      .op = op, .type = type, .operands = operands, .n_operands = n, .attr = attr};
  return hilo_inst_add(m, c, &desc);
}

static hilo_inst constant(hilo_comp c, hilo_etype etype, int64_t x) {
  const hilo_type type = hilo_type_scalar(&m->types, etype);
  return add_to(c, HILO_OP_CONSTANT, type, NULL, 0, hilo_literal_splat(m, type, &x).ix);
}

static hilo_comp new_comp(void) {
  return hilo_comp_add(m, hilo_comp_fresh_name(m, hilo_module_string(m, HILO_STR("c"))));
}

static hilo_type state_type(const loop_spec *s) {
  const hilo_type scalar = hilo_type_scalar(&m->types, s->etype);
  return hilo_type_tuple(&m->types, (hilo_type[]){scalar, scalar, type_of(m, "f32[4]")}, 3);
}

static hilo_inst slot_of(hilo_comp c, hilo_inst param, uint32_t k) {
  const hilo_type type = hilo_type_element(&m->types, hilo_inst_type(m, param), k);
  return add_to(c, HILO_OP_GET_TUPLE_ELEMENT, type, &param, 1, k);
}

static hilo_comp make_condition(const loop_spec *s) {
  const hilo_comp c = new_comp();
  const hilo_inst param = add_to(c, HILO_OP_PARAMETER, state_type(s), NULL, 0, 0);
  const hilo_inst counter = slot_of(c, param, 0);
  const hilo_inst bound = s->bound_in_slot ? slot_of(c, param, 1) : constant(c, s->etype, s->bound);
  const hilo_compare_attrs attrs = {.direction = s->direction};
  const hilo_inst operands[2] = {s->bound_first ? bound : counter,
                                 s->bound_first ? counter : bound};
  hilo_comp_set_root(m, c,
                     add_to(c, HILO_OP_COMPARE, type_of(m, "pred[]"), operands, 2,
                            hilo_compare_put(&m->records, &attrs).ix));
  return c;
}

static hilo_comp make_body(const loop_spec *s) {
  const hilo_comp c = new_comp();
  const hilo_inst param = add_to(c, HILO_OP_PARAMETER, state_type(s), NULL, 0, 0);
  const hilo_inst counter = slot_of(c, param, 0), step = constant(c, s->etype, s->step);
  const hilo_inst operands[2] = {s->step_first ? step : counter, s->step_first ? counter : step};
  const hilo_inst next =
      add_to(c, s->op ? s->op : HILO_OP_ADD, hilo_inst_type(m, counter), operands, 2, 0);
  const hilo_inst bound = slot_of(c, param, 1);
  const hilo_inst elements[3] = {next, s->keeps_no_bound ? counter : bound, slot_of(c, param, 2)};
  hilo_comp_set_root(m, c, add_to(c, HILO_OP_TUPLE, state_type(s), elements, 3, 0));
  return c;
}

static hilo_inst make_loop(const loop_spec *s) {
  const hilo_comp entry = new_comp();
  m->entry = entry;
  const hilo_type scalar = hilo_type_scalar(&m->types, s->etype);
  const hilo_inst x = add_to(entry, HILO_OP_PARAMETER, type_of(m, "f32[4]"), NULL, 0, 0);
  const hilo_inst p = add_to(entry, HILO_OP_PARAMETER, scalar, NULL, 0, 1);
  const hilo_inst start = s->start_is_param ? p : constant(entry, s->etype, s->start);
  const hilo_inst bound = s->bound_is_param ? p : constant(entry, s->etype, s->bound);
  const hilo_inst init =
      add_to(entry, HILO_OP_TUPLE, state_type(s), (hilo_inst[]){start, bound, x}, 3, 0);
  const hilo_comp called[2] = {make_body(s), make_condition(s)};
  const hilo_inst_desc desc = {.op = HILO_OP_WHILE,
                               .type = state_type(s),
                               .operands = &init,
                               .n_operands = 1,
                               .called = called,
                               .n_called = 2};
  const hilo_inst loop = hilo_inst_add(m, entry, &desc);
  hilo_comp_set_root(m, entry, loop);
  return loop;
}

static hilo_trip_count count(loop_spec s) {
  return hilo_loop_count_trips(m, make_loop(&s), HILO_MAX_SIMULATED_TRIPS, &arena);
}

#define assert_trips(expected, ...)                                                                \
  do {                                                                                             \
    const hilo_trip_count c_ = count((loop_spec){__VA_ARGS__});                                    \
    if (!c_.known) fail_msg("unknown: %s", c_.reason);                                             \
    assert_true(c_.count == (expected));                                                           \
    assert_null(c_.reason);                                                                        \
  } while (0)
#define assert_unknown(text, ...)                                                                  \
  do {                                                                                             \
    const hilo_trip_count c_ = count((loop_spec){__VA_ARGS__});                                    \
    assert_false(c_.known);                                                                        \
    assert_string_equal(c_.reason, text);                                                          \
  } while (0)

/* Every start, bound and step of a small type against running the loop. */
static void the_closed_form_counts_as_running_does(void **state) {
  (void)state;
  static const hilo_etype etypes[] = {HILO_S4, HILO_U4};
  for (size_t e = 0; e < HILO_COUNT(etypes); e++) {
    const bool is_signed = etypes[e] == HILO_S4;
    const int low = is_signed ? -8 : 0, high = is_signed ? 7 : 15;
    for (int start = low; start <= high; start++)
      for (int bound = low; bound <= high; bound++)
        for (int step = 1; step <= high; step++)
          for (int or_equal = 0; or_equal <= 1; or_equal++) {
            int x = start;
            uint64_t n = 0, trips = UINT64_MAX;
            while (x <= high && (or_equal ? x <= bound : x < bound)) x += step, n++;
            const hilo_count_up c = {etypes[e], start, bound, step, or_equal};
            const bool fits = hilo_count_up_trips(&c, &trips);
            assert_int_equal(fits, x <= high);
            if (fits) assert_true(trips == n);
          }
  }
}

static void the_closed_form_has_no_bound(void **state) {
  (void)state;
  assert_trips(10, .etype = HILO_S32, .bound = 10, .step = 1, .direction = HILO_LT);
  assert_trips(1000000000, .etype = HILO_S32, .bound = 1000000000, .step = 1, .direction = HILO_LT);
  assert_trips(4, .etype = HILO_S64, .start = -3, .bound = 7, .step = 3, .direction = HILO_LE);
  assert_trips(0, .etype = HILO_S32, .start = 5, .bound = 5, .step = 1, .direction = HILO_LT);
  assert_trips(0, .etype = HILO_S32, .start = 6, .bound = 5, .step = 1, .direction = HILO_LE);
}

static void conditions_are_read_either_way_round(void **state) {
  (void)state;
  assert_trips(10, .etype = HILO_S32, .bound = 10, .step = 1, .direction = HILO_GT,
               .bound_first = true);
  assert_trips(11, .etype = HILO_S32, .bound = 10, .step = 1, .direction = HILO_GE,
               .bound_first = true);
  assert_trips(5, .etype = HILO_S32, .bound = 10, .step = 2, .direction = HILO_LT,
               .step_first = true);
}

/* B50 */
static void unsigned_counters_count_to_the_end_of_their_type(void **state) {
  (void)state;
  assert_trips(3000000000, .etype = HILO_U32, .bound = 3000000000, .step = 1, .direction = HILO_LT);
  assert_trips(2, .etype = HILO_U64, .start = INT64_MAX, .bound = INT64_MIN + 1, .step = 1,
               .direction = HILO_LT);
  /* i <= 255 is always true. */
  assert_unknown("it does not end within the trips that are simulated", .etype = HILO_U8,
                 .bound = 255, .step = 1, .direction = HILO_LE);
}

static void a_counter_that_wraps_is_run(void **state) {
  (void)state;
  /* 250, 253, then 0, 3, … 255, which is not less than 254 */
  const hilo_trip_count c = count(
      (loop_spec){.etype = HILO_U8, .start = 250, .bound = 254, .step = 3, .direction = HILO_LT});
  assert_true(c.known && c.simulated && c.count == 2 + 85);
}

/* B50: a bound that is no constant is not taken for one. */
static void bounds_in_slots(void **state) {
  (void)state;
  assert_trips(7, .etype = HILO_S32, .bound = 7, .step = 1, .direction = HILO_LT,
               .bound_in_slot = true);
  assert_unknown("its condition or step depends on a value that is no constant", .etype = HILO_U32,
                 .bound = 7, .step = 1, .direction = HILO_LT, .bound_in_slot = true,
                 .bound_is_param = true);
  assert_unknown("it depends on several counters", .etype = HILO_S32, .bound = 7, .step = 1,
                 .direction = HILO_LT, .bound_in_slot = true, .keeps_no_bound = true);
}

static void other_loops_are_run(void **state) {
  (void)state;
  hilo_trip_count c = count((loop_spec){
      .etype = HILO_S32, .start = 10, .step = 1, .direction = HILO_GT, .op = HILO_OP_SUBTRACT});
  assert_true(c.known && c.simulated && c.count == 10 && c.has_start && c.start == 10);
  assert_trips(7, .etype = HILO_S32, .start = 1, .bound = 128, .step = 2, .direction = HILO_NE,
               .op = HILO_OP_MULTIPLY);
  assert_trips(128, .etype = HILO_S32, .bound = 128, .step = 1, .direction = HILO_NE);
  assert_unknown("it does not end within the trips that are simulated", .etype = HILO_S32,
                 .bound = 129, .step = 1, .direction = HILO_NE);
  assert_trips(0, .etype = HILO_S32, .start = 3, .bound = 3, .step = 1, .direction = HILO_NE);
}

static void what_inputs_decide_is_unknown(void **state) {
  (void)state;
  assert_unknown("the start of its counter is no constant", .etype = HILO_S32, .bound = 7,
                 .step = 1, .direction = HILO_LT, .start_is_param = true);
}

static void the_start_is_folded(void **state) {
  (void)state;
  loop_spec s = {.etype = HILO_S32, .bound = 10, .step = 1, .direction = HILO_LT};
  const hilo_inst loop = make_loop(&s);
  const hilo_inst init = hilo_inst_operand(m, loop, 0);
  const hilo_inst three = hilo_build_int(m, init, HILO_S32, 3);
  const hilo_inst six = hilo_build_binary(m, init, HILO_OP_ADD, three, three);
  const hilo_inst held = hilo_build_tuple(m, init, &six, 1);
  hilo_inst_set_operand(m, init, 0, hilo_build_gte(m, init, held, 0));
  const hilo_trip_count c = hilo_loop_count_trips(m, loop, 0, &arena);
  assert_true(c.known && c.count == 4 && c.start == 6);
}

static void loops_over_one_value(void **state) {
  (void)state;
  const hilo_comp entry = new_comp(), body = new_comp(), condition = new_comp();
  const hilo_type scalar = type_of(m, "u16[]");
  m->entry = entry;
  hilo_inst p = add_to(body, HILO_OP_PARAMETER, scalar, NULL, 0, 0);
  const hilo_inst step[2] = {p, constant(body, HILO_U16, 5)};
  hilo_comp_set_root(m, body, add_to(body, HILO_OP_ADD, scalar, step, 2, 0));
  p = add_to(condition, HILO_OP_PARAMETER, scalar, NULL, 0, 0);
  const hilo_compare_attrs attrs = {.direction = HILO_LT};
  const hilo_inst sides[2] = {p, constant(condition, HILO_U16, 21)};
  hilo_comp_set_root(m, condition,
                     add_to(condition, HILO_OP_COMPARE, type_of(m, "pred[]"), sides, 2,
                            hilo_compare_put(&m->records, &attrs).ix));
  const hilo_inst start = constant(entry, HILO_U16, 0);
  const hilo_inst_desc desc = {.op = HILO_OP_WHILE,
                               .type = scalar,
                               .operands = &start,
                               .n_operands = 1,
                               .called = (hilo_comp[]){body, condition},
                               .n_called = 2};
  const hilo_inst loop = hilo_inst_add(m, entry, &desc);
  const hilo_trip_count c = hilo_loop_count_trips(m, loop, 0, &arena);
  assert_true(c.known && c.count == 5);
}

static void descriptions_say_what_is_known(void **state) {
  (void)state;
  const struct {
    loop_spec loop;
    const char *text;
  } cases[] = {
      {{.etype = HILO_S32, .bound = 10, .step = 2, .direction = HILO_LT},
       "its counter is element 0, starts at 0, steps by 2, runs while less than 10; it runs 5 "
       "times"},
      {{.etype = HILO_S32, .bound = 7, .step = 1, .direction = HILO_LT, .start_is_param = true},
       "its counter is element 0, steps by 1, runs while less than 7; the trip count is unknown: "
       "the "
       "start of its counter is no constant"},
  };
  for (size_t k = 0; k < HILO_COUNT(cases); k++) {
    const hilo_trip_count c = count(cases[k].loop);
    hilo_sb sb = hilo_sb_make(&arena);
    hilo_trip_count_describe(&c, &sb);
    assert_string_equal(hilo_sb_cstr(&sb), cases[k].text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
      TEST(the_closed_form_counts_as_running_does),
      TEST(the_closed_form_has_no_bound),
      TEST(conditions_are_read_either_way_round),
      TEST(unsigned_counters_count_to_the_end_of_their_type),
      TEST(a_counter_that_wraps_is_run),
      TEST(bounds_in_slots),
      TEST(other_loops_are_run),
      TEST(what_inputs_decide_is_unknown),
      TEST(the_start_is_folded),
      TEST(loops_over_one_value),
      TEST(descriptions_say_what_is_known),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
