#include "ir/module.h"

enum { MAX_NUM = 1 << 30 }; /* larger numbers belong to the base, so that counters have room */

hilo_str hilo_name_split(hilo_str text, uint32_t *number) {
  size_t n = text.n;
  uint64_t num = 0, power = 1; /* ten digits fit; what more of them make is not used */
  for (; n && text.p[n - 1] >= '0' && text.p[n - 1] <= '9'; n--, power *= 10)
    num += power * (uint64_t)(text.p[n - 1] - '0');
  const size_t digits = text.n - n;
  const bool split = n >= 2 && text.p[n - 1] == '.' && digits && digits <= 10 &&
                     (digits == 1 || text.p[n] != '0') && num <= MAX_NUM;
  *number = split ? (uint32_t)num : HILO_NO_NUM;
  return split ? (hilo_str){text.p, n - 1} : text;
}

hilo_name hilo_name_parse(hilo_module *m, hilo_str text) {
  hilo_name name;
  name.base = hilo_module_string(m, hilo_name_split(text, &name.num));
  return name;
}

void hilo_name_print(const hilo_module *m, hilo_name name, hilo_sb *out) {
  hilo_sb_str(out, hilo_string_of(m, name.base));
  if (name.num == HILO_NO_NUM) return;
  hilo_sb_char(out, '.');
  hilo_sb_u64(out, name.num);
}

static hilo_str name_text(const hilo_module *m, hilo_name name, hilo_arena *arena) {
  hilo_sb sb = hilo_sb_make(arena);
  hilo_name_print(m, name, &sb);
  const hilo_str text = hilo_str_copy(arena, hilo_sb_view(&sb));
  hilo_sb_free(&sb);
  return text;
}

hilo_str hilo_inst_name_text(const hilo_module *m, hilo_inst i, hilo_arena *arena) {
  return name_text(m, hilo_inst_name(m, i), arena);
}

hilo_str hilo_comp_name_text(const hilo_module *m, hilo_comp c, hilo_arena *arena) {
  return name_text(m, hilo_comp_name(m, c), arena);
}

/* The counter of a base is one above the largest number seen; a base seen alone counts as number 0.
 */
static void note_name(hilo_map *next, hilo_name name) {
  bool inserted;
  uint32_t *counter = hilo_map_at(next, name.base.ix, &inserted);
  const uint32_t above = name.num == HILO_NO_NUM ? 1 : name.num + 1;
  if (*counter < above) *counter = above;
}

static hilo_name fresh(const hilo_map *next, hilo_string base) {
  const uint32_t counter = hilo_map_get(next, base.ix, 0);
  HILO_CHECK(counter < HILO_NO_NUM);
  return (hilo_name){base, counter ? counter : HILO_NO_NUM};
}

void hilo_inst_set_name(hilo_module *m, hilo_inst i, hilo_name name) {
  const uint32_t ix = hilo_ix(m, i);
  m->inst.name_base[ix] = name.base.ix;
  m->inst.name_num[ix] = name.num;
  note_name(&m->next_num, name);
}

void hilo_comp_set_name(hilo_module *m, hilo_comp c, hilo_name name) {
  hilo_comp_row *row = &m->comp.v[hilo_comp_ix(m, c)];
  row->name_base = name.base.ix;
  row->name_num = name.num;
  note_name(&m->next_comp_num, name);
}

hilo_name hilo_inst_fresh_name(hilo_module *m, hilo_string base) {
  return fresh(&m->next_num, base);
}
hilo_name hilo_comp_fresh_name(hilo_module *m, hilo_string base) {
  return fresh(&m->next_comp_num, base);
}
