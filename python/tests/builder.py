"""Prints small penguin programs in the exact form that the compiler prints, for the tests.

p = Program()
x = p.input((4, 8), "float32")
y = p.op("mhlo.unary", [x], [((4, 8), "float32")], fn="np.exp")
p.output(y)
outputs = p.run([array])
"""

import os

import numpy as np

from hilo.penguin import arrays, check, dtypes, loader

IR = "neuronxcc.starfish.penguin.ir"
TONGA = "neuronxcc.starfish.penguin.targets.tonga"
HEAD = (
    [f"import {IR}.ir as m0", f"import {IR}.DebugInfo as m1"]
    + [
        f"import {TONGA}.{name} as m{i}"
        for i, name in enumerate(("APIndex", "TongaInst", "TongaISAInst", "TongaTensor"), 2)
    ]
    + ["import numpy as np"]
)
PATHS = {
    "dependency": f"{IR}.Dependency",
    "support": "neuronxcc.starfish.support",
    "frontend": "neuronxcc.starfish.penguin.frontends.XlaFE",
    "special": "scipy.special",
    "intrinsics": f"{IR}.Intrinsics",
}
LAYOUTS = {1: "N", 2: "NC", 3: "NHC", 4: "NHWC"}


class Ref:
    """Printed without quotes."""

    def __init__(self, text):
        self.text = text


class Var:
    """A tensor of the program under construction."""

    def __init__(self, number, name, shape, dtype):
        self.number, self.name, self.shape, self.dtype = number, name, shape, dtype
        self.writer = None


def literal(value):
    """A keyword value as the compiler prints it."""
    if isinstance(value, Ref):
        return value.text
    if isinstance(value, tuple):
        inner = ",".join(literal(v) for v in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, list):
        return "[" + ", ".join(literal(v) for v in value) + "]"
    if isinstance(value, float) and not np.isfinite(value):
        return f"float('{value}')"
    return repr(value)


class Program:
    """Collects lines; `directory` receives the constants of `constant`."""

    def __init__(self, directory=None, control=False):
        self.directory = directory
        self.aliases = {}
        self.lines = list(HEAD)
        self.variables = self.ids = 1
        self.counts = {}
        self.taken = 7
        if control:
            self.alias("dependency")
        self.lines.append('v0 = m0.Function(id_=0, batch_ids=[], attrs=("mac-count=0",))')
        self.lines += ["def weight_load(p):", "  t = np.load(p)", "  return t"]
        self.alias("support")
        self.ends = []

    def alias(self, key):
        if key not in self.aliases:
            self.aliases[key] = f"m{self.taken}"
            self.taken += 1
            self.lines.append(f"import {PATHS[key]} as {self.aliases[key]}")
        return self.aliases[key]

    def dtype(self, name):
        quoted = np.dtype(name).isbuiltin if name in np.sctypeDict or name == "bool" else False
        return f'"{name}"' if quoted else f"{self.aliases['support']}.dtype.{name}"

    def _number(self):
        self.variables += 1
        return self.variables - 1

    def _id(self):
        self.ids += 1
        return self.ids - 1

    def _name(self, base):
        self.counts[base] = self.counts.get(base, 0) + 1
        return f"{base}.{self.counts[base]}"

    def _frame(self, var, attrs=None):
        shape = literal(var.shape)
        rank = len(var.shape)
        view = (
            f'view=m0.TensorView(shape={shape}, layout="{LAYOUTS.get(rank, "")}", '
            f"transpose={literal(tuple(range(rank)))})"
        )
        return (
            f'name="{var.name}", shape={shape}, parent=v0, id={self._id()}, '
            f"dtype={self.dtype(var.dtype)}, {view}, "
        )

    def tensor(self, name, shape, dtype, tail="", number=None):
        var = Var(self._number() if number is None else number, name, tuple(shape), dtype)
        self.lines.append(f"v{var.number} = m0.Tensor({self._frame(var)}{tail})")
        return var

    def input(self, shape, dtype="float32", mark=""):
        count = self.counts.get("input", 0)
        self.counts["input"] = count + 1
        var = self.tensor(f"input{count}", shape, dtype, "attrs={'CrossPassTensor': \"\"}")
        self.lines.append(f"v0.markInput(v{var.number}{mark})")
        return var

    def splat(self, value, dtype="float32", shape=()):
        var = Var(self._number(), self._name("constant"), tuple(shape), dtype)
        text = literal(value)
        if dtypes.parse(dtype).is_float:
            support = self.aliases["support"]
            text = f"{support}.dtype.static_cast({literal(float(value))}, {support}.dtype.{dtype})"
        self.lines.append(f"v{var.number} = m0.SingleValueTensor(value={text}, {self._frame(var)})")
        return var

    def constant(self, array, dtype):
        name = self._name("constant")
        array = np.asarray(array)
        np.save(os.path.join(self.directory, f"{name}.npy"), dtypes.to_storage(array))
        return self.tensor(name, array.shape, dtype, f'value=weight_load("{name}.npy"), ')

    def _statement(self, make, srcs, results, names):
        number = self._number()
        wanted = names or [self._name("value") for _ in results]
        dsts = [self.tensor(n, *result) for n, result in zip(wanted, results)]
        sides = (
            f"srcs={literal([Ref(f'v{s.number}') for s in srcs])}, "
            f"dsts={literal([Ref(f'v{d.number}') for d in dsts])}"
        )
        for d in dsts:
            d.writer = number
        self.lines.append(f"v{number} = " + make(sides))
        return dsts[0] if len(dsts) == 1 else dsts

    def _end(self, parent=None):
        ident = self._id()
        inner = "" if parent is None else f", parent=v{parent}"
        return (
            f'id={ident}, parent=v0, dl=m1.DebugLocation(tensor_op_name="_t.{ident}", file="", '
            f"line=0, column=0, hlo_id={ident}{inner})"
        )

    def op(self, tag, srcs, results, fn=None, names=None, location=None, **keywords):
        def make(sides):
            frontend = self.alias("frontend")
            text = f"{frontend}.NeuronTensorOp({sides}"
            text += "" if fn is None else f", op={self.function(fn)}"
            text += f", xla_op='{tag}'"
            text += "".join(f", {k}={literal(v)}" for k, v in keywords.items())
            return f"{text}, {self._end(location)})"

        return self._statement(make, srcs, results, names)

    def function(self, fn):
        if fn.startswith("special."):
            return f"{self.alias('special')}.{fn.split('.')[1]}"
        return fn

    def offloaded(self, kind, src, shape, dtype, name=None):
        def make(sides):
            return f"m0.{kind}({sides}, dtype={self.dtype(dtype)}, {self._end()})"

        return self._statement(make, [src], [(shape, dtype)], name and [name])

    def special(self, constructor, srcs, results, **keywords):
        def make(sides):
            pairs = "".join(f"{k}={literal(v)}, " for k, v in keywords.items())
            return f"{constructor}({sides}, {pairs}{self._end()})"

        return self._statement(make, srcs, results, None)

    def fusion(self, srcs, results, kind, op, **keywords):
        """A header; gives its result tensors and the header's variable."""
        number = self._number()
        dsts = [self.tensor(self._name("value"), *result) for result in results]
        sides = (
            f"srcs={literal([Ref(f'v{s.number}') for s in srcs])}, "
            f"dsts={literal([Ref(f'v{d.number}') for d in dsts])}"
        )
        pairs = "".join(f", {k}={literal(v)}" for k, v in keywords.items())
        self.lines.append(
            f"v{number} = {self.alias('frontend')}.NeuronTensorOp({sides}, xla_op='mhlo.fusion', "
            f"op='{op}', hilo_fusion_op='{kind}'{pairs}, {self._end()})"
        )
        return dsts, number

    def write(self, tag, srcs, dst, fn, header):
        """A body operation that writes a declared tensor."""
        number = self._number()
        sides = f"srcs={literal([Ref(f'v{s.number}') for s in srcs])}, " f"dsts=[v{dst.number}]"
        self.lines.append(
            f"v{number} = {self.alias('frontend')}.NeuronTensorOp({sides}, op={fn}, "
            f"xla_op='{tag}', {self._end(header)})"
        )

    def edge(self, src, dst, kind="ORDERED"):
        d = self.alias("dependency")
        self.lines.append(
            f"v0.add_dep_edge({d}.DependencyEdge(src=v{src.writer}, dst=v{dst.writer}, "
            f"idx_map=[], kind={d}.EdgeKind.{kind}, predicates=[]))"
        )

    def output(self, *variables):
        self.ends += [f"v0.markOutput(v{v.number})" for v in variables]

    def text(self):
        return "\n".join([*self.lines, *self.ends, f"v0.id={self.ids}", "ir=v0"]) + "\n"

    def save(self, path):
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text())
        return str(path)

    def load(self):
        return loader.load_text(self.text(), self.directory or ".")

    def run(self, inputs=(), ranks=1, **options):
        """Checks the structure, then runs."""
        function = self.load()
        found = check.problems(function)
        assert not found, found
        return function.run(inputs, ranks=ranks, **options)


def evaluate(tag, inputs, results, fn=None, dtypes_=None, ranks=1, **keywords):
    """Outputs of a program of one operation on `inputs` (with several ranks: a leading axis)."""
    p = Program()
    types = dtypes_ or [array.dtype.name for array in inputs]
    shapes = [array.shape if ranks == 1 else array.shape[1:] for array in inputs]
    srcs = [p.input(shape, dtype) for shape, dtype in zip(shapes, types)]
    made = p.op(tag, srcs, results, fn=fn, **keywords)
    p.output(*(made if isinstance(made, list) else [made]))
    outputs = p.run(inputs, ranks=ranks)
    return outputs[0] if len(outputs) == 1 else outputs


def as_bytes(array):
    """Raw bits of an array, for exact comparisons."""
    return arrays.dtypes.to_storage(np.ascontiguousarray(array)).tobytes()
