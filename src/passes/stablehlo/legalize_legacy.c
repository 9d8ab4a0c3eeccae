/* Operations that StableHLO keeps from older times, as those that replaced them; all_to_all, and
 * JAX's ApproxTopK, which XLA knows as a custom call of StableHLO only. */
#include "passes/stablehlo/legalize.h"

/* ---- einsum ---- */

/* What an einsum says: a label per dimension, of each operand and of the result. */
typedef struct {
  hilo_str lhs, rhs, out;
} einsum;

static bool parse_einsum(hilo_str config, bool binary, einsum *e) {
  const char *arrow = memmem(config.p, config.n, "->", 2);
  if (!arrow) return false;
  e->out = (hilo_str){arrow + 2, (size_t)(config.p + config.n - arrow - 2)};
  e->lhs = (hilo_str){config.p, (size_t)(arrow - config.p)};
  e->rhs = (hilo_str){0};
  if (!binary) return true;
  const char *comma = memchr(e->lhs.p, ',', e->lhs.n);
  if (!comma) return false;
  e->rhs = (hilo_str){comma + 1, (size_t)(arrow - comma - 1)};
  e->lhs.n = (size_t)(comma - config.p);
  return true;
}

static int find(hilo_str labels, char c) {
  const char *at = labels.n ? memchr(labels.p, c, labels.n) : NULL;
  return at ? (int)(at - labels.p) : -1;
}

/* Letters, each once. */
static bool is_plain(hilo_str labels, uint32_t rank) {
  if (labels.n != rank) return false;
  for (size_t k = 0; k < labels.n; k++) {
    const char c = labels.p[k];
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) || (size_t)find(labels, c) != k)
      return false;
  }
  return true;
}

/* Add up the dimensions whose labels nobody else has; `labels` (in `buffer`) loses them. */
static hilo_inst sum_out(hilo_module *m, hilo_inst at, hilo_inst x, hilo_str *labels, hilo_str a,
                         hilo_str b, char *buffer) {
  int64_t dims[HILO_MAX_RANK];
  uint32_t n = 0, kept = 0;
  for (size_t k = 0; k < labels->n; k++) {
    if (find(a, labels->p[k]) < 0 && find(b, labels->p[k]) < 0)
      dims[n++] = (int64_t)k;
    else
      buffer[kept++] = labels->p[k];
  }
  *labels = (hilo_str){buffer, kept};
  if (!n) return x;
  const hilo_inst zero =
      hilo_build_splat_int(m, at, hilo_type_scalar(&m->types, hilo_inst_etype(m, x)), 0);
  return hilo_build_reduce(m, at, HILO_OP_ADD, x, zero, (hilo_dims){dims, n});
}

/* Put the dimensions, labelled `have`, into the order of `want`. */
static hilo_inst reorder(hilo_module *m, hilo_inst at, hilo_inst x, hilo_str have, hilo_str want,
                         hilo_type type) {
  int64_t dims[HILO_MAX_RANK];
  bool same = true;
  for (size_t k = 0; k < want.n; k++) {
    dims[k] = find(have, want.p[k]);
    same &= dims[k] == (int64_t)k;
  }
  if (same) return x;
  const hilo_dims_attrs a = {.dims = {dims, (uint32_t)want.n}};
  const hilo_inst_desc desc = {.op = HILO_OP_TRANSPOSE,
                               .type = type,
                               .operands = &x,
                               .n_operands = 1,
                               .attr = hilo_dims_put(&m->records, &a).ix};
  return hilo_inst_insert_before(m, at, &desc);
}

static hilo_inst product(hilo_module *m, hilo_inst at, hilo_inst x, hilo_inst y, const einsum *e,
                         char *labels, uint32_t *n_labels) {
  int64_t list[4][HILO_MAX_RANK];
  uint32_t batch = 0, contracting = 0, n = 0;
  for (size_t k = 0; k < e->lhs.n; k++) {
    const int other = find(e->rhs, e->lhs.p[k]);
    if (other < 0) continue;
    if (find(e->out, e->lhs.p[k]) >= 0) {
      list[0][batch] = (int64_t)k;
      list[1][batch++] = other;
      labels[n++] = e->lhs.p[k];
    } else {
      list[2][contracting] = (int64_t)k;
      list[3][contracting++] = other;
    }
  }
  for (size_t k = 0; k < e->lhs.n; k++)
    if (find(e->rhs, e->lhs.p[k]) < 0) labels[n++] = e->lhs.p[k];
  for (size_t k = 0; k < e->rhs.n; k++)
    if (find(e->lhs, e->rhs.p[k]) < 0) labels[n++] = e->rhs.p[k];
  *n_labels = n;
  const hilo_dims x_dims = hilo_inst_dims(m, x), y_dims = hilo_inst_dims(m, y);
  int64_t sizes[2 * HILO_MAX_RANK];
  for (uint32_t k = 0; k < n; k++) {
    const int in_x = find(e->lhs, labels[k]);
    sizes[k] = in_x >= 0 ? x_dims.v[in_x] : y_dims.v[find(e->rhs, labels[k])];
  }
  const hilo_dot_attrs a = {.lhs_batch = {list[0], batch},
                            .rhs_batch = {list[1], batch},
                            .lhs_contracting = {list[2], contracting},
                            .rhs_contracting = {list[3], contracting}};
  const hilo_inst operands[] = {x, y};
  const hilo_inst_desc desc = {
      .op = HILO_OP_DOT,
      .type = hilo_type_array(&m->types, hilo_inst_etype(m, at), (hilo_dims){sizes, n}),
      .operands = operands,
      .n_operands = 2,
      .attr = hilo_dot_put(&m->records, &a).ix};
  return hilo_inst_insert_before(m, at, &desc);
}

void hilo_legalize_einsum(hilo_legalizer *l, hilo_inst i) {
  hilo_module *m = l->m;
  const bool binary = hilo_inst_is(m, i, HILO_OP_EINSUM);
  const hilo_str config = hilo_string_of(m, hilo_attrs(m, i, einsum).config);
  hilo_inst x = hilo_inst_operand(m, i, 0), y = binary ? hilo_inst_operand(m, i, 1) : x;
  const hilo_str none = {0};
  einsum e;
  bool ok = parse_einsum(config, binary, &e) && is_plain(e.lhs, hilo_inst_dims(m, x).n) &&
            is_plain(e.out, hilo_inst_dims(m, i).n) &&
            (!binary || is_plain(e.rhs, hilo_inst_dims(m, y).n));
  for (size_t k = 0; ok && k < e.out.n; k++)
    ok = find(e.lhs, e.out.p[k]) >= 0 || find(e.rhs, e.out.p[k]) >= 0;
  if (!ok) {
    hilo_legalize_refuse(l, i,
                         "`%s` by `%.*s` has no HLO form: expected one letter per dimension, none "
                         "twice in an operand, those of the result among them",
                         hilo_op_name(hilo_inst_op(m, i)), HILO_FMT(config));
    return;
  }
  char lhs[HILO_MAX_RANK], rhs[HILO_MAX_RANK], labels[2 * HILO_MAX_RANK];
  uint32_t n_labels;
  x = sum_out(m, i, x, &e.lhs, e.rhs, e.out, lhs);
  hilo_inst value = x;
  hilo_str have = e.lhs;
  if (binary) {
    y = sum_out(m, i, y, &e.rhs, e.lhs, e.out, rhs);
    value = product(m, i, x, y, &e, labels, &n_labels);
    have = (hilo_str){labels, n_labels};
  }
  (void)none;
  value = reorder(m, i, value, have, e.out, hilo_inst_type(m, i));
  if (hilo_inst_eq(value, hilo_inst_operand(m, i, 0))) {
    if (hilo_replace_with_existing(m, i, value)) l->ctx->n_rewritten++;
    return;
  }
  hilo_legalize_replace(l, i, value);
}

/* ---- torch_index_select ---- */

/* A gather: index k of the batch takes a slice of size 1 in dimension `dim`. */
void hilo_legalize_torch_index_select(hilo_legalizer *l, hilo_inst i) {
  hilo_module *m = l->m;
  const hilo_torch_index_attrs t = hilo_attrs(m, i, torch_index);
  const hilo_inst x = hilo_inst_operand(m, i, 0), index = hilo_inst_operand(m, i, 1);
  const hilo_dims x_dims = hilo_inst_dims(m, x), index_dims = hilo_inst_dims(m, index);
  const int64_t rank = x_dims.n, index_rank = index_dims.n;
  const int64_t dim = t.dim < 0 ? t.dim + rank : t.dim;
  const int64_t batch = t.batch_dims < 0 ? t.batch_dims + index_rank : t.batch_dims;
  int64_t sizes[HILO_MAX_RANK], offset[HILO_MAX_RANK], batch_list[HILO_MAX_RANK];
  if (dim < batch || dim >= rank || batch < 0 || batch > index_rank) {
    hilo_legalize_refuse(l, i, "`torch_index_select` of dimension %lld with %lld batch dimensions",
                         (long long)t.dim, (long long)t.batch_dims);
    return;
  }
  uint32_t n_offset = 0;
  for (int64_t d = 0; d < rank; d++) {
    const bool taken = d == dim, batched = d < batch;
    sizes[d] = taken || batched ? 1 : x_dims.v[d];
    /* batch dimensions, then those up to `dim`, then the rest of the indices, then what is behind
     */
    if (!taken && !batched) offset[n_offset++] = d < dim ? d : d + index_rank - batch - 1;
  }
  for (int64_t d = 0; d < batch; d++) batch_list[d] = d;
  const hilo_gather_attrs a = {.offset_dims = {offset, n_offset},
                               .collapsed_slice_dims = {&dim, 1},
                               .start_index_map = {&dim, 1},
                               .operand_batching_dims = {batch_list, (uint32_t)batch},
                               .start_indices_batching_dims = {batch_list, (uint32_t)batch},
                               .index_vector_dim = index_rank,
                               .slice_sizes = {sizes, (uint32_t)rank}};
  const hilo_inst operands[] = {x, index};
  const hilo_inst_desc desc = {.op = HILO_OP_GATHER,
                               .type = hilo_inst_type(m, i),
                               .operands = operands,
                               .n_operands = 2,
                               .attr = hilo_gather_put(&m->records, &a).ix};
  hilo_legalize_replace(l, i, hilo_inst_insert_before(m, i, &desc));
}

/* ---- collectives ---- */

void hilo_legalize_cross_replica_sum(hilo_legalizer *l, hilo_inst i) {
  hilo_module *m = l->m;
  const hilo_inst x = hilo_inst_operand(m, i, 0);
  const hilo_comp add = hilo_build_reducer(m, HILO_OP_ADD, hilo_inst_etype(m, x));
  const hilo_inst_desc desc = {.op = HILO_OP_ALL_REDUCE,
                               .type = hilo_inst_type(m, i),
                               .operands = &x,
                               .n_operands = 1,
                               .attr = hilo_inst_attr(m, i).ix,
                               .called = &add,
                               .n_called = 1,
                               .extra = hilo_inst_extra_record(m, i)};
  hilo_legalize_replace(l, i, hilo_inst_insert_before(m, i, &desc));
}

/* Blocks that were exchanged along dimension `from` are moved in front of dimension `to`. */
static hilo_inst move_blocks(hilo_module *m, hilo_inst at, hilo_inst x, int64_t from, int64_t to,
                             int64_t count) {
  const hilo_dims dims = hilo_inst_dims(m, x);
  const hilo_etype etype = hilo_inst_etype(m, x);
  int64_t split[HILO_MAX_RANK + 1], order[HILO_MAX_RANK + 1], moved[HILO_MAX_RANK + 1];
  uint32_t n = 0;
  for (int64_t d = 0; d < (int64_t)dims.n; d++) {
    if (d == from) split[n++] = count;
    split[n++] = d == from ? dims.v[d] / count : dims.v[d];
  }
  const hilo_inst blocks =
      hilo_build_reshape(m, at, x, hilo_type_array(&m->types, etype, (hilo_dims){split, n}));
  uint32_t k = 0;
  for (int64_t d = 0; d < (int64_t)dims.n; d++) {
    if (d == to) order[k++] = from;
    order[k++] = d < from ? d : d + 1;
  }
  for (k = 0; k < n; k++) moved[k] = split[order[k]];
  const hilo_dims_attrs a = {.dims = {order, n}};
  const hilo_inst_desc desc = {.op = HILO_OP_TRANSPOSE,
                               .type = hilo_type_array(&m->types, etype, (hilo_dims){moved, n}),
                               .operands = &blocks,
                               .n_operands = 1,
                               .attr = hilo_dims_put(&m->records, &a).ix};
  const hilo_inst turned = hilo_inst_insert_before(m, at, &desc);
  return hilo_build_reshape(m, at, turned, hilo_inst_type(m, at));
}

void hilo_legalize_all_to_all(hilo_legalizer *l, hilo_inst i) {
  hilo_module *m = l->m;
  hilo_collective_attrs a = hilo_attrs(m, i, collective);
  if (!a.split_count) return;
  const int64_t from = a.split_dimension, to = a.concat_dimension, count = a.split_count;
  a.dimension = from + 1;
  a.split_count = a.split_dimension = a.concat_dimension = 0;
  const hilo_record attr = hilo_collective_put(&m->records, &a);
  if (from == to) {
    hilo_inst_set_attr(m, i, attr.ix);
    return;
  }
  const hilo_inst x = hilo_inst_operand(m, i, 0);
  if (hilo_inst_n_operands(m, i) != 1) {
    hilo_legalize_refuse(
        l, i,
        "`all_to_all` of %u operands that splits dimension %lld and joins %lld has "
        "no HLO form",
        hilo_inst_n_operands(m, i), (long long)from, (long long)to);
    return;
  }
  const hilo_inst_desc desc = {.op = HILO_OP_ALL_TO_ALL,
                               .type = hilo_type_bare(&m->types, hilo_inst_type(m, x)),
                               .operands = &x,
                               .n_operands = 1,
                               .attr = attr.ix,
                               .extra = hilo_inst_extra_record(m, i)};
  const hilo_inst exchanged = hilo_inst_insert_before(m, i, &desc);
  hilo_legalize_replace(l, i, move_blocks(m, i, exchanged, from, to, count));
}

/* ---- ApproxTopK ---- */

/* The integer behind `name = ` in a dictionary. */
static bool entry(hilo_str dictionary, const char *name, int64_t *out) {
  const char *at = memmem(dictionary.p, dictionary.n, name, strlen(name));
  if (!at) return false;
  at += strlen(name);
  hilo_str rest = {at, (size_t)(dictionary.p + dictionary.n - at)};
  return hilo_mark_next_int(&rest, ',', out);
}

/* All elements sorted, the first ones taken: what XLA does without hardware for it. Operands are
 * the arrays, then their initial values, which a sort does not need. */
void hilo_legalize_approx_top_k(hilo_legalizer *l, hilo_inst i) {
  hilo_module *m = l->m;
  const hilo_custom_call_attrs a = hilo_attrs(m, i, custom_call);
  if (!hilo_str_is(hilo_string_of(m, a.target), "ApproxTopK")) return;
  const uint32_t n = hilo_inst_n_operands(m, i) / 2;
  const hilo_type type = hilo_inst_type(m, i);
  int64_t dim;
  if (!n || hilo_inst_n_called(m, i) != 1 ||
      !entry(hilo_string_of(m, hilo_inst_extra(m, i).backend_config), "reduction_dim = ", &dim) ||
      dim >= (int64_t)hilo_inst_dims(m, hilo_inst_operand(m, i, 0)).n ||
      hilo_type_is_tuple(&m->types, type) != (n > 1) ||
      (n > 1 && hilo_type_n_elements_of_tuple(&m->types, type) != n)) {
    hilo_legalize_refuse(l, i,
                         "`ApproxTopK` takes arrays, as many initial values, a comparator and a "
                         "configuration with `reduction_dim`");
    return;
  }
  hilo_inst *operands = HILO_NEW_ARRAY(l->ctx->scratch, hilo_inst, n);
  hilo_type *types = HILO_NEW_ARRAY(l->ctx->scratch, hilo_type, n);
  for (uint32_t k = 0; k < n; k++) {
    operands[k] = hilo_inst_operand(m, i, k);
    types[k] = hilo_inst_type(m, operands[k]);
  }
  const hilo_comp less = hilo_inst_called(m, i, 0);
  const hilo_sort_attrs sort = {.dimension = dim};
  const hilo_inst_desc sorted = {.op = HILO_OP_SORT,
                                 .type = n > 1 ? hilo_type_tuple(&m->types, types, n) : types[0],
                                 .operands = operands,
                                 .n_operands = n,
                                 .attr = hilo_sort_put(&m->records, &sort).ix,
                                 .called = &less,
                                 .n_called = 1};
  const hilo_inst all = hilo_inst_insert_before(m, i, &sorted);
  for (uint32_t k = 0; k < n; k++) {
    const hilo_type wanted = n > 1 ? hilo_type_element(&m->types, type, k) : type;
    const hilo_dims to = hilo_type_dims(&m->types, wanted);
    int64_t zeros[HILO_MAX_RANK] = {0}, ones[HILO_MAX_RANK];
    for (uint32_t d = 0; d < to.n; d++) ones[d] = 1;
    const hilo_slice_attrs slice = {.starts = {zeros, to.n}, .limits = to, .strides = {ones, to.n}};
    const hilo_inst from = n > 1 ? hilo_build_gte(m, i, all, k) : all;
    const hilo_inst_desc first = {.op = HILO_OP_SLICE,
                                  .type = wanted,
                                  .operands = &from,
                                  .n_operands = 1,
                                  .attr = hilo_slice_put(&m->records, &slice).ix};
    operands[k] = hilo_inst_insert_before(m, i, &first);
  }
  hilo_legalize_replace(l, i, n > 1 ? hilo_build_tuple(m, i, operands, n) : operands[0]);
}
