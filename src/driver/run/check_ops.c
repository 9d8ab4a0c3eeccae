#include "driver/run/check_ops.h"

#include "analysis/custom_call.h"
#include "driver/run/run_compare.h"
#include "driver/run/run_report.h"

#include <inttypes.h>
#include <stdlib.h>

enum { DEFAULT_MAX_ULP = 3, MAX_DEPTH = 16 };
#define DEFAULT_TOLERANCE 1e-3
#define EQ_TOLERANCE 1e-4

bool hilo_is_test_op(const hilo_module *m, hilo_inst i) {
  const hilo_str target = hilo_custom_call_target(m, i);
  return hilo_str_starts(target, "check.") || hilo_str_starts(target, "interpreter.");
}

/* ---- attributes: the dictionary of the backend config ---- */

static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

/* The end of the value at `p`: a comma or brace outside of all brackets and strings. */
static const char *end_of_value(const char *p, const char *end) {
  int depth = 0;
  for (; p < end; p++) {
    if (*p == '"') {
      for (p++; p < end && *p != '"'; p++)
        if (*p == '\\' && p + 1 < end) p++;
    } else if (strchr("[{(<", *p)) {
      depth++;
    } else if (*p == ']' || *p == ')' || *p == '>' || *p == '}') {
      if (depth-- == 0) return p;
    } else if (*p == ',' && depth == 0) {
      return p;
    }
    if (p == end) return end;
  }
  return end;
}

/* The text of attribute `key`, empty if it is not there. */
static hilo_str attribute(const hilo_module *m, hilo_inst i, const char *key) {
  const hilo_record extra = hilo_inst_extra_record(m, i);
  if (!extra.ix) return (hilo_str){0};
  const hilo_str text = hilo_string_of(m, hilo_extra_get(&m->records, extra).backend_config);
  const char *p = text.p, *end = text.p + text.n;
  while (p < end && is_space(*p)) p++;
  if (p == end || *p++ != '{') return (hilo_str){0};
  while (p < end) {
    while (p < end && (is_space(*p) || *p == ',')) p++;
    const char *name = p;
    while (p < end && *p != '=' && *p != ',' && *p != '}') p++;
    const hilo_str found = hilo_str_trim((hilo_str){name, (size_t)(p - name)});
    if (p == end || *p != '=') return (hilo_str){0};
    const char *value = ++p;
    p = end_of_value(p, end);
    if (hilo_str_is(found, key)) return hilo_str_trim((hilo_str){value, (size_t)(p - value)});
    if (p == end || *p == '}') break;
  }
  return (hilo_str){0};
}

/* `3 : i64`, `0.1`; what comes before the colon. */
static hilo_str number_text(hilo_str text) {
  const char *colon = text.n ? memchr(text.p, ':', text.n) : NULL;
  return hilo_str_trim((hilo_str){text.p, colon ? (size_t)(colon - text.p) : text.n});
}

static uint64_t natural(const hilo_module *m, hilo_inst i, const char *key, uint64_t otherwise) {
  uint64_t v;
  return hilo_str_parse_u64(number_text(attribute(m, i, key)), &v) ? v : otherwise;
}

static double real(const hilo_check_state *s, hilo_inst i, const char *key, double otherwise) {
  const hilo_str text = number_text(attribute(s->m, i, key));
  return text.n ? strtod(hilo_str_copy(s->arena, text).p, NULL) : otherwise;
}

/* A string without its quotes, escapes as they stand. */
static hilo_str string(const hilo_module *m, hilo_inst i, const char *key) {
  const hilo_str text = attribute(m, i, key);
  if (text.n < 2 || text.p[0] != '"') return text;
  return (hilo_str){text.p + 1, text.n - 2};
}

/* ---- results ---- */

static hilo_status refuse(const hilo_eval *e, hilo_inst i, const char *what) {
  (void)hilo_inst_error(e->m, e->diags, HILO_DIAG_EMOD907, i, "`%.*s` cannot be evaluated: %s",
                        HILO_FMT(hilo_custom_call_target(e->m, i)), what);
  return HILO_LIMIT_ERROR;
}

/* Nothing, or the one pred that check.eq gives. */
static hilo_status finish(const hilo_eval *e, hilo_inst i, bool passed, hilo_value *out) {
  *out = (hilo_value){.type = hilo_inst_type(e->m, i)};
  const hilo_type_info info = hilo_type_get(&e->m->types, out->type);
  if (info.etype != HILO_PRED) return HILO_OK;
  if (info.n_elements != 1) return refuse(e, i, "it gives more than one truth value");
  out->owner = hilo_buffer_new(e->heap, 1);
  if (!out->owner) return refuse(e, i, "its value is too large for the memory limit");
  *hilo_buffer_bytes(out->owner) = passed;
  out->data = hilo_buffer_bytes(out->owner);
  return HILO_OK;
}

/* ---- comparing ---- */

static void report_failure(hilo_check_state *s, hilo_inst i, const char *fmt, ...)
    HILO_PRINTF(3, 4);
static void report_failure(hilo_check_state *s, hilo_inst i, const char *fmt, ...) {
  hilo_sb_printf(s->out, "    %.*s failed: ", HILO_FMT(hilo_custom_call_target(s->m, i)));
  va_list args;
  va_start(args, fmt);
  hilo_sb_vprintf(s->out, fmt, args);
  va_end(args);
  hilo_sb_cat(s->out, "\n        ");
  hilo_report_inst(s->m, i, s->out);
  hilo_sb_char(s->out, '\n');
}

/* Count a check of two arrays, say what failed. */
static bool check(hilo_check_state *s, hilo_inst i, const hilo_array *got,
                  const hilo_array *expected, const hilo_tolerance *tolerance) {
  s->n_checks++;
  hilo_sb text = hilo_sb_make(s->arena);
  if (!hilo_arrays_comparable(got, expected)) {
    hilo_report_array(got, 1, &text);
    hilo_sb_cat(&text, " against");
    hilo_report_array(expected, 1, &text);
    report_failure(s, i, "shapes or types differ:%.*s", HILO_FMT(hilo_sb_view(&text)));
    s->n_failed++;
    return false;
  }
  const hilo_comparison c = hilo_compare(got, expected, 1, tolerance);
  if (!c.differing) return true;
  hilo_comparison_print(&c, HILO_STR("its operand"), got, expected, 1, &text);
  report_failure(s, i, "%.*s", HILO_FMT(hilo_sb_view(&text)));
  s->n_failed++;
  return false;
}

static hilo_tolerance close_tolerance(const hilo_module *m, hilo_inst i) {
  return (hilo_tolerance){.ulp = natural(m, i, "max_ulp_difference", DEFAULT_MAX_ULP),
                          .min_ulp = natural(m, i, "min_ulp_difference", 0)};
}

static hilo_status check_pair(hilo_check_state *s, const hilo_eval *e, hilo_inst i, hilo_str what,
                              const hilo_value *operands, hilo_value *out) {
  const char *slices[2];
  if (hilo_inst_n_operands(s->m, i) != 2) return refuse(e, i, "it has not two operands");
  const hilo_array got = hilo_array_of_value(s->m, &operands[0], &slices[0]);
  const hilo_array expected = hilo_array_of_value(s->m, &operands[1], &slices[1]);
  const bool is_whole = hilo_etype_is_integer(got.etype) || got.etype == HILO_PRED;
  hilo_tolerance tolerance = {.bitwise = true};
  if (hilo_str_starts(what, "expect_close"))
    tolerance = close_tolerance(s->m, i);
  else if (hilo_str_starts(what, "expect_almost_eq"))
    tolerance =
        (hilo_tolerance){.atol = real(s, i, "tolerance", DEFAULT_TOLERANCE), .same_sign = true};
  else if (hilo_str_is(what, "eq") && !is_whole)
    tolerance = (hilo_tolerance){.atol = EQ_TOLERANCE, .same_sign = true};
  return finish(e, i, check(s, i, &got, &expected, &tolerance), out);
}

/* ---- probes ---- */

static void print_type(const hilo_array *array, hilo_sb *out) {
  hilo_sb_cat(out, "tensor<");
  for (uint32_t d = 0; d < array->dims.n; d++)
    hilo_sb_printf(out, "%" PRId64 "x", array->dims.v[d]);
  hilo_sb_printf(out, "%s>", hilo_etype_table[array->etype].mlir);
}

static void probe(hilo_check_state *s, hilo_inst i, const hilo_value *operand) {
  const char *slice;
  const hilo_array array = hilo_array_of_value(s->m, operand, &slice);
  if (array.etype == HILO_TOKEN) return;
  hilo_sb npy = hilo_sb_make(s->probe_arena), type = hilo_sb_make(s->probe_arena);
  hilo_npy_put_head(array.etype, array.dims, &npy);
  hilo_sb_bytes(&npy, slice, array.n * hilo_etype_bytes(array.etype));
  print_type(&array, &type);
  const hilo_str id = hilo_str_copy(s->probe_arena, string(s->m, i, "probe_id"));
  HILO_PUSH(s->probe_arena, &s->probes,
            ((hilo_probe){id, hilo_sb_view(&type), hilo_sb_view(&npy)}));
}

static const hilo_probe *find_probe(const hilo_check_state *s, hilo_str id, uint64_t iteration) {
  for (uint32_t k = s->first_probe; k < s->probes.n; k++)
    if (hilo_str_eq(s->probes.v[k].id, id) && iteration-- == 0) return &s->probes.v[k];
  return NULL;
}

static hilo_status check_serialized(hilo_check_state *s, const hilo_eval *e, hilo_inst i,
                                    const hilo_value *operand, hilo_value *out) {
  const hilo_str id = string(s->m, i, "probe_id");
  const uint64_t iteration = natural(s->m, i, "iteration", natural(s->m, i, "iter", 0));
  const hilo_probe *found = find_probe(s, id, iteration);
  const char *slice;
  const hilo_array expected = hilo_array_of_value(s->m, operand, &slice);
  hilo_npy npy = {0};
  hilo_array got;
  hilo_diags diags = hilo_diags_make(s->arena);
  if (!found) {
    s->n_checks++, s->n_failed++;
    report_failure(s, i, "no probe `%.*s` has run %" PRIu64 " times", HILO_FMT(id), iteration + 1);
  } else if (hilo_npy_parse(s->arena, found->npy, "probe", &diags, &npy) != HILO_OK ||
             hilo_array_from_npy(s->arena, &s->m->types, operand->type, &npy, 1, "the probe",
                                 &diags, &got) != HILO_OK) {
    s->n_checks++, s->n_failed++;
    report_failure(s, i, "probe `%.*s` saw %.*s: %.*s", HILO_FMT(id), HILO_FMT(found->type),
                   HILO_FMT(diags.list[0].message));
  } else {
    (void)check(s, i, &got, &expected, &(hilo_tolerance){.bitwise = true});
  }
  return finish(e, i, true, out);
}

/* ---- printing ---- */

/* As deep as the rank, at most HILO_MAX_RANK. `at` is the first element. */
static void print_dimension(const hilo_array *array, uint32_t d, uint64_t at, uint64_t stride,
                            hilo_sb *out) {
  const uint64_t n = (uint64_t)array->dims.v[d];
  const bool is_last = d + 1 == array->dims.n;
  hilo_sb_printf(out, "\n%*s[", 2 * ((int)d + 1), "");
  if (n) stride /= n;
  for (uint64_t k = 0; k < n; k++) {
    if (k) hilo_sb_cat(out, is_last ? ", " : ",");
    if (is_last)
      hilo_element_print(array, 0, at + k, out);
    else
      print_dimension(array, d + 1, at + k * stride, stride, out);
  }
  if (!is_last && n) hilo_sb_printf(out, "\n%*s", 2 * ((int)d + 1), "");
  hilo_sb_char(out, ']');
}

static void print_value(const hilo_check_state *s, hilo_inst name, const hilo_value *value) {
  const char *slice;
  const hilo_array array = hilo_array_of_value(s->m, value, &slice);
  hilo_sb_char(s->out, '%');
  hilo_name_print(s->m, hilo_inst_name(s->m, name), s->out);
  hilo_sb_cat(s->out, " = ");
  print_type(&array, s->out);
  hilo_sb_cat(s->out, " {");
  if (array.dims.n)
    print_dimension(&array, 0, 0, array.n, s->out);
  else if (array.etype != HILO_TOKEN)
    hilo_element_print(&array, 0, 0, s->out);
  hilo_sb_cat(s->out, array.dims.n ? "\n}\n" : "}\n");
}

/* ---- run_parallel ---- */

typedef struct {
  uint32_t n_replicas, n_partitions;
} grid;

/* `[[@a, @b], [@c, @d]]` */
static grid read_grid(hilo_str text) {
  grid g = {0, 0};
  uint32_t n = 0;
  for (size_t k = 1; k < text.n; k++) {
    g.n_replicas += text.p[k] == '[';
    n += text.p[k] == '@';
  }
  if (g.n_replicas && n % g.n_replicas == 0) g.n_partitions = n / g.n_replicas;
  return g;
}

/* What a program gives: each of a function's several results, or the one. */
static void append_results(const hilo_module *m, const hilo_rank *rank, hilo_value *elements,
                           uint32_t n, uint32_t *at) {
  const hilo_inst root = hilo_comp_root(m, rank->program);
  const bool is_list = hilo_type_is_tuple(&m->types, rank->result.type) &&
                       !(m->inst.flags[hilo_ix(m, root)] & HILO_INST_AS_WRITTEN);
  if (!is_list) {
    if (*at < n) elements[*at] = hilo_value_share(&rank->result);
    ++*at;
    return;
  }
  const uint32_t count = hilo_type_n_elements_of_tuple(&m->types, rank->result.type);
  for (uint32_t k = 0; k < count; k++, ++*at)
    if (*at < n) elements[*at] = hilo_value_share(&rank->result.elements[k]);
}

static hilo_status join_results(const hilo_eval *e, hilo_inst i, const hilo_rank *ranks,
                                uint32_t n_ranks, hilo_value *out) {
  const hilo_module *m = e->m;
  *out = (hilo_value){.type = hilo_inst_type(m, i)};
  const bool is_tuple = hilo_type_is_tuple(&m->types, out->type);
  const uint32_t n = is_tuple ? hilo_type_n_elements_of_tuple(&m->types, out->type) : 1;
  hilo_value single = {0}, *elements = &single;
  uint32_t at = 0;
  if (is_tuple) {
    out->owner = hilo_buffer_new(e->heap, (n + 1) * sizeof(hilo_value));
    if (!out->owner) return refuse(e, i, "its value is too large for the memory limit");
    out->owner->is_tuple = true;
    elements = (hilo_value *)(void *)hilo_buffer_bytes(out->owner);
    memset(elements, 0, (n + 1) * sizeof(hilo_value));
    out->elements = elements;
  }
  for (uint32_t r = 0; r < n_ranks; r++) append_results(m, &ranks[r], elements, n, &at);
  if (at != n) return refuse(e, i, "its programs give another number of results");
  if (!is_tuple) *out = single;
  return HILO_OK;
}

static hilo_status run_grid(hilo_check_state *s, const hilo_eval *e, hilo_inst i, grid g,
                            const hilo_value *operands, hilo_value *out) {
  const hilo_module *m = s->m;
  const uint32_t n_ranks = g.n_replicas * g.n_partitions;
  hilo_rank *ranks = HILO_NEW_ZEROED(s->arena, hilo_rank, n_ranks);
  uint32_t at = 0;
  for (uint32_t r = 0; r < n_ranks; r++) {
    ranks[r].program = hilo_inst_called(m, i, r);
    ranks[r].args = operands + at;
    at += hilo_comp_n_params(m, ranks[r].program);
  }
  if (at != hilo_inst_n_operands(m, i))
    return refuse(e, i, "its programs take another number of operands");
  const uint32_t n_infeed = hilo_inst_n_called(m, i) - n_ranks;
  hilo_comp *infeed = HILO_NEW_ARRAY(s->arena, hilo_comp, n_infeed + 1);
  for (uint32_t k = 0; k < n_infeed; k++) infeed[k] = hilo_inst_called(m, i, n_ranks + k);
  const hilo_machine_options options = {.m = m,
                                        .types = e->types,
                                        .heap = e->heap,
                                        .arena = s->arena,
                                        .diags = e->diags,
                                        .n_replicas = g.n_replicas,
                                        .n_partitions = g.n_partitions,
                                        .max_steps = s->max_steps,
                                        .partitions_first = s->m->dialect != HILO_DIALECT_HLO,
                                        .infeed = infeed,
                                        .n_infeed = n_infeed,
                                        .custom_call = hilo_check_custom_call,
                                        .user = s};
  hilo_machine_stats stats;
  HILO_TRY(hilo_machine_run(&options, ranks, &stats));
  return join_results(e, i, ranks, n_ranks, out);
}

static hilo_status run_parallel(hilo_check_state *s, const hilo_eval *e, hilo_inst i,
                                const hilo_value *operands, hilo_value *out) {
  const grid g = read_grid(attribute(s->m, i, "programs"));
  if (!g.n_partitions || g.n_replicas * (uint64_t)g.n_partitions > hilo_inst_n_called(s->m, i))
    return refuse(e, i, "its programs are not a grid of functions");
  if (s->depth == MAX_DEPTH) return refuse(e, i, "it runs itself too deeply");
  s->depth++;
  const hilo_status status = run_grid(s, e, i, g, operands, out);
  s->depth--;
  return status;
}

/* ---- all of them ---- */

static hilo_status interpret(hilo_check_state *s, const hilo_eval *e, hilo_inst i, hilo_str what,
                             const hilo_value *operands, hilo_value *out) {
  if (hilo_str_is(what, "run_parallel")) return run_parallel(s, e, i, operands, out);
  if (hilo_inst_n_operands(s->m, i) != 1) return refuse(e, i, "it has not one operand");
  if (hilo_str_is(what, "probe")) {
    probe(s, i, &operands[0]);
    *out = hilo_value_share(&operands[0]);
    return HILO_OK;
  }
  if (!hilo_str_is(what, "print")) return refuse(e, i, "no such operation is known");
  print_value(s, hilo_inst_operand(s->m, i, 0), &operands[0]);
  return finish(e, i, true, out);
}

hilo_status hilo_check_custom_call(void *user, const hilo_eval *e, hilo_inst i,
                                   const hilo_value *operands, hilo_value *out, bool *handled) {
  hilo_check_state *s = user;
  *handled = hilo_is_test_op(s->m, i);
  if (!*handled) return HILO_OK;
  const hilo_str target = hilo_custom_call_target(s->m, i);
  const size_t n = (size_t)((const char *)memchr(target.p, '.', target.n) - target.p) + 1;
  const hilo_str what = {target.p + n, target.n - n};
  if (hilo_str_starts(target, "interpreter.")) return interpret(s, e, i, what, operands, out);
  if (hilo_str_is(what, "expect_serialized_eq"))
    return hilo_inst_n_operands(s->m, i) == 1 ? check_serialized(s, e, i, &operands[0], out)
                                              : refuse(e, i, "it has not one operand");
  if (hilo_str_is(what, "eq") || hilo_str_starts(what, "expect_eq") ||
      hilo_str_starts(what, "expect_close") || hilo_str_starts(what, "expect_almost_eq"))
    return check_pair(s, e, i, what, operands, out);
  return refuse(e, i, "no such check is known");
}
