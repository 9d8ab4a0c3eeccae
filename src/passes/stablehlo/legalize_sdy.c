/* Shardy's operations and shardings in HLO's form.
 *
 * A sharding `<@mesh, [{"x"}, {}]>` becomes a tiling: a dimension is cut by its axes, the major one
 * first, and what is left of the mesh replicates. Parts of axes (`"x":(2)4`) are axes of their own.
 * A constraint becomes a custom call `Sharding`, a manual computation a call of its body, between
 * XLA's calls from full to shard shape and back where the shapes differ. */
#include "passes/stablehlo/legalize.h"
#include "passes/stablehlo/sdy.h"

#include "base/vec.h"

enum {
  REPLICATED = 0,
  MAXIMAL = 1,
  TUPLE = 2,
  TILED = 3,
  MANUAL = 4,
  NAMED = 100,
  MAX_AXES = 64,
  MAX_DEVICES = 1 << 20,
};

/* ---- meshes ---- */

typedef struct {
  hilo_str names[MAX_AXES];
  int64_t sizes[MAX_AXES], strides[MAX_AXES];
  uint32_t n;
  int64_t n_devices;
  hilo_vec(int64_t) ids; /* in row-major order of the axes; empty: 0, 1, … */
} mesh;

typedef struct {
  const char *p, *end;
} text;

static void skip(text *t) {
  while (t->p < t->end && (*t->p == ' ' || *t->p == ',' || *t->p == '\n' || *t->p == '\t')) t->p++;
}
static bool eat(text *t, const char *word) {
  skip(t);
  const size_t n = strlen(word);
  if ((size_t)(t->end - t->p) < n || memcmp(t->p, word, n) != 0) return false;
  t->p += n;
  return true;
}
static bool number(text *t, int64_t *out) {
  skip(t);
  const char *first = t->p;
  while (t->p < t->end && *t->p >= '0' && *t->p <= '9') t->p++;
  return hilo_str_parse_i64((hilo_str){first, (size_t)(t->p - first)}, out);
}
static bool quoted(text *t, hilo_str *out) {
  skip(t);
  if (t->p == t->end || *t->p != '"') return false;
  const char *close = memchr(t->p + 1, '"', (size_t)(t->end - t->p - 1));
  if (!close) return false;
  *out = (hilo_str){t->p + 1, (size_t)(close - t->p - 1)};
  t->p = close + 1;
  return true;
}

/* `<["x"=2, "y"=4], device_ids=[…]>` */
static bool parse_mesh(hilo_legalizer *l, text *t, mesh *out) {
  *out = (mesh){.n_devices = 1};
  if (!eat(t, "<")) return false;
  if (eat(t, "["))
    while (!eat(t, "]")) {
      const uint32_t k = out->n;
      if (k == MAX_AXES || !quoted(t, &out->names[k]) || !eat(t, "=") ||
          !number(t, &out->sizes[k]) || out->sizes[k] < 1 || out->sizes[k] > MAX_DEVICES ||
          (out->n_devices *= out->sizes[k]) > MAX_DEVICES)
        return false;
      out->n++;
    }
  if (eat(t, "device_ids"))
    for (int64_t id; eat(t, "=") || eat(t, "[") || number(t, &id);)
      if (t->p[-1] != '=' && t->p[-1] != '[') HILO_PUSH(l->ctx->scratch, &out->ids, id);
  (void)eat(t, "]");
  int64_t stride = 1;
  for (uint32_t k = out->n; k-- > 0; stride *= out->sizes[k]) out->strides[k] = stride;
  return eat(t, ">") && (!out->ids.n || out->ids.n == (uint64_t)out->n_devices);
}

static bool find_mesh(hilo_legalizer *l, text *t, mesh *out) {
  if (eat(t, "mesh")) return parse_mesh(l, t, out);
  if (!eat(t, "@")) return false;
  const char *first = t->p;
  hilo_str name;
  if (!quoted(t, &name)) {
    while (t->p < t->end && *t->p != ',' && *t->p != '>') t->p++;
    name = hilo_str_trim((hilo_str){first, (size_t)(t->p - first)});
  }
  const hilo_module_header *h = &l->m->header;
  for (uint32_t k = 0; k < h->meshes.n; k++) {
    if (!hilo_str_eq(hilo_string_of(l->m, h->meshes.v[k].name), name)) continue;
    const hilo_str s = hilo_string_of(l->m, h->meshes.v[k].text);
    text in = {s.p, s.p + s.n};
    return parse_mesh(l, &in, out);
  }
  return false;
}

/* ---- shardings ---- */

/* An axis or a part of one: `size` devices, `step` apart. */
typedef struct {
  uint32_t axis;
  int64_t before, size, step;
} part;
typedef struct {
  part v[MAX_AXES];
  uint32_t n;
} parts;

static bool parse_part(text *t, const mesh *m, parts *out) {
  hilo_str name;
  if (!quoted(t, &name) || out->n == MAX_AXES) return false;
  part *p = &out->v[out->n];
  for (p->axis = 0; p->axis < m->n && !hilo_str_eq(m->names[p->axis], name);) p->axis++;
  if (p->axis == m->n) return false;
  p->before = 1;
  p->size = m->sizes[p->axis];
  if (t->p < t->end && *t->p == ':' &&
      !(eat(t, ":(") && number(t, &p->before) && eat(t, ")") && number(t, &p->size)))
    return false;
  if (p->before < 1 || p->size < 1 || m->sizes[p->axis] % (p->before * p->size)) return false;
  p->step = m->strides[p->axis] * (m->sizes[p->axis] / (p->before * p->size));
  out->n++;
  return true;
}

/* What the parts leave of the mesh. */
static bool rest_of(const mesh *m, const parts *used, parts *rest) {
  rest->n = 0;
  for (uint32_t axis = 0; axis < m->n; axis++) {
    for (int64_t at = 1; at < m->sizes[axis];) {
      int64_t next = m->sizes[axis], skip_to = next;
      for (uint32_t k = 0; k < used->n; k++)
        if (used->v[k].axis == axis && used->v[k].before >= at && used->v[k].before < next) {
          next = used->v[k].before;
          skip_to = next * used->v[k].size;
        }
      if (next > at) {
        if (rest->n == MAX_AXES || next % at) return false;
        const int64_t size = next / at;
        rest->v[rest->n++] =
            (part){axis, at, size, m->strides[axis] * (m->sizes[axis] / (at * size))};
      }
      at = skip_to > at ? skip_to : m->sizes[axis];
    }
  }
  return true;
}

/* Devices in the order of the tiles: all parts in turn, the last one fastest. */
static hilo_dims list_devices(hilo_legalizer *l, const mesh *m, const parts *order) {
  int64_t *list = HILO_NEW_ARRAY(l->ctx->scratch, int64_t, m->n_devices);
  int64_t index[2 * MAX_AXES] = {0}, device = 0;
  for (int64_t k = 0; k < m->n_devices; k++) {
    list[k] = m->ids.n ? m->ids.v[device] : device;
    for (uint32_t a = order->n; a-- > 0;) {
      device += order->v[a].step;
      if (++index[a] < order->v[a].size) break;
      device -= order->v[a].step * order->v[a].size;
      index[a] = 0;
    }
  }
  return (hilo_dims){list, (uint32_t)m->n_devices};
}

/* `<@mesh, [{"x"}, {"y", ?}], replicated={"z"}>` */
static bool parse_sharding(hilo_legalizer *l, hilo_str named, hilo_record *out) {
  text t = {named.p, named.p + named.n};
  mesh m;
  parts used = {.n = 0}, rest;
  int64_t tiles[HILO_MAX_RANK + 1], priority;
  uint32_t rank = 0;
  hilo_sharding_attrs s = {.kind = REPLICATED};
  if (!eat(&t, "<") || !find_mesh(l, &t, &m)) return false;
  if (!eat(&t, "[")) return false;
  while (!eat(&t, "]")) {
    if (rank == HILO_MAX_RANK || !eat(&t, "{")) return false;
    const uint32_t first = used.n;
    tiles[rank] = 1;
    while (!eat(&t, "}")) {
      if (eat(&t, "?")) continue;
      if (!parse_part(&t, &m, &used)) return false;
    }
    for (uint32_t k = first; k < used.n; k++) tiles[rank] *= used.v[k].size;
    rank++;
    if (eat(&t, "p") && !number(&t, &priority)) return false;
  }
  if (!m.n && m.ids.n == 1) {
    s.kind = MAXIMAL;
    s.devices = (hilo_dims){m.ids.v, 1};
  } else if (used.n) {
    if (!rest_of(&m, &used, &rest) || used.n + rest.n > MAX_AXES) return false;
    int64_t left = 1;
    for (uint32_t k = 0; k < rest.n; k++) {
      left *= rest.v[k].size;
      used.v[used.n++] = rest.v[k];
    }
    s.kind = TILED;
    if (left > 1) {
      tiles[rank++] = left;
      s.replicate_on_last_tile_dim = true;
    }
    s.tile_dims = (hilo_dims){tiles, rank};
    s.devices = list_devices(l, &m, &used);
  }
  *out = hilo_sharding_put(&l->m->records, &s);
  return true;
}

/* Shardy's form in HLO's; others as they are. */
static hilo_record in_hlo(hilo_legalizer *l, hilo_inst i, hilo_record record) {
  hilo_module *m = l->m;
  hilo_sharding_attrs s = hilo_sharding_get(&m->records, record);
  const hilo_str named = hilo_string_of(m, s.named);
  if (s.kind == TUPLE && s.elements.n) {
    int64_t *list = HILO_NEW_ARRAY(l->ctx->scratch, int64_t, s.elements.n);
    for (uint32_t k = 0; k < s.elements.n; k++)
      list[k] = in_hlo(l, i, (hilo_record){(uint32_t)s.elements.v[k]}).ix;
    s.elements.v = list;
    return hilo_sharding_put(&m->records, &s);
  }
  if (s.kind != NAMED || !named.n || *named.p != '<') return record;
  hilo_record out;
  if (parse_sharding(l, named, &out)) return out;
  hilo_legalize_refuse(l, i, "the sharding `%.*s` does not fit its mesh", HILO_FMT(named));
  return record;
}

/* The k-th `<…>` of the list behind `name = [` in a dictionary. */
static bool listed_sharding(hilo_legalizer *l, hilo_inst i, const char *name, uint32_t k,
                            hilo_record *out) {
  const hilo_str all = hilo_string_of(l->m, hilo_inst_extra(l->m, i).backend_config);
  const char *at = memmem(all.p, all.n, name, strlen(name)), *end = all.p + all.n;
  for (uint32_t depth = 0; at && at < end; at++) {
    if (*at == '<' && !depth++) {
      const char *close = at;
      for (uint32_t d = 0; close < end; close++) {
        if (*close == '<') d++;
        if (*close == '>' && !--d) break;
      }
      if (close == end) return false;
      if (!k--) return parse_sharding(l, (hilo_str){at, (size_t)(close - at + 1)}, out);
      at = close;
      depth = 0;
    } else if (*at == ']' && !depth) {
      return false;
    }
  }
  return false;
}

/* ---- operations ---- */

static hilo_inst custom_call(hilo_module *m, hilo_inst at, const char *target, hilo_inst x,
                             hilo_type type, hilo_record sharding) {
  const hilo_custom_call_attrs a = {.target = hilo_module_string(m, hilo_str_of(target)),
                                    .api_version = 1,
                                    .feature_group_count = 1,
                                    .batch_group_count = 1};
  const hilo_extra_attrs extra = {.sharding = sharding};
  const hilo_inst_desc desc = {.op = HILO_OP_CUSTOM_CALL,
                               .type = type,
                               .operands = &x,
                               .n_operands = 1,
                               .attr = hilo_custom_call_put(&m->records, &a).ix,
                               .extra = hilo_extra_put(&m->records, &extra)};
  return hilo_inst_insert_before(m, at, &desc);
}

/* One value from the full to the shard shape, or back. */
static hilo_inst cross(hilo_legalizer *l, hilo_inst at, hilo_inst x, hilo_type to,
                       hilo_record sharding, bool into_shard) {
  hilo_module *m = l->m;
  const hilo_sharding_attrs s = {.kind = MANUAL};
  const hilo_record manual = hilo_sharding_put(&m->records, &s);
  const hilo_type from = hilo_inst_type(m, x);
  const hilo_inst marked = custom_call(m, at, "Sharding", x, from, into_shard ? sharding : manual);
  return custom_call(m, at, into_shard ? "SPMDFullToShardShape" : "SPMDShardToFullShape", marked,
                     to, into_shard ? manual : sharding);
}

static bool same_type(const hilo_module *m, hilo_type a, hilo_type b) {
  return hilo_type_compatible(&m->types, a, b);
}

/* Are all values of the same shape in and outside, so that nothing is cut? */
static bool is_whole(const hilo_module *m, hilo_inst i, hilo_comp body) {
  bool whole = same_type(m, hilo_inst_type(m, hilo_comp_root(m, body)), hilo_inst_type(m, i));
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
    whole &= same_type(m, hilo_inst_type(m, hilo_comp_param(m, body, k)),
                       hilo_inst_type(m, hilo_inst_operand(m, i, k)));
  return whole;
}

static void legalize_manual(hilo_legalizer *l, hilo_inst i) {
  hilo_module *m = l->m;
  const hilo_comp body = hilo_inst_called(m, i, 0);
  const uint32_t n = hilo_inst_n_operands(m, i);
  hilo_inst *operands = HILO_NEW_ARRAY(l->ctx->scratch, hilo_inst, n + 1);
  hilo_record sharding;
  const bool whole = is_whole(m, i, body);
  for (uint32_t k = 0; k < n; k++) {
    operands[k] = hilo_inst_operand(m, i, k);
    const hilo_type to = hilo_inst_type(m, hilo_comp_param(m, body, k));
    if (whole) continue;
    if (!listed_sharding(l, i, "in_shardings", k, &sharding)) goto bad;
    operands[k] = cross(l, i, operands[k], to, sharding, true);
  }
  const hilo_type given = hilo_inst_type(m, hilo_comp_root(m, body)), type = hilo_inst_type(m, i);
  const hilo_inst_desc desc = {.op = HILO_OP_CALL,
                               .type = given,
                               .operands = operands,
                               .n_operands = n,
                               .called = &body,
                               .n_called = 1};
  hilo_inst value = hilo_inst_insert_before(m, i, &desc);
  if (!whole) {
    const bool several = hilo_type_is_tuple(&m->types, type);
    const uint32_t n_results = several ? hilo_type_n_elements_of_tuple(&m->types, type) : 1;
    hilo_inst *results = HILO_NEW_ARRAY(l->ctx->scratch, hilo_inst, n_results + 1);
    for (uint32_t k = 0; k < n_results; k++) {
      const hilo_type to = several ? hilo_type_element(&m->types, type, k) : type;
      results[k] = several ? hilo_build_gte(m, i, value, k) : value;
      if (!listed_sharding(l, i, "out_shardings", k, &sharding)) goto bad;
      results[k] = cross(l, i, results[k], to, sharding, false);
    }
    value = several ? hilo_build_tuple(m, i, results, n_results) : results[0];
  }
  hilo_legalize_replace(l, i, value);
  return;
bad:
  hilo_legalize_refuse(l, i,
                       "`sdy.manual_computation` has no sharding for each value that it takes "
                       "and gives, on a mesh that is there");
}

static void legalize_call(hilo_legalizer *l, hilo_inst i, hilo_str target) {
  hilo_module *m = l->m;
  hilo_record sharding = hilo_inst_extra(m, i).sharding;
  if (hilo_inst_n_called(m, i) == 1) {
    legalize_manual(l, i);
  } else if (hilo_str_is(target, "sdy.sharding_group")) {
    (void)hilo_erase(m, i);
  } else if (hilo_str_is(target, "sdy.propagation_barrier")) {
    (void)hilo_replace_with_existing(m, i, hilo_inst_operand(m, i, 0));
  } else if (sharding.ix || listed_sharding(l, i, "sharding", 0, &sharding)) {
    hilo_legalize_replace(l, i,
                          custom_call(m, i, "Sharding", hilo_inst_operand(m, i, 0),
                                      hilo_inst_type(m, i), in_hlo(l, i, sharding)));
  } else {
    hilo_legalize_refuse(l, i, "`%.*s` has no HLO form", HILO_FMT(target));
  }
}

void hilo_legalize_sdy(hilo_legalizer *l) {
  hilo_module *m = l->m;
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST_SAFE(m, c, i) {
      hilo_extra_attrs extra = hilo_inst_extra(m, i);
      if (extra.sharding.ix) {
        const hilo_record sharding = in_hlo(l, i, extra.sharding);
        if (!hilo_record_eq(sharding, extra.sharding)) {
          extra.sharding = sharding;
          hilo_inst_set_extra(m, i, &extra);
        }
      }
      if (!hilo_inst_is(m, i, HILO_OP_CUSTOM_CALL)) continue;
      const hilo_str target = hilo_string_of(m, hilo_attrs(m, i, custom_call).target);
      if (hilo_str_starts(target, "sdy.")) legalize_call(l, i, target);
    }
    hilo_comp_row *row = &m->comp.v[hilo_comp_ix(m, c)];
    hilo_func_attrs func = hilo_func_get(&m->records, (hilo_record){row->func});
    if (!func.result_shardings.n || !row->root) continue;
    int64_t *list = HILO_NEW_ARRAY(l->ctx->scratch, int64_t, func.result_shardings.n);
    for (uint32_t k = 0; k < func.result_shardings.n; k++)
      list[k] =
          func.result_shardings.v[k]
              ? in_hlo(l, hilo_comp_root(m, c), (hilo_record){(uint32_t)func.result_shardings.v[k]})
                    .ix
              : 0;
    func.result_shardings.v = list;
    row->func = hilo_func_put(&m->records, &func).ix;
  }
  m->header.meshes.n = 0;
}

static bool has_sdy_call(const hilo_module *m) {
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      if (hilo_inst_is(m, i, HILO_OP_CUSTOM_CALL) &&
          hilo_str_starts(hilo_string_of(m, hilo_attrs(m, i, custom_call).target), "sdy."))
        return true;
    }
  }
  return false;
}

hilo_status hilo_sdy_to_custom_calls(hilo_module *m, hilo_arena *scratch, hilo_diags *diags) {
  if (!has_sdy_call(m)) return HILO_OK;
  hilo_pass_ctx ctx = {.diags = diags, .scratch = scratch};
  hilo_legalizer l = {.m = m, .ctx = &ctx};
  hilo_legalize_sdy(&l);
  return l.status;
}
