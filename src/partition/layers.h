/* Where a module falls into layers.
 *
 * The entry computation is numbered by regions: layer j (1 …) is region 2j - 1, what lies between
 * it and layer j + 1 is region 2j, what comes before all layers is region 0. No instruction needs
 * one of a higher region, so regions may be compiled apart and run one after another. Layers are
 * found by markers of the framework, else by the scopes in op_name, else by repetition of the heavy
 * operations; cli-and-partition 9.3 states each. */
#ifndef HILO_PARTITION_LAYERS_H
#define HILO_PARTITION_LAYERS_H

#include "ir/module.h"

typedef enum { HILO_FLOW_NONE, HILO_FLOW_FORWARD, HILO_FLOW_BACKWARD } hilo_flow;
typedef enum {
  HILO_LAYERS_NONE, /* the module stays whole: all of it is region 0 */
  HILO_LAYERS_BY_MARKERS,
  HILO_LAYERS_BY_SCOPES,
  HILO_LAYERS_BY_REPETITION,
} hilo_layers_source;

typedef struct {
  hilo_flow flow;
  uint32_t
      run; /* layers of one stack (or family of markers) and flow, counted from 1; 0: no layer */
  uint32_t layer; /* its number in its stack, from 0 */
  uint64_t macs;
} hilo_layer_region;

typedef struct {
  hilo_layers_source source;
  hilo_str stacks; /* for the report: `layers_N`, `enc_N and dec_N`; empty: nothing to say */
  uint32_t n_layers;
  hilo_layer_region *regions; /* 2 * n_layers + 1 */
  uint32_t *region;           /* by instruction of the entry */
  const uint32_t *place;      /* by instruction, in the order in which layers were looked for */
  uint64_t *cheap;            /* bit by instruction: copied to where it is used, never passed on */
  const hilo_inst *cuts;      /* the markers, in the order of the regions that they open */
  uint32_t n_cuts;
  bool torn; /* layers were found, but between the halves of an asynchronous operation: whole */
  uint32_t n_open; /* markers that open a layer which no marker ends (its gradient was dead) */
} hilo_layers;

typedef struct {
  bool detect; /* look for layers where there are no markers */
} hilo_layers_options;

/* Parameters are in no region: each module reads the ones it needs. HILO_INPUT_ERROR with
 * NCC_MOD001 where markers do not pair. What is found is in `arena`. */
HILO_NODISCARD hilo_status hilo_layers_find(const hilo_module *m,
                                            const hilo_layers_options *options, hilo_diags *diags,
                                            hilo_arena *scratch, hilo_arena *arena,
                                            hilo_layers *out);

/* Is it copied into each module that uses it: a constant of up to 4 KiB, iota, partition-id,
 * replica-id; get-tuple-element, reshape, bitcast, broadcast or load (a call of
 * AwsNeuronTransferWithStaticRing) of a parameter or of something cheap? A bit by instruction. */
uint64_t *hilo_partition_cheap(const hilo_module *m, hilo_arena *arena);
/* A view of any value does not cross either: it is repeated behind its operand. */
bool hilo_partition_is_view(const hilo_module *m, hilo_inst i);
/* Markers, and copies that change nothing: the cut looks through them. */
bool hilo_partition_is_transparent(const hilo_module *m, hilo_inst i);

#endif
