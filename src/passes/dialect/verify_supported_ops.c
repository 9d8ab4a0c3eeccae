/* 4 verify-supported-ops: everything in the program that has no Penguin form, or that the target
 * lacks, is refused here, all of it in one run, with the code that users know it by.
 *
 * support_table.c says what there is: operation × class, element type × target, custom-call
 * targets. What a table cannot say is in support_regions.c, support_bounds.c and support_targets.c,
 * and below. Limits of the target (8-bit floats, generators, dilations, integer top-k) are refused
 * unless both verifiers are switched off; integer dot, power, scatter and reductions are warnings.
 * A type that is refused is reported where it comes into the program, not at everything that
 * carries it on. The module is not changed. O(instructions). */
#include "analysis/custom_call.h"
#include "analysis/device.h"
#include "base/vec.h"
#include "passes/dialect/complex_parts.h"
#include "passes/dialect/fusion_kinds.h"
#include "passes/dialect/outputs.h"
#include "passes/dialect/support_checks.h"
#include "passes/passes.h"
#include "rewrite/loop_count.h"

void hilo_support_report(hilo_support_checker *c, hilo_diag_code code, hilo_inst i, const char *fmt,
                         ...) {
  hilo_sb text = hilo_sb_make(c->ctx->scratch);
  va_list args;
  va_start(args, fmt);
  hilo_sb_vprintf(&text, fmt, args);
  va_end(args);
  const hilo_status status =
      hilo_inst_error(c->m, c->ctx->diags, code, i, "%.*s", HILO_FMT(hilo_sb_view(&text)));
  hilo_sb_free(&text);
  if (status != HILO_OK) c->status = status;
}

static const char *name_of(const hilo_support_checker *c, hilo_inst i) {
  return hilo_op_get(hilo_inst_op(c->m, i))->hlo;
}

/* ---- the entry's signature ---- */

static bool holds_complex(const hilo_module *m, hilo_type type) {
  if (!hilo_type_is_tuple(&m->types, type))
    return hilo_etype_is_complex(hilo_type_etype(&m->types, type));
  for (uint32_t k = 0; k < hilo_type_n_elements_of_tuple(&m->types, type); k++)
    if (holds_complex(m, hilo_type_element(&m->types, type, k))) return true;
  return false;
}

static void check_dynamic_input(hilo_support_checker *c, uint32_t number, hilo_inst param) {
  const hilo_type_info info = hilo_type_get(&c->m->types, hilo_inst_type(c->m, param));
  if (!info.is_dynamic) return;
  uint32_t d = 0;
  while (info.dynamic && d < info.dims.n && !hilo_bitset_get(info.dynamic, d)) d++;
  hilo_support_report(c, HILO_DIAG_EMOD025, param,
                      "input tensor %u has dynamic shape: dimension %u", number, d);
}

static void check_signature(hilo_support_checker *c) {
  const hilo_module *m = c->m;
  for (uint32_t k = 0; k < hilo_comp_n_params(m, m->entry); k++) {
    const hilo_inst param = hilo_comp_param(m, m->entry, k);
    check_dynamic_input(c, k, param);
    if (holds_complex(m, hilo_inst_type(m, param)))
      hilo_support_report(c, HILO_DIAG_EVRF004, param, "parameter %u of the program is complex", k);
  }
  for (uint32_t k = 0; k < hilo_n_outputs(m); k++) {
    const hilo_inst value = hilo_output(m, k);
    if (holds_complex(m, hilo_inst_type(m, value)) && !hilo_inst_is(m, value, HILO_OP_PARAMETER))
      hilo_support_report(c, HILO_DIAG_EVRF004, value, "result %u of the program is complex", k);
  }
}

/* Inputs and outputs, those that share an input's buffer once. */
static void check_memory(hilo_support_checker *c) {
  const uint64_t device_bytes = HILO_DEVICE_BYTES;
  const hilo_module *m = c->m;
  uint64_t total = 0;
  bool fits = true;
  for (uint32_t k = 0; k < hilo_comp_n_params(m, m->entry); k++)
    fits &= hilo_add_u64(
        total, hilo_type_get(&m->types, hilo_inst_type(m, hilo_comp_param(m, m->entry, k))).bytes,
        &total);
  const uint64_t inputs = total;
  fits &= hilo_add_u64(total, hilo_type_get(&m->types, hilo_inst_type(m, hilo_entry_root(m))).bytes,
                       &total);
  for (uint32_t k = 0; fits && k < m->header.aliases.n; k++) {
    uint32_t output;
    if (!hilo_alias_output(m, &m->header.aliases.v[k], &output)) continue;
    const uint64_t bytes =
        hilo_type_get(&m->types, hilo_inst_type(m, hilo_output(m, output))).bytes;
    total -= bytes <= total - inputs ? bytes : total - inputs;
  }
  if (fits && total <= device_bytes) return;
  hilo_support_report(c, HILO_DIAG_EVRF009, hilo_entry_root(m),
                      "inputs and outputs take %llu bytes, a device has %llu",
                      (unsigned long long)(fits ? total : UINT64_MAX),
                      (unsigned long long)device_bytes);
}

/* ---- types ---- */

/* Does the type hold this element type? */
static bool holds_etype(const hilo_module *m, hilo_type type, hilo_etype etype) {
  if (!hilo_type_is_tuple(&m->types, type)) return hilo_type_etype(&m->types, type) == etype;
  for (uint32_t k = 0; k < hilo_type_n_elements_of_tuple(&m->types, type); k++)
    if (holds_etype(m, hilo_type_element(&m->types, type, k), etype)) return true;
  return false;
}

static bool comes_from_operand(const hilo_module *m, hilo_inst i, hilo_etype etype) {
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
    if (holds_etype(m, hilo_inst_type(m, hilo_inst_operand(m, i, k)), etype)) return true;
  return false;
}

static void check_leaf_type(hilo_support_checker *c, hilo_inst i, hilo_type type) {
  const hilo_module *m = c->m;
  const hilo_etype etype = hilo_type_etype(&m->types, type);
  if (etype == HILO_TUPLE) {
    for (uint32_t k = 0; k < hilo_type_n_elements_of_tuple(&m->types, type); k++)
      check_leaf_type(c, i, hilo_type_element(&m->types, type, k));
    return;
  }
  const hilo_type_support support = c->types[etype];
  if (!support.is_refused || (support.is_limit && !c->enforces_limits)) return;
  if (comes_from_operand(m, i, etype)) return;
  hilo_support_report(c, support.code, i, "%s dtype is not supported: `%s` brings it in",
                      hilo_etype_table[etype].hlo, name_of(c, i));
}

/* ---- operations ---- */

static void report_loop(hilo_support_checker *c, hilo_inst i) {
  hilo_trip_count count = hilo_loop_count_trips(c->m, i, HILO_MAX_SIMULATED_TRIPS, c->ctx->scratch);
  if (!count.reason) count.reason = "it is too long to be unrolled";
  hilo_sb text = hilo_sb_make(c->ctx->scratch);
  hilo_trip_count_describe(&count, &text);
  hilo_support_report(c, hilo_support_code(c, HILO_REFUSED_FORM), i,
                      "`while` is still a loop: %.*s", HILO_FMT(hilo_sb_view(&text)));
  hilo_sb_free(&text);
}

static void check_form(hilo_support_checker *c, hilo_inst i) {
  const hilo_spine_code async = {HILO_DIAG_PYP012, HILO_DIAG_ISPP012};
  switch ((hilo_form)hilo_support_of_op(hilo_inst_op(c->m, i))->form) {
  case HILO_FORM_PRINTED: return;
  case HILO_FORM_NO_OPERATOR:
    hilo_support_report(c, HILO_DIAG_EVRF001, i, "`%s` is not supported", name_of(c, i));
    return;
  case HILO_FORM_NONE:
    if (hilo_inst_is(c->m, i, HILO_OP_WHILE))
      report_loop(c, i);
    else
      hilo_support_report(c, hilo_support_code(c, HILO_REFUSED_FORM), i, "`%s` has no Penguin form",
                          name_of(c, i));
    return;
  case HILO_FORM_ASYNC:
    hilo_support_report(c, hilo_support_code(c, async), i,
                        "`%s` is half of an asynchronous operation: expected the synchronous form",
                        name_of(c, i));
    return;
  case HILO_FORM_COMPLEX:
    hilo_support_report(c, HILO_DIAG_EVRF004, i, "`%s` computes with complex numbers",
                        name_of(c, i));
    return;
  }
}

/* A scatter that overwrites copies integers as they are. */
static bool is_exempt(const hilo_module *m, hilo_inst i) {
  return hilo_inst_is(m, i, HILO_OP_SCATTER) &&
         hilo_inst_is(m, hilo_comp_root(m, hilo_inst_called(m, i, 0)), HILO_OP_PARAMETER);
}

static void check_class(hilo_support_checker *c, hilo_inst i) {
  const hilo_module *m = c->m;
  const hilo_op_support *support = hilo_support_of_op(hilo_inst_op(m, i));
  if (!support->classes || is_exempt(m, i)) return;
  const hilo_inst of = hilo_inst_n_operands(m, i) ? hilo_inst_operand(m, i, 0) : i;
  const hilo_etype etype = hilo_inst_etype(m, of);
  if (!(support->classes >> hilo_etype_class_of(etype) & 1)) return;
  if (support->is_limit && !c->enforces_limits) return;
  if (support->confirms & c->ctx->options->integer_downcast) return;
  hilo_support_report(c, support->class_code, i, "`%s` of %s", name_of(c, i),
                      hilo_etype_table[etype].hlo);
}

static void check_complex(hilo_support_checker *c, hilo_inst i) {
  const hilo_module *m = c->m;
  bool touches = holds_complex(m, hilo_inst_type(m, i));
  bool brings = touches;
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
    if (holds_complex(m, hilo_inst_type(m, hilo_inst_operand(m, i, k)))) {
      touches = true;
      brings = false;
    }
  if (!touches || hilo_inst_is(m, i, HILO_OP_PARAMETER)) return;
  if (hilo_support_of_op(hilo_inst_op(m, i))->form != HILO_FORM_PRINTED) return; /* reported */
  const hilo_pass_options *options = c->ctx->options;
  if (options->lower_complex_extra && hilo_complex_is_function(m, i)) return;
  const bool is_lowered = options->lower_complex || options->lower_complex_extra;
  if (is_lowered ? !hilo_complex_is_lowerable(m, i) : brings)
    hilo_support_report(c, HILO_DIAG_EVRF004, i, "`%s` of complex numbers cannot be lowered",
                        name_of(c, i));
}

static bool any_above_1(hilo_dims dims) {
  for (uint32_t d = 0; d < dims.n; d++)
    if (dims.v[d] > 1) return true;
  return false;
}

static void check_convolution(hilo_support_checker *c, hilo_inst i) {
  const hilo_window_attrs window =
      hilo_window_get(&c->m->records, hilo_attrs(c->m, i, conv).window);
  if (!c->enforces_limits || !any_above_1(window.base_dilation)) return;
  if (any_above_1(window.window_dilation))
    hilo_support_report(c, HILO_DIAG_EVRF010, i,
                        "`convolution` dilates its input (lhs_dilate) and its kernel (rhs_dilate)");
  if (any_above_1(window.stride))
    hilo_support_report(c, HILO_DIAG_EVRF011, i,
                        "`convolution` has a stride and dilates its input (lhs_dilate)");
}

static void check_generator(hilo_support_checker *c, hilo_inst i) {
  const int64_t algorithm = hilo_attrs(c->m, i, rng).algorithm;
  if (algorithm && c->enforces_limits)
    hilo_support_report(c, HILO_DIAG_EVRF006, i, "the algorithm is %s",
                        algorithm == 1 ? "rng_three_fry" : "rng_philox");
}

/* 26a shifts in s32; what it cannot bring there is refused. */
static void check_shift(hilo_support_checker *c, hilo_inst i) {
  const hilo_etype etype = hilo_inst_etype(c->m, i);
  const bool is_64 = etype == HILO_S64 || etype == HILO_U64;
  if (hilo_etype_table[etype].bits < 8 || (is_64 && c->ctx->options->native_int64))
    hilo_support_report(c, HILO_DIAG_EVRF022, i, "`shift-right-arithmetic` of %s",
                        hilo_etype_table[etype].hlo);
}

static void check_special(hilo_support_checker *c, hilo_inst i) {
  switch (hilo_inst_op(c->m, i)) {
  case HILO_OP_CUSTOM_CALL: hilo_support_check_custom_call(c, i); return;
  case HILO_OP_CONVOLUTION: check_convolution(c, i); return;
  case HILO_OP_RNG_BIT_GENERATOR: check_generator(c, i); return;
  case HILO_OP_SHIFT_RIGHT_ARITHMETIC: check_shift(c, i); return;
  case HILO_OP_SCATTER:
  case HILO_OP_GATHER: hilo_support_check_bounds(c, i); return;
  case HILO_OP_TOPK:
    if (!hilo_attrs(c->m, i, topk).largest)
      hilo_support_report(c, hilo_support_code(c, HILO_REFUSED_FORM), i,
                          "`topk` of the smallest has no Penguin form: negate the operand");
    return;
  case HILO_OP_GET_DIMENSION_SIZE:
    if (hilo_type_get(&c->m->types, hilo_inst_type(c->m, hilo_inst_operand(c->m, i, 0))).is_dynamic)
      hilo_support_report(c, hilo_support_code(c, HILO_REFUSED_FORM), i,
                          "`get-dimension-size` of a dynamic shape has no Penguin form");
    return;
  default: return;
  }
}

static void check_inst(hilo_support_checker *c, hilo_inst i) {
  check_form(c, i);
  check_class(c, i);
  check_complex(c, i);
  check_leaf_type(c, i, hilo_inst_type(c->m, i));
  check_special(c, i);
  if (!hilo_inst_n_called(c->m, i) || !hilo_inst_n_operands(c->m, i)) return;
  /* With complex operands the region is made anew. */
  if (!hilo_is_complex(c->m, hilo_inst_operand(c->m, i, 0))) hilo_support_check_region(c, i);
}

/* By name, as operations stand in ops.def. */
static void log_ops(const hilo_module *m, const hilo_pass_ctx *ctx) {
  if (!hilo_log_is_on(ctx->log, HILO_LEVEL_INFO)) return;
  bool *is_used = HILO_NEW_ZEROED(ctx->scratch, bool, HILO_OP_COUNT);
  HILO_FOR_EACH_COMP(m, c) { HILO_FOR_EACH_INST(m, c, i) is_used[hilo_inst_op(m, i)] = true; }
  hilo_sb sb = hilo_sb_make(ctx->scratch);
  for (uint16_t op = 1; op < HILO_OP_COUNT; op++)
    if (is_used[op]) hilo_sb_printf(&sb, " %s", hilo_op_name((hilo_op)op));
  HILO_LOG(ctx->log, INFO, "HLO Ops used in computation:%.*s", HILO_FMT(hilo_sb_view(&sb)));
  hilo_sb_free(&sb);
}

HILO_DECLARE_PASS(verify_supported_ops) {
  (void)changed;
  log_ops(m, ctx);
  hilo_support_checker c = {.m = m, .ctx = ctx, .status = HILO_OK};
  c.enforces_limits = ctx->options->verify_supported_ops || ctx->options->verify_hlo;
  for (int etype = 0; etype < HILO_ETYPE_COUNT; etype++)
    c.types[etype] = hilo_support_of_type((hilo_etype)etype, ctx->options);
  check_signature(&c);
  check_memory(&c);
  uint64_t *seen = hilo_bitset_create(ctx->scratch, hilo_module_n_comps(m));
  hilo_vec(hilo_comp) todo = {0};
  HILO_PUSH(ctx->scratch, &todo, m->entry);
  while (todo.n) {
    const hilo_comp comp = HILO_POP(&todo);
    HILO_FOR_EACH_INST(m, comp, i) {
      check_inst(&c, i);
      if (!hilo_inst_is(m, i, HILO_OP_FUSION)) continue;
      const hilo_spine_code code = {HILO_DIAG_PYP053, HILO_DIAG_ISPP054};
      /* Step 14a inlines others, which only the StableHLO list has. */
      if (!ctx->options->stablehlo &&
          !hilo_is_fusion_kind(hilo_string_of(m, hilo_attrs(m, i, fusion).kind)))
        hilo_support_report(&c, hilo_support_code(&c, code), i, "the fusion has the kind `%.*s`",
                            HILO_FMT(hilo_string_of(m, hilo_attrs(m, i, fusion).kind)));
      else if (hilo_bitset_insert(seen, hilo_comp_ix(m, hilo_inst_called(m, i, 0))))
        HILO_PUSH(ctx->scratch, &todo, hilo_inst_called(m, i, 0));
    }
  }
  HILO_VEC_FREE(ctx->scratch, &todo);
  return c.status;
}
