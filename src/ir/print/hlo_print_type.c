/* Types and layouts as HLO text has them. */
#include "ir/print/hlo_print_impl.h"

void hilo_print_number(hilo_sb *out, int64_t v) {
  if (v < 0 || v > UINT32_MAX) {
    hilo_sb_i64(out, v);
    return;
  }
  char *to = hilo_sb_reserve(out, 10);
  out->n += (size_t)(print_digits(to, (uint32_t)v) - to);
}

void hilo_print_index_comment(hilo_sb *out, uint32_t i) {
  PRINT(out, "/*index=");
  hilo_print_number(out, i);
  PRINT(out, "*/");
}

void hilo_print_list(hilo_sb *out, const char *open, hilo_dims list, const char *close) {
  hilo_sb_cat(out, open);
  for (uint32_t i = 0; i < list.n; i++) {
    if (i) hilo_sb_char(out, ',');
    hilo_print_number(out, list.v[i]);
  }
  hilo_sb_cat(out, close);
}

/* ---- layouts ---- */

static void print_tiles(hilo_dims tiles, hilo_sb *out) {
  if (!tiles.n) return;
  hilo_sb_char(out, 'T');
  for (uint32_t i = 0; i < tiles.n;) {
    const uint32_t n = (uint32_t)tiles.v[i++];
    hilo_sb_char(out, '(');
    for (uint32_t k = 0; k < n && i < tiles.n; k++, i++) {
      if (k) hilo_sb_char(out, ',');
      if (tiles.v[i] == INT64_MIN)
        hilo_sb_char(out, '*');
      else
        hilo_print_number(out, tiles.v[i]);
    }
    hilo_sb_char(out, ')');
  }
}

static void print_splits(hilo_dims splits, hilo_sb *out) {
  if (!splits.n) return;
  hilo_sb_cat(out, "SC");
  for (uint32_t i = 0; i + 1 < splits.n;) {
    hilo_sb_char(out, '(');
    hilo_print_number(out, splits.v[i]);
    const uint32_t n = (uint32_t)splits.v[i + 1];
    i += 2;
    for (uint32_t k = 0; k < n && i < splits.n; k++, i++) {
      hilo_sb_char(out, k ? ',' : ':');
      hilo_print_number(out, splits.v[i]);
    }
    hilo_sb_char(out, ')');
  }
}

static void print_level_types(hilo_dims levels, hilo_sb *out) {
  if (!levels.n) return;
  hilo_sb_cat(out, "D(");
  for (uint32_t i = 0; i < levels.n; i++) {
    if (i) hilo_sb_char(out, ',');
    hilo_sb_char(out, "DCSH"[levels.v[i] & 3]);
    if (levels.v[i] & 256) hilo_sb_char(out, '+');
    if (levels.v[i] & 512) hilo_sb_char(out, '~');
  }
  hilo_sb_char(out, ')');
}

static void print_int_part(hilo_sb *out, const char *letters, int64_t v) {
  if (!v) return;
  hilo_sb_cat(out, letters);
  hilo_sb_char(out, '(');
  hilo_print_number(out, v);
  hilo_sb_char(out, ')');
}

static void print_etype_part(hilo_sb *out, char letter, int64_t number) {
  if (!number) return;
  hilo_sb_char(out, letter);
  hilo_sb_char(out, '(');
  hilo_sb_cat(out, hilo_etype_table[hilo_etype_from_number(number)].hlo);
  hilo_sb_char(out, ')');
}

static void print_row_major(uint32_t rank, hilo_sb *out) {
  for (uint32_t i = rank; i-- > 0;) {
    hilo_print_number(out, i);
    if (i) hilo_sb_char(out, ',');
  }
}

void hilo_layout_print(const hilo_store *types, const hilo_store *records,
                       const hilo_store *strings, hilo_record layout, uint32_t rank, hilo_sb *out) {
  hilo_sb_char(out, '{');
  if (!layout.ix) {
    print_row_major(rank, out);
    hilo_sb_char(out, '}');
    return;
  }
  const hilo_layout_attrs a = hilo_layout_get(records, layout);
  if (a.minor_to_major.n)
    hilo_print_list(out, "", a.minor_to_major, "");
  else
    print_row_major(rank, out);
  hilo_sb_char(out, ':');
  const size_t before = out->n;
  print_level_types(a.dim_level_types, out);
  print_tiles(a.tiles, out);
  print_int_part(out, "L", a.tail_padding_alignment);
  print_etype_part(out, '#', a.index_primitive_type);
  print_etype_part(out, '*', a.pointer_primitive_type);
  print_int_part(out, "E", a.element_size_in_bits);
  print_int_part(out, "S", a.memory_space);
  print_splits(a.split_configs, out);
  if (a.physical_shape.ix) {
    hilo_sb_cat(out, "P(");
    hilo_type_print(types, records, strings, a.physical_shape, true, out);
    hilo_sb_char(out, ')');
  }
  print_int_part(out, "M", a.dynamic_shape_metadata_prefix_bytes);
  if (out->n == before) out->n--; /* nothing but the order: no colon */
  hilo_sb_char(out, '}');
}

/* ---- types ---- */

static void print_array(const hilo_store *types, const hilo_store *records,
                        const hilo_store *strings, hilo_type t, bool with_layout, hilo_sb *out) {
  const hilo_type_row *row = hilo_type_row_of(types, t);
  uint64_t dynamic = 0;
  if (row->flags & HILO_TYPE_HAS_BITS) memcpy(&dynamic, row->items + row->n, sizeof(dynamic));
  hilo_sb_cat(out, hilo_etype_table[row->etype].hlo);
  hilo_sb_char(out, '[');
  for (uint32_t i = 0; i < row->n; i++) {
    if (i) hilo_sb_char(out, ',');
    if (row->items[i] == HILO_UNBOUNDED) {
      hilo_sb_char(out, '?');
      continue;
    }
    if (dynamic >> i & 1) hilo_sb_cat(out, "<=");
    hilo_print_number(out, row->items[i]);
  }
  hilo_sb_char(out, ']');
  const bool has_layout = hilo_etype_is_array((hilo_etype)row->etype) && (row->n || row->layout);
  if (with_layout && has_layout)
    hilo_layout_print(types, records, strings, (hilo_record){row->layout}, row->n, out);
}

/* Recursive: types nest HILO_MAX_TYPE_DEPTH deep at most. */
void hilo_type_print(const hilo_store *types, const hilo_store *records, const hilo_store *strings,
                     hilo_type t, bool with_layout, hilo_sb *out) {
  const hilo_type_row *row = hilo_type_row_of(types, t);
  if (row->etype == HILO_BUFFER) {
    PRINT(out, "b(");
    hilo_type_print(types, records, strings, (hilo_type){(uint32_t)row->items[0]}, with_layout,
                    out);
    hilo_sb_char(out, ')');
  } else if (row->etype == HILO_TUPLE) {
    hilo_sb_char(out, '(');
    for (uint32_t i = 0; i < row->n; i++) {
      if (i) PRINT(out, ", ");
      if (i && i % 5 == 0) hilo_print_index_comment(out, i);
      hilo_type_print(types, records, strings, (hilo_type){(uint32_t)row->items[i]}, with_layout,
                      out);
    }
    hilo_sb_char(out, ')');
  } else {
    print_array(types, records, strings, t, with_layout, out);
  }
}

void hilo_print_new_type(printer *p, hilo_type type) {
  const size_t at = p->out->n;
  hilo_type_print(&p->m->types, &p->m->records, &p->m->strings, type, true, p->out);
  print_cache_end(p, PRINT_CACHE_TYPE, type.ix, 0, at);
}
