/* What values can an integer take? One forward pass per computation over constants, iota, converts
 * from narrower types, movement, and the arithmetic that intervals follow easily. Values of types
 * below 64 bits are always known, by their type at worst; a 64-bit value may be unknown. */
#ifndef HILO_PASSES_INT_RANGE_H
#define HILO_PASSES_INT_RANGE_H

#include "ir/module.h"

__extension__ typedef __int128 hilo_wide_int;

typedef struct {
  hilo_wide_int lo, hi;
  bool known;
} hilo_int_range;

typedef struct {
  const hilo_module *m;
  hilo_int_range *of; /* per slot that existed when this was made */
  uint32_t n_slots;
} hilo_int_ranges;

/* Ranges of the integer and pred instructions of all computations. Linear, dense constants
 * included. */
hilo_int_ranges hilo_int_ranges_make(const hilo_module *m, hilo_arena *arena);
hilo_int_range hilo_int_range_get(const hilo_int_ranges *ranges, hilo_inst i);
/* Does every value of the range fit the type of half the width, s32 for s64 and u32 for u64? */
bool hilo_int_range_fits_32(hilo_int_range range, hilo_etype etype);
/* The range of the exact product of two known ranges. */
hilo_int_range hilo_int_range_product(hilo_int_range a, hilo_int_range b);
/* The constant behind broadcasts, reshapes, copies and integer converts; none if there is none. */
hilo_inst hilo_int_constant_behind(const hilo_module *m, hilo_inst i);

#endif
