/* Collectives and transfers on ranks: each operation in each mode of replica groups on 2 replicas
 * of 4 partitions, against index formulas; start halves; mismatches and hangs. */
#include "ir_support.h"
#include "machine_support.h"

enum { REPLICAS = 2, PARTITIONS = 4, RANKS = REPLICAS * PARTITIONS };

/* Who takes part together, said as a function of two ranks: the place of `other` in the group of
 * `rank`, or -1. */
typedef struct {
  const char *attributes;
  uint32_t size; /* of the group of every rank */
  int (*place)(uint32_t rank, uint32_t other);
} grouping;

static uint32_t replica_of(uint32_t rank) { return rank / PARTITIONS; }
static uint32_t partition_of(uint32_t rank) { return rank % PARTITIONS; }

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

static int set_up_ranks(void **state) {
  set_up(state);
  options.n_replicas = REPLICAS;
  options.n_partitions = PARTITIONS;
  return 0;
}

/* Element k of rank r's operand. */
static int32_t element(uint32_t rank, uint32_t k) { return (int32_t)(1000 * (rank + 1) + 7 * k); }

/* Each rank has an s32 array of n elements of its own as the one argument. */
static void run_on_elements(const char *text, uint32_t n) {
  hilo_module *m = module_of(&arena, text);
  for (uint32_t r = 0; r < RANKS; r++) {
    int32_t *data = HILO_NEW_ARRAY(&arena, int32_t, n);
    for (uint32_t k = 0; k < n; k++) data[k] = element(r, k);
    const void *const list[] = {data};
    ranks[r] = (hilo_rank){.args = arguments(m, list)};
  }
  if (run_module(m) != HILO_OK) fail_msg("%s\n%s", text, diags_text());
}

static const char *text_of(const char *fmt, ...) HILO_PRINTF(1, 2);
static const char *text_of(const char *fmt, ...) {
  hilo_sb sb = hilo_sb_make(&arena);
  va_list list;
  va_start(list, fmt);
  hilo_sb_vprintf(&sb, fmt, list);
  va_end(list);
  return hilo_sb_cstr(&sb);
}

#define ADDER                                                                                      \
  "%%add (a: s32[], b: s32[]) -> s32[] {\n"                                                        \
  "  %%a = s32[] parameter(0)\n"                                                                   \
  "  %%b = s32[] parameter(1)\n"                                                                   \
  "  ROOT %%s = s32[] add(%%a, %%b)\n"                                                             \
  "}\n"

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

/* ---- ranks on ways of their own ---- */

/* The branches of a conditional hold one collective each, which meet by their channel. */
static void meets_across_branches(void **state) {
  (void)state;
  run_on_elements(text_of("HloModule m, replica_count=2, num_partitions=4\n" ADDER
                          "%%t (x: s32[2]) -> s32[2] {\n"
                          "  %%tx = s32[2] parameter(0)\n"
                          "  ROOT %%tc = s32[2] all-reduce(%%tx), channel_id=1, "
                          "replica_groups=[1,8]<=[8], use_global_device_ids=true, to_apply=%%add\n"
                          "}\n"
                          "%%f (x: s32[2]) -> s32[2] {\n"
                          "  %%fx = s32[2] parameter(0)\n"
                          "  %%n = s32[2] negate(%%fx)\n"
                          "  ROOT %%fc = s32[2] all-reduce(%%n), channel_id=1, "
                          "replica_groups=[1,8]<=[8], use_global_device_ids=true, to_apply=%%add\n"
                          "}\n"
                          "ENTRY %%main (x: s32[2]) -> s32[2] {\n"
                          "  %%x = s32[2] parameter(0)\n"
                          "  %%p = u32[] partition-id()\n"
                          "  %%z = u32[] constant(0)\n"
                          "  %%is = pred[] compare(%%p, %%z), direction=EQ\n"
                          "  ROOT %%c = s32[2] conditional(%%is, %%x, %%x), "
                          "true_computation=%%t, false_computation=%%f\n}\n"),
                  2);
  int32_t expected = 0;
  for (uint32_t r = 0; r < RANKS; r++) expected += partition_of(r) ? -element(r, 1) : element(r, 1);
  for (uint32_t r = 0; r < RANKS; r++) assert_int_equal(ints_of(r)[1], expected);
}

/* A start half does not wait: rank 0 starts, then sends; rank 1 receives, then starts. */
static const char async_and_send[] =
    "HloModule m, num_partitions=2\n"
    "%add (a: s32[], b: s32[]) -> s32[] {\n"
    "  %a = s32[] parameter(0)\n"
    "  %b = s32[] parameter(1)\n"
    "  ROOT %s = s32[] add(%a, %b)\n"
    "}\n"
    "%zero (x: s32[1]) -> (s32[1], s32[1]) {\n"
    "  %x0 = s32[1] parameter(0)\n"
    "  %start0 = s32[1] all-reduce-start(%x0), channel_id=1, replica_groups={{0,1}}, "
    "use_global_device_ids=true, to_apply=%add\n"
    "  %tok0 = token[] after-all()\n"
    "  %send = (s32[1], u32[], token[]) send(%x0, %tok0), channel_id=2, "
    "frontend_attributes={_xla_send_recv_source_target_pairs=\"{{0,1}}\"}\n"
    "  %send.done = token[] send-done(%send), channel_id=2\n"
    "  %done0 = s32[1] all-reduce-done(%start0)\n"
    "  ROOT %t0 = (s32[1], s32[1]) tuple(%x0, %done0)\n"
    "}\n"
    "%one (x: s32[1]) -> (s32[1], s32[1]) {\n"
    "  %x1 = s32[1] parameter(0)\n"
    "  %tok1 = token[] after-all()\n"
    "  %recv = (s32[1], u32[], token[]) recv(%tok1), channel_id=2, "
    "frontend_attributes={_xla_send_recv_source_target_pairs=\"{{0,1}}\"}\n"
    "  %recv.done = (s32[1], token[]) recv-done(%recv), channel_id=2\n"
    "  %got = s32[1] get-tuple-element(%recv.done), index=0\n"
    "  %start1 = s32[1] all-reduce-start(%x1), channel_id=1, replica_groups={{0,1}}, "
    "use_global_device_ids=true, to_apply=%add\n"
    "  %done1 = s32[1] all-reduce-done(%start1)\n"
    "  ROOT %t1 = (s32[1], s32[1]) tuple(%got, %done1)\n"
    "}\n"
    "ENTRY %main (x: s32[1]) -> (s32[1], s32[1]) {\n"
    "  %x = s32[1] parameter(0)\n"
    "  %p = u32[] partition-id()\n"
    "  %z = u32[] constant(0)\n"
    "  %is = pred[] compare(%p, %z), direction=EQ\n"
    "  ROOT %c = (s32[1], s32[1]) conditional(%is, %x, %x), true_computation=%zero, "
    "false_computation=%one\n}\n";

static void starts_do_not_wait(void **state) {
  (void)state;
  options.n_replicas = 1;
  options.n_partitions = 2;
  hilo_module *m = module_of(&arena, async_and_send);
  static const int32_t x[2] = {5, 70};
  for (uint32_t r = 0; r < 2; r++) {
    const void *const list[] = {&x[r]};
    ranks[r].args = arguments(m, list);
  }
  if (run_module(m) != HILO_OK) fail_msg("%s", diags_text());
  assert_int_equal(ints_at(0, 1)[0], 75);
  assert_int_equal(ints_at(1, 0)[0], 5);
  assert_int_equal(ints_at(1, 1)[0], 75);
}

/* A ring of 4, in a loop: each sends what it has to the next one, 5 times. The receive is started
 * in one turn and finished in the next, carried by the loop. */
static void carries_transfers_through_loops(void **state) {
  (void)state;
  options.n_replicas = 1;
  options.n_partitions = 4;
  static const char pairs[] = "channel_id=1, frontend_attributes={"
                              "_xla_send_recv_source_target_pairs=\"{{0,1},{1,2},{2,3},{3,0}}\"}";
  hilo_module *m = module_of(
      &arena,
      text_of(
          "HloModule m, num_partitions=4\n"
          "%%cond (p: (s32[], (s32[1], u32[], token[]), (s32[1], u32[], token[]))) -> pred[] {\n"
          "  %%cp = (s32[], (s32[1], u32[], token[]), (s32[1], u32[], token[])) parameter(0)\n"
          "  %%ci = s32[] get-tuple-element(%%cp), index=0\n"
          "  %%cn = s32[] constant(5)\n"
          "  ROOT %%lt = pred[] compare(%%ci, %%cn), direction=LT\n"
          "}\n"
          "%%body (p: (s32[], (s32[1], u32[], token[]), (s32[1], u32[], token[]))) -> (s32[], "
          "(s32[1], u32[], token[]), (s32[1], u32[], token[])) {\n"
          "  %%bp = (s32[], (s32[1], u32[], token[]), (s32[1], u32[], token[])) parameter(0)\n"
          "  %%bi = s32[] get-tuple-element(%%bp), index=0\n"
          "  %%br = (s32[1], u32[], token[]) get-tuple-element(%%bp), index=1\n"
          "  %%bs = (s32[1], u32[], token[]) get-tuple-element(%%bp), index=2\n"
          "  %%rd = (s32[1], token[]) recv-done(%%br), channel_id=1\n"
          "  %%sd = token[] send-done(%%bs), channel_id=1\n"
          "  %%got = s32[1] get-tuple-element(%%rd), index=0\n"
          "  %%one = s32[1] constant({1})\n"
          "  %%next = s32[1] add(%%got, %%one)\n"
          "  %%tok = token[] after-all()\n"
          "  %%br1 = (s32[1], u32[], token[]) recv(%%tok), %s\n"
          "  %%bs1 = (s32[1], u32[], token[]) send(%%next, %%tok), %s\n"
          "  %%o = s32[] constant(1)\n"
          "  %%bi1 = s32[] add(%%bi, %%o)\n"
          "  ROOT %%bt = (s32[], (s32[1], u32[], token[]), (s32[1], u32[], token[])) "
          "tuple(%%bi1, %%br1, %%bs1)\n"
          "}\n"
          "ENTRY %%main (x: s32[1]) -> s32[1] {\n"
          "  %%x = s32[1] parameter(0)\n"
          "  %%z = s32[] constant(0)\n"
          "  %%tok0 = token[] after-all()\n"
          "  %%r0 = (s32[1], u32[], token[]) recv(%%tok0), %s\n"
          "  %%s0 = (s32[1], u32[], token[]) send(%%x, %%tok0), %s\n"
          "  %%t = (s32[], (s32[1], u32[], token[]), (s32[1], u32[], token[])) "
          "tuple(%%z, %%r0, %%s0)\n"
          "  %%w = (s32[], (s32[1], u32[], token[]), (s32[1], u32[], token[])) while(%%t), "
          "condition=%%cond, body=%%body\n"
          "  %%wr = (s32[1], u32[], token[]) get-tuple-element(%%w), index=1\n"
          "  %%ws = (s32[1], u32[], token[]) get-tuple-element(%%w), index=2\n"
          "  %%wrd = (s32[1], token[]) recv-done(%%wr), channel_id=1\n"
          "  %%wsd = token[] send-done(%%ws), channel_id=1\n"
          "  ROOT %%out = s32[1] get-tuple-element(%%wrd), index=0\n}\n",
          pairs, pairs, pairs, pairs));
  int32_t x[4];
  for (uint32_t r = 0; r < 4; r++) {
    x[r] = (int32_t)(100 * r);
    const void *const list[] = {&x[r]};
    ranks[r].args = arguments(m, list);
  }
  if (run_module(m) != HILO_OK) fail_msg("%s", diags_text());
  for (uint32_t r = 0; r < 4; r++) /* six hops, five of them with a step */
    assert_int_equal(ints_of(r)[0], 100 * (int32_t)((r + 4 * 2 - 6) % 4) + 5);
}

/* All send to rank 1 and receive from rank 2: rank 1 has what 2 sent, the others zeros. */
static void transfers_with_peers(void **state) {
  (void)state;
  run_on_elements("HloModule m, replica_count=2, num_partitions=4\n"
                  "ENTRY %main (x: s32[2]) -> s32[2] {\n"
                  "  %x = s32[2] parameter(0)\n"
                  "  %s = s32[] custom-call(%x), custom_call_target=\"FusedSend\", "
                  "backend_config=\"1\", custom_call_has_side_effect=true\n"
                  "  ROOT %r = s32[2] custom-call(%x, %s), custom_call_target=\"FusedRecv\", "
                  "backend_config=\"2\"\n}\n",
                  2);
  for (uint32_t r = 0; r < RANKS; r++)
    for (uint32_t k = 0; k < 2; k++) assert_int_equal(ints_of(r)[k], r == 1 ? element(2, k) : 0);
}

/* Host transfers hand back what was sent on the channel; no rank is a target of partition 1. */
static void transfers_with_the_host(void **state) {
  (void)state;
  options.n_replicas = options.n_partitions = 1;
  run_text("HloModule m\n"
           "ENTRY %main () -> (s32[], s32[]) {\n"
           "  %a = s32[] constant(3)\n"
           "  %b = s32[] constant(4)\n"
           "  %tok = token[] after-all()\n"
           "  %s1 = (s32[], u32[], token[]) send(%a, %tok), channel_id=7, is_host_transfer=true\n"
           "  %t1 = token[] send-done(%s1), channel_id=7, is_host_transfer=true\n"
           "  %s2 = (s32[], u32[], token[]) send(%b, %t1), channel_id=7, is_host_transfer=true\n"
           "  %t2 = token[] send-done(%s2), channel_id=7, is_host_transfer=true\n"
           "  %r1 = (s32[], u32[], token[]) recv(%t2), channel_id=7, is_host_transfer=true\n"
           "  %d1 = (s32[], token[]) recv-done(%r1), channel_id=7, is_host_transfer=true\n"
           "  %r2 = (s32[], u32[], token[]) recv(%t2), channel_id=7, is_host_transfer=true\n"
           "  %d2 = (s32[], token[]) recv-done(%r2), channel_id=7, is_host_transfer=true\n"
           "  %g1 = s32[] get-tuple-element(%d1), index=0\n"
           "  %g2 = s32[] get-tuple-element(%d2), index=0\n"
           "  ROOT %t = (s32[], s32[]) tuple(%g1, %g2)\n}\n");
  assert_int_equal(ints_at(0, 0)[0], 3);
  assert_int_equal(ints_at(0, 1)[0], 4);
}

/* As StableHLO has it: no halves, a program for each rank; the receiver comes first. */
static hilo_inst add_transfer(hilo_module *m, hilo_comp c, hilo_op op, const char *type,
                              const hilo_inst *operands, uint32_t n) {
  const hilo_transfer_attrs attrs = {.is_host_transfer = true};
  const hilo_extra_attrs extra = {.channel_id = 1};
  const hilo_inst i =
      add_inst(m, c, op, type, hilo_transfer_put(&m->records, &attrs).ix, operands, n);
  hilo_inst_set_extra(m, i, &extra);
  return i;
}

static void transfers_between_programs(void **state) {
  (void)state;
  options.n_replicas = 2;
  options.n_partitions = 1;
  hilo_module *m = hilo_module_create(&arena, NULL);
  m->dialect = HILO_DIALECT_STABLEHLO;
  const hilo_string f = hilo_module_string(m, HILO_STR("f"));
  const hilo_comp receiver = hilo_comp_add(m, hilo_comp_fresh_name(m, f));
  const hilo_inst token = add_inst(m, receiver, HILO_OP_AFTER_ALL, "token[]", 0, NULL, 0);
  const hilo_inst got = add_transfer(m, receiver, HILO_OP_RECV, "(s32[2], token[])", &token, 1);
  hilo_comp_set_root(m, receiver,
                     add_inst(m, receiver, HILO_OP_GET_TUPLE_ELEMENT, "s32[2]", 0, &got, 1));
  const hilo_comp sender = hilo_comp_add(m, hilo_comp_fresh_name(m, f));
  const hilo_inst x = add_inst(m, sender, HILO_OP_PARAMETER, "s32[2]", 0, NULL, 0);
  const hilo_inst operands[] = {x, add_inst(m, sender, HILO_OP_AFTER_ALL, "token[]", 0, NULL, 0)};
  hilo_comp_set_root(m, sender, add_transfer(m, sender, HILO_OP_SEND, "token[]", operands, 2));
  static const int32_t data[2] = {5, 6};
  const hilo_value arg = {.type = hilo_inst_type(m, x), .data = (const char *)data};
  m->entry = sender;
  ranks[0] = (hilo_rank){.program = receiver};
  ranks[1] = (hilo_rank){.program = sender, .args = &arg};
  if (run_module(m) != HILO_OK) fail_msg("%s", diags_text());
  assert_memory_equal(ints_of(0), data, sizeof(data));
  assert_int_equal(hilo_type_etype(&m->types, ranks[1].result.type), HILO_TOKEN);
}

static int32_t outfed;
static void note_outfeed(void *user, uint32_t rank, hilo_inst i, const hilo_value *value) {
  (void)user, (void)rank, (void)i;
  memcpy(&outfed, value->data, sizeof(outfed));
}

static void feeds(void **state) {
  (void)state;
  options.n_replicas = options.n_partitions = 1;
  hilo_module *m = module_of(&arena, "HloModule m\n"
                                     "%first () -> s32[] {\n"
                                     "  ROOT %c1 = s32[] constant(11)\n"
                                     "}\n"
                                     "%second () -> s32[] {\n"
                                     "  ROOT %c2 = s32[] constant(22)\n"
                                     "}\n"
                                     "ENTRY %main () -> s32[] {\n"
                                     "  %tok = token[] after-all()\n"
                                     "  %i1 = (s32[], token[]) infeed(%tok)\n"
                                     "  %i2 = (s32[], token[]) infeed(%tok)\n"
                                     "  %a = s32[] get-tuple-element(%i1), index=0\n"
                                     "  %b = s32[] get-tuple-element(%i2), index=0\n"
                                     "  %d = s32[] subtract(%b, %a)\n"
                                     "  %o = token[] outfeed(%b, %tok), outfeed_shape=s32[]\n"
                                     "  ROOT %r = s32[] add(%d, %d)\n}\n");
  hilo_comp queue[2] = {{0}};
  HILO_FOR_EACH_COMP(m, c)
  if (!hilo_comp_eq(c, m->entry)) queue[queue[0].ix != 0] = c;
  options.infeed = queue;
  options.n_infeed = 2;
  options.outfeed = note_outfeed;
  if (run_module(m) != HILO_OK) fail_msg("%s", diags_text());
  assert_int_equal(ints_of(0)[0], 22);
  assert_int_equal(outfed, 22);
}

/* ---- what goes wrong ---- */

static void expect_error(const char *text, const char *expected) {
  hilo_module *m = module_of(&arena, text);
  assert_int_equal(run_module(m), HILO_INPUT_ERROR);
  const char *all = diags_text(), *from = strstr(all, "the program hangs");
  if (!from) from = strstr(all, "ranks 0 and");
  if (!from) from = strstr(all, "its replica groups");
  assert_non_null(from);
  /* The notes about the instruction itself are those of every diagnostic. */
  const char *notes = strstr(from, "\n    rank ");
  const char *line_end = strchr(from, '\n');
  const char *seen = text_of("%.*s%s", (int)(line_end - from), from, notes ? notes : "\n");
  assert_string_equal(seen, expected);
}

static void tells_of_hangs(void **state) {
  (void)state;
  options.n_replicas = 1;
  options.n_partitions = 4;
  expect_error("HloModule m, num_partitions=4\n"
               "%add (a: s32[], b: s32[]) -> s32[] {\n"
               "  %a = s32[] parameter(0)\n"
               "  %b = s32[] parameter(1)\n"
               "  ROOT %s = s32[] add(%a, %b)\n"
               "}\n"
               "%meets (x: s32[]) -> s32[] {\n"
               "  %mx = s32[] parameter(0)\n"
               "  ROOT %sum = s32[] all-reduce(%mx), channel_id=1, replica_groups={{0,1,2,3}}, "
               "use_global_device_ids=true, to_apply=%add, metadata={op_name=\"sum\" "
               "source_file=\"model.py\" source_line=12}\n"
               "}\n"
               "%gets (x: s32[]) -> s32[] {\n"
               "  %gx = s32[] parameter(0)\n"
               "  %gt = token[] after-all()\n"
               "  %recv = (s32[], u32[], token[]) recv(%gt), channel_id=9, "
               "frontend_attributes={_xla_send_recv_source_target_pairs=\"{{0,2}}\"}\n"
               "  %recv.done = (s32[], token[]) recv-done(%recv), channel_id=9\n"
               "  ROOT %gr = s32[] get-tuple-element(%recv.done), index=0\n"
               "}\n"
               "%ends (x: s32[]) -> s32[] {\n"
               "  ROOT %ex = s32[] parameter(0)\n"
               "}\n"
               "ENTRY %main () -> s32[] {\n"
               "  %one = s32[] constant(1)\n"
               "  %p = u32[] partition-id()\n"
               "  %i = s32[] convert(%p)\n"
               "  ROOT %c = s32[] conditional(%i, %one, %one, %one, %one), "
               "branch_computations={%meets, %meets, %gets, %ends}\n}\n",
               "the program hangs: 3 of 4 ranks wait, and 1 ended\n"
               "    rank 0 waits at `sum`, all-reduce, channel 1, for ranks 2, 3 (model.py:12)\n"
               "    rank 1 waits at `sum`, all-reduce, channel 1, for ranks 2, 3 (model.py:12)\n"
               "    rank 2 waits at `recv.done`, recv-done of `recv`, channel 9, for rank 0 to "
               "send\n");
}

static void tells_of_other_operations(void **state) {
  (void)state;
  options.n_replicas = 1;
  options.n_partitions = 2;
  expect_error("HloModule m, num_partitions=2\n"
               "%add (a: s32[], b: s32[]) -> s32[] {\n"
               "  %a = s32[] parameter(0)\n"
               "  %b = s32[] parameter(1)\n"
               "  ROOT %s = s32[] add(%a, %b)\n"
               "}\n"
               "%t (x: s32[2]) -> s32[2] {\n"
               "  %tx = s32[2] parameter(0)\n"
               "  ROOT %sum = s32[2] all-reduce(%tx), channel_id=1, replica_groups={{0,1}}, "
               "use_global_device_ids=true, to_apply=%add\n"
               "}\n"
               "%f (x: s32[2]) -> s32[2] {\n"
               "  %fx = s32[2] parameter(0)\n"
               "  %h = s32[1] slice(%fx), slice={[0:1]}\n"
               "  ROOT %all = s32[2] all-gather(%h), channel_id=1, replica_groups={{0,1}}, "
               "use_global_device_ids=true, dimensions={0}, metadata={source_file=\"m.py\" "
               "source_line=3}\n"
               "}\n"
               "ENTRY %main () -> s32[2] {\n"
               "  %x = s32[2] constant({1, 2})\n"
               "  %p = u32[] partition-id()\n"
               "  %z = u32[] constant(0)\n"
               "  %is = pred[] compare(%p, %z), direction=EQ\n"
               "  ROOT %c = s32[2] conditional(%is, %x, %x), true_computation=%t, "
               "false_computation=%f\n}\n",
               "ranks 0 and 1 meet for collectives of different operations\n"
               "    rank 0 came to `sum`, all-reduce, channel 1\n"
               "    rank 1 came to `all`, all-gather, channel 1 (m.py:3)\n");
}

static void tells_who_is_left_out(void **state) {
  (void)state;
  options.n_replicas = 1;
  options.n_partitions = 3;
  expect_error("HloModule m\n"
               "%add (a: s32[], b: s32[]) -> s32[] {\n"
               "  %a = s32[] parameter(0)\n"
               "  %b = s32[] parameter(1)\n"
               "  ROOT %s = s32[] add(%a, %b)\n"
               "}\n"
               "ENTRY %main () -> s32[] {\n"
               "  %one = s32[] constant(1)\n"
               "  ROOT %sum = s32[] all-reduce(%one), channel_id=1, replica_groups={{0,1}}, "
               "use_global_device_ids=true, to_apply=%add\n}\n",
               "its replica groups leave out rank 2, which comes to it\n");
}

#define RANK_TEST(function) cmocka_unit_test_setup_teardown(function, set_up_ranks, tear_down)

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
      RANK_TEST(meets_across_branches),
      RANK_TEST(starts_do_not_wait),
      RANK_TEST(carries_transfers_through_loops),
      RANK_TEST(transfers_with_peers),
      RANK_TEST(transfers_with_the_host),
      RANK_TEST(transfers_between_programs),
      RANK_TEST(feeds),
      RANK_TEST(tells_of_hangs),
      RANK_TEST(tells_of_other_operations),
      RANK_TEST(tells_who_is_left_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
