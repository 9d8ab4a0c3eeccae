"""The published example programs, executed."""

import sys

import ml_dtypes
import numpy as np
from scipy.special import erf

from examples import ALL_REDUCE, GELU, HEAD, REDUCE
from hilo.penguin import check, load_text


def test_gelu_of_a_bf16_product():
    function = load_text(GELU)
    assert check.problems(function) == []
    generator = np.random.default_rng(0)
    arrays = [generator.standard_normal(shape).astype(ml_dtypes.bfloat16)
              for shape in ((4, 8), (8, 16), (16,))]
    (out,) = function.run(arrays)
    x, w, b = (a.astype(np.float64) for a in arrays)
    y = (x @ w).astype(ml_dtypes.bfloat16).astype(np.float64) + b
    y = y.astype(ml_dtypes.bfloat16).astype(np.float64)
    expected = y * 0.5 * (1 + erf(y / np.sqrt(2)))
    assert out.dtype == ml_dtypes.bfloat16
    np.testing.assert_allclose(out.astype(np.float64), expected, rtol=2**-7, atol=1e-3)
    raw = [a.view(np.uint16) for a in arrays]
    assert function.run(raw)[0].tobytes() == out.tobytes()
    assert function.inputs[1] in function.parameter_files


def test_all_reduce_with_a_control_edge():
    function = load_text(ALL_REDUCE)
    assert check.problems(function) == []
    assert function.implied_ranks() == 2
    assert [(e.src.id, e.dst.id, e.kind.name) for e in function.edges] == [(4, 6, "ORDERED")]
    a = np.arange(16, dtype=np.float32).reshape(2, 8)
    total, powers = function.run([a, a / 8], ranks=2)
    np.testing.assert_array_equal(total, np.stack([a.sum(0)] * 2))
    np.testing.assert_allclose(powers, np.exp(a / 8), rtol=1e-6)


def test_constants_and_reduce(tmp_path):
    table = np.arange(6, dtype=np.float32).reshape(2, 3)
    np.save(tmp_path / "constant.1.npy", table)
    lines = REDUCE.strip().split("\n")
    view = 'view=m0.TensorView(shape=(2,3), layout="NC", transpose=(0,1)), '
    text = HEAD + "v0 = m0.Function(id_=0, batch_ids=[], attrs=())\n"
    text += "def weight_load(p):\n  t = np.load(p)\n  return t\n"
    text += "import neuronxcc.starfish.support as m7\n"
    text += ('v1 = m0.Tensor(name="input0", shape=(2,), parent=v0, id=1, dtype="float32", '
             'view=m0.TensorView(shape=(2,), layout="N", transpose=(0,)), )\nv0.markInput(v1)\n')
    text += lines[0] + "\n"
    text += f'v4 = m0.Tensor(name="sum.1", shape=(2,3), parent=v0, id=3, dtype="float32", {view})\n'
    text += "import neuronxcc.starfish.penguin.frontends.XlaFE as m8\n"
    text += ("v3 = m8.NeuronTensorOp(srcs=[v2, v2], dsts=[v4], op=np.add, xla_op='mhlo.binary', id=4, "
             'parent=v0, dl=m1.DebugLocation(tensor_op_name="", file="", line=0, column=0, hlo_id=0))\n')
    text += "\n".join(lines[1:4]) + "\n"
    text += lines[4].replace("output0", "output1") + "\nv0.markOutput(v7)\nv0.id=8\nir=v0\n"
    function = load_text(text, str(tmp_path))
    assert check.problems(function) == []
    assert function.aliases == [("output1", "input0", "must")]
    (out,) = function.run([np.zeros(2, np.float32)])
    np.testing.assert_array_equal(out, (table + table).max(1))


def test_loading_leaves_numpy_and_modules_alone():
    modules, attributes = dict(sys.modules), set(dir(np))
    load = np.load
    load_text(GELU)
    assert sys.modules == modules
    assert set(dir(np)) == attributes and np.load is load
    assert not any(name.startswith("neuronxcc") for name in sys.modules)
