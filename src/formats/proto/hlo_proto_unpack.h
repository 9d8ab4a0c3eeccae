/* Rare messages, unpacked by protobuf-c into scratch memory. */
#ifndef HILO_FORMATS_HLO_PROTO_UNPACK_H
#define HILO_FORMATS_HLO_PROTO_UNPACK_H

#include "formats/proto/hlo_proto_read.h"

#include "hlo.pb-c.h"

/* The bytes are checked against the tables first (form and depth), so that what is wrong with them
 * can be said; NULL after an error. Nothing has to be freed. */
void *hilo_proto_unpack(hilo_proto_reader *r, const ProtobufCMessageDescriptor *descriptor,
                        const hilo_wire_message *message, hilo_str bytes);
#define HILO_PROTO_UNPACK(r, c_type, descriptor, name, bytes)                                      \
  ((c_type *)hilo_proto_unpack((r), &(descriptor), &hilo_wire_##name##_fields, (bytes)))

#endif
