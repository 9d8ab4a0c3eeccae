/* Reading HLO text in tests. */
#ifndef HILO_TESTS_HLO_TEXT_SUPPORT_H
#define HILO_TESTS_HLO_TEXT_SUPPORT_H

#include "formats/hlo_text.h"
#include "ir/hlo_print.h"
#include "test_support.h"

/* The module of a text, NULL if it has errors; these are in *diags. The text is given without
 * anything behind it, so that a sanitizer sees a read beyond its end. */
static inline hilo_module *read_bytes(hilo_arena *arena, hilo_str text, hilo_diags *diags) {
  char *exact = malloc(text.n ? text.n : 1);
  if (text.n) memcpy(exact, text.p, text.n);
  *diags = hilo_diags_make(arena);
  hilo_module *m = NULL;
  const hilo_status status =
      hilo_hlo_text_read(arena, (hilo_str){exact, text.n}, HILO_STR("t"), diags, &m);
  free(exact);
  assert_int_equal(status == HILO_OK, m != NULL);
  assert_int_equal(status == HILO_OK, diags->n_errors == 0);
  return m;
}

static inline hilo_module *module_of(hilo_arena *arena, const char *text) {
  hilo_diags diags;
  hilo_module *m = read_bytes(arena, hilo_str_of(text), &diags);
  if (m) return m;
  hilo_sb sb = hilo_sb_make(arena);
  hilo_diags_render(&diags, &sb);
  fail_msg("%s", hilo_sb_cstr(&sb));
  return NULL;
}

static inline const char *printed_text(hilo_arena *arena, const hilo_module *m,
                                       const hilo_print_options *options) {
  hilo_sb sb = hilo_sb_make(arena);
  hilo_hlo_print(m, options, &sb);
  return hilo_sb_cstr(&sb);
}

/* The instruction of the entry with this name. */
static inline hilo_inst inst_named(const hilo_module *m, const char *name) {
  HILO_FOR_EACH_INST(m, m->entry, i) {
    hilo_sb sb = hilo_sb_make(m->arena);
    hilo_name_print(m, hilo_inst_name(m, i), &sb);
    const bool is_it = hilo_str_is(hilo_sb_view(&sb), name);
    hilo_sb_free(&sb);
    if (is_it) return i;
  }
  fail_msg("no instruction `%s`", name);
  return HILO_INST_NONE;
}

#endif
