/* Moving single elements of arrays: the inner loops of operations whose elements lie anywhere.
 * Internal to eval. */
#ifndef HILO_EVAL_ELEMENT_MOVES_H
#define HILO_EVAL_ELEMENT_MOVES_H

#include <stdint.h>

/* For k < n: element k of `to` = element at[k] of `from`; elements of `size` bytes (1, 2, 4, 8 or
 * 16). */
void hilo_gather_elements(char *to, const char *from, const int64_t *at, uint32_t n, uint32_t size);
/* The same where the elements lie `step` apart. */
void hilo_gather_strided(char *to, const char *from, int64_t step, uint64_t n, uint32_t size);
/* For k < n: element at[k] of `to` = element k of `from`. */
void hilo_scatter_elements(char *to, const int64_t *at, const char *from, uint32_t n,
                           uint32_t size);
/* For k < n: element k * step of `to` = element at[k] of `from`. */
void hilo_pick_elements(char *to, int64_t step, const char *from, const uint64_t *at, uint64_t n,
                        uint32_t size);

#endif
