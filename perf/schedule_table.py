#!/usr/bin/env python3
"""Peaks of hilo's orders beside XLA's, a post-order and a greedy list, by the peers' model: writes docs/schedule-peaks.md.

    perf/schedule_table.py --peers DIR --orders DIR [--bin DIR] [--only WORD] [--write docs/schedule-peaks.md]

`--orders` is what xla_orders.py wrote; `--peers` holds peak.py, the model that judges all columns. hlo-opt reads XLA's DFS
order, and its BFS order, of each module and prints its own; nothing else of the module changes, but for --schedule-clone,
which copies shared broadcasts. Times are those of the pass, by --time-passes."""
import argparse, json, os, re, subprocess, sys, tempfile, time

RUNS = {"e1": ["--schedule-effort=1"], "e2": ["--schedule-effort=2"], "e3": ["--schedule-effort=3"], "clone": ["--schedule-effort=2", "--schedule-clone"]}


def peaks(peak, path, orders):
    computations, entry, _ = peak.parse(path)
    return {order: peak.Peaks(computations, order).of(entry) for order in orders}, sum(map(len, computations.values()))


def run_hilo(bin, path, words):
    """(text file, {reported}) of one run."""
    out = tempfile.NamedTemporaryFile(suffix=".hlo", delete=False).name
    log = out + ".log"
    done = subprocess.run([os.path.join(bin, "hlo-opt"), "--passes=schedule-postorder", *words, "--time-passes=json",
                           f"--logfile={log}", "--logfile-verbose=info", path, "-o", out], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{path}: {done.stderr[:400]}")
    text = open(log).read() if os.path.exists(log) else ""
    bound = re.search(r"no order has a peak below (\d+) bytes", text)
    how = re.search(r"ops, order (\S+)", text)
    ns = re.search(r'"ns":\s*(\d+)', done.stderr)
    for file in (log,):
        if os.path.exists(file):
            os.remove(file)
    return out, {"bound": int(bound[1]) if bound else 0, "how": how[1] if how else "", "ns": int(ns[1]) if ns else 0}


def measure(args, peak, part, module):
    cache = os.path.join(args.orders, "work", f"{part}.{module}.peaks.json")
    files = {kind: os.path.join(args.orders, part, f"{module}.{kind}.hlo") for kind in ("dfs", "bfs")}
    if os.path.exists(cache):
        row = json.load(open(cache))
    else:
        row = {}
        for kind, path in files.items():
            row[kind], row["n"] = peaks(peak, path, ["given", "postorder", "list"] + (["bound"] if kind == "dfs" else []))
        json.dump(row, open(cache, "w"))
    row["hilo"] = {}
    for run in args.runs.split(","):
        for kind, path in files.items():
            text, said = run_hilo(args.bin, path, RUNS[run])
            said["peak"] = peaks(peak, text, ["given"])[0]["given"]
            os.remove(text)
            row["hilo"][run + "-" + kind] = said
    return row


def judge(row):
    """What the row shows: numbers for the table and whether the two promises hold."""
    dfs, bfs, hilo = row["dfs"]["given"], row["bfs"]["given"], row["hilo"]
    lowest = min(row[k][o] for k in ("dfs", "bfs") for o in ("postorder", "list"))
    found = {run: max(hilo[f"{run}-{kind}"]["peak"] for kind in ("dfs", "bfs")) for run in RUNS if f"{run}-dfs" in hilo}
    best = found.get("e2", found.get("e1"))
    cut = max((hilo[k]["bound"] for k in hilo if k.startswith("e2")), default=0)
    out = {"dfs": dfs, "bfs": bfs, "lowest": min(dfs, bfs, lowest), "bound": row["dfs"]["bound"], "cut": cut, **found}
    out["never above"] = all(v <= out["lowest"] for k, v in found.items() if k != "e1")
    out["counts"] = dfs > 1.2 * row["dfs"]["bound"]
    out["won"] = best <= 0.92 * dfs or (cut > 0.92 * dfs and best <= 1.01 * cut) or found.get("clone", best) <= 0.92 * dfs
    return out


def main():
    args = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    args.add_argument("--peers", required=True)
    args.add_argument("--orders", required=True)
    args.add_argument("--bin", default="build/release/bin")
    args.add_argument("--only", default="")
    args.add_argument("--parts", default="plain,flat,fused")
    args.add_argument("--runs", default="e1,e2,clone")
    args.add_argument("--write")
    args = args.parse_args()
    sys.path.insert(0, args.peers)
    sys.setrecursionlimit(20000)
    import peak
    lines, totals = [], {"rows": 0, "above": 0, "counts": 0, "won": 0, "by order": 0}
    runs = args.runs.split(",")
    head = ["module", "instr.", "XLA DFS", "XLA BFS", "lowest of four", *runs, "cut bound", f"{runs[-1]} / DFS", "ns an instr.", ""]
    for part in args.parts.split(","):
        modules = sorted(f[:-8] for f in os.listdir(os.path.join(args.orders, part)) if f.endswith(".dfs.hlo"))
        lines += ["", f"## {part}", "", "| " + " | ".join(head) + " |", "|---|" + "--:|" * (len(head) - 2) + "---|"]
        for module in modules:
            if args.only not in module or not os.path.exists(os.path.join(args.orders, part, module + ".bfs.hlo")):
                continue
            row = measure(args, peak, part, module)
            seen = judge(row)
            totals["rows"] += 1
            totals["above"] += not seen["never above"]
            totals["counts"] += seen["counts"]
            totals["won"] += seen["counts"] and seen["won"]
            totals["by order"] += seen["counts"] and seen.get("e2", seen["dfs"]) <= 0.92 * seen["dfs"]
            note = ("ABOVE " if not seen["never above"] else "") + ("won" if seen["counts"] and seen["won"] else "open" if seen["counts"] else "")
            times = [row["hilo"][f"{run}-dfs"]["ns"] for run in runs if run != "clone"]
            cells = [module, f"{row['n']:,}"] + [f"{seen[k] / 1e9:.3f}" for k in ("dfs", "bfs", "lowest", *runs, "cut")]
            cells += [f"{seen[runs[-1]] / seen['dfs']:.3f}", " / ".join(f"{t / row['n']:.0f}" for t in times), note]
            lines.append("| " + " | ".join(cells) + " |")
            print("\t".join(cells), *(row["hilo"][f"{r}-{k}"]["how"] for r in runs for k in ("dfs", "bfs")), sep="\t", flush=True)
    print(totals, flush=True)
    if args.write:
        open(args.write, "w").write(HEAD.format(**{k.replace(" ", "_"): v for k, v in totals.items()}) + "\n".join(lines) + "\n")


HEAD = """# Peaks of schedules

Live bytes at the worst moment (GB) by the peers' model, by `perf/schedule_table.py` from the orders that `perf/xla_orders.py` had XLA make.
XLA's memory-minimising scheduler (DFS) is the opponent; BFS is XLA:CPU's default. *Lowest of four*: of DFS, BFS, a post-order and a greedy
list. e1: `--schedule-effort=1`; e2: `--schedule-effort=2`; clone: with `--schedule-clone` as well; each the worse of what comes of XLA's DFS order as
input and of its BFS order. *Cut bound*: a minimum cut says that no order is below it. *ns an instr.*: the pass at e1 / e2, everything counted, DFS order as input.

{rows} rows; above the lowest of four at effort 2: {above}. Of the {counts} rows where DFS is above 1.2 x what one instruction needs at once, {won} are won: at
most 0.92 of DFS ({by_order} by order alone), or within 1 % of the cut bound where that is above 0.92 of DFS, or at most 0.92 of DFS with clones.
*open*: rows that count and are not won.
"""

if __name__ == "__main__":
    main()
