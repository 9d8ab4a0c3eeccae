/* #52 inject-numerical-errors: for debugging, a small number is added to the values that
 * --numerical-error-targets names, so that one sees whether a comparison finds it.
 *
 *   t = f32[4] …   =>   t.inj_error = f32[4] add(t, broadcast(0.01)), and whoever read t reads that
 *
 * Targets are `name` or `name=value`; arrays of real numbers and integers only, to which the value
 * is rounded. Linear in the module, by a search among the sorted targets. */
#include <math.h>
#include <stdlib.h>

#include "passes/passes.h"
#include "rewrite/build.h"

typedef struct {
  hilo_str name;
  double value;
} target;

static int by_name(const void *a, const void *b) {
  return hilo_str_compare(((const target *)a)->name, ((const target *)b)->name);
}

static hilo_status read_targets(hilo_pass_ctx *ctx, target *out) {
  const hilo_pass_options *o = ctx->options;
  hilo_status status = HILO_OK;
  for (uint32_t k = 0; k < o->n_error_targets; k++) {
    const hilo_str word = o->error_targets[k];
    const char *equals = memchr(word.p, '=', word.n);
    out[k] = (target){{word.p, equals ? (size_t)(equals - word.p) : word.n}, 0.01};
    if (!equals) continue;
    char *end;
    const hilo_str number = hilo_str_copy(
        ctx->scratch, (hilo_str){equals + 1, word.n - out[k].name.n - 1}); /* ends in NUL */
    out[k].value = strtod(number.p, &end);
    if (end == number.p || *end || !(fabs(out[k].value) < 0x1p62)) /* not a number either */
      status = hilo_diag_add(ctx->diags, HILO_DIAG_EARG001, NULL,
                             "--numerical-error-targets has `%.*s`; it can be NAME or NAME=NUMBER",
                             HILO_FMT(word));
  }
  qsort(out, o->n_error_targets, sizeof(*out), by_name);
  return status;
}

static bool takes_errors(const hilo_module *m, hilo_inst i) {
  if (!hilo_type_is_array(&m->types, hilo_inst_type(m, i))) return false;
  const hilo_etype etype = hilo_inst_etype(m, i);
  return hilo_etype_is_float(etype) || hilo_etype_is_integer(etype);
}

static void inject(hilo_module *m, hilo_inst i, const target *t, hilo_arena *scratch) {
  const hilo_type type = hilo_inst_type(m, i);
  const hilo_type scalar = hilo_type_scalar(&m->types, hilo_type_etype(&m->types, type));
  hilo_sb name = hilo_sb_make(scratch);
  hilo_sb_printf(&name, "%.*s.inj_error", HILO_FMT(t->name));
  const bool is_float = hilo_etype_is_float(hilo_type_etype(&m->types, type));
  const hilo_inst constant = is_float ? hilo_build_splat_float(m, i, scalar, t->value)
                                      : hilo_build_splat_int(m, i, scalar, (int64_t)t->value);
  hilo_inst error = constant;
  if (!hilo_type_eq(scalar, type))
    error = hilo_build_broadcast(m, i, constant, type, HILO_DIMS_NONE);
  const hilo_inst operands[] = {i, error};
  const hilo_inst_desc desc = {
      .op = HILO_OP_ADD,
      .type = type,
      .operands = operands,
      .n_operands = 2,
      .meta = hilo_inst_meta_record(m, i),
      .name = hilo_inst_fresh_name(m, hilo_module_string(m, hilo_sb_view(&name)))};
  const hilo_inst next = hilo_inst_next(m, i);
  const hilo_inst sum = next.ix ? hilo_inst_insert_before(m, next, &desc)
                                : hilo_inst_add(m, hilo_inst_comp(m, i), &desc);
  hilo_inst_replace_uses(m, i, sum);
  hilo_inst_set_operand(m, sum, 0, i);
}

static uint32_t inject_all(hilo_module *m, hilo_comp c, const target *targets, uint32_t n,
                           hilo_arena *scratch) {
  uint32_t n_modified = 0;
  HILO_FOR_EACH_INST_SAFE(m, c, i) {
    const target key = {.name = hilo_inst_name_text(m, i, scratch)};
    const target *found = bsearch(&key, targets, n, sizeof(*targets), by_name);
    if (!found || !takes_errors(m, i)) continue;
    inject(m, i, found, scratch);
    n_modified++;
  }
  return n_modified;
}

HILO_DECLARE_PASS(inject_numerical_errors) {
  const uint32_t n = ctx->options->n_error_targets;
  if (!n) {
    HILO_LOG(ctx->log, WARNING, "No targets specified.");
    return HILO_OK;
  }
  target *targets = HILO_NEW_ARRAY(ctx->scratch, target, n);
  HILO_TRY(read_targets(ctx, targets));
  HILO_FOR_EACH_COMP(m, c) {
    if (!(hilo_comp_get(m, c)->flags & HILO_COMP_FUSION))
      ctx->n_rewritten += inject_all(m, c, targets, n, ctx->scratch);
  }
  ctx->n_matched = n;
  HILO_LOG(ctx->log, WARNING, "Modified %u", ctx->n_rewritten);
  *changed = ctx->n_rewritten != 0;
  return HILO_OK;
}
