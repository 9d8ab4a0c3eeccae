/* The kinds of fusions that the consumer knows (dialect-pipeline 2.5). */
#ifndef HILO_PASSES_FUSION_KINDS_H
#define HILO_PASSES_FUSION_KINDS_H

#include "base/str.h"

static inline bool hilo_is_fusion_kind(hilo_str kind) {
  static const char *const kinds[] = {"ScheduleFusion", "MulRedSqrt", "DotLogistic", "Elementwise",
                                      "Expm1",          "Log1p",      "DotSoftmax"};
  for (size_t k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
    if (hilo_str_is(kind, kinds[k])) return true;
  return false;
}

#endif
