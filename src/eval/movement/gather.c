/* gather: a window of the operand per index vector. Starts are clamped to where the window fits. */
#include "eval/movement/index_space.h"

hilo_status hilo_eval_op_gather(const hilo_eval *e, hilo_inst i, const hilo_value *args,
                                hilo_value *out) {
  const hilo_gather_attrs a = hilo_attrs(e->m, i, gather);
  const hilo_index_dims dims = {.window_dims = a.offset_dims,
                                .removed = a.collapsed_slice_dims,
                                .map = a.start_index_map,
                                .batching = a.operand_batching_dims,
                                .index_batching = a.start_indices_batching_dims,
                                .index_vector_dim = a.index_vector_dim};
  char *data = hilo_eval_new_array(e, i, out);
  if (!data) return HILO_LIMIT_ERROR;
  if (hilo_value_n_elements(e, out) == 0) return HILO_OK;
  const hilo_dims operand = hilo_type_dims(&e->m->types, args[0].type);
  hilo_index_space s =
      hilo_index_space_of(e, &dims, &args[1], operand, hilo_type_dims(&e->m->types, out->type));
  if (!s.fits) return hilo_eval_refuse(e, i, "it takes more than its operand has");
  const uint32_t size = hilo_etype_bytes(hilo_value_etype(e, out));
  hilo_copy_plan plan;
  hilo_copy_prepare(&plan, (hilo_dims){s.size, s.rank}, size, &s.in_windows, &s.in_operand);
  for (bool more = hilo_walk_begin(&s.vectors); more; more = hilo_walk_next(&s.vectors)) {
    int64_t at;
    (void)hilo_index_space_at(&s, true, &at);
    hilo_copy_run(&plan, data + s.vectors.at[HILO_AT_WINDOW] * size, args[0].data + at * size);
  }
  return HILO_OK;
}
