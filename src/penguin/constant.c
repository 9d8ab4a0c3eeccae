/* Constants: a splat is one literal in the text, anything else an .npy file beside the program. The
 * bytes of the file are those of the module's literal; only the header is made here. */
#include "penguin/printer.h"

static void put_file_name(hilo_printer *p, hilo_sb *sb, uint32_t number) {
  const hilo_str stem = p->o->stem;
  if (stem.n && !hilo_str_is(stem, "penguin")) {
    for (size_t i = 0; i < stem.n; i++) {
      const char c = stem.p[i];
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                         (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
      hilo_sb_char(sb, plain ? c : '_');
    }
    hilo_sb_char(sb, '.');
  }
  HILO_PUT(sb, "constant.");
  hilo_sb_u64(sb, number);
  HILO_PUT(sb, ".npy");
}

/* numpy's type code of the bytes. bf16 and 8-bit floats are raw bits, which the loader reads as the
 * tensor's type. */
static const char *npy_descr(hilo_etype etype) {
  switch (etype) {
  case HILO_PRED: return "|b1";
  case HILO_S8: return "|i1";
  case HILO_S16: return "<i2";
  case HILO_S32: return "<i4";
  case HILO_S64: return "<i8";
  case HILO_U16:
  case HILO_BF16: return "<u2";
  case HILO_U32: return "<u4";
  case HILO_U64: return "<u8";
  case HILO_F16: return "<f2";
  case HILO_F32: return "<f4";
  default: return "|u1";
  }
}

static hilo_str npy_head(hilo_printer *p, hilo_etype etype, hilo_str shape) {
  enum { PREFIX = 12, ALIGN = 64 };
  hilo_sb sb = hilo_sb_make(p->arena);
  HILO_PUT(&sb, "\x93NUMPY\x02\0....{'descr': '");
  hilo_sb_cat(&sb, npy_descr(etype));
  HILO_PUT(&sb, "', 'fortran_order': False, 'shape': ");
  hilo_sb_str(&sb, shape);
  HILO_PUT(&sb, ", }");
  while ((sb.n + 1) % ALIGN) hilo_sb_char(&sb, ' ');
  hilo_sb_char(&sb, '\n');
  const size_t length = sb.n - PREFIX;
  for (int k = 0; k < 4; k++) sb.p[8 + k] = (char)(length >> (8 * k) & 0xff);
  return hilo_sb_view(&sb);
}

/* `v1 = m0.Tensor(` up to and with the view; the variable. */
static uint32_t put_head(hilo_printer *p, hilo_type shape, unsigned dtype, uint32_t number) {
  const hilo_type_text *text = hilo_printer_type(p, shape);
  HILO_PUT(p->out, "name=\"constant.");
  hilo_sb_u64(p->out, number);
  hilo_sb_str(p->out, text->head);
  hilo_sb_u64(p->out, p->next_id++);
  HILO_PUT(p->out, ", dtype=");
  hilo_sb_str(p->out, p->dtype[dtype]);
  hilo_sb_str(p->out, text->view);
  return p->next_var++;
}

static uint32_t next_number(hilo_printer *p) {
  for (;;) {
    const uint32_t number = ++p->name_count[HILO_OP_CONSTANT];
    if (HILO_LIKELY(!p->guard_names)) return number;
    hilo_sb sb = hilo_sb_make(p->arena);
    HILO_PUT(&sb, "constant.");
    hilo_sb_u64(&sb, number);
    const bool taken = hilo_map_get(&p->taken, hilo_hash_bytes(sb.p, sb.n), 0) != 0;
    hilo_sb_free(&sb);
    if (!taken) return number;
  }
}

uint32_t hilo_step_splat(hilo_printer *p, hilo_step s, hilo_etype etype, uint64_t bits) {
  hilo_sb *out = p->out;
  const bool is_float = hilo_etype_is_float(etype);
  const uint32_t number = next_number(p);
  hilo_put_var(out, p->next_var);
  HILO_PUT(out, " = m0.SingleValueTensor(value=");
  if (is_float) {
    HILO_PUT(out, "m");
    hilo_sb_u64(out, p->alias[HILO_IMPORT_SUPPORT]);
    HILO_PUT(out, ".dtype.static_cast(");
  }
  hilo_py_scalar(out, etype, bits);
  if (is_float) {
    HILO_PUT(out, ", m");
    hilo_sb_u64(out, p->alias[HILO_IMPORT_SUPPORT]);
    HILO_PUT(out, ".dtype.");
    hilo_sb_cat(out, hilo_dtype_name(etype));
    hilo_sb_char(out, ')');
  }
  HILO_PUT(out, ", ");
  const uint32_t var = put_head(p, s.shape, etype, number);
  HILO_PUT(out, ")\n");
  return var;
}

/* Does a statement name this constant? Users that only look at its value do not. */
static bool is_read(const hilo_printer *p, hilo_inst i) {
  for (hilo_use u = hilo_first_use(p->m, i); u.slot; u = hilo_next_use(p->m, u))
    if (hilo_reads_operand(p, hilo_use_user(p->m, u), hilo_use_operand_index(p->m, u))) return true;
  return hilo_inst_is_root(p->m, i);
}

static void emit_dense(hilo_printer *p, hilo_inst i, const hilo_literal_row *literal) {
  const hilo_type type = hilo_inst_type(p->m, i);
  const hilo_etype etype = hilo_type_etype(&p->m->types, type);
  if (p->o->no_files) {
    HILO_REFUSE(p, FILE, i,
                "`constant` of %llu bytes needs a file beside the program, but the program goes to "
                "a stream: name an output file or directory",
                (unsigned long long)literal->bytes);
    return;
  }
  const uint32_t number = next_number(p);
  hilo_sb name = hilo_sb_make(p->arena);
  put_file_name(p, &name, number);
  hilo_put_var(p->out, p->next_var);
  HILO_PUT(p->out, " = m0.Tensor(");
  const uint32_t var = put_head(p, type, etype, number);
  HILO_PUT(p->out, "value=weight_load(\"");
  hilo_sb_str(p->out, hilo_sb_view(&name));
  HILO_PUT(p->out, "\"), )\n");
  const hilo_penguin_file file = {.name = hilo_sb_view(&name),
                                  .head = npy_head(p, etype, hilo_printer_type(p, type)->dims),
                                  .data = {literal->data, literal->bytes}};
  HILO_PUSH(p->arena, &p->files, file);
  p->value[hilo_ix(p->m, i)] = var;
}

void hilo_emit_constant(hilo_printer *p, hilo_inst i) {
  const hilo_literal_row *literal = hilo_literal_get(p->m, hilo_inst_literal(p->m, i));
  const hilo_type type = hilo_inst_type(p->m, i);
  if (!is_read(p, i)) {
    hilo_bind_nothing(p, i);
    return;
  }
  switch ((hilo_literal_kind)literal->kind) {
  case HILO_LITERAL_SPLAT: {
    const hilo_etype etype = hilo_type_etype(&p->m->types, type);
    const hilo_step step = {i, type, false};
    p->value[hilo_ix(p->m, i)] =
        hilo_step_splat(p, step, etype, hilo_py_load(etype, literal->data));
    break;
  }
  case HILO_LITERAL_DENSE: emit_dense(p, i, literal); break;
  case HILO_LITERAL_TUPLE:
    HILO_REFUSE(p, OP, i, "`constant` of a tuple type: expected one constant for each element");
    break;
  case HILO_LITERAL_ELIDED:
    p->failed = true;
    (void)hilo_inst_error(p->m, p->diags, HILO_DIAG_EMOD912, i,
                          "the value of this `constant` was left out (`{...}`) when the module was "
                          "printed: print it with large constants, or as a proto");
    hilo_bind_nothing(p, i);
    break;
  }
}
