/* scatter: elements of the operands combined with updates where index vectors point to.
 *
 * Order: index vectors row-major, and within a window row-major; so what several updates of one
 * element give is determined. A window that does not lie in the operand as a whole is left out, as
 * XLA does it. A region that gives the updates back is copies of windows. Any other is applied to
 * batches of updates that go to different elements: a batch ends before the first update of an
 * element that it already has, so that each sees what the ones before it left. */
#include "eval/machine/apply.h"
#include "eval/movement/index_space.h"

enum { BATCH = 256, TABLE = 1024 };

/* The elements that a batch has: a hash table that is emptied by counting its epoch up. */
typedef struct {
  int64_t element[TABLE];
  uint64_t epoch[TABLE], now;
} element_set;

/* False: it is there already. */
static bool insert(element_set *set, int64_t element) {
  uint32_t at = (uint32_t)((uint64_t)element * 0x9e3779b97f4a7c15u >> 54);
  for (; set->epoch[at] == set->now; at = (at + 1) % TABLE)
    if (set->element[at] == element) return false;
  set->epoch[at] = set->now;
  set->element[at] = element;
  return true;
}

/* One operand, its result and its updates. `current` and `update` are packed, and of the types that
 * the region takes; `loose` is room for their conversion. */
typedef struct {
  hilo_etype etype, update_etype; /* of the result, of the updates */
  hilo_etype param, update_param, result;
  char *data;
  const char *updates;
  char *current, *update, *loose;
} column;

typedef struct {
  hilo_index_space space;
  hilo_walk window; /* place 0: operand; place 1: updates */
  hilo_run run;
  hilo_apply *apply;
  uint32_t n;
  column *columns;
  const char **args;
  char **results;
  element_set *set;
  uint32_t count;
  int64_t to[BATCH], from[BATCH];
} scatter;

/* ---- a batch ---- */

#define COLLECT(type)                                                                              \
  for (uint32_t k = 0; k < n; k++)                                                                 \
    memcpy(to + k * sizeof(type), from + at[k] * (int64_t)sizeof(type), sizeof(type));
#define SPREAD(type)                                                                               \
  for (uint32_t k = 0; k < n; k++)                                                                 \
    memcpy(to + at[k] * (int64_t)sizeof(type), from + k * sizeof(type), sizeof(type));

static void collect(const char *from, const int64_t *at, uint32_t n, uint32_t size, char *to) {
  switch (size) {
  case 1: COLLECT(uint8_t) break;
  case 2: COLLECT(uint16_t) break;
  case 4: COLLECT(uint32_t) break;
  case 8: COLLECT(uint64_t) break;
  default: COLLECT(uint64_t[2]) break;
  }
}
static void spread(const char *from, uint32_t n, uint32_t size, char *to, const int64_t *at) {
  switch (size) {
  case 1: SPREAD(uint8_t) break;
  case 2: SPREAD(uint16_t) break;
  case 4: SPREAD(uint32_t) break;
  case 8: SPREAD(uint64_t) break;
  default: SPREAD(uint64_t[2]) break;
  }
}

/* n elements at these places, as type `to`. */
static void collect_as(hilo_etype etype, const char *from, const int64_t *at, uint32_t n,
                       hilo_etype to, char *loose, char *packed) {
  collect(from, at, n, hilo_etype_bytes(etype), etype == to ? packed : loose);
  if (etype != to) hilo_eval_convert_elements(etype, to, loose, n, packed);
}

static hilo_status flush(scatter *s) {
  const uint32_t n = s->count;
  if (n == 0) return HILO_OK;
  for (uint32_t k = 0; k < s->n; k++) {
    const column *c = &s->columns[k];
    collect_as(c->etype, c->data, s->to, n, c->param, c->loose, c->current);
    collect_as(c->update_etype, c->updates, s->from, n, c->update_param, c->loose, c->update);
  }
  HILO_TRY(hilo_apply_run(s->apply, n, s->args, s->results));
  for (uint32_t k = 0; k < s->n; k++) {
    const column *c = &s->columns[k];
    const bool converts = c->result != c->etype;
    if (converts) hilo_eval_convert_elements(c->result, c->etype, s->results[k], n, c->loose);
    spread(converts ? c->loose : s->results[k], n, hilo_etype_bytes(c->etype), c->data, s->to);
  }
  s->count = 0;
  s->set->now++;
  return HILO_OK;
}

static hilo_status push(scatter *s, int64_t to, int64_t from) {
  if (s->count == BATCH || !insert(s->set, to)) {
    HILO_TRY(flush(s));
    (void)insert(s->set, to);
  }
  s->to[s->count] = to;
  s->from[s->count++] = from;
  return HILO_OK;
}

static hilo_status push_window(scatter *s, int64_t to, int64_t from) {
  hilo_walk *w = &s->window;
  for (bool more = s->run.n > 0 && hilo_walk_begin(w); more; more = hilo_walk_next(w))
    for (int64_t k = 0; k < s->run.n; k++)
      HILO_TRY(push(s, to + w->at[0] + k * s->run.step[0], from + w->at[1] + k * s->run.step[1]));
  return HILO_OK;
}

static hilo_status apply_updates(scatter *s) {
  hilo_walk *v = &s->space.vectors;
  for (bool more = s->space.fits && hilo_walk_begin(v); more; more = hilo_walk_next(v)) {
    int64_t at;
    if (hilo_index_space_at(&s->space, false, &at))
      HILO_TRY(push_window(s, at, v->at[HILO_AT_WINDOW]));
  }
  return flush(s);
}

/* ---- regions that give back the updates ---- */

static bool gives_updates(const hilo_eval *e, hilo_comp region, uint32_t n) {
  const hilo_inst root = hilo_comp_root(e->m, region);
  const bool is_tuple = hilo_inst_is(e->m, root, HILO_OP_TUPLE);
  for (uint32_t k = 0; k < n; k++) {
    const hilo_inst result = is_tuple ? hilo_inst_operand(e->m, root, k) : root;
    if (!hilo_inst_is(e->m, result, HILO_OP_PARAMETER) || hilo_inst_index(e->m, result) != n + k)
      return false;
  }
  return is_tuple || n == 1;
}

static void copy_updates(scatter *s) {
  const hilo_dims box = {s->space.size, s->space.rank};
  for (uint32_t k = 0; k < s->n && s->space.fits; k++) {
    const column *c = &s->columns[k];
    const uint32_t size = hilo_etype_bytes(c->etype);
    hilo_copy_plan plan;
    hilo_copy_prepare(&plan, box, size, &s->space.in_operand, &s->space.in_windows);
    hilo_walk *v = &s->space.vectors;
    for (bool more = hilo_walk_begin(v); more; more = hilo_walk_next(v)) {
      int64_t at;
      if (hilo_index_space_at(&s->space, false, &at))
        hilo_copy_run(&plan, c->data + at * size, c->updates + v->at[HILO_AT_WINDOW] * size);
    }
  }
}

/* ---- the operation ---- */

enum { MAX_ELEMENT = 16 };

static hilo_status open_columns(scatter *s, const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                hilo_value *results) {
  for (uint32_t k = 0; k < s->n; k++) {
    column *c = &s->columns[k];
    c->etype = hilo_value_etype(e, &results[k]);
    c->update_etype = hilo_value_etype(e, &args[s->n + 1 + k]);
    c->updates = args[s->n + 1 + k].data;
    const hilo_etype from = hilo_value_etype(e, &args[k]);
    c->data = from == c->etype ? hilo_eval_new_from(e, i, args, k, &results[k])
                               : hilo_eval_new_array(e, i, &results[k]);
    if (!c->data) return HILO_LIMIT_ERROR;
    if (from != c->etype)
      hilo_eval_convert_elements(from, c->etype, args[k].data, hilo_value_n_elements(e, &args[k]),
                                 c->data);
  }
  return HILO_OK;
}

static hilo_status open_region(scatter *s, const hilo_eval *e, hilo_inst i, hilo_comp region) {
  HILO_TRY(hilo_apply_open(e, i, region, &s->apply));
  s->args = HILO_NEW_ARRAY(e->scratch, const char *, 2 * s->n);
  s->results = HILO_NEW_ARRAY(e->scratch, char *, s->n);
  s->set = HILO_NEW_ZEROED(e->scratch, element_set, 1);
  s->set->now = 1;
  for (uint32_t k = 0; k < s->n; k++) {
    column *c = &s->columns[k];
    c->param = hilo_apply_param_etype(s->apply, k);
    c->update_param = hilo_apply_param_etype(s->apply, s->n + k);
    c->result = hilo_apply_result_etype(s->apply, k);
    char *room = hilo_arena_alloc_array(e->scratch, 4 * BATCH, MAX_ELEMENT, MAX_ELEMENT);
    c->current = room;
    c->update = room + BATCH * MAX_ELEMENT;
    c->loose = room + 2 * BATCH * MAX_ELEMENT;
    s->args[k] = c->current;
    s->args[s->n + k] = c->update;
    s->results[k] = room + 3 * BATCH * MAX_ELEMENT;
  }
  return HILO_OK;
}

static bool has_one_etype(const column *c) { return c->etype == c->update_etype; }

hilo_status hilo_eval_op_scatter(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                 hilo_value *out) {
  const hilo_scatter_attrs a = hilo_attrs(e->m, i, scatter);
  const hilo_index_dims dims = {.window_dims = a.update_window_dims,
                                .removed = a.inserted_window_dims,
                                .map = a.scatter_dims_to_operand_dims,
                                .batching = a.input_batching_dims,
                                .index_batching = a.scatter_indices_batching_dims,
                                .index_vector_dim = a.index_vector_dim};
  const uint32_t n = hilo_inst_n_operands(e->m, i) / 2;
  const bool is_tuple = hilo_type_is_tuple(&e->m->types, out->type);
  hilo_value *results = is_tuple ? hilo_eval_new_tuple(e, i, n, out) : out;
  if (!results) return HILO_LIMIT_ERROR;
  for (uint32_t k = 0; is_tuple && k < n; k++)
    results[k].type = hilo_type_element(&e->m->types, out->type, k);

  scatter *s = HILO_NEW_ZEROED(e->scratch, scatter, 1);
  s->n = n;
  s->columns = HILO_NEW_ZEROED(e->scratch, column, n);
  HILO_TRY(open_columns(s, e, i, args, results));
  s->space = hilo_index_space_of(e, &dims, &args[n], hilo_type_dims(&e->m->types, args[0].type),
                                 hilo_type_dims(&e->m->types, args[n + 1].type));
  const hilo_comp region = hilo_inst_called(e->m, i, 0);
  bool is_copy = gives_updates(e, region, n);
  for (uint32_t k = 0; k < n; k++) is_copy &= has_one_etype(&s->columns[k]);
  if (is_copy) {
    copy_updates(s);
    return HILO_OK;
  }
  HILO_TRY(open_region(s, e, i, region));
  s->window = hilo_walk_of((hilo_dims){s->space.size, s->space.rank});
  hilo_walk_follow(&s->window, &s->space.in_operand);
  hilo_walk_follow(&s->window, &s->space.in_windows);
  hilo_walk_simplify(&s->window);
  s->run = hilo_walk_take_run(&s->window);
  return apply_updates(s);
}
