/* Structured attributes: dimension numbers, channels, algorithms, accuracy, aliases, layouts,
 * replica groups. */
#include "formats/mlir/mlir_impl.h"

#include "formats/device_list.h"
#include "num/float_text.h"

/* ---- `<name = value, ...>` ---- */

/* The `<` behind the name of the attribute; the name may be left out in pretty forms. */
static bool open(mlir_reader *r, mlir_detour *detour) {
  if (!hilo_mlir_enter_alias(r, detour)) return false;
  if (*r->p == '#') {
    const hilo_str name = mlir_suffix_at(r->p + 1);
    r->p += name.n + 1;
  }
  return mlir_want(r, '<', "to start an attribute");
}

/* The next field's name; an empty one at the `>`. */
static bool field(mlir_reader *r, hilo_str *name, bool *first) {
  *name = (hilo_str){0};
  if (!*first && !mlir_eat(r, ',')) return mlir_want(r, '>', "or `,` in an attribute");
  if (mlir_eat(r, '>')) return true;
  *first = false;
  mlir_skip(r);
  *name = mlir_ident_at(r->p);
  if (!name->n) return hilo_mlir_expected(r, "the name of a field, or `>`");
  r->p += name->n;
  return mlir_want(r, '=', "behind the name of a field");
}

static bool unknown_field(mlir_reader *r, hilo_str name) {
  return hilo_mlir_fail(r, HILO_DIAG_EMOD904, name.p, "the attribute has no field `%.*s`",
                        (int)(name.n > 100 ? 100 : name.n), name.p);
}

/* Fields of lists and numbers by name. */
typedef struct {
  const char *name;
  mlir_value *list;
  int64_t *number;
} field_row;

static bool fields(mlir_reader *r, const field_row *rows, uint32_t n) {
  mlir_detour detour;
  bool first = true;
  if (!open(r, &detour)) return false;
  for (;;) {
    hilo_str name;
    if (!field(r, &name, &first)) return false;
    if (!name.n) break;
    uint32_t i = 0;
    while (i < n && !hilo_str_is(name, rows[i].name)) i++;
    if (i == n) return unknown_field(r, name);
    if (!(rows[i].list ? hilo_mlir_ints(r, rows[i].list) : hilo_mlir_int_attr(r, rows[i].number)))
      return false;
  }
  hilo_mlir_leave_alias(r, &detour);
  return true;
}

/* ---- products ---- */

bool hilo_mlir_dot_dims(mlir_reader *r, hilo_record *out) {
  mlir_value v[4] = {0};
  const uint32_t ints = r->ints.n;
  const field_row rows[] = {{"lhs_batching_dimensions", &v[0], NULL},
                            {"rhs_batching_dimensions", &v[1], NULL},
                            {"lhs_contracting_dimensions", &v[2], NULL},
                            {"rhs_contracting_dimensions", &v[3], NULL}};
  if (!fields(r, rows, HILO_COUNT(rows))) return false;
  const hilo_dot_attrs a = {.lhs_batch = mlir_list(r, &v[0]),
                            .rhs_batch = mlir_list(r, &v[1]),
                            .lhs_contracting = mlir_list(r, &v[2]),
                            .rhs_contracting = mlir_list(r, &v[3])};
  *out = hilo_dot_put(&r->m->records, &a);
  r->ints.n = ints;
  return true;
}

/* The dimensions of the product in an attribute of their own, or beside the ragged ones. */
bool hilo_mlir_ragged_dims(mlir_reader *r, hilo_record *out) {
  static const char *const names[] = {"lhs_batching_dimensions",    "rhs_batching_dimensions",
                                      "lhs_contracting_dimensions", "rhs_contracting_dimensions",
                                      "lhs_ragged_dimensions",      "rhs_group_dimensions"};
  mlir_value v[HILO_COUNT(names)] = {0};
  mlir_detour detour;
  hilo_record dot = HILO_RECORD_NONE;
  bool first = true;
  const uint32_t ints = r->ints.n;
  if (!open(r, &detour)) return false;
  for (;;) {
    hilo_str name;
    if (!field(r, &name, &first)) return false;
    if (!name.n) break;
    uint32_t i = 0;
    while (i < HILO_COUNT(names) && !hilo_str_is(name, names[i])) i++;
    const bool is_dot = hilo_str_is(name, "dot_dimension_numbers");
    if (i == HILO_COUNT(names) && !is_dot) return unknown_field(r, name);
    if (!(is_dot ? hilo_mlir_dot_dims(r, &dot) : hilo_mlir_ints(r, &v[i]))) return false;
  }
  hilo_dot_attrs a = hilo_dot_get(&r->m->records, dot);
  if (!dot.ix) {
    a.lhs_batch = mlir_list(r, &v[0]);
    a.rhs_batch = mlir_list(r, &v[1]);
    a.lhs_contracting = mlir_list(r, &v[2]);
    a.rhs_contracting = mlir_list(r, &v[3]);
  }
  a.lhs_ragged = mlir_list(r, &v[4]);
  a.rhs_group = mlir_list(r, &v[5]);
  *out = hilo_dot_put(&r->m->records, &a);
  r->ints.n = ints;
  hilo_mlir_leave_alias(r, &detour);
  return true;
}

/* ---- gather, scatter ---- */

static bool gather_dims(mlir_reader *r, hilo_record *out) {
  mlir_value v[5] = {0};
  int64_t index_vector_dim = 0;
  const field_row rows[] = {
      {"offset_dims", &v[0], NULL},           {"collapsed_slice_dims", &v[1], NULL},
      {"operand_batching_dims", &v[2], NULL}, {"start_indices_batching_dims", &v[3], NULL},
      {"start_index_map", &v[4], NULL},       {"index_vector_dim", NULL, &index_vector_dim}};
  const uint32_t ints = r->ints.n;
  if (!fields(r, rows, HILO_COUNT(rows))) return false;
  const hilo_gather_attrs a = {.offset_dims = mlir_list(r, &v[0]),
                               .collapsed_slice_dims = mlir_list(r, &v[1]),
                               .operand_batching_dims = mlir_list(r, &v[2]),
                               .start_indices_batching_dims = mlir_list(r, &v[3]),
                               .start_index_map = mlir_list(r, &v[4]),
                               .index_vector_dim = index_vector_dim};
  *out = hilo_gather_put(&r->m->records, &a);
  r->ints.n = ints;
  return true;
}

bool hilo_mlir_scatter_dims(mlir_reader *r, hilo_record *out) {
  mlir_value v[5] = {0};
  int64_t index_vector_dim = 0;
  const field_row rows[] = {
      {"update_window_dims", &v[0], NULL},           {"inserted_window_dims", &v[1], NULL},
      {"input_batching_dims", &v[2], NULL},          {"scatter_indices_batching_dims", &v[3], NULL},
      {"scatter_dims_to_operand_dims", &v[4], NULL}, {"index_vector_dim", NULL, &index_vector_dim}};
  const uint32_t ints = r->ints.n;
  if (!fields(r, rows, HILO_COUNT(rows))) return false;
  const hilo_scatter_attrs a = {.update_window_dims = mlir_list(r, &v[0]),
                                .inserted_window_dims = mlir_list(r, &v[1]),
                                .input_batching_dims = mlir_list(r, &v[2]),
                                .scatter_indices_batching_dims = mlir_list(r, &v[3]),
                                .scatter_dims_to_operand_dims = mlir_list(r, &v[4]),
                                .index_vector_dim = index_vector_dim};
  *out = hilo_scatter_put(&r->m->records, &a);
  r->ints.n = ints;
  return true;
}

/* ---- convolutions ---- */

/* `[b, 0, 1, f]`: where batch (or input feature), feature and the spatial dimensions are. */
static bool conv_side(mlir_reader *r, const char letters[2], int64_t named[2], int64_t *spatial,
                      uint32_t *n_spatial) {
  uint32_t n = 0;
  named[0] = named[1] = -1;
  *n_spatial = 0;
  const char *at = r->p;
  for (uint32_t i = 0; i < HILO_MAX_RANK; i++) spatial[i] = -1;
  if (!mlir_want(r, '[', "to start dimensions of a convolution")) return false;
  while (!mlir_eat(r, ']')) {
    if (n && !mlir_want(r, ',', "or `]` in dimensions of a convolution")) return false;
    mlir_skip(r);
    at = r->p;
    int64_t k;
    if (n == HILO_MAX_RANK) return hilo_mlir_expected(r, "fewer dimensions");
    if (*at == letters[0] || *at == letters[1]) {
      r->p++;
      int64_t *place = &named[*at == letters[1]];
      if (*place >= 0) return hilo_mlir_fail(r, HILO_DIAG_EMOD904, at, "`%c` is given twice", *at);
      *place = n;
    } else if (mlir_eat(r, '?')) {
      return hilo_mlir_fail(r, HILO_DIAG_EMOD912, at,
                            "dimensions of a convolution without a meaning are not supported");
    } else {
      if (!mlir_int(r, &k, "a spatial dimension, or one of the two letters")) return false;
      if (k < 0 || k >= HILO_MAX_RANK || spatial[k] >= 0)
        return hilo_mlir_fail(r, HILO_DIAG_EMOD904, at,
                              "a spatial dimension is out of range or given twice");
      spatial[k] = n;
      ++*n_spatial;
    }
    n++;
  }
  for (uint32_t k = 0; k < *n_spatial; k++)
    if (spatial[k] < 0)
      return hilo_mlir_fail(r, HILO_DIAG_EMOD904, at, "the spatial dimension %u is missing", k);
  if (named[0] < 0 || named[1] < 0)
    return hilo_mlir_fail(r, HILO_DIAG_EMOD904, at, "`%c` is missing in these dimensions",
                          letters[named[0] >= 0]);
  return true;
}

/* `[b, 0, f]x[0, i, o]->[b, 0, f]` */
static bool conv_sides(mlir_reader *r, hilo_record *out) {
  int64_t in[2], kernel[2], to[2];
  int64_t spatial[3][HILO_MAX_RANK];
  uint32_t n[3];
  if (!conv_side(r, "bf", in, spatial[0], &n[0])) return false;
  mlir_skip(r);
  if (*r->p != 'x') return hilo_mlir_want_slow(r, 'x', "between the dimensions of a convolution");
  r->p++;
  if (!conv_side(r, "io", kernel, spatial[1], &n[1])) return false;
  if (!hilo_mlir_eat_arrow(r)) return hilo_mlir_expected(r, "`->`");
  if (!conv_side(r, "bf", to, spatial[2], &n[2])) return false;
  const hilo_conv_dims_attrs d = {.input_batch = in[0],
                                  .input_feature = in[1],
                                  .input_spatial = {spatial[0], n[0]},
                                  .kernel_input_feature = kernel[0],
                                  .kernel_output_feature = kernel[1],
                                  .kernel_spatial = {spatial[1], n[1]},
                                  .output_batch = to[0],
                                  .output_feature = to[1],
                                  .output_spatial = {spatial[2], n[2]}};
  *out = hilo_conv_dims_put(&r->m->records, &d);
  return true;
}

/* The form with names of fields. */
static bool conv_fields(mlir_reader *r, hilo_record *out) {
  mlir_value s[3] = {0};
  hilo_conv_dims_attrs d = {0};
  const field_row rows[] = {{"input_batch_dimension", NULL, &d.input_batch},
                            {"input_feature_dimension", NULL, &d.input_feature},
                            {"input_spatial_dimensions", &s[0], NULL},
                            {"kernel_input_feature_dimension", NULL, &d.kernel_input_feature},
                            {"kernel_output_feature_dimension", NULL, &d.kernel_output_feature},
                            {"kernel_spatial_dimensions", &s[1], NULL},
                            {"output_batch_dimension", NULL, &d.output_batch},
                            {"output_feature_dimension", NULL, &d.output_feature},
                            {"output_spatial_dimensions", &s[2], NULL}};
  const uint32_t ints = r->ints.n;
  if (!fields(r, rows, HILO_COUNT(rows))) return false;
  d.input_spatial = mlir_list(r, &s[0]);
  d.kernel_spatial = mlir_list(r, &s[1]);
  d.output_spatial = mlir_list(r, &s[2]);
  *out = hilo_conv_dims_put(&r->m->records, &d);
  r->ints.n = ints;
  return true;
}

bool hilo_mlir_conv_dims(mlir_reader *r, hilo_record *out) {
  mlir_detour detour;
  if (!hilo_mlir_enter_alias(r, &detour)) return false;
  if (*r->p == '[') {
    if (!conv_sides(r, out)) return false;
  } else {
    const char *start = r->p;
    mlir_detour inner;
    if (!open(r, &inner)) return false;
    mlir_skip(r);
    if (*r->p == '[') {
      if (!conv_sides(r, out) || !mlir_want(r, '>', "at the end of an attribute")) return false;
    } else {
      r->p = start;
      if (!conv_fields(r, out)) return false;
    }
  }
  hilo_mlir_leave_alias(r, &detour);
  return true;
}

bool hilo_mlir_dimensions(mlir_reader *r, mlir_value *v) {
  mlir_detour detour;
  hilo_record record;
  if (!hilo_mlir_enter_alias(r, &detour)) return false;
  const hilo_str name = mlir_suffix_at(r->p + 1);
  const bool is_gather = *r->p == '#' && hilo_str_ends(name, ".gather");
  if (!(is_gather ? gather_dims(r, &record) : hilo_mlir_conv_dims(r, &record))) return false;
  v->h.a = record.ix;
  hilo_mlir_leave_alias(r, &detour);
  return true;
}

/* ---- channels, algorithms, accuracy ---- */

bool hilo_mlir_channel(mlir_reader *r, int64_t *out) {
  int64_t type = 0;
  const field_row rows[] = {{"handle", NULL, out}, {"type", NULL, &type}};
  *out = 0;
  return fields(r, rows, HILO_COUNT(rows));
}

/* XLA's PrecisionConfig.Algorithm by its parts; 0: unset. */
static int64_t algorithm_number(const hilo_etype t[3], const int64_t n[3], bool imprecise) {
  const hilo_etype lhs = t[0], acc = t[2];
  if (lhs == HILO_INVALID) /* tf32 */
    return n[0] == 1 ? n[2] == 1 ? 9 : 0 : 0;
  if (lhs == HILO_F8E5M2 || lhs == HILO_F8E4M3FN) return imprecise ? 2 : 1;
  if (lhs == HILO_F16) return acc == HILO_F16 ? 3 : 4;
  if (lhs == HILO_BF16 && acc == HILO_BF16) return 5;
  if (lhs == HILO_BF16) return n[2] == 1 ? 6 : n[2] == 3 ? 7 : n[2] == 6 ? 8 : n[2] == 9 ? 13 : 0;
  if (lhs == HILO_F32) return 11;
  return lhs == HILO_F64 ? 12 : 0;
}

bool hilo_mlir_algorithm(mlir_reader *r, int64_t *out) {
  static const char *const names[] = {"lhs_precision_type",          "rhs_precision_type",
                                      "accumulation_type",           "lhs_component_count",
                                      "rhs_component_count",         "num_primitive_operations",
                                      "allow_imprecise_accumulation"};
  hilo_etype types[3] = {HILO_F32, HILO_F32, HILO_F32};
  int64_t counts[3] = {1, 1, 1}, imprecise = 0;
  mlir_detour detour;
  bool first = true;
  mlir_skip(r);
  const char *at = r->p;
  if (!open(r, &detour)) return false;
  for (;;) {
    hilo_str name;
    if (!field(r, &name, &first)) return false;
    if (!name.n) break;
    uint32_t i = 0;
    while (i < HILO_COUNT(names) && !hilo_str_is(name, names[i])) i++;
    if (i == HILO_COUNT(names)) return unknown_field(r, name);
    if (i < 3) {
      types[i] = HILO_INVALID;
      if (!hilo_mlir_eat_word(r, "tf32") && (types[i] = hilo_mlir_etype(r)) == HILO_INVALID)
        return hilo_mlir_expected(r, "a type");
    } else if (!(i < 6 ? hilo_mlir_int_attr(r, &counts[i - 3])
                       : hilo_mlir_bool_attr(r, &imprecise))) {
      return false;
    }
  }
  hilo_mlir_leave_alias(r, &detour);
  if (types[0] == HILO_INVALID && counts[2] == 3) {
    *out = 10; /* tf32 in three parts */
    return true;
  }
  *out = algorithm_number(types, counts, imprecise != 0);
  return *out || hilo_mlir_fail(r, HILO_DIAG_EMOD904, at,
                                "XLA has no algorithm of a product with these types and counts");
}

static bool accuracy_double(mlir_reader *r, int64_t *out) {
  uint64_t bits = 0;
  size_t used = 0;
  mlir_skip(r);
  const hilo_str rest = {r->p, (size_t)(r->end - r->p) < 400 ? (size_t)(r->end - r->p) : 400};
  const hilo_num_status status = hilo_float_scan(rest, HILO_FLOAT_F64, &bits, &used);
  if (!used || status == HILO_NUM_SYNTAX) return hilo_mlir_expected(r, "a tolerance");
  r->p += used;
  *out = (int64_t)bits;
  return true;
}

bool hilo_mlir_accuracy(mlir_reader *r, hilo_record *out) {
  static const char *const modes[] = {"DEFAULT", "HIGHEST", "TOLERANCE", NULL};
  hilo_result_accuracy_attrs a = {0};
  mlir_detour detour;
  bool first = true;
  if (!open(r, &detour)) return false;
  for (;;) {
    hilo_str name, word = {0};
    if (!field(r, &name, &first)) return false;
    if (!name.n) break;
    bool ok;
    if (hilo_str_is(name, "atol"))
      ok = accuracy_double(r, &a.atol_bits);
    else if (hilo_str_is(name, "rtol"))
      ok = accuracy_double(r, &a.rtol_bits);
    else if (hilo_str_is(name, "ulps"))
      ok = hilo_mlir_int_attr(r, &a.ulps);
    else if (hilo_str_is(name, "mode")) {
      mlir_skip(r);
      const char *at = r->p;
      ok = hilo_mlir_enum(r, &word);
      if (ok) a.mode = hilo_mlir_enum_index(r, at, word, modes, "mode of accuracy");
      ok = ok && a.mode >= 0;
    } else {
      ok = unknown_field(r, name);
    }
    if (!ok) return false;
  }
  *out = hilo_attrs_are_empty(HILO_FAMILY_result_accuracy, &a)
             ? HILO_RECORD_NONE
             : hilo_result_accuracy_put(&r->m->records, &a);
  hilo_mlir_leave_alias(r, &detour);
  return true;
}

/* ---- custom calls ---- */

/* Onto `ints` as records.def has it: count and indices of the result, operand, count and indices of
 * the operand. */
bool hilo_mlir_aliases(mlir_reader *r, mlir_value *v) {
  hilo_vec(int64_t) all = {0};
  const uint32_t ints = r->ints.n;
  mlir_detour detour;
  if (!hilo_mlir_enter_alias(r, &detour) || !mlir_want(r, '[', "to start a list of aliases"))
    return false;
  while (!mlir_eat(r, ']')) {
    mlir_value to = {0}, from = {0};
    int64_t operand = 0;
    const field_row rows[] = {{"output_tuple_indices", &to, NULL},
                              {"operand_index", NULL, &operand},
                              {"operand_tuple_indices", &from, NULL}};
    if (all.n && !mlir_want(r, ',', "or `]` in a list of aliases")) return false;
    if (!fields(r, rows, HILO_COUNT(rows))) return false;
    hilo_arena *scratch = &r->scratch->arena;
    HILO_PUSH(scratch, &all, (int64_t)to.list.n);
    for (uint32_t i = 0; i < to.list.n; i++) HILO_PUSH(scratch, &all, r->ints.v[to.list.at + i]);
    HILO_PUSH(scratch, &all, operand);
    HILO_PUSH(scratch, &all, (int64_t)from.list.n);
    for (uint32_t i = 0; i < from.list.n; i++)
      HILO_PUSH(scratch, &all, r->ints.v[from.list.at + i]);
    r->ints.n = ints;
  }
  v->list.at = ints;
  v->list.n = all.n;
  for (uint32_t i = 0; i < all.n; i++) MLIR_PUSH_INT(r, all.v[i]);
  HILO_VEC_FREE(&r->scratch->arena, &all);
  hilo_mlir_leave_alias(r, &detour);
  return true;
}

/* `[dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]`: a count and that many numbers
 * each. */
bool hilo_mlir_layouts(mlir_reader *r, mlir_value *v) {
  hilo_vec(int64_t) all = {0};
  const uint32_t ints = r->ints.n;
  mlir_detour detour;
  if (!hilo_mlir_enter_alias(r, &detour) || !mlir_want(r, '[', "to start a list of layouts"))
    return false;
  v->list.columns = 0;
  while (!mlir_eat(r, ']')) {
    mlir_value one;
    if (v->list.columns++ && !mlir_want(r, ',', "or `]` in a list of layouts")) return false;
    if (!hilo_mlir_ints(r, &one)) return false;
    HILO_PUSH(&r->scratch->arena, &all, (int64_t)one.list.n);
    for (uint32_t i = 0; i < one.list.n; i++)
      HILO_PUSH(&r->scratch->arena, &all, r->ints.v[one.list.at + i]);
    r->ints.n = ints;
  }
  v->list.at = ints;
  v->list.n = all.n;
  for (uint32_t i = 0; i < all.n; i++) MLIR_PUSH_INT(r, all.v[i]);
  HILO_VEC_FREE(&r->scratch->arena, &all);
  hilo_mlir_leave_alias(r, &detour);
  return true;
}

/* ---- replica groups ---- */

/* Rows of ids; -1 fills rows that are shorter. */
static bool listed_groups(mlir_reader *r, hilo_record *out) {
  mlir_value v;
  const uint32_t ints = r->ints.n;
  if (!hilo_mlir_ints(r, &v)) return false;
  const hilo_dims all = mlir_list(r, &v);
  const uint32_t columns = v.list.columns, rows = columns ? all.n / columns : 0;
  int64_t *sizes = HILO_NEW_ARRAY(&r->scratch->arena, int64_t, rows + 1);
  int64_t *ids = HILO_NEW_ARRAY(&r->scratch->arena, int64_t, all.n + 1);
  uint32_t n = 0;
  for (uint32_t row = 0; row < rows; row++) {
    sizes[row] = 0;
    for (uint32_t k = 0; k < columns; k++)
      if (all.v[row * columns + k] != -1) ids[n++] = all.v[row * columns + k], sizes[row]++;
  }
  const hilo_replica_groups_attrs groups = {.sizes = {sizes, rows}, .ids = {ids, n}};
  *out = rows ? hilo_replica_groups_put(&r->m->records, &groups) : HILO_RECORD_NONE;
  r->ints.n = ints;
  return true;
}

bool hilo_mlir_groups(mlir_reader *r, mlir_value *v) {
  mlir_detour detour;
  hilo_record record = HILO_RECORD_NONE, spelling = HILO_RECORD_NONE;
  if (!hilo_mlir_enter_alias(r, &detour)) return false;
  if (!(*r->p == '#' ? hilo_mlir_mesh_groups(r, &record, &spelling) : listed_groups(r, &record)))
    return false;
  v->h.a = record.ix;
  v->h.b = spelling.ix;
  hilo_mlir_leave_alias(r, &detour);
  return true;
}
