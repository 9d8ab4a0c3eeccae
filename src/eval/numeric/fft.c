/* Fast Fourier transforms of any length.
 *
 * In long double: the result, rounded once, is the true one but for rare last bits, for c64 and
 * c128 alike. A line whose length has only small prime factors is transformed by the Stockham
 * algorithm (one pass a factor, self-sorting); any other one by Bluestein's, as a convolution of a
 * power of two. n log n for every n. Dimensions are transformed one after another, line by line,
 * in one buffer of complex numbers for the whole block of fft dimensions. */
#include "eval/elementwise/wide.h"

/* exp(-2 pi i k / n): the angle is brought into the first octant exactly, in integers. */
static hilo_wide root_of_unity(uint64_t k, uint64_t n) {
  k %= n;
  /* In eighths of a turn: octant and what is left, as a part of 8n. */
  const uint64_t octant = k * 8 / n;
  const uint64_t rest = octant % 2 ? (octant + 1) * n - k * 8 : k * 8 - octant * n;
  const long double angle =
      (long double)rest / (long double)n * 0.785398163397448309615660845819875721L;
  const long double c = cosl(angle), s = sinl(angle);
  const bool is_swapped = (octant + 1) / 2 % 2 == 1;
  const long double x = is_swapped ? s : c, y = is_swapped ? c : s;
  return (hilo_wide){octant >= 2 && octant < 6 ? -x : x, octant < 4 ? -y : y};
}

/* ---- one line ---- */

enum { MAX_FACTORS = 64, MAX_RADIX = 31 };

/* A line of n numbers. `roots` are those of unity of order n; Bluestein's needs those of order 2n
 * instead, a plan of the convolution, and the transform of the chirp. */
typedef struct line_plan {
  uint64_t n;
  uint32_t n_factors;
  uint32_t factors[MAX_FACTORS];
  hilo_wide *roots;
  struct line_plan *convolution; /* NULL: Stockham's */
  hilo_wide *chirp;              /* its transform */
  hilo_wide *line, *work;        /* Stockham: n each; Bluestein: of the convolution's length */
} line_plan;

/* Fours first: they need no multiplications within. False if a factor is too large. */
static bool factorise(uint64_t n, line_plan *plan) {
  static const uint32_t radices[] = {4, 2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31};
  plan->n_factors = 0;
  for (size_t k = 0; k < HILO_COUNT(radices); k++)
    for (; n % radices[k] == 0; n /= radices[k]) plan->factors[plan->n_factors++] = radices[k];
  return n == 1;
}

static hilo_wide *new_line(hilo_arena *arena, uint64_t n) {
  return hilo_arena_alloc(arena, (size_t)n * sizeof(hilo_wide), _Alignof(hilo_wide));
}

static hilo_wide *new_roots(hilo_arena *arena, uint64_t n) {
  hilo_wide *roots = new_line(arena, n);
  for (uint64_t k = 0; k < n; k++) roots[k] = root_of_unity(k, n);
  return roots;
}

/* y = the transform of p numbers of x, which stand `step` apart; `turn`: roots of order p stand
 * this far apart. */
static void small_transform(const hilo_wide *x, uint64_t step, uint32_t p, const hilo_wide *roots,
                            uint64_t turn, hilo_wide *y) {
  if (p == 2) {
    const hilo_wide a = x[0], b = x[step];
    y[0] = hilo_wide_add(a, b);
    y[1] = hilo_wide_subtract(a, b);
    return;
  }
  if (p == 4) {
    const hilo_wide a = x[0], b = x[step], c = x[2 * step], d = x[3 * step];
    const hilo_wide ac = hilo_wide_add(a, c), bd = hilo_wide_add(b, d);
    const hilo_wide am = hilo_wide_subtract(a, c), bm = hilo_wide_subtract(b, d);
    y[0] = hilo_wide_add(ac, bd);
    y[1] = (hilo_wide){am.re + bm.im, am.im - bm.re};
    y[2] = hilo_wide_subtract(ac, bd);
    y[3] = (hilo_wide){am.re - bm.im, am.im + bm.re};
    return;
  }
  for (uint32_t r = 0; r < p; r++) {
    y[r] = x[0];
    for (uint32_t j = 1; j < p; j++)
      y[r] = hilo_wide_add(y[r], hilo_wide_multiply(x[j * step], roots[j * r % p * turn]));
  }
}

/* Line to line, the other being room for every second pass. */
static void stockham(const line_plan *plan, hilo_wide *line, hilo_wide *work) {
  hilo_wide *from = line, *to = work;
  uint64_t left = plan->n, stride = 1;
  for (uint32_t f = 0; f < plan->n_factors; f++) {
    const uint32_t p = plan->factors[f];
    const uint64_t m = left / p;
    for (uint64_t k = 0; k < m; k++)
      for (uint64_t q = 0; q < stride; q++) {
        hilo_wide y[MAX_RADIX];
        small_transform(from + q + stride * k, stride * m, p, plan->roots, plan->n / p, y);
        hilo_wide *at = to + q + stride * p * k;
        at[0] = y[0];
        for (uint32_t r = 1; r < p; r++)
          at[stride * r] = k ? hilo_wide_multiply(y[r], plan->roots[k * r * stride]) : y[r];
      }
    left = m, stride *= p;
    hilo_wide *swap = from;
    from = to, to = swap;
  }
  if (from != line) memcpy(line, from, (size_t)plan->n * sizeof(*line));
}

static void transform_line(const line_plan *plan, hilo_wide *line);

/* jk = (j^2 + k^2 - (j - k)^2) / 2 makes the transform a convolution with the chirp
 * exp(pi i k^2 / n). */
static void bluestein(const line_plan *plan, hilo_wide *line) {
  const uint64_t n = plan->n, length = plan->convolution->n;
  hilo_wide *a = plan->line;
  memset(a, 0, (size_t)length * sizeof(*a));
  uint64_t square = 0; /* k^2 modulo 2n */
  for (uint64_t k = 0; k < n; square = (square + 2 * k + 1) % (2 * n), k++)
    a[k] = hilo_wide_multiply(line[k], plan->roots[square]);
  transform_line(plan->convolution, a);
  /* The way back is the transform of the conjugates. */
  for (uint64_t k = 0; k < length; k++) {
    const hilo_wide product = hilo_wide_multiply(a[k], plan->chirp[k]);
    a[k] = (hilo_wide){product.re, -product.im};
  }
  transform_line(plan->convolution, a);
  const long double scale = 1 / (long double)length;
  square = 0;
  for (uint64_t k = 0; k < n; square = (square + 2 * k + 1) % (2 * n), k++)
    line[k] =
        hilo_wide_multiply((hilo_wide){a[k].re * scale, -a[k].im * scale}, plan->roots[square]);
}

/* Bluestein's plans are one deep: a convolution's length is a power of two. */
static void transform_line(const line_plan *plan, hilo_wide *line) {
  if (plan->convolution)
    bluestein(plan, line);
  else
    stockham(plan, line, plan->work);
}

static void plan_bluestein(hilo_arena *arena, line_plan *plan) {
  const uint64_t n = plan->n;
  uint64_t length = 1;
  while (length < 2 * n - 1) length *= 2;
  line_plan *inner = hilo_arena_alloc(arena, sizeof(*inner), _Alignof(line_plan));
  *inner = (line_plan){.n = length};
  (void)factorise(length, inner);
  inner->roots = new_roots(arena, length);
  inner->work = new_line(arena, length);
  plan->convolution = inner;
  plan->roots = new_roots(arena, 2 * n);
  plan->line = new_line(arena, length);
  plan->chirp = new_line(arena, length);
  memset(plan->chirp, 0, (size_t)length * sizeof(*plan->chirp));
  uint64_t square = 0;
  for (uint64_t k = 0; k < n; square = (square + 2 * k + 1) % (2 * n), k++) {
    const hilo_wide w = {plan->roots[square].re, -plan->roots[square].im};
    plan->chirp[k] = w;
    if (k) plan->chirp[length - k] = w;
  }
  transform_line(inner, plan->chirp);
}

static void plan_line(hilo_arena *arena, uint64_t n, line_plan *plan) {
  *plan = (line_plan){.n = n};
  if (!factorise(n, plan)) {
    plan_bluestein(arena, plan);
    return;
  }
  plan->roots = new_roots(arena, n);
  plan->work = new_line(arena, n);
}

/* ---- a block: the dimensions that are transformed ---- */

enum { FFT, IFFT, RFFT, IRFFT, MAX_FFT_RANK = 3 };

typedef struct {
  uint32_t rank;
  uint64_t size[MAX_FFT_RANK]; /* lengths of the transform */
  uint64_t total;
  line_plan plans[MAX_FFT_RANK];
  hilo_wide *block, *line;
} block_plan;

static void plan_block(hilo_arena *arena, block_plan *b) {
  b->total = 1;
  uint64_t longest = 1;
  for (uint32_t d = 0; d < b->rank; d++) {
    plan_line(arena, b->size[d], &b->plans[d]);
    b->total *= b->size[d];
    if (b->size[d] > longest) longest = b->size[d];
  }
  b->block = new_line(arena, b->total);
  b->line = new_line(arena, longest);
}

static void transform_block(const block_plan *b) {
  uint64_t inner = 1;
  for (uint32_t d = b->rank; d-- > 0; inner *= b->size[d]) {
    const uint64_t n = b->size[d];
    for (uint64_t o = 0; o < b->total / (n * inner); o++)
      for (uint64_t k = 0; k < inner; k++) {
        hilo_wide *first = b->block + o * n * inner + k;
        for (uint64_t j = 0; j < n; j++) b->line[j] = first[j * inner];
        transform_line(&b->plans[d], b->line);
        for (uint64_t j = 0; j < n; j++) first[j * inner] = b->line[j];
      }
  }
}

/* The block from an operand of the same dimensions. The inverse transform is the conjugate of that
 * of the conjugates. */
static void load_block(const block_plan *b, hilo_etype etype, const char *in, uint64_t at,
                       bool is_inverse) {
  for (uint64_t k = 0; k < b->total; k++) {
    const hilo_wide x = hilo_wide_load(etype, in, at + k);
    b->block[k] = is_inverse ? hilo_wide_conjugate(x) : x;
  }
}

/* The block, conjugated, from one whose innermost lines are cut to n / 2 + 1: the rest is given by
 * the symmetry of what becomes real. What should be real in that symmetry is transformed as if it
 * were: the outer dimensions first, then each line with its ends' imaginary parts left out. */
static void load_halves(const block_plan *b, hilo_etype etype, const char *in, uint64_t at) {
  const uint64_t n = b->size[b->rank - 1], half = n / 2 + 1;
  for (uint64_t line = 0; line < b->total / n; line++)
    for (uint64_t k = 0; k < half; k++)
      b->block[line * n + k] = hilo_wide_conjugate(hilo_wide_load(etype, in, at + line * half + k));
}

/* Transforms the outer dimensions of the half lines, completes the lines, transforms these. */
static void transform_halves(const block_plan *b) {
  const uint64_t n = b->size[b->rank - 1], half = n / 2 + 1;
  uint64_t inner = n;
  for (uint32_t d = b->rank - 1; d-- > 0; inner *= b->size[d])
    for (uint64_t o = 0; o < b->total / (b->size[d] * inner); o++)
      for (uint64_t k = 0; k < inner; k++) {
        if (k % n >= half) continue;
        hilo_wide *first = b->block + o * b->size[d] * inner + k;
        for (uint64_t j = 0; j < b->size[d]; j++) b->line[j] = first[j * inner];
        transform_line(&b->plans[d], b->line);
        for (uint64_t j = 0; j < b->size[d]; j++) first[j * inner] = b->line[j];
      }
  for (uint64_t line = 0; line < b->total / n; line++) {
    hilo_wide *x = b->block + line * n;
    x[0].im = 0;
    if (n % 2 == 0) x[n / 2].im = 0;
    for (uint64_t k = half; k < n; k++) x[k] = hilo_wide_conjugate(x[n - k]);
    transform_line(&b->plans[b->rank - 1], x);
  }
}

static void store_block(const block_plan *b, hilo_etype etype, char *data, uint64_t at,
                        int64_t type) {
  const bool is_inverse = type == IFFT || type == IRFFT;
  const uint64_t n = b->size[b->rank - 1], kept = type == RFFT ? n / 2 + 1 : n;
  const long double divisor = is_inverse ? (long double)b->total : 1;
  for (uint64_t line = 0; line < b->total / n; line++)
    for (uint64_t k = 0; k < kept; k++) {
      hilo_wide x = b->block[line * n + k];
      if (is_inverse) x = (hilo_wide){x.re / divisor, -x.im / divisor};
      hilo_wide_store(etype, data, at + line * kept + k, x);
    }
}

static void transform_all(const block_plan *b, int64_t type, hilo_etype from, hilo_etype to,
                          const char *in, uint64_t n_blocks, char *data) {
  const uint64_t n = b->size[b->rank - 1], half = b->total / n * (n / 2 + 1);
  const uint64_t in_step = type == IRFFT ? half : b->total;
  const uint64_t out_step = type == RFFT ? half : b->total;
  for (uint64_t k = 0; k < n_blocks; k++) {
    if (type == IRFFT) {
      load_halves(b, from, in, k * in_step);
      transform_halves(b);
    } else {
      load_block(b, from, in, k * in_step, type == IFFT);
      transform_block(b);
    }
    store_block(b, to, data, k * out_step, type);
  }
}

static bool is_fft_type(hilo_etype t) {
  return t == HILO_F32 || t == HILO_F64 || t == HILO_C64 || t == HILO_C128;
}

/* Bytes of scratch that a plan takes, about; saturating. */
static uint64_t plan_bytes(const block_plan *b) {
  uint64_t total = 1, lines = 0, bytes;
  for (uint32_t d = 0; d < b->rank; d++) {
    if (b->size[d] > UINT64_MAX / 1024 || !hilo_mul_u64(total, b->size[d], &total))
      return UINT64_MAX;
    lines += 20 * b->size[d];
  }
  return hilo_mul_u64(total + lines, sizeof(hilo_wide), &bytes) && total + lines >= total
             ? bytes
             : UINT64_MAX;
}

hilo_status hilo_eval_op_fft(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                             hilo_value *out) {
  const hilo_fft_attrs attrs = hilo_attrs(e->m, i, fft);
  const hilo_etype from = hilo_value_etype(e, &args[0]), to = hilo_value_etype(e, out);
  const hilo_dims dims = hilo_type_dims(&e->m->types, args[0].type);
  if (!is_fft_type(from) || !is_fft_type(to))
    return hilo_eval_refuse(e, i, "its element type is not there");
  if (attrs.length.n == 0 || attrs.length.n > MAX_FFT_RANK || attrs.length.n > dims.n)
    return hilo_eval_refuse(e, i, "it transforms 1 to 3 dimensions of its operand");
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  if (hilo_value_n_elements(e, out) == 0) return HILO_OK;
  block_plan b = {.rank = attrs.length.n};
  for (uint32_t d = 0; d < b.rank; d++) {
    const int64_t n = attrs.length.v[d], size = dims.v[dims.n - b.rank + d];
    const bool is_half = attrs.type == IRFFT && d + 1 == b.rank;
    if (n < 1 || size != (is_half ? n / 2 + 1 : n))
      return hilo_eval_refuse(e, i, "its lengths are not those of its operand");
    b.size[d] = (uint64_t)n;
  }
  if (e->heap->max && plan_bytes(&b) > e->heap->max)
    return hilo_eval_refuse(e, i, "it needs more memory than the limit");
  uint64_t n_blocks = 1;
  for (uint32_t d = 0; d < dims.n - b.rank; d++) n_blocks *= (uint64_t)dims.v[d];
  plan_block(e->scratch, &b);
  transform_all(&b, attrs.type, from, to, args[0].data, n_blocks, data);
  return HILO_OK;
}
