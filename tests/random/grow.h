/* What the steps of the generator share: choices, values, constants. */
#ifndef HILO_TESTS_RANDOM_GROW_H
#define HILO_TESTS_RANDOM_GROW_H

#include "random_module.h"

/* A value that later steps may take. */
typedef struct {
  hilo_inst i;
  double size;     /* no finite element is larger, about */
  bool is_exact;   /* no rewrite may change a bit of it */
  bool is_uniform; /* the same on all ranks */
} grown;

/* A computation that grows. */
typedef struct {
  hilo_comp comp;
  hilo_vec(grown) values;
  bool is_entry;
  bool is_fused;    /* of a fusion: no calls, no collectives */
  bool is_lockstep; /* all ranks run it: collectives may stand in it */
  uint32_t depth;   /* of nesting */
} scope;

typedef struct {
  hilo_op op;
  hilo_etype etype;
  hilo_comp comp;
} reducer;

typedef struct {
  hilo_arena *arena;
  hilo_module *m;
  const hilo_random_options *options;
  uint64_t state;
  size_t at; /* in options->bytes */
  bool is_tame;
  bool has_markers;
  uint32_t n_replicas, n_partitions;
  int64_t n_channels;
  hilo_inst fed; /* the token of the entry's last infeed or outfeed */
  hilo_vec(reducer) reducers;
  hilo_vec(hilo_comp) callables;
  uint32_t n_refused;
  const char *refused;
} grower;

enum { MAX_RANK = 4, MAX_ELEMENTS = 64 };

/* Classes of element types, as masks. */
enum {
  OF_PRED = 1 << HILO_CLASS_PRED,
  OF_SIGNED = 1 << HILO_CLASS_SIGNED,
  OF_UNSIGNED = 1 << HILO_CLASS_UNSIGNED,
  OF_FLOAT = 1 << HILO_CLASS_FLOAT,
  OF_COMPLEX = 1 << HILO_CLASS_COMPLEX,
  OF_INT = OF_SIGNED | OF_UNSIGNED,
  OF_REAL = OF_INT | OF_FLOAT,
  OF_NUMBER = OF_REAL | OF_COMPLEX,
  OF_ARRAY = OF_NUMBER | OF_PRED,
};

/* ---- choices ---- */
uint32_t below(grower *g, uint32_t n); /* 0 … n-1; 0 for n = 0 */
static inline int64_t between(grower *g, int64_t lo, int64_t hi) {
  return hi <= lo ? lo : lo + (int64_t)below(g, (uint32_t)(hi - lo + 1));
}
static inline bool chance(grower *g, uint32_t percent) { return below(g, 100) < percent; }
hilo_etype random_etype(grower *g, unsigned classes);
/* Dimensions of a random shape, in the module's arena. */
hilo_dims random_dims(grower *g, uint32_t min_rank, uint32_t max_rank);
/* 0 … n-1 in random order. */
int64_t *random_order(grower *g, uint32_t n);

/* ---- types ---- */
static inline hilo_type type_of(const grower *g, hilo_inst i) { return hilo_inst_type(g->m, i); }
static inline hilo_dims dims_of(const grower *g, hilo_inst i) { return hilo_inst_dims(g->m, i); }
static inline hilo_etype etype_of(const grower *g, hilo_inst i) { return hilo_inst_etype(g->m, i); }
static inline unsigned class_of(const grower *g, hilo_inst i) {
  return 1u << hilo_etype_class_of(etype_of(g, i));
}
static inline hilo_type array_of(grower *g, hilo_etype etype, hilo_dims dims) {
  return hilo_type_array(&g->m->types, etype, dims);
}
int64_t n_elements(hilo_dims dims);
/* A copy of dims that can be written to. */
int64_t *copy_dims(grower *g, hilo_dims dims);
/* Values of this element type should stay below it. */
double limit_of(const grower *g, hilo_etype etype);

/* ---- values ---- */
/* An instruction at the end of the scope. Its type is inferred, `hint` as in infer.h. None,
 * counted, if the description breaks a rule. */
hilo_inst put(grower *g, scope *s, const hilo_inst_desc *desc);
hilo_inst put_simple(grower *g, scope *s, hilo_op op, hilo_type hint, const hilo_inst *operands,
                     uint32_t n, uint32_t attr);
/* The value for later steps: made smaller first where it may have become large. What is no array is
 * not kept. */
grown keep(grower *g, scope *s, hilo_inst i, double size, bool is_exact, bool is_uniform);
/* The same with what follows from operands: exact and uniform if they are. */
grown keep_from(grower *g, scope *s, hilo_inst i, double size, const grown *from, uint32_t n);
/* All elements of a tuple, by get-tuple-element. */
void keep_elements(grower *g, scope *s, hilo_inst tuple, const grown *like, uint32_t n);

/* Something of these classes and ranks, there or new. `exact`: rewrites do not touch its bits. */
grown take(grower *g, scope *s, unsigned classes, uint32_t min_rank, uint32_t max_rank, bool exact);
/* Something of this type, there or new. */
grown take_like(grower *g, scope *s, hilo_etype etype, hilo_dims dims, bool exact);
/* A new parameter (in the entry), constant, iota or broadcast. */
grown make(grower *g, scope *s, hilo_etype etype, hilo_dims dims);
/* From what is there, if need be by conversion; for results that must have a type. */
grown conform(grower *g, scope *s, hilo_type type);
hilo_inst parameter(grower *g, scope *s, hilo_type type);
hilo_inst constant_of(grower *g, scope *s, hilo_etype etype, hilo_dims dims);
hilo_inst scalar_int(grower *g, scope *s, hilo_etype etype, int64_t v);
hilo_inst splat(grower *g, scope *s, hilo_etype etype, hilo_dims dims, double v);
/* Between two numbers, element by element. */
hilo_inst clamped(grower *g, scope *s, hilo_inst x, double low, double high);
hilo_inst element_of(grower *g, scope *s, hilo_inst tuple, uint32_t k);
hilo_inst tuple_of(grower *g, scope *s, const hilo_inst *elements, uint32_t n);
/* An index within 0 … most: a scalar of a random integer type. */
grown index_value(grower *g, scope *s, hilo_etype etype);

/* ---- computations ---- */
hilo_comp new_comp(grower *g, const char *name);
/* (a, b) → op(a, b), shared by all that want it. */
hilo_comp reducer_of(grower *g, hilo_op op, hilo_etype etype);
/* What a reduction by `op` starts with. */
double neutral_of(const grower *g, hilo_op op, hilo_etype etype);
/* An operation that reduces values of this class without growth where the module is tame, and its
 * neutral element. */
hilo_op reducing_op(grower *g, hilo_etype etype, double *neutral);
/* Random steps in a scope. */
void grow(grower *g, scope *s, uint32_t n_steps);

/* ---- families: each adds what it does to the table of grow.c ---- */
typedef void step_fn(grower *g, scope *s);
typedef struct {
  const char *family;
  step_fn *run;
  uint8_t weight;
  uint8_t where; /* IN_* */
} step;
enum { IN_FUSION = 1, IN_BODY = 2, IN_ENTRY = 4, IN_LOCKSTEP = 8, NOT_PLAIN = 16 };

step_fn step_unary, step_binary, step_compare, step_select, step_clamp, step_convert, step_bits,
    step_complex, step_reduce_precision, step_integer;
step_fn step_broadcast, step_reshape, step_transpose, step_slice, step_pad, step_concatenate,
    step_reverse, step_iota, step_dynamic_slice, step_dynamic_update, step_gather, step_scatter;
step_fn step_dot, step_convolution, step_cholesky, step_triangular_solve, step_fft, step_batch_norm;
step_fn step_reduce, step_variadic_reduce, step_arg_max, step_reduce_window,
    step_select_and_scatter, step_sort, step_topk, step_map, step_rng_bits;
step_fn step_while, step_conditional, step_call, step_fusion, step_tuple, step_barrier,
    step_async_call, step_token, step_custom_call, step_expm1;
step_fn step_all_reduce, step_all_gather, step_reduce_scatter, step_all_to_all, step_permute,
    step_async_collective, step_collective_broadcast, step_rank_id, step_variadic_all_reduce;
step_fn step_feed, step_receive, step_exchange, step_copy_pair, step_dimension_size, step_rng,
    step_stochastic_convert;
/* A region between boundary markers. */
void grow_layer(grower *g, scope *s, uint32_t n_steps);

/* What is put on a module that has grown: the root, aliases, control edges and so on. */
void finish_module(grower *g, scope *entry);

#endif
