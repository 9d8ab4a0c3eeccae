#include "eval/heap.h"

#include <stdlib.h>

enum { ALIGNMENT = 64 };
_Static_assert(sizeof(hilo_buffer) <= ALIGNMENT, "the header stands before aligned bytes");

bool hilo_heap_has_room(hilo_heap *heap, uint64_t bytes) {
  if (bytes > SIZE_MAX / 2 || (heap->max && (bytes > heap->max || heap->live > heap->max - bytes)))
    return false;
  if (heap->live + bytes > heap->peak) heap->peak = heap->live + bytes;
  return true;
}

hilo_buffer *hilo_buffer_new(hilo_heap *heap, uint64_t bytes) {
  if (!hilo_heap_has_room(heap, bytes)) return NULL;
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
