#include "driver/run/run_prove.h"

#include "analysis/ranks.h"
#include "driver/run/run_report.h"
#include "driver/run/run_seed.h"
#include "eval/draws.h"
#include "ir/etype_format.h"
#include "passes/stablehlo/sdy.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* One evaluation: a copy of the module, which may get new types, and what it gave. */
typedef struct {
  hilo_arena arena;
  hilo_module *m;
  hilo_outcome outcome;
} side;

struct hilo_prover {
  hilo_prover_options options;
  hilo_diags *diags;
  hilo_arena input_arena;
  hilo_arrays inputs;  /* one a leaf of the first module */
  uint64_t *is_weight; /* a bit a leaf: its parameter has a file */
  hilo_draws draws;    /* of the first module */
  side sides[2];
  uint32_t now; /* the side that holds the module as it stands */
  bool is_evaluated, failed, gave_up;
  hilo_str why; /* it gave up */
};

hilo_prover *hilo_prover_make(hilo_arena *arena, const hilo_prover_options *options,
                              hilo_diags *diags) {
  hilo_prover *p = HILO_NEW_ZEROED(arena, hilo_prover, 1);
  p->options = *options;
  p->diags = diags;
  hilo_arena_init(&p->input_arena, arena->allocator, arena->oom);
  for (int k = 0; k < 2; k++) hilo_arena_init(&p->sides[k].arena, arena->allocator, arena->oom);
  return p;
}

void hilo_prover_drop(hilo_prover *p) {
  if (!p) return;
  for (int k = 0; k < 2; k++) {
    hilo_outcome_drop(&p->sides[k].outcome);
    hilo_arena_deinit(&p->sides[k].arena);
  }
  hilo_arena_deinit(&p->input_arena);
}

bool hilo_prover_failed(const hilo_prover *p) { return p && p->failed; }
bool hilo_prover_gave_up(const hilo_prover *p) { return p && p->gave_up; }
hilo_str hilo_prover_why(const hilo_prover *p) { return p->why; }
void hilo_prover_rewind(hilo_prover *p) {
  if (!p->is_evaluated) return;
  p->failed = p->gave_up = false;
  p->why = (hilo_str){0};
}

/* ---- evaluating ---- */

static void give_up(hilo_prover *p, const char *when, const char *why) {
  p->gave_up = true;
  p->why = hilo_str_copy(&p->input_arena, hilo_str_of(why));
  hilo_sb text = hilo_sb_make(&p->input_arena);
  hilo_sb_printf(&text, "not checked by evaluation %s: %s\n", when, why);
  hilo_log_print_console(p->options.log, hilo_sb_view(&text));
  hilo_sb_free(&text);
}

static void give_up_by(hilo_prover *p, const char *when, const hilo_diags *why) {
  hilo_sb text = hilo_sb_make(&p->input_arena);
  if (why->n) {
    const hilo_diag *d = &why->list[0];
    hilo_sb_str(&text, d->message);
    if (d->place.instruction.n)
      hilo_sb_printf(&text, " (at `%.*s`)", HILO_FMT(d->place.instruction));
  } else {
    hilo_sb_cat(&text, "it cannot be evaluated");
  }
  give_up(p, when, hilo_sb_cstr(&text));
}

/* Weights come from their files, as the pass that inlines them takes them. */
static hilo_status read_weights(hilo_prover *p, const hilo_module *m, const hilo_leaves *leaves,
                                hilo_arrays *out, hilo_diags *diags) {
  for (uint32_t k = 0; k < leaves->n; k++) {
    const uint32_t param = leaves->v[k].param;
    if (!m->header.weight_files || !m->header.weight_files[param].ix) continue;
    hilo_bitset_set(p->is_weight, k);
    const hilo_str path =
        hilo_str_copy(&p->input_arena, hilo_string_of(m, m->header.weight_files[param]));
    hilo_npy npy = {0};
    HILO_TRY(hilo_npy_read(&p->input_arena, path.p, diags, &npy));
    HILO_TRY(hilo_array_from_npy(&p->input_arena, &m->types, leaves->v[k].type, &npy, 1, path.p,
                                 diags, &out->v[k]));
    const char **slices = HILO_NEW_ARRAY(&p->input_arena, const char *, out->n_ranks);
    for (uint32_t r = 0; r < out->n_ranks; r++) slices[r] = out->v[k].slices[0];
    out->v[k].slices = slices;
  }
  return HILO_OK;
}

static hilo_status make_inputs(hilo_prover *p, const hilo_module *m, hilo_diags *diags) {
  const hilo_leaves leaves = hilo_leaves_of_params(m, m->entry, &p->input_arena);
  const hilo_prover_options *o = &p->options;
  p->is_weight = hilo_bitset_create(&p->input_arena, leaves.n);
  if (o->inputs)
    p->inputs = *o->inputs;
  else
    HILO_TRY(hilo_seed_inputs(m, &leaves, o->seed, o->n_replicas, o->n_partitions, o->max_bytes,
                              NULL, &p->input_arena, diags, &p->inputs));
  return read_weights(p, m, &leaves, &p->inputs, diags);
}

/* The inputs as the parameters of `m` want them: without weights, in its element types. */
static bool fit_inputs(hilo_prover *p, side *s, hilo_arrays *out) {
  const hilo_leaves leaves = hilo_leaves_of_params(s->m, s->m->entry, &s->arena);
  uint32_t n_weights = 0;
  for (uint32_t k = 0; k < p->inputs.n; k++) n_weights += hilo_bitset_get(p->is_weight, k);
  const bool inlined = n_weights && leaves.n == p->inputs.n - n_weights;
  if (!inlined && leaves.n != p->inputs.n) return false;
  *out = (hilo_arrays){HILO_NEW_ARRAY(&s->arena, hilo_array, leaves.n + 1), 0, p->inputs.n_ranks};
  for (uint32_t k = 0; k < p->inputs.n; k++) {
    if (inlined && hilo_bitset_get(p->is_weight, k)) continue;
    if (!hilo_array_convert(&s->arena, &s->m->types, &p->inputs.v[k], leaves.v[out->n].type,
                            out->n_ranks, &out->v[out->n]))
      return false;
    out->n++;
  }
  return true;
}

/* Evaluate a copy of `m` on side `s`. False, having given up: it cannot be. */
static bool evaluate(hilo_prover *p, const hilo_module *m, side *s, const char *when) {
  hilo_outcome_drop(&s->outcome);
  hilo_arena_reset(&s->arena);
  s->m = hilo_module_clone(m, &s->arena);
  hilo_diags diags = hilo_diags_make(&s->arena);
  hilo_arrays inputs;
  if (!p->is_weight) p->draws = hilo_draws_of(m, &p->input_arena);
  (void)hilo_seed_elided(s->m, p->options.seed, p->options.max_bytes);
  const hilo_run_options options = {.n_replicas = p->options.n_replicas,
                                    .n_partitions = p->options.n_partitions,
                                    .max_bytes = p->options.max_bytes,
                                    .max_steps = p->options.max_steps,
                                    .seed = (uint64_t)p->options.seed,
                                    .draws = &p->draws,
                                    .diags = &diags};
  if (hilo_sdy_to_custom_calls(s->m, &s->arena, &diags) != HILO_OK)
    return give_up_by(p, when, &diags), false;
  if (hilo_evaluate_fits(s->m, s->m->entry, &options, &s->arena) != HILO_OK ||
      (!p->is_weight && make_inputs(p, s->m, &diags) != HILO_OK))
    return give_up_by(p, when, &diags), false;
  if (!fit_inputs(p, s, &inputs))
    return give_up(p, when, "its parameters have changed in a way that is not followed"), false;
  if (hilo_evaluate(s->m, s->m->entry, &inputs, &options, &s->arena, &s->outcome) != HILO_OK)
    return give_up_by(p, when, &diags), false;
  return true;
}

/* ---- contracts ---- */

static double terms_of(const hilo_module *m, hilo_inst i) {
  const hilo_op op = hilo_inst_op(m, i);
  if (op != HILO_OP_DOT && op != HILO_OP_CONVOLUTION && op != HILO_OP_REDUCE &&
      op != HILO_OP_REDUCE_WINDOW && op != HILO_OP_SCATTER && op != HILO_OP_BATCH_NORM_TRAINING &&
      op != HILO_OP_BATCH_NORM_GRAD)
    return 1;
  /* No element of the result sums more than this: all that goes in. */
  double most = 1;
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++) {
    const hilo_type_info info =
        hilo_type_get(&m->types, hilo_inst_type(m, hilo_inst_operand(m, i, k)));
    if (hilo_etype_is_array(info.etype)) most = fmax(most, (double)info.n_elements);
  }
  const hilo_type_info info = hilo_type_get(&m->types, hilo_inst_type(m, i));
  if (hilo_etype_is_array(info.etype) && info.n_elements && op != HILO_OP_SCATTER &&
      op != HILO_OP_CONVOLUTION)
    most /= fmin((double)info.n_elements, most);
  return most;
}

typedef struct {
  double eps, terms;
} rounding;

static rounding rounding_of(const hilo_module *m) {
  rounding r = {0, 1};
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      const hilo_etype etype = hilo_inst_etype(m, i);
      r.terms = fmax(r.terms, terms_of(m, i));
      if (!hilo_etype_is_float(etype) && !hilo_etype_is_complex(etype)) continue;
      const int bits = hilo_float_descs[hilo_etype_float_format(etype)].man_bits;
      r.eps = fmax(r.eps, ldexp(1, -bits));
    }
  }
  return r;
}

static double largest(const hilo_array *array, uint32_t n_ranks) {
  const bool is_complex = hilo_etype_is_complex(array->etype);
  const hilo_etype etype = array->etype == HILO_C64    ? HILO_F32
                           : array->etype == HILO_C128 ? HILO_F64
                                                       : array->etype;
  const uint64_t n = is_complex ? 2 * array->n : array->n;
  double most = 0, v;
  for (uint32_t r = 0; r < n_ranks; r++) {
    for (uint64_t k = 0; k < n; k++) {
      hilo_eval_convert_elements(etype, HILO_F64, array->slices[r] + k * hilo_etype_bytes(etype), 1,
                                 (char *)&v);
      if (isfinite(v) && fabs(v) > most) most = fabs(v);
    }
  }
  return most;
}

static hilo_tolerance tolerance_of(char contract, const rounding *r, const hilo_array *expected,
                                   uint32_t n_ranks) {
  const bool is_rounded =
      hilo_etype_is_float(expected->etype) || hilo_etype_is_complex(expected->etype);
  if ((contract != 'R' && contract != 'A') || !is_rounded) return (hilo_tolerance){.bitwise = true};
  const double relative = r->eps * (16 + 4 * sqrt(r->terms));
  return (hilo_tolerance){.atol = relative * largest(expected, n_ranks), .ulp = 1};
}

/* V: expected values that `got`'s type cannot hold are taken from `got`. */
static hilo_array within_range(hilo_arena *arena, const hilo_array *got, const hilo_array *expected,
                               uint32_t n_ranks) {
  hilo_array out = *got;
  const uint32_t size = hilo_etype_bytes(got->etype), from = hilo_etype_bytes(expected->etype);
  const char **slices = HILO_NEW_ARRAY(arena, const char *, n_ranks);
  char narrow[8], back[8];
  for (uint32_t r = 0; r < n_ranks; r++) {
    char *data = hilo_arena_alloc_array(arena, got->n + 1, size, 64);
    for (uint64_t k = 0; k < got->n; k++) {
      const char *element = expected->slices[r] + k * from;
      hilo_eval_convert_elements(expected->etype, got->etype, element, 1, narrow);
      hilo_eval_convert_elements(got->etype, expected->etype, narrow, 1, back);
      const bool fits = memcmp(back, element, from) == 0;
      memcpy(data + k * size, fits ? narrow : got->slices[r] + k * size, size);
    }
    slices[r] = data;
  }
  out.slices = slices;
  return out;
}

/* ---- comparing ---- */

static void blame(hilo_prover *p, const hilo_pass_info *pass, const side *after, uint32_t k,
                  const hilo_comparison *c, const hilo_array *got, const hilo_array *expected) {
  hilo_arena *arena = &p->input_arena;
  hilo_sb text = hilo_sb_make(arena), where = hilo_sb_make(arena);
  char name[32];
  const int n = snprintf(name, sizeof(name), "result %u", k);
  hilo_comparison_print(c, (hilo_str){name, (size_t)n}, got, expected, p->inputs.n_ranks, &text);
  hilo_report_inst(after->m, hilo_result_producer(after->m, after->m->entry, k), &where);
  (void)hilo_diag_add(p->diags, HILO_DIAG_EMOD932, NULL, "pass `%s` (contract %s): %.*s", pass->key,
                      pass->contract, HILO_FMT(hilo_sb_view(&text)));
  hilo_diag_note(p->diags, "computed by %.*s", HILO_FMT(hilo_sb_view(&where)));
}

static void report(hilo_prover *p, const hilo_pass_info *pass, uint32_t k, const hilo_comparison *c,
                   const hilo_array *got, const hilo_array *expected) {
  hilo_sb *out = p->options.report;
  if (!out) return;
  char name[160];
  const int n = snprintf(name, sizeof(name), "%.100s: out%u", pass->key, k);
  const hilo_str text = {name, (size_t)n};
  if (p->options.json)
    hilo_comparison_print_json(c, text, got, expected, p->inputs.n_ranks, HILO_STR(""), out);
  else
    hilo_comparison_print(c, text, got, expected, p->inputs.n_ranks, out);
  hilo_sb_char(out, '\n');
}

static void compare(hilo_prover *p, const hilo_pass_info *pass, const side *before, side *after) {
  const hilo_arrays *old = &before->outcome.results, *new = &after->outcome.results;
  if (old->n != new->n) {
    p->failed = true;
    (void)hilo_diag_add(p->diags, HILO_DIAG_EMOD932, NULL,
                        "pass `%s` changed the number of results from %u to %u", pass->key, old->n,
                        new->n);
    return;
  }
  const rounding r = rounding_of(before->m);
  for (uint32_t k = 0; k < old->n; k++) {
    const hilo_array *got = &new->v[k];
    hilo_array expected = old->v[k];
    if (expected.etype == HILO_TOKEN || got->etype == HILO_TOKEN) continue;
    if (!hilo_arrays_comparable(got, &expected)) {
      if (!expected.n) continue; /* a placeholder stands for no elements */
      p->failed = true;
      (void)hilo_diag_add(p->diags, HILO_DIAG_EMOD932, NULL,
                          "pass `%s` gave result %u another type or shape", pass->key, k);
      continue;
    }
    if (pass->contract[0] == 'V' && got->etype != expected.etype)
      expected = within_range(&after->arena, got, &expected, new->n_ranks);
    const hilo_tolerance t = tolerance_of(pass->contract[0], &r, &expected, new->n_ranks);
    const hilo_comparison c = hilo_compare(got, &expected, new->n_ranks, &t);
    report(p, pass, k, &c, got, &expected);
    if (!c.differing) continue;
    p->failed = true;
    blame(p, pass, after, k, &c, got, &expected);
  }
}

/* ---- the hooks ---- */

void hilo_prover_before(hilo_prover *p, const hilo_module *m) {
  if (!p || p->is_evaluated || p->failed || p->gave_up) return;
  p->is_evaluated = evaluate(p, m, &p->sides[p->now], "from the start");
}

void hilo_prover_after(hilo_prover *p, const hilo_module *m, const hilo_pass_info *pass,
                       bool changed) {
  if (!p || !p->is_evaluated || p->failed || p->gave_up) return;
  if (!changed) {
    if (p->options.report && !p->options.json)
      hilo_sb_printf(p->options.report, "%s: changed nothing\n", pass->key);
    return;
  }
  char when[160];
  snprintf(when, sizeof(when), "from pass `%.100s` on", pass->key);
  side *before = &p->sides[p->now], *after = &p->sides[!p->now];
  if (!evaluate(p, m, after, when)) return;
  if (pass->contract[0] != 'X') compare(p, pass, before, after);
  if (!p->options.from_first) p->now = !p->now;
}

hilo_prover *hilo_prover_for_each(hilo_arena *arena, int64_t seed, const hilo_module *m,
                                  int64_t given_partitions, int64_t given_replicas,
                                  const hilo_log *log, hilo_diags *diags) {
  if (seed == -1) return NULL;
  const hilo_ranks ranks = hilo_ranks_of(m, given_partitions, given_replicas);
  const hilo_prover_options options = {.seed = seed,
                                       .n_replicas = (uint32_t)ranks.n_replicas,
                                       .n_partitions = (uint32_t)ranks.n_partitions,
                                       .max_bytes = HILO_PROVE_MAX_BYTES,
                                       .max_steps = HILO_PROVE_MAX_STEPS,
                                       .log = log};
  return hilo_prover_make(arena, &options, diags);
}
