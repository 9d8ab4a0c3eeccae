/* Allocation failure at every site of a small compile: each is survived with one error, nothing
 * leaks, nothing is left behind; and the first compile that is given enough memory is complete. */
#include "driver/command_line.h"
#include "driver/compile.h"
#include "test_support.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

/* Touches each stage: a call, a loop, an unused value, a dense constant, a collective, an alias. */
static const char program[] =
    "HloModule small, input_output_alias={ {1}: (1, {}, must-alias) }, num_partitions=2\n"
    "add { a = f32[] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[] add(a, b) }\n"
    "callee { x = f32[4] parameter(0)\n ROOT e = f32[4] exponential(x) }\n"
    "cond { t = (s32[], f32[4]) parameter(0)\n i = s32[] get-tuple-element(t), index=0\n"
    " n = s32[] constant(3)\n ROOT lt = pred[] compare(i, n), direction=LT }\n"
    "body { t = (s32[], f32[4]) parameter(0)\n i = s32[] get-tuple-element(t), index=0\n"
    " v = f32[4] get-tuple-element(t), index=1\n one = s32[] constant(1)\n j = s32[] add(i, one)\n"
    " w = f32[4] multiply(v, v)\n ROOT r = (s32[], f32[4]) tuple(j, w) }\n"
    "ENTRY main { p = f32[4] parameter(0)\n q = f32[4] parameter(1)\n"
    " c = f32[4] constant({1, 2, 3, 4.5})\n k = f32[4] call(p), to_apply=callee\n zero = s32[] "
    "constant(0)\n"
    " init = (s32[], f32[4]) tuple(zero, k)\n l = (s32[], f32[4]) while(init), condition=cond, "
    "body=body\n"
    " u = f32[4] get-tuple-element(l), index=1\n unused = f32[4] negate(u)\n z = f32[4] add(u, c)\n"
    " ar = f32[4] all-reduce(z), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, "
    "to_apply=add\n"
    " d = f32[4] subtract(q, ar)\n ROOT out = (f32[4], f32[4]) tuple(ar, d) }\n";

/* Two equal layers between markers, a prologue, and a donated input. */
static const char layers[] =
    "HloModule layers, input_output_alias={ {1}: (1, {}, must-alias) }\n"
    "ENTRY main { p = f32[4] parameter(0)\n q = f32[4] parameter(1)\n w = f32[4] parameter(2)\n"
    " c = f32[4] constant({1, 2, 3, 4.5})\n e = f32[4] multiply(p, c)\n"
    " s1 = f32[4] custom-call(e), custom_call_target=\"AwsNeuronModuleMarkerStart-Forward\"\n"
    " a1 = f32[4] add(s1, q)\n b1 = f32[4] tanh(a1)\n"
    " e1 = f32[4] custom-call(b1), custom_call_target=\"AwsNeuronModuleMarkerEnd-Forward\"\n"
    " s2 = f32[4] custom-call(e1), custom_call_target=\"AwsNeuronModuleMarkerStart-Forward\"\n"
    " a2 = f32[4] add(s2, w)\n b2 = f32[4] tanh(a2)\n"
    " e2 = f32[4] custom-call(b2), custom_call_target=\"AwsNeuronModuleMarkerEnd-Forward\"\n"
    " r = f32[4] negate(e2)\n d = f32[4] subtract(q, r)\n ROOT out = (f32[4], f32[4]) tuple(r, d) "
    "}\n";

static char folder[32];

static uint32_t count_outputs(void) {
  DIR *d = opendir(folder);
  assert_non_null(d);
  uint32_t n = 0;
  for (struct dirent *e; (e = readdir(d)) != NULL;)
    n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
  closedir(d);
  return n - 1; /* the input */
}

/* One compile in which the requests after the first `fail_after` fail; true if it succeeded. */
static bool compile_once(bool partition, uint64_t fail_after, uint64_t *n_requests) {
  char input[64], out_dir[64];
  snprintf(input, sizeof(input), "--input=%s/in.hlo", folder);
  snprintf(out_dir, sizeof(out_dir), "--out-dir=%s", folder);
  /* One thread: the allocator of the tests is not made for more. */
  const char *argv[] = {
      "hlo2penguin",           input,     out_dir, "--output=penguin.py", "--partition",
      "--layers-per-module=1", "--jobs=1"};
  hilo_arena words;
  hilo_arena_init(&words, NULL, NULL);
  const hilo_command command =
      hilo_command_parse(HILO_TOOL_PENGUIN, partition ? HILO_COUNT(argv) : 4, argv, &words, NULL);
  assert_non_null(command.config);
  static test_allocator allocator;
  static hilo_arena arena;
  static jmp_buf oom;
  test_allocator_init(&allocator, fail_after);
  hilo_arena_init(&arena, &allocator.allocator, &oom);
  volatile hilo_status status = HILO_OUT_OF_MEMORY;
  if (setjmp(oom) == 0) {
    hilo_diags diags = hilo_diags_make(&arena);
    status = hilo_compile(command.config, NULL, &diags);
    assert_true(status == HILO_OK || diags.n_errors > 0);
  }
  hilo_arena_deinit(&arena);
  assert_int_equal(allocator.n_live, 0);
  *n_requests = allocator.n_requests;
  hilo_arena_deinit(&words);
  return status == HILO_OK;
}

static void fail_everywhere(const char *text, bool partition, uint32_t n_outputs) {
  strcpy(folder, "/tmp/hilo_fault_XXXXXX");
  assert_non_null(mkdtemp(folder));
  char path[64];
  snprintf(path, sizeof(path), "%s/in.hlo", folder);
  FILE *f = fopen(path, "w");
  assert_non_null(f);
  fputs(text, f);
  fclose(f);
  uint64_t n_requests = 0;
  assert_true(compile_once(partition, UINT64_MAX, &n_requests));
  assert_int_equal(count_outputs(), n_outputs);
  char command[256];
  snprintf(command, sizeof(command), "rm -rf %s/*.py %s/*.npy %s/*.dbg %s/sg* %s/*.json", folder,
           folder, folder, folder, folder);
  assert_int_equal(system(command), 0);
  assert_true(n_requests > 20);
  for (uint64_t k = 0; k < n_requests; k++) {
    uint64_t ignored;
    assert_false(compile_once(partition, k, &ignored));
    assert_int_equal(count_outputs(), 0);
  }
  uint64_t again;
  assert_true(compile_once(partition, n_requests, &again));
  snprintf(command, sizeof(command), "rm -rf %s", folder);
  assert_int_equal(system(command), 0);
}

static void every_failed_allocation_is_survived(void **state) {
  (void)state;
  fail_everywhere(program, false, 4); /* the program, a constant, two .dbg files */
}

static void every_failed_allocation_of_partitions_is_survived(void **state) {
  (void)state;
  fail_everywhere(layers, true, 4); /* three definitions and the netlist */
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_failed_allocation_is_survived),
      cmocka_unit_test(every_failed_allocation_of_partitions_is_survived)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
