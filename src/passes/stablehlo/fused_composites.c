#include "passes/stablehlo/fused_composites.h"

#include "passes/dialect/fusion_kinds.h"
#include "passes/stablehlo/marks.h"
#include "rewrite/replace.h"

static const char composite_key[] = "CompositeKind", fusion_key[] = "FusionKind";

static bool has_known_kind(const hilo_module *m, hilo_inst i) {
  return hilo_inst_is(m, i, HILO_OP_FUSION) &&
         !hilo_attrs(m, i, fusion).output_operand_aliasing.n &&
         hilo_is_fusion_kind(hilo_string_of(m, hilo_attrs(m, i, fusion).kind));
}

static void mark_kind(hilo_module *m, hilo_inst i, const char *key, hilo_str kind) {
  hilo_sb sb = hilo_sb_make(m->arena);
  hilo_sb_printf(&sb, "\"%.*s\"", HILO_FMT(kind));
  hilo_mark_add(m, i, key, hilo_sb_view(&sb));
  hilo_sb_free(&sb);
}

/* `i` as another operation that calls `body`, before it. */
static hilo_inst in_form(hilo_module *m, hilo_inst i, hilo_op op, uint32_t attr, hilo_comp body) {
  const uint32_t n = hilo_inst_n_operands(m, i);
  hilo_inst *operands = HILO_NEW_ARRAY(m->arena, hilo_inst, n + 1);
  for (uint32_t k = 0; k < n; k++) operands[k] = hilo_inst_operand(m, i, k);
  const hilo_inst_desc desc = {.op = op,
                               .type = hilo_inst_type(m, i),
                               .operands = operands,
                               .n_operands = n,
                               .attr = attr,
                               .called = &body,
                               .n_called = 1,
                               .meta = hilo_inst_meta_record(m, i),
                               .extra = hilo_inst_extra_record(m, i)};
  return hilo_inst_insert_before(m, i, &desc);
}

/* ---- writing ---- */

static void name_body(hilo_module *m, hilo_comp body, uint32_t number) {
  hilo_sb sb = hilo_sb_make(m->arena);
  hilo_sb_printf(&sb, "hilo.genComposite.%u", number);
  hilo_comp_set_name(m, body, hilo_comp_fresh_name(m, hilo_module_string(m, hilo_sb_view(&sb))));
  hilo_sb_free(&sb);
  const hilo_func_attrs func = {
      .attributes = hilo_module_string(m, HILO_STR("genComposite = true, noDelete = true"))};
  hilo_comp_row *row = &m->comp.v[hilo_comp_ix(m, body)];
  row->flags &= ~(uint32_t)HILO_COMP_FUSION;
  row->func = hilo_func_put(&m->records, &func).ix;
}

void hilo_fusions_to_composites(hilo_module *m) {
  const hilo_composite_attrs attrs = {.name = hilo_module_string(m, HILO_STR("composite.Fused"))};
  uint32_t number = 0;
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST_SAFE(m, c, i) {
      if (!has_known_kind(m, i)) continue;
      const hilo_comp body = hilo_inst_own_called(m, i, 0);
      mark_kind(m, i, composite_key, hilo_string_of(m, hilo_attrs(m, i, fusion).kind));
      const uint32_t attr = hilo_composite_put(&m->records, &attrs).ix;
      const hilo_inst composite = in_form(m, i, HILO_OP_COMPOSITE, attr, body);
      (void)hilo_replace_with_fresh(m, i, composite);
      name_body(m, body, number++);
    }
  }
}

void hilo_fusions_to_mhlo(hilo_module *m) {
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      if (!has_known_kind(m, i)) continue;
      mark_kind(m, i, fusion_key, hilo_string_of(m, hilo_attrs(m, i, fusion).kind));
      hilo_inst_set_attr(m, i, 0);
    }
  }
}

/* ---- reading ---- */

/* The kind that the attributes name, without quotes; p NULL: none that is known. */
static hilo_str marked_kind(const hilo_module *m, hilo_inst i, const char *key) {
  const hilo_str mark = hilo_mark_find(m, i, key);
  const char *open = mark.n ? memchr(mark.p, '"', mark.n) : NULL;
  const char *close = open ? memchr(open + 1, '"', (size_t)(mark.p + mark.n - open - 1)) : NULL;
  const hilo_str kind = close ? (hilo_str){open + 1, (size_t)(close - open - 1)} : (hilo_str){0};
  return hilo_is_fusion_kind(kind) ? kind : (hilo_str){0};
}

/* The root of a fused computation has no users in it. */
static void free_root(hilo_module *m, hilo_comp body) {
  const hilo_inst root = hilo_comp_root(m, body);
  if (!hilo_inst_has_uses(m, root)) return;
  const hilo_inst_desc desc = {.op = HILO_OP_COPY,
                               .type = hilo_inst_type(m, root),
                               .operands = &root,
                               .n_operands = 1,
                               .meta = hilo_inst_meta_record(m, root)};
  hilo_comp_set_root(m, body, hilo_inst_add(m, body, &desc));
}

hilo_inst hilo_fusion_restore(hilo_module *m, hilo_inst i) {
  const bool is_composite = hilo_inst_is(m, i, HILO_OP_COMPOSITE);
  if (!is_composite && !hilo_inst_is(m, i, HILO_OP_FUSION)) return HILO_INST_NONE;
  const hilo_str kind = marked_kind(m, i, is_composite ? composite_key : fusion_key);
  if (!kind.p || (is_composite && hilo_inst_n_called(m, i) != 1)) return HILO_INST_NONE;
  const hilo_fusion_attrs attrs = {.kind = hilo_module_string(m, kind)};
  const uint32_t attr = hilo_fusion_put(&m->records, &attrs).ix;
  if (!is_composite) {
    hilo_inst_set_attr(m, i, attr);
    return i;
  }
  const hilo_comp body = hilo_inst_own_called(m, i, 0);
  const hilo_inst fusion = in_form(m, i, HILO_OP_FUSION, attr, body);
  m->comp.v[hilo_comp_ix(m, body)].flags |= HILO_COMP_FUSION;
  free_root(m, body);
  return fusion;
}
