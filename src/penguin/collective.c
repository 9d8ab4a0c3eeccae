/* Collectives: one statement each, all operands and results of a variadic one in it. */
#include "penguin/groups.h"
#include "penguin/reducer_text.h"

static const char *kind_of(hilo_op op) {
  switch (op) {
  case HILO_OP_ALL_REDUCE: return "'AllReduce'";
  case HILO_OP_ALL_GATHER: return "'AllGather'";
  case HILO_OP_REDUCE_SCATTER: return "'ReduceScatter'";
  case HILO_OP_ALL_TO_ALL: return "'AlltoAll'";
  default: return "'Permute'";
  }
}

/* The number that the pass which stamps collectives left. */
static bool stream_of(hilo_printer *p, hilo_inst i, int64_t *stream) {
  const hilo_str text = hilo_frontend_attr(p, i, "stream_id");
  if (!text.p) {
    HILO_REFUSE(p, GROUPS, i, "Stream id missing from collective op!");
    return false;
  }
  if (hilo_str_parse_i64(hilo_str_trim(text), stream)) return true;
  HILO_REFUSE(p, GROUPS, i, "its stream id is `%.*s`: expected an integer", HILO_FMT(text));
  return false;
}

/* A token comes last among several operands; as ui8 it is a scalar, which no payload of a
 * collective of several operands is. */
static bool has_token(const hilo_module *m, hilo_inst i) {
  const uint32_t n = hilo_inst_n_operands(m, i);
  if (n < 2) return false;
  const hilo_inst last = hilo_inst_operand(m, i, n - 1);
  const hilo_etype etype = hilo_inst_etype(m, last);
  return etype == HILO_TOKEN || (etype == HILO_U8 && hilo_inst_dims(m, last).n == 0);
}

static void put_split(hilo_printer *p, hilo_inst i, const hilo_collective_attrs *attrs) {
  if (attrs->split_count) {
    hilo_put_int(p, "split_dimension", attrs->split_dimension);
    hilo_put_int(p, "concat_dimension", attrs->concat_dimension);
    hilo_put_int(p, "split_count", attrs->split_count);
  } else if (attrs->dimension) {
    hilo_put_int(p, "split_dimension", attrs->dimension - 1);
    hilo_put_int(p, "concat_dimension", attrs->dimension - 1);
    hilo_put_int(p, "split_count", hilo_group_size(p, i));
  } /* else operand k goes to member k, and nothing is split */
}

static void put_dims(hilo_printer *p, hilo_inst i, const hilo_collective_attrs *attrs) {
  switch (hilo_inst_op(p->m, i)) {
  case HILO_OP_ALL_GATHER: hilo_put_int(p, "all_gather_dim", attrs->dimension - 1); break;
  case HILO_OP_REDUCE_SCATTER: hilo_put_int(p, "reduce_scatter_dim", attrs->dimension - 1); break;
  case HILO_OP_ALL_TO_ALL: put_split(p, i, attrs); break;
  default: break;
  }
}

static void put_optional(hilo_printer *p, hilo_inst i) {
  const hilo_neuron_attrs neuron = hilo_neuron_of(p, i);
  const hilo_str type = hilo_frontend_attr(p, i, "collective_type");
  const hilo_str hint = hilo_frontend_attr(p, i, "cc_type_hint");
  if (neuron.group_id.ix)
    hilo_put_quoted(p, "groupID", hilo_string_of(p->m, neuron.group_id), '\'');
  if (type.p) hilo_put_quoted(p, "collective_type", type, '\'');
  if (hint.p) {
    HILO_PUT(p->out, ", cc_type_hint={'op':'");
    hilo_py_string(p->out, hint, '\'');
    HILO_PUT(p->out, "'}");
  }
}

static bool reducer_of(hilo_printer *p, hilo_inst i, hilo_reducer *reducer) {
  const hilo_op op = hilo_inst_op(p->m, i);
  *reducer = (hilo_reducer){.overwrites = true};
  if (op != HILO_OP_ALL_REDUCE && op != HILO_OP_REDUCE_SCATTER) return true;
  const hilo_comp region = hilo_inst_called(p->m, i, 0);
  if (hilo_region_reducer(p->m, region, reducer) == HILO_REDUCER_OK && hilo_reducer_folds(*reducer))
    return true;
  HILO_REFUSE(p, REGION, i,
              "the region of this `%s` is not one operation on its two parameters: expected add, "
              "multiply, maximum, minimum, and, or, xor",
              hilo_op_get(op)->hlo);
  return false;
}

void hilo_emit_collective(hilo_printer *p, hilo_inst i) {
  const hilo_collective_attrs attrs = hilo_attrs(p->m, i, collective);
  hilo_reducer reducer;
  int64_t stream;
  if (attrs.slice_sizes.n) {
    HILO_REFUSE(p, COLLECTIVE_FORM, i, "an in-place `collective-permute` has no Penguin form");
    return;
  }
  if (!reducer_of(p, i, &reducer) || !stream_of(p, i, &stream)) return;
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  if (!reducer.overwrites) hilo_put_op(p, hilo_reducer_ref(reducer));
  hilo_put_tag(p, hilo_op_mnemonic(hilo_inst_op(p->m, i)));
  hilo_put_key(p, "kind");
  hilo_sb_cat(p->out, kind_of(hilo_inst_op(p->m, i)));
  put_dims(p, i, &attrs);
  hilo_put_key(p, "replica_groups");
  if (!hilo_put_groups(p, i)) return;
  const hilo_type first = hilo_leaf_type(p, hilo_inst_type(p->m, i), 0);
  hilo_put_dtype(p, "dtype", hilo_type_etype(&p->m->types, first));
  put_optional(p, i);
  hilo_put_flag(p, "has_token", has_token(p->m, i));
  hilo_put_int(p, "stream_id", stream);
  hilo_close(p);
}
