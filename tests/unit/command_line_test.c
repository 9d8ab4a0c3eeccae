/* The grammar of the command line, row by row of its specification. */
#include "driver/command_line.h"

#include "base/vec.h"
#include "driver/option_table.h"
#include "test_support.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static hilo_arena arena;
static hilo_command command;
static const hilo_config *config;

static int setup(void **state) {
  (void)state;
  hilo_arena_init(&arena, NULL, NULL);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  hilo_arena_deinit(&arena);
  return 0;
}

/* Response files of the tests: the name is the content, with `;` for newline; `missing` is none. */
static bool read_name(hilo_arena *to, const char *path, size_t max_bytes, hilo_str *out) {
  if (strcmp(path, "missing") == 0 || strlen(path) > max_bytes) return false;
  hilo_sb text = hilo_sb_make(to);
  hilo_sb_cat(&text, path);
  for (size_t i = 0; i < text.n; i++)
    if (text.p[i] == ';') text.p[i] = '\n';
  *out = hilo_sb_view(&text);
  return true;
}

static void parse_as(hilo_tool tool, const char *const *words) {
  hilo_arena_reset(&arena);
  hilo_vec(const char *) argv = {0};
  HILO_PUSH(&arena, &argv, tool == HILO_TOOL_OPT ? "bin/hlo-opt" : "bin/hlo2penguin");
  for (; *words; words++) HILO_PUSH(&arena, &argv, *words);
  command = hilo_command_parse(tool, (int)argv.n, argv.v, &arena, read_name);
  config = command.config;
}

#define PARSE(...) parse_as(HILO_TOOL_PENGUIN, (const char *const[]){__VA_ARGS__, NULL})
#define PARSE_OPT(...) parse_as(HILO_TOOL_OPT, (const char *const[]){__VA_ARGS__, NULL})

static void assert_runs(void) {
  assert_str(command.err, "");
  assert_non_null(config);
}

static void assert_fails(const char *message) {
  assert_str(command.err, message);
  assert_null(config);
  assert_int_equal(command.exit_code, 1);
}

static void test_names_and_values(void **state) {
  (void)state;
  PARSE("-input", "a", "--output=b", "-spmd", "--fuseCCSlice");
  assert_runs();
  assert_str(config->input, "a");
  assert_str(config->output, "b");
  assert_true(config->spmd && config->fuse_cc_slice);
  PARSE("--input", "--spmd");
  assert_runs();
  assert_str(config->input, "--spmd");
  assert_false(config->spmd);
  PARSE("--input", "--");
  assert_str(config->input, "--");
  PARSE("--input", "-");
  assert_str(config->input, "-");
  PARSE("--input=");
  assert_str(config->input, "");
  assert_true(hilo_config_is_given(config, HILO_OPTION_input));
  assert_false(hilo_config_is_given(config, HILO_OPTION_output));
  PARSE("--input=a=b", "--input=c=d");
  assert_str(config->input, "c=d");
  PARSE("--");
  assert_runs();
}

static void test_bools(void **state) {
  (void)state;
  static const char *const on[] = {"--spmd",      "--spmd=",     "--spmd=true",
                                   "--spmd=TRUE", "--spmd=True", "--spmd=1"};
  for (size_t i = 0; i < HILO_COUNT(on); i++) {
    PARSE(on[i]);
    assert_runs();
    assert_true(config->spmd);
  }
  static const char *const off[] = {"--fold-iota=false", "--fold-iota=FALSE", "--fold-iota=False",
                                    "--fold-iota=0"};
  for (size_t i = 0; i < HILO_COUNT(off); i++) {
    PARSE(off[i]);
    assert_runs();
    assert_false(config->fold_iota);
  }
  PARSE("--fold-iota=0", "--fold-iota");
  assert_true(config->fold_iota);
  PARSE("--spmd=tRUE");
  assert_fails("hlo2penguin: for the --spmd option: 'tRUE' is invalid value for boolean argument! "
               "Try 0 or 1\n");
  PARSE("--spmd", "false");
  assert_fails("hlo2penguin: Unknown command line argument 'false'.  Try: 'bin/hlo2penguin "
               "--help'\n");
  PARSE("--disable-verifier");
  assert_false(config->verify_hlo);
  PARSE("--disable-verifier", "--verify-hlo");
  assert_true(config->verify_hlo);
}

static void test_integers(void **state) {
  (void)state;
  static const struct {
    const char *word;
    int32_t value;
  } good[] = {{"--fuzz-aliases=12", 12},
              {"--fuzz-aliases=0x1F", 31},
              {"--fuzz-aliases=0X1f", 31},
              {"--fuzz-aliases=0b101", 5},
              {"--fuzz-aliases=010", 8},
              {"--fuzz-aliases=0o17", 15},
              {"--fuzz-aliases=-3", -3},
              {"--fuzz-aliases=-0x10", -16},
              {"--fuzz-aliases=2147483647", INT32_MAX},
              {"--fuzz-aliases=-2147483648", INT32_MIN},
              {"--fuzz-aliases=0", 0}};
  for (size_t i = 0; i < HILO_COUNT(good); i++) {
    PARSE(good[i].word);
    assert_runs();
    assert_int_equal(config->fuzz_aliases, good[i].value);
  }
  static const char *const bad[] = {"x", "", "08", "0x", "+5", "5 ", "1.5", "2147483648", "-"};
  for (size_t i = 0; i < HILO_COUNT(bad); i++) {
    PARSE("--fuzz-aliases", bad[i]);
    hilo_sb message = hilo_sb_make(&arena);
    hilo_sb_printf(&message,
                   "hlo2penguin: for the --fuzz-aliases option: '%s' value invalid for integer "
                   "argument!\n",
                   bad[i]);
    assert_fails(hilo_sb_cstr(&message));
  }
  PARSE("--dynamic-dma-scratch-size-per-partition=4294967295");
  assert_int_equal(config->dynamic_dma_scratch_size_per_partition, UINT32_MAX);
  PARSE("--dynamic-dma-scratch-size-per-partition=-1");
  assert_fails("hlo2penguin: for the --dynamic-dma-scratch-size-per-partition option: '-1' value "
               "invalid for uint argument!\n");
  PARSE("--constant-decomposition-threshold=-9223372036854775808");
  assert_true(config->constant_decomposition_threshold == INT64_MIN);
  PARSE("--constant-decomposition-threshold=9223372036854775808");
  assert_fails("hlo2penguin: for the --constant-decomposition-threshold option: "
               "'9223372036854775808' value invalid for long argument!\n");
}

static void test_float_list(void **state) {
  (void)state;
  PARSE("--tolerance=1e-3", "2", "--tolerance", "3", "-4");
  assert_runs();
  assert_int_equal(config->tolerance.n, 4);
  assert_true(config->tolerance.v[0] == 1e-3f && config->tolerance.v[1] == 2 &&
              config->tolerance.v[2] == 3 && config->tolerance.v[3] == -4);
  PARSE("--tolerance=1");
  assert_fails("hlo2penguin: for the --tolerance option: not enough values!\n");
  PARSE("--tolerance");
  assert_fails("hlo2penguin: for the --tolerance option: requires a value!\n");
  PARSE("--tolerance", "1", "2", "3");
  assert_fails("hlo2penguin: Unknown command line argument '3'.  Try: 'bin/hlo2penguin --help'\n");
  PARSE("--tolerance=x", "2");
  assert_fails(
      "hlo2penguin: for the --tolerance option: 'x' value invalid for floating point argument!\n"
      "hlo2penguin: Unknown command line argument '2'.  Try: 'bin/hlo2penguin --help'\n");
  PARSE("--tolerance=1", "--spmd");
  assert_fails("hlo2penguin: for the --tolerance option: '--spmd' value invalid for floating point "
               "argument!\n");
}

static void test_enums(void **state) {
  (void)state;
  PARSE("--verbose=debug", "--logfile-verbose", "warning");
  assert_runs();
  assert_int_equal(config->verbose, HILO_LEVEL_DEBUG);
  assert_int_equal(config->logfile_verbose, HILO_LEVEL_WARNING);
  PARSE("--verbose=user");
  assert_int_equal(config->verbose, HILO_LEVEL_ERROR);
  PARSE("--verbose=Error");
  assert_fails("hlo2penguin: for the --verbose option: Cannot find option named 'Error'!\n");
  PARSE("--verbose");
  assert_fails("hlo2penguin: for the --verbose option: requires a value!\n");
  PARSE("--implicit-integer-downcast=dot,pow", "--implicit-integer-downcast=scatter");
  assert_int_equal(config->implicit_integer_downcast,
                   HILO_INTEGER_DOT | HILO_INTEGER_POW | HILO_INTEGER_SCATTER);
  PARSE("--implicit-integer-downcast=dot,add");
  assert_fails("hlo2penguin: for the --implicit-integer-downcast option: Cannot find option named "
               "'add'!\n");
  PARSE("--stats");
  assert_int_equal(config->stats, HILO_REPORT_TEXT);
  PARSE("--stats=json");
  assert_int_equal(config->stats, HILO_REPORT_JSON);
}

static void test_unknown_words(void **state) {
  (void)state;
  PARSE("--verbos=error");
  assert_fails("hlo2penguin: Unknown command line argument '--verbos=error'.  Try: "
               "'bin/hlo2penguin --help'\nhlo2penguin: Did you mean '--verbose=error'?\n");
  PARSE("---spmd");
  assert_fails("hlo2penguin: Unknown command line argument '---spmd'.  Try: 'bin/hlo2penguin "
               "--help'\nhlo2penguin: Did you mean '--spmd'?\n");
  /* `force-all-uniq` is nearer, but its group is never suggested. */
  PARSE("--force-all-uni");
  assert_true(strstr(hilo_str_copy(&arena, command.err).p, "--force-all-uniq'?") == NULL);
  assert_int_equal(command.exit_code, 1);
  PARSE("--Spmd");
  assert_int_equal(command.exit_code, 1);
  PARSE("--fold-iot");
  assert_int_equal(command.exit_code, 1);
  PARSE("-");
  assert_fails("hlo2penguin: Unknown command line argument '-'.  Try: 'bin/hlo2penguin --help'\n");
  PARSE("--", "--spmd");
  assert_fails("hlo2penguin: Unknown command line argument '--spmd'.  Try: 'bin/hlo2penguin "
               "--help'\n");
  PARSE("--spmd=x", "--fuzz-aliases=y", "z");
  assert_fails("hlo2penguin: for the --spmd option: 'x' is invalid value for boolean argument! Try "
               "0 or 1\nhlo2penguin: for the --fuzz-aliases option: 'y' value invalid for integer "
               "argument!\nhlo2penguin: Unknown command line argument 'z'.  Try: "
               "'bin/hlo2penguin --help'\n");
  static const char *const driver_only[] = {"--internal-hlo2tensorizer-options=x",
                                            "--tensorizer-options=x", "--targets=x",
                                            "--enable-penguin-mac-count"};
  for (size_t i = 0; i < HILO_COUNT(driver_only); i++) {
    PARSE(driver_only[i]);
    assert_int_equal(command.exit_code, 1);
  }
}

static void test_response_files(void **state) {
  (void)state;
  PARSE("@--input='a b'c\"d\\\"e\"\\ f --spmd;--fold-iota=0");
  assert_runs();
  assert_str(config->input, "a bcd\"e f");
  assert_true(config->spmd);
  assert_false(config->fold_iota);
  PARSE("@--input @--output");
  assert_runs();
  assert_str(config->input, "--output"); /* the inner file's word is the value */
  PARSE("--spmd", "@missing");
  assert_fails("hlo2penguin: Unknown command line argument '@missing'.  Try: 'bin/hlo2penguin "
               "--help'\n");
  PARSE("@'' \"\" ");
  assert_runs();
  PARSE("--", "@--spmd");
  assert_fails("hlo2penguin: Unknown command line argument '--spmd'.  Try: 'bin/hlo2penguin "
               "--help'\n");
}

static unsigned n_reads;
static bool read_itself(hilo_arena *to, const char *path, size_t max_bytes, hilo_str *out) {
  (void)path, (void)max_bytes;
  n_reads++;
  hilo_sb text = hilo_sb_make(to);
  hilo_sb_printf(&text, "@a%u @b%u @self", n_reads, n_reads);
  *out = hilo_sb_view(&text);
  return true;
}

static void test_response_files_are_bounded(void **state) {
  (void)state;
  hilo_arena_reset(&arena);
  const char *argv[] = {"hlo2penguin", "@self"};
  command = hilo_command_parse(HILO_TOOL_PENGUIN, 2, argv, &arena, read_itself);
  assert_int_equal(command.exit_code, 1);
  assert_true(n_reads <= 1000);
}

static size_t count_lines(hilo_str text, const char *start, const char *from) {
  const char *at = strstr(hilo_str_copy(&arena, text).p, from);
  assert_non_null(at);
  size_t n = 0;
  for (; (at = strchr(at, '\n')); at++) n += strncmp(at + 1, start, strlen(start)) == 0;
  return n;
}

static void test_help(void **state) {
  (void)state;
  PARSE("--help");
  assert_null(config);
  assert_int_equal(command.exit_code, 0);
  assert_int_equal(count_lines(command.out, "  --", "\nhlo2penguin options:\n"), 66);
  PARSE("--nosuch", "-help-hidden", "--also");
  assert_int_equal(command.exit_code, 0); /* acts where it stands */
  assert_int_equal(count_lines(command.out, "  --", "\nhlo2penguin options:\n"), 74);
  for (size_t i = 0; i < HILO_OPTION_COUNT; i++) {
    if (hilo_options[i].visibility != HILO_VISIBLE_REALLY) continue;
    hilo_sb shown = hilo_sb_make(&arena);
    hilo_sb_printf(&shown, "--%s", hilo_options[i].name);
    const char *found = strstr(hilo_str_copy(&arena, command.out).p, hilo_sb_cstr(&shown));
    assert_true(!found || (found[shown.n] != ' ' && found[shown.n] != '='));
  }
  PARSE("--help=1");
  assert_fails("hlo2penguin: for the --help option: does not allow a value! '1' specified.\n");
  PARSE("--version");
  assert_str(command.out, "hlo2penguin (open) " HILO_VERSION "\n");
  PARSE("--explain=EVRF004");
  assert_str(command.out, "NCC_EVRF004: complex types are not supported\n"
                          "  carry the real and the imaginary part as two tensors\n");
  PARSE("--explain=EVRF999");
  assert_int_equal(command.exit_code, 1);
}

static void test_print_options(void **state) {
  (void)state;
  PARSE("--print-options", "--remat", "--tolerance", "1", "0.5", "--verbose=info",
        "--logical-nc-config=2", "--dump-after-to-file=a,,b");
  assert_runs();
  assert_str(command.out, "  --dump-after-to-file = a,b (default: )\n"
                          "  --logical-nc-config = 2 (default: 1)\n"
                          "  --num-neuroncores-per-sengine = 2 (default: 1)\n"
                          "  --print-options = true (default: false)\n"
                          "  --remat = true (default: false)\n"
                          "  --tiled-inst-limit = 10000000 (default: 5000000)\n"
                          "  --tolerance = 1 0.5 (default: )\n"
                          "  --verbose = info (default: error)\n");
  PARSE("--print-all-options");
  assert_runs();
  assert_non_null(strstr(hilo_str_copy(&arena, command.out).p,
                         "\n  --target-instance = trn1 (default: trn1)\n"));
}

static void test_partitioner_words(void **state) {
  (void)state;
  PARSE("--layers-per-module=3", "--partitioner-opts",
        " --layers-per-module=1\t--recursive-layer-det=false --what stray --remat "
        "--max-all-gathers-buffer-size 135 ",
        "--modular-flow-mac-target=10");
  assert_runs();
  assert_int_equal(config->layers_per_module, 1);
  assert_false(config->recursive_layer_det);
  assert_false(config->remat);
  assert_int_equal(config->max_all_gathers_buffer_size, 135ll << 20);
  assert_int_equal(config->max_all_reduce_buffer_size, 128ll << 20);
  assert_int_equal(config->modular_flow_mac_threshold, 10);
  uint32_t n = 0;
  for (uint32_t i = 0; i < command.diags.n; i++)
    n += command.diags.list[i].code == HILO_DIAG_EARG900;
  assert_int_equal(n, 3);
  PARSE("--partitioner-opts=--layers-per-module=x");
  assert_fails("hlo2penguin: for the --layers-per-module option: 'x' value invalid for integer "
               "argument!\n");
  PARSE("--coalesce-collectives", "--coalesce-all-reduces=false");
  assert_true(config->coalesce_all_gathers && config->coalesce_reduce_scatters);
  assert_false(config->coalesce_all_reduces);
}

static void test_checks_after_parsing(void **state) {
  (void)state;
  PARSE("--target-instance=trn9", "--logical-nc-config=3");
  assert_null(config);
  assert_int_equal(command.exit_code, 1);
  assert_true(hilo_str_starts(command.err, "[ERROR] [NCC_EARG001] `trn9` is not a target"));
  assert_int_equal(count_lines(command.err, "[ERROR] [NCC_EARG001]", "[ERROR]"), 1);
  PARSE("--spmd", "--spmd=0", "--xla_dump_to=x", "--xla_other", "--split-abc", "--transformer");
  assert_runs();
  assert_int_equal(command.diags.n, 3); /* one a flag; --transformer has all the effect it has */
  assert_str(command.diags.list[0].message,
             "`--spmd` is accepted but has no effect in this version yet");
  assert_str(command.diags.list[1].message,
             "`--split-abc` is accepted for old scripts and has no effect");
  assert_str(command.diags.list[2].message,
             "`--xla_*` is accepted for old scripts and has no effect");
  assert_int_equal(command.diags.n_errors, 0);
}

static void test_hlo_opt(void **state) {
  (void)state;
  PARSE_OPT("--passes=dce,cse", "in.hlo", "-o", "out", "--passes=dce", "--check-each", "--remat");
  assert_runs();
  assert_str(config->input, "in.hlo");
  assert_str(config->opt_output, "out");
  assert_int_equal(config->passes.n, 3);
  assert_str(config->passes.v[2], "dce");
  assert_int_equal(config->check_each, 0);
  PARSE_OPT("-");
  assert_runs();
  assert_str(config->input, "-");
  assert_int_equal(config->check_each, -1);
  PARSE_OPT("a", "b", "c");
  assert_fails("hlo-opt: Too many positional arguments specified!\nCan specify at most 1 "
               "positional arguments: See: bin/hlo-opt --help\n");
  PARSE_OPT("--output=x");
  assert_int_equal(command.exit_code, 1);
  PARSE_OPT("--check-each=7", "--emit=proto", "--pipeline=hlo", "--", "--dash.hlo");
  assert_runs();
  assert_str(config->input, "--dash.hlo");
  assert_int_equal(config->check_each, 7);
  assert_int_equal(config->emit, HILO_EMIT_PROTO);
  assert_int_equal(config->pipeline, HILO_PIPELINE_HLO);
  PARSE_OPT("-o");
  assert_fails("hlo-opt: for the -o option: requires a value!\n");
}

/* Every option takes its own default, printed, as a value, and is the same afterwards. */
static void test_defaults_round_trip(void **state) {
  (void)state;
  for (size_t i = 0; i < HILO_OPTION_COUNT; i++) {
    const hilo_option *option = &hilo_options[i];
    if (option->type >= HILO_TYPE_PREFIX || option->type == HILO_TYPE_PAIRS) continue;
    hilo_config *fresh = HILO_NEW(&arena, hilo_config), *set = HILO_NEW(&arena, hilo_config);
    hilo_config_init(fresh, HILO_TOOL_PENGUIN);
    hilo_config_init(set, HILO_TOOL_PENGUIN);
    hilo_sb before = hilo_sb_make(&arena), after = hilo_sb_make(&arena);
    hilo_option_print(option, fresh, &before);
    if (before.n == 0) continue; /* an empty list or a choice not made */
    assert_null(hilo_option_set(option, set, &arena, hilo_sb_view(&before), true));
    hilo_option_print(option, set, &after);
    assert_true(hilo_str_eq(hilo_sb_view(&before), hilo_sb_view(&after)));
    assert_true(strlen(option->name) <= HILO_MAX_DISTANCE);
    assert_true(option->help[0]);
    for (size_t j = 0; j < i; j++) assert_true(strcmp(option->name, hilo_options[j].name) != 0);
  }
}

static void test_out_dir(void **state) {
  (void)state;
  char root[] = "/tmp/hilo_out_dir_XXXXXX";
  assert_non_null(mkdtemp(root));
  hilo_sb path = hilo_sb_make(&arena);
  hilo_sb_printf(&path, "%s/a//b/c/", root);
  hilo_config made;
  hilo_config_init(&made, HILO_TOOL_PENGUIN);
  made.out_dir = hilo_str_copy(&arena, hilo_sb_view(&path));
  hilo_diags diags = hilo_diags_make(&arena);
  assert_int_equal(hilo_config_create_out_dir(&made, &diags), HILO_OK);
  struct stat found;
  assert_int_equal(stat(hilo_sb_cstr(&path), &found), 0);
  assert_int_equal(hilo_config_create_out_dir(&made, &diags), HILO_OK);
  made.out_dir = HILO_STR("/dev/null/x");
  assert_true(hilo_config_create_out_dir(&made, &diags) != HILO_OK);
  assert_int_equal(diags.list[diags.n - 1].code, HILO_DIAG_EMOD018);
  for (int depth = 0; depth < 4; depth++) {
    static const char *const inner[] = {"/a/b/c", "/a/b", "/a", ""};
    hilo_sb_clear(&path);
    hilo_sb_printf(&path, "%s%s", root, inner[depth]);
    assert_int_equal(rmdir(hilo_sb_cstr(&path)), 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names_and_values),
      cmocka_unit_test(test_bools),
      cmocka_unit_test(test_integers),
      cmocka_unit_test(test_float_list),
      cmocka_unit_test(test_enums),
      cmocka_unit_test(test_unknown_words),
      cmocka_unit_test(test_response_files),
      cmocka_unit_test(test_response_files_are_bounded),
      cmocka_unit_test(test_help),
      cmocka_unit_test(test_print_options),
      cmocka_unit_test(test_partitioner_words),
      cmocka_unit_test(test_checks_after_parsing),
      cmocka_unit_test(test_hlo_opt),
      cmocka_unit_test(test_defaults_round_trip),
      cmocka_unit_test(test_out_dir),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
