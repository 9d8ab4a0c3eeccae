#include "ir/verify/verify_parts.h"

/* What starts must be finished, once, by its own other half: invariant 18 of verify.c. Send and
 * recv may be carried through tuples (pipelined loops), where the halves no longer meet. */

typedef struct {
  hilo_op start, done;
} pair;

static const pair pairs[] = {
    {HILO_OP_ALL_GATHER_START, HILO_OP_ALL_GATHER_DONE},
    {HILO_OP_ALL_REDUCE_START, HILO_OP_ALL_REDUCE_DONE},
    {HILO_OP_ASYNC_START, HILO_OP_ASYNC_DONE},
    {HILO_OP_ASYNC_UPDATE, HILO_OP_ASYNC_DONE},
    {HILO_OP_COLLECTIVE_PERMUTE_START, HILO_OP_COLLECTIVE_PERMUTE_DONE},
    {HILO_OP_COPY_START, HILO_OP_COPY_DONE},
    {HILO_OP_RECV, HILO_OP_RECV_DONE},
    {HILO_OP_SEND, HILO_OP_SEND_DONE},
};

static hilo_op done_of(hilo_op start) {
  for (uint32_t k = 0; k < HILO_COUNT(pairs); k++)
    if (pairs[k].start == start) return pairs[k].done;
  return HILO_OP_DEAD;
}

static hilo_op start_of(hilo_op done) {
  for (uint32_t k = 0; k < HILO_COUNT(pairs); k++)
    if (pairs[k].done == done) return pairs[k].start;
  return HILO_OP_DEAD;
}

static bool has_trait(const hilo_module *m, hilo_inst i, unsigned trait) {
  return hilo_inst_has(m, i, trait);
}

/* Is the chain of asynchronous operations, which updates may prolong. */
static bool is_async(hilo_op op) { return op == HILO_OP_ASYNC_START || op == HILO_OP_ASYNC_UPDATE; }

/* The root of a computation that an asynchronous operation wraps needs no user: it is finished
 * outside. */
static bool is_wrapped_root(const hilo_module *m, hilo_inst i) {
  return hilo_inst_is_root(m, i) && !hilo_inst_has_uses(m, i);
}

static void check_users(hilo_verifier *v, hilo_inst i, hilo_op op) {
  const hilo_module *m = v->m;
  const bool transfer = has_trait(m, i, HILO_TRAIT_TRANSFER);
  const hilo_op done = done_of(op);
  if (transfer && is_wrapped_root(m, i)) return;
  const hilo_use first = hilo_first_use(m, i);
  const uint32_t n = !first.slot ? 0 : hilo_next_use(m, first).slot ? 2 : 1;
  const hilo_op user = n ? hilo_inst_op(m, hilo_use_user(m, first)) : HILO_OP_DEAD;
  const bool fits = user == done || (is_async(op) && user == HILO_OP_ASYNC_UPDATE) ||
                    (transfer && (user == HILO_OP_TUPLE || user == HILO_OP_GET_TUPLE_ELEMENT ||
                                  user == HILO_OP_OPT_BARRIER));
  if (n == 1 && fits) return;
  if (n == 1)
    hilo_verify_error(v, HILO_DIAG_EMOD922, i, "`%s` is used by `%s`, expected `%s`",
                      hilo_op_table[op].hlo, hilo_op_table[user].hlo, hilo_op_table[done].hlo);
  else
    hilo_verify_error(v, HILO_DIAG_EMOD922, i, "`%s` has %s, expected one by `%s`",
                      hilo_op_table[op].hlo, n ? "several uses" : "no use",
                      hilo_op_table[done].hlo);
}

/* Halves of a transfer agree on channel and kind. */
static void check_transfer(hilo_verifier *v, hilo_inst done, hilo_inst start) {
  const hilo_module *m = v->m;
  const int64_t a = hilo_inst_extra(m, start).channel_id, b = hilo_inst_extra(m, done).channel_id;
  if (b && a != b)
    hilo_verify_error(v, HILO_DIAG_EMOD922, done, "channel_id is %lld, but `%s` has %lld",
                      (long long)b, hilo_verify_name(v, start), (long long)a);
  if (hilo_attrs(m, start, transfer).is_host_transfer !=
      hilo_attrs(m, done, transfer).is_host_transfer)
    hilo_verify_error(
        v, HILO_DIAG_EMOD922, done,
        "is_host_transfer is set for one half of the transfer, but not for the other");
}

static void check_async(hilo_verifier *v, hilo_inst i, hilo_inst before) {
  const hilo_module *m = v->m;
  if (!hilo_inst_n_called(m, i) || !hilo_inst_n_called(m, before)) return;
  const hilo_comp own = hilo_inst_called(m, i, 0), wrapped = hilo_inst_called(m, before, 0);
  if (hilo_comp_eq(own, wrapped)) return;
  hilo_verify_error(v, HILO_DIAG_EMOD922, i, "the wrapped computation is `%s`, but `%s` wraps `%s`",
                    hilo_infer_comp_text(&v->infer, own), hilo_verify_name(v, before),
                    hilo_infer_comp_text(&v->infer, wrapped));
}

static void check_operand(hilo_verifier *v, hilo_inst i, hilo_op op) {
  const hilo_module *m = v->m;
  const hilo_inst start = hilo_inst_operand(m, i, 0);
  const hilo_op found = hilo_inst_op(m, start);
  const hilo_op expected = is_async(op) ? HILO_OP_ASYNC_START : start_of(op);
  const bool transfer = has_trait(m, i, HILO_TRAIT_TRANSFER);
  const bool async = op == HILO_OP_ASYNC_DONE || op == HILO_OP_ASYNC_UPDATE;
  const bool carried = transfer && found != HILO_OP_SEND && found != HILO_OP_RECV;
  if (carried) return;
  if (found != expected && !(async && is_async(found))) {
    hilo_verify_error(v, HILO_DIAG_EMOD922, i, "the operand `%s` of `%s` is `%s`, expected `%s`",
                      hilo_verify_name(v, start), hilo_op_table[op].hlo, hilo_op_table[found].hlo,
                      hilo_op_table[expected].hlo);
  } else if (transfer) {
    check_transfer(v, i, start);
  } else if (async) {
    check_async(v, i, start);
  }
}

void hilo_verify_chain(hilo_verifier *v, hilo_inst i) {
  if (v->m->dialect != HILO_DIALECT_HLO)
    return; /* there, transfers give tokens and have no halves */
  const hilo_op op = hilo_inst_op(v->m, i);
  if (done_of(op)) check_users(v, i, op);
  if (op == HILO_OP_ASYNC_UPDATE || start_of(op)) check_operand(v, i, op);
}
