/* Inside of the proto reader: the state that its files share, and what each gives the others. */
#ifndef HILO_FORMATS_HLO_PROTO_READ_H
#define HILO_FORMATS_HLO_PROTO_READ_H

#include "base/key_set.h"
#include "formats/hlo_proto.h"
#include "formats/hlo_wire.h"
#include "formats/proto/wire_memo.h"

enum {
  HILO_MAX_PROTO_DEPTH = 100,      /* nested messages: protobuf's own limit */
  HILO_MAX_EXPANDED_IDS = 1 << 24, /* devices that an iota or mesh may stand for */
};

/* Where the reader is, for messages. */
typedef struct {
  hilo_str comp_name, inst_name;
  int64_t inst_id; /* -1: not in an instruction */
  hilo_str meta;   /* its OpMetadata */
} hilo_proto_place;

/* A run of fields of the module that was copied, to `rest`: both offsets. */
typedef struct {
  size_t in_rest, in_file;
} hilo_proto_piece;

/* An operation's name as it was seen last, by a hash of a few letters. */
typedef struct {
  hilo_str name;
  hilo_op op;
} hilo_proto_opcode;

/* The same for what stands before the number of a name, if it is good as it is. */
typedef struct {
  hilo_str text;
  hilo_string base;
} hilo_proto_base;

typedef struct hilo_proto_labels hilo_proto_labels;

typedef struct {
  hilo_module *m;
  hilo_scratch scratch;
  hilo_proto_labels *labels; /* another thread reads metadata; NULL: this one */
  hilo_diags *diags;
  hilo_wire_reader wire;
  hilo_wire_memo memo;
  hilo_str bytes, name;
  hilo_proto_place at;
  hilo_str rest; /* the fields of the module that are not computations, joined */
  hilo_vec(hilo_proto_piece) pieces;
  hilo_wire_list payloads; /* HloModuleProto.payloads */
  uint32_t warned_unknown; /* the unknown field that was warned of last */

  hilo_wire_computation *comps; /* in file order */
  uint32_t n_comps;
  hilo_map comp_of_id;             /* computation id → index; 0 while it is being read */
  hilo_key_set names, comp_names;  /* base and number of every name that was given */
  hilo_map skipped, skipped_comps; /* ids of what had an error */
  bool lost_ids;                   /* something had a wrong id: others may refer to the right one */
  int64_t *id_of_inst;             /* by instruction index */
  uint32_t *inst_of_local;         /* local id → instruction index, of any computation */
  uint32_t cap_locals;
  hilo_map inst_of_far; /* the same for larger ids, by computation and id */
  hilo_inst *operands;  /* of the instruction at hand */
  uint32_t cap_operands;
  hilo_proto_opcode opcodes[256];
  hilo_proto_base bases[512];
} hilo_proto_reader;

/* `m` is the caller's business. */
void hilo_proto_reader_init(hilo_proto_reader *r, hilo_arena *arena, hilo_str bytes, hilo_str name,
                            hilo_diags *diags);

/* ---- messages ---- */
/* An error at a byte of the input (NULL: none). Always returns false. */
bool hilo_proto_error(hilo_proto_reader *r, hilo_diag_code code, const char *at, const char *fmt,
                      ...) HILO_PRINTF(4, 5);
void hilo_proto_warn(hilo_proto_reader *r, const char *at, const char *fmt, ...) HILO_PRINTF(3, 4);
/* Decode, or report why not. */
bool hilo_proto_decode(hilo_proto_reader *r, const hilo_wire_message *message, hilo_str bytes,
                       void *out);
#define HILO_PROTO_DECODE(r, name, bytes, out)                                                     \
  hilo_proto_decode((r), &hilo_wire_##name##_fields, (bytes), (out))

/* ---- types, hlo_proto_type.c ---- */
bool hilo_proto_read_shape(hilo_proto_reader *r, hilo_str bytes, hilo_type *out);

/* ---- literals, hlo_proto_literal.c ---- */
/* A literal of a type that agrees with `type` but for layouts. */
bool hilo_proto_read_literal(hilo_proto_reader *r, hilo_str bytes, hilo_type type,
                             hilo_literal *out);

/* ---- attributes, hlo_proto_attr.c and hlo_proto_extra.c ---- */
/* The `attr` column of an operation. */
bool hilo_proto_read_attr(hilo_proto_reader *r, hilo_op op, const hilo_wire_instruction *inst,
                          const hilo_inst_desc *desc, uint32_t *out);
bool hilo_proto_read_extra(hilo_proto_reader *r, hilo_op op, const hilo_wire_instruction *inst,
                           hilo_record *out);
bool hilo_proto_read_meta(hilo_proto_reader *r, hilo_str bytes, hilo_record *out);
bool hilo_proto_read_string_map(hilo_proto_reader *r, hilo_str bytes, hilo_record *out);

/* ---- metadata by another thread, hlo_proto_labels.c ---- */
/* What it works with, in `arena`; hilo_proto_labels_end waits for it and gives all of it back, also
 * when the reader unwinds. */
hilo_proto_labels *hilo_proto_labels_make(hilo_arena *arena,
                                          const hilo_proto_read_options *options);
void hilo_proto_labels_end(hilo_proto_labels *labels, hilo_arena *arena);
/* Let it begin, if there is enough to do, with the computations of the file: r->labels is set. They
 * lie in scratch memory like r->payloads. */
void hilo_proto_labels_start(hilo_proto_reader *r, hilo_proto_labels *labels,
                             hilo_wire_list computations);
/* Wait for it; r->labels is NULL again. If all instructions were added (ok), they have their
 * metadata, unless it was given up. */
void hilo_proto_labels_finish(hilo_proto_reader *r, bool ok);
/* There is something that only a single thread reads as it should. */
void hilo_proto_labels_give_up(hilo_proto_labels *labels);
bool hilo_proto_labels_are_given_up(const hilo_proto_labels *labels);

/* ---- rare messages, hlo_proto_rare.c, hlo_proto_device.c ---- */
/* *spelling: how the devices were written (HILO_RECORD_NONE: as a list). */
bool hilo_proto_read_sharding(hilo_proto_reader *r, hilo_str bytes, hilo_record *out,
                              hilo_record *spelling);
/* Replica groups in any of their forms. HILO_RECORD_NONE: none were written. */
bool hilo_proto_read_groups(hilo_proto_reader *r, const hilo_wire_instruction *inst,
                            hilo_record *out, hilo_record *spelling);

/* ---- computations, hlo_proto_inst.c ---- */
bool hilo_proto_read_computation(hilo_proto_reader *r, const hilo_wire_computation *w);

/* ---- the module around the computations, hlo_proto_header.c ---- */
bool hilo_proto_read_header(hilo_proto_reader *r, hilo_str rest);

#endif
