/* Regions of scalars applied to many elements: a lane program where there is one, else the machine,
 * element by element. */
#include "eval/machine/apply.h"

#include "eval/eval_parts.h"
#include "eval/machine/apply_program.h"
#include "eval/machine/machine_parts.h"

enum { WIDEST = 16 };

struct hilo_apply {
  const hilo_eval *e;
  hilo_inst caller;
  hilo_comp region;
  uint32_t n_params, n_results;
  hilo_etype *params, *results; /* element types */
  bool is_program, is_tuple;
  hilo_program program;
  hilo_value *values; /* the parameters of one element, where there is no program; */
  char *staged;       /* and its results, WIDEST bytes each */
};

static bool is_element(const hilo_eval *e, hilo_type type) {
  return hilo_type_is_array(&e->m->types, type) && hilo_type_dims(&e->m->types, type).n == 0;
}

/* Element types of the parameters and results; false: not all of them are single elements. */
static bool find_types(hilo_apply *a) {
  const hilo_eval *e = a->e;
  const hilo_type root = hilo_inst_type(e->m, hilo_comp_root(e->m, a->region));
  a->is_tuple = hilo_type_is_tuple(&e->m->types, root);
  a->n_params = hilo_comp_n_params(e->m, a->region);
  a->n_results = a->is_tuple ? hilo_type_n_elements_of_tuple(&e->m->types, root) : 1;
  a->params = HILO_NEW_ARRAY(e->scratch, hilo_etype, a->n_params + 1);
  a->results = HILO_NEW_ARRAY(e->scratch, hilo_etype, a->n_results + 1);
  for (uint32_t k = 0; k < a->n_params; k++) {
    const hilo_type type = hilo_inst_type(e->m, hilo_comp_param(e->m, a->region, k));
    if (!is_element(e, type)) return false;
    a->params[k] = hilo_type_etype(&e->m->types, type);
  }
  for (uint32_t r = 0; r < a->n_results; r++) {
    const hilo_type type = a->is_tuple ? hilo_type_element(&e->m->types, root, r) : root;
    if (!is_element(e, type)) return false;
    a->results[r] = hilo_type_etype(&e->m->types, type);
  }
  return true;
}

hilo_status hilo_apply_open(const hilo_eval *e, hilo_inst caller, hilo_comp region,
                            hilo_apply **out) {
  hilo_apply *a = HILO_NEW_ZEROED(e->scratch, hilo_apply, 1);
  a->e = e;
  a->caller = caller;
  a->region = region;
  if (!find_types(a))
    return hilo_eval_refuse(e, caller, "its computation takes or gives more than single elements");
  a->is_program = hilo_program_compile(e, region, a->n_results, &a->program);
  if (!a->is_program && !e->machine)
    return hilo_eval_refuse(e, caller, "its computation needs a whole program to run in");
  if (!a->is_program) {
    a->staged = hilo_arena_alloc_array(e->scratch, a->n_results + 1, WIDEST, 16);
    a->values = HILO_NEW_ZEROED(e->scratch, hilo_value, a->n_params + 1);
    for (uint32_t k = 0; k < a->n_params; k++)
      a->values[k].type = hilo_inst_type(e->m, hilo_comp_param(e->m, region, k));
  }
  *out = a;
  return HILO_OK;
}

uint32_t hilo_apply_n_results(const hilo_apply *a) { return a->n_results; }
hilo_etype hilo_apply_param_etype(const hilo_apply *a, uint32_t k) { return a->params[k]; }
hilo_etype hilo_apply_result_etype(const hilo_apply *a, uint32_t k) { return a->results[k]; }

static void apply_program(const hilo_apply *a, uint64_t total, const char *const *args,
                          char *const *results) {
  const hilo_program *p = &a->program;
  for (uint64_t at = 0; at < total; at += HILO_LANES) {
    const uint32_t n = total - at < HILO_LANES ? (uint32_t)(total - at) : HILO_LANES;
    for (uint32_t k = 0; k < a->n_params; k++)
      if (p->params[k] != HILO_NO_SLOT)
        hilo_lanes_load(a->params[k], args[k], at, n, &p->slots[p->params[k]]);
    hilo_program_run(a->e->m, p, n);
    for (uint32_t r = 0; r < a->n_results; r++)
      hilo_lanes_store(a->results[r], results[r], at, n, &p->slots[p->results[r]]);
  }
}

/* One element through the machine. */
static hilo_status apply_once(const hilo_apply *a, uint64_t at, const char *const *args,
                              char *const *results) {
  const hilo_eval *e = a->e;
  hilo_value result;
  for (uint32_t k = 0; k < a->n_params; k++)
    a->values[k].data = args[k] + at * hilo_etype_bytes(a->params[k]);
  HILO_TRY(hilo_machine_call(e, a->caller, a->region, a->values, &result));
  for (uint32_t r = 0; r < a->n_results; r++) {
    const char *from = a->is_tuple ? result.elements[r].data : result.data;
    memcpy(a->staged + r * WIDEST, from, hilo_etype_bytes(a->results[r]));
  }
  /* Only now: a result may be a parameter, whose place another result takes. */
  for (uint32_t r = 0; r < a->n_results; r++) {
    const uint32_t bytes = hilo_etype_bytes(a->results[r]);
    memcpy(results[r] + at * bytes, a->staged + r * WIDEST, bytes);
  }
  hilo_value_release(e, &result);
  return HILO_OK;
}

hilo_status hilo_apply_run(hilo_apply *a, uint64_t n, const char *const *args,
                           char *const *results) {
  if (a->is_program) {
    apply_program(a, n, args, results);
    return HILO_OK;
  }
  for (uint64_t k = 0; k < n; k++) HILO_TRY(apply_once(a, k, args, results));
  return HILO_OK;
}
