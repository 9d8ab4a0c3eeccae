/* sort and topk.
 *
 * Every sort is stable. Rows (of the sorted dimension) are taken together in batches: their
 * elements are packed row after row, one order is found for all of them (merge_sort.h,
 * sort_order.h), and the results are picked in that order.
 *
 * Memory: two numbers and a key an element of a batch, which is one row at least.
 *
 * topk: the order is the total one (NaNs first among the largest, -0 below 0), equals by index;
 * or that of the comparator, if the operation calls one. */
#include "eval/lanes.h"
#include "eval/movement/element_moves.h"
#include "eval/results.h"
#include "eval/sorting/sort_order.h"
#include "ir/implicit_iota.h"

enum { BATCH_ELEMENTS = 1 << 16 };

typedef struct {
  const hilo_eval *e;
  hilo_inst inst;
  uint32_t n; /* arrays */
  const hilo_value *args;
  uint32_t *sizes;            /* bytes of an element */
  const char **in;            /* of a batch, row after row */
  uint64_t rows, size, inner; /* elements of a row lie `inner` apart */
} sorter;

static sorter open_sorter(const hilo_eval *e, hilo_inst i, const hilo_value *args, uint32_t n,
                          uint32_t along, hilo_etype *etypes) {
  const hilo_dims dims = hilo_type_dims(&e->m->types, args[0].type);
  sorter s = {.e = e,
              .inst = i,
              .n = n,
              .args = args,
              .sizes = HILO_NEW_ARRAY(e->scratch, uint32_t, n),
              .in = HILO_NEW_ARRAY(e->scratch, const char *, n),
              .rows = 1,
              .size = (uint64_t)dims.v[along],
              .inner = 1};
  for (uint32_t d = 0; d < dims.n; d++) {
    if (d != along) s.rows *= (uint64_t)dims.v[d];
    if (d > along) s.inner *= (uint64_t)dims.v[d];
  }
  for (uint32_t k = 0; k < n; k++) {
    etypes[k] = hilo_value_etype(e, &args[k]);
    s.sizes[k] = hilo_etype_bytes(etypes[k]);
  }
  return s;
}

/* Where a row begins in its array. */
static uint64_t row_start(const sorter *s, uint64_t row) {
  return row / s->inner * s->inner * s->size + row % s->inner;
}

static void pack_rows(sorter *s, uint64_t first, uint64_t n_rows) {
  for (uint32_t k = 0; k < s->n; k++) {
    const uint32_t bytes = s->sizes[k];
    if (s->inner == 1) {
      s->in[k] = s->args[k].data + first * s->size * bytes;
      continue;
    }
    char *packed = hilo_arena_alloc_array(s->e->scratch, n_rows * s->size, bytes, 64);
    s->in[k] = packed;
    for (uint64_t r = 0; r < n_rows; r++)
      hilo_gather_strided(packed + r * s->size * bytes,
                          s->args[k].data + row_start(s, first + r) * bytes, (int64_t)s->inner,
                          s->size, bytes);
  }
}

static uint64_t batch_rows(const sorter *s, uint64_t first) {
  const uint64_t most = s->size && s->size < BATCH_ELEMENTS ? BATCH_ELEMENTS / s->size : 1;
  return s->rows - first < most ? s->rows - first : most;
}

/* What is done with a batch: `sorted` has the elements of rows first … first + n_rows - 1 in order,
 * as places in s->in. */
typedef void write_fn(const sorter *s, const uint64_t *sorted, uint64_t first, uint64_t n_rows,
                      const void *to);

static hilo_status sort_all(sorter *s, hilo_sort_order *order, write_fn *write, const void *to) {
  uint64_t n_rows;
  hilo_status status = HILO_OK;
  for (uint64_t first = 0; status == HILO_OK && first < s->rows; first += n_rows) {
    const hilo_arena_mark mark = hilo_arena_get_mark(s->e->scratch);
    const uint64_t *sorted;
    n_rows = batch_rows(s, first);
    pack_rows(s, first, n_rows);
    const hilo_comparator comparator = hilo_sort_order_of(order, s->in, n_rows * s->size);
    status = hilo_merge_sort(s->e, n_rows, s->size, &comparator, &sorted);
    if (status == HILO_OK) write(s, sorted, first, n_rows, to);
    hilo_arena_rewind(s->e->scratch, mark);
  }
  return status;
}

/* ---- sort ---- */

/* The index of each element along its row, rows `inner` apart. */
static hilo_value index_array(const hilo_eval *e, hilo_etype etype, hilo_type type, uint64_t total,
                              uint64_t size, uint64_t inner) {
  char *data = hilo_arena_alloc_array(e->scratch, total + 1, hilo_etype_bytes(etype), 64);
  hilo_fill_iota(etype, total, size, inner, data);
  return (hilo_value){.type = type, .data = data};
}

/* to: where the elements of each array go */
static void write_rows(const sorter *s, const uint64_t *sorted, uint64_t first, uint64_t n_rows,
                       const void *to) {
  char *const *data = to;
  for (uint32_t k = 0; k < s->n; k++)
    for (uint64_t r = 0; r < n_rows; r++)
      hilo_pick_elements(data[k] + row_start(s, first + r) * s->sizes[k], (int64_t)s->inner,
                         s->in[k], sorted + r * s->size, s->size, s->sizes[k]);
}

/* The second array of a sort with an implicit iota, of the second result's type. */
static void add_iota(const hilo_eval *e, const hilo_value *out, uint32_t along,
                     hilo_value *arrays) {
  const hilo_type type = hilo_type_element(&e->m->types, out->type, 1);
  const hilo_dims dims = hilo_type_dims(&e->m->types, arrays[0].type);
  const uint64_t total = hilo_value_n_elements(e, &arrays[0]);
  uint64_t inner = 1;
  for (uint32_t d = along + 1; d < dims.n; d++) inner *= (uint64_t)dims.v[d];
  arrays[1] = index_array(e, hilo_type_etype(&e->m->types, type), type, total,
                          (uint64_t)dims.v[along], inner);
}

hilo_status hilo_eval_op_sort(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                              hilo_value *out) {
  const uint32_t n_operands = hilo_inst_n_operands(e->m, i);
  const uint32_t along = (uint32_t)hilo_attrs(e->m, i, sort).dimension;
  const bool has_iota =
      n_operands == 1 && hilo_has_implicit_iota(e->m, hilo_inst_extra_record(e->m, i));
  const uint32_t n = n_operands + has_iota;
  hilo_value with_iota[2] = {args[0]};
  if (has_iota) {
    add_iota(e, out, along, with_iota);
    args = with_iota;
  }
  hilo_etype *etypes = HILO_NEW_ARRAY(e->scratch, hilo_etype, n);
  sorter s = open_sorter(e, i, args, n, along, etypes);
  char **data = HILO_NEW_ARRAY(e->scratch, char *, n);
  hilo_sort_order *order;
  hilo_status status =
      hilo_sort_order_open(e, i, hilo_inst_called(e->m, i, 0), n_operands, etypes, &order);
  if (status == HILO_OK) status = hilo_eval_new_results(e, i, n, out, data);
  return status == HILO_OK ? sort_all(&s, order, write_rows, data) : status;
}

/* ---- topk ---- */

typedef struct {
  uint64_t k;
  hilo_etype index_etype;
  char *values, *indices;
} selection;

/* The first k of each row, and their indices in it. */
static void write_first(const sorter *s, const uint64_t *sorted, uint64_t first, uint64_t n_rows,
                        const void *to) {
  const selection *t = to;
  const uint32_t bytes = s->sizes[0];
  hilo_lanes x;
  for (uint64_t r = 0; r < n_rows; r++) {
    const uint64_t *row = sorted + r * s->size, start = (first + r) * t->k;
    hilo_pick_elements(t->values + start * bytes, 1, s->in[0], row, t->k, bytes);
    for (uint64_t at = 0; at < t->k; at += HILO_LANES) {
      const uint32_t n = t->k - at < HILO_LANES ? (uint32_t)(t->k - at) : HILO_LANES;
      for (uint32_t j = 0; j < n; j++) x.u[j] = row[at + j] - r * s->size;
      hilo_lanes_store(t->index_etype, t->indices, start + at, n, &x);
    }
  }
}

/* XLA's comparators of a custom-call take values and their indices, as those of the sort that it
 * stands for do. */
static uint32_t n_compared(const hilo_eval *e, hilo_inst i) {
  const bool both =
      hilo_inst_n_called(e->m, i) && hilo_comp_n_params(e->m, hilo_inst_called(e->m, i, 0)) == 4;
  return both ? 2 : 1;
}

/* The index of each element in its row, of the type that the comparator takes. */
static hilo_value places_as_compared(const hilo_eval *e, hilo_inst i, uint64_t total,
                                     uint64_t size) {
  const hilo_inst param = hilo_comp_param(e->m, hilo_inst_called(e->m, i, 0), 2);
  return index_array(e, hilo_inst_etype(e->m, param), hilo_inst_type(e->m, param), total, size, 1);
}

static hilo_status open_topk_order(const hilo_eval *e, hilo_inst i, bool largest,
                                   const hilo_etype *etypes, hilo_sort_order **order) {
  if (hilo_inst_n_called(e->m, i))
    return hilo_sort_order_open(e, i, hilo_inst_called(e->m, i, 0), n_compared(e, i), etypes,
                                order);
  if (hilo_etype_is_complex(etypes[0]))
    return hilo_eval_refuse(e, i, "complex numbers have no order");
  *order = hilo_sort_order_total(e, etypes[0], largest);
  return HILO_OK;
}

hilo_status hilo_eval_top_k(const hilo_eval *e, hilo_inst i, const hilo_value *in, int64_t k,
                            bool largest, hilo_value *out) {
  const hilo_dims dims = hilo_type_dims(&e->m->types, in->type);
  hilo_etype etypes[2];
  if (!dims.n) return hilo_eval_refuse(e, i, "its operand has no dimension");
  hilo_value arrays[2] = {*in};
  if (n_compared(e, i) == 2)
    arrays[1] =
        places_as_compared(e, i, hilo_value_n_elements(e, in), (uint64_t)dims.v[dims.n - 1]);
  sorter s = open_sorter(e, i, arrays, n_compared(e, i), dims.n - 1, etypes);
  if (k < 0 || (uint64_t)k > s.size)
    return hilo_eval_refuse(e, i, "it takes more elements than there are");
  char *data[2];
  hilo_sort_order *order;
  hilo_status status = open_topk_order(e, i, largest, etypes, &order);
  if (status == HILO_OK) status = hilo_eval_new_results(e, i, 2, out, data);
  if (status != HILO_OK) return status;
  const selection to = {.k = (uint64_t)k,
                        .index_etype = hilo_value_etype(e, &out->elements[1]),
                        .values = data[0],
                        .indices = data[1]};
  return sort_all(&s, order, write_first, &to);
}

typedef struct {
  uint64_t k;
  char *const *data; /* one an array */
} first_elements;

/* The first k of each row, of every array. */
static void write_first_of_all(const sorter *s, const uint64_t *sorted, uint64_t first,
                               uint64_t n_rows, const void *to) {
  const first_elements *t = to;
  for (uint32_t j = 0; j < s->n; j++) {
    for (uint64_t r = 0; r < n_rows; r++) {
      const uint64_t row = first + r;
      const uint64_t start = row / s->inner * s->inner * t->k + row % s->inner;
      hilo_pick_elements(t->data[j] + start * s->sizes[j], (int64_t)s->inner, s->in[j],
                         sorted + r * s->size, t->k, s->sizes[j]);
    }
  }
}

hilo_status hilo_eval_first_by_order(const hilo_eval *e, hilo_inst i, const hilo_value *arrays,
                                     uint32_t n, uint32_t along, uint64_t k, hilo_value *out) {
  hilo_etype *etypes = HILO_NEW_ARRAY(e->scratch, hilo_etype, n);
  char **data = HILO_NEW_ARRAY(e->scratch, char *, n);
  sorter s = open_sorter(e, i, arrays, n, along, etypes);
  hilo_sort_order *order;
  hilo_status status = hilo_sort_order_open(e, i, hilo_inst_called(e->m, i, 0), n, etypes, &order);
  if (status == HILO_OK) status = hilo_eval_new_results(e, i, n, out, data);
  if (status != HILO_OK) return status;
  const first_elements to = {k, data};
  return sort_all(&s, order, write_first_of_all, &to);
}

hilo_status hilo_eval_op_topk(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                              hilo_value *out) {
  const hilo_topk_attrs attrs = hilo_attrs(e->m, i, topk);
  return hilo_eval_top_k(e, i, &args[0], attrs.k, attrs.largest, out);
}
