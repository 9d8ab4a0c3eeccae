/* How the ids of replica groups and of source-target pairs are meant: XLA's rules. */
#ifndef HILO_IR_GROUP_MODE_H
#define HILO_IR_GROUP_MODE_H

#include "ir/op.h"

typedef enum {
  HILO_MODE_CROSS_REPLICA,               /* replicas, each partition by itself */
  HILO_MODE_CROSS_PARTITION,             /* partitions, each replica by itself */
  HILO_MODE_CROSS_REPLICA_AND_PARTITION, /* replicas with all their partitions */
  HILO_MODE_FLATTENED_ID,                /* replica * partitions + partition */
} hilo_group_mode;

/* all-to-all, collective-permute and collective-broadcast, which have no use_global_device_ids,
 * count partitions as soon as they have a channel. */
static inline hilo_group_mode hilo_group_mode_of(hilo_op op, bool has_channel,
                                                 bool use_global_device_ids) {
  if (use_global_device_ids) return HILO_MODE_FLATTENED_ID;
  if (!has_channel) return HILO_MODE_CROSS_REPLICA;
  switch (op) {
  case HILO_OP_ALL_GATHER:
  case HILO_OP_ALL_GATHER_START:
  case HILO_OP_ALL_REDUCE:
  case HILO_OP_ALL_REDUCE_START:
  case HILO_OP_COLLECTIVE_REDUCE:
  case HILO_OP_REDUCE_SCATTER: return HILO_MODE_CROSS_REPLICA_AND_PARTITION;
  default: return HILO_MODE_CROSS_PARTITION;
  }
}

#endif
