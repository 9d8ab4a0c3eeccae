/* Custom calls of LAPACK routines, as JAX writes them for CPUs: `lapack_<type><routine>_ffi`, type
 * one of s, d, c, z. There are potrf, trsm, getrf, geqrf, orgqr and ungqr, syevd and heevd.
 * Matrices are the trailing two dimensions; layouts do not matter. Internal to eval. */
#ifndef HILO_EVAL_LAPACK_H
#define HILO_EVAL_LAPACK_H

#include "eval/eval_parts.h"

/* Is this target one of LAPACK's, there or not? */
bool hilo_lapack_has_name(hilo_str target);
/* Evaluate a custom call of such a target. Routines that are not there are refused by name. */
HILO_NODISCARD hilo_status hilo_lapack_call(const hilo_eval *e, hilo_inst i, hilo_str target,
                                            const hilo_value *args, hilo_value *out);

#endif
