#!/usr/bin/env python3
"""Machine instructions per HLO instruction, counted by valgrind: a figure without noise, which a gate can hold.

usage: count.py [--bin DIR] [--jobs a,b] [INPUT...]          print the counts
       count.py --compare [--tolerance PERCENT] [...]        against perf/baselines.tsv; exit status 1 beyond it
       count.py --growth [--tolerance PERCENT] INPUT...      the inputs against the first: nothing grows faster than linear
       count.py --update [...]                               write perf/baselines.tsv

Each job of bin/hilo_job runs twice in one process, once to warm up, once counted: callgrind counts nothing outside the
measured part. INPUT is a file or generated, `transformer:10000`; those of the corpus are found below HILO_CORPUS
(default ../shared/corpus). Without INPUT: those of the baselines, or all of DEFAULT when updating.

Counts move with the compiler and its version: --compare names the compiler if it is another than that of the baselines,
and the tolerance (10 %) is meant for one."""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BASELINES = ROOT / "perf" / "baselines.tsv"
JOBS = ["parse-text", "parse-proto", "print", "write-proto", "parse-mlir", "print-mlir", "verify", "clone", "signature", "dce", "cse",
        "tuple-simplifier", "call-inliner", "compile"]
DEFAULT = ["transformer:10000", "chain:10000", "fan:10000", "jax/large/llama_l24_train/model.hlo.pb.zst",
           "jax/large/llama_l24_train/model.global.stablehlo.mlir.zst"]
SKIP = 77
# `rep stosb` is one machine instruction; valgrind counts one a byte. So memset and memcpy are to use vectors, which cost more.
PLAIN = {"GLIBC_TUNABLES": "glibc.cpu.x86_rep_stosb_threshold=1073741824:glibc.cpu.x86_rep_movsb_threshold=1073741824"}


def corpus():
    return pathlib.Path(os.environ.get("HILO_CORPUS", ROOT.parent / "shared" / "corpus"))


def jobs_of(name, jobs):
    """Those that an input is for: StableHLO is not HLO."""
    return [job for job in jobs if job.endswith("-mlir")] if ".mlir" in name else jobs


def path_of(name):
    """The input as hilo_job takes it."""
    return name if ":" in name or pathlib.Path(name).exists() else str(corpus() / name)


def count_all(binary, jobs, name):
    """({job: HLO instructions}, {job: machine instructions}) of one input, for jobs as hilo_job takes them."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "out"
        command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--collect-jumps=no", f"--callgrind-out-file={out}",
                   str(binary), "--count", jobs, path_of(name)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=os.environ | PLAIN)
        if done.returncode != 0:
            sys.exit(f"count: {' '.join(command)}\n{done.stderr}")
        n_insts = {line.split("\t")[0]: int(line.split("\t")[2]) for line in done.stdout.splitlines()}
        counts = {}
        for part in pathlib.Path(folder).glob("out.*"):
            text = part.read_text()
            job = re.search(r"^desc: Trigger: Client Request: (\S+) ", text, re.M)
            total = re.search(r"^(?:totals|summary): (\d+)", text, re.M)
            if job and total:
                counts[job[1]] = int(total[1])
        return n_insts, {job: counts[job] for job in n_insts}


def count(binary, jobs, name):
    """{job: machine instructions per HLO instruction} of one input."""
    n_insts, counts = count_all(binary, ",".join(jobs), name)
    return {job: counts[job] / n_insts[job] for job in jobs}


def compiler(binary):
    """What the compiler wrote into the program's .comment section."""
    done = subprocess.run(["readelf", "-p", ".comment", str(binary)], capture_output=True, text=True, check=False)
    found = re.findall(r"\]\s+(.+)", done.stdout)
    return found[0].strip() if found else "unknown"


def read_baselines():
    """({(input, job): count}, compiler)"""
    rows, by = {}, "unknown"
    for line in BASELINES.read_text().splitlines() if BASELINES.exists() else []:
        if line.startswith("# compiler: "):
            by = line.removeprefix("# compiler: ")
        elif line and not line.startswith("#"):
            name, job, value = line.split("\t")
            rows[name, job] = float(value)
    return rows, by


def write_baselines(rows, by):
    with open(BASELINES, "w", encoding="utf-8") as file:
        file.write("# Machine instructions per HLO instruction of the input. Written by perf/count.py --update.\n")
        file.write(f"# compiler: {by}\n")
        for (name, job), value in rows.items():
            file.write(f"{name}\t{job}\t{value:.1f}\n")


def compare(rows, known, tolerance):
    """Print every count beside its baseline; how many are above it by more than the tolerance, or have none."""
    beyond = 0
    for (name, job), value in rows.items():
        before = known.get((name, job))
        if before is None:
            print(f"{name:42} {job:18} {value:10.1f}  NO BASELINE")
            beyond += 1
            continue
        change = 100 * (value / before - 1)
        beyond += change > tolerance
        note = "  MORE" if change > tolerance else "  fewer: --update keeps it" if change < -tolerance else ""
        print(f"{name:42} {job:18} {value:10.1f}  was {before:10.1f}  {change:+6.1f} %{note}")
    return beyond


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=ROOT / "build" / "release" / "bin", type=pathlib.Path)
    parser.add_argument("--jobs", default=",".join(JOBS))
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--tolerance", type=float, default=10.0, metavar="PERCENT")
    parser.add_argument("inputs", nargs="*", metavar="INPUT")
    return parser.parse_args()


def skip(reason):
    print(f"SKIP: {reason}")
    sys.exit(SKIP)


def main():
    args = parse_arguments()
    if not shutil.which("valgrind"):
        skip("valgrind is not installed")
    binary = args.bin / "hilo_job"
    known, known_by = read_baselines()
    by = compiler(binary)
    inputs = args.inputs or DEFAULT
    here = [name for name in inputs if ":" in name or pathlib.Path(path_of(name)).exists()]
    for name in inputs:
        if name not in here:
            print(f"SKIP: no {name} (HILO_CORPUS is {corpus()})")
    rows = {}
    for name in here:
        for job, value in count(binary, jobs_of(name, args.jobs.split(",")), name).items():
            rows[name, job] = value
            if not args.compare and not args.growth:
                print(f"{name:42} {job:18} {value:10.1f}", flush=True)
    if args.update:
        write_baselines({**known, **rows}, by)
    if args.growth:
        known = {(name, job): rows[here[0], job] for name, job in rows}
        rows = {key: value for key, value in rows.items() if key[0] != here[0]}
    elif not args.compare:
        return 0
    elif by != known_by:
        print(f"count: built by `{by}`, the baselines by `{known_by}`")
    beyond = compare(rows, known, args.tolerance)
    print(f"{len(rows) - beyond} passed, {beyond} failed")
    return 1 if beyond else 0


if __name__ == "__main__":
    sys.exit(main())
