/* The table of powers of ten: 684 entries, 10.7 KiB, computed with big integers and checked against
 * them in tests/unit/float_text_test.c. Printing needs 10^-307..10^340, parsing 10^-342..10^308. */
#include "num/pow10.h"

const hilo_pow10 hilo_pow10_table[HILO_POW10_MAX - HILO_POW10_MIN + 1] = {
#include "num/pow10_table.inc"
};
