/* tokens-to-control-deps (--enable-experimental-cc-control-deps): what tokens order among
 * collectives, sends and receives becomes control edges, before #33 takes the tokens.
 *
 * For each of these with a token operand, the nearest of them that the token comes from, through
 * after-all, tuple and get-tuple-element, becomes a control predecessor. One that comes before
 * another of them anyway is left out; that search looks at no more than 32 instructions for each
 * instruction of the module, beyond that the edge is drawn although it says nothing new.
 *
 * A walk along tokens ends at the nearest of them, so it costs what lies between: joins of tokens
 * once a consumer. */
#include "analysis/custom_call.h"
#include "base/vec.h"
#include "passes/passes.h"

enum { LOOKS_PER_INST = 32 };

typedef hilo_vec(hilo_inst) inst_list;

typedef struct {
  hilo_module *m;
  hilo_arena *scratch;
  uint32_t *seen; /* per instruction: the last query that came by */
  uint32_t query;
  uint64_t budget;     /* of instructions that searches may look at */
  inst_list producers; /* of the consumer in hand */
  inst_list stack;
} linker;

static bool is_communication(const hilo_module *m, hilo_inst i) {
  return hilo_inst_has(m, i, HILO_TRAIT_COLLECTIVE | HILO_TRAIT_TRANSFER) ||
         hilo_is_custom_call_to(m, i, "FusedSend") || hilo_is_custom_call_to(m, i, "FusedRecv");
}

static bool is_token(const hilo_module *m, hilo_inst i) {
  return hilo_inst_etype(m, i) == HILO_TOKEN;
}

/* True the first time in this query. */
static bool visit(linker *l, hilo_inst i) {
  uint32_t *seen = &l->seen[hilo_ix(l->m, i)];
  if (*seen == l->query) return false;
  *seen = l->query;
  return true;
}

/* The instruction that a token, or what it is taken from, is made by. */
static hilo_inst maker_of(const hilo_module *m, hilo_inst i) {
  while (hilo_inst_is(m, i, HILO_OP_GET_TUPLE_ELEMENT)) {
    const hilo_inst tuple = hilo_inst_operand(m, i, 0);
    i = hilo_inst_is(m, tuple, HILO_OP_TUPLE) ? hilo_inst_operand(m, tuple, hilo_inst_index(m, i))
                                              : tuple;
  }
  return i;
}

/* Into l->producers: who made the tokens that `consumer` takes. */
static void find_producers(linker *l, hilo_inst consumer) {
  const hilo_module *m = l->m;
  l->producers.n = 0;
  l->query++;
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, consumer); k++) {
    const hilo_inst operand = hilo_inst_operand(m, consumer, k);
    if (is_token(m, operand)) HILO_PUSH(l->scratch, &l->stack, operand);
  }
  while (l->stack.n) {
    const hilo_inst i = maker_of(m, HILO_POP(&l->stack));
    if (!visit(l, i)) continue;
    if (is_communication(m, i)) {
      HILO_PUSH(l->scratch, &l->producers, i);
    } else if (hilo_inst_is(m, i, HILO_OP_AFTER_ALL) || hilo_inst_is(m, i, HILO_OP_TUPLE)) {
      for (uint32_t k = hilo_inst_n_operands(m, i); k-- > 0;)
        HILO_PUSH(l->scratch, &l->stack, hilo_inst_operand(m, i, k));
    }
  }
}

static void push_needs(linker *l, hilo_inst i) {
  const hilo_module *m = l->m;
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
    HILO_PUSH(l->scratch, &l->stack, hilo_inst_operand(m, i, k));
  for (uint32_t e = hilo_control_first_pred(m, i); e; e = m->edge.v[e].next_of_succ)
    HILO_PUSH(l->scratch, &l->stack, hilo_inst_at(m, m->edge.v[e].pred));
}

/* Mark with this query what comes before the producers, back to the earliest of them. False: that
 * is too much to look at. */
static bool mark_implied(linker *l) {
  hilo_module *m = l->m;
  hilo_inst earliest = l->producers.v[0];
  for (uint32_t k = 1; k < l->producers.n; k++)
    if (hilo_inst_before(m, l->producers.v[k], earliest)) earliest = l->producers.v[k];
  l->query++;
  for (uint32_t k = 0; k < l->producers.n; k++) push_needs(l, l->producers.v[k]);
  while (l->stack.n) {
    const hilo_inst i = HILO_POP(&l->stack);
    if (hilo_inst_before(m, i, earliest) || !visit(l, i)) continue;
    if (l->budget == 0) {
      l->stack.n = 0;
      return false;
    }
    l->budget--;
    push_needs(l, i);
  }
  return true;
}

/* True: an edge was drawn. */
static bool link_consumer(linker *l, hilo_inst consumer) {
  hilo_module *m = l->m;
  find_producers(l, consumer);
  const bool prune = l->producers.n > 1 && mark_implied(l);
  const uint32_t n_before = m->edge.n;
  for (uint32_t k = 0; k < l->producers.n; k++) {
    const hilo_inst producer = l->producers.v[k];
    if (prune && l->seen[hilo_ix(m, producer)] == l->query) continue;
    hilo_control_add(m, producer, consumer);
  }
  return m->edge.n != n_before;
}

HILO_DECLARE_PASS(tokens_to_control_deps) {
  linker l = {.m = m, .scratch = ctx->scratch};
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      if (!is_communication(m, i)) continue;
      if (!l.seen) {
        l.seen = HILO_NEW_ZEROED(ctx->scratch, uint32_t, m->n_inst_slots);
        l.budget = (uint64_t)LOOKS_PER_INST * m->n_insts;
      }
      ctx->n_matched++;
      if (!link_consumer(&l, i)) continue;
      ctx->n_rewritten++;
      *changed = true;
    }
  }
  return HILO_OK;
}
