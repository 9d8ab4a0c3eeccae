/* What the target and the printer support: operation × class of its operand, element type × target,
 * custom-call targets. Step 4 reads it; adding an operation or a type is a row here. */
#ifndef HILO_PASSES_SUPPORT_TABLE_H
#define HILO_PASSES_SUPPORT_TABLE_H

#include "ir/module.h"
#include "rewrite/pass.h"

/* A refusal of the printer has a code on each spine. */
typedef struct {
  hilo_diag_code mhlo, stablehlo;
} hilo_spine_code;
#define HILO_REFUSED_FORM ((hilo_spine_code){HILO_DIAG_PYP055, HILO_DIAG_ISPP056})
#define HILO_REFUSED_REGION ((hilo_spine_code){HILO_DIAG_PYP056, HILO_DIAG_ISPP057})
#define HILO_REFUSED_DTYPE ((hilo_spine_code){HILO_DIAG_PYP004, HILO_DIAG_ESPP004})

typedef enum {
  HILO_FORM_PRINTED,
  HILO_FORM_NO_OPERATOR, /* EVRF001: neither target nor printer have it */
  HILO_FORM_NONE,        /* control flow, transfers, dynamic shapes: no Penguin form */
  HILO_FORM_ASYNC,       /* half of an asynchronous collective */
  HILO_FORM_COMPLEX,     /* EVRF004 */
} hilo_form;

enum {
  HILO_CLASSES_INT = 1 << HILO_CLASS_SIGNED | 1 << HILO_CLASS_UNSIGNED,
  HILO_CLASSES_DISCRETE = HILO_CLASSES_INT | 1 << HILO_CLASS_PRED,
};

typedef struct {
  uint8_t form;     /* hilo_form */
  uint8_t confirms; /* HILO_DOWNCAST_*: says that the user knows, which silences class_code */
  bool is_limit;    /* class_code is a limit of the target, which may be switched off */
  uint16_t classes; /* bit per hilo_etype_class of operand 0 (of the result if there is none) */
  hilo_diag_code class_code; /* for these classes: an error or, by its level, a warning */
} hilo_op_support;

const hilo_op_support *hilo_support_of_op(hilo_op op);

/* Why an element type is refused; `is_refused` false: it is not. */
typedef struct {
  bool is_refused;
  bool is_limit; /* of the target */
  hilo_diag_code code;
} hilo_type_support;
hilo_type_support hilo_support_of_type(hilo_etype etype, const hilo_pass_options *options);

typedef enum {
  HILO_TARGET_UNKNOWN,
  HILO_TARGET_PRINTED,
  HILO_TARGET_LOWERED,        /* by a pass that has not done it: no form */
  HILO_TARGET_STABLEHLO_ONLY, /* unknown on the MHLO spine */
} hilo_target_kind;
hilo_target_kind hilo_support_of_target(hilo_str target);
/* The known target of least edit distance; p NULL if none is near. */
hilo_str hilo_support_nearest_target(hilo_str target);

#endif
