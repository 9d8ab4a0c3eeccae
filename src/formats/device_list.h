/* Lists of devices that a file gives as a formula: iota forms and groups over axes of a mesh. */
#ifndef HILO_FORMATS_DEVICE_LIST_H
#define HILO_FORMATS_DEVICE_LIST_H

#include "ir/records.h"

enum { HILO_MAX_LISTED_DEVICES = 1 << 20 };

/* 0 … n-1 as an array of shape `reshape`, transposed by `perm` (empty: not), read row-major. */
typedef struct {
  hilo_dims reshape, perm;
} hilo_iota;

/* The product, or -1 if a factor is not positive or it is beyond HILO_MAX_LISTED_DEVICES. */
int64_t hilo_devices_product(hilo_dims sizes);
/* What is wrong with it (static text), NULL if nothing. */
const char *hilo_iota_fault(const hilo_iota *iota);
/* XLA's canonical form: dimensions of size 1 dropped, those that stay neighbours merged; perm empty
 * where nothing moves. Of an iota without fault. */
hilo_iota hilo_iota_canonical(const hilo_iota *iota, hilo_arena *arena);
hilo_dims hilo_iota_expand(const hilo_iota *iota, hilo_arena *arena);

/* An axis of a mesh, or the middle factor `size` of it: the axis is split into pre_size, size and
 * the rest. */
typedef struct {
  int64_t axis;
  int64_t pre_size, size; /* pre_size 0: the whole axis */
} hilo_mesh_axis;

/* The groups of devices that differ only in their coordinates along `axes`; in order of the other
 * coordinates, members in order of `axes`, the first one slowest. `devices`: those of the mesh,
 * row-major. NULL if it went well, else what is wrong (static text). */
const char *hilo_mesh_groups(hilo_dims axis_sizes, hilo_dims devices, const hilo_mesh_axis *axes,
                             uint32_t n_axes, hilo_arena *arena, hilo_dims *sizes, hilo_dims *ids);

#endif
