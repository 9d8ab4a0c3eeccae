/* The blocked matrix product. This file is compiled with optimisation in every build: programs of
 * real size spend their time in its inner loops. */
#include "eval/products/gemm.h"

/* Tiles in elements; ROWS by COLUMNS sums are in registers. */
enum { ROWS = 4, COLUMNS = 4, TILE_M = 128, TILE_N = 256, TILE_K = 256 };
_Static_assert(TILE_K % HILO_SUM_BLOCK == 0, "blocks do not depend on tiles");

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t round_up(uint64_t x, uint64_t to) { return (x + to - 1) / to * to; }

/* ---- the work on terms of one type ---- */

typedef struct {
  /* Panels of `width` outers: for each k in turn the terms of all of them; zeros behind the last.
   */
  void (*pack)(const void *from, bool by_outer, uint64_t n_outer, uint64_t n_k, uint64_t width,
               void *to);
  /* c[i * step + j] += sum over k of a[k * ROWS + i] * b[k * COLUMNS + j] */
  void (*kernel)(uint64_t n_k, const void *a, const void *b, void *c, uint64_t step);
} work;

#define PACK(name, type)                                                                           \
  static void name(const void *from, bool by_outer, uint64_t n_outer, uint64_t n_k,                \
                   uint64_t width, void *to) {                                                     \
    const type *in = from;                                                                         \
    type *out = to;                                                                                \
    const uint64_t outer_step = by_outer ? n_k : 1, k_step = by_outer ? 1 : n_outer;               \
    for (uint64_t o = 0; o < n_outer; o += width, out += n_k * width) {                            \
      const uint64_t n = least(width, n_outer - o);                                                \
      if (n < width) memset(out, 0, n_k *width * sizeof(type));                                    \
      for (uint64_t j = 0; j < n; j++)                                                             \
        for (uint64_t k = 0; k < n_k; k++)                                                         \
          out[k * width + j] = in[(o + j) * outer_step + k * k_step];                              \
    }                                                                                              \
  }

/* `part` sums up a block of terms, in their own type. */
#define KERNEL(name, term, total)                                                                  \
  static void name(uint64_t n_k, const void *a_panel, const void *b_panel, void *c_tile,           \
                   uint64_t step) {                                                                \
    const term *a = a_panel, *b = b_panel;                                                         \
    total *c = c_tile;                                                                             \
    for (uint64_t at = 0; at < n_k; at += HILO_SUM_BLOCK) {                                        \
      const uint64_t end = least(at + HILO_SUM_BLOCK, n_k);                                        \
      term part[ROWS][COLUMNS] = {{0}};                                                            \
      for (uint64_t k = at; k < end; k++, a += ROWS, b += COLUMNS)                                 \
        for (int i = 0; i < ROWS; i++)                                                             \
          for (int j = 0; j < COLUMNS; j++) part[i][j] += a[i] * b[j];                             \
      for (int i = 0; i < ROWS; i++)                                                               \
        for (int j = 0; j < COLUMNS; j++) c[(uint64_t)i * step + (uint64_t)j] += part[i][j];       \
    }                                                                                              \
  }

/* The same for complex numbers, as pairs. Products are those of the definition: what C adds to it
 * for infinities is not in XLA. */
#define KERNEL_COMPLEX(name, term, total)                                                          \
  static void name(uint64_t n_k, const void *a_panel, const void *b_panel, void *c_tile,           \
                   uint64_t step) {                                                                \
    const term *a = a_panel, *b = b_panel;                                                         \
    total *c = c_tile;                                                                             \
    for (uint64_t at = 0; at < n_k; at += HILO_SUM_BLOCK) {                                        \
      const uint64_t end = least(at + HILO_SUM_BLOCK, n_k);                                        \
      term re[ROWS][COLUMNS] = {{0}}, im[ROWS][COLUMNS] = {{0}};                                   \
      for (uint64_t k = at; k < end; k++, a += 2 * ROWS, b += 2 * COLUMNS)                         \
        for (int i = 0; i < ROWS; i++)                                                             \
          for (int j = 0; j < COLUMNS; j++) {                                                      \
            re[i][j] += a[2 * i] * b[2 * j] - a[2 * i + 1] * b[2 * j + 1];                         \
            im[i][j] += a[2 * i] * b[2 * j + 1] + a[2 * i + 1] * b[2 * j];                         \
          }                                                                                        \
      for (int i = 0; i < ROWS; i++)                                                               \
        for (int j = 0; j < COLUMNS; j++) {                                                        \
          c[2 * ((uint64_t)i * step + (uint64_t)j)] += re[i][j];                                   \
          c[2 * ((uint64_t)i * step + (uint64_t)j) + 1] += im[i][j];                               \
        }                                                                                          \
    }                                                                                              \
  }

PACK(pack_4, uint32_t)
PACK(pack_8, uint64_t)
PACK(pack_16, double _Complex)
KERNEL(kernel_u32, uint32_t, uint32_t)
KERNEL(kernel_u64, uint64_t, uint64_t)
KERNEL(kernel_f32, float, double)
KERNEL(kernel_f64, double, double)
KERNEL_COMPLEX(kernel_c64, float, double)
KERNEL_COMPLEX(kernel_c128, double, double)

static const work works[] = {
    [HILO_SUM_U32] = {pack_4, kernel_u32}, [HILO_SUM_U64] = {pack_8, kernel_u64},
    [HILO_SUM_F32] = {pack_4, kernel_f32}, [HILO_SUM_F64] = {pack_8, kernel_f64},
    [HILO_SUM_C64] = {pack_8, kernel_c64}, [HILO_SUM_C128] = {pack_16, kernel_c128},
};

/* ---- tiles ---- */

hilo_gemm_room hilo_gemm_room_of(hilo_arena *arena, const hilo_product *p, uint64_t m, uint64_t n,
                                 uint64_t k) {
  const size_t size = p->term_bytes;
  const uint64_t rows = round_up(least(m, TILE_M), ROWS);
  const uint64_t columns = round_up(least(n, TILE_N), COLUMNS);
  const uint64_t depth = least(k, TILE_K);
  const uint64_t widest = rows > columns ? rows : columns;
  hilo_gemm_room room;
  room.loaded = hilo_arena_alloc_array(arena, widest * depth + 1, size, 64);
  room.a = hilo_arena_alloc_array(arena, rows * depth + 1, size, 64);
  room.b = hilo_arena_alloc_array(arena, columns * depth + 1, size, 64);
  room.c = hilo_arena_alloc_array(arena, rows * columns + 1, p->sum_bytes, 64);
  return room;
}

static void load_panels(const work *w, const hilo_factor *f, uint64_t outer, uint64_t n_outer,
                        uint64_t k, uint64_t n_k, uint64_t width, char *loaded, char *panels) {
  f->load(f->ctx, outer, n_outer, k, n_k, loaded);
  w->pack(loaded, f->by_outer, n_outer, n_k, width, panels);
}

static void multiply_panels(const hilo_product *p, const hilo_gemm_room *room, uint64_t rows,
                            uint64_t columns, uint64_t n_k) {
  const uint64_t step = round_up(columns, COLUMNS), bytes = n_k * p->term_bytes;
  for (uint64_t j = 0; j < columns; j += COLUMNS)
    for (uint64_t i = 0; i < rows; i += ROWS)
      works[p->sum].kernel(n_k, room->a + i * bytes, room->b + j * bytes,
                           room->c + (i * step + j) * p->sum_bytes, step);
}

static void compute_tile(const hilo_gemm_job *job, const hilo_gemm_room *room, uint64_t i,
                         uint64_t j) {
  const hilo_product *p = job->product;
  const work *w = &works[p->sum];
  const uint64_t rows = least(TILE_M, job->m - i), columns = least(TILE_N, job->n - j);
  const uint64_t step = round_up(columns, COLUMNS);
  memset(room->c, 0, round_up(rows, ROWS) * step * p->sum_bytes);
  for (uint64_t k = 0; k < job->k; k += TILE_K) {
    const uint64_t n_k = least(TILE_K, job->k - k);
    load_panels(w, &job->a, i, rows, k, n_k, ROWS, room->loaded, room->a);
    load_panels(w, &job->b, j, columns, k, n_k, COLUMNS, room->loaded, room->b);
    multiply_panels(p, room, rows, columns, n_k);
  }
  for (uint64_t r = 0; r < rows; r++)
    hilo_sums_store(p, room->c + r * step * p->sum_bytes, columns, job->data,
                    job->start + (i + r) * job->step + j);
}

void hilo_gemm(const hilo_gemm_job *job, const hilo_gemm_room *room) {
  for (uint64_t j = 0; j < job->n; j += TILE_N)
    for (uint64_t i = 0; i < job->m; i += TILE_M) compute_tile(job, room, i, j);
}

/* ---- factors that lie in arrays ---- */

static void load_dense(const hilo_dense_factor *d, uint64_t row, uint64_t n_rows, uint64_t at,
                       uint64_t n, char *to) {
  const uint64_t bytes = n * d->product->term_bytes;
  for (uint64_t r = 0; r < n_rows; r++)
    hilo_terms_load(d->product, d->etype, d->data, d->start + (row + r) * d->step + at, n,
                    to + r * bytes);
}
static void load_by_outer(const void *ctx, uint64_t outer, uint64_t n_outer, uint64_t k,
                          uint64_t n_k, void *to) {
  load_dense(ctx, outer, n_outer, k, n_k, to);
}
static void load_by_k(const void *ctx, uint64_t outer, uint64_t n_outer, uint64_t k, uint64_t n_k,
                      void *to) {
  load_dense(ctx, k, n_k, outer, n_outer, to);
}

hilo_factor hilo_factor_of(const hilo_dense_factor *dense, bool by_outer) {
  return (hilo_factor){
      .load = by_outer ? load_by_outer : load_by_k, .ctx = dense, .by_outer = by_outer};
}
