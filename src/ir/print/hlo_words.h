/* The words of HLO text for XLA's enumerations, by number. Readers and the printer share them. */
#ifndef HILO_IR_HLO_WORDS_H
#define HILO_IR_HLO_WORDS_H

#include "base/str.h"

typedef struct {
  const char *what; /* as in `expected <what>` */
  const hilo_str *words;
  uint32_t n;
} hilo_hlo_words;

extern const hilo_hlo_words hilo_words_precision; /* PrecisionConfig.Precision */
extern const hilo_hlo_words hilo_words_algorithm; /* PrecisionConfig.Algorithm */
extern const hilo_hlo_words hilo_words_direction; /* hilo_compare_direction */
extern const hilo_hlo_words hilo_words_compare_type;
extern const hilo_hlo_words hilo_words_fft_type;
extern const hilo_hlo_words hilo_words_distribution;
extern const hilo_hlo_words hilo_words_rng_algorithm;
extern const hilo_hlo_words hilo_words_transpose;
extern const hilo_hlo_words hilo_words_padding_type;
extern const hilo_hlo_words hilo_words_schedule;
extern const hilo_hlo_words hilo_words_api_version;
extern const hilo_hlo_words hilo_words_conv_kind;

/* The number of a word, or -1. */
int hilo_hlo_word_find(const hilo_hlo_words *list, hilo_str word);
/* The word of a number; the first one if there is no such number. */
hilo_str hilo_hlo_word_of(const hilo_hlo_words *list, int64_t number);

#endif
