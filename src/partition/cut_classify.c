/* Classes of instructions: operation, type, attributes, what they call, and of what any instruction
 * may carry all but sharding and channel number. Attributes and types are interned, so equal
 * handles are equal content; computations are told apart by their digests. Names and metadata are
 * not in it. The content itself is looked at once a class. */
#include "analysis/canonical.h"
#include "partition/cut_parts.h"

/* All of what an instruction is by itself, in handles, two a word. */
typedef struct {
  uint64_t type_attr, extra_callees, op_operands;
} likeness;

typedef struct {
  hilo_cutter *c;
  hilo_store extras, callees; /* what counts of such a record; digests of what is called */
  hilo_canonical *canonical;
  uint32_t *of_extra;      /* by record: its handle in `extras`; 0: not asked for yet */
  hilo_vec(likeness) like; /* by class, from 1 on */
  hilo_vec(uint64_t) looks;
  uint32_t *slots, mask; /* classes, open addressing; 0: free */
  hilo_vec(hilo_digest) digests;
} classifier;

static bool is_scalar_constant(const hilo_module *m, hilo_inst i) {
  return hilo_inst_is(m, i, HILO_OP_CONSTANT) &&
         hilo_type_row_of(&m->types, hilo_inst_type(m, i))->n == 0;
}

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

static uint32_t what_is_called(classifier *k, hilo_inst i) {
  const uint32_t n = hilo_inst_n_called(k->c->m, i);
  if (!n) return 0;
  k->digests.n = 0;
  for (uint32_t callee = 0; callee < n; callee++)
    HILO_PUSH(k->c->room, &k->digests,
              hilo_canonical_digest(k->canonical, hilo_inst_called(k->c->m, i, callee)));
  return hilo_store_put(&k->callees, 0, k->digests.v, n * sizeof(hilo_digest));
}

static uint64_t pair(uint32_t a, uint32_t b) { return (uint64_t)a << 32 | b; }

static bool is_like(const likeness *a, const likeness *b) {
  return a->type_attr == b->type_attr && a->extra_callees == b->extra_callees &&
         a->op_operands == b->op_operands;
}

static uint32_t slot_of(const classifier *k, const likeness *l) {
  const uint64_t h = l->type_attr * 0x9e3779b97f4a7c15ull ^
                     l->extra_callees * 0xbf58476d1ce4e5b9ull ^
                     l->op_operands * 0x94d049bb133111ebull;
  uint32_t at = (uint32_t)(h >> 32) & k->mask;
  while (k->slots[at] && !is_like(&k->like.v[k->slots[at]], l)) at = (at + 1) & k->mask;
  return at;
}

static void grow(classifier *k) {
  k->mask = 2 * k->mask + 1;
  k->slots = HILO_NEW_ZEROED(k->c->room, uint32_t, (size_t)k->mask + 1);
  for (uint32_t class = 1; class < k->like.n; class ++)
    k->slots[slot_of(k, &k->like.v[class])] = class;
}

static void classify(classifier *k, hilo_inst i) {
  hilo_cutter *c = k->c;
  const hilo_module *m = c->m;
  const uint32_t ix = hilo_ix(m, i);
  const likeness l = {pair(m->inst.type[ix], m->inst.attr[ix]),
                      pair(what_counts(k, i), what_is_called(k, i)),
                      pair(m->inst.op[ix], m->inst.n_operands[ix])};
  uint32_t *class = &k->slots[slot_of(k, &l)];
  if (!*class) {
    *class = k->like.n;
    HILO_PUSH(c->room, &k->like, l);
    HILO_PUSH(c->room, &k->looks,
              hilo_canonical_inst_hash(k->canonical, i, !is_scalar_constant(m, i)));
  }
  c->class[ix] = *class;
  c->look[ix] = k->looks.v[*class];
  if (k->like.n > k->mask / 2) grow(k);
}

void hilo_cut_classify(hilo_cutter *c) {
  classifier k = {.c = c, .canonical = hilo_canonical_make(c->m, c->room), .mask = 255};
  hilo_store_init(&k.extras, c->room, NULL);
  hilo_store_init(&k.callees, c->room, NULL);
  k.of_extra = HILO_NEW_ZEROED(c->room, uint32_t, c->m->records.next);
  c->class = HILO_NEW_ZEROED(c->scratch, uint32_t, c->m->n_inst_slots);
  c->look = HILO_NEW_ZEROED(c->scratch, uint64_t, c->m->n_inst_slots);
  HILO_PUSH(c->room, &k.like, ((likeness){0}));
  HILO_PUSH(c->room, &k.looks, 0);
  grow(&k);
  HILO_FOR_EACH_INST(c->m, c->m->entry, i) { classify(&k, i); }
}
