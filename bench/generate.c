#include "bench/generate.h"

#include "ir/infer.h"

#include <stdio.h>

/* Shapes without transformer structure are a loop around a random choice. The transformer is
 * written as a model would be: small functions that append operations. Result types come from shape
 * inference, so that a wrong operand shows as a missing type, which is a bug here.
 *
 * A seed gives the same module on every machine: random numbers are SplitMix64, and no call has two
 * arguments that append, since C leaves their order to the compiler. */

const char *const hilo_generate_names[HILO_GENERATE_COUNT] = {"chain", "fan", "transformer"};

typedef struct {
  hilo_module *m;
  hilo_comp comp;
  uint64_t random;
  hilo_label file;  /* of the metadata */
  hilo_record meta; /* of what is added next */
  int64_t line;
  uint32_t n_params;
} generator;

static uint64_t next_random(generator *g) {
  uint64_t z = (g->random += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* 0 … n-1 */
static uint32_t pick(generator *g, uint32_t n) { return (uint32_t)(next_random(g) % n); }

/* ---- appending ---- */

static hilo_inst append(generator *g, hilo_inst_desc desc) {
  hilo_module *m = g->m;
  desc.meta = g->meta;
  desc.type = hilo_infer_desc(m, &desc);
  HILO_CHECK(desc.type.ix); /* a bug of the generator */
  return hilo_inst_add(m, g->comp, &desc);
}

static hilo_inst unary(generator *g, hilo_op op, hilo_inst x) {
  return append(g, (hilo_inst_desc){.op = op, .operands = &x, .n_operands = 1});
}
static hilo_inst binary(generator *g, hilo_op op, hilo_inst x, hilo_inst y) {
  return append(g, (hilo_inst_desc){.op = op, .operands = (hilo_inst[]){x, y}, .n_operands = 2});
}
static hilo_inst param(generator *g, hilo_type type) {
  return append(g, (hilo_inst_desc){.op = HILO_OP_PARAMETER, .type = type, .attr = g->n_params++});
}
static hilo_inst tuple(generator *g, const hilo_inst *elements, uint32_t n) {
  return append(g, (hilo_inst_desc){.op = HILO_OP_TUPLE, .operands = elements, .n_operands = n});
}
static hilo_inst element(generator *g, hilo_inst of, uint32_t index) {
  return append(
      g, (hilo_inst_desc){
             .op = HILO_OP_GET_TUPLE_ELEMENT, .operands = &of, .n_operands = 1, .attr = index});
}
static hilo_type array(generator *g, hilo_etype etype, hilo_dims dims) {
  return hilo_type_array(&g->m->types, etype, dims);
}
/* One operand, a type that the operation does not know by itself, dimensions as attribute. */
static hilo_inst shaped(generator *g, hilo_op op, hilo_type type, hilo_inst x, hilo_dims dims) {
  const hilo_dims_attrs attrs = {dims};
  const bool takes_dims = op == HILO_OP_BROADCAST || op == HILO_OP_TRANSPOSE;
  return append(
      g, (hilo_inst_desc){.op = op,
                          .type = type,
                          .operands = &x,
                          .n_operands = 1,
                          .attr = takes_dims ? hilo_dims_put(&g->m->records, &attrs).ix : 0});
}
static hilo_inst broadcast(generator *g, hilo_inst x, hilo_dims to, hilo_dims dims) {
  return shaped(g, HILO_OP_BROADCAST, array(g, hilo_inst_etype(g->m, x), to), x, dims);
}
static hilo_inst transpose(generator *g, hilo_inst x, hilo_dims dims) {
  return shaped(g, HILO_OP_TRANSPOSE, HILO_TYPE_NONE, x, dims);
}
static hilo_inst reshape(generator *g, hilo_inst x, hilo_dims to) {
  return shaped(g, HILO_OP_RESHAPE, array(g, hilo_inst_etype(g->m, x), to), x, HILO_DIMS_NONE);
}
static hilo_inst convert(generator *g, hilo_inst x, hilo_etype etype) {
  return shaped(g, HILO_OP_CONVERT, array(g, etype, hilo_inst_dims(g->m, x)), x, HILO_DIMS_NONE);
}
static hilo_inst constant(generator *g, float value) {
  const hilo_type type = hilo_type_scalar(&g->m->types, HILO_F32);
  const hilo_literal literal = hilo_literal_put(g->m, type, &value, sizeof value, true);
  return append(g, (hilo_inst_desc){.op = HILO_OP_CONSTANT, .type = type, .attr = literal.ix});
}
/* A constant and its broadcast to the shape of x, as every use of a Python float becomes. */
static hilo_inst filled_like(generator *g, hilo_inst x, float value) {
  return broadcast(g, constant(g, value), hilo_inst_dims(g->m, x), HILO_DIMS_NONE);
}
static hilo_inst iota(generator *g, hilo_etype etype, hilo_dims dims, uint32_t dimension) {
  return append(
      g, (hilo_inst_desc){.op = HILO_OP_IOTA, .type = array(g, etype, dims), .attr = dimension});
}
static hilo_inst slice(generator *g, hilo_inst x, uint32_t dimension, int64_t start,
                       int64_t limit) {
  int64_t starts[HILO_MAX_RANK], limits[HILO_MAX_RANK], strides[HILO_MAX_RANK];
  const hilo_dims dims = hilo_inst_dims(g->m, x);
  for (uint32_t i = 0; i < dims.n; i++) {
    starts[i] = i == dimension ? start : 0;
    limits[i] = i == dimension ? limit : dims.v[i];
    strides[i] = 1;
  }
  const hilo_slice_attrs attrs = {{starts, dims.n}, {limits, dims.n}, {strides, dims.n}};
  return append(g, (hilo_inst_desc){.op = HILO_OP_SLICE,
                                    .operands = &x,
                                    .n_operands = 1,
                                    .attr = hilo_slice_put(&g->m->records, &attrs).ix});
}
static hilo_inst concatenate(generator *g, hilo_inst x, hilo_inst y, int64_t dimension) {
  const hilo_dims_attrs attrs = {HILO_DIMS_OF(dimension)};
  return append(g, (hilo_inst_desc){.op = HILO_OP_CONCATENATE,
                                    .operands = (hilo_inst[]){x, y},
                                    .n_operands = 2,
                                    .attr = hilo_dims_put(&g->m->records, &attrs).ix});
}
static hilo_inst reduce(generator *g, hilo_inst x, float init, hilo_comp reducer,
                        int64_t dimension) {
  const hilo_dims_attrs attrs = {HILO_DIMS_OF(dimension)};
  const hilo_inst zero = constant(g, init);
  return append(g, (hilo_inst_desc){.op = HILO_OP_REDUCE,
                                    .operands = (hilo_inst[]){x, zero},
                                    .n_operands = 2,
                                    .attr = hilo_dims_put(&g->m->records, &attrs).ix,
                                    .called = &reducer,
                                    .n_called = 1});
}
static hilo_inst dot(generator *g, hilo_inst x, hilo_inst y, hilo_dot_attrs attrs) {
  return append(g, (hilo_inst_desc){.op = HILO_OP_DOT,
                                    .operands = (hilo_inst[]){x, y},
                                    .n_operands = 2,
                                    .attr = hilo_dot_put(&g->m->records, &attrs).ix});
}
/* [… , a] · [a, b] */
static hilo_inst matmul(generator *g, hilo_inst x, hilo_inst weight) {
  return dot(g, x, weight,
             (hilo_dot_attrs){.lhs_contracting = HILO_DIMS_OF(hilo_inst_dims(g->m, x).n - 1),
                              .rhs_contracting = HILO_DIMS_OF(0)});
}
static hilo_inst select(generator *g, hilo_inst pred, hilo_inst on_true, hilo_inst on_false) {
  return append(g, (hilo_inst_desc){.op = HILO_OP_SELECT,
                                    .operands = (hilo_inst[]){pred, on_true, on_false},
                                    .n_operands = 3});
}
static hilo_inst compare(generator *g, hilo_inst x, hilo_inst y, hilo_compare_direction direction) {
  const hilo_compare_attrs attrs = {.direction = direction};
  return append(g, (hilo_inst_desc){.op = HILO_OP_COMPARE,
                                    .operands = (hilo_inst[]){x, y},
                                    .n_operands = 2,
                                    .attr = hilo_compare_put(&g->m->records, &attrs).ix});
}
static hilo_inst call(generator *g, hilo_comp comp, const hilo_inst *operands, uint32_t n) {
  return append(g, (hilo_inst_desc){.op = HILO_OP_CALL,
                                    .operands = operands,
                                    .n_operands = n,
                                    .called = &comp,
                                    .n_called = 1});
}

/* ---- computations ---- */

/* Add a computation; what is appended goes there until `leave`. */
static hilo_comp enter(generator *g, const char *name) {
  g->comp = hilo_comp_add(g->m, hilo_name_parse(g->m, hilo_str_of(name)));
  g->n_params = 0;
  return g->comp;
}
static hilo_comp leave(generator *g, hilo_inst root) {
  hilo_comp_set_root(g->m, g->comp, root);
  return g->comp;
}

static hilo_comp reducer(generator *g, const char *name, hilo_op op, hilo_etype etype) {
  const hilo_type scalar = hilo_type_scalar(&g->m->types, etype);
  enter(g, name);
  const hilo_inst a = param(g, scalar), b = param(g, scalar);
  return leave(g, binary(g, op, a, b));
}

/* ---- chain and fan ---- */

static const hilo_op unary_ops[] = {HILO_OP_NEGATE, HILO_OP_EXP, HILO_OP_TANH, HILO_OP_ABS};
static const hilo_op binary_ops[] = {HILO_OP_ADD, HILO_OP_MULTIPLY, HILO_OP_SUBTRACT,
                                     HILO_OP_MAXIMUM};
static hilo_op any_unary(generator *g) { return unary_ops[pick(g, HILO_COUNT(unary_ops))]; }
static hilo_op any_binary(generator *g) { return binary_ops[pick(g, HILO_COUNT(binary_ops))]; }

static void make_chain(generator *g, uint32_t n) {
  enum { WINDOW = 64 }; /* how far back an operand may be */
  const hilo_type type = array(g, HILO_F32, HILO_DIMS_OF(8, 128));
  hilo_inst recent[WINDOW];
  uint32_t n_live = 0;
  g->m->entry = enter(g, "main");
  const hilo_inst first = param(g, type);
  recent[n_live++ % WINDOW] = first;
  recent[n_live++ % WINDOW] = param(g, type);
  hilo_inst last = recent[1];
  for (uint32_t i = 3; i < n; i++) {
    const uint32_t kind = pick(g, 10);
    const uint32_t back = 1 + pick(g, n_live < WINDOW ? n_live : WINDOW);
    const hilo_inst other = recent[(n_live - back) % WINDOW];
    if (kind == 0) { /* dead */
      unary(g, any_unary(g), last);
      continue;
    }
    if (kind == 1 && hilo_inst_n_operands(g->m, last) == 1) /* the same once more */
      last = unary(g, hilo_inst_op(g->m, last), hilo_inst_operand(g->m, last, 0));
    else
      last = kind < 6 ? unary(g, any_unary(g), last) : binary(g, any_binary(g), last, other);
    recent[n_live++ % WINDOW] = last;
  }
  leave(g, binary(g, HILO_OP_ADD, last, first));
}

static void make_fan(generator *g, uint32_t n) {
  const hilo_type type = array(g, HILO_F32, HILO_DIMS_OF(8, 128));
  const uint32_t n_leaves = n / 2;
  g->m->entry = enter(g, "main");
  const hilo_inst source = param(g, type);
  hilo_inst *level = HILO_NEW_ARRAY(g->m->arena, hilo_inst, n_leaves);
  for (uint32_t i = 0; i < n_leaves; i++) level[i] = unary(g, any_unary(g), source);
  for (uint32_t n_level = n_leaves; n_level > 1; n_level = (n_level + 1) / 2) {
    for (uint32_t i = 0; i + 1 < n_level; i += 2)
      level[i / 2] = binary(g, any_binary(g), level[i], level[i + 1]);
    if (n_level % 2) level[n_level / 2] = level[n_level - 1];
  }
  leave(g, level[0]);
}

/* ---- transformer ---- */

enum {
  TOKENS = 128,
  WIDTH = 512,
  RANKS = 8,
  HEADS = 2, /* of one rank */
  HEAD = 64,
  HIDDEN = 256, /* of one rank */
};

typedef struct {
  generator *g;
  hilo_comp add_f32, max_f32, add_bf16, silu, rotate;
  hilo_record groups;  /* one group of all ranks */
  hilo_record channel; /* `extra` of the next all-reduce */
  int64_t n_channels;
  uint32_t layer;
  const char *part; /* of the op_name */
} model;

/* Metadata of what comes next: `jit(step)/layer_3/attention/dot_general`. */
static void at(model *md, const char *what) {
  generator *g = md->g;
  char text[96];
  const int length =
      snprintf(text, sizeof text, "jit(step)/layer_%u/%s/%s", md->layer, md->part, what);
  const hilo_meta_attrs attrs = {
      .op_type = hilo_module_label(g->m, hilo_str_of(what)),
      .op_name = hilo_module_label(g->m, (hilo_str){text, (size_t)length}),
      .source_file = g->file,
      .source_line = 10 + g->line++ % 90,
  };
  g->meta = hilo_meta_put(&g->m->labels, &attrs);
}

/* x · logistic(x), as `jax.nn.silu` is called in each layer. */
static void make_silu(model *md) {
  generator *g = md->g;
  enter(g, "silu");
  const hilo_inst x = param(g, array(g, HILO_BF16, HILO_DIMS_OF(TOKENS, HIDDEN)));
  md->silu = leave(g, binary(g, HILO_OP_MULTIPLY, x, unary(g, HILO_OP_LOGISTIC, x)));
}

/* The halves (a, b) of the heads become (a cos - b sin, b cos + a sin). */
static hilo_inst rotated(generator *g, hilo_inst x, hilo_inst cosine, hilo_inst sine) {
  const hilo_inst a = slice(g, x, 2, 0, HEAD / 2), b = slice(g, x, 2, HEAD / 2, HEAD);
  const hilo_inst a_cos = binary(g, HILO_OP_MULTIPLY, a, cosine);
  const hilo_inst b_sin = binary(g, HILO_OP_MULTIPLY, b, sine);
  const hilo_inst left = binary(g, HILO_OP_SUBTRACT, a_cos, b_sin);
  const hilo_inst b_cos = binary(g, HILO_OP_MULTIPLY, b, cosine);
  const hilo_inst a_sin = binary(g, HILO_OP_MULTIPLY, a, sine);
  return concatenate(g, left, binary(g, HILO_OP_ADD, b_cos, a_sin), 2);
}

/* Rotary positions of queries and keys: a computation with two results. */
static void make_rotate(model *md) {
  generator *g = md->g;
  const hilo_dims half = HILO_DIMS_OF(HEADS, TOKENS, HEAD / 2);
  const hilo_type type = array(g, HILO_BF16, HILO_DIMS_OF(HEADS, TOKENS, HEAD));
  enter(g, "rotate");
  const hilo_inst q = param(g, type), k = param(g, type);
  const hilo_inst position = iota(g, HILO_F32, half, 1), channel = iota(g, HILO_F32, half, 2);
  const hilo_inst step =
      binary(g, HILO_OP_MULTIPLY, channel, filled_like(g, channel, -0.28782314f));
  const hilo_inst angle = binary(g, HILO_OP_MULTIPLY, position, unary(g, HILO_OP_EXP, step));
  const hilo_inst cosine = convert(g, unary(g, HILO_OP_COS, angle), HILO_BF16);
  const hilo_inst sine = convert(g, unary(g, HILO_OP_SIN, angle), HILO_BF16);
  const hilo_inst q_turned = rotated(g, q, cosine, sine), k_turned = rotated(g, k, cosine, sine);
  md->rotate = leave(g, tuple(g, (hilo_inst[]){q_turned, k_turned}, 2));
}

/* x / sqrt(mean(x²) + ε) · weight, in f32. */
static hilo_inst norm(model *md, hilo_inst x) {
  generator *g = md->g;
  const hilo_dims full = HILO_DIMS_OF(TOKENS, WIDTH);
  at(md, "rms_norm");
  const hilo_inst weight = param(g, array(g, HILO_BF16, HILO_DIMS_OF(WIDTH)));
  const hilo_inst wide = convert(g, x, HILO_F32);
  const hilo_inst sum = reduce(g, binary(g, HILO_OP_MULTIPLY, wide, wide), 0, md->add_f32, 1);
  const hilo_inst mean = binary(g, HILO_OP_DIVIDE, sum, filled_like(g, sum, (float)WIDTH));
  const hilo_inst scale =
      unary(g, HILO_OP_RSQRT, binary(g, HILO_OP_ADD, mean, filled_like(g, mean, 1e-5f)));
  const hilo_inst scaled =
      binary(g, HILO_OP_MULTIPLY, wide, broadcast(g, scale, full, HILO_DIMS_OF(0)));
  at(md, "mul");
  const hilo_inst narrow = convert(g, scaled, HILO_BF16);
  return binary(g, HILO_OP_MULTIPLY, narrow, broadcast(g, weight, full, HILO_DIMS_OF(1)));
}

/* Sum over the ranks. */
static hilo_inst all_reduce(model *md, hilo_inst x) {
  generator *g = md->g;
  const hilo_collective_attrs attrs = {.groups = md->groups, .use_global_device_ids = true};
  const hilo_extra_attrs extra = {.channel_id = ++md->n_channels};
  at(md, "psum");
  return append(g, (hilo_inst_desc){.op = HILO_OP_ALL_REDUCE,
                                    .operands = &x,
                                    .n_operands = 1,
                                    .attr = hilo_collective_put(&g->m->records, &attrs).ix,
                                    .called = &md->add_bf16,
                                    .n_called = 1,
                                    .extra = hilo_extra_put(&g->m->records, &extra)});
}

/* x · weight as heads: [HEADS, TOKENS, HEAD]. */
static hilo_inst project(model *md, hilo_inst x, const char *what) {
  generator *g = md->g;
  at(md, what);
  const hilo_inst weight = param(g, array(g, HILO_BF16, HILO_DIMS_OF(WIDTH, HEADS * HEAD)));
  const hilo_inst flat = matmul(g, x, weight);
  return transpose(g, reshape(g, flat, HILO_DIMS_OF(TOKENS, HEADS, HEAD)), HILO_DIMS_OF(1, 0, 2));
}

/* Softmax over the last dimension of f32[HEADS, TOKENS, TOKENS]. */
static hilo_inst softmax(model *md, hilo_inst x) {
  generator *g = md->g;
  const hilo_dims full = HILO_DIMS_OF(HEADS, TOKENS, TOKENS), rows = HILO_DIMS_OF(0, 1);
  at(md, "softmax");
  const hilo_inst highest = reduce(g, x, -__builtin_inff(), md->max_f32, 2);
  const hilo_inst e =
      unary(g, HILO_OP_EXP, binary(g, HILO_OP_SUBTRACT, x, broadcast(g, highest, full, rows)));
  const hilo_inst sum = reduce(g, e, 0, md->add_f32, 2);
  return binary(g, HILO_OP_DIVIDE, e, broadcast(g, sum, full, rows));
}

/* Scores that a causal mask leaves. */
static hilo_inst masked(model *md, hilo_inst scores) {
  generator *g = md->g;
  const hilo_dims square = HILO_DIMS_OF(TOKENS, TOKENS);
  at(md, "mask");
  const hilo_inst row = iota(g, HILO_S32, square, 0), column = iota(g, HILO_S32, square, 1);
  const hilo_inst seen = compare(g, row, column, HILO_GE);
  const hilo_inst seen_by_all =
      broadcast(g, seen, hilo_inst_dims(g->m, scores), HILO_DIMS_OF(1, 2));
  return select(g, seen_by_all, scores, filled_like(g, scores, -1e9f));
}

static hilo_inst attention(model *md, hilo_inst x) {
  generator *g = md->g;
  md->part = "attention";
  const hilo_inst normed = norm(md, x);
  const hilo_inst q_raw = project(md, normed, "q"), k_raw = project(md, normed, "k");
  const hilo_inst v = project(md, normed, "v");
  at(md, "rotate");
  const hilo_inst both = call(g, md->rotate, (hilo_inst[]){q_raw, k_raw}, 2);
  const hilo_inst q = element(g, both, 0), k = element(g, both, 1);
  at(md, "dot_general");
  const hilo_inst scores = dot(g, q, k,
                               (hilo_dot_attrs){.lhs_batch = HILO_DIMS_OF(0),
                                                .rhs_batch = HILO_DIMS_OF(0),
                                                .lhs_contracting = HILO_DIMS_OF(2),
                                                .rhs_contracting = HILO_DIMS_OF(2)});
  const hilo_inst wide = convert(g, scores, HILO_F32);
  const hilo_inst scaled = binary(g, HILO_OP_MULTIPLY, wide, filled_like(g, wide, 0.125f));
  const hilo_inst weights = convert(g, softmax(md, masked(md, scaled)), HILO_BF16);
  at(md, "dot_general");
  const hilo_inst mixed = dot(g, weights, v,
                              (hilo_dot_attrs){.lhs_batch = HILO_DIMS_OF(0),
                                               .rhs_batch = HILO_DIMS_OF(0),
                                               .lhs_contracting = HILO_DIMS_OF(2),
                                               .rhs_contracting = HILO_DIMS_OF(1)});
  const hilo_inst flat =
      reshape(g, transpose(g, mixed, HILO_DIMS_OF(1, 0, 2)), HILO_DIMS_OF(TOKENS, HEADS * HEAD));
  const hilo_inst out = param(g, array(g, HILO_BF16, HILO_DIMS_OF(HEADS * HEAD, WIDTH)));
  const hilo_inst sum = all_reduce(md, matmul(g, flat, out));
  at(md, "add");
  return binary(g, HILO_OP_ADD, x, sum);
}

static hilo_inst feed_forward(model *md, hilo_inst x) {
  generator *g = md->g;
  md->part = "mlp";
  const hilo_inst normed = norm(md, x);
  const hilo_type weight = array(g, HILO_BF16, HILO_DIMS_OF(WIDTH, HIDDEN));
  at(md, "gate");
  const hilo_inst gate = matmul(g, normed, param(g, weight));
  at(md, "up");
  const hilo_inst up = matmul(g, normed, param(g, weight));
  at(md, "silu");
  const hilo_inst active = binary(g, HILO_OP_MULTIPLY, call(g, md->silu, &gate, 1), up);
  at(md, "down");
  const hilo_inst down =
      matmul(g, active, param(g, array(g, HILO_BF16, HILO_DIMS_OF(HIDDEN, WIDTH))));
  const hilo_inst sum = all_reduce(md, down);
  at(md, "add");
  return binary(g, HILO_OP_ADD, x, sum);
}

/* What tracing leaves behind and nobody uses: up to 7 operations. */
static void leave_dead(model *md, hilo_inst x) {
  generator *g = md->g;
  at(md, "unused");
  for (uint32_t i = pick(g, 8); i > 0; i--) x = unary(g, any_unary(g), x);
}

static void make_transformer(generator *g, uint32_t n) {
  hilo_module *m = g->m;
  model md = {.g = g, .part = "embed"};
  const hilo_replica_groups_attrs groups = {.sizes = HILO_DIMS_OF(RANKS),
                                            .ids = HILO_DIMS_OF(0, 1, 2, 3, 4, 5, 6, 7)};
  md.groups = hilo_replica_groups_put(&m->records, &groups);
  m->header.num_partitions = RANKS;
  md.add_f32 = reducer(g, "add_f32", HILO_OP_ADD, HILO_F32);
  md.max_f32 = reducer(g, "max_f32", HILO_OP_MAXIMUM, HILO_F32);
  md.add_bf16 = reducer(g, "add_bf16", HILO_OP_ADD, HILO_BF16);
  make_silu(&md);
  make_rotate(&md);
  m->entry = enter(g, "main");
  at(&md, "x");
  hilo_inst x = param(g, array(g, HILO_BF16, HILO_DIMS_OF(TOKENS, WIDTH)));
  do {
    x = attention(&md, x);
    leave_dead(&md, x);
    x = feed_forward(&md, x);
    md.layer++;
  } while (m->n_insts < n);
  md.part = "head";
  const hilo_inst result = norm(&md, x);
  leave(g, tuple(g, &result, 1));
}

hilo_module *hilo_generate(hilo_arena *arena, hilo_generate_kind kind, uint32_t n, uint64_t seed) {
  static void (*const make[HILO_GENERATE_COUNT])(generator *, uint32_t) = {make_chain, make_fan,
                                                                           make_transformer};
  HILO_CHECK(n >= HILO_GENERATE_MIN && n <= HILO_GENERATE_MAX);
  hilo_module *m = hilo_module_create(arena, NULL);
  generator g = {.m = m, .random = seed};
  m->header.name = hilo_module_string(m, hilo_str_of(hilo_generate_names[kind]));
  m->header.num_replicas = 1;
  m->header.num_partitions = 1;
  g.file = hilo_module_label(m, HILO_STR("model.py"));
  make[kind](&g, n);
  return m;
}
