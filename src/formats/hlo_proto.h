/* HLO protos: HloModuleProto to module and back. docs/formats.md lists every field. */
#ifndef HILO_FORMATS_HLO_PROTO_H
#define HILO_FORMATS_HLO_PROTO_H

#include "base/queue.h"
#include "ir/module.h"

/* Read an HloModuleProto (envelopes are taken off by load.h). The module is made in `arena` and may
 * refer to `bytes`, which must outlive it (m->input). Ordinals are numbered. All errors of the file
 * are reported, each with field, byte offset, computation and instruction; then *out stays
 * untouched. The rules of single operations are the verifier's. */
HILO_NODISCARD hilo_status hilo_hlo_proto_read(hilo_arena *arena, hilo_str bytes, hilo_str name,
                                               hilo_diags *diags, hilo_module **out);

/* From where on a second thread pays: it has begun not long before, and takes a while to wake. */
enum { HILO_PROTO_MIN_BYTES = 300 << 10 };
typedef struct {
  hilo_queue *queue; /* NULL: one thread */
  uint64_t min_bytes;
} hilo_proto_read_options;
/* The same by two threads, from `min_bytes` bytes on: a worker of `queue`, in which nothing may be
 * in flight, reads the metadata. The module and the diagnostics are what one thread gives. The
 * allocator of `arena` must serve several threads. */
HILO_NODISCARD hilo_status hilo_hlo_proto_read_with(hilo_arena *arena, hilo_str bytes,
                                                    hilo_str name,
                                                    const hilo_proto_read_options *options,
                                                    hilo_diags *diags, hilo_module **out);

enum { HILO_MAX_PROTO_BYTES = 0x7fffffff }; /* of one message: protobuf's own limit */

/* Append the module as HloModuleProto. The same module gives the same bytes. An error, and nothing
 * useful in `out`, if it is beyond HILO_MAX_PROTO_BYTES. */
HILO_NODISCARD hilo_status hilo_hlo_proto_write(const hilo_module *m, hilo_sb *out,
                                                hilo_diags *diags);

#endif
