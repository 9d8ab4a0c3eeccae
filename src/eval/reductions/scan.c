/* scan: a computation goes along one dimension of its inputs, from the first index to the last or
 * back, and carries values from step to step. It takes a slice of each input and the carries, and
 * gives a slice of each output and the carries for the next step.
 *
 * A computation of single elements is applied in place (apply.h), others are called in the machine.
 */
#include "eval/machine/apply.h"
#include "eval/machine/machine_parts.h"
#include "eval/results.h"

typedef struct {
  const hilo_eval *e;
  hilo_inst inst;
  hilo_comp region;
  uint32_t n_inputs, n_carries, n_outputs;
  uint64_t size;
  int64_t dimension;
  bool is_reverse;
  const hilo_value *args;
  hilo_value *results; /* outputs, then carries */
} scan;

static uint64_t index_of_step(const scan *s, uint64_t step) {
  return s->is_reverse ? s->size - 1 - step : step;
}

static bool is_element(const hilo_eval *e, hilo_type type) {
  return hilo_type_is_array(&e->m->types, type) && hilo_type_dims(&e->m->types, type).n == 0;
}

/* Do all slices and carries have rank 0? */
static bool is_of_elements(const scan *s) {
  const hilo_module *m = s->e->m;
  const hilo_type root = hilo_inst_type(m, hilo_comp_root(m, s->region));
  for (uint32_t k = 0; k < s->n_inputs + s->n_carries; k++)
    if (!is_element(s->e, hilo_inst_type(m, hilo_comp_param(m, s->region, k)))) return false;
  for (uint32_t k = 0; k < s->n_outputs + s->n_carries; k++)
    if (!is_element(s->e, hilo_type_element(&m->types, root, k))) return false;
  return true;
}

/* ---- single elements ---- */

static hilo_status scan_elements(const scan *s, char *const *outputs) {
  const hilo_eval *e = s->e;
  const uint32_t n_args = s->n_inputs + s->n_carries, n_results = s->n_outputs + s->n_carries;
  const char **args = HILO_NEW_ARRAY(e->scratch, const char *, n_args + 1);
  char **results = HILO_NEW_ARRAY(e->scratch, char *, n_results + 1);
  hilo_apply *a;
  HILO_TRY(hilo_apply_open(e, s->inst, s->region, &a));
  for (uint32_t c = 0; c < s->n_carries; c++) {
    const hilo_value *init = &s->args[s->n_inputs + c];
    hilo_value *carry = &s->results[s->n_outputs + c];
    char *data = hilo_eval_new_array(e, s->inst, carry);
    if (!data) return HILO_LIMIT_ERROR;
    memcpy(data, init->data, hilo_etype_bytes(hilo_value_etype(e, init)));
    args[s->n_inputs + c] = results[s->n_outputs + c] = data;
  }
  for (uint64_t step = 0; step < s->size; step++) {
    const uint64_t at = index_of_step(s, step);
    for (uint32_t k = 0; k < s->n_inputs; k++)
      args[k] = s->args[k].data + at * hilo_etype_bytes(hilo_value_etype(e, &s->args[k]));
    for (uint32_t k = 0; k < s->n_outputs; k++)
      results[k] = outputs[k] + at * hilo_etype_bytes(hilo_value_etype(e, &s->results[k]));
    HILO_TRY(hilo_apply_run(a, 1, args, results));
  }
  return HILO_OK;
}

/* ---- slices ---- */

/* Bytes of a slice's run that lies in one piece in the array, and how many runs there are. */
static uint64_t run_bytes(const scan *s, const hilo_value *array, uint64_t *n_runs) {
  const hilo_dims dims = hilo_type_dims(&s->e->m->types, array->type);
  uint64_t bytes = hilo_etype_bytes(hilo_value_etype(s->e, array));
  *n_runs = 1;
  for (uint32_t d = 0; d < dims.n; d++) {
    if (d < s->dimension) *n_runs *= (uint64_t)dims.v[d];
    if (d > s->dimension) bytes *= (uint64_t)dims.v[d];
  }
  return bytes;
}

static void read_slice(const scan *s, const hilo_value *array, uint64_t at, char *slice) {
  uint64_t n_runs;
  const uint64_t bytes = run_bytes(s, array, &n_runs);
  for (uint64_t r = 0; bytes && r < n_runs; r++)
    memcpy(slice + r * bytes, array->data + (r * s->size + at) * bytes, bytes);
}
static void write_slice(const scan *s, const hilo_value *array, uint64_t at, const char *slice,
                        char *data) {
  uint64_t n_runs;
  const uint64_t bytes = run_bytes(s, array, &n_runs);
  for (uint64_t r = 0; bytes && r < n_runs; r++)
    memcpy(data + (r * s->size + at) * bytes, slice + r * bytes, bytes);
}

/* `values`: room for the arguments; its carries are those of the step before, and become those of
 * the next one. */
static hilo_status scan_slice(const scan *s, uint64_t at, hilo_value *values,
                              char *const *outputs) {
  const hilo_eval *e = s->e;
  for (uint32_t k = 0; k < s->n_inputs; k++) {
    values[k] = (hilo_value){.type = hilo_inst_type(e->m, hilo_comp_param(e->m, s->region, k))};
    char *slice = hilo_eval_new_array(e, s->inst, &values[k]);
    if (!slice) return HILO_LIMIT_ERROR;
    read_slice(s, &s->args[k], at, slice);
  }
  hilo_value result;
  HILO_TRY(hilo_machine_call(e, s->inst, s->region, values, &result));
  for (uint32_t k = 0; k < s->n_inputs + s->n_carries; k++) hilo_value_release(e, &values[k]);
  for (uint32_t k = 0; k < s->n_outputs; k++)
    write_slice(s, &s->results[k], at, result.elements[k].data, outputs[k]);
  for (uint32_t c = 0; c < s->n_carries; c++)
    values[s->n_inputs + c] = hilo_value_share(&result.elements[s->n_outputs + c]);
  hilo_value_release(e, &result);
  return HILO_OK;
}

static hilo_status scan_slices(const scan *s, char *const *outputs) {
  const hilo_eval *e = s->e;
  if (!e->machine)
    return hilo_eval_refuse(e, s->inst, "its computation needs a whole program to run in");
  hilo_value *values = HILO_NEW_ZEROED(e->scratch, hilo_value, s->n_inputs + s->n_carries + 1);
  for (uint32_t c = 0; c < s->n_carries; c++)
    values[s->n_inputs + c] = hilo_value_share(&s->args[s->n_inputs + c]);
  for (uint64_t step = 0; step < s->size; step++)
    HILO_TRY(scan_slice(s, index_of_step(s, step), values, outputs));
  for (uint32_t c = 0; c < s->n_carries; c++)
    s->results[s->n_outputs + c] = values[s->n_inputs + c];
  return HILO_OK;
}

/* ---- both ---- */

hilo_status hilo_eval_op_scan(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                              hilo_value *out) {
  const hilo_scan_attrs attrs = hilo_attrs(e->m, i, scan);
  const uint32_t n_results = hilo_type_n_elements_of_tuple(&e->m->types, out->type);
  scan s = {.e = e,
            .inst = i,
            .region = hilo_inst_called(e->m, i, 0),
            .n_carries = (uint32_t)attrs.num_carries,
            .dimension = attrs.dimension,
            .is_reverse = attrs.is_reverse,
            .args = args};
  s.n_inputs = hilo_inst_n_operands(e->m, i) - s.n_carries;
  s.n_outputs = n_results - s.n_carries;
  if (!s.n_inputs) return hilo_eval_refuse(e, i, "it has no input that says how long it is");
  s.size = (uint64_t)hilo_type_dims(&e->m->types, args[0].type).v[attrs.dimension];
  s.results = hilo_eval_new_typed_tuple(e, i, out);
  char **outputs = HILO_NEW_ARRAY(e->scratch, char *, s.n_outputs + 1);
  if (!s.results) return HILO_LIMIT_ERROR;
  for (uint32_t k = 0; k < s.n_outputs; k++) {
    outputs[k] = hilo_eval_new_array(e, i, &s.results[k]);
    if (!outputs[k]) return HILO_LIMIT_ERROR;
  }
  return is_of_elements(&s) ? scan_elements(&s, outputs) : scan_slices(&s, outputs);
}
