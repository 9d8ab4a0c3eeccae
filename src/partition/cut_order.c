/* What no value says: which input buffers outputs take over, and which pieces must have run before
 * another: tokens, control edges, readers of a buffer that a piece overwrites. */
#include "partition/cut_parts.h"

#include <stdlib.h>

typedef hilo_vec(uint32_t) piece_list;

typedef struct {
  uint32_t piece, next; /* 1 + the place of the next among all readers; 0: last */
} reader;

typedef struct {
  hilo_cutter *c;
  uint32_t *piece_of_unit; /* 1 + piece; 0: none */
  uint64_t *before;        /* bits: row p, column q: values say that q runs before p; NULL: not
                              asked for yet */
  size_t row_words;
  piece_list *after;  /* by piece */
  uint64_t *computed; /* bit by instruction: in the body of a piece */
  uint32_t *seen_by;  /* by instruction: 1 + the last piece that came across it */
  hilo_vec(hilo_inst) stack;
  uint32_t *at;             /* by instruction: 1 + its place among the inputs or outputs at hand */
  hilo_vec(reader) readers; /* pieces that read an input that an output may take over, in chains */
  uint32_t *first_reader;   /* by input of the module: 1 + its place among them; 0: none */
  hilo_vec(uint64_t) keys;  /* aliases of the piece at hand: output there, alias of the module */
} ordering;

/* Quadratic in bits, so only made where something asks for it. */
static void find_data_order(ordering *o) {
  hilo_cut *cut = o->c->cut;
  o->row_words = HILO_BITSET_WORDS(cut->n_pieces);
  o->before = HILO_NEW_ZEROED(o->c->room, uint64_t, o->row_words * cut->n_pieces + 1);
  for (uint32_t p = 0; p < cut->n_pieces; p++) {
    uint64_t *row = o->before + p * o->row_words;
    for (uint32_t k = 0; k < cut->pieces[p].n_inputs; k++) {
      const uint32_t q = cut->producer[hilo_ix(cut->m, cut->pieces[p].inputs[k])];
      if (!q || !hilo_bitset_insert(row, q - 1)) continue;
      for (size_t w = 0; w < o->row_words; w++) row[w] |= o->before[(q - 1) * o->row_words + w];
    }
  }
}

static bool runs_before(ordering *o, uint32_t q, uint32_t p) {
  if (!o->before) find_data_order(o);
  return hilo_bitset_get(o->before + p * o->row_words, q);
}

static void add_after(ordering *o, uint32_t p, uint32_t q) {
  if (p == q || runs_before(o, q, p)) return;
  for (uint32_t k = 0; k < o->after[p].n; k++)
    if (o->after[p].v[k] == q) return;
  HILO_PUSH(o->c->arena, &o->after[p], q);
}

/* ---- tokens and control edges ---- */

/* Piece p needs `from`, which it does not compute, in no other way than that it must have run. What
 * no piece computes stands for what it needs itself: a token made of others, say. */
static void come_behind(ordering *o, uint32_t p, hilo_inst from) {
  const hilo_module *m = o->c->m;
  o->stack.n = 0;
  HILO_PUSH(o->c->room, &o->stack, from);
  while (o->stack.n) {
    const hilo_inst i = o->stack.v[--o->stack.n];
    const uint32_t ix = hilo_ix(m, i);
    if (o->seen_by[ix] == p + 1) continue;
    o->seen_by[ix] = p + 1;
    if (hilo_cut_is_input(m, i) || hilo_inst_is(m, i, HILO_OP_PARAMETER)) continue;
    const uint32_t q = o->piece_of_unit[o->c->unit[ix]];
    if (q && hilo_bitset_get(o->computed, ix)) {
      add_after(o, p, q - 1);
      continue;
    }
    HILO_FOR_EACH_NEED(m, i, need) { HILO_PUSH(o->c->room, &o->stack, need); }
  }
}

static bool is_array(const hilo_module *m, hilo_inst i) {
  return hilo_type_is_array(&m->types, hilo_inst_type(m, i));
}

static void follow_edges(ordering *o) {
  const hilo_cut *cut = o->c->cut;
  const hilo_module *m = cut->m;
  o->computed = hilo_bitset_create(o->c->room, cut->n_inst_slots);
  o->seen_by = HILO_NEW_ZEROED(o->c->room, uint32_t, cut->n_inst_slots);
  for (uint32_t p = 0; p < cut->n_pieces; p++)
    for (uint32_t at = 0; at < cut->pieces[p].n_body; at++)
      hilo_bitset_set(o->computed, hilo_ix(m, cut->pieces[p].body[at]));
  for (uint32_t p = 0; p < cut->n_pieces; p++) {
    const hilo_piece *piece = &cut->pieces[p];
    for (uint32_t at = 0; at < piece->n_body; at++) {
      HILO_FOR_EACH_NEED(m, piece->body[at], need) {
        const bool is_operand = !need_it.edge;
        if (hilo_cut_is_inside(o->c, need, piece->unit) || (is_operand && is_array(m, need)))
          continue;
        come_behind(o, p, need);
      }
    }
  }
}

static int by_number(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static int by_key(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return (x > y) - (x < y);
}

/* ---- aliases ---- */

/* Chains of ascending pieces. */
static void find_readers(ordering *o) {
  const hilo_cut *cut = o->c->cut;
  uint32_t *input = HILO_NEW_ZEROED(o->c->room, uint32_t, cut->n_inst_slots); /* 1 + input */
  for (uint32_t k = 0; k < cut->n_aliases; k++)
    input[hilo_ix(cut->m, cut->inputs[cut->aliases[k].input])] = cut->aliases[k].input + 1;
  o->first_reader = HILO_NEW_ZEROED(o->c->room, uint32_t, cut->n_inputs + 1);
  for (uint32_t p = cut->n_pieces; p-- > 0;)
    for (uint32_t k = 0; k < cut->pieces[p].n_inputs; k++) {
      const uint32_t its = input[hilo_ix(cut->m, cut->pieces[p].inputs[k])];
      if (!its) continue;
      HILO_PUSH(o->c->room, &o->readers, ((reader){p, o->first_reader[its - 1]}));
      o->first_reader[its - 1] = o->readers.n;
    }
}

static void add_input(ordering *o, hilo_piece *piece, hilo_inst in) {
  hilo_inst *inputs = HILO_NEW_ARRAY(o->c->arena, hilo_inst, piece->n_inputs + 1);
  if (piece->n_inputs) memcpy(inputs, piece->inputs, piece->n_inputs * sizeof(hilo_inst));
  inputs[piece->n_inputs] = in;
  piece->inputs = inputs;
  o->at[hilo_ix(o->c->m, in)] = ++piece->n_inputs;
}

/* An alias of the module becomes one of the piece that computes the output. One that must hold does
 * so in any case: the piece takes the input although it does not read it, and none after it does
 * (cut_old_values.c); one that may, if the piece reads the input and none after it does. The pieces
 * before it that read the input come first: also where it becomes none, since whoever links may put
 * the output into the input's buffer all the same. */
static void place_alias(ordering *o, const hilo_piece_alias *alias, uint32_t p,
                        hilo_piece_alias *list) {
  hilo_cut *cut = o->c->cut;
  hilo_piece *piece = &cut->pieces[p];
  const hilo_inst input = cut->inputs[alias->input];
  bool reads = false, is_read_later = false;
  for (uint32_t next = o->first_reader[alias->input]; next; next = o->readers.v[next - 1].next) {
    const uint32_t its = o->readers.v[next - 1].piece;
    reads |= its == p;
    is_read_later |= its > p;
    if (its < p) add_after(o, p, its);
  }
  if (is_read_later || (!reads && alias->kind != HILO_ALIAS_MUST)) return;
  if (!reads) add_input(o, piece, input);
  const uint32_t in = hilo_ix(cut->m, input);
  const uint32_t out = hilo_ix(cut->m, cut->outputs[alias->output]);
  list[piece->n_aliases++] = (hilo_piece_alias){o->at[out] - 1, o->at[in] - 1, alias->kind};
}

/* The aliases of one piece, a chain, in the order of its outputs, whatever the order in which they
 * were given. */
static void place_aliases_of(ordering *o, uint32_t p, uint32_t first, const uint32_t *next) {
  hilo_cut *cut = o->c->cut;
  const hilo_module *m = cut->m;
  hilo_piece *piece = &cut->pieces[p];
  for (uint32_t k = 0; k < piece->n_inputs; k++) o->at[hilo_ix(m, piece->inputs[k])] = k + 1;
  for (uint32_t k = 0; k < piece->n_outputs; k++) o->at[hilo_ix(m, piece->outputs[k])] = k + 1;
  o->keys.n = 0;
  for (uint32_t alias = first; alias; alias = next[alias - 1]) {
    const uint32_t out = hilo_ix(m, cut->outputs[cut->aliases[alias - 1].output]);
    HILO_PUSH(o->c->room, &o->keys, (uint64_t)o->at[out] << 32 | (alias - 1));
  }
  qsort(o->keys.v, o->keys.n, sizeof(*o->keys.v), by_key);
  hilo_piece_alias *list = HILO_NEW_ARRAY(o->c->arena, hilo_piece_alias, o->keys.n);
  piece->aliases = list;
  for (uint32_t k = 0; k < o->keys.n; k++)
    place_alias(o, &cut->aliases[(uint32_t)o->keys.v[k]], p, list);
}

static void place_aliases(ordering *o) {
  hilo_cut *cut = o->c->cut;
  if (!cut->n_aliases) return;
  find_readers(o);
  uint32_t *first = HILO_NEW_ZEROED(o->c->room, uint32_t, cut->n_pieces); /* 1 + alias; 0: none */
  uint32_t *next = HILO_NEW_ZEROED(o->c->room, uint32_t, cut->n_aliases);
  for (uint32_t k = cut->n_aliases; k-- > 0;) {
    const uint32_t p = cut->producer[hilo_ix(cut->m, cut->outputs[cut->aliases[k].output])];
    if (!p) continue;
    next[k] = first[p - 1];
    first[p - 1] = k + 1;
  }
  for (uint32_t p = 0; p < cut->n_pieces; p++)
    if (first[p]) place_aliases_of(o, p, first[p], next);
}

void hilo_cut_order(hilo_cutter *c) {
  hilo_cut *cut = c->cut;
  ordering o = {.c = c,
                .piece_of_unit = HILO_NEW_ZEROED(c->room, uint32_t, cut->units->n + 1),
                .after = HILO_NEW_ZEROED(c->arena, piece_list, cut->n_pieces + 1),
                .at = HILO_NEW_ZEROED(c->room, uint32_t, cut->n_inst_slots)};
  for (uint32_t p = 0; p < cut->n_pieces; p++) o.piece_of_unit[cut->pieces[p].unit] = p + 1;
  if (c->ordered) follow_edges(&o);
  place_aliases(&o);
  for (uint32_t p = 0; p < cut->n_pieces; p++) {
    if (o.after[p].n) qsort(o.after[p].v, o.after[p].n, sizeof(uint32_t), by_number);
    cut->pieces[p].after = o.after[p].v;
    cut->pieces[p].n_after = o.after[p].n;
  }
}
