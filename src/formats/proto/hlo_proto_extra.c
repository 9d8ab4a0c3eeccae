/* What any instruction may carry: metadata, frontend attributes, backend config and the rare rest.
 */
#include "formats/proto/hlo_proto_unpack.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MEMO_META = 20, MEMO_FRONTEND };

static hilo_string string(hilo_proto_reader *r, hilo_str s) {
  return s.n ? hilo_module_string(r->m, s) : HILO_STRING_EMPTY;
}

static hilo_label label(hilo_proto_reader *r, hilo_str s) {
  return s.n ? hilo_module_label(r->m, s) : HILO_LABEL_EMPTY;
}

/* Bytes, or the number of bytes that the module holds once for all. */
static bool read_payload(hilo_proto_reader *r, hilo_str bytes, hilo_str *out) {
  hilo_wire_payload w;
  if (!HILO_PROTO_DECODE(r, payload, bytes, &w)) return false;
  *out = w.value;
  if (w.payload_source_case != HILO_WIRE_PAYLOAD_ID) return true;
  if (w.id < 0 || w.id >= r->payloads.n)
    return hilo_proto_error(r, HILO_DIAG_EMOD903, bytes.p,
                            "payload %" PRId64 " is referred to, but the module has %u payloads",
                            w.id, r->payloads.n);
  *out = r->payloads.v[w.id];
  return true;
}

static bool read_new_meta(hilo_proto_reader *r, hilo_str bytes, hilo_record *out) {
  hilo_wire_op_metadata w;
  if (!HILO_PROTO_DECODE(r, op_metadata, bytes, &w)) return false;
  hilo_meta_attrs a;
  memset(&a, 0, sizeof(a));
  a.op_type = label(r, w.op_type);
  a.op_name = label(r, w.op_name);
  a.source_file = label(r, w.source_file);
  a.source_line = w.source_line;
  a.source_end_line = w.source_end_line;
  a.source_column = w.source_column;
  a.source_end_column = w.source_end_column;
  a.stack_frame_id = w.stack_frame_id;
  a.profile_type = w.profile_type;
  a.size_of_generated_code_in_bytes = w.size_of_generated_code_in_bytes;
  a.size_of_memory_working_set_in_bytes = w.size_of_memory_working_set_in_bytes;
  a.profile_info = label(r, w.profile_info);
  a.deduplicated_name = label(r, w.deduplicated_name);
  a.scheduling_name = label(r, w.scheduling_name);
  hilo_str payload = {0};
  if (w.metadata_payload.p && !read_payload(r, w.metadata_payload, &payload)) return false;
  a.payload = label(r, payload);
  *out = hilo_meta_put(&r->m->labels, &a);
  return true;
}

bool hilo_proto_read_meta(hilo_proto_reader *r, hilo_str bytes, hilo_record *out) {
  *out = HILO_RECORD_NONE;
  if (!bytes.n) return true;
  const hilo_wire_memo_key key = hilo_wire_memo_key_of(MEMO_META, bytes);
  if (hilo_wire_memo_find(&r->memo, &key, &out->ix)) return true;
  if (!read_new_meta(r, bytes, out)) return false;
  hilo_wire_memo_put(&r->memo, &key, out->ix);
  return true;
}

/* ---- frontend attributes ---- */

typedef struct {
  hilo_str key, value;
  uint32_t at; /* of equal keys the last one counts */
} map_entry;

static int by_key(const void *a, const void *b) {
  const map_entry *x = a, *y = b;
  const int order = hilo_str_compare(x->key, y->key);
  return order ? order : x->at < y->at ? -1 : 1;
}

bool hilo_proto_read_string_map(hilo_proto_reader *r, hilo_str bytes, hilo_record *out) {
  hilo_wire_frontend_attributes w;
  *out = HILO_RECORD_NONE;
  if (!bytes.n) return true;
  const hilo_wire_memo_key key = hilo_wire_memo_key_of(MEMO_FRONTEND, bytes);
  if (hilo_wire_memo_find(&r->memo, &key, &out->ix)) return true;
  if (!HILO_PROTO_DECODE(r, frontend_attributes, bytes, &w)) return false;
  map_entry *list = HILO_NEW_ARRAY(&r->scratch.arena, map_entry, (size_t)w.map.n + 1);
  int64_t *kv = HILO_NEW_ARRAY(&r->scratch.arena, int64_t, 2 * (size_t)w.map.n + 1);
  for (uint32_t i = 0; i < w.map.n; i++) {
    hilo_wire_frontend_attributes_map_entry e;
    if (!HILO_PROTO_DECODE(r, frontend_attributes_map_entry, w.map.v[i], &e)) return false;
    list[i] = (map_entry){e.key, e.value, i};
  }
  qsort(list, w.map.n, sizeof(*list), by_key);
  uint32_t n = 0;
  for (uint32_t i = 0; i < w.map.n; i++) {
    if (i + 1 < w.map.n && hilo_str_eq(list[i].key, list[i + 1].key)) continue;
    kv[n++] = string(r, list[i].key).ix;
    kv[n++] = string(r, list[i].value).ix;
  }
  if (n) *out = hilo_string_map_put(&r->m->records, &(hilo_string_map_attrs){.kv = {kv, n}});
  hilo_wire_memo_put(&r->memo, &key, out->ix);
  return true;
}

/* ---- the rare rest ---- */

/* First the number of the visible one, then name and value (as a C hex float) of each. */
static bool read_statistics(hilo_proto_reader *r, hilo_str bytes, hilo_dims *out) {
  if (!bytes.n) return true;
  const Xla__StatisticsViz *w = HILO_PROTO_UNPACK(
      r, Xla__StatisticsViz, xla__statistics_viz__descriptor, statistics_viz, bytes);
  if (!w) return false;
  if (!w->n_statistics && !w->stat_index_to_visualize) return true;
  int64_t *v = HILO_NEW_ARRAY(&r->scratch.arena, int64_t, 2 * w->n_statistics + 1);
  hilo_sb sb = hilo_sb_make(&r->scratch.arena);
  hilo_sb_i64(&sb, w->stat_index_to_visualize);
  v[0] = string(r, hilo_sb_view(&sb)).ix;
  for (size_t i = 0; i < w->n_statistics; i++) {
    hilo_sb_clear(&sb);
    hilo_sb_printf(&sb, "%a", w->statistics[i]->stat_val);
    v[2 * i + 1] = string(r, hilo_str_of(w->statistics[i]->stat_name)).ix;
    v[2 * i + 2] = string(r, hilo_sb_view(&sb)).ix;
  }
  *out = (hilo_dims){v, (uint32_t)(2 * w->n_statistics + 1)};
  return true;
}

static bool read_accuracy(hilo_proto_reader *r, hilo_str bytes, hilo_record *out) {
  if (!bytes.n) return true;
  const Xla__ResultAccuracy *w = HILO_PROTO_UNPACK(
      r, Xla__ResultAccuracy, xla__result_accuracy__descriptor, result_accuracy, bytes);
  hilo_result_accuracy_attrs a = {0};
  if (!w) return false;
  if (w->specs_case == XLA__RESULT_ACCURACY__SPECS_TOLERANCE) {
    a.mode = 2;
    a.ulps = w->tolerance->ulps;
    memcpy(&a.atol_bits, &w->tolerance->atol, sizeof(a.atol_bits));
    memcpy(&a.rtol_bits, &w->tolerance->rtol, sizeof(a.rtol_bits));
  } else if (w->specs_case == XLA__RESULT_ACCURACY__SPECS_MODE) {
    a.mode = w->mode;
  }
  if (a.mode) *out = hilo_result_accuracy_put(&r->m->records, &a);
  return true;
}

/* `({"a"}, {"b" {3,1}})`, the inside of what XLA prints: the tree that the indices of the elements
 * make, which come in order. An index that skips one cannot be shown in text; false. */
static bool print_origin(const Xla__OriginalValueProto *w, hilo_sb *out) {
  static const Xla__OriginalValueElementProto none = {.n_shape_index = 0};
  const Xla__OriginalValueElementProto *last = &none;
  for (size_t i = 0; i < w->n_elements; i++) {
    const Xla__OriginalValueElementProto *e = w->elements[i];
    size_t same = 0;
    if (e->n_shape_index > HILO_MAX_PROTO_DEPTH) return false;
    while (i && same < e->n_shape_index && same < last->n_shape_index &&
           e->shape_index[same] == last->shape_index[same])
      same++;
    if (i) {
      if (same == e->n_shape_index || same == last->n_shape_index ||
          e->shape_index[same] != last->shape_index[same] + 1)
        return false;
      for (size_t k = last->n_shape_index; k > same + 1; k--) hilo_sb_char(out, ')');
      hilo_sb_cat(out, ", ");
    }
    for (size_t k = i ? same + 1 : 0; k < e->n_shape_index; k++) {
      if (e->shape_index[k]) return false;
      hilo_sb_char(out, '(');
    }
    hilo_sb_char(out, '{');
    if (e->original_array) {
      hilo_sb_printf(out, "\"%s\"", e->original_array->instruction_name);
      for (size_t k = 0; k < e->original_array->n_shape_index; k++)
        hilo_sb_printf(out, "%s%" PRId64, k ? "," : " {", e->original_array->shape_index[k]);
      if (e->original_array->n_shape_index) hilo_sb_char(out, '}');
    }
    hilo_sb_char(out, '}');
    last = e;
  }
  for (size_t k = 0; k < last->n_shape_index; k++) hilo_sb_char(out, ')');
  return true;
}

static bool read_origin(hilo_proto_reader *r, hilo_str bytes, hilo_string *out) {
  if (!bytes.n) return true;
  const Xla__OriginalValueProto *w = HILO_PROTO_UNPACK(
      r, Xla__OriginalValueProto, xla__original_value_proto__descriptor, original_value, bytes);
  if (!w) return false;
  hilo_sb sb = hilo_sb_make(&r->scratch.arena);
  hilo_sb_char(&sb, '{');
  if (w->is_synthetic_call)
    hilo_sb_cat(&sb, "[synthetic_call]");
  else if (!print_origin(w, &sb)) {
    hilo_proto_warn(r, bytes.p, "`original_value` is dropped: its elements are not in order");
    return true;
  }
  hilo_sb_char(&sb, '}');
  *out = string(r, hilo_sb_view(&sb));
  return true;
}

static bool read_replication(hilo_proto_reader *r, hilo_str bytes, hilo_dims *out) {
  hilo_wire_parameter_replication w;
  if (!HILO_PROTO_DECODE(r, parameter_replication, bytes, &w)) return false;
  *out = w.replicated_at_leaf_buffers;
  return true;
}

static bool read_backend_config(hilo_proto_reader *r, const hilo_wire_instruction *w,
                                hilo_string *out) {
  hilo_str bytes = w->backend_config;
  if (w->backend_config_payload.p && !read_payload(r, w->backend_config_payload, &bytes))
    return false;
  *out = string(r, bytes);
  return true;
}

/* Fields of the instruction that are empty in nearly all: looked at together, without branches. */
static bool has_rare(const hilo_wire_instruction *w) {
  return w->statistics_viz.n | w->original_value.n | w->result_accuracy.n |
         w->parameter_replication.n | w->replica_group_list_case | w->replica_groups.n;
}

static bool has_extra(const hilo_wire_instruction *w) {
  return w->frontend_attributes.n | w->backend_config.n | w->backend_config_payload.n |
         w->async_execution_thread.n | (uintptr_t)w->sharding.p | w->is_composite |
         (w->channel_id > 0) | (w->all_reduce_id > 0);
}

static bool read_rare(hilo_proto_reader *r, const hilo_wire_instruction *w, hilo_extra_attrs *a) {
  hilo_record groups;
  return read_statistics(r, w->statistics_viz, &a->statistics) &&
         read_origin(r, w->original_value, &a->origin) &&
         read_accuracy(r, w->result_accuracy, &a->result_accuracy) &&
         read_replication(r, w->parameter_replication, &a->replicated_at_leaves) &&
         hilo_proto_read_groups(r, w, &groups, &a->groups_spelling);
}

bool hilo_proto_read_extra(hilo_proto_reader *r, hilo_op op, const hilo_wire_instruction *w,
                           hilo_record *out) {
  (void)op;
  const bool rare = has_rare(w);
  *out = HILO_RECORD_NONE;
  if (HILO_LIKELY(!rare && !has_extra(w))) return true;
  hilo_extra_attrs a;
  memset(&a, 0, sizeof(a));
  a.channel_id = w->channel_id > 0 ? w->channel_id : w->all_reduce_id > 0 ? w->all_reduce_id : 0;
  a.execution_thread = string(r, w->async_execution_thread);
  a.is_composite = w->is_composite;
  if (!hilo_proto_read_string_map(r, w->frontend_attributes, &a.frontend)) return false;
  if (!read_backend_config(r, w, &a.backend_config)) return false;
  if (w->sharding.p && !hilo_proto_read_sharding(r, w->sharding, &a.sharding, &a.sharding_spelling))
    return false;
  if (rare && !read_rare(r, w, &a)) return false;
  if (!hilo_attrs_are_empty(HILO_FAMILY_extra, &a)) *out = hilo_extra_put(&r->m->records, &a);
  return true;
}
