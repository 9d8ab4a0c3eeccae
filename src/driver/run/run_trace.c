/* Traces. Matching is linear: each instruction of the first module is entered in one map under
 * three keys; keys that occur several times are numbered in program order on both sides. */
#include "driver/run/run_trace.h"

#include "driver/run/run_report.h"

#include <inttypes.h>

enum { FEW_ELEMENTS = 8 };

static bool is_array(const hilo_module *m, const hilo_value *value) {
  return hilo_type_is_array(&m->types, value->type);
}

static uint64_t hash_of(const hilo_array *array) {
  return hilo_hash_bytes(array->slices[0], array->n * hilo_etype_bytes(array->etype));
}

/* ---- printing ---- */

void hilo_trace_print(const hilo_trace_printer *t, uint32_t rank, hilo_inst i,
                      const hilo_value *value) {
  if (!is_array(t->m, value)) return;
  const char *slice;
  const hilo_array array = hilo_array_of_value(t->m, value, &slice);
  hilo_sb sb = hilo_sb_make(t->arena);
  hilo_sb_char(&sb, '%');
  hilo_name_print(t->m, hilo_inst_name(t->m, i), &sb);
  hilo_sb_printf(&sb, " = %s rank %u", hilo_op_get(hilo_inst_op(t->m, i))->hlo, rank);
  hilo_report_array(&array, 1, &sb);
  if (array.n && array.n <= FEW_ELEMENTS) {
    hilo_sb_cat(&sb, " {");
    for (uint64_t k = 0; k < array.n; k++) {
      if (k) hilo_sb_cat(&sb, ", ");
      hilo_element_print(&array, 0, k, &sb);
    }
    hilo_sb_char(&sb, '}');
  }
  hilo_sb_printf(&sb, " #%016" PRIx64 "\n", hash_of(&array));
  hilo_log_print_console(t->log, hilo_sb_view(&sb));
  hilo_sb_free(&sb);
}

static void print_observed(void *user, uint32_t rank, hilo_inst i, const hilo_value *value) {
  hilo_trace_print(user, rank, i, value);
}

void hilo_trace_print_to(hilo_trace_printer *t, const hilo_module *m, const hilo_log *log,
                         hilo_arena *arena, hilo_run_options *options) {
  *t = (hilo_trace_printer){m, log, arena};
  options->observe = print_observed;
  options->user = t;
}

/* ---- matching ---- */

typedef struct {
  uint64_t hash;
  hilo_value value; /* data NULL: not kept */
  uint32_t next;    /* of the same instruction and rank; 0: the last */
} record;

struct hilo_parting {
  const hilo_module *first, *second;
  hilo_tolerance tolerance;
  hilo_arena *arena;
  uint32_t *match; /* per instruction of the second: that of the first; 0: none */
  uint32_t n_matched, n_insts;
  /* the first run */
  hilo_vec(record) records; /* [0] is none */
  hilo_map head, tail;      /* (instruction of the first, rank) → record */
  uint64_t max_bytes;
  hilo_heap *heap;
  /* the second run */
  hilo_map turn; /* (instruction of the second, rank) → the next record to compare with; 0: none */
  uint64_t n_compared;
  bool parted, kept;
  hilo_inst at;
  uint32_t rank, turns;
  hilo_comparison difference;
  hilo_array got, expected;
};

static uint64_t type_hash(const hilo_module *m, hilo_inst i) {
  const hilo_type type = hilo_inst_type(m, i);
  const hilo_dims dims = hilo_type_dims(&m->types, type);
  if (hilo_type_is_tuple(&m->types, type)) return dims.n;
  return hilo_hash_combine(hilo_hash_bytes(dims.v, dims.n * sizeof(*dims.v)),
                           hilo_type_etype(&m->types, type));
}

/* In the order in which they are tried. */
enum { KEY_NAME, KEY_OP_NAME, KEY_STRUCTURE, KEY_NAME_ALONE, N_KEYS };

typedef struct {
  const hilo_module *m;
  hilo_arena *scratch;
  uint64_t *structure, *comp_structure;
  hilo_sb name;
} keyer;

/* What an instruction computes, but for the attributes of its family. */
static uint64_t structure_of(const keyer *k, hilo_inst i) {
  const hilo_module *m = k->m;
  uint64_t h = hilo_hash_combine(hilo_inst_op(m, i), type_hash(m, i));
  const uint8_t family = hilo_op_get(hilo_inst_op(m, i))->family;
  if (family == HILO_FAMILY_index) h = hilo_hash_combine(h, hilo_inst_index(m, i));
  if (family == HILO_FAMILY_literal) {
    const hilo_literal_row *row = hilo_literal_get(m, hilo_inst_literal(m, i));
    if (row->kind <= HILO_LITERAL_SPLAT)
      h = hilo_hash_combine(h, hilo_hash_bytes(row->data, row->bytes));
  }
  for (uint32_t o = 0; o < hilo_inst_n_operands(m, i); o++)
    h = hilo_hash_combine(h, k->structure[hilo_ix(m, hilo_inst_operand(m, i, o))]);
  for (uint32_t c = 0; c < hilo_inst_n_called(m, i); c++)
    h = hilo_hash_combine(h, k->comp_structure[hilo_comp_ix(m, hilo_inst_called(m, i, c))]);
  return h;
}

/* The keys of `i`; 0: it has none of that kind. */
static void keys_of(keyer *k, hilo_inst i, uint64_t keys[N_KEYS]) {
  const hilo_module *m = k->m;
  const uint64_t what = hilo_hash_combine(hilo_inst_op(m, i), type_hash(m, i));
  hilo_sb_clear(&k->name);
  hilo_name_print(m, hilo_inst_name(m, i), &k->name);
  const uint64_t name = hilo_hash_bytes(k->name.p, k->name.n);
  keys[KEY_NAME] = hilo_hash_combine(what, name) | 1;
  keys[KEY_NAME_ALONE] = hilo_hash_combine(type_hash(m, i), name) | 1;
  keys[KEY_OP_NAME] = 0;
  if (hilo_inst_meta_record(m, i).ix) {
    const hilo_str op_name = hilo_label_of(m, hilo_inst_meta(m, i).op_name);
    if (op_name.n)
      keys[KEY_OP_NAME] = hilo_hash_combine(what + 1, hilo_hash_bytes(op_name.p, op_name.n)) | 1;
  }
  const uint64_t structure = structure_of(k, i);
  k->structure[hilo_ix(m, i)] = structure;
  keys[KEY_STRUCTURE] = hilo_hash_combine(structure, KEY_STRUCTURE) | 1;
}

typedef void visit_fn(hilo_parting *p, hilo_inst i, const uint64_t keys[N_KEYS], hilo_map *seen,
                      hilo_map *table);

/* The n-th instruction with this key. */
static uint64_t numbered(hilo_map *seen, uint64_t key) {
  bool inserted;
  uint32_t *n = hilo_map_at(seen, key, &inserted);
  return hilo_hash_combine(key, (*n)++);
}

static void enter(hilo_parting *p, hilo_inst i, const uint64_t keys[N_KEYS], hilo_map *seen,
                  hilo_map *table) {
  for (int k = 0; k < N_KEYS; k++)
    if (keys[k]) hilo_map_set(table, numbered(seen, keys[k]), hilo_ix(p->first, i));
}

static void look_up(hilo_parting *p, hilo_inst i, const uint64_t keys[N_KEYS], hilo_map *seen,
                    hilo_map *table) {
  uint32_t found = 0;
  for (int k = 0; k < N_KEYS; k++) {
    if (!keys[k]) continue;
    const uint64_t key = numbered(seen, keys[k]);
    if (!found) found = hilo_map_get(table, key, 0);
  }
  p->match[hilo_ix(p->second, i)] = found;
  p->n_matched += found != 0;
  p->n_insts++;
}

static void visit_all(hilo_parting *p, const hilo_module *m, hilo_arena *scratch, visit_fn *visit,
                      hilo_map *table) {
  hilo_map seen = hilo_map_make(scratch);
  keyer k = {m, scratch, HILO_NEW_ZEROED(scratch, uint64_t, m->n_inst_slots),
             HILO_NEW_ZEROED(scratch, uint64_t, hilo_module_n_comps(m)), hilo_sb_make(scratch)};
  const hilo_comp_list comps = hilo_module_comps_postorder(m, scratch);
  for (uint32_t c = 0; c < comps.n_reached; c++) {
    uint64_t keys[N_KEYS];
    HILO_FOR_EACH_INST(m, comps.v[c], i) {
      keys_of(&k, i, keys);
      visit(p, i, keys, &seen, table);
    }
    k.comp_structure[hilo_comp_ix(m, comps.v[c])] =
        k.structure[hilo_ix(m, hilo_comp_root(m, comps.v[c]))];
  }
}

hilo_parting *hilo_parting_make(const hilo_module *first, const hilo_module *second,
                                const hilo_tolerance *tolerance, hilo_arena *arena) {
  hilo_parting *p = HILO_NEW_ZEROED(arena, hilo_parting, 1);
  *p = (hilo_parting){.first = first, .second = second, .tolerance = *tolerance, .arena = arena};
  p->match = HILO_NEW_ZEROED(arena, uint32_t, second->n_inst_slots);
  p->head = hilo_map_make(arena);
  p->tail = hilo_map_make(arena);
  p->turn = hilo_map_make(arena);
  HILO_PUSH(arena, &p->records, (record){0});
  hilo_scratch scratch;
  hilo_scratch_init(&scratch, arena);
  hilo_map table = hilo_map_make(&scratch.arena);
  visit_all(p, first, &scratch.arena, enter, &table);
  visit_all(p, second, &scratch.arena, look_up, &table);
  hilo_scratch_deinit(&scratch);
  return p;
}

/* ---- the two runs ---- */

static uint64_t key_of(uint32_t ix, uint32_t rank) { return (uint64_t)ix << 32 | rank; }

static void record_observed(void *user, uint32_t rank, hilo_inst i, const hilo_value *value) {
  hilo_parting *p = user;
  if (!is_array(p->first, value)) return;
  const char *slice;
  const hilo_array array = hilo_array_of_value(p->first, value, &slice);
  record r = {.hash = hash_of(&array), .value = {.type = value->type}};
  if (!value->owner || !p->max_bytes || p->heap->live < p->max_bytes)
    r.value = hilo_value_share(value);
  const uint64_t key = key_of(hilo_ix(p->first, i), rank);
  const uint32_t at = p->records.n;
  HILO_PUSH(p->arena, &p->records, r);
  const uint32_t tail = hilo_map_get(&p->tail, key, 0);
  if (tail)
    p->records.v[tail].next = at;
  else
    hilo_map_set(&p->head, key, at);
  hilo_map_set(&p->tail, key, at);
}

void hilo_parting_record(hilo_parting *p, uint64_t max_bytes, hilo_heap *heap,
                         hilo_run_options *options) {
  p->max_bytes = max_bytes;
  p->heap = heap;
  options->observe = record_observed;
  options->user = p;
}

/* The record of the first run that belongs to this turn; NULL: there is none. */
static const record *next_record(hilo_parting *p, uint32_t rank, hilo_inst i) {
  const uint32_t ix = hilo_ix(p->second, i);
  if (!p->match[ix]) return NULL;
  bool inserted;
  uint32_t *turn = hilo_map_at(&p->turn, key_of(ix, rank), &inserted);
  if (inserted) *turn = hilo_map_get(&p->head, key_of(p->match[ix], rank), 0);
  if (!*turn) return NULL;
  const record *r = &p->records.v[*turn];
  *turn = r->next;
  return r;
}

static hilo_array copy_of(hilo_parting *p, const hilo_array *array) {
  const uint64_t bytes = array->n * hilo_etype_bytes(array->etype);
  char *data = hilo_arena_alloc(p->arena, bytes + 1, 64);
  memcpy(data, array->slices[0], bytes);
  const char **slice = HILO_NEW(p->arena, const char *);
  *slice = data;
  return (hilo_array){array->etype, array->dims, array->n, slice};
}

static void compare_observed(void *user, uint32_t rank, hilo_inst i, const hilo_value *value) {
  hilo_parting *p = user;
  if (p->parted || !is_array(p->second, value)) return;
  const record *r = next_record(p, rank, i);
  if (!r) return;
  const char *slice, *other;
  const hilo_array got = hilo_array_of_value(p->second, value, &slice);
  p->n_compared++;
  if (hash_of(&got) == r->hash) return;
  p->kept = r->value.data != NULL;
  if (p->kept) {
    const hilo_array expected = hilo_array_of_value(p->first, &r->value, &other);
    if (hilo_arrays_comparable(&got, &expected)) {
      p->difference = hilo_compare(&got, &expected, 1, &p->tolerance);
      if (!p->difference.differing) return;
      p->expected = copy_of(p, &expected);
      p->got = copy_of(p, &got);
    } else {
      p->kept = false;
    }
  }
  p->parted = true;
  p->at = i;
  p->rank = rank;
}

void hilo_parting_compare(hilo_parting *p, hilo_run_options *options) {
  options->observe = compare_observed;
  options->user = p;
}

void hilo_parting_report(const hilo_parting *p, hilo_sb *out) {
  hilo_sb_printf(out,
                 "%u of %u instructions have a counterpart, %" PRIu64 " values were compared\n",
                 p->n_matched, p->n_insts, p->n_compared);
  if (!p->parted) {
    hilo_sb_cat(out, "no instruction with a counterpart differs\n");
    return;
  }
  hilo_sb_printf(out, "the first value that differs, on rank %u:\n    ", p->rank);
  hilo_report_inst(p->second, p->at, out);
  for (uint32_t k = 0; k < hilo_inst_n_operands(p->second, p->at); k++) {
    const hilo_inst operand = hilo_inst_operand(p->second, p->at, k);
    if (p->match[hilo_ix(p->second, operand)]) continue;
    hilo_sb_cat(out, "\n        whose operand without a counterpart is ");
    hilo_report_inst(p->second, operand, out);
  }
  hilo_sb_cat(out, "\n    against ");
  hilo_report_inst(p->first, hilo_inst_at(p->first, p->match[hilo_ix(p->second, p->at)]), out);
  hilo_sb_cat(out, "\n    ");
  if (p->kept)
    hilo_comparison_print(&p->difference, HILO_STR("its value"), &p->got, &p->expected, 1, out);
  else
    hilo_sb_cat(out,
                "its value has other bits, which were not kept: raise --max-bytes to see them");
  hilo_sb_char(out, '\n');
}
