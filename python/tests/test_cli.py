"""The command line: exit status, comparisons, array files, cases."""

import json
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

import test_netlist
from builder import Program
from hilo.penguin import cli, corpus


@pytest.fixture
def program(tmp_path):
    """y = a + b over bf16, z = all-reduce of a in float32."""
    p = Program()
    a, b = p.input((4,), "bfloat16"), p.input((4,), "bfloat16")
    y = p.op("mhlo.binary", [a, b], [((4,), "bfloat16")], fn="np.add", names=["output0"])
    z = p.op("mhlo.convert", [a], [((4,), "float32")], names=["output1"], dtype="float32")
    p.output(y, z)
    return p.save(tmp_path / "penguin.py")


A = np.array([1, 2, 3, 4], ml_dtypes.bfloat16)
B = np.array([0.5, 0.5, 0.5, np.nan], ml_dtypes.bfloat16)


@pytest.fixture
def files(tmp_path):
    raw = {"arg0": A.view(np.uint16), "arg1": B.view(np.uint16)}
    np.savez(tmp_path / "inputs.npz", **raw)
    np.savez(tmp_path / "expect.npz", out0=(A + B).view(np.uint16), out1=A.astype(np.float32))
    return tmp_path


def run(*arguments):
    return cli.main(["run", *map(str, arguments)])


def test_equal_results(program, files, capsys):
    options = [program, f"--inputs={files}/inputs.npz", f"--expect={files}/expect.npz"]
    assert run(*options) == 0
    assert capsys.readouterr().out.startswith("out0: equal, 4 elements")
    assert run(*options, "--json") == 0
    records = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(r["output"], r["elements"], r["differing"]) for r in records] == [
        ("out0", 4, 0),
        ("out1", 4, 0),
    ]
    assert run(*options, f"--outputs={files}/got.npz") == 0
    written = np.load(files / "got.npz")
    assert written["out0"].dtype == np.uint16 and sorted(written.files) == ["out0", "out1"]
    np.testing.assert_array_equal(written["out0"], np.load(files / "expect.npz")["out0"])


def test_differing_results_and_tolerances(program, files, capsys):
    wrong = A.astype(np.float32) * np.float32(1.001)
    np.savez(files / "wrong.npz", out0=(A + B).view(np.uint16), out1=wrong)
    options = [program, f"--inputs={files}/inputs.npz", f"--expect={files}/wrong.npz"]
    assert run(*options) == 2
    assert "out1: 4 of 4 elements differ" in capsys.readouterr().out
    assert run(*options, "--rtol=1e-2") == 0
    assert run(*options, "--atol=0.005") == 0
    assert run(*options, "--rtol=1e-4") == 2
    assert run(*options, "--ulp=20000") == 0
    capsys.readouterr()
    run(*options, "--json")
    record = json.loads(capsys.readouterr().out.splitlines()[1])
    assert record["first_index"] == [0] and record["got"] == 1 and record["expected"] > 1


def test_without_expectations_the_values_are_summarised(program, files, capsys):
    assert run(program, f"--inputs={files}/inputs.npz") == 0
    out = capsys.readouterr().out
    assert "out0 output0 bfloat16[4] min 1.5" in out and "non-finite 1" in out
    assert run(program, "--seed=3") == 0
    first = capsys.readouterr().out
    run(program, "--seed=3")
    assert capsys.readouterr().out == first
    run(program, "--seed=4")
    assert capsys.readouterr().out != first


def test_single_inputs_and_trace(program, files, capsys):
    np.save(files / "b.npy", np.zeros(4, np.uint16))
    assert (
        run(program, f"--inputs={files}/inputs.npz", f"--input=arg1={files}/b.npy", "--trace") == 0
    )
    captured = capsys.readouterr()
    assert "mhlo.binary:add rank 0 output0 bfloat16[4] min 1 max 4" in captured.err


def test_several_ranks(program, files, capsys):
    stacked = {f"arg{i}": np.stack([x] * 3).view(np.uint16) for i, x in enumerate((A, B))}
    np.savez(files / "ranks.npz", **stacked)
    np.savez(
        files / "out.npz",
        out0=np.stack([A + B] * 3).view(np.uint16),
        out1=np.stack([A.astype(np.float32)] * 3),
    )
    assert (
        run(program, f"--inputs={files}/ranks.npz", f"--expect={files}/out.npz", "--ranks=3") == 0
    )
    assert run(program, f"--inputs={files}/ranks.npz", f"--expect={files}/out.npz") == 1
    assert "has shape (3, 4), expected (4,)" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--inputs=missing.npz"], "can't be read"),
        (["--ranks=0"], "`--ranks` is 0"),
        (["--input=arg0"], "K=F.npy"),
        (["--nosuch"], "unrecognized arguments"),
        (["--rtol=x"], "invalid float"),
        (["--case=nowhere"], "can't be read"),
    ],
)
def test_rejected_requests_exit_1(program, arguments, message, capsys):
    try:
        status = run(program, *arguments)
    except SystemExit as stop:
        status = stop.code
    assert status == 1
    assert message in capsys.readouterr().err


def test_rejected_programs_exit_1(program, files, capsys):
    (files / "broken.py").write_text("v0 = 3\nir = v1\n")
    assert run(files / "broken.py") == 1
    assert "broken.py:2: NameError" in capsys.readouterr().err
    text = open(program, encoding="utf-8").read()
    (files / "wrong.py").write_text(text.replace("srcs=[v1, v2]", "srcs=[v1, v4]"))
    assert run(files / "wrong.py") == 1
    assert "which is not written before" in capsys.readouterr().err


def test_what_cannot_be_evaluated_exits_3(program, files, capsys):
    text = open(program, encoding="utf-8").read()
    (files / "unknown.py").write_text(text.replace("'mhlo.binary'", "'mhlo.fft'"))
    assert run(files / "unknown.py") == 3
    assert "`mhlo.fft`" in capsys.readouterr().err
    assert run(files / "unknown.py", "--no-verify") == 3
    assert cli.main(["check", str(files / "unknown.py")]) == 1


def test_check_and_show(program, files, capsys):
    assert cli.main(["check", program]) == 0
    assert capsys.readouterr().out.strip() == f"{program}: correct"
    assert cli.main(["show", program]) == 0
    out = capsys.readouterr().out
    assert "inputs 2, 16 bytes" in out and "operations 2, 24 bytes written" in out
    assert "peak live 40 bytes at operation 6" in out
    assert cli.main(["show", program, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["peak_bytes"] == 40
    text = open(program, encoding="utf-8").read()
    (files / "bad.py").write_text(
        text.replace('name="output0"', 'name="output1"').replace("id=5", "id=1")
    )
    assert cli.main(["check", str(files / "bad.py"), "--json"]) == 1
    assert len(json.loads(capsys.readouterr().out)["problems"]) >= 2


def test_netlists_on_the_command_line(tmp_path, capsys):
    test_netlist.write_definitions(tmp_path)
    path = tmp_path / "hlo_netlist.json"
    path.write_text(json.dumps(test_netlist.NETLIST))
    x, y = np.arange(3, dtype=np.float32), np.ones(3, np.float32)
    np.savez(tmp_path / "in.npz", arg0=x, arg1=y)
    np.savez(tmp_path / "out.npz", out0=4 * x + y, out1=4 * x - y)
    assert run(path, f"--inputs={tmp_path}/in.npz", f"--expect={tmp_path}/out.npz") == 0
    np.savez(tmp_path / "out.npz", out0=4 * x + y, out1=4 * x)
    assert run(path, f"--inputs={tmp_path}/in.npz", f"--expect={tmp_path}/out.npz") == 2
    assert cli.main(["check", str(path)]) == 0
    assert cli.main(["show", str(path)]) == 0
    assert "definition 0 sg00/penguin.py: 2 instances" in capsys.readouterr().out


def write_case(folder, ranks):
    """A case in the corpus's form for the program of `program`."""
    stack = (lambda x: x) if ranks == 1 else (lambda x: np.stack([x] * ranks))
    total = stack(A + B)
    shape = list(total.shape)
    record = {
        "name": "sum",
        "expect": "ok",
        "inputs": [
            {"name": f"arg{i}", "dtype": "bfloat16", "shape": shape, "stored_as": "uint16"}
            for i in range(2)
        ],
        "outputs": [
            {
                "name": "out0",
                "dtype": "bfloat16",
                "shape": shape,
                "stored_as": "uint16",
                "rtol": 0.0,
                "atol": 0.0,
            },
            {"name": "out1", "dtype": "float32", "shape": shape, "rtol": 0.01, "atol": 0.0},
        ],
    }
    if ranks > 1:
        record["num_partitions"] = ranks
    folder.mkdir()
    (folder / "case.json").write_text(json.dumps(record))
    np.savez(folder / "inputs.npz", arg0=stack(A).view(np.uint16), arg1=stack(B).view(np.uint16))
    np.savez(
        folder / "outputs.npz",
        out0=total.view(np.uint16),
        out1=stack(A).astype(np.float32) * np.float32(1.005),
    )


@pytest.mark.parametrize("ranks", [1, 8])
def test_cases_carry_tolerances_and_ranks(program, tmp_path, ranks, capsys):
    folder = tmp_path / "sum"
    write_case(folder, ranks)
    assert run(program, f"--case={folder}") == 0
    assert run(program, f"--case={folder}/case.json") == 0
    result = corpus.run_case(program, folder)
    assert result.passed and len(result.comparisons) == 2 and "sum: passed" in str(result)
    record = json.loads((folder / "case.json").read_text())
    record["outputs"][1]["rtol"] = 0.001
    (folder / "case.json").write_text(json.dumps(record))
    assert run(program, f"--case={folder}") == 2
    assert not corpus.run_case(program, folder).passed
    del record["outputs"][1]
    (folder / "case.json").write_text(json.dumps(record))
    assert run(program, f"--case={folder}") == 1
    assert "2 outputs, the case 1" in capsys.readouterr().err


def test_module_entry(program):
    done = subprocess.run(
        [sys.executable, "-m", "hilo.penguin", "check", program],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0 and done.stdout.endswith(": correct\n")
