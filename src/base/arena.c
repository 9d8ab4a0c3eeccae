/* Arenas: see arena.h. A chunk is a list node with the memory behind it. Small requests are bumped
 * from the newest chunk; a request larger than the next chunk would be gets an allocation of its
 * own in a list apart, so that the rest of the newest chunk stays in use. Blocks are doubly linked,
 * since they leave in any order. Cost: one addition and two compares for a small request.
 *
 * Invariants: reserved_bytes is the sum over the three lists; cur and end lie in the newest chunk,
 * or are NULL when there is none; under AddressSanitizer everything between cur and end is
 * poisoned. */
#include "base/arena.h"

#include "base/pages.h"

#include <stdio.h>
#include <stdlib.h>

enum {
  FIRST_CHUNK_BYTES = 16 << 10, /* a small partition fits in a few of them */
  MAX_CHUNK_BYTES = 256 << 10,  /* beyond it larger chunks did not make anything faster */
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
  return hilo_pages_are_for(bytes) ? hilo_pages_acquire(bytes) : malloc(bytes);
}

static void default_release(void *ctx, void *p, size_t bytes) {
  (void)ctx;
  if (hilo_pages_are_for(bytes))
    hilo_pages_release(p, bytes);
  else
    free(p);
}

static void *default_resize(void *ctx, void *p, size_t old_bytes, size_t new_bytes) {
  if (!hilo_pages_are_for(old_bytes) && !hilo_pages_are_for(new_bytes))
    return realloc(p, new_bytes);
  if (hilo_pages_are_for(old_bytes) && hilo_pages_are_for(new_bytes))
    return hilo_pages_resize(p, old_bytes, new_bytes);
  void *to = default_acquire(ctx, new_bytes);
  if (!to) return NULL;
  memcpy(to, p, old_bytes < new_bytes ? old_bytes : new_bytes);
  default_release(ctx, p, old_bytes);
  return to;
}

const hilo_allocator *hilo_allocator_default(void) {
  static const hilo_allocator allocator = {default_acquire, default_resize, default_release, NULL};
  return &allocator;
}

extern int mallctl(const char *name, void *old, size_t *old_bytes, void *new_value,
                   size_t new_bytes) __attribute__((weak)); /* NULL without jemalloc */

unsigned hilo_allocator_share(void) {
  unsigned share = 0;
  size_t bytes = sizeof(share);
  if (mallctl) (void)mallctl("thread.arena", &share, &bytes, NULL, 0);
  return share;
}

void hilo_allocator_use_share(unsigned share) {
  if (mallctl) (void)mallctl("thread.arena", NULL, NULL, &share, sizeof(share));
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

static hilo_arena_chunk *acquire_chunk(hilo_arena *arena, size_t chunk_bytes) {
  hilo_arena_chunk *chunk = within_limit(arena, chunk_bytes)
                                ? arena->allocator->acquire(arena->allocator->ctx, chunk_bytes)
                                : NULL;
  if (!chunk) hilo_arena_out_of_memory(arena);
  chunk->bytes = chunk_bytes;
  account(arena, chunk_bytes);
  return chunk;
}

/* Bump from the start of the newest chunk. */
static void use_newest_chunk(hilo_arena *arena) {
  arena->cur = arena->chunks->data;
  arena->end = (char *)arena->chunks + arena->chunks->bytes;
  HILO_POISON(arena->cur, (size_t)(arena->end - arena->cur));
}

void *hilo_arena_alloc_slow(hilo_arena *arena, size_t bytes, size_t align) {
  size_t need;
  if (__builtin_add_overflow(bytes, sizeof(hilo_arena_chunk) + align, &need))
    hilo_arena_out_of_memory(arena);
  const bool is_large = need > arena->next_bytes;
  hilo_arena_chunk *chunk = acquire_chunk(arena, is_large ? need : arena->next_bytes);
  if (arena->next_bytes < MAX_CHUNK_BYTES) arena->next_bytes *= 2;
  if (is_large) {
    chunk->next = arena->large;
    arena->large = chunk;
    return (void *)(((uintptr_t)chunk->data + (align - 1)) & ~(uintptr_t)(align - 1));
  }
  chunk->next = arena->chunks;
  arena->chunks = chunk;
  use_newest_chunk(arena);
  return hilo_arena_alloc(arena, bytes, align);
}

/* Release the chunks of a list up to, not including, `last`. */
static void release_until(hilo_arena *arena, hilo_arena_chunk *chunk,
                          const hilo_arena_chunk *last) {
  while (chunk != last) {
    HILO_CHECK(chunk); /* a mark of another arena, or one that was reset since */
    hilo_arena_chunk *next = chunk->next;
    const size_t bytes = chunk->bytes;
    arena->reserved_bytes -= bytes;
    HILO_UNPOISON(chunk, bytes);
    arena->allocator->release(arena->allocator->ctx, chunk, bytes);
    chunk = next;
  }
}

void hilo_arena_reset(hilo_arena *arena) {
  release_until(arena, arena->blocks, NULL);
  release_until(arena, arena->large, NULL);
  arena->blocks = arena->large = NULL;
  if (!arena->chunks) return;
  release_until(arena, arena->chunks->next, NULL);
  arena->chunks->next = NULL;
  use_newest_chunk(arena);
}

void hilo_arena_deinit(hilo_arena *arena) {
  release_until(arena, arena->blocks, NULL);
  release_until(arena, arena->large, NULL);
  release_until(arena, arena->chunks, NULL);
  arena->blocks = arena->large = arena->chunks = NULL;
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

static hilo_arena_chunk *last_of(hilo_arena_chunk *chunk) {
  while (chunk->next) chunk = chunk->next;
  return chunk;
}

/* Chunks are put where single large allocations are: their free rest is lost, and marks keep the
 * meaning that what is newer goes. */
void hilo_arena_adopt(hilo_arena *arena, hilo_arena *child) {
  HILO_CHECK(arena->allocator == child->allocator);
  hilo_arena_chunk *const lists[] = {child->chunks, child->large};
  for (size_t k = 0; k < HILO_COUNT(lists); k++) {
    if (!lists[k]) continue;
    last_of(lists[k])->next = arena->large;
    arena->large = lists[k];
  }
  if (child->blocks) {
    hilo_arena_chunk *last = last_of(child->blocks);
    last->next = arena->blocks;
    if (arena->blocks) arena->blocks->prev = last;
    arena->blocks = child->blocks;
  }
  const size_t bytes = child->reserved_bytes;
  child->chunks = child->large = child->blocks = NULL;
  child->cur = child->end = NULL;
  child->next_bytes = FIRST_CHUNK_BYTES;
  child->reserved_bytes = child->peak_bytes = 0;
  const bool fits = within_limit(arena, bytes);
  account(arena, bytes);
  if (!fits) hilo_arena_out_of_memory(arena);
}

void hilo_arena_rewind_slow(hilo_arena *arena, hilo_arena_mark mark) {
  release_until(arena, arena->large, mark.large);
  arena->large = mark.large;
  if (!arena->chunks) return;
  hilo_arena_chunk *keep = mark.chunk;
  if (!keep) /* marked when empty: the oldest chunk stays for the next use */
    for (keep = arena->chunks; keep->next;) keep = keep->next;
  release_until(arena, arena->chunks, keep);
  arena->chunks = keep;
  use_newest_chunk(arena);
  if (mark.chunk) {
    HILO_UNPOISON(arena->cur, (size_t)(mark.cur - arena->cur));
    arena->cur = mark.cur;
  }
}

static void *scratch_acquire(void *ctx, size_t bytes) {
  return hilo_arena_resize_block(ctx, NULL, bytes);
}

static void *scratch_resize(void *ctx, void *p, size_t old_bytes, size_t new_bytes) {
  (void)old_bytes;
  return hilo_arena_resize_block(ctx, p, new_bytes);
}

static void scratch_release(void *ctx, void *p, size_t bytes) {
  (void)bytes;
  hilo_arena_resize_block(ctx, p, 0);
}

void hilo_scratch_init(hilo_scratch *scratch, hilo_arena *owner) {
  scratch->allocator = (hilo_allocator){scratch_acquire, scratch_resize, scratch_release, owner};
  hilo_arena_init(&scratch->arena, &scratch->allocator, owner->oom);
}
