/* reduce.
 *
 * Each result element is a fold (fold.h) over the reduced indices in row-major order, from the
 * initial value on, which is used once. Sums and products of floats are kept in double and rounded
 * once at the end, whatever their type: that is what XLA's f32 accumulation of small floats aims
 * at, and better than any order of f32.
 *
 * Blocks of HILO_LANES neighbouring results go side by side, so that elements are told apart by
 * type once a block; where the innermost dimensions are reduced, one result takes its contiguous
 * run at a time. Cost: about a nanosecond an element for a reducer of one operation. */
#include "eval/eval_parts.h"
#include "eval/reductions/fold_arrays.h"

/* Dimensions of one kind, neighbours that are one in memory taken together. */
typedef struct {
  uint32_t n;
  int64_t size[HILO_MAX_RANK], step[HILO_MAX_RANK];
  uint64_t total;
} axes;

typedef struct {
  hilo_fold_arrays arrays;
  axes kept, reduced;
} reduction;

static void split_axes(hilo_dims dims, hilo_dims reduced, reduction *r) {
  r->kept = r->reduced = (axes){.total = 1};
  int64_t step = 1;
  const axes *last = NULL;
  for (uint32_t d = dims.n; d-- > 0;) {
    axes *a = hilo_dims_contain(reduced, d) ? &r->reduced : &r->kept;
    a->total *= (uint64_t)dims.v[d];
    if (dims.v[d] == 1) continue;
    if (a != last) {
      a->size[a->n] = 1;
      a->step[a->n++] = step;
    }
    a->size[a->n - 1] *= dims.v[d];
    step *= dims.v[d];
    last = a;
  }
}

/* Axes are stored innermost first. The next index; false behind the last one. */
static bool next_index(const axes *a, int64_t *index, int64_t *at) {
  for (uint32_t d = 0; d < a->n; d++) {
    *at += a->step[d];
    if (++index[d] < a->size[d]) return true;
    *at -= index[d] * a->step[d];
    index[d] = 0;
  }
  return false;
}

/* n results whose first elements lie at at[], side by side. */
static hilo_status reduce_block(const reduction *r, const int64_t *at, uint32_t n) {
  int64_t index[HILO_MAX_RANK] = {0}, offset = 0;
  hilo_fold_start(r->arrays.fold, n);
  if (!r->reduced.total) return HILO_OK;
  do {
    const char *const *values = at[n - 1] - at[0] == n - 1
                                    ? hilo_fold_values_at(&r->arrays, at[0] + offset)
                                    : hilo_fold_values_gathered(&r->arrays, at, offset, n);
    const hilo_status status = hilo_fold_step(r->arrays.fold, n, values, NULL);
    if (status != HILO_OK) return status;
  } while (next_index(&r->reduced, index, &offset));
  return HILO_OK;
}

/* One result that takes the innermost reduced axis as runs. */
static void reduce_runs(const reduction *r, int64_t at) {
  axes outer = r->reduced;
  memmove(outer.size, outer.size + 1, sizeof(outer.size) - sizeof(outer.size[0]));
  memmove(outer.step, outer.step + 1, sizeof(outer.step) - sizeof(outer.step[0]));
  outer.n--;
  int64_t index[HILO_MAX_RANK] = {0}, offset = 0;
  hilo_fold_start(r->arrays.fold, 1);
  if (!r->reduced.total) return;
  do {
    const char *from = hilo_fold_values_at(&r->arrays, at + offset)[0];
    hilo_fold_run(r->arrays.fold, (uint64_t)r->reduced.size[0], from, r->reduced.step[0]);
  } while (next_index(&outer, index, &offset));
}

/* Runs pay where lanes would be few or elements far apart, and the run is long. */
static bool by_runs(const reduction *r) {
  enum { RUN_PAYS_FROM = 64 };
  return hilo_fold_has_kernel(r->arrays.fold) && r->reduced.n &&
         r->reduced.size[0] >= RUN_PAYS_FROM && (r->reduced.step[0] == 1 || r->kept.total == 1);
}

static hilo_status reduce_all(const reduction *r) {
  int64_t index[HILO_MAX_RANK] = {0}, next = 0, at[HILO_LANES];
  const uint32_t block = by_runs(r) ? 1 : HILO_LANES;
  const uint64_t inner = r->kept.n && r->kept.step[0] == 1 ? (uint64_t)r->kept.size[0] : 1;
  for (uint64_t done = 0; done < r->kept.total;) {
    /* A block that ends with a contiguous run needs no gathering. */
    uint64_t n = inner >= HILO_LANES / 4 ? inner - done % inner : r->kept.total - done;
    if (n > block) n = block;
    for (uint32_t k = 0; k < n; k++) {
      at[k] = next;
      (void)next_index(&r->kept, index, &next);
    }
    hilo_status status = HILO_OK;
    if (block == 1)
      reduce_runs(r, at[0]);
    else
      status = reduce_block(r, at, (uint32_t)n);
    if (status != HILO_OK) return status;
    hilo_fold_arrays_store(&r->arrays, done, (uint32_t)n);
    done += n;
  }
  return HILO_OK;
}

hilo_status hilo_eval_op_reduce(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                hilo_value *out) {
  const hilo_dims dims = hilo_type_dims(&e->m->types, args[0].type);
  const hilo_dims reduced = hilo_attrs(e->m, i, dims).dims;
  reduction r;
  HILO_TRY(hilo_fold_arrays_open(e, i, args, HILO_FOLD_ONCE, out, &r.arrays));
  split_axes(dims, reduced, &r);
  return reduce_all(&r);
}
