"""Data movement against numpy, gather, scatter and the dynamic slices against plain loops."""

import itertools

import ml_dtypes
import numpy as np
import pytest

from builder import Program, Ref, evaluate

X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)


def test_copies_reshape():
    for kind in ("OffloadedMemCpy", None):
        p = Program()
        a = p.input((2, 3, 4))
        y = (
            p.offloaded(kind, a, (6, 4), "float32")
            if kind
            else p.op("mhlo.reshape", [a], [((6, 4), "float32")], shape=(6, 4))
        )
        p.output(y)
        np.testing.assert_array_equal(p.run([X])[0], X.reshape(6, 4))


def test_transpose_result_dim_is_the_permuted_source_dim():
    got = evaluate(
        "mhlo.transpose", [X], [((4, 2, 3), "float32")], src_shape=(2, 3, 4), permutation=(2, 0, 1)
    )
    np.testing.assert_array_equal(got, X.transpose(2, 0, 1))


def test_broadcast_in_dim_places_and_stretches():
    row = np.array([[1.0], [2.0], [3.0]], np.float32)
    got = evaluate(
        "mhlo.broadcast_in_dim",
        [row],
        [((3, 2, 4), "float32")],
        src_shape=(3, 1),
        broadcast_dims=(0, 2),
        shape=(3, 2, 4),
    )
    np.testing.assert_array_equal(got, np.broadcast_to(row[:, :, None], (3, 2, 4)))
    swapped = evaluate(
        "mhlo.broadcast_in_dim",
        [X[0]],
        [((4, 3), "float32")],
        src_shape=(3, 4),
        broadcast_dims=(1, 0),
        shape=(4, 3),
    )
    np.testing.assert_array_equal(swapped, X[0].T)
    scalar = evaluate(
        "mhlo.broadcast_in_dim",
        [np.float32(7)],
        [((2, 2), "float32")],
        src_shape=(),
        broadcast_dims=(),
        shape=(2, 2),
    )
    np.testing.assert_array_equal(scalar, np.full((2, 2), 7))


def test_slice_concatenate_reverse():
    got = evaluate(
        "mhlo.slice",
        [X],
        [((1, 2, 2), "float32")],
        src_shape=(2, 3, 4),
        start_indices=(1, 0, 1),
        limit_indices=(2, 3, 4),
        strides=(1, 2, 2),
    )
    np.testing.assert_array_equal(got, X[1:2, 0:3:2, 1:4:2])
    got = evaluate("mhlo.concatenate", [X, X[:, :1]], [((2, 4, 4), "float32")], dimension=1)
    np.testing.assert_array_equal(got, np.concatenate([X, X[:, :1]], 1))
    got = evaluate("mhlo.reverse", [X], [(X.shape, "float32")], dimensions=(0, 2))
    np.testing.assert_array_equal(got, X[::-1, :, ::-1])


def pad_reference(x, value, low, high, inner):
    n = len(x) + max(len(x) - 1, 0) * inner
    line = [value] * n
    line[:: inner + 1] = list(x)
    line = [value] * max(low, 0) + line[max(-low, 0) :]
    return line[: len(line) + high] if high < 0 else line + [value] * high


@pytest.mark.parametrize("low", [-4, -1, 0, 2])
@pytest.mark.parametrize("high", [-3, 0, 1])
@pytest.mark.parametrize("inner", [0, 1, 2])
def test_pad_with_negative_edges_and_gaps(low, high, inner):
    x = np.arange(1, 9, dtype=np.int32)
    expected = pad_reference(x, 9, low, high, inner)
    got = evaluate(
        "mhlo.pad",
        [x, np.int32(9)],
        [((len(expected),), "int32")],
        edge_padding_low=(low,),
        edge_padding_high=(high,),
        interior_padding=(inner,),
    )
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("start", [(-5, 1), (0, 0), (2, 9), (2**31 - 1, -(2**31))])
def test_dynamic_slices_clamp_their_start(start):
    x = np.arange(20, dtype=np.float32).reshape(4, 5)
    r, c = min(max(start[0], 0), 2), min(max(start[1], 0), 2)
    starts = [np.int32(start[0]), np.int32(start[1])]
    got = evaluate("mhlo.dynamic_slice", [x, *starts], [((2, 3), "float32")], slice_sizes=(2, 3))
    np.testing.assert_array_equal(got, x[r : r + 2, c : c + 3])
    update = -np.ones((2, 3), np.float32)
    got = evaluate("mhlo.dynamic_update_slice", [x, update, *starts], [((4, 5), "float32")])
    x[r : r + 2, c : c + 3] = update
    np.testing.assert_array_equal(got, x)


def gather_reference(
    x, indices, offset_dims, collapsed, batching, index_batching, index_map, ivd, sizes, shape
):
    """The definition, one result element at a time."""
    result = np.zeros(shape, x.dtype)
    batch_axes = [d for d in range(len(shape)) if d not in offset_dims]
    window_dims = [d for d in range(x.ndim) if d not in collapsed and d not in batching]
    for place in itertools.product(*map(range, shape)):
        batch = [place[d] for d in batch_axes]
        full = [0] * x.ndim
        for i, d in enumerate(index_map):
            at = batch[:ivd] + [i] + batch[ivd:] if ivd < indices.ndim else batch
            full[d] = min(max(int(indices[tuple(at)]), 0), x.shape[d] - sizes[d])
        for d, b in zip(batching, index_batching):
            full[d] = batch[b - (b > ivd)]
        for d, axis in zip(window_dims, offset_dims):
            full[d] += place[axis]
        result[place] = x[tuple(full)]
    return result


GATHERS = [
    # operand, indices, offset, collapsed, batching, index batching, map, vector dim, sizes, result
    ((5, 4), (3,), (1,), (0,), (), (), (0,), 1, (1, 4), (3, 4)),
    ((5, 4), (3, 2), (), (0, 1), (), (), (1, 0), 1, (1, 1), (3,)),
    ((5, 4, 3), (2, 2, 2), (0, 2), (1,), (), (), (0, 1), 1, (2, 1, 2), (2, 2, 2, 2)),
    ((3, 5, 4), (3, 2, 1), (2,), (1,), (0,), (0,), (1,), 2, (1, 1, 4), (3, 2, 4)),
    ((4, 3, 5), (2, 3), (0,), (2,), (1,), (1,), (2,), 2, (4, 1, 1), (4, 2, 3)),
    ((6,), (), (0,), (), (), (), (0,), 0, (3,), (3,)),
]


@pytest.mark.parametrize("case", GATHERS)
@pytest.mark.parametrize("index_type", ["int32", "uint32", "int64", "uint64"])
def test_gather(case, index_type):
    shape, index_shape, offset, collapsed, batching, index_batching, index_map, ivd, sizes, out = (
        case
    )
    generator = np.random.default_rng(5)
    x = generator.standard_normal(shape).astype(np.float32)
    indices = np.asarray(generator.integers(-3, 9, index_shape)).astype(index_type)
    got = evaluate(
        "mhlo.gather",
        [x, indices],
        [(out, "float32")],
        offset_dims=offset,
        collapsed_slice_dims=collapsed,
        operand_batching_dims=batching,
        start_indices_batching_dims=index_batching,
        start_index_map=index_map,
        index_vector_dim=ivd,
        slice_sizes=sizes,
        indices_are_sorted=False,
    )
    expected = gather_reference(
        x, indices, offset, collapsed, batching, index_batching, index_map, ivd, sizes, out
    )
    np.testing.assert_array_equal(got, expected)


def scatter_reference(
    x, indices, updates, window, inserted, batching, index_batching, index_map, ivd, combine
):
    result = x.astype(np.float64)
    scatter_axes = [d for d in range(updates.ndim) if d not in window]
    window_dims = [d for d in range(x.ndim) if d not in inserted and d not in batching]
    for place in itertools.product(*map(range, updates.shape)):
        batch = [place[d] for d in scatter_axes]
        base = [0] * x.ndim
        for i, d in enumerate(index_map):
            at = batch[:ivd] + [i] + batch[ivd:] if ivd < indices.ndim else batch
            base[d] = int(indices[tuple(at)])
        for d, b in zip(batching, index_batching):
            base[d] = batch[b - (b > ivd)]
        sizes = dict(zip(window_dims, (updates.shape[a] for a in window)))
        if any(not 0 <= base[d] <= x.shape[d] - sizes.get(d, 1) for d in range(x.ndim)):
            continue
        for d, axis in zip(window_dims, window):
            base[d] += place[axis]
        result[tuple(base)] = combine(result[tuple(base)], updates[place])
    return result


SCATTERS = [
    # operand, indices, updates, window, inserted, batching, index batching, map, index vector dim
    ((5, 4), (3, 1), (3, 4), [1], [0], [], [], [0], 1),
    ((5, 4), (6, 2), (6,), [], [0, 1], [], [], [1, 0], 1),
    ((5, 4), (3,), (2, 3, 3), [0, 2], [], [], [], [0], 1),
    ((3, 5, 4), (3, 2, 1), (3, 2, 4), [2], [1], [0], [0], [1], 2),
]
COMBINERS = {
    "np.add": lambda a, b: a + b,
    "np.multiply": lambda a, b: a * b,
    "np.maximum": max,
    "np.minimum": min,
    "np.subtract": lambda a, b: a - b,
    "None": lambda a, b: b,
}


@pytest.mark.parametrize("case", SCATTERS)
@pytest.mark.parametrize("fn", COMBINERS)
def test_scatter_drops_windows_that_are_partly_outside(case, fn):
    shape, index_shape, update_shape, window, inserted, batching, index_batching, index_map, ivd = (
        case
    )
    generator = np.random.default_rng(6)
    x = generator.integers(-4, 5, shape).astype(np.float32)
    indices = generator.integers(-1, 6, index_shape).astype(np.int32)
    updates = generator.integers(-4, 5, update_shape).astype(np.float32)
    extra = {"input_batching_dims": batching, "scatter_indices_batching_dims": index_batching}
    places = [d for d in range(len(update_shape)) if d not in window]
    got = evaluate(
        "mhlo.scatter",
        [x, indices, updates],
        [(shape, "float32")],
        fn=fn,
        index_vector_dim=ivd,
        update_scatter_dims=places,
        update_window_dims=window,
        inserted_window_dims=inserted,
        scatter_dims_to_operand_dims=index_map,
        unique_indices=False,
        scatter_kind=Ref(fn),
        **(extra if batching else {})
    )
    expected = scatter_reference(
        x,
        indices,
        updates,
        window,
        inserted,
        batching,
        index_batching,
        index_map,
        ivd,
        COMBINERS[fn],
    )
    np.testing.assert_array_equal(got, expected)


def test_scatter_add_of_bf16_accumulates_in_float32():
    x = np.zeros((1,), ml_dtypes.bfloat16)
    updates = np.full((300,), 1.0, ml_dtypes.bfloat16)
    p = Program()
    a, i, u = p.input((1,), "bfloat16"), p.input((300, 1), "int32"), p.input((300,), "bfloat16")
    p.output(
        p.op(
            "mhlo.scatter",
            [a, i, u],
            [((1,), "bfloat16")],
            fn="np.add",
            index_vector_dim=1,
            update_scatter_dims=[0],
            update_window_dims=[],
            inserted_window_dims=[0],
            scatter_dims_to_operand_dims=[0],
            unique_indices=False,
            scatter_kind=Ref("np.add"),
        )
    )
    assert float(p.run([x, np.zeros((300, 1), np.int32), updates])[0][0]) == 300.0
