"""What the suites share: their options, the corpus, what to skip, and how they end."""

import argparse
import os
import sys

SKIPPED = 77  # exit status, for ctest
HERE = os.path.dirname(os.path.abspath(__file__))


def parser(doc):
    """A parser for a suite with this docstring; options of its own may be added.

    args.bin: the folder of the tools; args.only: parts of names (see is_wanted); args.jobs: how many at once."""
    out = argparse.ArgumentParser(description=doc.split("\n", maxsplit=1)[0])
    out.add_argument("--bin", required=True, help="the folder of the tools")
    out.add_argument("--corpus", help="the outside corpus; HILO_CORPUS, else beside the project")
    out.add_argument("--only", action="append", default=[], help="what has this in its name; several times: any of them")
    out.add_argument("--jobs", type=int, default=os.cpu_count())
    return out


def is_wanted(args, name):
    return not args.only or any(part in name for part in args.only)


def skip(why):
    """Ends the program."""
    print(f"SKIP: {why}\n0 passed, 0 failed, 1 skipped")
    sys.exit(SKIPPED)


def corpus_of(args):
    """The folder of the corpus; ends the program where there is none."""
    path = args.corpus or os.environ.get("HILO_CORPUS") or os.path.join(HERE, "../../../shared/corpus")
    if not os.path.isdir(os.path.join(path, "jax")):
        skip(f"no corpus at {path} (set HILO_CORPUS)")
    return os.path.abspath(path)


def end(passed, failed, skipped=0, why=""):
    """The last line, and the exit status: 1 also where nothing passed. why: what kept the skipped ones from being tested."""
    if skipped and why:
        print(f"SKIP: {why}")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


def write(path, text):
    with open(path, "w", encoding="utf-8") as stream:
        stream.write(text)


def is_current(path, text):
    """Is this what the file says? If not, says what to do."""
    with open(path, encoding="utf-8") as stream:
        if stream.read() == text:
            return True
    print(f"{path} is out of date: run this with --write {path}")
    return False
