/* numpy's .npz files: zip archives whose members are .npy files. */
#ifndef HILO_FORMATS_NPZ_H
#define HILO_FORMATS_NPZ_H

#include "formats/npy.h"

typedef struct {
  hilo_str name; /* without `.npy` */
  hilo_npy array;
} hilo_npz_member;

typedef struct {
  const hilo_npz_member *v; /* in the order of the archive's directory */
  uint32_t n;
} hilo_npz;

/* The whole archive: stored and deflated members, zip64 where the file uses it; sizes and check
 * sums are compared with what the directory says. Raw elements (`|V2`) are unsigned integers of
 * their size. Everything is in `arena`. NCC_EMOD930 for a damaged archive, NCC_EMOD909 for a
 * member. */
HILO_NODISCARD hilo_status hilo_npz_read(hilo_arena *arena, const char *path, hilo_diags *diags,
                                         hilo_npz *out);
/* The array of this name, NULL: there is none. */
const hilo_npy *hilo_npz_find(const hilo_npz *npz, hilo_str name);

/* One array of a file to be written: the elements of `n_parts` pieces, one behind the other. */
typedef struct {
  hilo_str name;
  hilo_etype etype;
  hilo_dims shape;
  const hilo_str *parts;
  uint32_t n_parts;
} hilo_npz_array;

/* Write an archive of stored members, as numpy.savez does; equal arrays give equal bytes. Types
 * that numpy lacks are raw bits (hilo_npy_put_head). `scratch` is for the heads. */
HILO_NODISCARD hilo_status hilo_npz_write(hilo_arena *scratch, const char *path,
                                          const hilo_npz_array *arrays, uint32_t n,
                                          hilo_diags *diags);

#endif
