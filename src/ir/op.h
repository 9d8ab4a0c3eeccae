/* Operations and element types: the enums made from ops.def and etypes.def, and their properties.
 */
#ifndef HILO_IR_OP_H
#define HILO_IR_OP_H

#include "base/str.h"

typedef enum {
  HILO_OP_DEAD = 0, /* a slot whose instruction was erased */
#define HILO_OP(op, hlo, mlir, min, max, family, traits, shape, eval, emitter) HILO_OP_##op,
#include "ir/ops.def"
#undef HILO_OP
  HILO_OP_COUNT
} hilo_op;

enum {
  HILO_TRAIT_PURE = 1 << 0,        /* no effect but its result; may be duplicated, moved, dropped */
  HILO_TRAIT_ELEMENTWISE = 1 << 1, /* pure, and result[i] depends on operands[i] only */
  HILO_TRAIT_COMMUTATIVE = 1 << 2,
  HILO_TRAIT_COLLECTIVE = 1 << 3,
  HILO_TRAIT_CALLS = 1 << 4, /* has called computations; as pure as these are */
  HILO_TRAIT_SIDE_EFFECT = 1 << 5,
  HILO_TRAIT_TRANSFER = 1 << 6, /* send, recv and their done halves */
  HILO_TRAIT_ASYNC_START = 1 << 7,
  HILO_TRAIT_ASYNC_DONE = 1 << 8,
  HILO_TRAIT_RNG = 1 << 9,      /* droppable, but two of them are not the same */
  HILO_TRAIT_VIEW = 1 << 10,    /* moves no data: tuple, get-tuple-element */
  HILO_TRAIT_ORDER = 1 << 11,   /* token plumbing */
  HILO_TRAIT_BARRIER = 1 << 12, /* optimisation barrier */
};

/* What the `attr` column of an instruction holds. Record families carry the same number
 * (records.h). */
typedef enum {
  HILO_FAMILY_none,
  HILO_FAMILY_index,
  HILO_FAMILY_literal,
#define HILO_RECORD(family) HILO_FAMILY_##family,
#include "ir/records_expand.h"
  HILO_FAMILY_COUNT
} hilo_family;

typedef struct {
  const char *hlo;                    /* "": HLO has no such operation */
  const char *mlir;                   /* spellings, see ops.def */
  int16_t min_operands, max_operands; /* max -1: any number */
  uint16_t traits;
  uint8_t family; /* hilo_family */
} hilo_op_info;

extern const hilo_op_info hilo_op_table[HILO_OP_COUNT];

static inline const hilo_op_info *hilo_op_get(hilo_op op) { return &hilo_op_table[op]; }
static inline bool hilo_op_has(hilo_op op, unsigned trait) {
  return (hilo_op_table[op].traits & trait) != 0;
}
/* The operation of this HLO name, or HILO_OP_DEAD. */
hilo_op hilo_op_from_hlo(hilo_str name);
/* The operation of this name with its dialect (`stablehlo.add`, `mhlo.erf`, `chlo.erf`), or
 * HILO_OP_DEAD. */
hilo_op hilo_op_from_mlir(hilo_str name);
/* One spelling of ops.def's `mlir` column after the other: false at the end. `*at` starts at 0.
 * `dialect` is empty for a bare name, which is StableHLO's and MHLO's. */
bool hilo_op_next_spelling(hilo_op op, uint32_t *at, hilo_str *dialect, hilo_str *name);
/* Append the name with its dialect as a module of StableHLO (or of MHLO) writes it: of several
 * spellings the last one that the dialect has. False, and nothing, if MLIR has no such operation.
 */
bool hilo_op_mlir_name(hilo_op op, bool mhlo, hilo_sb *out);
/* The last MLIR spelling without its dialect: `exponential`, `dot_general`, `all_gather_done`. */
const char *hilo_op_mnemonic(hilo_op op);
/* What messages call it: the name in HLO, else the mnemonic. */
static inline const char *hilo_op_name(hilo_op op) {
  return hilo_op_table[op].hlo[0] ? hilo_op_table[op].hlo : hilo_op_mnemonic(op);
}

typedef enum {
#define HILO_ETYPE(etype, number, hlo, mlir, bits, class) HILO_##etype,
#include "ir/etypes.def"
#undef HILO_ETYPE
  HILO_ETYPE_COUNT
} hilo_etype;

typedef enum {
  HILO_CLASS_INVALID,
  HILO_CLASS_PRED,
  HILO_CLASS_SIGNED,
  HILO_CLASS_UNSIGNED,
  HILO_CLASS_FLOAT,
  HILO_CLASS_COMPLEX,
  HILO_CLASS_TUPLE,
  HILO_CLASS_OPAQUE,
  HILO_CLASS_TOKEN,
  HILO_CLASS_BUFFER,
} hilo_etype_class;

typedef struct {
  const char *hlo, *mlir;
  uint8_t number; /* XLA's PrimitiveType */
  uint8_t bits;
  uint8_t class; /* hilo_etype_class */
} hilo_etype_info;

extern const hilo_etype_info hilo_etype_table[HILO_ETYPE_COUNT];

hilo_etype hilo_etype_from_hlo(hilo_str name);     /* HILO_INVALID: none */
hilo_etype hilo_etype_from_number(int64_t number); /* HILO_INVALID: none */
static inline hilo_etype_class hilo_etype_class_of(hilo_etype t) {
  return (hilo_etype_class)hilo_etype_table[t].class;
}
static inline bool hilo_etype_is_integer(hilo_etype t) {
  const hilo_etype_class c = hilo_etype_class_of(t);
  return c == HILO_CLASS_SIGNED || c == HILO_CLASS_UNSIGNED;
}
static inline bool hilo_etype_is_float(hilo_etype t) {
  return hilo_etype_class_of(t) == HILO_CLASS_FLOAT;
}
static inline bool hilo_etype_is_complex(hilo_etype t) {
  return hilo_etype_class_of(t) == HILO_CLASS_COMPLEX;
}
/* pred, integers, floats, complex: what arrays are made of */
static inline bool hilo_etype_is_array(hilo_etype t) {
  const hilo_etype_class c = hilo_etype_class_of(t);
  return c >= HILO_CLASS_PRED && c <= HILO_CLASS_COMPLEX;
}
/* Bytes of one element in memory: 1 for pred and everything below 8 bits. */
static inline uint32_t hilo_etype_bytes(hilo_etype t) {
  const uint32_t bits = hilo_etype_table[t].bits;
  return bits < 8 ? bits != 0 : bits / 8;
}

typedef enum { HILO_EQ, HILO_NE, HILO_GE, HILO_GT, HILO_LE, HILO_LT } hilo_compare_direction;
typedef enum {
  HILO_COMPARE_DEFAULT, /* not written: float, signed or unsigned by the element type */
  HILO_COMPARE_FLOAT,
  HILO_COMPARE_TOTALORDER,
  HILO_COMPARE_SIGNED,
  HILO_COMPARE_UNSIGNED,
} hilo_compare_type;

#endif
