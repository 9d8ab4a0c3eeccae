/* Movements whose numbers are attributes of one operation and operands of another. Internal to
 * eval. */
#ifndef HILO_EVAL_MOVEMENT_H
#define HILO_EVAL_MOVEMENT_H

#include "eval/eval_parts.h"

/* args[0] padded with args[1] to out->type: element k of dimension d lands at low[d] + k *
 * (interior[d] + 1), what lands outside is cut off. No interior: none anywhere. */
HILO_NODISCARD hilo_status hilo_eval_pad(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                         hilo_dims low, hilo_dims interior, hilo_value *out);
/* Dimension d of `in` becomes to[d] of out->type; a size of 1 stretches to any size. */
HILO_NODISCARD hilo_status hilo_eval_broadcast(const hilo_eval *e, hilo_inst i,
                                               const hilo_value *in, hilo_dims to, hilo_value *out);
/* From `starts` on every strides[d]-th element of `in`, as many as out->type has. */
HILO_NODISCARD hilo_status hilo_eval_slice(const hilo_eval *e, hilo_inst i, const hilo_value *in,
                                           hilo_dims starts, hilo_dims strides, hilo_value *out);

#endif
