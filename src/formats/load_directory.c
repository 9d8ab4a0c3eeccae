#include "formats/load_directory.h"

#include "base/file.h"
#include "formats/load.h"

#include <inttypes.h>
#include <jansson.h>

enum { MAX_METADATA_BYTES = 64 << 20 };

typedef struct {
  hilo_str key, file;
} weight;

typedef struct {
  hilo_str file; /* of metadata.json, for messages */
  hilo_str model;
  weight *weights;
  uint32_t n_weights;
} metadata;

static hilo_status bad(hilo_diags *diags, hilo_str file, const char *fmt, ...) HILO_PRINTF(3, 4);
static hilo_status bad(hilo_diags *diags, hilo_str file, const char *fmt, ...) {
  hilo_place place = HILO_NOWHERE;
  place.file = file;
  va_list args;
  va_start(args, fmt);
  const hilo_status status = hilo_diag_vadd(diags, HILO_DIAG_MOD016, &place, fmt, args);
  va_end(args);
  return status;
}

static hilo_str join(hilo_arena *arena, const char *directory, hilo_str name) {
  hilo_sb sb = hilo_sb_make(arena);
  hilo_sb_cat(&sb, directory);
  if (sb.n && sb.p[sb.n - 1] != '/') hilo_sb_char(&sb, '/');
  hilo_sb_str(&sb, name);
  const hilo_str path = hilo_str_copy(arena, hilo_sb_view(&sb));
  hilo_sb_free(&sb);
  return path;
}

static hilo_str json_text(hilo_arena *arena, const json_t *value) {
  return hilo_str_copy(arena, (hilo_str){json_string_value(value), json_string_length(value)});
}

/* What metadata.json says. May unwind. */
static hilo_status read_object(hilo_arena *arena, json_t *root, hilo_diags *diags, metadata *out) {
  if (!json_is_object(root)) return bad(diags, out->file, "it holds no JSON object");
  const json_t *model = json_object_get(root, "model_files");
  if (json_is_array(model) && json_array_size(model) == 1) model = json_array_get(model, 0);
  if (!json_is_string(model) || !json_string_length(model))
    return bad(diags, out->file, "`model_files` must be the name of one file");
  out->model = json_text(arena, model);
  json_t *weights = json_object_get(root, "weights");
  if (!weights) weights = json_object_get(root, "weight_files");
  if (weights && !json_is_object(weights))
    return bad(diags, out->file, "`weights` must be an object of parameter numbers and files");
  out->weights = HILO_NEW_ARRAY(arena, weight, json_object_size(weights) + 1);
  const char *key;
  json_t *value;
  json_object_foreach(weights, key, value) {
    if (!json_is_string(value) || !json_string_length(value))
      return bad(diags, out->file, "the weight `%s` must be the name of a file", key);
    out->weights[out->n_weights++] =
        (weight){hilo_str_copy(arena, hilo_str_of(key)), json_text(arena, value)};
  }
  return HILO_OK;
}

static hilo_status read_metadata(hilo_arena *arena, hilo_diags *diags, metadata *out) {
  hilo_str bytes;
  hilo_diags own = hilo_diags_make(arena);
  if (hilo_file_read(arena, out->file.p, MAX_METADATA_BYTES, &own, &bytes) != HILO_OK)
    return bad(diags, out->file, "%.*s", HILO_FMT(own.list[0].message));
  json_error_t error;
  json_t *root = json_loadb(bytes.p, bytes.n, JSON_REJECT_DUPLICATES, &error);
  if (!root)
    return bad(diags, out->file, "line %d, column %d: %s", error.line, error.column, error.text);
  /* jansson's memory is not the arena's: it has to be freed if the arena unwinds. */
  jmp_buf here, *before = arena->oom;
  if (setjmp(here)) {
    arena->oom = before;
    json_decref(root);
    hilo_arena_out_of_memory(arena);
  }
  arena->oom = &here;
  const hilo_status status = read_object(arena, root, diags, out);
  arena->oom = before;
  json_decref(root);
  return status;
}

/* The parameter that a key names by number or by name; -1: none. */
static int64_t find_param(const hilo_module *m, hilo_str key, hilo_arena *arena) {
  int64_t number;
  const uint32_t n = hilo_comp_n_params(m, m->entry);
  if (hilo_str_parse_i64(key, &number)) return number >= 0 && number < n ? number : -1;
  for (uint32_t k = 0; k < n; k++)
    if (hilo_str_eq(hilo_inst_name_text(m, hilo_comp_param(m, m->entry, k), arena), key)) return k;
  return -1;
}

static hilo_status bind_weights(hilo_arena *arena, const char *path, const metadata *meta,
                                hilo_diags *diags, hilo_module *m) {
  const uint32_t n = hilo_comp_n_params(m, m->entry);
  hilo_status status = HILO_OK;
  if (!meta->n_weights) return HILO_OK;
  m->header.weight_files = HILO_NEW_ZEROED(arena, hilo_string, (size_t)n + 1);
  for (uint32_t i = 0; i < meta->n_weights; i++) {
    const int64_t k = find_param(m, meta->weights[i].key, arena);
    if (k < 0)
      status = bad(diags, meta->file,
                   "there is a weight for `%.*s`, but the module has %u parameters: a key is a "
                   "parameter's number or name",
                   HILO_FMT(meta->weights[i].key), n);
    else if (m->header.weight_files[k].ix)
      status = bad(diags, meta->file, "parameter %" PRId64 " has two weights", k);
    else
      m->header.weight_files[k] = hilo_module_string(m, join(arena, path, meta->weights[i].file));
  }
  return status;
}

hilo_status hilo_load_directory(hilo_arena *arena, const char *path, hilo_queue *queue,
                                hilo_diags *diags, hilo_module **out) {
  metadata meta = {.file = join(arena, path, HILO_STR("metadata.json"))};
  HILO_TRY(read_metadata(arena, diags, &meta));
  const hilo_str model = join(arena, path, meta.model);
  hilo_diags own = hilo_diags_make(arena);
  hilo_str bytes;
  if (hilo_file_read_with(arena, model.p, (uint64_t)4 << 30, queue, &own, &bytes) != HILO_OK) {
    hilo_place place = HILO_NOWHERE;
    place.file = model;
    return hilo_diag_add(diags, HILO_DIAG_MOD003, &place, "%.*s", HILO_FMT(own.list[0].message));
  }
  HILO_TRY(hilo_load_bytes_with(arena, bytes, model, queue, diags, out));
  return bind_weights(arena, path, &meta, diags, *out);
}
