/* hlo-run --share-buffers: aliased outputs are written over their parameters.
 *
 * The module is first given the copies that make this safe (steps 26 and 29, behind inlining,
 * unrolling and the removal of barriers). Then, when the instruction that an aliased output is has
 * run, its bytes replace the parameter's, so that whoever reads the parameter later reads the
 * output. Copies have bytes of their own in such a run; reshapes show their operand's. */
#ifndef HILO_DRIVER_RUN_SHARE_H
#define HILO_DRIVER_RUN_SHARE_H

#include "base/log.h"
#include "driver/config.h"
#include "eval/machine.h"

typedef struct {
  const hilo_module *m;
  char **bytes;   /* per rank and pair: the parameter's */
  uint32_t *pair; /* per instruction: 1 + its pair; 0: no aliased output */
  uint32_t n_pairs;
  /* Whom to tell afterwards; may be NULL. */
  void (*observe)(void *user, uint32_t rank, hilo_inst i, const hilo_value *value);
  void *user;
} hilo_sharing;

HILO_NODISCARD hilo_status hilo_share_legalize(hilo_module *m, const hilo_config *config,
                                               hilo_log *log, hilo_diags *diags);
/* The parameters of aliases get bytes of their own in `arena`, in ranks[…].args. */
void hilo_share_make(hilo_sharing *s, const hilo_module *m, hilo_comp c, hilo_rank *ranks,
                     uint32_t n_ranks, hilo_arena *arena);
/* For hilo_machine_options; user is the hilo_sharing. */
void hilo_share_observe(void *user, uint32_t rank, hilo_inst i, const hilo_value *value);

#endif
