"""Loading: constants, errors with their line, what a program may import, edges."""

import ml_dtypes
import numpy as np
import pytest

from builder import Program
from hilo.penguin import ProgramError, load, load_text


def simple():
    p = Program()
    a = p.input((2,))
    b = p.op("mhlo.unary", [a], [((2,), "float32")], fn="np.negative")
    p.output(b)
    return p


@pytest.mark.parametrize(
    "dtype",
    [
        "float32",
        "float16",
        "bfloat16",
        "float8_e4m3fn",
        "int8",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "bool",
    ],
)
def test_constant_files_hold_raw_bits_of_what_numpy_lacks(dtype, tmp_path):
    numpy_type = np.dtype(getattr(ml_dtypes, dtype, None) or dtype)
    table = np.array([[0, 1, 3], [2, 1, 0]], np.float32).astype(numpy_type)
    p = Program(str(tmp_path))
    c = p.constant(table, dtype)
    p.output(p.offloaded("OffloadedMemCpy", c, (3, 2), dtype))
    path = p.save(tmp_path / "penguin.py")
    (got,) = load(path).run([])
    assert got.dtype == numpy_type and got.tolist() == table.reshape(3, 2).tolist()


@pytest.mark.parametrize(
    "value, dtype, expected",
    [
        (float("-inf"), "float32", -np.inf),
        (0.1, "bfloat16", 0.10009765625),
        (True, "bool", True),
        (-5, "int8", -5),
        (2**64 - 1, "uint64", 2**64 - 1),
        (0.1, "float16", float(np.float16(0.1))),
        (448.0, "float8_e4m3fn", 448.0),
    ],
)
def test_single_values(value, dtype, expected):
    p = Program()
    c = p.splat(value, dtype, (2, 2))
    p.output(p.offloaded("OffloadedMemCpy", c, (4,), dtype))
    (got,) = p.run()
    assert got.shape == (4,) and all(v == expected for v in got.tolist())


def test_file_and_shape_of_a_constant_are_checked(tmp_path):
    p = Program(str(tmp_path))
    p.output(
        p.offloaded(
            "OffloadedMemCpy", p.constant(np.zeros((2, 2), np.float32), "float32"), (4,), "float32"
        )
    )
    text = p.text()
    np.save(tmp_path / "constant.1.npy", np.zeros((2, 3), np.float32))
    with pytest.raises(ProgramError, match=r"holds an array of shape \(2, 3\), expected \(2, 2\)"):
        load_text(text, str(tmp_path)).run([])
    (tmp_path / "constant.1.npy").unlink()
    with pytest.raises(ProgramError, match="constant file `constant.1.npy` can't be read"):
        load_text(text, str(tmp_path))
    np.save(tmp_path / "constant.1.npy", np.array([[{}]]), allow_pickle=True)
    with pytest.raises(ProgramError, match="can't be read"):
        load_text(text, str(tmp_path))


@pytest.mark.parametrize(
    "line, message",
    [
        ("import os", "imports `os`, which no penguin program needs"),
        ("v1 = v99", "NameError"),
        ("x = (", "was never closed"),
        ("open('/etc/passwd')", "NameError"),
        ("m0.Tensor(name='a')", "TypeError"),
        ("v0.markInput(3)", "markInput was not given a tensor"),
        ("np.load('../x.npy')", "can't be read"),
    ],
)
def test_errors_name_file_and_line(line, message):
    lines = simple().text().split("\n")
    lines.insert(8, line)
    with pytest.raises(ProgramError, match=message) as caught:
        load_text("\n".join(lines), path="some/penguin.py")
    assert str(caught.value).startswith("some/penguin.py:9: ")


def test_a_program_must_leave_a_function(tmp_path):
    with pytest.raises(ProgramError, match="leaves no Function"):
        load_text("x = 1")
    with pytest.raises(ProgramError, match="can't be read"):
        load(tmp_path / "missing.py")
    (tmp_path / "binary.py").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ProgramError, match="can't be read"):
        load(tmp_path / "binary.py")
    with pytest.raises(ProgramError):
        load_text("x = 1\0")


def test_edges_may_be_added_to_an_operation_and_count_once():
    p = Program(control=True)
    a = p.input((2,))
    b = p.op("mhlo.unary", [a], [((2,), "float32")], fn="np.exp")
    c = p.op("mhlo.unary", [a], [((2,), "float32")], fn="np.tanh")
    p.edge(b, c)
    p.lines.append(p.lines[-1].replace("v0.add_dep_edge", f"v{c.writer}.add_dep_edge"))
    p.edge(b, c, "ANTI")
    p.output(b, c)
    function = p.load()
    assert [edge.kind.name for edge in function.edges] == ["ORDERED", "ANTI"]


def test_an_edge_against_the_order_is_refused():
    p = Program(control=True)
    a = p.input((2,))
    b = p.op("mhlo.unary", [a], [((2,), "float32")], fn="np.exp")
    c = p.op("mhlo.unary", [a], [((2,), "float32")], fn="np.tanh")
    p.edge(c, b)
    p.output(b, c)
    with pytest.raises(ProgramError, match="which stands earlier"):
        p.load().run([np.zeros(2, np.float32)])


def test_inputs_by_name_by_number_and_their_errors():
    function, x = simple().load(), np.array([1.0, 2.0], np.float32)
    for inputs in ([x], {"arg0": x}, {"input0": x}):
        np.testing.assert_array_equal(function.run(inputs)[0], -x)
    for inputs, message in (
        ([], "0 inputs given"),
        ({"arg1": x}, "`input0`"),
        ([x[:1]], "has shape"),
        ([x.astype(np.float64)], "holds float64, expected float32"),
    ):
        with pytest.raises(ProgramError, match=message):
            function.run(inputs)
    with pytest.raises(ProgramError, match="do not split"):
        function.run([np.stack([x] * 3)], ranks=3, replicas=2)


def test_integers_of_another_width_are_taken_when_they_fit():
    p = Program()
    p.output(p.offloaded("OffloadedMemCpy", p.input((2,), "int32"), (2,), "int32"))
    assert p.run([np.array([1, -2], np.int64)])[0].tolist() == [1, -2]
    with pytest.raises(ProgramError, match="holds int64, expected int32"):
        p.run([np.array([1, 2**40], np.int64)])


def test_outputs_are_the_callers_own():
    p = Program()
    a, c = p.input((2,)), p.splat(1.0, "float32", (2,))
    p.output(*(p.offloaded("OffloadedMemCpy", v, (2,), "float32") for v in (a, c)))
    x = np.zeros(2, np.float32)
    for output in p.run([x]):
        output += 5
    assert x.tolist() == [0, 0]
