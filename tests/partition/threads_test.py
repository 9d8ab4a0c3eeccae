#!/usr/bin/env python3
"""Partitions and batches over 1, 2, 3 and 16 threads, without and with a cache: the same bytes each time, and, in the build with
ThreadSanitizer, no race.

usage: threads_test.py BIN
"""

import filecmp
import json
import os
import re
import subprocess
import sys
import tempfile

from flags_test import model
from stacks import Stack

THREADS = (1, 2, 3, 16)
SEEDS = range(1000, 1012)


def run(tool, words, cwd, stdin=None):
    done = subprocess.run([tool, "--logfile=", *words], input=stdin, capture_output=True, text=True, check=False, cwd=cwd)
    assert done.returncode == 0, f"{words}: exit status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def files(folder):
    return sorted(os.path.relpath(os.path.join(d, f), folder) for d, _, names in os.walk(folder) for f in names)


def expect_same(left, right):
    names = files(left)
    assert names and names == files(right), (left, right)
    assert filecmp.cmpfiles(left, right, names, shallow=False)[1:] == ([], []), (left, right)


def a_file_in_the_way(tool, root, jobs):
    """Where a directory should be: it is named with its definition, what ran before is gone, and the file is what it was."""
    out = os.path.join(root, f"blocked{jobs}")
    os.mkdir(out)
    with open(os.path.join(out, "sg03"), "w", encoding="utf-8") as f:
        f.write("mine")
    done = subprocess.run([tool, "--input=many.hlo", f"--out-dir={out}", "--partition", "--layers-per-module=1", "--force-all-uniq",
                           f"--jobs={jobs}", "--logfile="], capture_output=True, text=True, check=False, cwd=root)
    assert done.returncode == 1, done.returncode
    error = re.search(r"^[^\n]*cannot make the directory[^\n]*\n(?!\[)[^\n]*in definition 3,", done.stderr, re.M)
    assert error and "sg03" in error[0], done.stderr
    assert os.listdir(out) == ["sg03"], os.listdir(out)
    with open(os.path.join(out, "sg03"), encoding="utf-8") as f:
        assert f.read() == "mine"


def main():
    tool = os.path.join(os.path.abspath(sys.argv[1]), "hlo2penguin")
    with tempfile.TemporaryDirectory(prefix="hilo-threads-") as root:
        texts = {seed: Stack(seed).text for seed in SEEDS} | {"many": model(80)}  # of many, threads commit files as well
        for name, text in texts.items():
            with open(os.path.join(root, f"{name}.hlo"), "w", encoding="utf-8") as f:
                f.write(text)
        for jobs in THREADS:
            out = os.path.join(root, f"out{jobs}")
            lines = [f"--input={name}.hlo --out-dir={out}/{name} --partition --layers-per-module=1 --jobs={jobs} --logfile="
                     + " --force-all-uniq" * (name == "many") for name in texts]
            for line in lines:  # the engine of one compile
                run(tool, line.split(), root)
            again = [line.replace(f"{out}/", f"{out}.batch/") + " --cache-dir=cache" for line in lines]
            records = run(tool, ["--batch=-", f"--jobs={jobs}"], root, "\n".join(again))  # and that of a batch, both at once
            assert [json.loads(line)["status"] for line in records.splitlines()] == ["ok"] * len(texts)
            expect_same(os.path.join(root, f"out{THREADS[0]}"), out)
            if jobs > 1:
                expect_same(os.path.join(root, f"out{THREADS[0]}.batch"), out + ".batch")
            a_file_in_the_way(tool, root, jobs)
    print(f"{len(texts)} modules, the same on {', '.join(map(str, THREADS))} threads")


if __name__ == "__main__":
    main()
