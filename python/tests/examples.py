"""Programs in the published form: bf16 product, bias and gelu; an all-reduce with a control edge; constants."""

HEAD = '''\
import neuronxcc.starfish.penguin.ir.ir as m0
import neuronxcc.starfish.penguin.ir.DebugInfo as m1
import neuronxcc.starfish.penguin.targets.tonga.APIndex as m2
import neuronxcc.starfish.penguin.targets.tonga.TongaInst as m3
import neuronxcc.starfish.penguin.targets.tonga.TongaISAInst as m4
import neuronxcc.starfish.penguin.targets.tonga.TongaTensor as m5
import numpy as np
'''

GELU = HEAD + '''\
v0 = m0.Function(id_=0, batch_ids=[], attrs=("model-type=memory-bound","mac-count=512",))
def weight_load(p):
  t = np.load(p)
  return t
import neuronxcc.starfish.support as m7
v1 = m0.Tensor(name="input0", shape=(4,8), parent=v0, id=1, dtype=m7.dtype.bfloat16, view=m0.TensorView(shape=(4,8), layout="NC", transpose=(0,1)), attrs={'CrossPassTensor': ""})
v0.markInput(v1)
v2 = m0.Tensor(name="input1", shape=(8,16), parent=v0, id=2, dtype=m7.dtype.bfloat16, view=m0.TensorView(shape=(8,16), layout="NC", transpose=(0,1)), attrs={'CrossPassTensor': ""})
v0.markInput(v2, is_parameter_tensor=True)
v3 = m0.Tensor(name="input2", shape=(16,), parent=v0, id=3, dtype=m7.dtype.bfloat16, view=m0.TensorView(shape=(16,), layout="N", transpose=(0,)), attrs={'CrossPassTensor': ""})
v0.markInput(v3)
v5 = m0.Tensor(name="dot_general.1", shape=(4,16), parent=v0, id=4, dtype=m7.dtype.bfloat16, view=m0.TensorView(shape=(4,16), layout="NC", transpose=(0,1)), )
import neuronxcc.starfish.penguin.frontends.XlaFE as m8
v4 = m8.NeuronTensorOp(srcs=[v1, v2], dsts=[v5], xla_op='mhlo.dot', lhs_batching_dims=[], lhs_contract_dims=[1], rhs_batching_dims=[], rhs_contract_dims=[0], id=5, parent=v0, dl=m1.DebugLocation(tensor_op_name="mm_dot.4", file="mlp.py", line=12, column=0, hlo_id=4))
v7 = m0.Tensor(name="broadcast_in_dim.1", shape=(4,16), parent=v0, id=6, dtype=m7.dtype.bfloat16, view=m0.TensorView(shape=(4,16), layout="NC", transpose=(0,1)), )
v6 = m8.NeuronTensorOp(srcs=[v3], dsts=[v7], xla_op='mhlo.broadcast_in_dim', src_shape=(16,), broadcast_dims=(1,), shape=(4,16), id=7, parent=v0, dl=m1.DebugLocation(tensor_op_name="_broadcast.5", file="", line=0, column=0, hlo_id=5))
v9 = m0.Tensor(name="add.1", shape=(4,16), parent=v0, id=8, dtype=m7.dtype.bfloat16, view=m0.TensorView(shape=(4,16), layout="NC", transpose=(0,1)), )
v8 = m8.NeuronTensorOp(srcs=[v5, v7], dsts=[v9], op=np.add, xla_op='mhlo.binary', id=9, parent=v0, dl=m1.DebugLocation(tensor_op_name="_add.6", file="", line=0, column=0, hlo_id=6))
v11 = m0.Tensor(name="output0", shape=(4,16), parent=v0, id=10, dtype=m7.dtype.bfloat16, view=m0.TensorView(shape=(4,16), layout="NC", transpose=(0,1)), )
v10 = m8.NeuronTensorOp(srcs=[v9], dsts=[v11], op=m0.gelu, xla_op='mhlo.unary', id=11, parent=v0, dl=m1.DebugLocation(tensor_op_name="_custom-call.7", file="", line=0, column=0, hlo_id=7))
v0.markOutput(v11)
v0.id=12
ir=v0
'''

ALL_REDUCE = HEAD + '''\
import neuronxcc.starfish.penguin.ir.Dependency as m7
v0 = m0.Function(id_=0, batch_ids=[], attrs=("model-type=memory-bound","mac-count=0",))
def weight_load(p):
  t = np.load(p)
  return t
import neuronxcc.starfish.support as m8
v1 = m0.Tensor(name="input0", shape=(8,), parent=v0, id=1, dtype="float32", view=m0.TensorView(shape=(8,), layout="N", transpose=(0,)), attrs={'CrossPassTensor': ""})
v0.markInput(v1)
v2 = m0.Tensor(name="input1", shape=(8,), parent=v0, id=2, dtype="float32", view=m0.TensorView(shape=(8,), layout="N", transpose=(0,)), attrs={'CrossPassTensor': ""})
v0.markInput(v2)
v4 = m0.Tensor(name="output0", shape=(8,), parent=v0, id=3, dtype="float32", view=m0.TensorView(shape=(8,), layout="N", transpose=(0,)), )
import neuronxcc.starfish.penguin.frontends.XlaFE as m9
v3 = m9.NeuronTensorOp(srcs=[v1], dsts=[v4], op=np.add, xla_op='mhlo.all_reduce', kind='AllReduce', replica_groups=[[0, 1]], dtype="float32", has_token=False, stream_id=0, id=4, parent=v0, dl=m1.DebugLocation(tensor_op_name="_all-reduce.9", file="", line=0, column=0, hlo_id=9))
v6 = m0.Tensor(name="output1", shape=(8,), parent=v0, id=5, dtype="float32", view=m0.TensorView(shape=(8,), layout="N", transpose=(0,)), )
v5 = m9.NeuronTensorOp(srcs=[v2], dsts=[v6], op=np.exp, xla_op='mhlo.unary', id=6, parent=v0, dl=m1.DebugLocation(tensor_op_name="_exponential.10", file="", line=0, column=0, hlo_id=10))
v0.add_dep_edge(m7.DependencyEdge(src=v3, dst=v5, idx_map=[], kind=m7.EdgeKind.ORDERED, predicates=[]))
v0.markOutput(v4)
v0.markOutput(v6)
v0.id=7
ir=v0
'''

REDUCE = '''\
v2 = m0.Tensor(name="constant.1", shape=(2,3), parent=v0, id=2, dtype="float32", view=m0.TensorView(shape=(2,3), layout="NC", transpose=(0,1)), value=weight_load("constant.1.npy"), )
v5 = m0.SingleValueTensor(value=m7.dtype.static_cast(float('-inf'), m7.dtype.float32), name="constant.2", shape=(), parent=v0, id=5, dtype="float32", view=m0.TensorView(shape=(), layout="", transpose=()), )
v7 = m0.Tensor(name="output1", shape=(2,), parent=v0, id=6, dtype="float32", view=m0.TensorView(shape=(2,), layout="N", transpose=(0,)), )
v6 = m8.NeuronTensorOp(srcs=[v4, v5], dsts=[v7], op=np.maximum, xla_op='mhlo.reduce', init_value=float('-inf'), reduce_dims=[1], id=7, parent=v0, dl=m1.DebugLocation(tensor_op_name="_reduce.8", file="", line=0, column=0, hlo_id=8))
v0.aliasTensors("output0", "input0", "must")
'''
