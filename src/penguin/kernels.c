/* Custom calls that carry a kernel: their configuration goes to the text, field by field or
 * verbatim. */
#include "analysis/target_config.h"
#include "penguin/targets.h"

static uint16_t first_dtype(hilo_printer *p, hilo_inst i) {
  return (uint16_t)hilo_type_etype(&p->m->types, hilo_leaf_type(p, hilo_inst_type(p->m, i), 0));
}

/* The part of *rest before the next separator, trimmed. */
static hilo_str next_part(hilo_str *rest, char separator) {
  const char *at = rest->n ? memchr(rest->p, separator, rest->n) : NULL;
  const size_t n = at ? (size_t)(at - rest->p) : rest->n;
  const hilo_str part = hilo_str_trim((hilo_str){rest->p, n});
  const size_t skipped = at ? n + 1 : n;
  *rest = (hilo_str){rest->p + skipped, rest->n - skipped};
  return part;
}

/* `{"rhs_contracting_dim":1, "tp_degree":8}` from `rhs_contracting_dim:1,tp_degree:8`. */
static bool put_pairs(hilo_printer *p, hilo_str config) {
  bool first = true;
  hilo_put_key(p, "backend_config");
  hilo_sb_char(p->out, '{');
  for (hilo_str rest = config; rest.n;) {
    hilo_str pair = next_part(&rest, ',');
    if (!pair.n) continue;
    const hilo_str key = next_part(&pair, ':'), value = hilo_str_trim(pair);
    int64_t number;
    if (!key.n || !hilo_str_parse_i64(value, &number)) return false;
    if (!first) HILO_PUT(p->out, ", ");
    first = false;
    hilo_sb_char(p->out, '"');
    hilo_py_string(p->out, key, '"');
    HILO_PUT(p->out, "\":");
    hilo_sb_i64(p->out, number);
  }
  hilo_sb_char(p->out, '}');
  return true;
}

void hilo_print_collective_matmul(hilo_printer *p, hilo_inst i, hilo_str target) {
  const hilo_str config = hilo_backend_config(p, i);
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, "custom_call");
  hilo_put_dtype(p, "dtype", first_dtype(p, i));
  hilo_put_quoted(p, "target_name", target, '"');
  if (!put_pairs(p, config)) {
    HILO_REFUSE(p, OP, i, "`%.*s` has the backend_config `%.*s`: expected `key:number` pairs",
                HILO_FMT(target), HILO_FMT(config));
    return;
  }
  hilo_close(p);
}

void hilo_print_mlp_nki(hilo_printer *p, hilo_inst i, hilo_str target) {
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, "custom_call");
  hilo_put_dtype(p, "dtype", first_dtype(p, i));
  hilo_put_quoted(p, "target_name", target, '"');
  hilo_close(p);
}

/* Five fields separated by `;`, in this order. */
void hilo_print_custom_op(hilo_printer *p, hilo_inst i, hilo_str target) {
  static const char *const keys[] = {"function_name", "name", "lib_file_name",
                                     "ulib_to_ucode_version", "ulib_to_isa_version"};
  hilo_str rest = hilo_backend_config(p, i);
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, "custom_call");
  hilo_put_quoted(p, "target_name", target, '\'');
  for (size_t k = 0; k < HILO_COUNT(keys); k++)
    hilo_put_quoted(p, keys[k], next_part(&rest, ';'), '\'');
  hilo_put_dtype(p, "dtype", first_dtype(p, i));
  hilo_put_shape(p, "shape", hilo_leaf_type(p, hilo_inst_type(p->m, i), 0));
  hilo_close(p);
}

/* ---- native kernels ---- */

/* One pair of output_operand_aliasing: count and indices into the result, operand number, count and
 * indices into it. */
typedef struct {
  hilo_dims output, operand_index;
  int64_t operand;
} alias_pair;

static bool next_pair(hilo_dims *rest, alias_pair *out) {
  hilo_dims *const lists[] = {&out->output, &out->operand_index};
  for (int k = 0; k < 2; k++) {
    if (k) {
      if (rest->n < 1) return false;
      out->operand = rest->v[0];
      rest->v++, rest->n--;
    }
    if (rest->n < 1 || rest->v[0] < 0 || rest->v[0] > rest->n - 1) return false;
    *lists[k] = (hilo_dims){rest->v + 1, (uint32_t)rest->v[0]};
    rest->v += 1 + lists[k]->n;
    rest->n -= 1 + lists[k]->n;
  }
  return true;
}

/* The variables of the operands that results are aliased to, in p->srcs; false if an entry is
 * wrong.
 */
static bool aliased_inputs(hilo_printer *p, hilo_inst i, hilo_str target) {
  hilo_dims rest = hilo_attrs(p->m, i, custom_call).output_operand_aliasing;
  const bool is_tuple = hilo_type_is_tuple(&p->m->types, hilo_inst_type(p->m, i));
  p->srcs.n = 0;
  while (rest.n) {
    alias_pair pair;
    if (!next_pair(&rest, &pair)) {
      HILO_REFUSE(p, KERNEL_ALIAS, i, "an alias entry of `%.*s` is cut short", HILO_FMT(target));
      return false;
    }
    if (pair.output.n != is_tuple || pair.operand_index.n) {
      HILO_REFUSE(p, KERNEL_RESULT, i, "an alias entry of `%.*s` does not fit its flat results",
                  HILO_FMT(target));
      return false;
    }
    if (pair.operand < 0 || pair.operand >= hilo_inst_n_operands(p->m, i) ||
        (is_tuple && (pair.output.v[0] < 0 || pair.output.v[0] >= hilo_n_leaves(p, i)))) {
      HILO_REFUSE(p, KERNEL_ALIAS_INDEX, i, "an alias entry of `%.*s` names operand %lld of %u",
                  HILO_FMT(target), (long long)pair.operand, hilo_inst_n_operands(p->m, i));
      return false;
    }
    HILO_PUSH(p->arena, &p->srcs, hilo_operand_var(p, i, (uint32_t)pair.operand));
  }
  return true;
}

void hilo_print_native_kernel(hilo_printer *p, hilo_inst i, hilo_str target) {
  for (uint32_t k = 0; k < hilo_inst_n_operands(p->m, i); k++)
    if (hilo_type_is_tuple(&p->m->types, hilo_inst_type(p->m, hilo_inst_operand(p->m, i, k)))) {
      HILO_REFUSE(p, KERNEL_OPERANDS, i, "operand %u of `%.*s` is a tuple: expected an array", k,
                  HILO_FMT(target));
      return;
    }
  if (!aliased_inputs(p, i, target)) return;
  hilo_open(p, HILO_CTOR_NATIVE_KERNEL, i);
  hilo_put_flag(p, "use_opaque_access", true);
  hilo_put_quoted(p, "kernel_config", hilo_backend_config(p, i), '\'');
  hilo_close(p);
  if (!aliased_inputs(p, i, target) || p->srcs.n == 0) return;
  hilo_put_var(p->out, p->op_var);
  HILO_PUT(p->out, ".aliasTensors(input=");
  hilo_put_vars(p, p->srcs.v, p->srcs.n);
  HILO_PUT(p->out, ")\n");
}

/* ---- microscaling ---- */

void hilo_print_quantize_mx(hilo_printer *p, hilo_inst i, hilo_str target) {
  const hilo_str config = hilo_backend_config(p, i);
  hilo_quantize_config q;
  if (hilo_inst_n_operands(p->m, i) != 1 || hilo_n_leaves(p, i) != 2 ||
      !hilo_config_quantize(p->arena, config, &q)) {
    HILO_REFUSE(p, OP, i,
                "`%.*s` is malformed: expected one operand, data and scale, and a JSON object",
                HILO_FMT(target));
    return;
  }
  const int64_t rank = hilo_inst_dims(p->m, hilo_inst_operand(p->m, i, 0)).n;
  if (q.dim < 0) q.dim += rank;
  const hilo_str name = hilo_str_starts(q.dtype, "float8_")
                            ? (hilo_str){q.dtype.p + 7, q.dtype.n - 7}
                        : hilo_str_starts(q.dtype, "f8") ? (hilo_str){q.dtype.p + 2, q.dtype.n - 2}
                                                         : q.dtype;
  const bool is_e5m2 = hilo_str_is(name, "e5m2") || hilo_str_is(name, "E5M2");
  const bool is_e4m3fn = hilo_str_is(name, "e4m3fn") || hilo_str_is(name, "E4M3FN");
  if ((!is_e5m2 && !is_e4m3fn) || q.dim < 0 || q.dim >= rank) {
    HILO_REFUSE(
        p, OP, i,
        "`%.*s` has the dtype `%.*s` and dim %lld: expected float8_e5m2 or float8_e4m3fn and a "
        "dimension below %lld",
        HILO_FMT(target), HILO_FMT(q.dtype), (long long)q.dim, (long long)rank);
    return;
  }
  hilo_gather_operands(p, i);
  hilo_gather_results(p, i);
  if (p->dsts.v[0].dtype == HILO_U32)
    p->dsts.v[0].dtype = is_e5m2 ? HILO_DTYPE_F8E5M2_X4 : HILO_DTYPE_F8E4M3FN_X4;
  hilo_open_with(p, HILO_CTOR_QUANTIZE_MX, i, p->srcs.v, p->srcs.n, p->dsts.v, p->dsts.n);
  const uint32_t vars[] = {p->dsts.v[0].var, p->dsts.v[1].var};
  hilo_bind(p, i, vars, 2);
  hilo_put_quoted(p, "mx_dtype", is_e5m2 ? HILO_STR("float8_e5m2") : HILO_STR("float8_e4m3fn"),
                  '\'');
  hilo_put_int(p, "dim", q.dim);
  hilo_put_int(p, "block_size", q.block_size);
  hilo_put_quoted(p, "scale_method", q.scale_method, '\'');
  hilo_put_quoted(p, "target_name", target, '\'');
  hilo_close(p);
}

void hilo_print_scaled_dot(hilo_printer *p, hilo_inst i, hilo_str target) {
  hilo_scaled_dot_config c;
  if (hilo_inst_n_operands(p->m, i) != 4 ||
      !hilo_config_scaled_dot(p->arena, hilo_backend_config(p, i), &c)) {
    HILO_REFUSE(p, OP, i,
                "`%.*s` is malformed: expected lhs, rhs and their scales, and the JSON object "
                "`scaled_dot_backend_config`",
                HILO_FMT(target));
    return;
  }
  const hilo_etype etype = hilo_inst_etype(p->m, hilo_inst_operand(p->m, i, 0));
  hilo_open(p, HILO_CTOR_TENSOR_OP, i);
  hilo_put_tag(p, "scaled_dot");
  hilo_put_contraction(p, c.lhs_batch, c.lhs_contracting, c.rhs_batch, c.rhs_contracting);
  hilo_put_quoted(p, "element_dtype", hilo_str_of(hilo_dtype_name(etype)), '\'');
  hilo_close(p);
}
