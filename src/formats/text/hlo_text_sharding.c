/* Shardings in HLO text: `{replicated}`, `{maximal device=3}`, `{devices=[2,4]<=[8]
 * last_tile_dim_replicate metadata={…}}`, tuples of them, and the named form over a mesh.
 *
 * The record is canonical: devices are expanded, `last_tile_dims={replicated}` is the flag. How an
 * iota was written goes into a spelling record beside it. */
#include "formats/text/hlo_text_impl.h"

enum { MANUAL = 4, UNKNOWN = 5, UNREDUCED = 6, TILED = 3, NAMED = 100 };

/* ---- one sharding ---- */

typedef struct {
  hilo_sharding_attrs s;
  bool has_kind, has_device;
  int64_t device;
  text_tiles tiles;
} parts;

static bool read_devices(text_reader *r, parts *p) {
  const char *start = r->p;
  if (!hilo_text_tile_assignment(r, &p->tiles)) return false;
  p->s.tile_dims = p->tiles.dims;
  p->s.kind = TILED;
  p->has_kind = true;
  if (p->tiles.is_iota) {
    p->s.devices = hilo_iota_expand(&p->tiles.iota, &r->scratch->arena);
    return true;
  }
  const uint32_t first = r->ints.n;
  do {
    int64_t device;
    text_skip(r);
    if (!text_int(r, &device, "a device")) return false;
    TEXT_PUSH_INT(r, device);
    text_skip(r);
  } while (text_eat(r, ','));
  const uint32_t n = r->ints.n - first;
  if (n != p->tiles.n)
    return hilo_text_fail(r, HILO_DIAG_EMOD915, start,
                          "the sharding has %lld tiles, but lists %u devices",
                          (long long)p->tiles.n, n);
  int64_t *devices = HILO_NEW_ARRAY(&r->scratch->arena, int64_t, n);
  memcpy(devices, r->ints.v + first, n * sizeof(*devices));
  r->ints.n = first;
  p->s.devices = (hilo_dims){devices, n};
  if (!hilo_text_devices_are_distinct(r, start, p->s.devices, false)) return false;
  return true;
}

static int type_of_word(hilo_str word) {
  if (hilo_str_is(word, "replicated")) return 0;
  if (hilo_str_is(word, "maximal")) return 1;
  if (hilo_str_is(word, "manual")) return MANUAL;
  if (hilo_str_is(word, "unknown")) return UNKNOWN;
  if (hilo_str_is(word, "unreduced")) return UNREDUCED;
  return -1;
}

static bool read_last_tile_dims(text_reader *r, parts *p) {
  int64_t *types = HILO_NEW_ARRAY(&r->scratch->arena, int64_t, HILO_MAX_RANK);
  uint32_t n = 0;
  if (!text_want(r, '{', "behind `last_tile_dims=`")) return false;
  text_skip(r);
  while (!text_eat(r, '}')) {
    text_skip(r);
    const hilo_str word = text_ident_at(r->p);
    const int type = type_of_word(word);
    if (type < 0 || type == UNKNOWN || n == HILO_MAX_RANK)
      return hilo_text_expected(r, "`manual`, `replicated`, `maximal` or `unreduced`");
    r->p += word.n;
    types[n++] = type;
    text_skip(r);
    if (*r->p != '}' && !text_want(r, ',', "or `}` behind a type of tile dimension")) return false;
  }
  p->s.last_tile_dims = (hilo_dims){types, n};
  return true;
}

/* `{…}` or `{{…}, {…}}` */
static bool read_sharding_metadata(text_reader *r, hilo_dims *out) {
  hilo_vec(int64_t) list = {0};
  uint32_t meta;
  text_skip(r);
  const bool is_list = *r->p == '{' && r->p[1] == '{';
  if (is_list) r->p++;
  do {
    text_skip(r);
    if (!hilo_text_metadata(r, &meta)) return false;
    HILO_PUSH(&r->scratch->arena, &list, meta);
    text_skip(r);
  } while (is_list && text_eat(r, ','));
  if (is_list && !text_want(r, '}', "behind the metadata of a sharding")) return false;
  *out = (hilo_dims){list.v, list.n};
  return true;
}

static bool read_part(text_reader *r, parts *p) {
  const hilo_str word = text_ident_at(r->p);
  const bool is_attr = word.n && word.p[word.n] == '=';
  const int type = is_attr ? -1 : type_of_word(word);
  if (type >= 0) {
    p->s.kind = type;
    p->has_kind = true;
  } else if (hilo_str_is(word, "last_tile_dim_replicate")) {
    p->s.replicate_on_last_tile_dim = true;
  } else if (hilo_str_is(word, "shard_as") || hilo_str_is(word, "shard_like")) {
    p->s.shard_group_type = hilo_str_is(word, "shard_as") ? 1 : 2;
    r->p += word.n;
    text_skip(r);
    return text_int(r, &p->s.shard_group_id, "the number of a shard group");
  } else if (is_attr) {
    r->p += word.n + 1;
    if (hilo_str_is(word, "devices")) return read_devices(r, p);
    if (hilo_str_is(word, "last_tile_dims")) return read_last_tile_dims(r, p);
    if (hilo_str_is(word, "metadata")) return read_sharding_metadata(r, &p->s.metadata);
    if (hilo_str_is(word, "device")) {
      p->has_device = true;
      return text_int(r, &p->device, "a device");
    }
    r->p -= word.n + 1;
    return hilo_text_expected(r, "`device=`, `devices=`, `last_tile_dims=` or `metadata=`");
  } else {
    return hilo_text_expected(r,
                              "a part of a sharding: `replicated`, `maximal`, `manual`, `unknown`, "
                              "`unreduced`, `devices=`, `device=`, `last_tile_dim_replicate`, "
                              "`last_tile_dims=`, `shard_as`, `shard_like`, `metadata=`, `mesh[`");
  }
  r->p += word.n;
  return true;
}

static bool check_parts(text_reader *r, parts *p, const char *at) {
  hilo_sharding_attrs *s = &p->s;
  if (!p->has_kind)
    return hilo_text_fail(r, HILO_DIAG_EMOD915, at,
                          "the sharding says neither `devices=` nor a kind");
  if (s->kind != TILED && s->tile_dims.n)
    return hilo_text_fail(r, HILO_DIAG_EMOD915, at, "this kind of sharding has no list of devices");
  if (s->kind == 1) {
    if (!p->has_device || p->device < 0)
      return hilo_text_fail(r, HILO_DIAG_EMOD915, at, "a maximal sharding names one device");
    int64_t *device = HILO_NEW(&r->scratch->arena, int64_t);
    *device = p->device;
    s->devices = (hilo_dims){device, 1};
  } else if (p->has_device) {
    return hilo_text_fail(r, HILO_DIAG_EMOD915, at, "only a maximal sharding names a device");
  }
  if (s->last_tile_dims.n == 1 && s->last_tile_dims.v[0] == 0) {
    s->replicate_on_last_tile_dim = true;
    s->last_tile_dims = HILO_DIMS_NONE;
  }
  const uint32_t n_last = s->last_tile_dims.n + s->replicate_on_last_tile_dim;
  if (n_last > s->tile_dims.n || (s->last_tile_dims.n && s->replicate_on_last_tile_dim))
    return hilo_text_fail(r, HILO_DIAG_EMOD915, at,
                          "the sharding has more types of tile dimensions than "
                          "dimensions");
  return true;
}

/* ---- the named form ---- */

static void put_axis(hilo_sb *out, const text_mesh *mesh, const hilo_mesh_axis *axis) {
  hilo_sb_printf(out, "'%.*s'", HILO_FMT(mesh->names[axis->axis]));
  if (axis->pre_size)
    hilo_sb_printf(out, ":(%lld)%lld", (long long)axis->pre_size, (long long)axis->size);
}

typedef struct {
  text_mesh mesh;
  hilo_mesh_axis axes[HILO_MAX_RANK]; /* all that were named */
  uint32_t n_axes;
  hilo_sb text; /* canonical */
} named;

/* `'x', 'y':(1)2, ?` up to the closing brace; `?` where dimensions are listed. */
static bool read_axes(text_reader *r, named *n, bool allow_open) {
  if (!text_want(r, '{', "to start a list of axes")) return false;
  hilo_sb_char(&n->text, '{');
  bool comma = false;
  text_skip(r);
  while (!text_eat(r, '}')) {
    text_skip(r);
    if (comma) hilo_sb_cat(&n->text, ", ");
    comma = true;
    if (allow_open && text_eat(r, '?')) {
      hilo_sb_char(&n->text, '?');
      if (!text_want(r, '}', "behind `?`")) return false;
      break;
    }
    if (n->n_axes == HILO_MAX_RANK)
      return hilo_text_fail(r, HILO_DIAG_EMOD907, r->p, "the sharding names more than %d axes",
                            HILO_MAX_RANK);
    if (!hilo_text_axis(r, &n->mesh, &n->axes[n->n_axes])) return false;
    put_axis(&n->text, &n->mesh, &n->axes[n->n_axes++]);
    text_skip(r);
    if (*r->p != '}' && !text_want(r, ',', "or `}` behind an axis")) return false;
    text_skip(r);
  }
  hilo_sb_char(&n->text, '}');
  return true;
}

static void put_mesh(hilo_sb *out, const text_mesh *mesh) {
  hilo_sb_cat(out, "mesh[");
  for (uint32_t i = 0; i < mesh->n; i++)
    hilo_sb_printf(out, "%s'%.*s'=%lld", i ? "," : "", HILO_FMT(mesh->names[i]),
                   (long long)mesh->sizes[i]);
  hilo_sb_char(out, ']');
  const bool is_iota = mesh->iota.reshape.n != 0;
  const hilo_dims list = is_iota ? mesh->iota.reshape : mesh->devices;
  if (!list.n) return;
  hilo_sb_cat(out, is_iota ? ", device_ids=([" : ", device_ids=(");
  for (uint32_t i = 0; i < list.n; i++)
    hilo_sb_printf(out, "%s%lld", i ? "," : "", (long long)list.v[i]);
  if (is_iota) hilo_sb_char(out, ']');
  if (mesh->iota.perm.n) {
    hilo_sb_cat(out, "T(");
    for (uint32_t i = 0; i < mesh->iota.perm.n; i++)
      hilo_sb_printf(out, "%s%lld", i ? "," : "", (long long)mesh->iota.perm.v[i]);
    hilo_sb_char(out, ')');
  }
  hilo_sb_char(out, ')');
}

static bool read_dimensions(text_reader *r, named *n) {
  r->p++;
  hilo_sb_char(&n->text, '[');
  text_skip(r);
  for (bool comma = false; !text_eat(r, ']'); comma = true) {
    if (comma) hilo_sb_cat(&n->text, ", ");
    text_skip(r);
    if (!read_axes(r, n, true)) return false;
    text_skip(r);
    if (*r->p != ']' && !text_want(r, ',', "or `]` behind the axes of a dimension")) return false;
    text_skip(r);
  }
  hilo_sb_char(&n->text, ']');
  return true;
}

static bool read_named_part(text_reader *r, named *n, hilo_sharding_attrs *s) {
  text_skip(r);
  if (*r->p == '[') return read_dimensions(r, n);
  const hilo_str word = text_ident_at(r->p);
  if (!hilo_str_is(word, "replicated") && !hilo_str_is(word, "manual") &&
      !hilo_str_is(word, "unreduced") && !hilo_str_is(word, "metadata"))
    return hilo_text_expected(r, "`[`, `replicated`, `manual`, `unreduced` or `metadata=`");
  r->p += word.n;
  if (hilo_str_is(word, "metadata")) {
    n->text.n -= 2; /* the comma: metadata is kept apart */
    return text_want(r, '=', "behind `metadata`") && read_sharding_metadata(r, &s->metadata);
  }
  hilo_sb_str(&n->text, word);
  if (!text_eat(r, '=')) return true;
  hilo_sb_char(&n->text, '=');
  text_skip(r);
  return read_axes(r, n, false);
}

/* p at `mesh` or `maximal_mesh`. */
static bool read_named(text_reader *r, hilo_sharding_attrs *s) {
  const char *start = r->p;
  named *n = HILO_NEW_ZEROED(&r->scratch->arena, named, 1);
  n->text = hilo_sb_make(&r->scratch->arena);
  if (*start == 'm' && start[1] == 'a') {
    int64_t device;
    r->p += strlen("maximal_mesh");
    if (!text_want(r, '[', "behind `maximal_mesh`")) return false;
    const hilo_str word = text_ident_at(r->p);
    if (!hilo_str_is(word, "device_id")) return hilo_text_expected(r, "`device_id=`");
    r->p += word.n;
    if (!text_want(r, '=', "behind `device_id`") || !text_int(r, &device, "a device") ||
        !text_want(r, ']', "behind the device"))
      return false;
    hilo_sb_printf(&n->text, "maximal_mesh[device_id=%lld]", (long long)device);
  } else {
    if (!hilo_text_mesh(r, &n->mesh)) return false;
    put_mesh(&n->text, &n->mesh);
  }
  text_skip(r);
  while (text_eat(r, ',')) {
    hilo_sb_cat(&n->text, ", ");
    if (!read_named_part(r, n, s)) return false;
    text_skip(r);
  }
  if (!hilo_text_axes_are_apart(r, &n->mesh, n->axes, n->n_axes, start)) return false;
  s->kind = NAMED;
  s->named = hilo_string_put(&r->m->strings, hilo_sb_view(&n->text));
  return true;
}

/* ---- all ---- */

/* p behind the opening brace. */
static bool read_single(text_reader *r, uint32_t *record, uint32_t *spelling) {
  parts p;
  memset(&p, 0, sizeof(p));
  const char *start = r->p;
  *spelling = 0;
  text_skip(r);
  const hilo_str word = text_ident_at(r->p);
  if ((hilo_str_is(word, "mesh") || hilo_str_is(word, "maximal_mesh")) && word.p[word.n] == '[') {
    if (!read_named(r, &p.s)) return false;
  } else {
    while (*r->p != '}') {
      if (!read_part(r, &p)) return false;
      text_skip(r);
    }
    if (!check_parts(r, &p, start)) return false;
  }
  if (!text_want(r, '}', "at the end of the sharding")) return false;
  *record = hilo_sharding_put(&r->m->records, &p.s).ix;
  if (p.tiles.is_iota) *spelling = hilo_text_put_iota_spelling(r, &p.tiles).ix;
  return true;
}

/* p behind the first brace, at the second or at the end of an empty tuple. */
static bool read_tuple(text_reader *r, uint32_t *record, uint32_t *spelling) {
  hilo_vec(int64_t) elements = {0};
  hilo_vec(int64_t) spellings = {0};
  bool any_spelling = false;
  text_skip(r);
  while (!text_eat(r, '}')) {
    uint32_t element, spelled;
    if (!text_want(r, '{', "to start the sharding of an element")) return false;
    if (!read_single(r, &element, &spelled)) return false;
    HILO_PUSH(&r->scratch->arena, &elements, element);
    HILO_PUSH(&r->scratch->arena, &spellings, spelled);
    any_spelling |= spelled != 0;
    text_skip(r);
    if (*r->p != '}' && !text_want(r, ',', "or `}` behind the sharding of an element"))
      return false;
    text_skip(r);
  }
  const hilo_sharding_attrs s = {.kind = 2, .elements = {elements.v, elements.n}};
  *record = hilo_sharding_put(&r->m->records, &s).ix;
  *spelling = 0;
  if (!any_spelling) return true;
  const hilo_spelling_attrs spelled = {.elements = {spellings.v, spellings.n}};
  *spelling = hilo_spelling_put(&r->m->records, &spelled).ix;
  return true;
}

bool hilo_text_sharding(text_reader *r, uint32_t *record, uint32_t *spelling) {
  const char *start = r->p;
  if (*start != '{') return hilo_text_want(r, '{', "to start a sharding");
  const char *end = text_close(r, start);
  if (end) {
    const text_memo_slot *slot =
        hilo_text_memo_find(r, TEXT_MEMO_SHARDING, start, (size_t)(end - start));
    if (slot->n) {
      *record = slot->a;
      *spelling = slot->b;
      r->p = end;
      return true;
    }
  }
  r->p++;
  text_skip(r);
  const bool is_tuple = *r->p == '{' || *r->p == '}';
  if (!(is_tuple ? read_tuple(r, record, spelling) : read_single(r, record, spelling)))
    return false;
  if (r->p == end) {
    text_memo_slot *slot = hilo_text_memo_find(r, TEXT_MEMO_SHARDING, start, (size_t)(end - start));
    hilo_text_memo_set(r, slot, TEXT_MEMO_SHARDING, start, (size_t)(end - start), *record,
                       *spelling);
  }
  return true;
}
