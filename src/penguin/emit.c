/* The program's skeleton: imports, the Function, inputs, the body by dispatch over ops.def, aliases
 * and outputs. */
#include "penguin/emit.h"

#include "analysis/metrics.h"
#include "penguin/printer.h"

static hilo_printer make_printer(const hilo_module *m, const hilo_penguin_options *o,
                                 hilo_diags *diags, hilo_sb *text) {
  /* A large text that grows is copied again and again, and most of its cost is fresh pages. */
  enum { FIXED_IMPORTS = 7, BYTES_PER_INST = 400 };
  hilo_arena *arena = text->arena;
  hilo_printer p = {.m = m, .o = o, .diags = diags, .arena = arena, .out = text};
  hilo_sb_reserve(text, (size_t)m->n_insts * BYTES_PER_INST);
  p.next_var = p.next_id = 1;
  p.n_imported = FIXED_IMPORTS;
  p.value = HILO_NEW_ZEROED(arena, uint32_t, m->n_inst_slots + 1);
  p.dest = HILO_NEW_ZEROED(arena, uint32_t, m->n_inst_slots + 1);
  p.type_text = HILO_NEW_ZEROED(arena, uint32_t, m->types.next + 1);
  p.taken = hilo_map_make(arena);
  p.group_text = hilo_map_make(arena);
  /* Index 0 of these means none. */
  HILO_PUSH(arena, &p.dests, ((hilo_dest){0}));
  HILO_PUSH(arena, &p.types, ((hilo_type_text){0}));
  return p;
}

/* ---- inputs and outputs ---- */

typedef struct {
  hilo_str *input_names; /* per leaf of the parameters */
  uint32_t *input_leaf;  /* per parameter: its first leaf */
  uint32_t n_inputs;
  hilo_str *output_names; /* per leaf of the root */
  uint64_t *copied;       /* outputs that no operation of the body writes */
  uint32_t n_outputs;
} program_io;

static hilo_str listed_name(const hilo_printer *p, hilo_dims names, uint32_t k, const char *stem) {
  const hilo_string given = {k < names.n ? (uint32_t)names.v[k] : 0};
  if (given.ix) return hilo_string_of(p->m, given);
  hilo_sb sb = hilo_sb_make(p->arena);
  hilo_sb_cat(&sb, stem);
  hilo_sb_u64(&sb, k);
  const hilo_str name = hilo_str_copy(p->arena, hilo_sb_view(&sb));
  hilo_sb_free(&sb);
  return name;
}

static void gather_inputs(hilo_printer *p, program_io *io) {
  const uint32_t n_params = hilo_comp_n_params(p->m, p->m->entry);
  io->input_leaf = HILO_NEW_ARRAY(p->arena, uint32_t, n_params + 1);
  for (uint32_t k = 0; k < n_params; k++) {
    io->input_leaf[k] = io->n_inputs;
    io->n_inputs += hilo_n_leaves(p, hilo_comp_param(p->m, p->m->entry, k));
  }
  io->input_names = HILO_NEW_ARRAY(p->arena, hilo_str, io->n_inputs + 1);
  uint32_t at = 0;
  for (uint32_t k = 0; k < n_params; k++) {
    const hilo_inst param = hilo_comp_param(p->m, p->m->entry, k);
    for (uint32_t leaf = 0; leaf < hilo_n_leaves(p, param); leaf++, at++) {
      io->input_names[at] =
          hilo_claim_name(p, listed_name(p, p->m->header.input_names, at, "input"));
      hilo_dest_at(p, param, leaf)->name = io->input_names[at];
    }
  }
}

static hilo_str sym_name(const hilo_printer *p, hilo_inst i, uint32_t leaf) {
  const hilo_dims names = hilo_neuron_of(p, i).sym_names;
  return leaf < names.n ? hilo_string_of(p->m, (hilo_string){(uint32_t)names.v[leaf]})
                        : HILO_STR("");
}

/* The name that legalisation gave an output, on its producer or in the body of a ScheduleFusion. */
static hilo_str name_of_output(hilo_printer *p, hilo_inst i, uint32_t leaf, uint32_t k) {
  hilo_str name = sym_name(p, i, leaf);
  while (!name.n && hilo_inst_is(p->m, i, HILO_OP_FUSION) && hilo_inst_n_called(p->m, i)) {
    i = hilo_comp_root(p->m, hilo_inst_called(p->m, i, 0));
    if (!i.ix) break;
    hilo_resolve_leaf(p, &i, &leaf);
    name = sym_name(p, i, leaf);
  }
  return name.n ? name : listed_name(p, p->m->header.output_names, k, "output");
}

static void gather_outputs(hilo_printer *p, program_io *io) {
  const hilo_inst root = hilo_comp_root(p->m, p->m->entry);
  io->n_outputs = hilo_n_leaves(p, root);
  io->output_names = HILO_NEW_ARRAY(p->arena, hilo_str, io->n_outputs + 1);
  io->copied = hilo_bitset_create(p->arena, io->n_outputs);
  for (uint32_t k = 0; k < io->n_outputs; k++) {
    hilo_inst i = root;
    uint32_t leaf = k;
    hilo_resolve_leaf(p, &i, &leaf);
    io->output_names[k] = hilo_claim_name(p, name_of_output(p, i, leaf, k));
    hilo_dest *dest = hilo_dest_at(p, i, leaf);
    if (dest->name.n || hilo_inst_is(p->m, i, HILO_OP_CONSTANT) ||
        hilo_inst_is(p->m, i, HILO_OP_AFTER_ALL))
      hilo_bitset_set(io->copied, k);
    else
      dest->name = io->output_names[k];
  }
}

static void put_input(hilo_printer *p, uint32_t var, uint32_t param, bool is_slow) {
  const hilo_module_header *header = &p->m->header;
  HILO_PUT(p->out, "v0.markInput(");
  hilo_put_var(p->out, var);
  if (is_slow) HILO_PUT(p->out, ", is_parameter_tensor=True");
  if (header->weight_files && header->weight_files[param].ix)
    hilo_put_quoted(p, "np_file", hilo_string_of(p->m, header->weight_files[param]), '"');
  HILO_PUT(p->out, ")\n");
}

static void put_inputs(hilo_printer *p) {
  const uint32_t n = hilo_comp_n_params(p->m, p->m->entry);
  const hilo_dims slow_ins = p->m->header.slow_ins;
  uint64_t *is_slow = hilo_bitset_create(p->arena, n);
  for (uint32_t k = 0; k < slow_ins.n; k++)
    if (slow_ins.v[k] >= 0 && slow_ins.v[k] < n) hilo_bitset_set(is_slow, (uint32_t)slow_ins.v[k]);
  for (uint32_t k = 0; k < n; k++) {
    const hilo_inst param = hilo_comp_param(p->m, p->m->entry, k);
    if (!hilo_type_is_fine(p, param, true)) continue;
    hilo_gather_results(p, param);
    for (uint32_t leaf = 0; leaf < p->dsts.n; leaf++) {
      hilo_put_tensor(p, &p->dsts.v[leaf]);
      put_input(p, p->dsts.v[leaf].var, k, hilo_bitset_get(is_slow, k));
      p->srcs.n = leaf;
      HILO_PUSH(p->arena, &p->srcs, p->dsts.v[leaf].var);
    }
    hilo_bind(p, param, p->srcs.v, p->dsts.n);
  }
}

/* Outputs that are an input, a constant, or returned twice, in a module that was not legalised. */
static void put_output_copies(hilo_printer *p, const program_io *io) {
  const hilo_inst root = hilo_comp_root(p->m, p->m->entry);
  for (uint32_t k = 0; k < io->n_outputs; k++) {
    if (!hilo_bitset_get(io->copied, k)) continue;
    const hilo_type type = hilo_leaf_type(p, hilo_inst_type(p->m, root), k);
    const uint32_t source = hilo_leaf_vars(p, root)[k];
    /* The root is bound to variables of its own, so that the copy's can take their place. */
    const uint32_t n = io->n_outputs, at = p->pack.n;
    if (hilo_type_is_tuple(&p->m->types, hilo_inst_type(p->m, root)) &&
        !hilo_inst_is(p->m, root, HILO_OP_TUPLE)) {
      HILO_RESERVE(p->arena, &p->pack, n);
      memcpy(p->pack.v + at, hilo_leaf_vars(p, root), n * sizeof(uint32_t));
      p->pack.n += n;
      p->value[hilo_ix(p->m, root)] = at;
    }
    hilo_dest *dest = hilo_dest_at(p, root, k);
    *dest = (hilo_dest){.name = io->output_names[k]};
    const hilo_result result = {.shape = type,
                                .dtype = (uint16_t)hilo_type_etype(&p->m->types, type),
                                .mnemonic = HILO_OP_COPY,
                                .of = root,
                                .leaf = k};
    const uint32_t var = hilo_step_copy(p, root, result, source);
    uint32_t *slot = &p->value[hilo_ix(p->m, root)];
    if (hilo_type_is_tuple(&p->m->types, hilo_inst_type(p->m, root))) slot = &p->pack.v[*slot + k];
    *slot = var;
  }
}

/* ---- aliases ---- */

/* The leaf at a shape index; false if there is none. */
static bool leaf_at(hilo_printer *p, hilo_type type, hilo_dims index, uint32_t *leaf) {
  *leaf = 0;
  for (uint32_t k = 0; k < index.n; k++) {
    const hilo_store *types = &p->m->types;
    if (!hilo_type_is_tuple(types, type) || index.v[k] < 0 ||
        index.v[k] >= hilo_type_n_elements_of_tuple(types, type))
      return false;
    *leaf += hilo_leaf_offset(p, type, (uint32_t)index.v[k]);
    type = hilo_type_element(types, type, (uint32_t)index.v[k]);
  }
  return !hilo_type_is_tuple(&p->m->types, type);
}

static void put_aliases(hilo_printer *p, const program_io *io) {
  const hilo_module *m = p->m;
  const uint32_t n_params = hilo_comp_n_params(m, m->entry);
  uint32_t *alias_of = HILO_NEW_ZEROED(p->arena, uint32_t, io->n_outputs + 1);
  for (uint32_t k = 0; k < m->header.aliases.n; k++) {
    const hilo_alias *alias = &m->header.aliases.v[k];
    uint32_t output, leaf;
    if (leaf_at(p, hilo_inst_type(m, hilo_comp_root(m, m->entry)), alias->output_index, &output) &&
        alias->param >= 0 && alias->param < n_params &&
        leaf_at(p, hilo_inst_type(m, hilo_comp_param(m, m->entry, (uint32_t)alias->param)),
                alias->param_index, &leaf)) {
      alias_of[output] = k + 1;
      continue;
    }
    HILO_REFUSE(p, MODULE, hilo_comp_root(m, m->entry),
                "entry %u of input_output_alias names an output or a parameter that is not there",
                k);
  }
  for (uint32_t k = 0; k < io->n_outputs; k++) {
    if (!alias_of[k]) continue;
    const hilo_alias *alias = &m->header.aliases.v[alias_of[k] - 1];
    uint32_t leaf = 0;
    const hilo_inst param = hilo_comp_param(m, m->entry, (uint32_t)alias->param);
    if (!leaf_at(p, hilo_inst_type(m, param), alias->param_index, &leaf)) continue;
    HILO_PUT(p->out, "v0.aliasTensors(\"");
    hilo_py_string(p->out, io->output_names[k], '"');
    HILO_PUT(p->out, "\", \"");
    hilo_py_string(p->out, io->input_names[io->input_leaf[alias->param] + leaf], '"');
    alias->kind == HILO_ALIAS_MUST ? HILO_PUT(p->out, "\", \"must\")\n")
                                   : HILO_PUT(p->out, "\", \"may\")\n");
  }
}

/* ---- the program ---- */

static bool has_control_deps(const hilo_module *m) {
  if (m->header.has_control_deps) return true;
  if (!m->header.frontend.ix) return false;
  const hilo_dims kv = hilo_string_map_get(&m->records, m->header.frontend).kv;
  for (uint32_t k = 0; k + 1 < kv.n; k += 2)
    if (hilo_str_is(hilo_string_of(m, (hilo_string){(uint32_t)kv.v[k]}), "has_control_deps"))
      return true;
  return false;
}

static void put_function(hilo_printer *p) {
  hilo_sb *out = p->out;
  const hilo_metrics metrics = hilo_metrics_compute(p->m, p->arena);
  HILO_PUT(out, "v0 = m0.Function(id_=0, batch_ids=[], attrs=(\"model-type=");
  metrics.is_compute_bound ? HILO_PUT(out, "compute-bound") : HILO_PUT(out, "memory-bound");
  HILO_PUT(out, "\",\"mac-count=");
  hilo_sb_u64(out, metrics.macs);
  HILO_PUT(out, "\",");
  if (p->o->metrics) {
    HILO_PUT(out, "'hlo-metrics=");
    hilo_metrics_put_json(&metrics, out);
    HILO_PUT(out, "'");
  }
  HILO_PUT(out, "))\n");
}

static void put_prologue(hilo_printer *p) {
  HILO_PUT(p->out, "import neuronxcc.starfish.penguin.ir.ir as m0\n"
                   "import neuronxcc.starfish.penguin.ir.DebugInfo as m1\n"
                   "import neuronxcc.starfish.penguin.targets.tonga.APIndex as m2\n"
                   "import neuronxcc.starfish.penguin.targets.tonga.TongaInst as m3\n"
                   "import neuronxcc.starfish.penguin.targets.tonga.TongaISAInst as m4\n"
                   "import neuronxcc.starfish.penguin.targets.tonga.TongaTensor as m5\n"
                   "import numpy as np\n");
  if (has_control_deps(p->m)) hilo_need_import(p, HILO_IMPORT_DEPENDENCY);
  put_function(p);
  HILO_PUT(p->out, "def weight_load(p):\n"
                   "  t = np.load(p)\n"
                   "  return t\n");
  hilo_need_import(p, HILO_IMPORT_SUPPORT);
  hilo_make_dtype_texts(p);
}

static void put_epilogue(hilo_printer *p, const program_io *io) {
  const hilo_inst root = hilo_comp_root(p->m, p->m->entry);
  put_aliases(p, io);
  for (uint32_t k = 0; k < io->n_outputs; k++) {
    HILO_PUT(p->out, "v0.markOutput(");
    hilo_put_var(p->out, hilo_leaf_vars(p, root)[k]);
    HILO_PUT(p->out, ")\n");
  }
  HILO_PUT(p->out, "v0.id=");
  hilo_sb_u64(p->out, p->next_id);
  HILO_PUT(p->out, "\nir=v0\n");
}

static void print_program(hilo_printer *p) {
  program_io io = {0};
  put_prologue(p);
  gather_inputs(p, &io);
  gather_outputs(p, &io);
  hilo_edges_init(p);
  put_inputs(p);
  HILO_FOR_EACH_INST(p->m, p->m->entry, i) {
    if (!hilo_inst_is(p->m, i, HILO_OP_PARAMETER)) hilo_print_inst(p, i);
  }
  put_output_copies(p, &io);
  put_epilogue(p, &io);
}

hilo_status hilo_penguin_emit(const hilo_module *m, const hilo_penguin_options *options,
                              hilo_diags *diags, hilo_sb *text, hilo_penguin_files *files) {
  const size_t start = text->n;
  *files = (hilo_penguin_files){0};
  if (!m->entry.ix || !hilo_comp_root(m, m->entry).ix)
    return hilo_diag_add(diags, options->stablehlo ? HILO_DIAG_ISPP058 : HILO_DIAG_PYP057,
                         &HILO_NOWHERE, "the module has no entry computation with a root");
  hilo_printer p = make_printer(m, options, diags, text);
  print_program(&p);
  if (p.failed) {
    text->n = start;
    return HILO_INPUT_ERROR;
  }
  hilo_make_debug_files(&p, files);
  files->constants = p.files.v;
  files->n_constants = p.files.n;
  return HILO_OK;
}
