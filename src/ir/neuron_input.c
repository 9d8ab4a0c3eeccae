#include "ir/neuron_input.h"

#include "base/vec.h"

static const char prefix[] = "neuron.";
enum { PREFIX = sizeof(prefix) - 1 };

typedef enum { NO_OPT, GROUP_ID, NON_LOCAL, TRANSPOSABLE, N_KEYS } key;

static const char *const keys[N_KEYS] = {"no_opt", "groupID", "non_local", "transposable"};

static key key_of(hilo_str name) {
  if (!hilo_str_starts(name, prefix)) return N_KEYS;
  const hilo_str rest = {name.p + PREFIX, name.n - PREFIX};
  uint32_t k = 0;
  while (k < N_KEYS && !hilo_str_is(rest, keys[k])) k++;
  return (key)k;
}

bool hilo_neuron_is_input(hilo_str name) { return key_of(name) != N_KEYS; }

static bool is_true(hilo_str value) {
  return !hilo_str_is(value, "false") && !hilo_str_is(value, "0");
}

/* Does the map say anything? Then it is in *neuron. */
static bool read_map(const hilo_module *m, hilo_record map, hilo_neuron_attrs *neuron) {
  const hilo_dims kv = hilo_string_map_get(&m->records, map).kv;
  bool any = false;
  for (uint32_t k = 0; k + 1 < kv.n; k += 2) {
    const hilo_string value = {(uint32_t)kv.v[k + 1]};
    const key found = key_of(hilo_string_of(m, (hilo_string){(uint32_t)kv.v[k]}));
    any |= found != N_KEYS;
    switch (found) {
    case NO_OPT: neuron->no_opt = value; break;
    case GROUP_ID: neuron->group_id = value; break;
    case NON_LOCAL: neuron->non_local = is_true(hilo_string_of(m, value)); break;
    case TRANSPOSABLE: neuron->transposable = is_true(hilo_string_of(m, value)); break;
    case N_KEYS: break;
    }
  }
  return any;
}

void hilo_neuron_take_input(hilo_module *m, hilo_inst i) {
  if (!hilo_inst_extra_record(m, i).ix) return;
  hilo_extra_attrs extra = hilo_inst_extra(m, i);
  hilo_neuron_attrs neuron = hilo_neuron_get(&m->records, extra.neuron);
  if (!extra.frontend.ix || !read_map(m, extra.frontend, &neuron)) return;
  extra.neuron = hilo_neuron_put(&m->records, &neuron);
  hilo_inst_set_extra(m, i, &extra);
}

static hilo_dims split_names(hilo_module *m, hilo_str list) {
  hilo_vec(int64_t) names = {0};
  while (list.p) {
    const char *comma = list.n ? memchr(list.p, ',', list.n) : NULL;
    const size_t n = comma ? (size_t)(comma - list.p) : list.n;
    HILO_PUSH(m->arena, &names, hilo_module_string(m, hilo_str_trim((hilo_str){list.p, n})).ix);
    list = comma ? (hilo_str){comma + 1, list.n - n - 1} : (hilo_str){0};
  }
  return (hilo_dims){names.v, names.n};
}

void hilo_neuron_take_names(hilo_module *m) {
  if (!m->header.frontend.ix) return;
  const hilo_dims kv = hilo_string_map_get(&m->records, m->header.frontend).kv;
  for (uint32_t k = 0; k + 1 < kv.n; k += 2) {
    const hilo_str name = hilo_string_of(m, (hilo_string){(uint32_t)kv.v[k]});
    const hilo_str value = hilo_string_of(m, (hilo_string){(uint32_t)kv.v[k + 1]});
    if (hilo_str_is(name, HILO_INPUT_NAMES)) m->header.input_names = split_names(m, value);
    if (hilo_str_is(name, HILO_OUTPUT_NAMES)) m->header.output_names = split_names(m, value);
  }
}

void hilo_neuron_take_inputs(hilo_module *m) {
  hilo_neuron_take_names(m);
  uint32_t last = 0; /* a record that says nothing */
  HILO_FOR_EACH_COMP(m, c) {
    HILO_FOR_EACH_INST(m, c, i) {
      const hilo_record record = hilo_inst_extra_record(m, i);
      if (!record.ix || record.ix == last) continue;
      hilo_neuron_take_input(m, i);
      if (hilo_inst_extra_record(m, i).ix == record.ix) last = record.ix;
    }
  }
}
