/* Internal to step 13: what loops, conditionals and functions pass in and out, element by element.
 *
 * An interface is a list of values that crosses the border of a region: the state of a loop, the
 * arguments of one branch, the results of a conditional or of a function. Its writers are tuples,
 * whose operand k is a value of element k; its readers are instructions of the tuple's type that
 * get-tuple-element alone uses. What has not this form is closed: all of it is needed if its owner
 * is. The parameters of a function that only calls of the reached part use are an interface without
 * tuples ("open arguments"). */
#ifndef HILO_PASSES_DEAD_VALUES_H
#define HILO_PASSES_DEAD_VALUES_H

#include "base/vec.h"
#include "rewrite/pass.h"

typedef struct {
  uint32_t n;                  /* elements */
  uint32_t first_bit;          /* of live_elements */
  uint32_t readers, n_readers; /* places in insts */
  uint32_t writers, n_writers;
  uint32_t next; /* 1 + interface of the same owner; 0: none */
} hilo_interface;

typedef struct {
  const hilo_inst *v;
  uint32_t n;
} hilo_call_list;

typedef struct {
  hilo_module *m;
  hilo_arena *scratch;
  uint64_t *effects;       /* per computation */
  uint64_t *live;          /* per instruction */
  uint64_t *live_elements; /* per element of an interface */
  uint64_t *entered;       /* per computation */
  hilo_vec(hilo_interface) interfaces;
  hilo_vec(hilo_inst) insts; /* readers and writers, interface by interface */
  hilo_map by_reader;        /* instruction → 1 + the interface that it gives the elements of */
  hilo_map by_owner;         /* instruction → 1 + its first interface */
  uint64_t *open_roots;      /* per computation: its root writes an interface */
  uint64_t *open_arguments;  /* per computation: a function whose parameters may go */
  uint32_t *first_call;      /* per computation: place in calls; one more at the end */
  hilo_inst *calls;          /* of the reached part, by callee */
  hilo_vec(hilo_inst) todo;
} hilo_dead_values;

/* Find the interfaces of the reached computations. O(instructions). */
void hilo_dead_values_init(hilo_dead_values *d, hilo_module *m, const hilo_comp_list *order,
                           hilo_arena *scratch);

/* The interface whose elements `i` has; NULL: it has none, or is closed. */
const hilo_interface *hilo_dead_read_by(const hilo_dead_values *d, hilo_inst i);
/* The interfaces of a loop, conditional or call. */
const hilo_interface *hilo_dead_first_of(const hilo_dead_values *d, hilo_inst i);
const hilo_interface *hilo_dead_next_of(const hilo_dead_values *d, const hilo_interface *f);
/* Is operand k of `i` a writer of one of its interfaces? */
bool hilo_dead_is_open_operand(const hilo_dead_values *d, hilo_inst i, uint32_t k);
bool hilo_dead_has_open_root(const hilo_dead_values *d, hilo_comp c);
bool hilo_dead_has_open_arguments(const hilo_dead_values *d, hilo_comp c);
/* The calls of a function, where its arguments are open; else none. */
hilo_call_list hilo_dead_calls_of(const hilo_dead_values *d, hilo_comp c);

/* After marking, before dead instructions go: writers and calls lose the operands that nobody
 * needs. Returns how many elements and arguments go. */
uint32_t hilo_dead_shrink_writers(hilo_dead_values *d);
/* Behind the sweep: parameters go, readers get their new types, elements their new numbers. */
void hilo_dead_shrink_readers(hilo_dead_values *d);

#endif
