/* What the files of the HLO printer share. */
#ifndef HILO_IR_HLO_PRINT_IMPL_H
#define HILO_IR_HLO_PRINT_IMPL_H

#include "ir/hlo_print.h"
#include "ir/print/hlo_words.h"

/* What was printed before, by handles: where its text stands in `out`. */
typedef enum {
  PRINT_CACHE_TYPE = 1,
  PRINT_CACHE_META,
  PRINT_CACHE_FRONTEND,
  PRINT_CACHE_SHARDING,
  PRINT_CACHE_GROUPS,
  PRINT_CACHE_ATTRS, /* a record, an operation */
} print_cache_kind;
typedef struct {
  size_t at;
  uint32_t a, b, n;
  uint32_t kind; /* 0: free */
} print_cache_entry;
enum { PRINT_CACHE_ENTRIES = 1024 };

typedef struct {
  const hilo_module *m;
  hilo_sb *out;
  hilo_print_options options;
  uint8_t style;
  bool percent;
  const uint64_t *hidden; /* computations that their async-start prints; NULL: none */
  print_cache_entry cache[PRINT_CACHE_ENTRIES];
} printer;

static inline print_cache_entry *print_cache_slot(printer *p, print_cache_kind kind, uint32_t a,
                                                  uint32_t b) {
  const uint32_t h = (a * 0x9E3779B1u ^ b * 0x85EBCA6Bu) + (uint32_t)kind * 0x27D4EB2Fu;
  return &p->cache[h >> 22 & (PRINT_CACHE_ENTRIES - 1)];
}

/* Short texts, without a call: they are most of the output. */
static inline char *print_short(char *to, const char *p, size_t n) {
  if (n >= 8) {
    for (size_t i = 8; i < n; i += 8) memcpy(to + i - 8, p + i - 8, 8);
    memcpy(to + n - 8, p + n - 8, 8);
  } else if (n >= 4) {
    memcpy(to, p, 4);
    memcpy(to + n - 4, p + n - 4, 4);
  } else if (n) {
    to[0] = p[0];
    to[n / 2] = p[n / 2];
    to[n - 1] = p[n - 1];
  }
  return to + n;
}
static inline char *print_two(char *to, uint32_t num) {
  to[0] = (char)('0' + num / 10);
  to[1] = (char)('0' + num % 10);
  return to + 2;
}

static inline char *print_digits(char *to, uint32_t num) {
  if (num >= 10000) {
    to = print_digits(to, num / 10000);
    to = print_two(to, num % 10000 / 100);
    return print_two(to, num % 100);
  }
  if (num >= 100) {
    const uint32_t high = num / 100;
    if (high >= 10)
      to = print_two(to, high);
    else
      *to++ = (char)('0' + high);
    return print_two(to, num % 100);
  }
  if (num >= 10) return print_two(to, num);
  *to = (char)('0' + num);
  return to + 1;
}

/* Append the text again if it has been printed. */
static inline bool print_cached(printer *p, print_cache_kind kind, uint32_t a, uint32_t b) {
  const print_cache_entry *e = print_cache_slot(p, kind, a, b);
  if (e->kind != (uint32_t)kind || e->a != a || e->b != b) return false;
  enum { SHORT = 32 };
  char *to = hilo_sb_reserve(p->out, (size_t)e->n + SHORT);
  const char *from = p->out->p + e->at;
  if (e->n <= SHORT) {
    char text[SHORT]; /* what follows it is there, and does not matter */
    memcpy(text, from, SHORT);
    memcpy(to, text, SHORT);
  } else {
    memcpy(to, from, e->n);
  }
  p->out->n += e->n;
  return true;
}
/* Remember the text from `at` on. */
static inline void print_cache_end(printer *p, print_cache_kind kind, uint32_t a, uint32_t b,
                                   size_t at) {
  const size_t n = p->out->n - at;
  if (n > UINT32_MAX) return;
  *print_cache_slot(p, kind, a, b) = (print_cache_entry){at, a, b, (uint32_t)n, kind};
}

/* `{1,2}` between the brackets that are given */
void hilo_print_list(hilo_sb *out, const char *open, hilo_dims list, const char *close);
#define PRINT(out, literal) hilo_sb_bytes((out), (literal), sizeof(literal) - 1)
void hilo_print_number(hilo_sb *out, int64_t v);
void hilo_print_index_comment(hilo_sb *out, uint32_t i); /* before every fifth of a list */

void hilo_print_name(printer *p, uint32_t base, uint32_t num, bool percent);
void hilo_print_inst_name(printer *p, uint32_t ix);
void hilo_print_comp_name(printer *p, uint32_t ix);
void hilo_print_new_type(printer *p, hilo_type type);
static inline void hilo_print_type(printer *p, hilo_type type) {
  if (!print_cached(p, PRINT_CACHE_TYPE, type.ix, 0)) hilo_print_new_type(p, type);
}
/* What stands behind the operands: of the operation itself, */
void hilo_print_attrs(printer *p, hilo_inst inst);
/* and of any instruction. `i` carries it; for an async operation in its short form the called
 * computations are those of the operation inside. */
void hilo_print_called(printer *p, hilo_inst inst);
void hilo_print_extra(printer *p, hilo_inst inst);
void hilo_print_sharding_of(printer *p, hilo_record sharding, hilo_record spelling);
void hilo_print_groups_of(printer *p, hilo_record groups, hilo_record spelling);
void hilo_print_meta_fields(const hilo_module *m, const hilo_meta_attrs *meta, hilo_sb *out);
void hilo_print_string_or_json(const hilo_module *m, hilo_string s, hilo_sb *out);
void hilo_print_frontend(printer *p, hilo_record frontend);
/* The dialect pipeline's attributes as comments: of an instruction, of the entry (a line). */
void hilo_print_neuron(printer *p, hilo_record record);
void hilo_print_entry_notes(printer *p);

/* The operation inside of an async-start (or of the one that an update or done belongs to), if it
 * can be printed in its short form; else none. */
hilo_inst hilo_print_wrapped(const hilo_module *m, hilo_inst inst);

#endif
