/* Reading floats from text, correctly rounded.
 *
 * Problem: decimal text to any of fifteen formats with one rounding, at tens of megabytes a second,
 * whatever the locale.
 * Method (after Eisel and Lemire): the first 19 digits times a power of ten of 128 bits give the
 * top 64 bits of the value and an upper bound of the error. No format has a rounding boundary (a
 * value or the middle of two) of more than 54 bits, so unless a number of that few bits lies within
 * the error, those 64 bits and "something follows" decide. Otherwise the value is computed exactly:
 * by one division if the power is small (`0.5`), else by comparison in big integers. Cost: 10 to 20
 * ns for usual literals, a microsecond for near ties; linear in the length. */
#include "num/float_big.h"
#include "num/float_text.h"
#include "num/pow10.h"

typedef struct {
  const char *p, *end;
} cursor;

/* A scanned decimal: w * 10^q, where w holds the first up to 19 significant digits; all `n` of them
 * are in the text from `digits` on, and a nonzero digit came after those in w iff `more`. */
typedef struct {
  uint64_t w;
  int64_t q;
  const char *digits;
  size_t n;
  bool more;
} scanned;

/* What the value rounds from; see hilo_float_round. */
typedef struct {
  uint64_t sig;
  int exp;
  bool sticky;
} approx;

static bool is_digit(char c) { return (unsigned char)(c - '0') < 10; }

static int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

static bool eat(cursor *c, const char *word, size_t n) {
  if ((size_t)(c->end - c->p) < n || memcmp(c->p, word, n) != 0) return false;
  c->p += n;
  return true;
}

/* An optional exponent after `mark`, clamped far outside of any format. Leaves the cursor where it
 * was if there is none. */
static bool scan_exponent(cursor *c, char mark, int64_t *out) {
  const char *p = c->p;
  *out = 0;
  if (p == c->end || (*p | 0x20) != mark) return false;
  p++;
  const bool negative = p != c->end && *p == '-';
  if (p != c->end && (*p == '-' || *p == '+')) p++;
  if (p == c->end || !is_digit(*p)) return false;
  int64_t v = 0;
  for (; p != c->end && is_digit(*p); p++)
    if (v < INT64_C(1000000000000)) v = v * 10 + (*p - '0');
  *out = negative ? -v : v;
  c->p = p;
  return true;
}

/* More than 19 digits: w is the first 19 and the rest may only say whether it is zero. */
static void rescan_long(scanned *s, const char *end, int64_t point_shift) {
  s->w = 0;
  size_t seen = 0;
  for (const char *p = s->digits; p != end; p++) {
    if (*p == '.') continue;
    if (seen++ < 19)
      s->w = s->w * 10 + (uint64_t)(*p - '0');
    else if (*p != '0')
      s->more = true;
  }
  s->q = point_shift + (int64_t)(seen - 19);
}

static bool scan_decimal(cursor *c, scanned *s) {
  const char *start = c->p, *p = c->p;
  uint64_t w = 0;
  while (p != c->end && is_digit(*p)) w = w * 10 + (uint64_t)(*p++ - '0');
  size_t n = (size_t)(p - start);
  int64_t fraction = 0;
  if (p != c->end && *p == '.') {
    const char *point = p++;
    while (p != c->end && is_digit(*p)) w = w * 10 + (uint64_t)(*p++ - '0');
    fraction = p - point - 1;
    n += (size_t)fraction;
  }
  if (n == 0) return false;
  *s = (scanned){.w = w, .q = -fraction, .digits = start, .n = n};
  if (HILO_UNLIKELY(n > 19)) {
    /* w may have wrapped; leading zeros do not count. */
    while (s->digits != p && (*s->digits == '0' || *s->digits == '.')) {
      if (*s->digits == '0') s->n--;
      s->digits++;
    }
    if (s->n > 19) rescan_long(s, p, -fraction);
  }
  c->p = p;
  int64_t exponent;
  scan_exponent(c, 'e', &exponent);
  s->q += exponent;
  return true;
}

/* w * 10^q for -27 <= q < 0, exactly. */
static approx divide(uint64_t w, int q) {
  uint64_t power = 1;
  for (int i = q; i < 0; i++) power *= 5;
  const int w_lead = __builtin_clzll(w), power_lead = __builtin_clzll(power);
  const hilo_u128 dividend = (hilo_u128)(w << w_lead) << 63;
  const uint64_t divisor = power << power_lead;
  const uint64_t quotient = (uint64_t)(dividend / divisor);
  return (approx){quotient, q - 63 - w_lead + power_lead, dividend % divisor != 0};
}

/* The value against the only boundary that it can be confused with: the next number of 54 bits from
 * `low` up. */
static approx settle(const scanned *s, approx low) {
  enum { STEP = 1 << 10 };
  uint64_t bound = (low.sig + (STEP - 1)) & ~(uint64_t)(STEP - 1);
  int exp = low.exp;
  if (bound == 0) {
    bound = UINT64_C(1) << 63;
    exp++;
  }
  int side;
  if (!s->more) {
    side = hilo_float_big_compare_u64(s->w, (int)s->q, bound, exp);
  } else {
    /* The boundary has fewer digits than are read here: if they agree, what follows decides. */
    const size_t n = s->n < HILO_FLOAT_BIG_DIGITS ? s->n : HILO_FLOAT_BIG_DIGITS;
    side = hilo_float_big_compare(s->digits, n, (int)(s->q + 19 - (int64_t)n), bound, exp);
    if (side == 0 && n < s->n) {
      const char *p = s->digits;
      for (size_t seen = 0; seen < s->n && side == 0; p++) {
        if (*p == '.') continue;
        if (seen++ >= n && *p != '0') side = 1;
      }
    }
  }
  if (side < 0) return (approx){low.sig, low.exp, true};
  return (approx){bound, exp, side > 0};
}

static approx approximate(const scanned *s) {
  /* w < 10^19 (and a bit, if more digits follow): beyond these no format has anything. */
  if (s->q < HILO_POW10_MIN) return (approx){UINT64_C(1) << 63, -5000, true};
  if (s->q > 308) return (approx){UINT64_C(1) << 63, 5000, true};
  const int q = (int)s->q;
  const int lead = __builtin_clzll(s->w);
  uint64_t lowest;
  hilo_u128 p = hilo_pow10_mul(s->w << lead, hilo_pow10_of(q), &lowest);
  int exp = hilo_floor_log2_pow10(q) - 127 - lead + 128;
  if (!(p >> 127)) {
    p = p << 1 | lowest >> 63;
    lowest <<= 1;
    exp--;
  }
  approx low = {(uint64_t)(p >> 64), exp, true};
  const bool exact_power = q >= 0 && q <= HILO_POW10_EXACT_MAX;
  if (exact_power && !s->more) {
    low.sticky = (uint64_t)p != 0 || lowest != 0;
    return low;
  }
  /* The power is short by less than one unit, and w by less than one of 10^18: in units of sig that
   * is nothing unless it carries, and up to 19. The value is strictly above sig. Only if a number
   * of 54 bits lies in between is anything undecided. */
  const uint64_t slack = s->more ? 20 : (uint64_t)p >= UINT64_MAX - 4;
  const uint64_t to_bound = -low.sig & 1023;
  if (HILO_LIKELY(to_bound == 0 || to_bound > slack)) return low;
  if (!s->more && q < 0 && q >= -27) return divide(s->w, q);
  return settle(s, low);
}

/* [+-] 0x hexdigits [. hexdigits] p [+-] digits, the cursor behind 0x. */
static bool scan_hex(cursor *c, approx *out, bool *zero) {
  cursor at = *c;
  *out = (approx){0};
  int64_t exp = 0;
  size_t n = 0;
  bool point = false;
  for (; at.p != at.end; at.p++) {
    if (*at.p == '.' && !point) {
      point = true;
      continue;
    }
    const int digit = hex_digit(*at.p);
    if (digit < 0) break;
    n++;
    if (out->sig >> 60) {
      out->sticky = out->sticky || digit != 0;
      if (!point) exp += 4;
    } else {
      out->sig = out->sig << 4 | (uint64_t)digit;
      if (point) exp -= 4;
    }
  }
  int64_t power;
  if (n == 0 || !scan_exponent(&at, 'p', &power)) return false;
  exp += power;
  out->exp = exp < -5000 ? -5000 : exp > 5000 ? 5000 : (int)exp;
  *zero = out->sig == 0;
  *c = at;
  return true;
}

static hilo_num_status finish(hilo_float_format f, bool negative, approx x, uint64_t *bits) {
  bool overflow = false;
  *bits = hilo_float_round(f, negative, x.sig, x.exp, x.sticky, &overflow);
  return overflow ? HILO_NUM_RANGE : HILO_NUM_OK;
}

static hilo_num_status finish_zero(hilo_float_format f, bool negative, uint64_t *bits) {
  *bits = hilo_float_zero(f, negative);
  return hilo_float_descs[f].specials == HILO_SPECIALS_SCALE ? HILO_NUM_RANGE : HILO_NUM_OK;
}

/* `(0xPAYLOAD)` behind `nan`, if it is there. */
static hilo_num_status finish_nan(cursor *c, hilo_float_format f, bool negative, uint64_t *bits) {
  const hilo_float_desc *d = &hilo_float_descs[f];
  *bits = hilo_float_nan(f, negative);
  cursor at = *c;
  if (!eat(&at, "(0x", 3)) return HILO_NUM_OK;
  uint64_t payload = 0;
  bool wide = false;
  const char *start = at.p;
  for (; at.p != at.end && hex_digit(*at.p) >= 0; at.p++) {
    wide = wide || payload >> 60;
    payload = payload << 4 | (uint64_t)hex_digit(*at.p);
  }
  if (at.p == start || !eat(&at, ")", 1)) return HILO_NUM_OK;
  *c = at;
  if (d->specials != HILO_SPECIALS_IEEE || payload == 0 || wide || payload >> d->man_bits)
    return HILO_NUM_RANGE;
  const uint64_t mantissa = (UINT64_C(1) << d->man_bits) - 1;
  *bits = (*bits & ~mantissa) | payload;
  return HILO_NUM_OK;
}

static hilo_num_status scan(cursor *c, hilo_float_format f, uint64_t *bits) {
  const bool negative = c->p != c->end && *c->p == '-';
  if (c->p != c->end && (*c->p == '-' || *c->p == '+')) c->p++;
  if (c->p != c->end && (*c->p == 'i' || *c->p == 'n')) {
    if (eat(c, "nan", 3)) return finish_nan(c, f, negative, bits);
    if (!eat(c, "inf", 3)) return HILO_NUM_SYNTAX;
    *bits = hilo_float_from_double(f, negative ? -__builtin_inf() : __builtin_inf());
    return HILO_NUM_OK;
  }
  if (c->end - c->p > 2 && c->p[0] == '0' && (c->p[1] | 0x20) == 'x') {
    cursor hex = {c->p + 2, c->end};
    approx x;
    bool zero;
    if (scan_hex(&hex, &x, &zero)) {
      *c = hex;
      return zero ? finish_zero(f, negative, bits) : finish(f, negative, x, bits);
    }
  }
  scanned s;
  if (!scan_decimal(c, &s)) return HILO_NUM_SYNTAX;
  if (s.w == 0) return finish_zero(f, negative, bits);
  return finish(f, negative, approximate(&s), bits);
}

hilo_num_status hilo_float_scan(hilo_str text, hilo_float_format f, uint64_t *bits, size_t *used) {
  *used = 0;
  if (text.n == 0) return HILO_NUM_SYNTAX;
  cursor c = {text.p, text.p + text.n};
  const hilo_num_status status = scan(&c, f, bits);
  if (status != HILO_NUM_SYNTAX) *used = (size_t)(c.p - text.p);
  return status;
}

hilo_num_status hilo_float_parse(hilo_str text, hilo_float_format f, uint64_t *bits) {
  uint64_t read;
  size_t used;
  const hilo_num_status status = hilo_float_scan(text, f, &read, &used);
  if (status == HILO_NUM_SYNTAX || used != text.n) return HILO_NUM_SYNTAX;
  *bits = read;
  return status;
}
