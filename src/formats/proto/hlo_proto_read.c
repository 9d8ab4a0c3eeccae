/* HloModuleProto to module.
 *
 * Problem: tens of thousands of instructions of a hundred bytes each, in a format whose generated
 * readers allocate every message. Method: the fields of the module are sorted into computations,
 * which the walker reads (hlo_proto_inst.c), and the rest, which protobuf-c reads
 * (hlo_proto_header.c). Computations are split into spans of instructions first, and a cheap scan
 * counts operands, so that the columns have their size from the start. Cost: linear. */
#include "formats/proto/hlo_proto_read.h"

#include <inttypes.h>

/* ---- the parts of the module ---- */

typedef struct {
  hilo_vec(hilo_str) computations;
  hilo_vec(hilo_str) payloads;
  hilo_sb rest, unknown; /* fields with their tags, as they came */
} module_parts;

/* A field of the module that does not fit into what is there. */
static bool bad_field(hilo_proto_reader *r, const char *at, uint32_t number, const char *what) {
  const char *p = at, *end = r->bytes.p + r->bytes.n;
  uint64_t tag = 0, n = 0;
  if (hilo_wire_varint(&p, end, &tag) && (tag & 7) == HILO_WIRE_LENGTH &&
      hilo_wire_varint(&p, end, &n) && n > (uint64_t)(end - p))
    return hilo_proto_error(r, HILO_DIAG_EMOD901, at,
                            "the input is cut short: field %" PRIu64 " of `HloModuleProto` should "
                            "have %" PRIu64 " bytes, but only %zu are left",
                            tag >> 3, n, (size_t)(end - p));
  if (!number)
    return hilo_proto_error(r, HILO_DIAG_EMOD901, at,
                            "a field of `HloModuleProto` cannot be read: %s", what);
  return hilo_proto_error(r, HILO_DIAG_EMOD901, at,
                          "field %u of `HloModuleProto` cannot be read: %s", number, what);
}

static void add_rest(hilo_proto_reader *r, module_parts *parts, const char *at, size_t n) {
  const hilo_proto_piece piece = {parts->rest.n, (size_t)(at - r->bytes.p)};
  HILO_PUSH(&r->scratch.arena, &r->pieces, piece);
  hilo_sb_bytes(&parts->rest, at, n);
}

static bool split_module(hilo_proto_reader *r, module_parts *parts) {
  hilo_arena *scratch = &r->scratch.arena;
  const char *p = r->bytes.p, *end = p + r->bytes.n;
  *parts = (module_parts){.rest = hilo_sb_make(scratch), .unknown = hilo_sb_make(scratch)};
  while (p < end) {
    const char *at = p, *what;
    hilo_wire_raw raw = {0};
    if (!hilo_wire_next(&p, end, &raw, &what)) return bad_field(r, at, raw.number, what);
    if (raw.number == HILO_WIRE_MODULE_COMPUTATIONS && raw.type == HILO_WIRE_LENGTH)
      HILO_PUSH(scratch, &parts->computations, raw.value);
    else if (raw.number == HILO_WIRE_MODULE_PAYLOADS && raw.type == HILO_WIRE_LENGTH)
      HILO_PUSH(scratch, &parts->payloads, raw.value);
    else if (hilo_wire_find_field(&hilo_wire_module_fields, raw.number))
      add_rest(r, parts, at, (size_t)(p - at));
    else
      hilo_sb_bytes(&parts->unknown, at, (size_t)(p - at));
  }
  r->payloads = (hilo_wire_list){parts->payloads.v, parts->payloads.n};
  r->rest = hilo_sb_view(&parts->rest);
  return true;
}

static bool split_computations(hilo_proto_reader *r, hilo_wire_list computations) {
  const uint32_t n = computations.n;
  uint64_t n_insts = 0;
  bool ok = true;
  r->comps = HILO_NEW_ZEROED(&r->scratch.arena, hilo_wire_computation, (size_t)n + 1);
  r->n_comps = n;
  for (uint32_t i = 0; i < n; i++) {
    if (!HILO_PROTO_DECODE(r, computation, computations.v[i], &r->comps[i])) {
      ok = false;
      continue;
    }
    n_insts += r->comps[i].instructions.n;
  }
  if (!ok) return false;
  if (n_insts > 1u << 30)
    return hilo_proto_error(r, HILO_DIAG_EMOD907, NULL,
                            "the module has %" PRIu64 " instructions; at most 2^30 are supported",
                            n_insts);
  /* Operands are guessed. Some more than there are, so that the first ones that a pass adds do not
   * move all others; what is never touched is no memory. */
  hilo_module_reserve(r->m, (uint32_t)(n_insts + n_insts / 16),
                      (uint32_t)(n_insts + n_insts * 3 / 4), n);
  /* Metadata is most of what there is to remember. */
  hilo_wire_memo_reserve(&r->memo, (uint32_t)n_insts / (r->labels ? 16 : 2));
  r->id_of_inst = hilo_arena_resize_block(&r->scratch.arena, NULL, (n_insts + 1) * sizeof(int64_t));
  r->cap_locals = (uint32_t)n_insts * 2 + 1024;
  const size_t bytes = r->cap_locals * sizeof(uint32_t);
  r->inst_of_local = memset(hilo_arena_resize_block(&r->scratch.arena, NULL, bytes), 0, bytes);
  return true;
}

/* ---- entry and schedule ---- */

static bool read_entry(hilo_proto_reader *r, int64_t id) {
  const uint32_t ix = hilo_map_get(&r->comp_of_id, (uint64_t)id, 0);
  if (ix) {
    r->m->entry = hilo_comp_at(r->m, ix);
    return true;
  }
  if (r->lost_ids || hilo_map_get(&r->skipped_comps, (uint64_t)id, 0)) return false;
  return hilo_proto_error(r, HILO_DIAG_EMOD903, NULL,
                          "`entry_computation_id` is %" PRId64
                          ", which none of the %u computations "
                          "has",
                          id, r->n_comps);
}

/* The instructions of a computation in the order of its schedule, in scratch memory. */
static bool read_sequence(hilo_proto_reader *r, hilo_comp c, hilo_dims ids, hilo_inst *out) {
  hilo_map of_id = hilo_map_make(&r->scratch.arena);
  const uint32_t n = hilo_comp_get(r->m, c)->n_insts;
  bool ok = ids.n == n;
  HILO_FOR_EACH_INST(r->m, c, i)
  hilo_map_set(&of_id, (uint32_t)r->id_of_inst[hilo_ix(r->m, i)], hilo_ix(r->m, i));
  for (uint32_t k = 0; k < n && ok; k++) {
    uint32_t ix = hilo_map_get(&of_id, (uint32_t)ids.v[k], 0);
    ok = ix != 0;
    if (!ok) break;
    hilo_map_set(&of_id, (uint32_t)ids.v[k], 0);
    out[k] = hilo_inst_at(r->m, ix);
  }
  hilo_map_free(&of_id);
  return ok || hilo_proto_error(r, HILO_DIAG_EMOD903, NULL,
                                "the schedule of the computation does not list each of its %u "
                                "instructions once",
                                n);
}

static bool schedule_computation(hilo_proto_reader *r, hilo_comp c, hilo_dims ids) {
  hilo_module *m = r->m;
  const uint32_t n = hilo_comp_get(m, c)->n_insts;
  hilo_inst *order = HILO_NEW_ARRAY(&r->scratch.arena, hilo_inst, (size_t)n + 1);
  if (!read_sequence(r, c, ids, order)) return false;
  bool same = true;
  hilo_inst at = hilo_comp_first(m, c);
  for (uint32_t k = 0; k < n && same; k++, at = hilo_inst_next(m, at))
    same = hilo_inst_eq(at, order[k]);
  if (same) return true;
  for (uint32_t k = 0; k < n; k++) hilo_inst_move(m, order[k], order[k], c, HILO_INST_NONE);
  for (uint32_t k = 0; k < n; k++)
    for (uint32_t o = 0; o < hilo_inst_n_operands(m, order[k]); o++)
      if (!hilo_inst_before(m, hilo_inst_operand(m, order[k], o), order[k]))
        return hilo_proto_error(
            r, HILO_DIAG_EMOD903, NULL, "the schedule has `%.*s` before its operand `%.*s`",
            HILO_FMT(hilo_inst_name_text(m, order[k], &r->scratch.arena)),
            HILO_FMT(hilo_inst_name_text(m, hilo_inst_operand(m, order[k], o), &r->scratch.arena)));
  return true;
}

static bool read_schedule(hilo_proto_reader *r, hilo_str bytes) {
  hilo_wire_schedule w;
  bool ok = true;
  if (!HILO_PROTO_DECODE(r, schedule, bytes, &w)) return false;
  for (uint32_t i = 0; i < w.sequences.n; i++) {
    hilo_wire_schedule_sequences_entry e;
    hilo_wire_schedule_instruction_sequence s;
    if (!HILO_PROTO_DECODE(r, schedule_sequences_entry, w.sequences.v[i], &e)) return false;
    if (!HILO_PROTO_DECODE(r, schedule_instruction_sequence, e.value, &s)) return false;
    const uint32_t ix = hilo_map_get(&r->comp_of_id, (uint64_t)e.key, 0);
    if (!ix)
      return hilo_proto_error(r, HILO_DIAG_EMOD903, e.value.p,
                              "the schedule has a sequence for computation %" PRId64 ", which the "
                              "module does not have",
                              e.key);
    const hilo_comp c = hilo_comp_at(r->m, ix);
    r->at = (hilo_proto_place){.inst_id = -1,
                               .comp_name = hilo_comp_name_text(r->m, c, &r->scratch.arena)};
    ok &= schedule_computation(r, c, s.instruction_ids);
  }
  r->at = (hilo_proto_place){.inst_id = -1};
  return ok;
}

/* ---- the whole ---- */

static bool read_computations(hilo_proto_reader *r) {
  bool ok = true;
  for (uint32_t i = 0; i < r->n_comps; i++) {
    ok &= hilo_proto_read_computation(r, &r->comps[i]);
    if (r->labels && hilo_proto_labels_are_given_up(r->labels)) break;
  }
  if (r->labels) hilo_proto_labels_finish(r, ok);
  return ok;
}

static bool read_module(hilo_proto_reader *r, hilo_proto_labels *labels) {
  module_parts parts;
  hilo_wire_module w;
  if (!r->bytes.n)
    return hilo_proto_error(r, HILO_DIAG_EMOD901, NULL,
                            "the input is empty: it has no computations");
  if (!split_module(r, &parts)) return false;
  const hilo_wire_list computations = {parts.computations.v, parts.computations.n};
  if (labels) hilo_proto_labels_start(r, labels, computations);
  r->m->header.unparsed = hilo_str_copy(r->m->arena, hilo_sb_view(&parts.unknown));
  if (!split_computations(r, computations)) return false;
  if (!r->n_comps)
    return hilo_proto_error(r, HILO_DIAG_EMOD903, NULL, "the module has no computations");
  if (!HILO_PROTO_DECODE(r, module, r->rest, &w)) return false;
  bool ok = read_computations(r);
  if (labels && hilo_proto_labels_are_given_up(labels)) return false;
  r->at = (hilo_proto_place){.inst_id = -1};
  ok &= read_entry(r, w.entry_computation_id);
  /* The header repeats types of the entry: where these are wrong, the instruction was named. */
  return ok && hilo_proto_read_header(r, r->rest) && read_schedule(r, w.schedule);
}

/* Operands were guessed at the start; what is too much is given back. */
static void trim_operands(hilo_module *m) {
  const size_t n = (size_t)m->operand.n + m->operand.n / 8;
  if (m->operand.cap <= n) return;
  m->operand.v = hilo_arena_resize_block(m->arena, m->operand.v, n * sizeof(*m->operand.v));
  m->operand.cap = (uint32_t)n;
}

/* 1, 2, 3 … : computations callee first in order of first reference, instructions in file order. */
static void number_instructions(hilo_proto_reader *r) {
  hilo_module *m = r->m;
  const hilo_comp_list list = hilo_module_comps_postorder(m, &r->scratch.arena);
  uint32_t ordinal = 0;
  for (uint32_t k = 0; k < list.n; k++) HILO_FOR_EACH_INST(m, list.v[k], i)
  m->inst.ordinal[hilo_ix(m, i)] = ++ordinal;
}

void hilo_proto_reader_init(hilo_proto_reader *r, hilo_arena *arena, hilo_str bytes, hilo_str name,
                            hilo_diags *diags) {
  memset(r, 0, sizeof(*r));
  hilo_scratch_init(&r->scratch, arena);
  hilo_arena *scratch = &r->scratch.arena;
  r->diags = diags;
  r->wire.scratch = scratch;
  r->memo.arena = scratch;
  r->memo.input = bytes;
  r->bytes = bytes;
  r->name = name;
  r->at.inst_id = -1;
}

/* `labels`: what a second thread may use, or NULL. Where these are given up nothing was read, and
 * what was reported does not count. */
static hilo_status read_once(hilo_arena *arena, hilo_str bytes, hilo_str name,
                             hilo_proto_labels *labels, hilo_diags *diags, hilo_module **out) {
  hilo_proto_reader r;
  hilo_proto_reader_init(&r, arena, bytes, name, diags);
  hilo_arena *scratch = &r.scratch.arena;
  r.m = hilo_module_create(arena, NULL);
  r.m->input = bytes;
  r.m->input_name = name;
  hilo_map *maps[] = {&r.comp_of_id, &r.skipped, &r.skipped_comps, &r.inst_of_far};
  for (size_t i = 0; i < HILO_COUNT(maps); i++) *maps[i] = hilo_map_make(scratch);
  r.names = hilo_key_set_make(scratch);
  r.comp_names = hilo_key_set_make(scratch);
  const uint32_t n_errors = diags->n_errors;
  const bool ok = read_module(&r, labels);
  if (r.labels) hilo_proto_labels_finish(&r, false);
  if (labels && hilo_proto_labels_are_given_up(labels)) {
    hilo_module_drop(r.m);
  } else {
    HILO_CHECK(ok == (diags->n_errors == n_errors));
  }
  if (ok) {
    trim_operands(r.m);
    number_instructions(&r);
    *out = r.m;
  }
  hilo_scratch_deinit(&r.scratch);
  return ok ? HILO_OK : HILO_INPUT_ERROR;
}

/* False: it was given up, and is as if it had not been tried. Unwinds behind the other thread. */
static bool read_by_two(hilo_arena *arena, hilo_str bytes, hilo_str name,
                        const hilo_proto_read_options *options, hilo_diags *diags,
                        hilo_module **out, hilo_status *status) {
  jmp_buf oom, *const outer = arena->oom, *const outer_of_diags = diags->arena->oom;
  const hilo_diags before = *diags;
  hilo_proto_labels *const labels = hilo_proto_labels_make(arena, options);
  volatile bool is_done = false;
  arena->oom = diags->arena->oom = &oom;
  if (setjmp(oom) == 0) {
    *status = read_once(arena, bytes, name, labels, diags, out);
    is_done = true;
  }
  diags->arena->oom = outer_of_diags;
  arena->oom = outer;
  const bool is_given_up = hilo_proto_labels_are_given_up(labels);
  hilo_proto_labels_end(labels, arena);
  if (!is_done) hilo_arena_out_of_memory(arena);
  if (is_given_up) hilo_diags_rewind(diags, &before);
  return !is_given_up;
}

hilo_status hilo_hlo_proto_read_with(hilo_arena *arena, hilo_str bytes, hilo_str name,
                                     const hilo_proto_read_options *options, hilo_diags *diags,
                                     hilo_module **out) {
  hilo_status status;
  if (options->queue && read_by_two(arena, bytes, name, options, diags, out, &status))
    return status;
  return read_once(arena, bytes, name, NULL, diags, out);
}

hilo_status hilo_hlo_proto_read(hilo_arena *arena, hilo_str bytes, hilo_str name, hilo_diags *diags,
                                hilo_module **out) {
  return read_once(arena, bytes, name, NULL, diags, out);
}
