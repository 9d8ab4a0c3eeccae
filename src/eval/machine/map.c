/* map: the computation applied to all elements of its operands. */
#include "eval/machine/apply.h"
#include "eval/results.h"

static bool takes_elements(const hilo_eval *e, const hilo_apply *a, const hilo_value *args,
                           uint32_t n, hilo_etype gives) {
  for (uint32_t k = 0; k < n; k++)
    if (hilo_apply_param_etype(a, k) != hilo_value_etype(e, &args[k])) return false;
  return hilo_apply_n_results(a) == 1 && hilo_apply_result_etype(a, 0) == gives;
}

hilo_status hilo_eval_op_map(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                             hilo_value *out) {
  const uint32_t n = hilo_inst_n_operands(e->m, i);
  const hilo_comp f = hilo_inst_called(e->m, i, 0);
  hilo_apply *a;
  const hilo_status status = hilo_apply_open(e, i, f, &a);
  if (status != HILO_OK) return status;
  if (hilo_comp_n_params(e->m, f) != n || !takes_elements(e, a, args, n, hilo_value_etype(e, out)))
    return hilo_eval_refuse(e, i, "its computation does not take elements of its operands");
  char *data;
  HILO_TRY(hilo_eval_new_results(e, i, 1, out, &data));
  const char **elements = HILO_NEW_ARRAY(e->scratch, const char *, n);
  for (uint32_t k = 0; k < n; k++) elements[k] = args[k].data;
  return hilo_apply_run(a, hilo_value_n_elements(e, out), elements, &data);
}
