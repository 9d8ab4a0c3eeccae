/* The two `.dbg` files: JSON lines, one per printed operation in the HLO file, one per op_name in
 * the framework file. */
#include "penguin/printer.h"

typedef struct {
  hilo_str op_name, file;
  int64_t line;
} place;

static place place_of(const hilo_printer *p, hilo_inst i) {
  place at = {HILO_STR(""), HILO_STR(""), 0};
  if (!hilo_inst_meta_record(p->m, i).ix) return at;
  at.op_name = hilo_label_of(p->m, hilo_inst_meta(p->m, i).op_name);
  at.file = hilo_inst_source(p->m, i, &at.line);
  return at;
}

static void put_place(hilo_sb *sb, const place *at) {
  HILO_PUT(sb, "\"op_name\":");
  hilo_sb_json(sb, at->op_name);
  HILO_PUT(sb, ",\"file\":");
  hilo_sb_json(sb, at->file);
  HILO_PUT(sb, ",\"line\":");
  hilo_sb_i64(sb, at->line);
}

static hilo_str hlo_file(hilo_printer *p) {
  hilo_sb sb = hilo_sb_make(p->arena);
  hilo_sb name = hilo_sb_make(p->arena);
  for (uint32_t k = 0; k < p->printed.n; k++) {
    const hilo_printed_op *op = &p->printed.v[k];
    const place at = place_of(p, op->at);
    HILO_PUT(&sb, "{\"id\":");
    hilo_sb_u64(&sb, op->id);
    HILO_PUT(&sb, ",\"hlo_id\":");
    hilo_sb_u64(&sb, hilo_inst_ordinal(p->m, op->at));
    HILO_PUT(&sb, ",\"name\":");
    hilo_sb_clear(&name);
    hilo_name_print(p->m, hilo_inst_name(p->m, op->at), &name);
    hilo_sb_json(&sb, hilo_sb_view(&name));
    hilo_sb_char(&sb, ',');
    put_place(&sb, &at);
    HILO_PUT(&sb, "}\n");
  }
  hilo_sb_free(&name);
  return hilo_sb_view(&sb);
}

/* Operations by op_name: groups in order of first occurrence, members chained in order. */
typedef struct {
  uint32_t first, last; /* in `printed` */
} group;

static hilo_str framework_file(hilo_printer *p) {
  const uint32_t n = p->printed.n;
  group *groups = HILO_NEW_ARRAY(p->arena, group, n + 1);
  uint32_t n_groups = 0;
  uint32_t *next = HILO_NEW_ARRAY(p->arena, uint32_t, n + 1);
  hilo_map by_name = hilo_map_make(p->arena);
  for (uint32_t k = 0; k < n; k++) {
    const hilo_inst i = p->printed.v[k].at;
    const uint64_t key = hilo_inst_meta_record(p->m, i).ix ? hilo_inst_meta(p->m, i).op_name.ix : 0;
    bool inserted;
    uint32_t *at = hilo_map_at(&by_name, key, &inserted);
    next[k] = UINT32_MAX;
    if (inserted) {
      *at = n_groups;
      groups[n_groups++] = (group){k, k};
    } else {
      next[groups[*at].last] = k;
      groups[*at].last = k;
    }
  }
  hilo_sb sb = hilo_sb_make(p->arena);
  for (uint32_t g = 0; g < n_groups; g++) {
    const place at = place_of(p, p->printed.v[groups[g].first].at);
    hilo_sb_char(&sb, '{');
    put_place(&sb, &at);
    HILO_PUT(&sb, ",\"ids\":[");
    for (uint32_t k = groups[g].first; k != UINT32_MAX; k = next[k]) {
      if (k != groups[g].first) hilo_sb_char(&sb, ',');
      hilo_sb_u64(&sb, p->printed.v[k].id);
    }
    HILO_PUT(&sb, "]}\n");
  }
  return hilo_sb_view(&sb);
}

void hilo_make_debug_files(hilo_printer *p, hilo_penguin_files *files) {
  if (p->o->hlo_dbg) files->hlo_dbg = hlo_file(p);
  if (p->o->framework_dbg) files->framework_dbg = framework_file(p);
}
