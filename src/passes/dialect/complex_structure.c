/* Complex values in instructions that act on each part alone, or on parts by a sum (step 6). */
#include "passes/dialect/complex_parts.h"
#include "rewrite/build.h"

/* ---- bodies ---- */

static bool is_param(const hilo_module *m, hilo_inst i, uint32_t k) {
  return hilo_inst_is(m, i, HILO_OP_PARAMETER) && hilo_inst_index(m, i) == k;
}

static bool adds(const hilo_module *m, hilo_comp body) {
  const hilo_inst root = hilo_comp_root(m, body);
  if (!hilo_inst_is(m, root, HILO_OP_ADD)) return false;
  const hilo_inst a = hilo_inst_operand(m, root, 0), b = hilo_inst_operand(m, root, 1);
  return (is_param(m, a, 0) && is_param(m, b, 1)) || (is_param(m, a, 1) && is_param(m, b, 0));
}

static bool overwrites(const hilo_module *m, hilo_comp body) {
  return is_param(m, hilo_comp_root(m, body), 1);
}

/* ---- which ---- */

static bool is_lowerable_call(const hilo_module *m, hilo_inst i) {
  const hilo_comp body = hilo_inst_called(m, i, 0);
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_REDUCE:
  case HILO_OP_REDUCE_WINDOW: return hilo_inst_n_operands(m, i) == 2 && adds(m, body);
  case HILO_OP_SCATTER:
    return hilo_inst_n_operands(m, i) == 3 && (adds(m, body) || overwrites(m, body));
  case HILO_OP_ALL_REDUCE: return hilo_inst_n_operands(m, i) == 1 && adds(m, body);
  default: return false;
  }
}

bool hilo_complex_is_lowerable(const hilo_module *m, hilo_inst i) {
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_PARAMETER:
  case HILO_OP_TUPLE:
  case HILO_OP_GET_TUPLE_ELEMENT:
  case HILO_OP_WHILE:
  case HILO_OP_CONDITIONAL:
  case HILO_OP_CALL:
  case HILO_OP_OPT_BARRIER:
  case HILO_OP_FUSION:
  case HILO_OP_CONSTANT:
  case HILO_OP_COMPLEX:
  case HILO_OP_REAL:
  case HILO_OP_IMAG:
  case HILO_OP_ABS:
  case HILO_OP_ADD:
  case HILO_OP_SUBTRACT:
  case HILO_OP_NEGATE:
  case HILO_OP_SELECT:
  case HILO_OP_MULTIPLY:
  case HILO_OP_DIVIDE:
  case HILO_OP_EXP:
  case HILO_OP_CONVERT:
  case HILO_OP_COPY:
  case HILO_OP_IOTA:
  case HILO_OP_RESHAPE:
  case HILO_OP_TRANSPOSE:
  case HILO_OP_BROADCAST:
  case HILO_OP_SLICE:
  case HILO_OP_DYNAMIC_SLICE:
  case HILO_OP_DYNAMIC_UPDATE_SLICE:
  case HILO_OP_CONCATENATE:
  case HILO_OP_PAD:
  case HILO_OP_GATHER:
  case HILO_OP_REVERSE:
  case HILO_OP_DOT:
  case HILO_OP_CONVOLUTION: return true;
  case HILO_OP_COMPARE: {
    const int64_t direction = hilo_attrs(m, i, compare).direction;
    return direction == HILO_EQ || direction == HILO_NE;
  }
  case HILO_OP_ALL_GATHER:
  case HILO_OP_COLLECTIVE_PERMUTE:
  case HILO_OP_ALL_TO_ALL:
    return hilo_inst_n_operands(m, i) == 1 && hilo_type_is_array(&m->types, hilo_inst_type(m, i));
  case HILO_OP_CUSTOM_CALL:
    return hilo_str_is(hilo_string_of(m, hilo_attrs(m, i, custom_call).target),
                       "AwsNeuronControlDep");
  default: return hilo_inst_n_called(m, i) == 1 && is_lowerable_call(m, i);
  }
}

/* ---- building ---- */

hilo_complex hilo_complex_operand(hilo_complex_lowering *l, hilo_inst at, uint32_t k) {
  hilo_module *m = l->m;
  const hilo_inst operand = hilo_inst_operand(m, at, k);
  if (hilo_complex_is_lowered(l, operand)) return l->parts[hilo_ix(m, operand)];
  const hilo_inst zero = hilo_build_splat_int(m, at, hilo_inst_type(m, operand), 0);
  return (hilo_complex){operand, zero};
}

/* Two collectives may not share a channel. */
static int64_t fresh_channel(const hilo_module *m) {
  int64_t highest = 0;
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      const int64_t channel = hilo_inst_extra(m, i).channel_id;
      if (channel > highest) highest = channel;
    }
  }
  return highest + 1;
}

static hilo_type part_type(hilo_module *m, hilo_type type) {
  return hilo_type_with_etype(&m->types, type, hilo_part_etype(hilo_type_etype(&m->types, type)));
}

hilo_inst hilo_complex_part(hilo_complex_lowering *l, hilo_inst i, bool imaginary) {
  hilo_module *m = l->m;
  const uint32_t n = hilo_inst_n_operands(m, i);
  hilo_inst *operands = HILO_NEW_ARRAY(l->ctx->scratch, hilo_inst, n + 1);
  for (uint32_t k = 0; k < n; k++) {
    operands[k] = hilo_inst_operand(m, i, k);
    if (!hilo_complex_is_lowered(l, operands[k])) continue;
    const hilo_complex x = hilo_complex_operand(l, i, k);
    operands[k] = imaginary ? x.im : x.re;
  }
  const hilo_type type = part_type(m, hilo_inst_type(m, i));
  hilo_extra_attrs extra = hilo_inst_extra(m, i);
  if (imaginary && extra.channel_id) extra.channel_id = fresh_channel(m);
  hilo_comp body = HILO_COMP_NONE;
  if (hilo_inst_n_called(m, i)) {
    const hilo_comp old = hilo_inst_called(m, i, 0);
    const hilo_etype etype = hilo_type_etype(&m->types, type);
    body = hilo_build_reducer(m, HILO_OP_ADD, etype);
    if (overwrites(m, old)) hilo_comp_set_root(m, body, hilo_comp_param(m, body, 1));
  }
  const hilo_inst_desc desc = {.op = hilo_inst_op(m, i),
                               .type = type,
                               .operands = operands,
                               .n_operands = n,
                               .attr = hilo_inst_attr(m, i).ix,
                               .called = &body,
                               .n_called = body.ix != 0};
  const hilo_inst part = hilo_inst_insert_before(m, i, &desc);
  hilo_inst_set_extra(m, part, &extra);
  return part;
}

/* dot and convolution: four real ones. */
static hilo_complex contraction(hilo_complex_lowering *l, hilo_inst i) {
  hilo_module *m = l->m;
  const hilo_complex x = hilo_complex_operand(l, i, 0), y = hilo_complex_operand(l, i, 1);
  const hilo_inst pairs[4][2] = {{x.re, y.re}, {x.im, y.im}, {x.re, y.im}, {x.im, y.re}};
  hilo_inst products[4];
  for (uint32_t k = 0; k < 4; k++) {
    const hilo_inst_desc desc = {.op = hilo_inst_op(m, i),
                                 .type = part_type(m, hilo_inst_type(m, i)),
                                 .operands = pairs[k],
                                 .n_operands = 2,
                                 .attr = hilo_inst_attr(m, i).ix,
                                 .extra = hilo_inst_extra_record(m, i)};
    products[k] = hilo_inst_insert_before(m, i, &desc);
  }
  const hilo_inst re = hilo_build_binary(m, i, HILO_OP_SUBTRACT, products[0], products[1]);
  return (hilo_complex){re, hilo_build_binary(m, i, HILO_OP_ADD, products[2], products[3])};
}

/* Elements of a complex literal are pairs in memory. */
static hilo_inst constant_part(hilo_module *m, hilo_inst i, bool imaginary, hilo_arena *scratch) {
  const hilo_literal_row row = *hilo_literal_get(m, hilo_inst_literal(m, i));
  const hilo_type type = part_type(m, hilo_inst_type(m, i));
  const uint32_t size = hilo_etype_bytes(hilo_type_etype(&m->types, type));
  hilo_literal literal;
  if (row.kind == HILO_LITERAL_SPLAT) {
    literal = hilo_literal_splat(m, type, row.data + (imaginary ? size : 0));
  } else if (row.kind == HILO_LITERAL_DENSE) {
    const uint64_t n = row.bytes / (2 * size);
    char *data = hilo_arena_alloc(scratch, row.bytes / 2 + 1, 8);
    for (uint64_t k = 0; k < n; k++)
      memcpy(data + k * size, row.data + (2 * k + imaginary) * size, size);
    literal = hilo_literal_put(m, type, data, n * size, true);
  } else {
    literal = hilo_literal_elided(m, type);
  }
  const hilo_inst_desc desc = {.op = HILO_OP_CONSTANT, .type = type, .attr = literal.ix};
  return hilo_inst_insert_before(m, i, &desc);
}

hilo_complex hilo_complex_structure(hilo_complex_lowering *l, hilo_inst i) {
  hilo_module *m = l->m;
  hilo_inst re = HILO_INST_NONE;
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_COMPLEX:
    return (hilo_complex){hilo_inst_operand(m, i, 0), hilo_inst_operand(m, i, 1)};
  case HILO_OP_CONSTANT:
    re = constant_part(m, i, false, l->ctx->scratch);
    return (hilo_complex){re, constant_part(m, i, true, l->ctx->scratch)};
  case HILO_OP_CONVERT: {
    const hilo_complex x = hilo_complex_operand(l, i, 0);
    const hilo_etype etype = hilo_part_etype(hilo_inst_etype(m, i));
    re = hilo_build_convert(m, i, x.re, etype);
    return (hilo_complex){re, hilo_build_convert(m, i, x.im, etype)};
  }
  case HILO_OP_IOTA:
    re = hilo_complex_part(l, i, false);
    return (hilo_complex){re, hilo_build_splat_int(m, i, hilo_inst_type(m, re), 0)};
  case HILO_OP_DOT:
  case HILO_OP_CONVOLUTION: return contraction(l, i);
  default:
    re = hilo_complex_part(l, i, false);
    return (hilo_complex){re, hilo_complex_part(l, i, true)};
  }
}
