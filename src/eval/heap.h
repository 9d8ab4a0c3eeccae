/* The memory of values: buffers with a count of holders, freed when nobody holds them, so that a
 * loop of a million turns needs the memory of one; and all together with their heap, so that a way
 * out by error releases nothing by hand. Counts bytes, and refuses beyond a limit. Scratch and
 * tables of an evaluation are arenas whose chunks count, too. */
#ifndef HILO_EVAL_HEAP_H
#define HILO_EVAL_HEAP_H

#include "base/arena.h"

typedef struct hilo_buffer hilo_buffer;
typedef struct hilo_heap {
  hilo_buffer *first;
  uint64_t live, peak; /* bytes */
  uint64_t max;        /* 0: no limit */
} hilo_heap;

struct hilo_buffer {
  hilo_buffer *prev, *next;
  uint64_t bytes;
  uint32_t holders;
  bool is_tuple;   /* holds values, which are released with it */
  bool is_pending; /* holds one that may not be there yet, see machine_parts.h */
};

/* Bytes aligned to 64, held once; NULL beyond the limit or out of memory. */
hilo_buffer *hilo_buffer_new(hilo_heap *heap, uint64_t bytes);
char *hilo_buffer_bytes(hilo_buffer *b);
static inline void hilo_buffer_retain(hilo_buffer *b) {
  if (b) b->holders++;
}
/* Free one buffer whatever its holders. */
void hilo_buffer_free(hilo_heap *heap, hilo_buffer *b);
/* An arena of blocks of `owner`, of which all but the first 64 KiB count as bytes alive. Beyond the
 * limit it unwinds to `beyond`; where memory itself runs out, to where `owner` does. The struct
 * must not move while it is in use. */
typedef struct {
  hilo_arena arena;
  hilo_allocator allocator;
  hilo_arena *owner;
  hilo_heap *heap;
  uint64_t bytes; /* held now */
} hilo_counted_arena;
void hilo_counted_arena_init(hilo_counted_arena *a, hilo_arena *owner, hilo_heap *heap,
                             jmp_buf *beyond);
static inline void hilo_counted_arena_deinit(hilo_counted_arena *a) {
  hilo_arena_deinit(&a->arena);
}
/* Free all that is left. */
void hilo_heap_clear(hilo_heap *heap);

#endif
