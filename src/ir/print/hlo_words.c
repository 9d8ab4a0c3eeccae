#include "ir/print/hlo_words.h"

#define W(text)                                                                                    \
  { text, sizeof(text) - 1 }
#define LIST(name, what, ...)                                                                      \
  static const hilo_str name##_words[] = {__VA_ARGS__};                                            \
  const hilo_hlo_words hilo_words_##name = {what, name##_words, HILO_COUNT(name##_words)};

LIST(precision, "a precision", W("default"), W("high"), W("highest"), W("packed_nibble"))
LIST(algorithm, "an algorithm", W("unset"), W("dot_any_f8_any_f8_f32"),
     W("dot_any_f8_any_f8_f32_fast_accum"), W("dot_f16_f16_f16"), W("dot_f16_f16_f32"),
     W("dot_bf16_bf16_bf16"), W("dot_bf16_bf16_f32"), W("dot_bf16_bf16_f32_x3"),
     W("dot_bf16_bf16_f32_x6"), W("dot_tf32_tf32_f32"), W("dot_tf32_tf32_f32_x3"),
     W("dot_f32_f32_f32"), W("dot_f64_f64_f64"), W("dot_bf16_bf16_f32_x9"))
LIST(direction, "a comparison direction", W("EQ"), W("NE"), W("GE"), W("GT"), W("LE"), W("LT"))
LIST(compare_type, "a comparison type", W(""), W("FLOAT"), W("TOTALORDER"), W("SIGNED"),
     W("UNSIGNED"))
LIST(fft_type, "an FFT type", W("FFT"), W("IFFT"), W("RFFT"), W("IRFFT"))
LIST(distribution, "a distribution", W("rng_invalid"), W("rng_uniform"), W("rng_normal"))
LIST(rng_algorithm, "a random algorithm", W("rng_default"), W("rng_three_fry"), W("rng_philox"))
LIST(transpose, "a transposition", W("TRANSPOSE_INVALID"), W("NO_TRANSPOSE"), W("TRANSPOSE"),
     W("ADJOINT"))
LIST(padding_type, "a padding type", W("PADDING_INVALID"), W("PADDING_VALID"), W("PADDING_SAME"))
LIST(schedule, "a custom-call schedule", W("SCHEDULE_NONE"), W("SCHEDULE_LATEST"),
     W("SCHEDULE_EARLIEST"))
LIST(api_version, "a custom-call API version", W("API_VERSION_UNSPECIFIED"),
     W("API_VERSION_ORIGINAL"), W("API_VERSION_STATUS_RETURNING"),
     W("API_VERSION_STATUS_RETURNING_UNIFIED"), W("API_VERSION_TYPED_FFI"))
LIST(conv_kind, "a convolution kind", W("unset"), W("fprop"), W("dgrad"), W("wgrad"))

int hilo_hlo_word_find(const hilo_hlo_words *list, hilo_str word) {
  for (uint32_t i = 0; i < list->n; i++)
    if (hilo_str_eq(list->words[i], word)) return (int)i;
  return -1;
}

hilo_str hilo_hlo_word_of(const hilo_hlo_words *list, int64_t number) {
  return list->words[number >= 0 && number < list->n ? number : 0];
}
