#include "eval/movement/element_moves.h"

#include <string.h>

/* `MOVE(type)` is the loop over elements as wide as `type`. */
#define FOR_SIZE(size, MOVE)                                                                       \
  switch (size) {                                                                                  \
  case 1: MOVE(uint8_t) break;                                                                     \
  case 2: MOVE(uint16_t) break;                                                                    \
  case 4: MOVE(uint32_t) break;                                                                    \
  case 8: MOVE(uint64_t) break;                                                                    \
  default: MOVE(uint64_t[2]) break;                                                                \
  }

#define GATHER(type)                                                                               \
  for (uint32_t k = 0; k < n; k++)                                                                 \
    memcpy(to + k * sizeof(type), from + at[k] * (int64_t)sizeof(type), sizeof(type));
#define STRIDED(type)                                                                              \
  for (uint64_t k = 0; k < n; k++)                                                                 \
    memcpy(to + k * sizeof(type), from + (int64_t)k * step * (int64_t)sizeof(type), sizeof(type));
#define SCATTER(type)                                                                              \
  for (uint32_t k = 0; k < n; k++)                                                                 \
    memcpy(to + at[k] * (int64_t)sizeof(type), from + k * sizeof(type), sizeof(type));
#define PICK(type)                                                                                 \
  for (uint64_t k = 0; k < n; k++)                                                                 \
    memcpy(to + (int64_t)k * step * (int64_t)sizeof(type), from + at[k] * sizeof(type),            \
           sizeof(type));

void hilo_gather_elements(char *to, const char *from, const int64_t *at, uint32_t n,
                          uint32_t size) {
  FOR_SIZE(size, GATHER)
}

void hilo_gather_strided(char *to, const char *from, int64_t step, uint64_t n, uint32_t size) {
  FOR_SIZE(size, STRIDED)
}

void hilo_scatter_elements(char *to, const int64_t *at, const char *from, uint32_t n,
                           uint32_t size) {
  FOR_SIZE(size, SCATTER)
}

void hilo_pick_elements(char *to, int64_t step, const char *from, const uint64_t *at, uint64_t n,
                        uint32_t size) {
  FOR_SIZE(size, PICK)
}
