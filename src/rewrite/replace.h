/* Replace and relay, or refuse: the one way in which passes replace and erase instructions.
 *
 * A control edge says that one instruction runs before another. When an instruction goes, what it
 * ordered must stay ordered: each of its control predecessors before each of its successors. A
 * function here returns false, and has changed nothing, when it can't keep that. */
#ifndef HILO_REWRITE_REPLACE_H
#define HILO_REWRITE_REPLACE_H

#include "ir/module.h"

/* Most edges that relaying one instruction may add. */
enum { HILO_MAX_RELAYED = 10000 };

/* `fresh`, built to take `old`'s place, gets its uses (root included) and its control edges; `old`
 * goes, unless it is a parameter. Metadata, ordinal and sharding of `old` pass to `fresh` where
 * that has none. */
bool hilo_replace_with_fresh(hilo_module *m, hilo_inst old, hilo_inst fresh);

/* `old`'s uses become uses of `value`, which exists for reasons of its own and stands before `old`;
 * `old` goes (unless it is a parameter). Its predecessors are put before its successors and before
 * what used it, `value` before its successors. Refuses when that would be too many edges, or one
 * that leads backwards. */
bool hilo_replace_with_existing(hilo_module *m, hilo_inst old, hilo_inst value);

/* Erase an instruction without uses that is not the root. A tuple or get-tuple-element stood for
 * its operands: they come before its successors now. */
bool hilo_erase(hilo_module *m, hilo_inst i);

/* Put every control predecessor of `i` before `to`; and `to` before every control successor of `i`.
 */
void hilo_relay_preds(hilo_module *m, hilo_inst i, hilo_inst to);
void hilo_relay_succs(hilo_module *m, hilo_inst i, hilo_inst to);

/* `i` gives up its control edges as a successor: what came before it comes before each of its
 * control successors. */
bool hilo_relay_around(hilo_module *m, hilo_inst i);

/* Of these computations, erase those that nothing calls (and that are not the entry), and then what
 * only they called. A computation may be listed several times, or be dead. */
void hilo_erase_uncalled(hilo_module *m, const hilo_comp *comps, uint32_t n, hilo_arena *scratch);

/* May the instruction go when nothing uses its value? Not a parameter, and neither it nor (for
 * those that call) what it calls has effects. `effects` comes from hilo_effects_make and is indexed
 * by computation. */
uint64_t *hilo_effects_make(const hilo_module *m, hilo_arena *arena);
bool hilo_module_has_effects(const hilo_module *m); /* false: no instruction has any */
bool hilo_inst_find_effect(const hilo_module *m, hilo_inst i, const uint64_t *effects);
static inline bool hilo_inst_has_effect(const hilo_module *m, hilo_inst i,
                                        const uint64_t *effects) {
  const hilo_op op = hilo_inst_op(m, i); /* most say at once that there is none */
  if (!hilo_op_has(op, HILO_TRAIT_SIDE_EFFECT | HILO_TRAIT_ASYNC_DONE) &&
      op != HILO_OP_ASYNC_UPDATE && op != HILO_OP_CUSTOM_CALL && !hilo_inst_n_called(m, i))
    return false;
  return hilo_inst_find_effect(m, i, effects);
}
bool hilo_inst_is_removable(const hilo_module *m, hilo_inst i, const uint64_t *effects);
/* May two equal ones be merged, or one be duplicated and moved? No effects, no randomness, no
 * channel, no control edges. */
bool hilo_inst_is_movable(const hilo_module *m, hilo_inst i, const uint64_t *effects);

#endif
