/* Quantised element types: `!quant.uniform<i8<-127:127>:f32:1, {0.5:3, 0.25}>`. */
#include "formats/mlir/mlir_impl.h"

#include "num/float_text.h"

static bool storage(mlir_reader *r, hilo_quant_attrs *q) {
  mlir_skip(r);
  hilo_str word = mlir_ident_at(r->p);
  hilo_etype etype = HILO_INVALID;
  if (word.n > 1 && word.p[0] == 'u') {
    char name[8] = "u";
    if (word.n < sizeof(name) - 1) {
      memcpy(name + 1, "i", 1);
      memcpy(name + 2, word.p + 1, word.n - 1);
      const int at = mlir_word_find(&r->etype_words, name, word.n + 1);
      if (at > 0) etype = (hilo_etype)at;
    }
    if (etype != HILO_INVALID) r->p += word.n;
  } else {
    etype = hilo_mlir_etype(r);
  }
  if (etype == HILO_INVALID || hilo_etype_is_complex(etype) || etype == HILO_PRED)
    return hilo_mlir_expected(r, "the storage type of quantised elements, as `i8` or `u8`");
  q->storage = etype;
  if (!mlir_eat(r, '<')) return true;
  q->has_range = true;
  return mlir_int(r, &q->min, "the least stored value") &&
         mlir_want(r, ':', "between the least and the largest stored value") &&
         mlir_int(r, &q->max, "the largest stored value") &&
         mlir_want(r, '>', "behind the range of stored values");
}

/* `scale` or `scale:zero_point`. */
static bool scale(mlir_reader *r) {
  uint64_t bits = 0;
  size_t used = 0;
  mlir_skip(r);
  const hilo_str rest = {r->p, (size_t)(r->end - r->p) < 400 ? (size_t)(r->end - r->p) : 400};
  const hilo_num_status status = hilo_float_scan(rest, HILO_FLOAT_F64, &bits, &used);
  if (!used || status != HILO_NUM_OK) return hilo_mlir_expected(r, "a scale, as `0.5`");
  if (!(hilo_float_double_of_bits(bits) > 0))
    return hilo_mlir_fail(r, HILO_DIAG_EMOD904, r->p, "a scale must be positive");
  r->p += used;
  int64_t zero_point = 0;
  if (mlir_eat(r, ':') && !mlir_int(r, &zero_point, "a zero point")) return false;
  MLIR_PUSH_INT(r, (int64_t)bits);
  MLIR_PUSH_INT(r, zero_point);
  return true;
}

/* `{0:1, 1:2}` or `1`: axes with sizes of blocks, or one axis. */
static bool axes(mlir_reader *r, int64_t *axis, int64_t *size, uint32_t *n, bool *blocks) {
  *n = 0;
  *blocks = mlir_eat(r, '{');
  if (!*blocks) {
    *n = 1;
    return mlir_int(r, &axis[0], "the quantised axis");
  }
  while (!mlir_eat(r, '}')) {
    if (*n == HILO_MAX_RANK) return hilo_mlir_expected(r, "fewer axes");
    if (*n && !mlir_want(r, ',', "or `}` in the list of axes")) return false;
    if (!mlir_int(r, &axis[*n], "a quantised axis") ||
        !mlir_want(r, ':', "between an axis and its block size") ||
        !mlir_int(r, &size[*n], "a block size"))
      return false;
    ++*n;
  }
  return true;
}

/* One scale, or braces around scales, nested as the blocks are. */
static bool scales(mlir_reader *r) {
  uint32_t depth = 0;
  bool want_value = true;
  for (;;) {
    mlir_skip(r);
    if (want_value && *r->p == '{') {
      if (++depth > HILO_MAX_RANK) return hilo_mlir_expected(r, "fewer braces around scales");
      r->p++;
    } else if (want_value) {
      if (!scale(r)) return false;
      want_value = false;
    } else if (depth && *r->p == '}') {
      depth--;
      r->p++;
    } else if (depth && *r->p == ',') {
      want_value = true;
      r->p++;
    } else if (depth) {
      return hilo_mlir_expected(r, "`,` or `}` in the list of scales");
    }
    if (!want_value && !depth) return true;
  }
}

bool hilo_mlir_quant(mlir_reader *r, bool any, hilo_record *out) {
  hilo_quant_attrs q = {.any = any};
  int64_t axis[HILO_MAX_RANK], size[HILO_MAX_RANK];
  uint32_t n_axes = 0;
  bool blocks = false;
  const uint32_t first = r->ints.n;
  if (!storage(r, &q)) return false;
  if (mlir_eat(r, ':')) {
    q.expressed = hilo_mlir_etype(r);
    if (!hilo_etype_is_float((hilo_etype)q.expressed))
      return hilo_mlir_expected(r, "the float type that quantised elements stand for");
    if (mlir_eat(r, ':') && !axes(r, axis, size, &n_axes, &blocks)) return false;
  } else if (!any) {
    return hilo_mlir_want_slow(r, ':', "and the type that quantised elements stand for");
  }
  if (!any && (!mlir_want(r, ',', "before the scales") || !scales(r))) return false;
  if (!mlir_want(r, '>', "at the end of a quantised type")) return false;
  /* scales and zero points alternate: take them apart */
  const uint32_t n = (r->ints.n - first) / 2;
  HILO_RESERVE(&r->scratch->arena, &r->ints, 2 * n + 1);
  int64_t *const apart = r->ints.v + r->ints.n;
  bool any_zero_point = false;
  for (uint32_t i = 0; i < n; i++) {
    apart[i] = r->ints.v[first + 2 * i];
    apart[n + i] = r->ints.v[first + 2 * i + 1];
    any_zero_point |= apart[n + i] != 0;
  }
  q.scales = (hilo_dims){apart, n};
  if (any_zero_point) q.zero_points = (hilo_dims){apart + n, n};
  q.axes = (hilo_dims){axis, n_axes};
  if (blocks) q.block_sizes = (hilo_dims){size, n_axes};
  *out = hilo_quant_put(&r->m->records, &q);
  r->ints.n = first;
  return true;
}
