/* What the dialect pipeline notes on instructions and on the entry has no place in HLO text: it is
 * printed as comments, which readers skip. */
#include "ir/print/hlo_print_impl.h"

/* In double quotes; the end of a comment within is broken up. */
static void print_text(printer *p, hilo_string s) {
  hilo_sb quoted = hilo_sb_make(p->out->arena);
  hilo_hlo_print_escaped(hilo_string_of(p->m, s), &quoted);
  PRINT(p->out, "\"");
  for (size_t k = 0; k < quoted.n; k++) {
    if (quoted.p[k] == '/' && k && quoted.p[k - 1] == '*') PRINT(p->out, "\\");
    hilo_sb_char(p->out, quoted.p[k]);
  }
  PRINT(p->out, "\"");
  hilo_sb_free(&quoted);
}

static void print_texts(printer *p, hilo_dims list) {
  PRINT(p->out, "{");
  for (uint32_t k = 0; k < list.n; k++) {
    if (k) PRINT(p->out, ", ");
    print_text(p, (hilo_string){(uint32_t)list.v[k]});
  }
  PRINT(p->out, "}");
}

static void print_key(printer *p, bool *any, const char *open, const char *key) {
  hilo_sb_cat(p->out, *any ? ", " : open);
  hilo_sb_cat(p->out, key);
  PRINT(p->out, "=");
  *any = true;
}

void hilo_print_neuron(printer *p, hilo_record record) {
  const hilo_neuron_attrs attrs = hilo_neuron_get(&p->m->records, record);
  const hilo_family_info *family = &hilo_family_table[HILO_FAMILY_neuron];
  bool any = false;
  for (uint32_t k = 0; k < family->n_fields; k++) {
    const hilo_field *field = &family->fields[k];
    const void *at = (const char *)&attrs + field->offset;
    if (field->kind == HILO_KIND_STRS && ((const hilo_dims *)at)->n) {
      print_key(p, &any, " /*neuron: ", field->name);
      print_texts(p, *(const hilo_dims *)at);
    } else if (field->kind == HILO_KIND_STR && ((const hilo_string *)at)->ix) {
      print_key(p, &any, " /*neuron: ", field->name);
      print_text(p, *(const hilo_string *)at);
    } else if (field->kind == HILO_KIND_BOOL && *(const bool *)at) {
      print_key(p, &any, " /*neuron: ", field->name);
      PRINT(p->out, "true");
    }
  }
  if (any) PRINT(p->out, "*/");
}

void hilo_print_entry_notes(printer *p) {
  const hilo_module_header *header = &p->m->header;
  const struct {
    const char *key;
    hilo_dims list;
    bool names;
  } notes[] = {{"input_names", header->input_names, true},
               {"output_names", header->output_names, true},
               {"slow_ins", header->slow_ins, false},
               {"slow_outs", header->slow_outs, false}};
  bool any = false;
  for (size_t k = 0; k < HILO_COUNT(notes); k++) {
    if (!notes[k].list.n) continue;
    print_key(p, &any, "/*main: ", notes[k].key);
    if (notes[k].names)
      print_texts(p, notes[k].list);
    else
      hilo_print_list(p->out, "{", notes[k].list, "}");
  }
  if (any) PRINT(p->out, "*/\n\n");
}
