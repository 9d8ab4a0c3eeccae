/* scan against step by step computation in C: single elements, and slices in a machine. */
#include "eval/machine.h"
#include "eval_reduce_support.h"

/* (x, carry) -> (carry * 2 + x, x - carry, and as carry the first of these). */
static hilo_comp stepper(hilo_etype etype, hilo_dims dims) {
  const hilo_type type = hilo_type_array(&f.m->types, etype, dims);
  const hilo_comp c = new_region(&f);
  hilo_inst v[2];
  for (uint32_t k = 0; k < 2; k++) {
    const hilo_inst_desc param = {.op = HILO_OP_PARAMETER, .type = type, .attr = k};
    v[k] = hilo_inst_add(f.m, c, &param);
  }
  const struct {
    hilo_op op;
    uint32_t a, b;
  } steps[] = {{HILO_OP_ADD, 1, 1}, {HILO_OP_ADD, 2, 0}, {HILO_OP_SUBTRACT, 0, 1}};
  hilo_inst all[5] = {v[0], v[1]};
  for (uint32_t k = 0; k < 3; k++) {
    const hilo_inst operands[2] = {all[steps[k].a], all[steps[k].b]};
    const hilo_inst_desc desc = {
        .op = steps[k].op, .type = type, .operands = operands, .n_operands = 2};
    all[2 + k] = hilo_inst_add(f.m, c, &desc);
  }
  const hilo_inst results[3] = {all[3], all[4], all[3]};
  region_root_tuple(&f, c, results, 3);
  return c;
}

static hilo_value run_scan(const tensor *x, const tensor *init, int64_t dimension, bool is_reverse,
                           bool in_machine) {
  const hilo_scan_attrs attrs = {
      .dimension = dimension, .is_reverse = is_reverse, .num_carries = 1};
  const uint32_t attr = hilo_scan_put(&f.m->records, &attrs).ix;
  const hilo_value args[2] = {tensor_value(&f, x), tensor_value(&f, init)};
  const hilo_type types[3] = {args[0].type, args[0].type, args[1].type};
  const hilo_type result = hilo_type_tuple(&f.m->types, types, 3);
  const hilo_comp region = stepper(x->etype, tensor_dims(init));
  hilo_value out;
  if (!in_machine) {
    assert_int_equal(try_eval_op(&f, HILO_OP_SCAN, attr, result, args, 2, region, &out), HILO_OK);
    return out;
  }
  const hilo_type params[2] = {args[0].type, args[1].type};
  const hilo_inst i = make_inst(&f, HILO_OP_SCAN, attr, result, params, 2, region);
  const hilo_comp program = hilo_inst_comp(f.m, i);
  hilo_comp_set_root(f.m, program, i);
  hilo_diags diags = hilo_diags_make(&f.arena);
  const hilo_machine_options options = {.m = f.m,
                                        .types = &f.m->types,
                                        .heap = &f.heap,
                                        .arena = &f.scratch,
                                        .diags = &diags,
                                        .n_replicas = 1,
                                        .n_partitions = 1};
  hilo_rank rank = {.program = program, .args = args};
  assert_int_equal(hilo_machine_run(&options, &rank, NULL), HILO_OK);
  return rank.result;
}

static void scan_once(int round, const int64_t *dims, uint32_t rank) {
  const hilo_etype etype = round % 2 ? HILO_S16 : HILO_U8;
  const int64_t dimension = rand_in(&f, 0, rank - 1), size = dims[dimension];
  const bool is_reverse = rand_once_in(&f, 2);
  int64_t slice[4];
  uint32_t n = 0;
  for (uint32_t d = 0; d < rank; d++)
    if (d != dimension) slice[n++] = dims[d];
  const tensor x = rand_elements(&f, etype, dims, rank, false);
  const tensor init = rand_elements(&f, etype, slice, n, false);
  tensor carry = new_tensor(&f, etype, slice, n);
  tensor sums = new_tensor(&f, etype, dims, rank), differences = new_tensor(&f, etype, dims, rank);
  for (int64_t k = 0; k < tensor_count(&init); k++) copy_element(&carry, k, &init, k);
  for (int64_t step = 0; step < size; step++)
    for (int64_t k = 0; k < tensor_count(&init); k++) {
      int64_t kept[4], index[4];
      index_of(slice, n, k, kept);
      for (uint32_t d = 0, from = 0; d < rank; d++)
        index[d] = d == dimension ? (is_reverse ? size - 1 - step : step) : kept[from++];
      const int64_t at = place_of(dims, rank, index), old = get_int(&carry, k);
      set_int(&differences, at, get_int(&x, at) - old);
      set_int(&carry, k, old * 2 + get_int(&x, at));
      copy_element(&sums, at, &carry, k);
    }
  const hilo_value out = run_scan(&x, &init, dimension, is_reverse, rank > 1 || round % 3 == 0);
  assert_same_elements(&sums, out.elements[0].data, "first output", round);
  assert_same_elements(&differences, out.elements[1].data, "second output", round);
  assert_same_elements(&carry, out.elements[2].data, "carry", round);
}

static void scans(void **state) {
  (void)state;
  for (int round = 0; round < 200; round++) {
    int64_t dims[4];
    const uint32_t rank = round % 4 ? (uint32_t)rand_in(&f, 1, 4) : 1;
    for (uint32_t d = 0; d < rank; d++) dims[d] = rand_in(&f, rand_once_in(&f, 8) ? 0 : 1, 7);
    scan_once(round, dims, rank);
    eval_renew(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(scans, set_up, tear_down),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
