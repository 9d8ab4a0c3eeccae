/* Shardings: the text of mhlo.sharding as HLO has it, Shardy's `<@mesh, [{"x"}, {}]>` in named
 * form, meshes, and replica groups that are given by the axes of a mesh. */
#include "formats/mlir/mlir_impl.h"

#include "formats/device_list.h"
#include "formats/hlo_text.h"

bool hilo_mlir_sharding(mlir_reader *r, hilo_str text, const char *at, hilo_record *sharding,
                        hilo_record *spelling) {
  const hilo_string key = hilo_string_put(&r->m->strings, text);
  const uint32_t known = hilo_map_get(&r->shardings, key.ix, 0);
  if (known) {
    sharding->ix = known;
    spelling->ix = hilo_map_get(&r->spellings, key.ix, 0);
    return true;
  }
  hilo_str message = {0};
  if (!hilo_hlo_text_read_sharding(r->m, &r->scratch->arena, text, sharding, spelling, &message))
    return hilo_mlir_fail(r, HILO_DIAG_EMOD904, at, "the sharding is not understood: %.*s",
                          (int)(message.n > 400 ? 400 : message.n), message.p);
  hilo_map_set(&r->shardings, key.ix, sharding->ix);
  hilo_map_set(&r->spellings, key.ix, spelling->ix);
  return true;
}

/* ---- Shardy ---- */

bool hilo_mlir_sdy_sharding(mlir_reader *r, hilo_record *out) {
  mlir_detour detour;
  if (!hilo_mlir_enter_alias(r, &detour)) return false;
  const hilo_str rest = {r->p, (size_t)(r->end - r->p)};
  if (hilo_str_starts(rest, "#sdy.sharding")) r->p += strlen("#sdy.sharding");
  mlir_skip(r);
  const char *from = r->p;
  if (*from != '<') return hilo_mlir_want_slow(r, '<', "to start a sharding");
  if (!hilo_mlir_skip_group(r)) return false;
  hilo_sb sb = hilo_sb_make(&r->scratch->arena);
  if (!hilo_mlir_keep_text(r, from, r->p, &sb)) return false;
  enum { NAMED = 100 };
  const hilo_sharding_attrs s = {.kind = NAMED,
                                 .named = hilo_string_put(&r->m->strings, hilo_sb_view(&sb))};
  *out = hilo_sharding_put(&r->m->records, &s);
  hilo_sb_free(&sb);
  hilo_mlir_leave_alias(r, &detour);
  return true;
}

/* ---- meshes ---- */

static bool add_mesh(mlir_reader *r, hilo_str name, hilo_str text, hilo_str attributes,
                     const char *at) {
  const hilo_string handle = hilo_string_put(&r->m->strings, name);
  for (uint32_t i = 0; i < r->m->header.meshes.n; i++)
    if (r->m->header.meshes.v[i].name.ix == handle.ix)
      return hilo_mlir_fail(r, HILO_DIAG_EMOD904, at, "the mesh `@%.*s` is defined twice",
                            (int)(name.n > 100 ? 100 : name.n), name.p);
  const hilo_mesh mesh = {handle, hilo_string_put(&r->m->strings, text),
                          hilo_string_put(&r->m->strings, attributes)};
  HILO_PUSH(r->arena, &r->m->header.meshes, mesh);
  return true;
}

/* `{…}` as it stands, aliases expanded, if it stands here. */
static bool mesh_attributes(mlir_reader *r, hilo_str *out) {
  mlir_skip(r);
  if (*r->p != '{') return true;
  const char *from = r->p;
  hilo_sb sb = hilo_sb_make(&r->scratch->arena);
  if (!hilo_mlir_skip_group(r) || !hilo_mlir_keep_text(r, from, r->p, &sb)) return false;
  *out = hilo_sb_view(&sb);
  return true;
}

/* `@name = <["x"=2]> {…}`, or `() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "name"}> : () -> ()`. */
bool hilo_mlir_mesh(mlir_reader *r, mlir_op *o) {
  hilo_str name = {0}, text = {0}, attributes = {0};
  hilo_record meta;
  uint32_t ignored[4];
  if (!o->is_generic) {
    if (!hilo_mlir_symbol_name(r, &name) || !mlir_want(r, '=', "and the mesh")) return false;
    mlir_skip(r);
    const char *from = r->p;
    if (*from != '<') return hilo_mlir_want_slow(r, '<', "to start a mesh");
    if (!hilo_mlir_skip_group(r)) return false;
    text = (hilo_str){from, (size_t)(r->p - from)};
    return mesh_attributes(r, &attributes) && add_mesh(r, name, text, attributes, o->at) &&
           hilo_mlir_loc(r, &meta);
  }
  if (!mlir_want(r, '(', "as in generic form") || !mlir_want(r, ')', "as there are no operands"))
    return false;
  const bool properties = mlir_eat(r, '<');
  if (!mlir_want(r, '{', "to start the attributes of a mesh")) return false;
  while (!mlir_eat(r, '}')) {
    hilo_str key;
    if (!hilo_mlir_attr_name(r, &key) || !mlir_want(r, '=', "and a value")) return false;
    mlir_skip(r);
    if (hilo_str_is(key, "sym_name")) {
      if (!hilo_mlir_string_attr(r, &name)) return false;
    } else {
      const char *from = r->p;
      if (!hilo_mlir_skip_value(r)) return false;
      const char *angle = memchr(from, '<', (size_t)(r->p - from));
      if (hilo_str_is(key, "mesh") && angle) text = (hilo_str){angle, (size_t)(r->p - angle)};
    }
    if (!mlir_eat(r, ',') && *r->p != '}') return hilo_mlir_expected(r, "`,` or `}`");
  }
  if (properties && !mlir_want(r, '>', "behind properties")) return false;
  if (!name.n || !text.n) return hilo_mlir_expected(r, "the properties `mesh` and `sym_name`");
  if (properties && !mesh_attributes(r, &attributes)) return false;
  return add_mesh(r, name, text, attributes, o->at) &&
         mlir_want(r, ':', "and the type of the operation") &&
         hilo_mlir_function_type(r, &ignored[0], &ignored[1], &ignored[2], &ignored[3]) &&
         hilo_mlir_loc(r, &meta);
}

/* ---- groups over axes of a mesh ---- */

typedef struct {
  hilo_str names[HILO_MAX_RANK];
  int64_t sizes[HILO_MAX_RANK];
  uint32_t n;
} mesh_axes;

/* `<["x"=2, "y"=4]…` as the text of a mesh has it, blanks or not. */
static bool mesh_sizes(hilo_str text, mesh_axes *out) {
  const char *p = text.p, *end = text.p + text.n;
  out->n = 0;
  while (p < end && *p != '[') p++;
  while (p < end && *p != ']') {
    const char *quote = memchr(p, '"', (size_t)(end - p));
    const char *close = quote ? memchr(quote + 1, '"', (size_t)(end - quote - 1)) : NULL;
    if (!close || out->n == HILO_MAX_RANK) return false;
    out->names[out->n] = (hilo_str){quote + 1, (size_t)(close - quote - 1)};
    for (p = close + 1; p < end && (mlir_is(*p, MLIR_BLANK) || *p == '=');) p++;
    const char *digits = p;
    while (p < end && mlir_is(*p, MLIR_DIGIT)) p++;
    if (!hilo_str_parse_i64((hilo_str){digits, (size_t)(p - digits)}, &out->sizes[out->n++]))
      return false;
    while (p < end && (mlir_is(*p, MLIR_BLANK) || *p == ',')) p++;
  }
  return out->n > 0;
}

/* `<name = "x", sub_axis_info = (1)2>` or `<name = "x">`. */
static bool axis_ref(mlir_reader *r, const mesh_axes *mesh, hilo_mesh_axis *out) {
  hilo_str name = {0};
  *out = (hilo_mesh_axis){.axis = -1};
  mlir_skip(r);
  const char *at = r->p;
  if (*r->p == '#') r->p += mlir_suffix_at(r->p + 1).n + 1;
  if (!mlir_want(r, '<', "to start an axis") || !hilo_mlir_want_word(r, "name") ||
      !mlir_want(r, '=', "and the name of the axis") ||
      !hilo_mlir_string(r, &name, "the name of an axis"))
    return false;
  if (mlir_eat(r, ',')) {
    if (!hilo_mlir_want_word(r, "sub_axis_info") || !mlir_want(r, '=', "and a part of the axis"))
      return false;
    mlir_skip(r);
    if (*r->p == '#') {
      r->p += mlir_suffix_at(r->p + 1).n + 1;
      if (!mlir_want(r, '<', "to start a part of an axis")) return false;
    }
    if (!mlir_want(r, '(', "to start a part of an axis") ||
        !mlir_int(r, &out->pre_size, "a size") || !mlir_want(r, ')', "behind the size") ||
        !mlir_int(r, &out->size, "a size"))
      return false;
    (void)mlir_eat(r, '>');
  }
  for (uint32_t i = 0; i < mesh->n; i++)
    if (hilo_str_eq(mesh->names[i], name)) out->axis = i;
  if (out->axis < 0)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD904, at, "the mesh has no axis `%.*s`",
                          (int)(name.n > 100 ? 100 : name.n), name.p);
  mlir_skip(r);
  return *r->p != '>' || mlir_want(r, '>', "behind an axis");
}

bool hilo_mlir_mesh_groups(mlir_reader *r, hilo_record *groups, hilo_record *spelling) {
  hilo_str name, mesh_text = {0};
  mesh_axes mesh;
  hilo_mesh_axis axes[HILO_MAX_RANK];
  uint32_t n = 0;
  const char *at = r->p;
  *spelling = HILO_RECORD_NONE;
  if (!hilo_str_ends(mlir_suffix_at(r->p + 1), ".replica_group_mesh_axes"))
    return hilo_mlir_expected(r, "replica groups, as `dense<[[0, 1]]> : tensor<1x2xi64>`");
  r->p += mlir_suffix_at(r->p + 1).n + 1;
  if (!mlir_want(r, '<', "to start replica groups") || !hilo_mlir_want_word(r, "mesh") ||
      !mlir_want(r, '=', "and a mesh"))
    return false;
  mlir_skip(r);
  if (*r->p != '@')
    return hilo_mlir_fail(r, HILO_DIAG_EMOD912, r->p,
                          "a mesh without name is not supported: expected `@mesh`");
  if (!hilo_mlir_symbol_name(r, &name) || !mlir_want(r, ',', "before the axes") ||
      !hilo_mlir_want_word(r, "axes") || !mlir_want(r, '=', "and the axes") ||
      !mlir_want(r, '[', "to start the axes"))
    return false;
  const hilo_string handle = hilo_string_put(&r->m->strings, name);
  for (uint32_t i = 0; i < r->m->header.meshes.n; i++)
    if (r->m->header.meshes.v[i].name.ix == handle.ix)
      mesh_text = hilo_string_of(r->m, r->m->header.meshes.v[i].text);
  if (!mesh_text.n)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD904, at, "there is no mesh `@%.*s`",
                          (int)(name.n > 100 ? 100 : name.n), name.p);
  if (!mesh_sizes(mesh_text, &mesh))
    return hilo_mlir_fail(r, HILO_DIAG_EMOD904, at, "the mesh `@%.*s` has no axes",
                          (int)(name.n > 100 ? 100 : name.n), name.p);
  while (!mlir_eat(r, ']')) {
    if (n == HILO_MAX_RANK) return hilo_mlir_expected(r, "fewer axes");
    if (n && !mlir_want(r, ',', "or `]` behind an axis")) return false;
    if (!axis_ref(r, &mesh, &axes[n++])) return false;
  }
  if (!mlir_want(r, '>', "behind replica groups")) return false;
  const hilo_dims all = {mesh.sizes, mesh.n};
  const int64_t n_devices = hilo_devices_product(all);
  if (n_devices < 0) return hilo_mlir_fail(r, HILO_DIAG_EMOD907, at, "the mesh is too large");
  int64_t *devices = HILO_NEW_ARRAY(&r->scratch->arena, int64_t, n_devices + 1);
  for (int64_t i = 0; i < n_devices; i++) devices[i] = i;
  hilo_replica_groups_attrs g = {0};
  const char *fault = hilo_mesh_groups(all, (hilo_dims){devices, (uint32_t)n_devices}, axes, n,
                                       &r->scratch->arena, &g.sizes, &g.ids);
  if (fault) return hilo_mlir_fail(r, HILO_DIAG_EMOD915, at, "%s", fault);
  *groups = hilo_replica_groups_put(&r->m->records, &g);
  const hilo_str text = {at, (size_t)(r->p - at)};
  const hilo_spelling_attrs s = {.text = hilo_string_put(&r->m->strings, text)};
  *spelling = hilo_spelling_put(&r->m->records, &s);
  return true;
}
