/* What any instruction may carry, as HLO text has it; strings and their escapes. */
#include "ir/print/hlo_print_impl.h"

#include <stdlib.h>

/* ---- strings ---- */

/* 0: as it is; 1: octal; else the letter behind the backslash. */
static const uint8_t escapes[256] = {
    [0 ... 8] = 1,   ['\t'] = 't', ['\n'] = 'n',  [11 ... 12] = 1, ['\r'] = 'r',
    [14 ... 31] = 1, ['"'] = '"',  ['\''] = '\'', ['\\'] = '\\',   [127 ... 255] = 1,
};

typedef int8_t bytes16 __attribute__((vector_size(16)));

/* Copy 16 bytes; were they printable ASCII without quotes and backslash? */
static inline bool copy_plain(char *to, const char *p) {
  bytes16 x;
  uint64_t bad[2];
  memcpy(&x, p, sizeof(x));
  memcpy(to, &x, sizeof(x));
  const bytes16 is_bad = (x < 0x20) | (x == 0x7f) | (x == '"') | (x == '\'') | (x == '\\');
  memcpy(bad, &is_bad, sizeof(bad));
  return !(bad[0] | bad[1]);
}

void hilo_hlo_print_escaped(hilo_str s, hilo_sb *out) {
  const char *p = s.p, *end = s.p + s.n;
  for (;;) {
    const char *run = p;
    char *to = hilo_sb_reserve(out, (size_t)(end - p) + 16);
    for (; end - p >= 16 && copy_plain(to, p); p += 16) to += 16;
    while (p < end && !escapes[(uint8_t)*p]) *to++ = *p++;
    out->n += (size_t)(p - run);
    if (p == end) return;
    const uint8_t c = (uint8_t)*p++, how = escapes[c];
    hilo_sb_char(out, '\\');
    if (how != 1) {
      hilo_sb_char(out, (char)how);
    } else {
      hilo_sb_char(out, (char)('0' + (c >> 6)));
      hilo_sb_char(out, (char)('0' + (c >> 3 & 7)));
      hilo_sb_char(out, (char)('0' + (c & 7)));
    }
  }
}

static void print_quoted(hilo_str s, hilo_sb *out) {
  hilo_sb_char(out, '"');
  hilo_hlo_print_escaped(s, out);
  hilo_sb_char(out, '"');
}

const char *hilo_hlo_close_brace(const char *p, const char *end) {
  uint32_t depth = 0;
  for (; p < end; p++) {
    if (*p == '{') {
      depth++;
    } else if (*p == '}') {
      if (depth-- <= 1) return depth ? NULL : p + 1;
    } else if (*p == '"') {
      /* A quote that nothing closes is a byte like any other, as in XLA. */
      const char *q = p + 1;
      while (q < end && *q != '"') q += *q == '\\' ? 2 : 1;
      if (q < end) p = q;
    }
  }
  return NULL;
}

void hilo_print_string_or_json(const hilo_module *m, hilo_string s, hilo_sb *out) {
  const hilo_str text = hilo_string_of(m, s);
  const bool is_json = text.n && *text.p == '{' &&
                       hilo_hlo_close_brace(text.p, text.p + text.n) == text.p + text.n &&
                       !memchr(text.p, 0, text.n);
  if (is_json)
    hilo_sb_str(out, text);
  else
    print_quoted(text, out);
}

/* ---- metadata ---- */

static void string_field(const hilo_module *m, hilo_sb *out, size_t start, const char *name,
                         hilo_label s) {
  if (!s.ix) return;
  if (out->n > start) hilo_sb_char(out, ' ');
  hilo_sb_cat(out, name);
  print_quoted(hilo_label_of(m, s), out);
}

static void int_field(hilo_sb *out, size_t start, const char *name, int64_t v) {
  if (!v) return;
  if (out->n > start) hilo_sb_char(out, ' ');
  hilo_sb_cat(out, name);
  hilo_print_number(out, v);
}

void hilo_print_meta_fields(const hilo_module *m, const hilo_meta_attrs *meta, hilo_sb *out) {
  const size_t start = out->n;
  string_field(m, out, start, "op_type=", meta->op_type);
  string_field(m, out, start, "op_name=", meta->op_name);
  string_field(m, out, start, "source_file=", meta->source_file);
  int_field(out, start, "source_line=", meta->source_line);
  int_field(out, start, "source_end_line=", meta->source_end_line);
  int_field(out, start, "source_column=", meta->source_column);
  int_field(out, start, "source_end_column=", meta->source_end_column);
  if (meta->profile_type.n)
    hilo_print_list(out, out->n > start ? " profile_type={" : "profile_type={", meta->profile_type,
                    "}");
  string_field(m, out, start, "deduplicated_name=", meta->deduplicated_name);
  string_field(m, out, start, "scheduling_name=", meta->scheduling_name);
  int_field(out, start, "stack_frame_id=", meta->stack_frame_id);
}

static void print_meta(printer *p, hilo_record record) {
  if (print_cached(p, PRINT_CACHE_META, record.ix, 0)) return;
  const size_t at = p->out->n;
  const hilo_meta_attrs meta = hilo_meta_get(&p->m->labels, record);
  PRINT(p->out, ", metadata={");
  const size_t before = p->out->n;
  hilo_print_meta_fields(p->m, &meta, p->out);
  if (p->out->n == before) {
    p->out->n = at; /* nothing that text can say */
    return;
  }
  hilo_sb_char(p->out, '}');
  print_cache_end(p, PRINT_CACHE_META, record.ix, 0, at);
}

/* ---- the rest ---- */

void hilo_print_frontend(printer *p, hilo_record frontend) {
  if (print_cached(p, PRINT_CACHE_FRONTEND, frontend.ix, 0)) return;
  const size_t at = p->out->n;
  const hilo_dims kv = hilo_string_map_get(&p->m->records, frontend).kv;
  PRINT(p->out, ", frontend_attributes={");
  for (uint32_t i = 0; i + 1 < kv.n; i += 2) {
    if (i) hilo_sb_char(p->out, ',');
    hilo_sb_str(p->out, hilo_string_of(p->m, (hilo_string){(uint32_t)kv.v[i]}));
    hilo_sb_char(p->out, '=');
    hilo_print_string_or_json(p->m, (hilo_string){(uint32_t)kv.v[i + 1]}, p->out);
  }
  hilo_sb_char(p->out, '}');
  print_cache_end(p, PRINT_CACHE_FRONTEND, frontend.ix, 0, at);
}

static void print_control(printer *p, hilo_inst inst) {
  uint32_t edge = hilo_control_first_pred(p->m, inst);
  if (!edge) return;
  PRINT(p->out, ", control-predecessors={");
  for (bool first = true; edge; edge = p->m->edge.v[edge].next_of_succ, first = false) {
    if (!first) PRINT(p->out, ", ");
    hilo_print_inst_name(p, p->m->edge.v[edge].pred);
  }
  hilo_sb_char(p->out, '}');
}

static void print_double(hilo_sb *out, double v) { hilo_sb_printf(out, "%.6g", v); }

static void print_statistics(printer *p, hilo_dims list) {
  if (!list.n) return;
  PRINT(p->out, ", statistics={visualizing_index=");
  hilo_sb_str(p->out, hilo_string_of(p->m, (hilo_string){(uint32_t)list.v[0]}));
  for (uint32_t i = 1; i + 1 < list.n; i += 2) {
    const hilo_str value = hilo_string_of(p->m, (hilo_string){(uint32_t)list.v[i + 1]});
    char text[64];
    const size_t n = value.n < sizeof(text) - 1 ? value.n : sizeof(text) - 1;
    memcpy(text, value.p, n);
    text[n] = 0;
    hilo_sb_char(p->out, ',');
    hilo_sb_str(p->out, hilo_string_of(p->m, (hilo_string){(uint32_t)list.v[i]}));
    hilo_sb_char(p->out, '=');
    print_double(p->out, strtod(text, NULL));
  }
  hilo_sb_char(p->out, '}');
}

static double double_of(int64_t bits) {
  double d;
  memcpy(&d, &bits, sizeof(d));
  return d;
}

static void print_accuracy(printer *p, hilo_record record) {
  if (!record.ix) return;
  const hilo_result_accuracy_attrs a = hilo_result_accuracy_get(&p->m->records, record);
  if (a.mode == 1) PRINT(p->out, ", result_accuracy={mode=highest}");
  if (a.mode != 2) return;
  PRINT(p->out, ", result_accuracy={tolerance={atol=");
  print_double(p->out, double_of(a.atol_bits));
  PRINT(p->out, ",rtol=");
  print_double(p->out, double_of(a.rtol_bits));
  PRINT(p->out, ",ulps=");
  hilo_print_number(p->out, a.ulps);
  PRINT(p->out, "}}");
}

void hilo_print_extra(printer *p, hilo_inst inst) {
  const hilo_record record = hilo_inst_extra_record(p->m, inst);
  hilo_string backend_config = HILO_STRING_EMPTY;
  hilo_record neuron = HILO_RECORD_NONE;
  if (record.ix) {
    const hilo_extra_attrs e = hilo_extra_get(&p->m->records, record);
    backend_config = e.backend_config;
    neuron = e.neuron;
    if (e.sharding.ix) {
      PRINT(p->out, ", sharding=");
      hilo_print_sharding_of(p, e.sharding, e.sharding_spelling);
    }
    if (e.frontend.ix) hilo_print_frontend(p, e.frontend);
    if (p->m->edge.n > 1) print_control(p, inst);
    print_statistics(p, e.statistics);
    print_accuracy(p, e.result_accuracy);
    if (e.origin.ix && !p->options.no_metadata) {
      PRINT(p->out, ", origin=");
      hilo_sb_str(p->out, hilo_string_of(p->m, e.origin));
    }
  } else if (p->m->edge.n > 1) {
    print_control(p, inst);
  }
  const hilo_record meta = hilo_inst_meta_record(p->m, inst);
  if (meta.ix && !p->options.no_metadata) print_meta(p, meta);
  if (backend_config.ix && !p->options.no_backend_config) {
    PRINT(p->out, ", backend_config=");
    hilo_print_string_or_json(p->m, backend_config, p->out);
  }
  if (neuron.ix) hilo_print_neuron(p, neuron);
}
