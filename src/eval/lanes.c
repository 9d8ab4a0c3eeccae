#include "eval/lanes.h"

#include "eval/eval_parts.h"
#include "ir/etype_format.h"

#define LOAD(to, type)                                                                             \
  for (uint32_t k = 0; k < n; k++) {                                                               \
    type element;                                                                                  \
    memcpy(&element, data + k * sizeof(type), sizeof(type));                                       \
    to[k] = element;                                                                               \
  }

static void load_signed(const char *data, uint32_t bytes, unsigned bits, uint32_t n, int64_t *to) {
  switch (bytes) {
  case 1: LOAD(to, uint8_t) break;
  case 2: LOAD(to, int16_t) break;
  case 4: LOAD(to, int32_t) break;
  default: LOAD(to, int64_t) break;
  }
  if (bits > 8) return;
  /* What stands above a sub-byte value in its byte does not count. */
  const uint64_t mask = (1ull << bits) - 1, sign = 1ull << ((bits - 1) & 7);
  for (uint32_t k = 0; k < n; k++) to[k] = (int64_t)((((uint64_t)to[k] & mask) ^ sign) - sign);
}

static void load_unsigned(const char *data, uint32_t bytes, unsigned bits, uint32_t n,
                          uint64_t *to) {
  switch (bytes) {
  case 1: LOAD(to, uint8_t) break;
  case 2: LOAD(to, uint16_t) break;
  case 4: LOAD(to, uint32_t) break;
  default: LOAD(to, uint64_t) break;
  }
  if (bits >= 8) return;
  for (uint32_t k = 0; k < n; k++) to[k] &= (1ull << bits) - 1;
}

static void load_complex(hilo_etype etype, const char *from, uint32_t n, _Complex double *to) {
  if (etype == HILO_C128) {
    memcpy(to, from, n * sizeof(*to));
    return;
  }
  for (uint32_t k = 0; k < n; k++) {
    float parts[2];
    memcpy(parts, from + k * sizeof(parts), sizeof(parts));
    const double wide[2] = {(double)parts[0], (double)parts[1]};
    memcpy(&to[k], wide, sizeof(wide));
  }
}

void hilo_lanes_load(hilo_etype etype, const char *data, uint64_t at, uint32_t n, hilo_lanes *out) {
  const uint32_t bytes = hilo_etype_bytes(etype);
  const unsigned bits = hilo_etype_table[etype].bits;
  const char *from = data + at * bytes;
  switch (hilo_etype_class_of(etype)) {
  case HILO_CLASS_SIGNED: load_signed(from, bytes, bits, n, out->s); break;
  case HILO_CLASS_UNSIGNED: load_unsigned(from, bytes, bits, n, out->u); break;
  case HILO_CLASS_PRED:
    for (uint32_t k = 0; k < n; k++) out->u[k] = from[k] != 0;
    break;
  case HILO_CLASS_COMPLEX: load_complex(etype, from, n, out->c); break;
  default: hilo_float_array_to_double(hilo_etype_float_format(etype), from, n, out->f); break;
  }
}

void hilo_lanes_fill(hilo_etype etype, const char *element, uint32_t n, hilo_lanes *out) {
  hilo_lanes_load(etype, element, 0, 1, out);
  if (hilo_etype_is_complex(etype))
    for (uint32_t k = 1; k < n; k++) out->c[k] = out->c[0];
  else
    for (uint32_t k = 1; k < n; k++) out->u[k] = out->u[0];
}

#define STORE(type)                                                                                \
  for (uint32_t k = 0; k < n; k++) {                                                               \
    const type element = (type)from[k];                                                            \
    memcpy(data + k * sizeof(type), &element, sizeof(type));                                       \
  }

static void store_integers(char *data, uint32_t bytes, uint32_t n, const uint64_t *from) {
  switch (bytes) {
  case 1: STORE(uint8_t) break;
  case 2: STORE(uint16_t) break;
  case 4: STORE(uint32_t) break;
  default: STORE(uint64_t) break;
  }
}

/* Sub-byte integers stand one a byte: signed ones sign-extended, unsigned ones masked. */
static void store_sub_byte(char *data, unsigned bits, bool is_signed, uint32_t n,
                           const uint64_t *from) {
  const uint64_t mask = (1ull << bits) - 1, sign = is_signed ? 1ull << ((bits - 1) & 7) : 0;
  for (uint32_t k = 0; k < n; k++) data[k] = (char)(((from[k] & mask) ^ sign) - sign);
}

static void store_complex(hilo_etype etype, char *to, uint32_t n, const _Complex double *from) {
  if (etype == HILO_C128) {
    memcpy(to, from, n * sizeof(*from));
    return;
  }
  for (uint32_t k = 0; k < n; k++) {
    double wide[2];
    memcpy(wide, &from[k], sizeof(wide));
    const float parts[2] = {(float)wide[0], (float)wide[1]};
    memcpy(to + k * sizeof(parts), parts, sizeof(parts));
  }
}

void hilo_lanes_store(hilo_etype etype, char *data, uint64_t at, uint32_t n,
                      const hilo_lanes *lanes) {
  const uint32_t bytes = hilo_etype_bytes(etype);
  const unsigned bits = hilo_etype_table[etype].bits;
  char *to = data + at * bytes;
  const hilo_etype_class class = hilo_etype_class_of(etype);
  switch (class) {
  case HILO_CLASS_SIGNED:
  case HILO_CLASS_UNSIGNED:
    if (bits < 8)
      store_sub_byte(to, bits, class == HILO_CLASS_SIGNED, n, lanes->u);
    else
      store_integers(to, bytes, n, lanes->u);
    break;
  case HILO_CLASS_PRED:
    for (uint32_t k = 0; k < n; k++) to[k] = lanes->u[k] != 0;
    break;
  case HILO_CLASS_COMPLEX: store_complex(etype, to, n, lanes->c); break;
  default: hilo_float_array_from_double(hilo_etype_float_format(etype), lanes->f, n, to); break;
  }
}

void hilo_lanes_round(hilo_etype etype, uint32_t n, hilo_lanes *lanes) {
  const unsigned bits = hilo_etype_table[etype].bits;
  const unsigned width = bits < 64 ? bits : 64; /* complex numbers have more, and need no mask */
  const uint64_t mask = ~0ull >> (64 - width), sign = 1ull << (width - 1);
  switch (hilo_etype_class_of(etype)) {
  case HILO_CLASS_SIGNED:
    if (bits < 64)
      for (uint32_t k = 0; k < n; k++) lanes->u[k] = ((lanes->u[k] & mask) ^ sign) - sign;
    return;
  case HILO_CLASS_UNSIGNED:
    if (bits < 64)
      for (uint32_t k = 0; k < n; k++) lanes->u[k] &= mask;
    return;
  case HILO_CLASS_PRED:
    for (uint32_t k = 0; k < n; k++) lanes->u[k] = lanes->u[k] != 0;
    return;
  default: break;
  }
  if (etype == HILO_F64 || etype == HILO_C128) return;
  if (etype == HILO_F32) {
    for (uint32_t k = 0; k < n; k++) lanes->f[k] = (double)(float)lanes->f[k];
    return;
  }
  hilo_lanes stored;
  hilo_lanes_store(etype, (char *)&stored, 0, n, lanes);
  hilo_lanes_load(etype, (const char *)&stored, 0, n, lanes);
}

void hilo_eval_map(const hilo_eval *e, hilo_kernel kernel, const hilo_value *args, uint32_t n_args,
                   hilo_value *out, char *data) {
  hilo_lanes lanes[3];
  hilo_lanes *const x[3] = {&lanes[0], &lanes[1], &lanes[2]};
  const uint64_t total = hilo_value_n_elements(e, out);
  const unsigned bits = hilo_etype_table[hilo_value_etype(e, &args[0])].bits;
  for (uint64_t at = 0; at < total; at += HILO_LANES) {
    const uint32_t n = total - at < HILO_LANES ? (uint32_t)(total - at) : HILO_LANES;
    for (uint32_t k = 0; k < n_args && k < HILO_COUNT(lanes); k++) {
      const hilo_etype etype = hilo_value_etype(e, &args[k]);
      if (total > 1 && hilo_value_n_elements(e, &args[k]) == 1)
        hilo_lanes_fill(etype, args[k].data, n, x[k]);
      else
        hilo_lanes_load(etype, args[k].data, at, n, x[k]);
    }
    kernel(x, n, bits);
    hilo_lanes_store(hilo_value_etype(e, out), data, at, n, x[0]);
  }
  out->data = data;
}
