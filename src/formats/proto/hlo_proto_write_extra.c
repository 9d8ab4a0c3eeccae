/* What any instruction may carry, to its fields. */
#include "formats/proto/hlo_proto_write.h"

#include <stdlib.h>

#define INT(field, FIELD, value) HILO_PUT_INT(s, field, HILO_WIRE_INSTRUCTION_##FIELD, value)
#define LIST(field, FIELD, value) HILO_PUT_LIST(s, field, HILO_WIRE_INSTRUCTION_##FIELD, value)
#define MESSAGE(field, FIELD, value)                                                               \
  HILO_PUT_MESSAGE(s, field, HILO_WIRE_INSTRUCTION_##FIELD, value)

static hilo_str string(const hilo_proto_writer *wr, hilo_string s) {
  return hilo_string_of(wr->m, s);
}

static hilo_str string_at(const hilo_proto_writer *wr, hilo_dims strs, uint32_t i) {
  return string(wr, (hilo_string){(uint32_t)strs.v[i]});
}

/* Written field by field: no other message occurs in as many forms. */
hilo_str hilo_proto_meta(hilo_proto_writer *wr, hilo_record record) {
  const hilo_str kept = hilo_proto_kept(wr, HILO_DONE_META, record.ix);
  if (kept.p) return kept;
  const hilo_meta_attrs a = hilo_meta_get(&wr->m->labels, record);
  hilo_sb *sb = &wr->sb;
  hilo_sb_clear(sb);
#define META_STR(field, FIELD)                                                                     \
  hilo_wire_put_bytes(sb, HILO_WIRE_OP_METADATA_##FIELD, hilo_label_of(wr->m, a.field))
#define META_INT(field, FIELD) hilo_wire_put_int(sb, HILO_WIRE_OP_METADATA_##FIELD, a.field)
  META_STR(op_type, OP_TYPE);
  META_STR(op_name, OP_NAME);
  META_STR(source_file, SOURCE_FILE);
  META_INT(source_line, SOURCE_LINE);
  if (a.profile_type.n) {
    const size_t at = hilo_wire_begin(sb, HILO_WIRE_OP_METADATA_PROFILE_TYPE);
    for (uint32_t i = 0; i < a.profile_type.n; i++)
      hilo_wire_put_varint(sb, (uint64_t)a.profile_type.v[i]);
    hilo_wire_end(sb, at);
  }
  META_INT(size_of_generated_code_in_bytes, SIZE_OF_GENERATED_CODE_IN_BYTES);
  META_INT(size_of_memory_working_set_in_bytes, SIZE_OF_MEMORY_WORKING_SET_IN_BYTES);
  META_STR(profile_info, PROFILE_INFO);
  META_STR(deduplicated_name, DEDUPLICATED_NAME);
  META_INT(stack_frame_id, STACK_FRAME_ID);
  META_STR(scheduling_name, SCHEDULING_NAME);
  META_INT(source_end_line, SOURCE_END_LINE);
  META_INT(source_column, SOURCE_COLUMN);
  META_INT(source_end_column, SOURCE_END_COLUMN);
#undef META_STR
#undef META_INT
  if (a.payload.ix) {
    const size_t at = hilo_wire_begin(sb, HILO_WIRE_OP_METADATA_METADATA_PAYLOAD);
    hilo_wire_put_bytes(sb, HILO_WIRE_PAYLOAD_VALUE, hilo_label_of(wr->m, a.payload));
    hilo_wire_end(sb, at);
  }
  hilo_sb_reserve(sb, 1); /* an empty message is there all the same */
  return hilo_proto_keep(wr, HILO_DONE_META, record.ix, hilo_sb_view(sb));
}

hilo_str hilo_proto_string_map(hilo_proto_writer *wr, hilo_record record) {
  const hilo_str kept = hilo_proto_kept(wr, HILO_DONE_RECORD, record.ix);
  if (kept.p) return kept;
  const hilo_dims kv = hilo_string_map_get(&wr->m->records, record).kv;
  hilo_sb sb = hilo_sb_make(&wr->scratch.arena);
  for (uint32_t i = 0; i + 1 < kv.n; i += 2) {
    const size_t at = hilo_wire_begin(&sb, HILO_WIRE_FRONTEND_ATTRIBUTES_MAP);
    /* The key and value of a map's entry are there even if they are empty. */
    for (uint32_t k = 0; k < 2; k++) {
      const hilo_str text = string_at(wr, kv, i + k);
      hilo_wire_put_tag(&sb, k + 1, HILO_WIRE_LENGTH);
      hilo_wire_put_varint(&sb, text.n);
      hilo_sb_str(&sb, text);
    }
    hilo_wire_end(&sb, at);
  }
  hilo_sb_reserve(&sb, 1);
  return hilo_proto_keep(wr, HILO_DONE_RECORD, record.ix, hilo_sb_view(&sb));
}

/* ---- the rare rest ---- */

static hilo_str statistics(hilo_proto_writer *wr, hilo_dims list) {
  hilo_sb sb = hilo_sb_make(&wr->scratch.arena);
  int64_t visible = 0;
  (void)hilo_str_parse_i64(string_at(wr, list, 0), &visible);
  hilo_wire_put_int(&sb, HILO_WIRE_STATISTICS_VIZ_STAT_INDEX_TO_VISUALIZE, visible);
  for (uint32_t i = 1; i + 1 < list.n; i += 2) {
    const hilo_str text = hilo_str_copy(&wr->scratch.arena, string_at(wr, list, i + 1));
    const double value = strtod(text.p, NULL);
    const size_t at = hilo_wire_begin(&sb, HILO_WIRE_STATISTICS_VIZ_STATISTICS);
    hilo_wire_put_bytes(&sb, HILO_WIRE_STATISTIC_STAT_NAME, string_at(wr, list, i));
    hilo_wire_put_tag(&sb, HILO_WIRE_STATISTIC_STAT_VAL, HILO_WIRE_64);
    hilo_sb_bytes(&sb, &value, sizeof(value));
    hilo_wire_end(&sb, at);
  }
  return hilo_sb_view(&sb);
}

static void put_double(hilo_sb *sb, uint32_t number, int64_t bits) {
  if (!bits) return;
  hilo_wire_put_tag(sb, number, HILO_WIRE_64);
  hilo_sb_bytes(sb, &bits, sizeof(bits));
}

static hilo_str accuracy(hilo_proto_writer *wr, hilo_record record) {
  const hilo_result_accuracy_attrs a = hilo_result_accuracy_get(&wr->m->records, record);
  hilo_sb sb = hilo_sb_make(&wr->scratch.arena);
  if (a.mode == 2) {
    const size_t at = hilo_wire_begin(&sb, HILO_WIRE_RESULT_ACCURACY_TOLERANCE);
    put_double(&sb, HILO_WIRE_RESULT_ACCURACY_TOLERANCE_ATOL, a.atol_bits);
    put_double(&sb, HILO_WIRE_RESULT_ACCURACY_TOLERANCE_RTOL, a.rtol_bits);
    hilo_wire_put_int(&sb, HILO_WIRE_RESULT_ACCURACY_TOLERANCE_ULPS, a.ulps);
    hilo_wire_end(&sb, at);
  } else {
    hilo_wire_put_int(&sb, HILO_WIRE_RESULT_ACCURACY_MODE, a.mode);
  }
  return hilo_sb_view(&sb);
}

/* ---- original values ---- */

static const char *blanks(const char *p, const char *end) {
  while (p < end && (*p == ' ' || *p == ',')) p++;
  return p;
}

/* `{"name" {1,2}}` or `{}`, at p behind the brace; behind it on return, NULL if it is none. */
static const char *put_original_array(const char *p, const char *end, hilo_sb *out) {
  p = blanks(p, end);
  if (p < end && *p == '}') return p + 1;
  if (p == end || *p != '"') return NULL;
  const char *name = ++p, *close = NULL;
  /* Names are not escaped: the quote that ends one stands before `}` or ` {`. */
  for (; p < end && !close; p++)
    if (*p == '"' && p + 1 < end && (p[1] == '}' || (p[1] == ' ' && p + 2 < end && p[2] == '{')))
      close = p;
  if (!close) return NULL;
  const size_t at = hilo_wire_begin(out, HILO_WIRE_ORIGINAL_VALUE_ELEMENT_ORIGINAL_ARRAY);
  hilo_wire_put_bytes(out, HILO_WIRE_ORIGINAL_ARRAY_INSTRUCTION_NAME,
                      (hilo_str){name, (size_t)(close - name)});
  p = blanks(close + 1, end);
  if (p < end && *p == '{') {
    const size_t list = hilo_wire_begin(out, HILO_WIRE_ORIGINAL_ARRAY_SHAPE_INDEX);
    for (p++; p < end && *p != '}';) {
      uint64_t v = 0;
      while (p < end && *p >= '0' && *p <= '9' && v < INT64_MAX / 16)
        v = v * 10 + (uint64_t)(*p++ - '0');
      hilo_wire_put_varint(out, v);
      const char *next = blanks(p, end);
      if (next == p && p < end && *p != '}') return NULL;
      p = next;
    }
    hilo_wire_end(out, list);
    p = blanks(p + 1, end);
  }
  hilo_wire_end(out, at);
  return p < end && *p == '}' ? p + 1 : NULL;
}

/* The text of an original value back to its elements; an unreadable one is left out. */
static bool put_origin(hilo_str text, hilo_sb *out) {
  enum { MAX_DEPTH = 100 };
  int64_t path[MAX_DEPTH + 1] = {0};
  uint32_t depth = 0;
  if (text.n < 2 || text.p[0] != '{' || text.p[text.n - 1] != '}') return false;
  const char *p = text.p + 1, *end = text.p + text.n - 1;
  if (hilo_str_is(text, "{[synthetic_call]}")) {
    hilo_wire_put_int(out, HILO_WIRE_ORIGINAL_VALUE_IS_SYNTHETIC_CALL, 1);
    return true;
  }
  while ((p = blanks(p, end)) < end) {
    const char c = *p++;
    if (c == '(') {
      if (depth == MAX_DEPTH) return false;
      path[depth++] = 0;
      continue;
    }
    if (c == ')') {
      if (!depth--) return false;
    } else if (c == '{') {
      const size_t at = hilo_wire_begin(out, HILO_WIRE_ORIGINAL_VALUE_ELEMENTS);
      if (depth) {
        const size_t list = hilo_wire_begin(out, HILO_WIRE_ORIGINAL_VALUE_ELEMENT_SHAPE_INDEX);
        for (uint32_t k = 0; k < depth; k++) hilo_wire_put_varint(out, (uint64_t)path[k]);
        hilo_wire_end(out, list);
      }
      p = put_original_array(p, end, out);
      if (!p) return false;
      hilo_wire_end(out, at);
    } else {
      return false;
    }
    if (depth) path[depth - 1]++;
  }
  return depth == 0;
}

static hilo_dims flags(hilo_proto_writer *wr, hilo_dims list) {
  int64_t *v = HILO_NEW_ARRAY(&wr->scratch.arena, int64_t, (size_t)list.n + 1);
  for (uint32_t i = 0; i < list.n; i++) v[i] = list.v[i] != 0;
  return (hilo_dims){v, list.n};
}

static void put_rare(hilo_proto_writer *wr, const hilo_extra_attrs *a, hilo_proto_inst *s) {
  if (a->statistics.n) MESSAGE(statistics_viz, STATISTICS_VIZ, statistics(wr, a->statistics));
  if (a->result_accuracy.ix)
    MESSAGE(result_accuracy, RESULT_ACCURACY, accuracy(wr, a->result_accuracy));
  if (a->origin.ix) {
    hilo_sb sb = hilo_sb_make(&wr->scratch.arena);
    if (put_origin(string(wr, a->origin), &sb))
      MESSAGE(original_value, ORIGINAL_VALUE, hilo_sb_view(&sb));
  }
  if (a->replicated_at_leaves.n) {
    struct {
      hilo_wire_parameter_replication w;
      hilo_wire_set set;
    } r = {.set = {{0}}};
    HILO_PUT_LIST(&r, replicated_at_leaf_buffers,
                  HILO_WIRE_PARAMETER_REPLICATION_REPLICATED_AT_LEAF_BUFFERS,
                  flags(wr, a->replicated_at_leaves));
    MESSAGE(parameter_replication, PARAMETER_REPLICATION,
            HILO_PROTO_ENCODED(wr, parameter_replication, &r));
  }
}

void hilo_proto_put_extra(hilo_proto_writer *wr, hilo_inst i, hilo_proto_inst *s) {
  const hilo_record record = hilo_inst_extra_record(wr->m, i);
  if (HILO_LIKELY(!record.ix)) return;
  const hilo_extra_attrs a = hilo_extra_get(&wr->m->records, record);
  INT(channel_id, CHANNEL_ID, a.channel_id);
  if (a.frontend.ix)
    MESSAGE(frontend_attributes, FRONTEND_ATTRIBUTES, hilo_proto_string_map(wr, a.frontend));
  LIST(backend_config, BACKEND_CONFIG, string(wr, a.backend_config));
  if (a.sharding.ix)
    MESSAGE(sharding, SHARDING, hilo_proto_sharding(wr, a.sharding, a.sharding_spelling));
  LIST(async_execution_thread, ASYNC_EXECUTION_THREAD, string(wr, a.execution_thread));
  INT(is_composite, IS_COMPOSITE, a.is_composite);
  put_rare(wr, &a, s);
}
