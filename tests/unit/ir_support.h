/* Building small modules in tests: types from their text, computations by their signature. */
#ifndef HILO_TESTS_IR_SUPPORT_H
#define HILO_TESTS_IR_SUPPORT_H

#include "ir/module.h"
#include "test_support.h"

static inline hilo_type parse_type_at(hilo_module *m, const char **p);

/* `f32[2,<=3]`, `(f32[], token[])`, `?` for an unbounded size. */
static inline hilo_type type_of(hilo_module *m, const char *text) {
  const char *p = text;
  const hilo_type t = parse_type_at(m, &p);
  assert_int_equal(*p, 0);
  return t;
}

static inline hilo_type parse_tuple_at(hilo_module *m, const char **p) {
  hilo_type elements[16];
  uint32_t n = 0;
  for ((*p)++; **p != ')';) {
    assert_true(n < 16);
    elements[n++] = parse_type_at(m, p);
    while (**p == ',' || **p == ' ') (*p)++;
  }
  (*p)++;
  return hilo_type_tuple(&m->types, elements, n);
}

static inline hilo_type parse_type_at(hilo_module *m, const char **p) {
  if (**p == '(') return parse_tuple_at(m, p);
  const char *end = strchr(*p, '[');
  assert_non_null(end);
  const hilo_str name = {*p, (size_t)(end - *p)};
  int64_t dims[HILO_MAX_RANK];
  uint64_t dynamic = 0;
  uint32_t n = 0;
  for (*p = end + 1; **p != ']'; n++) {
    if (**p == ',') (*p)++;
    if (**p == '<') *p += 2, dynamic |= 1ull << n;
    if (**p == '?') {
      (*p)++, dims[n] = HILO_UNBOUNDED;
    } else {
      char *after;
      dims[n] = strtoll(*p, &after, 10);
      *p = after;
    }
  }
  (*p)++;
  if (hilo_str_is(name, "token")) return hilo_type_token(&m->types);
  const hilo_etype etype = hilo_etype_from_hlo(name);
  assert_int_not_equal(etype, HILO_INVALID);
  return hilo_type_array_full(&m->types, etype, (hilo_dims){dims, n}, &dynamic, HILO_RECORD_NONE);
}

static inline hilo_inst add_inst(hilo_module *m, hilo_comp c, hilo_op op, const char *type,
                                 uint32_t attr, const hilo_inst *operands, uint32_t n) {
  const hilo_inst_desc desc = {
      .op = op, .type = type_of(m, type), .operands = operands, .n_operands = n, .attr = attr};
  return hilo_inst_add(m, c, &desc);
}

/* A computation that takes and gives these types: the root is a custom call. `signature` is
 * `f32[] f32[] -> pred[]`; no blanks within a type. */
static inline hilo_comp comp_of(hilo_module *m, const char *signature) {
  const hilo_comp c =
      hilo_comp_add(m, hilo_comp_fresh_name(m, hilo_module_string(m, HILO_STR("f"))));
  const hilo_custom_call_attrs call = {.target = hilo_module_string(m, HILO_STR("anything"))};
  uint32_t n = 0;
  const char *p = signature;
  hilo_inst params[32];
  while (*p != '-') {
    const hilo_inst_desc desc = {.op = HILO_OP_PARAMETER, .type = parse_type_at(m, &p), .attr = n};
    assert_true(n < 32);
    params[n++] = hilo_inst_add(m, c, &desc);
    while (*p == ' ') p++;
  }
  const hilo_inst_desc root = {.op = HILO_OP_CUSTOM_CALL,
                               .type = type_of(m, p + 3),
                               .operands = params,
                               .n_operands = n,
                               .attr = hilo_custom_call_put(&m->records, &call).ix};
  hilo_comp_set_root(m, c, hilo_inst_add(m, c, &root));
  return c;
}

#endif
