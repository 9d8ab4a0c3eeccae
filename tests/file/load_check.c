/* Load an input and say what was found: the tool of the golden tests of the readers.
 *
 * usage: load_check FILE | DIRECTORY
 *
 * Standard output has one line (computations, instructions) and one per bound weight file, standard
 * error the diagnostics. The module is also written and read back, which must give as many
 * instructions. */
#include "formats/hlo_proto.h"
#include "formats/load.h"

#include <stdio.h>

static void print_weights(const hilo_module *m) {
  for (uint32_t k = 0; m->header.weight_files && k < hilo_comp_n_params(m, m->entry); k++) {
    const hilo_str path = hilo_string_of(m, m->header.weight_files[k]);
    if (path.n) printf("parameter %u: %.*s\n", k, HILO_FMT(path));
  }
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: load_check FILE | DIRECTORY\n");
    return 2;
  }
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  hilo_diags diags = hilo_diags_make(&arena);
  hilo_module *m = NULL, *again = NULL;
  hilo_status status = hilo_load(&arena, argv[1], &diags, &m);
  if (status == HILO_OK) {
    hilo_sb sb = hilo_sb_make(&arena);
    printf("%u computations, %u instructions\n", hilo_module_n_comps(m) - 1, m->n_insts);
    print_weights(m);
    status = hilo_hlo_proto_write(m, &sb, &diags);
    if (status == HILO_OK)
      status =
          hilo_hlo_proto_read(&arena, hilo_sb_view(&sb), hilo_str_of("written"), &diags, &again);
    if (status == HILO_OK && again->n_insts != m->n_insts)
      printf("written and read: not the same\n");
  }
  hilo_sb text = hilo_sb_make(&arena);
  hilo_diags_render(&diags, &text);
  fputs(hilo_sb_cstr(&text), stderr);
  hilo_arena_deinit(&arena);
  return status != HILO_OK;
}
