"""The structure of a program: what must hold before anything is evaluated.

`problems(function)` gives one line per violation, in the order of the text.
"""

from . import execute  # fills the registry
from .dtypes import parse
from .errors import EvaluationError, PenguinError
from .program import DebugLocation, EdgeKind, Operation, Tensor
from .registry import ROWS

LAYOUTS = {1: "N", 2: "NC", 3: "NHC", 4: "NHWC"}
FUSION = "mhlo.fusion"


def problems(function):
    """Violations of the structure, as text."""
    found = []
    found += _ids_and_names(function)
    for tensor in function.tensors:
        found += _tensor(tensor)
    found += _order(function)
    for op in function.operations:
        found += _operation(op)
    found += _interface(function)
    found += _edges(function)
    return found


def unknown(function):
    """Operations that nothing here can evaluate, as text."""
    found = []
    for op in function.operations:
        try:
            execute.row_of(op)
        except EvaluationError as error:
            found.append(str(error))
        except PenguinError:
            pass
    return found


def _label(node):
    return f"tensor `{node.name}`" if isinstance(node, Tensor) else str(node)


def _ids_and_names(function):
    last, names = function.first_id, set()
    for node in function.nodes:
        if not isinstance(node.id, int) or node.id <= last:
            yield f"{_label(node)} has id {node.id}, expected more than {last}"
        else:
            last = node.id
        if isinstance(node, Tensor):
            if node.name in names:
                yield f"{_label(node)} is declared twice"
            names.add(node.name)
    if function.id != last + 1:
        yield f"the Function ends with id {function.id}, expected {last + 1}"


def _tensor(tensor):
    where, rank, view = _label(tensor), len(tensor.printed_shape), tensor.view
    if 0 in tensor.printed_shape:
        yield f"{where} has shape {tensor.printed_shape}, zero sizes are printed as 1"
    if tensor.is_empty and tensor.printed_shape != tuple(max(n, 1) for n in tensor.shape):
        yield f"{where} has shape {tensor.printed_shape}, its `actual_shape` is {tensor.shape}"
    if getattr(view, "shape", None) != tensor.printed_shape:
        yield f"{where} has a view of shape {getattr(view, 'shape', None)}"
        return
    if view.layout != LAYOUTS.get(rank, ""):
        yield f"{where} has layout \"{view.layout}\", expected \"{LAYOUTS.get(rank, '')}\""
    if view.transpose != tuple(range(rank)):
        yield f"{where} has view permutation {view.transpose}, expected the identity"
    if tensor.is_constant:
        try:
            tensor.constant()
        except (PenguinError, TypeError, ValueError) as error:
            yield str(error)


def _order(function):
    """Every tensor is written once, before it is read; fusion headers neither write nor read."""
    given = set(function.inputs)
    written, declared = set(), {}
    headers = []
    for node in function.nodes:
        if isinstance(node, Tensor):
            declared[node] = True
            continue
        for tensor in (*node.srcs, *node.dsts):
            if tensor not in declared:
                yield f"{node} uses `{tensor.name}` of another Function"
        for tensor in node.srcs:
            free = tensor in given or tensor in written or tensor.is_constant or tensor.is_empty
            if not free:
                yield f"{node} reads `{tensor.name}`, which is not written before"
        if node.tag == FUSION:
            headers.append(node)
            continue
        for tensor in node.dsts:
            if tensor in written:
                yield f"{node} writes `{tensor.name}` a second time"
            elif tensor in given or tensor.is_constant:
                kind = "an input" if tensor in given else "a constant"
                yield f"{node} writes `{tensor.name}`, which is {kind}"
            written.add(tensor)
    for header in headers:
        for tensor in header.dsts:
            if tensor not in written:
                yield f"{header} declares `{tensor.name}`, which its body does not write"
    for tensor in function.tensors:
        if not (tensor in given or tensor in written or tensor.is_constant or tensor.is_empty):
            yield f"{_label(tensor)} is never written"


def _operation(op):
    row = ROWS.get(op.tag)
    if row is None:
        yield f"{op} has an unknown tag"
        return
    yield from _location(op)
    missing = sorted(row.needs - op.kw.keys())
    for keyword in missing:
        yield f"{op} lacks the keyword `{keyword}`"
    for keyword in sorted(op.kw.keys() - row.accepts):
        yield f"{op} has an unknown keyword `{keyword}`"
    if row.functions is not None and op.fn not in row.functions | {None}:
        yield f"{op} has an unknown function `{op.fn}`"
        return
    if (
        row.functions is not None
        and op.fn is None
        and "None" not in row.functions
        and op.tag not in ("mhlo.select_and_scatter",)
    ):
        yield f"{op} has no `op`"
        return
    if missing:
        return
    try:
        results = row.infer(op)
    except PenguinError as error:
        yield f"{op} {error}"
        return
    except (ArithmeticError, AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
        yield f"{op} is malformed: {type(error).__name__}: {error}"
        return
    yield from _results(op, results)


def _results(op, results):
    if len(results) != len(op.dsts):
        yield f"{op} has {len(op.dsts)} results, expected {len(results)}"
        return
    for tensor, (shape, dtype) in zip(op.dsts, results):
        if tensor.shape != tuple(shape):
            yield f"{op} gives `{tensor.name}` shape {tensor.shape}, expected {tuple(shape)}"
        if dtype is not None and tensor.dtype != parse(dtype):
            yield f"{op} gives `{tensor.name}` as {tensor.dtype.name}, expected {parse(dtype).name}"


def _location(op):
    if not isinstance(op.dl, DebugLocation):
        yield f"{op} has no DebugLocation"
        return
    parent = op.dl.parent
    if parent is None:
        return
    if not isinstance(parent, Operation) or parent.tag != FUSION:
        yield f"{op} has a debug location whose parent is no fusion header"
    elif parent.index >= op.index:
        yield f"{op} has a debug location whose parent stands later"


def _interface(function):
    for what, tensors in (("input", function.inputs), ("output", function.outputs)):
        seen = set()
        for tensor in tensors:
            if tensor in seen:
                yield f"`{tensor.name}` is marked as an {what} twice"
            seen.add(tensor)
            if tensor.parent is not function:
                yield f"{what} `{tensor.name}` belongs to another Function"
    if not function.outputs:
        yield "no output is marked"
    for tensor in function.inputs:
        if tensor.is_constant:
            yield f"input `{tensor.name}` is a constant"
    inputs = {t.name: t for t in function.inputs}
    outputs = {t.name: t for t in function.outputs}
    taken = set()
    for out, given, kind in function.aliases:
        where = f"alias of `{out}` and `{given}`"
        if kind not in ("must", "may"):
            yield f'{where} has kind "{kind}", expected "must" or "may"'
        if out not in outputs:
            yield f"{where}: `{out}` is no output"
        elif given not in inputs:
            yield f"{where}: `{given}` is no input"
        elif outputs[out].nbytes != inputs[given].nbytes:
            yield f"{where}: {outputs[out].nbytes} bytes share {inputs[given].nbytes}"
        if out in taken or given in taken:
            yield f"{where}: one of them is aliased already"
        taken.update((out, given))


def _edges(function):
    own = set(map(id, function.operations))
    for edge in function.edges:
        ends = (edge.src, edge.dst)
        if not all(isinstance(end, Operation) and id(end) in own for end in ends):
            yield "an edge has an end that is no operation of the Function"
            continue
        if not isinstance(edge.kind, EdgeKind):
            yield f"edge from {edge.src} to {edge.dst} has kind {edge.kind!r}, expected an EdgeKind"
        if edge.src.index >= edge.dst.index:
            yield f"edge orders {edge.src} before {edge.dst}, which stands earlier"
