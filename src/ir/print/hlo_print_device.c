/* Shardings and replica groups as HLO text has them: in the form that their spelling gives, else as
 * plain lists. */
#include "ir/print/hlo_print_impl.h"

enum { TUPLE = 2, NAMED = 100 };

static void print_iota(const hilo_spelling_attrs *s, hilo_sb *out) {
  hilo_print_list(out, "[", s->reshape_dims, "]");
  if (s->transpose.n) hilo_print_list(out, "T(", s->transpose, ")");
}

/* ---- shardings ---- */

static void print_sharding_metadata(const hilo_module *m, hilo_dims list, const char *before,
                                    hilo_sb *out) {
  const bool is_list = list.n > 1 || *before == ',';
  if (!list.n) return;
  hilo_sb_cat(out, before);
  hilo_sb_cat(out, is_list ? "metadata={" : "metadata=");
  for (uint32_t i = 0; i < list.n; i++) {
    const hilo_meta_attrs meta = hilo_meta_get(&m->labels, (hilo_record){(uint32_t)list.v[i]});
    if (i) PRINT(out, ", ");
    hilo_sb_char(out, '{');
    hilo_print_meta_fields(m, &meta, out);
    hilo_sb_char(out, '}');
  }
  if (is_list) hilo_sb_char(out, '}');
}

static void print_last_tile_dims(hilo_dims types, hilo_sb *out) {
  static const char *const names[] = {"replicated", "maximal", "tuple",    "other",
                                      "manual",     "unknown", "unreduced"};
  if (!types.n) return;
  PRINT(out, " last_tile_dims={");
  for (uint32_t i = 0; i < types.n; i++) {
    if (i) PRINT(out, ", ");
    hilo_sb_cat(out, names[types.v[i] >= 0 && types.v[i] < 7 ? types.v[i] : 0]);
  }
  hilo_sb_char(out, '}');
}

static void print_kind(const hilo_module *m, const hilo_sharding_attrs *s,
                       const hilo_spelling_attrs *how, hilo_sb *out) {
  switch (s->kind) {
  case 0: PRINT(out, "replicated"); break;
  case 1:
    PRINT(out, "maximal device=");
    hilo_print_number(out, s->devices.n ? s->devices.v[0] : 0);
    break;
  case 4: PRINT(out, "manual"); break;
  case 5: PRINT(out, "unknown"); break;
  case 6: PRINT(out, "unreduced"); break;
  case NAMED: hilo_sb_str(out, hilo_string_of(m, s->named)); break;
  default:
    hilo_print_list(out, "devices=[", s->tile_dims, "]");
    if (how->form == 1) {
      PRINT(out, "<=");
      print_iota(how, out);
    } else {
      hilo_print_list(out, "", s->devices, "");
    }
    if (s->replicate_on_last_tile_dim) PRINT(out, " last_tile_dim_replicate");
    print_last_tile_dims(s->last_tile_dims, out);
  }
}

static void print_one(const hilo_module *m, const hilo_sharding_attrs *s, hilo_record spelling,
                      hilo_sb *out) {
  const hilo_spelling_attrs how = hilo_spelling_get(&m->records, spelling);
  hilo_sb_char(out, '{');
  print_kind(m, s, &how, out);
  if (s->shard_group_type) {
    hilo_sb_cat(out, s->shard_group_type == 1 ? " shard_as " : " shard_like ");
    hilo_print_number(out, s->shard_group_id);
  }
  print_sharding_metadata(m, s->metadata, s->kind == NAMED ? ", " : " ", out);
  hilo_sb_char(out, '}');
}

void hilo_hlo_print_sharding(const hilo_module *m, hilo_record sharding, hilo_record spelling,
                             hilo_sb *out) {
  const hilo_sharding_attrs s = hilo_sharding_get(&m->records, sharding);
  if (s.kind != TUPLE) {
    print_one(m, &s, spelling, out);
    return;
  }
  const hilo_dims spellings = hilo_spelling_get(&m->records, spelling).elements;
  hilo_sb_char(out, '{');
  for (uint32_t i = 0; i < s.elements.n; i++) {
    const hilo_sharding_attrs element =
        hilo_sharding_get(&m->records, (hilo_record){(uint32_t)s.elements.v[i]});
    const hilo_record how = {i < spellings.n ? (uint32_t)spellings.v[i] : 0};
    if (i) PRINT(out, ", ");
    if (i && i % 5 == 0) hilo_print_index_comment(out, i);
    print_one(m, &element, how, out);
  }
  hilo_sb_char(out, '}');
}

void hilo_print_sharding_of(printer *p, hilo_record sharding, hilo_record spelling) {
  if (print_cached(p, PRINT_CACHE_SHARDING, sharding.ix, spelling.ix)) return;
  const size_t at = p->out->n;
  hilo_hlo_print_sharding(p->m, sharding, spelling, p->out);
  print_cache_end(p, PRINT_CACHE_SHARDING, sharding.ix, spelling.ix, at);
}

/* ---- groups ---- */

/* `'x'`, `'x':(1)2` from `x:(1)2` */
static void print_axis(hilo_str axis, hilo_sb *out) {
  size_t n = axis.n;
  for (size_t i = axis.n; i-- > 1;)
    if (axis.p[i] == '(' && axis.p[i - 1] == ':') {
      n = i - 1;
      break;
    }
  hilo_sb_char(out, '\'');
  hilo_hlo_print_escaped((hilo_str){axis.p, n}, out);
  hilo_sb_char(out, '\'');
  hilo_sb_bytes(out, axis.p + n, axis.n - n);
}

static hilo_str string_at(const hilo_module *m, hilo_dims list, uint32_t i) {
  return hilo_string_of(m, (hilo_string){(uint32_t)list.v[i]});
}

static void print_mesh_groups(const hilo_module *m, const hilo_spelling_attrs *s, hilo_sb *out) {
  PRINT(out, "mesh[");
  for (uint32_t i = 0; i < s->mesh_axes.n; i++) {
    if (i) hilo_sb_char(out, ',');
    hilo_sb_char(out, '\'');
    hilo_hlo_print_escaped(string_at(m, s->mesh_axes, i), out);
    PRINT(out, "'=");
    hilo_print_number(out, i < s->mesh_sizes.n ? s->mesh_sizes.v[i] : 1);
  }
  hilo_sb_char(out, ']');
  if (s->reshape_dims.n) {
    PRINT(out, ", device_ids=(");
    print_iota(s, out);
    hilo_sb_char(out, ')');
  } else if (s->mesh_device_ids.n) {
    hilo_print_list(out, ", device_ids=(", s->mesh_device_ids, ")");
  }
  PRINT(out, " {");
  for (uint32_t i = 0; i < s->axes.n; i++) {
    if (i) hilo_sb_char(out, ',');
    print_axis(string_at(m, s->axes, i), out);
  }
  hilo_sb_char(out, '}');
}

static void print_group_lists(const hilo_module *m, hilo_record groups, hilo_sb *out) {
  const hilo_replica_groups_attrs g = hilo_replica_groups_get(&m->records, groups);
  uint32_t at = 0;
  hilo_sb_char(out, '{');
  for (uint32_t i = 0; i < g.sizes.n; i++) {
    if (i) hilo_sb_char(out, ',');
    const uint32_t n = (uint32_t)g.sizes.v[i];
    hilo_print_list(out, "{", (hilo_dims){g.ids.v + at, n}, "}");
    at += n;
  }
  hilo_sb_char(out, '}');
}

void hilo_hlo_print_groups(const hilo_module *m, hilo_record groups, hilo_record spelling,
                           hilo_sb *out) {
  const hilo_spelling_attrs s = hilo_spelling_get(&m->records, spelling);
  if (s.form == 1) {
    hilo_print_list(out, "[", s.tile_dims, "]<=");
    print_iota(&s, out);
  } else if (s.form == 2) {
    print_mesh_groups(m, &s, out);
  } else {
    print_group_lists(m, groups, out);
  }
}

void hilo_print_groups_of(printer *p, hilo_record groups, hilo_record spelling) {
  if (print_cached(p, PRINT_CACHE_GROUPS, groups.ix, spelling.ix)) return;
  const size_t at = p->out->n;
  hilo_hlo_print_groups(p->m, groups, spelling, p->out);
  print_cache_end(p, PRINT_CACHE_GROUPS, groups.ix, spelling.ix, at);
}
