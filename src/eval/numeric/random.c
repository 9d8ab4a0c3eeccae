/* Random numbers.
 *
 * rng-bit-generator is a function of its state, exact to the bit with XLA (and with JAX's keys):
 * PHILOX is Philox 4x32-10, THREE_FRY Threefry 2x32-20, DEFAULT is PHILOX, as on XLA:CPU. A state
 * of u64 words is {key, counter} or, for PHILOX, {key, lower, upper half of the counter}; a state
 * of u32 words is the same bytes. The counter counts blocks.
 *
 * What `rng` gives is XLA's choice, and differs between its backends. Here it is a function of the
 * evaluation's seed, the instruction's identity (draws.h) and the place of the element, so that it
 * does not change from run to run or with how often other instructions run; it respects the bounds.
 *
 * stochastic-convert rounds away from zero if the fraction that is cut off is more than the random
 * number, as a fraction of its range, else towards zero. */
#include "eval/kernels.h"
#include "eval/value_type.h"
#include "ir/etype_format.h"

#include <math.h>

/* ---- the two generators ---- */

enum { PHILOX_ROUNDS = 10, PHILOX_WORDS = 4 };

/* Block `counter` of the key: four words. */
static void philox_block(uint64_t key, uint64_t low, uint64_t high, uint32_t out[PHILOX_WORDS]) {
  uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
  uint32_t c0 = (uint32_t)low, c1 = (uint32_t)(low >> 32);
  uint32_t c2 = (uint32_t)high, c3 = (uint32_t)(high >> 32);
  for (int round = 0; round < PHILOX_ROUNDS; round++) {
    const uint64_t p0 = (uint64_t)c0 * 0xD2511F53u, p1 = (uint64_t)c2 * 0xCD9E8D57u;
    c0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
    c2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;
    c1 = (uint32_t)p1;
    c3 = (uint32_t)p0;
    k0 += 0x9E3779B9u, k1 += 0xBB67AE85u;
  }
  out[0] = c0, out[1] = c1, out[2] = c2, out[3] = c3;
}

static uint32_t rotate(uint32_t x, unsigned by) { return x << by | x >> (32 - by); }

static void threefry_block(uint64_t key, uint64_t counter, uint32_t out[2]) {
  static const uint8_t rotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
  const uint32_t schedule[3] = {k0, k1, k0 ^ k1 ^ 0x1BD11BDAu};
  uint32_t a = (uint32_t)counter + k0, b = (uint32_t)(counter >> 32) + k1;
  for (uint32_t step = 0; step < 5; step++) {
    for (int k = 0; k < 4; k++) {
      a += b;
      b = rotate(b, rotations[step % 2][k]) ^ a;
    }
    a += schedule[(step + 1) % 3];
    b += schedule[(step + 2) % 3] + step + 1;
  }
  out[0] = a, out[1] = b;
}

/* ---- rng-bit-generator ---- */

typedef struct {
  uint64_t v[3];
  uint32_t n;
} generator_state;

/* The low bits of `word`, as element k. */
static void store_bits(hilo_etype etype, char *data, uint64_t k, uint64_t word) {
  const unsigned bits = hilo_etype_table[etype].bits;
  const uint32_t bytes = hilo_etype_bytes(etype);
  if (bits < 8) {
    word &= hilo_bits_mask(bits);
    if (hilo_etype_class_of(etype) == HILO_CLASS_SIGNED)
      word = (uint64_t)hilo_bits_extend(word, bits);
  }
  memcpy(data + k * bytes, &word, bytes);
}

/* An element takes one word, of 64 bits two, the lower first. */
static void philox_fill(generator_state *state, hilo_etype etype, uint64_t n, char *data) {
  const bool is_wide = hilo_etype_table[etype].bits == 64;
  const uint64_t each = is_wide ? 2 : 1, per_block = PHILOX_WORDS / each;
  const uint64_t blocks = n / per_block + (n % per_block != 0);
  const uint64_t start = state->v[1], upper = state->v[state->n == 3 ? 2 : 0];
  for (uint64_t block = 0; block < blocks; block++) {
    const uint64_t low = start + block;
    uint32_t words[PHILOX_WORDS];
    philox_block(state->v[0], low, upper + (low < start), words);
    for (uint64_t k = 0; k < per_block && block * per_block + k < n; k++)
      store_bits(etype, data, block * per_block + k,
                 is_wide ? words[2 * k] | (uint64_t)words[2 * k + 1] << 32 : words[k]);
  }
  state->v[1] = start + blocks;
  if (state->n == 3 && state->v[1] < start) state->v[2]++;
}

static void threefry_fill_wide(generator_state *state, hilo_etype etype, uint64_t n, char *data) {
  for (uint64_t k = 0; k < n; k++) {
    uint32_t words[2];
    threefry_block(state->v[0], state->v[1]++, words);
    store_bits(etype, data, k, words[0] | (uint64_t)words[1] << 32);
  }
}

/* The two words of a block are neighbours along the first even dimension or, without one, the
 * largest, whose last pair is then cut. */
static uint32_t paired_dimension(hilo_dims dims) {
  uint32_t largest = 0;
  for (uint32_t d = 0; d < dims.n; d++) {
    if (dims.v[d] % 2 == 0) return d;
    if (dims.v[d] > dims.v[largest]) largest = d;
  }
  return largest;
}

static void threefry_fill(generator_state *state, hilo_etype etype, hilo_dims dims, char *data) {
  const uint32_t pair = paired_dimension(dims);
  const uint64_t size = dims.n ? (uint64_t)dims.v[pair] : 1, half = size / 2 + size % 2;
  uint64_t outer = 1, inner = 1;
  for (uint32_t d = 0; d < dims.n; d++)
    if (d != pair) *(d < pair ? &outer : &inner) *= (uint64_t)dims.v[d];
  for (uint64_t o = 0; o < outer; o++)
    for (uint64_t h = 0; h < half; h++)
      for (uint64_t k = 0; k < inner; k++) {
        uint32_t words[2];
        threefry_block(state->v[0], state->v[1]++, words);
        const uint64_t at = (o * size + 2 * h) * inner + k;
        store_bits(etype, data, at, words[0]);
        if (2 * h + 1 < size) store_bits(etype, data, at + inner, words[1]);
      }
}

/* XLA's RandomAlgorithm. */
enum { DEFAULT_ALGORITHM, THREE_FRY, PHILOX };

static hilo_status generate(const hilo_eval *e, hilo_inst i, generator_state *state,
                            hilo_value *out) {
  const hilo_etype etype = hilo_value_etype(e, out);
  const bool has_bits = hilo_etype_is_integer(etype) || hilo_etype_is_float(etype);
  if (!has_bits) return hilo_eval_refuse(e, i, "its result is no array of integers or floats");
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  const uint64_t n = hilo_value_n_elements(e, out);
  const int64_t algorithm = hilo_attrs(e->m, i, rng).algorithm;
  if (algorithm != THREE_FRY)
    philox_fill(state, etype, n, data);
  else if (hilo_etype_table[etype].bits == 64)
    threefry_fill_wide(state, etype, n, data);
  else
    threefry_fill(state, etype, hilo_type_dims(&e->m->types, out->type), data);
  return HILO_OK;
}

/* Gives (state, bits), or the bits alone. */
hilo_status hilo_eval_op_rng_bit_generator(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                           hilo_value *out) {
  const int64_t algorithm = hilo_attrs(e->m, i, rng).algorithm;
  const hilo_etype etype = hilo_value_etype(e, &args[0]);
  const uint64_t bytes = hilo_value_n_elements(e, &args[0]) * hilo_etype_bytes(etype);
  const bool has_words = etype == HILO_U64 || etype == HILO_U32;
  if (!has_words || (bytes != 16 && (bytes != 24 || algorithm == THREE_FRY)))
    return hilo_eval_refuse(e, i,
                            algorithm == THREE_FRY ? "its state is not u64[2]"
                                                   : "its state is neither u64[2] nor u64[3]");
  if (algorithm < DEFAULT_ALGORITHM || algorithm > PHILOX)
    return hilo_eval_refuse(e, i, "its algorithm is not known");
  generator_state state = {.n = (uint32_t)(bytes / 8)};
  memcpy(state.v, args[0].data, bytes);
  if (!hilo_type_is_tuple(&e->m->types, out->type)) return generate(e, i, &state, out);
  const hilo_type bits = hilo_type_element(&e->m->types, out->type, 1);
  hilo_value *elements = hilo_eval_new_tuple(e, i, 2, out);
  if (!elements) return HILO_LIMIT_ERROR;
  elements[0].type = args[0].type;
  elements[1].type = bits;
  char *after = hilo_eval_new_array(e, i, &elements[0]);
  if (!after || generate(e, i, &state, &elements[1])) return HILO_LIMIT_ERROR;
  memcpy(after, state.v, bytes);
  return HILO_OK;
}

hilo_status hilo_eval_op_rng_get_and_update_state(const hilo_eval *e, hilo_inst i,
                                                  const hilo_value *args, hilo_value *out) {
  (void)args;
  if (!e->rng_state) return hilo_eval_refuse(e, i, "nothing keeps the state of the generator");
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  memcpy(data, e->rng_state, 16);
  const uint64_t delta = (uint64_t)hilo_attrs(e->m, i, rng).delta;
  e->rng_state[0] += delta;
  e->rng_state[1] += e->rng_state[0] < delta;
  return HILO_OK;
}

/* ---- rng ---- */

/* Two words of 64 bits for element k of instruction `key`. */
static void draw(uint64_t key, uint64_t k, uint64_t out[2]) {
  uint32_t words[PHILOX_WORDS];
  philox_block(key, k, 0, words);
  out[0] = words[0] | (uint64_t)words[1] << 32;
  out[1] = words[2] | (uint64_t)words[3] << 32;
}

/* In [0, 1). */
static double fraction_of(uint64_t word) { return (double)(word >> 11) * 0x1p-53; }

/* In [low, high), or low where that is empty. */
static double uniform_float(hilo_float_format f, double low, double high, uint64_t word) {
  const double x = low + (high - low) * fraction_of(word);
  const double rounded = hilo_float_to_double(f, hilo_float_from_double(f, x));
  return rounded < high && rounded >= low ? rounded : low;
}

static double normal_float(double mean, double deviation, const uint64_t words[2]) {
  const double radius = sqrt(-2 * log(1 - fraction_of(words[0])));
  return mean + deviation * (radius * cos(6.283185307179586477 * fraction_of(words[1])));
}

static uint64_t uniform_integer(uint64_t low, uint64_t high, bool is_empty, uint64_t word) {
  __extension__ typedef unsigned __int128 wide;
  return is_empty ? low : low + (uint64_t)(((wide)(high - low) * word) >> 64);
}

enum { UNIFORM = 1, NORMAL = 2 }; /* XLA's RandomDistribution */

static void draw_lanes(hilo_etype etype, int64_t distribution, uint64_t key, uint64_t at,
                       uint32_t n, const hilo_lanes *low, const hilo_lanes *high, hilo_lanes *out) {
  const hilo_etype_class class = hilo_etype_class_of(etype);
  const bool is_empty =
      class == HILO_CLASS_SIGNED ? low->s[0] >= high->s[0] : low->u[0] >= high->u[0];
  for (uint32_t k = 0; k < n; k++) {
    uint64_t words[2];
    draw(key, at + k, words);
    if (class == HILO_CLASS_PRED)
      out->u[k] = words[0] >> 63; /* either, whatever the bounds: no half-open range has both */
    else if (class != HILO_CLASS_FLOAT)
      out->u[k] = uniform_integer(low->u[0], high->u[0], is_empty, words[0]);
    else if (distribution == NORMAL)
      out->f[k] = normal_float(low->f[0], high->f[0], words);
    else
      out->f[k] = uniform_float(hilo_etype_float_format(etype), low->f[0], high->f[0], words[0]);
  }
}

hilo_status hilo_eval_op_rng(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                             hilo_value *out) {
  const hilo_etype etype = hilo_value_etype(e, out);
  const int64_t distribution = hilo_attrs(e->m, i, rng).distribution;
  if (hilo_etype_is_complex(etype) || (distribution == NORMAL && !hilo_etype_is_float(etype)))
    return hilo_eval_refuse(e, i, "its distribution is not defined for its element type");
  int64_t sizes[HILO_MAX_RANK]; /* StableHLO gives them as a vector, too */
  const uint32_t rank = hilo_type_dims(&e->m->types, out->type).n;
  if (hilo_inst_n_operands(e->m, i) == 3) {
    if (!hilo_eval_load_vector(e, &args[2], rank, sizes))
      return hilo_eval_refuse(e, i, "its sizes are not as many integers as there are dimensions");
    HILO_TRY(hilo_eval_set_type(e, i, (hilo_dims){sizes, rank}, out));
  }
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  hilo_lanes low, high, x;
  hilo_lanes_load(etype, args[0].data, 0, 1, &low);
  hilo_lanes_load(etype, args[1].data, 0, 1, &high);
  const uint64_t total = hilo_value_n_elements(e, out), key = hilo_eval_draw_key(e, i);
  for (uint64_t at = 0; at < total; at += HILO_LANES) {
    const uint32_t n = total - at < HILO_LANES ? (uint32_t)(total - at) : HILO_LANES;
    draw_lanes(etype, distribution, key, at, n, &low, &high, &x);
    hilo_lanes_store(etype, data, at, n, &x);
  }
  return HILO_OK;
}

/* ---- stochastic-convert ---- */

/* `random` out of 2^bits, compared with `fraction` in [0, 1). */
static bool is_below(uint64_t random, unsigned bits, double fraction) {
  return (double)random < floor(ldexp(fraction, (int)bits));
}

static uint64_t stochastic_integer(double x, uint64_t random, unsigned random_bits,
                                   hilo_etype etype) {
  const bool is_signed = hilo_etype_class_of(etype) == HILO_CLASS_SIGNED;
  const unsigned bits = hilo_etype_table[etype].bits;
  const uint64_t max = hilo_bits_mask(bits) >> is_signed;
  const uint64_t min = is_signed ? ~max : 0;
  if (isnan(x)) return 0;
  if (x >= (double)max) return max;
  if (x <= (is_signed ? -ldexp(1, (int)bits - 1) : 0)) return min;
  const double magnitude = fabs(x), whole = floor(magnitude);
  uint64_t r = (uint64_t)whole;
  if (is_below(random, random_bits, magnitude - whole)) r++;
  return x < 0 ? 0 - r : r;
}

/* The neighbours of x in the format, and which of them. What lies beyond the largest number, and
 * what is not finite, is converted as without random bits. */
static double stochastic_float(double x, uint64_t random, unsigned random_bits,
                               hilo_float_format f) {
  const double nearest = hilo_float_to_double(f, hilo_float_from_double(f, x));
  if (!isfinite(x) || !isfinite(nearest) || nearest == x) return nearest;
  const hilo_float_desc *desc = &hilo_float_descs[f];
  const double magnitude = fabs(x);
  if (desc->specials == HILO_SPECIALS_SCALE) return nearest; /* no zero to go down to */
  uint64_t code = hilo_float_from_double(f, magnitude);
  if (hilo_float_to_double(f, code) > magnitude) code--;
  if (code >= desc->max_code) return nearest;
  const double below = hilo_float_to_double(f, code), above = hilo_float_to_double(f, code + 1);
  const double fraction = (magnitude - below) / (above - below);
  return copysign(is_below(random, random_bits, fraction) ? above : below, x);
}

hilo_status hilo_eval_op_stochastic_convert(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                            hilo_value *out) {
  const hilo_etype from = hilo_value_etype(e, &args[0]), to = hilo_value_etype(e, out);
  const hilo_etype random_type = hilo_value_etype(e, &args[1]);
  if (!hilo_etype_is_float(from) || hilo_etype_class_of(random_type) != HILO_CLASS_UNSIGNED ||
      (!hilo_etype_is_integer(to) && !hilo_etype_is_float(to)))
    return hilo_eval_refuse(e, i,
                            "its element types are not a float, an unsigned integer, and an "
                            "integer or float");
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  const unsigned random_bits = hilo_etype_table[random_type].bits;
  const uint64_t total = hilo_value_n_elements(e, out);
  hilo_lanes x, random;
  for (uint64_t at = 0; at < total; at += HILO_LANES) {
    const uint32_t n = total - at < HILO_LANES ? (uint32_t)(total - at) : HILO_LANES;
    hilo_lanes_load(from, args[0].data, at, n, &x);
    hilo_lanes_load(random_type, args[1].data, at, n, &random);
    for (uint32_t k = 0; k < n; k++) {
      if (hilo_etype_is_float(to))
        x.f[k] = stochastic_float(x.f[k], random.u[k], random_bits, hilo_etype_float_format(to));
      else
        x.u[k] = stochastic_integer(x.f[k], random.u[k], random_bits, to);
    }
    hilo_lanes_store(to, data, at, n, &x);
  }
  return HILO_OK;
}
