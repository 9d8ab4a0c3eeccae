#!/usr/bin/env python3
"""What `make bench` prints behind Google Benchmark's own table: costs per instruction, and how time grows with size.

usage: bench_report.py FILE.json...    (written by bin/hilo_bench; names are `<job>/<input>`)

A step of the growth table is time(2n) / time(n), worked out from whatever sizes there are: a factor of 10 in size
counts as 3.32 doublings. Everything above LIMIT is marked `!`: the step grew faster than linear."""
import json
import math
import sys

LIMIT = 2.2  # time may grow so much when size doubles: 2, and what caches take


def read(paths):
    """{input: {job: row}}, in order of appearance; the fastest of repeated rows. Failed rows are reported apart."""
    inputs, failed = {}, []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            rows = json.load(file)["benchmarks"]
        for row in rows:
            if row.get("run_type") == "aggregate":
                continue
            job, _, name = row["run_name"].removesuffix("/manual_time").partition("/")
            name = name.split("/")[0]
            if row.get("error_occurred"):
                failed.append((job, name, row.get("error_message", "")))
                continue
            known = inputs.setdefault(name, {}).get(job)
            if not known or row["ns_per_inst"] < known["ns_per_inst"]:
                inputs[name][job] = row
    return inputs, failed


def table(head, rows):
    widths = [max(len(str(row[i])) for row in [head] + rows) for i in range(len(head))]
    for row in [head] + rows:
        print("  ".join(str(c).ljust(w) if i == 0 else str(c).rjust(w) for i, (c, w) in enumerate(zip(row, widths))))
    print()


def cost_table(inputs):
    jobs = list(dict.fromkeys(job for rows in inputs.values() for job in rows))
    rows = []
    for name, made in inputs.items():
        cells = [f"{made[job]['ns_per_inst']:.1f}" if job in made else "-" for job in jobs]
        live = max((row["live_per_inst"] for job, row in made.items() if job.startswith("parse")), default=0)
        rows.append([name, f"{next(iter(made.values()))['insts']:.0f}", *cells, f"{live:.0f}" if live else "-"])
    print("nanoseconds per instruction of the input; live bytes per instruction as read, without strings and literals")
    table(["input", "insts", *jobs, "live B"], rows)


def growth_table(inputs):
    """One row per job and kind of generated module."""
    kinds = {}
    for name, made in inputs.items():
        kind, colon, _ = name.partition(":")
        for job, row in made.items() if colon else ():
            kinds.setdefault((job, kind), []).append((row["insts"], row["ns_per_inst"] * row["insts"]))
    rows, worst = [], 0
    for (job, kind), points in kinds.items():
        points.sort()
        steps = []
        for (n, t), (n2, t2) in zip(points, points[1:]):
            step = 2 ** (math.log(t2 / t) / math.log(n2 / n))
            worst = max(worst, step)
            steps.append(f"{n2 / 1000:.0f}k {step:.2f}{'!' if step > LIMIT else ''}")
        if steps:
            over_all = 2 ** (math.log(points[-1][1] / points[0][1]) / math.log(points[-1][0] / points[0][0]))
            rows.append([f"{job} {kind}", f"{over_all:.2f}{'!' if over_all > LIMIT else ''}", "  ".join(steps)])
    if rows:
        print(f"growth: time(2n) / time(n) over all, and at each step up to the size named ({LIMIT} is the limit)")
        for name, over_all, steps in rows:
            print(f"{name:30} {over_all:>6}   {steps}")
        print(f"\nlargest step: {worst:.2f}")


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    inputs, failed = read(sys.argv[1:])
    cost_table(inputs)
    growth_table(inputs)
    for job, name, message in failed:
        print(f"FAILED {job} on {name}: {message}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
