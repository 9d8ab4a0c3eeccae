/* Live bytes by place, four ways: what is each worth? docs/liveness.md has the figures and says
 * which is used where. Usage: hilo_liveness [INSTRUCTIONS...] (10000 100000 1000000).
 *
 *   difference  a buffer adds its bytes where it is made and takes them back behind its last use;
 *               one running sum
 *   intervals   intervals sorted by their end, and one walk with two fingers
 *   bitset      a row with a bit a buffer, kept up to date; every place adds up its set bits
 *   window      the same, but only over the words between the first and the last bit that is set:
 *               buffers are numbered as they are made, so that these are the ones alive of late
 *
 * All four must give the same bytes at every place. Times: processor time of the thread, the best
 * of several runs. The row methods are left out where they would take minutes. */
#include "bench/generate.h"
#include "sched/schedule_profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct {
  uint32_t n;
  const uint64_t *bytes; /* by place; 0: no buffer */
  const uint32_t *last;
  uint64_t *live; /* out, by place */
  uint64_t *row;
  uint32_t *sorted;
} liveness;

static void by_difference(liveness *v) {
  memset(v->live, 0, sizeof(uint64_t) * ((size_t)v->n + 2));
  for (uint32_t b = 0; b < v->n; b++) {
    v->live[b] += v->bytes[b];
    v->live[v->last[b] + 1] -= v->bytes[b];
  }
  for (uint32_t k = 1; k < v->n; k++) v->live[k] += v->live[k - 1];
}

static const uint32_t *sort_key;
static int by_key(const void *a, const void *b) {
  const uint32_t x = sort_key[*(const uint32_t *)a], y = sort_key[*(const uint32_t *)b];
  return (x > y) - (x < y);
}

static void by_intervals(liveness *v) {
  uint32_t n = 0;
  for (uint32_t b = 0; b < v->n; b++)
    if (v->bytes[b]) v->sorted[n++] = b;
  sort_key = v->last;
  qsort(v->sorted, n, sizeof(uint32_t), by_key);
  uint64_t live = 0;
  for (uint32_t k = 0, dead = 0; k < v->n; k++) {
    live += v->bytes[k];
    v->live[k] = live;
    for (; dead < n && v->last[v->sorted[dead]] == k; dead++) live -= v->bytes[v->sorted[dead]];
  }
}

static uint64_t row_sum(const liveness *v, uint32_t first, uint32_t end) {
  uint64_t sum = 0;
  for (uint32_t w = first; w < end; w++)
    for (uint64_t bits = v->row[w]; bits; bits &= bits - 1)
      sum += v->bytes[w * 64 + (uint32_t)__builtin_ctzll(bits)];
  return sum;
}

static void by_rows(liveness *v, bool window) {
  const uint32_t words = (uint32_t)HILO_BITSET_WORDS(v->n);
  memset(v->row, 0, sizeof(uint64_t) * words);
  uint32_t *next = v->sorted; /* buffers that die at a place, as lists: head by place, then next */
  uint32_t *head = v->sorted + v->n;
  memset(head, 0xff, sizeof(uint32_t) * v->n);
  for (uint32_t b = 0; b < v->n; b++) next[b] = head[v->last[b]], head[v->last[b]] = b;
  uint32_t first = 0;
  for (uint32_t k = 0; k < v->n; k++) {
    if (v->bytes[k]) hilo_bitset_set(v->row, k);
    while (window && first < k / 64 && !v->row[first]) first++;
    v->live[k] = window ? row_sum(v, first, k / 64 + 1) : row_sum(v, 0, words);
    for (uint32_t b = head[k]; b != UINT32_MAX; b = next[b]) hilo_bitset_clear(v->row, b);
  }
}

static void by_bitset(liveness *v) { by_rows(v, false); }
static void by_window(liveness *v) { by_rows(v, true); }

static const struct {
  const char *name;
  void (*run)(liveness *v);
  uint32_t most; /* instructions */
} methods[] = {{"difference", by_difference, UINT32_MAX},
               {"intervals", by_intervals, UINT32_MAX},
               {"bitset", by_bitset, 100000},
               {"window", by_window, 100000}};

static double ns_of(liveness *v, void (*run)(liveness *), int runs) {
  double best = 1e30;
  for (int k = 0; k < runs; k++) {
    struct timespec a, b;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
    run(v);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
    const double ns = (double)(b.tv_sec - a.tv_sec) * 1e9 + (double)(b.tv_nsec - a.tv_nsec);
    if (ns < best) best = ns;
  }
  return best;
}

static bool measure(hilo_generate_kind kind, uint32_t n) {
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  const hilo_module *m = hilo_generate(&arena, kind, n, 1);
  hilo_peaks *peaks = hilo_peaks_make(m, HILO_MEMORY_PEERS, &arena);
  const hilo_schedule_profile p = hilo_schedule_profile_make(m, m->entry, peaks, &arena);
  const size_t size = (size_t)p.lifetimes.n + 2;
  liveness v = {.n = p.lifetimes.n, .bytes = p.lifetimes.bytes, .last = p.last};
  v.live = HILO_NEW_ARRAY(&arena, uint64_t, size);
  v.row = HILO_NEW_ARRAY(&arena, uint64_t, size / 64 + 2);
  v.sorted = HILO_NEW_ARRAY(&arena, uint32_t, 2 * size);
  uint64_t *expected = HILO_NEW_ARRAY(&arena, uint64_t, size);
  bool good = true;
  uint64_t alive = 0;
  for (uint32_t b = 0; b < v.n; b++) alive += v.bytes[b] ? v.last[b] - b + 1 : 0;
  printf("%s\t%u\t%.1f", hilo_generate_names[kind], v.n, v.n ? (double)alive / v.n : 0);
  for (size_t k = 0; k < HILO_COUNT(methods); k++) {
    if (n > methods[k].most) {
      printf("\t-");
      continue;
    }
    printf("\t%.1f", ns_of(&v, methods[k].run, k < 2 ? 7 : 2) / v.n);
    if (!k) memcpy(expected, v.live, sizeof(uint64_t) * v.n);
    good &= memcmp(expected, v.live, sizeof(uint64_t) * v.n) == 0;
  }
  printf("%s\n", good ? "" : "\tDIFFERENT");
  hilo_arena_deinit(&arena);
  return good;
}

int main(int argc, char **argv) {
  static const uint32_t usual[] = {10000, 100000, 1000000};
  const int n_sizes = argc > 1 ? argc - 1 : (int)HILO_COUNT(usual);
  bool good = true;
  printf("module\tn\talive at a time");
  for (size_t k = 0; k < HILO_COUNT(methods); k++) printf("\t%s", methods[k].name);
  printf("\n");
  for (int kind = 0; kind < HILO_GENERATE_COUNT; kind++)
    for (int k = 0; k < n_sizes; k++) {
      const unsigned long n = argc > 1 ? strtoul(argv[k + 1], NULL, 10) : usual[k];
      if (n < HILO_GENERATE_MIN || n > HILO_GENERATE_MAX) return 2;
      good &= measure((hilo_generate_kind)kind, (uint32_t)n);
    }
  return good ? 0 : 1;
}
