/* The values of constants as HLO text has them: braces nest as the dimensions do, from rank 4 on
 * with the index of each sub-array in a comment. */
#include "ir/print/hlo_print_impl.h"

#include "ir/etype_format.h"
#include "num/float_text.h"
#include "num/int_text.h"

enum { MAX_SHOWN = 10, MAX_ELEMENT = 2 * HILO_FLOAT_TEXT_MAX + 8 };

/* One element; at most MAX_ELEMENT bytes. */
static size_t element_text(char *to, hilo_etype etype, const char *from, bool in_array) {
  const hilo_etype_class class = hilo_etype_class_of(etype);
  const uint32_t bytes = hilo_etype_bytes(etype);
  uint64_t bits = 0;
  switch (class) {
  case HILO_CLASS_PRED: {
    const bool is_true = *from != 0;
    if (in_array) {
      *to = is_true ? '1' : '0';
      return 1;
    }
    memcpy(to, is_true ? "true" : "false", 5);
    return is_true ? 4 : 5;
  }
  case HILO_CLASS_FLOAT:
    memcpy(&bits, from, bytes);
    return hilo_float_print_hlo(to, hilo_etype_float_format(etype), bits);
  case HILO_CLASS_COMPLEX: {
    size_t n = 0;
    to[n++] = '(';
    memcpy(&bits, from, bytes / 2);
    n += hilo_float_print_hlo(to + n, hilo_etype_float_format(etype), bits);
    to[n++] = ',';
    to[n++] = ' ';
    memcpy(&bits, from + bytes / 2, bytes / 2);
    n += hilo_float_print_hlo(to + n, hilo_etype_float_format(etype), bits);
    to[n++] = ')';
    return n;
  }
  default:
    memcpy(&bits, from, bytes);
    return hilo_int_print(to, hilo_etype_table[etype].bits, class == HILO_CLASS_SIGNED, bits);
  }
}

typedef struct {
  hilo_sb *out;
  hilo_etype etype;
  uint32_t bytes;
  const char *data; /* moves on; NULL: a splat, whose text is `same` */
  char same[MAX_ELEMENT];
  size_t n_same;
} source;

static void next_element(source *s) {
  if (!s->data) {
    hilo_sb_bytes(s->out, s->same, s->n_same);
    return;
  }
  s->out->n += element_text(hilo_sb_reserve(s->out, MAX_ELEMENT), s->etype, s->data, true);
  s->data += s->bytes;
}

/* The innermost braces. */
static void print_row(source *s, uint32_t rank, int64_t n) {
  const bool pad = rank > 1 && n > 1;
  hilo_sb_char(s->out, '{');
  if (pad) hilo_sb_char(s->out, ' ');
  for (int64_t i = 0; i < n; i++) {
    if (i) PRINT(s->out, ", ");
    next_element(s);
  }
  if (pad) hilo_sb_char(s->out, ' ');
  hilo_sb_char(s->out, '}');
}

/* What opens the braces of dimension `level`, the `index`-th of its parent. */
static void open_brace(hilo_sb *out, uint32_t rank, uint32_t level, int64_t index, int64_t n) {
  hilo_sb_char(out, '{');
  if (rank > 3 && level > 0) {
    hilo_sb_printf(out, " /*i%u=%lld*/", level - 1, (long long)index);
    if (n > 0) hilo_sb_char(out, ' ');
  } else {
    hilo_sb_char(out, ' ');
  }
}

static void print_braces(source *s, hilo_dims dims) {
  const uint32_t rank = dims.n;
  int64_t index[HILO_MAX_RANK] = {0};
  uint32_t level = 0; /* braces that are open */
  if (rank == 1) {
    print_row(s, rank, dims.v[0]);
    return;
  }
  open_brace(s->out, rank, 0, 0, dims.v[0]);
  level = 1;
  while (level) {
    int64_t *i = &index[level - 1];
    if (*i == dims.v[level - 1]) { /* all sub-arrays of this one are printed */
      PRINT(s->out, " }");
      if (--level) index[level - 1]++;
      continue;
    }
    if (*i) PRINT(s->out, ", ");
    if (level == rank - 1) {
      print_row(s, rank, dims.v[level]);
      ++*i;
    } else {
      open_brace(s->out, rank, level, *i, dims.v[level]);
      index[level++] = 0;
    }
  }
}

static void print_array(const hilo_module *m, const hilo_literal_row *row, hilo_sb *out) {
  const hilo_type_row *type = hilo_type_row_of(&m->types, (hilo_type){row->type});
  const hilo_etype etype = (hilo_etype)type->etype;
  source s = {.out = out, .etype = etype, .bytes = hilo_etype_bytes(etype), .data = row->data};
  if (type->n == 0) {
    out->n += element_text(hilo_sb_reserve(out, MAX_ELEMENT), etype, row->data, false);
    return;
  }
  if (row->kind == HILO_LITERAL_SPLAT) {
    s.n_same = element_text(s.same, etype, row->data, true);
    s.data = NULL;
  }
  print_braces(&s, (hilo_dims){type->items, type->n});
}

/* Recursive in tuples, whose types are bounded in depth. */
void hilo_hlo_print_literal(const hilo_module *m, hilo_literal literal, bool elide_large,
                            hilo_sb *out) {
  const hilo_literal_row *row = hilo_literal_get(m, literal);
  const hilo_type type = {row->type};
  const bool large =
      row->kind == HILO_LITERAL_TUPLE || hilo_type_row_of(&m->types, type)->n_elements > MAX_SHOWN;
  if (row->kind == HILO_LITERAL_ELIDED || (elide_large && large)) {
    PRINT(out, "{...}");
  } else if (row->kind == HILO_LITERAL_TUPLE) {
    PRINT(out, "( ");
    for (uint32_t i = 0; i < row->bytes / sizeof(hilo_literal); i++) {
      hilo_literal element;
      memcpy(&element, row->data + i * sizeof(element), sizeof(element));
      if (i) PRINT(out, ", ");
      hilo_hlo_print_literal(m, element, false, out);
    }
    PRINT(out, " )");
  } else {
    print_array(m, row, out);
  }
}
