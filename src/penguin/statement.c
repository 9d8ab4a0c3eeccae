/* Tensor lines and statements. The only place that knows the order of variables and ids: an
 * operation's variable comes before those of its results, but for an OffloadedMemCpy, whose
 * variable comes after; ids follow the text. */
#include "penguin/printer.h"

static const struct {
  const char *path;
} imports[HILO_IMPORT_COUNT] = {
    [HILO_IMPORT_DEPENDENCY] = {"neuronxcc.starfish.penguin.ir.Dependency"},
    [HILO_IMPORT_SUPPORT] = {"neuronxcc.starfish.support"},
    [HILO_IMPORT_XLA_FE] = {"neuronxcc.starfish.penguin.frontends.XlaFE"},
    [HILO_IMPORT_INTRINSICS] = {"neuronxcc.starfish.penguin.ir.Intrinsics"},
    [HILO_IMPORT_SCIPY] = {"scipy.special"},
};

void hilo_need_import(hilo_printer *p, hilo_import import) {
  if (HILO_LIKELY(p->alias[import])) return;
  p->alias[import] = p->n_imported++;
  HILO_PUT(p->out, "import ");
  hilo_sb_cat(p->out, imports[import].path);
  HILO_PUT(p->out, " as m");
  hilo_sb_u64(p->out, p->alias[import]);
  hilo_sb_char(p->out, '\n');
}

void hilo_put_var(hilo_sb *out, uint32_t var) {
  hilo_sb_char(out, 'v');
  hilo_sb_u64(out, var);
}

void hilo_put_vars(hilo_printer *p, const uint32_t *vars, uint32_t n) {
  hilo_sb *out = p->out;
  hilo_sb_char(out, '[');
  for (uint32_t k = 0; k < n; k++) {
    if (k) HILO_PUT(out, ", ");
    hilo_put_var(out, vars[k]);
  }
  hilo_sb_char(out, ']');
}

/* ---- tensors ---- */

/* The next free `<mnemonic>.<k>`. */
static void put_counted_name(hilo_printer *p, uint16_t mnemonic) {
  const size_t start = p->out->n;
  for (;;) {
    hilo_sb_cat(p->out, hilo_mnemonic(mnemonic));
    hilo_sb_char(p->out, '.');
    hilo_sb_u64(p->out, ++p->name_count[mnemonic]);
    if (HILO_LIKELY(!p->guard_names)) return;
    const hilo_str name = {p->out->p + start, p->out->n - start};
    if (!hilo_map_get(&p->taken, hilo_hash_bytes(name.p, name.n), 0)) return;
    p->out->n = start;
  }
}

hilo_neuron_attrs hilo_neuron_of(const hilo_printer *p, hilo_inst i) {
  if (!hilo_inst_extra_record(p->m, i).ix) return (hilo_neuron_attrs){0};
  return hilo_neuron_get(&p->m->records, hilo_inst_extra(p->m, i).neuron);
}

static void put_attr(hilo_printer *p, bool *open, const char *key, hilo_string value) {
  hilo_sb *out = p->out;
  *open ? HILO_PUT(out, ", '") : HILO_PUT(out, "attrs={'");
  *open = true;
  hilo_sb_cat(out, key);
  HILO_PUT(out, "': \"");
  hilo_py_string(out, hilo_string_of(p->m, value), '"');
  hilo_sb_char(out, '"');
}

/* `[3,0]`: the logical shape of a tensor without elements. */
static void put_empty_shape(hilo_printer *p, bool *open, hilo_dims dims) {
  hilo_sb *out = p->out;
  put_attr(p, open, "actual_shape", HILO_STRING_EMPTY);
  out->n--; /* the closing quote of the empty value */
  hilo_sb_char(out, '[');
  for (uint32_t i = 0; i < dims.n; i++) {
    if (i) hilo_sb_char(out, ',');
    hilo_sb_i64(out, dims.v[i]);
  }
  HILO_PUT(out, "]\"");
}

static bool is_empty(const hilo_printer *p, hilo_type type) {
  return hilo_type_row_of(&p->m->types, type)->n_elements == 0 &&
         hilo_type_etype(&p->m->types, type) != HILO_TOKEN;
}

/* Keywords and attributes behind the view: those of an entry parameter and of `neuron`. */
static void put_attrs(hilo_printer *p, const hilo_result *r) {
  const bool is_input = hilo_inst_is(p->m, r->of, HILO_OP_PARAMETER);
  const hilo_neuron_attrs neuron = hilo_neuron_of(p, r->of);
  bool open = false;
  if (neuron.non_local) HILO_PUT(p->out, "non_local=True, ");
  if (is_input || neuron.cross_pass) put_attr(p, &open, "CrossPassTensor", HILO_STRING_EMPTY);
  if (neuron.no_opt.ix) put_attr(p, &open, "no-opt", neuron.no_opt);
  if (neuron.remat_value.ix) put_attr(p, &open, "remat.value", neuron.remat_value);
  if (neuron.transposable) {
    open ? HILO_PUT(p->out, ", ") : HILO_PUT(p->out, "attrs={");
    HILO_PUT(p->out, "'transposable': True");
    open = true;
  }
  if (is_empty(p, r->shape))
    put_empty_shape(p, &open, hilo_type_dims(&p->m->types, r->shape));
  else if (neuron.actual_shape.ix)
    put_attr(p, &open, "actual_shape", neuron.actual_shape);
  if (open) hilo_sb_char(p->out, '}');
}

void hilo_put_tensor(hilo_printer *p, hilo_result *r) {
  hilo_sb *out = p->out;
  const hilo_dest dest = r->of.ix ? hilo_dest_of(p, r->of, r->leaf) : (hilo_dest){0};
  if (dest.var) {
    r->var = dest.var;
    return;
  }
  const hilo_type_text *type = hilo_printer_type(p, r->shape);
  r->var = p->next_var++;
  hilo_put_var(out, r->var);
  HILO_PUT(out, " = m0.Tensor(name=\"");
  dest.name.n ? hilo_py_string(out, dest.name, '"') : put_counted_name(p, r->mnemonic);
  hilo_sb_str(out, type->head);
  hilo_sb_u64(out, p->next_id++);
  HILO_PUT(out, ", dtype=");
  hilo_sb_str(out, p->dtype[r->dtype]);
  hilo_sb_str(out, type->view);
  if (r->of.ix && (hilo_inst_extra_record(p->m, r->of).ix ||
                   hilo_inst_is(p->m, r->of, HILO_OP_PARAMETER) || is_empty(p, r->shape)))
    put_attrs(p, r);
  HILO_PUT(out, ")\n");
}

/* ---- statements ---- */

static void put_constructor(hilo_printer *p, hilo_ctor ctor) {
  static const char *const names[] = {
      [HILO_CTOR_TENSOR_OP] = "NeuronTensorOp",
      [HILO_CTOR_MEMCPY] = "m0.OffloadedMemCpy",
      [HILO_CTOR_BITCAST] = "m0.OffloadedBitcast",
      [HILO_CTOR_NATIVE_KERNEL] = "m0.NativeKernel",
      [HILO_CTOR_LNC_SHARDING] = "m0.LNCShardingConstraintOp",
      [HILO_CTOR_QUANTIZE_MX] = "QuantizeMXTensorOp",
  };
  hilo_sb *out = p->out;
  HILO_PUT(out, " = ");
  if (ctor == HILO_CTOR_TENSOR_OP || ctor == HILO_CTOR_QUANTIZE_MX) {
    hilo_sb_char(out, 'm');
    hilo_sb_u64(
        out, p->alias[ctor == HILO_CTOR_TENSOR_OP ? HILO_IMPORT_XLA_FE : HILO_IMPORT_INTRINSICS]);
    hilo_sb_char(out, '.');
  }
  hilo_sb_cat(out, names[ctor]);
}

void hilo_open_with(hilo_printer *p, hilo_ctor ctor, hilo_inst at, const uint32_t *srcs,
                    uint32_t n_srcs, hilo_result *dsts, uint32_t n_dsts) {
  hilo_sb *out = p->out;
  if (ctor != HILO_CTOR_MEMCPY) p->op_var = p->next_var++;
  for (uint32_t k = 0; k < n_dsts; k++) hilo_put_tensor(p, &dsts[k]);
  if (ctor == HILO_CTOR_MEMCPY) p->op_var = p->next_var++;
  if (ctor == HILO_CTOR_TENSOR_OP) hilo_need_import(p, HILO_IMPORT_XLA_FE);
  if (ctor == HILO_CTOR_QUANTIZE_MX) hilo_need_import(p, HILO_IMPORT_INTRINSICS);
  if (p->needs_scipy) hilo_need_import(p, HILO_IMPORT_SCIPY);
  p->needs_scipy = false;
  p->at = at;
  p->op_id = p->next_id++;
  if (!p->first_op_var) p->first_op_var = p->op_var;
  if (HILO_UNLIKELY(p->edges != NULL)) hilo_edges_note(p, dsts, n_dsts);
  hilo_put_var(out, p->op_var);
  put_constructor(p, ctor);
  HILO_PUT(out, "(srcs=");
  hilo_put_vars(p, srcs, n_srcs);
  HILO_PUT(out, ", dsts=[");
  for (uint32_t k = 0; k < n_dsts; k++) {
    if (k) HILO_PUT(out, ", ");
    hilo_put_var(out, dsts[k].var);
  }
  hilo_sb_char(out, ']');
}

void hilo_open(hilo_printer *p, hilo_ctor ctor, hilo_inst i) {
  hilo_gather_operands(p, i);
  hilo_gather_results(p, i);
  hilo_open_with(p, ctor, i, p->srcs.v, p->srcs.n, p->dsts.v, p->dsts.n);
  if (HILO_LIKELY(!hilo_type_is_tuple(&p->m->types, hilo_inst_type(p->m, i)))) {
    p->value[hilo_ix(p->m, i)] = p->dsts.v[0].var;
    return;
  }
  p->value[hilo_ix(p->m, i)] = p->pack.n;
  for (uint32_t k = 0; k < p->dsts.n; k++) HILO_PUSH(p->arena, &p->pack, p->dsts.v[k].var);
}

void hilo_put_location(hilo_printer *p, hilo_inst at) {
  const hilo_module *m = p->m;
  hilo_sb *out = p->out;
  const hilo_record meta = hilo_inst_meta_record(m, at);
  const uint32_t ordinal = hilo_inst_ordinal(m, at);
  HILO_PUT(out, "dl=m1.DebugLocation(tensor_op_name=\"");
  if (!meta.ix && !ordinal) {
    HILO_PUT(out, "UnnamedModule\", file=\"\", line=0, column=0, hlo_id=0");
  } else {
    int64_t line = 0;
    hilo_str file = HILO_STR("");
    if (meta.ix) {
      hilo_py_string(out, hilo_label_of(m, hilo_inst_meta(m, at).op_name), '"');
      file = hilo_inst_source(m, at, &line);
    }
    const hilo_name name = hilo_inst_name(m, at);
    hilo_sb_char(out, '_');
    hilo_py_string(out, hilo_string_of(m, name.base), '"');
    if (name.num != HILO_NO_NUM) hilo_sb_char(out, '.'), hilo_sb_u64(out, name.num);
    HILO_PUT(out, "\", file=\"");
    hilo_py_string(out, file, '"');
    HILO_PUT(out, "\", line=");
    hilo_sb_i64(out, line);
    HILO_PUT(out, ", column=0, hlo_id=");
    hilo_sb_u64(out, ordinal);
  }
  if (p->header) HILO_PUT(out, ", parent="), hilo_put_var(out, p->header);
  hilo_sb_char(out, ')');
}

void hilo_close(hilo_printer *p) {
  hilo_sb *out = p->out;
  HILO_PUT(out, ", id=");
  hilo_sb_u64(out, p->op_id);
  HILO_PUT(out, ", parent=v0, ");
  hilo_put_location(p, p->at);
  HILO_PUT(out, ")\n");
  if (p->o->hlo_dbg || p->o->framework_dbg)
    HILO_PUSH(p->arena, &p->printed, ((hilo_printed_op){p->op_id, p->at}));
}

/* ---- keywords ---- */

void hilo_put_op(hilo_printer *p, const char *ref) {
  HILO_PUT(p->out, ", op=");
  if (ref[0] == 'm' && ref[1] == 'P') {
    hilo_sb_char(p->out, 'm');
    hilo_sb_u64(p->out, p->alias[HILO_IMPORT_SCIPY]);
    ref += 2;
  }
  hilo_sb_cat(p->out, ref);
}

void hilo_put_tag(hilo_printer *p, const char *tag) {
  HILO_PUT(p->out, ", xla_op='mhlo.");
  hilo_sb_cat(p->out, tag);
  hilo_sb_char(p->out, '\'');
}

void hilo_put_key(hilo_printer *p, const char *key) {
  HILO_PUT(p->out, ", ");
  hilo_sb_cat(p->out, key);
  hilo_sb_char(p->out, '=');
}

void hilo_put_int(hilo_printer *p, const char *key, int64_t v) {
  hilo_put_key(p, key);
  hilo_sb_i64(p->out, v);
}

void hilo_put_flag(hilo_printer *p, const char *key, bool b) {
  hilo_put_key(p, key);
  hilo_py_bool(p->out, b);
}

void hilo_put_tuple(hilo_printer *p, const char *key, hilo_dims dims) {
  hilo_put_key(p, key);
  hilo_py_tuple(p->out, dims);
}

void hilo_put_list(hilo_printer *p, const char *key, hilo_dims dims) {
  hilo_put_key(p, key);
  hilo_py_list(p->out, dims);
}

void hilo_put_tuple_or(hilo_printer *p, const char *key, hilo_dims dims, uint32_t n,
                       int64_t otherwise) {
  int64_t v[HILO_MAX_RANK];
  HILO_CHECK(n <= HILO_MAX_RANK);
  for (uint32_t i = 0; i < n; i++) v[i] = otherwise;
  hilo_put_tuple(p, key, dims.n ? dims : (hilo_dims){v, n});
}

void hilo_put_shape(hilo_printer *p, const char *key, hilo_type type) {
  const hilo_str dims = hilo_printer_type(p, type)->dims;
  hilo_put_key(p, key);
  hilo_sb_str(p->out, dims);
}

void hilo_put_dtype(hilo_printer *p, const char *key, unsigned dtype) {
  hilo_put_key(p, key);
  hilo_sb_str(p->out, p->dtype[dtype]);
}

void hilo_put_quoted(hilo_printer *p, const char *key, hilo_str s, char quote) {
  hilo_put_key(p, key);
  hilo_sb_char(p->out, quote);
  hilo_py_string(p->out, s, quote);
  hilo_sb_char(p->out, quote);
}

/* ---- attributes ---- */

hilo_str hilo_frontend_attr(const hilo_printer *p, hilo_inst i, const char *key) {
  const hilo_module *m = p->m;
  if (!hilo_inst_extra_record(m, i).ix) return (hilo_str){0};
  const hilo_record record = hilo_inst_extra(m, i).frontend;
  if (!record.ix) return (hilo_str){0};
  const hilo_dims kv = hilo_string_map_get(&m->records, record).kv;
  for (uint32_t k = 0; k + 1 < kv.n; k += 2)
    if (hilo_str_is(hilo_string_of(m, (hilo_string){(uint32_t)kv.v[k]}), key)) {
      const hilo_str value = hilo_string_of(m, (hilo_string){(uint32_t)kv.v[k + 1]});
      return value.p ? value : HILO_STR("");
    }
  return (hilo_str){0};
}

hilo_str hilo_backend_config(const hilo_printer *p, hilo_inst i) {
  if (!hilo_inst_extra_record(p->m, i).ix) return HILO_STR("");
  return hilo_string_of(p->m, hilo_inst_extra(p->m, i).backend_config);
}
