/* Reading HLO text never crashes, and what is read is printed so that it is read again and printed
 * the same. */
#include "formats/hlo_text.h"
#include "ir/hlo_print.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  hilo_diags diags = hilo_diags_make(&arena);
  hilo_module *m = NULL;
  const hilo_str text = {(const char *)data, size};
  if (hilo_hlo_text_read(&arena, text, HILO_STR("fuzz"), &diags, &m) == HILO_OK) {
    hilo_sb once = hilo_sb_make(&arena), twice = hilo_sb_make(&arena);
    hilo_hlo_print(m, NULL, &once);
    if (hilo_hlo_text_read(&arena, hilo_sb_view(&once), HILO_STR("printed"), &diags, &m) != HILO_OK)
      abort();
    hilo_hlo_print(m, NULL, &twice);
    if (!hilo_str_eq(hilo_sb_view(&once), hilo_sb_view(&twice))) abort();
  }
  hilo_arena_deinit(&arena);
  return 0;
}
