#include "eval/reductions/fold_arrays.h"

#include "eval/movement/element_moves.h"
#include "eval/results.h"

enum { MAX_ELEMENT_BYTES = 16 };

hilo_status hilo_fold_arrays_open(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                  hilo_fold_rounding rounding, hilo_value *out,
                                  hilo_fold_arrays *a) {
  const uint32_t n = hilo_inst_n_operands(e->m, i) / 2;
  *a = (hilo_fold_arrays){.n = n,
                          .values = HILO_NEW_ARRAY(e->scratch, const char *, n),
                          .in = HILO_NEW_ARRAY(e->scratch, const char *, n),
                          .packed = HILO_NEW_ARRAY(e->scratch, char *, n),
                          .out = HILO_NEW_ARRAY(e->scratch, char *, n),
                          .data = HILO_NEW_ARRAY(e->scratch, char *, n),
                          .in_bytes = HILO_NEW_ARRAY(e->scratch, uint32_t, n),
                          .out_bytes = HILO_NEW_ARRAY(e->scratch, uint32_t, n)};
  hilo_etype *etypes = HILO_NEW_ARRAY(e->scratch, hilo_etype, n);
  for (uint32_t k = 0; k < n; k++) etypes[k] = hilo_value_etype(e, &args[k]);
  hilo_status status = hilo_fold_open(e, i, n, args + n, etypes, rounding, &a->fold);
  if (status == HILO_OK) status = hilo_eval_new_results(e, i, n, out, a->data);
  if (status != HILO_OK) return status;
  for (uint32_t k = 0; k < n; k++) {
    a->in[k] = args[k].data;
    a->in_bytes[k] = hilo_etype_bytes(etypes[k]);
    a->out_bytes[k] = hilo_etype_bytes(hilo_fold_etype(a->fold, k));
    a->packed[k] = hilo_arena_alloc(e->scratch, HILO_LANES * MAX_ELEMENT_BYTES, 64);
  }
  return HILO_OK;
}

const char *const *hilo_fold_values_gathered(const hilo_fold_arrays *a, const int64_t *at,
                                             int64_t offset, uint32_t n) {
  for (uint32_t k = 0; k < a->n; k++) {
    const uint32_t size = a->in_bytes[k];
    hilo_gather_elements(a->packed[k], a->in[k] + offset * size, at, n, size);
    a->values[k] = a->packed[k];
  }
  return a->values;
}

void hilo_fold_arrays_store(const hilo_fold_arrays *a, uint64_t first, uint32_t n) {
  for (uint32_t k = 0; k < a->n; k++) a->out[k] = a->data[k] + first * a->out_bytes[k];
  hilo_fold_read(a->fold, n, a->out);
}

void hilo_fold_arrays_scatter(const hilo_fold_arrays *a, const int64_t *at, uint32_t n) {
  hilo_fold_read(a->fold, n, a->packed);
  for (uint32_t k = 0; k < a->n; k++)
    hilo_scatter_elements(a->data[k], at, a->packed[k], n, a->out_bytes[k]);
}
