/* The walk over the words of the command line.
 *
 * One word after the other, as LLVM's library does it: every fault is reported and the walk goes
 * on, so that a user sees all of them; --help and its like act where they stand. Cost: words x
 * options, and for an unknown word the edit distance to every option, both with bounds on the
 * number of words (response_file.c). */
#include "driver/command_line.h"

#include "driver/help.h"
#include "driver/option_table.h"
#include "driver/response_file.h"

typedef struct {
  hilo_tool tool;
  hilo_str program;     /* base name of argv[0] */
  const char *as_given; /* argv[0] */
  hilo_config *config;
  hilo_arena *arena;
  hilo_arg_list words;
  uint32_t at;
  bool partitioner_only; /* in --partitioner-opts: other words are unknown and only warned about */
  bool failed;
  bool stop; /* an action has printed what was asked for */
  uint32_t n_positional;
  hilo_sb out, err;
  hilo_diags diags;
} walk;

static void option_error(walk *w, const hilo_option *option, const char *what) {
  hilo_sb_printf(&w->err, "%.*s: for the %s%s option: %s\n", HILO_FMT(w->program),
                 option->name[1] ? "--" : "-", option->name, what);
  w->failed = true;
}

static const hilo_option *find_option(const walk *w, hilo_str name) {
  for (size_t i = 0; i < HILO_OPTION_COUNT; i++) {
    const hilo_option *option = &hilo_options[i];
    if (!(option->tools & w->tool)) continue;
    if (w->partitioner_only && option->category != HILO_CATEGORY_PARTITION) continue;
    if (option->type == HILO_TYPE_PREFIX ? hilo_str_starts(name, option->name)
                                         : hilo_str_is(name, option->name))
      return option;
  }
  return NULL;
}

/* The visible option whose name needs the fewest edits; of several, the first by name. A flag that
 * takes no value is compared with the whole word. */
static const hilo_option *nearest_option(const walk *w, hilo_str name, hilo_str whole) {
  const hilo_option *best = NULL;
  size_t best_distance = SIZE_MAX;
  for (size_t i = 0; i < HILO_OPTION_COUNT; i++) {
    const hilo_option *option = &hilo_options[i];
    if (!(option->tools & w->tool) || option->visibility == HILO_VISIBLE_REALLY) continue;
    const bool bare = hilo_option_value_use(option) == HILO_VALUE_DISALLOWED;
    const hilo_str word = bare ? whole : name, other = hilo_str_of(option->name);
    const size_t least = word.n > other.n ? word.n - other.n : other.n - word.n;
    if (least > best_distance) continue; /* so many edits at least: saves the table */
    const size_t distance = hilo_str_distance(word, other);
    if (!best || distance < best_distance ||
        (distance == best_distance && strcmp(option->name, best->name) < 0))
      best_distance = distance, best = option;
  }
  return best;
}

static void unknown_word(walk *w, const char *word, hilo_str name, hilo_str value) {
  if (w->partitioner_only) {
    (void)hilo_diag_add(&w->diags, HILO_DIAG_EARG900, NULL,
                        "`%s` is not a word of --partitioner-opts and is ignored", word);
    return;
  }
  hilo_sb_printf(&w->err, "%.*s: Unknown command line argument '%s'.  Try: '%s --help'\n",
                 HILO_FMT(w->program), word, w->as_given);
  w->failed = true;
  /* Words without a dash get no suggestion, nor do words longer than any misspelling. */
  if (!name.p || name.n + value.n > HILO_MAX_DISTANCE) return;
  const hilo_str whole = hilo_str_of(name.p);
  const hilo_option *near = nearest_option(w, name, whole);
  const bool with_value = value.n && hilo_option_value_use(near) != HILO_VALUE_DISALLOWED;
  hilo_sb_printf(&w->err, "%.*s: Did you mean '%s%s", HILO_FMT(w->program),
                 near->name[1] || with_value ? "--" : "-", near->name);
  if (with_value) hilo_sb_printf(&w->err, "=%.*s", HILO_FMT(value));
  hilo_sb_cat(&w->err, "'?\n");
}

static void act(walk *w, const hilo_option *option, hilo_str value) {
  switch ((hilo_option_type)option->type) {
  case HILO_TYPE_HELP: hilo_help_print(w->tool, w->program, false, false, &w->out); break;
  case HILO_TYPE_HELP_HIDDEN: hilo_help_print(w->tool, w->program, true, false, &w->out); break;
  case HILO_TYPE_HELP_LIST: hilo_help_print(w->tool, w->program, false, true, &w->out); break;
  case HILO_TYPE_HELP_LIST_HIDDEN: hilo_help_print(w->tool, w->program, true, true, &w->out); break;
  case HILO_TYPE_VERSION: hilo_help_print_version(w->tool, &w->out); break;
  case HILO_TYPE_EXPLAIN:
    if (hilo_help_explain(value, &w->out)) break;
    hilo_sb_printf(&w->err, "%.*s: for the --explain option: '%.*s' is no diagnostic code!\n",
                   HILO_FMT(w->program), HILO_FMT(value));
    w->failed = true;
    return;
  default: return;
  }
  w->stop = true;
}

/* One value for the option; false after reporting that it does not fit. */
static bool store(walk *w, const hilo_option *option, hilo_str value, bool has_value) {
  const char *fault = hilo_option_set(option, w->config, w->arena, value, has_value);
  if (fault) option_error(w, option, fault);
  return !fault;
}

static void take_option(walk *w, const hilo_option *option, hilo_str value, bool has_value) {
  const hilo_value_use use = hilo_option_value_use(option);
  if (use == HILO_VALUE_DISALLOWED && has_value) {
    hilo_sb fault = hilo_sb_make(w->arena);
    hilo_sb_printf(&fault, "does not allow a value! '%.*s' specified.", HILO_FMT(value));
    option_error(w, option, hilo_sb_cstr(&fault));
    return;
  }
  if (use == HILO_VALUE_REQUIRED && !has_value) {
    if (w->at == w->words.n) {
      option_error(w, option, "requires a value!");
      return;
    }
    value = hilo_str_of(w->words.v[w->at++]);
    has_value = true;
  }
  if (!store(w, option, value, has_value)) return;
  if (option->type == HILO_TYPE_PAIRS) {
    if (w->at == w->words.n) {
      option_error(w, option, "not enough values!");
      return;
    }
    if (!store(w, option, hilo_str_of(w->words.v[w->at++]), true)) return;
  }
  const size_t id = (size_t)(option - hilo_options);
  w->config->given[id / 64] |= 1ull << (id % 64);
  act(w, option, value);
}

static void take_positional(walk *w, const char *word) {
  if (w->tool == HILO_TOOL_PENGUIN || w->partitioner_only) {
    unknown_word(w, word, (hilo_str){0}, (hilo_str){0});
    return;
  }
  if (w->tool == HILO_TOOL_RUN) {
    hilo_words_push(w->arena, &w->config->files, hilo_str_copy(w->arena, hilo_str_of(word)));
  } else if (w->n_positional++ == 0) {
    w->config->input = hilo_str_copy(w->arena, hilo_str_of(word));
  } else if (w->n_positional == 2) {
    hilo_sb_printf(&w->err,
                   "%.*s: Too many positional arguments specified!\n"
                   "Can specify at most 1 positional arguments: See: %s --help\n",
                   HILO_FMT(w->program), w->as_given);
    w->failed = true;
  }
}

static void walk_words(walk *w) {
  bool only_positional = false;
  for (w->at = 0; w->at < w->words.n && !w->stop;) {
    const char *word = w->words.v[w->at++];
    if (only_positional || word[0] != '-' || word[1] == '\0') {
      take_positional(w, word);
      continue;
    }
    if (strcmp(word, "--") == 0) {
      only_positional = true;
      continue;
    }
    const char *start = word + (word[1] == '-' ? 2 : 1);
    const char *equals = strchr(start, '=');
    const hilo_str name = {start, equals ? (size_t)(equals - start) : strlen(start)};
    const hilo_str value = equals ? hilo_str_of(equals + 1) : (hilo_str){0};
    const hilo_option *option = find_option(w, name);
    if (option)
      take_option(w, option, value, equals != NULL);
    else
      unknown_word(w, word, name, value);
  }
}

/* The string of --partitioner-opts, split at blanks; it comes last and so wins. */
static void walk_partitioner_options(walk *w) {
  hilo_str rest = w->config->partitioner_opts;
  w->words.n = 0;
  w->partitioner_only = true;
  for (;;) {
    rest = hilo_str_trim(rest);
    if (!rest.n) break;
    size_t n = 0;
    while (n < rest.n && !strchr(" \t\r\n", rest.p[n])) n++;
    HILO_PUSH(w->arena, &w->words, hilo_str_copy(w->arena, (hilo_str){rest.p, n}).p);
    rest.p += n, rest.n -= n;
  }
  walk_words(w);
}

static hilo_command finish(walk *w, bool stop, int exit_code) {
  return (hilo_command){
      .config = stop ? NULL : w->config,
      .exit_code = exit_code,
      .out = hilo_sb_view(&w->out),
      .err = hilo_sb_view(&w->err),
      .diags = w->diags,
  };
}

static void start_walk(walk *w, hilo_tool tool, int argc, const char *const *argv,
                       hilo_arena *arena) {
  *w = (walk){.tool = tool,
              .arena = arena,
              .config = HILO_NEW(arena, hilo_config),
              .out = hilo_sb_make(arena),
              .err = hilo_sb_make(arena),
              .diags = hilo_diags_make(arena)};
  w->as_given = argc > 0 && argv[0][0] ? argv[0] : hilo_tool_name(tool);
  const char *slash = strrchr(w->as_given, '/');
  w->program = hilo_str_of(slash && slash[1] ? slash + 1 : w->as_given);
  hilo_config_init(w->config, tool);
}

hilo_command hilo_command_parse(hilo_tool tool, int argc, const char *const *argv,
                                hilo_arena *arena, hilo_read_file_fn *read_file) {
  walk w;
  start_walk(&w, tool, argc, argv, arena);
  if (!hilo_response_expand(argc, argv, arena, read_file, &w.words)) {
    hilo_sb_printf(&w.err, "%.*s: the response files are too large or name each other too often\n",
                   HILO_FMT(w.program));
    return finish(&w, true, 1);
  }
  walk_words(&w);
  if (w.stop) return finish(&w, true, 0);
  if (w.failed) return finish(&w, true, 1);
  walk_partitioner_options(&w);
  if (w.failed) return finish(&w, true, 1);
  hilo_config_settle(w.config);
  if (hilo_config_check(w.config, &w.diags) != HILO_OK) {
    for (uint32_t i = 0; i < w.diags.n; i++)
      if (w.diags.list[i].level >= HILO_LEVEL_ERROR) hilo_diag_render(&w.diags.list[i], &w.err);
    return finish(&w, true, 1);
  }
  if (w.config->print_options || w.config->print_all_options)
    hilo_help_print_options(w.config, w.config->print_all_options, &w.out);
  return finish(&w, false, 0);
}
