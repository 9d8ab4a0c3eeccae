/* Reading MLIR text never crashes: there is a module that the verifier can look at, or one error.
 */
#include "formats/mlir_text.h"
#include "ir/verify.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  hilo_diags diags = hilo_diags_make(&arena);
  hilo_module *m = NULL;
  const hilo_str text = {(const char *)data, size};
  const hilo_status status = hilo_mlir_read(&arena, text, HILO_STR("fuzz"), &diags, &m);
  if (status == HILO_OK ? diags.n_errors != 0 : diags.n_errors != 1) abort();
  if (status == HILO_OK && hilo_verify(m, &diags) != HILO_OK && !diags.n_errors) abort();
  hilo_arena_deinit(&arena);
  return 0;
}
