/* Python references of elementwise operations. Internal to penguin. */
#ifndef HILO_PENGUIN_ELEMENTWISE_H
#define HILO_PENGUIN_ELEMENTWISE_H

#include "ir/op.h"

/* `np.exp`, `mP.erf`; NULL if the operation is none. The element type is the operand's. */
const char *hilo_unary_ref(hilo_op op, hilo_etype etype);
const char *hilo_binary_ref(hilo_op op, hilo_etype etype);
const char *hilo_compare_ref(hilo_compare_direction direction);

#endif
