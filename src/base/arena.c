#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>

enum {
  FIRST_CHUNK_BYTES = 16 << 10, /* a small partition fits in a few of them */
  MAX_CHUNK_BYTES = 1 << 20,    /* beyond it larger chunks did not make anything faster */
};

struct hilo_arena_chunk {
  hilo_arena_chunk *next;
  hilo_arena_chunk *prev; /* used for blocks only, which leave the list in any order */
  size_t bytes;           /* header included */
  _Alignas(16) char data[];
};

void hilo_check_failed(const char *file, int line, const char *what) {
  fprintf(stderr, "LLVM ERROR: %s:%d: %s\n", file, line, what);
  abort();
}

static void *default_acquire(void *ctx, size_t bytes) {
  (void)ctx;
  return malloc(bytes);
}

static void *default_resize(void *ctx, void *p, size_t old_bytes, size_t new_bytes) {
  (void)ctx;
  (void)old_bytes;
  return realloc(p, new_bytes);
}

static void default_release(void *ctx, void *p, size_t bytes) {
  (void)ctx;
  (void)bytes;
  free(p);
}

const hilo_allocator *hilo_allocator_default(void) {
  static const hilo_allocator allocator = {default_acquire, default_resize, default_release, NULL};
  return &allocator;
}

void hilo_arena_init(hilo_arena *arena, const hilo_allocator *allocator, jmp_buf *oom) {
  *arena = (hilo_arena){
      .allocator = allocator ? allocator : hilo_allocator_default(),
      .oom = oom,
      .next_bytes = FIRST_CHUNK_BYTES,
  };
}

void hilo_arena_out_of_memory(hilo_arena *arena) {
  if (arena->oom) longjmp(*arena->oom, 1);
  fprintf(stderr, "LLVM ERROR: out of memory\n");
  abort();
}

static void account(hilo_arena *arena, size_t bytes) {
  arena->reserved_bytes += bytes;
  if (arena->reserved_bytes > arena->peak_bytes) arena->peak_bytes = arena->reserved_bytes;
}

static bool within_limit(const hilo_arena *arena, size_t more_bytes) {
  return !arena->limit_bytes || (more_bytes <= arena->limit_bytes &&
                                 arena->reserved_bytes <= arena->limit_bytes - more_bytes);
}

void *hilo_arena_alloc_slow(hilo_arena *arena, size_t bytes, size_t align) {
  size_t need;
  if (__builtin_add_overflow(bytes, sizeof(hilo_arena_chunk) + align, &need))
    hilo_arena_out_of_memory(arena);
  const size_t chunk_bytes = need > arena->next_bytes ? need : arena->next_bytes;
  hilo_arena_chunk *chunk = within_limit(arena, chunk_bytes)
                                ? arena->allocator->acquire(arena->allocator->ctx, chunk_bytes)
                                : NULL;
  if (!chunk) hilo_arena_out_of_memory(arena);
  chunk->bytes = chunk_bytes;
  chunk->next = arena->chunks;
  arena->chunks = chunk;
  account(arena, chunk_bytes);
  if (arena->next_bytes < MAX_CHUNK_BYTES) arena->next_bytes *= 2;
  arena->cur = chunk->data;
  arena->end = (char *)chunk + chunk_bytes;
  return hilo_arena_alloc(arena, bytes, align);
}

static void release_list(hilo_arena *arena, hilo_arena_chunk *chunk) {
  while (chunk) {
    hilo_arena_chunk *next = chunk->next;
    const size_t bytes = chunk->bytes;
    arena->reserved_bytes -= bytes;
    arena->allocator->release(arena->allocator->ctx, chunk, bytes);
    chunk = next;
  }
}

void hilo_arena_reset(hilo_arena *arena) {
  release_list(arena, arena->blocks);
  arena->blocks = NULL;
  if (!arena->chunks) return;
  release_list(arena, arena->chunks->next);
  arena->chunks->next = NULL;
  arena->cur = arena->chunks->data;
  arena->end = (char *)arena->chunks + arena->chunks->bytes;
}

void hilo_arena_deinit(hilo_arena *arena) {
  release_list(arena, arena->blocks);
  release_list(arena, arena->chunks);
  arena->blocks = arena->chunks = NULL;
  arena->cur = arena->end = NULL;
}

static void unlink_block(hilo_arena *arena, hilo_arena_chunk *block) {
  if (block->prev)
    block->prev->next = block->next;
  else
    arena->blocks = block->next;
  if (block->next) block->next->prev = block->prev;
}

static void link_block(hilo_arena *arena, hilo_arena_chunk *block) {
  block->prev = NULL;
  block->next = arena->blocks;
  if (arena->blocks) arena->blocks->prev = block;
  arena->blocks = block;
}

void *hilo_arena_resize_block(hilo_arena *arena, void *old, size_t new_bytes) {
  const hilo_allocator *allocator = arena->allocator;
  hilo_arena_chunk *block =
      old ? (hilo_arena_chunk *)((char *)old - offsetof(hilo_arena_chunk, data)) : NULL;
  const size_t old_total = block ? block->bytes : 0;
  if (new_bytes == 0) {
    if (!block) return NULL;
    unlink_block(arena, block);
    arena->reserved_bytes -= old_total;
    allocator->release(allocator->ctx, block, old_total);
    return NULL;
  }
  size_t total;
  if (__builtin_add_overflow(new_bytes, sizeof(hilo_arena_chunk), &total))
    hilo_arena_out_of_memory(arena);
  if (total > old_total && !within_limit(arena, total - old_total)) hilo_arena_out_of_memory(arena);
  if (block) unlink_block(arena, block);
  hilo_arena_chunk *grown = block ? allocator->resize(allocator->ctx, block, old_total, total)
                                  : allocator->acquire(allocator->ctx, total);
  if (!grown) {
    if (block) link_block(arena, block);
    hilo_arena_out_of_memory(arena);
  }
  grown->bytes = total;
  link_block(arena, grown);
  arena->reserved_bytes -= old_total;
  account(arena, total);
  return grown->data;
}

hilo_arena_mark hilo_arena_get_mark(const hilo_arena *arena) {
  return (hilo_arena_mark){arena->chunks, arena->cur};
}

void hilo_arena_rewind(hilo_arena *arena, hilo_arena_mark mark) {
  while (arena->chunks != mark.chunk) {
    hilo_arena_chunk *chunk = arena->chunks;
    if (!chunk->next && !mark.chunk) { /* the first chunk of all stays for the next use */
      arena->cur = chunk->data;
      arena->end = (char *)chunk + chunk->bytes;
      return;
    }
    arena->chunks = chunk->next;
    chunk->next = NULL;
    release_list(arena, chunk);
  }
  if (!mark.chunk) return;
  arena->cur = mark.cur;
  arena->end = (char *)mark.chunk + mark.chunk->bytes;
}
