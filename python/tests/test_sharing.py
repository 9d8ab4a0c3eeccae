"""Buffers really shared: what reads an aliased input after its output was written reads the output."""

import numpy as np

from builder import Program

F = ((3,), "float32")


def negated(p, x, **keywords):
    return p.op("mhlo.unary", [x], [F], fn="np.negative", **keywords)


def both(p, *arrays):
    arrays = [np.asarray(a, np.float32) for a in arrays]
    kept = [a.copy() for a in arrays]
    plain, shared = p.run(arrays), p.run(arrays, share_buffers=True)
    for a, b in zip(arrays, kept):
        np.testing.assert_array_equal(a, b)  # the caller's arrays stay
    return plain, shared


def test_a_read_behind_the_write_sees_the_output():
    p = Program()
    x = p.input((3,))
    first = negated(p, x, names=["output0"])
    late = negated(p, x, names=["output1"])
    p.output(first, late)
    p.lines.insert(-len(p.ends) or len(p.lines), 'v0.aliasTensors("output0", "input0", "must")')
    plain, shared = both(p, [1, 2, 3])
    np.testing.assert_array_equal(plain[1], [-1, -2, -3])
    np.testing.assert_array_equal(shared[0], [-1, -2, -3])
    np.testing.assert_array_equal(shared[1], [1, 2, 3])


def test_reads_before_the_write_are_safe():
    p = Program()
    x = p.input((3,))
    early = negated(p, x, names=["output1"])
    last = negated(p, x, names=["output0"])
    p.output(last, early)
    p.lines.append('v0.aliasTensors("output0", "input0", "may")')
    plain, shared = both(p, [1, 2, 3])
    for a, b in zip(plain, shared):
        np.testing.assert_array_equal(a, b)


def test_another_order_than_element_by_element_spoils_the_buffer():
    p = Program()
    x = p.input((3,))
    p.output(p.op("mhlo.reverse", [x], [F], dimensions=(0,), names=["output0"]))
    p.lines.append('v0.aliasTensors("output0", "input0", "must")')
    plain, shared = both(p, [1, 2, 3])
    np.testing.assert_array_equal(plain[0], [3, 2, 1])
    assert not np.array_equal(shared[0], plain[0])
