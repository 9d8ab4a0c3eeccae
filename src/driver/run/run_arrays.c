/* Arrays between files and the evaluator. Linear in the bytes; where the file's form is ours, an
 * array is not copied. */
#include "driver/run/run_arrays.h"

#include <inttypes.h>

/* ---- leaves ---- */

typedef hilo_vec(hilo_leaf) leaf_list;

/* As deep as the type is nested: at most HILO_MAX_TYPE_DEPTH. */
static void add_leaves(const hilo_store *types, hilo_arena *arena, const hilo_leaf *at,
                       leaf_list *out) {
  if (!hilo_type_is_tuple(types, at->type)) {
    HILO_PUSH(arena, out, *at);
    return;
  }
  const uint32_t n = hilo_type_n_elements_of_tuple(types, at->type);
  for (uint32_t k = 0; k < n; k++) {
    int64_t *path = HILO_NEW_ARRAY(arena, int64_t, at->path.n + 1);
    if (at->path.n) memcpy(path, at->path.v, at->path.n * sizeof(*path));
    path[at->path.n] = k;
    const hilo_leaf element = {
        at->param, hilo_type_element(types, at->type, k), {path, at->path.n + 1}};
    add_leaves(types, arena, &element, out);
  }
}

hilo_leaves hilo_leaves_of_params(const hilo_module *m, hilo_comp c, hilo_arena *arena) {
  leaf_list list = {0};
  for (uint32_t p = 0; p < hilo_comp_n_params(m, c); p++) {
    const hilo_leaf top = {p, hilo_inst_type(m, hilo_comp_param(m, c, p)), HILO_DIMS_NONE};
    add_leaves(&m->types, arena, &top, &list);
  }
  return (hilo_leaves){list.v, list.n};
}

uint32_t hilo_leaf_number(const hilo_module *m, const hilo_leaves *leaves, uint32_t k) {
  uint32_t number = 0;
  for (uint32_t i = 0; i < k; i++) number += hilo_type_is_array(&m->types, leaves->v[i].type);
  return number;
}

/* ---- from files ---- */

static hilo_status misfit(hilo_diags *diags, const char *fmt, ...) HILO_PRINTF(2, 3);
static hilo_status misfit(hilo_diags *diags, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  const hilo_status status = hilo_diag_vadd(diags, HILO_DIAG_EMOD931, NULL, fmt, args);
  va_end(args);
  return status;
}

static void print_dims(hilo_dims dims, hilo_sb *out) {
  hilo_sb_char(out, '[');
  for (uint32_t d = 0; d < dims.n; d++) hilo_sb_printf(out, "%s%" PRId64, d ? "," : "", dims.v[d]);
  hilo_sb_char(out, ']');
}

/* Is `seen` the shape of one slice? Dynamic dimensions of the type may be smaller. */
static bool fits(const hilo_type_info *type, hilo_dims seen) {
  if (seen.n != type->dims.n) return false;
  for (uint32_t d = 0; d < seen.n; d++) {
    if (seen.v[d] == type->dims.v[d]) continue;
    if (!type->dynamic || !hilo_bitset_get(type->dynamic, d)) return false;
    if (type->dims.v[d] != HILO_UNBOUNDED && seen.v[d] > type->dims.v[d]) return false;
  }
  return true;
}

static hilo_status shape_error(hilo_arena *arena, const hilo_type_info *type, const hilo_npy *npy,
                               uint32_t n_ranks, const char *what, hilo_diags *diags) {
  hilo_sb seen = hilo_sb_make(arena), wanted = hilo_sb_make(arena);
  int64_t *dims = HILO_NEW_ARRAY(arena, int64_t, type->dims.n + 1);
  dims[0] = n_ranks;
  if (type->dims.n) memcpy(dims + 1, type->dims.v, type->dims.n * sizeof(*dims));
  print_dims(npy->shape, &seen);
  if (n_ranks > 1)
    print_dims((hilo_dims){dims, type->dims.n + 1}, &wanted);
  else
    print_dims(type->dims, &wanted);
  return misfit(diags, "%s has the shape %s, expected %s%s", what, hilo_sb_cstr(&seen),
                hilo_sb_cstr(&wanted), n_ranks > 1 ? " (the first axis is the rank)" : "");
}

/* Sub-byte elements of a file have their value in the low bits, whatever stands above. */
static const char *normalised(hilo_arena *arena, hilo_etype etype, const char *data, uint64_t n) {
  const unsigned bits = hilo_etype_table[etype].bits;
  if (bits >= 8) return data;
  const uint32_t mask = (1u << bits) - 1;
  const uint32_t sign = hilo_etype_class_of(etype) == HILO_CLASS_SIGNED ? 1u << (bits - 1) : 0;
  char *copy = hilo_arena_alloc(arena, n + 1, 64);
  for (uint64_t k = 0; k < n; k++) copy[k] = (char)((((uint8_t)data[k] & mask) ^ sign) - sign);
  return copy;
}

static bool is_whole(hilo_etype etype) {
  return hilo_etype_is_integer(etype) || etype == HILO_PRED;
}

/* Whole numbers by value; NULL if one does not survive. */
static const char *convert_whole(hilo_arena *arena, hilo_etype from, hilo_etype to,
                                 const char *data, uint64_t n) {
  char *out = hilo_arena_alloc_array(arena, n + 1, hilo_etype_bytes(to), 64);
  char *back = hilo_arena_alloc_array(arena, n + 1, hilo_etype_bytes(from), 64);
  hilo_eval_convert_elements(from, to, data, n, out);
  hilo_eval_convert_elements(to, from, out, n, back);
  return memcmp(back, data, n * hilo_etype_bytes(from)) == 0 ? out : NULL;
}

/* The elements as `to`, NULL if they cannot be that. */
static const char *elements_as(hilo_arena *arena, hilo_etype to, const hilo_npy *npy, uint64_t n) {
  const bool is_raw =
      hilo_etype_class_of(npy->etype) == HILO_CLASS_UNSIGNED || npy->etype == HILO_S8;
  const char *data = npy->data.p;
  if (npy->etype == to) return data;
  if (to == HILO_PRED && (npy->etype == HILO_U8 || npy->etype == HILO_S8)) {
    char *out = hilo_arena_alloc(arena, n + 1, 64);
    for (uint64_t k = 0; k < n; k++) out[k] = data[k] != 0;
    return out;
  }
  if (is_raw && hilo_etype_bytes(npy->etype) == hilo_etype_bytes(to) &&
      (hilo_etype_is_float(to) || hilo_etype_table[to].bits < 8))
    return normalised(arena, to, data, n);
  if (is_whole(to) && is_whole(npy->etype)) return convert_whole(arena, npy->etype, to, data, n);
  return NULL;
}

static const char *const *slices_of(hilo_arena *arena, const char *data, uint64_t bytes,
                                    uint32_t n_ranks) {
  const char **slices = HILO_NEW_ARRAY(arena, const char *, n_ranks);
  for (uint32_t r = 0; r < n_ranks; r++) slices[r] = data + r * bytes;
  return slices;
}

hilo_status hilo_array_from_npy(hilo_arena *arena, const hilo_store *types, hilo_type type,
                                const hilo_npy *npy, uint32_t n_ranks, const char *what,
                                hilo_diags *diags, hilo_array *out) {
  const hilo_type_info info = hilo_type_get(types, type);
  hilo_dims dims = npy->shape;
  const bool has_axis = n_ranks > 1;
  if (has_axis && dims.n) dims = (hilo_dims){dims.v + 1, dims.n - 1};
  if ((has_axis && (!npy->shape.n || npy->shape.v[0] != n_ranks)) || !fits(&info, dims))
    return shape_error(arena, &info, npy, n_ranks, what, diags);
  const uint64_t total = npy->data.n / hilo_etype_bytes(npy->etype);
  const char *data = elements_as(arena, info.etype, npy, total);
  if (!data)
    return misfit(diags, "%s holds %s, expected %s", what, hilo_etype_table[npy->etype].hlo,
                  hilo_etype_table[info.etype].hlo);
  *out = (hilo_array){.etype = info.etype, .dims = dims, .n = total / n_ranks};
  out->slices = slices_of(arena, data, out->n * hilo_etype_bytes(info.etype), n_ranks);
  return HILO_OK;
}

bool hilo_array_convert(hilo_arena *arena, const hilo_store *types, const hilo_array *array,
                        hilo_type type, uint32_t n_ranks, hilo_array *out) {
  const hilo_type_info info = hilo_type_get(types, type);
  *out = *array;
  if (info.etype == array->etype) return info.etype == HILO_TOKEN || fits(&info, array->dims);
  if (array->etype == HILO_TOKEN) { /* a pass made an array of it: its value is nobody's */
    if (!hilo_etype_is_array(info.etype) || info.n_elements > UINT32_MAX) return false;
    char *zero =
        hilo_arena_alloc_array(arena, info.n_elements + 1, hilo_etype_bytes(info.etype), 64);
    memset(zero, 0, info.n_elements * hilo_etype_bytes(info.etype));
    *out = (hilo_array){info.etype, info.dims, info.n_elements, slices_of(arena, zero, 0, n_ranks)};
    return true;
  }
  if (!is_whole(info.etype) || !is_whole(array->etype) || !fits(&info, array->dims)) return false;
  const char **slices = HILO_NEW_ARRAY(arena, const char *, n_ranks);
  for (uint32_t r = 0; r < n_ranks; r++) {
    slices[r] = convert_whole(arena, array->etype, info.etype, array->slices[r], array->n);
    if (!slices[r]) return false;
  }
  out->etype = info.etype;
  out->slices = slices;
  return true;
}

/* ---- to values ---- */

typedef struct {
  hilo_module *m;
  const hilo_arrays *inputs;
  uint32_t rank;
  hilo_arena *arena;
  uint32_t next; /* leaf */
} builder;

/* As deep as the type is nested: at most HILO_MAX_TYPE_DEPTH. */
static hilo_value build_value(builder *b, hilo_type type) {
  hilo_store *types = &b->m->types;
  hilo_value value = {.type = type};
  if (!hilo_type_is_tuple(types, type)) {
    const hilo_array *array = &b->inputs->v[b->next++];
    if (array->etype == HILO_TOKEN) return value;
    value.data = array->slices[b->rank];
    if (hilo_type_row_of(types, type)->flags & HILO_TYPE_DYNAMIC)
      value.type = hilo_type_array_quant(types, array->etype, array->dims, NULL, HILO_RECORD_NONE,
                                         hilo_type_quant(types, type));
    return value;
  }
  const uint32_t n = hilo_type_n_elements_of_tuple(types, type);
  hilo_value *elements = HILO_NEW_ARRAY(b->arena, hilo_value, n + 1);
  for (uint32_t k = 0; k < n; k++) elements[k] = build_value(b, hilo_type_element(types, type, k));
  value.elements = elements;
  return value;
}

hilo_value *hilo_arrays_to_params(hilo_module *m, hilo_comp c, const hilo_leaves *leaves,
                                  const hilo_arrays *inputs, uint32_t rank, hilo_arena *arena) {
  HILO_CHECK(leaves->n == inputs->n);
  const uint32_t n = hilo_comp_n_params(m, c);
  hilo_value *params = HILO_NEW_ARRAY(arena, hilo_value, n + 1);
  builder b = {m, inputs, rank, arena, 0};
  for (uint32_t p = 0; p < n; p++)
    params[p] = build_value(&b, hilo_inst_type(m, hilo_comp_param(m, c, p)));
  return params;
}

/* ---- results ---- */

typedef hilo_vec(const hilo_value *) value_list;

static void flatten(const hilo_store *types, hilo_arena *arena, const hilo_value *value,
                    value_list *out) {
  if (!hilo_type_is_tuple(types, value->type)) {
    HILO_PUSH(arena, out, value);
    return;
  }
  const uint32_t n = hilo_type_n_elements_of_tuple(types, value->type);
  for (uint32_t k = 0; k < n; k++) flatten(types, arena, &value->elements[k], out);
}

static hilo_array array_of(const hilo_store *types, const hilo_value *value, uint32_t n_ranks,
                           hilo_arena *arena) {
  const hilo_type_info info = hilo_type_get(types, value->type);
  hilo_array array = {.etype = info.etype};
  if (!hilo_etype_is_array(info.etype)) {
    array.etype = HILO_TOKEN;
    return array;
  }
  array.dims = info.dims;
  array.n = info.n_elements;
  array.slices = HILO_NEW_ARRAY(arena, const char *, n_ranks);
  return array;
}

hilo_status hilo_arrays_of_results(const hilo_module *m, const hilo_value *results,
                                   uint32_t n_ranks, hilo_arena *arena, hilo_diags *diags,
                                   hilo_arrays *out) {
  const hilo_store *types = &m->types;
  *out = (hilo_arrays){.n_ranks = n_ranks};
  for (uint32_t r = 0; r < n_ranks; r++) {
    value_list list = {0};
    flatten(types, arena, &results[r], &list);
    if (r == 0) {
      out->n = list.n;
      out->v = HILO_NEW_ARRAY(arena, hilo_array, list.n + 1);
      for (uint32_t k = 0; k < list.n; k++) out->v[k] = array_of(types, list.v[k], n_ranks, arena);
    }
    for (uint32_t k = 0; k < out->n; k++) {
      if (out->v[k].etype == HILO_TOKEN) continue;
      if (!hilo_dims_eq(hilo_type_dims(types, list.v[k]->type), out->v[k].dims))
        return misfit(diags, "result %u has another shape on rank %u than on rank 0", k, r);
      ((const char **)(uintptr_t)out->v[k].slices)[r] = list.v[k]->data;
    }
  }
  return HILO_OK;
}

hilo_array hilo_array_of_value(const hilo_module *m, const hilo_value *value, const char **slice) {
  const hilo_type_info info = hilo_type_get(&m->types, value->type);
  if (!hilo_etype_is_array(info.etype)) return (hilo_array){.etype = HILO_TOKEN};
  *slice = value->data;
  return (hilo_array){info.etype, info.dims, info.n_elements, slice};
}

/* Sub-byte elements go to files without sign extension. */
static hilo_str part_of(hilo_arena *scratch, const hilo_array *array, uint32_t rank) {
  const uint64_t bytes = array->n * hilo_etype_bytes(array->etype);
  const unsigned bits = hilo_etype_table[array->etype].bits;
  if (bits >= 8) return (hilo_str){array->slices[rank], bytes};
  char *copy = hilo_arena_alloc(scratch, bytes + 1, 1);
  for (uint64_t k = 0; k < bytes; k++)
    copy[k] = (char)((uint8_t)array->slices[rank][k] & ((1u << bits) - 1));
  return (hilo_str){copy, bytes};
}

hilo_status hilo_arrays_write(hilo_arena *scratch, const hilo_arrays *arrays, const char *path,
                              hilo_diags *diags) {
  hilo_npz_array *list = HILO_NEW_ZEROED(scratch, hilo_npz_array, arrays->n + 1);
  const uint32_t n_ranks = arrays->n_ranks;
  uint32_t n = 0;
  for (uint32_t k = 0; k < arrays->n; k++) {
    const hilo_array *array = &arrays->v[k];
    if (array->etype == HILO_TOKEN) continue;
    hilo_sb name = hilo_sb_make(scratch);
    hilo_sb_printf(&name, "out%u", n);
    int64_t *dims = HILO_NEW_ARRAY(scratch, int64_t, array->dims.n + 1);
    const uint32_t axis = n_ranks > 1;
    dims[0] = n_ranks;
    if (array->dims.n) memcpy(dims + axis, array->dims.v, array->dims.n * sizeof(*dims));
    hilo_str *parts = HILO_NEW_ARRAY(scratch, hilo_str, n_ranks);
    for (uint32_t r = 0; r < n_ranks; r++) parts[r] = part_of(scratch, array, r);
    list[n++] = (hilo_npz_array){
        hilo_sb_view(&name), array->etype, {dims, array->dims.n + axis}, parts, n_ranks};
  }
  return hilo_npz_write(scratch, path, list, n, diags);
}
