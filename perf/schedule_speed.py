#!/usr/bin/env python3
"""How long hilo takes to find an order, beside XLA's memory-minimising (DFS) scheduler on the same HLO.

    HILO_JAX_PYTHON perf/schedule_speed.py --peers DIR --orders DIR [--bin DIR] [--parts plain] [--only WORD] [--rounds N]
                                          [--write FILE]

`--orders` is what xla_orders.py wrote, `--peers` holds xla_pipeline.py, which drives XLA:CPU through jaxlib and reads its log.
The input of both is the module in XLA's BFS order, without its schedule. In a round each of XLA, effort 1 and effort 2 runs
once, one after the other; the fastest of the rounds counts. XLA's time is what its log says from the end of its HLO passes to
the schedule: alias analysis, DFS scheduler, verification of the order. hilo's is that of the step by --time-passes: everything
from the module as read to the module in its new order. Both on one thread, by the wall clock.

Wanted: effort 1 ten times as fast as XLA, effort 2 no slower. Exit status 1 if a module has it otherwise."""
import argparse, json, os, re, subprocess, sys, tempfile

import xla_orders


def hilo_ns(binary, path, effort):
    done = subprocess.run([os.path.join(binary, "hlo-opt"), "--passes=schedule-postorder", f"--schedule-effort={effort}",
                           "--time-passes=json", "--emit=none", path], capture_output=True, text=True, check=False)
    found = re.search(r'"ns":\s*(\d+)', done.stderr)
    if done.returncode or not found:
        raise SystemExit(f"{path}: {done.stderr[:400]}")
    return int(found[1])


def measure(args, pipeline, path):
    """(instructions, {who: fastest ns}); XLA is missing if it cannot compile the module."""
    times, n = {}, 0
    for _ in range(args.rounds):
        found = pipeline.once(path, "schedule", 1, None, args.limit, "memory")
        n = found["instructions"] or n
        if "schedule" in found:
            times.setdefault("xla", []).append(found["schedule"] * 1e9)
        for effort in (1, 2):
            times.setdefault(effort, []).append(hilo_ns(args.bin, path, effort))
    return n, {who: min(all_) for who, all_ in times.items()}


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--peers", required=True)
    args.add_argument("--orders", required=True)
    args.add_argument("--bin", default="build/release/bin")
    args.add_argument("--parts", default="plain")
    args.add_argument("--only", default="")
    args.add_argument("--rounds", type=int, default=3)
    args.add_argument("--limit", type=float, default=120, help="seconds that one run of XLA may take")
    args.add_argument("--write")
    args = args.parse_args()
    sys.path.insert(0, args.peers)
    import xla_pipeline
    rows, slow = [], {1: 0, 2: 0}
    with tempfile.TemporaryDirectory() as folder:
        for part in args.parts.split(","):
            names = sorted(f[:-8] for f in os.listdir(os.path.join(args.orders, part)) if f.endswith(".bfs.hlo"))
            for name in (n for n in names if args.only in n):
                path = os.path.join(folder, name + ".hlo")
                xla_orders.without_schedule(os.path.join(args.orders, part, name + ".bfs.hlo"), path)
                n, times = measure(args, xla_pipeline, path)
                if "xla" not in times:
                    print(f"{part}\t{name}\tnot scheduled by XLA in {args.limit:.0f} s", flush=True)
                    continue
                ratio = {effort: times["xla"] / times[effort] for effort in (1, 2)}
                slow[1] += ratio[1] < 10
                slow[2] += ratio[2] < 1
                rows.append(f"| {name} | {n:,} | {times['xla'] / n:,.0f} | {times[1] / n:,.0f} | {times[2] / n:,.0f} |"
                            f" {ratio[1]:.1f} | {ratio[2]:.1f} |")
                print(rows[-1], flush=True)
    said = f"{len(rows)} modules; effort 1 below 10 x XLA: {slow[1]}; effort 2 slower than XLA: {slow[2]}"
    print(said)
    if args.write:
        with open(args.write, "w", encoding="utf-8") as out:
            out.write(HEAD.format(said=said, rounds=args.rounds) + "\n".join(rows) + "\n")
    return 1 if slow[1] or slow[2] else 0


HEAD = """# Finding an order, beside XLA

Nanoseconds an instruction by the wall clock, fastest of {rounds} rounds in which each ran once: `perf/schedule_speed.py`, which says what is counted.
XLA: its memory-minimising DFS scheduler. e1, e2: `--schedule-effort`.

{said}.

| module | instr. | XLA | e1 | e2 | XLA / e1 | XLA / e2 |
|---|--:|--:|--:|--:|--:|--:|
"""

if __name__ == "__main__":
    sys.exit(main())
