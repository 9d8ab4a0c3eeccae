/* Arrays of floats of any format.
 *
 * Formats of up to 8 bits go through a table of their 256 values when they are read; f16 and bf16
 * are bit work on the f32; the rest calls the scalar routines. Cost: about a nanosecond an element
 * for these and tables, a few nanoseconds otherwise. The table is on the stack, so nothing is
 * shared. */
#include "num/float_format.h"

enum { TABLE_PAYS_FROM = 512 }; /* elements; filling the table costs about as many conversions */

static uint16_t bf16_of_f32(uint32_t bits) {
  if (HILO_UNLIKELY((bits & 0x7fffffff) > 0x7f800000))
    return (uint16_t)((bits >> 31) << 15 | 0x7fc0);
  return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

static uint16_t f16_of_f32(uint32_t bits) {
  const uint32_t sign = bits >> 16 & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  if (HILO_UNLIKELY(magnitude >= 0x47800000))
    return (uint16_t)(sign | (magnitude > 0x7f800000 ? 0x7e00 : 0x7c00));
  if (magnitude < 0x38800000) {
    /* Subnormal: the last place of 0.5f is the smallest f16, so the addition rounds as wanted. */
    const float moved = hilo_float_f32_of_bits(magnitude) + 0.5f;
    return (uint16_t)(sign | (hilo_float_bits_of_f32(moved) - 0x3f000000));
  }
  magnitude += 0xfff + (magnitude >> 13 & 1);
  return (uint16_t)(sign | (magnitude - 0x38000000) >> 13);
}

static uint32_t f32_of_f16(uint32_t half) {
  const uint32_t sign = (half & 0x8000) << 16, magnitude = half & 0x7fff;
  if (magnitude < 0x400)
    return sign | hilo_float_bits_of_f32((float)magnitude * hilo_float_f32_of_bits(0x33800000));
  return sign | (magnitude + (magnitude >= 0x7c00 ? 0x38000 : 0x1c000)) << 13;
}

static void small_to_f32(hilo_float_format f, const unsigned char *from, size_t n, float *to) {
  float table[256];
  for (uint32_t i = 0; i < 256; i++) table[i] = (float)hilo_float_to_double(f, i);
  for (size_t i = 0; i < n; i++) to[i] = table[from[i]];
}

void hilo_float_array_to_f32(hilo_float_format f, const void *from, size_t n, float *to) {
  const unsigned char *p = from;
  const size_t size = hilo_float_element_bytes(f);
  if (f == HILO_FLOAT_F32) {
    if (n) memcpy(to, from, n * size);
  } else if (f == HILO_FLOAT_BF16 || f == HILO_FLOAT_F16) {
    for (size_t i = 0; i < n; i++) {
      uint16_t half;
      memcpy(&half, p + i * 2, 2);
      const uint32_t bits = f == HILO_FLOAT_F16 ? f32_of_f16(half) : (uint32_t)half << 16;
      memcpy(to + i, &bits, 4);
    }
  } else if (size == 1 && n >= TABLE_PAYS_FROM) {
    small_to_f32(f, p, n, to);
  } else {
    for (size_t i = 0; i < n; i++)
      to[i] = (float)hilo_float_to_double(f, hilo_float_load(f, p + i * size));
  }
}

void hilo_float_array_from_f32(hilo_float_format f, const float *from, size_t n, void *to) {
  unsigned char *p = to;
  const size_t size = hilo_float_element_bytes(f);
  if (f == HILO_FLOAT_F32) {
    if (n) memcpy(to, from, n * size);
  } else if (f == HILO_FLOAT_BF16 || f == HILO_FLOAT_F16) {
    for (size_t i = 0; i < n; i++) {
      uint32_t bits;
      memcpy(&bits, from + i, 4);
      const uint16_t half = f == HILO_FLOAT_F16 ? f16_of_f32(bits) : bf16_of_f32(bits);
      memcpy(p + i * 2, &half, 2);
    }
  } else {
    for (size_t i = 0; i < n; i++)
      hilo_float_store(f, p + i * size, hilo_float_from_double(f, (double)from[i]));
  }
}

void hilo_float_array_to_double(hilo_float_format f, const void *from, size_t n, double *to) {
  const unsigned char *p = from;
  const size_t size = hilo_float_element_bytes(f);
  if (f == HILO_FLOAT_F64) {
    if (n) memcpy(to, from, n * size);
  } else if (size == 1 && n >= TABLE_PAYS_FROM) {
    double table[256];
    for (uint32_t i = 0; i < 256; i++) table[i] = hilo_float_to_double(f, i);
    for (size_t i = 0; i < n; i++) to[i] = table[p[i]];
  } else if (f == HILO_FLOAT_F32 || f == HILO_FLOAT_F16 || f == HILO_FLOAT_BF16) {
    /* The hardware's conversion is exact, and quiets NaNs. */
    float chunk[256];
    for (size_t i = 0; i < n;) {
      const size_t step = n - i < HILO_COUNT(chunk) ? n - i : HILO_COUNT(chunk);
      hilo_float_array_to_f32(f, p + i * size, step, chunk);
      for (size_t k = 0; k < step; k++) to[i + k] = (double)chunk[k];
      i += step;
    }
  } else {
    for (size_t i = 0; i < n; i++)
      to[i] = hilo_float_to_double(f, hilo_float_load(f, p + i * size));
  }
}

void hilo_float_array_from_double(hilo_float_format f, const double *from, size_t n, void *to) {
  unsigned char *p = to;
  const size_t size = hilo_float_element_bytes(f);
  if (f == HILO_FLOAT_F64) {
    if (n) memcpy(to, from, n * size);
    return;
  }
  if (f == HILO_FLOAT_F32) {
    for (size_t i = 0; i < n; i++) {
      const float single = (float)from[i]; /* rounded once, payloads of NaNs kept */
      memcpy(p + i * size, &single, size);
    }
    return;
  }
  for (size_t i = 0; i < n; i++)
    hilo_float_store(f, p + i * size, hilo_float_from_double(f, from[i]));
}

void hilo_float_array_convert(hilo_float_format f, const void *from, size_t n,
                              hilo_float_format to_f, void *to) {
  const size_t from_size = hilo_float_element_bytes(f), to_size = hilo_float_element_bytes(to_f);
  if (f == to_f) {
    if (n) memcpy(to, from, n * from_size);
    return;
  }
  double chunk[256];
  for (size_t i = 0; i < n;) {
    const size_t step = n - i < HILO_COUNT(chunk) ? n - i : HILO_COUNT(chunk);
    hilo_float_array_to_double(f, (const unsigned char *)from + i * from_size, step, chunk);
    hilo_float_array_from_double(to_f, chunk, step, (unsigned char *)to + i * to_size);
    i += step;
  }
}
