#include "passes/dialect/resize.h"

#include "rewrite/build.h"

static hilo_str say(hilo_arena *arena, const char *fmt, ...) HILO_PRINTF(2, 3);
static hilo_str say(hilo_arena *arena, const char *fmt, ...) {
  hilo_sb sb = hilo_sb_make(arena);
  va_list args;
  va_start(args, fmt);
  hilo_sb_vprintf(&sb, fmt, args);
  va_end(args);
  return hilo_str_copy(arena, hilo_sb_view(&sb));
}

hilo_str hilo_resize_gradient_fault(const hilo_module *m, hilo_inst i, hilo_arena *arena) {
  const uint32_t n = hilo_inst_n_operands(m, i);
  if (n != 1) return say(arena, "ResizeNearestGrad has %u operands: only one operand allowed", n);
  const hilo_type from = hilo_inst_type(m, hilo_inst_operand(m, i, 0)), to = hilo_inst_type(m, i);
  if (!hilo_type_is_array(&m->types, to))
    return say(arena, "ResizeNearestGrad gives a tuple: only one output allowed");
  if (!hilo_type_is_array(&m->types, from))
    return say(arena, "ResizeNearestGrad takes a tuple: only one operand allowed");
  const hilo_dims in = hilo_type_dims(&m->types, from), out = hilo_type_dims(&m->types, to);
  if (in.n != out.n)
    return say(arena,
               "input and output of ResizeNearestGrad have different rank: %u and %u dimensions",
               in.n, out.n);
  if (hilo_type_etype(&m->types, from) != hilo_type_etype(&m->types, to))
    return say(arena, "input and output of ResizeNearestGrad have different element types");
  for (uint32_t d = 0; d < in.n; d++)
    if (out.v[d] == 0 ? in.v[d] != 0 : in.v[d] % out.v[d] != 0)
      return say(arena,
                 "dimension %u of the gradient, %lld, is not an integral multiple of that of the "
                 "result, %lld, which is unsupported",
                 d, (long long)in.v[d], (long long)out.v[d]);
  return HILO_STR("");
}

hilo_inst hilo_resize_gradient_lower(hilo_module *m, hilo_inst i, hilo_arena *scratch) {
  const hilo_dims in = hilo_inst_dims(m, hilo_inst_operand(m, i, 0)), out = hilo_inst_dims(m, i);
  const uint32_t n = in.n;
  int64_t *scale = HILO_NEW_ARRAY(scratch, int64_t, n + 1);
  int64_t *zeros = HILO_NEW_ZEROED(scratch, int64_t, n + 1);
  int64_t *ones = HILO_NEW_ARRAY(scratch, int64_t, n + 1);
  for (uint32_t d = 0; d < n; d++) {
    scale[d] = out.v[d] ? in.v[d] / out.v[d] : 1;
    ones[d] = 1;
  }
  const hilo_window_attrs window = {.size = {scale, n},
                                    .stride = {scale, n},
                                    .pad_low = {zeros, n},
                                    .pad_high = {zeros, n},
                                    .window_dilation = {ones, n},
                                    .base_dilation = {ones, n},
                                    .reversal = {zeros, n}};
  const hilo_window_op_attrs attrs = {.window = hilo_window_put(&m->records, &window)};
  const hilo_etype etype = hilo_inst_etype(m, i);
  const hilo_comp body = hilo_build_reducer(m, HILO_OP_ADD, etype);
  const hilo_inst operands[2] = {hilo_inst_operand(m, i, 0), hilo_build_int(m, i, etype, 0)};
  const hilo_inst_desc desc = {.op = HILO_OP_REDUCE_WINDOW,
                               .type = hilo_inst_type(m, i),
                               .operands = operands,
                               .n_operands = 2,
                               .attr = hilo_window_op_put(&m->records, &attrs).ix,
                               .called = &body,
                               .n_called = 1};
  return hilo_inst_insert_before(m, i, &desc);
}
