"""Netlists: shared definitions, order, wiring errors."""

import copy
import json

import numpy as np
import pytest

from builder import Program
from hilo.penguin import ProgramError, load


def write_definitions(folder):
    """sg00: y = 2 x, all-reduced over all ranks; sg01: (a + b, a - b)."""
    p = Program()
    a = p.input((3,))
    two = p.op("mhlo.binary", [a, a], [((3,), "float32")], fn="np.add")
    p.output(
        p.op(
            "mhlo.all_reduce",
            [two],
            [((3,), "float32")],
            fn="np.add",
            names=["output0"],
            kind="AllReduce",
            replica_groups=[],
            dtype="float32",
            has_token=False,
            stream_id=0,
        )
    )
    q = Program()
    a, b = q.input((3,)), q.input((3,))
    made = [
        q.op("mhlo.binary", [a, b], [((3,), "float32")], fn=f"np.{fn}", names=[f"output{i}"])
        for i, fn in enumerate(("add", "subtract"))
    ]
    q.output(*made)
    for name, program in (("sg00", p), ("sg01", q)):
        (folder / name).mkdir()
        program.save(folder / name / "penguin.py")


def interface(name, index):
    return {"Name": name, "Index": index, "DType": "float32", "Shape": [3]}


NETLIST = {
    "Version": 1,
    "Signature": "",
    "TargetInstance": "trn1",
    "LogicalNcConfig": 1,
    "NeuronCoresPerSengine": 1,
    "Inputs": [interface("input0", 0), interface("input1", 1)],
    "Outputs": [interface("output0", 0), interface("output1", 1)],
    "IntermediateIOs": ["mod0_out0", "mod1_out0"],
    "Aliases": [],
    "Definitions": [
        {
            "DefID": 0,
            "Dir": "sg00",
            "PenguinFile": "sg00/penguin.py",
            "Hash": "",
            "MacCount": 0,
            "Direction": "none",
            "Layers": [],
            "Inputs": ["input0"],
            "Outputs": ["output0"],
        },
        {
            "DefID": 1,
            "Dir": "sg01",
            "PenguinFile": "sg01/penguin.py",
            "Hash": "",
            "MacCount": 0,
            "Direction": "none",
            "Layers": [],
            "Inputs": ["input0", "input1"],
            "Outputs": ["output0", "output1"],
        },
    ],
    "Instances": [
        {
            "InstID": 0,
            "DefID": 0,
            "Name": "call_def_0_instance_0",
            "InpMap": {"input0": "input0"},
            "OutMap": {"output0": "mod0_out0"},
            "After": [],
        },
        {
            "InstID": 1,
            "DefID": 0,
            "Name": "call_def_0_instance_1",
            "InpMap": {"input0": "mod0_out0"},
            "OutMap": {"output0": "mod1_out0"},
            "After": [0],
        },
        {
            "InstID": 2,
            "DefID": 1,
            "Name": "call_def_1_instance_0",
            "InpMap": {"input0": "mod1_out0", "input1": "input1"},
            "OutMap": {"output0": "output0", "output1": "output1"},
            "After": [],
        },
    ],
    "PartMap": [],
}


@pytest.fixture
def folder(tmp_path):
    write_definitions(tmp_path)
    return tmp_path


def loaded(folder, record):
    path = folder / "hlo_netlist.json"
    path.write_text(json.dumps(record))
    return load(path)


def test_instances_compose_over_ranks(folder):
    netlist = loaded(folder, NETLIST)
    x, y = np.arange(3, dtype=np.float32), np.ones(3, np.float32)
    for got, expected in zip(netlist.run([x, y]), (4 * x + y, 4 * x - y)):
        np.testing.assert_array_equal(got, expected)
    xs, ys = np.stack([x, x + 1]), np.stack([y, 2 * y])
    first = 4 * 2 * (2 * x + 1)
    total, difference = netlist.run({"input0": xs, "arg1": ys}, ranks=2)
    np.testing.assert_array_equal(total, [first + 1, first + 2])
    np.testing.assert_array_equal(difference, [first - 1, first - 2])
    assert netlist.implied_ranks() == 1


def changed(path, value):
    record = copy.deepcopy(NETLIST)
    place = record
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return record


@pytest.mark.parametrize(
    "path, value, message",
    [
        (["Version"], 2, "`Version` is 2"),
        (["Instances"], None, "lacks `Instances`"),
        (["Definitions", 0, "DefID"], "0", "no int"),
        (["Definitions", 1, "DefID"], 0, "definition 0 is given twice"),
        (["Definitions", 0, "Inputs"], ["input7"], "its program has ['input0']"),
        (["Definitions", 0, "PenguinFile"], "sg07/penguin.py", "can't be read"),
        (["Instances", 0, "DefID"], 5, "uses definition 5, which is missing"),
        (["Instances", 2, "DefID"], 0, "`InpMap` of instance 2 maps `input1`"),
        (["Instances", 0, "InpMap"], {}, "does not map `input0`"),
        (["Instances", 0, "InpMap", "extra"], "input0", "maps `extra`"),
        (
            ["Instances", 0, "InpMap", "input0"],
            "mod1_out0",
            "reads `mod1_out0` before it is produced",
        ),
        (["Instances", 1, "OutMap", "output0"], "mod0_out0", "has another producer"),
        (["Instances", 0, "After"], [1], "listed later"),
        (["Instances", 1, "InstID"], 0, "instance 0 is given twice"),
        (["Instances", 2, "OutMap", "output1"], "elsewhere", "output `output1` has no producer"),
        (["Inputs", 0, "Shape"], [4], "wants `input0` as float32[3], it is float32[4]"),
        (["Inputs", 0, "DType"], "float99", "unknown element type"),
        (["IntermediateIOs"], ["ghost"], "nothing produces"),
    ],
)
def test_wiring_errors(folder, path, value, message):
    with pytest.raises(ProgramError) as caught:
        loaded(folder, changed(path, value))
    assert message in str(caught.value)


def test_unused_definitions_and_unreadable_files(folder):
    record = copy.deepcopy(NETLIST)
    record["Definitions"].append({**record["Definitions"][0], "DefID": 2})
    with pytest.raises(ProgramError, match="definition 2 has no instance"):
        loaded(folder, record)
    (folder / "hlo_netlist.json").write_text("[1, 2")
    with pytest.raises(ProgramError, match="can't be read"):
        load(folder / "hlo_netlist.json")
    with pytest.raises(ProgramError, match="is no object"):
        loaded(folder, [1])
