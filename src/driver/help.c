/* Help in the layout of LLVM: options sorted by name, all help texts in one column, which is as far
 * right as the longest option needs. */
#include "driver/help.h"

#include <stdlib.h>

static const char *const headings[HILO_N_HEADINGS] = {
    [HILO_CATEGORY_GENERIC] = "Generic Options",     [HILO_CATEGORY_OWN] = "hilo options",
    [HILO_CATEGORY_OPT] = "hlo-opt options",         [HILO_CATEGORY_RUN] = "hlo-run options",
    [HILO_CATEGORY_COMPILE] = "hlo2penguin options",
};

const char *hilo_tool_name(hilo_tool tool) {
  return tool == HILO_TOOL_OPT ? "hlo-opt" : tool == HILO_TOOL_RUN ? "hlo-run" : "hlo2penguin";
}

static int compare_names(const void *a, const void *b) {
  return strcmp((*(const hilo_option *const *)a)->name, (*(const hilo_option *const *)b)->name);
}

typedef struct {
  const hilo_option *v[HILO_OPTION_COUNT];
  size_t n;
} option_list;

/* The tool's options that are at most that well hidden, by name. */
static void list_options(hilo_tool tool, hilo_visibility most, option_list *list) {
  list->n = 0;
  for (size_t i = 0; i < HILO_OPTION_COUNT; i++)
    if ((hilo_options[i].tools & tool) && hilo_options[i].visibility <= most)
      list->v[list->n++] = &hilo_options[i];
  qsort(list->v, list->n, sizeof(const hilo_option *), compare_names);
}

/* `  --name=<word>` as the help shows it. */
static void print_head(const hilo_option *option, hilo_sb *out) {
  hilo_sb_printf(out, "  %s%s", option->name[1] ? "--" : "-", option->name);
  const char *word = hilo_option_value_word(option);
  if (!word) return;
  const bool optional = hilo_option_value_use(option) == HILO_VALUE_OPTIONAL;
  hilo_sb_printf(out, optional ? "[=<%s>]" : "=<%s>", word);
}

static void pad(hilo_sb *out, size_t from, size_t width) {
  while (out->n - from < width) hilo_sb_char(out, ' ');
}

static void print_option(const hilo_option *option, size_t width, hilo_sb *out) {
  size_t from = out->n;
  print_head(option, out);
  pad(out, from, width);
  hilo_sb_printf(out, " - %s\n", option->help);
  const hilo_enum_word *words = hilo_option_enum_words(option);
  for (; words && words->word; words++) {
    if (!words->help) continue;
    from = out->n;
    hilo_sb_printf(out, "    =%s", words->word);
    pad(out, from, width);
    hilo_sb_printf(out, " -   %s\n", words->help);
  }
}

static size_t widest(const option_list *list, hilo_sb *scratch) {
  const size_t before = scratch->n;
  size_t width = 0;
  for (size_t i = 0; i < list->n; i++) {
    print_head(list->v[i], scratch);
    if (scratch->n - before > width) width = scratch->n - before;
    scratch->n = before;
  }
  return width;
}

/* What the options alone do not tell. */
static const char run_help[] =
    "\nWith several modules each is run in turn. Of --check, --against, --check-pass, --expect "
    "and\n"
    "--case one may be given; without them the results are summarised.\n"
    "\n"
    "EXIT STATUS: 0 all equal, or nothing to compare; 1 an input was rejected; 2 results differ;\n"
    "3 something cannot be evaluated, or not within the bounds. Of several modules the worst "
    "counts:\n"
    "1, then 3, then 2.\n"
    "\n"
    "EXAMPLES:\n"
    "  hlo-run model.hlo --inputs=in.npz --expect=out.npz --rtol=1e-5 --atol=1e-6\n"
    "  hlo-run model.hlo --seed=7 --outputs=out.npz\n"
    "  hlo-run before.hlo --against=after.hlo --trace\n"
    "  hlo-run model.hlo --check-pass=dce,call-inliner\n"
    "  hlo-run --check tests/*.mlir\n";

static void print_heading(const option_list *list, hilo_category category, size_t width,
                          hilo_sb *out) {
  bool any = false;
  for (size_t i = 0; i < list->n; i++) {
    if (list->v[i]->category != category) continue;
    if (!any) hilo_sb_printf(out, "\n%s:\n\n", headings[category]);
    any = true;
    print_option(list->v[i], width, out);
  }
}

void hilo_help_print(hilo_tool tool, hilo_str program, bool hidden, bool list, hilo_sb *out) {
  option_list options;
  list_options(tool, hidden ? HILO_VISIBLE_HIDDEN : HILO_VISIBLE_NORMAL, &options);
  hilo_sb_printf(out, "OVERVIEW: %s\n\nUSAGE: %.*s [options]%s\n\nOPTIONS:\n", hilo_tool_name(tool),
                 HILO_FMT(program),
                 tool == HILO_TOOL_OPT   ? " [INPUT]"
                 : tool == HILO_TOOL_RUN ? " MODULE..."
                                         : "");
  const size_t width = widest(&options, out);
  if (!list)
    for (int c = 0; c < HILO_N_HEADINGS; c++) print_heading(&options, (hilo_category)c, width, out);
  for (size_t i = 0; list && i < options.n; i++)
    if (hidden || options.v[i]->type != HILO_TYPE_HELP_LIST) /* LLVM's list leaves itself out */
      print_option(options.v[i], width, out);
  if (tool == HILO_TOOL_RUN && !list) hilo_sb_cat(out, run_help);
}

void hilo_help_print_version(hilo_tool tool, hilo_sb *out) {
  hilo_sb_printf(out, "%s (open) %s\n", hilo_tool_name(tool), HILO_VERSION);
}

void hilo_help_print_options(const hilo_config *config, bool all, hilo_sb *out) {
  option_list options;
  list_options(config->tool, HILO_VISIBLE_REALLY, &options);
  hilo_config initial;
  hilo_config_init(&initial, config->tool);
  hilo_config_settle(&initial);
  hilo_sb value = hilo_sb_make(out->arena), otherwise = hilo_sb_make(out->arena);
  for (size_t i = 0; i < options.n; i++) {
    const hilo_option *option = options.v[i];
    if (option->type >= HILO_TYPE_PREFIX) continue;
    hilo_sb_clear(&value);
    hilo_sb_clear(&otherwise);
    hilo_option_print(option, config, &value);
    hilo_option_print(option, &initial, &otherwise);
    if (!all && hilo_str_eq(hilo_sb_view(&value), hilo_sb_view(&otherwise))) continue;
    hilo_sb_printf(out, "  --%s = %.*s (default: %.*s)\n", option->name,
                   HILO_FMT(hilo_sb_view(&value)), HILO_FMT(hilo_sb_view(&otherwise)));
  }
  hilo_sb_free(&value);
  hilo_sb_free(&otherwise);
}

bool hilo_help_explain(hilo_str code, hilo_sb *out) {
  for (hilo_diag_code i = 0; i < HILO_DIAG_COUNT; i++) {
    const char *name = hilo_diag_name(i);
    if (!hilo_str_is(code, name) && !hilo_str_is(code, name + strlen("NCC_"))) continue;
    hilo_sb_printf(out, "%s: %s\n", name, hilo_diag_cause(i));
    if (hilo_diag_remedy(i)[0]) hilo_sb_printf(out, "  %s\n", hilo_diag_remedy(i));
    return true;
  }
  return false;
}
