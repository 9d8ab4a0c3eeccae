/* What collectives give to each of their participants. Internal to eval. */
#ifndef HILO_EVAL_COLLECTIVE_H
#define HILO_EVAL_COLLECTIVE_H

#include "analysis/groups.h"
#include "eval/eval.h"

/* All participants of one collective, in the order of their group. */
typedef struct {
  uint32_t n;
  const hilo_value *const *args; /* the operands of each */
  const hilo_inst *insts;        /* their instructions: one, unless ranks run different programs */
  hilo_rank_pairs pairs;         /* of a permute: places in the group instead of ranks */
} hilo_participants;

/* One value for each operand, as the instruction gives them: alone or as a tuple. Takes them. */
HILO_NODISCARD hilo_status hilo_collective_join(const hilo_eval *e, hilo_inst i, hilo_value *parts,
                                                uint32_t n, hilo_value *out);

/* results[p]: what participant p has from it (the value of the plain form, not of a start half). */
HILO_NODISCARD hilo_status hilo_collective_compute(const hilo_eval *e, const hilo_participants *all,
                                                   hilo_value *results);
/* How many operands are data, where the last one may name the root of each (has_dynamic_root). */
uint32_t hilo_collective_n_rooted(const hilo_eval *e, hilo_inst i);
/* The participant that operand k comes from (broadcast) or goes to (reduce): the first, or the one
 * that the first participant's list of roots names. */
HILO_NODISCARD hilo_status hilo_collective_root(const hilo_eval *e, const hilo_participants *all,
                                                uint32_t k, uint32_t *root);
/* For a rank that is in no group. HILO_INPUT_ERROR where the operation has nothing for it. */
HILO_NODISCARD hilo_status hilo_collective_alone(const hilo_eval *e, hilo_inst i,
                                                 const hilo_value *args, hilo_value *out);

/* ---- collective_move.c: what moves between ranks without computing ---- */

hilo_status hilo_collective_broadcast(const hilo_eval *e, const hilo_participants *all,
                                      hilo_value *results);
hilo_status hilo_collective_permute(const hilo_eval *e, const hilo_participants *all,
                                    hilo_value *results);
hilo_status hilo_collective_ragged(const hilo_eval *e, const hilo_participants *all,
                                   hilo_value *results);

/* ---- collective_matmul.c ---- */

#define HILO_TARGET_COLLECTIVE_MATMUL "AwsNeuronCollectiveMatmul"
/* How many ranks in a row form a group of custom call `i`. HILO_INPUT_ERROR: it says nothing that
 * n_ranks can be divided by. */
HILO_NODISCARD hilo_status hilo_collective_matmul_degree(const hilo_eval *e, hilo_inst i,
                                                         uint32_t n_ranks, uint32_t *degree);
hilo_status hilo_collective_matmul(const hilo_eval *e, const hilo_participants *all,
                                   hilo_value *results);

/* ---- shard_shapes.c ---- */

/* Is `i` an SPMDShardToFullShape to which all partitions come with a part? */
bool hilo_is_shard_to_full(const hilo_module *m, hilo_inst i);
hilo_status hilo_collective_shard_to_full(const hilo_eval *e, const hilo_participants *all,
                                          hilo_value *results);

#endif
