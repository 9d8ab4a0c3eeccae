/* The emitter alone, on a module that no pass has seen: for tests, not installed.
 *
 *   penguin_emit [--mhlo] [--stamp] [--no-files] [--metrics] [--repeat=N] MODULE [DIR]
 *
 * writes the program to DIR/penguin.py with its constants and .dbg files, or to standard output.
 * --stamp gives collectives without one a stream id, which a pass of the compiler does otherwise.
 */
#include "analysis/ranks.h"
#include "formats/load.h"
#include "penguin/emit.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void write_file(const char *dir, hilo_str name, hilo_str head, hilo_str data) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/%.*s", dir, HILO_FMT(name));
  FILE *f = fopen(path, "wb");
  if (!f || fwrite(head.p, 1, head.n, f) != head.n || fwrite(data.p, 1, data.n, f) != data.n ||
      fclose(f)) {
    fprintf(stderr, "penguin_emit: cannot write %s\n", path);
    exit(2);
  }
}

static void stamp(hilo_module *m) {
  const int64_t kv[] = {hilo_module_string(m, HILO_STR("stream_id")).ix,
                        hilo_module_string(m, HILO_STR("0")).ix};
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      if (!hilo_inst_has(m, i, HILO_TRAIT_COLLECTIVE)) continue;
      hilo_extra_attrs extra = hilo_inst_extra(m, i);
      if (extra.frontend.ix) continue;
      const hilo_string_map_attrs map = {.kv = {kv, 2}};
      extra.frontend = hilo_string_map_put(&m->records, &map);
      hilo_inst_set_extra(m, i, &extra);
    }
  }
}

int main(int argc, char **argv) {
  hilo_penguin_options o = {.stablehlo = true, .stem = HILO_STR("penguin")};
  const char *paths[2] = {0};
  bool stamps = false;
  int n_paths = 0, repeat = 1;
  for (int k = 1; k < argc; k++) {
    if (!strcmp(argv[k], "--mhlo"))
      o.stablehlo = false;
    else if (!strcmp(argv[k], "--stamp"))
      stamps = true;
    else if (!strcmp(argv[k], "--no-files"))
      o.no_files = true;
    else if (!strcmp(argv[k], "--metrics"))
      o.metrics = true;
    else if (!strncmp(argv[k], "--repeat=", 9))
      repeat = atoi(argv[k] + 9);
    else if (!strcmp(argv[k], "--dbg"))
      o.framework_dbg = o.hlo_dbg = true;
    else if (n_paths < 2)
      paths[n_paths++] = argv[k];
  }
  if (!n_paths) return 2;
  hilo_arena arena;
  hilo_arena_init(&arena, NULL, NULL);
  hilo_diags diags = hilo_diags_make(&arena);
  hilo_module *m;
  hilo_sb shown = hilo_sb_make(&arena), text = hilo_sb_make(&arena);
  hilo_penguin_files files = {0};
  hilo_status status = hilo_load(&arena, paths[0], &diags, &m);
  if (status == HILO_OK) {
    const hilo_ranks ranks = hilo_ranks_of(m, 0, 0);
    m->header.num_partitions = ranks.n_partitions;
    m->header.num_replicas = ranks.n_replicas;
    if (stamps) stamp(m);
    if (n_paths == 2) o.framework_dbg = o.hlo_dbg = true;
    for (int k = 0; k < repeat; k++) {
      struct timespec t0, t1;
      hilo_arena out;
      hilo_arena_init(&out, NULL, NULL);
      text = hilo_sb_make(repeat > 1 ? &out : &arena);
      clock_gettime(CLOCK_MONOTONIC, &t0);
      status = hilo_penguin_emit(m, &o, &diags, &text, &files);
      clock_gettime(CLOCK_MONOTONIC, &t1);
      if (repeat > 1)
        fprintf(stderr, "%.3f ms, %.1f ns an instruction, %zu bytes, %zu peak\n",
                (double)(t1.tv_sec - t0.tv_sec) * 1e3 + (double)(t1.tv_nsec - t0.tv_nsec) / 1e6,
                ((double)(t1.tv_sec - t0.tv_sec) * 1e9 + (double)(t1.tv_nsec - t0.tv_nsec)) /
                    m->n_insts,
                text.n, out.peak_bytes);
      if (k + 1 < repeat) hilo_arena_deinit(&out);
    }
  }
  hilo_diags_render(&diags, &shown);
  fprintf(stderr, "%s", hilo_sb_cstr(&shown));
  if (status != HILO_OK) {
    hilo_arena_deinit(&arena);
    return 1;
  }
  if (n_paths < 2) {
    fwrite(text.p, 1, text.n, stdout);
  } else {
    write_file(paths[1], HILO_STR("penguin.py"), hilo_sb_view(&text), HILO_STR(""));
    write_file(paths[1], HILO_STR("debug_info_hlo.dbg"), files.hlo_dbg, HILO_STR(""));
    write_file(paths[1], HILO_STR("debug_info_pttf.dbg"), files.framework_dbg, HILO_STR(""));
    for (uint32_t k = 0; k < files.n_constants; k++)
      write_file(paths[1], files.constants[k].name, files.constants[k].head,
                 files.constants[k].data);
  }
  hilo_arena_deinit(&arena);
  return 0;
}
