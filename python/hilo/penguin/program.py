"""The objects that a penguin program builds when its text is executed.

Constructors only record: every rule about ids, names, edges and shapes is in `check`, and what an
operation means is in the registry (`registry`), keyed by `Operation.tag`. Tensors and operations
register with their `parent`, the Function, in the order of the text.
"""

import enum

import numpy as np

from . import dtypes
from .errors import ProgramError, require

NUMPY_PREFIX = "np."


class EdgeKind(enum.Enum):
    """Kinds of dependency edges."""

    FLOW = "FLOW"
    ANTI = "ANTI"
    OUTPUT = "OUTPUT"
    ORDERED = "ORDERED"


class DependencyEdge:
    """`dst` runs after `src`; both are operations."""

    def __init__(self, src, dst, idx_map=(), kind=None, predicates=()):
        self.src, self.dst, self.kind = src, dst, kind
        self.idx_map, self.predicates = tuple(idx_map), tuple(predicates)


class DebugLocation:
    """Where an operation comes from in the user's program; `parent` is the header of its fusion."""

    def __init__(self, tensor_op_name, file, line, column, hlo_id, parent=None):
        self.tensor_op_name, self.file, self.line = tensor_op_name, file, line
        self.column, self.hlo_id, self.parent = column, hlo_id, parent


class TensorView:
    """Shape, layout letters and permutation of a tensor in memory."""

    def __init__(self, shape, layout, transpose):
        self.shape, self.layout, self.transpose = shape, layout, transpose


def parse_actual_shape(attrs):
    """The logical shape in attrs['actual_shape'] when it has a zero dimension, else None."""
    text = (attrs or {}).get("actual_shape")
    if not isinstance(text, str):
        return None
    body = text.strip().strip("[]()").strip()
    parts = [part.strip() for part in body.split(",") if part.strip()]
    require(
        all(part.isdigit() for part in parts),
        f"`actual_shape` is `{text}`, expected a list of sizes",
    )
    shape = tuple(int(part) for part in parts)
    return shape if 0 in shape else None


class Tensor:
    """A value of the program. With `value` it is a constant.

    `shape` is the logical shape: tensors without elements are printed with zero sizes as 1 and
    carry the real shape in the attribute `actual_shape` (`printed_shape` keeps the text's).
    """

    def __init__(
        self, name, shape, parent, id, dtype, view, value=None, non_local=False, attrs=None
    ):
        require(isinstance(parent, Function), f"tensor `{name}` has no Function as its parent")
        require(
            isinstance(shape, tuple) and all(isinstance(n, int) and n >= 0 for n in shape),
            f"tensor `{name}` has shape {shape!r}, expected a tuple of sizes",
        )
        self.name, self.id, self.parent, self.view = name, id, parent, view
        self.dtype = dtypes.parse(dtype)
        self.printed_shape = shape
        self.attrs = dict(attrs or {})
        self.shape = parse_actual_shape(self.attrs) or shape
        self.value, self.non_local = value, non_local
        parent.tensors.append(self)
        parent.nodes.append(self)

    @property
    def is_constant(self):
        return self.value is not None

    @property
    def is_empty(self):
        return 0 in self.shape

    @property
    def elements(self):
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def nbytes(self):
        return self.elements * self.dtype.numpy.itemsize

    def constant(self):
        """The array of a constant."""
        array = np.asarray(self.value)
        array = dtypes.from_storage(array, self.dtype, f"constant `{self.name}`")
        require(
            array.shape == self.shape,
            f"constant `{self.name}` holds an array of shape {array.shape}, expected {self.shape}",
        )
        return array


class SingleValueTensor(Tensor):
    """A constant whose elements all equal `value`."""

    def __init__(self, value, **keywords):
        require(value is not None, f"tensor `{keywords.get('name')}` has no value")
        super().__init__(value=value, **keywords)

    def constant(self):
        dtype = self.dtype.numpy
        with np.errstate(all="ignore"):
            scalar = self.value if isinstance(self.value, np.generic) else np.array(self.value)
            if scalar.dtype != dtype:
                fits = scalar.dtype.kind not in "iu" or dtypes.is_float(dtype) or dtype == np.bool_
                fits = fits or np.iinfo(dtype).min <= int(scalar) <= np.iinfo(dtype).max
                require(fits, f"constant `{self.name}` is {self.value}, outside {self.dtype.name}")
                scalar = scalar.astype(dtype)
        return np.broadcast_to(scalar, self.shape)


def function_name(op):
    """The name that an operator reference (`np.add`, `m0.gelu`, a string, None) stands for."""
    if op is None:
        return None
    if isinstance(op, str):
        return op[len(NUMPY_PREFIX) :] if op.startswith(NUMPY_PREFIX) else op
    return FUNCTION_NAMES.get(id(op)) or getattr(op, "__name__", repr(op))


FUNCTION_NAMES = {}
"""id of an operator object -> the name in the text; filled by `loader`."""


class Operation:
    """One statement. `tag` selects its row of the registry, `fn` names `op=`, `kw` is the rest."""

    def __init__(self, tag, srcs, dsts, id, parent, dl, op=None, kw=None):
        require(isinstance(parent, Function), f"operation {id} has no Function as its parent")
        for side, tensors in (("srcs", srcs), ("dsts", dsts)):
            for tensor in tensors:
                require(
                    isinstance(tensor, Tensor),
                    f"operation {id} has {type(tensor).__name__} in `{side}`, expected tensors",
                )
        self.srcs, self.dsts = list(srcs), list(dsts)
        self.id, self.parent, self.dl, self.op = id, parent, dl, op
        self.kw = dict(kw or {})
        self.fn = function_name(op)
        self.tag = tag
        self.index = len(parent.operations)
        parent.operations.append(self)
        parent.nodes.append(self)

    def __getitem__(self, keyword):
        return self.kw[keyword]

    def get(self, keyword, default=None):
        return self.kw.get(keyword, default)

    def add_dep_edge(self, edge):
        """Forwards to the Function."""
        self.parent.add_dep_edge(edge)

    def __str__(self):
        name = getattr(self.dl, "tensor_op_name", "")
        return f"operation {self.id} `{self.tag}`" + (f" ({name})" if name else "")


def classify(fn, kw, srcs):
    """The tag of a statement whose `xla_op` is spelled `np.<fn>`: its keywords tell the family."""
    if "select_op" in kw:
        return "mhlo.select_and_scatter"
    if "update_window_dims" in kw or "scatter_kind" in kw:
        return "mhlo.scatter"
    if "window_shape" in kw:
        return "mhlo.reduce_window"
    if "reduce_dims" in kw:
        return "mhlo.reduce"
    return {1: "mhlo.unary", 2: "mhlo.binary", 3: "mhlo.ternary"}.get(len(srcs), NUMPY_PREFIX + fn)


class NeuronTensorOp(Operation):
    """The frame of nearly all statements."""

    def __init__(self, srcs, dsts, op=None, xla_op=None, *, id, parent, dl, **kw):
        tag = xla_op
        if not isinstance(tag, str):
            raise ProgramError(f"operation {id} has no `xla_op`")
        if tag.startswith(NUMPY_PREFIX):
            fn = tag[len(NUMPY_PREFIX) :]
            op, tag = (op if op is not None else fn), classify(fn, kw, srcs)
        super().__init__(tag, srcs, dsts, id, parent, dl, op, kw)


class OffloadedMemCpy(Operation):
    """Copy, possibly to another shape with as many elements."""

    def __init__(self, srcs, dsts, dtype, id, parent, dl):
        super().__init__(type(self).__name__, srcs, dsts, id, parent, dl, kw={"dtype": dtype})


class OffloadedMemCast(OffloadedMemCpy):
    """Conversion to another element type."""


class OffloadedBitcast(OffloadedMemCpy):
    """The same bits as another element type."""


class NativeKernel(Operation):
    """A call of a kernel by configuration; executes once `kernels.register` knows it."""

    def __init__(self, srcs, dsts, use_opaque_access, kernel_config, id, parent, dl):
        kw = {"use_opaque_access": use_opaque_access, "kernel_config": kernel_config}
        super().__init__("NativeKernel", srcs, dsts, id, parent, dl, kw=kw)
        self.aliases = []

    def aliasTensors(self, input):
        """Marks the operands whose memory the results take over."""
        self.aliases = list(input)


class LNCShardingConstraintOp(Operation):
    """An annotation: the identity."""

    def __init__(self, srcs, dsts, target_name, sharding, id, parent, dl):
        kw = {"target_name": target_name, "sharding": sharding}
        super().__init__("LNCShardingConstraintOp", srcs, dsts, id, parent, dl, kw=kw)


class QuantizeMXTensorOp(Operation):
    """Block-scaled quantisation to packed 8-bit floats and their scales."""

    def __init__(
        self, srcs, dsts, mx_dtype, dim, block_size, scale_method, target_name, id, parent, dl
    ):
        kw = {"mx_dtype": mx_dtype, "dim": dim, "block_size": block_size}
        kw.update(scale_method=scale_method, target_name=target_name)
        super().__init__("QuantizeMXTensorOp", srcs, dsts, id, parent, dl, kw=kw)


class Function:
    """A whole program. `inputs` and `outputs` are tensors in the order they were marked."""

    def __init__(self, id_, batch_ids, attrs):
        self.first_id = self.id = id_
        self.batch_ids, self.attrs = batch_ids, attrs
        self.path = None
        self.tensors, self.operations, self.nodes = [], [], []
        self.inputs, self.outputs = [], []
        self.parameter_files = {}
        self.aliases, self.edges = [], []
        self._edge_keys = set()

    def markInput(self, tensor, is_parameter_tensor=False, np_file=None):
        """Appends `tensor` to the inputs; `np_file` binds a weight file to it."""
        require(isinstance(tensor, Tensor), "markInput was not given a tensor")
        self.inputs.append(tensor)
        if is_parameter_tensor:
            self.parameter_files[tensor] = np_file

    def markOutput(self, tensor):
        """Appends `tensor` to the outputs."""
        require(isinstance(tensor, Tensor), "markOutput was not given a tensor")
        self.outputs.append(tensor)

    def aliasTensors(self, out, in_, kind):
        """Output `out` shares the memory of input `in_`; `kind` is "must" or "may"."""
        self.aliases.append((out, in_, kind))

    def add_dep_edge(self, edge):
        """Adds an edge; a pair counts at most once per kind."""
        require(isinstance(edge, DependencyEdge), "add_dep_edge was not given a DependencyEdge")
        key = (id(edge.src), id(edge.dst), edge.kind)
        if key not in self._edge_keys:
            self._edge_keys.add(key)
            self.edges.append(edge)

    def implied_ranks(self):
        """The number of ranks that the replica groups need, 1 without any."""
        largest = 0
        for operation in self.operations:
            for group in operation.get("replica_groups") or ():
                largest = max([largest, *group])
        return largest + 1

    def run(self, inputs, ranks=1, **options):
        """Evaluates the program; see `execute.run`."""
        from . import execute

        return execute.run(self, inputs, ranks, **options)
