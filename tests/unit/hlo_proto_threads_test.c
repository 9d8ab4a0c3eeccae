/* A proto read by two threads is what one thread makes of it: module, handles, bytes and messages;
 * over the corpus, damaged at every byte, without memory. */
#include "test_support.h"

#include "corpus_walk.h"
#include "formats/hlo_proto.h"
#include "formats/hlo_wire.h"
#include "ir/hlo_print.h"
#include "proto_file.h"

#include <glob.h>
#include <pthread.h>

static hilo_arena arena;
static hilo_queue *alone, *queue; /* without workers: the walk comes behind; and with one */

static int setup(void **state) {
  (void)state;
  hilo_arena_init(&arena, NULL, NULL);
  queue = hilo_queue_create(&arena, &(hilo_queue_options){.max_threads = 2, .max_tasks = 1});
  alone = hilo_queue_create(&arena, &(hilo_queue_options){.max_threads = 1, .max_tasks = 1});
  hilo_queue_start(queue, 2);
  return 0;
}

static int teardown(void **state) {
  (void)state;
  hilo_queue_destroy(queue);
  hilo_queue_destroy(alone);
  hilo_arena_deinit(&arena);
  return 0;
}

/* ---- one reading against another ---- */

typedef struct {
  hilo_arena arena;
  hilo_diags diags;
  hilo_module *m;
  hilo_status status;
  hilo_str messages, text, proto;
} reading;

static void read_with(reading *r, hilo_str bytes, hilo_queue *by) {
  const hilo_proto_read_options options = {by, 0};
  hilo_arena_init(&r->arena, NULL, NULL);
  r->diags = hilo_diags_make(&r->arena);
  r->m = NULL;
  r->status =
      hilo_hlo_proto_read_with(&r->arena, bytes, HILO_STR("input"), &options, &r->diags, &r->m);
  hilo_sb messages = hilo_sb_make(&r->arena), text = hilo_sb_make(&r->arena),
          proto = hilo_sb_make(&r->arena);
  hilo_diags_render(&r->diags, &messages);
  r->messages = hilo_sb_view(&messages);
  if (r->status != HILO_OK) return;
  hilo_hlo_print(r->m, NULL, &text);
  assert_int_equal(hilo_hlo_proto_write(r->m, &proto, &r->diags), HILO_OK);
  r->text = hilo_sb_view(&text);
  r->proto = hilo_sb_view(&proto);
}

static void assert_same(hilo_str a, hilo_str b, const char *name, const char *what) {
  if (!hilo_str_eq(a, b))
    fail_msg("%s: other %s:\n%.*s\n%.*s", name, what, (int)(a.n < 1000 ? a.n : 1000), a.p,
             (int)(b.n < 1000 ? b.n : 1000), b.p);
}

static void assert_same_store(const hilo_store *a, const hilo_store *b) {
  assert_int_equal(a->next, b->next);
  assert_int_equal(a->n, b->n);
  assert_int_equal(a->mask, b->mask);
  assert_int_equal(a->n_chunks, b->n_chunks);
  assert_int_equal(a->cap_chunks, b->cap_chunks);
  for (uint32_t k = 0; a->slots && k <= a->mask; k++) {
    assert_int_equal(a->slots[k].handle, b->slots[k].handle);
    if (!a->slots[k].handle) continue;
    const hilo_store_record *x = hilo_store_get(a, a->slots[k].handle),
                            *y = hilo_store_get(b, b->slots[k].handle);
    assert_int_equal(x->bytes, y->bytes);
    assert_int_equal(x->tag, y->tag);
    if (x->bytes) assert_memory_equal(x->data, y->data, x->bytes);
  }
}

static void assert_same_module(const hilo_module *a, const hilo_module *b) {
  const hilo_module_bytes x = hilo_module_live_bytes(a), y = hilo_module_live_bytes(b);
  assert_memory_equal(&x, &y, sizeof(x));
  assert_int_equal(a->n_inst_slots, b->n_inst_slots);
  const size_t bytes = a->n_inst_slots * sizeof(uint32_t);
  if (bytes > sizeof(uint32_t)) {
    assert_memory_equal(a->inst.meta + 1, b->inst.meta + 1, bytes - sizeof(uint32_t));
    assert_memory_equal(a->inst.extra + 1, b->inst.extra + 1, bytes - sizeof(uint32_t));
  }
  assert_same_store(&a->labels, &b->labels);
  assert_same_store(&a->strings, &b->strings);
  assert_same_store(&a->records, &b->records);
  assert_ptr_equal(b->labels.arena, b->arena);
}

/* The module has all that it needs, and nobody else has anything of it. */
static void put_more_labels(hilo_module *m) {
  char text[24];
  for (uint32_t k = 0; k < 3000; k++) {
    const hilo_meta_attrs meta = {
        .op_name = hilo_module_label(
            m, (hilo_str){text, (size_t)snprintf(text, sizeof text, "new %u", k)}),
        .source_line = k};
    const hilo_record record = hilo_meta_put(&m->labels, &meta);
    assert_int_equal(hilo_meta_op_name(&m->labels, record).ix, meta.op_name.ix);
  }
}

static bool compare_with(hilo_str bytes, const char *name, hilo_queue *by) {
  reading one, two;
  read_with(&one, bytes, NULL);
  read_with(&two, bytes, by);
  assert_int_equal(one.status, two.status);
  assert_int_equal(one.diags.n_errors, two.diags.n_errors);
  assert_int_equal(one.diags.n_warnings, two.diags.n_warnings);
  assert_same(one.messages, two.messages, name, "messages");
  const bool ok = one.status == HILO_OK;
  if (ok) {
    assert_same(one.text, two.text, name, "text");
    assert_same(one.proto, two.proto, name, "proto");
    assert_same_module(one.m, two.m);
    hilo_arena_deinit(&one.arena);
    put_more_labels(two.m);
  } else {
    hilo_arena_deinit(&one.arena);
  }
  hilo_arena_deinit(&two.arena);
  return ok;
}

static bool compare(hilo_str bytes, const char *name) {
  const bool ok = compare_with(bytes, name, alone);
  assert_int_equal(compare_with(bytes, name, queue), ok);
  return ok;
}

/* ---- a small module ---- */

enum { PLAIN, WITH_SHARDING, WITH_PAYLOADS, METADATA_IN_PARTS, METADATA_DAMAGED, PAYLOAD_UNKNOWN };

static void put_metadata(hilo_sb *sb, uint32_t number, uint32_t k, int kind) {
  char text[64];
  const size_t at = hilo_wire_begin(sb, number);
  const size_t n = (size_t)snprintf(text, sizeof text, "jit(f)/layer_%u/add", k / 2);
  hilo_wire_put_bytes(sb, HILO_WIRE_OP_METADATA_OP_TYPE, HILO_STR("add"));
  hilo_wire_put_bytes(sb, HILO_WIRE_OP_METADATA_OP_NAME, (hilo_str){text, n});
  hilo_wire_put_bytes(sb, HILO_WIRE_OP_METADATA_SOURCE_FILE, HILO_STR("model.py"));
  hilo_wire_put_int(sb, HILO_WIRE_OP_METADATA_SOURCE_LINE, k);
  hilo_wire_put_bytes(sb, HILO_WIRE_OP_METADATA_PROFILE_TYPE, HILO_STR("\x01\x02"));
  if (kind == METADATA_DAMAGED && k == 3)
    hilo_wire_put_bytes(sb, HILO_WIRE_OP_METADATA_SOURCE_LINE, HILO_STR("no number"));
  if (k == 3 && (kind == PAYLOAD_UNKNOWN || kind == WITH_PAYLOADS)) {
    const size_t payload = hilo_wire_begin(sb, HILO_WIRE_OP_METADATA_METADATA_PAYLOAD);
    hilo_wire_put_int(sb, HILO_WIRE_PAYLOAD_ID, kind == WITH_PAYLOADS ? 1 : 7);
    hilo_wire_end(sb, payload);
  }
  hilo_wire_end(sb, at);
}

static void put_sharding(hilo_sb *sb, uint32_t k) {
  const size_t at = hilo_wire_begin(sb, HILO_WIRE_INSTRUCTION_SHARDING);
  put_metadata(sb, HILO_WIRE_OP_SHARDING_METADATA, 1000 + k, PLAIN);
  hilo_wire_end(sb, at);
}

static void put_instruction(hilo_sb *sb, uint32_t k, int kind) {
  char name[16];
  const size_t at = hilo_wire_begin(sb, HILO_WIRE_COMPUTATION_INSTRUCTIONS);
  const size_t n = (size_t)snprintf(name, sizeof name, "add.%u", k);
  hilo_wire_put_bytes(sb, HILO_WIRE_INSTRUCTION_NAME, (hilo_str){name, n});
  hilo_wire_put_bytes(sb, HILO_WIRE_INSTRUCTION_OPCODE, hilo_str_of(k ? "add" : "parameter"));
  const size_t shape = hilo_wire_begin(sb, HILO_WIRE_INSTRUCTION_SHAPE);
  hilo_wire_put_int(sb, HILO_WIRE_SHAPE_ELEMENT_TYPE, 11);
  hilo_wire_put_bytes(sb, HILO_WIRE_SHAPE_DIMENSIONS, HILO_STR("\x02\x03"));
  hilo_wire_end(sb, shape);
  if (k % 4) put_metadata(sb, HILO_WIRE_INSTRUCTION_METADATA, k, kind);
  hilo_wire_put_int(sb, HILO_WIRE_INSTRUCTION_ID, k + 1);
  const char operands[] = {(char)k, (char)k, 0};
  hilo_wire_put_bytes(sb, HILO_WIRE_INSTRUCTION_OPERAND_IDS, hilo_str_of(operands));
  if (kind == METADATA_IN_PARTS && k == 5)
    put_metadata(sb, HILO_WIRE_INSTRUCTION_METADATA, 50, PLAIN);
  if (kind == WITH_SHARDING && k % 3 == 2) put_sharding(sb, k);
  hilo_wire_end(sb, at);
}

static hilo_str make_module(int kind, uint32_t n_insts) {
  hilo_sb sb = hilo_sb_make(&arena);
  hilo_wire_put_bytes(&sb, HILO_WIRE_MODULE_NAME, HILO_STR("m"));
  const size_t comp = hilo_wire_begin(&sb, HILO_WIRE_MODULE_COMPUTATIONS);
  hilo_wire_put_bytes(&sb, HILO_WIRE_COMPUTATION_NAME, HILO_STR("main"));
  for (uint32_t k = 0; k < n_insts; k++) put_instruction(&sb, k, kind);
  hilo_wire_put_int(&sb, HILO_WIRE_COMPUTATION_ID, 1);
  hilo_wire_put_int(&sb, HILO_WIRE_COMPUTATION_ROOT_ID, n_insts);
  hilo_wire_end(&sb, comp);
  hilo_wire_put_int(&sb, HILO_WIRE_MODULE_ENTRY_COMPUTATION_ID, 1);
  for (int k = 0; k < 2 && kind == WITH_PAYLOADS; k++)
    hilo_wire_put_bytes(&sb, HILO_WIRE_MODULE_PAYLOADS, k ? HILO_STR("second") : HILO_STR("first"));
  return hilo_sb_view(&sb);
}

static void test_small_modules(void **state) {
  (void)state;
  assert_true(compare(make_module(PLAIN, 1), "one"));
  assert_true(compare(make_module(PLAIN, 100), "plain"));
  assert_true(compare(make_module(WITH_SHARDING, 100), "shardings"));
  assert_true(compare(make_module(WITH_PAYLOADS, 100), "payloads"));
  assert_true(compare(make_module(METADATA_IN_PARTS, 100), "in parts"));
  assert_false(compare(make_module(METADATA_DAMAGED, 100), "damaged"));
  assert_false(compare(make_module(PAYLOAD_UNKNOWN, 100), "payload"));
  assert_false(compare(HILO_STR(""), "empty"));
}

/* What was there before, and warnings, are kept once. */
static void test_messages_before(void **state) {
  (void)state;
  hilo_diags diags = hilo_diags_make(&arena);
  (void)hilo_diag_add(&diags, HILO_DIAG_EMOD911, NULL, "before");
  hilo_module *m;
  const hilo_proto_read_options options = {queue, 0};
  assert_int_equal(hilo_hlo_proto_read_with(&arena, make_module(METADATA_DAMAGED, 9),
                                            HILO_STR("input"), &options, &diags, &m),
                   HILO_INPUT_ERROR);
  assert_int_equal(diags.n, 2);
  assert_int_equal(diags.n_errors, 1);
  assert_int_equal(diags.n_warnings, 1);
  assert_str(diags.list[0].message, "before");
}

/* Every bit flipped, and cut off behind every byte. */
static void test_damage_at_every_byte(void **state) {
  (void)state;
  static const int kinds[] = {PLAIN, WITH_SHARDING};
  for (size_t k = 0; k < HILO_COUNT(kinds); k++) {
    const hilo_str bytes = make_module(kinds[k], 6);
    char *copy = HILO_NEW_ARRAY(&arena, char, bytes.n);
    uint32_t n_read = 0, n_refused = 0;
    for (size_t i = 0; i < bytes.n * 8; i++) {
      memcpy(copy, bytes.p, bytes.n);
      copy[i / 8] = (char)(copy[i / 8] ^ 1 << (i % 8));
      const bool ok = compare((hilo_str){copy, bytes.n}, "flipped");
      n_read += ok, n_refused += !ok;
    }
    assert_true(n_read > 100 && n_refused > 100);
    for (size_t n = 0; n < bytes.n; n++) {
      memcpy(copy, bytes.p, n);
      (void)compare((hilo_str){copy, n}, "cut");
    }
  }
}

/* ---- without memory ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *locked_acquire(void *ctx, size_t bytes) {
  pthread_mutex_lock(&mutex);
  void *p = test_acquire(ctx, bytes);
  pthread_mutex_unlock(&mutex);
  return p;
}

static void *locked_resize(void *ctx, void *p, size_t old_bytes, size_t new_bytes) {
  pthread_mutex_lock(&mutex);
  void *q = test_resize(ctx, p, old_bytes, new_bytes);
  pthread_mutex_unlock(&mutex);
  return q;
}

static void locked_release(void *ctx, void *p, size_t bytes) {
  pthread_mutex_lock(&mutex);
  test_release(ctx, p, bytes);
  pthread_mutex_unlock(&mutex);
}

static hilo_status read_in(hilo_arena *one, hilo_str bytes, hilo_queue *by) {
  const hilo_proto_read_options options = {by, 0};
  hilo_diags diags = hilo_diags_make(one);
  hilo_module *m;
  return hilo_hlo_proto_read_with(one, bytes, HILO_STR("input"), &options, &diags, &m);
}

/* Either thread's request fails, whichever comes then: all is given back. The queue is of use
 * again. */
static void fail_at_every_request(hilo_str bytes, hilo_queue *by, hilo_status expected) {
  volatile bool done = false;
  for (volatile uint64_t limit = 0; !done; limit++) {
    test_allocator t;
    test_allocator_init(&t, limit);
    t.allocator = (hilo_allocator){locked_acquire, locked_resize, locked_release, &t};
    hilo_arena one;
    jmp_buf oom;
    hilo_arena_init(&one, &t.allocator, &oom);
    if (!setjmp(oom)) {
      assert_int_equal(read_in(&one, bytes, by), expected);
      done = true;
    }
    bool ran;
    assert_null(hilo_queue_join(by, &ran)); /* nothing is in flight */
    assert_ptr_equal(one.oom, &oom);
    assert_int_equal(one.reserved_bytes, t.live_bytes);
    hilo_arena_deinit(&one);
    assert_int_equal(t.n_live, 0);
    assert_true(limit < 1000);
  }
}

static void test_without_memory(void **state) {
  (void)state;
  hilo_queue *const queues[] = {alone, queue};
  for (size_t k = 0; k < HILO_COUNT(queues); k++) {
    fail_at_every_request(make_module(PLAIN, 120), queues[k], HILO_OK);
    fail_at_every_request(make_module(WITH_SHARDING, 100), queues[k], HILO_OK);
    fail_at_every_request(make_module(METADATA_DAMAGED, 100), queues[k], HILO_INPUT_ERROR);
  }
}

/* ---- it is the worker's ---- */

/* Remembers of each piece of memory whether the main thread took it. */
typedef struct {
  hilo_allocator allocator;
  pthread_t main;
  int n_of_others; /* that live */
} watcher;

typedef struct {
  _Alignas(16) bool is_others;
} watched;

static void watch(watcher *w, watched *p, int change) {
  pthread_mutex_lock(&mutex);
  w->n_of_others += p->is_others ? change : 0;
  pthread_mutex_unlock(&mutex);
}

static void *watched_acquire(void *ctx, size_t bytes) {
  watcher *w = ctx;
  watched *p = malloc(sizeof(*p) + bytes);
  if (!p) return NULL;
  p->is_others = !pthread_equal(pthread_self(), w->main);
  watch(w, p, 1);
  return p + 1;
}

static void watched_release(void *ctx, void *p, size_t bytes) {
  (void)bytes;
  watch(ctx, (watched *)p - 1, -1);
  free((watched *)p - 1);
}

static void *watched_resize(void *ctx, void *p, size_t old_bytes, size_t new_bytes) {
  void *to = watched_acquire(ctx, new_bytes);
  if (!to) return NULL;
  memcpy(to, p, old_bytes < new_bytes ? old_bytes : new_bytes);
  watched_release(ctx, p, old_bytes);
  return to;
}

/* Where the worker is quick enough, the module has memory that it took. */
static bool was_read_by_worker(hilo_str bytes) {
  watcher w = {.main = pthread_self()};
  w.allocator = (hilo_allocator){watched_acquire, watched_resize, watched_release, &w};
  hilo_arena one;
  hilo_arena_init(&one, &w.allocator, NULL);
  assert_int_equal(read_in(&one, bytes, queue), HILO_OK);
  const bool is_there = w.n_of_others > 0;
  hilo_arena_deinit(&one);
  assert_int_equal(w.n_of_others, 0);
  return is_there;
}

static void test_the_worker_reads(void **state) {
  (void)state;
  enum { TRIES = 100000 };
  static const struct {
    int kind;
    bool is_for_two;
  } cases[] = {{PLAIN, true}, {WITH_PAYLOADS, true}, {WITH_SHARDING, false}};
  for (size_t k = 0; k < HILO_COUNT(cases); k++) {
    const hilo_str bytes = make_module(cases[k].kind, 120);
    uint32_t n = 0;
    const uint32_t tries = cases[k].is_for_two ? TRIES : 1000;
    while (n < tries && !was_read_by_worker(bytes)) n++;
    assert_int_equal(n < tries, cases[k].is_for_two);
  }
}

/* ---- the corpus ---- */

typedef struct {
  uint32_t n_files, n_read;
  uint64_t n_insts;
} tally;

static void check_file(const char *path, void *ctx) {
  tally *t = ctx;
  hilo_arena own;
  hilo_arena_init(&own, NULL, NULL);
  const hilo_str bytes = proto_in_file(&own, path);
  if (bytes.n) {
    t->n_files++;
    t->n_read += compare(bytes, path);
  }
  hilo_arena_deinit(&own);
}

static void test_corpus_protos(void **state) {
  (void)state;
  static const char *const ends[] = {".pb", ".pb.zst", ".pb.gz"};
  tally t = {0};
  walk_corpus(ends, HILO_COUNT(ends), check_file, &t);
  print_message("%u protos, %u without errors\n", t.n_files, t.n_read);
  assert_true(t.n_read > 90);
}

/* What the fuzzer found, and what the tests of the reader's messages read. */
static void test_bad_inputs(void **state) {
  (void)state;
  static const char *const patterns[] = {"/tests/fuzz/corpus/hlo_proto/*",
                                         "/tests/file/hlo-proto/data/*",
                                         "/tests/file/malformed/data/*"};
  tally t = {0};
  for (size_t k = 0; k < HILO_COUNT(patterns); k++) {
    char pattern[4096];
    glob_t files;
    snprintf(pattern, sizeof pattern, "%s%s", HILO_SOURCE_DIR, patterns[k]);
    if (glob(pattern, 0, NULL, &files)) continue;
    for (size_t i = 0; i < files.gl_pathc; i++) {
      FILE *f = fopen(files.gl_pathv[i], "rb");
      const bool is_file = f && fgetc(f) != EOF;
      if (f) fclose(f);
      if (is_file) check_file(files.gl_pathv[i], &t);
    }
    globfree(&files);
  }
  print_message("%u inputs, %u without errors\n", t.n_files, t.n_read);
  assert_true(t.n_files - t.n_read > 20);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_small_modules, setup, teardown),
      cmocka_unit_test_setup_teardown(test_messages_before, setup, teardown),
      cmocka_unit_test_setup_teardown(test_damage_at_every_byte, setup, teardown),
      cmocka_unit_test_setup_teardown(test_without_memory, setup, teardown),
      cmocka_unit_test_setup_teardown(test_the_worker_reads, setup, teardown),
      cmocka_unit_test_setup_teardown(test_corpus_protos, setup, teardown),
      cmocka_unit_test_setup_teardown(test_bad_inputs, setup, teardown),
  };
  return cmocka_run_group_tests_name("hlo_proto_threads", tests, NULL, NULL);
}
