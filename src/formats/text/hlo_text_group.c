/* Lists of devices in HLO text: iota forms (`[2,4]<=[4,2]T(1,0)`), meshes (`mesh['x'=2,'y'=4]`) and
 * replica groups in their three spellings.
 *
 * Everything is expanded to lists; products are checked before anything is. A spelling that occurs
 * again is found in the memo, so a module pays for each form once. */
#include "formats/text/hlo_text_impl.h"

#include <stdlib.h>

/* ---- iota ---- */

static hilo_dims keep(text_reader *r, uint32_t at, uint32_t n) {
  int64_t *copy = HILO_NEW_ARRAY(&r->scratch->arena, int64_t, n);
  if (n) memcpy(copy, r->ints.v + at, n * sizeof(*copy));
  r->ints.n = at;
  return (hilo_dims){copy, n};
}

/* `[4,2]T(1,0)`, with `T` only if there is more than one dimension; in XLA's shortest form. */
static bool read_iota(text_reader *r, hilo_iota *iota) {
  const char *start = r->p;
  uint32_t at, n;
  if (!hilo_text_ints(r, '[', ']', &at, &n, "a size")) return false;
  if (n == 0) return hilo_text_fail(r, HILO_DIAG_EMOD915, start, "expected at least one size");
  *iota = (hilo_iota){.reshape = keep(r, at, n)};
  if (*r->p == 'T' && r->p[1] == '(') {
    r->p++;
    if (!hilo_text_ints(r, '(', ')', &at, &n, "a dimension")) return false;
    iota->perm = keep(r, at, n);
  } else if (n > 1) {
    return hilo_text_expected(r, "`T(` and the order of the dimensions");
  }
  const char *fault = hilo_iota_fault(iota);
  if (fault)
    return hilo_text_fail(r, HILO_DIAG_EMOD915, start, "the iota cannot be used: %s", fault);
  *iota = hilo_iota_canonical(iota, &r->scratch->arena);
  return true;
}

/* All lists of a module together are bounded, so that no text takes more memory than it is worth.
 */
static bool count_devices(text_reader *r, const char *at, int64_t n) {
  r->n_devices += (uint64_t)n;
  if (r->n_devices <= TEXT_MAX_ALL_DEVICES) return true;
  return hilo_text_fail(r, HILO_DIAG_EMOD907, at,
                        "the device lists of the module hold more than %d devices together",
                        TEXT_MAX_ALL_DEVICES);
}

static bool device_product(text_reader *r, const char *at, hilo_dims sizes, int64_t *out) {
  *out = hilo_devices_product(sizes);
  if (*out >= 0) return count_devices(r, at, *out);
  return hilo_text_fail(r, HILO_DIAG_EMOD915, at,
                        "the sizes must be positive, and their product at most %d",
                        HILO_MAX_LISTED_DEVICES);
}

bool hilo_text_tile_assignment(text_reader *r, text_tiles *tiles) {
  const char *start = r->p;
  uint32_t at, n;
  int64_t n_devices;
  memset(tiles, 0, sizeof(*tiles));
  if (!hilo_text_ints(r, '[', ']', &at, &n, "a size")) return false;
  if (n == 0 || n > HILO_MAX_RANK)
    return hilo_text_fail(r, HILO_DIAG_EMOD915, start, "expected 1 to %d sizes, saw %u",
                          HILO_MAX_RANK, n);
  tiles->dims = keep(r, at, n);
  if (!device_product(r, start, tiles->dims, &tiles->n)) return false;
  tiles->is_iota = r->p[0] == '<' && r->p[1] == '=';
  if (!tiles->is_iota) return true;
  r->p += 2;
  if (!read_iota(r, &tiles->iota)) return false;
  n_devices = hilo_devices_product(tiles->iota.reshape);
  return tiles->n == n_devices ||
         hilo_text_fail(r, HILO_DIAG_EMOD915, start,
                        "the sizes before `<=` make %lld devices, those behind it %lld",
                        (long long)tiles->n, (long long)n_devices);
}

hilo_record hilo_text_put_iota_spelling(text_reader *r, const text_tiles *tiles) {
  const hilo_spelling_attrs s = {.form = 1,
                                 .tile_dims = tiles->dims,
                                 .reshape_dims = tiles->iota.reshape,
                                 .transpose = tiles->iota.perm};
  return hilo_spelling_put(&r->m->records, &s);
}

/* ---- meshes ---- */

static bool mesh_axes(text_reader *r, text_mesh *mesh) {
  if (!text_want(r, '[', "behind `mesh`")) return false;
  text_skip(r);
  if (text_eat(r, ']'))
    return hilo_text_fail(r, HILO_DIAG_EMOD915, r->p, "a mesh has at least one axis");
  for (;;) {
    text_skip(r);
    const char *at = r->p;
    hilo_str name;
    if (mesh->n == HILO_MAX_RANK)
      return hilo_text_fail(r, HILO_DIAG_EMOD907, at, "the mesh has more than %d axes",
                            HILO_MAX_RANK);
    if (!hilo_text_string(r, &name, "the name of an axis in quotes")) return false;
    name = hilo_str_copy(&r->scratch->arena, name);
    for (uint32_t i = 0; i < mesh->n; i++)
      if (hilo_str_eq(mesh->names[i], name))
        return hilo_text_fail(r, HILO_DIAG_EMOD915, at, "the mesh has two axes `%.*s`",
                              HILO_FMT(name));
    mesh->names[mesh->n] = name;
    if (!text_want(r, '=', "behind the name of an axis")) return false;
    text_skip(r);
    if (!text_int(r, &mesh->sizes[mesh->n], "the size of an axis")) return false;
    mesh->n++;
    text_skip(r);
    if (text_eat(r, ']')) return true;
    if (!text_want(r, ',', "or `]` behind an axis")) return false;
  }
}

static int by_value(const void *a, const void *b) {
  int64_t x, y;
  memcpy(&x, a, sizeof(x));
  memcpy(&y, b, sizeof(y));
  return (x > y) - (x < y);
}

bool hilo_text_devices_are_distinct(text_reader *r, const char *at, hilo_dims list, bool exactly) {
  if (list.n == 0) return true;
  int64_t *sorted = HILO_NEW_ARRAY(&r->scratch->arena, int64_t, list.n);
  memcpy(sorted, list.v, list.n * sizeof(*sorted));
  qsort(sorted, list.n, sizeof(*sorted), by_value);
  for (uint32_t i = 0; i < list.n; i++) {
    if (sorted[i] < 0)
      return hilo_text_fail(r, HILO_DIAG_EMOD915, at, "device %lld is negative",
                            (long long)sorted[i]);
    if (i && sorted[i] == sorted[i - 1])
      return hilo_text_fail(r, HILO_DIAG_EMOD915, at, "device %lld occurs twice",
                            (long long)sorted[i]);
    if (exactly && sorted[i] != i)
      return hilo_text_fail(r, HILO_DIAG_EMOD915, at,
                            "the devices of a mesh are 0 to %u, %u is missing", list.n - 1, i);
  }
  return true;
}

/* `, device_ids=([4,2]T(1,0))` or `, device_ids=(3,1,2,0)`. */
static bool mesh_devices(text_reader *r, text_mesh *mesh) {
  const char *start = r->p;
  if (!text_want(r, '(', "behind `device_ids=`")) return false;
  text_skip(r);
  if (*r->p == '[') {
    if (!read_iota(r, &mesh->iota) || !text_want(r, ')', "behind the devices")) return false;
    mesh->devices = hilo_iota_expand(&mesh->iota, &r->scratch->arena);
  } else {
    uint32_t at, n;
    r->p = start;
    if (!hilo_text_ints(r, '(', ')', &at, &n, "a device")) return false;
    mesh->devices = keep(r, at, n);
  }
  if (mesh->devices.n != mesh->n_devices)
    return hilo_text_fail(r, HILO_DIAG_EMOD915, start, "the mesh has %lld devices, its list %u",
                          (long long)mesh->n_devices, mesh->devices.n);
  return hilo_text_devices_are_distinct(r, start, mesh->devices, true);
}

bool hilo_text_mesh(text_reader *r, text_mesh *mesh) {
  memset(mesh, 0, sizeof(*mesh));
  r->p += strlen("mesh");
  const char *start = r->p;
  if (!mesh_axes(r, mesh)) return false;
  if (!device_product(r, start, (hilo_dims){mesh->sizes, mesh->n}, &mesh->n_devices)) return false;
  const char *back = r->p;
  text_skip(r);
  if (text_eat(r, ',')) {
    text_skip(r);
    const hilo_str word = text_ident_at(r->p);
    if (hilo_str_is(word, "device_ids") && word.p[word.n] == '=') {
      r->p += word.n + 1;
      return mesh_devices(r, mesh);
    }
  }
  r->p = back;
  return true;
}

bool hilo_text_axis(text_reader *r, const text_mesh *mesh, hilo_mesh_axis *out) {
  const char *at = r->p;
  hilo_str name;
  if (!hilo_text_string(r, &name, "the name of an axis in quotes")) return false;
  *out = (hilo_mesh_axis){.axis = -1};
  for (uint32_t i = 0; i < mesh->n; i++)
    if (hilo_str_eq(mesh->names[i], name)) out->axis = i;
  if (out->axis < 0) {
    const hilo_str near = hilo_str_nearest(name, mesh->names, mesh->n);
    return hilo_text_fail(r, HILO_DIAG_EMOD915, at, "the mesh has no axis `%.*s`%s%.*s%s",
                          HILO_FMT(name), near.n ? "; did you mean `" : "", HILO_FMT(near),
                          near.n ? "`?" : "");
  }
  if (*r->p != ':') return true;
  r->p++;
  if (!text_want(r, '(', "and the size before the sub-axis") ||
      !text_int(r, &out->pre_size, "a size") ||
      !text_want(r, ')', "behind the size before the sub-axis") ||
      !text_int(r, &out->size, "a size"))
    return false;
  uint64_t next;
  const bool fits = out->pre_size > 0 && out->size > 1 &&
                    hilo_mul_u64((uint64_t)out->pre_size, (uint64_t)out->size, &next) &&
                    (uint64_t)mesh->sizes[out->axis] % next == 0;
  if (!fits)
    return hilo_text_fail(r, HILO_DIAG_EMOD915, at,
                          "`%.*s` has no sub-axis (%lld)%lld: its size is %lld",
                          HILO_FMT(mesh->names[out->axis]), (long long)out->pre_size,
                          (long long)out->size, (long long)mesh->sizes[out->axis]);
  return true;
}

bool hilo_text_axes_are_apart(text_reader *r, const text_mesh *mesh, const hilo_mesh_axis *axes,
                              uint32_t n, const char *at) {
  for (uint32_t i = 0; i < n; i++)
    for (uint32_t k = 0; k < i; k++) {
      const hilo_mesh_axis *a = &axes[i], *b = &axes[k];
      if (a->axis != b->axis) continue;
      const bool parts = a->pre_size && b->pre_size;
      if (parts && (a->pre_size * a->size <= b->pre_size || b->pre_size * b->size <= a->pre_size))
        continue;
      return hilo_text_fail(r, HILO_DIAG_EMOD915, at, "axis `%.*s` is named twice",
                            HILO_FMT(mesh->names[a->axis]));
    }
  return true;
}

/* ---- replica groups ---- */

static uint32_t put_groups(text_reader *r, hilo_dims sizes, hilo_dims ids) {
  const hilo_replica_groups_attrs groups = {.sizes = sizes, .ids = ids};
  return hilo_replica_groups_put(&r->m->records, &groups).ix;
}

static bool iota_groups(text_reader *r, uint32_t *record, uint32_t *spelling) {
  const char *start = r->p;
  text_tiles tiles;
  if (!hilo_text_tile_assignment(r, &tiles)) return false;
  if (!tiles.is_iota) return hilo_text_expected(r, "`<=` and the sizes of an iota");
  if (tiles.dims.n != 2)
    return hilo_text_fail(r, HILO_DIAG_EMOD915, start,
                          "expected the number of groups and their size, saw %u numbers",
                          tiles.dims.n);
  int64_t *sizes = HILO_NEW_ARRAY(&r->scratch->arena, int64_t, tiles.dims.v[0]);
  for (int64_t i = 0; i < tiles.dims.v[0]; i++) sizes[i] = tiles.dims.v[1];
  *record = put_groups(r, (hilo_dims){sizes, (uint32_t)tiles.dims.v[0]},
                       hilo_iota_expand(&tiles.iota, &r->scratch->arena));
  *spelling = hilo_text_put_iota_spelling(r, &tiles).ix;
  return true;
}

static bool list_groups(text_reader *r, uint32_t *record) {
  const char *start = r->p++;
  const uint32_t first = r->ints.n;
  hilo_vec(int64_t) sizes = {0};
  text_skip(r);
  while (!text_eat(r, '}')) {
    uint32_t at, n;
    text_skip(r);
    if (!hilo_text_ints(r, '{', '}', &at, &n, "a replica or device id")) return false;
    HILO_PUSH(&r->scratch->arena, &sizes, n);
    text_skip(r);
    if (*r->p != '}' && !text_want(r, ',', "or `}` behind a group")) return false;
    text_skip(r);
  }
  const hilo_dims ids = keep(r, first, r->ints.n - first);
  if (!hilo_text_devices_are_distinct(r, start, ids, false)) return false;
  *record = 0;
  if (!sizes.n) return true;
  *record = put_groups(r, (hilo_dims){sizes.v, sizes.n}, ids);
  return true;
}

static hilo_string axis_text(text_reader *r, const text_mesh *mesh, const hilo_mesh_axis *axis) {
  hilo_sb_clear(&r->sb);
  hilo_sb_str(&r->sb, mesh->names[axis->axis]);
  if (axis->pre_size)
    hilo_sb_printf(&r->sb, ":(%lld)%lld", (long long)axis->pre_size, (long long)axis->size);
  return hilo_string_put(&r->m->strings, hilo_sb_view(&r->sb));
}

static bool mesh_groups(text_reader *r, uint32_t *record, uint32_t *spelling) {
  text_mesh mesh;
  hilo_mesh_axis axes[HILO_MAX_RANK];
  uint32_t n = 0;
  if (!hilo_text_mesh(r, &mesh)) return false;
  text_skip(r);
  const char *start = r->p;
  if (!text_want(r, '{', "and the axes that are grouped over")) return false;
  text_skip(r);
  while (!text_eat(r, '}')) {
    text_skip(r);
    if (n == HILO_MAX_RANK)
      return hilo_text_fail(r, HILO_DIAG_EMOD907, r->p, "more than %d axes", HILO_MAX_RANK);
    if (!hilo_text_axis(r, &mesh, &axes[n++])) return false;
    text_skip(r);
    if (*r->p != '}' && !text_want(r, ',', "or `}` behind an axis")) return false;
  }
  if (!hilo_text_axes_are_apart(r, &mesh, axes, n, start)) return false;
  hilo_dims sizes, ids;
  const char *fault = hilo_mesh_groups((hilo_dims){mesh.sizes, mesh.n}, mesh.devices, axes, n,
                                       &r->scratch->arena, &sizes, &ids);
  if (fault)
    return hilo_text_fail(r, HILO_DIAG_EMOD915, start, "the mesh cannot be used: %s", fault);
  *record = put_groups(r, sizes, ids);
  int64_t names[HILO_MAX_RANK], grouped[HILO_MAX_RANK];
  for (uint32_t i = 0; i < mesh.n; i++)
    names[i] = hilo_string_put(&r->m->strings, mesh.names[i]).ix;
  for (uint32_t i = 0; i < n; i++) grouped[i] = axis_text(r, &mesh, &axes[i]).ix;
  const hilo_spelling_attrs s = {
      .form = 2,
      .mesh_axes = {names, mesh.n},
      .mesh_sizes = {mesh.sizes, mesh.n},
      .mesh_device_ids = mesh.iota.reshape.n ? HILO_DIMS_NONE : mesh.devices,
      .reshape_dims = mesh.iota.reshape,
      .transpose = mesh.iota.perm,
      .axes = {grouped, n},
  };
  *spelling = hilo_spelling_put(&r->m->records, &s).ix;
  return true;
}

/* Where a spelling of groups ends, roughly: for the memo. */
static const char *groups_end(const text_reader *r, const char *p) {
  uint32_t depth = 0;
  for (; p < r->end && *p != '\n'; p++) {
    const char c = *p;
    if (c == '[' || c == '{' || c == '(') depth++;
    if (c == ']' || c == '}' || c == ')') {
      if (depth == 0) return NULL;
      if (--depth) continue;
      if (p[1] != '<' && p[1] != 'T' && p[1] != ' ' &&
          !(r->end - p > 4 && memcmp(p + 1, ", de", 4) == 0))
        return p + 1;
    }
  }
  return NULL;
}

bool hilo_text_groups(text_reader *r, uint32_t *record, uint32_t *spelling) {
  const char *start = r->p, *end = groups_end(r, start);
  *record = *spelling = 0;
  if (end) {
    const text_memo_slot *slot =
        hilo_text_memo_find(r, TEXT_MEMO_GROUPS, start, (size_t)(end - start));
    if (slot->n) {
      *record = slot->a;
      *spelling = slot->b;
      r->p = end;
      return true;
    }
  }
  bool ok;
  if (*start == '{')
    ok = list_groups(r, record);
  else if (*start == '[')
    ok = iota_groups(r, record, spelling);
  else if (hilo_str_is(text_ident_at(start), "mesh"))
    ok = mesh_groups(r, record, spelling);
  else
    ok = hilo_text_expected(r, "replica groups: `{{`, `[` or `mesh[`");
  if (!ok) return false;
  if (r->p == end) {
    text_memo_slot *slot = hilo_text_memo_find(r, TEXT_MEMO_GROUPS, start, (size_t)(end - start));
    hilo_text_memo_set(r, slot, TEXT_MEMO_GROUPS, start, (size_t)(end - start), *record, *spelling);
  }
  return true;
}
