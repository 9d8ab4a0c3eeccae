/* The emitter on modules built by hand: the examples of the contract byte for byte, names,
 * literals, refusals. */
#include "penguin/emit.h"
#include "penguin/pytext.h"
#include "test_support.h"

static hilo_arena arena;

static int set_up(void **state) {
  hilo_arena_init(&arena, NULL, NULL);
  hilo_module *m = hilo_module_create(&arena, NULL);
  m->dialect = HILO_DIALECT_STABLEHLO;
  m->entry = hilo_comp_add(m, hilo_name_parse(m, HILO_STR("main")));
  *state = m;
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  hilo_arena_deinit(&arena);
  return 0;
}

/* ---- building ---- */

static hilo_type array(hilo_module *m, hilo_etype etype, hilo_dims dims) {
  return hilo_type_array(&m->types, etype, dims);
}

static hilo_label label(hilo_module *m, const char *s) {
  return hilo_module_label(m, hilo_str_of(s));
}

static hilo_string str(hilo_module *m, const char *s) {
  return hilo_module_string(m, hilo_str_of(s));
}

static hilo_inst put_in(hilo_module *m, hilo_comp c, hilo_inst_desc desc, const char *name,
                        uint32_t ordinal) {
  if (name) desc.name = hilo_name_parse(m, hilo_str_of(name));
  const hilo_inst i = hilo_inst_add(m, c, &desc);
  m->inst.ordinal[hilo_ix(m, i)] = ordinal;
  return i;
}

static hilo_inst put(hilo_module *m, hilo_inst_desc desc, const char *name, uint32_t ordinal) {
  return put_in(m, m->entry, desc, name, ordinal);
}

static hilo_inst param(hilo_module *m, uint32_t k, hilo_type type) {
  return put(m, (hilo_inst_desc){.op = HILO_OP_PARAMETER, .type = type, .attr = k}, NULL, k + 1);
}

static hilo_inst unary(hilo_module *m, hilo_op op, hilo_inst x, const char *name,
                       uint32_t ordinal) {
  return put(
      m, (hilo_inst_desc){.op = op, .type = hilo_inst_type(m, x), .operands = &x, .n_operands = 1},
      name, ordinal);
}

static void set_root_tuple(hilo_module *m, const hilo_inst *values, uint32_t n) {
  hilo_type types[8];
  for (uint32_t k = 0; k < n; k++) types[k] = hilo_inst_type(m, values[k]);
  const hilo_inst_desc desc = {.op = HILO_OP_TUPLE,
                               .type = hilo_type_tuple(&m->types, types, n),
                               .operands = values,
                               .n_operands = n};
  hilo_comp_set_root(m, m->entry, put(m, desc, NULL, 99));
}

static hilo_comp binary_region(hilo_module *m, hilo_op op, hilo_etype etype) {
  const hilo_comp c = hilo_comp_add(m, hilo_comp_fresh_name(m, str(m, "region")));
  const hilo_type scalar = hilo_type_scalar(&m->types, etype);
  hilo_inst args[2];
  for (uint32_t k = 0; k < 2; k++)
    args[k] =
        put_in(m, c, (hilo_inst_desc){.op = HILO_OP_PARAMETER, .type = scalar, .attr = k}, NULL, 0);
  const hilo_inst_desc desc = {.op = op, .type = scalar, .operands = args, .n_operands = 2};
  hilo_comp_set_root(m, c, put_in(m, c, desc, NULL, 0));
  return c;
}

static void set_extra(hilo_module *m, hilo_inst i, const char *key, const char *value,
                      const char *config) {
  hilo_extra_attrs extra = {0};
  const int64_t kv[] = {key ? str(m, key).ix : 0, value ? str(m, value).ix : 0};
  const hilo_string_map_attrs map = {.kv = {kv, 2}};
  if (key) extra.frontend = hilo_string_map_put(&m->records, &map);
  if (config) extra.backend_config = str(m, config);
  hilo_inst_set_extra(m, i, &extra);
}

/* ---- running ---- */

static const hilo_penguin_options plain = {.stablehlo = true};

static hilo_str emit(const hilo_module *m, const hilo_penguin_options *o,
                     hilo_penguin_files *files) {
  hilo_diags diags = hilo_diags_make(&arena);
  hilo_sb text = hilo_sb_make(&arena);
  const hilo_status status = hilo_penguin_emit(m, o, &diags, &text, files);
  if (status != HILO_OK) {
    hilo_sb shown = hilo_sb_make(&arena);
    hilo_diags_render(&diags, &shown);
    printf("%.*s", HILO_FMT(hilo_sb_view(&shown)));
  }
  assert_int_equal(status, HILO_OK);
  return hilo_sb_view(&text);
}

/* The text behind the import of `support`. */
static hilo_str body(const hilo_module *m) {
  static const char head[] = "import neuronxcc.starfish.support as m7\n";
  hilo_penguin_files files;
  const hilo_str text = emit(m, &plain, &files);
  const char *at = memmem(text.p, text.n, head, sizeof(head) - 1);
  assert_non_null(at);
  at += sizeof(head) - 1;
  return (hilo_str){at, (size_t)(text.p + text.n - at)};
}

static bool contains(hilo_str text, const char *part) {
  return memmem(text.p, text.n, part, strlen(part)) != NULL;
}

#define assert_has(text, part)                                                                     \
  do {                                                                                             \
    if (!contains((text), (part))) {                                                               \
      printf("%.*s", HILO_FMT(text));                                                              \
      fail_msg("no `%s`", (part));                                                                 \
    }                                                                                              \
  } while (0)

/* The codes of all refusals, in order, as `ISPP056 ISPP011`. */
static void assert_refused(const hilo_module *m, const hilo_penguin_options *o, const char *codes) {
  hilo_diags diags = hilo_diags_make(&arena);
  hilo_sb text = hilo_sb_make(&arena), got = hilo_sb_make(&arena);
  hilo_penguin_files files;
  hilo_sb_cat(&text, "before");
  assert_int_not_equal(hilo_penguin_emit(m, o, &diags, &text, &files), HILO_OK);
  for (uint32_t k = 0; k < diags.n; k++) {
    if (k) hilo_sb_char(&got, ' ');
    hilo_sb_cat(&got, hilo_diag_name(diags.list[k].code) + 4);
  }
  assert_string_equal(hilo_sb_cstr(&got), codes);
  assert_str(hilo_sb_view(&text), "before");
  assert_int_equal(files.n_constants, 0);
}

/* ---- the examples of the contract ---- */

#define PROLOGUE                                                                                   \
  "import neuronxcc.starfish.penguin.ir.ir as m0\n"                                                \
  "import neuronxcc.starfish.penguin.ir.DebugInfo as m1\n"                                         \
  "import neuronxcc.starfish.penguin.targets.tonga.APIndex as m2\n"                                \
  "import neuronxcc.starfish.penguin.targets.tonga.TongaInst as m3\n"                              \
  "import neuronxcc.starfish.penguin.targets.tonga.TongaISAInst as m4\n"                           \
  "import neuronxcc.starfish.penguin.targets.tonga.TongaTensor as m5\n"                            \
  "import numpy as np\n"

/* clang-format off */
static const char example_1[] = PROLOGUE
"v0 = m0.Function(id_=0, batch_ids=[], attrs=(\"model-type=memory-bound\",\"mac-count=512\",))\n"
"def weight_load(p):\n"
"  t = np.load(p)\n"
"  return t\n"
"import neuronxcc.starfish.support as m7\n"
"v1 = m0.Tensor(name=\"input0\", shape=(4,8), parent=v0, id=1, dtype=m7.dtype.bfloat16, view=m0.TensorView(shape=(4,8), layout=\"NC\", transpose=(0,1)), attrs={'CrossPassTensor': \"\"})\n"
"v0.markInput(v1)\n"
"v2 = m0.Tensor(name=\"input1\", shape=(8,16), parent=v0, id=2, dtype=m7.dtype.bfloat16, view=m0.TensorView(shape=(8,16), layout=\"NC\", transpose=(0,1)), attrs={'CrossPassTensor': \"\"})\n"
"v0.markInput(v2, is_parameter_tensor=True)\n"
"v3 = m0.Tensor(name=\"input2\", shape=(16,), parent=v0, id=3, dtype=m7.dtype.bfloat16, view=m0.TensorView(shape=(16,), layout=\"N\", transpose=(0,)), attrs={'CrossPassTensor': \"\"})\n"
"v0.markInput(v3)\n"
"v5 = m0.Tensor(name=\"dot_general.1\", shape=(4,16), parent=v0, id=4, dtype=m7.dtype.bfloat16, view=m0.TensorView(shape=(4,16), layout=\"NC\", transpose=(0,1)), )\n"
"import neuronxcc.starfish.penguin.frontends.XlaFE as m8\n"
"v4 = m8.NeuronTensorOp(srcs=[v1, v2], dsts=[v5], xla_op='mhlo.dot', lhs_batching_dims=[], lhs_contract_dims=[1], rhs_batching_dims=[], rhs_contract_dims=[0], id=5, parent=v0, dl=m1.DebugLocation(tensor_op_name=\"mm_dot.4\", file=\"mlp.py\", line=12, column=0, hlo_id=4))\n"
"v7 = m0.Tensor(name=\"broadcast_in_dim.1\", shape=(4,16), parent=v0, id=6, dtype=m7.dtype.bfloat16, view=m0.TensorView(shape=(4,16), layout=\"NC\", transpose=(0,1)), )\n"
"v6 = m8.NeuronTensorOp(srcs=[v3], dsts=[v7], xla_op='mhlo.broadcast_in_dim', src_shape=(16,), broadcast_dims=(1,), shape=(4,16), id=7, parent=v0, dl=m1.DebugLocation(tensor_op_name=\"_broadcast.5\", file=\"\", line=0, column=0, hlo_id=5))\n"
"v9 = m0.Tensor(name=\"add.1\", shape=(4,16), parent=v0, id=8, dtype=m7.dtype.bfloat16, view=m0.TensorView(shape=(4,16), layout=\"NC\", transpose=(0,1)), )\n"
"v8 = m8.NeuronTensorOp(srcs=[v5, v7], dsts=[v9], op=np.add, xla_op='mhlo.binary', id=9, parent=v0, dl=m1.DebugLocation(tensor_op_name=\"_add.6\", file=\"\", line=0, column=0, hlo_id=6))\n"
"v11 = m0.Tensor(name=\"output0\", shape=(4,16), parent=v0, id=10, dtype=m7.dtype.bfloat16, view=m0.TensorView(shape=(4,16), layout=\"NC\", transpose=(0,1)), )\n"
"v10 = m8.NeuronTensorOp(srcs=[v9], dsts=[v11], op=m0.gelu, xla_op='mhlo.unary', id=11, parent=v0, dl=m1.DebugLocation(tensor_op_name=\"_custom-call.7\", file=\"\", line=0, column=0, hlo_id=7))\n"
"v0.markOutput(v11)\n"
"v0.id=12\n"
"ir=v0\n";

static const char example_2[] = PROLOGUE
"import neuronxcc.starfish.penguin.ir.Dependency as m7\n"
"v0 = m0.Function(id_=0, batch_ids=[], attrs=(\"model-type=memory-bound\",\"mac-count=0\",))\n"
"def weight_load(p):\n"
"  t = np.load(p)\n"
"  return t\n"
"import neuronxcc.starfish.support as m8\n"
"v1 = m0.Tensor(name=\"input0\", shape=(8,), parent=v0, id=1, dtype=\"float32\", view=m0.TensorView(shape=(8,), layout=\"N\", transpose=(0,)), attrs={'CrossPassTensor': \"\"})\n"
"v0.markInput(v1)\n"
"v2 = m0.Tensor(name=\"input1\", shape=(8,), parent=v0, id=2, dtype=\"float32\", view=m0.TensorView(shape=(8,), layout=\"N\", transpose=(0,)), attrs={'CrossPassTensor': \"\"})\n"
"v0.markInput(v2)\n"
"v4 = m0.Tensor(name=\"output0\", shape=(8,), parent=v0, id=3, dtype=\"float32\", view=m0.TensorView(shape=(8,), layout=\"N\", transpose=(0,)), )\n"
"import neuronxcc.starfish.penguin.frontends.XlaFE as m9\n"
"v3 = m9.NeuronTensorOp(srcs=[v1], dsts=[v4], op=np.add, xla_op='mhlo.all_reduce', kind='AllReduce', replica_groups=[[0, 1]], dtype=\"float32\", has_token=False, stream_id=0, id=4, parent=v0, dl=m1.DebugLocation(tensor_op_name=\"_all-reduce.9\", file=\"\", line=0, column=0, hlo_id=9))\n"
"v6 = m0.Tensor(name=\"output1\", shape=(8,), parent=v0, id=5, dtype=\"float32\", view=m0.TensorView(shape=(8,), layout=\"N\", transpose=(0,)), )\n"
"v5 = m9.NeuronTensorOp(srcs=[v2], dsts=[v6], op=np.exp, xla_op='mhlo.unary', id=6, parent=v0, dl=m1.DebugLocation(tensor_op_name=\"_exponential.10\", file=\"\", line=0, column=0, hlo_id=10))\n"
"v0.add_dep_edge(m7.DependencyEdge(src=v3, dst=v5, idx_map=[], kind=m7.EdgeKind.ORDERED, predicates=[]))\n"
"v0.markOutput(v4)\n"
"v0.markOutput(v6)\n"
"v0.id=7\n"
"ir=v0\n";
/* clang-format on */

static void example_of_a_matmul(void **state) {
  hilo_module *m = *state;
  const hilo_type out = array(m, HILO_BF16, HILO_DIMS_OF(4, 16));
  const hilo_inst x = param(m, 0, array(m, HILO_BF16, HILO_DIMS_OF(4, 8)));
  const hilo_inst w = param(m, 1, array(m, HILO_BF16, HILO_DIMS_OF(8, 16)));
  const hilo_inst b = param(m, 2, array(m, HILO_BF16, HILO_DIMS_OF(16)));
  const int64_t slow = 1;
  m->header.slow_ins = (hilo_dims){&slow, 1};
  const hilo_dot_attrs dims = {.lhs_contracting = HILO_DIMS_OF(1),
                               .rhs_contracting = HILO_DIMS_OF(0)};
  const hilo_meta_attrs meta = {
      .op_name = label(m, "mm"), .source_file = label(m, "mlp.py"), .source_line = 12};
  const hilo_inst dot = put(m,
                            (hilo_inst_desc){.op = HILO_OP_DOT,
                                             .type = out,
                                             .operands = (hilo_inst[]){x, w},
                                             .n_operands = 2,
                                             .attr = hilo_dot_put(&m->records, &dims).ix,
                                             .meta = hilo_meta_put(&m->labels, &meta)},
                            "dot.4", 4);
  const hilo_dims_attrs to = {.dims = HILO_DIMS_OF(1)};
  const hilo_inst wide = put(m,
                             (hilo_inst_desc){.op = HILO_OP_BROADCAST,
                                              .type = out,
                                              .operands = &b,
                                              .n_operands = 1,
                                              .attr = hilo_dims_put(&m->records, &to).ix},
                             "broadcast.5", 5);
  const hilo_inst sum = put(
      m,
      (hilo_inst_desc){
          .op = HILO_OP_ADD, .type = out, .operands = (hilo_inst[]){dot, wide}, .n_operands = 2},
      "add.6", 6);
  const hilo_custom_call_attrs call = {.target = str(m, "AwsNeuronGelu")};
  const hilo_inst gelu = put(m,
                             (hilo_inst_desc){.op = HILO_OP_CUSTOM_CALL,
                                              .type = out,
                                              .operands = &sum,
                                              .n_operands = 1,
                                              .attr = hilo_custom_call_put(&m->records, &call).ix},
                             "custom-call.7", 7);
  hilo_comp_set_root(m, m->entry, gelu);
  hilo_penguin_files files;
  const hilo_str text = emit(m, &plain, &files);
  assert_str(text, example_1);
}

static hilo_inst all_reduce(hilo_module *m, hilo_inst x, const char *name, uint32_t ordinal) {
  const hilo_replica_groups_attrs list = {.sizes = HILO_DIMS_OF(2), .ids = HILO_DIMS_OF(0, 1)};
  const hilo_collective_attrs attrs = {.groups = hilo_replica_groups_put(&m->records, &list)};
  const hilo_comp region = binary_region(m, HILO_OP_ADD, hilo_inst_etype(m, x));
  const hilo_inst i = put(m,
                          (hilo_inst_desc){.op = HILO_OP_ALL_REDUCE,
                                           .type = hilo_inst_type(m, x),
                                           .operands = &x,
                                           .n_operands = 1,
                                           .called = &region,
                                           .n_called = 1,
                                           .attr = hilo_collective_put(&m->records, &attrs).ix},
                          name, ordinal);
  set_extra(m, i, "stream_id", "0", NULL);
  return i;
}

static void example_of_a_control_edge(void **state) {
  hilo_module *m = *state;
  const hilo_type type = array(m, HILO_F32, HILO_DIMS_OF(8));
  const hilo_inst p0 = param(m, 0, type), p1 = param(m, 1, type);
  m->header.has_control_deps = true;
  m->header.num_partitions = 1;
  m->header.num_replicas = 2;
  const hilo_inst ar = all_reduce(m, p0, "all-reduce.9", 9);
  const hilo_custom_call_attrs call = {.target = str(m, "AwsNeuronControlDep")};
  const hilo_inst dep = put(m,
                            (hilo_inst_desc){.op = HILO_OP_CUSTOM_CALL,
                                             .type = type,
                                             .operands = (hilo_inst[]){ar, p1},
                                             .n_operands = 2,
                                             .attr = hilo_custom_call_put(&m->records, &call).ix},
                            NULL, 11);
  const hilo_inst e = unary(m, HILO_OP_EXP, dep, "exponential.10", 10);
  set_root_tuple(m, (hilo_inst[]){ar, e}, 2);
  hilo_penguin_files files;
  const hilo_str text = emit(m, &plain, &files);
  assert_str(text, example_2);
}

static hilo_inst constant(hilo_module *m, hilo_type type, const void *data, uint64_t bytes) {
  return put(m,
             (hilo_inst_desc){.op = HILO_OP_CONSTANT,
                              .type = type,
                              .attr = hilo_literal_put(m, type, data, bytes, true).ix},
             NULL, 0);
}

static hilo_inst reduce(hilo_module *m, hilo_inst x, hilo_inst init, hilo_comp region,
                        hilo_type type, hilo_dims dims) {
  const hilo_dims_attrs attrs = {.dims = dims};
  return put(m,
             (hilo_inst_desc){.op = HILO_OP_REDUCE,
                              .type = type,
                              .operands = (hilo_inst[]){x, init},
                              .n_operands = 2,
                              .called = &region,
                              .n_called = 1,
                              .attr = hilo_dims_put(&m->records, &attrs).ix},
             "reduce.8", 8);
}

/* clang-format off */
static const char example_3_constant[] =
"v2 = m0.Tensor(name=\"constant.1\", shape=(2,3), parent=v0, id=2, dtype=\"float32\", view=m0.TensorView(shape=(2,3), layout=\"NC\", transpose=(0,1)), value=weight_load(\"constant.1.npy\"), )\n";
static const char example_3_reduce[] =
"v5 = m0.SingleValueTensor(value=m7.dtype.static_cast(float('-inf'), m7.dtype.float32), name=\"constant.2\", shape=(), parent=v0, id=5, dtype=\"float32\", view=m0.TensorView(shape=(), layout=\"\", transpose=()), )\n"
"v7 = m0.Tensor(name=\"output1\", shape=(2,), parent=v0, id=6, dtype=\"float32\", view=m0.TensorView(shape=(2,), layout=\"N\", transpose=(0,)), )\n"
"v6 = m8.NeuronTensorOp(srcs=[v4, v5], dsts=[v7], op=np.maximum, xla_op='mhlo.reduce', init_value=float('-inf'), reduce_dims=[1], id=7, parent=v0, dl=m1.DebugLocation(tensor_op_name=\"_reduce.8\", file=\"\", line=0, column=0, hlo_id=8))\n"
"v0.aliasTensors(\"output0\", \"input0\", \"must\")\n";
/* clang-format on */

static void example_of_constants(void **state) {
  hilo_module *m = *state;
  const float values[] = {1, 2, 3, 4, 5, 6}, lowest = -__builtin_inff();
  const hilo_type type = array(m, HILO_F32, HILO_DIMS_OF(2, 3));
  const hilo_inst p0 = param(m, 0, type);
  const hilo_inst c = constant(m, type, values, sizeof(values));
  const hilo_inst sum =
      put(m,
          (hilo_inst_desc){
              .op = HILO_OP_ADD, .type = type, .operands = (hilo_inst[]){p0, c}, .n_operands = 2},
          "add.7", 7);
  const hilo_inst init = constant(m, hilo_type_scalar(&m->types, HILO_F32), &lowest, 4);
  const hilo_inst r = reduce(m, sum, init, binary_region(m, HILO_OP_MAXIMUM, HILO_F32),
                             array(m, HILO_F32, HILO_DIMS_OF(2)), HILO_DIMS_OF(1));
  set_root_tuple(m, (hilo_inst[]){sum, r}, 2);
  const int64_t output = 0;
  HILO_PUSH(&arena, &m->header.aliases,
            ((hilo_alias){.output_index = {&output, 1}, .param = 0, .kind = HILO_ALIAS_MUST}));
  hilo_penguin_files files;
  const hilo_str text = emit(m, &plain, &files);
  assert_has(text, example_3_constant);
  assert_has(text, example_3_reduce);
  assert_int_equal(files.n_constants, 1);
  assert_str(files.constants[0].name, "constant.1.npy");
  assert_int_equal(files.constants[0].head.n % 64, 0);
  assert_memory_equal(files.constants[0].head.p, "\x93NUMPY\x02\0", 8);
  assert_has(files.constants[0].head, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,3), }");
  assert_int_equal(files.constants[0].data.n, sizeof(values));
  assert_memory_equal(files.constants[0].data.p, values, sizeof(values));
}

/* ---- names and literals ---- */

static void names_that_clash_get_a_number(void **state) {
  hilo_module *m = *state;
  const hilo_type type = array(m, HILO_F32, HILO_DIMS_OF(8));
  const int64_t names[] = {str(m, "x").ix, str(m, "x").ix, str(m, "exponential.1").ix};
  m->header.input_names = (hilo_dims){names, 3};
  m->header.output_names = (hilo_dims){names, 1};
  const hilo_inst p0 = param(m, 0, type);
  param(m, 1, type);
  param(m, 2, type);
  const hilo_inst e = unary(m, HILO_OP_EXP, p0, NULL, 0), e2 = unary(m, HILO_OP_EXP, e, NULL, 0);
  hilo_comp_set_root(m, m->entry, e2);
  const hilo_str text = body(m);
  assert_has(text, "v1 = m0.Tensor(name=\"x\", ");
  assert_has(text, "v2 = m0.Tensor(name=\"x.1\", ");
  assert_has(text, "v3 = m0.Tensor(name=\"exponential.1\", ");
  assert_has(text, "v5 = m0.Tensor(name=\"exponential.2\", ");
  assert_has(text, "v7 = m0.Tensor(name=\"x.2\", ");
  assert_has(text, "tensor_op_name=\"UnnamedModule\", file=\"\", line=0, column=0, hlo_id=0)");
}

static void outputs_that_nothing_writes_are_copied(void **state) {
  hilo_module *m = *state;
  const hilo_inst p0 = param(m, 0, array(m, HILO_F32, HILO_DIMS_OF(8)));
  const hilo_inst e = unary(m, HILO_OP_EXP, p0, NULL, 0);
  set_root_tuple(m, (hilo_inst[]){p0, e, e}, 3);
  const hilo_str text = body(m);
  assert_has(text, "v3 = m0.Tensor(name=\"output1\", ");
  assert_has(text, "v4 = m0.Tensor(name=\"output0\", ");
  assert_has(text, "v5 = m0.OffloadedMemCpy(srcs=[v1], dsts=[v4], dtype=\"float32\", ");
  assert_has(text, "v6 = m0.Tensor(name=\"output2\", ");
  assert_has(text, "v7 = m0.OffloadedMemCpy(srcs=[v3], dsts=[v6], dtype=\"float32\", ");
  assert_has(text, "v0.markOutput(v4)\nv0.markOutput(v3)\nv0.markOutput(v6)\n");
}

static void strings_are_escaped(void **state) {
  (void)state;
  hilo_sb sb = hilo_sb_make(&arena);
  hilo_py_string(&sb, HILO_STR("a\"b'c\\d\n\t\x01\x7f\xc3\xa9\xff\xc3z"), '\'');
  assert_str(hilo_sb_view(&sb), "a\"b\\'c\\\\d\\n\\t\\x01\\x7f\xc3\xa9\\xff\\xc3z");
}

static void check_scalar(hilo_etype etype, uint64_t bits, const char *expected) {
  hilo_sb sb = hilo_sb_make(&arena);
  hilo_py_scalar(&sb, etype, bits);
  assert_str(hilo_sb_view(&sb), expected);
}

static void scalars_are_python(void **state) {
  (void)state;
  check_scalar(HILO_PRED, 1, "True");
  check_scalar(HILO_S8, 0x80, "-128");
  check_scalar(HILO_U8, 0x80, "128");
  check_scalar(HILO_S64, 1ull << 63, "-9223372036854775808");
  check_scalar(HILO_U64, UINT64_MAX, "18446744073709551615");
  check_scalar(HILO_F32, 0x3f800000, "1.0");
  check_scalar(HILO_F32, 0x3dcccccd, "0.1");
  check_scalar(HILO_F32, 0x80000000, "-0.0");
  check_scalar(HILO_BF16, 0x3e9a, "0.3");
  check_scalar(HILO_F16, 0xfc00, "float('-inf')");
  check_scalar(HILO_F8E4M3FN, 0x7f, "float('nan')");
}

/* ---- fusions ---- */

/* entry: f = fusion(p0), kind; body: e = exp(x); t = e + e; root (t, e, x, t) as far as n_results.
 */
static hilo_inst fusion(hilo_module *m, const char *kind, uint32_t n_results) {
  const hilo_type type = array(m, HILO_F32, HILO_DIMS_OF(8));
  const hilo_inst p0 = param(m, 0, type);
  const hilo_comp body = hilo_comp_add(m, hilo_name_parse(m, HILO_STR("fused")));
  const hilo_inst x =
      put_in(m, body, (hilo_inst_desc){.op = HILO_OP_PARAMETER, .type = type}, "x", 11);
  const hilo_inst e = put_in(
      m, body, (hilo_inst_desc){.op = HILO_OP_EXP, .type = type, .operands = &x, .n_operands = 1},
      "e", 12);
  const hilo_inst_desc add = {
      .op = HILO_OP_ADD, .type = type, .operands = (hilo_inst[]){e, e}, .n_operands = 2};
  const hilo_inst t = put_in(m, body, add, "t", 13);
  const hilo_type types[] = {type, type, type, type};
  hilo_type result = type;
  hilo_inst root = t;
  if (n_results > 1) {
    result = hilo_type_tuple(&m->types, types, n_results);
    root = put_in(m, body,
                  (hilo_inst_desc){.op = HILO_OP_TUPLE,
                                   .type = result,
                                   .operands = (hilo_inst[]){t, e, x, t},
                                   .n_operands = n_results},
                  NULL, 14);
  }
  hilo_comp_set_root(m, body, root);
  const hilo_fusion_attrs attrs = {.kind = str(m, kind)};
  const hilo_inst f = put(m,
                          (hilo_inst_desc){.op = HILO_OP_FUSION,
                                           .type = result,
                                           .operands = &p0,
                                           .n_operands = 1,
                                           .called = &body,
                                           .n_called = 1,
                                           .attr = hilo_fusion_put(&m->records, &attrs).ix},
                          "fusion.5", 5);
  hilo_comp_set_root(m, m->entry, f);
  return f;
}

/* clang-format off */
static const char header_and_body[] =
"v3 = m0.Tensor(name=\"output0\", shape=(8,), parent=v0, id=2, dtype=\"float32\", view=m0.TensorView(shape=(8,), layout=\"N\", transpose=(0,)), )\n"
"import neuronxcc.starfish.penguin.frontends.XlaFE as m8\n"
"v2 = m8.NeuronTensorOp(srcs=[v1], dsts=[v3], xla_op='mhlo.fusion', op='Elementwise', hilo_fusion_op='Expm1', id=3, parent=v0, dl=m1.DebugLocation(tensor_op_name=\"_fusion.5\", file=\"\", line=0, column=0, hlo_id=5))\n"
"v5 = m0.Tensor(name=\"exponential.1\", shape=(8,), parent=v0, id=4, dtype=\"float32\", view=m0.TensorView(shape=(8,), layout=\"N\", transpose=(0,)), )\n"
"v4 = m8.NeuronTensorOp(srcs=[v1], dsts=[v5], op=np.exp, xla_op='mhlo.unary', id=5, parent=v0, dl=m1.DebugLocation(tensor_op_name=\"_e\", file=\"\", line=0, column=0, hlo_id=12, parent=v2))\n"
"v6 = m8.NeuronTensorOp(srcs=[v5, v5], dsts=[v3], op=np.add, xla_op='mhlo.binary', id=6, parent=v0, dl=m1.DebugLocation(tensor_op_name=\"_t\", file=\"\", line=0, column=0, hlo_id=13, parent=v2))\n"
"v0.markOutput(v3)\n";
/* clang-format on */

static void a_fusion_is_a_header_and_its_body(void **state) {
  hilo_module *m = *state;
  fusion(m, "Expm1", 1);
  assert_has(body(m), header_and_body);
}

static void live_outs_that_no_operation_writes_are_copied(void **state) {
  hilo_module *m = *state;
  fusion(m, "Elementwise", 4);
  const hilo_str text = body(m);
  assert_has(text,
             "v2 = m8.NeuronTensorOp(srcs=[v1], dsts=[v3, v4, v5, v6], xla_op='mhlo.fusion', ");
  assert_has(text, "v7 = m8.NeuronTensorOp(srcs=[v1], dsts=[v4], op=np.exp, ");
  assert_has(text, "v8 = m8.NeuronTensorOp(srcs=[v4, v4], dsts=[v3], op=np.add, ");
  assert_has(text, "v9 = m0.OffloadedMemCpy(srcs=[v1], dsts=[v5], ");
  assert_has(text, "v10 = m0.OffloadedMemCpy(srcs=[v3], dsts=[v6], ");
  assert_has(text, "v0.markOutput(v3)\nv0.markOutput(v4)\nv0.markOutput(v5)\nv0.markOutput(v6)\n");
}

static void a_schedule_fusion_has_no_header(void **state) {
  hilo_module *m = *state;
  const hilo_inst f = fusion(m, "ScheduleFusion", 4);
  const hilo_str text = body(m);
  (void)f;
  assert_false(contains(text, "mhlo.fusion"));
  assert_has(text, "v3 = m0.Tensor(name=\"output1\", ");
  assert_has(text, "v2 = m8.NeuronTensorOp(srcs=[v1], dsts=[v3], op=np.exp, ");
  assert_has(text, "v5 = m0.Tensor(name=\"output0\", ");
  assert_has(text, "v6 = m0.Tensor(name=\"output2\", ");
  assert_has(text, "v7 = m0.OffloadedMemCpy(srcs=[v1], dsts=[v6], ");
  assert_has(text, "v8 = m0.Tensor(name=\"output3\", ");
  assert_has(text, "v0.markOutput(v5)\nv0.markOutput(v3)\nv0.markOutput(v6)\nv0.markOutput(v8)\n");
}

static void a_fusion_without_a_known_kind_is_refused(void **state) {
  hilo_module *m = *state;
  fusion(m, "kLoop", 1);
  assert_refused(m, &plain, "ISPP054");
}

/* ---- attributes of the dialect pipeline ---- */

static void set_neuron(hilo_module *m, hilo_inst i, const hilo_neuron_attrs *attrs) {
  const hilo_extra_attrs extra = {.neuron = hilo_neuron_put(&m->records, attrs)};
  hilo_inst_set_extra(m, i, &extra);
}

static void tensors_carry_their_attributes(void **state) {
  hilo_module *m = *state;
  const hilo_type type = array(m, HILO_F32, HILO_DIMS_OF(8));
  const hilo_inst p0 = param(m, 0, type), p1 = param(m, 1, array(m, HILO_F32, HILO_DIMS_OF(3, 0)));
  (void)p1;
  set_neuron(m, p0, &(hilo_neuron_attrs){.transposable = true, .non_local = true});
  m->header.weight_files = HILO_NEW_ZEROED(&arena, hilo_string, 2);
  m->header.weight_files[0] = str(m, "w\"0.npy");
  const hilo_inst a = unary(m, HILO_OP_EXP, p0, NULL, 0), b = unary(m, HILO_OP_COPY, a, NULL, 0);
  set_neuron(
      m, a,
      &(hilo_neuron_attrs){.cross_pass = true, .no_opt = str(m, "1"), .remat_value = str(m, "e")});
  const int64_t names[] = {str(m, "result").ix};
  set_neuron(m, b, &(hilo_neuron_attrs){.sym_names = {names, 1}, .actual_shape = str(m, "[8]")});
  hilo_comp_set_root(m, m->entry, b);
  const hilo_str text = body(m);
  assert_has(
      text,
      "transpose=(0,)), non_local=True, attrs={'CrossPassTensor': \"\", 'transposable': True})\n"
      "v0.markInput(v1, np_file=\"w\\\"0.npy\")\n");
  assert_has(text, "v2 = m0.Tensor(name=\"input1\", shape=(3,1), parent=v0, id=2, "
                   "dtype=\"float32\", view=m0.TensorView(shape=(3,1), "
                   "layout=\"NC\", transpose=(0,1)), attrs={'CrossPassTensor': \"\", "
                   "'actual_shape': \"[3,0]\"})\n");
  assert_has(text, "attrs={'CrossPassTensor': \"\", 'no-opt': \"1\", 'remat.value': \"e\"})\n");
  assert_has(text, "name=\"result\", ");
  assert_has(text, "attrs={'actual_shape': \"[8]\"})\n");
}

static void copies_are_operations_where_memcpy_is_disabled(void **state) {
  hilo_module *m = *state;
  const hilo_inst p0 = param(m, 0, array(m, HILO_F32, HILO_DIMS_OF(8)));
  hilo_comp_set_root(m, m->entry, unary(m, HILO_OP_COPY, p0, NULL, 0));
  hilo_penguin_files files;
  const hilo_str text = emit(m, &(hilo_penguin_options){.memcpy_disabled = true}, &files);
  assert_has(text,
             "v2 = m8.NeuronTensorOp(srcs=[v1], dsts=[v3], xla_op='mhlo.copy', shape=(8,), id=3, ");
}

static void an_implicit_iota_is_the_second_result_of_a_sort(void **state) {
  hilo_module *m = *state;
  const hilo_type type = array(m, HILO_F32, HILO_DIMS_OF(8)),
                  places = array(m, HILO_S32, HILO_DIMS_OF(8));
  const hilo_inst p0 = param(m, 0, type);
  const hilo_comp lt = hilo_comp_add(m, hilo_name_parse(m, HILO_STR("lt")));
  const hilo_type scalar = hilo_type_scalar(&m->types, HILO_F32);
  hilo_inst args[2];
  for (uint32_t k = 0; k < 2; k++)
    args[k] = put_in(m, lt, (hilo_inst_desc){.op = HILO_OP_PARAMETER, .type = scalar, .attr = k},
                     NULL, 0);
  const hilo_compare_attrs direction = {.direction = HILO_LT};
  hilo_comp_set_root(m, lt,
                     put_in(m, lt,
                            (hilo_inst_desc){.op = HILO_OP_COMPARE,
                                             .type = hilo_type_scalar(&m->types, HILO_PRED),
                                             .operands = args,
                                             .n_operands = 2,
                                             .attr = hilo_compare_put(&m->records, &direction).ix},
                            NULL, 0));
  const hilo_sort_attrs attrs = {.is_stable = true};
  const hilo_inst s =
      put(m,
          (hilo_inst_desc){.op = HILO_OP_SORT,
                           .type = hilo_type_tuple(&m->types, (hilo_type[]){type, places}, 2),
                           .operands = &p0,
                           .n_operands = 1,
                           .called = &lt,
                           .n_called = 1,
                           .attr = hilo_sort_put(&m->records, &attrs).ix},
          NULL, 0);
  const int64_t mark[] = {hilo_module_string(m, HILO_STR("implicit_iota")).ix,
                          hilo_module_string(m, HILO_STR("true")).ix};
  const hilo_string_map_attrs map = {.kv = {mark, 2}};
  hilo_inst_set_extra(m, s,
                      &(hilo_extra_attrs){.frontend = hilo_string_map_put(&m->records, &map)});
  hilo_comp_set_root(m, m->entry, s);
  assert_has(body(m), "v2 = m8.NeuronTensorOp(srcs=[v1], dsts=[v3, v4], xla_op='mhlo.sort', "
                      "dimension=0, is_stable=True, comparison_dir='lt', implicit_iota=True, ");
}

/* ---- refusals ---- */

static void refusals_are_collected(void **state) {
  hilo_module *m = *state;
  const hilo_type type = array(m, HILO_F32, HILO_DIMS_OF(8));
  const hilo_inst p0 = param(m, 0, type), p1 = param(m, 1, array(m, HILO_F64, HILO_DIMS_OF(2)));
  const hilo_inst a = unary(m, HILO_OP_EXPM1, p0, NULL, 3), b = unary(m, HILO_OP_ACOS, a, NULL, 4);
  const hilo_inst ar = all_reduce(m, b, NULL, 5);
  set_extra(m, ar, NULL, NULL, NULL);
  const hilo_custom_call_attrs call = {.target = str(m, "AwsNeuronGleu")};
  const hilo_inst unknown =
      put(m,
          (hilo_inst_desc){.op = HILO_OP_CUSTOM_CALL,
                           .type = type,
                           .operands = &ar,
                           .n_operands = 1,
                           .attr = hilo_custom_call_put(&m->records, &call).ix},
          NULL, 6);
  set_root_tuple(m, (hilo_inst[]){unknown, p1}, 2);
  assert_refused(m, &plain, "ESPP004 ISPP055 ISPP056 ISPP011 EHCA005");
  const hilo_penguin_options mhlo = {0};
  assert_refused(m, &mhlo, "PYP004 PYP054 PYP055 PYP011 EHCA005");
}

static void regions_of_more_than_one_operation_are_refused(void **state) {
  hilo_module *m = *state;
  const hilo_inst p0 = param(m, 0, array(m, HILO_F32, HILO_DIMS_OF(8)));
  const hilo_inst init = param(m, 1, hilo_type_scalar(&m->types, HILO_F32));
  const hilo_comp divide = binary_region(m, HILO_OP_DIVIDE, HILO_F32);
  const hilo_comp power = binary_region(m, HILO_OP_POWER, HILO_F32);
  const hilo_type scalar = hilo_inst_type(m, init);
  const hilo_inst r = reduce(m, p0, init, divide, scalar, HILO_DIMS_OF(0));
  const hilo_inst s = reduce(m, p0, init, power, scalar, HILO_DIMS_OF(0));
  set_root_tuple(m, (hilo_inst[]){r, s}, 2);
  assert_refused(m, &plain, "ISPP057 ISPP057");
}

static void groups_of_replicas_need_their_number(void **state) {
  hilo_module *m = *state;
  const hilo_inst p0 = param(m, 0, array(m, HILO_F32, HILO_DIMS_OF(8)));
  hilo_comp_set_root(m, m->entry, all_reduce(m, p0, NULL, 0));
  assert_refused(m, &plain, "ISPP011");
  m->header.num_partitions = INT64_MAX;
  m->header.num_replicas = 2;
  assert_refused(m, &plain, "ISPP011");
  m->header.num_partitions = 2;
  assert_has(body(m), "replica_groups=[[0, 2], [1, 3]], ");
}

static void dense_constants_need_a_file(void **state) {
  hilo_module *m = *state;
  const float values[] = {1, 2};
  const hilo_type type = array(m, HILO_F32, HILO_DIMS_OF(2));
  const hilo_inst c = constant(m, type, values, sizeof(values));
  hilo_comp_set_root(m, m->entry, unary(m, HILO_OP_EXP, c, NULL, 0));
  const hilo_penguin_options o = {.stablehlo = true, .no_files = true};
  assert_refused(m, &o, "ISPP003");
  const hilo_penguin_options stem = {.stablehlo = true, .stem = HILO_STR("part 3")};
  hilo_penguin_files files;
  assert_has(emit(m, &stem, &files), "value=weight_load(\"part_3.constant.1.npy\")");
  assert_str(files.constants[0].name, "part_3.constant.1.npy");
}

static void debug_files_group_by_op_name(void **state) {
  hilo_module *m = *state;
  const hilo_inst p0 = param(m, 0, array(m, HILO_F32, HILO_DIMS_OF(2)));
  const hilo_meta_attrs meta = {
      .op_name = label(m, "f\"g"), .source_file = label(m, "a.py"), .source_line = 3};
  hilo_inst x = p0;
  for (int k = 0; k < 3; k++) {
    x = unary(m, HILO_OP_EXP, x, NULL, 7);
    if (k != 1) hilo_inst_set_meta(m, x, hilo_meta_put(&m->labels, &meta));
  }
  hilo_comp_set_root(m, m->entry, x);
  hilo_penguin_files files;
  emit(m, &(hilo_penguin_options){.framework_dbg = true, .hlo_dbg = true}, &files);
  assert_str(files.framework_dbg,
             "{\"op_name\":\"f\\\"g\",\"file\":\"a.py\",\"line\":3,\"ids\":[3,7]}\n"
             "{\"op_name\":\"\",\"file\":\"\",\"line\":0,\"ids\":[5]}\n");
  assert_has(files.hlo_dbg,
             "{\"id\":3,\"hlo_id\":7,\"name\":\"exponential\",\"op_name\":\"f\\\"g\","
             "\"file\":\"a.py\",\"line\":3}\n{\"id\":5,");
}

/* ---- memory ---- */

static void memory_may_run_out_anywhere(void **state) {
  hilo_module *m = *state;
  fusion(m, "Elementwise", 4);
  const hilo_penguin_options o = {.framework_dbg = true, .hlo_dbg = true, .metrics = true};
  uint64_t volatile n = 0;
  for (bool volatile done = false; !done; n++) {
    test_allocator allocator;
    test_allocator_init(&allocator, n);
    jmp_buf oom;
    hilo_arena small;
    hilo_arena_init(&small, &allocator.allocator, &oom);
    if (setjmp(oom) == 0) {
      hilo_diags diags = hilo_diags_make(&small);
      hilo_sb text = hilo_sb_make(&small);
      hilo_penguin_files files;
      assert_int_equal(hilo_penguin_emit(m, &o, &diags, &text, &files), HILO_OK);
      done = true;
    }
    hilo_arena_deinit(&small);
    assert_int_equal(allocator.n_live, 0);
  }
  assert_true(n > 5);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
  const struct CMUnitTest tests[] = {
      TEST(example_of_a_matmul),
      TEST(example_of_a_control_edge),
      TEST(example_of_constants),
      TEST(names_that_clash_get_a_number),
      TEST(outputs_that_nothing_writes_are_copied),
      TEST(strings_are_escaped),
      TEST(scalars_are_python),
      TEST(a_fusion_is_a_header_and_its_body),
      TEST(live_outs_that_no_operation_writes_are_copied),
      TEST(a_schedule_fusion_has_no_header),
      TEST(a_fusion_without_a_known_kind_is_refused),
      TEST(tensors_carry_their_attributes),
      TEST(copies_are_operations_where_memcpy_is_disabled),
      TEST(an_implicit_iota_is_the_second_result_of_a_sort),
      TEST(refusals_are_collected),
      TEST(regions_of_more_than_one_operation_are_refused),
      TEST(groups_of_replicas_need_their_number),
      TEST(dense_constants_need_a_file),
      TEST(debug_files_group_by_op_name),
      TEST(memory_may_run_out_anywhere),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
