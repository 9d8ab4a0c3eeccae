#include "eval/value_type.h"

#include "eval/movement/indices.h"
#include "eval/strided.h"
#include "ir/infer.h"

static bool is_dynamic(const hilo_eval *e, hilo_type t) {
  return hilo_type_row_of(&e->m->types, t)->flags & HILO_TYPE_DYNAMIC;
}

/* Does the operation say itself what type its value has? */
static bool finds_its_type(hilo_op op) {
  switch (op) {
  case HILO_OP_ASYNC_DONE:
  case HILO_OP_ASYNC_START:
  case HILO_OP_ASYNC_UPDATE:
  case HILO_OP_CALL:
  case HILO_OP_COMPOSITE:
  case HILO_OP_CONDITIONAL:
  case HILO_OP_CONSTANT:
  case HILO_OP_CUSTOM_CALL:
  case HILO_OP_DYNAMIC_BROADCAST_IN_DIM:
  case HILO_OP_DYNAMIC_CONV:
  case HILO_OP_DYNAMIC_GATHER:
  case HILO_OP_DYNAMIC_IOTA:
  case HILO_OP_DYNAMIC_PAD:
  case HILO_OP_DYNAMIC_RESHAPE:
  case HILO_OP_EINSUM:
  case HILO_OP_FUSION:
  case HILO_OP_GET_DIMENSION_SIZE:
  case HILO_OP_GET_TUPLE_ELEMENT:
  case HILO_OP_INFEED:
  case HILO_OP_MINIMUM_BROADCAST_SHAPES:
  case HILO_OP_PARAMETER:
  case HILO_OP_REAL_DYNAMIC_SLICE:
  case HILO_OP_RECV:
  case HILO_OP_RECV_DONE:
  case HILO_OP_RNG:
  case HILO_OP_SET_DIMENSION_SIZE:
  case HILO_OP_UNARY_EINSUM:
  case HILO_OP_WHILE: return true;
  default: return false;
  }
}

static hilo_status misfit(const hilo_eval *e, hilo_inst i, hilo_type found) {
  if (!e->diags) return HILO_INPUT_ERROR;
  hilo_sb declared = hilo_sb_make(e->scratch), actual = hilo_sb_make(e->scratch);
  const hilo_module *m = e->m;
  hilo_type_print(&m->types, &m->records, &m->strings, hilo_inst_type(m, i), false, &declared);
  hilo_type_print(&m->types, &m->records, &m->strings, found, false, &actual);
  return hilo_inst_error(
      m, e->diags, HILO_DIAG_EMOD918, i, "`%s` gives %s at run time, but is declared as %s",
      hilo_op_name(hilo_inst_op(m, i)), hilo_sb_cstr(&actual), hilo_sb_cstr(&declared));
}

/* Is a value of type t one of the declared type? As deep as types are nested. */
static bool fits(const hilo_eval *e, hilo_type t, hilo_type declared) {
  const hilo_store *types = &e->m->types;
  if (hilo_type_bare(types, t).ix == hilo_type_bare(types, declared).ix) return true;
  const hilo_type_row *a = hilo_type_row_of(types, t), *b = hilo_type_row_of(types, declared);
  if (a->etype != b->etype || a->n != b->n) return false;
  if (a->etype == HILO_TUPLE) {
    for (uint32_t k = 0; k < a->n; k++)
      if (!fits(e, (hilo_type){(uint32_t)a->items[k]}, (hilo_type){(uint32_t)b->items[k]}))
        return false;
    return true;
  }
  const uint64_t open = b->flags & HILO_TYPE_HAS_BITS ? (uint64_t)b->items[b->n] : 0;
  for (uint32_t d = 0; d < a->n; d++) {
    const bool is_open = open >> d & 1, has_bound = b->items[d] != HILO_UNBOUNDED;
    if (has_bound && (is_open ? a->items[d] > b->items[d] : a->items[d] != b->items[d]))
      return false;
  }
  return true;
}

/* Where the declared type says what operands do not: bounds are sizes, dimensions of a broadcast
 * are those of the operand, the one open size of a reshape is what is left. */
static hilo_type hint_of(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                         hilo_type declared) {
  const hilo_store *types = &e->m->types;
  const hilo_type_row *r = hilo_type_row_of(types, declared);
  const hilo_op op = hilo_inst_op(e->m, i);
  if (!hilo_etype_is_array((hilo_etype)r->etype) || !(r->flags & HILO_TYPE_DYNAMIC))
    return declared;
  const uint64_t open = (uint64_t)r->items[r->n];
  int64_t dims[HILO_MAX_RANK];
  memcpy(dims, r->items, r->n * sizeof(int64_t));
  if (op == HILO_OP_BROADCAST) {
    const hilo_dims to = hilo_attrs(e->m, i, dims).dims, in = hilo_type_dims(types, args[0].type);
    for (uint32_t d = 0; d < in.n; d++)
      if (open >> to.v[d] & 1 && (in.v[d] != 1 || dims[to.v[d]] == HILO_UNBOUNDED))
        dims[to.v[d]] = in.v[d];
  } else if (op == HILO_OP_RESHAPE && (open & (open - 1)) == 0) {
    const uint32_t d = (uint32_t)__builtin_ctzll(open);
    int64_t rest = 1;
    for (uint32_t k = 0; k < r->n; k++)
      if (k != d) rest *= dims[k];
    if (rest) dims[d] = (int64_t)hilo_value_n_elements(e, &args[0]) / rest;
  }
  return hilo_type_array_quant(e->types, (hilo_etype)r->etype, (hilo_dims){dims, r->n}, NULL,
                               HILO_RECORD_NONE, hilo_type_quant(types, declared));
}

hilo_status hilo_eval_resolve_type(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                   hilo_value *out) {
  const hilo_module *m = e->m;
  const uint32_t n = hilo_inst_n_operands(m, i);
  if (finds_its_type(hilo_inst_op(m, i))) return HILO_OK;
  if (!e->types) return hilo_eval_refuse(e, i, "its sizes are not known before it runs");
  hilo_type *types = HILO_NEW_ARRAY(e->scratch, hilo_type, n + 1);
  for (uint32_t k = 0; k < n; k++) types[k] = args[k].type;
  const hilo_type declared = out->type, hint = hint_of(e, i, args, declared);
  HILO_TRY(hilo_infer_value_type(m, e->types, e->scratch, e->diags, i, types, hint, &out->type));
  if (is_dynamic(e, out->type))
    return hilo_eval_refuse(e, i, "its sizes do not follow from those of its operands");
  return fits(e, out->type, declared) ? HILO_OK : misfit(e, i, out->type);
}

/* ---- operands of an elementwise operation ---- */

/* The least sizes of all operands, in dimensions that are bounded in one of them; false: all have
 * the same sizes there. */
static bool least_sizes(const hilo_eval *e, hilo_inst i, const hilo_value *args, uint32_t n,
                        int64_t least[HILO_MAX_RANK]) {
  const hilo_store *types = &e->m->types;
  const uint32_t rank = hilo_type_dims(types, hilo_inst_type(e->m, i)).n;
  bool differ = false;
  for (uint32_t d = 0; d < rank; d++) {
    bool is_bounded = false, some_differ = false;
    least[d] = INT64_MAX;
    for (uint32_t k = 0; k < n; k++) {
      const hilo_dims dims = hilo_type_dims(types, args[k].type);
      const hilo_type_row *r =
          hilo_type_row_of(types, hilo_inst_type(e->m, hilo_inst_operand(e->m, i, k)));
      if (dims.n != rank) continue; /* scalars go with everything */
      is_bounded |= r->flags & HILO_TYPE_HAS_BITS && (uint64_t)r->items[r->n] >> d & 1 &&
                    r->items[d] != HILO_UNBOUNDED;
      some_differ |= least[d] != INT64_MAX && dims.v[d] != least[d];
      if (dims.v[d] < least[d]) least[d] = dims.v[d];
    }
    if (!is_bounded) least[d] = INT64_MAX;
    differ |= is_bounded && some_differ;
  }
  return differ;
}

/* The beginning of `in` along each dimension; `in` itself if that is all of it. */
static bool cut(const hilo_eval *e, hilo_inst i, const hilo_value *in, const int64_t *least,
                hilo_value *out) {
  const hilo_dims dims = hilo_type_dims(&e->m->types, in->type);
  int64_t sizes[HILO_MAX_RANK];
  bool is_cut = false;
  for (uint32_t d = 0; d < dims.n; d++) {
    sizes[d] = dims.v[d] < least[d] ? dims.v[d] : least[d];
    is_cut |= sizes[d] != dims.v[d];
  }
  *out = *in;
  if (!is_cut) return true;
  const hilo_etype etype = hilo_value_etype(e, in);
  out->type = hilo_type_array_quant(e->types, etype, (hilo_dims){sizes, dims.n}, NULL,
                                    HILO_RECORD_NONE, hilo_type_quant(&e->m->types, in->type));
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return false;
  const hilo_strides from = hilo_strides_row_major(dims);
  const hilo_dims box = hilo_type_dims(&e->m->types, out->type);
  const hilo_strides to = hilo_strides_row_major(box);
  hilo_strided_copy(box, hilo_etype_bytes(etype), data, &to, in->data, &from);
  return true;
}

const hilo_value *hilo_eval_cut_operands(const hilo_eval *e, hilo_inst i, const hilo_value *args) {
  const uint32_t n = hilo_inst_n_operands(e->m, i);
  int64_t least[HILO_MAX_RANK];
  if (n < 2 || !e->types || !least_sizes(e, i, args, n, least)) return args;
  const uint32_t rank = hilo_type_dims(&e->m->types, hilo_inst_type(e->m, i)).n;
  hilo_value *out = HILO_NEW_ARRAY(e->scratch, hilo_value, n);
  for (uint32_t k = 0; k < n; k++) {
    out[k] = args[k];
    if (hilo_type_dims(&e->m->types, args[k].type).n == rank &&
        !cut(e, i, &args[k], least, &out[k]))
      return NULL;
  }
  return out;
}

void hilo_eval_drop_cut(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                        const hilo_value *cut_args) {
  for (uint32_t k = 0; cut_args != args && k < hilo_inst_n_operands(e->m, i); k++) {
    hilo_value v = cut_args[k];
    if (v.data != args[k].data) hilo_value_release(e, &v);
  }
}

/* ---- types that an operation finds itself ---- */

hilo_status hilo_eval_set_type(const hilo_eval *e, hilo_inst i, hilo_dims sizes, hilo_value *out) {
  const hilo_type declared = hilo_inst_type(e->m, i);
  const hilo_store *types = &e->m->types;
  for (uint32_t d = 0; d < sizes.n; d++)
    if (sizes.v[d] < 0) return hilo_eval_refuse(e, i, "a size is negative");
  const hilo_dims known = hilo_type_dims(types, declared);
  if (hilo_dims_eq(known, sizes) && !is_dynamic(e, declared)) {
    out->type = declared;
    return HILO_OK;
  }
  if (!e->types) return hilo_eval_refuse(e, i, "its sizes are not known before it runs");
  out->type = hilo_type_array_quant(e->types, hilo_type_etype(types, declared), sizes, NULL,
                                    HILO_RECORD_NONE, hilo_type_quant(types, declared));
  return fits(e, out->type, declared) ? HILO_OK : misfit(e, i, out->type);
}

bool hilo_eval_load_vector(const hilo_eval *e, const hilo_value *v, uint32_t n,
                           int64_t out[HILO_MAX_RANK]) {
  const hilo_etype etype = hilo_value_etype(e, v);
  if (hilo_value_n_elements(e, v) != n || n > HILO_MAX_RANK || !hilo_etype_is_integer(etype))
    return false;
  hilo_indices_load(etype, v->data, 0, n, out);
  return true;
}
