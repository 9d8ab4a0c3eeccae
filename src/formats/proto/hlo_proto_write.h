/* Inside of the proto writer: the state that its files share, and what each gives the others.
 *
 * Messages are built by filling their generated struct and the set of its fields that are there;
 * hilo_wire_encode writes these in order of their numbers, as XLA does. What is in the message of
 * an interned thing (type, metadata, window …) is encoded once and copied from then on. */
#ifndef HILO_FORMATS_HLO_PROTO_WRITE_H
#define HILO_FORMATS_HLO_PROTO_WRITE_H

#include "formats/hlo_proto.h"
#include "formats/hlo_wire.h"

typedef struct {
  const hilo_module *m;
  hilo_sb *out;
  hilo_diags *diags;
  hilo_scratch scratch; /* given back after each instruction */
  hilo_scratch keep;    /* what stays until the end */
  hilo_sb sb;           /* of `hilo_proto_encoded`; in `keep` */
  /* What is encoded already → index of `spans`, 0: nothing. By handle where one names it. */
  uint32_t *span_of_type, *span_of_record, *span_of_meta;
  hilo_map span_of_pair; /* kind and two handles */
  hilo_vec(hilo_str) spans;
  hilo_comp_list comps; /* callee first */
  uint32_t *comp_ids;   /* by computation index; 0: not written */
  uint32_t *local_ids;  /* by instruction index */
  hilo_str op_names[HILO_OP_COUNT];
} hilo_proto_writer;

/* An instruction under construction. */
typedef struct {
  hilo_wire_instruction w;
  hilo_wire_set set;
} hilo_proto_inst;

/* Fields that hold the default are left out. `s` has members w (a generated struct) and set. */
#define HILO_PUT_INT(s, field, number, value)                                                      \
  do {                                                                                             \
    (s)->w.field = (value);                                                                        \
    if ((s)->w.field != 0) hilo_wire_set_add(&(s)->set, (number));                                 \
  } while (0)
#define HILO_PUT_LIST(s, field, number, value)                                                     \
  do {                                                                                             \
    (s)->w.field = (value);                                                                        \
    if ((s)->w.field.n) hilo_wire_set_add(&(s)->set, (number));                                    \
  } while (0)
/* A message: present even if it is empty. */
#define HILO_PUT_MESSAGE(s, field, number, value)                                                  \
  do {                                                                                             \
    (s)->w.field = (value);                                                                        \
    hilo_wire_set_add(&(s)->set, (number));                                                        \
  } while (0)
/* The encoding of `s`, a struct with members w and set of message `name`, in scratch memory. */
#define HILO_PROTO_ENCODED(wr, name, s)                                                            \
  hilo_proto_encoded((wr), &hilo_wire_##name##_fields, &(s)->set, &(s)->w)
hilo_str hilo_proto_encoded(hilo_proto_writer *wr, const hilo_wire_message *message,
                            const hilo_wire_set *set, const void *in);

/* What the encodings that are kept belong to: a type; a record, whose family says what is encoded
 * from it; metadata; a sharding and its spelling. */
typedef enum {
  HILO_DONE_TYPE = 1,
  HILO_DONE_RECORD,
  HILO_DONE_META,
  HILO_DONE_SHARDING
} hilo_done_kind;
/* The kept encoding (p NULL: none yet), and to keep one: the copy is returned. */
hilo_str hilo_proto_kept(const hilo_proto_writer *wr, hilo_done_kind kind, uint64_t handle);
hilo_str hilo_proto_keep(hilo_proto_writer *wr, hilo_done_kind kind, uint64_t handle,
                         hilo_str bytes);

/* ---- hlo_proto_write_type.c ---- */
hilo_str hilo_proto_type(hilo_proto_writer *wr, hilo_type type);
/* Append field `number`, a LiteralProto in the layout of `type`. */
void hilo_proto_put_literal(hilo_proto_writer *wr, hilo_sb *out, uint32_t number,
                            hilo_literal literal, hilo_type type);
/* About as many bytes as its elements take on the wire, at least; UINT64_MAX: more than fit. */
uint64_t hilo_proto_literal_bytes(const hilo_module *m, hilo_literal literal);

/* ---- hlo_proto_write_attr.c ---- */
void hilo_proto_put_attr(hilo_proto_writer *wr, hilo_inst i, hilo_proto_inst *s);

/* ---- hlo_proto_write_extra.c ---- */
void hilo_proto_put_extra(hilo_proto_writer *wr, hilo_inst i, hilo_proto_inst *s);
hilo_str hilo_proto_meta(hilo_proto_writer *wr, hilo_record meta);
hilo_str hilo_proto_string_map(hilo_proto_writer *wr, hilo_record map);

/* ---- hlo_proto_write_device.c ---- */
hilo_str hilo_proto_sharding(hilo_proto_writer *wr, hilo_record sharding, hilo_record spelling);
void hilo_proto_put_groups(hilo_proto_writer *wr, hilo_record groups, hilo_record spelling,
                           hilo_proto_inst *s);

/* ---- hlo_proto_write_header.c ---- */
/* The fields of the module before and after the computations. */
void hilo_proto_put_header_front(hilo_proto_writer *wr);
void hilo_proto_put_header_back(hilo_proto_writer *wr);

#endif
