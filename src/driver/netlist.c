/* The text goes straight into the string builder: keys in the order of the specification, a space
 * behind colon and comma, one object of the lists a line. */
#include "driver/netlist.h"

#include "penguin/emit.h"

/* Printing is most of the work of a netlist of many layers: no formats here. */
#define PUT(w, literal) hilo_sb_bytes((w)->out, literal, sizeof(literal) - 1)

static const char *const flow_names[] = {"none", "forward", "backward"};

void hilo_netlist_put_directory(uint32_t definition, hilo_sb *out) {
  hilo_sb_cat(out, definition < 10 ? "sg0" : "sg");
  hilo_sb_u64(out, definition);
}

/* A value that crosses, and where in the text its global name stands; n 0: nowhere yet. */
typedef struct {
  enum { OUT_OF_PIECE, INPUT, OUTPUT } kind;
  uint32_t number; /* of the input or output of the module, or among the outputs of its piece */
  uint32_t at, n;
} crossing;

typedef struct {
  const hilo_netlist *n;
  const hilo_cut *cut;
  hilo_arena *scratch;
  hilo_sb *out;
  size_t *hash_at;
  uint32_t *value; /* by instruction: 1 + its place among the values; 0: it does not cross */
  crossing *values;
  uint32_t n_values;
} writer;

/* ---- names ---- */

static hilo_str listed(const writer *w, hilo_dims names, uint32_t k) {
  return k < names.n && names.v[k] ? hilo_string_of(w->cut->m, (hilo_string){(uint32_t)names.v[k]})
                                   : HILO_STR("");
}

/* `"input3"` from `"input` and 3. */
static void put_numbered(writer *w, hilo_str stem, uint32_t k) {
  hilo_sb_str(w->out, stem);
  hilo_sb_u64(w->out, k);
  hilo_sb_char(w->out, '"');
}

static void put_listed(writer *w, hilo_dims names, uint32_t k, hilo_str stem) {
  const hilo_str name = listed(w, names, k);
  if (name.n) {
    hilo_sb_json(w->out, name);
    return;
  }
  put_numbered(w, stem, k);
}

static void put_input_name(writer *w, uint32_t k) {
  put_listed(w, w->cut->m->header.input_names, k, HILO_STR("\"input"));
}
static void put_output_name(writer *w, uint32_t k) {
  put_listed(w, w->cut->m->header.output_names, k, HILO_STR("\"output"));
}

static crossing *value_of(const writer *w, hilo_inst v) {
  return &w->values[w->value[hilo_ix(w->cut->m, v)] - 1];
}

static void put_new_global(writer *w, hilo_inst v) {
  const crossing *its = value_of(w, v);
  if (its->kind == INPUT) {
    put_input_name(w, its->number);
  } else if (its->kind == OUTPUT) {
    put_output_name(w, its->number);
  } else {
    PUT(w, "\"mod");
    hilo_sb_u64(w->out, w->cut->producer[hilo_ix(w->cut->m, v)] - 1);
    PUT(w, "_out");
    hilo_sb_u64(w->out, its->number);
    hilo_sb_char(w->out, '"');
  }
}

/* The global name of a value that crosses. Each is written several times. */
static void put_global(writer *w, hilo_inst v) {
  crossing *its = value_of(w, v);
  const size_t at = w->out->n;
  if (its->n) {
    char *to = hilo_sb_reserve(w->out, its->n);
    memcpy(to, w->out->p + its->at, its->n);
    w->out->n += its->n;
    return;
  }
  put_new_global(w, v);
  if (w->out->n > UINT32_MAX) return;
  its->at = (uint32_t)at;
  its->n = (uint32_t)(w->out->n - at);
}

static bool is_intermediate(const writer *w, hilo_inst v) {
  return value_of(w, v)->kind == OUT_OF_PIECE;
}

/* ---- lists ---- */

static void put_separator(writer *w, bool *first) {
  if (!*first) PUT(w, ", ");
  *first = false;
}

static void put_locals(writer *w, hilo_str stem, uint32_t n) {
  hilo_sb_char(w->out, '[');
  for (uint32_t k = 0; k < n; k++) {
    if (k) PUT(w, ", ");
    put_numbered(w, stem, k);
  }
  hilo_sb_char(w->out, ']');
}

static void put_globals(writer *w, const hilo_inst *v, uint32_t n) {
  bool first = true;
  hilo_sb_char(w->out, '[');
  for (uint32_t k = 0; k < n; k++) {
    put_separator(w, &first);
    put_global(w, v[k]);
  }
  hilo_sb_char(w->out, ']');
}

static void put_map(writer *w, hilo_str stem, const hilo_inst *v, uint32_t n) {
  bool first = true;
  hilo_sb_char(w->out, '{');
  for (uint32_t k = 0; k < n; k++) {
    put_separator(w, &first);
    put_numbered(w, stem, k);
    PUT(w, ": ");
    put_global(w, v[k]);
  }
  hilo_sb_char(w->out, '}');
}

static void put_numbers(writer *w, const uint32_t *v, uint32_t n) {
  hilo_sb_char(w->out, '[');
  for (uint32_t k = 0; k < n; k++) {
    if (k) PUT(w, ", ");
    hilo_sb_u64(w->out, v[k]);
  }
  hilo_sb_char(w->out, ']');
}

/* `  "Key": [`, one element a line, `],`. */
#define PUT_LIST(w, key, count, body)                                                              \
  do {                                                                                             \
    hilo_sb_printf((w)->out, "  \"%s\": [", key);                                                  \
    for (uint32_t k = 0; k < (count); k++) {                                                       \
      hilo_sb_cat((w)->out, k ? ",\n    " : "\n    ");                                             \
      body;                                                                                        \
    }                                                                                              \
    hilo_sb_cat((w)->out, (count) ? "\n  ]" : "]");                                                \
  } while (0)

static void put_tensor(writer *w, hilo_inst v, uint32_t k, bool is_input) {
  const hilo_module *m = w->cut->m;
  const hilo_dims dims = hilo_inst_dims(m, v);
  const char *dtype = hilo_dtype_name(hilo_inst_etype(m, v));
  PUT(w, "{\"Name\": ");
  is_input ? put_input_name(w, k) : put_output_name(w, k);
  PUT(w, ", \"Index\": ");
  hilo_sb_u64(w->out, k);
  PUT(w, ", \"DType\": \"");
  hilo_sb_cat(w->out, dtype ? dtype : hilo_etype_table[hilo_inst_etype(m, v)].hlo);
  PUT(w, "\", \"Shape\": [");
  for (uint32_t d = 0; d < dims.n; d++) {
    if (d) PUT(w, ", ");
    hilo_sb_i64(w->out, dims.v[d]);
  }
  PUT(w, "]}");
}

static void put_intermediates(writer *w) {
  bool first = true;
  PUT(w, "  \"IntermediateIOs\": [");
  for (uint32_t p = 0; p < w->cut->n_pieces; p++)
    for (uint32_t k = 0; k < w->cut->pieces[p].n_outputs; k++) {
      if (!is_intermediate(w, w->cut->pieces[p].outputs[k])) continue;
      put_separator(w, &first);
      put_global(w, w->cut->pieces[p].outputs[k]);
    }
  PUT(w, "],\n");
}

static void put_alias(writer *w, const hilo_piece_alias *alias) {
  PUT(w, "{\"Output\": ");
  put_output_name(w, alias->output);
  PUT(w, ", \"Input\": ");
  put_input_name(w, alias->input);
  hilo_sb_printf(w->out, ", \"Kind\": \"%s\"}", alias->kind == HILO_ALIAS_MUST ? "must" : "may");
}

/* Numbers in their stack of the layers of a unit; the piece of copies has none. */
static void put_layers(writer *w, uint32_t unit) {
  bool first = true;
  hilo_sb_char(w->out, '[');
  const hilo_layers *layers = w->cut->layers;
  const uint32_t last = unit < w->cut->units->n ? w->cut->units->v[unit].last : 0;
  for (uint32_t r = unit < w->cut->units->n ? w->cut->units->v[unit].first : 1; r <= last; r++) {
    if (!layers->regions[r].run) continue;
    put_separator(w, &first);
    hilo_sb_u64(w->out, layers->regions[r].layer);
  }
  hilo_sb_char(w->out, ']');
}

static void put_definition(writer *w, uint32_t d) {
  const hilo_cut *cut = w->cut;
  const hilo_piece *piece = &cut->pieces[cut->definitions[d].first];
  const hilo_unit none = {0};
  const hilo_unit *unit = piece->unit < cut->units->n ? &cut->units->v[piece->unit] : &none;
  hilo_sb_printf(w->out, "{\"DefID\": %u, \"Dir\": \"", d);
  hilo_netlist_put_directory(d, w->out);
  PUT(w, "\", \"PenguinFile\": \"");
  hilo_netlist_put_directory(d, w->out);
  hilo_sb_printf(w->out, "/%.*s\", \"Hash\": \"", HILO_FMT(w->n->program));
  w->hash_at[d] = w->out->n;
  hilo_sb_printf(w->out, "%*s\", \"MacCount\": %llu, \"Direction\": \"%s\"", HILO_SHA256_HEX, "",
                 (unsigned long long)unit->macs, flow_names[unit->flow]);
  PUT(w, ", \"Layers\": ");
  put_layers(w, piece->unit);
  PUT(w, ", \"Inputs\": ");
  put_locals(w, HILO_STR("\"input"), piece->n_inputs);
  PUT(w, ", \"Outputs\": ");
  put_locals(w, HILO_STR("\"output"), piece->n_outputs);
  hilo_sb_char(w->out, '}');
}

static void put_instance(writer *w, uint32_t p, uint32_t nth) {
  const hilo_piece *piece = &w->cut->pieces[p];
  hilo_sb_printf(w->out,
                 "{\"InstID\": %u, \"DefID\": %u, \"Name\": \"call_def_%u_instance_%u\", "
                 "\"InpMap\": ",
                 p, piece->definition, piece->definition, nth);
  put_map(w, HILO_STR("\"input"), piece->inputs, piece->n_inputs);
  PUT(w, ", \"OutMap\": ");
  put_map(w, HILO_STR("\"output"), piece->outputs, piece->n_outputs);
  PUT(w, ", \"After\": ");
  put_numbers(w, piece->after, piece->n_after);
  hilo_sb_char(w->out, '}');
}

static void put_instances(writer *w) {
  uint32_t *seen = HILO_NEW_ZEROED(w->scratch, uint32_t, w->cut->n_definitions + 1);
  PUT_LIST(w, "Instances", w->cut->n_pieces,
           put_instance(w, k, seen[w->cut->pieces[k].definition]++));
  PUT(w, ",\n");
}

static void put_part(writer *w, uint32_t p) {
  const hilo_piece *piece = &w->cut->pieces[p];
  PUT(w, "{\"Name\": \"");
  hilo_netlist_put_directory(piece->definition, w->out);
  hilo_sb_printf(w->out, "\", \"InstID\": %u, \"DefID\": %u, \"PartIOs\": {\"Inputs\": ", p,
                 piece->definition);
  put_globals(w, piece->inputs, piece->n_inputs);
  PUT(w, ", \"Outputs\": ");
  put_globals(w, piece->outputs, piece->n_outputs);
  PUT(w, ", \"IntermediateIOs\": [");
  bool first = true;
  for (uint32_t k = 0; k < piece->n_inputs + piece->n_outputs; k++) {
    const hilo_inst v =
        k < piece->n_inputs ? piece->inputs[k] : piece->outputs[k - piece->n_inputs];
    if (!is_intermediate(w, v)) continue;
    put_separator(w, &first);
    put_global(w, v);
  }
  PUT(w, "]}}");
}

static void number_value(writer *w, hilo_inst v, crossing its) {
  uint32_t *value = &w->value[hilo_ix(w->cut->m, v)];
  if (*value) return;
  w->values[w->n_values++] = its;
  *value = w->n_values;
}

/* How many there are at most, and room for the text: what it mostly takes. */
static uint64_t count_crossing(const writer *w) {
  enum { OF_TENSOR = 96, OF_ALIAS = 80, OF_END = 48, OF_PIECE = 320, OF_REST = 4096 };
  const hilo_cut *cut = w->cut;
  uint64_t n_outputs = 0, n_ends = 0;
  for (uint32_t p = 0; p < cut->n_pieces; p++) {
    n_outputs += cut->pieces[p].n_outputs;
    n_ends += (uint64_t)cut->pieces[p].n_inputs + cut->pieces[p].n_outputs;
  }
  const uint64_t n_tensors = (uint64_t)cut->n_inputs + cut->n_outputs;
  hilo_sb_reserve(w->out, OF_REST + n_tensors * OF_TENSOR + (uint64_t)cut->n_aliases * OF_ALIAS +
                              (uint64_t)cut->n_pieces * OF_PIECE + n_ends * OF_END);
  return n_tensors + n_outputs;
}

static void number_values(writer *w) {
  const hilo_cut *cut = w->cut;
  w->value = HILO_NEW_ZEROED(w->scratch, uint32_t, cut->n_inst_slots);
  w->values = HILO_NEW_ARRAY(w->scratch, crossing, count_crossing(w) + 1);
  for (uint32_t k = 0; k < cut->n_inputs; k++)
    number_value(w, cut->inputs[k], (crossing){.kind = INPUT, .number = k});
  for (uint32_t k = 0; k < cut->n_outputs; k++)
    number_value(w, cut->outputs[k], (crossing){.kind = OUTPUT, .number = k});
  for (uint32_t p = 0; p < cut->n_pieces; p++)
    for (uint32_t k = 0; k < cut->pieces[p].n_outputs; k++)
      number_value(w, cut->pieces[p].outputs[k], (crossing){.number = k});
}

void hilo_netlist_set_hash(hilo_sb *text, size_t hash_at, const hilo_digest *digest) {
  char hex[HILO_SHA256_HEX + 1];
  hilo_digest_hex(digest, hex);
  memcpy(text->p + hash_at, hex, HILO_SHA256_HEX);
}

void hilo_netlist_put(const hilo_netlist *n, hilo_arena *scratch, hilo_sb *out, size_t *hash_at) {
  writer w = {.n = n, .cut = n->cut, .scratch = scratch, .out = out, .hash_at = hash_at};
  const hilo_config *config = n->config;
  const hilo_cut *cut = n->cut;
  number_values(&w);
  hilo_sb_printf(
      out, "{\n  \"Version\": 1,\n  \"Signature\": \"%s\",\n  \"TargetInstance\": ", n->signature);
  hilo_sb_json(out, config->target_instance);
  hilo_sb_printf(out, ", \"LogicalNcConfig\": %d, \"NeuronCoresPerSengine\": %d,\n",
                 config->logical_nc_config, config->num_neuroncores_per_sengine);
  PUT_LIST(&w, "Inputs", cut->n_inputs, put_tensor(&w, cut->inputs[k], k, true));
  hilo_sb_cat(out, ",\n");
  PUT_LIST(&w, "Outputs", cut->n_outputs, put_tensor(&w, cut->outputs[k], k, false));
  hilo_sb_cat(out, ",\n");
  put_intermediates(&w);
  PUT_LIST(&w, "Aliases", cut->n_aliases, put_alias(&w, &cut->aliases[k]));
  hilo_sb_cat(out, ",\n");
  PUT_LIST(&w, "Definitions", cut->n_definitions, put_definition(&w, k));
  hilo_sb_cat(out, ",\n");
  put_instances(&w);
  PUT_LIST(&w, "PartMap", cut->n_pieces, put_part(&w, k));
  hilo_sb_cat(out, "\n}\n");
}

/* ---- invariants ---- */

static hilo_status fault(hilo_diags *diags, uint32_t p, const char *what) {
  return hilo_diag_add(diags, HILO_DIAG_MOD900, NULL, "partition %u %s", p, what);
}

/* Every input of a piece is the module's, or an output of a piece before it. */
static hilo_status check_piece(const hilo_cut *cut, uint32_t p, const uint64_t *is_input,
                               hilo_diags *diags) {
  const hilo_piece *piece = &cut->pieces[p];
  const hilo_piece *first = &cut->pieces[cut->definitions[piece->definition].first];
  if (first->n_inputs != piece->n_inputs || first->n_outputs != piece->n_outputs)
    return fault(diags, p, "has another interface than its definition");
  for (uint32_t k = 0; k < piece->n_inputs; k++) {
    const uint32_t ix = hilo_ix(cut->m, piece->inputs[k]);
    if (hilo_bitset_get(is_input, ix)) continue;
    if (!cut->producer[ix]) return fault(diags, p, "has an input nobody computes");
    if (cut->producer[ix] > p) return fault(diags, p, "needs a value of a later one");
  }
  for (uint32_t k = 0; k < piece->n_outputs; k++)
    if (cut->producer[hilo_ix(cut->m, piece->outputs[k])] != p + 1)
      return fault(diags, p, "computes a value that another one computes as well");
  for (uint32_t k = 0; k < piece->n_after; k++)
    if (piece->after[k] >= p) return fault(diags, p, "must run behind a later one");
  return HILO_OK;
}

hilo_status hilo_netlist_check(const hilo_cut *cut, hilo_diags *diags, hilo_arena *scratch) {
  uint64_t *is_input = hilo_bitset_create(scratch, cut->n_inst_slots);
  for (uint32_t k = 0; k < cut->n_inputs; k++)
    hilo_bitset_set(is_input, hilo_ix(cut->m, cut->inputs[k]));
  for (uint32_t p = 0; p < cut->n_pieces; p++) HILO_TRY(check_piece(cut, p, is_input, diags));
  for (uint32_t k = 0; k < cut->n_outputs; k++)
    if (!cut->producer[hilo_ix(cut->m, cut->outputs[k])])
      return hilo_diag_add(diags, HILO_DIAG_MOD900, NULL, "no partition computes output %u", k);
  for (uint32_t d = 0; d < cut->n_definitions; d++)
    if (!cut->definitions[d].n_instances)
      return hilo_diag_add(diags, HILO_DIAG_MOD900, NULL, "definition %u has no instance", d);
  return HILO_OK;
}
