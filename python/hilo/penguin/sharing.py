"""Evaluation with shared buffers: an output that is aliased to an input is written over it.

What a device does with donated memory: once the operation that writes the output has run, the input
is gone, and whoever reads it later reads the output. A reshaping copy is taken for a view of its
source, as the aliasing steps of the compiler do; every other result has memory of its own. An
operation that writes a buffer which it also reads must read each element before it writes it; where
that is not known of it, the buffer is spoiled first. So a program whose copies are missing or stand
too early gives other outputs than without sharing.
"""

import numpy as np

from .values import Values

ELEMENTWISE = {
    "mhlo.unary",
    "mhlo.binary",
    "mhlo.ternary",
    "mhlo.convert",
    "mhlo.copy",
    "OffloadedMemCpy",
    "OffloadedMemCast",
    "OffloadedBitcast",
}
UPDATES = {"mhlo.dynamic_update_slice", "mhlo.scatter"}
VIEWS = {"OffloadedMemCpy", "mhlo.reshape"}


def reads_in_place(op, k, dst):
    """May `op` write the buffer of `dst` over its operand `k`?"""
    src = op.srcs[k]
    if op.tag in UPDATES:
        return k == 0
    same_width = src.dtype.numpy.itemsize == dst.dtype.numpy.itemsize
    return op.tag in ELEMENTWISE and src.shape == dst.shape and same_width


def spoil(buffer):
    """Changes every element."""
    raw = buffer.reshape(-1).view(np.uint8)
    raw ^= 1 if buffer.dtype == np.bool_ else 0x5A


def own(arrays):
    """Copies that programs may overwrite."""
    return [np.array(array, order="C") for array in arrays]


class SharedValues(Values):
    """The arrays of one rank; `buffers` holds those of aliased inputs, by the output's tensor.

    The arrays given are overwritten.
    """

    def __init__(self, function, arrays):
        super().__init__(function, arrays)
        inputs = {tensor.name: tensor for tensor in function.inputs}
        outputs = {tensor.name: tensor for tensor in function.outputs}
        self.buffers = {
            outputs[out]: self.arrays[inputs[in_]]
            for out, in_, _ in function.aliases
            if not outputs[out].is_empty
        }

    def prepare(self, op):
        """Spoils what `op` writes over while it still reads it in another order."""
        for dst in op.dsts:
            buffer = self.buffers.get(dst)
            if buffer is None or dst in self.pinned:
                continue
            for k, src in enumerate(op.srcs):
                array = self.arrays.get(src)
                if array is None or not np.may_share_memory(array, buffer):
                    continue
                if not reads_in_place(op, k, dst):
                    spoil(buffer)
                    break

    def place(self, op, tensor, array):
        """Where a result lies: in its buffer, in its operand's, or in memory of its own."""
        buffer = self.buffers.get(tensor)
        if buffer is not None:
            buffer[...] = array
            return buffer
        if op.tag in VIEWS and op.srcs[0].shape != tensor.shape:
            return array
        shares = array.base is not None or any(array is self.arrays.get(src) for src in op.srcs)
        return np.array(array) if shares else array

    def output(self, tensor):
        """The array of an output, which shares memory with none but the input it took over."""
        array = super().output(tensor)
        if tensor in self.buffers or array.base is None:
            return array
        return np.array(array)
