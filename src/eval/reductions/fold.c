#include "eval/reductions/fold.h"

#include "analysis/region.h"
#include "eval/kernels.h"
#include "eval/machine/apply.h"
#include "eval/movement/element_moves.h"

enum { MAX_ELEMENT_BYTES = 16 };

struct hilo_fold {
  const hilo_module *m;
  uint32_t n;         /* accumulators */
  hilo_etype *etypes; /* of the arrays */
  hilo_kernel kernel; /* of a reducer that is one operation; NULL: it is applied */
  /* With a kernel: n is 1, and all types are one. */
  unsigned bits;
  bool rounds; /* at each step */
  size_t lane_bytes;
  hilo_lanes init, acc, x;
  /* Without: buffers of HILO_LANES elements of the reducer's parameters. */
  hilo_apply *apply;
  const char **args; /* 2 n: accumulators, then elements */
  char **accs, **starts, **saved, **inputs;
};

/* ---- what kind of reducer ---- */

static const hilo_kernels *kernels_of(hilo_op op) {
  switch (op) {
  case HILO_OP_ADD: return &hilo_kernels_of_add;
  case HILO_OP_MULTIPLY: return &hilo_kernels_of_multiply;
  case HILO_OP_MAXIMUM: return &hilo_kernels_of_maximum;
  case HILO_OP_MINIMUM: return &hilo_kernels_of_minimum;
  case HILO_OP_AND: return &hilo_kernels_of_and;
  case HILO_OP_OR: return &hilo_kernels_of_or;
  case HILO_OP_XOR: return &hilo_kernels_of_xor;
  default: return NULL;
  }
}

/* Sets f->kernel and what goes with it, if one does what the region does. */
static void recognise(hilo_fold *f, hilo_comp region, hilo_fold_rounding rounding) {
  const hilo_etype etype = f->etypes[0];
  hilo_reducer r;
  if (hilo_type_quant(&f->m->types, hilo_inst_type(f->m, hilo_comp_root(f->m, region))).ix) return;
  if (hilo_region_reducer(f->m, region, &r) != HILO_REDUCER_OK || !hilo_reducer_folds(r)) return;
  const bool is_real = !hilo_etype_is_float(etype) && !hilo_etype_is_complex(etype);
  const bool is_exact = is_real || (r.op != HILO_OP_ADD && r.op != HILO_OP_MULTIPLY);
  f->rounds = rounding == HILO_FOLD_STEPS && !is_exact && etype != HILO_F64 && etype != HILO_C128;
  if (f->rounds && r.etype != etype) return;
  const hilo_kernels *kernels = kernels_of(r.op);
  f->bits = hilo_etype_table[etype].bits;
  f->lane_bytes = hilo_lane_bytes(etype);
  f->kernel = kernels ? hilo_kernel_of(kernels, etype) : NULL;
}

/* ---- opening ---- */

/* Bytes of an element of accumulator k, of a reducer that is applied. */
static size_t acc_bytes(const hilo_fold *f, uint32_t k) {
  return hilo_etype_bytes(hilo_apply_param_etype(f->apply, k));
}

static char **new_buffers(hilo_arena *arena, uint32_t n, const hilo_apply *a, uint32_t first) {
  char **buffers = HILO_NEW_ARRAY(arena, char *, n);
  for (uint32_t k = 0; k < n; k++) {
    const size_t bytes =
        HILO_LANES * (size_t)hilo_etype_bytes(hilo_apply_param_etype(a, first + k));
    buffers[k] = hilo_arena_alloc(arena, bytes, 64);
  }
  return buffers;
}

/* Elements of one type as those of another; packed, between floats or equal types. */
static void bring(hilo_etype from, hilo_etype to, const char *in, uint64_t n, char *out) {
  if (from == to)
    memcpy(out, in, n * hilo_etype_bytes(to));
  else
    hilo_eval_convert_elements(from, to, in, n, out);
}

static void fill_lanes(char *buffer, uint32_t bytes) {
  for (size_t k = bytes; k < HILO_LANES * (size_t)bytes; k += bytes)
    memcpy(buffer + k, buffer, bytes);
}

static hilo_status open_applied(const hilo_eval *e, hilo_inst i, hilo_comp region,
                                const hilo_value *inits, hilo_fold *f) {
  const hilo_status status = hilo_apply_open(e, i, region, &f->apply);
  if (status != HILO_OK) return status;
  const uint32_t n = f->n;
  for (uint32_t k = 0; k < n; k++)
    if (hilo_apply_n_results(f->apply) != n ||
        hilo_apply_param_etype(f->apply, k) != hilo_apply_result_etype(f->apply, k))
      return hilo_eval_refuse(e, i, "its region does not give the types that it takes");
  f->args = HILO_NEW_ARRAY(e->scratch, const char *, 2 * (size_t)n);
  f->accs = new_buffers(e->scratch, n, f->apply, 0);
  f->starts = new_buffers(e->scratch, n, f->apply, 0);
  f->saved = new_buffers(e->scratch, n, f->apply, 0);
  f->inputs = new_buffers(e->scratch, n, f->apply, n);
  for (uint32_t k = 0; k < n; k++) {
    const hilo_etype acc = hilo_apply_param_etype(f->apply, k);
    bring(hilo_value_etype(e, &inits[k]), acc, inits[k].data, 1, f->starts[k]);
    fill_lanes(f->starts[k], hilo_etype_bytes(acc));
  }
  return HILO_OK;
}

static hilo_etype param_etype(const hilo_module *m, hilo_comp region, uint32_t k) {
  return hilo_inst_etype(m, hilo_comp_param(m, region, k));
}

hilo_status hilo_fold_open(const hilo_eval *e, hilo_inst i, uint32_t n, const hilo_value *inits,
                           const hilo_etype *etypes, hilo_fold_rounding rounding, hilo_fold **out) {
  hilo_fold *f = HILO_NEW_ZEROED(e->scratch, hilo_fold, 1);
  *out = f;
  f->m = e->m;
  f->n = n;
  f->etypes = HILO_NEW_ARRAY(e->scratch, hilo_etype, n);
  memcpy(f->etypes, etypes, n * sizeof(*etypes));
  const hilo_comp region = hilo_inst_called(e->m, i, 0);
  if (hilo_comp_n_params(e->m, region) != 2 * n)
    return hilo_eval_refuse(e, i, "its region does not take two values of each array");
  if (n == 1 && etypes[0] == hilo_value_etype(e, &inits[0]) &&
      etypes[0] == param_etype(e->m, region, 0) && etypes[0] == param_etype(e->m, region, 1))
    recognise(f, region, rounding);
  if (!f->kernel) return open_applied(e, i, region, inits, f);
  hilo_lanes_fill(etypes[0], inits[0].data, HILO_LANES, &f->init);
  return HILO_OK;
}

hilo_etype hilo_fold_etype(const hilo_fold *f, uint32_t k) {
  return f->kernel ? f->etypes[0] : hilo_apply_param_etype(f->apply, k);
}

bool hilo_fold_has_kernel(const hilo_fold *f) { return f->kernel != NULL; }
bool hilo_fold_is_exact(const hilo_fold *f) { return f->kernel && !f->rounds; }

/* ---- with a kernel ---- */

static void combine(const hilo_fold *f, hilo_lanes *acc, hilo_lanes *x, uint32_t n) {
  hilo_lanes *const both[3] = {acc, x, NULL};
  f->kernel(both, n, f->bits);
  if (f->rounds) hilo_lanes_round(f->etypes[0], n, acc);
}

static void step_kernel(hilo_fold *f, uint32_t n, const char *values, const bool *skip) {
  hilo_lanes kept;
  if (skip) memcpy(&kept, &f->acc, n * f->lane_bytes);
  hilo_lanes_load(f->etypes[0], values, 0, n, &f->x);
  combine(f, &f->acc, &f->x, n);
  for (uint32_t k = 0; skip && k < n; k++)
    if (skip[k])
      memcpy((char *)&f->acc + k * f->lane_bytes, (char *)&kept + k * f->lane_bytes, f->lane_bytes);
}

/* Fold lanes 0 … n-1 to the first one. */
static void fold_halves(const hilo_fold *f, hilo_lanes *lanes, uint32_t n) {
  hilo_lanes upper;
  while (n > 1) {
    const uint32_t half = (n + 1) / 2;
    memcpy(&upper, (char *)lanes + half * f->lane_bytes, (n - half) * f->lane_bytes);
    combine(f, lanes, &upper, n - half);
    n = half;
  }
}

void hilo_fold_run(hilo_fold *f, uint64_t count, const char *values, int64_t step) {
  HILO_DCHECK(f->kernel);
  const uint32_t size = hilo_etype_bytes(f->etypes[0]);
  char packed[HILO_LANES * MAX_ELEMENT_BYTES];
  hilo_lanes partial;
  for (uint64_t at = 0; at < count; at += HILO_LANES) {
    const uint32_t n = count - at < HILO_LANES ? (uint32_t)(count - at) : HILO_LANES;
    const char *from = values + (int64_t)at * step * size;
    if (step != 1) hilo_gather_strided(packed, from, step, n, size);
    hilo_lanes_load(f->etypes[0], step == 1 ? from : packed, 0, n, at ? &f->x : &partial);
    if (at) combine(f, &partial, &f->x, n);
  }
  if (!count) return;
  fold_halves(f, &partial, count < HILO_LANES ? (uint32_t)count : HILO_LANES);
  combine(f, &f->acc, &partial, 1);
}

/* ---- without ---- */

/* accs = region(accs, inputs) for n sequences. */
static hilo_status apply_inputs(hilo_fold *f, uint32_t n) {
  for (uint32_t k = 0; k < f->n; k++) f->args[k] = f->accs[k];
  return hilo_apply_run(f->apply, n, f->args, f->accs);
}

/* The elements of array k, converted where the region wants that, are its argument. */
static void set_input(hilo_fold *f, uint32_t k, const char *values, uint64_t n) {
  const hilo_etype to = hilo_apply_param_etype(f->apply, f->n + k);
  if (f->etypes[k] != to) bring(f->etypes[k], to, values, n, f->inputs[k]);
  f->args[f->n + k] = f->etypes[k] != to ? f->inputs[k] : values;
}

static hilo_status step_applied(hilo_fold *f, uint32_t n, const char *const *values,
                                const bool *skip) {
  for (uint32_t k = 0; k < f->n; k++) {
    set_input(f, k, values[k], n);
    if (skip) memcpy(f->saved[k], f->accs[k], n * acc_bytes(f, k));
  }
  const hilo_status status = apply_inputs(f, n);
  for (uint32_t k = 0; skip && k < f->n; k++) {
    const size_t size = acc_bytes(f, k);
    for (uint32_t j = 0; j < n; j++)
      if (skip[j]) memcpy(f->accs[k] + j * size, f->saved[k] + j * size, size);
  }
  return status;
}

/* ---- both ---- */

void hilo_fold_start(hilo_fold *f, uint32_t n) {
  if (f->kernel) {
    memcpy(&f->acc, &f->init, n * f->lane_bytes);
    return;
  }
  for (uint32_t k = 0; k < f->n; k++) memcpy(f->accs[k], f->starts[k], n * acc_bytes(f, k));
}

hilo_status hilo_fold_step(hilo_fold *f, uint32_t n, const char *const *values, const bool *skip) {
  if (!f->kernel) return step_applied(f, n, values, skip);
  step_kernel(f, n, values[0], skip);
  return HILO_OK;
}

void hilo_fold_read(const hilo_fold *f, uint32_t n, char *const *results) {
  if (f->kernel)
    hilo_lanes_store(f->etypes[0], results[0], 0, n, &f->acc);
  else
    for (uint32_t k = 0; k < f->n; k++) memcpy(results[k], f->accs[k], n * acc_bytes(f, k));
}
