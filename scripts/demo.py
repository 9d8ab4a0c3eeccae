"""Compile a sharded model whole and in pieces, execute both on its ranks, compare, and print the figures (see demo.sh).

The last line says whether the results are right; the exit status too (0 yes, 1 no).
"""

import ast
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
BIN = ROOT / "build" / "release" / "bin"
WORK = ROOT / "build" / "demo"
OWN = ROOT / "tests" / "data" / "tp_block"


def peak_kib(pid):
    """The largest resident set of a running process so far. (What wait4 says includes ours, from before the exec.)"""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    line = next((line for line in status.splitlines() if line.startswith("VmHWM")), "VmHWM: 0 kB")
    return int(line.split()[1])


def measured(words, cwd):
    """(status, output, seconds, peak MiB) of a command."""
    with tempfile.TemporaryFile("w+") as output:
        start = time.perf_counter()
        process = subprocess.Popen(words, stdout=output, stderr=subprocess.STDOUT, cwd=cwd)
        peak = 0
        while process.poll() is None:
            peak = max(peak, peak_kib(process.pid))
            time.sleep(0.0005)
        seconds = time.perf_counter() - start
        output.seek(0)
        return process.returncode, output.read(), seconds, peak / 1024


def fail(what, output=""):
    sys.stdout.flush()
    print(f"demo: {what}", file=sys.stderr)
    if output:
        print(output, file=sys.stderr)
    sys.exit(1)


def choose_case(arguments):
    """(folder with the numbers, model file)"""
    corpus = pathlib.Path(os.environ.get("HILO_CORPUS", ROOT.parent / "shared" / "corpus"))
    folder = pathlib.Path(arguments[0]) if arguments else corpus / "jax" / "sharded" / "tp_llama_fwd"
    if folder.is_dir():
        return folder, folder / "model.hlo.pb"
    if arguments:
        fail(f"there is no folder {folder}")
    print(f"demo: no corpus at {corpus}; using {OWN.relative_to(ROOT)}")
    folder = WORK / "case"
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run([sys.executable, OWN / "reference.py", folder], check=True)
    return folder, OWN / "model.hlo.txt"


def compiled(model, out, log, *words):
    """(status, output, seconds, peak MiB) of a compile. The peak is that of its arenas, as it says: it may end before anybody looks."""
    status, output, seconds, _ = measured(
        [BIN / "hlo2penguin", "--input", model, "--out-dir", out, "--logfile", log, "--timings", *words], cwd=WORK)
    peak = re.search(r"^all .* (\d+) KiB peak$", output, re.M)
    return status, output, seconds, peak and int(peak[1]) / 1024


def compile_flat(model, out):
    out.mkdir(parents=True, exist_ok=True)
    program = out / "penguin.py"
    program.unlink(missing_ok=True)
    status, output, seconds, peak = compiled(model, out, out / "log.txt", "--output", "penguin.py")
    if status or not program.exists():
        fail(f"hlo2penguin ended with status {status}", output)
    return program, seconds, peak


def compile_partitioned(model, out):
    """One layer a module, if the model has layers that hilo finds."""
    shutil.rmtree(out, ignore_errors=True)
    netlist = out / "hlo_netlist.json"
    status, output, seconds, peak = compiled(model, out, WORK / "log.txt", "--partition", "--layers-per-module=1")
    if status or not netlist.exists():
        fail(f"hlo2penguin --partition ended with status {status}", output)
    return netlist, seconds, peak


def hlo_instructions(model):
    """What hlo-opt counts in the input, or None where it cannot say."""
    status, output, _, _ = measured([BIN / "hlo-opt", "--stats=json", "--emit=none", model], cwd=WORK)
    if status:
        return None
    for line in output.splitlines():
        if line.startswith("{"):
            return json.loads(line).get("instructions")
    return None


def operations(program):
    """Calls in the program that carry a debug location: its operations."""
    calls = (node for node in ast.walk(ast.parse(program.read_text())) if isinstance(node, ast.Call))
    return sum(any(k.arg == "dl" for k in call.keywords) for call in calls)


def execute(program, folder, case, ranks):
    tolerance = case["tolerance"]
    status, output, seconds, peak = measured(
        [sys.executable, "-m", "hilo.penguin", "run", program, f"--ranks={ranks}", "--json",
         f"--inputs={folder / 'inputs.npz'}", f"--expect={folder / 'outputs.npz'}",
         f"--rtol={tolerance['rtol']}", f"--atol={tolerance['atol']}"], cwd=WORK,
    )
    if status not in (0, 2):
        fail(f"the program could not be executed (status {status})", output)
    records = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    if not records:
        fail("nothing was compared", output)
    return status == 0, records, seconds, peak


def report(what, case, equal, records, seconds, peak, ranks):
    elements = sum(r["elements"] for r in records)
    worst = max(records, key=lambda r: float(r["max_abs"]))
    print(f"{what}  {seconds:.2f} s, {peak:.1f} MiB peak, {ranks} ranks in lockstep")
    print(f"compared   {len(records)} results, {elements:,} elements: largest difference {float(worst['max_abs']):.3g} "
          f"({worst['max_ulp']} ulp) in {worst['output']}, allowed {case['tolerance']['atol']:.3g} + "
          f"{case['tolerance']['rtol']:.3g} x |value|")
    for record in records:
        if record["differing"]:
            print(f"           {record['output']}: {record['differing']} elements beyond that")
    return equal


def main(arguments):
    WORK.mkdir(parents=True, exist_ok=True)
    folder, model = choose_case(arguments)
    folder, model = folder.resolve(), model.resolve()
    case = json.loads((folder / "case.json").read_text())
    ranks = case.get("num_partitions", 1)
    print(f"model      {case['name']}: {case['about']}")
    print(f"           {model} ({model.stat().st_size:,} bytes), {ranks} ranks")

    program, seconds, peak = compile_flat(model, WORK / "flat")
    count = hlo_instructions(model)
    print(f"compiled   {seconds * 1000:.1f} ms, {peak:.1f} MiB in arenas: "
          f"{f'{count:,} HLO instructions' if count else 'the module'} -> {operations(program):,} operations in "
          f"{program.relative_to(ROOT)} ({program.stat().st_size:,} bytes), 1 module")

    netlist, seconds, peak = compile_partitioned(model, WORK / "partitioned")
    wiring = json.loads(netlist.read_text())
    print(f"in pieces  {seconds * 1000:.1f} ms, {peak:.1f} MiB in arenas: {len(wiring['Instances'])} instances of "
          f"{len(wiring['Definitions'])} modules, wired by {netlist.relative_to(ROOT)}")

    equal = report("executed ", case, *execute(program, folder, case, ranks), ranks)
    equal &= report("pieces   ", case, *execute(netlist, folder, case, ranks), ranks)
    print("the results are right" if equal else "THE RESULTS DIFFER")
    return 0 if equal else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
