/* Replica groups as flattened ranks. Internal to penguin. */
#ifndef HILO_PENGUIN_GROUPS_H
#define HILO_PENGUIN_GROUPS_H

#include "penguin/printer.h"

/* Append `[[0, 1], [2, 3]]`: the groups of a collective, or the source and target pairs of a
 * collective-permute, as flattened ranks (replica * partitions + partition) whatever the mode; `[]`
 * is one group of everybody. False, with a diagnostic, if they can't be flattened. */
bool hilo_put_groups(hilo_printer *p, hilo_inst i);
/* The size of the groups; 0 if the text says `[]` and the counts are unknown. */
int64_t hilo_group_size(const hilo_printer *p, hilo_inst i);

#endif
