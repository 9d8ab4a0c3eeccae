/* hlo_netlist.json: which instances of which definitions, wired how. cli-and-partition 9.8. */
#ifndef HILO_DRIVER_NETLIST_H
#define HILO_DRIVER_NETLIST_H

#include "base/sha256.h"
#include "driver/config.h"
#include "partition/cut.h"

typedef struct {
  const hilo_cut *cut;
  const hilo_config *config;
  const char *signature; /* of the source module, hex */
  hilo_str program;      /* file name of a program in its directory */
} hilo_netlist;

/* `sg07`: the directory of a definition. */
void hilo_netlist_put_directory(uint32_t definition, hilo_sb *out);
/* What must hold of any cut: NCC_MOD900 for what does not. */
HILO_NODISCARD hilo_status hilo_netlist_check(const hilo_cut *cut, hilo_diags *diags,
                                              hilo_arena *scratch);
/* Its text, while definitions are under way: their digests are left open, and where they belong is
 * in hash_at, by definition. */
void hilo_netlist_put(const hilo_netlist *netlist, hilo_arena *scratch, hilo_sb *out,
                      size_t *hash_at);
/* The digest of a definition, at its place. */
void hilo_netlist_set_hash(hilo_sb *text, size_t hash_at, const hilo_digest *digest);

#endif
