/* 23 memcast-motion: data moves in its narrower type.
 *
 *   widening sinks     transpose(convert(x: bf16 -> f32))  =>  convert(transpose(x))
 *   narrowing rises    convert(transpose(x: f32) -> bf16)  =>  transpose(convert(x))
 *
 * through operations that only move elements, so that every element sees the same convert: equal
 * bits. The value in between must have no other use, a pad's padding must survive the way there and
 * back, and the bytes that both operations read and write must drop. What reads an aliased
 * parameter stays where it is, and so does what has control edges or `no-opt`.
 *
 * Each convert travels one way only (widening ones down, then narrowing ones up) and each hop
 * crosses one operation, so it ends; O(instructions + hops). */
#include "base/vec.h"
#include "eval/eval.h"
#include "rewrite/neuron_attrs.h"
#include "rewrite/replace.h"
#include "sched/aliased.h"
#include "sched/steps.h"

typedef struct {
  hilo_module *m;
  hilo_pass_ctx *ctx;
  uint64_t
      *aliased; /* bit per instruction: a parameter that shares an output's buffer, or a view */
  uint32_t n_aliased;
  hilo_vec(hilo_inst) todo;
} carrier;

/* ---- what moves data ---- */

/* How many of its operands are data, 0 if it does more than move elements. The others say where
 * to. */
static uint32_t n_data_operands(const hilo_module *m, hilo_inst i) {
  const uint32_t n = hilo_inst_n_operands(m, i);
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_TRANSPOSE:
  case HILO_OP_RESHAPE:
  case HILO_OP_BROADCAST:
  case HILO_OP_SLICE:
  case HILO_OP_DYNAMIC_SLICE:
  case HILO_OP_REVERSE:
  case HILO_OP_COPY:
  case HILO_OP_GATHER: return 1;
  case HILO_OP_CONCATENATE:
  case HILO_OP_PAD: return n;
  case HILO_OP_ALL_GATHER:
  case HILO_OP_ALL_TO_ALL:
  case HILO_OP_COLLECTIVE_PERMUTE: return n == 1 ? 1 : 0; /* more: several payloads, or a token */
  default: return 0;
  }
}

static bool is_plain_array(const hilo_module *m, hilo_inst i) {
  const hilo_type type = hilo_inst_type(m, i);
  const hilo_type_row *row = hilo_type_row_of(&m->types, type);
  return hilo_type_is_array(&m->types, type) &&
         !(row->flags & (HILO_TYPE_DYNAMIC | HILO_TYPE_QUANT));
}

static bool may_touch(const hilo_module *m, hilo_inst i) {
  if (hilo_control_has(m, i) || !is_plain_array(m, i)) return false;
  return !hilo_inst_extra_record(m, i).ix || !hilo_neuron_of_inst(m, i).no_opt.ix;
}

static uint32_t bits_of(const hilo_module *m, hilo_inst i) {
  return hilo_etype_table[hilo_inst_etype(m, i)].bits;
}

static bool is_convert(const hilo_module *m, hilo_inst i, bool widening) {
  if (!hilo_inst_is(m, i, HILO_OP_CONVERT) || !may_touch(m, i)) return false;
  const hilo_inst x = hilo_inst_operand(m, i, 0);
  if (!is_plain_array(m, x)) return false;
  return widening ? bits_of(m, x) < bits_of(m, i) : bits_of(m, x) > bits_of(m, i);
}

static bool is_aliased(const carrier *k, hilo_inst i) {
  const uint32_t ix = hilo_ix(k->m, i);
  return ix < k->n_aliased && hilo_bitset_get(k->aliased, ix);
}

/* ---- what it costs ---- */

static uint64_t elements_of(const hilo_module *m, hilo_inst i) {
  return hilo_type_row_of(&m->types, hilo_inst_type(m, i))->n_elements;
}

/* Elements of data operand k that `i` reads: a slice reads what it gives. */
static uint64_t elements_read(const hilo_module *m, hilo_inst i, uint32_t k) {
  const uint64_t operand = elements_of(m, hilo_inst_operand(m, i, k)), result = elements_of(m, i);
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_SLICE:
  case HILO_OP_DYNAMIC_SLICE:
  case HILO_OP_GATHER: return operand < result ? operand : result;
  default: return operand;
  }
}

/* In bits, by doubles: the sizes are known to fit 64 bits, their sum is not. */
typedef struct {
  double converted; /* elements that the convert sees before the move */
  double read;      /* elements that the move reads */
  double moved;     /* elements that it gives */
} traffic;

static traffic traffic_of(const hilo_module *m, hilo_inst move) {
  const uint32_t n_data = n_data_operands(m, move);
  traffic t = {.moved = (double)elements_of(m, move)};
  for (uint32_t k = 0; k < n_data; k++) {
    t.converted += (double)elements_of(m, hilo_inst_operand(m, move, k));
    t.read += (double)elements_read(m, move, k);
  }
  return t;
}

/* Convert first, or move first; from `from` bits to `to`. */
static double cost_convert_first(traffic t, double from, double to) {
  return t.converted * (from + to) + (t.read + t.moved) * to;
}
static double cost_move_first(traffic t, double from, double to) {
  return (t.read + t.moved) * from + t.moved * (from + to);
}

/* ---- padding ---- */

/* The padding as a constant of `etype`, before `at`; none if it is no constant that comes back as
 * it was. */
static hilo_inst convert_padding(hilo_module *m, hilo_inst value, hilo_etype etype, hilo_inst at) {
  const hilo_etype from = hilo_inst_etype(m, value);
  if (!hilo_inst_is(m, value, HILO_OP_CONSTANT)) return HILO_INST_NONE;
  const hilo_literal literal = hilo_inst_literal(m, value);
  const hilo_literal_kind kind = (hilo_literal_kind)hilo_literal_get(m, literal)->kind;
  if (kind != HILO_LITERAL_DENSE && kind != HILO_LITERAL_SPLAT) return HILO_INST_NONE;
  if (hilo_etype_is_complex(from) || hilo_etype_is_complex(etype)) return HILO_INST_NONE;
  const char *element = hilo_literal_element(m, literal, 0);
  uint64_t there = 0, back = 0;
  hilo_eval_convert_elements(from, etype, element, 1, (char *)&there);
  hilo_eval_convert_elements(etype, from, (const char *)&there, 1, (char *)&back);
  if (memcmp(&back, element, hilo_etype_bytes(from)) != 0) return HILO_INST_NONE;
  const hilo_type type = hilo_type_scalar(&m->types, etype);
  const hilo_inst_desc desc = {.op = HILO_OP_CONSTANT,
                               .type = type,
                               .attr = hilo_literal_splat(m, type, &there).ix,
                               .meta = hilo_inst_meta_record(m, value)};
  return hilo_inst_insert_before(m, at, &desc);
}

/* ---- rewriting ---- */

/* A copy of `move` before it, with other data, in another element type. */
static hilo_inst clone_move(hilo_module *m, hilo_inst move, const hilo_inst *operands,
                            hilo_etype etype) {
  const hilo_inst fresh = hilo_inst_clone_before(m, move, move, operands);
  hilo_inst_set_type(m, fresh, hilo_type_with_etype(&m->types, hilo_inst_type(m, move), etype));
  return fresh;
}

static hilo_inst *operands_of(carrier *k, hilo_inst i) {
  const uint32_t n = hilo_inst_n_operands(k->m, i);
  hilo_inst *out = HILO_NEW_ARRAY(k->ctx->scratch, hilo_inst, n + 1);
  for (uint32_t o = 0; o < n; o++) out[o] = hilo_inst_operand(k->m, i, o);
  return out;
}

static uint32_t n_converted(const hilo_module *m, hilo_inst move) {
  return hilo_inst_is(m, move, HILO_OP_PAD) ? 1 : n_data_operands(m, move);
}

/* Put converted padding into `operands`, where `move` is a pad. */
static bool adapt_padding(hilo_module *m, hilo_inst move, hilo_inst *operands, hilo_etype etype) {
  if (!hilo_inst_is(m, move, HILO_OP_PAD)) return true;
  operands[1] = convert_padding(m, operands[1], etype, move);
  return operands[1].ix != 0;
}

static void erase_if_dead(hilo_module *m, hilo_inst i) {
  if (!hilo_inst_has_uses(m, i) && !hilo_inst_is_root(m, i)) hilo_erase(m, i);
}

/* ---- widening sinks ---- */

/* Are the data operands of `move` converts from one narrower type, used here only? */
static bool are_all_widened(const carrier *k, hilo_inst move, hilo_etype narrow) {
  const hilo_module *m = k->m;
  const uint32_t n = n_converted(m, move);
  for (uint32_t o = 0; o < n; o++) {
    const hilo_inst c = hilo_inst_operand(m, move, o);
    if (!is_convert(m, c, true) || !hilo_inst_has_one_use(m, c)) return false;
    const hilo_inst x = hilo_inst_operand(m, c, 0);
    if (hilo_inst_etype(m, x) != narrow || is_aliased(k, x)) return false;
  }
  return true;
}

/* The operation behind the convert that it may cross; none otherwise. */
static hilo_inst crossed_by_sinking(carrier *k, hilo_inst c) {
  const hilo_module *m = k->m;
  const hilo_use use = hilo_first_use(m, c);
  if (!use.slot || !hilo_inst_has_one_use(m, c)) return HILO_INST_NONE;
  const hilo_inst move = hilo_use_user(m, use);
  if (hilo_use_operand_index(m, use) >= n_data_operands(m, move)) return HILO_INST_NONE;
  k->ctx->n_matched++;
  const hilo_etype narrow = hilo_inst_etype(m, hilo_inst_operand(m, c, 0));
  if (!may_touch(m, move) || is_aliased(k, move) || !are_all_widened(k, move, narrow))
    return HILO_INST_NONE;
  const traffic t = traffic_of(m, move);
  const double from = hilo_etype_table[narrow].bits, to = bits_of(m, c);
  return cost_move_first(t, from, to) < cost_convert_first(t, from, to) ? move : HILO_INST_NONE;
}

static void sink(carrier *k, hilo_inst c) {
  hilo_module *m = k->m;
  const hilo_inst move = crossed_by_sinking(k, c);
  if (!move.ix) return;
  const hilo_etype narrow = hilo_inst_etype(m, hilo_inst_operand(m, c, 0));
  const uint32_t n = hilo_inst_n_operands(m, move), n_data = n_converted(m, move);
  const hilo_inst *old = operands_of(k, move);
  hilo_inst *operands = operands_of(k, move);
  if (!adapt_padding(m, move, operands, narrow)) return;
  for (uint32_t o = 0; o < n_data; o++) operands[o] = hilo_inst_operand(m, old[o], 0);
  const hilo_inst moved = clone_move(m, move, operands, narrow);
  const hilo_inst wide = hilo_inst_clone_before(m, c, move, &moved);
  hilo_inst_set_type(m, wide, hilo_inst_type(m, move));
  hilo_replace_with_fresh(m, move, wide);
  for (uint32_t o = 0; o < n; o++)
    if (o < n_data || hilo_inst_is(m, old[o], HILO_OP_CONSTANT)) erase_if_dead(m, old[o]);
  k->ctx->n_rewritten++;
  HILO_PUSH(k->ctx->scratch, &k->todo, wide);
}

/* ---- narrowing rises ---- */

static bool may_rise(carrier *k, hilo_inst c, hilo_inst move) {
  const hilo_module *m = k->m;
  if (!n_data_operands(m, move) || !hilo_inst_has_one_use(m, move)) return false;
  k->ctx->n_matched++;
  if (!may_touch(m, move) || is_aliased(k, c)) return false;
  const uint32_t n = n_converted(m, move);
  for (uint32_t o = 0; o < n; o++) {
    const hilo_inst x = hilo_inst_operand(m, move, o);
    if (!is_plain_array(m, x) || is_aliased(k, x)) return false;
  }
  const traffic t = traffic_of(m, move);
  const double from = bits_of(m, move), to = bits_of(m, c);
  return cost_convert_first(t, from, to) < cost_move_first(t, from, to);
}

static void rise(carrier *k, hilo_inst c) {
  hilo_module *m = k->m;
  const hilo_inst move = hilo_inst_operand(m, c, 0);
  if (!may_rise(k, c, move)) return;
  const hilo_etype narrow = hilo_inst_etype(m, c);
  const uint32_t n_data = n_converted(m, move);
  hilo_inst *operands = operands_of(k, move);
  const hilo_inst padding = hilo_inst_is(m, move, HILO_OP_PAD) ? operands[1] : HILO_INST_NONE;
  if (!adapt_padding(m, move, operands, narrow)) return;
  for (uint32_t o = 0; o < n_data; o++) {
    const hilo_inst x = operands[o];
    operands[o] = hilo_inst_clone_before(m, c, move, &x);
    hilo_inst_set_type(m, operands[o],
                       hilo_type_with_etype(&m->types, hilo_inst_type(m, x), narrow));
    HILO_PUSH(k->ctx->scratch, &k->todo, operands[o]);
  }
  const hilo_inst moved = clone_move(m, move, operands, narrow);
  hilo_inst_set_type(m, moved, hilo_inst_type(m, c));
  hilo_replace_with_fresh(m, c, moved);
  erase_if_dead(m, move);
  if (padding.ix) erase_if_dead(m, padding);
  k->ctx->n_rewritten++;
}

/* ---- the step ---- */

static void run(carrier *k, hilo_comp c, bool widening) {
  hilo_module *m = k->m;
  k->todo.n = 0;
  HILO_FOR_EACH_INST(m, c, i) {
    if (is_convert(m, i, widening)) HILO_PUSH(k->ctx->scratch, &k->todo, i);
  }
  for (uint32_t at = 0; at < k->todo.n; at++) {
    const hilo_inst i = k->todo.v[at];
    if (hilo_inst_is(m, i, HILO_OP_DEAD)) continue; /* went with a concatenation */
    widening ? sink(k, i) : rise(k, i);
  }
}

HILO_DECLARE_PASS(memcast_motion) {
  carrier k = {.m = m, .ctx = ctx, .n_aliased = m->n_inst_slots};
  k.aliased = hilo_aliased_make(m, ctx->scratch);
  if (!k.aliased) k.n_aliased = 0;
  HILO_FOR_EACH_COMP(m, c) {
    if (hilo_comp_get(m, c)->flags & HILO_COMP_FUSION) continue;
    run(&k, c, true);
    run(&k, c, false);
  }
  HILO_VEC_FREE(ctx->scratch, &k.todo);
  *changed |= ctx->n_rewritten != 0;
  return HILO_OK;
}
