/* Status values, checks and compiler hints.
 *
 * Three kinds of failure are kept apart: bad input (the user's module or words), a limit (a size,
 * depth or count that we refuse to go beyond), and the outside world (files, memory). A bug in hilo
 * is none of them: it is a HILO_CHECK, which ends the process with one line. A function that
 * returns something other than HILO_OK has put the reason into the `hilo_diags` it was given. */
#ifndef HILO_BASE_STATUS_H
#define HILO_BASE_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HILO_NODISCARD __attribute__((warn_unused_result))
#define HILO_NORETURN __attribute__((noreturn))
#define HILO_PRINTF(fmt_ix, arg_ix) __attribute__((format(printf, fmt_ix, arg_ix)))
#define HILO_LIKELY(x) __builtin_expect(!!(x), 1)
#define HILO_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define HILO_NOINLINE __attribute__((noinline))
#define HILO_COUNT(array) (sizeof(array) / sizeof((array)[0]))

typedef enum {
  HILO_OK = 0,
  HILO_INPUT_ERROR, /* the input is wrong; a diagnostic says where and why */
  HILO_LIMIT_ERROR, /* the input is beyond a stated limit */
  HILO_IO_ERROR,    /* a file could not be read or written */
  HILO_OUT_OF_MEMORY,
} hilo_status_code;

typedef hilo_status_code hilo_status;

/* Leave the function with the status of `expr` unless it is HILO_OK. */
#define HILO_TRY(expr)                                                                             \
  do {                                                                                             \
    hilo_status status_ = (expr);                                                                  \
    if (HILO_UNLIKELY(status_ != HILO_OK)) return status_;                                         \
  } while (0)

/* Print `LLVM ERROR: <file>:<line>: <what>` (the form the driver looks for) and abort. */
HILO_NORETURN void hilo_check_failed(const char *file, int line, const char *what);

/* An invariant of hilo itself; never a property of the input. */
#define HILO_CHECK(cond)                                                                           \
  do {                                                                                             \
    if (HILO_UNLIKELY(!(cond))) hilo_check_failed(__FILE__, __LINE__, #cond);                      \
  } while (0)

#ifdef NDEBUG
#define HILO_DCHECK(cond) ((void)sizeof(cond))
#else
#define HILO_DCHECK(cond) HILO_CHECK(cond)
#endif

/* Checked size arithmetic: false on overflow, *out untouched. */
static inline bool hilo_mul_u64(uint64_t a, uint64_t b, uint64_t *out) {
  uint64_t r;
  if (__builtin_mul_overflow(a, b, &r)) return false;
  *out = r;
  return true;
}
static inline bool hilo_add_u64(uint64_t a, uint64_t b, uint64_t *out) {
  uint64_t r;
  if (__builtin_add_overflow(a, b, &r)) return false;
  *out = r;
  return true;
}

/* The same for amounts that are compared, not allocated: UINT64_MAX on overflow. */
static inline uint64_t hilo_times_u64(uint64_t a, uint64_t b) {
  uint64_t r;
  return __builtin_mul_overflow(a, b, &r) ? UINT64_MAX : r;
}
static inline uint64_t hilo_plus_u64(uint64_t a, uint64_t b) {
  uint64_t r;
  return __builtin_add_overflow(a, b, &r) ? UINT64_MAX : r;
}

#endif
