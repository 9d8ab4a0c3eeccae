/* Copying parts of a module into another one that stands on its intern tables (hilo_module_create
 * with a base): instruction by instruction, with the computations that they call. The source is
 * only read, so that threads may share it. Cost: what is copied. */
#ifndef HILO_IR_TRANSPLANT_H
#define HILO_IR_TRANSPLANT_H

#include "ir/module.h"

typedef struct {
  const hilo_module *from;
  hilo_module *to;
  hilo_map inst, comp, literal; /* bare indices of from → of to */
} hilo_transplant;

hilo_transplant hilo_transplant_make(const hilo_module *from, hilo_module *to);
void hilo_transplant_end(hilo_transplant *t);

/* What stands for an instruction of the source. */
void hilo_transplant_set(hilo_transplant *t, hilo_inst from, hilo_inst to);
bool hilo_transplant_has(const hilo_transplant *t, hilo_inst from);
hilo_inst hilo_transplant_get(const hilo_transplant *t,
                              hilo_inst from); /* HILO_INST_NONE: nothing */

/* Append a copy of `i` to `comp`. Its operands have been copied or set. Name, ordinal, metadata and
 * control edges from copied instructions are kept (names where they are free). */
hilo_inst hilo_transplant_inst(hilo_transplant *t, hilo_inst i, hilo_comp comp);

#endif
