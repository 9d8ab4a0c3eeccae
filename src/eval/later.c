/* Operations whose evaluator is not there yet, by family. */
#include "eval/eval_parts.h"

#define LATER(eval)                                                                                \
  hilo_status hilo_eval_op_##eval(const hilo_eval *e, hilo_inst i, const hilo_value *args,         \
                                  hilo_value *out) {                                               \
    (void)args, (void)out;                                                                         \
    return hilo_eval_refuse(e, i, "the evaluator does not have this operation");                   \
  }

/* ---- machine ---- */

LATER(add_dependency)
LATER(after_all)
LATER(async_done)
LATER(async_start)
LATER(async_update)
LATER(call)
LATER(conditional)
LATER(copy_done)
LATER(copy_start)
LATER(custom_call)
LATER(domain)
LATER(fusion)
LATER(opt_barrier)
LATER(parameter)
LATER(while)

/* ---- collectives ---- */

LATER(all_gather)
LATER(all_gather_done)
LATER(all_gather_start)
LATER(all_reduce)
LATER(all_reduce_done)
LATER(all_reduce_start)
LATER(all_to_all)
LATER(collective_broadcast)
LATER(collective_permute)
LATER(collective_permute_done)
LATER(collective_permute_start)
LATER(collective_reduce)
LATER(infeed)
LATER(outfeed)
LATER(partition_id)
LATER(ragged_all_to_all)
LATER(recv)
LATER(recv_done)
LATER(reduce_scatter)
LATER(replica_id)
LATER(send)
LATER(send_done)

/* ---- reductions and sorts ---- */

LATER(scan)
LATER(shuffle)

/* ---- stablehlo only ---- */

LATER(composite)
LATER(cross_replica_sum)
LATER(dynamic_conv)
LATER(einsum)
LATER(torch_index_select)
LATER(trace)
LATER(unary_einsum)
LATER(uniform_dequantize)
LATER(uniform_quantize)
