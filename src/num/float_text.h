/* Text of floating-point values: HLO and Python renderings, and the reader of both.
 *
 *   HLO     what XLA prints for literals: `%.Ng` with N enough for the format, where f32 and f64
 * first try 6 and 15 digits. `1`, `0.1`, `1e-06`, `-0`, `inf`, `-nan`, `nan(0x1)`. Python  the
 * shortest digits that read back as the same bits *of this format*, of those the nearest to the
 * value, laid out as Python's repr: `1.0`, `0.1`, `1e-06`, `1e+16`, `-0.0`. For f64 it is repr(x).
 * Infinity and NaN come out as `inf`, `-inf`, `nan`: names that Python does not know, so the caller
 * writes them its own way.
 *
 * Either text, read by hilo_float_parse in the format it was printed from, gives the same bits, but
 * for sign and payload of a NaN, which the Python form leaves out. */
#ifndef HILO_NUM_FLOAT_TEXT_H
#define HILO_NUM_FLOAT_TEXT_H

#include "num/float_format.h"
#include "num/num_status.h"

/* No rendering is longer; there is no NUL behind it. */
enum { HILO_FLOAT_TEXT_MAX = 32 };

/* Write at most HILO_FLOAT_TEXT_MAX bytes to `out`; the count is returned. */
size_t hilo_float_print_hlo(char *out, hilo_float_format f, uint64_t bits);
size_t hilo_float_print_python(char *out, hilo_float_format f, uint64_t bits);

/* Read one number, the whole of `text`:
 *   [+-] digits [. digits] [e [+-] digits]     digits on at least one side of the point
 *   [+-] 0x hexdigits [. hexdigits] p [+-] digits
 *   [+-] inf | nan | nan(0xPAYLOAD)
 * correctly rounded, once, to `f`; any number of digits. HILO_NUM_RANGE: a finite number too large
 * for the format (or for f8e8m0fnu zero or negative), or a payload that it cannot hold; *bits is
 * then what hilo_float_from_double would make of it. An `inf` or `nan` that the format lacks is
 * converted likewise, with HILO_NUM_OK, as in XLA. Too small is no error. HILO_NUM_SYNTAX leaves
 * *bits alone. */
hilo_num_status hilo_float_parse(hilo_str text, hilo_float_format f, uint64_t *bits) HILO_NODISCARD;

/* The same for the longest number at the start of `text`; *used is its length, 0 if there is none.
 * For readers that would otherwise have to find the end first. */
hilo_num_status hilo_float_scan(hilo_str text, hilo_float_format f, uint64_t *bits,
                                size_t *used) HILO_NODISCARD;

#endif
