#include "rewrite/build.h"

#include "analysis/custom_call.h"
#include "ir/etype_format.h"
#include "num/float_format.h"

static hilo_type type_of(const hilo_module *m, hilo_inst x) { return hilo_inst_type(m, x); }

static hilo_inst insert(hilo_module *m, hilo_inst at, hilo_op op, hilo_type type,
                        const hilo_inst *operands, uint32_t n, uint32_t attr) {
  const hilo_inst_desc desc = {
      .op = op, .type = type, .operands = operands, .n_operands = n, .attr = attr};
  return hilo_inst_insert_before(m, at, &desc);
}

hilo_inst hilo_build_gte(hilo_module *m, hilo_inst at, hilo_inst tuple, uint32_t index) {
  const hilo_type type = hilo_type_element(&m->types, type_of(m, tuple), index);
  return insert(m, at, HILO_OP_GET_TUPLE_ELEMENT, type, &tuple, 1, index);
}

hilo_inst hilo_build_tuple(hilo_module *m, hilo_inst at, const hilo_inst *elements, uint32_t n) {
  hilo_vec(hilo_type) types = {0};
  HILO_RESERVE(m->arena, &types, n + 1);
  for (uint32_t k = 0; k < n; k++) types.v[k] = type_of(m, elements[k]);
  const hilo_type type = hilo_type_tuple(&m->types, types.v, n);
  HILO_VEC_FREE(m->arena, &types);
  return insert(m, at, HILO_OP_TUPLE, type, elements, n, 0);
}

hilo_inst hilo_build_splat(hilo_module *m, hilo_inst at, hilo_type type, const void *element) {
  return insert(m, at, HILO_OP_CONSTANT, type, NULL, 0, hilo_literal_splat(m, type, element).ix);
}

hilo_inst hilo_build_splat_int(hilo_module *m, hilo_inst at, hilo_type type, int64_t value) {
  const hilo_etype etype = hilo_type_etype(&m->types, type);
  if (hilo_etype_is_float(etype)) return hilo_build_splat_float(m, at, type, (double)value);
  const unsigned bits = hilo_etype_table[etype].bits;
  uint64_t word = (uint64_t)value;
  if (hilo_etype_class_of(etype) == HILO_CLASS_PRED) word = value != 0;
  /* Sub-byte integers stand one a byte, their unused bits zero. */
  else if (bits < 8)
    word &= (1ull << bits) - 1;
  return hilo_build_splat(m, at, type, &word);
}

hilo_inst hilo_build_splat_float(hilo_module *m, hilo_inst at, hilo_type type, double value) {
  const uint64_t bits =
      hilo_float_from_double(hilo_etype_float_format(hilo_type_etype(&m->types, type)), value);
  return hilo_build_splat(m, at, type, &bits);
}

hilo_inst hilo_build_int(hilo_module *m, hilo_inst at, hilo_etype etype, int64_t value) {
  return hilo_build_splat_int(m, at, hilo_type_scalar(&m->types, etype), value);
}

hilo_inst hilo_build_float(hilo_module *m, hilo_inst at, hilo_etype etype, double value) {
  return hilo_build_splat_float(m, at, hilo_type_scalar(&m->types, etype), value);
}

hilo_inst hilo_build_unary(hilo_module *m, hilo_inst at, hilo_op op, hilo_inst x) {
  return insert(m, at, op, type_of(m, x), &x, 1, 0);
}

hilo_inst hilo_build_binary(hilo_module *m, hilo_inst at, hilo_op op, hilo_inst x, hilo_inst y) {
  return insert(m, at, op, type_of(m, x), (hilo_inst[]){x, y}, 2, 0);
}

hilo_inst hilo_build_compare(hilo_module *m, hilo_inst at, hilo_compare_direction direction,
                             hilo_inst x, hilo_inst y) {
  const hilo_compare_attrs attrs = {.direction = direction};
  return insert(m, at, HILO_OP_COMPARE, hilo_type_with_etype(&m->types, type_of(m, x), HILO_PRED),
                (hilo_inst[]){x, y}, 2, hilo_compare_put(&m->records, &attrs).ix);
}

hilo_inst hilo_build_select(hilo_module *m, hilo_inst at, hilo_inst pred, hilo_inst on_true,
                            hilo_inst on_false) {
  if (hilo_inst_dims(m, pred).n == 0 && hilo_inst_dims(m, on_true).n != 0)
    pred = hilo_build_broadcast(m, at, pred,
                                hilo_type_with_etype(&m->types, type_of(m, on_true), HILO_PRED),
                                HILO_DIMS_NONE);
  return insert(m, at, HILO_OP_SELECT, type_of(m, on_true), (hilo_inst[]){pred, on_true, on_false},
                3, 0);
}

hilo_inst hilo_build_convert(hilo_module *m, hilo_inst at, hilo_inst x, hilo_etype etype) {
  if (hilo_inst_etype(m, x) == etype) return x;
  return insert(m, at, HILO_OP_CONVERT, hilo_type_with_etype(&m->types, type_of(m, x), etype), &x,
                1, 0);
}

hilo_inst hilo_build_reshape(hilo_module *m, hilo_inst at, hilo_inst x, hilo_type type) {
  if (hilo_type_eq(type_of(m, x), type)) return x;
  return insert(m, at, HILO_OP_RESHAPE, type, &x, 1, 0);
}

static uint32_t dims_attr(hilo_module *m, hilo_dims dims) {
  const hilo_dims_attrs attrs = {.dims = dims};
  return hilo_dims_put(&m->records, &attrs).ix;
}

hilo_inst hilo_build_broadcast(hilo_module *m, hilo_inst at, hilo_inst x, hilo_type type,
                               hilo_dims dims) {
  return insert(m, at, HILO_OP_BROADCAST, type, &x, 1, dims_attr(m, dims));
}

hilo_inst hilo_build_iota(hilo_module *m, hilo_inst at, hilo_type type, uint32_t dimension) {
  return insert(m, at, HILO_OP_IOTA, type, NULL, 0, dimension);
}

hilo_comp hilo_build_reducer(hilo_module *m, hilo_op op, hilo_etype etype) {
  const hilo_comp c =
      hilo_comp_add(m, hilo_comp_fresh_name(m, hilo_module_string(m, HILO_STR("region"))));
  const hilo_type scalar = hilo_type_scalar(&m->types, etype);
  hilo_inst params[2];
  for (uint32_t k = 0; k < 2; k++) {
    const hilo_inst_desc desc = {.op = HILO_OP_PARAMETER, .type = scalar, .attr = k};
    params[k] = hilo_inst_add(m, c, &desc);
  }
  const hilo_inst_desc desc = {.op = op, .type = scalar, .operands = params, .n_operands = 2};
  hilo_comp_set_root(m, c, hilo_inst_add(m, c, &desc));
  return c;
}

hilo_inst hilo_build_reduce(hilo_module *m, hilo_inst at, hilo_op op, hilo_inst x, hilo_inst init,
                            hilo_dims dims) {
  const hilo_dims from = hilo_inst_dims(m, x);
  int64_t kept[HILO_MAX_RANK];
  uint32_t n = 0;
  for (uint32_t k = 0; k < from.n; k++)
    if (!hilo_dims_contain(dims, k)) kept[n++] = from.v[k];
  const hilo_etype etype = hilo_inst_etype(m, x);
  const hilo_comp body = hilo_build_reducer(m, op, etype);
  const hilo_inst_desc desc = {
      .op = HILO_OP_REDUCE,
      .type = hilo_type_array(&m->types, etype, (hilo_dims){kept, n}),
      .operands = (hilo_inst[]){x, init},
      .n_operands = 2,
      .attr = dims_attr(m, dims),
      .called = &body,
      .n_called = 1,
  };
  return hilo_inst_insert_before(m, at, &desc);
}

hilo_inst hilo_build_control_dep(hilo_module *m, hilo_inst at, const hilo_inst *preds, uint32_t n,
                                 hilo_inst data) {
  const hilo_custom_call_attrs attrs = {
      .target = hilo_module_string(m, HILO_STR(HILO_TARGET_CONTROL_DEP)),
      .has_side_effect = true,
      .api_version = 1,
      .feature_group_count = 1,
      .batch_group_count = 1};
  hilo_vec(hilo_inst) operands = {0};
  HILO_RESERVE(m->arena, &operands, n + 1);
  if (n) memcpy(operands.v, preds, n * sizeof(hilo_inst));
  operands.v[n] = data;
  const hilo_inst call = insert(m, at, HILO_OP_CUSTOM_CALL, type_of(m, data), operands.v, n + 1,
                                hilo_custom_call_put(&m->records, &attrs).ix);
  HILO_VEC_FREE(m->arena, &operands);
  return call;
}

hilo_inst hilo_build_copy(hilo_module *m, hilo_inst at, hilo_inst x) {
  return hilo_build_unary(m, at, HILO_OP_COPY, x);
}
