/* Decimal text of integers of any width up to 64 bits. Everything goes through one magnitude and
 * one limit per sign. Cost: about a nanosecond a digit. */
#include "num/int_text.h"

#include <string.h>

size_t hilo_int_print(char *out, unsigned width, bool is_signed, uint64_t bits) {
  uint64_t magnitude = bits & hilo_int_mask(width);
  const bool negative = is_signed && magnitude >> (width - 1);
  if (negative) magnitude = (0 - magnitude) & hilo_int_mask(width);
  char digits[HILO_INT_TEXT_MAX];
  size_t at = sizeof digits;
  do digits[--at] = (char)('0' + magnitude % 10);
  while (magnitude /= 10);
  if (negative) digits[--at] = '-';
  memcpy(out, digits + at, sizeof digits - at);
  return sizeof digits - at;
}

hilo_num_status hilo_int_scan(hilo_str text, unsigned width, bool is_signed, uint64_t *bits,
                              size_t *used) {
  *used = 0;
  const bool negative = text.n > 0 && text.p[0] == '-';
  const size_t start = negative;
  size_t i = start;
  uint64_t magnitude = 0;
  bool overflow = false;
  for (; i < text.n && (unsigned char)(text.p[i] - '0') < 10; i++) {
    const uint64_t digit = (uint64_t)(text.p[i] - '0');
    overflow = overflow || __builtin_mul_overflow(magnitude, 10, &magnitude) ||
               __builtin_add_overflow(magnitude, digit, &magnitude);
  }
  if (i == start) return HILO_NUM_SYNTAX;
  *used = i;
  const uint64_t most = is_signed ? hilo_int_mask(width) >> 1 : hilo_int_mask(width);
  const uint64_t limit = !negative ? most : is_signed ? most + 1 : 0;
  if (overflow || magnitude > limit) return HILO_NUM_RANGE;
  *bits = (negative ? 0 - magnitude : magnitude) & hilo_int_mask(width);
  return HILO_NUM_OK;
}

hilo_num_status hilo_int_parse(hilo_str text, unsigned width, bool is_signed, uint64_t *bits) {
  uint64_t read = 0;
  size_t used;
  const hilo_num_status status = hilo_int_scan(text, width, is_signed, &read, &used);
  if (status == HILO_NUM_SYNTAX || used != text.n) return HILO_NUM_SYNTAX;
  if (status == HILO_NUM_OK) *bits = read;
  return status;
}
