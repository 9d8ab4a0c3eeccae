/* 27 canonicalize-for-penguin: rewriters over the entry, once each, in this order.
 *
 *   27.1  sort(x, iota) along the iota's dimension, compared by x alone: an implicit iota
 *   27.2  get-tuple-element(tuple(a…), i) is a_i; tuples left without users go
 *   27.3  get-dimension-size of a static dimension is a constant of its own type
 *   27.4  convert(constant) is a constant
 *   27.5  AwsNeuronErf with a strange backend_config gets "None"
 *   27.6  ResizeNearestGrad is the sum over each window (the adjoint of nearest upsampling)
 *   27.8  a small broadcast of a constant is a constant
 *   27.9  pure operations with zero-element results that nothing uses go
 *
 * 27.7 turns broadcasts by leading sizes into broadcast_in_dim; here every broadcast is one, the
 * readers see to that. What a rewriter leaves the printer or step 4 deals with: a dynamic dimension
 * is never folded to its bound. O(anchors + elements written). */
#include "analysis/custom_call.h"
#include "analysis/region.h"
#include "base/vec.h"
#include "ir/implicit_iota.h"
#include "passes/dialect/constant_fold.h"
#include "passes/dialect/resize.h"
#include "passes/frontend.h"
#include "passes/passes.h"
#include "rewrite/build.h"
#include "rewrite/neuron_attrs.h"
#include "rewrite/replace.h"

enum { MAX_DENSE_BYTES = 64 << 20 };

typedef struct {
  hilo_module *m;
  hilo_pass_ctx *ctx;
  bool changed;
} rewriter;

static void done(rewriter *r, bool replaced) {
  r->ctx->n_matched++;
  if (!replaced) return;
  r->ctx->n_rewritten++;
  r->changed = true;
}

/* A constant goes with its last user. */
static void drop_dead_source(hilo_module *m, hilo_inst source) {
  if (!hilo_inst_has_uses(m, source) && !hilo_inst_is_root(m, source)) hilo_erase(m, source);
}

/* ---- 27.1 ---- */

/* Nothing reads the last two parameters of the comparator, those of the iota. */
static bool compares_first_only(const hilo_module *m, hilo_comp comparator, hilo_sort_keys *keys) {
  if (hilo_region_sort_keys(m, comparator, keys) != HILO_KEYS_OK) return false;
  if (keys->n != 1 || keys->v[0].operand != 0) return false;
  for (uint32_t k = 2; k < 4; k++) {
    const hilo_inst param = hilo_comp_param(m, comparator, k);
    if (hilo_inst_has_uses(m, param) || hilo_inst_is_root(m, param)) return false;
  }
  return true;
}

static bool sorts_iota(const hilo_module *m, hilo_inst i, hilo_sort_keys *keys) {
  if (!hilo_inst_is(m, i, HILO_OP_SORT) || hilo_inst_n_operands(m, i) != 2) return false;
  const hilo_inst iota = hilo_inst_operand(m, i, 1);
  return hilo_inst_is(m, iota, HILO_OP_IOTA) &&
         hilo_inst_index(m, iota) == hilo_attrs(m, i, sort).dimension &&
         !hilo_neuron_of_inst(m, i).no_opt.ix &&
         compares_first_only(m, hilo_inst_called(m, i, 0), keys);
}

static void fuse_iota_sorts(rewriter *r) {
  hilo_module *m = r->m;
  hilo_sort_keys *keys = HILO_NEW(r->ctx->scratch, hilo_sort_keys);
  HILO_FOR_EACH_INST_SAFE(m, m->entry, i) {
    if (!sorts_iota(m, i, keys)) continue;
    const hilo_inst data = hilo_inst_operand(m, i, 0), iota = hilo_inst_operand(m, i, 1);
    const hilo_comp comparator = hilo_inst_own_called(m, i, 0);
    for (uint32_t k = 4; k-- > 2;) hilo_inst_erase(m, hilo_comp_param(m, comparator, k));
    hilo_inst_set_operands(m, i, &data, 1);
    hilo_extra_attrs extra = hilo_inst_extra(m, i);
    extra.frontend = hilo_frontend_set(m, extra.frontend, HILO_IMPLICIT_IOTA, "true");
    hilo_inst_set_extra(m, i, &extra);
    drop_dead_source(m, iota);
    done(r, true);
  }
}

/* ---- 27.2 ---- */

static void fold_tuple_elements(rewriter *r) {
  hilo_module *m = r->m;
  HILO_FOR_EACH_INST_SAFE(m, m->entry, i) {
    if (!hilo_inst_is(m, i, HILO_OP_GET_TUPLE_ELEMENT)) continue;
    const hilo_inst tuple = hilo_inst_operand(m, i, 0);
    if (!hilo_inst_is(m, tuple, HILO_OP_TUPLE)) continue;
    done(r, hilo_replace_with_existing(m, i, hilo_inst_operand(m, tuple, hilo_inst_index(m, i))));
  }
  for (hilo_inst i = hilo_comp_last(m, m->entry), before; i.ix; i = before) {
    before = hilo_inst_prev(m, i);
    if (hilo_inst_is(m, i, HILO_OP_TUPLE) && !hilo_inst_has_uses(m, i) && !hilo_inst_is_root(m, i))
      done(r, hilo_erase(m, i));
  }
}

/* ---- 27.3 ---- */

static void fold_dimension_sizes(rewriter *r) {
  hilo_module *m = r->m;
  HILO_FOR_EACH_INST_SAFE(m, m->entry, i) {
    if (!hilo_inst_is(m, i, HILO_OP_GET_DIMENSION_SIZE)) continue;
    const uint32_t d = hilo_inst_index(m, i);
    const hilo_type_info info =
        hilo_type_get(&m->types, hilo_inst_type(m, hilo_inst_operand(m, i, 0)));
    if (d >= info.dims.n || (info.dynamic && hilo_bitset_get(info.dynamic, d))) continue;
    const hilo_inst size = hilo_build_splat_int(m, i, hilo_inst_type(m, i), info.dims.v[d]);
    done(r, hilo_replace_with_fresh(m, i, size));
  }
}

/* ---- 27.4, 27.8 ---- */

static hilo_inst insert_constant(hilo_module *m, hilo_inst at, hilo_type type,
                                 hilo_literal literal) {
  const hilo_inst_desc desc = {.op = HILO_OP_CONSTANT, .type = type, .attr = literal.ix};
  return hilo_inst_insert_before(m, at, &desc);
}

static void replace_by_constant(rewriter *r, hilo_inst i, hilo_literal literal) {
  hilo_module *m = r->m;
  const hilo_inst source = hilo_inst_operand(m, i, 0);
  done(r, hilo_replace_with_fresh(m, i, insert_constant(m, i, hilo_inst_type(m, i), literal)));
  drop_dead_source(m, source);
}

static void fold_converts(rewriter *r) {
  hilo_module *m = r->m;
  HILO_FOR_EACH_INST_SAFE(m, m->entry, i) {
    if (!hilo_inst_is(m, i, HILO_OP_CONVERT)) continue;
    const hilo_inst source = hilo_inst_operand(m, i, 0);
    if (!hilo_inst_is(m, source, HILO_OP_CONSTANT)) continue;
    const hilo_literal literal = hilo_literal_convert(m, hilo_inst_literal(m, source),
                                                      hilo_inst_type(m, i), MAX_DENSE_BYTES);
    if (literal.ix) replace_by_constant(r, i, literal);
  }
}

/* A splat that step 28 would split into scalar and broadcast again stays a broadcast. */
static bool may_fold_broadcast(const rewriter *r, hilo_inst i) {
  const hilo_module *m = r->m;
  const hilo_pass_options *options = r->ctx->options;
  const hilo_type_row *row = hilo_type_row_of(&m->types, hilo_inst_type(m, i));
  if (row->flags & HILO_TYPE_DYNAMIC) return false;
  if (row->n_elements > (uint64_t)options->broadcast_num_elements_to_fold) return false;
  const hilo_literal_row *literal =
      hilo_literal_get(m, hilo_inst_literal(m, hilo_inst_operand(m, i, 0)));
  return literal->kind != HILO_LITERAL_SPLAT ||
         row->bytes <= (uint64_t)options->constant_decomposition_threshold;
}

static void fold_broadcasts(rewriter *r) {
  hilo_module *m = r->m;
  if (r->ctx->options->broadcast_num_elements_to_fold < 0) return;
  HILO_FOR_EACH_INST_SAFE(m, m->entry, i) {
    if (!hilo_inst_is(m, i, HILO_OP_BROADCAST) ||
        !hilo_inst_is(m, hilo_inst_operand(m, i, 0), HILO_OP_CONSTANT) || !may_fold_broadcast(r, i))
      continue;
    const hilo_literal literal =
        hilo_literal_broadcast(m, hilo_inst_literal(m, hilo_inst_operand(m, i, 0)),
                               hilo_inst_type(m, i), hilo_attrs(m, i, dims).dims);
    if (literal.ix) replace_by_constant(r, i, literal);
  }
}

/* ---- 27.5 ---- */

static bool is_plain(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '"';
}

static bool is_strange(hilo_str config) {
  for (size_t k = 0; k < config.n; k++)
    if (!is_plain(config.p[k])) return true;
  return false;
}

static void legalize_backend_configs(rewriter *r) {
  hilo_module *m = r->m;
  HILO_FOR_EACH_INST(m, m->entry, i) {
    if (!hilo_is_custom_call_to(m, i, "AwsNeuronErf")) continue;
    hilo_extra_attrs extra = hilo_inst_extra(m, i);
    const hilo_str config = hilo_string_of(m, extra.backend_config);
    if (!is_strange(config)) continue;
    (void)hilo_inst_error(m, r->ctx->diags, HILO_DIAG_EMOD911, i,
                          "the backend_config `%.*s` of AwsNeuronErf is replaced by `None`",
                          HILO_FMT(config));
    extra.backend_config = hilo_module_string(m, HILO_STR("None"));
    hilo_inst_set_extra(m, i, &extra);
    hilo_custom_call_attrs attrs = hilo_attrs(m, i, custom_call);
    attrs.has_side_effect = false;
    hilo_inst_set_attr(m, i, hilo_custom_call_put(&m->records, &attrs).ix);
    done(r, true);
  }
}

/* ---- 27.6 ---- */

static void lower_resize_gradients(rewriter *r) {
  hilo_module *m = r->m;
  HILO_FOR_EACH_INST_SAFE(m, m->entry, i) {
    if (!hilo_is_custom_call_to(m, i, HILO_TARGET_RESIZE_NEAREST_GRAD)) continue;
    if (hilo_resize_gradient_fault(m, i, r->ctx->scratch).n) continue;
    done(r, hilo_replace_with_fresh(m, i, hilo_resize_gradient_lower(m, i, r->ctx->scratch)));
  }
}

/* ---- 27.9 ---- */

static void drop_empty(rewriter *r) {
  hilo_module *m = r->m;
  for (hilo_inst i = hilo_comp_last(m, m->entry), before; i.ix; i = before) {
    before = hilo_inst_prev(m, i);
    if (hilo_inst_has_uses(m, i) || hilo_inst_is_root(m, i)) continue;
    const hilo_type type = hilo_inst_type(m, i);
    const bool is_pure = hilo_inst_has(m, i, HILO_TRAIT_PURE | HILO_TRAIT_ELEMENTWISE) &&
                         !hilo_inst_is(m, i, HILO_OP_PARAMETER);
    if (is_pure && hilo_type_is_array(&m->types, type) &&
        hilo_type_row_of(&m->types, type)->n_elements == 0)
      done(r, hilo_erase(m, i));
  }
}

HILO_DECLARE_PASS(canonicalize_for_penguin) {
  rewriter r = {m, ctx, false};
  fuse_iota_sorts(&r);
  fold_tuple_elements(&r);
  fold_dimension_sizes(&r);
  fold_converts(&r);
  legalize_backend_configs(&r);
  lower_resize_gradients(&r);
  fold_broadcasts(&r);
  if (ctx->options->stablehlo) drop_empty(&r);
  *changed |= r.changed;
  return HILO_OK;
}
