"""dot against einsum over float64 and integers, convolution against its definition in loops."""

import itertools

import ml_dtypes
import numpy as np
import pytest

from builder import Program, evaluate


def dot(x, y, out, shape, lists, types=None):
    names = ("lhs_batching_dims", "lhs_contract_dims", "rhs_batching_dims", "rhs_contract_dims")
    return evaluate("mhlo.dot", [x, y], [(shape, out)], dtypes_=types, **dict(zip(names, lists)))


def test_dot_orders_batch_lhs_free_rhs_free():
    generator = np.random.default_rng(0)
    x = generator.standard_normal((2, 3, 4, 5)).astype(np.float32)
    y = generator.standard_normal((5, 2, 6, 3)).astype(np.float32)
    got = dot(x, y, "float32", (2, 4, 6), ([0], [3, 1], [1], [0, 3]))
    np.testing.assert_allclose(got, np.einsum("bijk,kbli->bjl", x, y), rtol=1e-5, atol=1e-5)
    scalar = dot(x[0, 0, 0], x[0, 0, 0], "float32", (), ([], [0], [], [0]))
    np.testing.assert_allclose(scalar, (x[0, 0, 0] ** 2).sum(), rtol=1e-6)


@pytest.mark.parametrize(
    "left, right, out",
    [
        ("int8", "int8", "int32"),
        ("uint8", "int8", "int32"),
        ("int8", "int8", "int8"),
        ("int32", "int32", "int32"),
        ("uint32", "uint32", "uint32"),
        ("int64", "int64", "int64"),
    ],
)
def test_integer_dots_wrap_in_the_result_type(left, right, out):
    generator = np.random.default_rng(1)
    spread = 1 << 30 if "32" in left or "64" in left else 100
    x = generator.integers(0 if left[0] == "u" else -spread, spread, (3, 50)).astype(left)
    y = generator.integers(-spread if right[0] == "i" else 0, spread, (50, 4)).astype(right)
    got = dot(x, y, out, (3, 4), ([], [1], [], [0]))
    exact = x.astype(object) @ y.astype(object)
    bits = np.iinfo(out).bits
    wrapped = np.vectorize(lambda v: v % (1 << bits), otypes=[object])(exact).astype(f"uint{bits}")
    np.testing.assert_array_equal(got, wrapped.view(out) if out[0] == "i" else wrapped)


@pytest.mark.parametrize(
    "left, right, out",
    [
        ("bfloat16", "bfloat16", "bfloat16"),
        ("bfloat16", "bfloat16", "float32"),
        ("float16", "float16", "float16"),
        ("float8_e4m3fn", "float8_e4m3fn", "float32"),
        ("float8_e5m2", "float8_e4m3fn", "float32"),
        ("int8", "int8", "float32"),
    ],
)
def test_narrow_dots_convert_first_and_round_once(left, right, out):
    types = [np.dtype(getattr(ml_dtypes, n, None) or n) for n in (left, right, out)]
    generator = np.random.default_rng(2)
    x = (generator.standard_normal((4, 300)) * 3).astype(types[0])
    y = (generator.standard_normal((300, 2)) * 3).astype(types[1])
    got = dot(x, y, out, (4, 2), ([], [1], [], [0]), types=[left, right])
    exact = x.astype(np.float64) @ y.astype(np.float64)
    assert got.dtype == types[2]
    rtol = {"bfloat16": 2**-8, "float16": 2**-11}.get(out, 1e-5)
    np.testing.assert_allclose(got.astype(np.float64), exact, rtol=rtol * 1.01, atol=1e-2)


def test_pred_dot_is_or_of_ands():
    x, y = np.array([[1, 0], [0, 0], [1, 1]], bool), np.array([[1, 0], [1, 0]], bool)
    got = dot(x, y, "bool", (3, 2), ([], [1], [], [0]))
    np.testing.assert_array_equal(got, [[True, False], [False, False], [True, False]])


def convolution_reference(
    x, kernel, stride, padding, lhs_dilation, rhs_dilation, groups, batch_groups, extents
):
    """N C spatial by O I spatial, one product at a time."""
    space = len(stride)
    outputs, inputs = kernel.shape[:2]
    batch = x.shape[0] // batch_groups
    result = np.zeros((batch, outputs, *extents))
    for place in itertools.product(*map(range, result.shape)):
        n, o, at = place[0], place[1], place[2:]
        group = o // (outputs // groups)
        source = n + batch * (o // (outputs // batch_groups))
        for i in range(inputs):
            for offset in itertools.product(*map(range, kernel.shape[2:])):
                where = [
                    at[d] * stride[d] + offset[d] * rhs_dilation[d] - padding[2 * d]
                    for d in range(space)
                ]
                if any(
                    w < 0 or w % dil or w // dil >= size
                    for w, dil, size in zip(where, lhs_dilation, x.shape[2:])
                ):
                    continue
                inner = tuple(w // dil for w, dil in zip(where, lhs_dilation))
                result[place] += x[(source, group * inputs + i, *inner)] * kernel[(o, i, *offset)]
    return result


CONVOLUTIONS = [
    # input, kernel, stride, padding, lhs dilation, rhs dilation, reversal, feature, batch groups
    ((2, 3, 7), (4, 3, 3), (2,), (1, 2), (1,), (1,), (False,), 1, 1),
    ((1, 2, 6, 5), (3, 2, 3, 2), (1, 2), (2, -1, 0, 1), (1, 1), (2, 1), (True, False), 1, 1),
    ((2, 4, 5, 5), (6, 2, 2, 3), (1, 1), (1, 1, 0, 2), (2, 1), (1, 1), (False, True), 2, 1),
    ((1, 4, 6, 6), (8, 1, 3, 3), (1, 1), (1, 1, 1, 1), (1, 1), (1, 1), (False, False), 4, 1),
    ((4, 3, 5), (4, 3, 2), (1,), (0, 0), (1,), (2,), (True,), 1, 2),
    (
        (1, 2, 3, 4, 3),
        (2, 2, 2, 2, 2),
        (1, 1, 2),
        (1, 0, 0, 1, -1, 1),
        (1, 2, 2),
        (1, 1, 1),
        (False, True, False),
        1,
        1,
    ),
]


@pytest.mark.parametrize("case", CONVOLUTIONS)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32"])
def test_convolution(case, dtype):
    shape, kernel_shape, stride, padding, base, dilation, reversal, groups, batch_groups = case
    generator = np.random.default_rng(7)
    space = len(stride)
    x, kernel = (generator.integers(-3, 4, s) for s in (shape, kernel_shape))
    extents = [
        ((n - 1) * b + 1 + padding[2 * d] + padding[2 * d + 1] - ((k - 1) * r + 1)) // s + 1
        for d, (n, k, s, b, r) in enumerate(
            zip(shape[2:], kernel_shape[2:], stride, base, dilation)
        )
    ]
    flipped = np.flip(kernel, [2 + d for d in range(space) if reversal[d]])
    expected = convolution_reference(
        x, flipped, stride, padding, base, dilation, groups, batch_groups, extents
    )
    perms = [tuple(generator.permutation(space + 2).tolist()) for _ in range(3)]
    placed = [np.asarray(a).transpose(np.argsort(p)) for a, p in zip((x, kernel, expected), perms)]
    p = Program()
    a, k = p.input(placed[0].shape, dtype), p.input(placed[1].shape, dtype)
    p.output(
        p.op(
            "mhlo.convolution",
            [a, k],
            [(placed[2].shape, dtype)],
            in_perm=perms[0],
            kern_perm=perms[1],
            out_perm=perms[2],
            stride=stride,
            padding=padding,
            lhs_dilation=base,
            rhs_dilation=dilation,
            rhs_reversal=reversal,
            feature_group_count=groups,
            batch_group_count=batch_groups,
        )
    )
    numpy_type = getattr(ml_dtypes, dtype, None) or np.dtype(dtype)
    (got,) = p.run([placed[0].astype(numpy_type), placed[1].astype(numpy_type)])
    np.testing.assert_array_equal(
        got.astype(np.float64), placed[2].astype(numpy_type).astype(np.float64)
    )
