/* Classes of instructions: operation, type, attributes and called computations, in a store of their
 * own. What these are made of is interned, so equal handles are equal content. Names, metadata,
 * shardings and channel numbers are not in it. The content itself is looked at once a class. */
#include "analysis/canonical.h"
#include "partition/cut_parts.h"

typedef struct {
  hilo_cutter *c;
  hilo_store classes, extras, bodies; /* of instructions; digests of computations */
  hilo_canonical *canonical;
  hilo_map look_of; /* class → its place among `looks` */
  hilo_vec(uint64_t) looks;
  hilo_vec(uint32_t) words;
  uint32_t
      *of_extra; /* by record of what any instruction may carry: a handle for what of it counts */
} classifier;

static uint32_t put_words(classifier *k) {
  return hilo_store_put(&k->classes, 0, k->words.v, k->words.n * sizeof(uint32_t));
}

/* Rank 0: what may differ between layers that are the same otherwise. */
static bool is_scalar_constant(const hilo_module *m, hilo_inst i) {
  return hilo_inst_is(m, i, HILO_OP_CONSTANT) &&
         hilo_type_row_of(&m->types, hilo_inst_type(m, i))->n == 0;
}

/* Of what any instruction may carry: all but sharding and channel number. */
static uint32_t what_counts(classifier *k, hilo_inst i) {
  const hilo_record record = hilo_inst_extra_record(k->c->m, i);
  if (!record.ix) return 0;
  uint32_t *known = &k->of_extra[record.ix];
  if (*known) return *known;
  const hilo_extra_attrs extra = hilo_inst_extra(k->c->m, i);
  const uint32_t words[] = {
      extra.frontend.ix,  extra.backend_config.ix,   extra.result_accuracy.ix, extra.neuron.ix,
      extra.is_composite, extra.execution_thread.ix, extra.channel_id != 0};
  return *known = hilo_store_put(&k->extras, 0, words, sizeof(words));
}

static void classify(classifier *k, hilo_inst i) {
  hilo_cutter *c = k->c;
  const hilo_module *m = c->m;
  const uint32_t ix = hilo_ix(m, i);
  const uint32_t fixed[] = {m->inst.op[ix], m->inst.type[ix], m->inst.n_operands[ix],
                            what_counts(k, i), m->inst.attr[ix]};
  k->words.n = 0;
  for (uint32_t w = 0; w < HILO_COUNT(fixed); w++) HILO_PUSH(c->room, &k->words, fixed[w]);
  for (uint32_t callee = 0; callee < hilo_inst_n_called(m, i); callee++) {
    const hilo_digest digest = hilo_canonical_digest(k->canonical, hilo_inst_called(m, i, callee));
    HILO_PUSH(c->room, &k->words, hilo_store_put(&k->bodies, 0, &digest, sizeof(digest)));
  }
  c->class[ix] = put_words(k);
  bool inserted;
  uint32_t *at = hilo_map_at(&k->look_of, c->class[ix], &inserted);
  if (inserted) {
    *at = k->looks.n;
    HILO_PUSH(c->room, &k->looks,
              hilo_canonical_inst_hash(k->canonical, i, !is_scalar_constant(m, i)));
  }
  c->look[ix] = k->looks.v[*at];
}

void hilo_cut_classify(hilo_cutter *c) {
  classifier k = {.c = c, .canonical = hilo_canonical_make(c->m, c->room)};
  hilo_store_init(&k.classes, c->room, NULL);
  hilo_store_init(&k.extras, c->room, NULL);
  hilo_store_init(&k.bodies, c->room, NULL);
  k.of_extra = HILO_NEW_ZEROED(c->room, uint32_t, c->m->records.next);
  c->class = HILO_NEW_ZEROED(c->scratch, uint32_t, c->m->n_inst_slots);
  c->look = HILO_NEW_ZEROED(c->scratch, uint64_t, c->m->n_inst_slots);
  k.look_of = hilo_map_make(c->room);
  HILO_FOR_EACH_INST(c->m, c->m->entry, i) { classify(&k, i); }
}
