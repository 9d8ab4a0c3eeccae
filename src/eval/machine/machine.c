/* The machine: frames, fibers, and the turns of the ranks.
 *
 * Ranks take turns in order. In its turn a rank runs until every fiber of it waits or has ended;
 * the newest fiber that can run goes first, so that what an asynchronous operation starts has come
 * as far as it can before its starter goes on, on every rank alike. A round in which nobody could
 * run is a deadlock.
 *
 * A step that waits is run again when the value it waits for is there; what it must not do twice
 * (coming to a collective) it notes by putting the pending value into its own slot. */
#include "eval/machine/machine_parts.h"
#include "eval/ranks/collective.h"

#include "analysis/custom_call.h"
#include "eval/eval_parts.h"

typedef enum {
  STEP_DONE,
  STEP_ENTERED, /* a frame was pushed; the step is done when that returns */
  STEP_YIELDS,  /* done, but a newer fiber of the rank goes first */
  STEP_WAITS,
  STEP_FAILED,
} outcome;

/* ---- levels: the evaluators under way ---- */

static void enter_level(hilo_machine *k) {
  hilo_nesting **level = &k->levels[k->level];
  if (!*level) {
    *level = HILO_NEW_ZEROED(&k->tables.arena, hilo_nesting, 1);
    hilo_counted_arena_init(&(*level)->scratch, k->o->arena, k->o->heap, &k->beyond);
  }
  k->e.scratch = &(*level)->scratch.arena;
}

static hilo_value *args_of_level(hilo_machine *k, uint32_t n) {
  hilo_nesting *level = k->levels[k->level];
  if (n > level->n_args) {
    level->n_args = n + n / 2;
    level->args = HILO_NEW_ARRAY(&k->tables.arena, hilo_value, level->n_args);
  }
  return level->args;
}

static void reset_scratch(hilo_arena *scratch) {
  if (scratch->chunks || scratch->blocks || scratch->large) hilo_arena_reset(scratch);
}

/* ---- frames ---- */

static hilo_frame *push_frame(hilo_machine *k, hilo_fiber *fiber, hilo_comp comp) {
  hilo_plan *plan = hilo_plan_of(&k->plans, comp);
  hilo_frame *f = plan->spare;
  if (f) {
    plan->spare = f->up;
  } else {
    const size_t bytes = sizeof(hilo_frame) + (size_t)plan->n_steps * sizeof(hilo_value);
    f = hilo_arena_alloc(&k->tables.arena, bytes, _Alignof(hilo_frame));
    memset(f, 0, bytes);
  }
  f->plan = plan;
  f->at = 0;
  f->in_condition = false;
  f->up = fiber->top;
  fiber->top = f;
  return f;
}

static hilo_value move_out(hilo_value *v) {
  const hilo_value moved = *v;
  *v = (hilo_value){0};
  return moved;
}

/* The value of operand j, held by the caller: the step's own where it dies there. */
static hilo_value take_operand(hilo_frame *f, const hilo_step *s, uint32_t j) {
  const uint32_t entry = f->plan->pool[s->operands + j];
  hilo_value *v = &f->slots[entry & ~HILO_SLOT_DIES];
  return entry & HILO_SLOT_DIES ? move_out(v) : hilo_value_share(v);
}

/* Call `comp` with the operands from `first` on. */
static outcome enter(hilo_machine *k, hilo_fiber *fiber, const hilo_step *s, hilo_comp comp,
                     uint32_t first) {
  hilo_frame *caller = fiber->top, *f = push_frame(k, fiber, comp);
  for (uint32_t p = 0; p < f->plan->n_params; p++)
    f->slots[f->plan->params[p]] = take_operand(caller, s, first + p);
  return STEP_ENTERED;
}

static void complete_step(hilo_machine *k, hilo_fiber *fiber, hilo_frame *f, const hilo_step *s) {
  const hilo_value *value = &f->slots[s->slot];
  if (k->o->observe && k->level == 0 && !hilo_value_is_pending(value))
    k->o->observe(k->o->user, fiber->rank, s->inst, value);
  for (uint32_t d = 0; d < s->n_dead; d++)
    hilo_value_release(&k->e, &f->slots[f->plan->pool[s->dead + d]]);
  f->at++;
}

/* ---- waiting ---- */

hilo_status hilo_pending_new(hilo_machine *k, hilo_inst i, hilo_value *out) {
  hilo_buffer *b = hilo_buffer_new(k->o->heap, sizeof(hilo_pending));
  if (!b) return hilo_eval_refuse(&k->e, i, "it is beyond the memory limit");
  b->is_tuple = b->is_pending = true;
  hilo_pending *p = hilo_pending_of(b);
  *p = (hilo_pending){.inst = i};
  *out = (hilo_value){.type = hilo_inst_type(k->m, i), .elements = &p->value, .owner = b};
  return HILO_OK;
}

void hilo_pending_fill(hilo_machine *k, hilo_buffer *b, hilo_value value) {
  (void)k;
  hilo_pending_of(b)->value = value;
}

static bool is_filled(hilo_buffer *b) { return hilo_pending_of(b)->value.type.ix != 0; }

/* Put what is there in the place of pending values in *v and its elements. The first one that is
 * not there yet, or NULL. As deep as types are nested. */
static hilo_buffer *settle(hilo_machine *k, hilo_value *v) {
  if (hilo_value_is_pending(v)) {
    if (!is_filled(v->owner)) return v->owner;
    hilo_value there = hilo_value_share(&hilo_pending_of(v->owner)->value);
    hilo_value_release(&k->e, v);
    *v = there;
  }
  if (!v->owner || !v->owner->is_tuple || !hilo_type_is_tuple(&k->m->types, v->type)) return NULL;
  const uint64_t n = v->owner->bytes / sizeof(hilo_value);
  hilo_value *elements = (hilo_value *)(void *)hilo_buffer_bytes(v->owner);
  hilo_buffer *missing = NULL;
  for (uint64_t j = 0; j < n && !missing; j++)
    if (elements[j].owner && elements[j].owner->is_tuple) missing = settle(k, &elements[j]);
  return missing;
}

static outcome wait_for(hilo_fiber *fiber, hilo_buffer *b) {
  fiber->waits_for = b;
  return STEP_WAITS;
}

/* The operands side by side, all of them there. They belong to their slots. NULL: it waits. */
static hilo_value *gather(hilo_machine *k, hilo_fiber *fiber, hilo_frame *f, const hilo_step *s) {
  hilo_value *args = args_of_level(k, f->plan->max_operands + 1);
  for (uint32_t j = 0; j < s->n_operands; j++) {
    hilo_value *v = &f->slots[hilo_step_operand(f->plan, s, j)];
    if (v->owner && v->owner->is_tuple) {
      hilo_buffer *missing = settle(k, v);
      if (missing) {
        (void)wait_for(fiber, missing);
        return NULL;
      }
    }
    args[j] = *v;
  }
  k->e.dying = s->dying;
  return args;
}

/* ---- steps ---- */

static outcome of_status(hilo_machine *k, hilo_status status) {
  k->failure = status;
  return status == HILO_OK ? STEP_DONE : STEP_FAILED;
}

static outcome evaluate(hilo_machine *k, hilo_fiber *fiber, hilo_frame *f, const hilo_step *s) {
  const hilo_value *args = gather(k, fiber, f, s);
  if (!args) return STEP_WAITS;
  hilo_value *out = &f->slots[s->slot];
  const outcome done = of_status(k, hilo_eval_inst(&k->e, s->inst, args, out));
  reset_scratch(k->e.scratch);
  return done;
}

static outcome run_custom_call(hilo_machine *k, hilo_fiber *fiber, hilo_frame *f,
                               const hilo_step *s) {
  if (!k->o->custom_call) return evaluate(k, fiber, f, s);
  const hilo_value *args = gather(k, fiber, f, s);
  if (!args) return STEP_WAITS;
  hilo_value *out = &f->slots[s->slot];
  *out = (hilo_value){.type = hilo_inst_type(k->m, s->inst)};
  bool handled = false;
  const hilo_status status = k->o->custom_call(k->o->user, &k->e, s->inst, args, out, &handled);
  reset_scratch(k->e.scratch);
  if (status != HILO_OK) return of_status(k, status);
  return handled ? STEP_DONE : evaluate(k, fiber, f, s);
}

/* The element itself where the tuple has no other use left, so that its user holds it alone. */
static outcome run_get_tuple_element(hilo_machine *k, hilo_fiber *fiber, hilo_frame *f,
                                     const hilo_step *s) {
  hilo_value *tuple = &f->slots[hilo_step_operand(f->plan, s, 0)], *out = &f->slots[s->slot];
  if (hilo_value_is_pending(tuple)) {
    hilo_buffer *missing = settle(k, tuple);
    if (missing) return wait_for(fiber, missing);
  }
  const uint32_t at = hilo_inst_index(k->m, s->inst);
  if (s->flags & HILO_STEP_MOVES && tuple->owner && tuple->owner->holders == 1)
    *out = move_out((hilo_value *)(void *)hilo_buffer_bytes(tuple->owner) + at);
  else
    *out = hilo_value_share(&tuple->elements[at]);
  return STEP_DONE;
}

static outcome run_tuple(hilo_machine *k, hilo_frame *f, const hilo_step *s) {
  hilo_value *out = &f->slots[s->slot];
  *out = (hilo_value){.type = hilo_inst_type(k->m, s->inst)};
  hilo_value *elements = hilo_eval_new_tuple(&k->e, s->inst, s->n_operands, out);
  if (!elements) return STEP_FAILED;
  for (uint32_t j = 0; j < s->n_operands; j++) elements[j] = take_operand(f, s, j);
  return STEP_DONE;
}

static outcome pass_operand(hilo_frame *f, const hilo_step *s) {
  f->slots[s->slot] = take_operand(f, s, 0);
  return STEP_DONE;
}

static outcome start_condition(hilo_machine *k, hilo_fiber *fiber, hilo_frame *f,
                               const hilo_step *s) {
  f->in_condition = true;
  const hilo_comp condition = hilo_inst_called(k->m, s->inst, HILO_WHILE_CONDITION);
  hilo_frame *callee = push_frame(k, fiber, condition);
  callee->slots[callee->plan->params[0]] = hilo_value_share(&f->carried);
  return STEP_ENTERED;
}

static void start_body(hilo_machine *k, hilo_fiber *fiber, hilo_frame *f, const hilo_step *s) {
  f->in_condition = false;
  hilo_frame *callee = push_frame(k, fiber, hilo_inst_called(k->m, s->inst, HILO_WHILE_BODY));
  callee->slots[callee->plan->params[0]] = move_out(&f->carried);
}

/* A pred chooses the first branch if it is true; an index out of range the last one. */
static outcome run_conditional(hilo_machine *k, hilo_fiber *fiber, hilo_frame *f,
                               const hilo_step *s) {
  hilo_value *chooser = &f->slots[hilo_step_operand(f->plan, s, 0)];
  hilo_buffer *missing = settle(k, chooser);
  if (missing) return wait_for(fiber, missing);
  const uint32_t n = hilo_inst_n_called(k->m, s->inst);
  int64_t index = 0;
  HILO_CHECK(hilo_value_int(k->m, chooser, &index));
  if (hilo_value_etype(&k->e, chooser) == HILO_PRED) index = !index;
  if (index < 0 || index >= n) index = n - 1;
  return enter(k, fiber, s, hilo_inst_called(k->m, s->inst, (uint32_t)index), (uint32_t)index + 1);
}

/* ---- asynchronous steps ---- */

static hilo_fiber *new_fiber(hilo_machine *k, uint32_t rank) {
  hilo_fiber *fiber = k->spare_fibers;
  if (fiber)
    k->spare_fibers = fiber->older;
  else
    fiber = HILO_NEW(&k->tables.arena, hilo_fiber);
  *fiber = (hilo_fiber){.rank = rank, .older = k->newest[rank]};
  k->newest[rank] = fiber;
  return fiber;
}

static outcome start_async(hilo_machine *k, hilo_fiber *fiber, hilo_frame *f, const hilo_step *s) {
  hilo_value *out = &f->slots[s->slot], start;
  const hilo_value *args = gather(k, fiber, f, s);
  if (!args) return STEP_WAITS;
  const hilo_value none = {0};
  if (hilo_start_value(&k->e, s->inst, args, none, &start) != HILO_OK ||
      hilo_pending_new(k, s->inst, out) != HILO_OK)
    return STEP_FAILED;
  hilo_fiber *child = new_fiber(k, fiber->rank);
  child->result = start;
  child->fills = out->owner;
  hilo_buffer_retain(out->owner);
  hilo_frame *callee = push_frame(k, child, hilo_inst_called(k->m, s->inst, 0));
  for (uint32_t p = 0; p < callee->plan->n_params; p++)
    callee->slots[callee->plan->params[p]] = take_operand(f, s, p);
  return STEP_YIELDS;
}

/* Which element of the start half's value its done half gives; -1: all of it. */
static int element_of_done(hilo_op op) {
  switch (op) {
  case HILO_OP_ALL_REDUCE_DONE: return -1;
  case HILO_OP_COPY_DONE:
  case HILO_OP_RECV_DONE: return 0;
  default: return 1;
  }
}

static outcome finish_async(hilo_machine *k, hilo_fiber *fiber, hilo_frame *f, const hilo_step *s) {
  const hilo_value *args = gather(k, fiber, f, s);
  if (!args) return STEP_WAITS;
  hilo_value *out = &f->slots[s->slot];
  const int at = element_of_done((hilo_op)s->op);
  *out = at < 0 ? hilo_value_share(&args[0]) : hilo_value_share(&args[0].elements[at]);
  if (s->op != HILO_OP_RECV_DONE) return STEP_DONE;
  hilo_value data = *out;
  *out = (hilo_value){.type = hilo_inst_type(k->m, s->inst)};
  hilo_value *elements = hilo_eval_new_tuple(&k->e, s->inst, 2, out);
  if (!elements) return STEP_FAILED;
  elements[0] = data;
  return of_status(k, hilo_zero_value(&k->e, s->inst, hilo_type_element(&k->m->types, out->type, 1),
                                      &elements[1]));
}

static outcome finish_send(hilo_machine *k, hilo_frame *f, const hilo_step *s) {
  return of_status(
      k, hilo_zero_value(&k->e, s->inst, hilo_inst_type(k->m, s->inst), &f->slots[s->slot]));
}

/* What was posted is in the step's own slot: `starts` does not wait for it. */
static outcome await_own(hilo_machine *k, hilo_fiber *fiber, hilo_frame *f, const hilo_step *s,
                         bool starts) {
  hilo_value *out = &f->slots[s->slot];
  if (starts || !hilo_value_is_pending(out)) return STEP_DONE;
  hilo_buffer *missing = settle(k, out);
  return missing ? wait_for(fiber, missing) : STEP_DONE;
}

static outcome run_collective(hilo_machine *k, hilo_fiber *fiber, hilo_frame *f, const hilo_step *s,
                              bool starts) {
  hilo_value *out = &f->slots[s->slot];
  if (!hilo_value_is_pending(out)) {
    const hilo_value *args = gather(k, fiber, f, s);
    if (!args) return STEP_WAITS;
    const hilo_status status = hilo_meetings_join(k, &k->e, s->inst, args, out);
    reset_scratch(k->e.scratch);
    if (status != HILO_OK) return of_status(k, status);
  }
  return await_own(k, fiber, f, s, starts);
}

static outcome run_send(hilo_machine *k, hilo_fiber *fiber, hilo_frame *f, const hilo_step *s) {
  const hilo_value *args = gather(k, fiber, f, s);
  if (!args) return STEP_WAITS;
  return of_status(k, hilo_transfers_send(k, &k->e, s->inst, args, &f->slots[s->slot]));
}

static outcome run_recv(hilo_machine *k, hilo_fiber *fiber, hilo_frame *f, const hilo_step *s) {
  hilo_value *out = &f->slots[s->slot];
  if (!hilo_value_is_pending(out)) {
    const hilo_status status = hilo_transfers_recv(k, &k->e, s->inst, out);
    if (status != HILO_OK) return of_status(k, status);
  }
  return await_own(k, fiber, f, s, k->m->dialect == HILO_DIALECT_HLO);
}

static outcome run_fused_transfer(hilo_machine *k, hilo_fiber *fiber, hilo_frame *f,
                                  const hilo_step *s, bool sends) {
  hilo_value *out = &f->slots[s->slot];
  if (!hilo_value_is_pending(out)) {
    const hilo_value *args = gather(k, fiber, f, s);
    if (!args) return STEP_WAITS;
    const hilo_status status = sends ? hilo_transfers_send_to_peer(k, &k->e, s->inst, args, out)
                                     : hilo_transfers_recv_from_peer(k, &k->e, s->inst, out);
    if (status != HILO_OK) return of_status(k, status);
  }
  return await_own(k, fiber, f, s, false);
}

static outcome run_infeed(hilo_machine *k, hilo_fiber *fiber, hilo_frame *f, const hilo_step *s) {
  hilo_value *out = &f->slots[s->slot];
  const hilo_comp next = hilo_transfers_next_infeed(k);
  if (next.ix) {
    (void)push_frame(k, fiber, next);
    return STEP_ENTERED;
  }
  if (k->o->feed && !k->o->n_infeed)
    return of_status(k, hilo_transfers_feed(k, &k->e, s->inst, out));
  if (!hilo_value_is_pending(out) && hilo_pending_new(k, s->inst, out) != HILO_OK)
    return STEP_FAILED;
  return wait_for(fiber, out->owner);
}

/* (data, token), or the parts of the data one by one and the token. Takes `data`. */
static hilo_status infeed_value(hilo_machine *k, hilo_inst i, hilo_value data, hilo_value *out) {
  *out = (hilo_value){.type = hilo_inst_type(k->m, i)};
  const hilo_store *types = &k->m->types;
  if (!hilo_type_is_tuple(types, out->type))
    return hilo_eval_refuse(&k->e, i, "its type is not a tuple of data and a token");
  const uint32_t n = hilo_type_n_elements_of_tuple(types, out->type);
  const bool whole =
      n == 2 && hilo_type_compatible(types, data.type, hilo_type_element(types, out->type, 0));
  const bool parts = hilo_type_is_tuple(types, data.type) &&
                     hilo_type_n_elements_of_tuple(types, data.type) == n - 1;
  if (!whole && !parts)
    return hilo_inst_error(k->m, k->o->diags, HILO_DIAG_EMOD915, i,
                           "the infeed gives it a value of another type than its own");
  hilo_value *elements = hilo_eval_new_tuple(&k->e, i, n, out);
  if (!elements) return HILO_LIMIT_ERROR;
  for (uint32_t j = 0; j + 1 < n; j++)
    elements[j] = whole ? hilo_value_share(&data) : hilo_value_share(&data.elements[j]);
  hilo_value_release(&k->e, &data);
  return hilo_zero_value(&k->e, i, hilo_type_element(types, out->type, n - 1), &elements[n - 1]);
}

static outcome run_outfeed(hilo_machine *k, hilo_fiber *fiber, hilo_frame *f, const hilo_step *s) {
  const hilo_value *args = gather(k, fiber, f, s);
  if (!args) return STEP_WAITS;
  for (uint32_t j = 0; k->o->outfeed && j + 1 < s->n_operands; j++)
    k->o->outfeed(k->o->user, fiber->rank, s->inst, &args[j]);
  return finish_send(k, f, s);
}

static outcome run_step(hilo_machine *k, hilo_fiber *fiber, hilo_frame *f, const hilo_step *s) {
  switch ((hilo_op)s->op) {
  case HILO_OP_PARAMETER: return STEP_DONE;
  case HILO_OP_GET_TUPLE_ELEMENT: return run_get_tuple_element(k, fiber, f, s);
  case HILO_OP_TUPLE: return run_tuple(k, f, s);
  case HILO_OP_ADD_DEPENDENCY:
  case HILO_OP_ASYNC_UPDATE:
  case HILO_OP_DOMAIN:
  case HILO_OP_OPT_BARRIER: return pass_operand(f, s);
  case HILO_OP_CALL:
  case HILO_OP_COMPOSITE:
  case HILO_OP_FUSION: return enter(k, fiber, s, hilo_inst_called(k->m, s->inst, 0), 0);
  case HILO_OP_WHILE: f->carried = take_operand(f, s, 0); return start_condition(k, fiber, f, s);
  case HILO_OP_CONDITIONAL: return run_conditional(k, fiber, f, s);
  case HILO_OP_ASYNC_START: return start_async(k, fiber, f, s);
  case HILO_OP_ALL_GATHER_DONE:
  case HILO_OP_ALL_REDUCE_DONE:
  case HILO_OP_ASYNC_DONE:
  case HILO_OP_COLLECTIVE_PERMUTE_DONE:
  case HILO_OP_COPY_DONE:
  case HILO_OP_RECV_DONE: return finish_async(k, fiber, f, s);
  case HILO_OP_SEND_DONE: return finish_send(k, f, s);
  case HILO_OP_ALL_GATHER_START:
  case HILO_OP_ALL_REDUCE_START:
  case HILO_OP_COLLECTIVE_PERMUTE_START: return run_collective(k, fiber, f, s, true);
  case HILO_OP_ALL_GATHER:
  case HILO_OP_ALL_REDUCE:
  case HILO_OP_ALL_TO_ALL:
  case HILO_OP_COLLECTIVE_BROADCAST:
  case HILO_OP_COLLECTIVE_PERMUTE:
  case HILO_OP_COLLECTIVE_REDUCE:
  case HILO_OP_CROSS_REPLICA_SUM:
  case HILO_OP_RAGGED_ALL_TO_ALL:
  case HILO_OP_REDUCE_SCATTER: return run_collective(k, fiber, f, s, false);
  case HILO_OP_SEND: return run_send(k, fiber, f, s);
  case HILO_OP_RECV: return run_recv(k, fiber, f, s);
  case HILO_OP_INFEED: return run_infeed(k, fiber, f, s);
  case HILO_OP_OUTFEED: return run_outfeed(k, fiber, f, s);
  case HILO_OP_CUSTOM_CALL:
    if (hilo_is_custom_call_to(k->m, s->inst, "FusedSend"))
      return run_fused_transfer(k, fiber, f, s, true);
    if (hilo_is_custom_call_to(k->m, s->inst, "FusedRecv"))
      return run_fused_transfer(k, fiber, f, s, false);
    if (hilo_is_custom_call_to(k->m, s->inst, HILO_TARGET_COLLECTIVE_MATMUL) ||
        hilo_is_shard_to_full(k->m, s->inst))
      return run_collective(k, fiber, f, s, false);
    return run_custom_call(k, fiber, f, s);
  default: return evaluate(k, fiber, f, s);
  }
}

/* ---- returns ---- */

/* The value of a frame that ended, to the step that called it. */
static hilo_status deliver(hilo_machine *k, hilo_fiber *fiber, hilo_value value) {
  hilo_frame *f = fiber->top;
  const hilo_step *s = &f->plan->steps[f->at];
  if (s->op == HILO_OP_WHILE && f->in_condition) {
    const bool again = value.data[0] != 0;
    hilo_value_release(&k->e, &value);
    if (again) {
      start_body(k, fiber, f, s);
      return HILO_OK;
    }
    value = move_out(&f->carried);
  } else if (s->op == HILO_OP_WHILE) {
    f->carried = value;
    (void)start_condition(k, fiber, f, s);
    return HILO_OK;
  } else if (s->op == HILO_OP_INFEED) {
    hilo_value fed;
    HILO_TRY(infeed_value(k, s->inst, value, &fed));
    value = fed;
  }
  f->slots[s->slot] = value;
  complete_step(k, fiber, f, s);
  return HILO_OK;
}

/* The result of the outermost frame. */
static void end_fiber(hilo_machine *k, hilo_fiber *fiber, hilo_value value) {
  if (!fiber->fills) {
    fiber->result = value;
    return;
  }
  ((hilo_value *)(void *)hilo_buffer_bytes(fiber->result.owner))[1] = value;
  hilo_pending_fill(k, fiber->fills, move_out(&fiber->result));
  hilo_value held = {.owner = fiber->fills};
  hilo_value_release(&k->e, &held);
  fiber->fills = NULL;
}

/* False: the value is not there yet, and the fiber waits. */
static bool end_frame(hilo_machine *k, hilo_fiber *fiber, hilo_status *status) {
  hilo_frame *f = fiber->top;
  hilo_value *root = &f->slots[f->plan->root];
  const bool is_asked = !f->up || f->up->in_condition;
  hilo_buffer *missing = is_asked && root->owner && root->owner->is_tuple ? settle(k, root) : NULL;
  if (missing) {
    (void)wait_for(fiber, missing);
    return false;
  }
  const hilo_value value = move_out(root);
  fiber->top = f->up;
  f->up = f->plan->spare;
  f->plan->spare = f;
  if (fiber->top)
    *status = deliver(k, fiber, value);
  else
    end_fiber(k, fiber, value);
  return true;
}

/* Run until it ends (top NULL), waits or yields. */
static hilo_status run_fiber(hilo_machine *k, hilo_fiber *fiber) {
  hilo_status status = HILO_OK;
  fiber->waits_for = NULL;
  k->e.rank = fiber->rank;
  k->e.rng_state = k->rng_state[fiber->rank];
  while (fiber->top) {
    hilo_frame *f = fiber->top;
    if (f->at == f->plan->n_steps) {
      if (!end_frame(k, fiber, &status)) return HILO_OK;
      if (status != HILO_OK) return status;
      continue;
    }
    const hilo_step *s = &f->plan->steps[f->at];
    if (k->o->max_steps && k->steps >= k->o->max_steps) {
      if (k->o->diags)
        (void)hilo_inst_error(k->m, k->o->diags, HILO_DIAG_EMOD907, s->inst,
                              "the limit of %llu instructions is reached here",
                              (unsigned long long)k->o->max_steps);
      return HILO_LIMIT_ERROR;
    }
    k->steps++;
    k->running = s->inst;
    const outcome o = run_step(k, fiber, f, s);
    if (o == STEP_FAILED) return k->failure == HILO_OK ? HILO_LIMIT_ERROR : k->failure;
    if (o == STEP_WAITS) return HILO_OK;
    if (o != STEP_ENTERED) complete_step(k, fiber, f, s);
    if (o == STEP_YIELDS) return HILO_OK;
  }
  return HILO_OK;
}

/* ---- ranks ---- */

static void drop_fiber(hilo_machine *k, hilo_fiber *fiber) {
  hilo_fiber **place = &k->newest[fiber->rank];
  while (*place != fiber) place = &(*place)->older;
  *place = fiber->older;
  fiber->older = k->spare_fibers;
  k->spare_fibers = fiber;
}

static hilo_fiber *next_to_run(const hilo_machine *k, uint32_t rank) {
  hilo_fiber *fiber = k->newest[rank];
  while (fiber && fiber->waits_for && !is_filled(fiber->waits_for)) fiber = fiber->older;
  return fiber;
}

static hilo_status run_rank(hilo_machine *k, uint32_t rank, hilo_rank *out, bool *progress) {
  for (hilo_fiber *fiber; (fiber = next_to_run(k, rank));) {
    *progress = true;
    const bool is_program = !fiber->fills;
    HILO_TRY(run_fiber(k, fiber));
    if (fiber->top) continue;
    if (is_program) out->result = fiber->result;
    drop_fiber(k, fiber);
  }
  return HILO_OK;
}

static hilo_status run_all(hilo_machine *k, hilo_rank *ranks) {
  for (;;) {
    bool progress = false, left = false;
    for (uint32_t r = 0; r < k->n_ranks; r++) {
      HILO_TRY(run_rank(k, r, &ranks[r], &progress));
      left |= k->newest[r] != NULL;
    }
    if (!left) return HILO_OK;
    if (!progress) HILO_TRY(hilo_transfers_give_zeros(k, &progress));
    if (!progress) return hilo_machine_report_deadlock(k);
  }
}

static void start_ranks(hilo_machine *k, hilo_rank *ranks) {
  for (uint32_t r = 0; r < k->n_ranks; r++) {
    static const uint64_t start[2] = HILO_RNG_STATE_START;
    memcpy(k->rng_state[r], start, sizeof(start));
    hilo_fiber *fiber = new_fiber(k, r);
    hilo_frame *f = push_frame(k, fiber, ranks[r].program);
    for (uint32_t p = 0; p < f->plan->n_params; p++)
      f->slots[f->plan->params[p]] = hilo_value_share(&ranks[r].args[p]);
  }
}

/* What evaluators take beside their values is asked for where it is needed, however deep. */
static hilo_status run_bounded(hilo_machine *k, hilo_rank *ranks) {
  hilo_arena *tables = &k->tables.arena;
  if (setjmp(k->beyond)) {
    k->e.scratch = k->o->arena;
    if (k->running.ix)
      return hilo_eval_refuse(&k->e, k->running,
                              "what it needs beside its value is beyond the memory limit");
    if (k->o->diags)
      (void)hilo_diag_add(k->o->diags, HILO_DIAG_EMOD907, NULL,
                          "running on %u ranks takes more than the memory limit", k->n_ranks);
    return HILO_LIMIT_ERROR;
  }
  if (!k->o->draws) k->draws = hilo_draws_of(k->m, tables);
  hilo_plans_init(&k->plans, k->m, tables);
  k->newest = HILO_NEW_ZEROED(tables, hilo_fiber *, k->n_ranks + 1);
  k->rng_state = hilo_arena_alloc_array(tables, k->n_ranks + 1, sizeof(*k->rng_state), 8);
  k->meetings = hilo_meetings_create(k);
  k->transfers = hilo_transfers_create(k);
  enter_level(k);
  start_ranks(k, ranks);
  return run_all(k, ranks);
}

hilo_status hilo_machine_run(const hilo_machine_options *o, hilo_rank *ranks,
                             hilo_machine_stats *stats) {
  hilo_machine *k = HILO_NEW_ZEROED(o->arena, hilo_machine, 1);
  k->o = o;
  k->m = o->m;
  k->n_ranks = o->n_replicas * o->n_partitions;
  k->e = (hilo_eval){.m = o->m,
                     .types = o->types,
                     .heap = o->heap,
                     .diags = o->diags,
                     .machine = k,
                     .seed = o->seed,
                     .draws = o->draws ? o->draws : &k->draws,
                     .real_copies = o->real_copies};
  hilo_counted_arena_init(&k->tables, o->arena, o->heap, &k->beyond);
  const hilo_status status = run_bounded(k, ranks);
  if (stats) stats->steps = k->steps;
  for (uint32_t l = 0; l < HILO_MAX_NESTING && k->levels[l]; l++)
    hilo_counted_arena_deinit(&k->levels[l]->scratch);
  hilo_counted_arena_deinit(&k->tables);
  return status;
}

/* ---- computations that evaluators apply ---- */

hilo_status hilo_machine_call(const hilo_eval *e, hilo_inst caller, hilo_comp region,
                              const hilo_value *args, hilo_value *out) {
  hilo_machine *k = e->machine;
  if (k->level + 1 >= HILO_MAX_NESTING)
    return hilo_eval_refuse(e, caller, "computations that it applies are nested beyond 64");
  const hilo_eval saved = k->e;
  k->level++;
  enter_level(k);
  hilo_fiber fiber = {.rank = e->rank};
  hilo_frame *f = push_frame(k, &fiber, region);
  for (uint32_t p = 0; p < f->plan->n_params; p++)
    f->slots[f->plan->params[p]] = hilo_value_share(&args[p]);
  hilo_status status = run_fiber(k, &fiber);
  k->level--;
  k->e = saved;
  if (status == HILO_OK && fiber.top)
    status = hilo_eval_refuse(e, caller, "its computation waits for other ranks");
  *out = fiber.result;
  return status;
}
