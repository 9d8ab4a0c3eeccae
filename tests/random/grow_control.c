/* Steps: loops, branches, calls, fusions, tuples, barriers, custom calls. */
#include "grow.h"

#include <math.h>

enum { MOST_DEPTH = 3 };

/* ---- bodies ---- */

/* Not larger than `size`, which whoever takes it relies on. */
static grown bounded(grower *g, scope *s, grown v, double size) {
  const hilo_etype etype = etype_of(g, v.i);
  if (v.size <= size || !g->is_tame || etype == HILO_PRED || etype == HILO_F8E8M0FNU) return v;
  if (hilo_etype_is_complex(etype)) return make(g, s, etype, dims_of(g, v.i));
  if (hilo_etype_is_integer(etype) && hilo_etype_table[etype].bits < 64) return v;
  if (hilo_etype_is_integer(etype) && size < 16) size = 16;
  const double low = hilo_etype_class_of(etype) == HILO_CLASS_UNSIGNED ? 0 : -size;
  v.i = clamped(g, s, v.i, low, size);
  v.size = size;
  return v;
}

/* What a body may take a value for that it is handed: whole numbers are exact in tame modules. */
static grown handed(const grower *g, hilo_inst i, double size) {
  const bool is_exact = !(class_of(g, i) & (OF_FLOAT | OF_COMPLEX));
  return (grown){i, fmax(size, 4), is_exact, false};
}

static double handed_size(const grower *g, const grown *v) {
  const double most = fmax(v->size, 4), limit = limit_of(g, etype_of(g, v->i));
  return g->is_tame ? fmin(most, limit) : most;
}

static void hand(grower *g, scope *body, hilo_inst i, double size) {
  const grown v = handed(g, i, size);
  HILO_PUSH(g->arena, &body->values, v);
}

static scope open_body(grower *g, const scope *outer, const char *name) {
  return (scope){
      .comp = new_comp(g, name), .is_lockstep = outer->is_lockstep, .depth = outer->depth + 1};
}

/* One parameter of a tuple type, taken apart. */
static void open_tuple(grower *g, scope *body, hilo_type type, const double *sizes, uint32_t n) {
  const hilo_inst tuple = parameter(g, body, type);
  for (uint32_t k = 0; k < n; k++) hand(g, body, element_of(g, body, tuple, k), sizes[k]);
}

static uint32_t body_steps(grower *g, const scope *s) {
  return s->depth >= 2 ? below(g, 3) : (uint32_t)between(g, 1, 7);
}

/* ---- loops ---- */

enum { MOST_CARRIED = 5 };

static hilo_comp trip_condition(grower *g, const scope *s, hilo_type type, hilo_etype etype,
                                int64_t trips) {
  scope condition = open_body(g, s, "condition");
  const hilo_inst tuple = parameter(g, &condition, type);
  const hilo_inst both[] = {element_of(g, &condition, tuple, 0),
                            scalar_int(g, &condition, etype, trips)};
  const hilo_compare_attrs attrs = {.direction = HILO_LT};
  const hilo_inst root = put_simple(g, &condition, HILO_OP_COMPARE, HILO_TYPE_NONE, both, 2,
                                    hilo_compare_put(&g->m->records, &attrs).ix);
  hilo_comp_set_root(g->m, condition.comp, root);
  return condition.comp;
}

void step_while(grower *g, scope *s) {
  static const hilo_etype counters[] = {HILO_S32, HILO_S32, HILO_S32, HILO_S64, HILO_U32};
  if (s->depth >= MOST_DEPTH) return;
  const hilo_etype etype = counters[below(g, HILO_COUNT(counters))];
  const uint32_t n = (uint32_t)between(g, 1, MOST_CARRIED);
  hilo_inst first[MOST_CARRIED] = {scalar_int(g, s, etype, 0)}, last[MOST_CARRIED];
  double sizes[MOST_CARRIED] = {8};
  for (uint32_t k = 1; k < n; k++) {
    const grown v = take(g, s, OF_ARRAY, 0, 3, false);
    sizes[k] = handed_size(g, &v);
    first[k] = bounded(g, s, v, sizes[k]).i;
  }
  const hilo_inst init = tuple_of(g, s, first, n);
  const hilo_type type = type_of(g, init);
  scope body = open_body(g, s, "body");
  open_tuple(g, &body, type, sizes, n);
  const hilo_inst counter = body.values.v[0].i;
  grow(g, &body, body_steps(g, s));
  const hilo_inst next[] = {counter, scalar_int(g, &body, etype, 1)};
  last[0] = put_simple(g, &body, HILO_OP_ADD, HILO_TYPE_NONE, next, 2, 0);
  for (uint32_t k = 1; k < n; k++) {
    const hilo_type carried = hilo_type_element(&g->m->types, type, k);
    last[k] = bounded(g, &body, conform(g, &body, carried), sizes[k]).i;
  }
  hilo_comp_set_root(g->m, body.comp, tuple_of(g, &body, last, n));
  const hilo_comp called[] = {body.comp, trip_condition(g, s, type, etype, between(g, 0, 4))};
  const hilo_inst i = put(g, s,
                          &(hilo_inst_desc){.op = HILO_OP_WHILE,
                                            .operands = &init,
                                            .n_operands = 1,
                                            .called = called,
                                            .n_called = 2});
  grown like[MOST_CARRIED];
  for (uint32_t k = 0; i.ix && k < n; k++) {
    const hilo_inst element = element_of(g, s, i, k);
    like[k] = handed(g, element, sizes[k]);
    HILO_PUSH(g->arena, &s->values, like[k]);
  }
}

/* ---- branches ---- */

static hilo_comp branch(grower *g, scope *s, bool is_lockstep, const grown *arg, hilo_type result) {
  scope body = open_body(g, s, "branch");
  body.is_lockstep = is_lockstep;
  hand(g, &body, parameter(g, &body, type_of(g, arg->i)), handed_size(g, arg));
  grow(g, &body, body_steps(g, s));
  const uint32_t n = hilo_type_n_elements_of_tuple(&g->m->types, result);
  hilo_inst roots[2];
  for (uint32_t k = 0; k < n; k++)
    roots[k] =
        bounded(g, &body, conform(g, &body, hilo_type_element(&g->m->types, result, k)), 100).i;
  hilo_comp_set_root(g->m, body.comp, tuple_of(g, &body, roots, n));
  return body.comp;
}

void step_conditional(grower *g, scope *s) {
  if (s->depth >= MOST_DEPTH) return;
  const bool by_pred = chance(g, 60), is_constant = chance(g, 25);
  const uint32_t n = by_pred ? 2 : (uint32_t)between(g, 1, 3);
  const hilo_etype etype = by_pred ? HILO_PRED : HILO_S32;
  const grown which = is_constant
                          ? (grown){scalar_int(g, s, etype, between(g, 0, n - 1)), 1, true, true}
                          : take_like(g, s, etype, HILO_DIMS_NONE, true);
  hilo_type results[2];
  const uint32_t n_results = (uint32_t)between(g, 1, 2);
  for (uint32_t k = 0; k < n_results; k++)
    results[k] = type_of(g, take(g, s, OF_ARRAY, 0, 3, false).i);
  const hilo_type result = hilo_type_tuple(&g->m->types, results, n_results);
  const bool is_lockstep = s->is_lockstep && which.is_uniform;
  hilo_inst operands[4] = {which.i};
  hilo_comp called[3];
  for (uint32_t k = 0; k < n; k++) {
    grown arg = take(g, s, OF_ARRAY, 0, 3, false);
    arg = bounded(g, s, arg, handed_size(g, &arg));
    operands[k + 1] = arg.i;
    called[k] = branch(g, s, is_lockstep, &arg, result);
  }
  const hilo_inst i = put(g, s,
                          &(hilo_inst_desc){.op = HILO_OP_CONDITIONAL,
                                            .operands = operands,
                                            .n_operands = n + 1,
                                            .called = called,
                                            .n_called = n});
  for (uint32_t k = 0; i.ix && k < n_results; k++) {
    const grown v = handed(g, element_of(g, s, i, k), 100);
    HILO_PUSH(g->arena, &s->values, v);
  }
}

/* ---- calls ---- */

enum { MOST_ARGS = 3 };

typedef struct {
  hilo_comp comp;
  hilo_inst args[MOST_ARGS];
  uint32_t n;
  double size; /* of the result */
} call_site;

/* A new computation over values of the scope. Its result is an array, or a tuple of two. */
static call_site new_callee(grower *g, scope *s, const char *name, bool is_fused) {
  call_site site = {.n = (uint32_t)between(g, is_fused, MOST_ARGS), .size = 100};
  scope body = open_body(g, s, name);
  body.is_fused = is_fused;
  for (uint32_t k = 0; k < site.n; k++) {
    grown v = take(g, s, OF_ARRAY, 0, 3, false);
    v = bounded(g, s, v, handed_size(g, &v));
    site.args[k] = v.i;
    hand(g, &body, parameter(g, &body, type_of(g, v.i)), handed_size(g, &v));
  }
  grow(g, &body, is_fused ? (uint32_t)between(g, 1, 5) : body_steps(g, s));
  const grown a = take(g, &body, OF_ARRAY, 0, MAX_RANK, false);
  hilo_inst root = bounded(g, &body, a, site.size).i;
  if (chance(g, 30)) {
    const grown b = take(g, &body, OF_ARRAY, 0, MAX_RANK, false);
    root = tuple_of(g, &body, (const hilo_inst[]){root, bounded(g, &body, b, site.size).i}, 2);
  }
  /* Nothing else uses the root of a fusion. */
  if (is_fused && (hilo_inst_has_uses(g->m, root) || hilo_inst_is(g->m, root, HILO_OP_PARAMETER)))
    root = put_simple(g, &body, HILO_OP_COPY, HILO_TYPE_NONE, &root, 1, 0);
  hilo_comp_set_root(g->m, body.comp, root);
  if (is_fused) g->m->comp.v[hilo_comp_ix(g->m, body.comp)].flags |= HILO_COMP_FUSION;
  site.comp = body.comp;
  return site;
}

static void keep_result(grower *g, scope *s, hilo_inst i, double size) {
  if (!i.ix) return;
  if (!hilo_type_is_tuple(&g->m->types, type_of(g, i))) {
    const grown v = handed(g, i, size);
    HILO_PUSH(g->arena, &s->values, v);
    return;
  }
  const uint32_t n = hilo_type_n_elements_of_tuple(&g->m->types, type_of(g, i));
  for (uint32_t k = 0; k < n; k++) keep_result(g, s, element_of(g, s, i, k), size);
}

static hilo_inst put_call(grower *g, scope *s, hilo_op op, const call_site *site, uint32_t attr) {
  return put(g, s,
             &(hilo_inst_desc){.op = op,
                               .operands = site->args,
                               .n_operands = site->n,
                               .attr = attr,
                               .called = &site->comp,
                               .n_called = 1});
}

void step_call(grower *g, scope *s) {
  if (s->depth >= MOST_DEPTH) return;
  const call_site site = new_callee(g, s, "callee", false);
  const uint32_t n_calls = chance(g, 30) ? 2 : 1;
  for (uint32_t k = 0; k < n_calls; k++)
    keep_result(g, s, put_call(g, s, HILO_OP_CALL, &site, 0), site.size);
}

void step_fusion(grower *g, scope *s) {
  if (s->depth >= MOST_DEPTH) return;
  const call_site site = new_callee(g, s, "fused", true);
  const hilo_fusion_attrs attrs = {.kind = hilo_module_string(g->m, HILO_STR("kLoop"))};
  keep_result(g, s,
              put_call(g, s, HILO_OP_FUSION, &site, hilo_fusion_put(&g->m->records, &attrs).ix),
              site.size);
}

/* async-start and async-done around a computation, other steps between them. */
void step_async_call(grower *g, scope *s) {
  const bool was_lockstep = s->is_lockstep;
  s->is_lockstep = false; /* what is wrapped runs when it is finished */
  const call_site site = new_callee(g, s, "wrapped", false);
  s->is_lockstep = was_lockstep;
  const hilo_inst start = put_call(g, s, HILO_OP_ASYNC_START, &site, 0);
  if (!start.ix) return;
  grow(g, s, below(g, 3));
  const hilo_inst done =
      put(g, s, &(hilo_inst_desc){.op = HILO_OP_ASYNC_DONE, .operands = &start, .n_operands = 1});
  keep_result(g, s, done, site.size);
}

/* ---- tuples and barriers ---- */

void step_tuple(grower *g, scope *s) {
  grown parts[3];
  hilo_inst elements[3];
  const uint32_t n = (uint32_t)between(g, 1, 3);
  for (uint32_t k = 0; k < n; k++) {
    parts[k] = take(g, s, OF_ARRAY, 0, MAX_RANK, false);
    elements[k] = parts[k].i;
  }
  hilo_inst tuple = tuple_of(g, s, elements, n);
  if (chance(g, 30)) { /* one in another */
    tuple = tuple_of(g, s, (const hilo_inst[]){tuple, elements[0]}, 2);
    tuple = element_of(g, s, tuple, 0);
  }
  const uint32_t k = below(g, n);
  const grown v = {element_of(g, s, tuple, k), parts[k].size, parts[k].is_exact,
                   parts[k].is_uniform};
  HILO_PUSH(g->arena, &s->values, v);
}

void step_barrier(grower *g, scope *s) {
  grown parts[3];
  hilo_inst elements[3];
  const uint32_t n = (uint32_t)between(g, 1, 3);
  for (uint32_t k = 0; k < n; k++) {
    parts[k] = take(g, s, OF_ARRAY, 0, MAX_RANK, false);
    elements[k] = parts[k].i;
  }
  const bool is_tuple = n > 1 || chance(g, 50);
  const hilo_inst operand = is_tuple ? tuple_of(g, s, elements, n) : elements[0];
  const hilo_inst i = put_simple(g, s, HILO_OP_OPT_BARRIER, HILO_TYPE_NONE, &operand, 1, 0);
  if (is_tuple)
    keep_elements(g, s, i, parts, n);
  else
    (void)keep_from(g, s, i, parts[0].size, parts, 1);
}

/* What must come first, said by a token. */
void step_token(grower *g, scope *s) {
  const grown x = take(g, s, OF_ARRAY, 0, MAX_RANK, false);
  hilo_inst token = put_simple(g, s, HILO_OP_AFTER_ALL, HILO_TYPE_NONE, NULL, 0, 0);
  if (chance(g, 50)) token = put_simple(g, s, HILO_OP_AFTER_ALL, HILO_TYPE_NONE, &token, 1, 0);
  if (chance(g, 30)) { /* through a barrier */
    hilo_inst both = tuple_of(g, s, (const hilo_inst[]){token, x.i}, 2);
    both = put_simple(g, s, HILO_OP_OPT_BARRIER, HILO_TYPE_NONE, &both, 1, 0);
    token = element_of(g, s, both, 0);
  }
  const hilo_inst i = put_simple(g, s, HILO_OP_ADD_DEPENDENCY, HILO_TYPE_NONE,
                                 (const hilo_inst[]){x.i, token}, 2, 0);
  (void)keep_from(g, s, i, x.size, &x, 1);
}

/* ---- custom calls ---- */

static hilo_inst custom_call(grower *g, scope *s, const char *target, const char *config,
                             hilo_type type, const hilo_inst *operands, uint32_t n) {
  const hilo_custom_call_attrs attrs = {.target = hilo_module_string(g->m, hilo_str_of(target)),
                                        .has_side_effect =
                                            strcmp(target, "AwsNeuronControlDep") == 0,
                                        .api_version = 1,
                                        .feature_group_count = 1,
                                        .batch_group_count = 1};
  hilo_inst_desc desc = {.op = HILO_OP_CUSTOM_CALL,
                         .type = type,
                         .operands = operands,
                         .n_operands = n,
                         .attr = hilo_custom_call_put(&g->m->records, &attrs).ix};
  if (config) {
    const hilo_extra_attrs extra = {.backend_config =
                                        hilo_module_string(g->m, hilo_str_of(config))};
    desc.extra = hilo_extra_put(&g->m->records, &extra);
  }
  return put(g, s, &desc);
}

static void step_float_target(grower *g, scope *s) {
  static const char *const targets[] = {"AwsNeuronErf", "AwsNeuronGelu", "AwsNeuronGeluApprxTanh",
                                        "AwsNeuronSilu", "AwsNeuronSoftmax"};
  const hilo_etype etype = chance(g, 80) ? HILO_F32 : HILO_BF16;
  const grown x = take_like(g, s, etype, random_dims(g, 1, 3), false);
  const hilo_inst i =
      custom_call(g, s, targets[below(g, HILO_COUNT(targets))], NULL, type_of(g, x.i), &x.i, 1);
  (void)keep(g, s, i, x.size, false, x.is_uniform);
}

void step_custom_call(grower *g, scope *s) {
  const uint32_t way = below(g, 5);
  if (way == 0) {
    step_float_target(g, s);
    return;
  }
  const grown x = take(g, s, OF_ARRAY, 0, MAX_RANK, way == 4);
  if (way == 1) { /* transfers, one in another */
    hilo_inst i = x.i;
    for (int64_t n = between(g, 1, 3); n > 0; n--)
      i = custom_call(g, s, "AwsNeuronTransferWithStaticRing", NULL, type_of(g, i), &i, 1);
    (void)keep_from(g, s, i, x.size, &x, 1);
  } else if (way == 2) { /* something first */
    const grown first = take(g, s, OF_ARRAY, 0, MAX_RANK, false);
    const hilo_inst operands[] = {first.i, x.i};
    const hilo_inst i =
        custom_call(g, s, "AwsNeuronControlDep", NULL, type_of(g, x.i), operands, 2);
    (void)keep_from(g, s, i, x.size, &x, 1);
  } else if (way == 3) {
    const char *target = chance(g, 50) ? "Sharding" : "LayoutConstraint";
    (void)keep_from(g, s, custom_call(g, s, target, NULL, type_of(g, x.i), &x.i, 1), x.size, &x, 1);
  } else if ((x.is_exact || !g->is_tame) && class_of(g, x.i) == OF_FLOAT && dims_of(g, x.i).n &&
             dims_of(g, x.i).v[dims_of(g, x.i).n - 1] > 1) {
    int64_t *dims = copy_dims(g, dims_of(g, x.i));
    const uint32_t rank = dims_of(g, x.i).n;
    dims[rank - 1] = 2;
    const hilo_type both[] = {array_of(g, etype_of(g, x.i), (hilo_dims){dims, rank}),
                              array_of(g, HILO_S32, (hilo_dims){dims, rank})};
    const hilo_inst i =
        custom_call(g, s, "AwsNeuronTopK", "2", hilo_type_tuple(&g->m->types, both, 2), &x.i, 1);
    const grown like[] = {x, {i, 8, x.is_exact, x.is_uniform}};
    keep_elements(g, s, i, like, 2);
  }
}

/* ---- regions between markers ---- */

void grow_layer(grower *g, scope *s, uint32_t n_steps) {
  static const char *const starts[] = {"NeuronBoundaryMarker-Start",
                                       "AwsNeuronModuleMarkerStart-Forward",
                                       "AwsNeuronModuleMarkerStart-Backward"};
  static const char *const ends[] = {"NeuronBoundaryMarker-End", "AwsNeuronModuleMarkerEnd-Forward",
                                     "AwsNeuronModuleMarkerEnd-Backward"};
  const uint32_t kind = below(g, 3), n = (uint32_t)between(g, 1, 3);
  const char *config = kind == 0 ? "boundaryCount=0" : NULL;
  grown parts[3];
  for (uint32_t end = 0; end < 2; end++) {
    hilo_inst elements[3];
    for (uint32_t k = 0; k < n; k++) {
      parts[k] = take(g, s, OF_FLOAT | OF_INT, 0, MAX_RANK, false);
      elements[k] = parts[k].i;
    }
    const bool is_tuple = n > 1;
    const hilo_inst tuple = is_tuple ? tuple_of(g, s, elements, n) : elements[0];
    /* As one tuple, or, as some write it, one by one. */
    const bool is_spread = is_tuple && chance(g, 30);
    const hilo_inst i = custom_call(g, s, (end ? ends : starts)[kind], config, type_of(g, tuple),
                                    is_spread ? elements : &tuple, is_spread ? n : 1);
    if (is_tuple)
      keep_elements(g, s, i, parts, n);
    else
      (void)keep_from(g, s, i, parts[0].size, parts, 1);
    if (!end) grow(g, s, n_steps);
  }
}
