/* An entry lies in `DIR/<2 digits>/`, by the module's digest, and is called
 * `<module>-<flags>-<version>.hilo`, so that a look at the names tells what differs. It holds, each
 * with its length in front: a magic word, the flags as text, the number of files, and of each its
 * role and bytes; behind that the SHA-256 of everything before; all in one zstd frame. */
#include "driver/cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analysis/canonical.h"
#include "base/decompress.h"
#include "base/file.h"
#include "driver/build_id.h"
#include "driver/option_table.h"

#define MAGIC "hilo cache 1"
enum {
  PART_DIGITS = 32,         /* of a digest, in a file name */
  N_SHARDS = 256,           /* folders; each has its share of the size */
  STALE_SECONDS = 24 * 3600 /* a temporary file this old was left behind by a killed process */
};
#define MAX_ENTRY_BYTES (1ull << 30)

/* ---- the key ---- */

hilo_digest hilo_program_digest(const hilo_module *m, hilo_arena *scratch) {
  const hilo_module_header *h = &m->header;
  hilo_sb text = hilo_sb_make(scratch);
  char signature[HILO_SHA256_HEX + 1];
  hilo_module_signature(m, scratch, signature);
  hilo_sb_printf(&text, "%s %lld %lld", signature, (long long)h->num_replicas,
                 (long long)h->num_partitions);
  for (uint32_t k = 0; k < h->aliases.n; k++) {
    const hilo_alias *a = &h->aliases.v[k];
    hilo_sb_printf(&text, "; alias %d %lld", a->kind, (long long)a->param);
    for (uint32_t d = 0; d < a->output_index.n; d++)
      hilo_sb_printf(&text, " %lld", (long long)a->output_index.v[d]);
    hilo_sb_cat(&text, ",");
    for (uint32_t d = 0; d < a->param_index.n; d++)
      hilo_sb_printf(&text, " %lld", (long long)a->param_index.v[d]);
  }
  const hilo_dims names[] = {h->input_names, h->output_names};
  for (size_t list = 0; list < HILO_COUNT(names); list++) {
    hilo_sb_cat(&text, "; names");
    for (uint32_t k = 0; k < names[list].n; k++) {
      hilo_sb_char(&text, ' ');
      hilo_sb_json(&text, hilo_string_of(m, (hilo_string){(uint32_t)names[list].v[k]}));
    }
  }
  const hilo_string_map_attrs frontend = hilo_string_map_get(&m->records, h->frontend);
  for (uint32_t k = 0; k < frontend.kv.n; k++) {
    hilo_sb_cat(&text, k % 2 ? "=" : "; ");
    hilo_sb_json(&text, hilo_string_of(m, (hilo_string){(uint32_t)frontend.kv.v[k]}));
  }
  return hilo_sha256_of(hilo_sb_view(&text));
}

/* Flags that say where things go, how much is said, or how the work is shared out: they change no
 * program. Words of the partitioner decide what a module is, not what becomes of it; those of the
 * coalescing of collectives are among them by name only. */
static bool changes_programs(hilo_option_id id) {
  switch (id) {
  case HILO_OPTION_coalesce_all_gathers:
  case HILO_OPTION_coalesce_all_reduces:
  case HILO_OPTION_coalesce_reduce_scatters:
  case HILO_OPTION_max_all_gathers_buffer_size:
  case HILO_OPTION_max_all_reduce_buffer_size:
  case HILO_OPTION_max_reduce_scatter_buffer_size: return true;
  case HILO_OPTION_input:
  case HILO_OPTION_output:
  case HILO_OPTION_out_dir:
  case HILO_OPTION_framework_dbg_fn:
  case HILO_OPTION_hlo_dbg_fn:
  case HILO_OPTION_partition:
  case HILO_OPTION_partitioner_opts:
  case HILO_OPTION_dump_partitioned_hlo:
  case HILO_OPTION_verbose:
  case HILO_OPTION_logfile:
  case HILO_OPTION_logfile_verbose:
  case HILO_OPTION_print_options:
  case HILO_OPTION_print_all_options:
  case HILO_OPTION_time_passes:
  case HILO_OPTION_timings:
  case HILO_OPTION_stats:
  case HILO_OPTION_jobs:
  case HILO_OPTION_batch:
  case HILO_OPTION_max_memory:
  case HILO_OPTION_cache_dir:
  case HILO_OPTION_cache_size:
  case HILO_OPTION_explain_miss: return false;
  default: return hilo_options[id].category != HILO_CATEGORY_PARTITION;
  }
}

static hilo_str flags_text(const hilo_config *config, hilo_str stem, hilo_arena *arena) {
  hilo_config initial;
  hilo_config_init(&initial, config->tool);
  hilo_config_settle(&initial);
  hilo_sb text = hilo_sb_make(arena), value = hilo_sb_make(arena), other = hilo_sb_make(arena);
  hilo_sb_cat(&text, "stem=");
  hilo_sb_str(&text, stem);
  hilo_sb_char(&text, '\n');
  for (hilo_option_id id = 0; id < HILO_OPTION_COUNT; id++) {
    const hilo_option *option = &hilo_options[id];
    if (option->type >= HILO_TYPE_PREFIX || !(option->tools & HILO_TOOL_PENGUIN) ||
        !changes_programs(id))
      continue;
    hilo_sb_clear(&value);
    hilo_sb_clear(&other);
    hilo_option_print(option, config, &value);
    hilo_option_print(option, &initial, &other);
    if (hilo_str_eq(hilo_sb_view(&value), hilo_sb_view(&other))) continue;
    hilo_sb_printf(&text, "--%s=", option->name);
    hilo_sb_str(&text, hilo_sb_view(&value));
    hilo_sb_char(&text, '\n');
  }
  hilo_sb_free(&value);
  hilo_sb_free(&other);
  return hilo_sb_view(&text);
}

static void put_digits(hilo_sb *sb, const hilo_digest *digest, int n) {
  char hex[HILO_SHA256_HEX + 1];
  hilo_digest_hex(digest, hex);
  hilo_sb_bytes(sb, hex, (size_t)n);
}

/* Of the program that runs, not of what it calls itself: a changed compiler is another one. */
static hilo_digest version_digest(void) {
  hilo_sha256 sha;
  hilo_sha256_begin(&sha);
  hilo_sha256_update(&sha, MAGIC HILO_VERSION, sizeof(MAGIC HILO_VERSION));
  hilo_str id = hilo_build_id();
  hilo_sha256_update(&sha, id.p, id.n);
  return hilo_sha256_finish(&sha);
}

hilo_cache_key hilo_cache_key_of(const hilo_module *m, const hilo_config *config, hilo_str stem,
                                 hilo_arena *arena, hilo_arena *scratch) {
  hilo_cache_key key = {.config = config, .module = hilo_program_digest(m, scratch)};
  key.flags_text = flags_text(config, stem, arena);
  key.flags = hilo_sha256_of(key.flags_text);
  key.version = version_digest();
  hilo_sb sb = hilo_sb_make(arena);
  put_digits(&sb, &key.module, 2);
  key.directory = hilo_path_join(arena, config->cache_dir, hilo_sb_view(&sb));
  hilo_sb_clear(&sb);
  put_digits(&sb, &key.module, PART_DIGITS);
  hilo_sb_char(&sb, '-');
  put_digits(&sb, &key.flags, PART_DIGITS);
  hilo_sb_char(&sb, '-');
  put_digits(&sb, &key.version, PART_DIGITS);
  hilo_sb_cat(&sb, ".hilo");
  key.path = hilo_path_join(arena, hilo_str_of(key.directory), hilo_sb_view(&sb));
  return key;
}

/* ---- an entry ---- */

static void put_run(hilo_sb *sb, hilo_str head, hilo_str data) {
  const uint64_t n = head.n + data.n;
  hilo_sb_bytes(sb, &n, sizeof(n));
  hilo_sb_str(sb, head);
  hilo_sb_str(sb, data);
}

static bool take_run(hilo_str *rest, hilo_str *out) {
  uint64_t n;
  if (rest->n < sizeof(n)) return false;
  memcpy(&n, rest->p, sizeof(n));
  if (n > rest->n - sizeof(n)) return false;
  *out = (hilo_str){rest->p + sizeof(n), (size_t)n};
  rest->p += sizeof(n) + n;
  rest->n -= sizeof(n) + n;
  return true;
}

static hilo_str pack(const hilo_cache_key *key, const hilo_cache_file *files, uint32_t n,
                     hilo_arena *arena) {
  const hilo_str none = {0};
  const uint64_t count = n;
  hilo_sb sb = hilo_sb_make(arena);
  put_run(&sb, HILO_STR(MAGIC), none);
  put_run(&sb, key->flags_text, none);
  put_run(&sb, (hilo_str){(const char *)&count, sizeof(count)}, none);
  for (uint32_t k = 0; k < n; k++) {
    put_run(&sb, files[k].role, none);
    put_run(&sb, files[k].head, files[k].data);
  }
  const hilo_digest checksum = hilo_sha256_of(hilo_sb_view(&sb));
  hilo_sb_bytes(&sb, &checksum, sizeof(checksum));
  return hilo_compress(arena, hilo_sb_view(&sb));
}

/* What is behind the magic word, if the file is whole and ours. */
static bool read_entry(const char *path, hilo_arena *arena, hilo_str *flags, hilo_str *rest) {
  hilo_diags unread = hilo_diags_make(arena); /* a miss is no error */
  hilo_str packed, bytes, magic;
  if (hilo_file_read(arena, path, MAX_ENTRY_BYTES, &unread, &packed) != HILO_OK ||
      hilo_compression_detect(packed) != HILO_COMPRESSION_ZSTD ||
      hilo_decompress(arena, HILO_COMPRESSION_ZSTD, packed, MAX_ENTRY_BYTES, hilo_str_of(path),
                      &unread, &bytes) != HILO_OK)
    return false;
  hilo_digest checksum;
  if (bytes.n < sizeof(checksum)) return false;
  bytes.n -= sizeof(checksum);
  memcpy(&checksum, bytes.p + bytes.n, sizeof(checksum));
  if (!hilo_digest_eq(checksum, hilo_sha256_of(bytes))) return false;
  *rest = bytes;
  return take_run(rest, &magic) && hilo_str_is(magic, MAGIC) && take_run(rest, flags);
}

bool hilo_cache_find(const hilo_cache_key *key, hilo_arena *arena, hilo_cache_file **files,
                     uint32_t *n) {
  hilo_str flags, rest, count;
  uint64_t wanted;
  if (!read_entry(key->path, arena, &flags, &rest) || !hilo_str_eq(flags, key->flags_text) ||
      !take_run(&rest, &count) || count.n != sizeof(wanted))
    return false;
  memcpy(&wanted, count.p, sizeof(wanted));
  if (wanted > rest.n) return false;
  *files = HILO_NEW_ZEROED(arena, hilo_cache_file, wanted + 1);
  for (*n = 0; *n < wanted; ++*n)
    if (!take_run(&rest, &(*files)[*n].role) || !take_run(&rest, &(*files)[*n].data)) return false;
  utimensat(AT_FDCWD, key->path, NULL, 0);
  return rest.n == 0;
}

/* ---- why a miss ---- */

/* The first line of a that b lacks. */
static hilo_str first_difference(hilo_str a, hilo_str b) {
  while (a.n) {
    const char *end = memchr(a.p, '\n', a.n);
    const size_t length = end ? (size_t)(end - a.p) : a.n;
    bool found = false;
    for (hilo_str rest = b; rest.n && !found;) {
      const char *stop = memchr(rest.p, '\n', rest.n);
      const size_t its = stop ? (size_t)(stop - rest.p) : rest.n;
      found = hilo_str_eq((hilo_str){a.p, length}, (hilo_str){rest.p, its});
      rest.p += its + (stop != NULL);
      rest.n -= its + (stop != NULL);
    }
    if (!found) return (hilo_str){a.p, length};
    a.p += length + (end != NULL);
    a.n -= length + (end != NULL);
  }
  return (hilo_str){0};
}

/* The greatest name in the folder that has our module's digest, one of our flags first. */
static const char *nearest_entry(const hilo_cache_key *key, hilo_arena *arena, bool *same_flags) {
  const hilo_str own = hilo_path_base(hilo_str_of(key->path));
  const char *best = NULL;
  *same_flags = false;
  DIR *d = opendir(key->directory);
  if (!d) return NULL;
  for (struct dirent *entry; (entry = readdir(d));) {
    const hilo_str name = hilo_str_of(entry->d_name);
    if (name.n != own.n || memcmp(name.p, own.p, PART_DIGITS + 1) != 0) continue;
    const bool same = memcmp(name.p, own.p, 2 * (PART_DIGITS + 1)) == 0;
    if (best && (*same_flags > same || (*same_flags == same && strcmp(best, name.p) > 0))) continue;
    best = hilo_str_copy(arena, name).p;
    *same_flags = same;
  }
  closedir(d);
  return best;
}

void hilo_cache_explain(const hilo_cache_key *key, hilo_arena *scratch, hilo_sb *out) {
  bool same_flags;
  const char *name = nearest_entry(key, scratch, &same_flags);
  if (!name) {
    hilo_sb_cat(out, "cache miss: no entry is of this module (its operations, shapes, constants, "
                     "aliases, names of inputs and outputs, or number of ranks differ)\n");
    return;
  }
  if (same_flags) {
    hilo_sb_cat(out, strcmp(name, hilo_path_base(hilo_str_of(key->path)).p) == 0
                         ? "cache miss: the entry is damaged\n"
                         : "cache miss: the nearest entry was made by another version of hilo\n");
    return;
  }
  hilo_str flags = {0}, rest;
  const char *path = hilo_path_join(scratch, hilo_str_of(key->directory), hilo_str_of(name));
  if (!read_entry(path, scratch, &flags, &rest)) {
    hilo_sb_cat(out, "cache miss: the nearest entry is damaged\n");
    return;
  }
  const hilo_str here = first_difference(key->flags_text, flags);
  const hilo_str there = first_difference(flags, key->flags_text);
  hilo_sb_printf(out, "cache miss: the flags differ: here %.*s, in the nearest entry %.*s\n",
                 HILO_FMT(here.n ? here : HILO_STR("the default")),
                 HILO_FMT(there.n ? there : HILO_STR("the default")));
}

/* ---- keeping ---- */

typedef struct {
  const char *path;
  struct timespec used;
  uint64_t bytes;
} kept_file;

static int by_age(const void *a, const void *b) {
  const kept_file *x = a, *y = b;
  if (x->used.tv_sec != y->used.tv_sec) return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
  if (x->used.tv_nsec != y->used.tv_nsec) return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
  return strcmp(x->path, y->path);
}

/* The oldest entries of the folder go until it is within its share; and what killed processes left.
 */
static void evict(const hilo_cache_key *key, hilo_arena *scratch) {
  const uint64_t share = (uint64_t)key->config->cache_size / N_SHARDS;
  hilo_vec(kept_file) files = {0};
  uint64_t total = 0;
  DIR *d = opendir(key->directory);
  if (!d) return;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  for (struct dirent *entry; (entry = readdir(d));) {
    const hilo_str name = hilo_str_of(entry->d_name);
    const bool is_temporary = hilo_str_ends(name, ".tmp");
    struct stat st;
    if ((!is_temporary && !hilo_str_ends(name, ".hilo")) ||
        fstatat(dirfd(d), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
      continue;
    const char *path = hilo_path_join(scratch, hilo_str_of(key->directory), name);
    if (is_temporary) {
      if (now.tv_sec - st.st_mtim.tv_sec > STALE_SECONDS) unlink(path);
      continue;
    }
    HILO_PUSH(scratch, &files, ((kept_file){path, st.st_mtim, (uint64_t)st.st_size}));
    total += (uint64_t)st.st_size;
  }
  closedir(d);
  if (files.n) qsort(files.v, files.n, sizeof(kept_file), by_age);
  for (uint32_t k = 0; k + 1 < files.n && total > share; k++) {
    if (unlink(files.v[k].path) == 0) total -= files.v[k].bytes;
  }
  HILO_VEC_FREE(scratch, &files);
}

static bool write_whole(int fd, hilo_str bytes) {
  while (bytes.n) {
    const ssize_t n = write(fd, bytes.p, bytes.n);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    bytes.p += n;
    bytes.n -= (size_t)n;
  }
  return true;
}

/* A name that no process on any host has. */
static const char *temporary_name(const hilo_cache_key *key, hilo_arena *arena) {
  uint64_t random[2] = {(uint64_t)getpid(), (uint64_t)(uintptr_t)arena};
  (void)!getrandom(random, sizeof(random), GRND_NONBLOCK);
  hilo_sb sb = hilo_sb_make(arena);
  hilo_sb_printf(&sb, ".%016llx%016llx.tmp", (unsigned long long)random[0],
                 (unsigned long long)random[1]);
  return hilo_path_join(arena, hilo_str_of(key->directory), hilo_sb_view(&sb));
}

void hilo_cache_store(const hilo_cache_key *key, const hilo_cache_file *files, uint32_t n,
                      hilo_arena *scratch, hilo_log *log) {
  hilo_diags diags = hilo_diags_make(scratch);
  const hilo_str packed = pack(key, files, n, scratch);
  if (hilo_file_make_directories(scratch, key->directory, &diags) != HILO_OK) {
    HILO_LOG(log, WARNING, "the cache directory `%s` cannot be made: %s", key->directory,
             strerror(errno));
    return;
  }
  const char *temporary = temporary_name(key, scratch);
  const int fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  bool ok = fd >= 0 && write_whole(fd, packed);
  if (fd >= 0 && close(fd)) ok = false;
  if (ok && rename(temporary, key->path) == 0) {
    evict(key, scratch);
    return;
  }
  HILO_LOG(log, WARNING, "the cache entry `%s` cannot be written: %s", key->path, strerror(errno));
  if (fd >= 0) unlink(temporary);
}
