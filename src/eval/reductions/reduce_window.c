/* reduce-window and select-and-scatter.
 *
 * reduce-window: each window is folded (fold.h) in row-major order from the initial value on. What
 * is padding or a hole of base dilation is no element of the window and is left out, as XLA does
 * (the specification pads with the initial value, which makes no difference to a monoid). Every
 * step is rounded to the reducer's type, as if the region stored its result: the results that the
 * public tests state are of that kind.
 *
 * A window that covers all that lies before (or behind) a place in one dimension, as a cumulative
 * sum has it, is a running fold. Forwards that is the same sequence of steps for any reducer;
 * backwards the order is from the end, so it is done for reducers of one operation where they are
 * exact, and for longer windows than LONG_WINDOW anyway: the alternative is quadratic.
 *
 * select-and-scatter: in each window the element that the select region prefers to all others, the
 * first of them where it has no preference; windows without an element select nothing. Then, window
 * by window in row-major order, result[selected] = scatter(result[selected], source), rounded at
 * each step. */
#include "eval/machine/apply.h"
#include "eval/movement/element_moves.h"
#include "eval/reductions/fold_arrays.h"
#include "eval/reductions/window_walk.h"
#include "eval/results.h"
#include "eval/strided.h"

enum { LONG_WINDOW = 1024, MAX_ELEMENT_BYTES = 16 };

static hilo_window_attrs window_of(const hilo_module *m, hilo_inst i) {
  return hilo_window_get(&m->records, hilo_attrs(m, i, window_op).window);
}

/* How many windows go side by side from window `first` on. */
static uint32_t block_at(const hilo_window_walk *w, uint64_t first) {
  const uint64_t left = w->n_windows - first;
  return left < HILO_LANES ? (uint32_t)left : HILO_LANES;
}

/* skip[k]: window k has no element here; at[k] is made a place that may be read all the same. */
static void mask_outside(const hilo_window_walk *w, uint32_t n, int64_t *at, bool *skip) {
  for (uint32_t k = 0; k < n; k++) {
    skip[k] = w->at[k] < 0;
    at[k] = skip[k] ? 0 : w->at[k];
  }
}

/* ---- reduce-window ---- */

static hilo_status fold_position(const hilo_fold_arrays *a, const hilo_window_walk *w, uint32_t n) {
  if (w->none) return HILO_OK;
  if (w->is_run) return hilo_fold_step(a->fold, n, hilo_fold_values_at(a, w->at[0]), NULL);
  if (w->all) return hilo_fold_step(a->fold, n, hilo_fold_values_gathered(a, w->at, 0, n), NULL);
  int64_t at[HILO_LANES];
  bool skip[HILO_LANES];
  mask_outside(w, n, at, skip);
  return hilo_fold_step(a->fold, n, hilo_fold_values_gathered(a, at, 0, n), skip);
}

static hilo_status fold_windows(const hilo_fold_arrays *a, hilo_window_walk *w) {
  uint32_t n;
  for (uint64_t first = 0; first < w->n_windows; first += n) {
    n = block_at(w, first);
    hilo_fold_start(a->fold, n);
    hilo_window_begin(w, first, n);
    do {
      const hilo_status status = fold_position(a, w, n);
      if (status != HILO_OK) return status;
    } while (hilo_window_next(w));
    hilo_fold_arrays_store(a, first, n);
  }
  return HILO_OK;
}

/* ---- running folds ---- */

typedef struct {
  uint64_t outer; /* sequences before and behind the dimension that is run along */
  int64_t n, inner;
  bool backwards;
} run;

/* Do all windows reach from one end of one dimension to the place itself? */
static bool is_running(const hilo_fold *fold, const hilo_window_walk *w, run *r) {
  const hilo_window_dim *along = NULL;
  *r = (run){.outer = 1, .inner = 1};
  for (uint32_t k = 0; k < w->rank; k++) {
    const hilo_window_dim *d = &w->dims[k];
    if (d->size > 1) {
      if (along) return false;
      along = d;
    } else if (d->in != d->out || d->stride != 1 || d->low || d->base_dilation != 1) {
      return false;
    } else if (along) {
      r->inner *= d->in;
    } else {
      r->outer *= (uint64_t)d->in;
    }
  }
  if (!along || along->in != along->out || along->stride != 1 || along->dilation != 1 ||
      along->base_dilation != 1 || along->size < along->in)
    return false;
  r->n = along->in;
  r->backwards = along->low == 0;
  if (!r->backwards) return along->low == along->size - 1;
  return hilo_fold_is_exact(fold) || (hilo_fold_has_kernel(fold) && along->size > LONG_WINDOW);
}

/* n sequences side by side, the first elements of which lie at at[]. */
static hilo_status run_block(const hilo_fold_arrays *a, const run *r, int64_t *at, uint32_t n) {
  const int64_t step = r->backwards ? -r->inner : r->inner;
  hilo_fold_start(a->fold, n);
  for (int64_t k = 0; k < r->n; k++) {
    const char *const *values = at[n - 1] - at[0] == n - 1 ? hilo_fold_values_at(a, at[0])
                                                           : hilo_fold_values_gathered(a, at, 0, n);
    const hilo_status status = hilo_fold_step(a->fold, n, values, NULL);
    if (status != HILO_OK) return status;
    hilo_fold_arrays_scatter(a, at, n);
    for (uint32_t j = 0; j < n; j++) at[j] += step;
  }
  return HILO_OK;
}

static hilo_status run_all(const hilo_fold_arrays *a, const run *r) {
  const uint64_t total = r->outer * (uint64_t)r->inner, inner = (uint64_t)r->inner;
  const int64_t start = r->backwards ? (r->n - 1) * r->inner : 0;
  int64_t at[HILO_LANES];
  uint32_t n;
  for (uint64_t done = 0; r->n && done < total; done += n) {
    n = total - done < HILO_LANES ? (uint32_t)(total - done) : HILO_LANES;
    for (uint32_t k = 0; k < n; k++) {
      const uint64_t outer = (done + k) / inner, rest = (done + k) % inner;
      at[k] = start + (int64_t)(outer * (uint64_t)r->n * inner + rest);
    }
    const hilo_status status = run_block(a, r, at, n);
    if (status != HILO_OK) return status;
  }
  return HILO_OK;
}

hilo_status hilo_eval_op_reduce_window(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                       hilo_value *out) {
  const hilo_window_attrs window = window_of(e->m, i);
  hilo_window_walk w =
      hilo_window_open(e->scratch, &window, hilo_type_dims(&e->m->types, args[0].type));
  hilo_fold_arrays a;
  HILO_TRY(hilo_fold_arrays_open(e, i, args, HILO_FOLD_STEPS, out, &a));
  run r;
  return is_running(a.fold, &w, &r) ? run_all(&a, &r) : fold_windows(&a, &w);
}

/* ---- select-and-scatter ---- */

typedef struct {
  hilo_apply *select, *scatter;
  const char *in, *source;
  char *data;
  hilo_etype etype;
  uint32_t size; /* bytes of an element */
  /* Of a block of windows: the element selected so far and its place; negative: none. */
  int64_t chosen[HILO_LANES];
  char best[HILO_LANES * MAX_ELEMENT_BYTES], current[HILO_LANES * MAX_ELEMENT_BYTES];
  char prefers[HILO_LANES];
} selection;

/* One position of n windows: where the region does not prefer what was selected, or nothing was,
 * the element there is selected. */
static hilo_status select_position(selection *s, const hilo_window_walk *w, uint32_t n) {
  if (w->none) return HILO_OK;
  int64_t at[HILO_LANES];
  bool skip[HILO_LANES];
  mask_outside(w, n, at, skip);
  hilo_gather_elements(s->current, s->in, at, n, s->size);
  const char *const args[2] = {s->best, s->current};
  char *const results[1] = {s->prefers};
  const hilo_status status = hilo_apply_run(s->select, n, args, results);
  if (status != HILO_OK) return status;
  for (uint32_t k = 0; k < n; k++) {
    if (skip[k] || (s->chosen[k] >= 0 && s->prefers[k])) continue;
    s->chosen[k] = at[k];
    memcpy(s->best + (size_t)k * s->size, s->current + (size_t)k * s->size, s->size);
  }
  return HILO_OK;
}

/* data[chosen] = scatter(data[chosen], source), one window after another. */
static hilo_status scatter_block(selection *s, uint64_t first, uint32_t n) {
  for (uint32_t k = 0; k < n; k++) {
    if (s->chosen[k] < 0) continue;
    char *to = s->data + s->chosen[k] * s->size;
    const char *const args[2] = {to, s->source + (first + k) * s->size};
    const hilo_status status = hilo_apply_run(s->scatter, 1, args, &to);
    if (status != HILO_OK) return status;
  }
  return HILO_OK;
}

static hilo_status select_and_scatter(selection *s, hilo_window_walk *w) {
  uint32_t n;
  for (uint64_t first = 0; first < w->n_windows; first += n) {
    n = block_at(w, first);
    for (uint32_t k = 0; k < n; k++) s->chosen[k] = -1;
    memset(s->best, 0, n * s->size);
    hilo_window_begin(w, first, n);
    hilo_status status;
    do {
      status = select_position(s, w, n);
    } while (status == HILO_OK && hilo_window_next(w));
    if (status == HILO_OK) status = scatter_block(s, first, n);
    if (status != HILO_OK) return status;
  }
  return HILO_OK;
}

/* Do both regions work on elements of this type? */
static bool regions_fit(const selection *s) {
  const hilo_etype t = s->etype;
  return hilo_apply_param_etype(s->select, 0) == t && hilo_apply_param_etype(s->select, 1) == t &&
         hilo_apply_result_etype(s->select, 0) == HILO_PRED &&
         hilo_apply_param_etype(s->scatter, 0) == t && hilo_apply_param_etype(s->scatter, 1) == t &&
         hilo_apply_result_etype(s->scatter, 0) == t;
}

hilo_status hilo_eval_op_select_and_scatter(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                            hilo_value *out) {
  selection *s = HILO_NEW(e->scratch, selection);
  s->etype = hilo_value_etype(e, &args[0]);
  s->size = hilo_etype_bytes(s->etype);
  s->in = args[0].data;
  s->source = args[1].data;
  hilo_status status =
      hilo_apply_open(e, i, hilo_inst_called(e->m, i, HILO_SELECT_AND_SCATTER_SELECT), &s->select);
  if (status == HILO_OK)
    status = hilo_apply_open(e, i, hilo_inst_called(e->m, i, HILO_SELECT_AND_SCATTER_SCATTER),
                             &s->scatter);
  if (status != HILO_OK) return status;
  if (!regions_fit(s) || hilo_value_etype(e, &args[1]) != s->etype ||
      hilo_value_etype(e, &args[2]) != s->etype)
    return hilo_eval_refuse(e, i, "its operands and regions have different element types");
  const hilo_dims dims = hilo_type_dims(&e->m->types, args[0].type);
  s->data = hilo_eval_new_array(e, i, out);
  if (!s->data) return HILO_LIMIT_ERROR;
  hilo_fill_elements(s->data, hilo_value_n_elements(e, out), s->size, args[2].data);
  const hilo_window_attrs window = window_of(e->m, i);
  hilo_window_walk w = hilo_window_open(e->scratch, &window, dims);
  return select_and_scatter(s, &w);
}
