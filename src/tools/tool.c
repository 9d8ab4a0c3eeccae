#include "tool.h"

#include "driver/command_line.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

static void open_log(const hilo_config *config, hilo_log *log, hilo_diags *diags) {
  log->console_level = config->verbose;
  log->file_level = config->logfile_verbose;
  /* A converter that leaves a log file behind whenever it runs would be a nuisance. */
  if (config->tool != HILO_TOOL_PENGUIN && !hilo_config_is_given(config, HILO_OPTION_logfile))
    return;
  if (config->logfile.n && !hilo_log_open_file(log, config->logfile.p))
    (void)hilo_diag_add(diags, HILO_DIAG_EARG903, NULL, "the log file `%.*s` cannot be opened: %s",
                        HILO_FMT(config->logfile), strerror(errno));
}

static void put(hilo_str text, FILE *to) {
  if (text.n) fwrite(text.p, 1, text.n, to);
  fflush(to);
}

static int run_parsed(hilo_command *command, hilo_log *log, hilo_tool_body *body) {
  open_log(command->config, log, &command->diags);
  HILO_LOG_DIAGS(log, &command->diags);
  hilo_diags diags = hilo_diags_make(command->diags.arena);
  int exit_code = 1;
  if (hilo_config_create_out_dir(command->config, &diags) == HILO_OK)
    exit_code = body(command->config, log, &diags);
  HILO_LOG_DIAGS(log, &diags);
  return exit_code;
}

int hilo_tool_run(hilo_tool tool, int argc, char **argv, hilo_tool_body *body) {
  /* Static, since they are read after a longjmp. */
  static hilo_arena arena;
  static hilo_log log;
  static jmp_buf oom;
  log = hilo_log_make();
  hilo_arena_init(&arena, NULL, &oom);
  signal(SIGXFSZ, SIG_IGN); /* a file over the limit of the shell is an error like a full disk */
  int exit_code = 1;
  if (setjmp(oom) == 0) {
    hilo_command command = hilo_command_parse(tool, argc, (const char *const *)argv, &arena, NULL);
    put(command.out, stdout);
    put(command.err, stderr);
    exit_code = command.config ? run_parsed(&command, &log, body) : command.exit_code;
  } else {
    HILO_LOG(&log, ERROR, "[ERROR] [%s] %s - %s", hilo_diag_name(HILO_DIAG_EMOD910),
             hilo_diag_cause(HILO_DIAG_EMOD910), hilo_diag_remedy(HILO_DIAG_EMOD910));
    exit_code = 1;
  }
  hilo_log_close(&log);
  hilo_arena_deinit(&arena);
  return exit_code;
}
