#!/usr/bin/env python3
"""The steps of the StableHLO spine: how each grows, and its share of the whole.

usage: steps.py [--bin DIR] [--sizes a,b,c] [--time-sizes a,b,c] [--kinds a,b] [--exponent E] [--share PERCENT] [--reads N]
                [--models a,b] [--write FILE]

Counts the machine instructions of every step (bin/hilo_job --count steps, under valgrind) on generated modules of several
sizes: long chains, one value with many users, equal layers. Each step sees a module that went through the HLO passes and all
steps before it, whatever their gates. Fits count = a n^e by least squares of logarithms; a step fails above --exponent
(1.15), or above --share (25 %) of all steps on the largest size of a kind, and the whole list if it costs more than --reads (2)
times what reading the module from its proto does. With --time-sizes each step is timed as well, by the clock of the thread, the
fastest of three: ns an instruction at each of these sizes. Caches make them grow where counts do not; nothing fails by them. A
step that costs less than one machine instruction per HLO instruction has no exponent worth a name, and is not held to one. Exit status 1 if a step fails.
With --models the same of real modules (of HILO_CORPUS, or paths), every gate open: nothing fails by these either."""
import argparse
import math
import pathlib
import shutil
import subprocess
import sys

import count


def fit(points):
    """The exponent of a power law through (n, count)."""
    xs = [math.log(n) for n, _ in points]
    ys = [math.log(max(c, 1)) for _, c in points]
    mean_x, mean_y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((x - mean_x) * (y - mean_y) for x, y in zip(xs, ys)) / sum((x - mean_x) ** 2 for x in xs)


def measure(binary, kind, sizes):
    """{step: [(instructions, count)]} in the order of the spine."""
    points = {}
    for size in sizes:
        n_insts, counts = count.count_all(binary, "steps", f"{kind}:{size}")
        for step, total in counts.items():
            points.setdefault(step, []).append((n_insts[step], total))
    return points


def times_of(binary, kind, sizes):
    """{step: [ns an instruction, by size]}."""
    out = {}
    for size in sizes:
        done = subprocess.run([str(binary), "--runs=3", "steps", f"{kind}:{size}"], capture_output=True, text=True, check=True)
        for line in done.stdout.splitlines():
            words = line.split("\t")
            out.setdefault(words[0], []).append(min(map(int, words[6:])) / int(words[2]))
    return out


def time_sizes_of(args):
    return [int(size) for size in args.time_sizes.split(",") if size]


def judge(kind, points, times, reading, args, lines):
    """Append a row per step; how many fail."""
    whole = sum(row[-1][1] for row in points.values())
    failed = 0
    for step, row in points.items():
        n, total = row[-1]
        each, share = total / n, 100 * total / whole
        exponent = fit(row) if each >= 1 else None
        bad = share > args.share or (exponent is not None and exponent > args.exponent)
        failed += bad
        text = "" if exponent is None else f"{exponent:.2f}"
        ns = " / ".join(f"{t:.1f}" for t in times.get(step, ()))
        lines.append(f"| {kind} | {step} | {each:.1f} | {text} | {share:.1f} | {ns} |{' FAILS' if bad else ''}")
    n_all = next(iter(points.values()))[-1][0]
    sums = [(row[0], sum(p[i][1] for p in points.values())) for i, row in enumerate(next(iter(points.values())))]
    sums_ns = [sum(row) for row in zip(*times.values())]
    ns = " / ".join(f"{t:.0f}" for t in sums_ns)
    if len(sums_ns) > 1:
        ns += f", exponent {fit([(n, n * t) for n, t in zip(time_sizes_of(args), sums_ns)]):.2f}"
    bad = whole > args.reads * reading
    lines.append(f"| {kind} | all | {whole / n_all:.1f} | {fit(sums):.2f} | 100 | {ns} |")
    lines.append(f"| {kind} | parse-proto | {reading / n_all:.1f} | | all / it: {whole / reading:.2f} | |{' FAILS' if bad else ''}")
    failed += bad
    return failed


def model_table(binary, names):
    """Lines: a row per module."""
    lines = ["| module, every gate open | HLO instructions | all steps | parse-proto | all / it | the dearest three, % of all |",
             "|---|---|---|---|---|---|"]
    for name in names:
        n_insts, counts = count.count_all(binary, "steps", name)
        n, whole = next(iter(n_insts.values())), sum(counts.values())
        reading = count.count_all(binary, "parse-proto", name)[1]["parse-proto"]
        dearest = sorted(counts, key=counts.get, reverse=True)[:3]
        shares = ", ".join(f"{step} {100 * counts[step] / whole:.0f}" for step in dearest)
        lines.append(f"| {name} | {n} | {whole / n:.0f} | {reading / n:.0f} | {whole / reading:.2f} | {shares} |")
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=count.ROOT / "build" / "release" / "bin", type=pathlib.Path)
    parser.add_argument("--sizes", default="10000,20000,40000")
    parser.add_argument("--time-sizes", default="")
    parser.add_argument("--reads", default=2.0, type=float, metavar="N")
    parser.add_argument("--kinds", default="chain,fan,transformer")
    parser.add_argument("--exponent", default=1.15, type=float)
    parser.add_argument("--share", default=25.0, type=float, metavar="PERCENT")
    parser.add_argument("--models", default="", help="e.g. jax/large/llama_l24_train/model.hlo.pb.zst")
    parser.add_argument("--write", type=pathlib.Path, metavar="FILE")
    args = parser.parse_args()
    if not shutil.which("valgrind"):
        count.skip("valgrind is not installed")
    time_sizes = time_sizes_of(args)
    lines = ["| kind | step | machine instructions an HLO instruction | exponent | % of all steps |"
             + (f" ns an instruction at {' / '.join(map(str, time_sizes))} |" if time_sizes else " |"),
             "|---|---|---|---|---|---|"]
    failed, n_rows = 0, 0
    for kind in args.kinds.split(","):
        points = measure(args.bin / "hilo_job", kind, args.sizes.split(","))
        times = times_of(args.bin / "hilo_job", kind, time_sizes)
        largest = f"{kind}:{args.sizes.split(',')[-1]}"
        reading = count.count_all(args.bin / "hilo_job", "parse-proto", largest)[1]["parse-proto"]
        failed += judge(kind, points, times, reading, args, lines)
        n_rows += len(points) + 1
    models = [name for name in args.models.split(",") if name]
    if models:
        lines += ["", *model_table(args.bin / "hilo_job", models)]
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if args.write:
        args.write.write_text(f"# Cost of the steps\n\nWritten by `perf/steps.py --sizes {args.sizes} --write`; "
                              f"{count.compiler(args.bin / 'hilo_job')}.\n\n{text}")
    print(f"{n_rows - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
