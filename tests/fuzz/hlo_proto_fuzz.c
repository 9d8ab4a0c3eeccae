/* Property: the walker reads what protobuf-c reads, and the proto reader never does more than fail;
 * what it accepts is written, read again and written to the same bytes; and what two threads read
 * is what one does, messages as well. */
#include "formats/hlo_proto.h"
#include "formats/load.h"

#include "../unit/wire_oracle.h"

#include <stdio.h>

enum { MAX_DEPTH = 100 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void compare(hilo_arena *arena, hilo_str bytes) {
  hilo_wire_reader r = {.scratch = arena};
  const bool ok = hilo_wire_check(&r, &hilo_wire_module_fields, bytes, MAX_DEPTH);
  if (!ok) return; /* protobuf-c has no limit of depth, and is laxer about wire types */
  Xla__HloModuleProto *theirs =
      xla__hlo_module_proto__unpack(NULL, bytes.n, (const uint8_t *)bytes.p);
  if (!theirs) return;
  const char *fault = oracle_message(&r, &hilo_wire_module_fields, bytes, &theirs->base);
  xla__hlo_module_proto__free_unpacked(theirs, NULL);
  if (fault) fprintf(stderr, "the readers disagree about `%s`\n", fault);
  HILO_CHECK(!fault);
}

static void round_trip(hilo_arena *arena, hilo_str bytes) {
  hilo_diags diags = hilo_diags_make(arena);
  hilo_module *m = NULL, *again = NULL;
  hilo_sb once = hilo_sb_make(arena), twice = hilo_sb_make(arena);
  const hilo_status status = hilo_load_bytes(arena, bytes, HILO_STR("fuzz"), &diags, &m);
  HILO_CHECK(status == HILO_OK || diags.n_errors);
  if (status != HILO_OK) return;
  HILO_CHECK(hilo_hlo_proto_write(m, &once, &diags) == HILO_OK);
  HILO_CHECK(hilo_hlo_proto_read(arena, hilo_sb_view(&once), HILO_STR("fuzz"), &diags, &again) ==
             HILO_OK);
  HILO_CHECK(hilo_hlo_proto_write(again, &twice, &diags) == HILO_OK);
  HILO_CHECK(hilo_str_eq(hilo_sb_view(&once), hilo_sb_view(&twice)));
}

static hilo_str read_with(hilo_arena *arena, hilo_str bytes, hilo_queue *queue) {
  const hilo_proto_read_options options = {queue, 0};
  hilo_diags diags = hilo_diags_make(arena);
  hilo_module *m = NULL;
  hilo_sb out = hilo_sb_make(arena);
  const hilo_status status =
      hilo_hlo_proto_read_with(arena, bytes, HILO_STR("fuzz"), &options, &diags, &m);
  if (status == HILO_OK) HILO_CHECK(hilo_hlo_proto_write(m, &out, &diags) == HILO_OK);
  hilo_diags_render(&diags, &out);
  return hilo_sb_view(&out);
}

/* Without a worker the owner of the queue does what one would. */
static void two_as_one(hilo_arena *arena, hilo_str bytes) {
  hilo_queue *queue =
      hilo_queue_create(arena, &(hilo_queue_options){.max_threads = 1, .max_tasks = 1});
  HILO_CHECK(hilo_str_eq(read_with(arena, bytes, NULL), read_with(arena, bytes, queue)));
  hilo_queue_destroy(queue);
}

static void run(hilo_arena *arena, const uint8_t *data, size_t n) {
  const hilo_str bytes = {(const char *)data, n};
  compare(arena, bytes);
  round_trip(arena, bytes);
  two_as_one(arena, bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
  hilo_arena arena;
  jmp_buf oom;
  hilo_arena_init(&arena, NULL, &oom);
  arena.limit_bytes = 1u << 30;
  if (!setjmp(oom)) run(&arena, data, n);
  hilo_arena_deinit(&arena);
  return 0;
}
