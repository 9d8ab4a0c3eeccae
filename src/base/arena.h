/* Bump-pointer arenas with resizable blocks.
 *
 * Everything that belongs to one module, or to one worker's scratch, is taken from one arena and
 * dropped with it. Small things are bumped from chunks and are never freed one by one. Columns,
 * which must stay contiguous and grow, are *blocks*: allocations of their own that can be resized
 * in place of leaving garbage behind. Memory runs out at one place: an arena that cannot grow jumps
 * to `oom`, where the owner of files and arenas cleans up; so no caller ever sees NULL. */
#ifndef HILO_BASE_ARENA_H
#define HILO_BASE_ARENA_H

#include "base/status.h"

#include <setjmp.h>
#include <string.h>

#if defined(__SANITIZE_ADDRESS__)
#define HILO_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HILO_ASAN 1
#endif
#endif
#ifdef HILO_ASAN
#include <sanitizer/asan_interface.h>
/* Bytes between two allocations that nobody may touch, so that AddressSanitizer sees an overrun. */
enum { HILO_ARENA_RED_ZONE = 16 };
#define HILO_POISON(p, bytes) __asan_poison_memory_region((p), (bytes))
#define HILO_UNPOISON(p, bytes) __asan_unpoison_memory_region((p), (bytes))
#else
#define HILO_POISON(p, bytes) ((void)0)
#define HILO_UNPOISON(p, bytes) ((void)0)
#endif

/* Where chunks come from. Tests pass one that fails on purpose. All functions may return NULL but
 * `release`. */
typedef struct hilo_allocator {
  void *(*acquire)(void *ctx, size_t bytes);
  void *(*resize)(void *ctx, void *p, size_t old_bytes, size_t new_bytes);
  void (*release)(void *ctx, void *p, size_t bytes);
  void *ctx;
} hilo_allocator;

/* malloc and free (jemalloc where it is linked in); allocations of 2 MiB and more are mapped. */
const hilo_allocator *hilo_allocator_default(void);
/* malloc may have several shares, each for some threads (jemalloc's arenas). The calling thread's;
 * and to take from that one instead. */
unsigned hilo_allocator_share(void);
void hilo_allocator_use_share(unsigned share);

typedef struct hilo_arena_chunk hilo_arena_chunk;

typedef struct hilo_arena {
  char *cur, *end;          /* free part of the newest chunk */
  hilo_arena_chunk *chunks; /* newest first */
  hilo_arena_chunk
      *large; /* one allocation each, newest first: no rest of a chunk is lost for them */
  hilo_arena_chunk *blocks; /* resizable blocks */
  const hilo_allocator *allocator;
  jmp_buf *oom;          /* where to unwind; NULL: the process ends with a message */
  size_t next_bytes;     /* size of the next chunk; grows with the arena up to a bound */
  size_t reserved_bytes; /* taken from the allocator now */
  size_t peak_bytes;     /* the largest value of reserved_bytes since init */
  size_t limit_bytes;    /* 0: none; else the arena unwinds rather than grow beyond it */
} hilo_arena;

void hilo_arena_init(hilo_arena *arena, const hilo_allocator *allocator, jmp_buf *oom);
/* Drop the contents, keep one chunk for the next use. Pointers into the arena are dead. */
void hilo_arena_reset(hilo_arena *arena);
void hilo_arena_deinit(hilo_arena *arena);

void *hilo_arena_alloc_slow(hilo_arena *arena, size_t bytes, size_t align);
HILO_NORETURN void hilo_arena_out_of_memory(hilo_arena *arena);

/* `bytes` of uninitialised memory. `align` is a power of two up to 64. */
static inline void *hilo_arena_alloc(hilo_arena *arena, size_t bytes, size_t align) {
  char *p = (char *)(((uintptr_t)arena->cur + (align - 1)) & ~(uintptr_t)(align - 1));
  if (HILO_LIKELY(arena->cur && p <= arena->end && bytes <= (size_t)(arena->end - p))) {
    arena->cur = p + bytes;
#ifdef HILO_ASAN
    HILO_UNPOISON(p, bytes);
    arena->cur = arena->end - arena->cur > HILO_ARENA_RED_ZONE ? arena->cur + HILO_ARENA_RED_ZONE
                                                               : arena->end;
#endif
    return p;
  }
  return hilo_arena_alloc_slow(arena, bytes, align);
}

static inline void *hilo_arena_alloc_array(hilo_arena *arena, size_t n, size_t size, size_t align) {
  size_t bytes;
  if (__builtin_mul_overflow(n, size, &bytes)) hilo_arena_out_of_memory(arena);
  return hilo_arena_alloc(arena, bytes, align);
}

#define HILO_NEW(arena, type) ((type *)hilo_arena_alloc((arena), sizeof(type), _Alignof(type)))
#define HILO_NEW_ARRAY(arena, type, n)                                                             \
  ((type *)hilo_arena_alloc_array((arena), (n), sizeof(type), _Alignof(type)))
#define HILO_NEW_ZEROED(arena, type, n)                                                            \
  ((type *)memset(HILO_NEW_ARRAY(arena, type, n), 0, sizeof(type) * (size_t)(n)))

/* Resize a block of this arena (`old` NULL: make one). The contents up to the smaller size are
 * kept, the rest is uninitialised; the block may move. Freed with the arena, or by a resize to 0
 * bytes, which returns NULL. */
void *hilo_arena_resize_block(hilo_arena *arena, void *old, size_t new_bytes);

/* Everything of `child` becomes `arena`'s, as if it had been taken from it now; blocks may be
 * resized from then on. The child is as after init. Both have one allocator. How a thread hands
 * over what it made in an arena of its own. Unwinds if `arena` gets beyond its limit thereby. */
void hilo_arena_adopt(hilo_arena *arena, hilo_arena *child);

/* Scratch in stack order: everything bumped since the mark is given back. Blocks are not touched.
 */
typedef struct {
  hilo_arena_chunk *chunk, *large;
  char *cur;
} hilo_arena_mark;
void hilo_arena_rewind_slow(hilo_arena *arena, hilo_arena_mark mark);
static inline hilo_arena_mark hilo_arena_get_mark(const hilo_arena *arena) {
  return (hilo_arena_mark){arena->chunks, arena->large, arena->cur};
}
static inline void hilo_arena_rewind(hilo_arena *arena, hilo_arena_mark mark) {
  if (HILO_LIKELY(mark.chunk && mark.chunk == arena->chunks && mark.large == arena->large)) {
    HILO_POISON(mark.cur, (size_t)(arena->end - mark.cur));
    arena->cur = mark.cur;
  } else {
    hilo_arena_rewind_slow(arena, mark);
  }
}

/* A second arena for the scratch of one job, whose chunks are blocks of `owner`: it can be dropped
 * as a whole while the owner keeps what was made meanwhile, and where memory runs out, the owner's
 * own clean-up frees it. The struct must not move while it is in use. */
typedef struct {
  hilo_arena arena;
  hilo_allocator allocator;
} hilo_scratch;
void hilo_scratch_init(hilo_scratch *scratch, hilo_arena *owner);
static inline void hilo_scratch_deinit(hilo_scratch *scratch) {
  hilo_arena_deinit(&scratch->arena);
}

#endif
