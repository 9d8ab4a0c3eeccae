/* A body as a list of words: each instruction's class and where its operands come from, then the
 * types of the inputs, the outputs, and the aliases. Equal lists, equal definitions; compared by
 * content, so no two are taken for the same by chance of a hash. */
#include "partition/cut_parts.h"

typedef struct {
  hilo_cutter *c;
  hilo_store texts;
  hilo_map definition_of; /* text → definition */
  uint32_t *number;       /* by instruction: 1 + its place in the body, or INPUT | place */
  hilo_vec(uint32_t) words;
} sharing;

enum { OUTSIDE = 0 }; /* a token of another piece */
#define INPUT 0x80000000u

static void put(sharing *s, uint32_t word) { HILO_PUSH(s->c->room, &s->words, word); }

/* Control edges count as far as both ends are in the body. */
static void put_inst(sharing *s, const hilo_piece *piece, uint32_t at, bool with_scalars) {
  const hilo_module *m = s->c->m;
  const hilo_inst i = piece->body[at];
  if (!with_scalars && hilo_bitset_get(s->c->liftable, hilo_ix(m, i))) {
    put(s, 0);
    put(s, hilo_inst_type(m, i).ix);
    return;
  }
  put(s, s->c->class[hilo_ix(m, i)]);
  for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++)
    put(s, s->number[hilo_ix(m, hilo_inst_operand(m, i, k))]);
  for (uint32_t e = hilo_control_first_pred(m, i); e; e = m->edge.v[e].next_of_succ)
    put(s, s->number[m->edge.v[e].pred]);
}

static void number_piece(sharing *s, const hilo_piece *piece) {
  for (uint32_t k = 0; k < piece->n_inputs; k++)
    s->number[hilo_ix(s->c->m, piece->inputs[k])] = INPUT | k;
  for (uint32_t k = 0; k < piece->n_body; k++) s->number[hilo_ix(s->c->m, piece->body[k])] = k + 1;
}

static void forget_piece(sharing *s, const hilo_piece *piece) {
  for (uint32_t k = 0; k < piece->n_inputs; k++)
    s->number[hilo_ix(s->c->m, piece->inputs[k])] = OUTSIDE;
  for (uint32_t k = 0; k < piece->n_body; k++)
    s->number[hilo_ix(s->c->m, piece->body[k])] = OUTSIDE;
}

/* Flow and layers of the piece are not part of it: only what it computes. */
static uint32_t text_of(sharing *s, const hilo_piece *piece, bool with_scalars) {
  const hilo_module *m = s->c->m;
  s->words.n = 0;
  number_piece(s, piece);
  put(s, piece->n_body);
  for (uint32_t at = 0; at < piece->n_body; at++) put_inst(s, piece, at, with_scalars);
  put(s, piece->n_inputs);
  for (uint32_t k = 0; k < piece->n_inputs; k++) put(s, hilo_inst_type(m, piece->inputs[k]).ix);
  put(s, piece->n_outputs);
  for (uint32_t k = 0; k < piece->n_outputs; k++) put(s, s->number[hilo_ix(m, piece->outputs[k])]);
  for (uint32_t k = 0; k < piece->n_aliases; k++) {
    put(s, piece->aliases[k].output);
    put(s, piece->aliases[k].input);
    put(s, piece->aliases[k].kind);
  }
  forget_piece(s, piece);
  return hilo_store_put(&s->texts, 0, s->words.v, s->words.n * sizeof(uint32_t));
}

/* Bodies were found to be the same when they were made; aliases came later. */
static bool is_as_next(const hilo_piece *piece) {
  const hilo_piece *next = piece + 1;
  if (!piece->repeats_next || piece->n_aliases != next->n_aliases) return false;
  for (uint32_t k = 0; k < piece->n_aliases; k++) {
    const hilo_piece_alias *a = &piece->aliases[k], *b = &next->aliases[k];
    if (a->output != b->output || a->input != b->input || a->kind != b->kind) return false;
  }
  return piece->n_inputs == next->n_inputs;
}

/* Equal numbers, equal definitions; NULL: not known yet, since scalars were lifted. */
static const uint32_t *lift_scalars(sharing *s) {
  const hilo_cut *cut = s->c->cut;
  uint32_t *alike = HILO_NEW_ARRAY(s->c->room, uint32_t, cut->n_pieces + 1);
  for (uint32_t p = cut->n_pieces; p-- > 0;)
    alike[p] = is_as_next(&cut->pieces[p]) ? alike[p + 1] : text_of(s, &cut->pieces[p], false);
  return hilo_cut_lift_scalars(s->c, alike) ? NULL : alike;
}

void hilo_cut_share(hilo_cutter *c) {
  const bool share = c->options->share;
  hilo_cut *cut = c->cut;
  sharing s = {.c = c, .number = HILO_NEW_ZEROED(c->room, uint32_t, cut->n_inst_slots)};
  hilo_store_init(&s.texts, c->room, NULL);
  s.definition_of = hilo_map_make(c->room);
  const uint32_t *known_texts = share && c->options->share_scalars ? lift_scalars(&s) : NULL;
  cut->definitions = HILO_NEW_ARRAY(c->arena, hilo_piece_definition, cut->n_pieces + 1);
  for (uint32_t p = 0; p < cut->n_pieces; p++) {
    uint32_t definition = cut->n_definitions;
    if (share) {
      bool inserted;
      const uint32_t text = known_texts ? known_texts[p] : text_of(&s, &cut->pieces[p], true);
      uint32_t *known = hilo_map_at(&s.definition_of, text, &inserted);
      if (inserted) *known = definition;
      definition = *known;
    }
    if (definition == cut->n_definitions)
      cut->definitions[cut->n_definitions++] = (hilo_piece_definition){.first = p};
    cut->definitions[definition].n_instances++;
    cut->pieces[p].definition = definition;
  }
}
