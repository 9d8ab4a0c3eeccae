/* Fusions: a header that computes nothing, then the body's operations, which write to the tensors
 * that the header declared. A ScheduleFusion has no header: its body is printed in place.
 *
 * The parameters of the body are bound to the operands, so a body that several fusions share is
 * printed for each of them anew. */
#include "penguin/printer.h"

enum { MAX_DEPTH = 64 };

typedef enum { KIND_SCHEDULE, KIND_ELEMENTWISE, KIND_REDUCE, KIND_UNKNOWN } kind_class;

typedef struct {
  const char *kind, *op;
  kind_class class;
} fusion_kind;

static const fusion_kind kinds[] = {
    {"DotLogistic", "DotFusion", KIND_ELEMENTWISE},
    {"DotSoftmax", "DotSoftmax", KIND_ELEMENTWISE},
    {"Elementwise", "Elementwise", KIND_ELEMENTWISE},
    {"Expm1", "Elementwise", KIND_ELEMENTWISE},
    {"Log1p", "Elementwise", KIND_ELEMENTWISE},
    {"MulRedSqrt", "MulRedSqrt", KIND_REDUCE},
    {"ScheduleFusion", "", KIND_SCHEDULE},
};

static const fusion_kind *kind_of(hilo_printer *p, hilo_inst i) {
  const hilo_str kind = hilo_string_of(p->m, hilo_attrs(p->m, i, fusion).kind);
  for (size_t k = 0; k < HILO_COUNT(kinds); k++)
    if (hilo_str_is(kind, kinds[k].kind)) return &kinds[k];
  HILO_REFUSE(p, FUSION_KIND, i,
              "the fusion has the kind `%.*s`: expected ScheduleFusion, MulRedSqrt, DotLogistic, "
              "Elementwise, Expm1, Log1p or DotSoftmax",
              HILO_FMT(kind));
  return NULL;
}

/* The dimensions of the reduce in the body. */
static hilo_dims reduce_dims(const hilo_module *m, hilo_comp body) {
  HILO_FOR_EACH_INST(m, body, i) {
    if (hilo_inst_is(m, i, HILO_OP_REDUCE)) return hilo_attrs(m, i, dims).dims;
  }
  return HILO_DIMS_NONE;
}

/* Prints the header; its results are bound, its variable is returned. */
static uint32_t put_header(hilo_printer *p, hilo_inst i, const fusion_kind *kind, hilo_comp body) {
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  const uint32_t header = p->op_var;
  hilo_put_tag(p, "fusion");
  hilo_put_quoted(p, "op", hilo_str_of(kind->op), '\'');
  hilo_put_quoted(p, "hilo_fusion_op", hilo_str_of(kind->kind), '\'');
  if (kind->class == KIND_REDUCE) hilo_put_list(p, "reduce_dims", reduce_dims(p->m, body));
  hilo_close(p);
  return header;
}

/* Give the live-outs of the body their destination: the variable of the header's result, or the
 * name that the fusion's result has. Live-outs that no operation writes, or that are returned
 * twice, are left to copy_rest; a bit in `done` marks the others. */
static void direct_results(hilo_printer *p, hilo_inst i, hilo_comp body, bool by_name,
                           uint64_t *done) {
  const hilo_inst root = hilo_comp_root(p->m, body);
  const uint32_t n = hilo_n_leaves(p, i);
  for (uint32_t k = 0; k < n; k++) {
    hilo_inst source = root;
    uint32_t leaf = k;
    hilo_resolve_leaf(p, &source, &leaf);
    const hilo_dest given = hilo_dest_of(p, i, k);
    if (by_name && !given.name.n && !given.var) {
      hilo_bitset_set(done, k);
      continue;
    }
    if (hilo_inst_is(p->m, source, HILO_OP_PARAMETER) ||
        hilo_inst_is(p->m, source, HILO_OP_CONSTANT))
      continue;
    hilo_dest *dest = hilo_dest_at(p, source, leaf);
    if (dest->var || dest->name.n) continue;
    *dest = by_name ? given : (hilo_dest){.var = hilo_leaf_vars(p, i)[k]};
    hilo_bitset_set(done, k);
  }
}

/* Copy what no operation of the body wrote to its place: the tensor that the header declared, or
 * one of its own. */
static void copy_rest(hilo_printer *p, hilo_inst i, hilo_comp body, bool has_header,
                      const uint64_t *done) {
  const hilo_inst root = hilo_comp_root(p->m, body);
  const hilo_type type = hilo_inst_type(p->m, i);
  const uint32_t n = hilo_n_leaves(p, i);
  for (uint32_t k = 0; k < n; k++) {
    if (hilo_bitset_get(done, k)) continue;
    if (has_header) *hilo_dest_at(p, i, k) = (hilo_dest){.var = hilo_leaf_vars(p, i)[k]};
    const hilo_type leaf = hilo_leaf_type(p, type, k);
    const hilo_result result = {.shape = leaf,
                                .dtype = (uint16_t)hilo_type_etype(&p->m->types, leaf),
                                .mnemonic = HILO_OP_COPY,
                                .of = i,
                                .leaf = k};
    const uint32_t var = hilo_step_copy(p, i, result, hilo_leaf_vars(p, root)[k]);
    uint32_t *slot = &p->value[hilo_ix(p->m, i)];
    if (hilo_type_is_tuple(&p->m->types, type)) slot = &p->pack.v[*slot + k];
    *slot = var;
  }
}

static void bind_parameters(hilo_printer *p, hilo_inst i, hilo_comp body) {
  const uint32_t n = hilo_comp_n_params(p->m, body);
  for (uint32_t k = 0; k < n && k < hilo_inst_n_operands(p->m, i); k++) {
    hilo_bind_same(p, hilo_comp_param(p->m, body, k), hilo_inst_operand(p->m, i, k));
    if (p->edges) hilo_edges_bind(p, hilo_comp_param(p->m, body, k), hilo_inst_operand(p->m, i, k));
  }
}

static void print_body(hilo_printer *p, hilo_comp body) {
  HILO_FOR_EACH_INST(p->m, body, k) {
    if (hilo_inst_is(p->m, k, HILO_OP_PARAMETER)) continue;
    hilo_print_inst(p, k);
  }
}

static void clear_dests(hilo_printer *p, hilo_comp body) {
  HILO_FOR_EACH_INST(p->m, body, k) p->dest[hilo_ix(p->m, k)] = 0;
}

void hilo_emit_fusion(hilo_printer *p, hilo_inst i) {
  const fusion_kind *kind = kind_of(p, i);
  if (!kind) return;
  const hilo_comp body = hilo_inst_called(p->m, i, 0);
  if (!hilo_comp_root(p->m, body).ix) {
    HILO_REFUSE(p, BODY, i, "the body of the fusion returns nothing");
    return;
  }
  if (p->depth == MAX_DEPTH) {
    HILO_REFUSE(p, REGION, i, "fusions are nested deeper than %d", MAX_DEPTH);
    return;
  }
  const uint32_t outer = p->header;
  const bool has_header = kind->class != KIND_SCHEDULE;
  uint64_t *done = hilo_bitset_create(p->arena, hilo_n_leaves(p, i));
  bind_parameters(p, i, body);
  if (has_header) p->header = put_header(p, i, kind, body);
  direct_results(p, i, body, !has_header, done);
  p->depth++;
  print_body(p, body);
  p->depth--;
  if (!has_header) hilo_bind_same(p, i, hilo_comp_root(p->m, body));
  copy_rest(p, i, body, has_header, done);
  clear_dests(p, body);
  p->header = outer;
}
