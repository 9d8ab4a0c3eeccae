/* Names: tables of instructions and computations, names that are unique in the module, names that
 * are missing; and the memo of spellings.
 *
 * Instruction names are looked up by their text. The table is one for the module: an entry holds
 * the computation (`scope`) that defined the name last, so that a new computation starts with no
 * names without anything being cleared, and a name that was seen in another computation shows at
 * once. Only then are names compared by base and number, in a set that is made at the first clash:
 * texts that XLA printed have none. */
#include "formats/text/hlo_text_impl.h"

void hilo_text_words_init(text_words *w, const hilo_str *words, uint32_t n) {
  memset(w->slot, 0, sizeof(w->slot));
  w->words = words;
  for (uint32_t k = 0; k < n; k++) {
    if (!words[k].n) continue;
    uint32_t i = text_word_hash(words[k].p, words[k].n);
    while (w->slot[i]) i = (i + 1) & 511;
    w->slot[i] = (uint8_t)(k + 1);
  }
}

hilo_string hilo_text_intern(text_reader *r, hilo_str s) {
  if (!s.n) return HILO_STRING_EMPTY;
  const uint32_t hash = hilo_hash_name(s.p, s.n), at = hash & (TEXT_RECENT_STRINGS - 1);
  if (r->recent_strings[at].hash == hash && r->recent_strings[at].string) {
    const hilo_string known = {r->recent_strings[at].string};
    const hilo_str text = hilo_string_get(&r->m->strings, known);
    if (text.n == s.n && text_same(text.p, s.p, s.n)) return known;
  }
  const hilo_string string = hilo_string_put(&r->m->strings, s);
  r->recent_strings[at].hash = hash;
  r->recent_strings[at].string = string.ix;
  return string;
}

/* ---- symbols ---- */

void hilo_text_symbols_init(text_reader *r, text_symbols *s, uint32_t n) {
  uint32_t cap = 64;
  while (cap < n + n / 2) cap *= 2;
  s->mask = cap - 1;
  s->n = 0;
  s->v = hilo_arena_resize_block(&r->scratch->arena, NULL, (size_t)cap * sizeof(*s->v));
  memset(s->v, 0, (size_t)cap * sizeof(*s->v));
}

void hilo_text_symbols_grow(text_reader *r, text_symbols *s) {
  const text_symbols old = *s;
  hilo_text_symbols_init(r, s, old.mask + 1);
  for (uint32_t i = 0; i <= old.mask; i++) {
    if (!old.v[i].n) continue;
    uint32_t j = old.v[i].hash & s->mask;
    while (s->v[j].n) j = (j + 1) & s->mask;
    s->v[j] = old.v[i];
  }
  s->n = old.n;
  hilo_arena_resize_block(&r->scratch->arena, old.v, 0);
}

text_symbol *hilo_text_symbol(const text_reader *r, const text_symbols *s, hilo_str name,
                              uint32_t hash) {
  for (uint32_t i = hash & s->mask;; i = (i + 1) & s->mask) {
    text_symbol *slot = &s->v[i];
    if (!slot->n) return slot;
    if (slot->hash == hash && slot->n == name.n && text_same(r->text + slot->at, name.p, name.n))
      return slot;
  }
}

text_symbol *hilo_text_declare_inst(text_reader *r, hilo_str name, bool *seen_before) {
  text_symbols *s = &r->insts;
  if (s->n + s->n / 2 >= s->mask) hilo_text_symbols_grow(r, s);
  const uint32_t hash = hilo_hash_name(name.p, name.n);
  text_symbol *slot = hilo_text_symbol(r, s, name, hash);
  const uint32_t at = text_offset(r, name.p);
  *seen_before = slot->n != 0;
  if (slot->n && slot->scope == r->scope) {
    hilo_text_fail(r, HILO_DIAG_EMOD903, name.p,
                   "the name `%.*s` is used for a second instruction of this computation",
                   HILO_FMT(name));
    hilo_text_note(r, slot->def, "the first one");
    return NULL;
  }
  if (!slot->n) {
    *slot = (text_symbol){hash, at, (uint32_t)name.n, 0, 0, 0};
    s->n++;
  }
  if (r->depth) HILO_PUSH(&r->scratch->arena, &r->undo, *slot);
  slot->scope = r->scope;
  slot->value = TEXT_POISON;
  slot->def = at;
  return slot;
}

void hilo_text_declare_failed(text_reader *r, hilo_str name) {
  const text_symbol *s = hilo_text_symbol(r, &r->insts, name, hilo_hash_name(name.p, name.n));
  bool seen_before;
  if (!s->n || s->scope != r->scope) hilo_text_declare_inst(r, name, &seen_before);
}

void hilo_text_undo_to(text_reader *r, uint32_t n) {
  while (r->undo.n > n) {
    const text_symbol old = HILO_POP(&r->undo);
    const hilo_str name = {r->text + old.at, old.n};
    *hilo_text_symbol(r, &r->insts, name, old.hash) = old;
  }
}

/* ---- names unique in the module ---- */

static uint64_t name_key(hilo_name name) {
  return (uint64_t)name.base.ix << 32 | (name.num == HILO_NO_NUM ? 0 : name.num + 1);
}

static bool use_name(text_reader *r, uint64_t key) {
  uint32_t i = (uint32_t)hilo_hash_u64(key) & r->used_names_mask;
  for (; r->used_names[i]; i = (i + 1) & r->used_names_mask)
    if (r->used_names[i] == key) return false;
  r->used_names[i] = key;
  r->n_used_names++;
  return true;
}

static void grow_used_names(text_reader *r) {
  uint64_t *old = r->used_names;
  const uint32_t n_old = old ? r->used_names_mask + 1 : 0;
  uint32_t cap = n_old ? n_old * 2 : 256;
  while (cap < r->m->n_inst_slots * 2) cap *= 2;
  r->used_names = hilo_arena_resize_block(&r->scratch->arena, NULL, (size_t)cap * sizeof(*old));
  memset(r->used_names, 0, (size_t)cap * sizeof(*old));
  r->used_names_mask = cap - 1;
  r->n_used_names = 0;
  for (uint32_t i = 0; i < n_old; i++)
    if (old[i]) use_name(r, old[i]);
  if (old) {
    hilo_arena_resize_block(&r->scratch->arena, old, 0);
    return;
  }
  const hilo_inst_columns *c = &r->m->inst;
  for (uint32_t ix = 1; ix < r->m->n_inst_slots; ix++)
    use_name(r, name_key((hilo_name){{c->name_base[ix]}, c->name_num[ix]}));
}

static bool take_name(text_reader *r, hilo_name name) {
  if (!r->used_names || r->n_used_names + r->n_used_names / 2 >= r->used_names_mask)
    grow_used_names(r);
  return use_name(r, name_key(name));
}

/* The lowest free number of a base, from the one after that which was given last. */
static hilo_name next_free(text_reader *r, hilo_string base) {
  bool inserted;
  uint32_t *next = hilo_map_at(&r->next_number, base.ix, &inserted);
  if (inserted) *next = 1;
  for (;;) {
    const hilo_name name = {base, (*next)++};
    if (take_name(r, name)) return name;
  }
}

hilo_name hilo_text_unique_name(text_reader *r, hilo_str text, bool seen_before) {
  hilo_name name;
  text = hilo_name_split(text, &name.num);
  name.base = hilo_text_intern(r, text);
  if (HILO_LIKELY(!seen_before && !r->used_names)) return name;
  return take_name(r, name) ? name : next_free(r, name.base);
}

hilo_name hilo_text_made_name(text_reader *r, hilo_str base) {
  const hilo_name name = {hilo_module_string(r->m, base), HILO_NO_NUM};
  return take_name(r, name) ? name : next_free(r, name.base);
}

/* ---- names that are missing ---- */

void hilo_text_nearest_inst(text_reader *r, hilo_str name, uint32_t scope, hilo_sb *out) {
  enum { MAX_CANDIDATES = 2000 }; /* beyond it the suggestion costs more than it helps */
  hilo_vec(hilo_str) names = {0};
  for (uint32_t i = 0; i <= r->insts.mask && names.n < MAX_CANDIDATES; i++) {
    const text_symbol *s = &r->insts.v[i];
    if (s->n && s->scope == scope)
      HILO_PUSH(&r->scratch->arena, &names, ((hilo_str){r->text + s->at, s->n}));
  }
  const hilo_str near = hilo_str_nearest(name, names.v, names.n);
  if (near.n) hilo_sb_printf(out, "; did you mean `%.*s`?", HILO_FMT(near));
}

void hilo_text_resolve_missing(text_reader *r, uint32_t first, uint32_t scope) {
  enum { MAX_SUGGESTIONS = 20 };
  for (uint32_t i = first; i < r->missing.n; i++) {
    const text_missing *m = &r->missing.v[i];
    if (m->error >= r->errors.n) continue;
    const hilo_str name = {r->text + m->at, m->n};
    text_error *e = &r->errors.v[m->error];
    const text_symbol *s = hilo_text_symbol(r, &r->insts, name, hilo_hash_name(name.p, name.n));
    hilo_sb sb = hilo_sb_make(&r->scratch->arena);
    if (s->n && s->scope == scope) {
      hilo_sb_printf(
          &sb,
          "`%.*s` is used before it is defined: an instruction comes after its operands, "
          "and may not depend on itself",
          HILO_FMT(name));
      e->note_at = s->def;
      e->note = HILO_STR("defined here");
    } else {
      hilo_sb_printf(&sb, "`%.*s` is not defined in this computation", HILO_FMT(name));
      if (s->n) {
        e->note_at = s->def;
        e->note = HILO_STR("an instruction of another computation has this name");
      } else if (i - first < MAX_SUGGESTIONS) {
        hilo_text_nearest_inst(r, name, scope, &sb);
      }
    }
    e->message = hilo_sb_view(&sb);
  }
  r->missing.n = first;
}

/* ---- memo ---- */

static void grow_memo(text_reader *r) {
  text_memo old = r->memo;
  const uint32_t cap = old.v ? (old.mask + 1) * 2 : 256;
  r->memo.v = hilo_arena_resize_block(&r->scratch->arena, NULL, (size_t)cap * sizeof(*old.v));
  memset(r->memo.v, 0, (size_t)cap * sizeof(*old.v));
  r->memo.mask = cap - 1;
  for (uint32_t i = 0; old.v && i <= old.mask; i++) {
    if (!old.v[i].n) continue;
    uint32_t j = old.v[i].hash & r->memo.mask;
    while (r->memo.v[j].n) j = (j + 1) & r->memo.mask;
    r->memo.v[j] = old.v[i];
  }
  if (old.v) hilo_arena_resize_block(&r->scratch->arena, old.v, 0);
}

text_memo_slot *hilo_text_memo_find(text_reader *r, text_memo_kind kind, const char *p, size_t n) {
  if (!r->memo.v || r->memo.n + r->memo.n / 2 >= r->memo.mask) grow_memo(r);
  const uint32_t hash = hilo_hash_name(p, n) + (uint32_t)kind;
  for (uint32_t i = hash & r->memo.mask;; i = (i + 1) & r->memo.mask) {
    text_memo_slot *slot = &r->memo.v[i];
    if (!slot->n) {
      slot->hash = hash;
      return slot;
    }
    if (slot->hash == hash && slot->n == n && slot->kind == (uint32_t)kind &&
        text_same(r->text + slot->at, p, n))
      return slot;
  }
}

void hilo_text_memo_set(text_reader *r, text_memo_slot *slot, text_memo_kind kind, const char *p,
                        size_t n, uint32_t a, uint32_t b) {
  *slot = (text_memo_slot){slot->hash, text_offset(r, p), (uint32_t)n, kind, a, b};
  r->memo.n++;
}
