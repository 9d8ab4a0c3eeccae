/* Cutting a module into pieces that can be compiled apart: who computes what, what crosses, which
 * pieces are the same.
 *
 * A piece is an instance of a definition: a body of instructions of the source module in canonical
 * order, its inputs (parameters, or outputs of pieces before it) and its outputs. Order depends on
 * what the body computes and on nothing else, so that equal layers have equal definitions. Cheap
 * values and views are in every piece that needs them. Everything is linear in the sum of the
 * bodies. cli-and-partition 9.5 and 9.6. */
#ifndef HILO_PARTITION_CUT_H
#define HILO_PARTITION_CUT_H

#include "partition/group.h"
#include "rewrite/pass.h"

/* An alias of a piece: output `output` may (or must) lie in the buffer of input `input`. */
typedef struct {
  uint32_t output, input;
  hilo_alias_kind kind;
} hilo_piece_alias;

/* Lists point into the arena of the cut. */
typedef struct {
  uint32_t unit;       /* units.n: the piece of the copies that outputs need */
  uint32_t definition; /* index of definitions */
  const hilo_inst *body, *inputs, *outputs;
  uint32_t n_body, n_inputs, n_outputs;
  const hilo_piece_alias *aliases;
  uint32_t n_aliases;
  const uint32_t *after; /* pieces that must have run, where no input says so; ascending */
  uint32_t n_after;
  bool repeats_next; /* the piece behind it does the same: equal bodies, instruction by instruction
                      */
} hilo_piece;

typedef struct {
  uint32_t first; /* the piece that stands for it */
  uint32_t n_instances;
} hilo_piece_definition;

typedef struct {
  hilo_module *m; /* the source: markers gone, outputs told apart */
  const hilo_units *units;
  const hilo_layers *layers;
  hilo_piece *pieces; /* in execution order */
  uint32_t n_pieces;
  hilo_piece_definition *definitions; /* in order of first use */
  uint32_t n_definitions;
  const hilo_inst *inputs; /* the module's, leaf by leaf: parameters, or elements of tuple ones */
  uint32_t n_inputs;
  hilo_inst *outputs; /* the module's, leaf by leaf, no two the same; each is computed by one
                               piece */
  uint32_t n_outputs;
  hilo_piece_alias *aliases; /* of the module, by leaf */
  uint32_t n_aliases;
  uint32_t *producer; /* by instruction: 1 + the piece whose output it is; 0: none */
  uint32_t n_inst_slots;
} hilo_cut;

typedef struct {
  bool share;         /* equal bodies are one definition */
  bool share_scalars; /* bodies that agree up to scalar constants, too: these become inputs */
} hilo_cut_options;

/* Cut `m`, whose layers are grouped. Changes `m`: markers are removed (their diagnostics go to
 * ctx->diags), and values that are returned several times, or are parameters, get copies. All in
 * `arena`; ctx->scratch is used. */
HILO_NODISCARD hilo_status hilo_partition_cut(hilo_module *m, const hilo_layers *layers,
                                              const hilo_units *units,
                                              const hilo_cut_options *options, hilo_pass_ctx *ctx,
                                              hilo_arena *arena, hilo_cut *out);

/* The module of a definition, in `arena`, standing on the intern tables of the source, which must
 * not change as long as it lives. Threads may extract from one cut at the same time. */
HILO_NODISCARD hilo_module *hilo_cut_extract(const hilo_cut *cut, uint32_t definition,
                                             hilo_arena *arena);

#endif
