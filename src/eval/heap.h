/* The memory of values: buffers with a count of holders, freed when nobody holds them, so that a
 * loop of a million turns needs the memory of one; and all together with their heap, so that a way
 * out by error releases nothing by hand. Counts bytes, and refuses beyond a limit. */
#ifndef HILO_EVAL_HEAP_H
#define HILO_EVAL_HEAP_H

#include "base/status.h"

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

/* Do so many bytes more fit below the limit? If so they count for the peak. */
bool hilo_heap_has_room(hilo_heap *heap, uint64_t bytes);
/* Bytes aligned to 64, held once; NULL beyond the limit or out of memory. */
hilo_buffer *hilo_buffer_new(hilo_heap *heap, uint64_t bytes);
char *hilo_buffer_bytes(hilo_buffer *b);
static inline void hilo_buffer_retain(hilo_buffer *b) {
  if (b) b->holders++;
}
/* Free one buffer whatever its holders. */
void hilo_buffer_free(hilo_heap *heap, hilo_buffer *b);
/* Free all that is left. */
void hilo_heap_clear(hilo_heap *heap);

#endif
