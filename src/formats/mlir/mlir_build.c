/* From an operation that was read to instructions, in the form that HLO has: several values carried
 * by while, taken by branches or given to a barrier are a tuple, several results its elements. */
#include "formats/mlir/mlir_impl.h"

/* ---- results ---- */

/* The names left of `=` for these values, of which there are n_result_types. */
static bool bind(mlir_reader *r, mlir_op *o, const mlir_result *values) {
  uint32_t at = 0;
  for (uint32_t k = 0; k < o->n_results; k++) {
    const mlir_result_name *name = &r->result_names.v[o->results + k];
    if (!hilo_mlir_define(r, name, values + at)) return false;
    at += name->n_values;
  }
  return true;
}

static bool bind_one(mlir_reader *r, mlir_op *o, hilo_inst inst) {
  const mlir_result value = {.inst = hilo_ix(r->m, inst)};
  return bind(r, o, &value);
}

/* The elements of a tuple, from the first. */
static bool bind_elements(mlir_reader *r, mlir_op *o, hilo_inst tuple, uint32_t n) {
  mlir_result few[16];
  mlir_result *values =
      n <= HILO_COUNT(few) ? few : HILO_NEW_ARRAY(&r->scratch->arena, mlir_result, n);
  for (uint32_t k = 0; k < n; k++)
    values[k] = (mlir_result){.producer = hilo_ix(r->m, tuple), .index = k};
  return bind(r, o, values);
}

/* Data (one or several) and a token, as recv-done and infeed give them. */
static bool bind_data_and_token(mlir_reader *r, mlir_op *o, hilo_inst pair) {
  const uint32_t n = o->n_result_types - 1;
  mlir_result *values = HILO_NEW_ARRAY(&r->scratch->arena, mlir_result, n + 1);
  const uint32_t producer = hilo_ix(r->m, pair);
  if (n == 1) {
    values[0] = (mlir_result){.producer = producer, .index = 0};
  } else if (n) {
    const hilo_inst data = hilo_mlir_element(r, r->frame->comp, pair, 0);
    for (uint32_t k = 0; k < n; k++)
      values[k] = (mlir_result){.producer = hilo_ix(r->m, data), .index = k};
  }
  values[n] = (mlir_result){.producer = producer, .index = 1};
  return bind(r, o, values);
}

/* ---- types ---- */

static hilo_type tuple_of(mlir_reader *r, uint32_t at, uint32_t n) {
  return hilo_type_tuple(&r->m->types, r->types.v + at, n);
}

static hilo_type result_type(mlir_reader *r, const mlir_op *o) {
  return o->n_result_types == 1 ? r->types.v[o->result_types]
                                : tuple_of(r, o->result_types, o->n_result_types);
}

static bool is_future(const mlir_reader *r, hilo_type t) {
  const hilo_store *types = &r->m->types;
  return hilo_type_is_tuple(types, t) && hilo_type_n_elements_of_tuple(types, t) == 2 &&
         hilo_type_is_tuple(types, hilo_type_element(types, t, 0)) &&
         hilo_type_n_elements_of_tuple(types, hilo_type_element(types, t, 0)) == 0;
}

bool hilo_mlir_same_bundle(const mlir_reader *r, hilo_type bundle, hilo_type future) {
  const hilo_store *types = &r->m->types;
  return is_future(r, future) && hilo_type_is_tuple(types, bundle) &&
         hilo_type_n_elements_of_tuple(types, bundle) >= 2 &&
         hilo_type_compatible(types, hilo_type_element(types, bundle, 1),
                              hilo_type_element(types, future, 1));
}

/* ---- building ---- */

static void start(mlir_reader *r, const mlir_op *o, hilo_inst_desc *desc) {
  *desc = (hilo_inst_desc){
      .op = (hilo_op)o->op,
      .operands = r->operands.v + o->operands,
      .n_operands = o->n_operands,
      .called = r->called.v + o->called,
      .n_called = o->n_called,
      .meta = o->meta,
  };
  if (o->has_extra && !hilo_attrs_are_empty(HILO_FAMILY_extra, &o->extra))
    desc->extra = hilo_extra_put(&r->m->records, &o->extra);
}

/* The operands from `first` to `end` as one value: a tuple, or the only one. */
static hilo_inst packed(mlir_reader *r, const mlir_op *o, uint32_t first, uint32_t end) {
  const hilo_inst *v = r->operands.v + o->operands;
  if (end - first == 1) return v[first];
  return hilo_mlir_tuple(r, r->frame->comp, v + first, end - first);
}

static bool wrong_operands(mlir_reader *r, const mlir_op *o, const char *want) {
  return hilo_mlir_fail(r, HILO_DIAG_EMOD904, o->at, "`%.*s` has %u operand%s, expected %s",
                        HILO_FMT(o->name), o->n_operands, o->n_operands == 1 ? "" : "s", want);
}

static bool build_while(mlir_reader *r, mlir_op *o) {
  if (!hilo_mlir_close_while(r, o)) return false;
  if (o->n_result_types != o->n_operands)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD904, o->at, "the loop carries %u values and gives %u",
                          o->n_operands, o->n_result_types);
  const uint32_t n = o->n_operands + o->captured.outer.n;
  hilo_inst *all = HILO_NEW_ARRAY(&r->scratch->arena, hilo_inst, n + 1);
  for (uint32_t k = 0; k < n; k++)
    all[k] =
        k < o->n_operands ? r->operands.v[o->operands + k] : o->captured.outer.v[k - o->n_operands];
  const hilo_inst init = hilo_mlir_tuple(r, r->frame->comp, all, n);
  const hilo_comp called[2] = {[HILO_WHILE_BODY] = r->called.v[o->called + 1],
                               [HILO_WHILE_CONDITION] = r->called.v[o->called]};
  hilo_inst_desc desc;
  start(r, o, &desc);
  desc.type = hilo_inst_type(r->m, init);
  desc.operands = &init;
  desc.n_operands = 1;
  desc.called = called;
  desc.n_called = 2;
  return bind_elements(r, o, hilo_mlir_add(r, &desc), o->n_result_types);
}

static bool build_conditional(mlir_reader *r, mlir_op *o) {
  if (o->n_operands != 1) return wrong_operands(r, o, "1");
  if (!hilo_mlir_close_branches(r, o)) return false;
  const uint32_t n = o->frames.n;
  hilo_inst *all = HILO_NEW_ARRAY(&r->scratch->arena, hilo_inst, n + 1);
  all[0] = r->operands.v[o->operands];
  for (uint32_t k = 0; k < n; k++) {
    const mlir_captured *c = o->frames.v[k]->captured;
    all[k + 1] = hilo_mlir_tuple(r, r->frame->comp, c->outer.v, c->outer.n);
    r->m->inst.flags[hilo_ix(r->m, all[k + 1])] |= HILO_INST_CAPTURED;
  }
  hilo_inst_desc desc;
  start(r, o, &desc);
  desc.type = result_type(r, o);
  desc.operands = all;
  desc.n_operands = n + 1;
  const hilo_inst inst = hilo_mlir_add(r, &desc);
  return o->n_result_types == 1 ? bind_one(r, o, inst)
                                : bind_elements(r, o, inst, o->n_result_types);
}

/* A pair of start and done: `send` and `recv` of one channel. */
static bool build_transfer(mlir_reader *r, mlir_op *o, uint32_t attr) {
  hilo_module *m = r->m;
  hilo_inst_desc desc;
  hilo_type parts[3] = {{0}, hilo_type_scalar(&m->types, HILO_U32), hilo_type_token(&m->types)};
  hilo_inst operands[2];
  const bool is_send = o->op == HILO_OP_SEND;
  if (!o->n_operands || (!is_send && o->n_operands != 1) || !o->n_result_types)
    return wrong_operands(r, o, is_send ? "data and a token" : "a token");
  operands[is_send] = r->operands.v[o->operands + o->n_operands - 1];
  if (is_send) {
    operands[0] = packed(r, o, 0, o->n_operands - 1);
    parts[0] = hilo_inst_type(m, operands[0]);
  } else {
    parts[0] = o->n_result_types == 2 ? r->types.v[o->result_types]
                                      : tuple_of(r, o->result_types, o->n_result_types - 1);
  }
  start(r, o, &desc);
  desc.attr = attr;
  desc.operands = operands;
  desc.n_operands = is_send ? 2 : 1;
  desc.type = hilo_type_tuple(&m->types, parts, 3);
  const hilo_inst started = hilo_mlir_add(r, &desc);
  parts[1] = parts[2];
  desc.op = is_send ? HILO_OP_SEND_DONE : HILO_OP_RECV_DONE;
  desc.operands = &started;
  desc.n_operands = 1;
  desc.type = is_send ? parts[2] : hilo_type_tuple(&m->types, parts, 2);
  const hilo_inst done = hilo_mlir_add(r, &desc);
  return is_send ? bind_one(r, o, done) : bind_data_and_token(r, o, done);
}

static bool build_feed(mlir_reader *r, mlir_op *o, uint32_t attr) {
  hilo_module *m = r->m;
  hilo_inst_desc desc;
  start(r, o, &desc);
  desc.attr = attr;
  if (!o->n_operands || !o->n_result_types) return wrong_operands(r, o, "a token");
  if (o->op == HILO_OP_INFEED) {
    const hilo_type parts[2] = {o->n_result_types == 2
                                    ? r->types.v[o->result_types]
                                    : tuple_of(r, o->result_types, o->n_result_types - 1),
                                hilo_type_token(&m->types)};
    desc.type = hilo_type_tuple(&m->types, parts, 2);
    return bind_data_and_token(r, o, hilo_mlir_add(r, &desc));
  }
  const hilo_inst operands[2] = {packed(r, o, 0, o->n_operands - 1),
                                 r->operands.v[o->operands + o->n_operands - 1]};
  hilo_feed_attrs a = hilo_feed_get(&m->records, (hilo_record){attr});
  a.outfeed_shape = hilo_inst_type(m, operands[0]);
  desc.attr = hilo_feed_put(&m->records, &a).ix;
  desc.operands = operands;
  desc.n_operands = 2;
  desc.type = hilo_type_token(&m->types);
  return bind_one(r, o, hilo_mlir_add(r, &desc));
}

static bool build_barrier(mlir_reader *r, mlir_op *o) {
  hilo_inst_desc desc;
  const hilo_inst operand = packed(r, o, 0, o->n_operands);
  start(r, o, &desc);
  desc.operands = &operand;
  desc.n_operands = 1;
  desc.type = hilo_inst_type(r->m, operand);
  const hilo_inst inst = hilo_mlir_add(r, &desc);
  return o->n_operands == 1 ? bind_one(r, o, inst) : bind_elements(r, o, inst, o->n_result_types);
}

/* ((operands), result): the `future` that was written says no more than the result. */
static hilo_type async_type(mlir_reader *r, const mlir_op *o, hilo_type t) {
  if (!is_future(r, t)) return t;
  hilo_type *types = HILO_NEW_ARRAY(&r->scratch->arena, hilo_type, o->n_operands + 1);
  for (uint32_t k = 0; k < o->n_operands; k++)
    types[k] = hilo_inst_type(r->m, r->operands.v[o->operands + k]);
  const hilo_type parts[2] = {hilo_type_tuple(&r->m->types, types, o->n_operands),
                              hilo_type_element(&r->m->types, t, 1)};
  return hilo_type_tuple(&r->m->types, parts, 2);
}

static bool build_plain(mlir_reader *r, mlir_op *o, uint32_t attr) {
  hilo_inst_desc desc;
  start(r, o, &desc);
  desc.attr = attr;
  desc.type = result_type(r, o);
  if (o->op == MLIR_OP_CARRIED) {
    hilo_mlir_build_carried(r, o, &desc);
  } else if (o->op == HILO_OP_ASYNC_START || o->op == HILO_OP_ASYNC_UPDATE) {
    desc.type = o->op == HILO_OP_ASYNC_UPDATE && is_future(r, desc.type) && o->n_operands
                    ? hilo_inst_type(r->m, desc.operands[0])
                    : async_type(r, o, desc.type);
  }
  const hilo_inst inst = hilo_mlir_add(r, &desc);
  if (o->op == HILO_OP_TUPLE || o->op == HILO_OP_GET_TUPLE_ELEMENT)
    r->m->inst.flags[hilo_ix(r->m, inst)] |= HILO_INST_AS_WRITTEN;
  if (HILO_LIKELY(o->n_result_types == 1 && o->n_results == 1)) return bind_one(r, o, inst);
  return !o->n_results || bind_elements(r, o, inst, o->n_result_types);
}

bool hilo_mlir_build(mlir_reader *r, mlir_op *o) {
  uint32_t attr = 0;
  if (o->op == MLIR_OP_CARRIED
          ? !hilo_mlir_prepare_carried(r, o)
          : !(hilo_mlir_build_attr(r, o, &attr) && hilo_mlir_finish_extra(r, o)))
    return false;
  switch (o->op) {
  case HILO_OP_WHILE: return build_while(r, o);
  case HILO_OP_CONDITIONAL: return build_conditional(r, o);
  case HILO_OP_SEND:
  case HILO_OP_RECV: return build_transfer(r, o, attr);
  case HILO_OP_INFEED:
  case HILO_OP_OUTFEED: return build_feed(r, o, attr);
  case HILO_OP_OPT_BARRIER: return build_barrier(r, o);
  default: return build_plain(r, o, attr);
  }
}
