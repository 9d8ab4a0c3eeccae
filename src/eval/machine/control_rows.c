/* Rows of ops.def that the machine runs itself, and the small ones around them: token plumbing,
 * barriers, ids of ranks, copies in two halves. */
#include "eval/eval_parts.h"
#include "eval/machine/machine_parts.h"

/* ---- only within a machine ---- */

#define MACHINE_ONLY(eval)                                                                         \
  hilo_status hilo_eval_op_##eval(const hilo_eval *e, hilo_inst i, const hilo_value *args,         \
                                  hilo_value *out) {                                               \
    (void)args, (void)out;                                                                         \
    return hilo_eval_refuse(e, i, "it needs a whole program to run in");                           \
  }

MACHINE_ONLY(all_gather)
MACHINE_ONLY(all_gather_done)
MACHINE_ONLY(all_gather_start)
MACHINE_ONLY(all_reduce)
MACHINE_ONLY(all_reduce_done)
MACHINE_ONLY(all_reduce_start)
MACHINE_ONLY(all_to_all)
MACHINE_ONLY(async_done)
MACHINE_ONLY(async_start)
MACHINE_ONLY(async_update)
MACHINE_ONLY(call)
MACHINE_ONLY(collective_broadcast)
MACHINE_ONLY(collective_permute)
MACHINE_ONLY(collective_permute_done)
MACHINE_ONLY(collective_permute_start)
MACHINE_ONLY(collective_reduce)
MACHINE_ONLY(composite)
MACHINE_ONLY(conditional)
MACHINE_ONLY(copy_done)
MACHINE_ONLY(cross_replica_sum)
MACHINE_ONLY(fusion)
MACHINE_ONLY(infeed)
MACHINE_ONLY(outfeed)
MACHINE_ONLY(parameter)
MACHINE_ONLY(ragged_all_to_all)
MACHINE_ONLY(recv)
MACHINE_ONLY(recv_done)
MACHINE_ONLY(reduce_scatter)
MACHINE_ONLY(send)
MACHINE_ONLY(send_done)
MACHINE_ONLY(while)

/* ---- values of start halves ---- */

hilo_status hilo_zero_value(const hilo_eval *e, hilo_inst i, hilo_type type, hilo_value *out) {
  *out = (hilo_value){.type = type};
  if (hilo_type_is_tuple(&e->m->types, type)) {
    const uint32_t n = hilo_type_n_elements_of_tuple(&e->m->types, type);
    hilo_value *elements = hilo_eval_new_tuple(e, i, n, out);
    if (!elements) return HILO_LIMIT_ERROR;
    /* As deep as the type is nested: at most HILO_MAX_TYPE_DEPTH. */
    for (uint32_t k = 0; k < n; k++)
      HILO_TRY(hilo_zero_value(e, i, hilo_type_element(&e->m->types, type, k), &elements[k]));
    return HILO_OK;
  }
  if (!hilo_type_is_array(&e->m->types, type)) return HILO_OK;
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  memset(data, 0, out->owner->bytes);
  return HILO_OK;
}

/* The operands as one value: alone if `type` is that of the first, else as a tuple. */
static hilo_status operands_value(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                  hilo_type type, hilo_value *out) {
  const uint32_t n = hilo_inst_n_operands(e->m, i);
  if (n && hilo_type_compatible(&e->m->types, type, args[0].type) &&
      !hilo_inst_is(e->m, i, HILO_OP_ASYNC_START)) {
    *out = hilo_value_share(&args[0]);
    return HILO_OK;
  }
  *out = (hilo_value){.type = type};
  hilo_value *elements = hilo_eval_new_tuple(e, i, n, out);
  if (!elements) return HILO_LIMIT_ERROR;
  for (uint32_t k = 0; k < n; k++) elements[k] = hilo_value_share(&args[k]);
  return HILO_OK;
}

hilo_status hilo_start_value(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                             hilo_value result, hilo_value *out) {
  const hilo_store *types = &e->m->types;
  *out = (hilo_value){.type = hilo_inst_type(e->m, i)};
  if (hilo_inst_is(e->m, i, HILO_OP_ALL_REDUCE_START)) {
    *out = result;
    return HILO_OK;
  }
  const uint32_t n = hilo_type_n_elements_of_tuple(types, out->type);
  const uint32_t result_at = hilo_inst_is(e->m, i, HILO_OP_COPY_START) ? 0 : 1;
  hilo_value *elements = hilo_eval_new_tuple(e, i, n, out);
  if (!elements) return HILO_LIMIT_ERROR;
  for (uint32_t k = 0; k < n; k++) {
    const hilo_type type = hilo_type_element(types, out->type, k);
    if (k == result_at)
      elements[k] = result;
    else if (k == 1 - result_at)
      HILO_TRY(operands_value(e, i, args, type, &elements[k]));
    else
      HILO_TRY(hilo_zero_value(e, i, type, &elements[k]));
  }
  return HILO_OK;
}

hilo_status hilo_eval_op_copy_start(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                    hilo_value *out) {
  return hilo_start_value(e, i, args, hilo_value_share(&args[0]), out);
}

/* ---- what hands its operand on ---- */

#define PASSES_ON(eval)                                                                            \
  hilo_status hilo_eval_op_##eval(const hilo_eval *e, hilo_inst i, const hilo_value *args,         \
                                  hilo_value *out) {                                               \
    (void)e, (void)i;                                                                              \
    return hilo_eval_pass_on(&args[0], out);                                                       \
  }

PASSES_ON(add_dependency)
PASSES_ON(domain)
PASSES_ON(opt_barrier)

hilo_status hilo_eval_op_after_all(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                   hilo_value *out) {
  (void)e, (void)i, (void)args, (void)out;
  return HILO_OK; /* a token is nothing but its type */
}

/* It prints in a debugger; its value, if any, is nothing. */
hilo_status hilo_eval_op_trace(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                               hilo_value *out) {
  (void)args;
  return hilo_zero_value(e, i, out->type, out);
}

/* ---- ranks ---- */

static hilo_status rank_id(const hilo_eval *e, hilo_inst i, uint32_t id, hilo_value *out) {
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  memcpy(data, &id, sizeof(id));
  return HILO_OK;
}

hilo_status hilo_eval_op_partition_id(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                      hilo_value *out) {
  (void)args;
  if (!e->machine) return hilo_eval_refuse(e, i, "it needs a whole program to run in");
  return rank_id(e, i, e->rank % e->machine->o->n_partitions, out);
}

hilo_status hilo_eval_op_replica_id(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                    hilo_value *out) {
  (void)args;
  if (!e->machine) return hilo_eval_refuse(e, i, "it needs a whole program to run in");
  return rank_id(e, i, e->rank / e->machine->o->n_partitions, out);
}
