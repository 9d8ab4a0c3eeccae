#include "analysis/canonical.h"

/* The body is a byte string: every item is preceded by what it needs to be read unambiguously (a
 * count, an enum value), so two bodies are equal bytes only if they are the same. Numbers are
 * written as LEB128. */

/* What a type or record looks like in a body: a run of the texts. Direct mapped, so what is asked
 * for most is mostly there, and nothing is looked for in vain for long. */
enum { N_KNOWN = 512, KNOWN_TYPE = 1, KNOWN_ATTRS, KNOWN_EXTRA };
typedef struct {
  uint64_t key; /* kind and handle; 0: free */
  size_t at, n;
} known_text;

typedef struct {
  uint32_t inst, k;
} frame;

struct hilo_canonical {
  const hilo_module *m;
  hilo_arena *arena;
  hilo_digest *digests;   /* by computation */
  uint64_t *known;        /* computations with a digest */
  hilo_comp_list visited; /* in order of digestion */
  uint32_t *number; /* by instruction: 1-based position in its computation's canonical order; NULL:
                       not asked for yet */
  hilo_vec(uint32_t) order;
  hilo_sb body;
  hilo_vec(frame) stack; /* of the numbering */
  known_text texts_of[N_KNOWN];
  hilo_sb texts;
  hilo_store small;  /* computations that are, in handles */
  hilo_map first_of; /* handle in `small` → the first computation that is like this */
};

enum { MAX_SMALL_WORDS = 96 };

hilo_canonical *hilo_canonical_make(const hilo_module *m, hilo_arena *arena) {
  hilo_canonical *c = HILO_NEW_ZEROED(arena, hilo_canonical, 1);
  c->m = m;
  c->arena = arena;
  c->digests = HILO_NEW_ARRAY(arena, hilo_digest, hilo_module_n_comps(m));
  c->known = hilo_bitset_create(arena, hilo_module_n_comps(m));
  c->visited.v = HILO_NEW_ARRAY(arena, hilo_comp, hilo_module_n_comps(m));
  c->body = hilo_sb_make(arena);
  c->texts = hilo_sb_make(arena);
  c->first_of = hilo_map_make(arena);
  hilo_store_init(&c->small, arena, NULL);
  return c;
}

static known_text *known_slot(hilo_canonical *c, uint32_t handle) {
  return &c->texts_of[(handle ^ handle >> 9) % N_KNOWN];
}

/* Append what this handle looked like before; false: it is not known. */
static bool put_known(hilo_canonical *c, uint32_t kind, uint32_t handle) {
  const known_text *text = known_slot(c, handle);
  if (text->key != ((uint64_t)kind << 32 | handle)) return false;
  hilo_sb_bytes(&c->body, c->texts.p + text->at, text->n);
  return true;
}

/* What stands in the body from `start` on is what this handle looks like. */
static void note_known(hilo_canonical *c, uint32_t kind, uint32_t handle, size_t start) {
  const known_text text = {(uint64_t)kind << 32 | handle, c->texts.n, c->body.n - start};
  hilo_sb_bytes(&c->texts, c->body.p + start, text.n);
  *known_slot(c, handle) = text;
}

enum { MAX_NUM = 10 };

static char *num_to(char *p, uint64_t v) {
  for (; v >= 0x80; v >>= 7) *p++ = (char)(v | 0x80);
  *p++ = (char)v;
  return p;
}

static void put_num(hilo_sb *sb, uint64_t v) {
  sb->n = (size_t)(num_to(hilo_sb_reserve(sb, MAX_NUM), v) - sb->p);
}

static void put_text(hilo_canonical *c, hilo_str text) {
  put_num(&c->body, text.n);
  hilo_sb_str(&c->body, text);
}

static void put_str(hilo_canonical *c, hilo_string s) { put_text(c, hilo_string_of(c->m, s)); }

static void put_label(hilo_canonical *c, hilo_label s) { put_text(c, hilo_label_of(c->m, s)); }

static void put_record(hilo_canonical *c, hilo_record r);
static void put_meta(hilo_canonical *c, hilo_record r);

/* Types nest (tuples), and tuples may be deep: an explicit stack of what is left to write. */
static void put_type(hilo_canonical *c, hilo_type first) {
  hilo_vec(uint32_t) todo = {0};
  HILO_PUSH(c->arena, &todo, first.ix);
  while (todo.n) {
    const hilo_type t = {HILO_POP(&todo)};
    if (!t.ix) {
      put_num(&c->body, 0);
      continue;
    }
    const hilo_type_info info = hilo_type_get(&c->m->types, t);
    put_num(&c->body, 1 + (uint64_t)info.etype);
    put_num(&c->body, info.dims.n + info.elements.n);
    for (uint32_t k = 0; k < info.dims.n; k++) {
      put_num(&c->body, (uint64_t)info.dims.v[k]);
      if (info.dynamic) put_num(&c->body, info.dynamic[0] >> k & 1);
    }
    if (info.dims.n) put_num(&c->body, info.dynamic != NULL);
    if (hilo_etype_is_array(info.etype)) put_record(c, info.layout);
    for (uint32_t k = info.elements.n; k > 0; k--)
      HILO_PUSH(c->arena, &todo, (uint32_t)info.elements.v[k - 1]);
  }
  HILO_VEC_FREE(c->arena, &todo);
}

static void put_list(hilo_canonical *c, hilo_dims list, hilo_field_kind kind) {
  put_num(&c->body, list.n);
  for (uint32_t k = 0; k < list.n; k++) {
    switch (kind) {
    case HILO_KIND_STRS: put_str(c, (hilo_string){(uint32_t)list.v[k]}); break;
    case HILO_KIND_TYPES: put_type(c, (hilo_type){(uint32_t)list.v[k]}); break;
    case HILO_KIND_RECS: put_record(c, (hilo_record){(uint32_t)list.v[k]}); break;
    case HILO_KIND_METAS: put_meta(c, (hilo_record){(uint32_t)list.v[k]}); break;
    default: put_num(&c->body, (uint64_t)list.v[k]); break;
    }
  }
}

static void put_field(hilo_canonical *c, const char *at, hilo_field_kind kind) {
  uint32_t word;
  int64_t number;
  switch (kind) {
  case HILO_KIND_INT:
    memcpy(&number, at, sizeof(number));
    put_num(&c->body, (uint64_t)number);
    break;
  case HILO_KIND_BOOL: put_num(&c->body, *(const bool *)at); break;
  case HILO_KIND_FLOAT:
    memcpy(&word, at, sizeof(word));
    put_num(&c->body, word);
    break;
  case HILO_KIND_STR: put_str(c, *(const hilo_string *)(const void *)at); break;
  case HILO_KIND_LABEL: put_label(c, *(const hilo_label *)(const void *)at); break;
  case HILO_KIND_TYPE: put_type(c, *(const hilo_type *)(const void *)at); break;
  case HILO_KIND_REC: put_record(c, *(const hilo_record *)(const void *)at); break;
  default: put_list(c, *(const hilo_dims *)(const void *)at, kind); break;
  }
}

/* Records refer to records that were there before them, so the depth is bounded by the families'
 * nesting, which readers bound (sharding tuples). */
static void put_record_of(hilo_canonical *c, const hilo_store *store, hilo_record r) {
  enum { MAX_STRUCT_BYTES = 512 };
  const hilo_family family = hilo_record_family(store, r);
  put_num(&c->body, (uint64_t)family);
  if (family == HILO_FAMILY_none) return;
  const hilo_family_info *info = &hilo_family_table[family];
  HILO_CHECK(info->bytes <= MAX_STRUCT_BYTES);
  _Alignas(16) char attrs[MAX_STRUCT_BYTES];
  hilo_record_get(store, family, r, attrs);
  for (uint32_t k = 0; k < info->n_fields; k++)
    put_field(c, attrs + info->fields[k].offset, (hilo_field_kind)info->fields[k].kind);
}

static void put_record(hilo_canonical *c, hilo_record r) { put_record_of(c, &c->m->records, r); }
static void put_meta(hilo_canonical *c, hilo_record r) { put_record_of(c, &c->m->labels, r); }

static void put_literal(hilo_canonical *c, hilo_literal l) {
  const hilo_literal_row *row = hilo_literal_get(c->m, l);
  put_num(&c->body, row->kind);
  put_num(&c->body, row->bytes);
  if (row->kind == HILO_LITERAL_TUPLE) {
    const hilo_literal *elements = (const void *)row->data;
    for (size_t k = 0; k < row->bytes / sizeof(*elements); k++) put_literal(c, elements[k]);
  } else if (row->bytes <= 256) {
    hilo_sb_bytes(&c->body, row->data, row->bytes);
  } else { /* large constants by digest: no copy of them is made */
    const hilo_digest digest = hilo_sha256_of((hilo_str){row->data, row->bytes});
    hilo_sb_bytes(&c->body, digest.bytes, sizeof(digest.bytes));
  }
}

static void put_attr(hilo_canonical *c, hilo_op op, uint32_t attr) {
  switch (hilo_op_get(op)->family) {
  case HILO_FAMILY_none: break;
  case HILO_FAMILY_index: put_num(&c->body, attr); break;
  case HILO_FAMILY_literal: put_literal(c, (hilo_literal){attr}); break;
  default: {
    const size_t start = c->body.n;
    if (put_known(c, KNOWN_ATTRS, attr)) break;
    put_record(c, (hilo_record){attr});
    note_known(c, KNOWN_ATTRS, attr, start);
    break;
  }
  }
}

static void put_extra(hilo_canonical *c, hilo_record r) {
  put_num(&c->body, r.ix != 0);
  if (!r.ix) return;
  const size_t start = c->body.n;
  if (put_known(c, KNOWN_EXTRA, r.ix)) return;
  const hilo_extra_attrs e = hilo_extra_get(&c->m->records, r);
  put_num(&c->body, (uint64_t)(e.channel_id > 0) | (uint64_t)e.is_composite << 1);
  put_record(c, e.frontend);
  put_str(c, e.backend_config);
  put_record(c, e.result_accuracy);
  put_str(c, e.execution_thread);
  put_record(c, e.neuron);
  note_known(c, KNOWN_EXTRA, r.ix, start);
}

/* Number what `start` needs, then `start`: depth-first, operands in order, with an explicit stack.
 */
static void number_from(hilo_canonical *c, uint32_t start) {
  const hilo_module *m = c->m;
  const uint32_t open = UINT32_MAX;
  if (c->number[start]) return;
  c->number[start] = open;
  HILO_PUSH(c->arena, &c->stack, ((frame){start, 0}));
  while (c->stack.n) {
    frame *top = &c->stack.v[c->stack.n - 1];
    if (top->k < m->inst.n_operands[top->inst]) {
      const uint32_t next = m->operand.v[m->inst.operands[top->inst] + top->k++].value;
      if (c->number[next]) continue;
      c->number[next] = open;
      HILO_PUSH(c->arena, &c->stack, ((frame){next, 0}));
      continue;
    }
    HILO_PUSH(c->arena, &c->order, top->inst);
    c->number[top->inst] = c->order.n;
    c->stack.n--;
  }
}

static void put_inst_type(hilo_canonical *c, uint32_t type) {
  const size_t start = c->body.n;
  if (put_known(c, KNOWN_TYPE, type)) return;
  put_type(c, (hilo_type){type});
  note_known(c, KNOWN_TYPE, type, start);
}

static void put_kind(hilo_canonical *c, uint32_t ix) {
  put_num(&c->body, c->m->inst.op[ix]);
  put_inst_type(c, c->m->inst.type[ix]);
  put_num(&c->body, c->m->inst.n_operands[ix]);
}

static void put_content(hilo_canonical *c, uint32_t ix, bool with_attr) {
  const hilo_module *m = c->m;
  if (with_attr) put_attr(c, (hilo_op)m->inst.op[ix], m->inst.attr[ix]);
  put_extra(c, (hilo_record){m->inst.extra[ix]});
  const hilo_inst inst = hilo_inst_at(m, ix);
  const uint32_t n_called = hilo_inst_n_called(m, inst);
  put_num(&c->body, n_called);
  for (uint32_t k = 0; k < n_called; k++)
    hilo_sb_bytes(&c->body, &c->digests[hilo_comp_ix(m, hilo_inst_called(m, inst, k))],
                  sizeof(hilo_digest));
}

static void put_inst(hilo_canonical *c, uint32_t ix) {
  const hilo_module *m = c->m;
  put_kind(c, ix);
  const uint32_t n = m->inst.n_operands[ix];
  char *to = hilo_sb_reserve(&c->body, (size_t)n * MAX_NUM);
  for (uint32_t k = 0; k < n; k++)
    to = num_to(to, c->number[m->operand.v[m->inst.operands[ix] + k].value]);
  c->body.n = (size_t)(to - c->body.p);
  put_content(c, ix, true);
  const hilo_inst inst = hilo_inst_at(m, ix);
  for (uint32_t e = hilo_control_first_pred(m, inst); e; e = m->edge.v[e].next_of_succ)
    put_num(&c->body, c->number[m->edge.v[e].pred]);
  put_num(&c->body, 0);
}

/* All callees are known. */
static hilo_digest digest_of(hilo_canonical *c, uint32_t comp) {
  const hilo_module *m = c->m;
  const hilo_comp_row *row = &m->comp.v[comp];
  if (!c->number) c->number = HILO_NEW_ZEROED(c->arena, uint32_t, m->n_inst_slots);
  c->order.n = 0;
  hilo_sb_clear(&c->body);
  if (row->root) number_from(c, row->root);
  for (uint32_t ix = row->first; ix; ix = m->inst.next[ix]) number_from(c, ix);
  put_num(&c->body, row->n_params);
  put_num(&c->body, row->root ? c->number[row->root] : 0);
  put_str(c, (hilo_string){row->execution_thread});
  for (uint32_t k = 0; k < c->order.n; k++) put_inst(c, c->order.v[k]);
  return hilo_sha256_of(hilo_sb_view(&c->body));
}

/* A small computation that calls nothing, as handles and distances: equal words, equal bodies. How
 * many words; 0: it is not of this kind. */
static uint32_t words_of_small(const hilo_module *m, uint32_t comp,
                               uint32_t words[MAX_SMALL_WORDS]) {
  enum { OF_INST = 6 };
  const hilo_comp_row *row = &m->comp.v[comp];
  if (m->edges.n || !row->root) return 0;
  uint32_t n = 0;
  words[n++] = row->n_params;
  words[n++] = row->root - row->first;
  words[n++] = row->execution_thread;
  for (uint32_t ix = row->first; ix; ix = m->inst.next[ix]) {
    const uint32_t n_operands = m->inst.n_operands[ix];
    if (m->inst.called[ix] || n_operands > MAX_SMALL_WORDS ||
        n + OF_INST + n_operands > MAX_SMALL_WORDS)
      return 0;
    words[n++] = ix - row->first;
    words[n++] = m->inst.op[ix];
    words[n++] = m->inst.type[ix];
    words[n++] = m->inst.attr[ix];
    words[n++] = m->inst.extra[ix];
    words[n++] = n_operands;
    for (uint32_t k = 0; k < n_operands; k++)
      words[n++] = m->operand.v[m->inst.operands[ix] + k].value - row->first;
  }
  return n;
}

/* A module has many reducers, all of a few kinds: those that are alike are digested once. */
static void digest_one(hilo_canonical *c, uint32_t comp) {
  uint32_t words[MAX_SMALL_WORDS];
  const uint32_t n = words_of_small(c->m, comp, words);
  bool inserted;
  uint32_t *first =
      n ? hilo_map_at(&c->first_of, hilo_store_put(&c->small, 0, words, n * sizeof(*words)),
                      &inserted)
        : NULL;
  if (first && !inserted) {
    c->digests[comp] = c->digests[*first];
    return;
  }
  if (first) *first = comp;
  c->digests[comp] = digest_of(c, comp);
}

hilo_digest hilo_canonical_digest(hilo_canonical *c, hilo_comp comp) {
  if (hilo_bitset_get(c->known, hilo_comp_ix(c->m, comp)))
    return c->digests[hilo_comp_ix(c->m, comp)];
  const uint32_t first = c->visited.n;
  hilo_comps_visit(c->m, c->arena, comp, c->known, &c->visited);
  for (uint32_t k = first; k < c->visited.n; k++)
    digest_one(c, hilo_comp_ix(c->m, c->visited.v[k]));
  return c->digests[hilo_comp_ix(c->m, comp)];
}

uint64_t hilo_canonical_inst_hash(hilo_canonical *c, hilo_inst i, bool with_attr) {
  for (uint32_t k = 0; k < hilo_inst_n_called(c->m, i); k++)
    (void)hilo_canonical_digest(c, hilo_inst_called(c->m, i, k));
  hilo_sb_clear(&c->body);
  put_kind(c, hilo_ix(c->m, i));
  put_content(c, hilo_ix(c->m, i), with_attr);
  return hilo_hash_bytes(c->body.p, c->body.n);
}

void hilo_module_signature(const hilo_module *m, hilo_arena *scratch,
                           char out[HILO_SHA256_HEX + 1]) {
  const hilo_digest digest = hilo_canonical_digest(hilo_canonical_make(m, scratch), m->entry);
  hilo_digest_hex(&digest, out);
}
