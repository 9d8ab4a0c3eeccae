/* The module: one arena, instructions as columns, everything else by handle. docs/ir.md has the
 * pictures.
 *
 * Reading goes through the inline functions below. Changing a module goes through the functions of
 * the second half, which keep the use lists, the order and the counters true. No pass replaces or
 * erases an instruction by other means than `rewrite/replace.h`, which also minds control edges. */
#ifndef HILO_IR_MODULE_H
#define HILO_IR_MODULE_H

#include "base/diag.h"
#include "base/map.h"
#include "base/vec.h"
#include "ir/types.h"

typedef enum { HILO_DIALECT_HLO, HILO_DIALECT_MHLO, HILO_DIALECT_STABLEHLO } hilo_dialect;

/* A name as the field writes it: `fusion.12` is the base `fusion` and the number 12, so a new
 * unique name is a counter's step and no string is stored. `num` HILO_NO_NUM: the base alone.
 * Leading zeros or a dot without digits belong to the base. */
#define HILO_NO_NUM UINT32_MAX
typedef struct {
  hilo_string base;
  uint32_t num;
} hilo_name;

enum {
  HILO_INST_ROOT = 1 << 0,       /* cached: is the root of its computation */
  HILO_INST_AS_WRITTEN = 1 << 1, /* a tuple or element that the input wrote itself (MLIR) */
  HILO_INST_CAPTURED = 1 << 2,   /* operands of if/case that stand for captures */
  HILO_INST_NAMED = 1 << 3,      /* the name came from the input */
  HILO_INST_MARKED = 1 << 15,    /* for one function at a time, which clears it behind itself */
};

/* Instruction columns, indexed by hilo_inst.ix. Slot 0 is reserved. */
typedef struct {
  uint16_t *op;        /* hilo_op */
  uint16_t *flags;     /* HILO_INST_* */
  uint32_t *type;      /* hilo_type */
  uint32_t *comp;      /* hilo_comp */
  uint32_t *name_base; /* hilo_string */
  uint32_t *name_num;
  uint32_t *operands; /* first slot of the operand span */
  uint32_t *n_operands;
  uint32_t *attr;        /* record, index or literal by the op's family */
  uint32_t *extra;       /* `extra` record */
  uint32_t *meta;        /* `meta` record */
  uint32_t *called;      /* into `called`: count, then computations; 0: none */
  uint32_t *prev, *next; /* program order within the computation */
  uint32_t *order;     /* key: grows along the list while the computation's `ordered` bit is set */
  uint32_t *first_use; /* slot; 0: no uses */
  uint32_t *ordinal;   /* 1-based, as read (hlo_id); 0: made by the compiler */
} hilo_inst_columns;
enum { HILO_INST_COLUMN_BYTES = 2 * 2 + 15 * 4 };
_Static_assert(HILO_INST_COLUMN_BYTES <= 64, "column budget per instruction");

/* An operand and the use of its value, in one slot. Slot 0 is reserved. */
typedef struct {
  uint32_t value;    /* hilo_inst used */
  uint32_t user;     /* hilo_inst that uses it */
  uint32_t next_use; /* slot; 0: last */
  uint32_t prev_use; /* slot; 0: first */
} hilo_operand_slot;
_Static_assert(sizeof(hilo_operand_slot) <= 16, "budget per operand");

enum {
  HILO_COMP_ORDERED = 1 << 0, /* order keys grow along the list */
  HILO_COMP_FUSION = 1 << 1,  /* body of a fusion (XLA's is_fusion_computation) */
  HILO_COMP_PRIVATE = 1 << 2,
  HILO_COMP_DEAD = 1 << 3,
  HILO_COMP_UNCALLED = 1 << 4, /* on the way out: noted by dce */
};

typedef struct {
  uint32_t name_base, name_num;
  uint32_t first, last, root; /* instructions */
  uint32_t n_insts;
  uint32_t params, n_params, cap_params; /* span of `param_pool` */
  uint32_t n_callers;                    /* references from `called` spans of live instructions */
  uint32_t flags;
  uint32_t execution_thread; /* string; 0: main */
  uint32_t func;             /* `func` record: what an MLIR function says besides its body */
  uint32_t ordinal;          /* position in the input's file; text and proto keep that order */
} hilo_comp_row;

typedef struct {
  uint32_t pred, succ;                 /* instructions; 0: a slot that was freed */
  uint32_t next_of_pred, prev_of_pred; /* chain of the edges out of pred, in order of addition */
  uint32_t next_of_succ, prev_of_succ; /* chain of the edges into succ; 0 ends both */
} hilo_control_edge;

typedef enum { HILO_ALIAS_MAY = 1, HILO_ALIAS_MUST = 2 } hilo_alias_kind;
/* A pair of the module's input_output_alias. Shape indices are lists of tuple positions. */
typedef struct {
  hilo_dims output_index; /* in the module's arena */
  int64_t param;
  hilo_dims param_index;
  hilo_alias_kind kind;
} hilo_alias;

typedef struct {
  int64_t param;
  hilo_dims param_index;
} hilo_buffer_donor;

/* How HLO text was written, so that printing gives it back: the forms of XLA's print options. */
enum {
  HILO_TEXT_KNOWN = 1 << 0,      /* the module was read from HLO text; the bits below say how */
  HILO_TEXT_PERCENT = 1 << 1,    /* names with % */
  HILO_TEXT_SIGNATURES = 1 << 2, /* computations with parameter list and result */
  HILO_TEXT_OPERAND_TYPES = 1 << 3,
  HILO_TEXT_UNCOUNTED = 1 << 4, /* no comment with the index before every fifth operand */
};

/* `sdy.mesh @name = <["x"=2, "y"=4]> {…}`; `text` is what stands behind the `=`, `attributes` the
 * dictionary with its braces, if there is one. */
typedef struct {
  hilo_string name, text, attributes;
} hilo_mesh;

/* What the module says besides its computations. Lists live in the module's arena. */
typedef struct {
  hilo_string name;
  uint8_t text_style; /* HILO_TEXT_* */
  bool is_scheduled;
  bool alias_passthrough_params;
  bool use_auto_spmd_partitioning;
  bool is_dynamic;
  int64_t id;
  int64_t num_partitions, num_replicas; /* 0: not said */
  int64_t profile_version;
  hilo_type *entry_param_types; /* entry_computation_layout; NULL: that of the parameters */
  uint32_t n_entry_param_types;
  hilo_type entry_result_type;
  hilo_vec(hilo_alias) aliases;
  hilo_vec(hilo_buffer_donor) buffer_donors;
  struct {
    hilo_dims *list; /* parameter, alias offset, then the shape index */
    uint32_t n;
  } cross_program_prefetches;
  hilo_record frontend;        /* string_map */
  hilo_dims allow_spmd_params; /* allow_spmd_sharding_propagation_to_parameters */
  hilo_dims allow_spmd_output;
  hilo_dims device_assignment; /* field 15: replicas, computations, then devices computation by
                                  computation */
  hilo_record *spmd_param_shardings;
  uint32_t n_spmd_param_shardings;
  hilo_record spmd_output_sharding;
  hilo_str unparsed;     /* proto fields kept as raw bytes, in field order */
  hilo_str header_words; /* text attributes of the header that have no field above, verbatim */
  struct {               /* StackFrameIndexProto and the tables of HLO text; ids count from 1 */
    hilo_string *file_names, *function_names;
    struct hilo_file_location {
      uint32_t file, function;
      int64_t line, end_line, column, end_column;
    } * locations;
    struct hilo_stack_frame {
      uint32_t location, parent;
    } * frames;
    uint32_t n_file_names, n_function_names, n_locations, n_frames;
  } stack;
  /* main's attributes in the dialect pipeline */
  hilo_dims input_names, output_names; /* string handles */
  hilo_dims slow_ins, slow_outs;
  hilo_vec(hilo_mesh) meshes;
  hilo_string mlir_attributes; /* of an MLIR module, those without a field here: `a = 1 : i32, b` */
  hilo_string *weight_files;   /* per parameter, where a file is bound to it */
  bool has_control_deps;
} hilo_module_header;

typedef struct {
  uint8_t kind;     /* hilo_literal_kind */
  bool owned;       /* bytes were allocated in the module's arena, not part of the input */
  uint32_t type;    /* bare hilo_type: of an array, or of a tuple */
  const char *data; /* dense: n_elements × element bytes, row-major; splat: one element; tuple:
                       uint32_t handles */
  uint64_t bytes;
  uint64_t hash; /* of kind, type and bytes; 0: not computed yet */
} hilo_literal_row;
typedef enum {
  HILO_LITERAL_DENSE,
  HILO_LITERAL_SPLAT,
  HILO_LITERAL_TUPLE,
  HILO_LITERAL_ELIDED
} hilo_literal_kind;

typedef struct hilo_module {
  hilo_arena *arena;
  hilo_dialect dialect;
  hilo_comp entry;
  uint32_t tag; /* of handles, debug builds */
  hilo_store strings, types, records;
  hilo_store labels; /* `meta` records and the strings that they refer to, and nothing else */
  hilo_inst_columns inst;
  uint32_t n_inst_slots, cap_inst; /* slots used, slot 0 included; capacity of the columns */
  uint32_t n_insts;                /* live instructions */
  hilo_vec(hilo_operand_slot) operand;
  hilo_vec(hilo_comp_row) comp;
  hilo_vec(uint32_t) called;
  hilo_vec(uint32_t) param_pool;
  hilo_vec(hilo_literal_row) literal;
  hilo_map literal_by_hash;
  hilo_vec(hilo_control_edge) edge;
  hilo_map edges;                   /* see control.c */
  hilo_map next_num, next_comp_num; /* base string → next free number of a name */
  hilo_module_header header;
  hilo_str input;      /* bytes that literals may be spans of; owned by whoever read them */
  hilo_str input_name; /* file name for diagnostics */
} hilo_module;

/* ---- life ---- */
/* An empty module in `arena`. `base`: a module whose frozen intern tables to stand on, or NULL. */
hilo_module *hilo_module_create(hilo_arena *arena, const hilo_module *base);
/* Size the columns before a bulk of additions. */
void hilo_module_reserve(hilo_module *m, uint32_t n_insts, uint32_t n_operands, uint32_t n_comps);
/* A copy in `arena` that shares nothing with `m` but its input bytes: computations callee first
 * from the entry, then the unreached ones; instructions in program order; dead slots left out.
 * Handles of instructions and computations change; those of types, records, strings and literals,
 * names and ordinals stay. */
hilo_module *hilo_module_clone(const hilo_module *m, hilo_arena *arena);
/* What readers do at the end. Number the instructions (hlo_id): computations callee first in order
 * of first reference from the entry, instructions in file order. */
void hilo_module_number(hilo_module *m, hilo_arena *scratch);
/* Give back what growth left over. */
void hilo_module_trim(hilo_module *m);
/* Give back the columns and operands of a module that nobody needs any more; the rest goes with its
 * arena. */
void hilo_module_drop(hilo_module *m);
/* Live bytes per part, capacity counted. */
typedef struct {
  uint64_t columns, operands, comps, types, records, strings, literals, other, total;
} hilo_module_bytes;
hilo_module_bytes hilo_module_live_bytes(const hilo_module *m);

/* ---- handles ---- */
#ifdef NDEBUG
static inline uint32_t hilo_tagged(const hilo_module *m, uint32_t ix) { return (void)m, ix; }
static inline uint32_t hilo_untagged(const hilo_module *m, uint32_t ix) { return (void)m, ix; }
#else
enum { HILO_TAG_SHIFT = 25 };
static inline uint32_t hilo_tagged(const hilo_module *m, uint32_t ix) {
  return ix ? ix | m->tag << HILO_TAG_SHIFT : 0;
}
static inline uint32_t hilo_untagged(const hilo_module *m, uint32_t ix) {
  HILO_CHECK(!ix || ix >> HILO_TAG_SHIFT == m->tag);
  return ix & ((1u << HILO_TAG_SHIFT) - 1);
}
#endif
/* The bare index of an instruction (0 … n_inst_slots-1), for arrays and bitsets beside the IR; and
 * back. */
static inline uint32_t hilo_ix(const hilo_module *m, hilo_inst i) { return hilo_untagged(m, i.ix); }
static inline hilo_inst hilo_inst_at(const hilo_module *m, uint32_t ix) {
  return (hilo_inst){hilo_tagged(m, ix)};
}
static inline uint32_t hilo_comp_ix(const hilo_module *m, hilo_comp c) {
  return hilo_untagged(m, c.ix);
}
static inline hilo_comp hilo_comp_at(const hilo_module *m, uint32_t ix) {
  return (hilo_comp){hilo_tagged(m, ix)};
}

/* ---- reading an instruction ---- */
static inline hilo_op hilo_inst_op(const hilo_module *m, hilo_inst i) {
  return (hilo_op)m->inst.op[hilo_ix(m, i)];
}
static inline bool hilo_inst_is(const hilo_module *m, hilo_inst i, hilo_op op) {
  return hilo_inst_op(m, i) == op;
}
static inline bool hilo_inst_has(const hilo_module *m, hilo_inst i, unsigned trait) {
  return hilo_op_has(hilo_inst_op(m, i), trait);
}
static inline hilo_type hilo_inst_type(const hilo_module *m, hilo_inst i) {
  return (hilo_type){m->inst.type[hilo_ix(m, i)]};
}
static inline hilo_etype hilo_inst_etype(const hilo_module *m, hilo_inst i) {
  return hilo_type_etype(&m->types, hilo_inst_type(m, i));
}
static inline hilo_dims hilo_inst_dims(const hilo_module *m, hilo_inst i) {
  return hilo_type_dims(&m->types, hilo_inst_type(m, i));
}
static inline hilo_comp hilo_inst_comp(const hilo_module *m, hilo_inst i) {
  return hilo_comp_at(m, m->inst.comp[hilo_ix(m, i)]);
}
static inline hilo_name hilo_inst_name(const hilo_module *m, hilo_inst i) {
  const uint32_t ix = hilo_ix(m, i);
  return (hilo_name){{m->inst.name_base[ix]}, m->inst.name_num[ix]};
}
static inline uint32_t hilo_inst_n_operands(const hilo_module *m, hilo_inst i) {
  return m->inst.n_operands[hilo_ix(m, i)];
}
static inline hilo_inst hilo_inst_operand(const hilo_module *m, hilo_inst i, uint32_t k) {
  const uint32_t ix = hilo_ix(m, i);
  HILO_DCHECK(k < m->inst.n_operands[ix]);
  return hilo_inst_at(m, m->operand.v[m->inst.operands[ix] + k].value);
}
static inline hilo_record hilo_inst_attr(const hilo_module *m, hilo_inst i) {
  return (hilo_record){m->inst.attr[hilo_ix(m, i)]};
}
/* Family `index`: parameter number, tuple index, dimension. */
static inline uint32_t hilo_inst_index(const hilo_module *m, hilo_inst i) {
  return m->inst.attr[hilo_ix(m, i)];
}
/* Family `literal`. */
static inline hilo_literal hilo_inst_literal(const hilo_module *m, hilo_inst i) {
  return (hilo_literal){m->inst.attr[hilo_ix(m, i)]};
}
/* `hilo_attrs(m, i, dot)` is the hilo_dot_attrs of instruction i. */
#define hilo_attrs(m, i, family) hilo_##family##_get(&(m)->records, hilo_inst_attr((m), (i)))
static inline hilo_record hilo_inst_extra_record(const hilo_module *m, hilo_inst i) {
  return (hilo_record){m->inst.extra[hilo_ix(m, i)]};
}
static inline hilo_extra_attrs hilo_inst_extra(const hilo_module *m, hilo_inst i) {
  return hilo_extra_get(&m->records, hilo_inst_extra_record(m, i));
}
static inline hilo_record hilo_inst_meta_record(const hilo_module *m, hilo_inst i) {
  return (hilo_record){m->inst.meta[hilo_ix(m, i)]};
}
static inline hilo_meta_attrs hilo_inst_meta(const hilo_module *m, hilo_inst i) {
  return hilo_meta_get(&m->labels, hilo_inst_meta_record(m, i));
}
/* Which called computation is which; as in XLA's proto. A conditional calls its branches in order.
 */
enum {
  HILO_WHILE_BODY = 0,
  HILO_WHILE_CONDITION = 1,
  HILO_SELECT_AND_SCATTER_SELECT = 0,
  HILO_SELECT_AND_SCATTER_SCATTER = 1,
};
static inline uint32_t hilo_inst_n_called(const hilo_module *m, hilo_inst i) {
  const uint32_t at = m->inst.called[hilo_ix(m, i)];
  return at ? m->called.v[at] : 0;
}
static inline hilo_comp hilo_inst_called(const hilo_module *m, hilo_inst i, uint32_t k) {
  const uint32_t at = m->inst.called[hilo_ix(m, i)];
  HILO_DCHECK(at && k < m->called.v[at]);
  return hilo_comp_at(m, m->called.v[at + 1 + k]);
}
static inline uint32_t hilo_inst_ordinal(const hilo_module *m, hilo_inst i) {
  return m->inst.ordinal[hilo_ix(m, i)];
}
static inline hilo_inst hilo_inst_next(const hilo_module *m, hilo_inst i) {
  return hilo_inst_at(m, m->inst.next[hilo_ix(m, i)]);
}
static inline hilo_inst hilo_inst_prev(const hilo_module *m, hilo_inst i) {
  return hilo_inst_at(m, m->inst.prev[hilo_ix(m, i)]);
}
static inline bool hilo_inst_has_uses(const hilo_module *m, hilo_inst i) {
  return m->inst.first_use[hilo_ix(m, i)] != 0;
}
/* Does nothing else use the value than one operand slot (the root counts as a use)? */
bool hilo_inst_has_one_use(const hilo_module *m, hilo_inst i);
uint32_t hilo_inst_count_uses(const hilo_module *m, hilo_inst i);
bool hilo_inst_is_root(const hilo_module *m, hilo_inst i);

/* Uses, in no meaningful order: for (hilo_use u = hilo_first_use(m, v); u.slot; u =
 * hilo_next_use(m, u)). */
typedef struct {
  uint32_t slot;
} hilo_use;
static inline hilo_use hilo_first_use(const hilo_module *m, hilo_inst i) {
  return (hilo_use){m->inst.first_use[hilo_ix(m, i)]};
}
static inline hilo_use hilo_next_use(const hilo_module *m, hilo_use u) {
  return (hilo_use){m->operand.v[u.slot].next_use};
}
static inline hilo_inst hilo_use_user(const hilo_module *m, hilo_use u) {
  return hilo_inst_at(m, m->operand.v[u.slot].user);
}
static inline uint32_t hilo_use_operand_index(const hilo_module *m, hilo_use u) {
  return u.slot - m->inst.operands[m->operand.v[u.slot].user];
}

/* ---- reading a computation ---- */
static inline const hilo_comp_row *hilo_comp_get(const hilo_module *m, hilo_comp c) {
  return &m->comp.v[hilo_comp_ix(m, c)];
}
static inline hilo_inst hilo_comp_first(const hilo_module *m, hilo_comp c) {
  return hilo_inst_at(m, hilo_comp_get(m, c)->first);
}
static inline hilo_inst hilo_comp_last(const hilo_module *m, hilo_comp c) {
  return hilo_inst_at(m, hilo_comp_get(m, c)->last);
}
static inline hilo_inst hilo_comp_root(const hilo_module *m, hilo_comp c) {
  return hilo_inst_at(m, hilo_comp_get(m, c)->root);
}
static inline uint32_t hilo_comp_n_params(const hilo_module *m, hilo_comp c) {
  return hilo_comp_get(m, c)->n_params;
}
static inline hilo_inst hilo_comp_param(const hilo_module *m, hilo_comp c, uint32_t k) {
  const hilo_comp_row *row = hilo_comp_get(m, c);
  HILO_DCHECK(k < row->n_params);
  return hilo_inst_at(m, m->param_pool.v[row->params + k]);
}
static inline hilo_name hilo_comp_name(const hilo_module *m, hilo_comp c) {
  const hilo_comp_row *row = hilo_comp_get(m, c);
  return (hilo_name){{row->name_base}, row->name_num};
}
/* Computations 1 … hilo_module_n_comps(m)-1 in file order; skip the dead ones. */
static inline uint32_t hilo_module_n_comps(const hilo_module *m) { return m->comp.n; }
static inline bool hilo_comp_is_live(const hilo_module *m, hilo_comp c) {
  return !(hilo_comp_get(m, c)->flags & HILO_COMP_DEAD);
}
#define HILO_FOR_EACH_COMP(m, c)                                                                   \
  for (hilo_comp c = hilo_comp_at((m), 1); hilo_comp_ix((m), c) < hilo_module_n_comps(m);          \
       c = hilo_comp_at((m), hilo_comp_ix((m), c) + 1))                                            \
    if (hilo_comp_is_live((m), c))
/* In program order. The body may insert anywhere, but not erase `i` itself (use
 * HILO_FOR_EACH_INST_SAFE). */
#define HILO_FOR_EACH_INST(m, c, i)                                                                \
  for (hilo_inst i = hilo_comp_first((m), (c)); i.ix; i = hilo_inst_next((m), i))
#define HILO_FOR_EACH_INST_SAFE(m, c, i)                                                           \
  for (hilo_inst i = hilo_comp_first((m), (c)), i##_next = i.ix ? hilo_inst_next((m), i) : i;      \
       i.ix; i = i##_next, i##_next = i.ix ? hilo_inst_next((m), i) : i)
/* Live computations, callee before caller, in order of first reference from the entry (depth first,
 * called computations of an instruction in order), then the unreached ones likewise in file order.
 * Written to `arena`. */
typedef struct {
  hilo_comp *v;
  uint32_t n;
  uint32_t n_reached; /* the first n_reached are reached from the entry */
} hilo_comp_list;
hilo_comp_list hilo_module_comps_postorder(const hilo_module *m, hilo_arena *arena);
/* Append to `list` the computations that `c` reaches and `seen` (a bit per computation) does not
 * hold, callee before caller, `c` last; and mark them. The list has room for all computations. */
void hilo_comps_visit(const hilo_module *m, hilo_arena *scratch, hilo_comp c, uint64_t *seen,
                      hilo_comp_list *list);

/* Has the module this operation anywhere? And the traits of all its operations together. Quick
 * passes over one column, for what would walk everything to find nothing. */
bool hilo_module_has_op(const hilo_module *m, hilo_op op);
unsigned hilo_module_traits(const hilo_module *m);
/* Loops, calls and conditionals run what they call as blocks, like the entry; is there none? */
static inline bool hilo_op_runs_blocks(hilo_op op) {
  return op == HILO_OP_WHILE || op == HILO_OP_CALL || op == HILO_OP_CONDITIONAL;
}
bool hilo_module_is_one_block(const hilo_module *m);

/* ---- names ---- */
hilo_str hilo_string_of(const hilo_module *m, hilo_string s);
hilo_string hilo_module_string(hilo_module *m, hilo_str s);
/* The same of metadata. */
hilo_str hilo_label_of(const hilo_module *m, hilo_label label);
hilo_label hilo_module_label(hilo_module *m, hilo_str s);
/* Split `fusion.12` into its base and number (HILO_NO_NUM: none). */
hilo_str hilo_name_split(hilo_str text, uint32_t *number);
/* The same with the base interned. */
hilo_name hilo_name_parse(hilo_module *m, hilo_str text);
void hilo_name_print(const hilo_module *m, hilo_name name, hilo_sb *out);
/* For messages: text in `arena`. */
hilo_str hilo_inst_name_text(const hilo_module *m, hilo_inst i, hilo_arena *arena);
hilo_str hilo_comp_name_text(const hilo_module *m, hilo_comp c, hilo_arena *arena);
/* Set a name that the caller knows to be free: readers, which keep a table of the names of the
 * module while they read, and clones. Instruction names are unique in the module, and so are those
 * of computations. */
void hilo_inst_set_name(hilo_module *m, hilo_inst i, hilo_name name);
void hilo_comp_set_name(hilo_module *m, hilo_comp c, hilo_name name);
/* A free name: the base alone if it was never used, else with the next number of that base. */
hilo_name hilo_inst_fresh_name(hilo_module *m, hilo_string base);
hilo_name hilo_comp_fresh_name(hilo_module *m, hilo_string base);

/* ---- building ---- */
hilo_comp hilo_comp_add(hilo_module *m, hilo_name name);
typedef struct {
  hilo_op op;
  hilo_type type;
  const hilo_inst *operands;
  uint32_t n_operands;
  uint32_t attr; /* record, index or literal */
  const hilo_comp *called;
  uint32_t n_called;
  hilo_record extra, meta;
  hilo_name name; /* base 0: fresh, from the opcode; else set as with hilo_inst_set_name */
} hilo_inst_desc;
/* Append to a computation, or insert before `pos`. A parameter takes its place in the computation's
 * list. */
hilo_inst hilo_inst_add(hilo_module *m, hilo_comp c, const hilo_inst_desc *desc);
hilo_inst hilo_inst_insert_before(hilo_module *m, hilo_inst pos, const hilo_inst_desc *desc);
hilo_inst hilo_inst_insert_after(hilo_module *m, hilo_inst pos, const hilo_inst_desc *desc);
/* Shorthands; type inference is the caller's business (infer.h). */
hilo_inst hilo_inst_insert_simple(hilo_module *m, hilo_inst before, hilo_op op, hilo_type type,
                                  const hilo_inst *operands, uint32_t n);
void hilo_comp_set_root(hilo_module *m, hilo_comp c, hilo_inst root);

/* ---- changing ---- */
void hilo_inst_set_type(hilo_module *m, hilo_inst i, hilo_type type);
void hilo_inst_set_attr(hilo_module *m, hilo_inst i, uint32_t attr);
void hilo_inst_set_extra(hilo_module *m, hilo_inst i, const hilo_extra_attrs *extra);
void hilo_inst_set_meta(hilo_module *m, hilo_inst i, hilo_record meta);
void hilo_inst_set_operand(hilo_module *m, hilo_inst i, uint32_t k, hilo_inst value);
/* Another operand list; its length may differ. */
void hilo_inst_set_operands(hilo_module *m, hilo_inst i, const hilo_inst *operands, uint32_t n);
void hilo_inst_set_called(hilo_module *m, hilo_inst i, const hilo_comp *comps, uint32_t n);
/* Raw: all uses of `from` (its being root, too) become uses of `to`. Control edges are not touched:
 * passes call hilo_replace of rewrite/replace.h. */
void hilo_inst_replace_uses(hilo_module *m, hilo_inst from, hilo_inst to);
/* Raw: the instruction must have no uses, no control edges and not be the root. A parameter leaves
 * its computation's list; renumbering the ones behind it is the caller's business. Called
 * computations lose a caller, and live on. */
void hilo_inst_erase(hilo_module *m, hilo_inst i);
/* Erase a computation and all it holds. Nothing may call it. */
void hilo_comp_erase(hilo_module *m, hilo_comp c);
/* Move the run first … last (program order, one computation) before `pos`, or to the end of `c` if
 * pos is none. One splice, whatever its length, within a computation. */
void hilo_inst_move(hilo_module *m, hilo_inst first, hilo_inst last, hilo_comp c, hilo_inst pos);
/* Put the instructions of `c`, all n of them, in this order. False: they stand so already. O(n). */
bool hilo_comp_set_order(hilo_module *m, hilo_comp c, const hilo_inst *order, uint32_t n);
/* Is a before b? Both in one computation. Renumbers once if the order was invalid. */
bool hilo_inst_before(hilo_module *m, hilo_inst a, hilo_inst b);
/* The computation that `i` calls as k-th, made its own: cloned if others call it as well. */
hilo_comp hilo_inst_own_called(hilo_module *m, hilo_inst i, uint32_t k);
/* Clone a computation (instructions, attributes, control edges; called computations are shared). */
hilo_comp hilo_comp_clone(hilo_module *m, hilo_comp c, hilo_name name);
/* Clone one instruction with other operands (NULL: the same) before `pos`. Name fresh from the
 * original's base. Ordinal kept. */
hilo_inst hilo_inst_clone_before(hilo_module *m, hilo_inst i, hilo_inst pos,
                                 const hilo_inst *operands);

/* ---- control edges ---- */
/* pred runs before succ. Duplicates are ignored. */
void hilo_control_add(hilo_module *m, hilo_inst pred, hilo_inst succ);
bool hilo_control_has(const hilo_module *m, hilo_inst i); /* as predecessor or successor */
void hilo_control_remove_all(hilo_module *m, hilo_inst i);
void hilo_control_remove_preds(hilo_module *m, hilo_inst i); /* those that lead to `i` */
void hilo_control_clear(hilo_module *m);                     /* every edge of the module */
/* Chains: for (uint32_t e = hilo_control_first_pred(m, i); e; e = m->edge.v[e].next_of_succ) …
 * m->edge.v[e].pred. In order of addition. */
uint32_t hilo_control_find_first(const hilo_module *m, hilo_inst i, bool pred); /* of those below */
static inline uint32_t hilo_control_first_pred(const hilo_module *m, hilo_inst succ) {
  return HILO_LIKELY(!m->edges.n) ? 0 : hilo_control_find_first(m, succ, true);
}
static inline uint32_t hilo_control_first_succ(const hilo_module *m, hilo_inst pred) {
  return HILO_LIKELY(!m->edges.n) ? 0 : hilo_control_find_first(m, pred, false);
}

/* ---- literals ---- */
/* A dense array literal. Splats are recognised (bitwise) and stored once. copy false: `data`
 * outlives the module. */
hilo_literal hilo_literal_put(hilo_module *m, hilo_type type, const void *data, uint64_t bytes,
                              bool copy);
hilo_literal hilo_literal_splat(hilo_module *m, hilo_type type, const void *element);
hilo_literal hilo_literal_tuple(hilo_module *m, hilo_type type, const hilo_literal *elements,
                                uint32_t n);
/* `{...}`: the value was left out by whoever printed it. */
hilo_literal hilo_literal_elided(hilo_module *m, hilo_type type);
static inline const hilo_literal_row *hilo_literal_get(const hilo_module *m, hilo_literal l) {
  return &m->literal.v[l.ix];
}
bool hilo_literal_eq(const hilo_module *m, hilo_literal a, hilo_literal b);
/* Element `at` (row-major) of a dense or splat literal. */
static inline const char *hilo_literal_element(const hilo_module *m, hilo_literal l, uint64_t at) {
  const hilo_literal_row *row = hilo_literal_get(m, l);
  const uint32_t size = hilo_etype_bytes(hilo_type_etype(&m->types, (hilo_type){row->type}));
  return row->data + (row->kind == HILO_LITERAL_SPLAT ? 0 : at * size);
}
/* A scalar or splat integer/pred constant as int64 (u64 wraps); false if `i` is none. Looks through
 * nothing. */
bool hilo_inst_const_int(const hilo_module *m, hilo_inst i, int64_t *out);

/* ---- diagnostics about an instruction ---- */
/* Place (computation, name, and ordinal) and notes (its text, op_name, user's source line). */
hilo_status hilo_inst_error(const hilo_module *m, hilo_diags *diags, hilo_diag_code code,
                            hilo_inst i, const char *fmt, ...) HILO_PRINTF(5, 6);
/* The file and line of metadata: source_file, else the innermost frame of stack_frame_id; empty and
 * 0 if there is none. */
hilo_str hilo_inst_source(const hilo_module *m, hilo_inst i, int64_t *line);

#endif
