/* The printer: what the emitters of the operations share. Internal to penguin.
 *
 * Two counters number variables and nodes. A value (an instruction's result) is bound to the
 * variables of its leaves, so that tuples, elements and markers print nothing. A statement is
 * opened (its result tensors, imports, and `v1 = m8.NeuronTensorOp(srcs=[…], dsts=[…]`), gets its
 * keywords, and is closed (`, id=…, parent=v0, dl=…)`). Results that are outputs, or live-outs of
 * a fusion's header, have their name or variable in `dest` beforehand. */
#ifndef HILO_PENGUIN_PRINTER_H
#define HILO_PENGUIN_PRINTER_H

#include "penguin/emit.h"
#include "penguin/pytext.h"

typedef enum {
#define HILO_CODE(name, mhlo, stablehlo) HILO_CODE_##name,
#include "penguin/codes.def"
#undef HILO_CODE
} hilo_penguin_code;

typedef enum {
  HILO_IMPORT_DEPENDENCY,
  HILO_IMPORT_SUPPORT,
  HILO_IMPORT_XLA_FE,
  HILO_IMPORT_INTRINSICS,
  HILO_IMPORT_SCIPY,
  HILO_IMPORT_COUNT
} hilo_import;

typedef enum {
  HILO_CTOR_TENSOR_OP,
  HILO_CTOR_MEMCPY,
  HILO_CTOR_BITCAST,
  HILO_CTOR_NATIVE_KERNEL,
  HILO_CTOR_LNC_SHARDING,
  HILO_CTOR_QUANTIZE_MX,
} hilo_ctor;

/* Element types of tensors: those of the IR and the packed results of QuantizeMX. */
enum {
  HILO_DTYPE_F8E5M2_X4 = HILO_ETYPE_COUNT,
  HILO_DTYPE_F8E4M3FN_X4,
  HILO_DTYPE_COUNT,
};

/* Names of tensors are counted by mnemonic: that of the operation, or `dot` of MLIR. */
enum { HILO_MNEMONIC_DOT = HILO_OP_COUNT, HILO_MNEMONIC_COUNT };

/* What stands against a type in the text; the worst of a tuple's leaves. */
typedef enum {
  HILO_TYPE_FINE,
  HILO_TYPE_EMPTY, /* no element: fine for inputs and AwsNeuronZeroSizedOp only */
  HILO_TYPE_DYNAMIC_DIMS,
  HILO_TYPE_NO_DTYPE,
} hilo_type_problem;

/* Text that every tensor of one type has in common, and the shape of its value. */
typedef struct {
  hilo_str head;           /* `", shape=(4,8), parent=v0, id=` */
  hilo_str view;           /* `, view=m0.TensorView(shape=(4,8), layout="NC", transpose=(0,1)), ` */
  hilo_str dims;           /* `(4,8)` */
  uint32_t n_leaves;       /* of a tuple; 1 for an array */
  bool is_flat;            /* an array, or a tuple of arrays and tokens only */
  const uint32_t *offsets; /* of a tuple: the first leaf of each element, and the end */
  hilo_type_problem problem;
} hilo_type_text;

/* What a leaf is to be written to: a variable declared before, or a name given before. */
typedef struct {
  uint32_t var;
  hilo_str name;
} hilo_dest;

/* A result of a statement. `of` is the instruction whose leaf it is, none for an intermediate. */
typedef struct {
  hilo_type shape;   /* whose dimensions it has */
  uint16_t dtype;    /* hilo_etype or HILO_DTYPE_* */
  uint16_t mnemonic; /* hilo_op or HILO_MNEMONIC_* */
  hilo_inst of;
  uint32_t leaf;
  uint32_t var; /* set when it is declared */
} hilo_result;

typedef struct {
  uint32_t id;
  hilo_inst at;
} hilo_printed_op;

typedef struct hilo_printer {
  const hilo_module *m;
  const hilo_penguin_options *o;
  hilo_diags *diags;
  hilo_arena *arena; /* scratch and side files */
  hilo_sb *out;
  bool failed;

  uint32_t next_var, next_id, n_imported;
  uint32_t alias[HILO_IMPORT_COUNT]; /* 0: not imported yet */
  bool needs_scipy;                  /* of the next statement */

  uint32_t *value; /* per instruction: variable of an array, first leaf in `pack` of a tuple */
  hilo_vec(uint32_t) pack;
  uint32_t *dest; /* per instruction: first leaf in `dests`; 0: none */
  hilo_vec(hilo_dest) dests;

  uint32_t *type_text; /* per type handle: into `types` */
  hilo_vec(hilo_type_text) types;
  hilo_str dtype[HILO_DTYPE_COUNT]; /* empty: no Penguin spelling */
  uint32_t name_count[HILO_MNEMONIC_COUNT];
  hilo_map taken;       /* hashes of the explicit names */
  bool guard_names;     /* an explicit name may look like a counted one */
  uint32_t n_constants; /* names `constant.<k>` */

  hilo_vec(uint32_t) srcs; /* scratch of hilo_open */
  hilo_vec(hilo_result) dsts;
  hilo_inst at; /* the open statement's */
  uint32_t op_var, op_id;
  uint32_t first_op_var; /* of the statements that the current instruction printed; 0: none yet */
  uint32_t header;       /* variable of the fusion whose body is printed; 0: none */
  uint32_t depth;        /* of nested fusions */

  hilo_vec(hilo_printed_op) printed;
  hilo_vec(hilo_penguin_file) files;
  hilo_map group_text; /* replica groups printed before: index into group_texts */
  hilo_vec(hilo_str) group_texts;
  struct hilo_edges *edges; /* NULL: the module has no control dependencies */
} hilo_printer;

/* ---- diagnostics ---- */
hilo_diag_code hilo_printer_code(const hilo_printer *p, hilo_penguin_code code);
/* Refuse instruction i: HILO_REFUSE(p, OP, i, "format", …). Its results still get variables. */
#define HILO_REFUSE(p, code, i, ...)                                                               \
  ((p)->failed = true,                                                                             \
   (void)hilo_inst_error((p)->m, (p)->diags, hilo_printer_code((p), HILO_CODE_##code), (i),        \
                         __VA_ARGS__),                                                             \
   hilo_bind_nothing((p), (i)))

/* ---- types ---- */
const hilo_type_text *hilo_printer_type(hilo_printer *p, hilo_type type);
/* Type of a leaf, by its number in depth-first order. */
hilo_type hilo_leaf_type(hilo_printer *p, hilo_type type, uint32_t leaf);
/* Number of the first leaf of element k of a tuple type. */
uint32_t hilo_leaf_offset(hilo_printer *p, hilo_type tuple, uint32_t k);
static inline uint32_t hilo_n_leaves(hilo_printer *p, hilo_inst i) {
  return hilo_printer_type(p, hilo_inst_type(p->m, i))->n_leaves;
}

void hilo_make_dtype_texts(hilo_printer *p); /* after the import of `support` */

/* ---- values ---- */
/* The variables of the leaves of a value; valid until the next binding. */
const uint32_t *hilo_leaf_vars(hilo_printer *p, hilo_inst i);
static inline uint32_t hilo_operand_var(const hilo_printer *p, hilo_inst i, uint32_t k) {
  return p->value[hilo_ix(p->m, hilo_inst_operand(p->m, i, k))];
}
void hilo_bind(hilo_printer *p, hilo_inst i, const uint32_t *vars, uint32_t n_leaves);
/* Same type, same variables. */
static inline void hilo_bind_same(hilo_printer *p, hilo_inst i, hilo_inst source) {
  p->value[hilo_ix(p->m, i)] = p->value[hilo_ix(p->m, source)];
}
/* Fresh variables that no text declares: the instruction was refused. */
void hilo_bind_nothing(hilo_printer *p, hilo_inst i);
/* The instruction and leaf that print a leaf of `i`: tuples, elements and other instructions that
 * print nothing are looked through. */
void hilo_resolve_leaf(hilo_printer *p, hilo_inst *i, uint32_t *leaf);
hilo_dest *hilo_dest_at(hilo_printer *p, hilo_inst i, uint32_t leaf); /* made if there is none */
static inline hilo_dest hilo_dest_of(const hilo_printer *p, hilo_inst i, uint32_t leaf) {
  const uint32_t at = p->dest[hilo_ix(p->m, i)];
  return at ? p->dests.v[at + leaf] : (hilo_dest){0};
}
/* The variables of all operands, tuples flattened, into p->srcs. */
void hilo_gather_operands(hilo_printer *p, hilo_inst i);
/* The results of `i`, as hilo_open declares them, into p->dsts. */
void hilo_gather_results(hilo_printer *p, hilo_inst i);

/* ---- names ---- */
/* Note an explicit name; returns it, with `.<k>` if it was taken. */
hilo_str hilo_claim_name(hilo_printer *p, hilo_str name);
const char *hilo_mnemonic(unsigned mnemonic);

/* ---- statements ---- */
void hilo_need_import(hilo_printer *p, hilo_import import);
/* Print the tensor lines, then the statement up to and with `dsts=[…]`. */
void hilo_open_with(hilo_printer *p, hilo_ctor ctor, hilo_inst at, const uint32_t *srcs,
                    uint32_t n_srcs, hilo_result *dsts, uint32_t n_dsts);
/* The same for all operands and results of `i`, which are bound. */
void hilo_open(hilo_printer *p, hilo_ctor ctor, hilo_inst i);
void hilo_close(hilo_printer *p);
/* A result's tensor line, unless it is written to a tensor declared before. Sets r->var. */
void hilo_put_tensor(hilo_printer *p, hilo_result *r);
/* `, dl=…` without the comma. */
void hilo_put_location(hilo_printer *p, hilo_inst at);

/* ---- keywords of the open statement ---- */
void hilo_put_op(hilo_printer *p, const char *ref);  /* `, op=np.add`; "mP." is scipy's alias */
void hilo_put_tag(hilo_printer *p, const char *tag); /* `, xla_op='mhlo.<tag>'` */
void hilo_put_key(hilo_printer *p, const char *key); /* `, key=` */
void hilo_put_int(hilo_printer *p, const char *key, int64_t v);
void hilo_put_flag(hilo_printer *p, const char *key, bool b);
void hilo_put_tuple(hilo_printer *p, const char *key, hilo_dims dims);
void hilo_put_list(hilo_printer *p, const char *key, hilo_dims dims);
/* `, key=` and the list as a tuple; an absent list (n entries wanted) is that many defaults. */
void hilo_put_tuple_or(hilo_printer *p, const char *key, hilo_dims dims, uint32_t n,
                       int64_t otherwise);
void hilo_put_shape(hilo_printer *p, const char *key, hilo_type type);
void hilo_put_dtype(hilo_printer *p, const char *key, unsigned dtype);
void hilo_put_quoted(hilo_printer *p, const char *key, hilo_str s, char quote);
void hilo_put_var(hilo_sb *out, uint32_t var);                         /* `v12` */
void hilo_put_vars(hilo_printer *p, const uint32_t *vars, uint32_t n); /* `[v1, v2]` */

/* ---- attributes ---- */
/* The frontend attribute, p NULL if there is none. */
hilo_str hilo_frontend_attr(const hilo_printer *p, hilo_inst i, const char *key);
hilo_neuron_attrs hilo_neuron_of(const hilo_printer *p, hilo_inst i);
hilo_str hilo_backend_config(const hilo_printer *p, hilo_inst i);

/* ---- single steps, for operations that print several ---- */
/* `op` (a unary, binary, compare-free elementwise operation, select) on the given variables.
 * `shape` gives the dimensions, `operands` the element type of the operands, `result` that of the
 * result. With `last` it is the result of `at`, else an intermediate. The variable is returned. */
typedef struct {
  hilo_inst at;
  hilo_type shape;
  bool last;
} hilo_step;
uint32_t hilo_step_unary(hilo_printer *p, hilo_step s, hilo_op op, hilo_etype etype, uint32_t x);
uint32_t hilo_step_binary(hilo_printer *p, hilo_step s, hilo_op op, hilo_etype etype, uint32_t x,
                          uint32_t y);
uint32_t hilo_step_compare(hilo_printer *p, hilo_step s, hilo_compare_direction direction,
                           uint32_t x, uint32_t y);
uint32_t hilo_step_select(hilo_printer *p, hilo_step s, hilo_etype etype, uint32_t pred, uint32_t x,
                          uint32_t y);
uint32_t hilo_step_convert(hilo_printer *p, hilo_step s, hilo_etype to, uint32_t x);
uint32_t hilo_step_bitcast(hilo_printer *p, hilo_step s, hilo_etype to, uint32_t x);
/* broadcast_in_dim of a scalar. */
uint32_t hilo_step_broadcast(hilo_printer *p, hilo_step s, hilo_etype etype, uint32_t x);
/* A splat constant of the shape; its bits. */
uint32_t hilo_step_splat(hilo_printer *p, hilo_step s, hilo_etype etype, uint64_t bits);
/* OffloadedMemCpy of one variable into a result of `at`, or its NeuronTensorOp where that is
 * disabled. */
uint32_t hilo_step_copy(hilo_printer *p, hilo_inst at, hilo_result result, uint32_t source);
/* Integers that order as the totalOrder of floats x does. */
uint32_t hilo_step_total_order_key(hilo_printer *p, hilo_step s, hilo_etype etype, uint32_t x);
/* The signed and unsigned integer type of this width; HILO_INVALID if there is none. */
hilo_etype hilo_signed_of_width(unsigned bits);
hilo_etype hilo_unsigned_of_width(unsigned bits);

/* ---- the emitters ---- */
/* Print one instruction of the entry or a body: types checked, then its row's emitter. */
void hilo_print_inst(hilo_printer *p, hilo_inst i);
/* Refuses element types, dynamic and (unless allowed) empty shapes of the result. */
bool hilo_type_is_fine(hilo_printer *p, hilo_inst i, bool allow_empty);
typedef void (*hilo_emitter)(hilo_printer *p, hilo_inst i);
#define HILO_OP(op, hlo, mlir, min, max, family, traits, shape, eval, emitter)                     \
  void hilo_emit_##emitter(hilo_printer *p, hilo_inst i);
#include "ir/ops.def"
#undef HILO_OP

/* The instruction whose leaf the leaf of `i` is, if i prints nothing; false if it prints. */
bool hilo_bound_source(hilo_printer *p, hilo_inst i, uint32_t leaf, hilo_inst *source,
                       uint32_t *source_leaf);
bool hilo_custom_call_is_bound(const hilo_printer *p, hilo_inst i);
bool hilo_is_control_dep(const hilo_printer *p, hilo_inst i);
/* Would a statement of `user` name its operand `k`? */
bool hilo_reads_operand(const hilo_printer *p, hilo_inst user, uint32_t k);

/* Pieces that several families print. */
void hilo_put_contraction(hilo_printer *p, hilo_dims lhs_batch, hilo_dims lhs_contracting,
                          hilo_dims rhs_batch, hilo_dims rhs_contracting);
/* Low and high padding of n dimensions, interleaved. */
void hilo_put_padding(hilo_printer *p, const char *key, hilo_dims low, hilo_dims high, uint32_t n);
void hilo_put_top_k(hilo_printer *p, hilo_inst i, int64_t k);

/* ---- debug files, control edges ---- */
void hilo_make_debug_files(hilo_printer *p, hilo_penguin_files *files);
void hilo_edges_init(hilo_printer *p);
/* The open statement writes these results. */
void hilo_edges_note(hilo_printer *p, const hilo_result *dsts, uint32_t n);
void hilo_edges_bind(hilo_printer *p, hilo_inst parameter, hilo_inst operand);
/* After instruction i: edges to the statements it printed, or their obligation passed on. */
void hilo_edges_after(hilo_printer *p, hilo_inst i);

#endif
