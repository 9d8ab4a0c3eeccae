/* What the float tests share: the digest of tests/data/make_float_vectors.py, its generator, and
 * its values. */
#ifndef HILO_TESTS_FLOAT_VECTORS_H
#define HILO_TESTS_FLOAT_VECTORS_H

#include "num/float_format.h"

/* CRC-32 as zlib has it; start with 0 and pass the result on. */
static inline uint32_t crc32_of(uint32_t crc, const void *data, size_t n) {
  static const uint32_t nibbles[16] = {0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac,
                                       0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
                                       0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
                                       0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  const unsigned char *p = data;
  crc = ~crc;
  for (size_t i = 0; i < n; i++) {
    crc ^= p[i];
    crc = crc >> 4 ^ nibbles[crc & 15];
    crc = crc >> 4 ^ nibbles[crc & 15];
  }
  return ~crc;
}

static inline uint64_t splitmix_next(uint64_t *state) {
  uint64_t x = *state += UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return x ^ x >> 31;
}

typedef struct {
  hilo_float_format format;
  uint32_t to_f32, to_double, from_f32, hlo, python;
} float_vectors;

static const float_vectors float_vectors_small[] = {
#define FLOAT_VECTORS(id, f32, f64, from, hlo, python)                                             \
  {HILO_FLOAT_##id, f32, f64, from, hlo, python},
#define WIDE_VECTORS(id, hlo, python)
#include "float_vectors.inc"
#undef FLOAT_VECTORS
#undef WIDE_VECTORS
};

#endif
