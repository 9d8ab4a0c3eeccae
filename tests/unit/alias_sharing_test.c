/* Steps 29 and 30 on random programs, run with buffers really shared.
 *
 * A small machine executes an entry of s32[4] and s32[2,2] values twice: once with a buffer for
 * every value, and once with each aliased output written into its parameter's buffer, element by
 * element, where reshapes show the buffer of their operand. After step 29 both must agree; and
 * where they don't, in a program that step 29 has not seen, step 30 must say so. */
#include "driver/pass_table.h"
#include "ir/verify.h"
#include "rewrite/runner.h"
#include "test_support.h"

enum { N = 4, MAX_PARAMS = 4, MAX_OPS = 14, MAX_OUTPUTS = 4, N_PROGRAMS = 4000 };

typedef struct {
  hilo_arena arena, scratch;
  hilo_diags diags;
  hilo_module *m;
  uint64_t seed;
} fixture;

static uint32_t pick(fixture *f, uint32_t n) {
  f->seed = f->seed * 6364136223846793005ull + 1442695040888963407ull;
  return (uint32_t)(f->seed >> 33) % n;
}

/* ---- random programs ---- */

static hilo_type flat(hilo_module *m) {
  return hilo_type_array(&m->types, HILO_S32, HILO_DIMS_OF(N));
}
static hilo_type square(hilo_module *m) {
  return hilo_type_array(&m->types, HILO_S32, HILO_DIMS_OF(2, 2));
}

static hilo_inst add_inst(hilo_module *m, hilo_op op, hilo_type type, const hilo_inst *operands,
                          uint32_t n, uint32_t attr) {
  const hilo_inst_desc d = {
      .op = op, .type = type, .operands = operands, .n_operands = n, .attr = attr};
  return hilo_inst_add(m, m->entry, &d);
}

static bool is_flat(const hilo_module *m, hilo_inst i) { return hilo_inst_dims(m, i).n == 1; }

/* The value in the other shape, if it has not the wanted one. */
static hilo_inst as_flat(hilo_module *m, hilo_inst i) {
  return is_flat(m, i) ? i : add_inst(m, HILO_OP_RESHAPE, flat(m), &i, 1, 0);
}

static hilo_inst add_update(hilo_module *m, hilo_inst into, hilo_inst from) {
  const hilo_slice_attrs slice = {
      .starts = HILO_DIMS_OF(1), .limits = HILO_DIMS_OF(3), .strides = HILO_DIMS_OF(1)};
  const hilo_type pair = hilo_type_array(&m->types, HILO_S32, HILO_DIMS_OF(2));
  const hilo_inst update =
      add_inst(m, HILO_OP_SLICE, pair, &from, 1, hilo_slice_put(&m->records, &slice).ix);
  const int32_t zero = 0;
  const hilo_type scalar = hilo_type_scalar(&m->types, HILO_S32);
  const hilo_inst at =
      add_inst(m, HILO_OP_CONSTANT, scalar, NULL, 0, hilo_literal_splat(m, scalar, &zero).ix);
  return add_inst(m, HILO_OP_DYNAMIC_UPDATE_SLICE, flat(m), (hilo_inst[]){into, update, at}, 3, 0);
}

static hilo_inst add_random(fixture *f, const hilo_inst *values, uint32_t n) {
  hilo_module *m = f->m;
  const hilo_inst a = values[pick(f, n)], b = as_flat(m, values[pick(f, n)]);
  const hilo_inst x = as_flat(m, a);
  switch (pick(f, 7)) {
  case 0: return add_inst(m, HILO_OP_ADD, flat(m), (hilo_inst[]){x, b}, 2, 0);
  case 1: return add_inst(m, HILO_OP_NEGATE, flat(m), &x, 1, 0);
  case 2: return add_inst(m, HILO_OP_RESHAPE, is_flat(m, a) ? square(m) : flat(m), &a, 1, 0);
  case 3: return add_inst(m, HILO_OP_COPY, hilo_inst_type(m, a), &a, 1, 0);
  case 4: {
    const hilo_dims_attrs dims = {HILO_DIMS_OF(0)};
    return add_inst(m, HILO_OP_REVERSE, flat(m), &x, 1, hilo_dims_put(&m->records, &dims).ix);
  }
  case 5: return add_inst(m, HILO_OP_SUBTRACT, flat(m), (hilo_inst[]){x, x}, 2, 0);
  default: return add_update(m, x, b);
  }
}

static void add_aliases(fixture *f, uint32_t n_params, const hilo_inst *outputs,
                        uint32_t n_outputs) {
  hilo_module *m = f->m;
  bool taken[MAX_PARAMS] = {false};
  for (uint32_t o = 0; o < n_outputs; o++) {
    const uint32_t p = pick(f, n_params);
    if (taken[p] || !is_flat(m, outputs[o]) || pick(f, 4) == 0) continue;
    taken[p] = true;
    int64_t *index = HILO_NEW_ARRAY(m->arena, int64_t, 1);
    *index = o;
    const hilo_alias alias = {{index, 1}, p, HILO_DIMS_NONE, HILO_ALIAS_MUST};
    HILO_PUSH(m->arena, &m->header.aliases, alias);
  }
}

static void make_program(fixture *f, uint64_t seed) {
  hilo_arena_reset(&f->arena);
  f->diags = hilo_diags_make(&f->arena);
  hilo_module *m = f->m = hilo_module_create(&f->arena, NULL);
  f->seed = seed * 2 + 1;
  m->entry = hilo_comp_add(m, hilo_name_parse(m, HILO_STR("main")));
  hilo_inst values[MAX_PARAMS + MAX_OPS];
  const uint32_t n_params = 1 + pick(f, MAX_PARAMS), n_ops = pick(f, MAX_OPS);
  uint32_t n = 0;
  for (; n < n_params; n++) values[n] = add_inst(m, HILO_OP_PARAMETER, flat(m), NULL, 0, n);
  for (uint32_t k = 0; k < n_ops; k++, n++) values[n] = add_random(f, values, n);
  hilo_inst outputs[MAX_OUTPUTS];
  hilo_type types[MAX_OUTPUTS];
  const uint32_t n_outputs = 1 + pick(f, MAX_OUTPUTS);
  for (uint32_t o = 0; o < n_outputs; o++) {
    outputs[o] = values[pick(f, n)];
    types[o] = hilo_inst_type(m, outputs[o]);
  }
  const hilo_type type = hilo_type_tuple(&m->types, types, n_outputs);
  hilo_comp_set_root(m, m->entry, add_inst(m, HILO_OP_TUPLE, type, outputs, n_outputs, 0));
  add_aliases(f, n_params, outputs, n_outputs);
  if (hilo_verify(m, &f->diags) != HILO_OK) fail_msg("a program that is not well formed");
}

/* ---- the machine ---- */

typedef int32_t cells[N];

typedef struct {
  const hilo_module *m;
  cells *own;     /* per instruction */
  int32_t **data; /* per instruction: where its value lies */
  cells params[MAX_PARAMS];
} machine;

static void step(machine *v, hilo_inst i, int32_t *to) {
  const hilo_module *m = v->m;
  const int32_t *x =
      hilo_inst_n_operands(m, i) ? v->data[hilo_ix(m, hilo_inst_operand(m, i, 0))] : NULL;
  const int32_t *y =
      hilo_inst_n_operands(m, i) > 1 ? v->data[hilo_ix(m, hilo_inst_operand(m, i, 1))] : NULL;
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_ADD:
    for (int k = 0; k < N; k++) to[k] = (int32_t)((uint32_t)x[k] + (uint32_t)y[k]);
    break;
  case HILO_OP_SUBTRACT:
    for (int k = 0; k < N; k++) to[k] = (int32_t)((uint32_t)x[k] - (uint32_t)y[k]);
    break;
  case HILO_OP_NEGATE:
    for (int k = 0; k < N; k++) to[k] = (int32_t)(0 - (uint32_t)x[k]);
    break;
  case HILO_OP_REVERSE:
    for (int k = 0; k < N; k++) to[k] = x[N - 1 - k];
    break;
  case HILO_OP_SLICE: to[0] = x[1], to[1] = x[2]; break;
  case HILO_OP_DYNAMIC_UPDATE_SLICE:
    for (int k = 0; k < N; k++)
      if (to != x) to[k] = x[k];
    to[0] = y[0], to[1] = y[1];
    break;
  case HILO_OP_CONSTANT: memset(to, 0, sizeof(cells)); break;
  default: /* copy, reshape into a buffer of its own */
    for (int k = 0; k < N; k++) to[k] = x[k];
  }
}

/* The outputs into `results`; `shared`: aliased ones lie in their parameter's buffer. */
static uint32_t run(fixture *f, bool shared, cells results[MAX_OUTPUTS]) {
  const hilo_module *m = f->m;
  machine v = {.m = m};
  v.own = HILO_NEW_ZEROED(&f->scratch, cells, m->n_inst_slots);
  v.data = HILO_NEW_ZEROED(&f->scratch, int32_t *, m->n_inst_slots);
  const hilo_inst root = hilo_comp_root(m, m->entry);
  int32_t **target = HILO_NEW_ZEROED(&f->scratch, int32_t *, m->n_inst_slots);
  for (uint32_t k = 0; shared && k < m->header.aliases.n; k++) {
    const hilo_alias *a = &m->header.aliases.v[k];
    const hilo_inst w = hilo_inst_operand(m, root, (uint32_t)a->output_index.v[0]);
    if (!hilo_inst_is(m, w, HILO_OP_PARAMETER)) target[hilo_ix(m, w)] = v.params[a->param];
  }
  for (int p = 0; p < MAX_PARAMS; p++)
    for (int k = 0; k < N; k++) v.params[p][k] = 1000 * p + 17 * k + 1;
  HILO_FOR_EACH_INST(m, m->entry, i) {
    const uint32_t ix = hilo_ix(m, i);
    if (hilo_inst_is(m, i, HILO_OP_TUPLE)) continue;
    if (hilo_inst_is(m, i, HILO_OP_PARAMETER)) {
      v.data[ix] = v.params[hilo_inst_index(m, i)];
      continue;
    }
    const bool is_view = hilo_inst_is(m, i, HILO_OP_RESHAPE) && shared && !target[ix];
    v.data[ix] = is_view      ? v.data[hilo_ix(m, hilo_inst_operand(m, i, 0))]
                 : target[ix] ? target[ix]
                              : v.own[ix];
    if (!is_view) step(&v, i, v.data[ix]);
  }
  const uint32_t n = hilo_inst_n_operands(m, root);
  for (uint32_t o = 0; o < n; o++)
    memcpy(results[o], v.data[hilo_ix(m, hilo_inst_operand(m, root, o))], sizeof(cells));
  hilo_arena_reset(&f->scratch);
  return n;
}

/* ---- tests ---- */

static hilo_status apply(fixture *f, hilo_pass_id id) {
  static const hilo_pass_options options = {.stablehlo = true,
                                            .constant_decomposition_threshold = 4096,
                                            .broadcast_num_elements_to_fold = 1024};
  hilo_pass_ctx ctx = {.diags = &f->diags, .scratch = &f->scratch, .options = &options};
  bool changed = false;
  const hilo_status status = hilo_pass_table[id].run(f->m, &ctx, &changed);
  hilo_arena_reset(&f->scratch);
  return status;
}

static int set_up(void **state) {
  fixture *f = calloc(1, sizeof(*f));
  hilo_arena_init(&f->arena, NULL, NULL);
  hilo_arena_init(&f->scratch, NULL, NULL);
  *state = f;
  return 0;
}

static int tear_down(void **state) {
  fixture *f = *state;
  hilo_arena_deinit(&f->arena);
  hilo_arena_deinit(&f->scratch);
  free(f);
  return 0;
}

static void sharing_changes_nothing_after_step_29(void **state) {
  fixture *f = *state;
  uint32_t n_copies = 0, n_pairs = 0;
  for (uint64_t seed = 0; seed < N_PROGRAMS; seed++) {
    make_program(f, seed);
    cells before[MAX_OUTPUTS], after[MAX_OUTPUTS];
    const uint32_t n = run(f, false, before);
    assert_int_equal(apply(f, HILO_PASS_penguinize_io), HILO_OK);
    assert_int_equal(apply(f, HILO_PASS_tensorizer_legalization), HILO_OK);
    const uint32_t n_insts = f->m->n_insts;
    assert_int_equal(apply(f, HILO_PASS_legalize_alias), HILO_OK);
    n_copies += f->m->n_insts - n_insts;
    n_pairs += f->m->header.aliases.n;
    if (hilo_verify(f->m, &f->diags) != HILO_OK)
      fail_msg("seed %llu: broken", (unsigned long long)seed);
    assert_int_equal(run(f, true, after), n);
    if (memcmp(before, after, n * sizeof(cells)) != 0)
      fail_msg("seed %llu: sharing changes a result", (unsigned long long)seed);
    if (apply(f, HILO_PASS_verify_aliasing) != HILO_OK)
      fail_msg("seed %llu: step 30 sees a fault", (unsigned long long)seed);
    /* Once more, and nothing moves. */
    const uint64_t hash = hilo_module_state_hash(f->m);
    assert_int_equal(apply(f, HILO_PASS_legalize_alias), HILO_OK);
    assert_true(hilo_module_state_hash(f->m) == hash);
  }
  /* Both kinds of pairs occur often. */
  assert_true(n_copies > N_PROGRAMS / 20 && n_copies < n_pairs / 2);
}

static void step_30_sees_what_sharing_would_break(void **state) {
  fixture *f = *state;
  uint32_t n_broken = 0;
  for (uint64_t seed = 0; seed < N_PROGRAMS; seed++) {
    make_program(f, seed);
    assert_int_equal(apply(f, HILO_PASS_penguinize_io), HILO_OK);
    assert_int_equal(apply(f, HILO_PASS_tensorizer_legalization), HILO_OK);
    cells apart[MAX_OUTPUTS], shared[MAX_OUTPUTS];
    const uint32_t n = run(f, false, apart);
    run(f, true, shared);
    if (memcmp(apart, shared, n * sizeof(cells)) == 0) continue;
    n_broken++;
    if (apply(f, HILO_PASS_verify_aliasing) == HILO_OK)
      fail_msg("seed %llu: step 30 sees no fault", (unsigned long long)seed);
  }
  assert_true(n_broken > N_PROGRAMS / 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(sharing_changes_nothing_after_step_29, set_up, tear_down),
      cmocka_unit_test_setup_teardown(step_30_sees_what_sharing_would_break, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
