/* Module to HloModuleProto.
 *
 * One pass in the order of the fields. Messages are put together forwards: their length goes into a
 * byte kept for it, and what is longer is moved. Computations come after those that they call, in
 * the order of the file where that holds. Ids are computation << 32 | number in it. Cost: linear.
 */
#include "formats/proto/hlo_proto_write.h"
#include "ir/hlo_print.h"

#include <inttypes.h>

hilo_str hilo_proto_encoded(hilo_proto_writer *wr, const hilo_wire_message *message,
                            const hilo_wire_set *set, const void *in) {
  hilo_sb_clear(&wr->sb);
  hilo_wire_encode(&wr->sb, message, set, 1, 127, in);
  char *p = hilo_arena_alloc(&wr->scratch.arena, wr->sb.n + 1, 1);
  if (wr->sb.n) memcpy(p, wr->sb.p, wr->sb.n);
  return (hilo_str){p, wr->sb.n};
}

static uint64_t pair_key(hilo_done_kind kind, uint64_t pair) { return (uint64_t)kind << 56 | pair; }

hilo_str hilo_proto_kept(const hilo_proto_writer *wr, hilo_done_kind kind, uint64_t handle) {
  switch (kind) {
  case HILO_DONE_TYPE: return wr->spans.v[wr->span_of_type[handle]];
  case HILO_DONE_RECORD: return wr->spans.v[wr->span_of_record[handle]];
  case HILO_DONE_META: return wr->spans.v[wr->span_of_meta[handle]];
  default: return wr->spans.v[hilo_map_get(&wr->span_of_pair, pair_key(kind, handle), 0)];
  }
}

hilo_str hilo_proto_keep(hilo_proto_writer *wr, hilo_done_kind kind, uint64_t handle,
                         hilo_str bytes) {
  const hilo_str copy = hilo_str_copy(&wr->keep.arena, bytes);
  switch (kind) {
  case HILO_DONE_TYPE: wr->span_of_type[handle] = wr->spans.n; break;
  case HILO_DONE_RECORD: wr->span_of_record[handle] = wr->spans.n; break;
  case HILO_DONE_META: wr->span_of_meta[handle] = wr->spans.n; break;
  default: hilo_map_set(&wr->span_of_pair, pair_key(kind, handle), wr->spans.n); break;
  }
  HILO_PUSH(&wr->keep.arena, &wr->spans, copy);
  return copy;
}

/* ---- order and ids ---- */

/* Does every computation come after those that it calls, as the module has them? */
static bool is_callee_first(const hilo_module *m) {
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      for (uint32_t k = 0; k < hilo_inst_n_called(m, i); k++)
        if (hilo_comp_ix(m, hilo_inst_called(m, i, k)) >= hilo_comp_ix(m, c)) return false;
    }
  }
  return true;
}

static void number_all(hilo_proto_writer *wr) {
  const hilo_module *m = wr->m;
  hilo_arena *keep = &wr->keep.arena;
  if (is_callee_first(m)) {
    wr->comps = (hilo_comp_list){.v = HILO_NEW_ARRAY(keep, hilo_comp, m->comp.n)};
    HILO_FOR_EACH_COMP(m, c) wr->comps.v[wr->comps.n++] = c;
  } else {
    wr->comps = hilo_module_comps_postorder(m, keep);
  }
  wr->comp_ids = HILO_NEW_ZEROED(keep, uint32_t, m->comp.n);
  wr->local_ids = HILO_NEW_ZEROED(keep, uint32_t, m->n_inst_slots);
  for (uint32_t k = 0; k < wr->comps.n; k++) {
    uint32_t local = 0;
    wr->comp_ids[hilo_comp_ix(m, wr->comps.v[k])] = k + 1;
    HILO_FOR_EACH_INST(m, wr->comps.v[k], i) wr->local_ids[hilo_ix(m, i)] = ++local;
  }
}

static int64_t inst_id(const hilo_proto_writer *wr, hilo_comp c, hilo_inst i) {
  return (int64_t)((uint64_t)wr->comp_ids[hilo_comp_ix(wr->m, c)] << 32 |
                   wr->local_ids[hilo_ix(wr->m, i)]);
}

/* ---- instructions ---- */

static void put_operands(hilo_proto_writer *wr, hilo_comp c, hilo_inst i) {
  const uint32_t n = hilo_inst_n_operands(wr->m, i);
  if (!n) return;
  const uint64_t comp_id = wr->comp_ids[hilo_comp_ix(wr->m, c)];
  const size_t at = hilo_wire_begin(wr->out, HILO_WIRE_INSTRUCTION_OPERAND_IDS);
  char *to = hilo_sb_reserve(wr->out, (size_t)n * 10), *p = to;
  for (uint32_t k = 0; k < n; k++)
    p = hilo_wire_raw_varint(p, comp_id << 32 |
                                    wr->local_ids[hilo_ix(wr->m, hilo_inst_operand(wr->m, i, k))]);
  wr->out->n += (size_t)(p - to);
  hilo_wire_end(wr->out, at);
}

static void put_predecessors(hilo_proto_writer *wr, hilo_comp c, hilo_inst i) {
  uint32_t e = hilo_control_first_pred(wr->m, i);
  if (!e) return;
  const size_t at = hilo_wire_begin(wr->out, HILO_WIRE_INSTRUCTION_CONTROL_PREDECESSOR_IDS);
  for (; e; e = wr->m->edge.v[e].next_of_succ)
    hilo_wire_put_varint(wr->out,
                         (uint64_t)inst_id(wr, c, hilo_inst_at(wr->m, wr->m->edge.v[e].pred)));
  hilo_wire_end(wr->out, at);
}

static void put_called(hilo_proto_writer *wr, hilo_inst i) {
  const uint32_t n = hilo_inst_n_called(wr->m, i);
  if (!n) return;
  const size_t at = hilo_wire_begin(wr->out, HILO_WIRE_INSTRUCTION_CALLED_COMPUTATION_IDS);
  for (uint32_t k = 0; k < n; k++)
    hilo_wire_put_varint(wr->out, wr->comp_ids[hilo_comp_ix(wr->m, hilo_inst_called(wr->m, i, k))]);
  hilo_wire_end(wr->out, at);
}

static void put_name(hilo_proto_writer *wr, uint32_t number, hilo_name name) {
  const size_t at = hilo_wire_begin(wr->out, number);
  hilo_name_print(wr->m, name, wr->out);
  hilo_wire_end(wr->out, at);
}

static void put_instruction(hilo_proto_writer *wr, hilo_comp c, hilo_inst i) {
  const hilo_module *m = wr->m;
  hilo_sb *out = wr->out;
  hilo_proto_inst s;
  s.set = (hilo_wire_set){{0}};
  const hilo_op op = hilo_inst_op(m, i);
  const hilo_record meta = hilo_inst_meta_record(m, i);
  const size_t at = hilo_wire_begin(out, HILO_WIRE_COMPUTATION_INSTRUCTIONS);
  put_name(wr, HILO_WIRE_INSTRUCTION_NAME, hilo_inst_name(m, i));
  hilo_wire_put_bytes(out, HILO_WIRE_INSTRUCTION_OPCODE, wr->op_names[op]);
  hilo_wire_put_bytes(out, HILO_WIRE_INSTRUCTION_SHAPE, hilo_proto_type(wr, hilo_inst_type(m, i)));
  if (meta.ix) hilo_wire_put_bytes(out, HILO_WIRE_INSTRUCTION_METADATA, hilo_proto_meta(wr, meta));
  if (op == HILO_OP_CONSTANT)
    hilo_proto_put_literal(wr, out, HILO_WIRE_INSTRUCTION_LITERAL, hilo_inst_literal(m, i),
                           hilo_inst_type(m, i));
  hilo_proto_put_attr(wr, i, &s);
  hilo_proto_put_extra(wr, i, &s);
  const bool has_fields = s.set.bits[0] | s.set.bits[1];
  if (has_fields)
    hilo_wire_encode(out, &hilo_wire_instruction_fields, &s.set, HILO_WIRE_INSTRUCTION_LITERAL,
                     HILO_WIRE_INSTRUCTION_ID - 1, &s.w);
  hilo_wire_put_int(out, HILO_WIRE_INSTRUCTION_ID, inst_id(wr, c, i));
  put_operands(wr, c, i);
  put_predecessors(wr, c, i);
  put_called(wr, i);
  if (has_fields)
    hilo_wire_encode(out, &hilo_wire_instruction_fields, &s.set,
                     HILO_WIRE_INSTRUCTION_CALLED_COMPUTATION_IDS + 1, 127, &s.w);
  hilo_wire_end(out, at);
}

/* ---- computations ---- */

static void put_program_shape(hilo_proto_writer *wr, hilo_comp c) {
  const hilo_module *m = wr->m;
  const size_t at = hilo_wire_begin(wr->out, HILO_WIRE_COMPUTATION_PROGRAM_SHAPE);
  const uint32_t n = hilo_comp_n_params(m, c);
  for (uint32_t k = 0; k < n; k++)
    hilo_wire_put_bytes(wr->out, HILO_WIRE_PROGRAM_SHAPE_PARAMETERS,
                        hilo_proto_type(wr, hilo_inst_type(m, hilo_comp_param(m, c, k))));
  hilo_wire_put_bytes(wr->out, HILO_WIRE_PROGRAM_SHAPE_RESULT,
                      hilo_proto_type(wr, hilo_inst_type(m, hilo_comp_root(m, c))));
  for (uint32_t k = 0; k < n; k++)
    put_name(wr, HILO_WIRE_PROGRAM_SHAPE_PARAMETER_NAMES,
             hilo_inst_name(m, hilo_comp_param(m, c, k)));
  hilo_wire_end(wr->out, at);
}

static void put_computation(hilo_proto_writer *wr, hilo_comp c) {
  const hilo_module *m = wr->m;
  const hilo_comp_row *row = hilo_comp_get(m, c);
  const size_t at = hilo_wire_begin(wr->out, HILO_WIRE_MODULE_COMPUTATIONS);
  put_name(wr, HILO_WIRE_COMPUTATION_NAME, hilo_comp_name(m, c));
  HILO_FOR_EACH_INST(m, c, i) {
    const hilo_arena_mark mark = hilo_arena_get_mark(&wr->scratch.arena);
    put_instruction(wr, c, i);
    hilo_arena_rewind(&wr->scratch.arena, mark);
  }
  put_program_shape(wr, c);
  hilo_wire_put_int(wr->out, HILO_WIRE_COMPUTATION_ID, wr->comp_ids[hilo_comp_ix(m, c)]);
  hilo_wire_put_int(wr->out, HILO_WIRE_COMPUTATION_ROOT_ID, inst_id(wr, c, hilo_comp_root(m, c)));
  hilo_wire_put_int(wr->out, HILO_WIRE_COMPUTATION_IS_FUSION_COMPUTATION,
                    (row->flags & HILO_COMP_FUSION) != 0);
  hilo_wire_put_bytes(wr->out, HILO_WIRE_COMPUTATION_EXECUTION_THREAD,
                      row->execution_thread
                          ? hilo_string_of(m, (hilo_string){row->execution_thread})
                          : HILO_STR("main"));
  hilo_wire_end(wr->out, at);
}

/* ---- the limit ---- */

static hilo_status too_large(const hilo_proto_writer *wr, uint64_t bytes, hilo_inst largest,
                             uint64_t largest_bytes) {
  hilo_place place = HILO_NOWHERE;
  place.file = wr->m->input_name;
  const hilo_status status = hilo_diag_add(
      wr->diags, HILO_DIAG_EMOD907, &place,
      "the module takes %" PRIu64 " bytes as a protobuf, which holds at most %d: write it as HLO "
      "text, or turn its large constants into parameters",
      bytes, HILO_MAX_PROTO_BYTES);
  if (largest.ix && largest_bytes) {
    hilo_sb sb = hilo_sb_make(wr->out->arena);
    hilo_name_print(wr->m, hilo_inst_name(wr->m, largest), &sb);
    hilo_diag_note(wr->diags, "the largest constant is `%.*s` with %" PRIu64 " bytes",
                   HILO_FMT(hilo_sb_view(&sb)), largest_bytes);
    hilo_sb_free(&sb);
  }
  return status == HILO_INPUT_ERROR ? HILO_LIMIT_ERROR : status;
}

/* Constants alone may be beyond the limit; found out before anything is written. */
static hilo_status check_constants(const hilo_proto_writer *wr) {
  const hilo_module *m = wr->m;
  uint64_t total = 0, most = 0;
  hilo_inst largest = HILO_INST_NONE;
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      if (!hilo_inst_is(m, i, HILO_OP_CONSTANT)) continue;
      const uint64_t bytes = hilo_proto_literal_bytes(m, hilo_inst_literal(m, i));
      if (bytes > most) most = bytes, largest = i;
      total = hilo_plus_u64(total, bytes);
    }
  }
  return total > HILO_MAX_PROTO_BYTES ? too_large(wr, total, largest, most) : HILO_OK;
}

static hilo_status write_all(hilo_proto_writer *wr) {
  const size_t before = wr->out->n;
  HILO_TRY(hilo_hlo_check_ops(wr->m, wr->diags));
  HILO_TRY(check_constants(wr));
  number_all(wr);
  hilo_proto_put_header_front(wr);
  for (uint32_t k = 0; k < wr->comps.n; k++) put_computation(wr, wr->comps.v[k]);
  hilo_proto_put_header_back(wr);
  const size_t bytes = wr->out->n - before;
  return bytes > HILO_MAX_PROTO_BYTES ? too_large(wr, bytes, HILO_INST_NONE, 0) : HILO_OK;
}

hilo_status hilo_hlo_proto_write(const hilo_module *m, hilo_sb *out, hilo_diags *diags) {
  hilo_proto_writer wr;
  memset(&wr, 0, sizeof(wr));
  wr.m = m;
  wr.out = out;
  wr.diags = diags;
  hilo_scratch_init(&wr.scratch, out->arena);
  hilo_scratch_init(&wr.keep, out->arena);
  wr.sb = hilo_sb_make(&wr.keep.arena);
  wr.span_of_type = HILO_NEW_ZEROED(&wr.keep.arena, uint32_t, m->types.next);
  wr.span_of_record = HILO_NEW_ZEROED(&wr.keep.arena, uint32_t, m->records.next);
  wr.span_of_meta = HILO_NEW_ZEROED(&wr.keep.arena, uint32_t, m->labels.next);
  wr.span_of_pair = hilo_map_make(&wr.keep.arena);
  /* What most modules take: growing means copying, and what stays unused costs no memory. */
  hilo_sb_reserve(out, 160 * (size_t)m->n_insts + 256);
  HILO_PUSH(&wr.keep.arena, &wr.spans, (hilo_str){0});
  for (uint32_t op = 0; op < HILO_OP_COUNT; op++)
    wr.op_names[op] = hilo_str_of(hilo_op_table[op].hlo);
  const hilo_status status = write_all(&wr);
  hilo_scratch_deinit(&wr.keep);
  hilo_scratch_deinit(&wr.scratch);
  return status;
}
