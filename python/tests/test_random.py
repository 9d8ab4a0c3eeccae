"""Known answers of the generators, layout of the bits, determinism of rng and dropout."""

import numpy as np
import pytest

from builder import Program, evaluate
from hilo.penguin.random_bits import philox_4x32, threefry_2x32


def words(*values):
    return tuple(np.array([v], np.uint32) for v in values)


def test_published_vectors():
    """The known-answer vectors of the Random123 library."""
    ones = 0xFFFFFFFF
    with np.errstate(all="ignore"):
        zero = philox_4x32(words(0, 0), words(0, 0, 0, 0))
        full = philox_4x32(words(ones, ones), words(ones, ones, ones, ones))
        first = threefry_2x32(words(0, 0), words(0, 0))
        last = threefry_2x32(words(ones, ones), words(ones, ones))
    assert [int(w[0]) for w in zero] == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    assert [int(w[0]) for w in full] == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]
    assert [int(w[0]) for w in first] == [0x6B200159, 0x99BA4EFE]
    assert [int(w[0]) for w in last] == [0x1CB996FC, 0xBB002BE7]


def bits(state, shape, dtype, algorithm):
    return evaluate(
        "mhlo.rng_bit_generator",
        [state],
        [(state.shape, "uint64"), (shape, dtype)],
        rng_algorithm=algorithm,
        shape=shape,
    )


@pytest.mark.parametrize("algorithm", ["DEFAULT", "PHILOX", "THREE_FRY"])
def test_counter_advances_and_bits_continue(algorithm):
    """Two draws of 8 from a state are the draw of 16: the counter counts blocks."""
    state = np.array([0x0123456789ABCDEF, 41], np.uint64)
    after, whole = bits(state, (16,), "uint32", algorithm)
    middle, first = bits(state, (8,), "uint32", algorithm)
    end, second = bits(middle, (8,), "uint32", algorithm)
    np.testing.assert_array_equal(np.concatenate([first, second]), whole)
    assert int(after[1]) == int(end[1]) == 41 + (8 if algorithm == "THREE_FRY" else 4)
    assert int(after[0]) == int(state[0])


def test_widths_take_low_bits_or_two_words():
    state = np.array([7, 3], np.uint64)
    _, wide = bits(state, (6,), "uint32", "PHILOX")
    np.testing.assert_array_equal(bits(state, (6,), "uint8", "PHILOX")[1], wide.astype(np.uint8))
    np.testing.assert_array_equal(bits(state, (6,), "uint16", "PHILOX")[1], wide.astype(np.uint16))
    np.testing.assert_array_equal(bits(state, (3,), "uint64", "PHILOX")[1], wide.view(np.uint64))
    assert int(bits(state, (5,), "uint32", "PHILOX")[0][1]) == 3 + 2


def test_philox_blocks_use_key_and_counter_as_stated():
    state = np.array([(5 << 32) | 9, (1 << 64) - 1], np.uint64)
    _, drawn = bits(state, (8,), "uint32", "DEFAULT")
    with np.errstate(all="ignore"):
        first = philox_4x32(words(9, 5), words(0xFFFFFFFF, 0xFFFFFFFF, 9, 5))
        second = philox_4x32(words(9, 5), words(0, 0, 10, 5))
    assert drawn.tolist() == [int(w[0]) for w in (*first, *second)]


def test_threefry_pairs_lie_along_the_first_even_dimension():
    state = np.array([1, 0], np.uint64)
    with np.errstate(all="ignore"):
        a, b = threefry_2x32(words(1, 0), (np.arange(9, dtype=np.uint32), np.zeros(9, np.uint32)))
    _, tall = bits(state, (2, 3), "uint32", "THREE_FRY")
    np.testing.assert_array_equal(tall, [a[:3], b[:3]])
    after, odd = bits(state, (3, 5), "uint32", "THREE_FRY")
    pairs = np.stack([a.reshape(3, 3), b.reshape(3, 3)], -1).reshape(3, 6)
    np.testing.assert_array_equal(odd, pairs[:, :5])
    assert int(after[1]) == 9


def rng_program(kind, low, high, dtype="float32"):
    p = Program()
    a, b = p.splat(low, dtype), p.splat(high, dtype)
    p.output(p.op("mhlo.rng", [a, b], [((4000,), dtype)], rng_distribution=kind, shape=(4000,)))
    return p


def test_rng_has_its_distribution_and_depends_on_the_seed():
    p = rng_program("UNIFORM", -2.0, 6.0)
    (x,), (again,), (other,) = p.run(), p.run(), p.run(seed=1)
    np.testing.assert_array_equal(x, again)
    assert not np.array_equal(x, other)
    assert x.min() >= -2 and x.max() < 6 and abs(x.mean() - 2) < 0.2
    (y,) = rng_program("NORMAL", 3.0, 2.0).run()
    assert abs(y.mean() - 3) < 0.2 and abs(y.std() - 2) < 0.2
    (z,) = rng_program("UNIFORM", 5, 8, "int32").run()
    assert sorted(set(z.tolist())) == [5, 6, 7]


def test_dropout_scales_what_it_keeps():
    x = np.ones((100, 50), np.float32) * 3
    p = Program()
    a, rate, seed = p.input(x.shape), p.input(()), p.input((), "int32")
    made = p.op(
        "mhlo.dropout",
        [a, rate, seed],
        [(x.shape, "float32"), (x.shape, "bool")],
        dtype="float32",
        predicates=[],
    )
    p.output(*made)
    out, mask = p.run([x, np.float32(0.25), np.int32(1)])
    np.testing.assert_array_equal(out, np.where(mask, np.float32(4), 0))
    assert abs(mask.mean() - 0.75) < 0.03
    assert not np.array_equal(mask, p.run([x, np.float32(0.25), np.int32(2)])[1])
    p = Program()
    rate = p.input(())
    p.output(p.op("mhlo.dropout_mask", [rate], [((1000,), "float32")], dtype="float32"))
    assert abs(p.run([np.float32(0.5)])[0].mean() - 0.5) < 0.06
