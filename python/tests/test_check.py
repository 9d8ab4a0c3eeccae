"""The structure checks: a correct program passes, each mutation of its text is named."""

import numpy as np
import pytest

from builder import Program, Ref
from hilo.penguin import check, load_text


def correct():
    p = Program(control=True)
    a, b = p.input((4, 8)), p.input((8, 2))
    c = p.op(
        "mhlo.dot",
        [a, b],
        [((4, 2), "float32")],
        lhs_batching_dims=[],
        lhs_contract_dims=[1],
        rhs_batching_dims=[],
        rhs_contract_dims=[0],
    )
    d = p.op("mhlo.unary", [c], [((4, 2), "float32")], fn="np.exp")
    p.edge(c, d)
    e = p.op("mhlo.binary", [c, d], [((4, 2), "bool")], fn="np.less")
    p.output(d, e)
    return p.text()


def problems(text):
    return list(check.problems(load_text(text)))


def test_a_correct_program_has_no_problems():
    assert problems(correct()) == []


MUTATIONS = [
    ("id=2, dtype", "id=1, dtype", "id 1, expected more than 1"),
    ('name="input1"', 'name="input0"', "tensor `input0` is declared twice"),
    ("v0.id=9", "v0.id=12", "ends with id 12, expected 9"),
    ('layout="NC", transpose=(0,1)), attrs', 'layout="N", transpose=(0,1)), attrs', 'layout "N"'),
    ('layout="NC", transpose=(0,1)), attrs', 'layout="NC", transpose=(1,0)), attrs', "permutation"),
    ("view=m0.TensorView(shape=(8,2)", "view=m0.TensorView(shape=(2,8)", "view of shape (2, 8)"),
    ("lhs_contract_dims=[1]", "lhs_contract_dims=[0]", "contracting sizes differ: [4] and [8]"),
    ("lhs_contract_dims=[1]", "lhs_contract_dims=[2]", "out of range for rank 2"),
    ("rhs_batching_dims=[], ", "", "lacks the keyword `rhs_batching_dims`"),
    (
        "rhs_batching_dims=[], ",
        "rhs_batching_dims=[], precision=1, ",
        "unknown keyword `precision`",
    ),
    ("op=np.exp", "op=np.sort", "unknown function `sort`"),
    ("op=np.exp, ", "", "has no `op`"),
    ("xla_op='mhlo.unary'", "xla_op='mhlo.unray'", "unknown tag"),
    (
        'shape=(4,2), parent=v0, id=5, dtype="float32", view=m0.TensorView(shape=(4,2)',
        'shape=(2,4), parent=v0, id=5, dtype="float32", view=m0.TensorView(shape=(2,4)',
        "shape (2, 4), expected (4, 2)",
    ),
    ('dtype="bool"', 'dtype="float32"', "as float32, expected bool"),
    ("srcs=[v4, v6]", "srcs=[v4, v2]", "mixes shapes (4, 2) and (8, 2)"),
    (
        "srcs=[v4], dsts=[v6]",
        "srcs=[v6], dsts=[v6]",
        "reads `value.2`, which is not written before",
    ),
    ("srcs=[v4], dsts=[v6]", "srcs=[v4], dsts=[v4]", "writes `value.1` a second time"),
    ("srcs=[v4], dsts=[v6]", "srcs=[v4], dsts=[v1]", "writes `input0`, which is an input"),
    ("v0.markOutput(v6)\nv0.markOutput(v8)\n", "", "no output is marked"),
    ("v0.markOutput(v8)", "v0.markOutput(v6)", "marked as an output twice"),
    ("src=v3, dst=v5", "src=v5, dst=v3", "which stands earlier"),
    ("src=v3, dst=v5", "src=v4, dst=v5", "no operation of the Function"),
    ("m7.EdgeKind.ORDERED", "3", "expected an EdgeKind"),
    ("v0.id=9", 'v0.aliasTensors("value.2", "input9", "must")\nv0.id=9', "`input9` is no input"),
    ("v0.id=9", 'v0.aliasTensors("value.2", "input0", "must")\nv0.id=9', "32 bytes share 128"),
    ("v0.id=9", 'v0.aliasTensors("value.1", "input0", "must")\nv0.id=9', "`value.1` is no output"),
    ("v0.id=9", 'v0.aliasTensors("value.2", "input0", "shall")\nv0.id=9', 'kind "shall"'),
    ("column=0, hlo_id=4)", "column=0, hlo_id=4, parent=v0)", "parent is no fusion header"),
    (
        'dl=m1.DebugLocation(tensor_op_name="_t.4", file="", line=0, column=0, hlo_id=4)',
        "dl=None",
        "has no DebugLocation",
    ),
]


@pytest.mark.parametrize("old, new, message", MUTATIONS)
def test_mutations_are_named(old, new, message):
    text = correct()
    assert old in text, old
    found = problems(text.replace(old, new, 1))
    assert any(message in line for line in found), found
    assert all("\n" not in line for line in found)


def test_a_tensor_that_nothing_writes_is_named():
    p = Program()
    p.output(p.input((1,)))
    p.tensor("stray", (2,), "float32")
    assert problems(p.text()) == ["tensor `stray` is never written"]


def test_a_fusion_result_that_the_body_forgets_is_named():
    p = Program()
    a = p.input((2,))
    (y,), _ = p.fusion([a], [((2,), "float32")], "Elementwise", "Elementwise")
    p.output(y)
    assert any("its body does not write" in line for line in problems(p.text()))


def rejected(tag, srcs, results, message, fn=None, **keywords):
    p = Program()
    made = p.op(tag, [p.input(*src) for src in srcs], results, fn=fn, **keywords)
    p.output(*(made if isinstance(made, list) else [made]))
    found = problems(p.text())
    assert any(message in line for line in found), found


F = "float32"
WINDOW = {"window_shape": (2,), "stride": (1,), "padding": (0, 0)}
GATHER = {
    "offset_dims": (1,),
    "collapsed_slice_dims": (0,),
    "start_index_map": (0,),
    "index_vector_dim": 1,
    "slice_sizes": (1, 3),
}
CONVOLUTION = {
    "in_perm": (0, 1, 2),
    "kern_perm": (0, 1, 2),
    "out_perm": (0, 1, 2),
    "stride": (1,),
    "padding": (0, 0),
    "lhs_dilation": (1,),
    "rhs_dilation": (1,),
    "rhs_reversal": (False,),
    "feature_group_count": 1,
    "batch_group_count": 1,
}
GROUPS = {"replica_groups": [[0, 1]]}


@pytest.mark.parametrize(
    "tag, srcs, results, message, keywords",
    [
        (
            "mhlo.binary",
            [((2,), F), ((2,), "int32")],
            [((2,), F)],
            "mixes float32 and int32",
            {"fn": "np.add"},
        ),
        (
            "mhlo.binary",
            [((2,), F)] * 2,
            [((2,), F)],
            "not defined for float32",
            {"fn": "np.bitwise_and"},
        ),
        (
            "mhlo.unary",
            [((2,), "int32")],
            [((2,), "int32")],
            "not defined for int32",
            {"fn": "np.exp"},
        ),
        ("mhlo.ternary", [((2,), F)] * 3, [((2,), F)], "expected bool", {"fn": "np.select"}),
        (
            "mhlo.transpose",
            [((2, 3), F)],
            [((3, 2), F)],
            "no permutation of 2",
            {"permutation": (1, 1)},
        ),
        (
            "mhlo.broadcast_in_dim",
            [((2,), F)],
            [((3,), F)],
            "broadcasts a dimension of 2",
            {"broadcast_dims": (0,), "shape": (3,)},
        ),
        (
            "mhlo.slice",
            [((4,), F)],
            [((2,), F)],
            "does not fit a dimension of 4",
            {"start_indices": (3,), "limit_indices": (5,), "strides": (1,)},
        ),
        (
            "mhlo.concatenate",
            [((2, 2), F), ((2, 3), F)],
            [((4, 2), F)],
            "concatenates shapes",
            {"dimension": 0},
        ),
        ("mhlo.reverse", [((2,), F)], [((2,), F)], "out of range", {"dimensions": (1,)}),
        (
            "mhlo.pad",
            [((2,), F), ((1,), F)],
            [((3,), F)],
            "expected ()",
            {"edge_padding_low": (1,), "edge_padding_high": (0,), "interior_padding": (0,)},
        ),
        (
            "mhlo.convert",
            [((2,), F)],
            [((2,), "int32")],
            "`dtype` is int8, expected int32",
            {"dtype": "int8"},
        ),
        (
            "mhlo.iota",
            [],
            [((2,), "int32")],
            "out of range",
            {"iota_dim": 1, "shape": (2,), "dtype": "int32", "fn": "m0.iota"},
        ),
        (
            "mhlo.gather",
            [((4, 3), F), ((2, 2), "int32")],
            [((2, 3), F)],
            "has 1 entries, expected 2",
            GATHER,
        ),
        (
            "mhlo.gather",
            [((4, 3), F), ((2, 1), F)],
            [((2, 3), F)],
            "expected an integer type",
            GATHER,
        ),
        ("mhlo.gather", [((4, 2), F), ((2, 1), "int32")], [((2, 3), F)], "does not fit", GATHER),
        (
            "mhlo.dynamic_slice",
            [((4,), F)],
            [((2,), F)],
            "number of start indices",
            {"slice_sizes": (2,)},
        ),
        (
            "mhlo.dynamic_update_slice",
            [((2,), F), ((3,), F), ((), "int32")],
            [((2,), F)],
            "does not fit",
            {},
        ),
        (
            "mhlo.convolution",
            [((1, 2, 5), F), ((3, 3, 2), F)],
            [((1, 3, 4), F)],
            "input features of the kernel",
            CONVOLUTION,
        ),
        (
            "mhlo.convolution",
            [((1, 2, 5), F), ((3, 2, 2), F)],
            [((1, 3, 5), F)],
            "expected (1, 3, 4)",
            CONVOLUTION,
        ),
        (
            "mhlo.reduce",
            [((2,), F), ((), F)],
            [((), F)],
            "is no reduction",
            {"fn": "np.subtract", "reduce_dims": [0]},
        ),
        (
            "mhlo.reduce",
            [((2,), F), ((), "int32")],
            [((), F)],
            "type of the initial value",
            {"fn": "np.add", "reduce_dims": [0]},
        ),
        (
            "mhlo.reduce_window",
            [((4,), F)],
            [((4,), F)],
            "expected (3,)",
            {"fn": "np.add", **WINDOW},
        ),
        (
            "mhlo.select_and_scatter",
            [((4,), F), ((2,), F), ((), F)],
            [((4,), F)],
            "shape of the source",
            {"fn": "np.add", "select_op": Ref("np.greater_equal"), **WINDOW},
        ),
        (
            "mhlo.scatter",
            [((4, 3), F), ((2, 1), "int32"), ((2, 4), F)],
            [((4, 3), F)],
            "does not fit",
            {
                "fn": "np.add",
                "index_vector_dim": 1,
                "update_window_dims": [1],
                "inserted_window_dims": [0],
                "scatter_dims_to_operand_dims": [0],
                "update_scatter_dims": [0],
            },
        ),
        (
            "mhlo.sort",
            [((4,), F)],
            [((4,), F)],
            "expected lt, le, gt or ge",
            {"dimension": 0, "comparison_dir": "eq"},
        ),
        ("mhlo.top_k", [((4,), F)], [((5,), F), ((5,), "int32")], "`k` is 5", {"k": 5, "axis": 0}),
        (
            "mhlo.rng_bit_generator",
            [((3,), "uint32")],
            [((3,), "uint32"), ((2,), "uint32")],
            "state is",
            {"rng_algorithm": "DEFAULT"},
        ),
        (
            "mhlo.all_gather",
            [((2,), F)],
            [((2,), F)],
            "expected (4,)",
            {"all_gather_dim": 0, **GROUPS},
        ),
        (
            "mhlo.reduce_scatter",
            [((3,), F)],
            [((1,), F)],
            "does not split into 2",
            {"fn": "np.add", "reduce_scatter_dim": 0, **GROUPS},
        ),
        (
            "mhlo.all_to_all",
            [((4,), F)],
            [((4,), F)],
            "`split_count` is 4, groups have 2",
            {"split_dimension": 0, "concat_dimension": 0, "split_count": 4, **GROUPS},
        ),
        (
            "mhlo.collective_permute",
            [((4,), F)],
            [((4,), F)],
            "a target occurs twice",
            {"replica_groups": [[0, 1], [2, 1]]},
        ),
        (
            "mhlo.all_reduce",
            [((4,), F)],
            [((4,), F)],
            "`kind` is AllGather",
            {"fn": "np.add", "kind": "AllGather", **GROUPS},
        ),
        (
            "mhlo.batch_norm_training",
            [((2, 3), F), ((2,), F), ((3,), F)],
            [((2, 3), F), ((3,), F), ((3,), F)],
            "shape of `input1`",
            {"epsilon": 0.1, "feature_index": 1},
        ),
        (
            "mhlo.rms_norm",
            [((2, 3), F), ((2,), F), ((), F)],
            [((2, 3), F)],
            "weight has 2 elements",
            {"epsilon": 0.1, "reduce_dims": [1]},
        ),
        ("mhlo.softmax", [((2,), F)], [((2,), F)], "out of range", {"reduce_dims": [1]}),
    ],
)
def test_rules_of_the_operations(tag, srcs, results, message, keywords):
    rejected(tag, srcs, results, message, **keywords)


def test_a_constant_is_checked_without_running(tmp_path):
    p = Program(str(tmp_path))
    p.output(
        p.offloaded("OffloadedMemCpy", p.constant(np.zeros(3, np.int32), "int32"), (3,), "int32")
    )
    np.save(tmp_path / "constant.1.npy", np.zeros(4, np.int32))
    found = check.problems(load_text(p.text(), str(tmp_path)))
    assert any("holds an array of shape (4,)" in line for line in found)
