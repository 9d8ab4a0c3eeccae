#include "formats/detect.h"

#include "formats/hlo_wire.h"

/* ---- text ---- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_word_byte(char c) {
  return is_letter(c) || (c >= '0' && c <= '9') || c == '.' || c == '$' || c == '-';
}

/* Behind a byte order mark, blanks and comments. */
static hilo_str skip_to_word(hilo_str s) {
  const char *p = s.p, *end = s.p + s.n;
  if (hilo_str_starts(s, "\xef\xbb\xbf")) p += 3;
  for (;;) {
    while (p < end && is_blank(*p)) p++;
    if (end - p < 2 || p[0] != '/') break;
    if (p[1] == '/') {
      while (p < end && *p != '\n') p++;
    } else if (p[1] == '*') {
      const char *close = memmem(p + 2, (size_t)(end - p - 2), "*/", 2);
      p = close ? close + 2 : end;
    } else {
      break;
    }
  }
  return (hilo_str){p, (size_t)(end - p)};
}

/* `word` and then nothing that would belong to it. */
static bool starts_with_word(hilo_str s, const char *word) {
  const size_t n = strlen(word);
  return hilo_str_starts(s, word) && (s.n == n || !is_word_byte(s.p[n]));
}

/* `#loc =`, `!t =`: an alias. */
static bool starts_with_alias(hilo_str s) {
  if (s.n < 2 || (s.p[0] != '#' && s.p[0] != '!') || !is_letter(s.p[1])) return false;
  size_t i = 1;
  while (i < s.n && is_word_byte(s.p[i])) i++;
  while (i < s.n && (s.p[i] == ' ' || s.p[i] == '\t')) i++;
  return i < s.n && s.p[i] == '=';
}

static hilo_input_kind detect_text(hilo_str bytes) {
  const hilo_str s = skip_to_word(bytes);
  static const char *const mlir[] = {"module",    "builtin.module", "\"builtin.module\"",
                                     "func.func", "\"func.func\"",  "sdy.mesh"};
  for (size_t i = 0; i < HILO_COUNT(mlir); i++)
    if (starts_with_word(s, mlir[i])) return HILO_INPUT_MLIR_TEXT;
  if (starts_with_alias(s)) return HILO_INPUT_MLIR_TEXT;
  if (hilo_str_starts(s, "HloModule") && s.n > 9 && (is_blank(s.p[9]) || s.p[9] == ','))
    return HILO_INPUT_HLO_TEXT;
  return HILO_INPUT_UNKNOWN;
}

/* ---- protos ---- */

/* The next field; a value that the end of the input cuts off is given as far as it goes. */
static bool next_field(const char **p, const char *end, hilo_wire_raw *out) {
  const char *at = *p, *what;
  uint64_t tag, n;
  if (at >= end) return false;
  if (hilo_wire_next(p, end, out, &what)) return true;
  *p = at;
  if (!hilo_wire_varint(p, end, &tag) || (tag & 7) != HILO_WIRE_LENGTH || tag >> 3 > UINT16_MAX ||
      !hilo_wire_varint(p, end, &n))
    return false;
  *out = (hilo_wire_raw){(uint32_t)(tag >> 3), HILO_WIRE_LENGTH, {*p, (size_t)(end - *p)}};
  *p = end;
  return true;
}

/* Has the message both fields, each a span? The second one's first value is given. */
static bool has_both(hilo_str bytes, uint32_t a, uint32_t b, hilo_str *value) {
  const char *p = bytes.p, *end = p + bytes.n;
  hilo_wire_raw raw;
  bool has_a = false, has_b = false;
  while (!(has_a && has_b) && next_field(&p, end, &raw)) {
    if (raw.type != HILO_WIRE_LENGTH) continue;
    has_a |= raw.number == a;
    if (raw.number == b && !has_b) has_b = true, *value = raw.value;
  }
  return has_a && has_b;
}

/* A name, and instructions with a name and an opcode. */
static bool is_computation(hilo_str bytes) {
  hilo_str inst = {0}, opcode = {0};
  if (!has_both(bytes, HILO_WIRE_COMPUTATION_NAME, HILO_WIRE_COMPUTATION_INSTRUCTIONS, &inst))
    return false;
  if (inst.p + inst.n == bytes.p + bytes.n) return true; /* maybe cut off before its opcode */
  return has_both(inst, HILO_WIRE_INSTRUCTION_NAME, HILO_WIRE_INSTRUCTION_OPCODE, &opcode);
}

static bool is_module(hilo_str bytes) {
  const char *p = bytes.p, *end = p + bytes.n;
  hilo_wire_raw raw;
  while (next_field(&p, end, &raw))
    if (raw.number == HILO_WIRE_MODULE_COMPUTATIONS && raw.type == HILO_WIRE_LENGTH &&
        is_computation(raw.value))
      return true;
  return false;
}

/* Field 1, and whether fields come behind it. */
static bool field_one(hilo_str bytes, hilo_str *value, bool *has_more) {
  const char *p = bytes.p, *end = p + bytes.n;
  hilo_wire_raw raw;
  bool found = false;
  while (next_field(&p, end, &raw)) {
    if (raw.number == 1 && raw.type == HILO_WIRE_LENGTH && !found)
      found = true, *value = raw.value;
    else
      *has_more = true;
  }
  return found;
}

static hilo_input detect_proto(hilo_str bytes) {
  static const hilo_input_kind kinds[] = {HILO_INPUT_HLO_MODULE, HILO_INPUT_HLO_PROTO,
                                          HILO_INPUT_HLO_SNAPSHOT};
  hilo_input input = {.module = bytes};
  for (size_t depth = 0; depth < HILO_COUNT(kinds); depth++) {
    if (is_module(input.module)) {
      input.kind = kinds[depth];
      return input;
    }
    if (!field_one(input.module, &input.module, &input.has_more)) break;
  }
  return (hilo_input){.kind = HILO_INPUT_UNKNOWN};
}

/* A length byte, a literal with the one number M, then M bytes of snapshot. */
static hilo_input detect_decomposed(hilo_str bytes, hilo_arena *scratch) {
  const hilo_input unknown = {.kind = HILO_INPUT_UNKNOWN};
  const size_t n_box = bytes.n ? (uint8_t)bytes.p[0] : 0;
  hilo_wire_literal box;
  hilo_wire_reader reader = {.scratch = scratch};
  uint64_t n;
  if (n_box < 1 || n_box > 127 || n_box >= bytes.n) return unknown;
  if (!hilo_wire_decode(&reader, &hilo_wire_literal_fields, (hilo_str){bytes.p + 1, n_box}, &box))
    return unknown;
  if (!box.u64s.n) return unknown;
  const char *p = box.u64s.p, *end = p + box.u64s.n;
  if (!hilo_wire_varint(&p, end, &n) || p != end) return unknown;
  if (n > bytes.n - 1 - n_box) return unknown;
  hilo_input input = detect_proto((hilo_str){bytes.p + 1 + n_box, n});
  if (input.kind == HILO_INPUT_UNKNOWN) return unknown;
  input.kind = HILO_INPUT_DECOMPOSED_SNAPSHOT;
  input.has_more = true;
  return input;
}

hilo_input hilo_input_detect(hilo_str bytes, hilo_arena *scratch) {
  hilo_input input = {.kind = HILO_INPUT_EMPTY};
  if (!bytes.n) return input;
  if (hilo_str_starts(bytes, "ML\xef"
                             "R"))
    return (hilo_input){.kind = HILO_INPUT_MLIR_BYTECODE};
  input.kind = detect_text(bytes);
  if (input.kind != HILO_INPUT_UNKNOWN) return input;
  input = detect_proto(bytes);
  return input.kind != HILO_INPUT_UNKNOWN ? input : detect_decomposed(bytes, scratch);
}
