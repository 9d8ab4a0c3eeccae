/* What the files of the machine share. Internal to eval.
 *
 * A rank runs fibers: its program, and the computations that asynchronous operations started. A
 * fiber is a stack of frames, a frame a computation under way. Whatever a fiber may have to wait
 * for is a *pending value*: a buffer with room for one value, filled by somebody else. It can be
 * carried around like any value; who needs what is in it waits until it is filled. */
#ifndef HILO_EVAL_MACHINE_PARTS_H
#define HILO_EVAL_MACHINE_PARTS_H

#include "base/map.h"
#include "eval/draws.h"
#include "eval/machine.h"
#include "eval/machine/plan.h"

struct hilo_frame {
  hilo_frame *up; /* the caller; in plan.spare the next spare one */
  hilo_plan *plan;
  uint32_t at; /* the step under way */
  bool in_condition;
  hilo_value carried; /* by the while under way */
  hilo_value slots[];
};

/* The bytes of a pending buffer: one element of a tuple, as far as releasing is concerned. */
typedef struct {
  hilo_value value; /* of the start half of the operation; type none: not there yet */
  hilo_inst inst;   /* that it comes from */
} hilo_pending;
_Static_assert(sizeof(hilo_pending) / sizeof(hilo_value) == 1, "released like a tuple of one");

typedef struct hilo_fiber {
  struct hilo_fiber *older; /* of the rank; in machine.spare_fibers the next */
  uint32_t rank;
  hilo_frame *top;
  hilo_buffer *fills;     /* the pending value that its result fills; NULL: a rank's program */
  hilo_buffer *waits_for; /* a pending value that some slot of the fiber holds; NULL: it can run */
  hilo_value result;
} hilo_fiber;

typedef struct hilo_meetings hilo_meetings;   /* meeting.c */
typedef struct hilo_transfers hilo_transfers; /* transfer.c */

/* What evaluators under way need for themselves: those that apply a computation through the machine
 * are under way while its steps are. */
typedef struct {
  hilo_counted_arena scratch;
  hilo_value *args;
  uint32_t n_args;
} hilo_nesting;
enum { HILO_MAX_NESTING = 64 };

struct hilo_machine {
  const hilo_machine_options *o;
  const hilo_module *m;
  hilo_eval e; /* of the step under way: rank, scratch and dying change */
  hilo_plans plans;
  hilo_draws draws; /* where the options have none */
  uint32_t n_ranks;
  hilo_fiber **newest; /* per rank */
  uint64_t (*rng_state)[2];
  hilo_fiber *spare_fibers;
  hilo_meetings *meetings;
  hilo_transfers *transfers;
  hilo_nesting *levels[HILO_MAX_NESTING];
  uint32_t level;
  hilo_counted_arena tables; /* frames, fibers, who waits where */
  jmp_buf beyond;            /* where scratch or tables are beyond the memory limit */
  hilo_inst running;         /* the step under way */
  uint64_t steps;
  hilo_status failure; /* of the step that failed */
};

/* ---- pending values ---- */

static inline hilo_pending *hilo_pending_of(hilo_buffer *b) {
  return (hilo_pending *)(void *)hilo_buffer_bytes(b);
}
static inline bool hilo_value_is_pending(const hilo_value *v) {
  return v->owner && v->owner->is_pending;
}
/* A pending value of the type of `i`, held once by *out. */
HILO_NODISCARD hilo_status hilo_pending_new(hilo_machine *k, hilo_inst i, hilo_value *out);
/* Fill it with `value`, which it then holds. */
void hilo_pending_fill(hilo_machine *k, hilo_buffer *b, hilo_value value);

/* The value of the start half `i` for a result that is there: (operands, result, contexts...) and
 * the like. Takes `result`. */
HILO_NODISCARD hilo_status hilo_start_value(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                            hilo_value result, hilo_value *out);
/* Zeros; tokens and tuples of these. */
HILO_NODISCARD hilo_status hilo_zero_value(const hilo_eval *e, hilo_inst i, hilo_type type,
                                           hilo_value *out);

/* ---- machine.c ---- */

/* Run `region` to its end within the step under way, for an evaluator: `args` are the parameters,
 * which stay the caller's. */
HILO_NODISCARD hilo_status hilo_machine_call(const hilo_eval *e, hilo_inst caller, hilo_comp region,
                                             const hilo_value *args, hilo_value *out);

/* ---- meeting.c ---- */

hilo_meetings *hilo_meetings_create(hilo_machine *k);
/* Rank e->rank comes to collective `i` with these operands. *out: the result if it is there at
 * once, else a pending value. */
HILO_NODISCARD hilo_status hilo_meetings_join(hilo_machine *k, const hilo_eval *e, hilo_inst i,
                                              const hilo_value *args, hilo_value *out);
/* `for ranks 1, 3`: who is missing where `b` waits; nothing if b is of no meeting. */
void hilo_meetings_say(const hilo_machine *k, const hilo_buffer *b, hilo_sb *out);

/* ---- transfer.c ---- */

hilo_transfers *hilo_transfers_create(hilo_machine *k);
HILO_NODISCARD hilo_status hilo_transfers_send(hilo_machine *k, const hilo_eval *e, hilo_inst i,
                                               const hilo_value *args, hilo_value *out);
HILO_NODISCARD hilo_status hilo_transfers_recv(hilo_machine *k, const hilo_eval *e, hilo_inst i,
                                               hilo_value *out);
/* FusedSend and FusedRecv. */
HILO_NODISCARD hilo_status hilo_transfers_send_to_peer(hilo_machine *k, const hilo_eval *e,
                                                       hilo_inst i, const hilo_value *args,
                                                       hilo_value *out);
HILO_NODISCARD hilo_status hilo_transfers_recv_from_peer(hilo_machine *k, const hilo_eval *e,
                                                         hilo_inst i, hilo_value *out);
/* Nobody can go on: who waits for a peer that sent to others only has zeros. *progress: somebody
 * did. */
HILO_NODISCARD hilo_status hilo_transfers_give_zeros(hilo_machine *k, bool *progress);
/* The next computation of the infeed queue, or none. */
hilo_comp hilo_transfers_next_infeed(hilo_machine *k);
/* No infeed is given: what is fed to infeed `i` of rank e->rank. */
HILO_NODISCARD hilo_status hilo_transfers_feed(hilo_machine *k, const hilo_eval *e, hilo_inst i,
                                               hilo_value *out);
void hilo_transfers_say(const hilo_machine *k, const hilo_fiber *f, hilo_inst i, hilo_sb *out);

/* ---- deadlock.c ---- */

/* Nobody can go on. */
hilo_status hilo_machine_report_deadlock(hilo_machine *k);

#endif
