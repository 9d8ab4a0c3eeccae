/* Resources: the blobs that `dense_resource<name>` names, in the section between {-# and #-} at the
 * end of the file:
 *
 *   {-# dialect_resources: { builtin: { name: "0x04000000000080BF" } } #-}
 *
 * The first four bytes of a blob are its alignment, little endian; a power of two. The section is
 * looked through once, when the first resource is asked for. */
#include "formats/mlir/mlir_impl.h"

static bool expected(mlir_reader *r, const char *what) { return hilo_mlir_expected(r, what); }

/* `key:` in a list. */
static bool key(mlir_reader *r, hilo_str *out) {
  mlir_skip(r);
  if (*r->p == '"') {
    if (!hilo_mlir_string(r, out, "the name of a resource")) return false;
  } else {
    *out = mlir_suffix_at(r->p);
    if (!out->n) return expected(r, "the name of a resource");
    r->p += out->n;
  }
  return mlir_want(r, ':', "behind the name of a resource");
}

/* `{ dialect: { name: "blob", … }, … }` */
static bool dialects(mlir_reader *r) {
  if (!mlir_want(r, '{', "to start resources")) return false;
  while (!mlir_eat(r, '}')) {
    hilo_str dialect;
    if (!key(r, &dialect) || !mlir_want(r, '{', "to start resources")) return false;
    while (!mlir_eat(r, '}')) {
      mlir_blob blob;
      if (!key(r, &blob.name)) return false;
      mlir_skip(r);
      blob.at = mlir_offset(r, r->p);
      if (!hilo_mlir_skip_value(r)) return false;
      HILO_PUSH(&r->scratch->arena, &r->blobs, blob);
      if (!mlir_eat(r, ',') && *r->p != '}') return expected(r, "`,` or `}` behind a resource");
    }
    if (!mlir_eat(r, ',') && *r->p != '}') return expected(r, "`,` or `}` behind resources");
  }
  return true;
}

static bool read_section(mlir_reader *r) {
  r->p = r->resources;
  r->end = r->full_end;
  for (;;) {
    mlir_skip(r);
    if (r->p[0] == '#' && r->p[1] == '-' && r->p[2] == '}') return true;
    hilo_str section;
    if (!key(r, &section)) return false;
    mlir_skip(r);
    if (!(hilo_str_is(section, "dialect_resources") ? dialects(r) : hilo_mlir_skip_value(r)))
      return false;
    if (!mlir_eat(r, ',') && *r->p != '#') return expected(r, "`,` or `#-}` behind resources");
  }
}

static const mlir_blob *find(const mlir_reader *r, hilo_str name) {
  for (uint32_t i = 0; i < r->blobs.n; i++)
    if (hilo_str_eq(r->blobs.v[i].name, name)) return &r->blobs.v[i];
  return NULL;
}

static const char *closing_quote(const mlir_reader *r, const char *p) {
  const char *q = memchr(p + 1, '"', (size_t)(r->full_end - p - 1));
  return q ? q + 1 : NULL;
}

static bool hex_byte(const char *p, unsigned *out) {
  const int high = hilo_mlir_hex_digit(p[0]), low = high < 0 ? -1 : hilo_mlir_hex_digit(p[1]);
  if (HILO_UNLIKELY(low < 0)) return false;
  *out = (unsigned)(high << 4 | low);
  return true;
}

bool hilo_mlir_resource(mlir_reader *r, hilo_str name, const char *at, const char **data,
                        uint64_t *bytes) {
  const char *here = r->p;
  if (r->resources && !r->read_resources) {
    const char *end = r->end;
    r->read_resources = true;
    if (!read_section(r)) return false;
    r->p = here;
    r->end = end;
  }
  const mlir_blob *blob = find(r, name);
  if (!blob)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD913, at, "there is no resource `%.*s` in the file",
                          (int)(name.n > 100 ? 100 : name.n), name.p);
  const char *p = r->text + blob->at, *close = *p == '"' ? closing_quote(r, p) : NULL;
  if (!close || close - p < 4 + 8 || p[1] != '0' || p[2] != 'x' || (close - p) % 2)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD913, p,
                          "the resource `%.*s` is no blob: expected \"0x\", eight digits of its "
                          "alignment and two digits a byte",
                          (int)(name.n > 100 ? 100 : name.n), name.p);
  uint32_t alignment = 0;
  unsigned byte;
  p += 3;
  for (unsigned k = 0; k < 4; k++, p += 2) {
    if (!hex_byte(p, &byte))
      return hilo_mlir_fail(r, HILO_DIAG_EMOD913, p, "expected two hexadecimal digits");
    alignment |= byte << 8 * k;
  }
  if (!alignment || alignment & (alignment - 1))
    return hilo_mlir_fail(r, HILO_DIAG_EMOD913, p - 8,
                          "the alignment of the resource `%.*s` is %u, expected a power of two",
                          (int)(name.n > 100 ? 100 : name.n), name.p, alignment);
  *bytes = (uint64_t)(close - 1 - p) / 2;
  char *to = hilo_arena_alloc(r->arena, *bytes + 1, 8);
  for (uint64_t i = 0; i < *bytes; i++, p += 2) {
    if (HILO_UNLIKELY(!hex_byte(p, &byte)))
      return hilo_mlir_fail(r, HILO_DIAG_EMOD913, p, "expected two hexadecimal digits");
    to[i] = (char)byte;
  }
  *data = to;
  return true;
}
