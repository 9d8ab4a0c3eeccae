/* Collectives that move values between ranks: broadcast, permute, ragged exchange. */
#include "eval/eval_parts.h"
#include "eval/lanes.h"
#include "eval/machine/machine_parts.h"
#include "eval/ranks/collective.h"

hilo_status hilo_collective_alone(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                  hilo_value *out) {
  const hilo_op op = hilo_inst_op(e->m, i);
  hilo_type type = hilo_inst_type(e->m, i);
  const bool in_place =
      hilo_inst_n_operands(e->m, i) == 4 && hilo_type_is_tuple(&e->m->types, args[2].type);
  switch (op) {
  case HILO_OP_COLLECTIVE_PERMUTE_START:
    type = hilo_type_element(&e->m->types, type, 1);
    __attribute__((fallthrough));
  case HILO_OP_COLLECTIVE_PERMUTE:
    if (!in_place) return hilo_zero_value(e, i, type, out);
    *out = hilo_value_share(&args[1]);
    return HILO_OK;
  case HILO_OP_COLLECTIVE_BROADCAST:
  case HILO_OP_COLLECTIVE_REDUCE: return hilo_zero_value(e, i, type, out);
  default: break;
  }
  if (!e->diags) return HILO_INPUT_ERROR;
  return hilo_inst_error(e->m, e->diags, HILO_DIAG_EMOD915, i,
                         "its replica groups leave out rank %u, which comes to it", e->rank);
}

/* ---- roots ---- */

static bool has_roots(const hilo_eval *e, hilo_inst i) {
  return hilo_inst_attr(e->m, i).ix && hilo_attrs(e->m, i, collective).has_dynamic_root;
}

uint32_t hilo_collective_n_rooted(const hilo_eval *e, hilo_inst i) {
  return hilo_inst_n_operands(e->m, i) - has_roots(e, i);
}

hilo_status hilo_collective_root(const hilo_eval *e, const hilo_participants *all, uint32_t k,
                                 uint32_t *root) {
  const hilo_inst i = all->insts[0];
  *root = 0;
  if (!has_roots(e, i)) return HILO_OK;
  const hilo_value *roots = &all->args[0][hilo_inst_n_operands(e->m, i) - 1];
  const hilo_etype etype = hilo_value_etype(e, roots);
  int64_t place = -1;
  if (k < hilo_value_n_elements(e, roots))
    hilo_eval_convert_elements(etype, HILO_S64, roots->data + k * hilo_etype_bytes(etype), 1,
                               (char *)&place);
  if (place >= 0 && place < all->n) {
    *root = (uint32_t)place;
    return HILO_OK;
  }
  if (!e->diags) return HILO_INPUT_ERROR;
  return hilo_inst_error(e->m, e->diags, HILO_DIAG_EMOD915, i,
                         "root %lld of operand %u is none of the %u ranks of the group",
                         (long long)place, k, all->n);
}

/* Everybody has what the root has. */
hilo_status hilo_collective_broadcast(const hilo_eval *e, const hilo_participants *all,
                                      hilo_value *results) {
  const uint32_t n = hilo_collective_n_rooted(e, all->insts[0]);
  hilo_value *parts = HILO_NEW_ARRAY(e->scratch, hilo_value, n + 1);
  uint32_t *roots = HILO_NEW_ARRAY(e->scratch, uint32_t, n + 1);
  for (uint32_t k = 0; k < n; k++) HILO_TRY(hilo_collective_root(e, all, k, &roots[k]));
  for (uint32_t p = 0; p < all->n; p++) {
    for (uint32_t k = 0; k < n; k++) parts[k] = hilo_value_share(&all->args[roots[k]][k]);
    HILO_TRY(hilo_collective_join(e, all->insts[p], parts, n, &results[p]));
  }
  return HILO_OK;
}

/* ---- permute ---- */

/* The n-th source of a target, or the last one; UINT32_MAX: it has none. */
static uint32_t source_of(const hilo_rank_pairs *pairs, uint32_t target, uint32_t n) {
  uint32_t source = UINT32_MAX, count = 0;
  for (uint32_t j = 0; j < pairs->n && count <= n; j++)
    if (pairs->v[j][1] == target) {
      source = pairs->v[j][0];
      count++;
    }
  return source;
}

/* A slice of an array that is sent, or the place where it goes. */
typedef struct {
  const hilo_value *array;
  int64_t start[HILO_MAX_RANK];
} slice_place;

/* The slices of the in-place form: of each array one (a tuple of scalars) or several (a tuple of
 * such tuples). Place `at` of the flat list, counted over arrays; false: there are fewer. */
static bool find_slice(const hilo_eval *e, const hilo_value *arrays, const hilo_value *offsets,
                       uint32_t at, slice_place *out) {
  const hilo_store *types = &e->m->types;
  const bool several_arrays = hilo_type_is_tuple(types, arrays->type);
  const uint32_t n_arrays = several_arrays ? hilo_type_n_elements_of_tuple(types, arrays->type) : 1;
  for (uint32_t a = 0; a < n_arrays; a++) {
    const hilo_value *array = several_arrays ? &arrays->elements[a] : arrays;
    const hilo_value *of_array = several_arrays ? &offsets->elements[a] : offsets;
    const uint32_t n = hilo_type_n_elements_of_tuple(types, of_array->type);
    const bool nested = n && hilo_type_is_tuple(types, of_array->elements[0].type);
    const uint32_t n_slices = nested ? n : 1;
    if (at >= n_slices) {
      at -= n_slices;
      continue;
    }
    const hilo_value *starts = nested ? &of_array->elements[at] : of_array;
    const uint32_t rank = hilo_type_dims(types, array->type).n;
    if (hilo_type_n_elements_of_tuple(types, starts->type) != rank) return false;
    out->array = array;
    for (uint32_t d = 0; d < rank; d++)
      if (!hilo_value_int(e->m, &starts->elements[d], &out->start[d])) return false;
    return true;
  }
  return false;
}

/* As a dynamic slice: moved inside where it would stick out. False: it is larger than the array. */
static bool clamp_start(hilo_dims dims, const int64_t *sizes, int64_t *start) {
  for (uint32_t d = 0; d < dims.n; d++) {
    const int64_t max = dims.v[d] - sizes[d];
    if (sizes[d] < 0 || max < 0) return false;
    start[d] = start[d] < 0 ? 0 : start[d] > max ? max : start[d];
  }
  return true;
}

static int64_t offset_of(hilo_dims dims, const int64_t *start, const int64_t *index) {
  int64_t at = 0;
  for (uint32_t d = 0; d < dims.n; d++) at = at * dims.v[d] + start[d] + index[d];
  return at;
}

static void copy_slice(char *to, hilo_dims to_dims, const int64_t *to_start, const char *from,
                       hilo_dims from_dims, const int64_t *from_start, const int64_t *sizes,
                       uint32_t bytes) {
  const uint32_t n = to_dims.n;
  int64_t index[HILO_MAX_RANK] = {0};
  for (uint32_t d = 0; d < n; d++)
    if (!sizes[d]) return;
  const size_t run = (n ? (size_t)sizes[n - 1] : 1) * bytes;
  for (;;) {
    memcpy(to + offset_of(to_dims, to_start, index) * bytes,
           from + offset_of(from_dims, from_start, index) * bytes, run);
    uint32_t d = n ? n - 1 : 0;
    for (; d > 0; d--) {
      if (++index[d - 1] < sizes[d - 1]) break;
      index[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

static hilo_status refuse_slices(const hilo_eval *e, hilo_inst i) {
  if (!e->diags) return HILO_INPUT_ERROR;
  return hilo_inst_error(e->m, e->diags, HILO_DIAG_EMOD919, i,
                         "its slices do not fit its operands and offsets");
}

/* A copy of operand 1, the destination, whose bytes are the caller's to write. */
static hilo_status copy_destination(const hilo_eval *e, hilo_inst i, const hilo_value *to,
                                    hilo_value *out) {
  *out = (hilo_value){.type = to->type};
  if (hilo_type_is_tuple(&e->m->types, to->type)) {
    const uint32_t n = hilo_type_n_elements_of_tuple(&e->m->types, to->type);
    hilo_value *elements = hilo_eval_new_tuple(e, i, n, out);
    if (!elements) return HILO_LIMIT_ERROR;
    for (uint32_t k = 0; k < n; k++)
      HILO_TRY(copy_destination(e, i, &to->elements[k], &elements[k]));
    return HILO_OK;
  }
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  if (out->owner->bytes) memcpy(data, to->data, out->owner->bytes);
  return HILO_OK;
}

/* Slices of the source's operand 0 into the target's operand 1, each at its own offsets. */
static hilo_status permute_slices(const hilo_eval *e, const hilo_participants *all, uint32_t target,
                                  hilo_value *out) {
  const hilo_inst i = all->insts[target];
  const hilo_dims list = hilo_attrs(e->m, i, collective).slice_sizes;
  const hilo_value *args = all->args[target];
  HILO_TRY(copy_destination(e, i, &args[1], out));
  uint32_t n = 0;
  for (uint32_t at = 0; at < list.n; n++) {
    const int64_t count = list.v[at++];
    const int64_t *sizes = list.v + at;
    const uint32_t source = source_of(&all->pairs, target, n);
    if (count < 0 || count > list.n - at) return refuse_slices(e, i);
    at += (uint32_t)count;
    if (source == UINT32_MAX) continue;
    slice_place from, to;
    if (!find_slice(e, &all->args[source][0], &all->args[source][2], n, &from) ||
        !find_slice(e, out, &args[3], n, &to))
      return refuse_slices(e, i);
    const hilo_dims from_dims = hilo_type_dims(&e->m->types, from.array->type);
    const hilo_dims to_dims = hilo_type_dims(&e->m->types, to.array->type);
    if (from_dims.n != count || to_dims.n != count || !clamp_start(from_dims, sizes, from.start) ||
        !clamp_start(to_dims, sizes, to.start))
      return refuse_slices(e, i);
    copy_slice(hilo_buffer_bytes(to.array->owner), to_dims, to.start, from.array->data, from_dims,
               from.start, sizes, hilo_etype_bytes(hilo_value_etype(e, from.array)));
  }
  return HILO_OK;
}

hilo_status hilo_collective_permute(const hilo_eval *e, const hilo_participants *all,
                                    hilo_value *results) {
  const hilo_inst i = all->insts[0];
  const uint32_t n = hilo_inst_n_operands(e->m, i);
  const bool in_place = n == 4 && hilo_type_is_tuple(&e->m->types, all->args[0][2].type);
  hilo_value *parts = HILO_NEW_ARRAY(e->scratch, hilo_value, n + 1);
  for (uint32_t p = 0; p < all->n; p++) {
    const uint32_t source = source_of(&all->pairs, p, 0);
    if (in_place) {
      HILO_TRY(permute_slices(e, all, p, &results[p]));
      continue;
    }
    if (source == UINT32_MAX) {
      HILO_TRY(hilo_collective_alone(e, all->insts[p], all->args[p], &results[p]));
      continue;
    }
    for (uint32_t k = 0; k < n; k++) parts[k] = hilo_value_share(&all->args[source][k]);
    HILO_TRY(hilo_collective_join(e, all->insts[p], parts, n, &results[p]));
  }
  return HILO_OK;
}

/* ---- ragged exchange ---- */

enum { INPUT, OUTPUT, INPUT_OFFSETS, SEND_SIZES, OUTPUT_OFFSETS, RECV_SIZES };

static int64_t int_at(const hilo_eval *e, const hilo_value *v, uint64_t at) {
  hilo_lanes lane;
  hilo_lanes_load(hilo_value_etype(e, v), v->data, at, 1, &lane);
  return lane.s[0];
}

static hilo_status refuse_rows(const hilo_eval *e, hilo_inst i, const char *what, int64_t from,
                               int64_t n, int64_t limit) {
  if (!e->diags) return HILO_INPUT_ERROR;
  return hilo_inst_error(e->m, e->diags, HILO_DIAG_EMOD919, i,
                         "it %s %lld rows from row %lld on, of %lld", what, (long long)n,
                         (long long)from, (long long)limit);
}

/* Rows of the sender's input, at its input offset, into the receiver's output, at the output offset
 * that the sender gives. */
static hilo_status send_rows(const hilo_eval *e, const hilo_participants *all, uint32_t sender,
                             uint32_t receiver, uint64_t chunk, uint64_t n_chunks, char *data) {
  const hilo_value *from = all->args[sender], *to = all->args[receiver];
  const hilo_dims in = hilo_type_dims(&e->m->types, from[INPUT].type);
  const hilo_dims out = hilo_type_dims(&e->m->types, to[OUTPUT].type);
  const uint64_t there = receiver * n_chunks + chunk, here = sender * n_chunks + chunk;
  const int64_t start = int_at(e, &from[INPUT_OFFSETS], there);
  const int64_t n = int_at(e, &from[SEND_SIZES], there);
  const int64_t goes_to = int_at(e, &from[OUTPUT_OFFSETS], there);
  const int64_t expected = int_at(e, &to[RECV_SIZES], here);
  if (start < 0 || n < 0 || n > in.v[0] || start > in.v[0] - n)
    return refuse_rows(e, all->insts[sender], "sends", start, n, in.v[0]);
  if (goes_to < 0 || n > out.v[0] || goes_to > out.v[0] - n)
    return refuse_rows(e, all->insts[sender], "writes", goes_to, n, out.v[0]);
  if (expected != n) {
    if (!e->diags) return HILO_INPUT_ERROR;
    return hilo_inst_error(e->m, e->diags, HILO_DIAG_EMOD919, all->insts[receiver],
                           "it is to receive %lld rows where %lld are sent", (long long)expected,
                           (long long)n);
  }
  uint64_t row = hilo_etype_bytes(hilo_value_etype(e, &from[INPUT]));
  for (uint32_t d = 1; d < in.n; d++) row *= (uint64_t)in.v[d];
  if (n)
    memcpy(data + (uint64_t)goes_to * row, from[INPUT].data + (uint64_t)start * row,
           (uint64_t)n * row);
  return HILO_OK;
}

hilo_status hilo_collective_ragged(const hilo_eval *e, const hilo_participants *all,
                                   hilo_value *results) {
  for (uint32_t p = 0; p < all->n; p++) {
    const hilo_inst i = all->insts[p];
    const uint64_t n_offsets = hilo_value_n_elements(e, &all->args[0][INPUT_OFFSETS]);
    const bool alike = hilo_value_n_elements(e, &all->args[p][INPUT_OFFSETS]) == n_offsets;
    if (!alike || n_offsets % all->n) {
      if (!e->diags) return HILO_INPUT_ERROR;
      return hilo_inst_error(e->m, e->diags, HILO_DIAG_EMOD915, i,
                             "it has %llu offsets for a group of %u, expected a multiple, and as "
                             "many on every rank",
                             (unsigned long long)n_offsets, all->n);
    }
    HILO_TRY(copy_destination(e, i, &all->args[p][OUTPUT], &results[p]));
    for (uint32_t q = 0; q < all->n; q++)
      for (uint64_t c = 0; c < n_offsets / all->n; c++)
        HILO_TRY(
            send_rows(e, all, q, p, c, n_offsets / all->n, hilo_buffer_bytes(results[p].owner)));
  }
  return HILO_OK;
}
