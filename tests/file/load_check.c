/* Load an input and say what was found: the tool of the golden tests of the readers.
 *
 * usage: load_check FILE | DIRECTORY
 *
 * Standard output has one line (computations, instructions) and one per bound weight file, standard
 * error the diagnostics. The module is also written and read back, which must give as many
 * instructions; and a proto is read by two threads, which must have the same to say. */
#include "../unit/proto_file.h"
#include "formats/hlo_proto.h"

#include <stdio.h>

static void print_weights(const hilo_module *m) {
  for (uint32_t k = 0; m->header.weight_files && k < hilo_comp_n_params(m, m->entry); k++) {
    const hilo_str path = hilo_string_of(m, m->header.weight_files[k]);
    if (path.n) printf("parameter %u: %.*s\n", k, HILO_FMT(path));
  }
}

static hilo_str messages_of(hilo_arena *arena, hilo_str bytes, hilo_queue *queue) {
  const hilo_proto_read_options options = {queue, 0};
  hilo_diags diags = hilo_diags_make(arena);
  hilo_sb text = hilo_sb_make(arena);
  hilo_module *m;
  const hilo_status status =
      hilo_hlo_proto_read_with(arena, bytes, HILO_STR("input"), &options, &diags, &m);
  hilo_diags_render(&diags, &text);
  if (status == HILO_OK) hilo_sb_printf(&text, "%u labels", m->labels.next);
  return hilo_sb_view(&text);
}

static void check_threads(hilo_arena *arena, const char *path) {
  const hilo_str bytes = proto_in_file(arena, path);
  if (!bytes.n) return;
  hilo_queue *queue =
      hilo_queue_create(arena, &(hilo_queue_options){.max_threads = 2, .max_tasks = 1});
  hilo_queue_start(queue, 2);
  if (!hilo_str_eq(messages_of(arena, bytes, NULL), messages_of(arena, bytes, queue)))
    printf("read by two threads: not the same\n");
  hilo_queue_destroy(queue);
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
  check_threads(&arena, argv[1]);
  hilo_sb text = hilo_sb_make(&arena);
  hilo_diags_render(&diags, &text);
  fputs(hilo_sb_cstr(&text), stderr);
  hilo_arena_deinit(&arena);
  return status != HILO_OK;
}
