/* Locations: `loc(#loc3)` behind an operation, the aliases at the end of the text.
 *
 * A location is what the metadata says: op_name around file, line and column. Equal metadata has
 * one alias, equal places have one; they are numbered in order of first use, `#loc` is the unknown
 * one. */
#include "ir/print/mlir_print_impl.h"

#include "base/map.h"
#include "base/vec.h"

/* An alias: of a place, or of a name around alias `inner` (0: around nothing). */
typedef struct {
  hilo_meta_attrs meta;
  uint32_t inner;
  bool is_place;
} alias;

struct mlir_locations {
  hilo_vec(alias) list; /* alias k is `#loc<k + 1>` */
  hilo_map by_meta;     /* metadata record → number */
  hilo_map by_place;    /* hash of a place → number */
};

void mlir_locations_init(mlir_printer *p) {
  struct mlir_locations *l = HILO_NEW_ZEROED(p->scratch, struct mlir_locations, 1);
  l->by_meta = hilo_map_make(p->scratch);
  l->by_place = hilo_map_make(p->scratch);
  p->locations = l;
}

static bool same_place(const hilo_meta_attrs *a, const hilo_meta_attrs *b) {
  return a->source_file.ix == b->source_file.ix && a->source_line == b->source_line &&
         a->source_column == b->source_column && a->source_end_line == b->source_end_line &&
         a->source_end_column == b->source_end_column;
}

static uint64_t place_hash(const hilo_meta_attrs *a) {
  uint64_t h = hilo_hash_combine(a->source_file.ix, (uint64_t)a->source_line);
  h = hilo_hash_combine(h, (uint64_t)a->source_column);
  h = hilo_hash_combine(h, (uint64_t)a->source_end_line);
  return hilo_hash_combine(h, (uint64_t)a->source_end_column);
}

static uint32_t place_number(mlir_printer *p, const hilo_meta_attrs *meta) {
  struct mlir_locations *l = p->locations;
  if (!meta->source_file.ix) return 0;
  /* Places whose hashes meet get the next key that is free. */
  for (uint64_t key = place_hash(meta);; key++) {
    const uint32_t number = hilo_map_get(&l->by_place, key, 0);
    if (number && same_place(&l->list.v[number - 1].meta, meta)) return number;
    if (number) continue;
    HILO_PUSH(p->scratch, &l->list, ((alias){*meta, 0, true}));
    hilo_map_set(&l->by_place, key, l->list.n);
    return l->list.n;
  }
}

static uint32_t number_of(mlir_printer *p, hilo_record record) {
  struct mlir_locations *l = p->locations;
  if (!record.ix) return 0;
  const uint32_t known = hilo_map_get(&l->by_meta, record.ix, UINT32_MAX);
  if (known != UINT32_MAX) return known;
  const hilo_meta_attrs meta = hilo_meta_get(&p->m->labels, record);
  uint32_t number = place_number(p, &meta);
  if (meta.op_name.ix) {
    HILO_PUSH(p->scratch, &l->list, ((alias){meta, number, false}));
    number = l->list.n;
  }
  hilo_map_set(&l->by_meta, record.ix, number);
  return number;
}

void mlir_print_location(mlir_printer *p, hilo_inst i) {
  const uint32_t number = i.ix ? number_of(p, hilo_inst_meta_record(p->m, i)) : 0;
  PRINT(p->out, " loc(#loc");
  if (number) hilo_sb_u64(p->out, number);
  hilo_sb_char(p->out, ')');
}

static void print_place(mlir_printer *p, const hilo_meta_attrs *meta) {
  hilo_mlir_print_string(hilo_label_of(p->m, meta->source_file), p->out);
  hilo_sb_printf(p->out, ":%lld:%lld", (long long)meta->source_line,
                 (long long)meta->source_column);
  if (!meta->source_end_line && !meta->source_end_column) return;
  PRINT(p->out, " to ");
  if (meta->source_end_line != meta->source_line) hilo_sb_i64(p->out, meta->source_end_line);
  hilo_sb_printf(p->out, ":%lld", (long long)meta->source_end_column);
}

void mlir_print_locations(mlir_printer *p) {
  const struct mlir_locations *l = p->locations;
  PRINT(p->out, "#loc = loc(unknown)\n");
  for (uint32_t k = 0; k < l->list.n; k++) {
    const alias *a = &l->list.v[k];
    hilo_sb_printf(p->out, "#loc%u = loc(", k + 1);
    if (a->is_place) {
      print_place(p, &a->meta);
    } else {
      hilo_mlir_print_string(hilo_label_of(p->m, a->meta.op_name), p->out);
      if (a->inner) hilo_sb_printf(p->out, "(#loc%u)", a->inner);
    }
    PRINT(p->out, ")\n");
  }
}
