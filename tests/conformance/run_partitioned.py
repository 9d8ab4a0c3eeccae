#!/usr/bin/env python3
"""Partitions against the whole: the JAX programs of the corpus, cut in every way, composed, compared.

Programs with layers, marked or found, are cut for each grouping; the netlist, evaluated instance by instance, must give what the
module gives, bit for bit, on seeded inputs, and for marked programs what the corpus states. Their programs, executed by the Penguin
runtime through the netlist, must meet the stated results as well. The large models are cut and counted: instances and definitions as
the specification has them, whatever the number of threads.

    run_partitioned.py --bin BIN --corpus DIR [--only NAME] [--with FLAG]   one line a failure, `N passed, N failed, N skipped`

FLAG is given to every compile, and changes nothing of what must hold: --with=--stablehlo-lowering=false takes the other spine.
"""

import concurrent.futures
import filecmp
import json
import os
import shutil
import subprocess
import sys
import tempfile

from hilo.penguin import corpus
from hilo.penguin.errors import EvaluationError, ProgramError

import suite
from run_jax import CHECKS_OFF, compile_form, find_programs

GROUPINGS = {
    "one": ["--layers-per-module=1"],
    "two": ["--layers-per-module=2"],
    "all": ["--layers-per-module=0"],
    "mmf": ["--mmf", "--modular-flow-mac-threshold=0"],
    "macs": ["--modular-flow-mac-target=70000", "--modular-flow-mac-threshold=10"],
    "unique": ["--layers-per-module=1", "--force-all-uniq"],
    "no scalars": ["--layers-per-module=1", "--share-scalars=false"],
    "by default": [],
}
# cli-and-partition 12.4: (instances, definitions) with one layer a module.
COUNTS = {
    "llama_marked": (5, 3), "pair_marked": (3, 1), "mlp_marked_train": (9, 4), "tp_llama_marked": (5, 3),
    **{f"llama_l{n:02}_infer{m}": (n + 2, 3) for n in (4, 24, 48) for m in ("", "_marked")},
    **{f"llama_l{n:02}_train{m}": (2 * n + 3, 5) for n in (4, 24, 48) for m in ("", "_marked")},
}
THREADS = (1, 2, 3, 16)


def cut(tool, model, out, words, flags):
    """The netlist, or None with the codes of the refusal or (no codes) what went wrong."""
    os.makedirs(out)
    status, codes, stderr = compile_form(tool, model, out, ["--partition", *CHECKS_OFF, *words, *flags])
    if status:
        return None, codes, stderr
    with open(os.path.join(out, "hlo_netlist.json"), encoding="utf-8") as f:
        return json.load(f), [], ""


def count(netlist):
    return len(netlist["Instances"]), len(netlist["Definitions"])


def evaluate(bin_dir, netlist, *words):
    """Nothing, or what differs."""
    done = subprocess.run([os.path.join(bin_dir, "hlo-run"), "--netlist", netlist, *words], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else f"hlo-run: exit status {done.returncode}\n{done.stdout}{done.stderr}"


def check_grouping(bin_dir, folder, name, words, out, flags):
    """(outcome, detail) of one program and grouping."""
    model = os.path.join(folder, "model.hlo.pb")
    netlist, codes, stderr = cut(os.path.join(bin_dir, "hlo2penguin"), model, out, ["--dump-partitioned-hlo", *words], flags)
    if netlist is None:
        return ("refused", "") if codes else ("failed", stderr)
    path = os.path.join(out, "hlo_netlist.json")
    if words == GROUPINGS["one"] and COUNTS.get(name, count(netlist)) != count(netlist):
        return "failed", f"{count(netlist)} instances and definitions, expected {COUNTS[name]}"
    marked = "marked" in name  # the flat module needs its markers removed first: the stated results judge those
    detail = evaluate(bin_dir, path, f"--case={folder}") if marked else evaluate(bin_dir, path, f"--against={model}", "--ulp=0")
    if not detail:
        result = corpus.run_case(path, corpus.read_case(folder))
        detail = "" if result.passed else str(result)
    return ("failed", detail) if detail else ("same", "")


def check_small(bin_dir, folder, work, flags):
    name, rows = os.path.basename(folder), []
    for grouping, words in GROUPINGS.items():
        out = os.path.join(work, grouping.replace(" ", "-"))
        try:
            outcome, detail = check_grouping(bin_dir, folder, name, words, out, flags)
        except (ProgramError, EvaluationError, OSError, KeyError) as error:
            outcome, detail = "failed", f"{type(error).__name__}: {error}"
        rows.append((name, grouping, outcome, detail))
        if outcome == "refused":
            break
    shutil.rmtree(work, ignore_errors=True)
    return rows


def same_tree(left, right):
    files = [os.path.relpath(os.path.join(d, f), left) for d, _, names in os.walk(left) for f in names if f != "log.txt"]
    return filecmp.cmpfiles(left, right, files, shallow=False)[1:] == ([], [])


def check_large(bin_dir, folder, work, flags):
    """Counts, and the same bytes for any number of threads."""
    name, tool = os.path.basename(folder), os.path.join(bin_dir, "hlo2penguin")
    model = next(path for path in (f"{folder}/model.hlo.pb", f"{folder}/model.hlo.pb.zst") if os.path.exists(path))
    outcome, detail = "same", ""
    for jobs in THREADS:
        out = os.path.join(work, str(jobs))
        netlist, codes, stderr = cut(tool, model, out, ["--layers-per-module=1", f"--jobs={jobs}"], flags)
        if netlist is None:
            outcome, detail = "failed", f"{codes} {stderr}"
        elif count(netlist) != COUNTS[name]:
            outcome, detail = "failed", f"{count(netlist)} instances and definitions, expected {COUNTS[name]}"
        elif not same_tree(os.path.join(work, str(THREADS[0])), out):
            outcome, detail = "failed", f"{jobs} threads write other files than {THREADS[0]}"
    shutil.rmtree(work, ignore_errors=True)
    return [(name, "large", outcome, detail)]


def main():
    parser = suite.parser(__doc__)
    parser.add_argument("--with", dest="flags", action="append", default=[])
    args = parser.parse_args()
    root = os.path.join(suite.corpus_of(args), "jax")
    work, jobs = tempfile.mkdtemp(prefix="hilo-partitioned-"), []
    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        for k, (part, folder) in enumerate(find_programs(root)):
            if not suite.is_wanted(args, os.path.basename(folder)):
                continue
            if part != "large" and not os.path.exists(f"{folder}/model.hlo.pb"):
                continue
            check = check_large if part == "large" else check_small
            jobs.append(pool.submit(check, args.bin, folder, os.path.join(work, str(k)), args.flags))
        rows = [row for job in jobs for row in job.result()]
    shutil.rmtree(work, ignore_errors=True)
    for name, grouping, outcome, detail in rows:
        if outcome == "failed":
            print(f"failed {name}, {grouping}\n    " + detail.rstrip().replace("\n", "\n    ")[:2000])
    failed = sum(row[2] == "failed" for row in rows)
    refused = sum(row[2] == "refused" for row in rows)
    return suite.end(len(rows) - failed - refused, failed, refused, "refused by the target")


if __name__ == "__main__":
    sys.exit(main())
