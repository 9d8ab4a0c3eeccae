/* Names of values, and values of surrounding regions.
 *
 * A name is visible from its definition to the end of the region that holds it, inner regions
 * included. Names that are numbers are looked up in an array, others by hash; at the end of a
 * region its names are marked as gone, in the order in which they came.
 *
 * A region becomes a computation, which is closed: what it uses from outside becomes a clone
 * (constants), a further element of the tuple that it takes (while, if, case), or an error. */
#include "formats/mlir/mlir_impl.h"

enum { MANY_IMPORTS = 16 };

enum {
  FIRST_SLOTS = 256
}; /* of names that are no numbers: a printer gives them to arguments only */

void hilo_mlir_names_init(mlir_reader *r, uint32_t n) {
  hilo_arena *scratch = &r->scratch->arena;
  r->name_slots = HILO_NEW_ZEROED(scratch, uint32_t, FIRST_SLOTS);
  r->name_mask = FIRST_SLOTS - 1;
  r->n_numbered = n + 256;
  r->numbered = HILO_NEW_ZEROED(scratch, uint32_t, r->n_numbered);
  HILO_RESERVE(scratch, &r->names, n + 64);
  HILO_RESERVE(scratch, &r->values, n + 64);
  HILO_PUSH(scratch, &r->values, (mlir_result){0});
}

/* ---- finding names ---- */

static void grow_slots(mlir_reader *r) {
  const uint32_t size = 2 * (r->name_mask + 1);
  r->name_slots = HILO_NEW_ZEROED(&r->scratch->arena, uint32_t, size);
  r->name_mask = size - 1;
  for (uint32_t k = 0; k < r->names.n; k++) {
    if (!r->names.v[k].hash) continue;
    uint32_t i = r->names.v[k].hash & r->name_mask;
    while (r->name_slots[i]) i = (i + 1) & r->name_mask;
    r->name_slots[i] = k + 1;
  }
}

/* The place that holds index + 1 of the name, 0 where it was never seen. */
static inline uint32_t *slot_of(mlir_reader *r, const char *p, size_t n, uint32_t number,
                                uint32_t *hash) {
  *hash = 0;
  if (HILO_LIKELY(number < r->n_numbered)) return &r->numbered[number];
  *hash = hilo_hash_name(p, n) | 1;
  for (uint32_t i = *hash & r->name_mask;; i = (i + 1) & r->name_mask) {
    uint32_t *slot = &r->name_slots[i];
    if (!*slot) return slot;
    const mlir_name *name = &r->names.v[*slot - 1];
    if (name->hash == *hash && name->n == n && memcmp(r->text + name->at, p, n) == 0) return slot;
  }
}

bool hilo_mlir_define(mlir_reader *r, const mlir_result_name *defined, const mlir_result *values) {
  hilo_arena *scratch = &r->scratch->arena;
  const char *at = r->text + defined->at;
  const uint32_t n = defined->n, n_values = defined->n_values;
  uint32_t hash;
  uint32_t *slot = slot_of(r, at, n, defined->number, &hash);
  const bool is_new = !*slot;
  if (!is_new) {
    const mlir_name *known = &r->names.v[*slot - 1];
    if (HILO_UNLIKELY(known->frame)) {
      const uint32_t first = known->at;
      (void)hilo_mlir_fail(r, HILO_DIAG_EMOD904, at - 1, "the name `%%%.*s` is defined already",
                           (int)(n > 100 ? 100 : n), at);
      hilo_mlir_note(r, first, "it is defined here");
      return false;
    }
  } else {
    HILO_PUSH(scratch, &r->names, (mlir_name){0});
    *slot = r->names.n;
  }
  mlir_name *name = &r->names.v[*slot - 1];
  *name = (mlir_name){hash, defined->at, n, r->values.n, n_values, r->frame};
  HILO_PUSH(scratch, &r->defined, *slot - 1);
  for (uint32_t k = 0; k < n_values; k++) HILO_PUSH(scratch, &r->values, values[k]);
  if (hash && is_new && ++r->n_hashed * 2 > r->name_mask) grow_slots(r);
  return true;
}

/* ---- frames ---- */

void hilo_mlir_push_frame(mlir_reader *r, mlir_frame *f) {
  f->parent = r->frame;
  f->first_defined = r->defined.n;
  r->frame = f;
}

void hilo_mlir_pop_frame(mlir_reader *r) {
  mlir_frame *f = r->frame;
  for (uint32_t i = f->first_defined; i < r->defined.n; i++)
    r->names.v[r->defined.v[i]].frame = NULL;
  r->defined.n = f->first_defined;
  r->frame = f->parent;
}

/* ---- outer values ---- */

static hilo_inst imported(const mlir_frame *f, hilo_inst outer) {
  if (f->n_imported > MANY_IMPORTS) {
    const uint32_t at = hilo_map_get(&f->import_map, outer.ix, 0);
    return at ? f->imported[at - 1].local : HILO_INST_NONE;
  }
  for (uint32_t i = 0; i < f->n_imported; i++)
    if (f->imported[i].outer.ix == outer.ix) return f->imported[i].local;
  return HILO_INST_NONE;
}

static void note_import(mlir_reader *r, mlir_frame *f, hilo_inst outer, hilo_inst local) {
  if (f->n_imported == f->cap_imported) {
    f->cap_imported = f->cap_imported ? 2 * f->cap_imported : 8;
    f->imported = hilo_arena_resize_block(&r->scratch->arena, f->imported,
                                          f->cap_imported * sizeof(*f->imported));
  }
  f->imported[f->n_imported].outer = outer;
  f->imported[f->n_imported].local = local;
  f->n_imported++;
  if (f->n_imported <= MANY_IMPORTS) return;
  if (!f->import_map.arena) {
    f->import_map = hilo_map_make(&r->scratch->arena);
    for (uint32_t i = 0; i + 1 < f->n_imported; i++)
      hilo_map_set(&f->import_map, f->imported[i].outer.ix, i + 1);
  }
  hilo_map_set(&f->import_map, outer.ix, f->n_imported);
}

static uint32_t captured_index(mlir_reader *r, mlir_frame *f, hilo_inst outer) {
  mlir_captured *c = f->captured;
  bool inserted;
  if (!c->index.arena) c->index = hilo_map_make(&r->scratch->arena);
  uint32_t *place = hilo_map_at(&c->index, outer.ix, &inserted);
  if (inserted) {
    HILO_PUSH(&r->scratch->arena, &c->outer, outer);
    *place = c->outer.n;
  }
  return *place - 1;
}

hilo_inst hilo_mlir_carried(mlir_reader *r, mlir_frame *f, uint32_t k) {
  const hilo_inst outer = f->captured->outer.v[k];
  hilo_inst local = imported(f, outer);
  if (local.ix) return local;
  const hilo_inst_desc desc = {.op = HILO_OP_GET_TUPLE_ELEMENT,
                               .type = hilo_inst_type(r->m, outer),
                               .operands = &f->param,
                               .n_operands = 1,
                               .attr = f->n_own + k};
  local = hilo_mlir_add_to(r, f->comp, &desc);
  note_import(r, f, outer, local);
  return local;
}

static hilo_inst not_closed(mlir_reader *r, const mlir_frame *f, const char *at) {
  const hilo_str name = mlir_suffix_at(at + 1);
  const int n = (int)(name.n > 100 ? 100 : name.n);
  if (f->mode == MLIR_ISOLATED)
    (void)hilo_mlir_fail(r, HILO_DIAG_EMOD904, at,
                         "`%%%.*s` is a value of the function around this one, which sees only its "
                         "own",
                         n, name.p);
  else
    (void)hilo_mlir_fail(r, HILO_DIAG_EMOD904, at,
                         "`%%%.*s` is a value from outside of the region of `%s`, which may use "
                         "outer constants only",
                         n, name.p, f->op_name);
  return HILO_INST_NONE;
}

/* The value `inst` of frame `home` inside of frame `f`, which is in it. Recursive in the nesting of
 * regions, which is bounded. */
static hilo_inst import(mlir_reader *r, mlir_frame *f, const mlir_frame *home, hilo_inst inst,
                        const char *at) {
  if (f == home) return inst;
  if (f->mode == MLIR_ISOLATED) return not_closed(r, f, at);
  const hilo_inst outer = import(r, f->parent, home, inst, at);
  if (!outer.ix) return outer;
  hilo_inst local = imported(f, outer);
  if (local.ix) return local;
  hilo_module *m = r->m;
  if (hilo_inst_is(m, outer, HILO_OP_CONSTANT)) {
    const hilo_inst_desc desc = {.op = HILO_OP_CONSTANT,
                                 .type = hilo_inst_type(m, outer),
                                 .attr = hilo_inst_literal(m, outer).ix,
                                 .extra = hilo_inst_extra_record(m, outer),
                                 .meta = hilo_inst_meta_record(m, outer)};
    local = hilo_mlir_add_to(r, f->comp, &desc);
    note_import(r, f, outer, local);
    return local;
  }
  if (f->mode != MLIR_CARRIED) return not_closed(r, f, at);
  return hilo_mlir_carried(r, f, captured_index(r, f, outer));
}

hilo_inst hilo_mlir_local(mlir_reader *r, const mlir_name *name, uint32_t k, const char *at) {
  mlir_result *v = &r->values.v[name->first + k];
  if (HILO_UNLIKELY(!v->inst)) {
    const hilo_inst element =
        hilo_mlir_element(r, name->frame->comp, hilo_inst_at(r->m, v->producer), v->index);
    v->inst = hilo_ix(r->m, element);
  }
  const hilo_inst inst = hilo_inst_at(r->m, v->inst);
  return HILO_LIKELY(name->frame == r->frame) ? inst : import(r, r->frame, name->frame, inst, at);
}

/* ---- operands ---- */

static bool unknown_name(mlir_reader *r, const char *at, size_t n) {
  return hilo_mlir_fail(r, HILO_DIAG_EMOD904, at, "the value `%%%.*s` is not defined here",
                        (int)(n > 100 ? 100 : n), at + 1);
}

bool hilo_mlir_operand(mlir_reader *r) {
  mlir_skip(r);
  const char *at = r->p;
  if (*at != '%') return hilo_mlir_expected(r, "an operand, as `%0`");
  uint32_t hash, number;
  const hilo_str name = mlir_name_at(at + 1, &number);
  if (!name.n) return hilo_mlir_expected(r, "an operand, as `%0`");
  const uint32_t *slot = slot_of(r, name.p, name.n, number, &hash);
  const mlir_name *known = *slot ? &r->names.v[*slot - 1] : NULL;
  if (HILO_UNLIKELY(!known || !known->frame)) return unknown_name(r, at, name.n);
  r->p = name.p + name.n;
  int64_t k = 0;
  if (*r->p == '#') {
    r->p++;
    if (!mlir_int(r, &k, "the number of a result")) return false;
    if (k < 0 || k >= known->n_values)
      return hilo_mlir_fail(r, HILO_DIAG_EMOD904, at, "`%%%.*s` has %u results, and no number %lld",
                            (int)(name.n > 100 ? 100 : name.n), name.p, known->n_values,
                            (long long)k);
  } else if (HILO_UNLIKELY(known->n_values != 1)) {
    return hilo_mlir_fail(r, HILO_DIAG_EMOD904, at,
                          "`%%%.*s` has %u results: expected `#` and the number of one",
                          (int)(name.n > 100 ? 100 : name.n), name.p, known->n_values);
  }
  const hilo_inst inst = hilo_mlir_local(r, known, (uint32_t)k, at);
  if (!inst.ix) return false;
  HILO_PUSH(&r->scratch->arena, &r->operands, inst);
  HILO_PUSH(&r->scratch->arena, &r->operand_at, mlir_offset(r, at));
  return true;
}

bool hilo_mlir_operands(mlir_reader *r, bool *trailing) {
  bool comma = false;
  mlir_skip(r);
  while (*r->p == '%') {
    if (!hilo_mlir_operand(r)) return false;
    comma = mlir_eat(r, ',');
    if (!comma) break;
    mlir_skip(r);
  }
  if (trailing)
    *trailing = comma;
  else if (comma)
    return hilo_mlir_expected(r, "an operand, as `%0`");
  return true;
}
