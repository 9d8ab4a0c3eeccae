#!/usr/bin/env python3
"""Each pass and step on and off: the JAX programs of the corpus compiled without one pass at a time, executed, compared.

For every program that compiles, each pass that changed it is left out in turn. What comes out must still meet the stated results; a
program may also be refused, with codes, since some passes are what makes a form printable. Large models are left out.

    run_without.py --bin BIN --corpus DIR [--only NAME]      one line a failure, a line a pass, `N passed, N failed, N skipped`
"""

import collections
import concurrent.futures
import os
import re
import shutil
import sys
import tempfile

from hilo.penguin import corpus
from hilo.penguin.errors import EvaluationError, ProgramError

import suite
from run_jax import CHECKS_OFF, compile_form, find_programs

CHANGED = re.compile(r"pipeline\.c:\d+\] ([\w-]+): \d+ matched, \d+ rewritten")


def passes_that_changed(tool, model, out):
    """The keys of the passes that changed the program, from the log; None if it is refused."""
    os.makedirs(out)
    status, _, _ = compile_form(tool, model, out, [*CHECKS_OFF, "--logfile-verbose=info"])
    if status:
        return None
    with open(os.path.join(out, "log.txt"), encoding="utf-8") as log:
        return list(dict.fromkeys(CHANGED.findall(log.read())))


def run_one(tool, model, case, out, key):
    """(`same`, `refused` or `failed`, detail) of the program without the pass."""
    os.makedirs(out)
    status, codes, stderr = compile_form(tool, model, out, [*CHECKS_OFF, f"--skip-pass={key}"])
    if status == 1 and codes:
        return "refused", ""
    if status:
        return "failed", f"exit status {status}\n{stderr}"
    result = corpus.run_case(os.path.join(out, "penguin.py"), case)
    return ("same", "") if result.passed else ("failed", str(result))


def run_program(tool, folder, work):
    """[(program, pass, outcome, detail)] for one program."""
    name, model = os.path.basename(folder), os.path.join(folder, "model.hlo.pb")
    keys = passes_that_changed(tool, model, os.path.join(work, "all"))
    if keys is None:
        return []
    case, rows = corpus.read_case(folder), []
    for key in keys:
        try:
            outcome, detail = run_one(tool, model, case, os.path.join(work, key), key)
        except (ProgramError, EvaluationError, OSError) as error:
            outcome, detail = "failed", f"{type(error).__name__}: {error}"
        rows.append((name, key, outcome, detail))
    shutil.rmtree(work)
    return rows


def report(rows):
    """Prints failures and counts by pass; returns the exit status."""
    by_key = collections.defaultdict(collections.Counter)
    for name, key, outcome, detail in rows:
        by_key[key][outcome] += 1
        if outcome == "failed":
            print(f"failed {name} without {key}\n    " + detail.rstrip().replace("\n", "\n    ")[:2000])
    for key, counts in sorted(by_key.items()):
        print(f"{key:44} same {counts['same']:3}  refused {counts['refused']:3}  failed {counts['failed']:3}")
    failed = sum(outcome == "failed" for _, _, outcome, _ in rows)
    return suite.end(len(rows) - failed, failed)


def main():
    args = suite.parser(__doc__).parse_args()
    root = os.path.join(suite.corpus_of(args), "jax")
    folders = [path for part, path in find_programs(root)
               if part != "large" and os.path.exists(f"{path}/model.hlo.pb")
               and suite.is_wanted(args, os.path.basename(path))]
    work = tempfile.mkdtemp(prefix="hilo-without-")
    tool = os.path.join(args.bin, "hlo2penguin")
    with concurrent.futures.ProcessPoolExecutor(args.jobs) as pool:
        jobs = [pool.submit(run_program, tool, path, os.path.join(work, str(k))) for k, path in enumerate(folders)]
        rows = [row for job in jobs for row in job.result()]
    shutil.rmtree(work)
    return report(rows)


if __name__ == "__main__":
    sys.exit(main())
