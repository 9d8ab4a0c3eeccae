#include "ir/infer/infer_parts.h"

/* Rules of calls, loops, branches, fusions, asynchronous pairs, transfers, tokens and random
 * numbers. */

/* ---- calls ---- */

bool hilo_infer_call(hilo_infer *c, hilo_shape *out) {
  const hilo_comp f = called_comp(c, 0);
  return hilo_infer_check_params(c, f, 0, "called computation") && gives(c, out, comp_result(c, f));
}

bool hilo_infer_fusion(hilo_infer *c, hilo_shape *out) {
  const hilo_comp f = called_comp(c, 0);
  return hilo_infer_check_params(c, f, 0, "fused computation") && gives(c, out, comp_result(c, f));
}

bool hilo_infer_while(hilo_infer *c, hilo_shape *out) {
  const hilo_comp body = called_comp(c, HILO_WHILE_BODY);
  const hilo_comp condition = called_comp(c, HILO_WHILE_CONDITION);
  if (!hilo_infer_check_params(c, condition, 0, "condition") ||
      !hilo_infer_check_gives_pred(c, condition, "condition") ||
      !hilo_infer_check_params(c, body, 0, "body"))
    return false;
  const hilo_type carried = operand_type(c, 0), result = comp_result(c, body);
  if (!hilo_infer_same_types(c, carried, result))
    return hilo_infer_fail(c, HILO_DIAG_EMOD914,
                           "the body `%s` of `while` takes %s but gives %s, expected one type",
                           hilo_infer_comp_text(c, body), hilo_infer_type_text(c, carried),
                           hilo_infer_type_text(c, result));
  return gives(c, out, result);
}

/* Branch k takes operand k + 1. */
static bool check_branch(hilo_infer *c, uint32_t k) {
  const hilo_comp branch = called_comp(c, k);
  if (!hilo_infer_check_n_params(c, branch, 1, "branch")) return false;
  const hilo_type param = comp_param_type(c, branch, 0), given = operand_type(c, k + 1);
  const hilo_type result = comp_result(c, branch), first = comp_result(c, called_comp(c, 0));
  if (!hilo_infer_same_types(c, param, given))
    return hilo_infer_fail(c, HILO_DIAG_EMOD914,
                           "branch %u `%s` of `conditional` takes %s, but operand %u is %s", k,
                           hilo_infer_comp_text(c, branch), hilo_infer_type_text(c, param), k + 1,
                           hilo_infer_type_text(c, given));
  if (!hilo_infer_same_types(c, result, first))
    return hilo_infer_fail(c, HILO_DIAG_EMOD914,
                           "branch %u `%s` of `conditional` gives %s, but branch 0 gives %s", k,
                           hilo_infer_comp_text(c, branch), hilo_infer_type_text(c, result),
                           hilo_infer_type_text(c, first));
  return true;
}

bool hilo_infer_conditional(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *r = operand_row(c, 0);
  const bool by_pred = r->etype == HILO_PRED;
  if (!row_is_scalar(r) || !(by_pred || r->etype == HILO_S32))
    return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                           "operand 0 of `conditional` is %s, expected pred[] or s32[]",
                           hilo_infer_type_text(c, operand_type(c, 0)));
  if (by_pred && c->n_called != 2)
    return hilo_infer_fail(c, HILO_DIAG_EMOD914,
                           "`conditional` on a pred has %u branch%s, expected 2", c->n_called,
                           c->n_called == 1 ? "" : "es");
  if (c->n_operands != c->n_called + 1)
    return hilo_infer_fail(c, HILO_DIAG_EMOD917,
                           "`conditional` with %u branches has %u operands, expected %u",
                           c->n_called, c->n_operands, c->n_called + 1);
  for (uint32_t k = 0; k < c->n_called; k++)
    if (!check_branch(c, k)) return false;
  return gives(c, out, comp_result(c, called_comp(c, 0)));
}

/* ---- asynchronous pairs: ((parameters), result, contexts...) ---- */

static const hilo_type_row *declared_tuple(const hilo_infer *c) {
  if (!c->declared.ix) return NULL;
  const hilo_type_row *r = type_row(c, c->declared);
  return r->etype == HILO_TUPLE ? r : NULL;
}

bool hilo_infer_async_start(hilo_infer *c, hilo_shape *out) {
  const hilo_comp f = called_comp(c, 0);
  hilo_shape params;
  if (!hilo_infer_check_params(c, f, 0, "wrapped computation")) return false;
  hilo_infer_tuple(c, &params);
  const hilo_type_row *declared = declared_tuple(c);
  const uint32_t n = declared && declared->n > 2 ? declared->n : 2;
  hilo_infer_new_tuple(c, out, n);
  new_elements(c, out)[0] = params;
  new_elements(c, out)[1] = existing(c, comp_result(c, f));
  for (uint32_t k = 2; k < n; k++)
    new_elements(c, out)[k] = existing(c, (hilo_type){(uint32_t)declared->items[k]});
  return true;
}

/* What the chain of `async-start` hands on: its tuple. */
static const hilo_type_row *chain_operand(hilo_infer *c) {
  const hilo_type_row *r = operand_row(c, 0);
  if (r->etype == HILO_TUPLE && r->n >= 2) return r;
  hilo_infer_report(c, HILO_DIAG_EMOD922,
                    "the operand of `%s` is %s, expected the tuple of its start", op_name(c),
                    hilo_infer_type_text(c, operand_type(c, 0)));
  return NULL;
}

bool hilo_infer_async_update(hilo_infer *c, hilo_shape *out) {
  return chain_operand(c) && gives(c, out, operand_type(c, 0));
}

bool hilo_infer_async_done(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *r = chain_operand(c);
  return r && gives(c, out, (hilo_type){(uint32_t)r->items[1]});
}

/* (destination, source, context). Older text leaves the context out or writes several. */
bool hilo_infer_copy_start(hilo_infer *c, hilo_shape *out) {
  hilo_infer_new_tuple(c, out, 3);
  new_elements(c, out)[0] = new_elements(c, out)[1] = existing(c, operand_type(c, 0));
  new_elements(c, out)[2] = scalar_shape(HILO_U32);
  return true;
}

bool hilo_infer_copy_done(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *r = chain_operand(c);
  if (!r) return false;
  const hilo_type to = {(uint32_t)r->items[0]}, from = {(uint32_t)r->items[1]};
  if (!hilo_infer_same_types(c, to, from))
    return hilo_infer_fail(c, HILO_DIAG_EMOD922,
                           "`copy-done` finishes a copy of %s to %s, expected one type",
                           hilo_infer_type_text(c, from), hilo_infer_type_text(c, to));
  return gives(c, out, to);
}

/* ---- tokens, transfers, feeds ---- */

static bool check_token(hilo_infer *c, uint32_t k) {
  if (operand_row(c, k)->etype == HILO_TOKEN) return true;
  return hilo_infer_fail(c, HILO_DIAG_EMOD902, "operand %u of `%s` is %s, expected a token", k,
                         op_name(c), hilo_infer_type_text(c, operand_type(c, k)));
}

static bool gives_token(hilo_shape *out) {
  *out = scalar_shape(HILO_TOKEN);
  return true;
}

bool hilo_infer_after_all(hilo_infer *c, hilo_shape *out) {
  for (uint32_t k = 0; k < c->n_operands; k++)
    if (!check_token(c, k)) return false;
  return gives_token(out);
}

bool hilo_infer_add_dependency(hilo_infer *c, hilo_shape *out) {
  return check_token(c, 1) && gives(c, out, operand_type(c, 0));
}

/* Step 19 makes u8 scalars of tokens, and leaves transfers and feeds what they are: what they give
 * for a token is of the type that they get for one. */
static bool stands_for_token(const hilo_type_row *r) { return r->etype == HILO_U8 && r->n == 0; }

static bool check_transfer_token(hilo_infer *c, uint32_t k) {
  return stands_for_token(operand_row(c, k)) || check_token(c, k);
}

static hilo_shape token_like(const hilo_type_row *r) {
  return scalar_shape(stands_for_token(r) ? HILO_U8 : HILO_TOKEN);
}

static bool gives_token_like(hilo_infer *c, hilo_shape *out, uint32_t k) {
  if (!check_transfer_token(c, k)) return false;
  *out = token_like(operand_row(c, k));
  return true;
}

/* The token at the end of the tuple that a start hands on. */
static hilo_shape token_of_chain(const hilo_infer *c, const hilo_type_row *r) {
  return token_like(hilo_type_row_of(&c->m->types, (hilo_type){(uint32_t)r->items[r->n - 1]}));
}

/* (data, context, token), the token like operand k. */
static bool gives_transfer(hilo_infer *c, hilo_shape *out, hilo_type data, uint32_t k) {
  hilo_infer_new_tuple(c, out, 3);
  new_elements(c, out)[0] = existing(c, data);
  new_elements(c, out)[1] = scalar_shape(HILO_U32);
  new_elements(c, out)[2] = token_like(operand_row(c, k));
  return true;
}

bool hilo_infer_send(hilo_infer *c, hilo_shape *out) {
  return check_transfer_token(c, 1) && gives_transfer(c, out, operand_type(c, 0), 1);
}

/* Element 0 of the declared tuple: what comes from outside. False (and an error unless nothing is
 * declared) if there is none. */
static bool declared_data(hilo_infer *c, hilo_type *out) {
  const hilo_type_row *r = declared_tuple(c);
  if (r && r->n) {
    *out = (hilo_type){(uint32_t)r->items[0]};
    return true;
  }
  if (!c->declared.ix) return false;
  return hilo_infer_fail(c, HILO_DIAG_EMOD918, "`%s` is declared as %s, expected a tuple",
                         op_name(c), hilo_infer_type_text(c, c->declared));
}

bool hilo_infer_recv(hilo_infer *c, hilo_shape *out) {
  hilo_type data;
  return check_transfer_token(c, 0) && declared_data(c, &data) && gives_transfer(c, out, data, 0);
}

bool hilo_infer_send_done(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *r = chain_operand(c);
  if (!r) return false;
  *out = token_of_chain(c, r);
  return true;
}

static bool gives_data_and_token(hilo_infer *c, hilo_shape *out, hilo_type data, hilo_shape token) {
  hilo_infer_new_tuple(c, out, 2);
  new_elements(c, out)[0] = existing(c, data);
  new_elements(c, out)[1] = token;
  return true;
}

bool hilo_infer_recv_done(hilo_infer *c, hilo_shape *out) {
  const hilo_type_row *r = chain_operand(c);
  return r &&
         gives_data_and_token(c, out, (hilo_type){(uint32_t)r->items[0]}, token_of_chain(c, r));
}

bool hilo_infer_infeed(hilo_infer *c, hilo_shape *out) {
  hilo_type data;
  return check_transfer_token(c, 0) && declared_data(c, &data) &&
         gives_data_and_token(c, out, data, token_like(operand_row(c, 0)));
}

bool hilo_infer_outfeed(hilo_infer *c, hilo_shape *out) {
  const hilo_type fed = hilo_feed_get(&c->m->records, (hilo_record){c->attr}).outfeed_shape;
  if (!check_transfer_token(c, 1)) return false;
  if (fed.ix && !hilo_infer_same_types(c, fed, operand_type(c, 0)))
    return hilo_infer_fail(
        c, HILO_DIAG_EMOD918, "`outfeed` has outfeed_shape %s, but operand 0 is %s",
        hilo_infer_type_text(c, fed), hilo_infer_type_text(c, operand_type(c, 0)));
  return gives_token_like(c, out, 1);
}

/* ---- ranks and random numbers ---- */

bool hilo_infer_rank_id(hilo_infer *c, hilo_shape *out) {
  return hilo_infer_gives_scalar(c, out, HILO_U32);
}

bool hilo_infer_rng(hilo_infer *c, hilo_shape *out) {
  enum { UNIFORM = 1, NORMAL = 2 };
  const hilo_type_row *low = operand_row(c, 0), *high = operand_row(c, 1);
  const hilo_type_row *to = hilo_infer_declared_array(c);
  if (!to) return false;
  const int64_t kind = hilo_rng_get(&c->m->records, (hilo_record){c->attr}).distribution;
  const hilo_etype t = (hilo_etype)low->etype;
  if (!row_is_scalar(low) || !row_is_scalar(high) || low->etype != high->etype)
    return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                           "the operands of `rng` are %s and %s, expected two scalars of one type",
                           hilo_infer_type_text(c, operand_type(c, 0)),
                           hilo_infer_type_text(c, operand_type(c, 1)));
  if (kind != UNIFORM && kind != NORMAL)
    return hilo_infer_fail(c, HILO_DIAG_EMOD902,
                           "`rng` has distribution %lld, expected rng_uniform or rng_normal",
                           (long long)kind);
  if (hilo_etype_is_complex(t) || (kind == NORMAL && !hilo_etype_is_float(t)))
    return hilo_infer_fail(c, HILO_DIAG_EMOD902, "`rng` of %s, expected %s", etype_name(t),
                           kind == NORMAL ? "a float" : "a float, integer or pred");
  return hilo_infer_gives_etype(c, out, c->declared, t);
}

/* Gives (state, bits), or the bits alone. */
bool hilo_infer_rng_bit_generator(hilo_infer *c, hilo_shape *out) {
  if (!hilo_infer_array_operand(c, 0) || !c->declared.ix) return false;
  const hilo_type_row *r = type_row(c, c->declared);
  if (r->etype != HILO_TUPLE) return hilo_infer_declared_array(c) && gives(c, out, c->declared);
  if (r->n != 2)
    return hilo_infer_fail(c, HILO_DIAG_EMOD918,
                           "`rng-bit-generator` is declared as %s, expected its state and its bits",
                           hilo_infer_type_text(c, c->declared));
  const hilo_type bits = {(uint32_t)r->items[1]};
  if (!hilo_etype_is_integer((hilo_etype)type_row(c, bits)->etype))
    return hilo_infer_fail(c, HILO_DIAG_EMOD902, "`rng-bit-generator` gives %s, expected integers",
                           hilo_infer_type_text(c, bits));
  hilo_infer_new_tuple(c, out, 2);
  new_elements(c, out)[0] = existing(c, operand_type(c, 0));
  new_elements(c, out)[1] = existing(c, bits);
  return true;
}

bool hilo_infer_rng_state(hilo_infer *c, hilo_shape *out) {
  if (!hilo_infer_new_array(c, out, HILO_U64, 1, 0)) return false;
  new_dims(c, out)[0] = 2;
  return true;
}
