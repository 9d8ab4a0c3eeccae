/* Seeded inputs: the same numbers for the same module and seed, everywhere.
 *
 * The generator is a counter: bits(k) = mix(key + (k + 1) * 0x9e3779b97f4a7c15), with splitmix64's
 * finaliser as mix and one key for each seed, parameter and shard. Nothing depends on the order of
 * generation or on a math library. What the bits become is by type: preds fair, signed integers
 * -8 … 8, unsigned ones 0 … 15 (u32: all bits, as keys of random generators are), floats the sum of
 * four uniform numbers with mean 0 and variance 1; and by use (run_uses.h): indices are within
 * bounds, loops short, divisors not zero, arguments of logarithms positive, factors of long sums
 * small. Ranks get slices of their own, but for what a sharding replicates or control flow depends
 * on. */
#ifndef HILO_DRIVER_RUN_SEED_H
#define HILO_DRIVER_RUN_SEED_H

#include "driver/run/run_arrays.h"

/* One array a leaf, in `arena`. HILO_LIMIT_ERROR, with a diagnostic, if a parameter cannot be made
 * (opaque), or all of them exceed max_bytes (0: no limit). `skip`: leaves
 * with their bit set are left empty. */
HILO_NODISCARD hilo_status hilo_seed_inputs(const hilo_module *m, const hilo_leaves *leaves,
                                            int64_t seed, uint32_t n_replicas,
                                            uint32_t n_partitions, uint64_t max_bytes,
                                            const uint64_t *skip, hilo_arena *arena,
                                            hilo_diags *diags, hilo_arrays *out);

/* `feed` of hilo_machine_options: values as of a parameter of whose use nothing is known. */
void hilo_seed_feed(uint64_t seed, uint64_t key, hilo_etype etype, uint64_t n, char *data);
/* How many instructions are fed so: analysis/outside.h. */
uint32_t hilo_seed_n_fed(const hilo_module *m, hilo_arena *scratch);

/* Give the constants whose values were left out (`{...}`) values, as a parameter gets them of whose
 * use nothing is known, each by its literal. Returns how many. Tuples, and what is beyond max_bytes
 * (0: no limit) in all, stay as they are. */
uint32_t hilo_seed_elided(hilo_module *m, int64_t seed, uint64_t max_bytes);

#endif
