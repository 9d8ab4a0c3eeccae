/* What the files of the verifier share. */
#ifndef HILO_IR_VERIFY_PARTS_H
#define HILO_IR_VERIFY_PARTS_H

#include "ir/infer/infer_parts.h"
#include "ir/verify.h"

typedef struct {
  const hilo_module *m;
  hilo_diags *diags;
  hilo_arena *arena; /* scratch */
  hilo_infer infer;
  uint32_t *position;    /* per instruction slot: place in the walk over all computations, from 1 */
  uint64_t *wrong_insts; /* bits: the declared type of the instruction is not to be relied on */
  uint64_t *wrong_comps; /* bits: parameters or root of the computation are not there */
  uint64_t *good_types;  /* bits by handle: checked already */
  uint64_t *wrong_types; /* bits by handle: checked, and found wrong */
  uint32_t *proved;      /* instructions whose rule held, by hash; see verify.c */
  uint32_t *waits;       /* per instruction slot, for the search of cycles; NULL: not needed yet */
  uint64_t *on_path;     /* likewise */
  bool any_wrong_inst, any_wrong_comp;
  hilo_map tuple_depths;   /* tuple type → depth */
  hilo_map tuple_leaves;   /* tuple type → leaves, saturated */
  hilo_map collectives;    /* attributes, mode and operation → checked already */
  hilo_map shardings;      /* sharding and type → checked already */
  hilo_map channel_owners; /* channel id → instruction */
  uint32_t n_shared_channels;
  hilo_inst first_shared, first_owner;
  bool has_manual_regions; /* SPMDFullToShardShape occurs */
} hilo_verifier;

/* ---- verify_graph.c: lists, uses, order, names, callers. False if later checks cannot walk it. */
bool hilo_verify_graph(hilo_verifier *v);
/* ---- verify_types.c: false after an error. */
bool hilo_verify_type(hilo_verifier *v, hilo_inst i, hilo_type t);
void hilo_verify_constant(hilo_verifier *v, hilo_inst i);
/* Leaves of a type: 1 for an array, the sum for a tuple (1 if it is empty). */
uint32_t hilo_verify_count_leaves(hilo_verifier *v, hilo_type t);
/* ---- verify_collective.c */
void hilo_verify_collective(hilo_verifier *v, hilo_inst i);
void hilo_verify_channel(hilo_verifier *v, hilo_inst i, const hilo_extra_attrs *extra);
void hilo_verify_report_channels(hilo_verifier *v);
/* ---- verify_chain.c: starts and their done halves, send and recv. */
void hilo_verify_chain(hilo_verifier *v, hilo_inst i);
/* ---- verify_sharding.c */
void hilo_verify_sharding(hilo_verifier *v, hilo_inst i, hilo_record sharding);
/* parameter_replicated_at_leaf_buffers. */
void hilo_verify_replicated_leaves(hilo_verifier *v, hilo_inst i, hilo_dims leaves);
/* Regions between SPMDFullToShardShape and SPMDShardToFullShape do not nest. */
void hilo_verify_manual_regions(hilo_verifier *v, hilo_comp c);
/* ---- verify_alias.c */
/* Aliases and operand types of a call, custom call or fusion. */
void hilo_verify_call(hilo_verifier *v, hilo_inst i);
void hilo_verify_header(hilo_verifier *v);

/* An error about a computation as a whole. */
void hilo_verify_comp_error(hilo_verifier *v, hilo_diag_code code, hilo_comp c, const char *fmt,
                            ...) HILO_PRINTF(4, 5);
/* Text of a name, of at most some 200 bytes; valid until the fourth next text of the verifier. */
const char *hilo_verify_name(hilo_verifier *v, hilo_inst i);
#define hilo_verify_error(v, code, i, ...)                                                         \
  ((void)hilo_inst_error((v)->m, (v)->diags, (code), (i), __VA_ARGS__))

#endif
