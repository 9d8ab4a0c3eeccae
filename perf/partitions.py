#!/usr/bin/env python3
"""Partitions and batches: how many a second, how well two threads share them, what a batch saves.

usage: partitions.py [--bin DIR] [--counts 1,8,64,512,4096] [--processes N] [--rounds N]

Modules are stacks of marked layers of about 30 instructions, one layer a module: `shared` (one definition), `unique`
(`--force-all-uniq`: as many programs as layers, for which all of it is done, files included). Efficiency is
wall(1 thread) / (2 x wall(2 threads)); it says nothing when others use the machine: `load` is printed with it, and busy, the
processor time of both threads against that of one, which says what sharing itself costs."""

import argparse
import os
import pathlib
import resource
import shutil
import subprocess
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

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


def measured(words, **more):
    """(wall, processor) seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, **more)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def best(words, rounds, **more):
    """The least of each over the rounds."""
    runs = [measured(words, **more) for _ in range(rounds)]
    return min(r[0] for r in runs), min(r[1] for r in runs)


def partitions(tool, work, counts, rounds):
    print("| layers | | 1 thread | 2 threads | a second, 1 thread | efficiency | busy 2 / 1 |\n|--:|---|--:|--:|--:|--:|--:|")
    for n in counts:
        path = work / f"{n}.hlo"
        path.write_text(module(n))
        for what, words in (("shared", []), ("unique", ["--force-all-uniq"])):
            times = {}
            for jobs in (1, 2):
                out = work / "out"
                shutil.rmtree(out, ignore_errors=True)
                times[jobs] = best([tool, f"--input={path}", f"--out-dir={out}", "--partition", "--layers-per-module=1", "--no-dbg",
                                    "--logfile=", f"--jobs={jobs}", *words], rounds)
            (wall, busy), (wall2, busy2) = times[1], times[2]
            print(f"| {n} | {what} | {wall * 1e3:.1f} ms | {wall2 * 1e3:.1f} ms | {n / wall:,.0f} | {wall / wall2 / 2:.2f} | "
                  f"{busy2 / busy:.2f} |", flush=True)


def batches(tool, work, n, rounds):
    path = work / "small.hlo"
    path.write_text(module(1))
    lines = "\n".join(f"--input={path} --output=/dev/null --no-dbg --logfile=" for _ in range(n))
    for jobs in (1, 2):
        walls, busy = [], []
        for _ in range(rounds):
            wall, processor = measured([tool, "--batch=-", f"--jobs={jobs}", "--logfile="], input=lines, text=True)
            walls.append(wall)
            busy.append(processor)
        print(f"batch of {n}, {jobs} thread{'s' * (jobs > 1)}: {min(walls):.3f} s, {min(busy):.3f} s of processor, "
              f"{min(busy) / n * 1e6:.0f} us a module", flush=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    for _ in range(n):
        subprocess.run([tool, f"--input={path}", "--output=/dev/null", "--no-dbg", "--logfile="], check=True)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{n} processes: {wall:.3f} s, {processor:.3f} s of processor, {processor / n * 1e6:.0f} us a module")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--bin", default=str(ROOT / "build" / "release" / "bin"))
    parser.add_argument("--counts", default="1,8,64,512,4096")
    parser.add_argument("--processes", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    tool = os.path.join(os.path.abspath(args.bin), "hlo2penguin")
    work = pathlib.Path(tempfile.mkdtemp(prefix="hilo-partitions-"))
    print(f"load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    partitions(tool, work, [int(n) for n in args.counts.split(",")], args.rounds)
    batches(tool, work, args.processes, args.rounds)
    print(f"load {os.getloadavg()[0]:.1f}")
    shutil.rmtree(work)


if __name__ == "__main__":
    main()
