/* Files: see file.h. Reading is a read(2) loop into one block: a mapped file that another process
 * cuts short would be a signal. Most of its time goes into fresh pages, so that two threads take
 * half of it. Descriptors are closed before a diagnostic is made, and before an arena unwinds, as
 * either may leave by longjmp. */
#include "base/file.h"

#include "base/map.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  FIRST_READ_BYTES = 64 << 10, /* of a stream, whose size is not known */
  BUFFER_BYTES = 4 << 10,      /* what is larger is written as it lies */
  BESIDE_BYTES = 512 << 10,    /* of a file, from which on a second thread helps to read it */
  PIECE_BYTES = 128 << 10,
  MAX_IO_BYTES = 1 << 30, /* of one system call: Linux does no more than 2 GiB */
  MAX_TEMPORARIES = 1000, /* names tried */
};

static const char *error_text(int error) {
  const char *text = strerrordesc_np(error); /* neither translated nor in a shared buffer */
  return text ? text : "unknown error";
}

static bool is_standard_stream(const char *path) { return !path[0] || !strcmp(path, "-"); }

static hilo_status report(hilo_diags *diags, hilo_diag_code code, const char *path,
                          const char *what, int error) {
  const hilo_place place = {.file = hilo_str_of(path[0] ? path : "-"), .inst_id = -1};
  const char *why = path[0] ? error_text(error) : "its name is empty";
  (void)hilo_diag_add(diags, code, &place, "%s: %s", what, why);
  return HILO_IO_ERROR;
}

/* ---- reading ---- */

typedef enum { READ_DONE, READ_FAILED, READ_TOO_LARGE } read_result;

/* A file of known size on its way into memory, a piece after the other. */
typedef struct {
  int fd;
  char *to;
  size_t n;
  atomic_size_t next; /* where the next piece begins */
  atomic_bool failed;
} pieces;

/* In any thread: as many pieces as there are. */
static void read_pieces(void *ctx, void *its, unsigned worker_ix) {
  (void)ctx, (void)worker_ix;
  pieces *p = its;
  for (;;) {
    const size_t at = atomic_fetch_add(&p->next, PIECE_BYTES);
    if (at >= p->n) return;
    const size_t n = p->n - at < PIECE_BYTES ? p->n - at : PIECE_BYTES;
    if (pread(p->fd, p->to + at, n, (off_t)at) != (ssize_t)n) atomic_store(&p->failed, true);
  }
}

/* The first `n` bytes of a file, by two threads: `n`, and the descriptor stands behind them. 0: it
 * has to be read from the start, which tells what is wrong. */
static size_t read_beside(hilo_queue *queue, int fd, char *to, size_t n) {
  if (!queue || n < BESIDE_BYTES) return 0;
  const hilo_queue_kind kind = {.run = read_pieces};
  pieces all = {.fd = fd, .to = to, .n = n};
  if (!hilo_queue_try_push(queue, &kind, &all, 0)) return 0;
  read_pieces(NULL, &all, 0);
  bool ran;
  (void)hilo_queue_join(queue, &ran);
  return !atomic_load(&all.failed) && lseek(fd, (off_t)n, SEEK_SET) == (off_t)n ? n : 0;
}

/* Fill one block from the descriptor. `expected` is a guess. On failure errno says why. */
static read_result read_all(hilo_arena *arena, int fd, uint64_t expected, uint64_t max_bytes,
                            hilo_queue *queue, hilo_str *out) {
  if (expected > max_bytes) return READ_TOO_LARGE;
  size_t cap = expected;
  char *p = hilo_arena_resize_block(arena, NULL, cap + HILO_FILE_PADDING);
  size_t n = read_beside(queue, fd, p, cap);
  read_result result = READ_DONE;
  for (;;) {
    /* One byte more than fits into cap tells that there is more: the padding has room for it. */
    const size_t room = cap - n + 1;
    const ssize_t got = read(fd, p + n, room < MAX_IO_BYTES ? room : MAX_IO_BYTES);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) result = READ_FAILED;
    if (got <= 0) break;
    n += (size_t)got;
    if (n > max_bytes) {
      result = READ_TOO_LARGE;
      break;
    }
    if (n <= cap) continue;
    cap = cap < FIRST_READ_BYTES / 2 ? FIRST_READ_BYTES : cap * 2;
    if (cap > max_bytes) cap = max_bytes;
    p = hilo_arena_resize_block(arena, p, cap + HILO_FILE_PADDING);
  }
  const int error = errno;
  p = hilo_arena_resize_block(arena, p, result == READ_DONE ? n + HILO_FILE_PADDING : 0);
  errno = error;
  if (result != READ_DONE) return result;
  memset(p + n, 0, HILO_FILE_PADDING);
  *out = (hilo_str){p, n};
  return READ_DONE;
}

/* read_all, closing `fd` also when the arena unwinds. */
static read_result read_and_close(hilo_arena *arena, int fd, uint64_t expected, uint64_t max_bytes,
                                  hilo_queue *queue, hilo_str *out) {
  jmp_buf *const outer = arena->oom;
  jmp_buf unwound;
  if (setjmp(unwound)) {
    if (fd != STDIN_FILENO) close(fd);
    arena->oom = outer;
    hilo_arena_out_of_memory(arena);
  }
  arena->oom = &unwound;
  const read_result result = read_all(arena, fd, expected, max_bytes, queue, out);
  const int error = errno;
  arena->oom = outer;
  if (fd != STDIN_FILENO) close(fd);
  errno = error;
  return result;
}

hilo_status hilo_file_read(hilo_arena *arena, const char *path, uint64_t max_bytes,
                           hilo_diags *diags, hilo_str *out) {
  return hilo_file_read_with(arena, path, max_bytes, NULL, diags, out);
}

hilo_status hilo_file_read_with(hilo_arena *arena, const char *path, uint64_t max_bytes,
                                hilo_queue *queue, hilo_diags *diags, hilo_str *out) {
  if (max_bytes > SIZE_MAX / 4) max_bytes = SIZE_MAX / 4;
  const int fd = !strcmp(path, "-") ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
  if (fd < 0) return report(diags, HILO_DIAG_EMOD905, path, "cannot open the file", errno);
  struct stat st;
  const bool is_regular = !fstat(fd, &st) && S_ISREG(st.st_mode);
  const uint64_t expected = is_regular && st.st_size > 0 ? (uint64_t)st.st_size : 0;
  const read_result result = read_and_close(arena, fd, expected, max_bytes, queue, out);
  if (result == READ_FAILED)
    return report(diags, HILO_DIAG_EMOD905, path, "cannot read the file", errno);
  if (result == READ_TOO_LARGE) {
    const hilo_place place = {.file = hilo_str_of(path), .inst_id = -1};
    (void)hilo_diag_add(diags, HILO_DIAG_EMOD907, &place,
                        "the file has more than the limit of %llu bytes",
                        (unsigned long long)max_bytes);
    return HILO_LIMIT_ERROR;
  }
  return HILO_OK;
}

/* ---- directories ---- */

hilo_status hilo_file_make_directories(hilo_arena *arena, const char *path, hilo_diags *diags) {
  if (path[0] && !mkdir(path, 0777)) return HILO_OK; /* mostly only the last one is missing */
  const hilo_str copy = hilo_str_copy(arena, hilo_str_of(path));
  char *const p = (char *)(uintptr_t)copy.p;
  for (size_t i = 1; i <= copy.n; i++) {
    if (p[i] != '/' && p[i] != 0) continue;
    const char kept = p[i];
    p[i] = 0;
    struct stat st;
    int error = mkdir(p, 0777) ? errno : 0;
    if (error == EEXIST || error == EROFS || error == EACCES)
      error = stat(p, &st) ? error : S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
    if (error) return report(diags, HILO_DIAG_EMOD906, p, "cannot make the directory", error);
    p[i] = kept;
  }
  return HILO_OK;
}

/* ---- writing ---- */

void hilo_output_abort(hilo_output *out) {
  if (out->fd >= 0 && out->fd != STDOUT_FILENO) close(out->fd);
  if (out->temporary) unlink(out->temporary);
  out->temporary = NULL;
  out->fd = -1;
  out->is_failed = true;
}

static hilo_status fail(hilo_output *out, hilo_diags *diags, int error) {
  hilo_output_abort(out);
  return report(diags, HILO_DIAG_EMOD906, out->path, "cannot write the file", error);
}

/* A temporary file beside the target; its name depends on the process and the target, and EEXIST
 * sorts threads out. */
static int open_temporary(hilo_output *out, size_t name_bytes, mode_t mode) {
  const char *slash = strrchr(out->target, '/');
  const uint64_t hash = hilo_hash_bytes(out->target, strlen(out->target));
  const int n_directory = slash ? (int)(slash - out->target) + 1 : 0;
  for (unsigned i = 0; i < MAX_TEMPORARIES; i++) {
    snprintf(out->temporary, name_bytes, "%.*s.hilo-%ld-%016llx-%u.tmp", n_directory, out->target,
             (long)getpid(), (unsigned long long)hash, i);
    const int fd = open(out->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (fd >= 0 || errno != EEXIST) return fd;
  }
  return -1;
}

/* `there`: what the target is now; NULL: nothing. */
static int open_output(hilo_output *out, size_t name_bytes, const struct stat *there) {
  if (!there) return open_temporary(out, name_bytes, 0666);
  if (!S_ISREG(there->st_mode)) {
    out->temporary = NULL;
    return open(out->target, O_WRONLY | O_CLOEXEC | O_NOCTTY);
  }
  if (eaccess(out->target, W_OK)) return -1; /* a rename would not mind */
  const int fd = open_temporary(out, name_bytes, 0600);
  if (fd >= 0) (void)!fchmod(fd, there->st_mode & 0777); /* at worst the new file is more private */
  return fd;
}

hilo_status hilo_output_begin(hilo_output *out, hilo_arena *arena, const char *path,
                              hilo_diags *diags) {
  *out = (hilo_output){.fd = -1};
  out->path = hilo_str_copy(arena, hilo_str_of(path)).p;
  out->arena = arena;
  out->buffer = hilo_arena_resize_block(arena, NULL, BUFFER_BYTES);
  if (is_standard_stream(path)) {
    out->fd = STDOUT_FILENO;
    return HILO_OK;
  }
  /* A link stays a link, and what it leads to is replaced. */
  char resolved[PATH_MAX];
  struct stat st;
  bool is_there = !lstat(path, &st);
  const bool is_link = is_there && S_ISLNK(st.st_mode);
  const char *target = is_link ? realpath(path, resolved) : NULL;
  if (is_link) is_there = !stat(path, &st);
  out->target = (char *)(uintptr_t)hilo_str_copy(arena, hilo_str_of(target ? target : path)).p;
  const size_t name_bytes = strlen(out->target) + 64;
  out->temporary = hilo_arena_alloc(arena, name_bytes, 1);
  out->replaces = is_there;
  out->fd = open_output(out, name_bytes, is_there ? &st : NULL);
  if (out->fd < 0) out->temporary = NULL; /* nothing of ours is there */
  return out->fd < 0 ? fail(out, diags, errno) : HILO_OK;
}

/* False with errno set. */
static bool write_all(int fd, const char *p, size_t n) {
  while (n) {
    const ssize_t done = write(fd, p, n < MAX_IO_BYTES ? n : MAX_IO_BYTES);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return false;
    p += done;
    n -= (size_t)done;
  }
  return true;
}

static bool flush(hilo_output *out) {
  const bool ok = write_all(out->fd, out->buffer, out->n_buffered);
  out->n_buffered = 0;
  return ok;
}

hilo_status hilo_output_write(hilo_output *out, hilo_str bytes, hilo_diags *diags) {
  if (out->is_failed) return HILO_IO_ERROR;
  HILO_CHECK(out->fd >= 0); /* sealed already */
  if (bytes.n > BUFFER_BYTES - out->n_buffered && !flush(out)) return fail(out, diags, errno);
  if (bytes.n >= BUFFER_BYTES)
    return write_all(out->fd, bytes.p, bytes.n) ? HILO_OK : fail(out, diags, errno);
  if (bytes.n) memcpy(out->buffer + out->n_buffered, bytes.p, bytes.n);
  out->n_buffered += bytes.n;
  return HILO_OK;
}

hilo_status hilo_output_seal(hilo_output *out, hilo_diags *diags) {
  if (out->is_failed) return HILO_IO_ERROR;
  HILO_CHECK(out->fd >= 0); /* once only */
  if (!flush(out)) return fail(out, diags, errno);
  const int fd = out->fd;
  out->fd = -1;
  hilo_arena_resize_block(out->arena, out->buffer, 0);
  out->buffer = NULL;
  /* A network file system may report a full disk only here. */
  if (fd != STDOUT_FILENO && close(fd)) return fail(out, diags, errno);
  return HILO_OK;
}

hilo_status hilo_output_commit(hilo_output *out, hilo_diags *diags) {
  if (out->is_failed) return HILO_IO_ERROR;
  if (out->fd >= 0) HILO_TRY(hilo_output_seal(out, diags));
  if (!out->temporary) return HILO_OK; /* written directly */
  if (rename(out->temporary, out->target)) return fail(out, diags, errno);
  out->temporary = NULL;
  return HILO_OK;
}

hilo_status hilo_file_write(hilo_arena *arena, const char *path, hilo_str bytes,
                            hilo_diags *diags) {
  hilo_output out;
  HILO_TRY(hilo_output_begin(&out, arena, path, diags));
  HILO_TRY(hilo_output_write(&out, bytes, diags));
  return hilo_output_commit(&out, diags);
}

/* ---- paths ---- */

hilo_str hilo_path_directory(hilo_str path) {
  while (path.n && path.p[path.n - 1] != '/') path.n--;
  return path;
}

hilo_str hilo_path_base(hilo_str path) {
  const size_t n = hilo_path_directory(path).n;
  return (hilo_str){path.p + n, path.n - n};
}

const char *hilo_path_join(hilo_arena *arena, hilo_str directory, hilo_str name) {
  hilo_sb sb = hilo_sb_make(arena);
  if (directory.n && !(name.n && name.p[0] == '/')) {
    hilo_sb_str(&sb, directory);
    if (directory.p[directory.n - 1] != '/') hilo_sb_char(&sb, '/');
  }
  hilo_sb_str(&sb, name);
  return hilo_sb_cstr(&sb);
}
