#include "base/pages.h"

#include "base/arena.h" /* HILO_ASAN */

#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#ifdef HILO_ASAN
bool hilo_pages_are_for(size_t bytes) { return (void)bytes, false; }
void *hilo_pages_acquire(size_t bytes) { return (void)bytes, NULL; }
void *hilo_pages_resize(void *p, size_t old_bytes, size_t new_bytes) {
  return (void)p, (void)old_bytes, (void)new_bytes, NULL;
}
void hilo_pages_release(void *p, size_t bytes) { (void)p, (void)bytes; }
hilo_pages_bytes hilo_pages_get_bytes(void) { return (hilo_pages_bytes){0}; }
#else

enum { HUGE_PAGE_BYTES = 2 << 20, LEAST_BYTES = HUGE_PAGE_BYTES, PAGE_BYTES = 64 << 10 };
enum { MAX_KEPT = 64 };

typedef struct {
  char *p;
  size_t bytes;
} run;

static struct {
  pthread_mutex_t mutex;
  hilo_pages_bytes bytes;
  run kept[MAX_KEPT]; /* oldest first */
  uint32_t n_kept;
} pages = {.mutex = PTHREAD_MUTEX_INITIALIZER};

bool hilo_pages_are_for(size_t bytes) { return bytes >= LEAST_BYTES; }

/* 64 KiB are whole pages of every size that Linux has where hilo runs. 0: too many. */
static size_t whole_pages(size_t bytes) {
  return bytes > SIZE_MAX / 2 ? 0 : (bytes + PAGE_BYTES - 1) & -(size_t)PAGE_BYTES;
}

static char *map_aligned(size_t n) {
  const size_t more = n + HUGE_PAGE_BYTES;
  char *p = mmap(NULL, more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return NULL;
  const size_t skipped = -(uintptr_t)p & (HUGE_PAGE_BYTES - 1);
  if (skipped) munmap(p, skipped);
  munmap(p + skipped + n, HUGE_PAGE_BYTES - skipped);
  (void)madvise(p + skipped, n, MADV_HUGEPAGE); /* a wish: small pages do as well */
  return p + skipped;
}

/* ---- what is kept; with the mutex held ---- */

static run take_kept(uint32_t k) {
  const run its = pages.kept[k];
  pages.n_kept--;
  memmove(&pages.kept[k], &pages.kept[k + 1], (pages.n_kept - k) * sizeof(run));
  pages.bytes.kept -= its.bytes;
  return its;
}

/* The smallest that is large enough, and not twice as large. */
static char *reuse(size_t n) {
  uint32_t best = MAX_KEPT;
  for (uint32_t k = 0; k < pages.n_kept; k++)
    if (pages.kept[k].bytes >= n && pages.kept[k].bytes / 2 < n &&
        (best == MAX_KEPT || pages.kept[k].bytes < pages.kept[best].bytes))
      best = k;
  if (best == MAX_KEPT) return NULL;
  const run its = take_kept(best);
  if (its.bytes > n) munmap(its.p + n, its.bytes - n);
  return its.p;
}

static void unmap_oldest(void) {
  const run its = take_kept(0);
  munmap(its.p, its.bytes);
}

/* Nothing is kept where memory is short. */
static char *map(size_t n) {
  char *p;
  while (!(p = map_aligned(n)) && pages.n_kept) unmap_oldest();
  return p;
}

/* `more` bytes are to be mapped: what is kept goes before the most ever mapped is exceeded. */
static void make_room(size_t more) {
  hilo_pages_bytes *b = &pages.bytes;
  while (pages.n_kept && b->used + b->kept + more > b->peak) unmap_oldest();
}

static void count_used(size_t n) {
  hilo_pages_bytes *b = &pages.bytes;
  b->used += n;
  if (b->used + b->kept > b->peak) b->peak = b->used + b->kept;
}

/* ---- from outside ---- */

void *hilo_pages_acquire(size_t bytes) {
  const size_t n = whole_pages(bytes);
  if (!n) return NULL;
  pthread_mutex_lock(&pages.mutex);
  char *p = reuse(n);
  if (!p) {
    make_room(n);
    p = map(n);
  }
  if (p) count_used(n);
  pthread_mutex_unlock(&pages.mutex);
  return p;
}

void hilo_pages_release(void *p, size_t bytes) {
  const size_t n = whole_pages(bytes);
  pthread_mutex_lock(&pages.mutex);
  if (pages.n_kept == MAX_KEPT) unmap_oldest();
  pages.kept[pages.n_kept++] = (run){p, n};
  (void)madvise(p, n, MADV_FREE); /* the kernel may take them where memory is short */
  pages.bytes.used -= n;
  pages.bytes.kept += n;
  pthread_mutex_unlock(&pages.mutex);
}

static void *remap(void *p, size_t n_old, size_t n_new) {
  if (mremap(p, n_old, n_new, 0) != MAP_FAILED) return p;
  void *to = map(n_new);
  if (!to) return NULL;
  if (mremap(p, n_old, n_new, MREMAP_MAYMOVE | MREMAP_FIXED, to) != MAP_FAILED) return to;
  munmap(to, n_new);
  return NULL;
}

void *hilo_pages_resize(void *p, size_t old_bytes, size_t new_bytes) {
  const size_t n_old = whole_pages(old_bytes), n_new = whole_pages(new_bytes);
  if (!n_new) return NULL;
  pthread_mutex_lock(&pages.mutex);
  if (n_new > n_old) make_room(n_new - n_old);
  void *to = remap(p, n_old, n_new);
  if (to) {
    pages.bytes.used -= n_old;
    count_used(n_new);
  }
  pthread_mutex_unlock(&pages.mutex);
  return to;
}

hilo_pages_bytes hilo_pages_get_bytes(void) {
  pthread_mutex_lock(&pages.mutex);
  const hilo_pages_bytes bytes = pages.bytes;
  pthread_mutex_unlock(&pages.mutex);
  return bytes;
}
#endif
