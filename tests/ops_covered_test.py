"""Every row of ops.def occurs in the tests.

usage: ops_covered_test.py

* In a golden file under tests/file that succeeds, input or expectation: each spelling in MLIR.
* In what tests the evaluator (unit tests of it, goldens of hlo-run): the operation, by its name in HLO, in MLIR or as
  HILO_OP_*. Tables of functions name them without a dialect.
* In tests/file/hlo-text: the name in HLO.

A row that occurs nowhere is an operation that nobody would miss if it broke.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
WORD = re.compile(r"[\w.-]*\w\(?")
ROW = re.compile(r'^HILO_OP\((\w+), "([^"]*)", "([^"]*)",')
EVALUATOR_TESTS = re.compile(r"unit/(eval|machine|apply|collective|transfer|targets|function|run)\w*\.(c|h|inc)$|file/(run|chlo)/")
# Operations that no program has: XLA does not have them any more, and hilo says so where one occurs.
REFUSED_BY_NAME = {"SHUFFLE"}


def rows():
    for line in (ROOT / "src/ir/ops.def").read_text().splitlines():
        if m := ROW.match(line):
            yield m.groups()


def texts():
    for path in sorted((ROOT / "tests").rglob("*")):
        place = path.relative_to(ROOT / "tests").as_posix()
        if path.is_file() and place.startswith(("unit/", "file/")) and "/fail_" not in place:
            yield place, path.read_text(errors="replace")


def spellings(mlir):
    """Of `a|mhlo.b`: the alternatives of each; a bare name is StableHLO's and MHLO's. `hlo.x` is no MLIR."""
    for word in filter(None, mlir.split("|")):
        if not word.startswith("hlo."):
            yield [word] if "." in word else [f"stablehlo.{word}", f"mhlo.{word}"]


def words(text):
    """Names, and names as they are called (`add(`): a dot belongs to the name, so `stablehlo.add` is one."""
    return set(WORD.findall(text))


def is_in(known, forms):
    return any(f in known or f + "(" in known for f in forms)


def main():
    golden, evaluator, hlo = [], [], []
    for place, text in texts():
        if place.startswith("file/"):
            golden.append(text)
        if place.startswith(("file/hlo-text/", "file/stablehlo/")):
            hlo.append(text)
        if EVALUATOR_TESTS.match(place):
            evaluator.append(text)
    golden, evaluator, hlo = (words("\n".join(t)) for t in (golden, evaluator, hlo))
    missing = []
    for name, in_hlo, in_mlir in rows():
        forms = list(spellings(in_mlir))
        missing += [f"{name}: {' or '.join(f)} is in no golden file" for f in forms if not is_in(golden, f)]
        if in_hlo and not in_mlir.startswith("hlo.") and in_hlo + "(" not in hlo:
            missing.append(f"{name}: {in_hlo} is in no golden file of HLO text")
        evaluated = is_in(evaluator, [f"HILO_OP_{name}", *sum(forms, [])]) or in_hlo and in_hlo + "(" in evaluator
        if not evaluated and name not in REFUSED_BY_NAME:
            missing.append(f"{name}: nothing tests its evaluator")
    if missing:
        sys.exit("\n".join([*missing, f"{len(missing)} gaps"]))


if __name__ == "__main__":
    main()
