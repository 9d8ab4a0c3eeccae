/* Python literals. */
#ifndef HILO_PENGUIN_PYTEXT_H
#define HILO_PENGUIN_PYTEXT_H

#include "ir/records.h"

/* Append a string literal of the source. */
#define HILO_PUT(sb, literal) hilo_sb_bytes((sb), (literal), sizeof(literal) - 1)

/* The inside of a string literal in the given quotes: backslash, that quote and control bytes are
 * escaped, UTF-8 stands as it is, other bytes as `\xNN`. */
void hilo_py_string(hilo_sb *sb, hilo_str s, char quote);
void hilo_py_tuple(hilo_sb *sb, hilo_dims dims); /* `(1,2)`, `(1,)`, `()` */
void hilo_py_list(hilo_sb *sb, hilo_dims dims);  /* `[1, 2]` */
static inline void hilo_py_bool(hilo_sb *sb, bool b) {
  b ? HILO_PUT(sb, "True") : HILO_PUT(sb, "False");
}
/* An element of an array of this type: `1.0`, `float('-inf')`, `-3`, `True`. Not for complex. */
void hilo_py_scalar(hilo_sb *sb, hilo_etype etype, uint64_t bits);
/* The bits of an element in memory. */
uint64_t hilo_py_load(hilo_etype etype, const char *at);
/* A double rounded to a floating-point element type, as bits. */
uint64_t hilo_py_float_bits(hilo_etype etype, double value);
bool hilo_py_is_nan(hilo_etype etype, uint64_t bits);
bool hilo_py_is_inf(hilo_etype etype, uint64_t bits);

#endif
