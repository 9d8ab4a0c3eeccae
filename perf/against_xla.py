#!/usr/bin/env python3
"""hilo and XLA side by side: both do the same job on the same bytes, alternately, in one sitting.

usage: against_xla.py --python VENV/bin/python [--bin DIR] [--rounds N] [--no-passes] [--count] INPUT...

VENV has jax==0.10.2 in it (XLA comes with jaxlib). INPUT is a file that hilo reads or a generated module such as
`transformer:10000`. Prints one table in Markdown per input: medians per HLO instruction, and XLA's over hilo's.

* parse, print, write: in-process, results kept until the clock stops, processor time of the thread. XLA first rewrites
  the input in its own words, and both read these files.
* passes: XLA has no way to run one alone but a compile with --xla_enable_hlo_passes_only, and its own log of times
  (hlo_pass_pipeline=1). Taken is the first run of the pass. jaxlib compiles StableHLO only: the conversion is outside
  the clock, but XLA's passes see the module as it comes back from it. hilo's see the module as read.
* compile: all leaf passes of XLA:CPU's HLO pipeline, by the same log (wall clock; stopped before LLVM), against all of
  hilo's flat compile from proto to penguin.py in memory, reading, verifying and printing included.
* --count: machine instructions under valgrind for the jobs that are in-process on both sides (minutes)."""
import argparse
import ctypes
import datetime
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
HERE = pathlib.Path(__file__).resolve()
IN_PROCESS = ["parse-text", "parse-proto", "print", "write-proto"]
# hilo's job: XLA's pass
PASSES = {"dce": "dce", "tuple-simplifier": "tuple-simplifier", "cse": "cse"}
WANTED = {"parse-text": 12, "parse-proto": 10, "print": 8, "write-proto": 10, "dce": 5, "cse": 30, "compile": 50}
RUNS = 3  # per round
STEP_SECONDS = 600  # no XLA compile may take longer


# ---- inside the venv: XLA ------------------------------------------------------------------------------------

def load_xla(path):
    """(HloModule, text or None, proto or None) of a file."""
    from jaxlib import _hlo

    data = pathlib.Path(path).read_bytes()
    if path.endswith(".pb"):
        return _hlo.HloModule.from_serialized_hlo_module_proto(data)
    return _hlo.hlo_module_from_text(data.decode())


def n_instructions(module):
    return sum(len(c.instructions()) for c in module.computations())


class Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks",
                                                     "uordblks", "fordblks", "keepcost")]


def malloc_bytes():
    libc = ctypes.CDLL(None)
    libc.mallinfo2.restype = Mallinfo
    info = libc.mallinfo2()
    return info.uordblks + info.hblkhd


def xla_jobs(module):
    """{job: callable}; results are returned so that the caller can keep them."""
    from jaxlib import _hlo

    text, proto = module.to_string(), module.as_serialized_hlo_module_proto()
    return {
        "parse-text": lambda: _hlo.hlo_module_from_text(text),
        "parse-proto": lambda: _hlo.HloModule.from_serialized_hlo_module_proto(proto),
        "print": module.to_string,
        "write-proto": module.as_serialized_hlo_module_proto,
    }


def serve(path, out):
    """Write the module in XLA's words as OUT.pb and OUT.hlo, then answer lines `JOB RUNS` with nanoseconds, as JSON."""
    module = load_xla(path)
    jobs = xla_jobs(module)
    pathlib.Path(out + ".hlo").write_text(module.to_string())
    pathlib.Path(out + ".pb").write_bytes(module.as_serialized_hlo_module_proto())
    print(json.dumps(n_instructions(module)), flush=True)
    for line in sys.stdin:
        job, runs = line.split()
        if job == "live":
            before = malloc_bytes()
            held = [jobs["parse-proto"]() for _ in range(int(runs))]
            print(json.dumps((malloc_bytes() - before) / len(held)), flush=True)
            continue
        times = []
        for _ in range(int(runs)):
            start = time.thread_time_ns()
            result = jobs[job]()
            times.append(time.thread_time_ns() - start)
            del result
        print(json.dumps(times), flush=True)


def repeat(path, job, runs):
    """For valgrind: the job so many times, and once before."""
    module = load_xla(path)
    work = xla_jobs(module)[job]
    for _ in range(1 + runs):
        work()


def compile_for_log(path, devices):
    """Compile, with XLA's log on stderr; the parent reads it and stops us."""
    from jaxlib import _hlo, _jax

    proto = load_xla(path).as_serialized_hlo_module_proto()
    mlir = _jax.mlir.xla_computation_to_mlir_module(_hlo.XlaComputation(proto))
    client = _jax.get_tfrt_cpu_client(asynchronous=True, num_devices=devices)
    options = _jax.CompileOptions()
    options.num_replicas, options.num_partitions = 1, devices
    build = options.executable_build_options
    build.num_replicas, build.num_partitions = 1, devices
    build.use_spmd_partitioning = devices > 1
    client.compile_and_load(mlir, _jax.DeviceList(tuple(client.local_devices()[:devices])), options)


# ---- outside: hilo, and running both ----------------------------------------------------------------------------

class Server:
    """XLA in a process of its own that stays up."""

    def __init__(self, python, path, out):
        self.process = subprocess.Popen([python, HERE, "--serve", path, out], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.n_instructions = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit("against_xla: XLA ended early")
        return json.loads(line)

    def ask(self, job, runs):
        print(job, runs, file=self.process.stdin, flush=True)
        return self.answer()

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def hilo(binary, job, path, runs):
    """(nanoseconds of each run, instructions, live bytes without strings)"""
    done = subprocess.run([binary, f"--runs={runs}", job, path], capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"<!-- hilo {job}: {done.stderr.strip().splitlines()[:2]} -->")
        return None, 0, 0
    cells = done.stdout.split("\t")
    return [int(x) for x in cells[6:]], int(cells[2]), int(cells[4])


PASS = re.compile(r"HLO pass: (.+?) time: .*?\((\d+) us\)")
PIPELINE = re.compile(r"Running HLO pass pipeline on module .*?: (.+)$")


def xla_passes(python, path, devices, only):
    """[(pass, nanoseconds)] in the order run, pipelines left out; None if XLA fails."""
    flags = os.environ.get("XLA_FLAGS", "") + (f" --xla_enable_hlo_passes_only={only}" if only else "")
    env = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="0", TF_CPP_VMODULE="hlo_pass_pipeline=1,buffer_assignment=1",
               XLA_FLAGS=flags.strip(), JAX_PLATFORMS="cpu")
    process = subprocess.Popen([python, HERE, "--compile", path, str(devices)], env=env, stderr=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, text=True, errors="replace")
    timer = threading.Timer(STEP_SECONDS, process.kill)
    timer.start()
    runs, pipelines, last, is_done = [], set(), "", False
    for line in process.stderr:
        if found := PIPELINE.search(line):
            pipelines.add(found[1].strip())
        elif found := PASS.search(line):
            runs.append((found[1], int(found[2]) * 1000))
        elif "Assigning buffers to module" in line:
            is_done = True
            break
        last = line
    timer.cancel()
    process.kill()  # what follows is LLVM
    process.wait()
    process.stderr.close()
    if not is_done:
        print(f"<!-- XLA: {last.strip()[:200]} -->")
        return None
    return [(name, ns) for name, ns in runs if name not in pipelines]


def hilo_count(binary, job, path):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["valgrind", "--tool=callgrind", "--instr-atstart=no", "--collect-jumps=no",
                        f"--callgrind-out-file={folder}/out", binary, "--count", job, path], capture_output=True, check=True)
        text = pathlib.Path(folder, "out.1").read_text()
        return int(re.search(r"^(?:totals|summary): (\d+)", text, re.M)[1])


def xla_count(python, path, job):
    def total(runs):
        done = subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", python,
                               str(HERE), "--repeat", path, job, str(runs)], capture_output=True, text=True, check=True)
        return int(re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)[1].replace(",", ""))
    return (total(3) - total(1)) // 2


# ---- the table -----------------------------------------------------------------------------------------------

def file_for(job, base):
    return base + (".hlo" if job in ("parse-text", "print") else ".pb")


def measure_in_process(args, server, base):
    """{job: (hilo ns, xla ns)}: medians over all rounds, the first run of each process left out."""
    samples = {job: ([], []) for job in IN_PROCESS}
    for _ in range(args.rounds):
        for job in IN_PROCESS:
            ours, _, _ = hilo(args.job, job, file_for(job, base), 1 + RUNS)
            samples[job][0].extend((ours or [])[1:])
            samples[job][1].extend(server.ask(job, 1 + RUNS)[1:])
    return {job: tuple(map(median, pair)) for job, pair in samples.items()}


def measure_passes(args, base, devices):
    samples = {job: ([], []) for job in [*PASSES, "compile"]}
    for _ in range(max(1, args.rounds // 2)):
        for job, (ours, theirs) in samples.items():
            ns, _, _ = hilo(args.job, job, base + ".pb", 1 + RUNS)
            ours.extend((ns or [])[1:])
            runs = xla_passes(args.python, base + ".pb", devices, PASSES.get(job))
            if runs is None:
                continue
            if job == "compile":
                theirs.append(sum(ns for _, ns in runs))
            else:
                theirs.extend([ns for name, ns in runs if name == PASSES[job]][:1])
    return {job: tuple(map(median, pair)) for job, pair in samples.items()}


def median(values):
    return statistics.median(values) if values else None


def row(job, ours, theirs, n, unit="ns"):
    if ours is None or theirs is None:
        return f"| {job} | {'-' if ours is None else f'{ours / n:.1f}'} | {'-' if theirs is None else f'{theirs / n:.0f}'} | | |"
    ratio = theirs / ours if ours else float("inf")
    wanted = WANTED.get(job) if unit == "ns" else None
    note = f"{wanted}x" if wanted else ""
    return f"| {job} | {ours / n:.1f} | {theirs / n:.0f} | {ratio:.1f}x{' **below**' if wanted and ratio < wanted else ''} | {note} |"


def n_partitions(path):
    found = re.search(rb"num_partitions\s*=\s*(\d+)", pathlib.Path(path).read_bytes()[:100000])
    return int(found[1]) if found else 1


def compare(args, spec):
    with tempfile.TemporaryDirectory() as folder:
        base = str(pathlib.Path(folder) / "input")
        raw = base + ".raw.pb"
        done = subprocess.run([args.job, "--write=proto", raw, spec], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"against_xla: {done.stderr}")
        server = Server(args.python, raw, base)
        n = server.n_instructions
        text, proto = (os.path.getsize(base + end) for end in (".hlo", ".pb"))
        print(f"\n### {spec}: {n} instructions, {text / 1e6:.2f} MB of text, {proto / 1e6:.2f} MB of proto\n")
        print("| job | hilo, ns an instr. | XLA, ns an instr. | XLA / hilo | wanted |\n|---|--:|--:|--:|--:|")
        for job, pair in measure_in_process(args, server, base).items():
            print(row(job, *pair, n), flush=True)
        _, _, live = hilo(args.job, "parse-proto", base + ".pb", 1)
        print(row("live bytes", live, server.ask("live", 4), n, "bytes"), flush=True)
        server.close()
        if not args.no_passes:
            for job, pair in measure_passes(args, base, n_partitions(base + ".hlo")).items():
                print(row(job, *pair, n), flush=True)
        for job in IN_PROCESS if args.count else []:
            path = file_for(job, base)
            print(row(f"{job}, machine instructions", hilo_count(args.job, job, path), xla_count(args.python, path, job), n,
                      "instructions"), flush=True)


def header(args):
    versions = subprocess.run([args.python, "-c", "import jaxlib; print(jaxlib.__version__)"], capture_output=True, text=True,
                              check=True).stdout.strip()
    cpu = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="utf-8") if line.startswith("model name")),
               platform.machine())
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], capture_output=True, text=True,
                            check=False).stdout.strip()
    print(f"{datetime.date.today()}, {os.cpu_count()} cores of {cpu}, load {os.getloadavg()[0]:.1f}, "
          f"hilo {commit}, jaxlib {versions}, {args.rounds} rounds of {RUNS} runs, medians")


def main():
    inside = {"--serve": serve, "--repeat": lambda p, j, r: repeat(p, j, int(r)),
              "--compile": lambda p, d: compile_for_log(p, int(d))}
    if sys.argv[1:2] and sys.argv[1] in inside:
        return inside[sys.argv[1]](*sys.argv[2:])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True)
    parser.add_argument("--bin", default=ROOT / "build" / "release" / "bin", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--no-passes", action="store_true")
    parser.add_argument("--count", action="store_true")
    parser.add_argument("inputs", nargs="+", metavar="INPUT")
    args = parser.parse_args()
    args.job = str(args.bin / "hilo_job")
    header(args)
    for spec in args.inputs:
        compare(args, spec)
    return 0


if __name__ == "__main__":
    sys.exit(main())
