/* .npz archives: written and read back, as numpy writes them, and damaged in every way. */
#include "test_support.h"

#include "base/file.h"
#include "formats/npz.h"

#include <unistd.h>
#include <zlib.h>

static hilo_arena arena;
static hilo_diags diags;
static char folder[] = "/tmp/hilo-npz-XXXXXX";

static int setup(void **state) {
  (void)state;
  hilo_arena_init(&arena, NULL, NULL);
  diags = hilo_diags_make(&arena);
  strcpy(folder + strlen(folder) - 6, "XXXXXX");
  return mkdtemp(folder) ? 0 : -1;
}

static const char *path_of_archive(void) {
  static char path[256];
  snprintf(path, sizeof(path), "%s/a.npz", folder);
  return path;
}

static int teardown(void **state) {
  (void)state;
  unlink(path_of_archive());
  rmdir(folder);
  hilo_arena_deinit(&arena);
  return 0;
}

static void put_file(hilo_str bytes) {
  assert_int_equal(hilo_file_write(&arena, path_of_archive(), bytes, &diags), HILO_OK);
}

static hilo_str get_file(void) {
  hilo_str bytes;
  assert_int_equal(hilo_file_read(&arena, path_of_archive(), 1 << 20, &diags, &bytes), HILO_OK);
  return bytes;
}

static hilo_npz read_archive(void) {
  hilo_npz npz = {0};
  const hilo_status status = hilo_npz_read(&arena, path_of_archive(), &diags, &npz);
  if (status != HILO_OK) fail_msg("%.*s", HILO_FMT(diags.list[0].message));
  return npz;
}

static void expect_error(const char *part) {
  hilo_npz npz = {0};
  diags = hilo_diags_make(&arena);
  assert_int_not_equal(hilo_npz_read(&arena, path_of_archive(), &diags, &npz), HILO_OK);
  assert_int_equal(diags.n, 1);
  if (!memmem(diags.list[0].message.p, diags.list[0].message.n, part, strlen(part)))
    fail_msg("`%.*s` lacks `%s`", HILO_FMT(diags.list[0].message), part);
}

/* ---- archives made by hand ---- */

static void put(hilo_sb *sb, uint64_t v, int bytes) {
  for (int i = 0; i < bytes; i++) hilo_sb_char(sb, (char)(v >> (8 * i)));
}

typedef struct {
  int method; /* 0 stored, 8 deflated */
  bool zip64;
  bool bad_crc;
  uint64_t claimed; /* size in the directory; 0: the true one */
} form;

static hilo_str deflated(hilo_str bytes) {
  char *to = hilo_arena_alloc(&arena, bytes.n * 2 + 100, 1);
  z_stream z = {0};
  assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
  z.next_in = (Bytef *)(uintptr_t)bytes.p;
  z.avail_in = (uInt)bytes.n;
  z.next_out = (Bytef *)to;
  z.avail_out = (uInt)(bytes.n * 2 + 100);
  assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
  const hilo_str out = {to, z.total_out};
  deflateEnd(&z);
  return out;
}

static void put_sizes(hilo_sb *sb, uint32_t crc, uint64_t packed, uint64_t size, bool zip64) {
  put(sb, crc, 4);
  put(sb, zip64 ? UINT32_MAX : packed, 4);
  put(sb, zip64 ? UINT32_MAX : size, 4);
}

/* One member `arg0.npy`. */
static void put_archive(hilo_str npy, form f) {
  const hilo_str data = f.method == 8 ? deflated(npy) : npy;
  const uint32_t crc = (uint32_t)crc32(0, (const Bytef *)npy.p, (uInt)npy.n) + f.bad_crc;
  const uint64_t size = f.claimed ? f.claimed : npy.n;
  hilo_sb sb = hilo_sb_make(&arena);
  put(&sb, 0x04034b50, 4);
  put(&sb, 45, 2), put(&sb, 0, 2), put(&sb, f.method, 2), put(&sb, 0, 4);
  put_sizes(&sb, crc, data.n, size, f.zip64);
  put(&sb, 8, 2), put(&sb, f.zip64 ? 20 : 0, 2);
  hilo_sb_cat(&sb, "arg0.npy");
  if (f.zip64) put(&sb, 1, 2), put(&sb, 16, 2), put(&sb, size, 8), put(&sb, data.n, 8);
  hilo_sb_str(&sb, data);
  const uint64_t directory = sb.n;
  put(&sb, 0x02014b50, 4);
  put(&sb, 45, 2), put(&sb, 45, 2), put(&sb, 0, 2), put(&sb, f.method, 2), put(&sb, 0, 4);
  put_sizes(&sb, crc, data.n, size, f.zip64);
  put(&sb, 8, 2), put(&sb, f.zip64 ? 20 : 0, 2), put(&sb, 0, 2), put(&sb, 0, 2), put(&sb, 0, 2);
  put(&sb, 0, 4), put(&sb, 0, 4);
  hilo_sb_cat(&sb, "arg0.npy");
  if (f.zip64) put(&sb, 1, 2), put(&sb, 16, 2), put(&sb, size, 8), put(&sb, data.n, 8);
  const uint64_t end = sb.n;
  if (f.zip64) {
    put(&sb, 0x06064b50, 4), put(&sb, 44, 8), put(&sb, 45, 2), put(&sb, 45, 2), put(&sb, 0, 8);
    put(&sb, 1, 8), put(&sb, 1, 8), put(&sb, end - directory, 8), put(&sb, directory, 8);
    put(&sb, 0x07064b50, 4), put(&sb, 0, 4), put(&sb, end, 8), put(&sb, 1, 4);
  }
  put(&sb, 0x06054b50, 4), put(&sb, 0, 4);
  put(&sb, f.zip64 ? 0xffff : 1, 2), put(&sb, f.zip64 ? 0xffff : 1, 2);
  put(&sb, f.zip64 ? UINT32_MAX : end - directory, 4);
  put(&sb, f.zip64 ? UINT32_MAX : directory, 4);
  put(&sb, 0, 2);
  put_file(hilo_sb_view(&sb));
}

static hilo_str npy_of(const char *descr, const char *rest, hilo_str data) {
  hilo_sb sb = hilo_sb_make(&arena);
  char header[200];
  const int n = snprintf(header, sizeof(header), "{'descr': '%s', %s, }\n", descr, rest);
  hilo_sb_bytes(&sb, "\x93NUMPY\1\0", 8);
  put(&sb, (uint64_t)n, 2);
  hilo_sb_cat(&sb, header);
  hilo_sb_str(&sb, data);
  return hilo_sb_view(&sb);
}

static hilo_str some_npy(void) {
  static const int32_t data[] = {1, -2, 3, 4, 5, 6};
  return npy_of("<i4", "'fortran_order': False, 'shape': (2, 3)",
                (hilo_str){(const char *)data, sizeof(data)});
}

static void expect_some(void) {
  const hilo_npz npz = read_archive();
  const hilo_npy *npy = hilo_npz_find(&npz, HILO_STR("arg0"));
  assert_non_null(npy);
  assert_int_equal(npy->etype, HILO_S32);
  assert_int_equal(npy->shape.n, 2);
  assert_int_equal(npy->shape.v[1], 3);
  int32_t second;
  memcpy(&second, npy->data.p + 4, 4);
  assert_int_equal(second, -2);
  assert_null(hilo_npz_find(&npz, HILO_STR("arg1")));
}

/* ---- tests ---- */

static void test_reads_stored_members(void **state) {
  (void)state;
  put_archive(some_npy(), (form){.method = 0});
  expect_some();
}

static void test_reads_deflated_members(void **state) {
  (void)state;
  put_archive(some_npy(), (form){.method = 8});
  expect_some();
}

static void test_reads_zip64(void **state) {
  (void)state;
  put_archive(some_npy(), (form){.method = 0, .zip64 = true});
  expect_some();
  put_archive(some_npy(), (form){.method = 8, .zip64 = true});
  expect_some();
}

static void test_reads_raw_elements_as_bits(void **state) {
  (void)state;
  put_archive(npy_of("|V2", "'fortran_order': False, 'shape': (2,)", HILO_STR("\x80\x3f\x00\x40")),
              (form){0});
  const hilo_npz npz = read_archive();
  assert_int_equal(npz.v[0].array.etype, HILO_U16);
  put_archive(npy_of("|V1", "'fortran_order': False, 'shape': (1,)", HILO_STR("\x80")), (form){0});
  assert_int_equal(read_archive().v[0].array.etype, HILO_U8);
  put_archive(npy_of("|V3", "'fortran_order': False, 'shape': (1,)", HILO_STR("abc")), (form){0});
  expect_error("its elements are raw and of 3 bytes");
}

static void test_reads_fortran_order(void **state) {
  (void)state;
  put_archive(npy_of("|u1", "'fortran_order': True, 'shape': (2, 3)", HILO_STR("adbecf")),
              (form){.method = 8});
  const hilo_npz npz = read_archive();
  assert_memory_equal(npz.v[0].array.data.p, "abcdef", 6);
}

static void test_round_trip(void **state) {
  (void)state;
  static const int64_t dims[] = {2, 2};
  const hilo_str parts[] = {HILO_STR("\x01\x00\x02\x00"), HILO_STR("\x03\x00\x04\x00")};
  const hilo_npz_array arrays[] = {
      {HILO_STR("out0"), HILO_BF16, {dims, 2}, parts, 2},
      {HILO_STR("out1"), HILO_PRED, HILO_DIMS_NONE, &HILO_STR("\x01"), 1},
      {HILO_STR("out2"), HILO_F32, {(const int64_t[]){0}, 1}, NULL, 0},
  };
  assert_int_equal(hilo_npz_write(&arena, path_of_archive(), arrays, 3, &diags), HILO_OK);
  const hilo_str first = get_file();
  const hilo_npz npz = read_archive();
  assert_int_equal(npz.n, 3);
  const hilo_npy *bf16 = hilo_npz_find(&npz, HILO_STR("out0"));
  assert_int_equal(bf16->etype, HILO_U16); /* raw bits: numpy has no bf16 */
  assert_memory_equal(bf16->data.p, "\x01\x00\x02\x00\x03\x00\x04\x00", 8);
  assert_int_equal(hilo_npz_find(&npz, HILO_STR("out1"))->etype, HILO_PRED);
  assert_int_equal(hilo_npz_find(&npz, HILO_STR("out2"))->data.n, 0);
  assert_int_equal(hilo_npz_write(&arena, path_of_archive(), arrays, 3, &diags), HILO_OK);
  const hilo_str second = get_file();
  assert_int_equal(first.n, second.n);
  assert_memory_equal(first.p, second.p, first.n);
}

static void test_empty_archive(void **state) {
  (void)state;
  assert_int_equal(hilo_npz_write(&arena, path_of_archive(), NULL, 0, &diags), HILO_OK);
  assert_int_equal(read_archive().n, 0);
}

static void test_damage_is_told(void **state) {
  (void)state;
  put_file(HILO_STR("this is no archive"));
  expect_error("it is not a zip archive");
  put_file(HILO_STR(""));
  expect_error("it is not a zip archive");
  put_archive(some_npy(), (form){.bad_crc = true});
  expect_error("its check sum differs");
  put_archive(some_npy(), (form){.method = 8, .claimed = 3});
  expect_error("it does not expand to the 3 bytes");
  put_archive(some_npy(), (form){.method = 8, .claimed = 1u << 30});
  expect_error("which deflate cannot");
  put_archive(some_npy(), (form){.claimed = 5});
  expect_error("its two sizes differ");
  put_archive(some_npy(), (form){.method = 12});
  expect_error("compressed by method 12");
  put_archive(HILO_STR("no npy"), (form){0});
  expect_error("it does not start as an .npy file");
}

/* Every cut and every changed byte gives an error or an archive, never a crash. */
static void test_truncation_and_noise(void **state) {
  (void)state;
  for (int method = 0; method <= 8; method += 8) {
    put_archive(some_npy(), (form){.method = method, .zip64 = true});
    const hilo_str whole = get_file();
    char *copy = hilo_arena_alloc(&arena, whole.n, 1);
    for (size_t n = 0; n < whole.n; n++) {
      hilo_npz npz;
      diags = hilo_diags_make(&arena);
      put_file((hilo_str){whole.p, n});
      assert_int_not_equal(hilo_npz_read(&arena, path_of_archive(), &diags, &npz), HILO_OK);
      assert_true(diags.n_errors > 0);
      memcpy(copy, whole.p, whole.n);
      copy[n] = (char)(copy[n] ^ 0xff);
      diags = hilo_diags_make(&arena);
      put_file((hilo_str){copy, whole.n});
      if (hilo_npz_read(&arena, path_of_archive(), &diags, &npz) != HILO_OK)
        assert_true(diags.n_errors > 0);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_reads_stored_members, setup, teardown),
      cmocka_unit_test_setup_teardown(test_reads_deflated_members, setup, teardown),
      cmocka_unit_test_setup_teardown(test_reads_zip64, setup, teardown),
      cmocka_unit_test_setup_teardown(test_reads_raw_elements_as_bits, setup, teardown),
      cmocka_unit_test_setup_teardown(test_reads_fortran_order, setup, teardown),
      cmocka_unit_test_setup_teardown(test_round_trip, setup, teardown),
      cmocka_unit_test_setup_teardown(test_empty_archive, setup, teardown),
      cmocka_unit_test_setup_teardown(test_damage_is_told, setup, teardown),
      cmocka_unit_test_setup_teardown(test_truncation_and_noise, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
