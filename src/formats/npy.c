#include "formats/npy.h"

#include "base/file.h"

#include <inttypes.h>

typedef struct {
  hilo_arena *arena;
  hilo_diags *diags;
  const char *path;    /* for messages */
  bool is_file;        /* alone in its file, and may have a side file */
  const char *p, *end; /* the rest of the header */
} reader;

#define MAX_NPY_BYTES ((uint64_t)64 << 30)

static hilo_status bad(const reader *r, const char *fmt, ...) HILO_PRINTF(2, 3);
static hilo_status bad(const reader *r, const char *fmt, ...) {
  hilo_place place = HILO_NOWHERE;
  place.file = hilo_str_of(r->path);
  va_list args;
  va_start(args, fmt);
  const hilo_status status = hilo_diag_vadd(r->diags, HILO_DIAG_EMOD909, &place, fmt, args);
  va_end(args);
  return status;
}

/* ---- types ---- */

static const struct {
  const char *descr; /* without byte order */
  hilo_etype etype;
} numpy_types[] = {
    {"b1", HILO_PRED}, {"i1", HILO_S8},  {"i2", HILO_S16}, {"i4", HILO_S32},   {"i8", HILO_S64},
    {"u1", HILO_U8},   {"u2", HILO_U16}, {"u4", HILO_U32}, {"u8", HILO_U64},   {"f2", HILO_F16},
    {"f4", HILO_F32},  {"f8", HILO_F64}, {"c8", HILO_C64}, {"c16", HILO_C128},
};

static const struct {
  const char *name; /* of the Python package ml_dtypes */
  hilo_etype etype;
} ml_types[] = {
    {"bfloat16", HILO_BF16},
    {"float8_e3m4", HILO_F8E3M4},
    {"float8_e4m3", HILO_F8E4M3},
    {"float8_e4m3b11fnuz", HILO_F8E4M3B11FNUZ},
    {"float8_e4m3fn", HILO_F8E4M3FN},
    {"float8_e4m3fnuz", HILO_F8E4M3FNUZ},
    {"float8_e5m2", HILO_F8E5M2},
    {"float8_e5m2fnuz", HILO_F8E5M2FNUZ},
    {"float8_e8m0fnu", HILO_F8E8M0FNU},
    {"float6_e2m3fn", HILO_F6E2M3FN},
    {"float6_e3m2fn", HILO_F6E3M2FN},
    {"float4_e2m1fn", HILO_F4E2M1FN},
    {"int1", HILO_S1},
    {"int2", HILO_S2},
    {"int4", HILO_S4},
    {"uint1", HILO_U1},
    {"uint2", HILO_U2},
    {"uint4", HILO_U4},
};

/* The one string value of the side file; a small JSON object. */
static hilo_status read_side_file(reader *r, uint64_t size, hilo_etype *out) {
  hilo_sb sb = hilo_sb_make(r->arena);
  hilo_str text;
  hilo_diags own = hilo_diags_make(r->arena);
  hilo_sb_cat(&sb, r->path);
  hilo_sb_cat(&sb, ".meta");
  const bool there = hilo_file_read(r->arena, hilo_sb_cstr(&sb), 1 << 16, &own, &text) == HILO_OK;
  if (!there && size == 2) {
    *out = HILO_BF16;
    return HILO_OK;
  }
  if (!there)
    return bad(r, "its elements are raw (`|V%" PRIu64 "`), and no `%s` says of which type", size,
               hilo_sb_cstr(&sb));
  for (size_t i = 0; i < HILO_COUNT(ml_types); i++) {
    hilo_sb_clear(&sb);
    hilo_sb_printf(&sb, "\"%s\"", ml_types[i].name);
    if (!memmem(text.p, text.n, sb.p, sb.n) || hilo_etype_bytes(ml_types[i].etype) != size)
      continue;
    *out = ml_types[i].etype;
    return HILO_OK;
  }
  return bad(r, "its side file names no type of %" PRIu64 " bytes", size);
}

/* Raw elements of an archive: unsigned integers of their size. */
static hilo_status raw_bits(reader *r, uint64_t size, hilo_etype *out) {
  static const hilo_etype etypes[] = {
      [1] = HILO_U8, [2] = HILO_U16, [4] = HILO_U32, [8] = HILO_U64};
  if (size >= HILO_COUNT(etypes) || etypes[size] == HILO_INVALID)
    return bad(r, "its elements are raw and of %" PRIu64 " bytes; 1, 2, 4 and 8 are known", size);
  *out = etypes[size];
  return HILO_OK;
}

static hilo_status read_descr(reader *r, hilo_str descr, hilo_etype *out, bool *swap) {
  *swap = descr.n && descr.p[0] == '>';
  const hilo_str type = descr.n ? (hilo_str){descr.p + 1, descr.n - 1} : descr;
  uint64_t size;
  for (size_t i = 0; i < HILO_COUNT(numpy_types); i++) {
    if (!hilo_str_is(type, numpy_types[i].descr)) continue;
    *out = numpy_types[i].etype;
    return HILO_OK;
  }
  if (type.n > 1 && type.p[0] == 'V' &&
      hilo_str_parse_u64((hilo_str){type.p + 1, type.n - 1}, &size))
    return r->is_file ? read_side_file(r, size, out) : raw_bits(r, size, out);
  return bad(r, "its element type `%.*s` is not supported", HILO_FMT(descr));
}

/* ---- the header: a Python dictionary ---- */

static void blanks(reader *r) {
  while (r->p < r->end && (*r->p == ' ' || *r->p == '\n')) r->p++;
}

static bool eat(reader *r, char c) {
  blanks(r);
  if (r->p == r->end || *r->p != c) return false;
  r->p++;
  return true;
}

static bool read_string(reader *r, hilo_str *out) {
  blanks(r);
  if (r->p == r->end || (*r->p != '\'' && *r->p != '"')) return false;
  const char quote = *r->p++, *start = r->p;
  while (r->p < r->end && *r->p != quote) r->p++;
  *out = (hilo_str){start, (size_t)(r->p - start)};
  return eat(r, quote);
}

static bool read_bool(reader *r, bool *out) {
  blanks(r);
  const hilo_str rest = {r->p, (size_t)(r->end - r->p)};
  *out = hilo_str_starts(rest, "True");
  if (!*out && !hilo_str_starts(rest, "False")) return false;
  r->p += *out ? 4 : 5;
  return true;
}

/* `(2, 3)`, `(2,)`, `()` */
static bool read_shape(reader *r, hilo_dims *out) {
  int64_t *v = HILO_NEW_ARRAY(r->arena, int64_t, 64);
  uint32_t n = 0;
  if (!eat(r, '(')) return false;
  while (!eat(r, ')')) {
    blanks(r);
    const char *start = r->p;
    while (r->p < r->end && *r->p >= '0' && *r->p <= '9') r->p++;
    if (n == 64 || !hilo_str_parse_i64((hilo_str){start, (size_t)(r->p - start)}, &v[n++]))
      return false;
    eat(r, 'L');
    if (!eat(r, ',') && (r->p == r->end || *r->p != ')')) return false;
  }
  *out = (hilo_dims){v, n};
  return true;
}

typedef struct {
  hilo_str descr;
  bool fortran;
  hilo_dims shape;
} header;

static bool read_header(reader *r, header *out) {
  unsigned seen = 0;
  if (!eat(r, '{')) return false;
  while (!eat(r, '}')) {
    hilo_str key;
    if (!read_string(r, &key) || !eat(r, ':')) return false;
    if (hilo_str_is(key, "descr")) {
      seen |= 1;
      if (!read_string(r, &out->descr)) return false;
    } else if (hilo_str_is(key, "fortran_order")) {
      seen |= 2;
      if (!read_bool(r, &out->fortran)) return false;
    } else if (hilo_str_is(key, "shape")) {
      seen |= 4;
      if (!read_shape(r, &out->shape)) return false;
    } else {
      return false;
    }
    eat(r, ',');
  }
  return seen == 7;
}

/* ---- data ---- */

/* To row-major and little endian, where the file has something else. */
static hilo_str arrange(hilo_arena *arena, const header *h, hilo_etype etype, bool swap,
                        hilo_str data) {
  const uint32_t size = hilo_etype_bytes(etype), rank = h->shape.n;
  const bool reorder = h->fortran && rank > 1;
  if ((!swap || size == 1) && !reorder) return data;
  const uint32_t word = hilo_etype_is_complex(etype) ? size / 2 : size;
  const uint64_t n = data.n / size;
  char *to = hilo_arena_alloc_array(arena, n + 1, size, 8);
  int64_t at[64] = {0};
  uint64_t strides[64], stride = 1, place = 0;
  for (uint32_t d = rank; d-- > 0; stride *= (uint64_t)h->shape.v[d]) strides[d] = stride;
  for (uint64_t i = 0; i < n; i++) {
    char *element = to + (reorder ? place : i) * size;
    for (uint32_t b = 0; b < size; b++)
      element[swap ? b / word * word + (word - 1 - b % word) : b] = data.p[i * size + b];
    for (uint32_t d = 0; d < rank && reorder; d++) {
      place += strides[d];
      if (++at[d] < h->shape.v[d]) break;
      place -= strides[d] * (uint64_t)h->shape.v[d];
      at[d] = 0;
    }
  }
  return (hilo_str){to, data.n};
}

static uint32_t little(const char *p, uint32_t n) {
  uint32_t v = 0;
  for (uint32_t i = 0; i < n; i++) v |= (uint32_t)(uint8_t)p[i] << (8 * i);
  return v;
}

static hilo_status parse(reader *r, hilo_str file, hilo_npy *out) {
  header h = {0};
  bool swap;
  if (file.n < 10 || memcmp(file.p, "\x93NUMPY", 6) != 0)
    return bad(r, "it does not start as an .npy file");
  const uint32_t n_length = file.p[6] == 1 ? 2 : 4;
  if (file.p[6] < 1 || file.p[6] > 3 || file.n < 8 + n_length)
    return bad(r, "its version is %d; 1 to 3 are known", file.p[6]);
  const uint32_t n_header = little(file.p + 8, n_length);
  if (n_header > file.n - 8 - n_length) return bad(r, "it ends within its header");
  r->p = file.p + 8 + n_length;
  r->end = r->p + n_header;
  const hilo_str data = {r->end, file.n - 8 - n_length - n_header};
  if (!read_header(r, &h)) return bad(r, "its header is not the dictionary that numpy writes");
  hilo_etype etype = HILO_INVALID;
  HILO_TRY(read_descr(r, h.descr, &etype, &swap));
  uint64_t bytes = hilo_etype_bytes(etype);
  for (uint32_t i = 0; i < h.shape.n; i++)
    if (!hilo_mul_u64(bytes, (uint64_t)h.shape.v[i], &bytes)) return bad(r, "its shape overflows");
  if (bytes != data.n)
    return bad(r, "its shape needs %" PRIu64 " bytes, but it holds %zu", bytes, data.n);
  *out = (hilo_npy){etype, h.shape, arrange(r->arena, &h, etype, swap, data)};
  return HILO_OK;
}

hilo_status hilo_npy_read(hilo_arena *arena, const char *path, hilo_diags *diags, hilo_npy *out) {
  reader r = {.arena = arena, .diags = diags, .path = path, .is_file = true};
  hilo_str file;
  HILO_TRY(hilo_file_read(arena, path, MAX_NPY_BYTES, diags, &file));
  return parse(&r, file, out);
}

hilo_status hilo_npy_parse(hilo_arena *arena, hilo_str bytes, const char *name, hilo_diags *diags,
                           hilo_npy *out) {
  reader r = {.arena = arena, .diags = diags, .path = name};
  return parse(&r, bytes, out);
}

/* ---- writing ---- */

static const char *numpy_name(hilo_etype etype) {
  for (size_t i = 0; i < HILO_COUNT(numpy_types); i++)
    if (numpy_types[i].etype == etype) return numpy_types[i].descr;
  return hilo_etype_bytes(etype) == 1 ? "u1" : "u2"; /* raw bits */
}

void hilo_npy_put_head(hilo_etype etype, hilo_dims shape, hilo_sb *out) {
  const size_t start = out->n;
  const char *name = numpy_name(etype);
  hilo_sb_bytes(out, "\x93NUMPY\x01\0..", 10);
  hilo_sb_printf(out, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                 hilo_etype_bytes(etype) == 1 ? '|' : '<', name);
  for (uint32_t d = 0; d < shape.n; d++)
    hilo_sb_printf(out, "%s%" PRId64, d ? ", " : "", shape.v[d]);
  hilo_sb_cat(out, shape.n == 1 ? ",), }" : "), }");
  while ((out->n - start + 1) % 64) hilo_sb_char(out, ' ');
  hilo_sb_char(out, '\n');
  const size_t n = out->n - start - 10;
  out->p[start + 8] = (char)(n & 255);
  out->p[start + 9] = (char)(n >> 8);
}
