/* Typed 32-bit handles. 0 is "none" in all of them.
 *
 * In debug builds a handle of an instruction or computation carries a tag of its module in the
 * upper bits, checked at every access, so that A's handle used on B is caught. Columns always hold
 * bare indices. */
#ifndef HILO_IR_IDS_H
#define HILO_IR_IDS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  uint32_t ix;
} hilo_inst; /* an instruction: its value, too */
typedef struct {
  uint32_t ix;
} hilo_comp; /* a computation */
typedef struct {
  uint32_t ix;
} hilo_type; /* an interned type */
typedef struct {
  uint32_t ix;
} hilo_record; /* an interned attribute record */
typedef struct {
  uint32_t ix;
} hilo_literal; /* a constant's value */

#define HILO_INST_NONE ((hilo_inst){0})
#define HILO_COMP_NONE ((hilo_comp){0})
#define HILO_TYPE_NONE ((hilo_type){0})
#define HILO_RECORD_NONE ((hilo_record){0})
#define HILO_LITERAL_NONE ((hilo_literal){0})

static inline bool hilo_inst_eq(hilo_inst a, hilo_inst b) { return a.ix == b.ix; }
static inline bool hilo_comp_eq(hilo_comp a, hilo_comp b) { return a.ix == b.ix; }
static inline bool hilo_type_eq(hilo_type a, hilo_type b) { return a.ix == b.ix; }
static inline bool hilo_record_eq(hilo_record a, hilo_record b) { return a.ix == b.ix; }

#endif
