#include "passes/dialect/dead_values.h"

#include "rewrite/replace.h"

/* ---- which interfaces are open ---- */

static bool is_tuple(const hilo_module *m, hilo_inst i) {
  return hilo_type_is_tuple(&m->types, hilo_inst_type(m, i));
}

static bool may_read(const hilo_module *m, hilo_inst i) {
  if (!is_tuple(m, i) || hilo_inst_is_root(m, i)) return false;
  for (hilo_use u = hilo_first_use(m, i); u.slot; u = hilo_next_use(m, u))
    if (!hilo_inst_is(m, hilo_use_user(m, u), HILO_OP_GET_TUPLE_ELEMENT)) return false;
  return true;
}

static bool may_write(const hilo_module *m, hilo_inst i) {
  return hilo_inst_is(m, i, HILO_OP_TUPLE) && !hilo_control_has(m, i) &&
         (hilo_inst_is_root(m, i) ? !hilo_inst_has_uses(m, i) : hilo_inst_has_one_use(m, i));
}

/* A region that no other instruction calls, with one parameter. */
static bool is_own_region(const hilo_module *m, hilo_comp c) {
  return hilo_comp_get(m, c)->n_callers == 1 && hilo_comp_n_params(m, c) == 1;
}

/* The interface of these readers and writers, owned by the readers' first or by `owner`. */
static void add_interface(hilo_dead_values *d, hilo_inst owner, const hilo_inst *readers,
                          uint32_t n_readers, const hilo_inst *writers, uint32_t n_writers) {
  const uint32_t n = hilo_inst_n_operands(d->m, writers[0]);
  const hilo_interface *last = d->interfaces.n ? &d->interfaces.v[d->interfaces.n - 1] : NULL;
  hilo_interface f = {.n = n,
                      .first_bit = last ? last->first_bit + last->n : 0,
                      .readers = d->insts.n,
                      .n_readers = n_readers,
                      .writers = d->insts.n + n_readers,
                      .n_writers = n_writers,
                      .next = hilo_map_get(&d->by_owner, hilo_ix(d->m, owner), 0)};
  const uint32_t number = d->interfaces.n + 1;
  for (uint32_t k = 0; k < n_readers; k++) {
    HILO_PUSH(d->scratch, &d->insts, readers[k]);
    hilo_map_set(&d->by_reader, hilo_ix(d->m, readers[k]), number);
  }
  for (uint32_t k = 0; k < n_writers; k++) {
    HILO_PUSH(d->scratch, &d->insts, writers[k]);
    if (hilo_inst_is_root(d->m, writers[k]))
      hilo_bitset_set(d->open_roots, hilo_comp_ix(d->m, hilo_inst_comp(d->m, writers[k])));
  }
  hilo_map_set(&d->by_owner, hilo_ix(d->m, owner), number);
  HILO_PUSH(d->scratch, &d->interfaces, f);
}

static void open_loop(hilo_dead_values *d, hilo_inst loop) {
  const hilo_module *m = d->m;
  const hilo_comp body = hilo_inst_called(m, loop, HILO_WHILE_BODY);
  const hilo_comp condition = hilo_inst_called(m, loop, HILO_WHILE_CONDITION);
  if (!is_own_region(m, body) || !is_own_region(m, condition)) return;
  const hilo_inst readers[] = {loop, hilo_comp_param(m, body, 0), hilo_comp_param(m, condition, 0)};
  const hilo_inst writers[] = {hilo_inst_operand(m, loop, 0), hilo_comp_root(m, body)};
  for (size_t k = 0; k < HILO_COUNT(readers); k++)
    if (!may_read(m, readers[k])) return;
  for (size_t k = 0; k < HILO_COUNT(writers); k++)
    if (!may_write(m, writers[k])) return;
  add_interface(d, loop, readers, HILO_COUNT(readers), writers, HILO_COUNT(writers));
}

static void open_conditional(hilo_dead_values *d, hilo_inst i) {
  const hilo_module *m = d->m;
  const uint32_t n = hilo_inst_n_called(m, i);
  hilo_inst *roots = HILO_NEW_ARRAY(d->scratch, hilo_inst, n + 1);
  bool results = n && may_read(m, i);
  for (uint32_t k = 0; k < n; k++) {
    const hilo_comp branch = hilo_inst_called(m, i, k);
    roots[k] = hilo_comp_root(m, branch);
    if (!is_own_region(m, branch)) {
      results = false;
      continue;
    }
    results &= may_write(m, roots[k]);
    const hilo_inst param = hilo_comp_param(m, branch, 0), operand = hilo_inst_operand(m, i, k + 1);
    if (may_read(m, param) && may_write(m, operand)) add_interface(d, i, &param, 1, &operand, 1);
  }
  if (results) add_interface(d, i, &i, 1, roots, n);
}

/* ---- functions ---- */

static bool is_plain_call(const hilo_module *m, hilo_inst i) {
  return hilo_inst_is(m, i, HILO_OP_CALL) && !hilo_inst_extra(m, i).is_composite &&
         !(hilo_inst_attr(m, i).ix && hilo_attrs(m, i, call).output_operand_aliasing.n);
}

/* Calls of the reached part by callee: counting sort. */
static void sort_calls(hilo_dead_values *d, const hilo_comp_list *order) {
  const hilo_module *m = d->m;
  const uint32_t n_comps = hilo_module_n_comps(m);
  d->first_call = HILO_NEW_ZEROED(d->scratch, uint32_t, n_comps + 2);
  uint32_t *next = HILO_NEW_ZEROED(d->scratch, uint32_t, n_comps + 2);
  for (int round = 0; round < 2; round++) {
    for (uint32_t c = 0; c < order->n_reached; c++) {
      HILO_FOR_EACH_INST(m, order->v[c], i) {
        if (!is_plain_call(m, i)) continue;
        const uint32_t callee = hilo_comp_ix(m, hilo_inst_called(m, i, 0));
        if (round)
          d->calls[next[callee]++] = i;
        else
          d->first_call[callee + 1]++;
      }
    }
    if (round) break;
    for (uint32_t k = 1; k <= n_comps; k++) d->first_call[k] += d->first_call[k - 1];
    memcpy(next, d->first_call, n_comps * sizeof(uint32_t));
    d->calls = HILO_NEW_ARRAY(d->scratch, hilo_inst, d->first_call[n_comps] + 1);
  }
}

hilo_call_list hilo_dead_calls_of(const hilo_dead_values *d, hilo_comp c) {
  const uint32_t ix = hilo_comp_ix(d->m, c);
  if (!hilo_bitset_get(d->open_arguments, ix)) return (hilo_call_list){NULL, 0};
  return (hilo_call_list){d->calls + d->first_call[ix], d->first_call[ix + 1] - d->first_call[ix]};
}

static void open_function(hilo_dead_values *d, hilo_comp c) {
  const hilo_module *m = d->m;
  const uint32_t ix = hilo_comp_ix(m, c), first = d->first_call[ix];
  const uint32_t n = d->first_call[ix + 1] - first;
  const hilo_comp_row *row = hilo_comp_get(m, c);
  if (!n || n != row->n_callers || row->func || hilo_comp_eq(c, m->entry)) return;
  hilo_bitset_set(d->open_arguments, ix);
  const hilo_inst root = hilo_comp_root(m, c);
  if (!may_write(m, root)) return;
  for (uint32_t k = 0; k < n; k++)
    if (!may_read(m, d->calls[first + k])) return;
  add_interface(d, d->calls[first], d->calls + first, n, &root, 1);
  for (uint32_t k = 1; k < n; k++)
    hilo_map_set(&d->by_owner, hilo_ix(m, d->calls[first + k]), d->interfaces.n);
}

void hilo_dead_values_init(hilo_dead_values *d, hilo_module *m, const hilo_comp_list *order,
                           hilo_arena *scratch) {
  *d = (hilo_dead_values){.m = m,
                          .scratch = scratch,
                          .by_reader = hilo_map_make(scratch),
                          .by_owner = hilo_map_make(scratch)};
  d->effects = hilo_effects_make(m, scratch);
  d->live = hilo_bitset_create(scratch, m->n_inst_slots);
  d->entered = hilo_bitset_create(scratch, hilo_module_n_comps(m));
  d->open_roots = hilo_bitset_create(scratch, hilo_module_n_comps(m));
  d->open_arguments = hilo_bitset_create(scratch, hilo_module_n_comps(m));
  sort_calls(d, order);
  for (uint32_t c = 0; c < order->n_reached; c++) {
    open_function(d, order->v[c]);
    HILO_FOR_EACH_INST(m, order->v[c], i) {
      if (hilo_inst_is(m, i, HILO_OP_WHILE)) open_loop(d, i);
      if (hilo_inst_is(m, i, HILO_OP_CONDITIONAL)) open_conditional(d, i);
    }
  }
  const hilo_interface *last = d->interfaces.n ? &d->interfaces.v[d->interfaces.n - 1] : NULL;
  d->live_elements = hilo_bitset_create(scratch, last ? last->first_bit + last->n + 1 : 1);
}

/* ---- questions ---- */

static const hilo_interface *numbered(const hilo_dead_values *d, uint32_t number) {
  return number ? &d->interfaces.v[number - 1] : NULL;
}

const hilo_interface *hilo_dead_read_by(const hilo_dead_values *d, hilo_inst i) {
  return numbered(d, hilo_map_get(&d->by_reader, hilo_ix(d->m, i), 0));
}

const hilo_interface *hilo_dead_first_of(const hilo_dead_values *d, hilo_inst i) {
  return numbered(d, hilo_map_get(&d->by_owner, hilo_ix(d->m, i), 0));
}

const hilo_interface *hilo_dead_next_of(const hilo_dead_values *d, const hilo_interface *f) {
  return numbered(d, f->next);
}

bool hilo_dead_is_open_operand(const hilo_dead_values *d, hilo_inst i, uint32_t k) {
  const hilo_inst operand = hilo_inst_operand(d->m, i, k);
  if (!hilo_inst_is(d->m, operand, HILO_OP_TUPLE)) return false;
  for (const hilo_interface *f = hilo_dead_first_of(d, i); f; f = hilo_dead_next_of(d, f))
    for (uint32_t w = 0; w < f->n_writers; w++)
      if (hilo_inst_eq(d->insts.v[f->writers + w], operand)) return true;
  return false;
}

bool hilo_dead_has_open_root(const hilo_dead_values *d, hilo_comp c) {
  return hilo_bitset_get(d->open_roots, hilo_comp_ix(d->m, c));
}

bool hilo_dead_has_open_arguments(const hilo_dead_values *d, hilo_comp c) {
  return hilo_bitset_get(d->open_arguments, hilo_comp_ix(d->m, c));
}

/* ---- shrinking ---- */

static bool is_live(const hilo_dead_values *d, hilo_inst i) {
  return hilo_bitset_get(d->live, hilo_ix(d->m, i));
}

static bool is_kept(const hilo_dead_values *d, const hilo_interface *f, uint32_t k) {
  return hilo_bitset_get(d->live_elements, f->first_bit + k);
}

static uint32_t count_dead(const hilo_dead_values *d, const hilo_interface *f) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < f->n; k++) n += !is_kept(d, f, k);
  return n;
}

/* The type without the elements that go; and what counts them in attributes. */
static void shrink_type(hilo_dead_values *d, const hilo_interface *f, hilo_inst i) {
  hilo_module *m = d->m;
  const hilo_type old = hilo_inst_type(m, i);
  hilo_type *kept = HILO_NEW_ARRAY(d->scratch, hilo_type, f->n + 1);
  uint32_t n = 0;
  for (uint32_t k = 0; k < f->n; k++)
    if (is_kept(d, f, k)) kept[n++] = hilo_type_element(&m->types, old, k);
  hilo_inst_set_type(m, i, hilo_type_tuple(&m->types, kept, n));
  if (!hilo_inst_extra_record(m, i).ix) return;
  hilo_extra_attrs extra = hilo_inst_extra(m, i);
  extra.sharding = extra.sharding_spelling = HILO_RECORD_NONE;
  extra.replicated_at_leaves = HILO_DIMS_NONE;
  extra.origin = HILO_STRING_EMPTY;
  if (hilo_inst_is(m, i, HILO_OP_WHILE)) extra.backend_config = HILO_STRING_EMPTY;
  hilo_inst_set_extra(m, i, &extra);
}

static void shrink_writer(hilo_dead_values *d, const hilo_interface *f, hilo_inst tuple) {
  hilo_inst *kept = HILO_NEW_ARRAY(d->scratch, hilo_inst, f->n + 1);
  uint32_t n = 0;
  for (uint32_t k = 0; k < f->n; k++)
    if (is_kept(d, f, k)) kept[n++] = hilo_inst_operand(d->m, tuple, k);
  shrink_type(d, f, tuple);
  hilo_inst_set_operands(d->m, tuple, kept, n);
}

static uint32_t drop_operands(hilo_dead_values *d, hilo_comp callee) {
  hilo_module *m = d->m;
  const uint32_t n = hilo_comp_n_params(m, callee);
  uint32_t n_dead = 0;
  for (uint32_t k = 0; k < n; k++) n_dead += !is_live(d, hilo_comp_param(m, callee, k));
  if (!n_dead) return 0;
  hilo_inst *kept = HILO_NEW_ARRAY(d->scratch, hilo_inst, n + 1);
  const hilo_call_list calls = hilo_dead_calls_of(d, callee);
  for (uint32_t c = 0; c < calls.n; c++) {
    if (!is_live(d, calls.v[c])) continue;
    uint32_t n_kept = 0;
    for (uint32_t k = 0; k < n; k++)
      if (is_live(d, hilo_comp_param(m, callee, k)))
        kept[n_kept++] = hilo_inst_operand(m, calls.v[c], k);
    hilo_inst_set_operands(m, calls.v[c], kept, n_kept);
  }
  return n_dead;
}

uint32_t hilo_dead_shrink_writers(hilo_dead_values *d) {
  uint32_t n = 0;
  for (uint32_t k = 0; k < d->interfaces.n; k++) {
    const hilo_interface *f = &d->interfaces.v[k];
    const uint32_t n_dead = count_dead(d, f);
    if (!n_dead || !is_live(d, d->insts.v[f->writers])) continue;
    for (uint32_t w = 0; w < f->n_writers; w++) shrink_writer(d, f, d->insts.v[f->writers + w]);
    n += n_dead;
  }
  HILO_FOR_EACH_COMP(d->m, c) {
    if (hilo_dead_has_open_arguments(d, c) && hilo_bitset_get(d->entered, hilo_comp_ix(d->m, c)))
      n += drop_operands(d, c);
  }
  return n;
}

static void drop_params(hilo_dead_values *d, hilo_comp c) {
  hilo_module *m = d->m;
  for (uint32_t k = hilo_comp_n_params(m, c); k-- > 0;) {
    const hilo_inst param = hilo_comp_param(m, c, k);
    if (!is_live(d, param)) hilo_inst_erase(m, param);
  }
  for (uint32_t k = 0; k < hilo_comp_n_params(m, c); k++)
    hilo_inst_set_attr(m, hilo_comp_param(m, c, k), k);
}

static void shrink_reader(hilo_dead_values *d, const hilo_interface *f, const uint32_t *number,
                          hilo_inst i) {
  hilo_module *m = d->m;
  shrink_type(d, f, i);
  for (hilo_use u = hilo_first_use(m, i); u.slot; u = hilo_next_use(m, u)) {
    const hilo_inst element = hilo_use_user(m, u);
    hilo_inst_set_attr(m, element, number[hilo_inst_index(m, element)]);
  }
}

void hilo_dead_shrink_readers(hilo_dead_values *d) {
  for (uint32_t k = 0; k < d->interfaces.n; k++) {
    const hilo_interface *f = &d->interfaces.v[k];
    /* The writers have been shrunk, if they are there. */
    if (!count_dead(d, f) || !is_live(d, d->insts.v[f->writers])) continue;
    uint32_t *number = HILO_NEW_ARRAY(d->scratch, uint32_t, f->n + 1), n = 0;
    for (uint32_t e = 0; e < f->n; e++) {
      number[e] = n;
      n += is_kept(d, f, e);
    }
    for (uint32_t r = 0; r < f->n_readers; r++) {
      const hilo_inst reader = d->insts.v[f->readers + r];
      if (!hilo_inst_is(d->m, reader, HILO_OP_DEAD)) shrink_reader(d, f, number, reader);
    }
  }
  HILO_FOR_EACH_COMP(d->m, c) {
    const uint32_t ix = hilo_comp_ix(d->m, c);
    if (hilo_dead_has_open_arguments(d, c) && hilo_bitset_get(d->entered, ix)) drop_params(d, c);
  }
}
