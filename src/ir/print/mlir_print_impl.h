/* What the files of the MLIR printer share. */
#ifndef HILO_IR_MLIR_PRINT_IMPL_H
#define HILO_IR_MLIR_PRINT_IMPL_H

#include "base/vec.h"
#include "ir/hlo_print.h"
#include "ir/mlir_print.h"
#include "ir/print/hlo_words.h"

/* How the uses of an instruction's value are written. */
typedef enum {
  VALUE_NONE,
  VALUE_RESULT,  /* `%num` */
  VALUE_ARG,     /* `%argnum` */
  VALUE_ELEMENT, /* `%num#n` */
  VALUE_RESULTS, /* a tuple: n results of `%num:n` */
  VALUE_ARGS,    /* a tuple: n arguments from `%argnum` on */
  VALUE_TUPLE,   /* a tuple that is not written: the operands of instruction `num` */
  VALUE_FEED,    /* (data, token) of infeed and recv: n results, the token last */
} value_kind;
typedef struct {
  uint32_t num;
  uint32_t kind : 3, n : 29;
} mlir_value;
static inline mlir_value mlir_value_make(value_kind kind, uint32_t num, uint32_t n) {
  return (mlir_value){num, (uint32_t)kind & 7, n & ((1u << 29) - 1)};
}

/* A type printed before: where its text stands in `out`. */
typedef struct {
  size_t at;
  uint32_t type, n;
} mlir_type_cache;
enum { MLIR_TYPE_CACHE = 1024 };

/* A float printed before: working out its digits costs more than anything else here. */
typedef struct {
  uint64_t bits;
  uint8_t etype, n; /* n 0: free */
  char text[HILO_MLIR_FLOAT_MAX];
} mlir_float_cache;
enum { MLIR_FLOAT_CACHE = 256 };

/* An attribute of the dictionary at the end of an operation; its text is in `tmp`. */
typedef struct {
  hilo_str key;
  size_t at, n;
} mlir_dict_item;

enum { MLIR_FUNCTION_INDENT = 4 }; /* of what is in no region but the function's */

typedef struct {
  const hilo_module *m;
  hilo_sb *out;
  hilo_arena *scratch;
  hilo_diags *diags;
  hilo_mlir_print_options options;
  bool failed;
  hilo_str dialect;                /* `stablehlo` or `mhlo` */
  hilo_str op_name[HILO_OP_COUNT]; /* `stablehlo.add`; empty: the wanted dialects lack it */
  mlir_value *value;               /* by instruction */
  uint64_t *asynchronous;          /* bitset of computations that an async-start calls */
  uint32_t next_num, next_arg;     /* of the function */
  uint32_t indent;
  uint32_t n_props;
  hilo_sb tmp; /* of the dictionary */
  hilo_vec(mlir_dict_item) dict;
  struct mlir_locations *locations; /* NULL: none are wanted */
  mlir_type_cache types[MLIR_TYPE_CACHE];
  mlir_float_cache floats[MLIR_FLOAT_CACHE];
} mlir_printer;

#define PRINT(out, literal) hilo_sb_bytes((out), (literal), sizeof(literal) - 1)

/* ---- types and values ---- */
void mlir_print_new_type(mlir_printer *p, hilo_type type);
static inline void mlir_print_type(mlir_printer *p, hilo_type type) {
  const mlir_type_cache *e = &p->types[type.ix & (MLIR_TYPE_CACHE - 1)];
  if (HILO_UNLIKELY(e->type != type.ix)) {
    mlir_print_new_type(p, type);
    return;
  }
  enum { SHORT = 32 };
  char *to = hilo_sb_reserve(p->out, (size_t)e->n + SHORT);
  const char *from = p->out->p + e->at;
  if (e->n <= SHORT) {
    char text[SHORT]; /* what follows it is there, and does not matter */
    memcpy(text, from, SHORT);
    memcpy(to, text, SHORT);
  } else {
    memcpy(to, from, e->n);
  }
  p->out->n += e->n;
}
/* Several values that stand for one tuple? */
static inline bool mlir_value_is_several(mlir_value v) { return v.kind >= VALUE_RESULTS; }
uint32_t mlir_value_count(const mlir_printer *p, mlir_value v);
mlir_value mlir_value_element(const mlir_printer *p, mlir_value v, uint32_t k);
void mlir_print_value(mlir_printer *p, mlir_value v); /* one, or all of a tuple's with commas */
static inline mlir_value mlir_value_of(const mlir_printer *p, hilo_inst i) {
  return p->value[hilo_ix(p->m, i)];
}
/* Operands from `first` on, tuples that are several values as these. */
void mlir_print_operands(mlir_printer *p, hilo_inst i, uint32_t first);
void mlir_print_operand_types(mlir_printer *p, hilo_inst i, uint32_t first);
/* The type of a value; of several all with commas. */
void mlir_print_value_type(mlir_printer *p, mlir_value v, hilo_type type);
/* `t`, or `(t, u)`; `()` if there are none. */
void mlir_print_result_types(mlir_printer *p, hilo_inst i);
/* `(t, u) -> v` */
void mlir_print_function_type(mlir_printer *p, hilo_inst i);
/* Results of an instruction: 0 for a custom call that gives none. */
/* The thread that a computation runs on, in quotes. */
void mlir_print_thread(const mlir_printer *p, hilo_comp c, hilo_sb *out);
uint32_t mlir_n_results(const mlir_printer *p, hilo_inst i);
/* The tuple that a function gives: several results? */
bool mlir_root_is_several(const mlir_printer *p, hilo_inst root);
bool mlir_is_feed(const mlir_printer *p, hilo_inst i); /* infeed, recv-done */
bool mlir_has_several_results(const mlir_printer *p, hilo_inst i);

void mlir_print_ints(hilo_sb *out, const char *open, hilo_dims list, const char *close);
void mlir_print_symbol(const hilo_module *m, hilo_name name, hilo_sb *out);
/* `dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>` */
void mlir_print_dense_ints(hilo_sb *out, hilo_dims list, int64_t rows, int64_t columns);
/* `1.0 : f32`, `true` */
void mlir_print_scalar_attr(hilo_sb *out, hilo_etype etype, const char *data);
/* `dense<[1, 2]> : tensor<2xi64>` */
void mlir_print_dense_list(hilo_sb *out, hilo_dims list);

/* ---- the dictionary at the end ---- */
/* Start an entry (`key` as MLIR writes it): its value is written to the builder that is returned,
 * up to the next entry. */
hilo_sb *mlir_dict_add(mlir_printer *p, hilo_str key);
#define DICT(p, key) mlir_dict_add((p), HILO_STR(key))
/* Entries that were kept as text: `a = 1 : i32, b`. */
void mlir_dict_add_text(mlir_printer *p, hilo_str text);
/* What any instruction may carry. */
void mlir_dict_add_extra(mlir_printer *p, hilo_inst i);
/* ` {a = 1, b = 2}`, sorted; nothing if there are none. Clears it. */
void mlir_dict_print(mlir_printer *p, const char *open);
/* Is there anything to add for `i` besides its operation's own attributes? */
bool mlir_has_extra(const mlir_printer *p, hilo_inst i);
static inline void mlir_print_attrs(mlir_printer *p, hilo_inst i) {
  if (HILO_UNLIKELY(p->dict.n || mlir_has_extra(p, i))) {
    mlir_dict_add_extra(p, i);
    mlir_dict_print(p, " {");
  }
}
/* Parts of it, for arguments and the module. */
void mlir_dict_add_frontend(mlir_printer *p, hilo_record frontend);
void mlir_dict_add_shape(mlir_printer *p, const char *key, hilo_type type); /* with layouts */
void mlir_dict_add_layout(mlir_printer *p, hilo_record layout, uint32_t rank);
/* Of a custom call; `typed`: it takes a dictionary (API version 4). */
void mlir_add_backend_config(mlir_printer *p, hilo_str text, bool typed);
/* As `mhlo.sharding` or `sdy.sharding`; in a signature it is of one value. */
void mlir_dict_add_sharding(mlir_printer *p, hilo_record sharding, hilo_record spelling,
                            bool in_signature);

/* ---- operations ---- */
typedef void mlir_op_fn(mlir_printer *p, hilo_inst i);
mlir_op_fn mlir_op_custom_call, mlir_op_composite, mlir_op_dynamic_broadcast, mlir_op_einsum,
    mlir_op_trace, mlir_op_broadcasting;
/* `stablehlo.add %0, %1`; ` : t` or the function type; ` : (t, u) -> v`. */
mlir_op_fn mlir_name_and_operands, mlir_same_type, mlir_function_type;
/* The text of an operation without regions behind its results, to the end of its types. */
void mlir_print_op(mlir_printer *p, hilo_inst i);
/* `"stablehlo.gather"(%0, %1) <{…}>` */
void mlir_print_generic_head(mlir_printer *p, hilo_inst i);
/* The `<{…}>` of the operation, if it has any. */
void mlir_print_props(mlir_printer *p, hilo_inst i);
/* Begin a property: `a = `. */
void mlir_prop(mlir_printer *p, const char *name);
void mlir_prop_number(mlir_printer *p, const char *name, int64_t v);  /* `a = 1 : i64` */
void mlir_prop_array(mlir_printer *p, const char *name, hilo_dims v); /* `a = array<i64: 1>` */
/* Operations that MHLO, unlike StableHLO, prints in the generic form only. */
bool mlir_has_mhlo_props(hilo_op op);
void mlir_print_mhlo_props(mlir_printer *p, hilo_inst i);
/* The `<…>` of a dot's algorithm, its number in XLA's enumeration. */
void mlir_print_algorithm(mlir_printer *p, hilo_inst i, int64_t number);
void mlir_conv_dims(mlir_printer *p, hilo_record record, hilo_sb *out);
void mlir_precision_config(mlir_printer *p, hilo_dims precision, hilo_sb *out);

/* ---- operations with regions ---- */
uint32_t mlir_n_regions(const mlir_printer *p, hilo_inst i);
/* What stands before region k (for k > 0 behind region k - 1), and behind the last one. Opening a
 * region gives its parameters their values. */
void mlir_open_region(mlir_printer *p, hilo_inst i, uint32_t k);
void mlir_close_regions(mlir_printer *p, hilo_inst i);
/* The computation of region k, in the order of the text. */
hilo_comp mlir_region(const mlir_printer *p, hilo_inst i, uint32_t k);
/* `applies stablehlo.add`: the operation that is all the body does; else HILO_OP_DEAD. */
hilo_op mlir_compact_reducer(const mlir_printer *p, hilo_inst reduce);

/* `sdy.manual_computation` and the like, which are custom calls of that name. */
bool mlir_is_sdy(const mlir_printer *p, hilo_inst i);
/* `sdy.sharding_constraint %0 <@mesh, [{}]>`: the name, operands and attributes. */
void mlir_print_sdy_head(mlir_printer *p, hilo_inst i);
/* Where an entry of the dictionary stands in the pretty form: `<"x">` behind the operation's name,
 * ` [{"a"}]` before the operands, ` a=1` behind these, or last of all (manual_axes). */
typedef enum {
  MLIR_WORD_NAME,
  MLIR_WORD_LEADING,
  MLIR_WORD_BEHIND,
  MLIR_WORD_LAST,
} mlir_word_place;
/* Those entries that stand there. */
void mlir_print_words(mlir_printer *p, hilo_str dictionary, mlir_word_place place);

/* ---- locations ---- */
void mlir_locations_init(mlir_printer *p);
void mlir_print_location(mlir_printer *p, hilo_inst i); /* ` loc(#loc3)` */
void mlir_print_locations(mlir_printer *p);             /* the aliases */

static inline void mlir_newline(mlir_printer *p) {
  char *to = hilo_sb_reserve(p->out, p->indent + 2);
  *to = '\n';
  memset(to + 1, ' ', p->indent);
  p->out->n += p->indent + 1;
}
/* One error: neither dialect can say this instruction. */
void mlir_refuse(mlir_printer *p, hilo_inst i, const char *what);

#endif
