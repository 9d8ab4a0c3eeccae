/* The dictionary of attributes behind an operation: what its operation has no other place for, and
 * what any instruction may carry. Entries are collected, sorted by name and printed. */
#include "ir/print/mlir_print_impl.h"

hilo_sb *mlir_dict_add(mlir_printer *p, hilo_str key) {
  if (p->n_dict) p->dict[p->n_dict - 1].n = p->tmp.n - p->dict[p->n_dict - 1].at;
  HILO_CHECK(p->n_dict < MLIR_DICT_MAX);
  p->dict[p->n_dict++] = (mlir_dict_item){key, p->tmp.n, 0};
  return &p->tmp;
}

void mlir_dict_print(mlir_printer *p, const char *open) {
  if (!p->n_dict) return;
  p->dict[p->n_dict - 1].n = p->tmp.n - p->dict[p->n_dict - 1].at;
  for (uint32_t k = 1; k < p->n_dict; k++) {
    const mlir_dict_item item = p->dict[k];
    uint32_t at = k;
    for (; at && hilo_str_compare(item.key, p->dict[at - 1].key) < 0; at--)
      p->dict[at] = p->dict[at - 1];
    p->dict[at] = item;
  }
  hilo_sb_cat(p->out, open);
  for (uint32_t k = 0; k < p->n_dict; k++) {
    if (k) PRINT(p->out, ", ");
    hilo_mlir_print_identifier(p->dict[k].key, p->out);
    if (!p->dict[k].n) continue; /* a unit attribute */
    PRINT(p->out, " = ");
    hilo_sb_bytes(p->out, p->tmp.p + p->dict[k].at, p->dict[k].n);
  }
  hilo_sb_char(p->out, '}');
  p->n_dict = 0;
  hilo_sb_clear(&p->tmp);
}

bool mlir_has_extra(const mlir_printer *p, hilo_inst i) {
  const uint32_t ix = hilo_ix(p->m, i);
  return p->m->inst.extra[ix] ||
         hilo_type_row_of(&p->m->types, (hilo_type){p->m->inst.type[ix]})->bare;
}

void mlir_print_sharding_text(mlir_printer *p, hilo_record sharding, hilo_record spelling,
                              hilo_sb *out) {
  hilo_sb text = hilo_sb_make(p->scratch);
  hilo_hlo_print_sharding(p->m, sharding, spelling, &text);
  hilo_mlir_print_string(hilo_sb_view(&text), out);
  hilo_sb_free(&text);
}

void mlir_dict_add_frontend(mlir_printer *p, hilo_record frontend) {
  const hilo_dims kv = hilo_string_map_get(&p->m->records, frontend).kv;
  hilo_sb *out = DICT(p, "mhlo.frontend_attributes");
  hilo_sb_char(out, '{');
  for (uint32_t k = 0; k + 1 < kv.n; k += 2) {
    if (k) PRINT(out, ", ");
    hilo_mlir_print_identifier(hilo_string_of(p->m, (hilo_string){(uint32_t)kv.v[k]}), out);
    PRINT(out, " = ");
    hilo_mlir_print_string(hilo_string_of(p->m, (hilo_string){(uint32_t)kv.v[k + 1]}), out);
  }
  hilo_sb_char(out, '}');
}

void mlir_dict_add_shape(mlir_printer *p, const char *key, hilo_type type) {
  hilo_sb text = hilo_sb_make(p->scratch);
  hilo_type_print(&p->m->types, &p->m->records, &p->m->strings, type, true, &text);
  hilo_mlir_print_string(hilo_sb_view(&text), mlir_dict_add(p, hilo_str_of(key)));
  hilo_sb_free(&text);
}

void mlir_dict_add_layout(mlir_printer *p, hilo_record layout, uint32_t rank) {
  hilo_sb text = hilo_sb_make(p->scratch);
  hilo_layout_print(&p->m->types, &p->m->records, &p->m->strings, layout, rank, &text);
  hilo_mlir_print_string(hilo_sb_view(&text), DICT(p, "mhlo.layout_mode"));
  hilo_sb_free(&text);
}

void mlir_dict_add_extra(mlir_printer *p, hilo_inst i) {
  const hilo_module *m = p->m;
  const hilo_type type = hilo_inst_type(m, i);
  const hilo_op op = hilo_inst_op(m, i);
  if (hilo_type_row_of(&m->types, type)->bare) mlir_dict_add_shape(p, "xla_shape", type);
  const hilo_record record = hilo_inst_extra_record(m, i);
  if (!record.ix) return;
  const hilo_extra_attrs e = hilo_extra_get(&m->records, record);
  if (e.frontend.ix) mlir_dict_add_frontend(p, e.frontend);
  if (e.sharding.ix)
    mlir_print_sharding_text(p, e.sharding, e.sharding_spelling, DICT(p, "mhlo.sharding"));
  if (e.backend_config.ix && op != HILO_OP_CUSTOM_CALL)
    hilo_mlir_print_string(hilo_string_of(m, e.backend_config), DICT(p, "mhlo.backend_config"));
  if (e.origin.ix)
    hilo_mlir_print_string(hilo_string_of(m, e.origin), DICT(p, "mhlo.original_value"));
  if (e.channel_id > 0 && !hilo_inst_has(m, i, HILO_TRAIT_COLLECTIVE | HILO_TRAIT_TRANSFER))
    hilo_sb_printf(DICT(p, "channel_id"), "%lld : i64", (long long)e.channel_id);
}
