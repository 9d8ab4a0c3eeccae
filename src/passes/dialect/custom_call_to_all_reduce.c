/* 1b convert-custom-call-to-all-reduce: what HLO exports as a custom call becomes the operation.
 *
 *   custom-call(a…) {target "mhlo.all_reduce", called f,
 *                    mhlo.attributes = {replica_groups, channel_handle, use_global_device_ids}}
 *   →  all-reduce(a…) {…}, f its reducer
 *
 * The dictionary stands among the MLIR attributes, or is the backend_config. Conditions: one called
 * computation of two scalars to one of the type of every operand, results of the operands' types, a
 * dictionary that can be read. Other calls stay, and step 4 reports their target.
 * O(instructions). */
#include "analysis/custom_call.h"
#include "base/vec.h"
#include "passes/passes.h"
#include "passes/stablehlo/marks.h"
#include "rewrite/replace.h"

/* ---- the dictionary ---- */

/* The value of `key`, up to the end of the dictionary; p NULL: it is not there. */
static hilo_str value_of(hilo_str dictionary, const char *key) {
  const size_t n = strlen(key);
  for (size_t at = 0; at + n <= dictionary.n; at++) {
    if (memcmp(dictionary.p + at, key, n) != 0) continue;
    if (at && !strchr(" {,", dictionary.p[at - 1])) continue;
    return (hilo_str){dictionary.p + at + n, dictionary.n - at - n};
  }
  return (hilo_str){0};
}

/* The next integer of `*text`, with its sign, before `stop`. */
static bool next_int(hilo_str *text, char stop, int64_t *out) {
  while (text->n && *text->p != stop && *text->p != '-' && (*text->p < '0' || *text->p > '9'))
    text->p++, text->n--;
  size_t n = text->n && *text->p == '-';
  while (n < text->n && text->p[n] >= '0' && text->p[n] <= '9') n++;
  const hilo_str digits = {text->p, n};
  text->p += n, text->n -= n;
  return hilo_str_parse_i64(digits, out);
}

typedef struct {
  hilo_vec(int64_t) sizes, ids;
} groups;

/* `dense<[[0, 1], [2, -1]]> : tensor<2x2xi64>`; -1 fills a short row. A single value stands for a
 * whole table, which has one place here, as an id occurs once. */
static bool read_groups(hilo_str value, hilo_arena *scratch, groups *out) {
  static const char open[] = "dense<";
  while (value.n && !hilo_str_starts(value, open)) value.p++, value.n--;
  const char *close = value.n ? memchr(value.p, '>', value.n) : NULL;
  if (!close) return false;
  hilo_str table = {value.p + sizeof(open) - 1, (size_t)(close - value.p) - (sizeof(open) - 1)};
  if (!hilo_str_trim(table).n) return true;
  const bool is_splat = !memchr(table.p, '[', table.n);
  if (!is_splat) table.p++, table.n--;
  while (table.n) {
    if (!is_splat) {
      const char *row = memchr(table.p, '[', table.n);
      if (!row) break;
      table = (hilo_str){row + 1, table.n - (size_t)(row + 1 - table.p)};
    }
    int64_t id, size = 0;
    while (next_int(&table, ']', &id)) {
      if (id < 0) continue;
      HILO_PUSH(scratch, &out->ids, id);
      size++;
    }
    if (size) HILO_PUSH(scratch, &out->sizes, size);
    if (is_splat) break;
  }
  return true;
}

static bool read_dictionary(hilo_module *m, hilo_str text, hilo_arena *scratch,
                            hilo_collective_attrs *attrs, int64_t *channel) {
  const hilo_str value = value_of(text, "replica_groups");
  groups g = {0};
  if (!value.p || !read_groups(value, scratch, &g)) return false;
  const hilo_replica_groups_attrs groups_attrs = {.sizes = {g.sizes.v, g.sizes.n},
                                                  .ids = {g.ids.v, g.ids.n}};
  attrs->groups = hilo_replica_groups_put(&m->records, &groups_attrs);
  HILO_VEC_FREE(scratch, &g.sizes);
  HILO_VEC_FREE(scratch, &g.ids);
  const hilo_str handle = value_of(text, "channel_handle");
  hilo_str number = handle.p ? value_of(handle, "handle") : handle;
  if (handle.p && !number.p) { /* `<handle = 1` stands behind a bracket */
    number = handle;
    while (number.n && *number.p != '<') number.p++, number.n--;
  }
  *channel = 0;
  if (handle.p && !next_int(&number, '>', channel)) return false;
  const hilo_str global = hilo_str_trim(value_of(text, "use_global_device_ids"));
  attrs->use_global_device_ids = global.p && !hilo_str_starts(global, "= false");
  return true;
}

/* ---- the call ---- */

static bool is_reducer(const hilo_module *m, hilo_inst call) {
  if (hilo_inst_n_called(m, call) != 1) return false;
  const hilo_comp body = hilo_inst_called(m, call, 0);
  const uint32_t n = hilo_inst_n_operands(m, call);
  if (!n || hilo_comp_n_params(m, body) != 2) return false;
  const hilo_type scalar = hilo_inst_type(m, hilo_comp_root(m, body));
  if (!hilo_type_is_array(&m->types, scalar) || hilo_type_dims(&m->types, scalar).n) return false;
  for (uint32_t k = 0; k < 2; k++)
    if (!hilo_type_compatible(&m->types, hilo_inst_type(m, hilo_comp_param(m, body, k)), scalar))
      return false;
  const hilo_type result = hilo_inst_type(m, call);
  const bool is_tuple = hilo_type_is_tuple(&m->types, result);
  if (is_tuple ? hilo_type_n_elements_of_tuple(&m->types, result) != n || n == 1 : n != 1)
    return false;
  for (uint32_t k = 0; k < n; k++) {
    const hilo_type type = hilo_inst_type(m, hilo_inst_operand(m, call, k));
    if (!hilo_type_is_array(&m->types, type) ||
        hilo_type_etype(&m->types, type) != hilo_type_etype(&m->types, scalar) ||
        !hilo_type_compatible(&m->types, type,
                              is_tuple ? hilo_type_element(&m->types, result, k) : result))
      return false;
  }
  return true;
}

static bool matches(const hilo_module *m, hilo_inst i, const hilo_pass_ctx *ctx) {
  (void)ctx;
  return hilo_is_custom_call_to(m, i, "mhlo.all_reduce") && is_reducer(m, i);
}

static hilo_inst expand(hilo_module *m, hilo_inst i, hilo_pass_ctx *ctx) {
  const hilo_extra_attrs old = hilo_inst_extra(m, i);
  hilo_str text = hilo_mark_find(m, i, "mhlo.attributes");
  if (!text.p) text = hilo_string_of(m, old.backend_config);
  hilo_collective_attrs attrs = {0};
  hilo_extra_attrs extra = {.frontend = old.frontend, .neuron = old.neuron};
  if (!read_dictionary(m, text, ctx->scratch, &attrs, &extra.channel_id)) return HILO_INST_NONE;
  const uint32_t n = hilo_inst_n_operands(m, i);
  hilo_inst *operands = HILO_NEW_ARRAY(ctx->scratch, hilo_inst, n + 1);
  for (uint32_t k = 0; k < n; k++) operands[k] = hilo_inst_operand(m, i, k);
  const hilo_comp body = hilo_inst_called(m, i, 0);
  const hilo_inst_desc desc = {.op = HILO_OP_ALL_REDUCE,
                               .type = hilo_inst_type(m, i),
                               .operands = operands,
                               .n_operands = n,
                               .attr = hilo_collective_put(&m->records, &attrs).ix,
                               .called = &body,
                               .n_called = 1};
  const hilo_inst reduce = hilo_inst_insert_before(m, i, &desc);
  hilo_inst_set_extra(m, reduce, &extra);
  return reduce;
}

HILO_DECLARE_PASS(convert_custom_call_to_all_reduce) {
  static const hilo_expander expander = {matches, expand};
  return hilo_expand(m, ctx, &expander, changed);
}
