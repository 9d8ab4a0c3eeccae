/* Step 15 in parts: clusters are found for a whole sub-pass, then built. */
#ifndef HILO_PASSES_OP_FUSION_H
#define HILO_PASSES_OP_FUSION_H

#include "rewrite/fusion_cluster.h"
#include "rewrite/pass.h"

typedef struct {
  hilo_str kind;
  uint32_t first, n; /* of `members`, in an order of dependence */
  bool is_closed;    /* only its last member is read from outside */
} hilo_op_cluster;

/* What one sub-pass knows of the module, which does not change while it looks. */
typedef struct {
  hilo_module *m;
  hilo_arena *scratch;
  uint32_t n_slots;
  uint64_t *taken;          /* by slot: in a cluster already */
  uint64_t *effects;        /* by computation; NULL: nobody asked yet */
  uint64_t *writes_aliased; /* by slot: an output that shares a parameter's buffer; NULL: none */
  uint32_t *shows;          /* by slot: aliased parameter number + 1 whose bytes the value is */
  hilo_inst *writer_of;     /* by parameter: the output that shares its buffer */
  uint32_t *dependents;     /* by slot: epoch; for clusters that are not closed */
  uint32_t epoch;
  hilo_vec(hilo_inst) members;
  hilo_vec(hilo_op_cluster) clusters;
} hilo_op_fusion;

hilo_op_fusion hilo_op_fusion_make(hilo_module *m, hilo_arena *scratch);

/* May the instruction be a member at all? Not what another cluster took, what carries control edges
 * or `no-opt`, what writes an aliased output, 64-bit integers, whose ranges step 25 looks at, or
 * values of no element, which step 28 folds. */
bool hilo_op_fusion_may_join(const hilo_op_fusion *f, hilo_inst i);
/* May `i` stand behind `last`? Not if it reads a parameter whose buffer is written in between. */
bool hilo_op_fusion_may_sink(const hilo_op_fusion *f, hilo_inst i, hilo_inst last);
void hilo_op_fusion_add(hilo_op_fusion *f, const char *kind, const hilo_inst *members, uint32_t n,
                        bool is_closed);

/* ---- patterns; each looks at one anchor ---- */
void hilo_find_sub_exp(hilo_op_fusion *f, hilo_inst add);
void hilo_find_dot_logistic(hilo_op_fusion *f, hilo_inst logistic);
void hilo_find_mul_red_sqrt(hilo_op_fusion *f, hilo_inst reduce);
/* reshape(d); logistic; multiply  =>  logistic; multiply; reshape. True if it did. */
bool hilo_reassociate_logistic(hilo_op_fusion *f, hilo_inst logistic);

/* Is it a sum of one operand, from zero? */
bool hilo_is_plain_sum(const hilo_module *m, hilo_inst reduce);

/* ---- elementwise clusters ---- */
typedef struct hilo_grower hilo_grower;
hilo_grower *hilo_grower_make(hilo_op_fusion *f);
/* The cluster that grows upwards from a reduce or concatenate. */
void hilo_grow_elementwise(hilo_grower *g, hilo_inst seed);

#endif
