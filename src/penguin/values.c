/* Values and the variables they are bound to; types and their text; names of tensors.
 *
 * An array's value is one variable; a tuple's is a run of leaf variables in `pack`, so an element
 * of a tuple is an offset and nothing is copied. Text that depends on a type is made once per
 * type. */
#include "penguin/printer.h"

/* ---- element types ---- */

static const char *const dtype_names[HILO_DTYPE_COUNT] = {
    [HILO_PRED] = "bool",
    [HILO_S8] = "int8",
    [HILO_S16] = "int16",
    [HILO_S32] = "int32",
    [HILO_S64] = "int64",
    [HILO_U8] = "uint8",
    [HILO_U16] = "uint16",
    [HILO_U32] = "uint32",
    [HILO_U64] = "uint64",
    [HILO_TOKEN] = "uint8",
    [HILO_F16] = "float16",
    [HILO_F32] = "float32",
    [HILO_BF16] = "bfloat16",
    [HILO_F8E3M4] = "float8_e3m4",
    [HILO_F8E4M3] = "float8_e4m3",
    [HILO_F8E5M2] = "float8_e5m2",
    [HILO_F8E4M3FN] = "float8_e4m3fn",
    [HILO_F8E5M2FNUZ] = "float8_e5m2fnuz",
    [HILO_F8E4M3FNUZ] = "float8_e4m3fnuz",
    [HILO_F8E4M3B11FNUZ] = "float8_e4m3b11fnuz",
    [HILO_F8E8M0FNU] = "float8_e8m0fnu",
    [HILO_DTYPE_F8E5M2_X4] = "float8_e5m2_x4",
    [HILO_DTYPE_F8E4M3FN_X4] = "float8_e4m3fn_x4",
};

const char *hilo_dtype_name(unsigned dtype) { return dtype_names[dtype]; }

/* numpy's own names are strings; the others are attributes of `dtype` of the support module. */
void hilo_make_dtype_texts(hilo_printer *p) {
  for (int t = 0; t < HILO_DTYPE_COUNT; t++) {
    if (!dtype_names[t]) continue;
    const bool of_support = t == HILO_BF16 || strncmp(dtype_names[t], "float8", 6) == 0;
    hilo_sb sb = hilo_sb_make(p->arena);
    if (of_support) {
      hilo_sb_char(&sb, 'm');
      hilo_sb_u64(&sb, p->alias[HILO_IMPORT_SUPPORT]);
      HILO_PUT(&sb, ".dtype.");
      hilo_sb_cat(&sb, dtype_names[t]);
    } else {
      hilo_sb_char(&sb, '"');
      hilo_sb_cat(&sb, dtype_names[t]);
      hilo_sb_char(&sb, '"');
    }
    p->dtype[t] = hilo_str_copy(p->arena, hilo_sb_view(&sb));
    hilo_sb_free(&sb);
  }
}

/* ---- types ---- */

static hilo_str keep(hilo_printer *p, hilo_sb *sb) {
  const hilo_str text = hilo_str_copy(p->arena, hilo_sb_view(sb));
  hilo_sb_clear(sb);
  return text;
}

static const char *layout_of_rank(uint32_t rank) {
  static const char *const names[] = {"", "N", "NC", "NHC", "NHWC"};
  return rank < HILO_COUNT(names) ? names[rank] : "";
}

/* A tensor without elements stands in the text with its empty dimensions as 1. */
static hilo_dims printed_dims(hilo_printer *p, hilo_dims dims) {
  int64_t *v = HILO_NEW_ARRAY(p->arena, int64_t, dims.n + 1);
  for (uint32_t i = 0; i < dims.n; i++) v[i] = dims.v[i] == 0 ? 1 : dims.v[i];
  return (hilo_dims){v, dims.n};
}

static hilo_type_problem problem_of(const hilo_printer *p, hilo_type type) {
  const hilo_type_row *row = hilo_type_row_of(&p->m->types, type);
  if (!hilo_dtype_name(row->etype)) return HILO_TYPE_NO_DTYPE;
  if (row->etype == HILO_TOKEN) return HILO_TYPE_FINE;
  if (row->flags & HILO_TYPE_DYNAMIC) return HILO_TYPE_DYNAMIC_DIMS;
  return row->n_elements == 0 ? HILO_TYPE_EMPTY : HILO_TYPE_FINE;
}

static void make_array_text(hilo_printer *p, hilo_type type, hilo_type_text *text) {
  hilo_sb sb = hilo_sb_make(p->arena);
  const hilo_dims dims = hilo_type_dims(&p->m->types, type), printed = printed_dims(p, dims);
  hilo_py_tuple(&sb, dims);
  text->dims = keep(p, &sb);
  HILO_PUT(&sb, "\", shape=");
  hilo_py_tuple(&sb, printed);
  HILO_PUT(&sb, ", parent=v0, id=");
  text->head = keep(p, &sb);
  HILO_PUT(&sb, ", view=m0.TensorView(shape=");
  hilo_py_tuple(&sb, printed);
  HILO_PUT(&sb, ", layout=\"");
  hilo_sb_cat(&sb, layout_of_rank(dims.n));
  HILO_PUT(&sb, "\", transpose=");
  int64_t *identity = HILO_NEW_ARRAY(p->arena, int64_t, dims.n + 1);
  for (uint32_t i = 0; i < dims.n; i++) identity[i] = i;
  hilo_py_tuple(&sb, (hilo_dims){identity, dims.n});
  HILO_PUT(&sb, "), ");
  text->view = keep(p, &sb);
  text->n_leaves = 1;
  text->is_flat = true;
  text->problem = problem_of(p, type);
  hilo_sb_free(&sb);
}

/* Elements come before their tuple, so each type is summed once; nesting is bounded by the types.
 */
static void make_tuple_text(hilo_printer *p, hilo_type type, hilo_type_text *text) {
  const uint32_t n = hilo_type_n_elements_of_tuple(&p->m->types, type);
  uint32_t *offsets = HILO_NEW_ARRAY(p->arena, uint32_t, n + 1);
  text->is_flat = true;
  for (uint32_t k = 0; k < n; k++) {
    const hilo_type element = hilo_type_element(&p->m->types, type, k);
    const hilo_type_text *of_element = hilo_printer_type(p, element);
    offsets[k] = text->n_leaves;
    text->n_leaves += of_element->n_leaves;
    if (text->problem < of_element->problem) text->problem = of_element->problem;
    if (hilo_type_is_tuple(&p->m->types, element)) text->is_flat = false;
  }
  offsets[n] = text->n_leaves;
  text->offsets = offsets;
}

const hilo_type_text *hilo_printer_type(hilo_printer *p, hilo_type type) {
  if (HILO_LIKELY(p->type_text[type.ix])) return &p->types.v[p->type_text[type.ix]];
  const hilo_type bare = hilo_type_bare(&p->m->types, type);
  if (!p->type_text[bare.ix]) {
    hilo_type_text text = {0};
    hilo_type_is_tuple(&p->m->types, bare) ? make_tuple_text(p, bare, &text)
                                           : make_array_text(p, bare, &text);
    p->type_text[bare.ix] = p->types.n;
    HILO_PUSH(p->arena, &p->types, text);
  }
  p->type_text[type.ix] = p->type_text[bare.ix];
  return &p->types.v[p->type_text[type.ix]];
}

uint32_t hilo_leaf_offset(hilo_printer *p, hilo_type tuple, uint32_t k) {
  return hilo_printer_type(p, tuple)->offsets[k];
}

/* The element that holds a leaf; *leaf becomes the number within it. */
static uint32_t element_of_leaf(hilo_printer *p, hilo_type tuple, uint32_t *leaf) {
  const hilo_type_text *text = hilo_printer_type(p, tuple);
  uint32_t low = 0, high = hilo_type_n_elements_of_tuple(&p->m->types, tuple);
  if (text->is_flat) {
    low = *leaf;
    *leaf = 0;
    return low;
  }
  while (high - low > 1) { /* the last element that starts at or before the leaf */
    const uint32_t mid = low + (high - low) / 2;
    if (text->offsets[mid] <= *leaf)
      low = mid;
    else
      high = mid;
  }
  *leaf -= text->offsets[low];
  return low;
}

hilo_type hilo_leaf_type(hilo_printer *p, hilo_type type, uint32_t leaf) {
  while (hilo_type_is_tuple(&p->m->types, type))
    type = hilo_type_element(&p->m->types, type, element_of_leaf(p, type, &leaf));
  return type;
}

/* ---- values ---- */

const uint32_t *hilo_leaf_vars(hilo_printer *p, hilo_inst i) {
  const uint32_t *value = &p->value[hilo_ix(p->m, i)];
  return hilo_type_is_tuple(&p->m->types, hilo_inst_type(p->m, i)) ? &p->pack.v[*value] : value;
}

void hilo_bind(hilo_printer *p, hilo_inst i, const uint32_t *vars, uint32_t n_leaves) {
  uint32_t *value = &p->value[hilo_ix(p->m, i)];
  if (!hilo_type_is_tuple(&p->m->types, hilo_inst_type(p->m, i))) {
    *value = vars[0];
    return;
  }
  *value = p->pack.n;
  for (uint32_t k = 0; k < n_leaves; k++) HILO_PUSH(p->arena, &p->pack, vars[k]);
}

void hilo_bind_nothing(hilo_printer *p, hilo_inst i) {
  const uint32_t n = hilo_n_leaves(p, i);
  p->value[hilo_ix(p->m, i)] = p->pack.n;
  if (!hilo_type_is_tuple(&p->m->types, hilo_inst_type(p->m, i))) {
    p->value[hilo_ix(p->m, i)] = p->next_var++;
    return;
  }
  for (uint32_t k = 0; k < n; k++) HILO_PUSH(p->arena, &p->pack, p->next_var++);
}

bool hilo_bound_source(hilo_printer *p, hilo_inst i, uint32_t leaf, hilo_inst *source,
                       uint32_t *source_leaf) {
  const hilo_module *m = p->m;
  *source_leaf = leaf;
  switch (hilo_inst_op(m, i)) {
  case HILO_OP_TUPLE:
    if (hilo_inst_n_operands(m, i) == 0) return false;
    *source = hilo_inst_operand(m, i, element_of_leaf(p, hilo_inst_type(m, i), source_leaf));
    return true;
  case HILO_OP_GET_TUPLE_ELEMENT:
    *source = hilo_inst_operand(m, i, 0);
    *source_leaf += hilo_leaf_offset(p, hilo_inst_type(m, *source), hilo_inst_index(m, i));
    return true;
  case HILO_OP_ADD_DEPENDENCY:
  case HILO_OP_DOMAIN: *source = hilo_inst_operand(m, i, 0); return true;
  case HILO_OP_CUSTOM_CALL:
    if (!hilo_custom_call_is_bound(p, i)) return false;
    if (hilo_is_control_dep(p, i)) {
      *source = hilo_inst_operand(m, i, hilo_inst_n_operands(m, i) - 1);
      return true;
    }
    for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++) {
      *source = hilo_inst_operand(m, i, k);
      const uint32_t n = hilo_n_leaves(p, *source);
      if (*source_leaf < n) return true;
      *source_leaf -= n;
    }
    return false;
  default: return false;
  }
}

void hilo_resolve_leaf(hilo_printer *p, hilo_inst *i, uint32_t *leaf) {
  hilo_inst source;
  uint32_t source_leaf;
  while (hilo_bound_source(p, *i, *leaf, &source, &source_leaf)) *i = source, *leaf = source_leaf;
}

hilo_dest *hilo_dest_at(hilo_printer *p, hilo_inst i, uint32_t leaf) {
  uint32_t *at = &p->dest[hilo_ix(p->m, i)];
  if (!*at) {
    const uint32_t n = hilo_n_leaves(p, i);
    HILO_RESERVE(p->arena, &p->dests, n);
    memset(p->dests.v + p->dests.n, 0, n * sizeof(hilo_dest));
    *at = p->dests.n;
    p->dests.n += n;
  }
  return &p->dests.v[*at + leaf];
}

void hilo_gather_operands(hilo_printer *p, hilo_inst i) {
  const hilo_module *m = p->m;
  p->srcs.n = 0;
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++) {
    const hilo_inst operand = hilo_inst_operand(m, i, k);
    if (HILO_LIKELY(!hilo_type_is_tuple(&m->types, hilo_inst_type(m, operand)))) {
      HILO_PUSH(p->arena, &p->srcs, p->value[hilo_ix(m, operand)]);
      continue;
    }
    const uint32_t n = hilo_n_leaves(p, operand);
    HILO_RESERVE(p->arena, &p->srcs, n);
    memcpy(p->srcs.v + p->srcs.n, hilo_leaf_vars(p, operand), n * sizeof(uint32_t));
    p->srcs.n += n;
  }
}

static uint16_t mnemonic_of(hilo_printer *p, hilo_inst i) {
  const hilo_op op = hilo_inst_op(p->m, i);
  if (op == HILO_OP_DOT && hilo_attrs(p->m, i, dot).plain) return HILO_MNEMONIC_DOT;
  return (uint16_t)op;
}

void hilo_gather_results(hilo_printer *p, hilo_inst i) {
  const hilo_module *m = p->m;
  const hilo_type type = hilo_inst_type(m, i);
  const uint32_t n = hilo_printer_type(p, type)->n_leaves;
  p->dsts.n = 0;
  HILO_RESERVE(p->arena, &p->dsts, n);
  for (uint32_t k = 0; k < n; k++) {
    const hilo_type leaf = hilo_leaf_type(p, type, k);
    p->dsts.v[k] = (hilo_result){.shape = leaf,
                                 .dtype = (uint16_t)hilo_type_etype(&m->types, leaf),
                                 .mnemonic = mnemonic_of(p, i),
                                 .of = i,
                                 .leaf = k};
  }
  p->dsts.n = n;
}

/* ---- names ---- */

const char *hilo_mnemonic(unsigned mnemonic) {
  return mnemonic == HILO_MNEMONIC_DOT ? "dot" : hilo_op_mnemonic((hilo_op)mnemonic);
}

static bool claim(hilo_printer *p, hilo_str name) {
  bool inserted;
  *hilo_map_at(&p->taken, hilo_hash_bytes(name.p, name.n), &inserted) = 1;
  return inserted;
}

/* May a counted name, mnemonic and number, look like this one? */
static bool looks_counted(hilo_str name) {
  return name.n && name.p[name.n - 1] >= '0' && name.p[name.n - 1] <= '9' &&
         memchr(name.p, '.', name.n) != NULL;
}

hilo_str hilo_claim_name(hilo_printer *p, hilo_str name) {
  if (!claim(p, name)) {
    hilo_sb sb = hilo_sb_make(p->arena);
    uint64_t k = 1;
    do {
      hilo_sb_clear(&sb);
      hilo_sb_str(&sb, name);
      hilo_sb_char(&sb, '.');
      hilo_sb_u64(&sb, k++);
    } while (!claim(p, hilo_sb_view(&sb)));
    name = keep(p, &sb);
    hilo_sb_free(&sb);
  }
  if (looks_counted(name)) p->guard_names = true;
  return name;
}
