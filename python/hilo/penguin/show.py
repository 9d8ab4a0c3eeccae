"""Figures of a program: operations, bytes, peak live memory in the order of the text.

Inputs, constants and outputs count from their place to the end; any other tensor from the operation
that writes it to the last one that reads it.
"""

from collections import Counter

from . import execute


def figures(function):
    """A dictionary of totals, with one record per operation under `operations`."""
    writes = {t: op.index for op in function.operations if op.tag != "mhlo.fusion" for t in op.dsts}
    dead = execute.last_uses(function)
    constants = [t for t in function.tensors if t.is_constant]
    inputs = set(function.inputs)
    live = sum(t.nbytes for t in {*inputs, *constants})
    resident, peak, where = live, live, None
    records = []
    for op in function.operations:
        written = sum(t.nbytes for t in op.dsts if writes.get(t) == op.index)
        live += written
        if live > peak:
            peak, where = live, op
        records.append(
            {
                "id": op.id,
                "tag": op.tag,
                "function": op.fn,
                "results": [d.name for d in op.dsts],
                "bytes": written,
                "live": live,
            }
        )
        gone = [t for t in dead.get(op.index, ()) if t in writes and t not in inputs]
        live -= sum(t.nbytes for t in gone)
    return {
        "program": function.path,
        "attributes": list(function.attrs),
        "ranks": function.implied_ranks(),
        "inputs": _interface(function.inputs),
        "outputs": _interface(function.outputs),
        "input_bytes": sum(t.nbytes for t in function.inputs),
        "output_bytes": sum(t.nbytes for t in function.outputs),
        "constants": len(constants),
        "constant_bytes": sum(t.nbytes for t in constants),
        "written_bytes": sum(r["bytes"] for r in records),
        "resident_bytes": resident,
        "peak_bytes": peak,
        "peak_operation": None if where is None else where.id,
        "edges": len(function.edges),
        "aliases": [list(alias) for alias in function.aliases],
        "tags": dict(sorted(Counter(r["tag"] for r in records).items())),
        "operations": records,
    }


def _interface(tensors):
    return [f"{t.name} {t.dtype.name}{list(t.shape)}" for t in tensors]


def lines(function):
    """The figures as text lines."""
    facts = figures(function)
    yield f"program {facts['program']}"
    for what in ("inputs", "outputs"):
        yield f"{what} {len(facts[what])}, {facts[what[:-1] + '_bytes']} bytes"
        yield from (f"  {text}" for text in facts[what])
    yield f"constants {facts['constants']}, {facts['constant_bytes']} bytes"
    yield f"operations {len(facts['operations'])}, {facts['written_bytes']} bytes written"
    yield from (f"  {tag} {count}" for tag, count in facts["tags"].items())
    yield f"edges {facts['edges']}, aliases {len(facts['aliases'])}, ranks {facts['ranks']}"
    at = (
        "at the start"
        if facts["peak_operation"] is None
        else f"at operation {facts['peak_operation']}"
    )
    yield f"peak live {facts['peak_bytes']} bytes {at}"
    yield "id, tag, results, bytes written, bytes live"
    for record in facts["operations"]:
        name = record["tag"] + (f":{record['function']}" if record["function"] else "")
        results = ",".join(record["results"])
        yield f"  {record['id']} {name} {results} {record['bytes']} {record['live']}"


def netlist_figures(netlist):
    """Totals of a netlist with the figures of its definitions."""
    counts = Counter(instance.definition for instance in netlist.instances)
    definitions = []
    for number, function in netlist.definitions.items():
        facts = figures(function)
        definitions.append(
            {
                "definition": number,
                "file": netlist.files[number],
                "instances": counts[number],
                "operations": len(facts["operations"]),
                "peak_bytes": facts["peak_bytes"],
                "written_bytes": facts["written_bytes"],
            }
        )
    return {
        "program": netlist.path,
        "inputs": _interface(netlist.inputs),
        "outputs": _interface(netlist.outputs),
        "instances": len(netlist.instances),
        "intermediates": len(netlist.intermediates),
        "definitions": definitions,
    }


def netlist_lines(netlist):
    """The figures of a netlist as text lines."""
    facts = netlist_figures(netlist)
    yield f"netlist {facts['program']}"
    for what in ("inputs", "outputs"):
        yield f"{what} {len(facts[what])}"
        yield from (f"  {text}" for text in facts[what])
    yield f"instances {facts['instances']}, intermediates {facts['intermediates']}"
    for d in facts["definitions"]:
        yield (
            f"definition {d['definition']} {d['file']}: {d['instances']} instances, "
            f"{d['operations']} operations, {d['written_bytes']} bytes written, "
            f"peak live {d['peak_bytes']} bytes"
        )
