#!/usr/bin/env python3
"""Partitions and batches: what a layer costs, how well two threads share them, what a batch saves. Exit status 1 if a goal is missed.

usage: partitions.py [--bin DIR] [--only large,counts,queue,batch] [--python VENV/bin/python] [--update] ...

* large: the 48-layer models below HILO_CORPUS (default ../shared/corpus), marked and not, inference and training, one layer a module,
  proto to netlist and programs: against a flat compile; against 24 layers (the growth may be 1.2 x what reading, hashing and wiring 24
  layers take, by --timings: `read`, `sign`, `cut`, `netlist`); the peak of memory; instances and definitions. With --python (a venv
  with jax==0.10.2) also against XLA:CPU's HLO passes on the same module, one thread.
* counts: stacks of marked layers of about 30 instructions, one layer a module: `shared` (one definition), `unique` (`--force-all-uniq`:
  as many programs as layers, for which all of it is done, files included). Efficiency is wall(1 thread) / (2 x wall(2 threads)), of
  the whole run (reading and cutting are one thread's) and of what threads share, `compile` to `commit`, which is judged;
  busy is the processor time of both threads against that of one, which says what sharing itself costs; and what the machine gives
  two processes at once is beside them.
* queue: `queue_cost`, nanoseconds a task. batch: many small modules in one process against as many processes.

The fastest of alternate rounds counts. Wall times say nothing while others use the machine: above a load of --quiet the verdicts are
on processor time, and say so. Files go to /dev/shm where there is one. --update writes the figures to perf/partitions.tsv."""

import argparse
import concurrent.futures
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
BASELINES = ROOT / "perf" / "partitions.tsv"
BY_LAYER = ["--partition", "--layers-per-module=1"]
# Instances and definitions of one layer a module (cli-and-partition 12.4).
PIECES = {"infer": {24: (26, 3), 48: (50, 3)}, "train": {24: (51, 5), 48: (99, 5)}}

LAYER = """\
  s{k} = f32[64,64] custom-call({x}), custom_call_target="AwsNeuronModuleMarkerStart-Forward"
  q{k} = f32[64,64] dot(s{k}, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  k{k} = f32[64,64] dot(s{k}, v), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  c{k} = f32[64,64] dot(q{k}, k{k}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}
  m{k} = f32[64] reduce(c{k}, low), dimensions={{1}}, to_apply=most
  b{k} = f32[64,64] broadcast(m{k}), dimensions={{0}}
  d{k} = f32[64,64] subtract(c{k}, b{k})
  x{k} = f32[64,64] exponential(d{k})
  t{k} = f32[64] reduce(x{k}, zero), dimensions={{1}}, to_apply=sum
  u{k} = f32[64,64] broadcast(t{k}), dimensions={{0}}
  y{k} = f32[64,64] divide(x{k}, u{k})
  o{k} = f32[64,64] dot(y{k}, s{k}), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  r{k} = f32[64,64] add(o{k}, s{k})
  h{k} = f32[64,64] dot(r{k}, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{1}}
  g{k} = f32[64,64] tanh(h{k})
  z{k} = f32[64,64] add(g{k}, r{k})
  e{k} = f32[64,64] custom-call(z{k}), custom_call_target="AwsNeuronModuleMarkerEnd-Forward"
"""
HEAD = """\
HloModule stack
sum {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b)
}
most {
  c = f32[] parameter(0)
  d = f32[] parameter(1)
  ROOT s = f32[] maximum(c, d)
}
ENTRY main {
  p = f32[64,64] parameter(0)
  w = f32[64,64] parameter(1)
  v = f32[64,64] parameter(2)
  zero = f32[] constant(0)
  low = f32[] constant(-inf)
"""


def module(n_layers):
    lines, x = [HEAD], "p"
    for k in range(n_layers):
        lines.append(LAYER.format(k=k, x=x))
        x = f"e{k}"
    return "".join(lines) + f"  ROOT out = f32[64,64] negate({x})\n}}\n"


class Run:
    """One run of a command: seconds of wall and processor, peak bytes, stderr."""

    def __init__(self, words, text=None):
        with tempfile.TemporaryFile() as errors, tempfile.TemporaryFile() as given:
            given.write((text or "").encode())
            given.seek(0)
            start = time.perf_counter()
            process = subprocess.Popen(words, stdin=given, stdout=subprocess.DEVNULL, stderr=errors)
            _, status, usage = os.wait4(process.pid, 0)
            self.wall = time.perf_counter() - start
            process.returncode = os.waitstatus_to_exitcode(status)
            errors.seek(0)
            self.stderr = errors.read().decode(errors="replace")
        if process.returncode:
            sys.exit(f"partitions: {' '.join(map(str, words))}: {self.stderr[-500:]}")
        self.busy = usage.ru_utime + usage.ru_stime
        self.peak = usage.ru_maxrss * 1024

    def phases(self):
        """{phase: (wall, processor)} in seconds, of --timings."""
        rows = re.findall(r"^(\w+) +([\d.]+) ms wall +([\d.]+) ms processor\b", self.stderr, re.M)
        return {name: (float(wall) / 1e3, float(busy) / 1e3) for name, wall, busy in rows}


class Report:
    """Figures and verdicts."""

    def __init__(self, quiet):
        self.quiet, self.figures, self.missed = quiet, [], []
        self.old = dict(line.split("\t")[:2] for line in BASELINES.read_text().splitlines()
                        if not line.startswith("#")) if BASELINES.exists() else {}

    def is_loaded(self):
        return os.getloadavg()[0] > self.quiet

    def time_of(self, runs):
        """Seconds that count: the least wall time, or processor time when others use the machine."""
        return min(r.busy for r in runs) if self.is_loaded() else min(r.wall for r in runs)

    def kind(self):
        return "processor time" if self.is_loaded() else "wall"

    def add(self, name, value, goal=None, passed=None, unit=""):
        verdict = "" if passed is None else " pass" if passed else " **missed**"
        before = f", before: {self.old[name]}" if name in self.old else ""
        print(f"{name}: {value:.4g}{unit}{f' (wanted: {goal})' if goal else ''}{verdict}{before}", flush=True)
        self.figures.append((name, f"{value:.4g}", goal or "", verdict.strip(" *")))
        if passed is False:
            self.missed.append(name)


def alternately(rounds, commands, folder):
    """{name: [Run]}: each command once a round, into an empty directory."""
    runs = {name: [] for name in commands}
    for _ in range(rounds):
        for name, words in commands.items():
            shutil.rmtree(folder, ignore_errors=True)
            runs[name].append(Run([*words, f"--out-dir={folder}", "--logfile="]))
    return runs


# ---- large models ------------------------------------------------------------------------------------------------

def plain(corpus, name, work):
    """The proto of a model, not compressed, for one model the path."""
    path = work / f"{name}.pb"
    with open(path, "wb") as out:
        subprocess.run(["zstd", "-dcq", corpus / name / "model.hlo.pb.zst"], stdout=out, check=True)
    return path


def large_model(report, tool, corpus, work, task, suffix, rounds):
    models = {n: plain(corpus, f"llama_l{n}_{task}{suffix}", work) for n in (24, 48)}
    pieces = {n: [tool, f"--input={models[n]}", *BY_LAYER, "--timings"] for n in models}
    runs = alternately(rounds, {"flat": [tool, f"--input={models[48]}", "--output=penguin.py"], **pieces}, work / "out")
    name = f"llama_{task}{suffix}, 48 layers"
    flat, small, large = (report.time_of(runs[k]) for k in ("flat", 24, 48))
    report.add(f"{name}: ms in pieces", large * 1e3)
    report.add(f"{name}: ms flat", flat * 1e3)
    report.add(f"{name}: pieces / flat", large / flat, "<= 0.5", large / flat <= 0.5)
    which = 1 if report.is_loaded() else 0
    wiring = min(sum(r.phases()[k][which] for k in ("read", "sign", "cut", "netlist")) for r in runs[24])
    growth = (large - small) / wiring
    report.add(f"{name}: growth from 24 / reading, hashing, wiring 24", growth, "<= 1.2", growth <= 1.2)
    peak = [max(r.peak for r in runs[n]) for n in (24, 48)]
    bound = 1.3 * peak[0] + models[48].stat().st_size - models[24].stat().st_size
    report.add(f"{name}: peak MiB", peak[1] / 2**20, f"<= {bound / 2**20:.1f}", peak[1] <= bound)
    for n, path in models.items():
        Run([tool, f"--input={path}", *BY_LAYER, f"--out-dir={work / 'out'}", "--logfile="])
        netlist = json.loads((work / "out" / "hlo_netlist.json").read_text())
        found = len(netlist["Instances"]), len(netlist["Definitions"])
        report.add(f"llama_{task}{suffix}, {n} layers: instances", found[0], f"{PIECES[task][n][0]} of {PIECES[task][n][1]}",
                   found == PIECES[task][n])
    return models[48]


def large_models(report, tool, args, work):
    corpus = pathlib.Path(os.environ.get("HILO_CORPUS", ROOT.parent / "shared" / "corpus")) / "jax" / "large"
    if not corpus.is_dir():
        print(f"partitions: no {corpus}: the large models are left out (HILO_CORPUS)")
        return
    print(f"\n## large models, {report.kind()}\n")
    for task in ("infer", "train"):
        for suffix in ("", "_marked"):
            path = large_model(report, tool, corpus, work, task, suffix, args.rounds)
            if args.python and task == "train" and not suffix:
                against_xla(report, tool, args, path, work)


def against_xla(report, tool, args, path, work):
    """Both on one thread, in one sitting; XLA's time is the sum of its passes by its own log."""
    sys.path.insert(0, str(ROOT / "perf"))
    from against_xla import xla_passes  # pylint: disable=import-outside-toplevel

    passes = xla_passes(args.python, str(path), 1, None)  # it is one rank's program, as partitioned as it will be
    if passes is None:
        report.add("XLA:CPU's HLO passes / hilo in pieces", 0, ">= 100", False)
        return
    xla = sum(ns for _, ns in passes) / 1e9
    ours = alternately(args.rounds, {"ours": [tool, f"--input={path}", *BY_LAYER, "--jobs=1"]}, work / "out")["ours"]
    wall = min(r.wall for r in ours)  # XLA's log has wall times
    report.add("XLA:CPU's HLO passes, s", xla)
    report.add("XLA:CPU's HLO passes / hilo in pieces", xla / wall, ">= 100", xla / wall >= 100)


# ---- many partitions ---------------------------------------------------------------------------------------------

def partitions(report, tool, args, work):
    print(f"\n## partitions, {report.kind()}\n")
    for n in map(int, args.counts.split(",")):
        path = work / f"{n}.pb"
        (work / "text").write_text(module(n))
        subprocess.run([tool.parent / "hlo-opt", "--emit=proto", f"-o={path}", work / "text"], check=True)
        for what, words in (("shared", []), ("unique", ["--force-all-uniq"])):
            command = [tool, f"--input={path}", *BY_LAYER, "--no-dbg", "--timings", *words]
            runs = alternately(args.rounds, {jobs: [*command, f"--jobs={jobs}"] for jobs in (1, 2)}, work / "out")
            wall = {jobs: min(r.wall for r in runs[jobs]) for jobs in runs}
            busy = {jobs: min(r.busy for r in runs[jobs]) for jobs in runs}
            report.add(f"{n} {what}: partitions a second, 1 thread", n / report.time_of(runs[1]))
            report.add(f"{n} {what}: whole run, efficiency of 2 threads", wall[1] / wall[2] / 2)
            report.add(f"{n} {what}: whole run, busy 2 threads / 1", busy[2] / busy[1])
            if what == "shared" or n < 64:
                continue
            engine = {jobs: min(sum(r.phases()[k][0] for k in ("compile", "netlist", "commit")) for r in runs[jobs]) for jobs in runs}
            efficiency = engine[1] / engine[2] / 2
            report.add(f"{n} {what}: efficiency of 2 threads", efficiency, ">= 0.9", None if report.is_loaded() else efficiency >= 0.9)


def machine(report, tool, args, work):
    """What two processors give two processes that share nothing but the machine: no program's threads can be expected to do better."""
    path = work / "512.hlo"
    path.write_text(module(512))

    def run(folder):
        shutil.rmtree(work / folder, ignore_errors=True)
        return Run([tool, f"--input={path}", *BY_LAYER, "--no-dbg", "--force-all-uniq", "--jobs=1", f"--out-dir={work / folder}",
                    "--logfile="]).wall

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        alone = min(run("a") for _ in range(args.rounds))
        both = min(max(pool.map(run, ("a", "b"))) for _ in range(args.rounds))
    report.add("512 unique: efficiency of two processes", alone / both)


def queue(report, folder):
    print("\n## the queue\n")
    tool = folder / "queue_cost"
    if not tool.exists():
        print("partitions: no queue_cost (HILO_BENCH)")
        return
    text = subprocess.run([tool], capture_output=True, text=True, check=True).stdout
    for threads, ns in re.findall(r"^(\d+) threads?: ([\d.]+) ns", text, re.M):
        report.add(f"queue: ns a task, {threads} thread{'s' * (threads != '1')}", float(ns))


def batches(report, tool, args, work):
    n = args.processes
    print(f"\n## a batch, {report.kind()}\n")
    path = work / "small.hlo"
    path.write_text(module(1))
    lines = "\n".join(f"--input={path} --output=/dev/null --no-dbg --logfile=" for _ in range(n))
    for jobs in (1, 2):
        runs = [Run([tool, "--batch=-", f"--jobs={jobs}", "--logfile="], lines) for _ in range(args.rounds)]
        report.add(f"batch of {n}, {jobs} thread{'s' * (jobs > 1)}: us a module", report.time_of(runs) / n * 1e6)
    runs = [Run([tool, f"--input={path}", "--output=/dev/null", "--no-dbg", "--logfile="]) for _ in range(n)]
    alone = sum(r.busy if report.is_loaded() else r.wall for r in runs)
    report.add(f"{n} processes: us a module", alone / n * 1e6)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bin", default=ROOT / "build" / "release" / "bin", type=pathlib.Path)
    parser.add_argument("--only", default="large,counts,queue,batch")
    parser.add_argument("--python", help="of a venv with jax, for XLA")
    parser.add_argument("--counts", default="1,8,64,512,4096")
    parser.add_argument("--processes", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quiet", type=float, default=0.8, help="load up to which wall times are believed")
    parser.add_argument("--update", action="store_true")
    args = parser.parse_args()
    tool = args.bin.absolute() / "hlo2penguin"
    only = args.only.split(",")
    report = Report(args.quiet)
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores; verdicts on {report.kind()}")
    with tempfile.TemporaryDirectory(prefix="hilo-partitions-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as folder:
        work = pathlib.Path(folder)
        if "large" in only:
            large_models(report, tool, args, work)
        if "counts" in only:
            partitions(report, tool, args, work)
            machine(report, tool, args, work)
        if "queue" in only:
            queue(report, args.bin)
        if "batch" in only:
            batches(report, tool, args, work)
    if args.update:
        lines = [f"# Written by perf/partitions.py --update; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {report.kind()}."]
        BASELINES.write_text("\n".join(lines + ["\t".join(f) for f in report.figures]) + "\n")
    print(f"\nload {os.getloadavg()[0]:.1f}; missed: {'; '.join(report.missed) or 'nothing'}")
    return 1 if report.missed else 0


if __name__ == "__main__":
    sys.exit(main())
