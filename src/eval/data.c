/* What makes and moves elements without computing: constants, iota, tuples, and the operations that
 * are one strided copy (broadcast, transpose, reverse, slice). */
#include "eval/kernels.h"

/* `i` is the instruction to blame. */
static bool literal_value(const hilo_eval *e, hilo_inst i, hilo_literal literal, hilo_value *out) {
  const hilo_literal_row *row = hilo_literal_get(e->m, literal);
  *out = (hilo_value){.type = {row->type}};
  if (row->kind == HILO_LITERAL_ELIDED) return false;
  if (row->kind == HILO_LITERAL_DENSE ||
      (row->kind == HILO_LITERAL_SPLAT && hilo_value_n_elements(e, out) == 1)) {
    out->data = row->data;
    return true;
  }
  if (row->kind == HILO_LITERAL_SPLAT) {
    char *data = hilo_eval_new_array(e, i, out);
    const uint64_t n = hilo_value_n_elements(e, out);
    for (uint64_t k = 0; data && k < n; k++) memcpy(data + k * row->bytes, row->data, row->bytes);
    return data != NULL;
  }
  const uint32_t n = hilo_type_n_elements_of_tuple(&e->m->types, out->type);
  hilo_value *elements = hilo_eval_new_tuple(e, i, n, out);
  for (uint32_t k = 0; elements && k < n; k++) {
    hilo_literal element;
    memcpy(&element, row->data + k * sizeof(element), sizeof(element));
    /* As deep as the type is nested: at most HILO_MAX_TYPE_DEPTH. */
    if (!literal_value(e, i, element, &elements[k])) return false;
  }
  return elements != NULL;
}

hilo_status hilo_eval_op_constant(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                  hilo_value *out) {
  (void)args;
  const hilo_type type = out->type;
  if (!literal_value(e, i, hilo_inst_literal(e->m, i), out))
    return hilo_eval_refuse(e, i, "its value was left out, or is too large");
  out->type = type;
  return HILO_OK;
}

hilo_status hilo_eval_op_tuple(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                               hilo_value *out) {
  const uint32_t n = hilo_inst_n_operands(e->m, i);
  hilo_value *elements = hilo_eval_new_tuple(e, i, n, out);
  if (!elements) return HILO_LIMIT_ERROR;
  for (uint32_t k = 0; k < n; k++) elements[k] = hilo_value_share(&args[k]);
  return HILO_OK;
}

hilo_status hilo_eval_op_get_tuple_element(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                           hilo_value *out) {
  *out = hilo_value_share(&args[0].elements[hilo_inst_index(e->m, i)]);
  return HILO_OK;
}

hilo_status hilo_eval_op_copy(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                              hilo_value *out) {
  (void)e, (void)i;
  return hilo_eval_pass_on(&args[0], out);
}

hilo_status hilo_eval_op_reshape(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                 hilo_value *out) {
  if (hilo_type_row_of(&e->m->types, out->type)->flags & HILO_TYPE_DYNAMIC)
    return hilo_eval_refuse(e, i, "its result has dynamic dimensions");
  return hilo_eval_pass_on(&args[0], out);
}

/* ---- iota ---- */

static void fill_iota(hilo_etype etype, uint64_t total, uint64_t size, uint64_t inner, char *data) {
  const hilo_etype_class class = hilo_etype_class_of(etype);
  hilo_lanes x;
  for (uint64_t at = 0; at < total; at += HILO_LANES) {
    const uint32_t n = total - at < HILO_LANES ? (uint32_t)(total - at) : HILO_LANES;
    for (uint32_t k = 0; k < n; k++) {
      const uint64_t index = (at + k) / inner % size;
      if (class == HILO_CLASS_COMPLEX)
        x.c[k] = (double)index;
      else if (class == HILO_CLASS_FLOAT)
        x.f[k] = (double)index;
      else
        x.u[k] = index;
    }
    hilo_lanes_store(etype, data, at, n, &x);
  }
}

hilo_status hilo_eval_op_iota(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                              hilo_value *out) {
  (void)args;
  const hilo_etype etype = hilo_value_etype(e, out);
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  const hilo_dims dims = hilo_type_dims(&e->m->types, out->type);
  const uint32_t along = hilo_inst_index(e->m, i);
  uint64_t inner = 1;
  for (uint32_t d = along + 1; d < dims.n; d++) inner *= (uint64_t)dims.v[d];
  fill_iota(etype, hilo_value_n_elements(e, out), (uint64_t)dims.v[along], inner, data);
  out->data = data;
  return HILO_OK;
}

/* ---- strided copies ---- */

/* Where the elements of a result come from: at `start` for index 0, `stride[d]` elements on for
 * each step in dimension d. */
typedef struct {
  int64_t start;
  int64_t stride[HILO_MAX_RANK];
} source;

#define COPY_RUN(type)                                                                             \
  for (int64_t k = 0; k < n; k++) {                                                                \
    memcpy(to, from, sizeof(type));                                                                \
    to += sizeof(type);                                                                            \
    from += step * (int64_t)sizeof(type);                                                          \
  }

/* n elements, `step` elements apart. */
static void copy_run(char *to, const char *from, int64_t n, int64_t step, uint32_t size) {
  switch (size) {
  case 1: COPY_RUN(uint8_t) break;
  case 2: COPY_RUN(uint16_t) break;
  case 4: COPY_RUN(uint32_t) break;
  case 8: COPY_RUN(uint64_t) break;
  default: COPY_RUN(uint64_t[2]) break;
  }
}

static void copy_strided(hilo_dims dims, uint32_t size, const char *in, const source *s,
                         char *data) {
  const uint32_t outer = dims.n ? dims.n - 1 : 0;
  const int64_t run = dims.n ? dims.v[outer] : 1, step = dims.n ? s->stride[outer] : 0;
  int64_t index[HILO_MAX_RANK] = {0}, at = s->start;
  for (;;) {
    copy_run(data, in + at * size, run, step, size);
    data += run * size;
    uint32_t d = outer;
    while (d > 0) {
      d--;
      at += s->stride[d];
      if (++index[d] < dims.v[d]) break;
      at -= index[d] * s->stride[d];
      index[d] = 0;
      if (d == 0) return;
    }
    if (outer == 0) return;
  }
}

static hilo_status copy_from(const hilo_eval *e, hilo_inst i, const hilo_value *in, const source *s,
                             hilo_value *out) {
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  if (hilo_value_n_elements(e, out))
    copy_strided(hilo_type_dims(&e->m->types, out->type),
                 hilo_etype_bytes(hilo_value_etype(e, out)), in->data, s, data);
  out->data = data;
  return HILO_OK;
}

static void row_major_strides(hilo_dims dims, int64_t *stride) {
  int64_t inner = 1;
  for (uint32_t d = dims.n; d-- > 0;) {
    stride[d] = inner;
    if (dims.v[d] > 0) inner *= dims.v[d];
  }
}

hilo_status hilo_eval_op_broadcast(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                   hilo_value *out) {
  const hilo_dims in = hilo_type_dims(&e->m->types, args[0].type);
  const hilo_dims to = hilo_attrs(e->m, i, dims).dims;
  int64_t stride[HILO_MAX_RANK];
  row_major_strides(in, stride);
  source s = {0};
  for (uint32_t d = 0; d < in.n; d++)
    if (in.v[d] != 1) s.stride[to.v[d]] = stride[d];
  return copy_from(e, i, &args[0], &s, out);
}

hilo_status hilo_eval_op_transpose(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                   hilo_value *out) {
  const hilo_dims permutation = hilo_attrs(e->m, i, dims).dims;
  int64_t stride[HILO_MAX_RANK];
  row_major_strides(hilo_type_dims(&e->m->types, args[0].type), stride);
  source s = {0};
  for (uint32_t d = 0; d < permutation.n; d++) s.stride[d] = stride[permutation.v[d]];
  return copy_from(e, i, &args[0], &s, out);
}

hilo_status hilo_eval_op_reverse(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                 hilo_value *out) {
  const hilo_dims in = hilo_type_dims(&e->m->types, args[0].type);
  const hilo_dims reversed = hilo_attrs(e->m, i, dims).dims;
  source s = {0};
  row_major_strides(in, s.stride);
  for (uint32_t k = 0; k < reversed.n; k++) {
    const int64_t d = reversed.v[k];
    s.start += (in.v[d] - 1) * s.stride[d];
    s.stride[d] = -s.stride[d];
  }
  return copy_from(e, i, &args[0], &s, out);
}

hilo_status hilo_eval_op_slice(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                               hilo_value *out) {
  const hilo_dims in = hilo_type_dims(&e->m->types, args[0].type);
  const hilo_slice_attrs attrs = hilo_attrs(e->m, i, slice);
  source s = {0};
  row_major_strides(in, s.stride);
  for (uint32_t d = 0; d < in.n; d++) {
    s.start += attrs.starts.v[d] * s.stride[d];
    if (attrs.strides.n) s.stride[d] *= attrs.strides.v[d];
  }
  return copy_from(e, i, &args[0], &s, out);
}

/* ---- select ---- */

#define SELECT(type)                                                                               \
  for (uint64_t k = 0; k < n; k++)                                                                 \
    memcpy(data + k * sizeof(type), (pred[k] ? on_true : on_false) + k * sizeof(type),             \
           sizeof(type));

static void select_elements(const char *pred, const char *on_true, const char *on_false, uint64_t n,
                            uint32_t size, char *data) {
  switch (size) {
  case 1: SELECT(uint8_t) break;
  case 2: SELECT(uint16_t) break;
  case 4: SELECT(uint32_t) break;
  case 8: SELECT(uint64_t) break;
  default: SELECT(uint64_t[2]) break;
  }
}

hilo_status hilo_eval_op_select(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                hilo_value *out) {
  const uint64_t n = hilo_value_n_elements(e, out);
  if (hilo_type_dims(&e->m->types, args[0].type).n == 0) {
    return hilo_eval_pass_on(&args[args[0].data[0] ? 1 : 2], out);
  }
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  select_elements(args[0].data, args[1].data, args[2].data, n,
                  hilo_etype_bytes(hilo_value_etype(e, out)), data);
  out->data = data;
  return HILO_OK;
}
