/* The patterns of step 15 that have a fixed form: 15.1 SubExp, 15.2 DotLogistic, 15.3 MulRedSqrt.
 */
#include "analysis/region.h"
#include "ir/etype_format.h"
#include "num/float_format.h"
#include "passes/dialect/op_fusion.h"
#include "rewrite/build.h"
#include "rewrite/replace.h"

enum { MAX_WINDOW = 4096 };

static bool all_may_join(const hilo_op_fusion *f, const hilo_inst *members, uint32_t n) {
  for (uint32_t k = 0; k < n; k++)
    if (!hilo_op_fusion_may_join(f, members[k]) ||
        !hilo_op_fusion_may_sink(f, members[k], members[n - 1]))
      return false;
  return true;
}

/* Is the value used by `users` only (and returned by nothing)? */
static bool is_used_by_only(const hilo_module *m, hilo_inst i, const hilo_inst *users, uint32_t n) {
  if (hilo_inst_is_root(m, i)) return false;
  for (hilo_use u = hilo_first_use(m, i); u.slot; u = hilo_next_use(m, u)) {
    bool among = false;
    for (uint32_t k = 0; k < n; k++) among |= hilo_inst_eq(users[k], hilo_use_user(m, u));
    if (!among) return false;
  }
  return true;
}

/* The one instruction that uses the value; none if there are several, or it is the root. */
static hilo_inst single_user(const hilo_module *m, hilo_inst i) {
  const hilo_use first = hilo_first_use(m, i);
  if (!first.slot) return HILO_INST_NONE;
  const hilo_inst user = hilo_use_user(m, first);
  return is_used_by_only(m, i, &user, 1) ? user : HILO_INST_NONE;
}

/* The operand of `i` that is an `op`, the first if both are; the other one goes to *other. */
static hilo_inst operand_that_is(const hilo_module *m, hilo_inst i, hilo_op op, hilo_inst *other) {
  for (uint32_t k = 0; k < 2; k++) {
    if (!hilo_inst_is(m, hilo_inst_operand(m, i, k), op)) continue;
    *other = hilo_inst_operand(m, i, 1 - k);
    return hilo_inst_operand(m, i, k);
  }
  return HILO_INST_NONE;
}

static bool consumes_both(const hilo_module *m, hilo_inst i, hilo_inst a, hilo_inst b) {
  const hilo_inst x = hilo_inst_operand(m, i, 0), y = hilo_inst_operand(m, i, 1);
  return (hilo_inst_eq(x, a) && hilo_inst_eq(y, b)) || (hilo_inst_eq(x, b) && hilo_inst_eq(y, a));
}

/* ---- 15.1 ---- */

/* exp(subtract(x, max)) of which nothing but `sum` reads the exponential: its two instructions. */
static bool match_exp(const hilo_module *m, hilo_inst exp, hilo_inst sum, hilo_inst max,
                      hilo_inst *sub) {
  if (!hilo_inst_is(m, exp, HILO_OP_EXP) || !is_used_by_only(m, exp, &sum, 1)) return false;
  *sub = hilo_inst_operand(m, exp, 0);
  return hilo_inst_is(m, *sub, HILO_OP_SUBTRACT) && is_used_by_only(m, *sub, &exp, 1) &&
         hilo_inst_eq(hilo_inst_operand(m, *sub, 1), max);
}

/* max(a, b) + log(exp(a - max) + exp(b - max)), every value in between used in it only. */
void hilo_find_sub_exp(hilo_op_fusion *f, hilo_inst root) {
  const hilo_module *m = f->m;
  hilo_inst max = HILO_INST_NONE;
  const hilo_inst log = operand_that_is(m, root, HILO_OP_LOG, &max);
  if (!log.ix || !hilo_inst_is(m, max, HILO_OP_MAXIMUM) || !is_used_by_only(m, log, &root, 1))
    return;
  const hilo_inst sum = hilo_inst_operand(m, log, 0);
  if (!hilo_inst_is(m, sum, HILO_OP_ADD) || !is_used_by_only(m, sum, &log, 1)) return;
  const hilo_inst exp1 = hilo_inst_operand(m, sum, 0), exp2 = hilo_inst_operand(m, sum, 1);
  hilo_inst sub1 = HILO_INST_NONE, sub2 = HILO_INST_NONE;
  if (hilo_inst_eq(exp1, exp2) || !match_exp(m, exp1, sum, max, &sub1) ||
      !match_exp(m, exp2, sum, max, &sub2) ||
      !consumes_both(m, max, hilo_inst_operand(m, sub1, 0), hilo_inst_operand(m, sub2, 0)))
    return;
  const hilo_inst readers[] = {sub1, sub2, root};
  const hilo_inst members[] = {max, sub1, sub2, exp1, exp2, sum, log, root};
  if (is_used_by_only(m, max, readers, HILO_COUNT(readers)) &&
      all_may_join(f, members, HILO_COUNT(members)))
    hilo_op_fusion_add(f, "Elementwise", members, HILO_COUNT(members), true);
}

/* ---- 15.2 ---- */

/* May what stands between the members and depends on the dot move behind the last one? Pure
 * instructions may that read no buffer written on the way. */
static bool may_open(hilo_op_fusion *f, hilo_inst dot, hilo_inst last) {
  hilo_module *m = f->m;
  if (!f->effects) f->effects = hilo_effects_make(m, f->scratch);
  if (!f->dependents) f->dependents = HILO_NEW_ZEROED(f->scratch, uint32_t, f->n_slots);
  uint32_t n = 0;
  for (hilo_inst i = last; !hilo_inst_eq(i, dot); i = hilo_inst_prev(m, i))
    if (++n > MAX_WINDOW) return false;
  f->dependents[hilo_ix(m, dot)] = ++f->epoch;
  for (hilo_inst i = hilo_inst_next(m, dot); !hilo_inst_eq(i, last); i = hilo_inst_next(m, i)) {
    bool depends = false;
    for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
      depends |= f->dependents[hilo_ix(m, hilo_inst_operand(m, i, k))] == f->epoch;
    if (!depends) continue;
    f->dependents[hilo_ix(m, i)] = f->epoch;
    if (!hilo_inst_is_movable(m, i, f->effects) || !hilo_op_fusion_may_sink(f, i, last))
      return false;
  }
  return true;
}

/* logistic(dot), and the multiply that consumes both. */
void hilo_find_dot_logistic(hilo_op_fusion *f, hilo_inst logistic) {
  const hilo_module *m = f->m;
  const hilo_inst dot = hilo_inst_operand(m, logistic, 0), user = single_user(m, logistic);
  if (!user.ix || !hilo_inst_is(m, dot, HILO_OP_DOT)) return;
  const bool is_product =
      hilo_inst_is(m, user, HILO_OP_MULTIPLY) && consumes_both(m, user, dot, logistic);
  const hilo_inst members[] = {dot, logistic, user};
  const uint32_t n = is_product ? 3 : 2;
  if (!all_may_join(f, members, n)) return;
  const bool is_closed = is_used_by_only(m, dot, members + 1, n - 1);
  if (is_closed || may_open(f, dot, members[n - 1]))
    hilo_op_fusion_add(f, "DotLogistic", members, n, is_closed);
}

static hilo_inst in_type_of(hilo_module *m, hilo_inst at, hilo_inst original, const hilo_inst *v,
                            uint32_t n, hilo_type type) {
  const hilo_inst_desc desc = {.op = hilo_inst_op(m, original),
                               .type = type,
                               .operands = v,
                               .n_operands = n,
                               .meta = hilo_inst_meta_record(m, original)};
  const hilo_inst fresh = hilo_inst_insert_before(m, at, &desc);
  const hilo_extra_attrs extra = hilo_inst_extra(m, original);
  hilo_inst_set_extra(
      m, fresh,
      &(hilo_extra_attrs){.result_accuracy = extra.result_accuracy, .frontend = extra.frontend});
  m->inst.ordinal[hilo_ix(m, fresh)] = m->inst.ordinal[hilo_ix(m, original)];
  return fresh;
}

bool hilo_reassociate_logistic(hilo_op_fusion *f, hilo_inst logistic) {
  hilo_module *m = f->m;
  const hilo_inst shaped = hilo_inst_operand(m, logistic, 0), product = single_user(m, logistic);
  if (!product.ix || !hilo_inst_is(m, product, HILO_OP_MULTIPLY) ||
      !hilo_inst_is(m, shaped, HILO_OP_RESHAPE))
    return false;
  const hilo_inst dot = hilo_inst_operand(m, shaped, 0);
  const hilo_inst members[] = {shaped, logistic, product};
  if (!consumes_both(m, product, shaped, logistic) || !hilo_inst_is(m, dot, HILO_OP_DOT) ||
      !is_used_by_only(m, shaped, members + 1, 2) || !all_may_join(f, members, 3))
    return false;
  const hilo_type type = hilo_inst_type(m, dot);
  const hilo_inst l = in_type_of(m, product, logistic, &dot, 1, type);
  const bool dot_first = hilo_inst_eq(hilo_inst_operand(m, product, 0), shaped);
  const hilo_inst factors[] = {dot_first ? dot : l, dot_first ? l : dot};
  const hilo_inst p = in_type_of(m, product, product, factors, 2, type);
  const hilo_inst back = hilo_build_reshape(m, product, p, hilo_inst_type(m, product));
  hilo_inst_set_meta(m, back, hilo_inst_meta_record(m, shaped));
  (void)hilo_replace_with_fresh(m, product, back); /* nothing here has control edges */
  (void)hilo_erase(m, logistic);
  (void)hilo_erase(m, shaped);
  return true;
}

/* ---- 15.3 ---- */

static bool is_zero(const hilo_module *m, hilo_inst i) {
  int64_t integer;
  if (hilo_inst_const_int(m, i, &integer)) return integer == 0;
  if (!hilo_inst_is(m, i, HILO_OP_CONSTANT)) return false;
  const hilo_etype etype = hilo_inst_etype(m, i);
  const hilo_literal literal = hilo_inst_literal(m, i);
  if (!hilo_etype_is_float(etype) || hilo_literal_get(m, literal)->kind != HILO_LITERAL_SPLAT)
    return false;
  uint64_t bits = 0;
  memcpy(&bits, hilo_literal_element(m, literal, 0), hilo_etype_bytes(etype));
  return hilo_float_to_double(hilo_etype_float_format(etype), bits) == 0;
}

bool hilo_is_plain_sum(const hilo_module *m, hilo_inst reduce) {
  hilo_reducer reducer;
  return hilo_inst_n_operands(m, reduce) == 2 && is_zero(m, hilo_inst_operand(m, reduce, 1)) &&
         hilo_region_reducer(m, hilo_inst_called(m, reduce, 0), &reducer) == HILO_REDUCER_OK &&
         !reducer.overwrites && reducer.op == HILO_OP_ADD;
}

/* sqrt(sum(multiply)), nothing else reading what is in between. */
void hilo_find_mul_red_sqrt(hilo_op_fusion *f, hilo_inst reduce) {
  const hilo_module *m = f->m;
  const hilo_inst product = hilo_inst_operand(m, reduce, 0), sqrt = single_user(m, reduce);
  const hilo_inst members[] = {product, reduce, sqrt};
  if (sqrt.ix && hilo_inst_is(m, sqrt, HILO_OP_SQRT) &&
      hilo_inst_is(m, product, HILO_OP_MULTIPLY) && hilo_inst_has_one_use(m, product) &&
      hilo_is_plain_sum(m, reduce) && all_may_join(f, members, 3))
    hilo_op_fusion_add(f, "MulRedSqrt", members, 3, true);
}
