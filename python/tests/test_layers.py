"""Norms, softmax, their gradients (by finite differences), resizing, block-scaled formats."""

import ml_dtypes
import numpy as np
import pytest

from builder import Program, evaluate

GENERATOR = np.random.default_rng(8)
X = GENERATOR.standard_normal((2, 3, 4)).astype(np.float32)
EPSILON = 1e-3


def gradient(function, x, weight):
    """d sum(weight * function(x)) / dx, by central differences in float64."""
    x = x.astype(np.float64)
    result = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = 1e-5
        difference = function(x + step) - function(x - step)
        result[place] = (weight * difference).sum() / 2e-5
    return result


def batch_norm(x, scale, offset):
    mean, variance = x.mean((0, 2), keepdims=True), x.var((0, 2), keepdims=True)
    normal = (x - mean) / np.sqrt(variance + EPSILON)
    return normal * scale[:, None] + offset[:, None]


def test_batch_norms():
    scale, offset = (GENERATOR.standard_normal(3).astype(np.float32) for _ in range(2))
    mean, variance = X.mean((0, 2)), X.var((0, 2))
    keywords = {"epsilon": EPSILON, "feature_index": 1}
    full, vector = (X.shape, "float32"), ((3,), "float32")
    out, got_mean, got_variance = evaluate(
        "mhlo.batch_norm_training", [X, scale, offset], [full, vector, vector], **keywords
    )
    np.testing.assert_allclose(out, batch_norm(X, scale, offset), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(got_mean, mean, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(got_variance, variance, rtol=1e-5)
    got = evaluate(
        "mhlo.batch_norm_inference", [X, scale, offset, mean, variance], [full], **keywords
    )
    np.testing.assert_allclose(got, batch_norm(X, scale, offset), rtol=1e-4, atol=1e-5)
    grad = GENERATOR.standard_normal(X.shape).astype(np.float32)
    dx, dscale, doffset = evaluate(
        "mhlo.batch_norm_grad", [X, scale, mean, variance, grad], [full, vector, vector], **keywords
    )
    wide = scale.astype(np.float64), offset.astype(np.float64)
    np.testing.assert_allclose(
        dx, gradient(lambda v: batch_norm(v, *wide), X, grad), rtol=1e-3, atol=1e-4
    )
    np.testing.assert_allclose(
        dscale,
        gradient(lambda v: batch_norm(X.astype(np.float64), v, wide[1]), scale, grad),
        rtol=1e-3,
        atol=1e-4,
    )
    np.testing.assert_allclose(doffset, grad.sum((0, 2)), rtol=1e-4, atol=1e-5)


def rms(x, weight):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON) * weight


@pytest.mark.parametrize("dtype, rtol", [("float32", 1e-5), ("bfloat16", 2**-7)])
def test_rms_norm_and_its_gradient(dtype, rtol):
    numpy_type = getattr(ml_dtypes, dtype, None) or np.dtype(dtype)
    x, weight = X.astype(numpy_type), GENERATOR.standard_normal(4).astype(numpy_type)
    keywords = {"epsilon": EPSILON, "reduce_dims": [2]}
    got = evaluate(
        "mhlo.rms_norm",
        [x, weight, np.float32(EPSILON)],
        [(x.shape, dtype)],
        src_shapes=[x.shape, weight.shape, ()],
        **keywords,
    )
    wide = [a.astype(np.float64) for a in (x, weight)]
    np.testing.assert_allclose(got.astype(np.float64), rms(*wide), rtol=rtol, atol=1e-6)
    grad = GENERATOR.standard_normal(x.shape).astype(numpy_type)
    dx, dweight = evaluate(
        "mhlo.rms_norm_backward",
        [grad, x, weight, np.float32(EPSILON)],
        [(x.shape, dtype), (weight.shape, dtype)],
        **keywords,
    )
    g = grad.astype(np.float64)
    np.testing.assert_allclose(
        dx.astype(np.float64),
        gradient(lambda v: rms(v, wide[1]), wide[0], g),
        rtol=rtol * 100,
        atol=2e-2 if dtype != "float32" else 1e-4,
    )
    np.testing.assert_allclose(
        dweight.astype(np.float64),
        gradient(lambda v: rms(wide[0], v), wide[1], g),
        rtol=rtol * 100,
        atol=1e-4,
    )


def softmax(x):
    powers = np.exp(x - x.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def test_softmax_and_its_gradient():
    got = evaluate("mhlo.softmax", [X * 50], [(X.shape, "float32")], reduce_dims=[1])
    np.testing.assert_allclose(got, softmax(X.astype(np.float64) * 50), rtol=1e-4, atol=1e-6)
    y, grad = softmax(X), GENERATOR.standard_normal(X.shape).astype(np.float32)
    got = evaluate("mhlo.softmax_backward", [y, grad], [(X.shape, "float32")], reduce_dims=[1])
    np.testing.assert_allclose(got, gradient(softmax, X, grad), rtol=1e-3, atol=1e-5)


def test_resize_nearest():
    x = np.arange(8, dtype=np.float32).reshape(1, 2, 4, 1)
    got = evaluate(
        "mhlo.resize_nearest",
        [x],
        [((1, 4, 6, 1), "float32")],
        shape=(4, 6),
        dtype="float32",
        kernel_name="ResizeNearest",
        kernel_config={},
    )
    np.testing.assert_array_equal(
        got[0, :, :, 0], x[0, :, :, 0][[0, 0, 1, 1]][:, [0, 0, 1, 2, 2, 3]]
    )


@pytest.mark.parametrize(
    "corners, half, places",
    [
        (True, False, [0, 2 / 3, 4 / 3, 2]),
        (False, False, [0, 0.75, 1.5, 2]),
        (False, True, [0, 0.625, 1.375, 2]),
    ],
)
def test_resize_bilinear(corners, half, places):
    x = np.array([10, 20, 40], np.float32)
    got = evaluate(
        "mhlo.resize_bilinear",
        [x.reshape(1, 3)],
        [((1, 4), "float32")],
        align_corners=corners,
        half_pixel_centers=half,
    )
    np.testing.assert_allclose(got[0], np.interp(places, [0, 1, 2], x), rtol=1e-6)


def quantize(x, dim, name="float8_e4m3fn", packed="_x4"):
    def along(n):
        return x.shape[:dim] + (n,) + x.shape[dim + 1 :]

    p = Program()
    a = p.input(x.shape, x.dtype.name)
    data, scale = p.special(
        f"{p.alias('intrinsics')}.QuantizeMXTensorOp",
        [a],
        [(along(x.shape[dim] // 4), name + packed), (along(x.shape[dim] // 32), "float8_e8m0fnu")],
        mx_dtype=name,
        dim=dim,
        block_size=32,
        scale_method="EMAX",
        target_name="QuantizeMX",
    )
    p.output(data, scale)
    return p.run([x])


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2"])
def test_quantize_mx(dim, name):
    x = (GENERATOR.standard_normal((64, 64)) * 2.0 ** GENERATOR.integers(-20, 20, (64, 1))).astype(
        ml_dtypes.bfloat16
    )
    data, scale = quantize(x, dim, name)
    lines = np.moveaxis(data, dim, -1).copy().view(getattr(ml_dtypes, name)).astype(np.float64)
    factor = np.repeat(np.moveaxis(scale, dim, -1).astype(np.float64), 32, axis=-1)
    wide = np.moveaxis(x.astype(np.float64), dim, -1)
    largest = np.abs(wide.reshape(64, 2, 32)).max(-1)
    emax = {"float8_e4m3fn": 8, "float8_e5m2": 15}[name]
    expected_scale = 2.0 ** (np.floor(np.log2(largest)) - emax)
    np.testing.assert_array_equal(factor[:, ::32], expected_scale)
    # half a unit of the last place, an eighth where the largest value saturates
    error = np.abs(lines * factor - wide)
    assert (error <= np.repeat(largest, 32, axis=-1) / 8).all()


def test_scaled_dot_unpacks_and_scales():
    x = GENERATOR.standard_normal((4, 64)).astype(ml_dtypes.bfloat16)
    y = GENERATOR.standard_normal((3, 64)).astype(ml_dtypes.bfloat16)
    (qx, sx), (qy, sy) = quantize(x, 1), quantize(y, 1)
    operands = [qx, qy, sx, sy]
    p = Program()
    srcs = [
        p.input(a.shape, t)
        for a, t in zip(operands, ["float8_e4m3fn_x4"] * 2 + ["float8_e8m0fnu"] * 2)
    ]
    p.output(
        p.op(
            "mhlo.scaled_dot",
            srcs,
            [((4, 3), "float32")],
            lhs_batching_dims=[],
            lhs_contract_dims=[1],
            rhs_batching_dims=[],
            rhs_contract_dims=[1],
            element_dtype="float8_e4m3fn",
        )
    )
    (got,) = p.run(operands)

    def wide(q, s):
        return q.copy().view(ml_dtypes.float8_e4m3fn).astype(np.float64) * np.repeat(
            s.astype(np.float64), 32, axis=1
        )

    np.testing.assert_allclose(got, wide(qx, sx) @ wide(qy, sy).T, rtol=1e-5, atol=1e-5)
