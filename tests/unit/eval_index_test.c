/* gather and scatter over random dimension numbers, against their definitions index by index. */
#include "eval_random_support.h"

enum { CASES = 600 };

/* Random dimension numbers, and the shapes that go with them. The parts of the operand's
 * dimensions: batching, removed, window. */
typedef struct {
  uint32_t rank, n_removed, n_batching, n_window, n_map, n_vector_dims, index_rank, window_rank;
  int64_t operand[16], sizes[16]; /* sizes: of the window in each dimension of the operand */
  int64_t removed[16], batching[16], index_batching[16], map[16], window_dims[16];
  int64_t indices[16], windows[16], vector_dims[16]; /* vector_dims: sizes */
  int64_t index_vector_dim;
  bool is_implicit; /* no dimension for vectors of one number */
} numbers;

static bool contains(const int64_t *v, uint32_t n, int64_t x) {
  for (uint32_t k = 0; k < n; k++)
    if (v[k] == x) return true;
  return false;
}

static void rand_operand(eval_fixture *f, numbers *g) {
  g->rank = (uint32_t)rand_in(f, 1, 4);
  int64_t order[16];
  rand_subset(f, g->rank, g->rank, false, order);
  g->n_batching = rand_once_in(f, 2) ? 0 : (uint32_t)rand_in(f, 0, g->rank);
  g->n_removed = (uint32_t)rand_in(f, 0, g->rank - g->n_batching);
  g->n_window = g->rank - g->n_batching - g->n_removed;
  memcpy(g->batching, order, g->n_batching * sizeof(int64_t));
  memcpy(g->removed, order + g->n_batching, g->n_removed * sizeof(int64_t));
  qsort(g->batching, g->n_batching, sizeof(int64_t), compare_i64);
  qsort(g->removed, g->n_removed, sizeof(int64_t), compare_i64);
  for (uint32_t d = 0; d < g->rank; d++) {
    const bool is_window =
        !contains(g->batching, g->n_batching, d) && !contains(g->removed, g->n_removed, d);
    g->operand[d] = rand_in(f, 1, 5);
    g->sizes[d] = is_window ? rand_in(f, rand_once_in(f, 20) ? 0 : 1, g->operand[d]) : 1;
  }
  /* Any dimensions but batching ones may be pointed to. */
  rand_shuffle(f, order + g->n_batching, g->rank - g->n_batching);
  g->n_map = (uint32_t)rand_in(f, 0, g->rank - g->n_batching);
  memcpy(g->map, order + g->n_batching, g->n_map * sizeof(int64_t));
}

static void rand_numbers(eval_fixture *f, numbers *g) {
  rand_operand(f, g);
  g->n_vector_dims = g->n_batching + (uint32_t)rand_in(f, 0, 2);
  g->is_implicit = g->n_map == 1 && rand_once_in(f, 2);
  g->index_rank = g->n_vector_dims + !g->is_implicit;
  g->index_vector_dim = g->is_implicit ? g->index_rank : rand_in(f, 0, g->n_vector_dims);
  int64_t paired[16];
  rand_subset(f, g->n_vector_dims, g->n_batching, false, paired);
  for (uint32_t k = 0; k < g->n_vector_dims; k++)
    g->vector_dims[k] = rand_once_in(f, 30) ? 0 : rand_in(f, 1, 4);
  for (uint32_t k = 0; k < g->n_batching; k++) {
    g->vector_dims[paired[k]] = g->operand[g->batching[k]];
    g->index_batching[k] = paired[k] + (!g->is_implicit && paired[k] >= g->index_vector_dim);
  }
  for (uint32_t k = 0, v = 0; k < g->index_rank; k++)
    g->indices[k] = !g->is_implicit && k == g->index_vector_dim ? g->n_map : g->vector_dims[v++];
  g->window_rank = g->n_vector_dims + g->n_window;
  rand_subset(f, g->window_rank, g->n_window, true, g->window_dims);
  uint32_t d = 0, v = 0;
  for (uint32_t k = 0; k < g->window_rank; k++) {
    if (!contains(g->window_dims, g->n_window, k)) {
      g->windows[k] = g->vector_dims[v++];
      continue;
    }
    while (contains(g->batching, g->n_batching, d) || contains(g->removed, g->n_removed, d)) d++;
    g->windows[k] = g->sizes[d++];
  }
}

static hilo_etype rand_index_etype(eval_fixture *f) {
  static const hilo_etype types[] = {HILO_S8, HILO_U8, HILO_S32, HILO_U32, HILO_S64, HILO_U64};
  return types[rand64(f) % HILO_COUNT(types)];
}

static tensor rand_indices(eval_fixture *f, const numbers *g) {
  tensor t = {.etype = rand_index_etype(f), .rank = g->index_rank};
  memcpy(t.dims, g->indices, sizeof g->indices);
  tensor_alloc(f, &t);
  const bool is_signed = hilo_etype_class_of(t.etype) == HILO_CLASS_SIGNED;
  const uint32_t size = hilo_etype_bytes(t.etype);
  for (int64_t k = 0; k < tensor_count(&t); k++) {
    int64_t x = rand_in(f, is_signed ? -2 : 0, 6);
    if (rand_once_in(f, 20)) x = is_signed ? INT64_MIN : -1; /* unsigned: the largest */
    memcpy(t.data + k * size, &x, size);
  }
  return t;
}

/* Element of an index tensor; what is beyond int64 as its largest. */
static int64_t index_at(const tensor *t, int64_t at) {
  const char *p = t->data + at * hilo_etype_bytes(t->etype);
  switch (t->etype) {
  case HILO_S8: return *(const int8_t *)p;
  case HILO_U8: return *(const uint8_t *)p;
  case HILO_S32: return *(const int32_t *)(const void *)p;
  case HILO_U32: return *(const uint32_t *)(const void *)p;
  case HILO_S64: return *(const int64_t *)(const void *)p;
  default: {
    const uint64_t x = *(const uint64_t *)(const void *)p;
    return x > INT64_MAX ? INT64_MAX : (int64_t)x;
  }
  }
}

/* The specification's way from an index of `windows` to one of the operand: `start` is what the
 * index vector says, `offset` the place in the window. */
static void split_index(const numbers *g, const tensor *indices, const int64_t *index,
                        int64_t *start, int64_t *offset) {
  int64_t vector[16], at[16];
  uint32_t v = 0, w = 0, d = 0;
  memset(start, 0, 16 * sizeof(int64_t));
  memset(offset, 0, 16 * sizeof(int64_t));
  for (uint32_t k = 0; k < g->window_rank; k++)
    if (!contains(g->window_dims, g->n_window, k)) vector[v++] = index[k];
  for (; w < g->n_window; w++) {
    while (contains(g->batching, g->n_batching, d) || contains(g->removed, g->n_removed, d)) d++;
    offset[d++] = index[g->window_dims[w]];
  }
  for (uint32_t c = 0; c < g->n_map; c++) {
    for (uint32_t k = 0, x = 0; k < g->index_rank; k++)
      at[k] = !g->is_implicit && k == g->index_vector_dim ? c : vector[x++];
    start[g->map[c]] = index_at(indices, place_of(g->indices, g->index_rank, at));
  }
  for (uint32_t b = 0; b < g->n_batching; b++) {
    const int64_t k = g->index_batching[b];
    offset[g->batching[b]] = vector[k - (!g->is_implicit && k > g->index_vector_dim)];
  }
}

static void gathers(void **state) {
  eval_fixture *f = *state;
  static const hilo_etype types[] = {HILO_S8, HILO_BF16, HILO_F32, HILO_S64, HILO_C128};
  for (int c = 0; c < CASES; c++) {
    eval_renew(f);
    numbers g = {0};
    rand_numbers(f, &g);
    const tensor operand = rand_bytes(f, types[rand64(f) % HILO_COUNT(types)], g.operand, g.rank);
    const tensor indices = rand_indices(f, &g);
    const hilo_gather_attrs attrs = {
        .offset_dims = {g.window_dims, g.n_window},
        .collapsed_slice_dims = {g.removed, g.n_removed},
        .start_index_map = {g.map, g.n_map},
        .operand_batching_dims = {g.batching, g.n_batching},
        .start_indices_batching_dims = {g.index_batching, g.n_batching},
        .index_vector_dim = g.index_vector_dim,
        .slice_sizes = {g.sizes, g.rank}};
    const hilo_value args[2] = {tensor_value(f, &operand), tensor_value(f, &indices)};
    const hilo_type to =
        hilo_type_array(&f->m->types, operand.etype, (hilo_dims){g.windows, g.window_rank});
    const char *got =
        eval_op(f, HILO_OP_GATHER, hilo_gather_put(&f->m->records, &attrs).ix, to, args, 2);
    int64_t n = 1, index[16], start[16], offset[16];
    for (uint32_t d = 0; d < g.window_rank; d++) n *= g.windows[d];
    const uint32_t size = hilo_etype_bytes(operand.etype);
    for (int64_t k = 0; k < n; k++) {
      index_of(g.windows, g.window_rank, k, index);
      split_index(&g, &indices, index, start, offset);
      for (uint32_t d = 0; d < g.rank; d++) {
        const int64_t last = g.operand[d] - g.sizes[d];
        offset[d] += start[d] < 0 ? 0 : start[d] > last ? last : start[d];
      }
      const int64_t from = place_of(g.operand, g.rank, offset);
      assert_true(from >= 0);
      assert_memory_equal(got + k * size, operand.data + from * size, size);
    }
  }
}

/* ---- scatter ---- */

typedef enum { ADD, OVERWRITE, TRIPLE_AND_ADD, CROSSED } combiner;

static hilo_inst region_param(eval_fixture *f, hilo_comp c, hilo_etype etype, uint32_t k) {
  const hilo_inst_desc desc = {
      .op = HILO_OP_PARAMETER, .type = hilo_type_scalar(&f->m->types, etype), .attr = k};
  return hilo_inst_add(f->m, c, &desc);
}
static hilo_inst region_op(eval_fixture *f, hilo_comp c, hilo_op op, hilo_type type, hilo_inst a,
                           hilo_inst b) {
  const hilo_inst_desc desc = {
      .op = op, .type = type, .operands = (const hilo_inst[]){a, b}, .n_operands = 2};
  return hilo_inst_add(f->m, c, &desc);
}
static hilo_inst triple(eval_fixture *f, hilo_comp c, hilo_inst x) {
  const hilo_type type = hilo_inst_type(f->m, x);
  return region_op(f, c, HILO_OP_ADD, type, x, region_op(f, c, HILO_OP_ADD, type, x, x));
}

/* a + u; u; 3 a + u; (3 a0 + u1, a1 + u0). */
static hilo_comp make_region(eval_fixture *f, combiner how, hilo_etype etype) {
  const hilo_comp c =
      hilo_comp_add(f->m, hilo_comp_fresh_name(f->m, hilo_module_string(f->m, HILO_STR("r"))));
  const uint32_t n = how == CROSSED ? 2 : 1;
  hilo_inst p[4];
  for (uint32_t k = 0; k < 2 * n; k++) p[k] = region_param(f, c, etype, k);
  const hilo_type type = hilo_inst_type(f->m, p[0]);
  hilo_inst root = p[1];
  if (how == ADD) root = region_op(f, c, HILO_OP_ADD, type, p[0], p[1]);
  if (how == TRIPLE_AND_ADD) root = region_op(f, c, HILO_OP_ADD, type, triple(f, c, p[0]), p[1]);
  if (how == CROSSED) {
    const hilo_inst a = region_op(f, c, HILO_OP_ADD, type, triple(f, c, p[0]), p[3]);
    const hilo_inst b = region_op(f, c, HILO_OP_ADD, type, p[1], p[2]);
    const hilo_type pair = hilo_type_tuple(&f->m->types, (const hilo_type[]){type, type}, 2);
    root = region_op(f, c, HILO_OP_TUPLE, pair, a, b);
  }
  hilo_comp_set_root(f->m, c, root);
  return c;
}

static int32_t s32_at(const char *data, int64_t k) {
  int32_t x;
  memcpy(&x, data + 4 * k, 4);
  return x;
}

/* What one update does to the expected results. */
static void combine(combiner how, int32_t *const *acc, int64_t to, const int32_t *u) {
  const uint32_t a = (uint32_t)acc[0][to];
  if (how == ADD) acc[0][to] = (int32_t)(a + (uint32_t)u[0]);
  if (how == OVERWRITE) acc[0][to] = u[0];
  if (how == TRIPLE_AND_ADD) acc[0][to] = (int32_t)(3 * a + (uint32_t)u[0]);
  if (how == CROSSED) {
    acc[0][to] = (int32_t)(3 * a + (uint32_t)u[1]);
    acc[1][to] = (int32_t)((uint32_t)acc[1][to] + (uint32_t)u[0]);
  }
}

/* Index vectors in order; for each all of its window, if it lies in the operand. */
static void expect_scattered(const numbers *g, const tensor *indices, combiner how,
                             const tensor *updates, int32_t *const *acc) {
  int64_t n = 1, n_vectors = 1, index[16], start[16], offset[16], vector[16], mine[16];
  for (uint32_t d = 0; d < g->window_rank; d++) n *= g->windows[d];
  for (uint32_t d = 0; d < g->n_vector_dims; d++) n_vectors *= g->vector_dims[d];
  for (int64_t v = 0; v < n_vectors; v++) {
    index_of(g->vector_dims, g->n_vector_dims, v, vector);
    for (int64_t k = 0; k < n; k++) {
      index_of(g->windows, g->window_rank, k, index);
      uint32_t m = 0;
      for (uint32_t d = 0; d < g->window_rank; d++)
        if (!contains(g->window_dims, g->n_window, d)) mine[m++] = index[d];
      if (memcmp(mine, vector, m * sizeof(int64_t)) != 0) continue;
      split_index(g, indices, index, start, offset);
      bool fits = true;
      for (uint32_t d = 0; d < g->rank; d++) {
        fits &= start[d] >= 0 && start[d] <= g->operand[d] - g->sizes[d];
        if (fits) offset[d] += start[d];
      }
      if (!fits) continue;
      const int32_t u[2] = {s32_at(updates[0].data, k),
                            how == CROSSED ? s32_at(updates[1].data, k) : 0};
      combine(how, acc, place_of(g->operand, g->rank, offset), u);
    }
  }
}

static void scatters(void **state) {
  eval_fixture *f = *state;
  for (int c = 0; c < CASES; c++) {
    eval_renew(f);
    numbers g = {0};
    rand_numbers(f, &g);
    const combiner how = (combiner)(c % 4);
    const uint32_t n = how == CROSSED ? 2 : 1;
    tensor operands[2], updates[2];
    hilo_value args[5];
    int32_t *expected[2];
    const tensor indices = rand_indices(f, &g);
    for (uint32_t k = 0; k < n; k++) {
      operands[k] = rand_bytes(f, HILO_S32, g.operand, g.rank);
      updates[k] = rand_bytes(f, HILO_S32, g.windows, g.window_rank);
      args[k] = tensor_value(f, &operands[k]);
      args[n + 1 + k] = tensor_value(f, &updates[k]);
      expected[k] = HILO_NEW_ARRAY(&f->arena, int32_t, tensor_count(&operands[k]));
      memcpy(expected[k], operands[k].data, (size_t)tensor_count(&operands[k]) * 4);
    }
    args[n] = tensor_value(f, &indices);
    expect_scattered(&g, &indices, how, updates, expected);
    const hilo_scatter_attrs attrs = {
        .update_window_dims = {g.window_dims, g.n_window},
        .inserted_window_dims = {g.removed, g.n_removed},
        .scatter_dims_to_operand_dims = {g.map, g.n_map},
        .input_batching_dims = {g.batching, g.n_batching},
        .scatter_indices_batching_dims = {g.index_batching, g.n_batching},
        .index_vector_dim = g.index_vector_dim};
    const hilo_type to =
        n == 1 ? args[0].type
               : hilo_type_tuple(&f->m->types, (const hilo_type[]){args[0].type, args[1].type}, 2);
    hilo_value out;
    assert_int_equal(try_eval_op(f, HILO_OP_SCATTER, hilo_scatter_put(&f->m->records, &attrs).ix,
                                 to, args, 2 * n + 1, make_region(f, how, HILO_S32), &out),
                     HILO_OK);
    for (uint32_t k = 0; k < n; k++)
      assert_memory_equal(n == 1 ? out.data : out.elements[k].data, expected[k],
                          (size_t)tensor_count(&operands[k]) * 4);
  }
}

/* A histogram: a thousand updates of four elements, in order (3 a + u does not commute). */
static void many_updates_of_the_same_elements(void **state) {
  eval_fixture *f = *state;
  int32_t operand[4] = {1, 2, 3, 4}, indices[1000], updates[1000];
  uint32_t expected[4] = {1, 2, 3, 4};
  for (int k = 0; k < 1000; k++) {
    indices[k] = (int32_t)rand_in(f, -1, 4);
    updates[k] = (int32_t)rand_in(f, 0, 9);
    if (indices[k] >= 0 && indices[k] < 4)
      expected[indices[k]] = 3 * expected[indices[k]] + (uint32_t)updates[k];
  }
  const hilo_value args[3] = {{.type = type_of(f->m, "s32[4]"), .data = (const char *)operand},
                              {.type = type_of(f->m, "s32[1000]"), .data = (const char *)indices},
                              {.type = type_of(f->m, "s32[1000]"), .data = (const char *)updates}};
  const hilo_scatter_attrs attrs = {.inserted_window_dims = HILO_DIMS_OF(0),
                                    .scatter_dims_to_operand_dims = HILO_DIMS_OF(0),
                                    .index_vector_dim = 1};
  hilo_value out;
  assert_int_equal(try_eval_op(f, HILO_OP_SCATTER, hilo_scatter_put(&f->m->records, &attrs).ix,
                               args[0].type, args, 3, make_region(f, TRIPLE_AND_ADD, HILO_S32),
                               &out),
                   HILO_OK);
  assert_memory_equal(out.data, expected, 16);
}

/* More elements than a batch and its table have, each twice. */
static void updates_of_many_elements(void **state) {
  eval_fixture *f = *state;
  enum { N = 3000 };
  static int32_t operand[N], indices[2 * N], updates[2 * N];
  static uint32_t expected[N];
  for (int k = 0; k < N; k++) expected[k] = (uint32_t)(operand[k] = k);
  for (int k = 0; k < 2 * N; k++) {
    indices[k] = k * 7 % N;
    updates[k] = (int32_t)rand_in(f, 0, 9);
    expected[indices[k]] = 3 * expected[indices[k]] + (uint32_t)updates[k];
  }
  const hilo_value args[3] = {{.type = type_of(f->m, "s32[3000]"), .data = (const char *)operand},
                              {.type = type_of(f->m, "s32[6000]"), .data = (const char *)indices},
                              {.type = type_of(f->m, "s32[6000]"), .data = (const char *)updates}};
  const hilo_scatter_attrs attrs = {.inserted_window_dims = HILO_DIMS_OF(0),
                                    .scatter_dims_to_operand_dims = HILO_DIMS_OF(0),
                                    .index_vector_dim = 1};
  hilo_value out;
  assert_int_equal(try_eval_op(f, HILO_OP_SCATTER, hilo_scatter_put(&f->m->records, &attrs).ix,
                               args[0].type, args, 3, make_region(f, TRIPLE_AND_ADD, HILO_S32),
                               &out),
                   HILO_OK);
  assert_memory_equal(out.data, expected, sizeof expected);
}

/* An array that dies here and is the updates, too, is not changed while they are read. */
static void an_array_scattered_into_itself(void **state) {
  eval_fixture *f = *state;
  const hilo_type type = type_of(f->m, "s32[4]");
  const int32_t indices[4] = {1, 2, 3, 0};
  hilo_buffer *b = hilo_buffer_new(&f->heap, 16);
  memcpy(hilo_buffer_bytes(b), (const int32_t[]){1, 2, 3, 4}, 16);
  const hilo_value x = {.type = type, .data = hilo_buffer_bytes(b), .owner = b};
  const hilo_value args[3] = {x, {.type = type, .data = (const char *)indices}, x};
  const hilo_type types[3] = {type, type, type};
  const hilo_scatter_attrs attrs = {.inserted_window_dims = HILO_DIMS_OF(0),
                                    .scatter_dims_to_operand_dims = HILO_DIMS_OF(0),
                                    .index_vector_dim = 1};
  const hilo_inst i = make_inst(f, HILO_OP_SCATTER, hilo_scatter_put(&f->m->records, &attrs).ix,
                                type, types, 3, make_region(f, OVERWRITE, HILO_S32));
  const hilo_eval e = {.m = f->m, .heap = &f->heap, .scratch = &f->scratch, .dying = 5};
  hilo_value out;
  assert_int_equal(hilo_eval_inst(&e, i, args, &out), HILO_OK);
  assert_memory_equal(out.data, ((const int32_t[]){4, 1, 2, 3}), 16);
}

/* The region may compute in a wider type than that of the operand, and the result have it. */
static void regions_may_be_wider(void **state) {
  eval_fixture *f = *state;
  const uint16_t operand[2] = {0x3f80, 0x4000}, updates[2] = {0x3f80, 0x3b80}; /* 1, 2; 1, 2^-8 */
  const int32_t indices[2] = {0, 0};
  const hilo_value args[3] = {{.type = type_of(f->m, "bf16[2]"), .data = (const char *)operand},
                              {.type = type_of(f->m, "s32[2]"), .data = (const char *)indices},
                              {.type = type_of(f->m, "bf16[2]"), .data = (const char *)updates}};
  const hilo_scatter_attrs attrs = {.inserted_window_dims = HILO_DIMS_OF(0),
                                    .scatter_dims_to_operand_dims = HILO_DIMS_OF(0),
                                    .index_vector_dim = 1};
  hilo_value out;
  assert_int_equal(try_eval_op(f, HILO_OP_SCATTER, hilo_scatter_put(&f->m->records, &attrs).ix,
                               type_of(f->m, "f32[2]"), args, 3, make_region(f, ADD, HILO_F32),
                               &out),
                   HILO_OK);
  assert_memory_equal(out.data, ((const float[]){2.00390625f, 2}), 8);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(gathers, set_up, tear_down),
      cmocka_unit_test_setup_teardown(scatters, set_up, tear_down),
      cmocka_unit_test_setup_teardown(many_updates_of_the_same_elements, set_up, tear_down),
      cmocka_unit_test_setup_teardown(updates_of_many_elements, set_up, tear_down),
      cmocka_unit_test_setup_teardown(an_array_scattered_into_itself, set_up, tear_down),
      cmocka_unit_test_setup_teardown(regions_may_be_wider, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
