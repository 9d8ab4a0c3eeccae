/* numpy's .npy files. */
#ifndef HILO_FORMATS_NPY_H
#define HILO_FORMATS_NPY_H

#include "base/diag.h"
#include "ir/records.h"

typedef struct {
  hilo_etype etype;
  hilo_dims shape;
  hilo_str data; /* row-major, little endian, elements as in a literal (etypes.def) */
} hilo_npy;

/* Versions 1 to 3, both byte orders, C and Fortran order. Raw elements of 1, 2 or 4 bytes (`|V2`)
 * are of the type that `<path>.meta` names ({"ml_dtype": "float8_e5m2"}); without it `|V2` is bf16,
 * and the others are an error, as are pickled objects. Everything is in `arena`. */
HILO_NODISCARD hilo_status hilo_npy_read(hilo_arena *arena, const char *path, hilo_diags *diags,
                                         hilo_npy *out);
/* The same for the bytes of one, which must outlive the array: a member of an archive, or one made
 * in memory. There is no side file: raw elements are unsigned integers of their size. `name` is for
 * messages. */
HILO_NODISCARD hilo_status hilo_npy_parse(hilo_arena *arena, hilo_str bytes, const char *name,
                                          hilo_diags *diags, hilo_npy *out);

/* Append the head (version 1) of an array whose elements, row-major and as in a literal, follow.
 * Types that numpy lacks are raw bits: unsigned integers of one or two bytes. */
void hilo_npy_put_head(hilo_etype etype, hilo_dims shape, hilo_sb *out);

#endif
