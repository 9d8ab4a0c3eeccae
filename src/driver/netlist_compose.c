/* The module is written as HLO text and read: the definitions' computations, their names behind one
 * prefix for each definition, then the entry. So the reader and the verifier check the wiring. */
#include "driver/netlist_compose.h"

#include <jansson.h>

#include "base/file.h"
#include "formats/hlo_text.h"
#include "formats/load.h"
#include "ir/hlo_print.h"
#include "penguin/emit.h"

#define MAX_NETLIST_BYTES (1ull << 30)

typedef struct {
  hilo_arena *arena;
  const char *path;
  hilo_diags *diags;
  const json_t *root;
  hilo_module **definitions;
  size_t n_definitions;
  json_t *tokens; /* an object with the names of inputs and outputs that are tokens; NULL: none */
  hilo_sb text;
} composer;

static hilo_status bad(const composer *c, const char *what, size_t k) {
  hilo_place place = HILO_NOWHERE;
  place.file = hilo_str_of(c->path);
  return hilo_diag_add(c->diags, HILO_DIAG_EMOD931, &place, "%s %zu of the netlist is damaged",
                       what, k);
}

static const json_t *list(const composer *c, const char *key) {
  return json_object_get(c->root, key);
}

static hilo_str string_of(const json_t *object, const char *key) {
  const char *s = json_string_value(json_object_get(object, key));
  return s ? hilo_str_of(s) : (hilo_str){0};
}

/* ---- definitions ---- */

/* Names of other modules stand beside these. */
static void prefix_names(hilo_module *m, size_t definition, hilo_arena *arena) {
  hilo_sb sb = hilo_sb_make(arena);
  HILO_FOR_EACH_COMP(m, comp) {
    hilo_name name = hilo_comp_name(m, comp);
    hilo_sb_clear(&sb);
    hilo_sb_printf(&sb, "d%zu_", definition);
    hilo_sb_str(&sb, hilo_string_of(m, name.base));
    hilo_comp_set_name(m, comp, (hilo_name){hilo_module_string(m, hilo_sb_view(&sb)), name.num});
    HILO_FOR_EACH_INST(m, comp, i) {
      name = hilo_inst_name(m, i);
      hilo_sb_clear(&sb);
      hilo_sb_printf(&sb, "d%zu_", definition);
      hilo_sb_str(&sb, hilo_string_of(m, name.base));
      hilo_inst_set_name(m, i, (hilo_name){hilo_module_string(m, hilo_sb_view(&sb)), name.num});
    }
  }
  hilo_sb_free(&sb);
}

/* The computations of a module: its text without the first line and without `ENTRY`. */
static void put_computations(composer *c, const hilo_module *m) {
  const hilo_print_options options = {
      .no_metadata = true, .style = HILO_TEXT_KNOWN | HILO_TEXT_PERCENT | HILO_TEXT_SIGNATURES};
  hilo_sb sb = hilo_sb_make(c->arena);
  hilo_hlo_print(m, &options, &sb);
  hilo_str rest = hilo_sb_view(&sb);
  for (bool first = true; rest.n; first = false) {
    const char *end = memchr(rest.p, '\n', rest.n);
    hilo_str line = {rest.p, end ? (size_t)(end - rest.p) + 1 : rest.n};
    rest.p += line.n;
    rest.n -= line.n;
    if (first) continue;
    if (hilo_str_starts(line, "ENTRY ")) line.p += 6, line.n -= 6;
    hilo_sb_str(&c->text, line);
  }
  hilo_sb_free(&sb);
}

/* The definition of an instance; NULL: there is none. */
static const hilo_module *definition_of(const composer *c, const json_t *instance) {
  const json_t *id = json_object_get(instance, "DefID");
  const json_int_t definition = json_is_integer(id) ? json_integer_value(id) : -1;
  return definition < 0 || (size_t)definition >= c->n_definitions ? NULL
                                                                  : c->definitions[definition];
}

static hilo_status load_definition(composer *c, size_t k) {
  const hilo_str directory = string_of(json_array_get(list(c, "Definitions"), k), "Dir");
  if (!directory.n) return bad(c, "definition", k);
  const char *in = hilo_path_join(c->arena, hilo_path_directory(hilo_str_of(c->path)), directory);
  const char *path = hilo_path_join(c->arena, hilo_str_of(in), HILO_STR("partition.hlo"));
  HILO_TRY(hilo_load(c->arena, path, c->diags, &c->definitions[k]));
  prefix_names(c->definitions[k], k, c->arena);
  put_computations(c, c->definitions[k]);
  return HILO_OK;
}

/* ---- tokens ---- */

/* Programs take and return them as u8, which is what the netlist says; so it is the definitions
 * that tell. */
static void see_token(composer *c, const hilo_module *m, hilo_type type, const json_t *map,
                      const char *stem, uint32_t k) {
  char local[32];
  if (hilo_type_etype(&m->types, type) != HILO_TOKEN) return;
  snprintf(local, sizeof(local), "%s%u", stem, k);
  const char *name = json_string_value(json_object_get(map, local));
  if (!c->tokens) c->tokens = json_object();
  if (name) json_object_set_new(c->tokens, name, json_true());
}

static void find_tokens(composer *c) {
  for (size_t k = 0; k < json_array_size(list(c, "Instances")); k++) {
    const json_t *instance = json_array_get(list(c, "Instances"), k);
    const hilo_module *m = definition_of(c, instance);
    if (!m) continue;
    const hilo_type root = hilo_inst_type(m, hilo_comp_root(m, m->entry));
    for (uint32_t p = 0; p < hilo_comp_n_params(m, m->entry); p++)
      see_token(c, m, hilo_inst_type(m, hilo_comp_param(m, m->entry, p)),
                json_object_get(instance, "InpMap"), "input", p);
    for (uint32_t o = 0; o < hilo_type_n_elements_of_tuple(&m->types, root); o++)
      see_token(c, m, hilo_type_element(&m->types, root, o), json_object_get(instance, "OutMap"),
                "output", o);
  }
}

static bool is_token(const composer *c, const json_t *tensor) {
  const char *name = json_string_value(json_object_get(tensor, "Name"));
  return c->tokens && name && json_object_get(c->tokens, name);
}

/* ---- the entry ---- */

static void put_type(composer *c, const hilo_module *m, hilo_type type) {
  hilo_type_print(&m->types, &m->records, &m->strings, type, true, &c->text);
}

static hilo_etype etype_of(hilo_str dtype) {
  for (hilo_etype t = HILO_PRED; t < HILO_ETYPE_COUNT; t++) {
    const char *name = t == HILO_TOKEN ? NULL : hilo_dtype_name(t);
    if (hilo_str_is(dtype, name ? name : hilo_etype_table[t].hlo)) return t;
  }
  return HILO_INVALID;
}

/* `f32[2,3]` of a tensor of the interface. */
static bool put_tensor_type(composer *c, const json_t *tensor) {
  if (is_token(c, tensor)) {
    hilo_sb_cat(&c->text, "token[]");
    return true;
  }
  const hilo_etype etype = etype_of(string_of(tensor, "DType"));
  if (etype == HILO_INVALID) return false;
  hilo_sb_printf(&c->text, "%s[", hilo_etype_table[etype].hlo);
  const json_t *shape = json_object_get(tensor, "Shape");
  for (size_t d = 0; d < json_array_size(shape); d++)
    hilo_sb_printf(&c->text, "%s%lld", d ? "," : "",
                   (long long)json_integer_value(json_array_get(shape, d)));
  hilo_sb_char(&c->text, ']');
  return true;
}

static hilo_status put_inputs(composer *c) {
  const json_t *inputs = list(c, "Inputs");
  for (size_t k = 0; k < json_array_size(inputs); k++) {
    const json_t *input = json_array_get(inputs, k);
    hilo_sb_printf(&c->text, "  %%%.*s = ", HILO_FMT(string_of(input, "Name")));
    if (!put_tensor_type(c, input)) return bad(c, "input", k);
    hilo_sb_printf(&c->text, " parameter(%zu)\n", k);
  }
  return HILO_OK;
}

static void put_call(composer *c, const json_t *instance, size_t k, const hilo_module *m) {
  const json_t *map = json_object_get(instance, "InpMap");
  const json_t *after = json_object_get(instance, "After");
  hilo_sb_printf(&c->text, "  %%instance.%zu = ", k);
  put_type(c, m, hilo_inst_type(m, hilo_comp_root(m, m->entry)));
  hilo_sb_cat(&c->text, " call(");
  for (uint32_t p = 0; p < hilo_comp_n_params(m, m->entry); p++) {
    char local[32];
    snprintf(local, sizeof(local), "input%u", p);
    hilo_sb_printf(&c->text, "%s%%%.*s", p ? ", " : "", HILO_FMT(string_of(map, local)));
  }
  hilo_sb_cat(&c->text, "), to_apply=%");
  hilo_name_print(m, hilo_comp_name(m, m->entry), &c->text);
  for (size_t a = 0; a < json_array_size(after); a++)
    hilo_sb_printf(&c->text, "%s%%instance.%lld", a ? ", " : ", control-predecessors={",
                   (long long)json_integer_value(json_array_get(after, a)));
  hilo_sb_cat(&c->text, json_array_size(after) ? "}\n" : "\n");
}

static hilo_status put_instance(composer *c, size_t k) {
  const json_t *instance = json_array_get(list(c, "Instances"), k);
  const hilo_module *m = definition_of(c, instance);
  if (!m) return bad(c, "instance", k);
  put_call(c, instance, k, m);
  const hilo_type root = hilo_inst_type(m, hilo_comp_root(m, m->entry));
  const json_t *map = json_object_get(instance, "OutMap");
  for (uint32_t o = 0; o < hilo_type_n_elements_of_tuple(&m->types, root); o++) {
    char local[32];
    snprintf(local, sizeof(local), "output%u", o);
    hilo_sb_printf(&c->text, "  %%%.*s = ", HILO_FMT(string_of(map, local)));
    put_type(c, m, hilo_type_element(&m->types, root, o));
    hilo_sb_printf(&c->text, " get-tuple-element(%%instance.%zu), index=%u\n", k, o);
  }
  return HILO_OK;
}

/* The type of each output is that of what computes it. */
static hilo_status put_root(composer *c) {
  const json_t *outputs = list(c, "Outputs");
  hilo_sb_cat(&c->text, "  ROOT %outputs = (");
  for (size_t k = 0; k < json_array_size(outputs); k++) {
    hilo_sb_cat(&c->text, k ? ", " : "");
    if (!put_tensor_type(c, json_array_get(outputs, k))) return bad(c, "output", k);
  }
  hilo_sb_cat(&c->text, ") tuple(");
  for (size_t k = 0; k < json_array_size(outputs); k++)
    hilo_sb_printf(&c->text, "%s%%%.*s", k ? ", " : "",
                   HILO_FMT(string_of(json_array_get(outputs, k), "Name")));
  hilo_sb_cat(&c->text, ")\n");
  return HILO_OK;
}

static hilo_status compose(composer *c) {
  c->n_definitions = json_array_size(list(c, "Definitions"));
  c->definitions = HILO_NEW_ZEROED(c->arena, hilo_module *, c->n_definitions + 1);
  for (size_t k = 0; k < c->n_definitions; k++) HILO_TRY(load_definition(c, k));
  find_tokens(c);
  hilo_sb_cat(&c->text, "ENTRY %netlist {\n");
  HILO_TRY(put_inputs(c));
  for (size_t k = 0; k < json_array_size(list(c, "Instances")); k++) HILO_TRY(put_instance(c, k));
  HILO_TRY(put_root(c));
  hilo_sb_cat(&c->text, "}\n");
  return HILO_OK;
}

hilo_status hilo_netlist_compose(hilo_arena *arena, const char *path, hilo_diags *diags,
                                 hilo_module **out) {
  composer c = {.arena = arena, .path = path, .diags = diags};
  hilo_str text;
  HILO_TRY(hilo_file_read(arena, path, MAX_NETLIST_BYTES, diags, &text));
  json_error_t error;
  json_t *root = json_loadb(text.p, text.n, 0, &error);
  if (!json_is_object(root)) {
    json_decref(root);
    hilo_place place = HILO_NOWHERE;
    place.file = hilo_str_of(path);
    return hilo_diag_add(diags, HILO_DIAG_EMOD931, &place, "it is no netlist: %s", error.text);
  }
  c.root = root;
  c.text = hilo_sb_make(arena);
  hilo_sb_cat(&c.text, "HloModule netlist\n\n");
  const hilo_status status = compose(&c);
  json_decref(c.tokens);
  json_decref(root);
  HILO_TRY(status);
  HILO_TRY(hilo_hlo_text_read(arena, hilo_sb_view(&c.text), hilo_str_of(path), diags, out));
  if (c.n_definitions) {
    (*out)->header.num_partitions = c.definitions[0]->header.num_partitions;
    (*out)->header.num_replicas = c.definitions[0]->header.num_replicas;
  }
  return HILO_OK;
}
