/* How many replicas and partitions replica groups imply, by what their ids count. */
#include "analysis/ranks.h"

#include "hlo_text_support.h"

static const char reducer[] = "%add (a: f32[], b: f32[]) -> f32[] {\n"
                              "  %a = f32[] parameter(0)\n"
                              "  %b = f32[] parameter(1)\n"
                              "  ROOT %s = f32[] add(%a, %b)\n"
                              "}\n";

static hilo_ranks ranks_of(hilo_arena *arena, const char *header, const char *insts) {
  hilo_sb sb = hilo_sb_make(arena);
  hilo_sb_printf(&sb, "HloModule m%s\n%sENTRY %%main (x: f32[8]) -> f32[8] {\n", header, reducer);
  hilo_sb_printf(&sb, "  %%x = f32[8] parameter(0)\n%s}\n", insts);
  return hilo_ranks_of(module_of(arena, hilo_sb_cstr(&sb)), 0, 0);
}

#define REDUCE(name, of, attributes)                                                               \
  "  " name " = f32[8] all-reduce(" of "), to_apply=%add, " attributes "\n"
#define PERMUTE(name, of, attributes)                                                              \
  "  " name " = f32[8] collective-permute(" of "), " attributes "\n"
#define FLAT ", channel_id=1, use_global_device_ids=true"

static void ids_count_by_their_mode(void **state) {
  (void)state;
  static const struct {
    const char *header, *insts;
    int64_t n_replicas, n_partitions;
  } rows[] = {
      {"", "  ROOT %n = f32[8] negate(%x)\n", 1, 1},
      {"", REDUCE("ROOT %r", "%x", "replica_groups={{0,1},{2,3}}"), 4, 1},
      /* replicas, with all their partitions */
      {"", REDUCE("ROOT %r", "%x", "replica_groups={{0,1,2}}, channel_id=1"), 3, 1},
      {"", REDUCE("ROOT %r", "%x", "replica_groups={{0,1,2,3}}" FLAT), 1, 4},
      {"", PERMUTE("ROOT %r", "%x", "source_target_pairs={{0,3}}"), 4, 1},
      {"", PERMUTE("ROOT %r", "%x", "source_target_pairs={{0,3}}, channel_id=1"), 1, 4},
      /* both: each counts its own */
      {"",
       REDUCE("%r", "%x", "replica_groups={{0,1,2}}, channel_id=1")
           PERMUTE("ROOT %p", "%r", "source_target_pairs={{0,3}}, channel_id=2"),
       3, 4},
      /* flattened ids are shared out among the replicas that others name */
      {"",
       REDUCE("%r", "%x", "replica_groups={{0,1}}")
           REDUCE("ROOT %f", "%r", "replica_groups={{0,1,2,3,4,5,6,7}}" FLAT),
       2, 4},
      {"",
       REDUCE("%r", "%x", "replica_groups={{0,1,2}}")
           REDUCE("ROOT %f", "%r", "replica_groups={{0,1,2,3}}" FLAT),
       3, 2},
      {", replica_count=2", REDUCE("ROOT %r", "%x", "replica_groups={{0,1,2,3}}" FLAT), 2, 1},
  };
  for (size_t k = 0; k < HILO_COUNT(rows); k++) {
    hilo_arena arena;
    hilo_arena_init(&arena, NULL, NULL);
    const hilo_ranks ranks = ranks_of(&arena, rows[k].header, rows[k].insts);
    assert_int_equal(ranks.n_replicas, rows[k].n_replicas);
    assert_int_equal(ranks.n_partitions, rows[k].n_partitions);
    hilo_arena_deinit(&arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ids_count_by_their_mode)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
