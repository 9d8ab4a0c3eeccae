/* What collectives compute.
 *
 * Reductions fold in the order of the group, ((x0 + x1) + x2) + …, by the reducer as it stands;
 * sums and products of floats below 64 bits in double, rounded once at the end, as everywhere in
 * the evaluator. Where all participants have the same result, they share its bytes. */
#include "eval/ranks/collective.h"

#include "analysis/region.h"
#include "eval/kernels.h"
#include "eval/machine/apply.h"
#include "eval/machine/machine_parts.h"

static const hilo_value *operand(const hilo_participants *all, uint32_t p, uint32_t k) {
  return &all->args[p][k];
}

static uint64_t bytes_of(const hilo_eval *e, const hilo_value *v) {
  return hilo_value_n_elements(e, v) * hilo_etype_bytes(hilo_value_etype(e, v));
}

/* The type of result k of n, in the plain form of the operation. */
static hilo_type result_type(const hilo_eval *e, hilo_inst i, uint32_t k) {
  const hilo_store *types = &e->m->types;
  hilo_type type = hilo_inst_type(e->m, i);
  const hilo_op op = hilo_inst_op(e->m, i);
  if (op == HILO_OP_ALL_GATHER_START || op == HILO_OP_COLLECTIVE_PERMUTE_START)
    type = hilo_type_element(types, type, 1);
  return hilo_type_is_tuple(types, type) ? hilo_type_element(types, type, k) : type;
}

hilo_status hilo_collective_join(const hilo_eval *e, hilo_inst i, hilo_value *arrays, uint32_t n,
                                 hilo_value *out) {
  const hilo_store *types = &e->m->types;
  hilo_type type = hilo_inst_type(e->m, i);
  const hilo_op op = hilo_inst_op(e->m, i);
  if (op == HILO_OP_ALL_GATHER_START || op == HILO_OP_COLLECTIVE_PERMUTE_START)
    type = hilo_type_element(types, type, 1);
  *out = (hilo_value){.type = type};
  if (!hilo_type_is_tuple(types, type)) {
    *out = arrays[0];
    return HILO_OK;
  }
  hilo_value *elements = hilo_eval_new_tuple(e, i, n, out);
  if (!elements) return HILO_LIMIT_ERROR;
  memcpy(elements, arrays, n * sizeof(*elements));
  return HILO_OK;
}

/* How many operands are data: the last one may be a token. */
static uint32_t n_data(const hilo_eval *e, hilo_inst i, const hilo_value *args) {
  const uint32_t n = hilo_inst_n_operands(e->m, i);
  return n > 1 && !hilo_type_is_array(&e->m->types, args[n - 1].type) ? n - 1 : n;
}

/* ---- reductions ---- */

/* Sums and products of floats, all of a block at once in double. */
static bool folds_wide(const hilo_eval *e, hilo_inst i, hilo_etype etype, hilo_kernel *kernel) {
  hilo_reducer reducer = {.op = HILO_OP_ADD};
  if (hilo_etype_class_of(etype) != HILO_CLASS_FLOAT || etype == HILO_F64) return false;
  if (hilo_inst_n_called(e->m, i) &&
      hilo_region_reducer(e->m, hilo_inst_called(e->m, i, 0), &reducer) != HILO_REDUCER_OK)
    return false;
  if (reducer.overwrites) return false;
  if (reducer.op != HILO_OP_ADD && reducer.op != HILO_OP_MULTIPLY) return false;
  *kernel = reducer.op == HILO_OP_ADD ? hilo_kernels_of_add.f : hilo_kernels_of_multiply.f;
  return true;
}

static void fold_lanes(const hilo_participants *all, uint32_t k, hilo_etype etype,
                       hilo_kernel kernel, uint64_t total, char *data) {
  hilo_lanes sum, next;
  hilo_lanes *const x[3] = {&sum, &next, NULL};
  for (uint64_t at = 0; at < total; at += HILO_LANES) {
    const uint32_t n = total - at < HILO_LANES ? (uint32_t)(total - at) : HILO_LANES;
    hilo_lanes_load(etype, operand(all, 0, k)->data, at, n, &sum);
    for (uint32_t p = 1; p < all->n; p++) {
      hilo_lanes_load(etype, operand(all, p, k)->data, at, n, &next);
      kernel(x, n, hilo_etype_table[etype].bits);
    }
    hilo_lanes_store(etype, data, at, n, &sum);
  }
}

/* By the reducer's computation, in its own element type. */
static hilo_status fold_region(const hilo_eval *e, hilo_inst i, const hilo_participants *all,
                               uint32_t k, hilo_etype etype, uint64_t total, char *data) {
  hilo_apply *a;
  HILO_TRY(hilo_apply_open(e, i, hilo_inst_called(e->m, i, 0), &a));
  const hilo_etype work = hilo_apply_param_etype(a, 0);
  const uint32_t size = hilo_etype_bytes(etype);
  char *sum = hilo_arena_alloc(e->scratch, HILO_LANES * 16, 16);
  char *next = hilo_arena_alloc(e->scratch, HILO_LANES * 16, 16);
  for (uint64_t at = 0; at < total; at += HILO_LANES) {
    const uint64_t n = total - at < HILO_LANES ? total - at : HILO_LANES;
    hilo_eval_convert_elements(etype, work, operand(all, 0, k)->data + at * size, n, sum);
    for (uint32_t p = 1; p < all->n; p++) {
      hilo_eval_convert_elements(etype, work, operand(all, p, k)->data + at * size, n, next);
      const char *const args[] = {sum, next};
      HILO_TRY(hilo_apply_run(a, n, args, &sum));
    }
    hilo_eval_convert_elements(work, etype, sum, n, data + at * size);
  }
  return HILO_OK;
}

/* Without a computation it is a sum. */
static hilo_status fold_sum(const hilo_eval *e, hilo_inst i, const hilo_participants *all,
                            uint32_t k, hilo_etype etype, uint64_t total, char *data) {
  const hilo_kernel kernel = hilo_kernel_of(&hilo_kernels_of_add, etype);
  if (!kernel) return hilo_eval_refuse(e, i, "its element type has no sum");
  fold_lanes(all, k, etype, kernel, total, data);
  return HILO_OK;
}

/* The fold of operand k over all participants, in an array of the operand's type. */
static hilo_status fold(const hilo_eval *e, const hilo_participants *all, uint32_t k,
                        hilo_value *out) {
  const hilo_inst i = all->insts[0];
  const hilo_etype etype = hilo_value_etype(e, operand(all, 0, k));
  *out = (hilo_value){.type = operand(all, 0, k)->type};
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  const uint64_t total = hilo_value_n_elements(e, out);
  hilo_kernel kernel;
  if (folds_wide(e, i, etype, &kernel)) {
    fold_lanes(all, k, etype, kernel, total, data);
    return HILO_OK;
  }
  return hilo_inst_n_called(e->m, i) ? fold_region(e, i, all, k, etype, total, data)
                                     : fold_sum(e, i, all, k, etype, total, data);
}

static hilo_status all_reduce(const hilo_eval *e, const hilo_participants *all,
                              hilo_value *results) {
  const hilo_inst i = all->insts[0];
  const uint32_t n = n_data(e, i, all->args[0]), n_all = hilo_inst_n_operands(e->m, i);
  hilo_value *sums = HILO_NEW_ZEROED(e->scratch, hilo_value, n_all + 1);
  hilo_value *shared = HILO_NEW_ZEROED(e->scratch, hilo_value, n_all + 1);
  for (uint32_t k = 0; k < n; k++) HILO_TRY(fold(e, all, k, &sums[k]));
  for (uint32_t k = n; k < n_all; k++) sums[k].type = all->args[0][k].type;
  for (uint32_t p = 0; p < all->n; p++) {
    for (uint32_t k = 0; k < n_all; k++)
      shared[k] = p + 1 < all->n ? hilo_value_share(&sums[k]) : sums[k];
    HILO_TRY(hilo_collective_join(e, all->insts[p], shared, n_all, &results[p]));
  }
  return HILO_OK;
}

/* The root has the fold, the others zeros. */
static hilo_status collective_reduce(const hilo_eval *e, const hilo_participants *all,
                                     hilo_value *results) {
  const uint32_t n = hilo_collective_n_rooted(e, all->insts[0]);
  hilo_value *sums = HILO_NEW_ZEROED(e->scratch, hilo_value, n + 1);
  hilo_value *parts = HILO_NEW_ARRAY(e->scratch, hilo_value, n + 1);
  uint32_t *roots = HILO_NEW_ARRAY(e->scratch, uint32_t, n + 1);
  for (uint32_t k = 0; k < n; k++) {
    HILO_TRY(hilo_collective_root(e, all, k, &roots[k]));
    HILO_TRY(fold(e, all, k, &sums[k]));
  }
  for (uint32_t p = 0; p < all->n; p++) {
    for (uint32_t k = 0; k < n; k++) {
      if (roots[k] == p)
        parts[k] = sums[k];
      else
        HILO_TRY(hilo_zero_value(e, all->insts[p], all->args[p][k].type, &parts[k]));
    }
    HILO_TRY(hilo_collective_join(e, all->insts[p], parts, n, &results[p]));
  }
  return HILO_OK;
}

/* ---- gathering and scattering along a dimension ---- */

/* An array around dimension d: `outer` times `size` times `inner` bytes. */
typedef struct {
  uint64_t outer, size, inner;
} around;

static around around_dim(const hilo_eval *e, const hilo_value *v, uint32_t d) {
  const hilo_dims dims = hilo_type_dims(&e->m->types, v->type);
  around a = {1, (uint64_t)dims.v[d], hilo_etype_bytes(hilo_value_etype(e, v))};
  for (uint32_t j = 0; j < d; j++) a.outer *= (uint64_t)dims.v[j];
  for (uint32_t j = d + 1; j < dims.n; j++) a.inner *= (uint64_t)dims.v[j];
  return a;
}

/* `rows` of `bytes` each; they lie `to_step` and `from_step` bytes apart. */
static void copy_rows(char *to, uint64_t to_step, const char *from, uint64_t from_step,
                      uint64_t rows, uint64_t bytes) {
  for (uint64_t r = 0; r < rows; r++) memcpy(to + r * to_step, from + r * from_step, bytes);
}

static hilo_status refuse_size(const hilo_eval *e, hilo_inst i) {
  if (!e->diags) return HILO_INPUT_ERROR;
  return hilo_inst_error(e->m, e->diags, HILO_DIAG_EMOD915, i,
                         "its type does not fit the size of its groups");
}

/* A new array of result k's type that must have so many bytes. */
static hilo_status new_result(const hilo_eval *e, hilo_inst i, uint32_t k, uint64_t bytes,
                              hilo_value *out) {
  *out = (hilo_value){.type = result_type(e, i, k)};
  if (!hilo_eval_new_array(e, i, out)) return HILO_LIMIT_ERROR;
  return out->owner->bytes == bytes ? HILO_OK : refuse_size(e, i);
}

static hilo_status all_gather(const hilo_eval *e, const hilo_participants *all,
                              hilo_value *results) {
  const hilo_inst i = all->insts[0];
  const uint32_t n = n_data(e, i, all->args[0]), n_all = hilo_inst_n_operands(e->m, i);
  const int64_t dimension = hilo_attrs(e->m, i, collective).dimension - 1;
  hilo_value *whole = HILO_NEW_ZEROED(e->scratch, hilo_value, n_all + 1);
  hilo_value *shared = HILO_NEW_ZEROED(e->scratch, hilo_value, n_all + 1);
  for (uint32_t k = 0; k < n; k++) {
    const around a = around_dim(e, operand(all, 0, k), (uint32_t)dimension);
    const uint64_t part = a.size * a.inner;
    HILO_TRY(new_result(e, i, k, a.outer * part * all->n, &whole[k]));
    char *data = hilo_buffer_bytes(whole[k].owner);
    for (uint32_t p = 0; p < all->n; p++)
      copy_rows(data + p * part, part * all->n, operand(all, p, k)->data, part, a.outer, part);
  }
  for (uint32_t k = n; k < n_all; k++) whole[k].type = all->args[0][k].type;
  for (uint32_t p = 0; p < all->n; p++) {
    for (uint32_t k = 0; k < n_all; k++)
      shared[k] = p + 1 < all->n ? hilo_value_share(&whole[k]) : whole[k];
    HILO_TRY(hilo_collective_join(e, all->insts[p], shared, n_all, &results[p]));
  }
  return HILO_OK;
}

static hilo_status reduce_scatter(const hilo_eval *e, const hilo_participants *all,
                                  hilo_value *results) {
  const hilo_inst i = all->insts[0];
  const uint32_t n = n_data(e, i, all->args[0]), n_all = hilo_inst_n_operands(e->m, i);
  const int64_t dimension = hilo_attrs(e->m, i, collective).dimension - 1;
  hilo_value *sums = HILO_NEW_ZEROED(e->scratch, hilo_value, n_all + 1);
  hilo_value *parts = HILO_NEW_ZEROED(e->scratch, hilo_value, n_all + 1);
  for (uint32_t k = 0; k < n; k++) HILO_TRY(fold(e, all, k, &sums[k]));
  for (uint32_t p = 0; p < all->n; p++) {
    for (uint32_t k = 0; k < n; k++) {
      const around a = around_dim(e, &sums[k], (uint32_t)dimension);
      if (a.size % all->n) return refuse_size(e, i);
      const uint64_t part = a.size / all->n * a.inner;
      HILO_TRY(new_result(e, all->insts[p], k, a.outer * part, &parts[k]));
      copy_rows(hilo_buffer_bytes(parts[k].owner), part, sums[k].data + p * part, a.size * a.inner,
                a.outer, part);
    }
    for (uint32_t k = n; k < n_all; k++) parts[k].type = all->args[p][k].type;
    HILO_TRY(hilo_collective_join(e, all->insts[p], parts, n_all, &results[p]));
  }
  for (uint32_t k = 0; k < n; k++) hilo_value_release(e, &sums[k]);
  return HILO_OK;
}

/* ---- all-to-all ---- */

/* Operand q of participant p goes to participant q, as its element p. */
static hilo_status exchange_operands(const hilo_eval *e, const hilo_participants *all,
                                     hilo_value *results) {
  const hilo_inst i = all->insts[0];
  const uint32_t n_all = hilo_inst_n_operands(e->m, i), n = n_data(e, i, all->args[0]);
  if (n != all->n) return refuse_size(e, i);
  hilo_value *elements = HILO_NEW_ZEROED(e->scratch, hilo_value, n_all + 1);
  for (uint32_t p = 0; p < all->n; p++) {
    for (uint32_t q = 0; q < n; q++) elements[q] = hilo_value_share(operand(all, q, p));
    if (n < n_all) elements[n] = (hilo_value){.type = all->args[p][n].type};
    HILO_TRY(hilo_collective_join(e, all->insts[p], elements, n_all, &results[p]));
  }
  return HILO_OK;
}

/* Part p along `split` of everybody's array, joined along `join` in the order of the group. */
static hilo_status exchange_parts(const hilo_eval *e, const hilo_participants *all, uint32_t k,
                                  uint32_t p, uint32_t split, uint32_t join, hilo_value *out) {
  const hilo_inst i = all->insts[p];
  const hilo_value *in = operand(all, p, k);
  const uint64_t count = all->n;
  HILO_TRY(new_result(e, i, k, bytes_of(e, in), out));
  const hilo_dims from = hilo_type_dims(&e->m->types, in->type);
  const around to = around_dim(e, out, join);
  if ((uint64_t)from.v[split] % count || to.size % count) return refuse_size(e, i);
  /* A part, as an array: dims of the operand with `split` cut. Copied row by row, a row being what
   * lies behind the later one of the two dimensions. */
  const uint32_t last = split > join ? split : join, first = split > join ? join : split;
  const uint64_t part_size = (uint64_t)from.v[split] / count;
  uint64_t outer = 1, middle = 1, inner = hilo_etype_bytes(hilo_value_etype(e, in));
  for (uint32_t d = 0; d < first; d++) outer *= (uint64_t)from.v[d];
  for (uint32_t d = first + 1; d < last; d++) middle *= (uint64_t)from.v[d];
  for (uint32_t d = last + 1; d < from.n; d++) inner *= (uint64_t)from.v[d];
  char *data = hilo_buffer_bytes(out->owner);
  for (uint32_t q = 0; q < all->n; q++) {
    const char *source = operand(all, q, k)->data;
    if (split == join) {
      const uint64_t row = part_size * inner;
      copy_rows(data + q * row, row * count, source + p * row, row * count, outer, row);
    } else if (split < join) {
      /* operand [outer, count * part, middle, j, inner] → [outer, part, middle, q * j, inner] */
      const uint64_t row = (uint64_t)from.v[join] * inner, rows = part_size * middle;
      for (uint64_t o = 0; o < outer; o++)
        copy_rows(data + o * rows * row * count + q * row, row * count,
                  source + (o * count + p) * rows * row, row, rows, row);
    } else {
      /* operand [outer, j, middle, count * part, inner] → [outer, q * j, middle, part, inner] */
      const uint64_t row = part_size * inner, rows = (uint64_t)from.v[join] * middle;
      for (uint64_t o = 0; o < outer; o++)
        copy_rows(data + (o * count + q) * rows * row, row,
                  source + o * rows * row * count + p * row, row * count, rows, row);
    }
  }
  return HILO_OK;
}

static hilo_status all_to_all(const hilo_eval *e, const hilo_participants *all,
                              hilo_value *results) {
  const hilo_inst i = all->insts[0];
  const hilo_collective_attrs attrs = hilo_attrs(e->m, i, collective);
  if (!attrs.split_count && !attrs.dimension) return exchange_operands(e, all, results);
  const int64_t split = attrs.split_count ? attrs.split_dimension : attrs.dimension - 1;
  const int64_t join = attrs.split_count ? attrs.concat_dimension : split;
  if (attrs.split_count && attrs.split_count != all->n) return refuse_size(e, i);
  const uint32_t n = n_data(e, i, all->args[0]), n_all = hilo_inst_n_operands(e->m, i);
  hilo_value *arrays = HILO_NEW_ZEROED(e->scratch, hilo_value, n_all + 1);
  for (uint32_t p = 0; p < all->n; p++) {
    for (uint32_t k = 0; k < n; k++)
      HILO_TRY(exchange_parts(e, all, k, p, (uint32_t)split, (uint32_t)join, &arrays[k]));
    for (uint32_t k = n; k < n_all; k++) arrays[k] = (hilo_value){.type = all->args[p][k].type};
    HILO_TRY(hilo_collective_join(e, all->insts[p], arrays, n_all, &results[p]));
  }
  return HILO_OK;
}

hilo_status hilo_collective_compute(const hilo_eval *e, const hilo_participants *all,
                                    hilo_value *results) {
  switch (hilo_inst_op(e->m, all->insts[0])) {
  case HILO_OP_ALL_GATHER:
  case HILO_OP_ALL_GATHER_START: return all_gather(e, all, results);
  case HILO_OP_ALL_TO_ALL: return all_to_all(e, all, results);
  case HILO_OP_COLLECTIVE_BROADCAST: return hilo_collective_broadcast(e, all, results);
  case HILO_OP_COLLECTIVE_PERMUTE:
  case HILO_OP_COLLECTIVE_PERMUTE_START: return hilo_collective_permute(e, all, results);
  case HILO_OP_COLLECTIVE_REDUCE: return collective_reduce(e, all, results);
  case HILO_OP_RAGGED_ALL_TO_ALL: return hilo_collective_ragged(e, all, results);
  case HILO_OP_CUSTOM_CALL:
    return (hilo_is_shard_to_full(e->m, all->insts[0]) ? hilo_collective_shard_to_full
                                                       : hilo_collective_matmul)(e, all, results);
  case HILO_OP_REDUCE_SCATTER: return reduce_scatter(e, all, results);
  default: return all_reduce(e, all, results);
  }
}
