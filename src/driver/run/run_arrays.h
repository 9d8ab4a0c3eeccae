/* Arrays between files and the evaluator: the flat parameters and results of a module, a slice a
 * rank.
 *
 * Parameters and results are numbered flat, tuples depth first; tokens have a place in the lists
 * here, so that a pass that turns them into arrays can be followed, but no number in files. In a
 * file with several ranks every array has a leading axis of one slice a rank, replica-major; here
 * the slices are apart. Elements are those of literals (ir/etypes.def). */
#ifndef HILO_DRIVER_RUN_ARRAYS_H
#define HILO_DRIVER_RUN_ARRAYS_H

#include "eval/eval.h"
#include "formats/npz.h"

typedef struct {
  hilo_etype etype;          /* HILO_TOKEN: no slices */
  hilo_dims dims;            /* of one slice */
  uint64_t n;                /* elements of one slice */
  const char *const *slices; /* one a rank */
} hilo_array;

typedef struct {
  hilo_array *v;
  uint32_t n, n_ranks;
} hilo_arrays;

/* An array parameter, or an array within a tuple parameter. */
typedef struct {
  uint32_t param;
  hilo_type type;
  hilo_dims path; /* tuple positions, outermost first */
} hilo_leaf;
typedef struct {
  hilo_leaf *v;
  uint32_t n;
} hilo_leaves;

/* The leaves of the parameters, in order, tokens included. */
hilo_leaves hilo_leaves_of_params(const hilo_module *m, hilo_comp c, hilo_arena *arena);
/* The number of leaf `k` in files: how many arrays come before it. */
uint32_t hilo_leaf_number(const hilo_module *m, const hilo_leaves *leaves, uint32_t k);

/* `npy`, as read from a file, as the array that `type` asks for, of n_ranks slices. Unsigned
 * integers may be the raw bits of a type that numpy lacks; integers of another width are taken if
 * every value survives. `what` names it in the error. */
HILO_NODISCARD hilo_status hilo_array_from_npy(hilo_arena *arena, const hilo_store *types,
                                               hilo_type type, const hilo_npy *npy,
                                               uint32_t n_ranks, const char *what,
                                               hilo_diags *diags, hilo_array *out);
/* The array as the element type of `type`, dimensions being equal: integers and preds by value, a
 * token as u8 zero. For modules whose parameters a pass has given other types. False: they do not
 * fit. */
bool hilo_array_convert(hilo_arena *arena, const hilo_store *types, const hilo_array *array,
                        hilo_type type, uint32_t n_ranks, hilo_array *out);

/* The values of the parameters of `c` for one rank. inputs->v is in the order of `leaves`. Types of
 * run-time shapes are interned in m->types. */
hilo_value *hilo_arrays_to_params(hilo_module *m, hilo_comp c, const hilo_leaves *leaves,
                                  const hilo_arrays *inputs, uint32_t rank, hilo_arena *arena);
/* The flat results of all ranks; they refer to the values' bytes. Ranks that disagree in a shape
 * are an error. */
HILO_NODISCARD hilo_status hilo_arrays_of_results(const hilo_module *m, const hilo_value *results,
                                                  uint32_t n_ranks, hilo_arena *arena,
                                                  hilo_diags *diags, hilo_arrays *out);

/* One value as an array of one rank, whose slice is *slice; a token where it is no array. */
hilo_array hilo_array_of_value(const hilo_module *m, const hilo_value *value, const char **slice);

/* out0, out1, … of an archive. */
HILO_NODISCARD hilo_status hilo_arrays_write(hilo_arena *scratch, const hilo_arrays *arrays,
                                             const char *path, hilo_diags *diags);

#endif
