/* The model of exposed collectives against sums made by hand, and the windows of step 21 on random
 * modules: still an order that obeys everything, no more alive than allowed, never more exposed. */
#include "formats/load.h"
#include "ir/verify.h"
#include "sched/windows.h"
#include "test_support.h"

static const hilo_device_rates unit_rates = {
    .latency_ns = 100, .link_bytes = 1, .memory_bytes = 1, .flops = 1};

#define SUM                                                                                        \
  "sum {\n x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT s = f32[] add(x, y)\n}\n"
#define REDUCED                                                                                    \
  "channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true, to_apply=sum\n"

static hilo_module *load(hilo_arena *arena, const char *text) {
  hilo_diags diags = hilo_diags_make(arena);
  hilo_module *m = NULL;
  assert_int_equal(hilo_load_bytes(arena, hilo_str_of(text), HILO_STR("test"), &diags, &m),
                   HILO_OK);
  assert_int_equal(hilo_verify(m, &diags), HILO_OK);
  return m;
}

static hilo_overlap_report report_of(hilo_arena *arena, const char *text) {
  return hilo_overlap_report_make(load(arena, text), &unit_rates, arena);
}

static void check(const char *text, uint64_t n, uint64_t sent, uint64_t link_ns,
                  uint64_t compute_ns, uint64_t exposed_ns) {
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  const hilo_overlap all = report_of(&arena, text).all;
  assert_int_equal(all.n_collectives, n);
  assert_int_equal(all.sent_bytes, sent);
  assert_int_equal(all.link_ps, link_ns * 1000);
  assert_int_equal(all.compute_ps, compute_ns * 1000);
  assert_int_equal(all.exposed_ps, exposed_ns * 1000);
  hilo_arena_deinit(&arena);
}

/* 400 bytes over 4 ranks: 2 * 300 by ring, so 700 ns; each negate reads and writes 800. */
static void test_a_reader_waits_for_what_compute_does_not_cover(void **state) {
  (void)state;
  check("HloModule m, num_partitions=4\n" SUM
        "ENTRY e {\n p = f32[100] parameter(0)\n q = f32[50] parameter(1)\n"
        " a = f32[100] all-reduce(p), " REDUCED " b = f32[50] negate(q)\n"
        " c = f32[100] negate(a)\n ROOT t = (f32[50], f32[100]) tuple(b, c)\n}\n",
        1, 600, 700, 1200, 300);
  check("HloModule m, num_partitions=4\n" SUM
        "ENTRY e {\n p = f32[100] parameter(0)\n q = f32[100] parameter(1)\n"
        " a = f32[100] all-reduce(p), " REDUCED " b = f32[100] negate(q)\n"
        " c = f32[100] negate(a)\n ROOT t = (f32[100], f32[100]) tuple(b, c)\n}\n",
        1, 600, 700, 1600, 0);
}

/* What is returned is waited for at the end; a view waits for nothing itself. */
static void test_views_pass_the_wait_on(void **state) {
  (void)state;
  check("HloModule m, num_partitions=4\n" SUM "ENTRY e {\n p = f32[100] parameter(0)\n"
        " a = (f32[100], f32[100]) all-reduce(p, p), " REDUCED
        " b = f32[100] get-tuple-element(a), index=1\n c = f32[10,10] reshape(b)\n"
        " d = f32[100] negate(p)\n ROOT t = (f32[10,10], f32[100]) tuple(c, d)\n}\n",
        1, 1200, 1300, 800, 500);
}

/* One link: the second stands behind the first. A group of one rank sends nothing. */
static void test_the_link_is_one(void **state) {
  (void)state;
  check("HloModule m, num_partitions=4\n" SUM
        "ENTRY e {\n p = f32[100] parameter(0)\n a = f32[100] all-reduce(p), " REDUCED
        " b = f32[400] all-gather(p), channel_id=2, replica_groups={{0,1,2,3}}, dimensions={0}, "
        "use_global_device_ids=true\n"
        " c = f32[100] all-to-all(p), channel_id=3, replica_groups={{0},{1},{2},{3}}, "
        "dimensions={0}\n"
        " ROOT t = (f32[100], f32[400], f32[100]) tuple(a, b, c)\n}\n",
        3, 600 + 1200, 700 + 1300, 0, 2000);
}

static void test_kinds(void **state) {
  (void)state;
  check("HloModule m, num_partitions=4\n" SUM "ENTRY e {\n p = f32[100] parameter(0)\n"
        " a = f32[25] reduce-scatter(p), dimensions={0}, " REDUCED
        " b = f32[25] collective-permute(a), channel_id=2, source_target_pairs={{0,1},{1,0}}\n"
        " ROOT c = f32[25] collective-broadcast(b), replica_groups={{0,1,2,3}}, channel_id=3\n}\n",
        3, 300 + 100 + 100, 400 + 200 + 200, 0, 800);
}

/* Three turns of 700 ns on the link; the condition compares 9 bytes. */
static void test_loops_count_their_turns(void **state) {
  (void)state;
  check("HloModule m, num_partitions=4\n" SUM
        "body {\n v = (s32[], f32[100]) parameter(0)\n i = s32[] get-tuple-element(v), index=0\n"
        " x = f32[100] get-tuple-element(v), index=1\n one = s32[] constant(1)\n"
        " j = s32[] add(i, one)\n y = f32[100] all-reduce(x), " REDUCED
        " ROOT t = (s32[], f32[100]) tuple(j, y)\n}\n"
        "cond {\n v = (s32[], f32[100]) parameter(0)\n i = s32[] get-tuple-element(v), index=0\n"
        " n = s32[] constant(3)\n ROOT c = pred[] compare(i, n), direction=LT\n}\n"
        "ENTRY e {\n p = f32[100] parameter(0)\n zero = s32[] constant(0)\n"
        " t = (s32[], f32[100]) tuple(zero, p)\n"
        " ROOT w = (s32[], f32[100]) while(t), condition=cond, body=body\n}\n",
        3, 1800, 2100, 3 * (12 + 9), 2100);
}

/* The two of a fusion share their latency. */
static void test_a_fusion_is_issued_as_one(void **state) {
  (void)state;
  check("HloModule m, num_partitions=4\n" SUM
        "f {\n x = f32[100] parameter(0)\n y = f32[100] parameter(1)\n"
        " s = f32[25] reduce-scatter(x), dimensions={0}, " REDUCED
        " g = f32[400] all-gather(y), channel_id=2, replica_groups={{0,1,2,3}}, dimensions={0}, "
        "use_global_device_ids=true\n ROOT t = (f32[25], f32[400]) tuple(s, g)\n}\n"
        "ENTRY e {\n p = f32[100] parameter(0)\n"
        " ROOT r = (f32[25], f32[400]) fusion(p, p), kind=kCustom, calls=f\n}\n",
        1, 300 + 1200, 100 + 1500, 0, 1600);
}

static void test_waits_are_blamed_longest_first(void **state) {
  (void)state;
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  const hilo_overlap_report r =
      report_of(&arena, "HloModule m, num_partitions=4\n" SUM
                        "ENTRY e {\n p = f32[100] parameter(0)\n q = f32[200] parameter(1)\n"
                        " a = f32[100] all-reduce(p), " REDUCED " b = f32[100] negate(a)\n"
                        " c = f32[200] all-reduce(q), " REDUCED " d = f32[200] negate(c)\n"
                        " ROOT t = (f32[100], f32[200]) tuple(b, d)\n}\n");
  assert_int_equal(r.n_waits, 2);
  assert_int_equal(r.waits[0].exposed_ps, 1300 * 1000);
  assert_int_equal(r.waits[0].sent_bytes, 1200);
  assert_int_equal(r.waits[1].exposed_ps, 700 * 1000);
  hilo_arena_deinit(&arena);
}

/* ---- windows ---- */

static uint64_t random_state;
static uint32_t draw(uint32_t n) {
  random_state += 0x9e3779b97f4a7c15ull;
  return (uint32_t)(hilo_hash_u64(random_state) % n);
}

/* Elementwise operations and all-reduces over one type, operands drawn from those before. */
static hilo_module *random_module(hilo_arena *arena, uint32_t n) {
  hilo_sb text = hilo_sb_make(arena);
  hilo_sb_cat(&text,
              "HloModule r, num_partitions=4\n" SUM "ENTRY e {\n v0 = f32[100] parameter(0)\n");
  for (uint32_t k = 1; k < n; k++) {
    const uint32_t a = draw(k), b = k - 1 - draw(k < 6 ? k : 6);
    if (draw(5) == 0)
      hilo_sb_printf(&text, " v%u = f32[100] all-reduce(v%u), " REDUCED, k, b);
    else if (draw(9) == 0)
      hilo_sb_printf(&text, " v%u = f32[100] reshape(v%u)\n", k, b);
    else if (draw(9) == 0 && b)
      hilo_sb_printf(&text, " v%u = f32[100] add(v%u, v%u), control-predecessors={v%u}\n", k, a, b,
                     b);
    else
      hilo_sb_printf(&text, " v%u = f32[100] add(v%u, v%u)\n", k, a, b);
  }
  hilo_sb_printf(&text, " ROOT t = (f32[100]) tuple(v%u)\n}\n", n - 1);
  return load(arena, hilo_sb_cstr(&text));
}

typedef struct {
  uint32_t n_moved, n_better;
} tally;

static void check_windows(uint64_t seed, double growth, tally *t) {
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  random_state = seed;
  hilo_module *m = random_module(&arena, 12 + draw(60));
  const uint64_t before = hilo_overlap_report_make(m, &unit_rates, &arena).all.exposed_ps;
  const hilo_overlap_costs costs = hilo_overlap_costs_make(m, &unit_rates, &arena);
  const hilo_motion_law law = hilo_motion_law_make(m, &arena);
  hilo_peaks *peaks = hilo_peaks_make(m, HILO_MEMORY_TARGET, &arena);
  hilo_plan plan = hilo_plan_make(m, m->entry, &law, peaks, &arena);
  const uint64_t limit = (uint64_t)((double)plan.peak * growth);
  const uint64_t *fixed = hilo_bitset_create(&arena, plan.l.n);
  const uint32_t n = hilo_windows_widen(&plan, &costs, fixed, limit);
  (void)hilo_plan_apply(&plan, limit);
  hilo_diags diags = hilo_diags_make(&arena);
  assert_int_equal(hilo_verify(m, &diags), HILO_OK); /* definitions before uses, edges in order */
  assert_true(hilo_peaks_of(hilo_peaks_make(m, HILO_MEMORY_TARGET, &arena), m->entry) <= limit);
  const uint64_t after = hilo_overlap_report_make(m, &unit_rates, &arena).all.exposed_ps;
  assert_true(n ? after < before : after == before);
  t->n_moved += n;
  t->n_better += after < before;
  hilo_arena_deinit(&arena);
}

static void test_windows_of_random_modules(void **state) {
  (void)state;
  tally t = {0};
  for (uint64_t seed = 1; seed <= 300; seed++) check_windows(seed, seed % 3 ? 1.05 : 2, &t);
  print_message("%u moves, %u of 300 modules expose less\n", t.n_moved, t.n_better);
  assert_true(t.n_better > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_a_reader_waits_for_what_compute_does_not_cover),
      cmocka_unit_test(test_views_pass_the_wait_on),
      cmocka_unit_test(test_the_link_is_one),
      cmocka_unit_test(test_kinds),
      cmocka_unit_test(test_loops_count_their_turns),
      cmocka_unit_test(test_a_fusion_is_issued_as_one),
      cmocka_unit_test(test_waits_are_blamed_longest_first),
      cmocka_unit_test(test_windows_of_random_modules),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
