"""The arrays that one rank holds while a Function is evaluated."""

import numpy as np

from . import dtypes
from .errors import ProgramError, require


class Values:
    """The arrays of one rank. Constants and tensors without elements appear on demand."""

    def __init__(self, function, arrays):
        self.arrays = dict(zip(function.inputs, arrays))
        self.pinned = set()

    def read(self, tensor, reader):
        if tensor in self.arrays:
            return self.arrays[tensor]
        if tensor.is_constant:
            self.arrays[tensor] = tensor.constant()
        elif tensor.is_empty:
            self.arrays[tensor] = np.zeros(tensor.shape, tensor.dtype.numpy)
        else:
            raise ProgramError(f"{reader} reads `{tensor.name}`, which is not written before")
        return self.arrays[tensor]

    def write(self, op, results):
        require(
            len(results) == len(op.dsts), f"{op} gave {len(results)} results for {len(op.dsts)}"
        )
        for tensor, array in zip(op.dsts, results):
            if tensor in self.pinned:
                continue
            array = dtypes.convert(np.asarray(array), tensor.dtype.numpy)
            if array.shape != tensor.shape:
                raise ProgramError(
                    f"{op} gives shape {array.shape} for `{tensor.name}`, expected {tensor.shape}"
                )
            self.arrays[tensor] = self.place(op, tensor, array)

    def prepare(self, op):
        """Called before the operands of `op` are read."""

    def place(self, op, tensor, array):
        """The array that `tensor` has from now on."""
        return array

    def output(self, tensor):
        """The array of an output at the end."""
        return self.read(tensor, "the end of the program")

    def pin(self, op, result):
        """Takes the result of a fusion header; what the body writes there later is dropped."""
        if result is not None:
            self.write(op, [result])
            self.pinned.update(op.dsts)
