/* Compiled programs kept on disk: `--cache-dir=DIR`.
 *
 * The key is what the program depends on: the canonical module with its aliases, names of inputs
 * and outputs and number of ranks, the flags that can change a program, and the version of hilo;
 * not names or metadata, so that a layer compiled for one model is found for another. An entry is
 * one file, written under a temporary name and renamed, with a checksum over all of it: readers
 * need no lock, several processes and hosts may share a directory, and what is torn or not ours is
 * a miss. The oldest entries go when the directory grows beyond `--cache-size`. */
#ifndef HILO_DRIVER_CACHE_H
#define HILO_DRIVER_CACHE_H

#include "base/log.h"
#include "base/sha256.h"
#include "driver/config.h"
#include "ir/module.h"

/* A file of a program, by its role: `program`, `framework-dbg`, `hlo-dbg`, or the name of a
 * constant behind `constant:`; and `warnings`, what was said on the way. `head` and `data` are one
 * run of bytes. */
typedef struct {
  hilo_str role, head, data;
} hilo_cache_file;

typedef struct {
  const hilo_config *config;
  hilo_digest module, flags, version;
  hilo_str flags_text; /* one flag a line */
  const char *directory, *path;
} hilo_cache_key;

/* The key of a module as it is before its passes; `stem` names the files of its constants. In
 * `arena`. */
hilo_cache_key hilo_cache_key_of(const hilo_module *m, const hilo_config *config, hilo_str stem,
                                 hilo_arena *arena, hilo_arena *scratch);
/* The files of the entry, in `arena`; false: a miss. A hit becomes the newest entry. */
bool hilo_cache_find(const hilo_cache_key *key, hilo_arena *arena, hilo_cache_file **files,
                     uint32_t *n);
/* Why it is a miss: which part of the key differs from the nearest entry. One line. */
void hilo_cache_explain(const hilo_cache_key *key, hilo_arena *scratch, hilo_sb *out);
/* Keep the files. What goes wrong is a WARNING: the program is there all the same. */
void hilo_cache_store(const hilo_cache_key *key, const hilo_cache_file *files, uint32_t n,
                      hilo_arena *scratch, hilo_log *log);

/* The digest of all that a program of this module depends on: canonical entry, aliases, names and
 * ranks of the header. */
hilo_digest hilo_program_digest(const hilo_module *m, hilo_arena *scratch);

#endif
