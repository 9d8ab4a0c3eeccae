/* Metadata by a second thread.
 *
 * Problem: a third of reading is metadata, on which nothing else depends. Method: a worker walks
 * over the instructions as well, in the order of the file, and fills a store of labels and a list
 * of records, with a reader, arenas and diagnostics of its own; both become the module's when all
 * instructions are there. Labels are put by that walk only, so handles are those of one thread,
 * which puts them in the same order.
 *
 * What the walk dislikes makes it stop, as does an error of the main thread, or what would need
 * labels there (metadata of shardings), or that no memory is left for two: everything is then read
 * again by one thread, whose messages come in order. Cost: the fields of an instruction are stepped
 * over once more. */
#include "formats/proto/hlo_proto_read.h"

#include <stdatomic.h>

struct hilo_proto_labels {
  hilo_proto_read_options options;
  hilo_proto_reader reader;
  hilo_diags diags;
  hilo_arena kept; /* what the module gets, and, as blocks, the reader's scratch */
  jmp_buf oom;
  hilo_module m; /* the reader's: labels are all that it has; not in the main thread's scratch,
                    which AddressSanitizer sees poisoned for a moment where that is rewound */
  hilo_wire_list computations;
  hilo_vec(uint32_t) meta; /* by instruction */
  bool is_read;            /* all of it */
  atomic_bool is_stopped;
  bool is_under_way, is_given_up; /* the main thread's */
};

/* ---- the walk ---- */

/* False: not as writers have it. */
static bool walk_instruction(hilo_proto_reader *r, hilo_str inst, hilo_record *out) {
  const char *p = inst.p, *const end = p + inst.n, *what;
  hilo_str meta = {0};
  while (p < end) {
    hilo_wire_raw raw;
    if (!hilo_wire_next(&p, end, &raw, &what)) return false;
    if (HILO_LIKELY(raw.number != HILO_WIRE_INSTRUCTION_METADATA)) continue;
    if (meta.p || raw.type != HILO_WIRE_LENGTH) return false;
    meta = raw.value;
  }
  return hilo_proto_read_meta(r, meta, out);
}

static bool walk_computation(hilo_proto_labels *l, hilo_str computation) {
  hilo_proto_reader *r = &l->reader;
  hilo_arena *scratch = &r->scratch.arena;
  const char *p = computation.p, *const end = p + computation.n, *what;
  while (p < end) {
    hilo_wire_raw raw;
    hilo_record record;
    if (!hilo_wire_next(&p, end, &raw, &what)) return false;
    if (raw.number != HILO_WIRE_COMPUTATION_INSTRUCTIONS) continue;
    if (raw.type != HILO_WIRE_LENGTH) return false;
    if (atomic_load_explicit(&l->is_stopped, memory_order_relaxed)) return false;
    const hilo_arena_mark mark = hilo_arena_get_mark(scratch);
    if (!walk_instruction(r, raw.value, &record) || r->wire.joined_bytes) return false;
    hilo_arena_rewind(scratch, mark);
    HILO_PUSH(&l->kept, &l->meta, record.ix);
  }
  return true;
}

static bool walk(hilo_proto_labels *l) {
  enum { BYTES_AN_ENTRY = 256, MAX_ENTRIES = 1 << 14 }; /* about; it grows where that is too few */
  const size_t n = l->reader.bytes.n / BYTES_AN_ENTRY;
  hilo_wire_memo_reserve(&l->reader.memo, n < MAX_ENTRIES ? (uint32_t)n : MAX_ENTRIES);
  for (uint32_t c = 0; c < l->computations.n; c++)
    if (!walk_computation(l, l->computations.v[c])) return false;
  return l->diags.n == 0;
}

static void run(void *ctx, void *task, unsigned worker_ix) {
  hilo_proto_labels *volatile l = task; /* read after a longjmp */
  (void)ctx, (void)worker_ix;
  if (setjmp(l->oom) == 0) l->is_read = walk(l);
}

/* ---- the main thread ---- */

hilo_proto_labels *hilo_proto_labels_make(hilo_arena *arena,
                                          const hilo_proto_read_options *options) {
  hilo_proto_labels *l = hilo_arena_resize_block(arena, NULL, sizeof(*l));
  memset(l, 0, sizeof(*l));
  l->options = *options;
  hilo_arena_init(&l->kept, arena->allocator, &l->oom);
  l->kept.limit_bytes = arena->limit_bytes;
  return l;
}

/* Takes nothing from `kept`, which unwinds to where the other thread is. */
void hilo_proto_labels_start(hilo_proto_reader *r, hilo_proto_labels *l,
                             hilo_wire_list computations) {
  if (r->bytes.n < l->options.min_bytes) return;
  hilo_proto_reader_init(&l->reader, &l->kept, r->bytes, r->name, &l->diags);
  l->diags = hilo_diags_make(&l->reader.scratch.arena);
  hilo_store_init(&l->m.labels, &l->kept, NULL);
  l->reader.m = &l->m;
  l->reader.payloads = r->payloads;
  l->computations = computations;
  const hilo_queue_kind kind = {run, NULL};
  l->is_under_way = hilo_queue_try_push(l->options.queue, &kind, l, 0);
  if (l->is_under_way) r->labels = l;
}

static void join(hilo_proto_labels *l) {
  bool ran;
  const void *task = hilo_queue_join(l->options.queue, &ran);
  HILO_CHECK(task == l); /* nothing else was in flight */
  l->is_under_way = false;
}

static void take(hilo_proto_labels *l, hilo_module *m) {
  HILO_CHECK(m->n_inst_slots == l->meta.n + 1);
  if (l->meta.n) memcpy(m->inst.meta + 1, l->meta.v, l->meta.n * sizeof(*l->meta.v));
  HILO_VEC_FREE(&l->kept, &l->meta);
  m->labels = l->m.labels;
  m->labels.arena = m->arena;
  hilo_scratch_deinit(&l->reader.scratch);
  hilo_arena_adopt(m->arena, &l->kept);
}

void hilo_proto_labels_finish(hilo_proto_reader *r, bool ok) {
  hilo_proto_labels *l = r->labels;
  if (!ok) atomic_store(&l->is_stopped, true);
  join(l);
  r->labels = NULL;
  l->is_given_up |= !ok || !l->is_read;
  if (!l->is_given_up) take(l, r->m);
}

void hilo_proto_labels_give_up(hilo_proto_labels *l) { l->is_given_up = true; }

bool hilo_proto_labels_are_given_up(const hilo_proto_labels *l) { return l->is_given_up; }

void hilo_proto_labels_end(hilo_proto_labels *l, hilo_arena *arena) {
  atomic_store(&l->is_stopped, true);
  if (l->is_under_way) join(l);
  hilo_arena_deinit(&l->kept);
  hilo_arena_resize_block(arena, l, 0);
}
