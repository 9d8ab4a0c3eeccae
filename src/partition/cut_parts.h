/* The steps of a cut. Internal to partition. */
#ifndef HILO_PARTITION_CUT_PARTS_H
#define HILO_PARTITION_CUT_PARTS_H

#include "partition/cut.h"
#include "partition/entry_graph.h"

/* A parameter or an input of the module: in no piece. Cheap or a view: in each that needs it. */
#define HOME_NOWHERE UINT32_MAX
#define HOME_EVERYWHERE (UINT32_MAX - 1)

typedef struct {
  hilo_cut *cut;
  hilo_module *m;
  hilo_arena *arena, *scratch; /* of the cut; of its making */
  hilo_arena *room;            /* of the step at hand */
  hilo_pass_ctx *ctx;
  const hilo_cut_options *options;
  uint32_t copies_unit; /* where copies of outputs go: behind all others, if there are others */
  uint32_t *unit;       /* by instruction of the entry */
  uint32_t cap_unit;
  uint64_t *liftable; /* bit by instruction: a scalar constant that may as well be an input */
  uint32_t n_known;   /* instruction slots when the layers were found */
  bool keeps_places;  /* what was there then comes in the order that it had then */
  uint32_t *home;  /* by instruction of the entry: the unit whose piece it is in, or a HOME_… */
  bool ordered;    /* there may be something that runs before another without a value between */
  uint32_t *class; /* by instruction: equal for those that are equal by themselves */
  uint64_t *look;  /* a hash of the same by content, but that scalar constants of a type look alike;
                      the same in any module */
} hilo_cutter;

/* Markers go, elements of tuples are told apart, outputs are listed; fills in unit, and the inputs,
 * outputs and aliases of the cut. */
HILO_NODISCARD hilo_status hilo_cut_prepare(hilo_cutter *c);
/* Instructions from slot n_known on are new, and of this unit. */
void hilo_cut_set_units_of_new(hilo_cutter *c, uint32_t n_known, uint32_t unit);
/* Inputs that a piece must write over are copied there for the pieces behind it. */
void hilo_cut_keep_old_values(hilo_cutter *c);
/* Is it repeated in each piece that needs it? An element of a tuple that is computed crosses by
 * itself; all other views are. */
bool hilo_cut_is_view(const hilo_module *m, hilo_inst i);
/* Fill in class and look. */
void hilo_cut_classify(hilo_cutter *c);
/* Pieces with body, inputs and outputs; producers. */
void hilo_cut_bodies(hilo_cutter *c);
/* Aliases of pieces, and their order where no value says it. */
void hilo_cut_order(hilo_cutter *c);
/* Which pieces are the same; those that are the same but for scalar constants are made the same, as
 * the options say. */
void hilo_cut_share(hilo_cutter *c);
/* Pieces whose bodies agree up to scalar constants take these as inputs; `alike` numbers pieces by
 * body without them. False: none had to, so those that are alike are the same. */
bool hilo_cut_lift_scalars(hilo_cutter *c, const uint32_t *alike);
void hilo_cut_set_producers(hilo_cut *cut, hilo_arena *arena);

/* Does it come from outside: a parameter that is no tuple, or such an element of one that is? */
bool hilo_cut_is_input(const hilo_module *m, hilo_inst i);
/* Does it belong to a piece of this unit? (Inputs belong to none.) */
static inline bool hilo_cut_is_inside(const hilo_cutter *c, hilo_inst i, uint32_t unit) {
  const uint32_t home = c->home[hilo_ix(c->m, i)];
  return home == unit || home == HOME_EVERYWHERE;
}

#endif
