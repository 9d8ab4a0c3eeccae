"""`hlo_netlist.json`: instances of shared definitions, composed through global names.

Each instance runs its definition's program on the values that its input map names, and binds its
outputs to the global names of its output map. Instances run in the listed order.
"""

import json
import os
from types import SimpleNamespace

from . import dtypes, execute, loader
from .errors import ProgramError, require
from .registry import State


def _field(record, key, kind, where):
    """`record[key]`, required to be there and of that kind."""
    require(isinstance(record, dict), f"{where} is no object")
    require(key in record, f"{where} lacks `{key}`")
    value = record[key]
    right = isinstance(value, kind) and not (kind is int and isinstance(value, bool))
    require(right, f"`{key}` of {where} is no {kind.__name__}")
    return value


def _interface(record, where):
    shape = tuple(_field(record, "Shape", list, where))
    require(
        all(isinstance(n, int) and n >= 0 for n in shape), f"`Shape` of {where} is {list(shape)}"
    )
    return SimpleNamespace(
        name=_field(record, "Name", str, where),
        shape=shape,
        dtype=dtypes.parse(_field(record, "DType", str, where)),
    )


class Netlist:
    """Definitions (Functions by DefID), instances in order, global inputs and outputs."""

    def __init__(self, record, directory, path="<netlist>"):
        self.path = path
        version = _field(record, "Version", int, "the netlist")
        require(version == 1, f"`Version` is {version}, expected 1")
        self.inputs = [
            _interface(r, "an input") for r in _field(record, "Inputs", list, "the netlist")
        ]
        self.outputs = [
            _interface(r, "an output") for r in _field(record, "Outputs", list, "the netlist")
        ]
        self.intermediates = _field(record, "IntermediateIOs", list, "the netlist")
        self.aliases = record.get("Aliases", [])
        self.part_map = record.get("PartMap", [])
        self.definitions, self.files = {}, {}
        for item in _field(record, "Definitions", list, "the netlist"):
            self._add_definition(item, directory)
        self.instances = [
            self._instance(item) for item in _field(record, "Instances", list, "the netlist")
        ]
        self._check_wiring()

    def _add_definition(self, item, directory):
        number = _field(item, "DefID", int, "a definition")
        where = f"definition {number}"
        require(number not in self.definitions, f"{where} is given twice")
        file = _field(item, "PenguinFile", str, where)
        function = loader.load(os.path.join(directory, file))
        for key, tensors in (("Inputs", function.inputs), ("Outputs", function.outputs)):
            names = [tensor.name for tensor in tensors]
            listed = _field(item, key, list, where)
            require(listed == names, f"`{key}` of {where} are {listed}, its program has {names}")
        self.definitions[number], self.files[number] = function, file

    def _instance(self, item):
        number = _field(item, "InstID", int, "an instance")
        where = f"instance {number}"
        definition = _field(item, "DefID", int, where)
        require(
            definition in self.definitions,
            f"{where} uses definition {definition}, which is missing",
        )
        function = self.definitions[definition]
        maps = []
        for key, tensors in (("InpMap", function.inputs), ("OutMap", function.outputs)):
            mapping = _field(item, key, dict, where)
            names = {tensor.name for tensor in tensors}
            missing, extra = sorted(names - mapping.keys()), sorted(mapping.keys() - names)
            require(not missing, f"`{key}` of {where} does not map `{''.join(missing[:1])}`")
            require(
                not extra,
                f"`{key}` of {where} maps `{''.join(extra[:1])}`, which is no such tensor",
            )
            maps.append(mapping)
        return SimpleNamespace(
            number=number,
            definition=definition,
            function=function,
            name=item.get("Name", ""),
            inputs=maps[0],
            outputs=maps[1],
            after=item.get("After", []),
        )

    def _check_wiring(self):
        known = {}
        for tensor in self.inputs:
            require(tensor.name not in known, f"input `{tensor.name}` is given twice")
            known[tensor.name] = tensor
        seen, used = set(), set()
        for instance in self.instances:
            where = f"instance {instance.number}"
            require(instance.number not in seen, f"{where} is given twice")
            late = [n for n in instance.after if n not in seen]
            require(
                not late, f"{where} comes after instance {late[0] if late else ''}, listed later"
            )
            seen.add(instance.number)
            used.add(instance.definition)
            for tensor in instance.function.inputs:
                name = instance.inputs[tensor.name]
                require(name in known, f"{where} reads `{name}` before it is produced")
                _same_interface(where, name, tensor, known[name])
            for tensor in instance.function.outputs:
                name = instance.outputs[tensor.name]
                require(name not in known, f"`{name}` of {where} has another producer")
                known[name] = tensor
        for tensor in self.outputs:
            require(tensor.name in known, f"output `{tensor.name}` has no producer")
            _same_interface("the netlist", tensor.name, tensor, known[tensor.name])
        for number in self.definitions:
            require(number in used, f"definition {number} has no instance")
        for name in self.intermediates:
            require(name in known, f"`IntermediateIOs` names `{name}`, which nothing produces")

    def implied_ranks(self):
        """The number of ranks that the replica groups of the definitions need."""
        return max([1, *(function.implied_ranks() for function in self.definitions.values())])

    def run(
        self,
        inputs,
        ranks=1,
        replicas=1,
        seed=0,
        trace=None,
        emit=execute._print,
        share_buffers=False,
    ):
        """Outputs of the composed instances; arguments as for `Function.run`.

        With `share_buffers` an instance overwrites the arrays of its aliased inputs, those of the
        netlist among them.
        """
        require(
            ranks >= 1 and replicas >= 1 and ranks % replicas == 0,
            f"{ranks} ranks do not split into {replicas} replicas",
        )
        arrays = execute.bind_inputs(self.inputs, inputs)
        rows = execute.split_ranks(arrays, self.inputs, ranks)
        rows = execute.own_rows(rows, share_buffers)
        values = {t.name: [row[i] for row in rows] for i, t in enumerate(self.inputs)}
        last = self._last_uses()
        state = State(ranks=ranks, replicas=replicas, emit=emit)
        for place, instance in enumerate(self.instances):
            state.seed = seed + instance.number
            own = [
                [values[instance.inputs[t.name]][rank] for t in instance.function.inputs]
                for rank in range(ranks)
            ]
            try:
                results = execute.run_rows(
                    instance.function, own, state, trace, share_buffers
                )
            except (ProgramError, execute.EvaluationError) as error:
                raise type(error)(f"instance {instance.number}: {error}") from error
            for i, tensor in enumerate(instance.function.outputs):
                values[instance.outputs[tensor.name]] = [row[i] for row in results]
            for name in last.get(place, ()):
                del values[name]
        return execute.join_ranks(
            [[values[t.name][rank] for t in self.outputs] for rank in range(ranks)], ranks
        )

    def _last_uses(self):
        """Place of an instance -> global names that nothing reads afterwards."""
        last = {}
        for place, instance in enumerate(self.instances):
            for name in (*instance.outputs.values(), *instance.inputs.values()):
                last[name] = place
        for tensor in self.outputs:
            last.pop(tensor.name, None)
        dead = {}
        for name, place in last.items():
            dead.setdefault(place, []).append(name)
        return dead


def _same_interface(where, name, wanted, given):
    require(
        wanted.shape == given.shape and wanted.dtype == given.dtype,
        f"{where} wants `{name}` as {wanted.dtype.name}{list(wanted.shape)}, it is "
        f"{given.dtype.name}{list(given.shape)}",
    )


def load(path):
    """The Netlist in a file, with the programs of its definitions."""
    try:
        with open(path, encoding="utf-8") as file:
            record = json.load(file)
    except (OSError, ValueError, RecursionError) as error:
        raise ProgramError(f"netlist `{path}` can't be read: {error}") from error
    try:
        return Netlist(record, os.path.dirname(os.path.abspath(path)), os.fspath(path))
    except ProgramError as error:
        raise ProgramError(f"{path}: {error}") from error
