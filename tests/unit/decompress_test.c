#include "base/decompress.h"

#include "base/file.h"
#include "test_support.h"

#include <zlib.h>
#include <zstd.h>

enum { N = 300000 };
static char plain[N];
static hilo_arena arena;
static hilo_diags diags;

static int setup(void **state) {
  (void)state;
  hilo_arena_init(&arena, NULL, NULL);
  diags = hilo_diags_make(&arena);
  uint32_t seed = 3;
  for (size_t i = 0; i < N; i++) {
    seed = seed * 1664525 + 1013904223;
    plain[i] = (char)('a' + (seed >> 28));
  }
  return 0;
}

static int teardown(void **state) {
  (void)state;
  hilo_arena_deinit(&arena);
  return 0;
}

static hilo_str compress_zstd(const char *p, size_t n) {
  const size_t cap = ZSTD_compressBound(n);
  char *to = hilo_arena_alloc(&arena, cap, 1);
  ZSTD_CCtx *context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  const size_t bytes = ZSTD_compress2(context, to, cap, p, n);
  ZSTD_freeCCtx(context);
  assert_false(ZSTD_isError(bytes));
  return (hilo_str){to, bytes};
}

static hilo_str compress_gzip(const char *p, size_t n) {
  z_stream z = {0};
  assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
  const size_t cap = deflateBound(&z, n);
  char *to = hilo_arena_alloc(&arena, cap, 1);
  z.next_in = (Bytef *)(uintptr_t)p;
  z.avail_in = (unsigned)n;
  z.next_out = (Bytef *)to;
  z.avail_out = (unsigned)cap;
  assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
  const size_t bytes = cap - z.avail_out;
  deflateEnd(&z);
  return (hilo_str){to, bytes};
}

static hilo_str compress_with(hilo_compression kind, const char *p, size_t n) {
  return kind == HILO_COMPRESSION_ZSTD ? compress_zstd(p, n) : compress_gzip(p, n);
}

static hilo_str joined(hilo_str a, hilo_str b) {
  hilo_sb sb = hilo_sb_make(&arena);
  hilo_sb_str(&sb, a);
  hilo_sb_str(&sb, b);
  return hilo_sb_view(&sb);
}

static hilo_status expand(hilo_compression kind, hilo_str bytes, uint64_t max, hilo_str *out) {
  *out = (hilo_str){0};
  return hilo_decompress(&arena, kind, bytes, max, HILO_STR("f"), &diags, out);
}

static const hilo_compression kinds[] = {HILO_COMPRESSION_ZSTD, HILO_COMPRESSION_GZIP};

static void test_detect(void **state) {
  (void)state;
  assert_int_equal(hilo_compression_detect(HILO_STR("HloModule")), HILO_COMPRESSION_NONE);
  assert_int_equal(hilo_compression_detect((hilo_str){NULL, 0}), HILO_COMPRESSION_NONE);
  assert_int_equal(hilo_compression_detect(HILO_STR("\x28\xb5\x2f")), HILO_COMPRESSION_NONE);
  for (size_t k = 0; k < 2; k++)
    assert_int_equal(hilo_compression_detect(compress_with(kinds[k], "x", 1)), kinds[k]);
}

/* Sizes around the growth of the block, and the bound met exactly. */
static void test_round_trip(void **state) {
  (void)state;
  static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 131072, 131073, N};
  for (size_t k = 0; k < 2; k++) {
    for (size_t i = 0; i < HILO_COUNT(sizes); i++) {
      const hilo_str bytes = compress_with(kinds[k], plain, sizes[i]);
      hilo_str out;
      assert_int_equal(expand(kinds[k], bytes, sizes[i], &out), HILO_OK);
      assert_int_equal(out.n, sizes[i]);
      assert_memory_equal(out.p, plain, sizes[i]);
      for (size_t j = 0; j < HILO_FILE_PADDING; j++) assert_int_equal(out.p[out.n + j], 0);
      assert_int_equal(expand(kinds[k], bytes, HILO_DECOMPRESS_MAX_BYTES, &out), HILO_OK);
      assert_int_equal(out.n, sizes[i]);
      if (!sizes[i]) continue;
      assert_int_equal(expand(kinds[k], bytes, sizes[i] - 1, &out), HILO_LIMIT_ERROR);
      assert_non_null(strstr(diags.list[diags.n - 1].message.p, "more than the limit"));
      diags = hilo_diags_make(&arena);
    }
  }
}

static void test_several_frames(void **state) {
  (void)state;
  for (size_t k = 0; k < 2; k++) {
    const hilo_str first = compress_with(kinds[k], plain, 70000);
    const hilo_str second = compress_with(kinds[k], plain + 70000, 30000);
    const hilo_str none = compress_with(kinds[k], plain, 0);
    hilo_str out;
    assert_int_equal(expand(kinds[k], joined(joined(first, none), second), 100000, &out), HILO_OK);
    assert_int_equal(out.n, 100000);
    assert_memory_equal(out.p, plain, 100000);
    assert_int_equal(expand(kinds[k], joined(joined(first, none), second), 99999, &out),
                     HILO_LIMIT_ERROR);
  }
}

/* Cut anywhere, or followed by anything else, it is one error. */
static void test_malformed(void **state) {
  (void)state;
  for (size_t k = 0; k < 2; k++) {
    const hilo_str bytes = compress_with(kinds[k], plain, 3000);
    hilo_str out;
    for (size_t n = 4; n < bytes.n; n++) {
      diags = hilo_diags_make(&arena);
      assert_int_equal(expand(kinds[k], (hilo_str){bytes.p, n}, 1 << 20, &out), HILO_INPUT_ERROR);
      assert_int_equal(diags.n, 1);
      assert_int_equal(diags.list[0].code, HILO_DIAG_EMOD908);
      assert_true(diags.list[0].message.n > 30);
    }
    diags = hilo_diags_make(&arena);
    assert_int_equal(expand(kinds[k], joined(bytes, HILO_STR("trailing")), 1 << 20, &out),
                     HILO_INPUT_ERROR);
    assert_int_equal(diags.n, 1);
  }
}

/* With one bit wrong it is an error or, where nothing checks that bit, the right length. */
static void test_bit_flips(void **state) {
  (void)state;
  for (size_t k = 0; k < 2; k++) {
    const hilo_str bytes = compress_with(kinds[k], plain, 2000);
    char *damaged = hilo_arena_alloc(&arena, bytes.n, 1);
    unsigned n_errors = 0;
    for (size_t bit = 0; bit < bytes.n * 8; bit++) {
      memcpy(damaged, bytes.p, bytes.n);
      damaged[bit / 8] = (char)(damaged[bit / 8] ^ 1 << bit % 8);
      const hilo_arena_mark mark = hilo_arena_get_mark(&arena);
      hilo_str out;
      diags = hilo_diags_make(&arena);
      const hilo_status status = expand(kinds[k], (hilo_str){damaged, bytes.n}, 1 << 20, &out);
      n_errors += status != HILO_OK;
      assert_int_equal(status != HILO_OK, diags.n == 1);
      hilo_arena_rewind(&arena, mark);
    }
    assert_true(n_errors > bytes.n);
  }
}

/* A bomb is stopped at the bound, whatever it would become, without the memory for it. */
static void test_bomb(void **state) {
  (void)state;
  static char zeros[64 << 20];
  for (size_t k = 0; k < 2; k++) {
    const hilo_str bytes = compress_with(kinds[k], zeros, sizeof(zeros));
    test_allocator a;
    test_allocator_init(&a, UINT64_MAX);
    hilo_arena own;
    hilo_arena_init(&own, &a.allocator, NULL);
    hilo_str out;
    assert_int_equal(hilo_decompress(&own, kinds[k], bytes, 1 << 20, HILO_STR("f"), &diags, &out),
                     HILO_LIMIT_ERROR);
    assert_true(own.peak_bytes < 16 << 20);
    assert_true(own.reserved_bytes < 1 << 20);
    hilo_arena_deinit(&own);
    assert_int_equal(a.n_live, 0);
  }
}

static void fail_at_every_request(hilo_compression kind, hilo_str bytes) {
  static const hilo_str name = {"f", 1}; /* a temporary would live across the setjmp */
  for (volatile uint64_t fail_after = 0;; fail_after++) {
    test_allocator a;
    test_allocator_init(&a, fail_after);
    jmp_buf oom;
    hilo_arena own;
    hilo_arena_init(&own, &a.allocator, &oom);
    volatile bool done = false;
    if (!setjmp(oom)) {
      hilo_str out;
      done = hilo_decompress(&own, kind, bytes, N, name, &diags, &out) == HILO_OK;
    }
    hilo_arena_deinit(&own);
    assert_int_equal(a.n_live, 0);
    if (done) break;
    assert_true(fail_after < 100);
  }
}

static void test_failure_at_every_request(void **state) {
  (void)state;
  for (size_t k = 0; k < 2; k++) fail_at_every_request(kinds[k], compress_with(kinds[k], plain, N));
}

#define DECOMPRESS_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
  const struct CMUnitTest tests[] = {
      DECOMPRESS_TEST(test_detect),
      DECOMPRESS_TEST(test_round_trip),
      DECOMPRESS_TEST(test_several_frames),
      DECOMPRESS_TEST(test_malformed),
      DECOMPRESS_TEST(test_bit_flips),
      DECOMPRESS_TEST(test_bomb),
      DECOMPRESS_TEST(test_failure_at_every_request),
  };
  return cmocka_run_group_tests_name("decompress", tests, NULL, NULL);
}
