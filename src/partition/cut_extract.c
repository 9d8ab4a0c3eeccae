/* A body becomes a module of its own: parameters for its inputs, its instructions in order, the
 * computations that they call, and a tuple of its outputs as root. What stands in for a value of
 * the source has its name, so names stay unique. */
#include "partition/cut.h"

#include "ir/transplant.h"

static hilo_inst add_param(const hilo_cut *cut, hilo_module *to, hilo_inst input, uint32_t k) {
  const hilo_inst_desc desc = {
      .op = HILO_OP_PARAMETER,
      .type = hilo_inst_type(cut->m, input),
      .attr = k,
      .meta = hilo_inst_meta_record(cut->m, input),
      .name = hilo_inst_name(cut->m, input),
  };
  return hilo_inst_add(to, to->entry, &desc);
}

static void set_header(const hilo_cut *cut, const hilo_piece *piece, hilo_module *to) {
  const hilo_module_header *from = &cut->m->header;
  to->dialect = cut->m->dialect;
  to->header.name = from->name;
  to->header.num_partitions = from->num_partitions;
  to->header.num_replicas = from->num_replicas;
  to->header.device_assignment = from->device_assignment;
  to->header.frontend = from->frontend;
  to->header.stack = from->stack;
  for (uint32_t k = 0; k < piece->n_aliases; k++) {
    const hilo_piece_alias *a = &piece->aliases[k];
    int64_t *index = HILO_NEW(to->arena, int64_t);
    *index = a->output;
    const hilo_alias alias = {.output_index = {index, 1}, .param = a->input, .kind = a->kind};
    HILO_PUSH(to->arena, &to->header.aliases, alias);
  }
}

/* Tokens of other pieces: the order of instances stands for them. */
static hilo_inst fresh_token(const hilo_cut *cut, hilo_inst token, hilo_module *to) {
  return hilo_inst_add(to, to->entry,
                       &(hilo_inst_desc){.op = HILO_OP_AFTER_ALL,
                                         .type = hilo_inst_type(cut->m, token),
                                         .name = hilo_inst_name(cut->m, token)});
}

static void add_body(const hilo_cut *cut, const hilo_piece *piece, hilo_transplant *t) {
  const hilo_module *m = cut->m;
  for (uint32_t at = 0; at < piece->n_body; at++) {
    const hilo_inst i = piece->body[at];
    for (uint32_t k = 0; k < hilo_inst_n_operands(m, i); k++) {
      const hilo_inst operand = hilo_inst_operand(m, i, k);
      if (!hilo_transplant_has(t, operand))
        hilo_transplant_set(t, operand, fresh_token(cut, operand, t->to));
    }
    (void)hilo_transplant_inst(t, i, t->to->entry);
  }
}

hilo_module *hilo_cut_extract(const hilo_cut *cut, uint32_t definition, hilo_arena *arena) {
  const hilo_piece *piece = &cut->pieces[cut->definitions[definition].first];
  hilo_module *to = hilo_module_create(arena, cut->m);
  hilo_transplant t = hilo_transplant_make(cut->m, to);
  to->input_name = cut->m->input_name;
  to->entry = hilo_comp_add(to, hilo_comp_name(cut->m, cut->m->entry));
  for (uint32_t k = 0; k < piece->n_inputs; k++)
    hilo_transplant_set(&t, piece->inputs[k], add_param(cut, to, piece->inputs[k], k));
  add_body(cut, piece, &t);
  hilo_inst *outputs = HILO_NEW_ARRAY(arena, hilo_inst, piece->n_outputs + 1);
  hilo_type *types = HILO_NEW_ARRAY(arena, hilo_type, piece->n_outputs + 1);
  for (uint32_t k = 0; k < piece->n_outputs; k++) {
    outputs[k] = hilo_transplant_get(&t, piece->outputs[k]);
    types[k] = hilo_inst_type(to, outputs[k]);
  }
  const hilo_inst root = hilo_inst_add(
      to, to->entry,
      &(hilo_inst_desc){.op = HILO_OP_TUPLE,
                        .type = hilo_type_tuple(&to->types, types, piece->n_outputs),
                        .operands = outputs,
                        .n_operands = piece->n_outputs,
                        .name = hilo_inst_name(cut->m, hilo_comp_root(cut->m, cut->m->entry))});
  hilo_comp_set_root(to, to->entry, root);
  set_header(cut, piece, to);
  hilo_transplant_end(&t);
  return to;
}
