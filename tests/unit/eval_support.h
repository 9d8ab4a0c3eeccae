/* Evaluating single instructions in tests: random shapes and elements, and element access by index
 * that shares nothing with the evaluator's walkers. */
#ifndef HILO_TESTS_EVAL_SUPPORT_H
#define HILO_TESTS_EVAL_SUPPORT_H

#include "eval/eval.h"
#include "ir_support.h"

#include <stdlib.h>

typedef struct {
  hilo_arena arena, scratch;
  hilo_heap heap;
  hilo_module *m;
  uint64_t seed;
} eval_fixture;

static inline void eval_open(eval_fixture *f) {
  hilo_arena_init(&f->arena, NULL, NULL);
  hilo_arena_init(&f->scratch, NULL, NULL);
  f->heap = (hilo_heap){0};
  f->m = hilo_module_create(&f->arena, NULL);
}
static inline void eval_close(eval_fixture *f) {
  hilo_heap_clear(&f->heap);
  hilo_arena_deinit(&f->scratch);
  hilo_arena_deinit(&f->arena);
}
/* A fresh module and heap, the random numbers going on. */
static inline void eval_renew(eval_fixture *f) {
  eval_close(f);
  eval_open(f);
}

/* ---- random numbers: the same in every run ---- */

static inline uint64_t rand64(eval_fixture *f) {
  uint64_t z = (f->seed += 0x9e3779b97f4a7c15u);
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}
/* low … high */
static inline int64_t rand_in(eval_fixture *f, int64_t low, int64_t high) {
  return low + (int64_t)(rand64(f) % (uint64_t)(high - low + 1));
}
static inline bool rand_once_in(eval_fixture *f, uint32_t n) { return rand64(f) % n == 0; }
static inline void rand_shuffle(eval_fixture *f, int64_t *v, uint32_t n) {
  for (uint32_t k = n; k > 1; k--) {
    const uint32_t j = (uint32_t)(rand64(f) % k);
    const int64_t t = v[k - 1];
    v[k - 1] = v[j], v[j] = t;
  }
}
static inline int compare_i64(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}
/* n of the numbers below `below`, sorted or not. */
static inline void rand_subset(eval_fixture *f, uint32_t below, uint32_t n, bool sorted,
                               int64_t *v) {
  int64_t all[HILO_MAX_RANK];
  for (uint32_t k = 0; k < below; k++) all[k] = k;
  rand_shuffle(f, all, below);
  memcpy(v, all, n * sizeof(int64_t));
  if (sorted) qsort(v, n, sizeof(int64_t), compare_i64);
}

/* ---- values ---- */

typedef struct {
  hilo_etype etype;
  uint32_t rank;
  int64_t dims[16];
  char *data;
} tensor;

static inline hilo_dims tensor_dims(const tensor *t) { return (hilo_dims){t->dims, t->rank}; }
static inline int64_t tensor_count(const tensor *t) {
  int64_t n = 1;
  for (uint32_t d = 0; d < t->rank; d++) n *= t->dims[d];
  return n;
}
static inline hilo_type tensor_type(eval_fixture *f, const tensor *t) {
  return hilo_type_array(&f->m->types, t->etype, tensor_dims(t));
}
static inline hilo_value tensor_value(eval_fixture *f, const tensor *t) {
  return (hilo_value){.type = tensor_type(f, t), .data = t->data};
}
static inline void tensor_alloc(eval_fixture *f, tensor *t) {
  t->data =
      hilo_arena_alloc(&f->arena, (size_t)tensor_count(t) * hilo_etype_bytes(t->etype) + 16, 16);
}
/* Bytes without meaning: for what only moves them. */
static inline tensor rand_bytes(eval_fixture *f, hilo_etype etype, const int64_t *dims,
                                uint32_t rank) {
  tensor t = {.etype = etype, .rank = rank};
  memcpy(t.dims, dims, rank * sizeof(int64_t));
  tensor_alloc(f, &t);
  const size_t n = (size_t)tensor_count(&t) * hilo_etype_bytes(etype);
  for (size_t k = 0; k < n; k++) t.data[k] = (char)rand64(f);
  return t;
}
/* Row-major place of an index, by Horner's rule; -1: outside. */
static inline int64_t place_of(const int64_t *dims, uint32_t rank, const int64_t *index) {
  int64_t at = 0;
  for (uint32_t d = 0; d < rank; d++) {
    if (index[d] < 0 || index[d] >= dims[d]) return -1;
    at = at * dims[d] + index[d];
  }
  return at;
}
/* Its inverse, by division. */
static inline void index_of(const int64_t *dims, uint32_t rank, int64_t at, int64_t *index) {
  for (uint32_t d = rank; d-- > 0;) {
    index[d] = dims[d] ? at % dims[d] : 0;
    at = dims[d] ? at / dims[d] : 0;
  }
}

/* ---- evaluation ---- */

/* An instruction of this operation over parameters of these types, in a computation of its own. */
static inline hilo_inst make_inst(eval_fixture *f, hilo_op op, uint32_t attr, hilo_type result,
                                  const hilo_type *types, uint32_t n, hilo_comp called) {
  const hilo_comp c =
      hilo_comp_add(f->m, hilo_comp_fresh_name(f->m, hilo_module_string(f->m, HILO_STR("f"))));
  hilo_inst params[16];
  assert_true(n <= 16);
  for (uint32_t k = 0; k < n; k++) {
    const hilo_inst_desc desc = {.op = HILO_OP_PARAMETER, .type = types[k], .attr = k};
    params[k] = hilo_inst_add(f->m, c, &desc);
  }
  const hilo_inst_desc desc = {.op = op,
                               .type = result,
                               .operands = params,
                               .n_operands = n,
                               .attr = attr,
                               .called = &called,
                               .n_called = called.ix != 0};
  return hilo_inst_add(f->m, c, &desc);
}

static inline hilo_status try_eval_op(eval_fixture *f, hilo_op op, uint32_t attr, hilo_type result,
                                      const hilo_value *args, uint32_t n, hilo_comp called,
                                      hilo_value *out) {
  hilo_type types[16];
  for (uint32_t k = 0; k < n; k++) types[k] = args[k].type;
  const hilo_eval e = {.m = f->m, .heap = &f->heap, .scratch = &f->scratch};
  const hilo_inst i = make_inst(f, op, attr, result, types, n, called);
  const hilo_status status = hilo_eval_inst(&e, i, args, out);
  hilo_arena_reset(&f->scratch);
  return status;
}

/* The bytes of the result, which must be there. */
static inline const char *eval_op(eval_fixture *f, hilo_op op, uint32_t attr, hilo_type result,
                                  const hilo_value *args, uint32_t n) {
  hilo_value out;
  const hilo_comp none = {0};
  assert_int_equal(try_eval_op(f, op, attr, result, args, n, none, &out), HILO_OK);
  assert_int_equal(out.type.ix, result.ix);
  return out.data;
}

#endif
