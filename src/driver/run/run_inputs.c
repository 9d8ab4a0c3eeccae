#include "driver/run/run_inputs.h"

#include "base/file.h"
#include "driver/run/run_seed.h"

#include <inttypes.h>
#include <jansson.h>
#include <sys/stat.h>

enum { MAX_CASE_BYTES = 64 << 20 };

/* ---- the case ---- */

static hilo_status bad_case(hilo_diags *diags, const char *path, const char *what) {
  hilo_place place = HILO_NOWHERE;
  place.file = hilo_str_of(path);
  return hilo_diag_add(diags, HILO_DIAG_EMOD931, &place, "%s", what);
}

const char *hilo_case_path(hilo_arena *arena, const hilo_case *c, const char *name) {
  hilo_sb sb = hilo_sb_make(arena);
  hilo_sb_printf(&sb, "%.*s/%s", HILO_FMT(c->folder), name);
  return hilo_sb_cstr(&sb);
}

static bool is_directory(const char *path) {
  struct stat st;
  return !stat(path, &st) && S_ISDIR(st.st_mode);
}

static hilo_str folder_of(hilo_arena *arena, hilo_str path) {
  if (is_directory(hilo_str_copy(arena, path).p)) return path;
  while (path.n && path.p[path.n - 1] != '/') path.n--;
  return path.n ? (hilo_str){path.p, path.n - (path.n > 1)} : HILO_STR(".");
}

static double number_of(const json_t *object, const char *key) {
  return json_number_value(json_object_get(object, key));
}

static int64_t count_of(const json_t *object, const char *key) {
  const int64_t n = json_integer_value(json_object_get(object, key));
  return n > 0 ? n : 1;
}

static void read_fields(hilo_arena *arena, const json_t *root, hilo_case *out) {
  out->n_replicas = count_of(root, "num_replicas");
  out->n_partitions = count_of(root, "num_partitions");
  const json_t *outputs = json_object_get(root, "outputs");
  out->n_outputs = (uint32_t)json_array_size(outputs);
  hilo_tolerance *tolerances = HILO_NEW_ZEROED(arena, hilo_tolerance, out->n_outputs + 1);
  for (uint32_t k = 0; k < out->n_outputs; k++) {
    const json_t *one = json_array_get(outputs, k);
    tolerances[k] =
        (hilo_tolerance){.rtol = number_of(one, "rtol"), .atol = number_of(one, "atol")};
  }
  out->tolerances = tolerances;
}

hilo_status hilo_case_read(hilo_arena *arena, hilo_str path, hilo_diags *diags, hilo_case *out) {
  *out = (hilo_case){.folder = folder_of(arena, path)};
  const char *file = hilo_case_path(arena, out, "case.json");
  hilo_str text;
  HILO_TRY(hilo_file_read(arena, file, MAX_CASE_BYTES, diags, &text));
  json_error_t error;
  json_t *root = json_loadb(text.p, text.n, 0, &error);
  if (!json_is_object(root)) {
    json_decref(root);
    return bad_case(diags, file, "it is not a JSON object");
  }
  read_fields(arena, root, out);
  json_decref(root);
  struct stat st;
  out->has_arrays = !stat(hilo_case_path(arena, out, "inputs.npz"), &st) &&
                    !stat(hilo_case_path(arena, out, "outputs.npz"), &st);
  return HILO_OK;
}

/* ---- the inputs ---- */

typedef struct {
  const hilo_module *m;
  const hilo_leaves *leaves;
  uint32_t n_ranks, n_arrays;
  uint32_t *leaf_of; /* by number */
  uint64_t *given;   /* a bit a leaf */
  hilo_array *v;
  hilo_arena *arena;
  hilo_diags *diags;
} gatherer;

/* The leaf of `arg<number>`. */
static hilo_status leaf_of_name(const gatherer *g, hilo_str name, uint32_t *leaf) {
  uint64_t number;
  if (hilo_str_starts(name, "arg") &&
      hilo_str_parse_u64((hilo_str){name.p + 3, name.n - 3}, &number) && number < g->n_arrays) {
    *leaf = g->leaf_of[number];
    return HILO_OK;
  }
  return hilo_diag_add(g->diags, HILO_DIAG_EMOD931, NULL,
                       "`%.*s` is no input; the module has %u, of names arg0, arg1, …",
                       HILO_FMT(name), g->n_arrays);
}

static hilo_status give(gatherer *g, hilo_str name, const hilo_npy *npy) {
  uint32_t leaf = 0;
  HILO_TRY(leaf_of_name(g, name, &leaf));
  hilo_sb what = hilo_sb_make(g->arena);
  hilo_sb_printf(&what, "`%.*s`", HILO_FMT(name));
  hilo_bitset_set(g->given, leaf);
  return hilo_array_from_npy(g->arena, &g->m->types, g->leaves->v[leaf].type, npy, g->n_ranks,
                             hilo_sb_cstr(&what), g->diags, &g->v[leaf]);
}

static hilo_status give_archive(gatherer *g, const char *path) {
  hilo_npz npz = {0};
  hilo_status status = HILO_OK;
  HILO_TRY(hilo_npz_read(g->arena, path, g->diags, &npz));
  for (uint32_t k = 0; k < npz.n; k++) {
    const hilo_status one = give(g, npz.v[k].name, &npz.v[k].array);
    if (one != HILO_OK) status = one;
  }
  return status;
}

/* `K=F.npy` */
static hilo_status give_file(gatherer *g, hilo_str word) {
  const char *equals = word.n ? memchr(word.p, '=', word.n) : NULL;
  if (!equals)
    return hilo_diag_add(g->diags, HILO_DIAG_EMOD931, NULL,
                         "`--input=%.*s` is not of the form K=F.npy", HILO_FMT(word));
  hilo_npy npy = {0};
  HILO_TRY(hilo_npy_read(g->arena, equals + 1, g->diags, &npy));
  return give(g, (hilo_str){word.p, (size_t)(equals - word.p)}, &npy);
}

static void number_leaves(gatherer *g) {
  g->leaf_of = HILO_NEW_ARRAY(g->arena, uint32_t, g->leaves->n + 1);
  for (uint32_t k = 0; k < g->leaves->n; k++)
    if (hilo_type_etype(&g->m->types, g->leaves->v[k].type) != HILO_TOKEN)
      g->leaf_of[g->n_arrays++] = k;
}

hilo_status hilo_gather_inputs(const hilo_module *m, const hilo_leaves *leaves,
                               const hilo_config *config, const hilo_case *c, uint32_t n_replicas,
                               uint32_t n_partitions, hilo_arena *arena, hilo_diags *diags,
                               hilo_arrays *out) {
  gatherer g = {.m = m,
                .leaves = leaves,
                .n_ranks = n_replicas * n_partitions,
                .arena = arena,
                .diags = diags};
  number_leaves(&g);
  g.given = hilo_bitset_create(arena, leaves->n);
  g.v = HILO_NEW_ZEROED(arena, hilo_array, leaves->n + 1);
  if (c->folder.n && c->has_arrays)
    HILO_TRY(give_archive(&g, hilo_case_path(arena, c, "inputs.npz")));
  if (config->inputs.n) HILO_TRY(give_archive(&g, config->inputs.p));
  for (uint32_t k = 0; k < config->input_arrays.n; k++)
    HILO_TRY(give_file(&g, config->input_arrays.v[k]));
  HILO_TRY(hilo_seed_inputs(m, leaves, config->seed, n_replicas, n_partitions,
                            (uint64_t)config->max_bytes, g.given, arena, diags, out));
  for (uint32_t k = 0; k < leaves->n; k++)
    if (hilo_bitset_get(g.given, k)) out->v[k] = g.v[k];
  return HILO_OK;
}
