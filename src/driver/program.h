/* One module on its way to a program: the passes and the printing that flat and partitioned
 * compiles share, and the files that come of it. */
#ifndef HILO_DRIVER_PROGRAM_H
#define HILO_DRIVER_PROGRAM_H

#include "base/file.h"
#include "base/log.h"
#include "driver/config.h"
#include "driver/crew.h"
#include "driver/dumps.h"
#include "driver/phases.h"
#include "driver/pipeline.h"
#include "driver/run/run_prove.h"

typedef struct {
  const hilo_config *config;
  hilo_log *log;
  hilo_diags *diags;
  hilo_arena *scratch, *text;    /* needed while the program is made */
  hilo_arena *kept;              /* what is left of it: `outputs` */
  hilo_crew *crew;               /* of a partitioned compile; else NULL: one thread */
  hilo_phases *phases;           /* of the compile that it is part of; NULL: nobody asks */
  hilo_prover *prover;           /* of --check-each, in `text`; else NULL */
  hilo_dumper dumper;            /* of what is printed around passes */
  hilo_vec(hilo_output) outputs; /* written under temporary names, in order of commitment */
} hilo_program;

/* Where a program goes. */
typedef struct {
  const char *path;   /* of the program; `-`: stdout */
  hilo_str stem;      /* its name without `.py`, which the files of its constants carry */
  hilo_str directory; /* of the side files; empty: the working directory */
  hilo_str constants; /* directory of the constants */
  bool no_files;      /* a stream without a directory: dense constants are refused */
  bool no_constants;  /* nobody will read them */
} hilo_program_place;

/* Let --check-each, and what is printed around passes, follow a run of passes over `m`. */
void hilo_program_prove(hilo_program *p, const hilo_module *m, hilo_runner_options *options);
/* The end of that run: `status`, or an error if a pass changed a value. */
hilo_status hilo_program_proven(hilo_program *p, hilo_status status);
/* Run the HLO passes and the spine, print, and write the program with its side files, all under
 * temporary names; or take the files from the cache. */
HILO_NODISCARD hilo_status hilo_program_make(hilo_program *p, hilo_module *m,
                                             const hilo_program_place *place);
/* Another file that is committed with the program. */
HILO_NODISCARD hilo_status hilo_program_add_file(hilo_program *p, const char *path, hilo_str head,
                                                 hilo_str data);
/* The file that vouches for the others is the last. An older one goes before any of the others is
 * replaced, so that it never vouches for what it does not belong to. */
void hilo_program_retract(hilo_program *p);
/* Retract, then give the files their names, the first written first. */
HILO_NODISCARD hilo_status hilo_program_commit(hilo_program *p);
/* What was not committed is gone. Always called at the end. */
void hilo_program_abort(hilo_program *p);

#endif
