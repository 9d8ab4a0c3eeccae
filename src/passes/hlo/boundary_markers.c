/* #30 canonicalize-boundary-marker and #31 boundary-marker-removal, over the entry computation.
 *
 * Markers are identities around layers. Canonical form: a marker of several operands takes one
 * tuple of them. Removal: a marker on a tuple instruction gives each get-tuple-element user its
 * operand of the tuple; any other marker gives its operand. */
#include "analysis/custom_call.h"
#include "passes/passes.h"
#include "rewrite/build.h"
#include "rewrite/replace.h"

enum { API_VERSION_ORIGINAL = 1 };

static void canonicalize(hilo_module *m, hilo_inst marker, hilo_arena *scratch) {
  const uint32_t n = hilo_inst_n_operands(m, marker);
  hilo_inst *operands = HILO_NEW_ARRAY(scratch, hilo_inst, n);
  for (uint32_t k = 0; k < n; k++) operands[k] = hilo_inst_operand(m, marker, k);
  const hilo_inst tuple = hilo_build_tuple(m, marker, operands, n);
  hilo_inst_set_meta(m, tuple, hilo_inst_meta_record(m, marker));
  hilo_custom_call_attrs attrs = hilo_attrs(m, marker, custom_call);
  attrs.api_version = API_VERSION_ORIGINAL;
  attrs.constrain_layout = false;
  attrs.operand_types = HILO_DIMS_NONE;
  hilo_inst_set_attr(m, marker, hilo_custom_call_put(&m->records, &attrs).ix);
  hilo_inst_set_operands(m, marker, &tuple, 1);
}

HILO_DECLARE_PASS(canonicalize_boundary_marker) {
  if (!hilo_module_has_op(m, HILO_OP_CUSTOM_CALL)) return HILO_OK;
  HILO_FOR_EACH_INST(m, m->entry, i) {
    if (!hilo_is_marker(m, i) || hilo_inst_n_operands(m, i) < 2) continue;
    if (hilo_type_is_tuple(&m->types, hilo_inst_type(m, hilo_inst_operand(m, i, 0)))) continue;
    ctx->n_matched++;
    canonicalize(m, i, ctx->scratch);
    ctx->n_rewritten++;
    *changed = true;
  }
  return HILO_OK;
}

/* Every user reads an element; reports those that don't. The root counts as such a user's opposite:
 * it can take a tuple. */
static hilo_status check_users(const hilo_module *m, hilo_inst marker, hilo_diags *diags) {
  hilo_status status = HILO_OK;
  for (hilo_use u = hilo_first_use(m, marker); u.slot; u = hilo_next_use(m, u)) {
    const hilo_inst user = hilo_use_user(m, u);
    if (hilo_inst_is(m, user, HILO_OP_GET_TUPLE_ELEMENT)) continue;
    const hilo_str name = hilo_inst_name_text(m, user, diags->arena);
    status = hilo_inst_error(m, diags, HILO_DIAG_ITUP001, marker,
                             "the tuple of a boundary marker is used by `%.*s` (%s); only "
                             "get-tuple-element may use it",
                             HILO_FMT(name), hilo_op_get(hilo_inst_op(m, user))->hlo);
  }
  return status;
}

static hilo_status remove_from_tuple(hilo_module *m, hilo_inst marker, hilo_inst tuple,
                                     hilo_pass_ctx *ctx, bool *changed) {
  HILO_TRY(check_users(m, marker, ctx->diags));
  hilo_vec(hilo_inst) users = {0};
  for (hilo_use u = hilo_first_use(m, marker); u.slot; u = hilo_next_use(m, u))
    HILO_PUSH(ctx->scratch, &users, hilo_use_user(m, u));
  for (uint32_t k = 0; k < users.n; k++) {
    const hilo_inst element = users.v[k];
    *changed |= hilo_replace_with_existing(
        m, element, hilo_inst_operand(m, tuple, hilo_inst_index(m, element)));
  }
  HILO_VEC_FREE(ctx->scratch, &users);
  if (hilo_inst_has_uses(m, marker)) return HILO_OK;
  const bool done = hilo_inst_is_root(m, marker) ? hilo_replace_with_existing(m, marker, tuple)
                                                 : hilo_erase(m, marker);
  if (done && !hilo_inst_has_uses(m, tuple) && !hilo_inst_is_root(m, tuple)) hilo_erase(m, tuple);
  *changed |= done;
  return HILO_OK;
}

HILO_DECLARE_PASS(boundary_marker_removal) {
  if (!hilo_module_has_op(m, HILO_OP_CUSTOM_CALL)) return HILO_OK;
  hilo_vec(hilo_inst) markers = {0};
  HILO_FOR_EACH_INST(m, m->entry, i) {
    if (hilo_is_marker(m, i) && hilo_inst_n_operands(m, i) == 1)
      HILO_PUSH(ctx->scratch, &markers, i);
  }
  hilo_status status = HILO_OK;
  for (uint32_t k = 0; k < markers.n; k++) {
    const hilo_inst marker = markers.v[k], operand = hilo_inst_operand(m, marker, 0);
    ctx->n_matched++;
    hilo_status one = HILO_OK;
    if (hilo_inst_is(m, operand, HILO_OP_TUPLE))
      one = remove_from_tuple(m, marker, operand, ctx, changed);
    else
      *changed |= hilo_replace_with_existing(m, marker, operand);
    if (one != HILO_OK)
      status = one;
    else
      ctx->n_rewritten++;
  }
  HILO_VEC_FREE(ctx->scratch, &markers);
  return status;
}
