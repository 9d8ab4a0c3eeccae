/* The float format of a floating-point element type: the two lists have the same names. */
#ifndef HILO_IR_ETYPE_FORMAT_H
#define HILO_IR_ETYPE_FORMAT_H

#include "ir/op.h"
#include "num/float_format.h"

/* The format of a float, or of the two parts of a complex number. `etype` is one of these. */
static inline hilo_float_format hilo_etype_float_format(hilo_etype etype) {
  switch (etype) {
#define HILO_FLOAT(id, name, bits, e, m, bias, specials, digits)                                   \
  case HILO_##id:                                                                                  \
    return HILO_FLOAT_##id;
#include "num/float_format.def"
#undef HILO_FLOAT
  case HILO_C64: return HILO_FLOAT_F32;
  case HILO_C128: return HILO_FLOAT_F64;
  default: hilo_check_failed(__FILE__, __LINE__, "an element type with a float format");
  }
}

#endif
