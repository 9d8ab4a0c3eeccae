/* Collectives: each operation in each mode of replica groups on 2 replicas of 4 partitions, against
 * index formulas. */
#include "ranks_support.h"

/* Who takes part together, said as a function of two ranks: the place of `other` in the group of
 * `rank`, or -1. */
typedef struct {
  const char *attributes;
  uint32_t size; /* of the group of every rank */
  int (*place)(uint32_t rank, uint32_t other);
} grouping;

/* replica_groups={{1,0}}: both replicas, the second first, each partition by itself. */
static int across_replicas(uint32_t rank, uint32_t other) {
  if (partition_of(rank) != partition_of(other)) return -1;
  return replica_of(other) == 1 ? 0 : 1;
}
/* No groups, no channel: all replicas in order. */
static int all_replicas(uint32_t rank, uint32_t other) {
  return partition_of(rank) == partition_of(other) ? (int)replica_of(other) : -1;
}
/* {{0},{1}} with a channel: a replica with its partitions. */
static int in_a_replica(uint32_t rank, uint32_t other) {
  return replica_of(rank) == replica_of(other) ? (int)partition_of(other) : -1;
}
/* {{1,0}} with a channel: all, the second replica's partitions first. */
static int everybody_swapped(uint32_t rank, uint32_t other) {
  (void)rank;
  return (int)((1 - replica_of(other)) * PARTITIONS + partition_of(other));
}
/* No groups, with a channel, of an operation that takes use_global_device_ids: all in order. */
static int everybody(uint32_t rank, uint32_t other) {
  (void)rank;
  return (int)other;
}
/* {{7,0,2,4},{1,3,5,6}} as flattened ids. */
static int flattened(uint32_t rank, uint32_t other) {
  static const uint32_t lists[2][4] = {{7, 0, 2, 4}, {1, 3, 5, 6}};
  for (int g = 0; g < 2; g++) {
    int mine = -1, its = -1;
    for (int k = 0; k < 4; k++) {
      if (lists[g][k] == rank) mine = k;
      if (lists[g][k] == other) its = k;
    }
    if (mine >= 0) return its;
  }
  return -1;
}
/* {{3,1},{0,2}} of partitions, each replica by itself. */
static int across_partitions(uint32_t rank, uint32_t other) {
  static const int group[] = {1, 0, 1, 0}, place[] = {0, 1, 1, 0};
  const uint32_t a = partition_of(rank), b = partition_of(other);
  return replica_of(rank) == replica_of(other) && group[a] == group[b] ? place[b] : -1;
}

/* The modes of all-reduce, all-gather and reduce-scatter. */
static const grouping with_ids[] = {
    {"replica_groups={{1,0}}", 2, across_replicas},
    {"replica_groups={}", 2, all_replicas},
    {"replica_groups={{0},{1}}, channel_id=1", 4, in_a_replica},
    {"replica_groups={{1,0}}, channel_id=2", 8, everybody_swapped},
    {"replica_groups={}, channel_id=3", 8, everybody},
    {"replica_groups={{7,0,2,4},{1,3,5,6}}, channel_id=4, use_global_device_ids=true", 4,
     flattened},
    {"replica_groups=[1,8]<=[8], channel_id=5, use_global_device_ids=true", 8, everybody},
};
/* Those of all-to-all and collective-broadcast. */
static const grouping without_ids[] = {
    {"replica_groups={{1,0}}", 2, across_replicas},
    {"replica_groups={}", 2, all_replicas},
    {"replica_groups={{3,1},{0,2}}, channel_id=1", 2, across_partitions},
    {"replica_groups={}, channel_id=1", 4, in_a_replica},
};

static uint32_t member(const grouping *g, uint32_t rank, uint32_t place) {
  for (uint32_t r = 0; r < RANKS; r++)
    if (g->place(rank, r) == (int)place) return r;
  fail();
  return 0;
}

static int32_t sum_of(const grouping *g, uint32_t rank, uint32_t k) {
  int32_t sum = 0;
  for (uint32_t p = 0; p < g->size; p++) sum += element(member(g, rank, p), k);
  return sum;
}

static void all_reduces(void **state) {
  (void)state;
  for (uint32_t j = 0; j < HILO_COUNT(with_ids); j++)
    for (int halves = 0; halves < 2; halves++) {
      const grouping *g = &with_ids[j];
      run_on_elements(halves
                          ? text_of("HloModule m, replica_count=2, num_partitions=4\n" ADDER
                                    "ENTRY %%main (x: s32[5]) -> s32[5] {\n"
                                    "  %%x = s32[5] parameter(0)\n"
                                    "  %%c = s32[5] all-reduce-start(%%x), %s, to_apply=%%add\n"
                                    "  ROOT %%d = s32[5] all-reduce-done(%%c)\n}\n",
                                    g->attributes)
                          : text_of("HloModule m, replica_count=2, num_partitions=4\n" ADDER
                                    "ENTRY %%main (x: s32[5]) -> s32[5] {\n"
                                    "  %%x = s32[5] parameter(0)\n"
                                    "  ROOT %%c = s32[5] all-reduce(%%x), %s, to_apply=%%add\n}\n",
                                    g->attributes),
                      5);
      for (uint32_t r = 0; r < RANKS; r++)
        for (uint32_t k = 0; k < 5; k++) assert_int_equal(ints_of(r)[k], sum_of(g, r, k));
    }
}

/* [2,3] gathered along dimension 1 and along 0, both halves. */
static void all_gathers(void **state) {
  (void)state;
  for (uint32_t j = 0; j < HILO_COUNT(with_ids); j++)
    for (uint32_t dim = 0; dim < 2; dim++)
      for (int halves = 0; halves < 2; halves++) {
        const grouping *g = &with_ids[j];
        const uint32_t rows = dim == 0 ? 2 * g->size : 2, columns = dim == 1 ? 3 * g->size : 3;
        run_on_elements(
            halves ? text_of("HloModule m, replica_count=2, num_partitions=4\n"
                             "ENTRY %%main (x: s32[2,3]) -> s32[%u,%u] {\n"
                             "  %%x = s32[2,3] parameter(0)\n"
                             "  %%c = (s32[2,3], s32[%u,%u]) all-gather-start(%%x), %s, "
                             "dimensions={%u}\n"
                             "  ROOT %%d = s32[%u,%u] all-gather-done(%%c)\n}\n",
                             rows, columns, rows, columns, g->attributes, dim, rows, columns)
                   : text_of("HloModule m, replica_count=2, num_partitions=4\n"
                             "ENTRY %%main (x: s32[2,3]) -> s32[%u,%u] {\n"
                             "  %%x = s32[2,3] parameter(0)\n"
                             "  ROOT %%c = s32[%u,%u] all-gather(%%x), %s, dimensions={%u}\n}\n",
                             rows, columns, rows, columns, g->attributes, dim),
            6);
        for (uint32_t r = 0; r < RANKS; r++)
          for (uint32_t a = 0; a < rows; a++)
            for (uint32_t b = 0; b < columns; b++) {
              const uint32_t from = member(g, r, dim == 0 ? a / 2 : b / 3);
              assert_int_equal(ints_of(r)[a * columns + b], element(from, a % 2 * 3 + b % 3));
            }
      }
}

/* [8,2] or [2,8] cut along the dimension of 8. */
static void reduce_scatters(void **state) {
  (void)state;
  for (uint32_t j = 0; j < HILO_COUNT(with_ids); j++)
    for (uint32_t dim = 0; dim < 2; dim++) {
      const grouping *g = &with_ids[j];
      const uint32_t part = 8 / g->size;
      const uint32_t rows = dim == 0 ? part : 2, columns = dim == 1 ? part : 2;
      run_on_elements(text_of("HloModule m, replica_count=2, num_partitions=4\n" ADDER
                              "ENTRY %%main (x: s32[%u,%u]) -> s32[%u,%u] {\n"
                              "  %%x = s32[%u,%u] parameter(0)\n"
                              "  ROOT %%c = s32[%u,%u] reduce-scatter(%%x), %s, dimensions={%u}, "
                              "to_apply=%%add\n}\n",
                              dim ? 2 : 8, dim ? 8 : 2, rows, columns, dim ? 2 : 8, dim ? 8 : 2,
                              rows, columns, g->attributes, dim),
                      16);
      for (uint32_t r = 0; r < RANKS; r++) {
        const uint32_t place = (uint32_t)g->place(r, r);
        for (uint32_t a = 0; a < rows; a++)
          for (uint32_t b = 0; b < columns; b++) {
            const uint32_t row = dim == 0 ? place * part + a : a;
            const uint32_t column = dim == 1 ? place * part + b : b;
            assert_int_equal(ints_of(r)[a * columns + b],
                             sum_of(g, r, row * (dim ? 8 : 2) + column));
          }
      }
    }
}

/* [4,4], cut and joined along one dimension. */
static void all_to_alls_along_a_dimension(void **state) {
  (void)state;
  for (uint32_t j = 0; j < HILO_COUNT(without_ids); j++)
    for (uint32_t dim = 0; dim < 2; dim++) {
      const grouping *g = &without_ids[j];
      run_on_elements(text_of("HloModule m, replica_count=2, num_partitions=4\n"
                              "ENTRY %%main (x: s32[4,4]) -> s32[4,4] {\n"
                              "  %%x = s32[4,4] parameter(0)\n"
                              "  ROOT %%c = s32[4,4] all-to-all(%%x), %s, dimensions={%u}\n}\n",
                              g->attributes, dim),
                      16);
      const uint32_t part = 4 / g->size;
      for (uint32_t r = 0; r < RANKS; r++)
        for (uint32_t a = 0; a < 4; a++)
          for (uint32_t b = 0; b < 4; b++) {
            const uint32_t at = dim == 0 ? a : b, from = member(g, r, at / part);
            const uint32_t there = (uint32_t)g->place(r, r) * part + at % part;
            assert_int_equal(ints_of(r)[a * 4 + b],
                             element(from, dim == 0 ? there * 4 + b : a * 4 + there));
          }
    }
}

/* As MLIR has it: [4,2,4] cut along one dimension and joined along another. */
static void all_to_alls_between_dimensions(void **state) {
  (void)state;
  static const uint32_t pairs[][2] = {{0, 2}, {2, 0}, {0, 1}, {2, 1}, {2, 2}};
  for (uint32_t j = 0; j < HILO_COUNT(without_ids); j++)
    for (uint32_t p = 0; p < HILO_COUNT(pairs); p++) {
      const grouping *g = &without_ids[j];
      const uint32_t split = pairs[p][0], join = pairs[p][1], in[3] = {4, 2, 4};
      uint32_t dims[3] = {4, 2, 4};
      dims[split] /= g->size;
      dims[join] *= g->size;
      hilo_module *m = module_of(
          &arena, text_of("HloModule m, replica_count=2, num_partitions=4\n"
                          "ENTRY %%main (x: s32[4,2,4]) -> s32[4,2,4] {\n"
                          "  %%x = s32[4,2,4] parameter(0)\n"
                          "  ROOT %%c = s32[4,2,4] all-to-all(%%x), %s, dimensions={%u}\n}\n",
                          g->attributes, split));
      const hilo_inst i = inst_named(m, "c");
      hilo_collective_attrs attrs = hilo_attrs(m, i, collective);
      attrs.dimension = 0;
      attrs.split_dimension = split;
      attrs.concat_dimension = join;
      attrs.split_count = g->size;
      hilo_inst_set_attr(m, i, hilo_collective_put(&m->records, &attrs).ix);
      const int64_t sizes[3] = {dims[0], dims[1], dims[2]};
      hilo_inst_set_type(m, i, hilo_type_array(&m->types, HILO_S32, (hilo_dims){sizes, 3}));
      for (uint32_t r = 0; r < RANKS; r++) {
        int32_t *data = HILO_NEW_ARRAY(&arena, int32_t, 32);
        for (uint32_t k = 0; k < 32; k++) data[k] = element(r, k);
        const void *const list[] = {data};
        ranks[r] = (hilo_rank){.args = arguments(m, list)};
      }
      if (run_module(m) != HILO_OK) fail_msg("%s", diags_text());
      for (uint32_t r = 0; r < RANKS; r++)
        for (uint32_t k = 0; k < 32; k++) {
          uint32_t at[3] = {k / (dims[1] * dims[2]), k / dims[2] % dims[1], k % dims[2]};
          const uint32_t joined = split == join ? in[join] / g->size : in[join];
          const uint32_t from = member(g, r, at[join] / joined);
          at[join] %= joined;
          at[split] += (uint32_t)g->place(r, r) * (in[split] / g->size);
          assert_int_equal(ints_of(r)[k], element(from, (at[0] * 2 + at[1]) * 4 + at[2]));
        }
    }
}

/* One operand for each of the group. */
static void all_to_alls_of_tuples(void **state) {
  (void)state;
  for (uint32_t j = 0; j < HILO_COUNT(without_ids); j++) {
    const grouping *g = &without_ids[j];
    hilo_sb slices = hilo_sb_make(&arena), list = hilo_sb_make(&arena), type = hilo_sb_make(&arena);
    for (uint32_t k = 0; k < g->size; k++) {
      hilo_sb_printf(&slices, "  %%s%u = s32[1] slice(%%x), slice={[%u:%u]}\n", k, k, k + 1);
      hilo_sb_printf(&list, "%s%%s%u", k ? ", " : "", k);
      hilo_sb_printf(&type, "%ss32[1]", k ? ", " : "");
    }
    run_on_elements(text_of("HloModule m, replica_count=2, num_partitions=4\n"
                            "ENTRY %%main (x: s32[8]) -> (%s) {\n"
                            "  %%x = s32[8] parameter(0)\n%s"
                            "  ROOT %%c = (%s) all-to-all(%s), %s\n}\n",
                            hilo_sb_cstr(&type), hilo_sb_cstr(&slices), hilo_sb_cstr(&type),
                            hilo_sb_cstr(&list), g->attributes),
                    8);
    for (uint32_t r = 0; r < RANKS; r++)
      for (uint32_t p = 0; p < g->size; p++)
        assert_int_equal(ints_at(r, p)[0], element(member(g, r, p), (uint32_t)g->place(r, r)));
  }
}

static void broadcasts(void **state) {
  (void)state;
  for (uint32_t j = 0; j < HILO_COUNT(without_ids); j++) {
    const grouping *g = &without_ids[j];
    run_on_elements(text_of("HloModule m, replica_count=2, num_partitions=4\n"
                            "ENTRY %%main (x: s32[3]) -> s32[3] {\n"
                            "  %%x = s32[3] parameter(0)\n"
                            "  ROOT %%c = s32[3] collective-broadcast(%%x), %s\n}\n",
                            g->attributes),
                    3);
    for (uint32_t r = 0; r < RANKS; r++)
      for (uint32_t k = 0; k < 3; k++) assert_int_equal(ints_of(r)[k], element(member(g, r, 0), k));
  }
  /* Who is in no group has zeros. */
  run_on_elements("HloModule m, replica_count=2, num_partitions=4\n"
                  "ENTRY %main (x: s32[3]) -> s32[3] {\n"
                  "  %x = s32[3] parameter(0)\n"
                  "  ROOT %c = s32[3] collective-broadcast(%x), replica_groups={{2,1}}, "
                  "channel_id=1\n}\n",
                  3);
  for (uint32_t r = 0; r < RANKS; r++)
    for (uint32_t k = 0; k < 3; k++) {
      const uint32_t p = partition_of(r);
      assert_int_equal(ints_of(r)[k], p == 1 || p == 2 ? element(r - p + 2, k) : 0);
    }
}

static void collective_reduces(void **state) {
  (void)state;
  run_on_elements(text_of("HloModule m, replica_count=2, num_partitions=4\n" ADDER
                          "ENTRY %%main (x: s32[3]) -> s32[3] {\n"
                          "  %%x = s32[3] parameter(0)\n"
                          "  ROOT %%c = s32[3] collective-reduce(%%x), replica_groups={{1,0}}, "
                          "to_apply=%%add\n}\n"),
                  3);
  for (uint32_t r = 0; r < RANKS; r++)
    for (uint32_t k = 0; k < 3; k++)
      assert_int_equal(ints_of(r)[k], replica_of(r) == 1 ? sum_of(&with_ids[0], r, k) : 0);
}

/* Replicas swap in each partition; partitions shift in each replica, the last one has no source. */
static void permutes(void **state) {
  (void)state;
  for (int halves = 0; halves < 2; halves++)
    for (int channel = 0; channel < 2; channel++) {
      const char *pairs = channel ? "source_target_pairs={{3,2},{2,1},{1,0}}, channel_id=1"
                                  : "source_target_pairs={{0,1},{1,0}}";
      run_on_elements(
          halves
              ? text_of("HloModule m, replica_count=2, num_partitions=4\n"
                        "ENTRY %%main (x: s32[3]) -> s32[3] {\n"
                        "  %%x = s32[3] parameter(0)\n"
                        "  %%c = (s32[3], s32[3], u32[], u32[]) collective-permute-start(%%x), %s\n"
                        "  ROOT %%d = s32[3] collective-permute-done(%%c)\n}\n",
                        pairs)
              : text_of("HloModule m, replica_count=2, num_partitions=4\n"
                        "ENTRY %%main (x: s32[3]) -> s32[3] {\n"
                        "  %%x = s32[3] parameter(0)\n"
                        "  ROOT %%c = s32[3] collective-permute(%%x), %s\n}\n",
                        pairs),
          3);
      for (uint32_t r = 0; r < RANKS; r++)
        for (uint32_t k = 0; k < 3; k++) {
          const uint32_t source = channel ? r + 1 : (r + PARTITIONS) % RANKS;
          const bool none = channel && partition_of(r) == PARTITIONS - 1;
          assert_int_equal(ints_of(r)[k], none ? 0 : element(source, k));
        }
    }
}

/* Two elements of the source's array from 1 on, into the target's (here its own negative) at 3. */
static void permutes_in_place(void **state) {
  (void)state;
  run_on_elements("HloModule m, replica_count=2, num_partitions=4\n"
                  "ENTRY %main (x: s32[6]) -> s32[6] {\n"
                  "  %x = s32[6] parameter(0)\n"
                  "  %n = s32[6] negate(%x)\n"
                  "  %one = s32[] constant(1)\n"
                  "  %three = s32[] constant(3)\n"
                  "  %from = (s32[]) tuple(%one)\n"
                  "  %to = (s32[]) tuple(%three)\n"
                  "  ROOT %c = s32[6] collective-permute(%x, %n, %from, %to), channel_id=1, "
                  "source_target_pairs={{0,1},{1,2},{2,3}}, slice_sizes={{2}}\n}\n",
                  6);
  for (uint32_t r = 0; r < RANKS; r++)
    for (uint32_t k = 0; k < 6; k++) {
      const bool is_written = partition_of(r) > 0 && (k == 3 || k == 4);
      assert_int_equal(ints_of(r)[k], is_written ? element(r - 1, k - 2) : -element(r, k));
    }
}

/* Rank r sends r + 1 rows to each replica; the receiver puts them where the sender says. */
static void ragged_exchanges(void **state) {
  (void)state;
  run_on_elements(
      "HloModule m, replica_count=2, num_partitions=4\n"
      "ENTRY %main (x: s32[6,1]) -> s32[6,1] {\n"
      "  %x = s32[6,1] parameter(0)\n"
      "  %z = s32[] constant(-1)\n"
      "  %out = s32[6,1] broadcast(%z), dimensions={}\n"
      "  %id = u32[] replica-id()\n"
      "  %i = s32[] convert(%id)\n"
      "  %one = s32[] constant(1)\n"
      "  %rows = s32[] add(%i, %one)\n"
      "  %in_offsets = s32[2] constant({0, 3})\n"
      "  %sizes = s32[2] broadcast(%rows), dimensions={}\n"
      "  %two = s32[] constant(2)\n"
      "  %at = s32[] multiply(%i, %two)\n"
      "  %out_offsets = s32[2] broadcast(%at), dimensions={}\n"
      "  %recv = s32[2] constant({1, 2})\n"
      "  ROOT %c = s32[6,1] ragged-all-to-all(%x, %out, %in_offsets, %sizes, %out_offsets, %recv), "
      "replica_groups={{0,1}}\n}\n",
      6);
  for (uint32_t r = 0; r < RANKS; r++) {
    const uint32_t p = partition_of(r), q = replica_of(r); /* sender 0 has rank p, 1 has p + 4 */
    const int32_t expected[6] = {element(p, 3 * q),         -1, element(p + 4, 3 * q),
                                 element(p + 4, 3 * q + 1), -1, -1};
    assert_memory_equal(ints_of(r), expected, sizeof(expected));
  }
}

static void ids_of_ranks(void **state) {
  (void)state;
  run_text("HloModule m, replica_count=2, num_partitions=4\n"
           "ENTRY %main () -> (u32[], u32[]) {\n"
           "  %p = u32[] partition-id()\n"
           "  %r = u32[] replica-id()\n"
           "  ROOT %t = (u32[], u32[]) tuple(%p, %r)\n}\n");
  for (uint32_t r = 0; r < RANKS; r++) {
    assert_int_equal(ints_at(r, 0)[0], partition_of(r));
    assert_int_equal(ints_at(r, 1)[0], replica_of(r));
  }
}

/* Sums of small floats keep what each step in bf16 would lose; several operands; any reducer. */
static void reduces_floats_and_tuples(void **state) {
  (void)state;
  hilo_module *m = module_of(
      &arena, "HloModule m, replica_count=2, num_partitions=4\n"
              "%add (a: bf16[], b: bf16[]) -> bf16[] {\n"
              "  %a = bf16[] parameter(0)\n"
              "  %b = bf16[] parameter(1)\n"
              "  ROOT %s = bf16[] add(%a, %b)\n"
              "}\n"
              "ENTRY %main (x: bf16[1], y: bf16[2]) -> (bf16[1], bf16[2]) {\n"
              "  %x = bf16[1] parameter(0)\n"
              "  %y = bf16[2] parameter(1)\n"
              "  ROOT %c = (bf16[1], bf16[2]) all-reduce(%x, %y), channel_id=1, "
              "replica_groups=[1,8]<=[8], use_global_device_ids=true, to_apply=%add\n}\n");
  static const uint16_t big[1] = {0x4380}, one[1] = {0x3f80}, pair[2] = {0x3f80, 0x4000};
  for (uint32_t r = 0; r < RANKS; r++) {
    const void *const list[] = {r ? one : big, pair};
    ranks[r] = (hilo_rank){.args = arguments(m, list)};
  }
  assert_int_equal(run_module(m), HILO_OK);
  for (uint32_t r = 0; r < RANKS; r++) {
    uint16_t sums[3];
    memcpy(sums, ranks[r].result.elements[0].data, 2);
    memcpy(sums + 1, ranks[r].result.elements[1].data, 4);
    assert_int_equal(sums[0], 0x4384); /* 256 + 7 ones = 263, to 264; one by one it stays 256 */
    assert_int_equal(sums[1], 0x4100);
    assert_int_equal(sums[2], 0x4180);
  }
  run_on_elements(
      "HloModule m, replica_count=2, num_partitions=4\n"
      "%second (a: s32[], b: s32[]) -> s32[] {\n"
      "  %a = s32[] parameter(0)\n"
      "  ROOT %b = s32[] parameter(1)\n"
      "}\n"
      "ENTRY %main (x: s32[2]) -> s32[2] {\n"
      "  %x = s32[2] parameter(0)\n"
      "  ROOT %c = s32[2] all-reduce(%x), replica_groups={{0,1}}, to_apply=%second\n}\n",
      2);
  for (uint32_t r = 0; r < RANKS; r++)
    assert_int_equal(ints_of(r)[1], element(partition_of(r) + PARTITIONS, 1));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RANK_TEST(all_reduces),
      RANK_TEST(all_gathers),
      RANK_TEST(reduce_scatters),
      RANK_TEST(all_to_alls_along_a_dimension),
      RANK_TEST(all_to_alls_between_dimensions),
      RANK_TEST(all_to_alls_of_tuples),
      RANK_TEST(broadcasts),
      RANK_TEST(collective_reduces),
      RANK_TEST(permutes),
      RANK_TEST(permutes_in_place),
      RANK_TEST(ragged_exchanges),
      RANK_TEST(ids_of_ranks),
      RANK_TEST(reduces_floats_and_tuples),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
