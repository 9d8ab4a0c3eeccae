#include "eval/heap.h"

#include <stdlib.h>

enum { ALIGNMENT = 64 };
_Static_assert(sizeof(hilo_buffer) <= ALIGNMENT, "the header stands before aligned bytes");

/* Do so many bytes more fit below the limit? If so they count for the peak. */
static bool has_room(hilo_heap *heap, uint64_t bytes) {
  if (bytes > SIZE_MAX / 2 || (heap->max && (bytes > heap->max || heap->live > heap->max - bytes)))
    return false;
  if (heap->live + bytes > heap->peak) heap->peak = heap->live + bytes;
  return true;
}

hilo_buffer *hilo_buffer_new(hilo_heap *heap, uint64_t bytes) {
  if (!has_room(heap, bytes)) return NULL;
  const size_t rounded = ((size_t)bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  hilo_buffer *b = aligned_alloc(ALIGNMENT, ALIGNMENT + rounded);
  if (!b) return NULL;
  *b = (hilo_buffer){.next = heap->first, .bytes = bytes, .holders = 1};
  if (heap->first) heap->first->prev = b;
  heap->first = b;
  heap->live += bytes;
  return b;
}

char *hilo_buffer_bytes(hilo_buffer *b) { return (char *)b + ALIGNMENT; }

void hilo_buffer_free(hilo_heap *heap, hilo_buffer *b) {
  if (b->prev)
    b->prev->next = b->next;
  else
    heap->first = b->next;
  if (b->next) b->next->prev = b->prev;
  heap->live -= b->bytes;
  free(b);
}

void hilo_heap_clear(hilo_heap *heap) {
  while (heap->first) hilo_buffer_free(heap, heap->first);
}

/* ---- arenas that count ---- */

enum { FREE_BYTES = 64 << 10 }; /* so that a small module has no scratch to speak of */

static uint64_t beyond_free(uint64_t bytes) { return bytes > FREE_BYTES ? bytes - FREE_BYTES : 0; }

/* Count a change from `from` to `to` bytes. False: it is beyond the limit. */
static bool recount(hilo_counted_arena *a, uint64_t from, uint64_t to) {
  const uint64_t held = a->bytes - from + to;
  const uint64_t before = beyond_free(a->bytes), after = beyond_free(held);
  if (after > before && !has_room(a->heap, after - before)) return false;
  a->heap->live += after - before;
  a->bytes = held;
  return true;
}

static void *acquire_counted(void *ctx, size_t bytes) {
  hilo_counted_arena *a = ctx;
  return recount(a, 0, bytes) ? hilo_arena_resize_block(a->owner, NULL, bytes) : NULL;
}

static void *resize_counted(void *ctx, void *p, size_t old_bytes, size_t new_bytes) {
  hilo_counted_arena *a = ctx;
  return recount(a, old_bytes, new_bytes) ? hilo_arena_resize_block(a->owner, p, new_bytes) : NULL;
}

static void release_counted(void *ctx, void *p, size_t bytes) {
  hilo_counted_arena *a = ctx;
  (void)recount(a, bytes, 0);
  hilo_arena_resize_block(a->owner, p, 0);
}

void hilo_counted_arena_init(hilo_counted_arena *a, hilo_arena *owner, hilo_heap *heap,
                             jmp_buf *beyond) {
  *a = (hilo_counted_arena){.owner = owner, .heap = heap};
  a->allocator = (hilo_allocator){acquire_counted, resize_counted, release_counted, a};
  hilo_arena_init(&a->arena, &a->allocator, beyond);
}
