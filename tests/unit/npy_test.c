/* .npy files as numpy writes them, and as it does not. */
#include "test_support.h"

#include "base/file.h"
#include "formats/npy.h"

#include <unistd.h>

static hilo_arena arena;
static hilo_diags diags;
static char folder[] = "/tmp/hilo-npy-XXXXXX";

static int setup(void **state) {
  (void)state;
  hilo_arena_init(&arena, NULL, NULL);
  diags = hilo_diags_make(&arena);
  strcpy(folder + strlen(folder) - 6, "XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static const char *path_of(const char *name) {
  static char path[256];
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  return path;
}

static int teardown(void **state) {
  (void)state;
  unlink(path_of("a.npy"));
  unlink(path_of("a.npy.meta"));
  rmdir(folder);
  hilo_arena_deinit(&arena);
  return 0;
}

static void put_file(const char *name, hilo_str bytes) {
  assert_int_equal(hilo_file_write(&arena, path_of(name), bytes, &diags), HILO_OK);
}

/* A file of this version, header and data. */
static void put_npy(char version, const char *header, hilo_str data) {
  hilo_sb sb = hilo_sb_make(&arena);
  const uint32_t n = (uint32_t)strlen(header);
  hilo_sb_cat(&sb, "\x93NUMPY");
  hilo_sb_char(&sb, version);
  hilo_sb_char(&sb, 0);
  for (int i = 0; i < (version == 1 ? 2 : 4); i++) hilo_sb_char(&sb, (char)(n >> (8 * i)));
  hilo_sb_cat(&sb, header);
  hilo_sb_str(&sb, data);
  put_file("a.npy", hilo_sb_view(&sb));
}

static hilo_npy read_npy(void) {
  hilo_npy npy;
  const hilo_status status = hilo_npy_read(&arena, path_of("a.npy"), &diags, &npy);
  if (status != HILO_OK) fail_msg("%.*s", HILO_FMT(diags.list[0].message));
  return npy;
}

static void expect_error(const char *message) {
  hilo_npy npy;
  diags = hilo_diags_make(&arena);
  assert_int_equal(hilo_npy_read(&arena, path_of("a.npy"), &diags, &npy), HILO_INPUT_ERROR);
  assert_int_equal(diags.n_errors, 1);
  if (!strstr(diags.list[0].message.p, message)) fail_msg("%s", diags.list[0].message.p);
}

static void test_versions(void **state) {
  (void)state;
  for (char version = 1; version <= 3; version++) {
    put_npy(version, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 1), }  \n",
            HILO_STR("\0\0\x80\x3f\0\0\0\x40"));
    const hilo_npy npy = read_npy();
    assert_int_equal(npy.etype, HILO_F32);
    assert_int_equal(npy.shape.n, 2);
    assert_int_equal(npy.shape.v[0], 2);
    assert_memory_equal(npy.data.p, "\0\0\x80\x3f\0\0\0\x40", 8);
  }
  put_npy(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (), }\n", HILO_STR("\x01"));
  assert_int_equal(read_npy().etype, HILO_PRED);
  assert_int_equal(read_npy().shape.n, 0);
}

static void test_orders(void **state) {
  (void)state;
  /* [[1, 2, 3], [4, 5, 6]] column by column, big endian */
  put_npy(1, "{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n",
          HILO_STR("\0\x01\0\x04\0\x02\0\x05\0\x03\0\x06"));
  const hilo_npy npy = read_npy();
  const int16_t want[] = {1, 2, 3, 4, 5, 6};
  assert_int_equal(npy.etype, HILO_S16);
  assert_memory_equal(npy.data.p, want, sizeof(want));
}

static void test_raw_types(void **state) {
  (void)state;
  put_npy(1, "{'descr': '|V2', 'fortran_order': False, 'shape': (1,), }\n", HILO_STR("\x80\x3f"));
  assert_int_equal(read_npy().etype, HILO_BF16);
  put_npy(1, "{'descr': '|V1', 'fortran_order': False, 'shape': (3,), }\n", HILO_STR("abc"));
  expect_error("says of which type");
  put_file("a.npy.meta", HILO_STR("{\"ml_dtype\": \"float8_e5m2\"}"));
  assert_int_equal(read_npy().etype, HILO_F8E5M2);
  put_file("a.npy.meta", HILO_STR("{\"ml_dtype\": \"bfloat16\"}"));
  expect_error("names no type of 1 bytes");
}

static void test_damage(void **state) {
  (void)state;
  put_file("a.npy", HILO_STR("not an array"));
  expect_error("does not start as an .npy file");
  put_npy(7, "{}", HILO_STR(""));
  expect_error("its version is 7");
  put_npy(1, "{'descr': '<f4'}", HILO_STR(""));
  expect_error("not the dictionary that numpy writes");
  put_npy(1, "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", HILO_STR("x"));
  expect_error("element type `|O` is not supported");
  put_npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", HILO_STR("1234"));
  expect_error("needs 8 bytes, but it holds 4");
  put_npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 8), }",
          HILO_STR("1234"));
  expect_error("overflows");
  hilo_sb sb = hilo_sb_make(&arena);
  hilo_sb_bytes(&sb, "\x93NUMPY\x01\0\xff\xff{", 11);
  put_file("a.npy", hilo_sb_view(&sb));
  expect_error("ends within its header");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_versions, setup, teardown),
      cmocka_unit_test_setup_teardown(test_orders, setup, teardown),
      cmocka_unit_test_setup_teardown(test_raw_types, setup, teardown),
      cmocka_unit_test_setup_teardown(test_damage, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
