"""The golden tests: run tools on the files beside this one and compare with what is stored.

usage: run.py --bin DIR [--update] [--jobs N] [AREA | FILE]...

An area is a folder here. Every file in it but *.expected is a test: among its first lines are one or more
`// RUN: <tool> <args>` (or `# RUN:`), run one after another until one fails. `.run` files hold nothing else. Words:

    %s   the file, as a path relative to the project
    %t   an empty temporary folder, the working directory, printed as %t
    %d   tests/file/<area>/data, for inputs that are no tests themselves
    < F  standard input, empty without it

Tools are the programs in DIR, `penguin` (python -m hilo.penguin), and for outputs `cat FILE...` and `ls FOLDER`.
The expectation, <file>.expected, is standard output, then `stderr:` and standard error if there is any, then
`exit: N`; it must match byte for byte. A file named fail_* exits with 1 (hlo-run: 1 to 3), any other with 0. Times and source lines
of log records are not compared. An expectation without its file is a failure, as nothing would read it.
"""

import argparse
import concurrent.futures
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
RUN = re.compile(r"^\s*(?://|#|;)\s*RUN:\s*(.*\S)\s*$")
HEAD_LINES = 20
TIMEOUT_S = 120
WHEN_FAILING = (1, 2, 3)
LOG_HEAD = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}: ([IE]) [\w.-]+:\d+\] ", re.M)


class BadTest(Exception):
    """The test itself is wrong."""


def run_lines(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        head = [line for _, line in zip(range(HEAD_LINES), f)]
    found = [m.group(1) for m in map(RUN.match, head) if m]
    if not found:
        raise BadTest(f"no `RUN:` among the first {HEAD_LINES} lines")
    return found


def builtin(words, folder):
    """(status, stdout) of `cat` and `ls`, relative to the working directory of the test."""
    try:
        if words[0] == "cat":
            return 0, "".join((folder / w).read_text(errors="backslashreplace") for w in words[1:])
        names = sorted(p.name + "/" * p.is_dir() for p in (folder / (words[1:] or ["."])[0]).iterdir())
        return 0, "".join(name + "\n" for name in names if name != "tests/")
    except OSError as error:
        return 1, f"{words[0]}: {error.strerror}\n"


class Runner:
    def __init__(self, bin_dir, root):
        self.bin_dir = pathlib.Path(bin_dir).resolve()
        self.root = root  # the folder of areas
        self.project = root.parent.parent

    def command(self, name):
        if name == "penguin":
            return [sys.executable, "-m", "hilo.penguin"]
        program = self.bin_dir / name
        if "/" in name or not program.is_file():
            raise BadTest(f"there is no tool `{name}` in {self.bin_dir}")
        return [str(program)]

    def run_one(self, line, path, folder):
        relative = path.relative_to(self.project)
        words = [
            w.replace("%s", str(relative)).replace("%d", str(relative.parent / "data")).replace("%t", str(folder))
            for w in shlex.split(line)
        ]
        if words[0] in ("cat", "ls"):
            return (*builtin(words, folder), "")
        stdin = subprocess.DEVNULL
        if "<" in words:
            at = words.index("<")
            stdin = open(folder / words[at + 1], "rb")
            del words[at : at + 2]
        try:
            done = subprocess.run(
                self.command(words[0]) + words[1:], cwd=folder, stdin=stdin, capture_output=True, timeout=TIMEOUT_S
            )
        finally:
            if stdin != subprocess.DEVNULL:
                stdin.close()
        text = lambda raw: raw.decode("utf-8", "backslashreplace")
        return done.returncode, text(done.stdout), text(done.stderr)

    def normalise(self, text, folder):
        text = text.replace(str(folder), "%t").replace(f"{self.bin_dir}/", "").replace(f"{self.project}/", "")
        return LOG_HEAD.sub(r"\1] ", text)

    def actual(self, path):
        """(exit status, what the expectation should be)"""
        out, err, status = "", "", 0
        with tempfile.TemporaryDirectory(prefix="hilo-file-") as name:
            folder = pathlib.Path(name).resolve()
            (folder / "tests").symlink_to(self.project / "tests")
            for line in run_lines(path):
                status, run_out, run_err = self.run_one(line, path, folder)
                out, err = out + run_out, err + run_err
                if status:
                    break
            out, err = self.normalise(out, folder), self.normalise(err, folder)
        end = lambda text: text if not text or text.endswith("\n") else text + "\n(no newline at the end)\n"
        return status, end(out) + ("stderr:\n" + end(err) if err else "") + f"exit: {status}\n"

    def check(self, path, update):
        """None, or why the test failed."""
        try:
            status, text = self.actual(path)
        except subprocess.TimeoutExpired:
            return f"not done after {TIMEOUT_S} s"
        except (BadTest, OSError) as error:
            return str(error)
        wanted = WHEN_FAILING if path.name.startswith("fail_") else (0,)
        if status not in wanted:
            return f"exit status {status}; the name of the file says {wanted[0]}\n{text}"
        expected = path.with_name(path.name + ".expected")
        if update:
            if not expected.exists() or expected.read_bytes() != text.encode():
                expected.write_bytes(text.encode())
                print(f"written: {expected.relative_to(self.project)}")
            return None
        if not expected.exists():
            return f"{expected.name} is missing (make golden writes it)"
        stored = expected.read_bytes().decode("utf-8", "backslashreplace")
        if stored == text:
            return None
        diff = difflib.unified_diff(stored.splitlines(), text.splitlines(), "expected", "actual", lineterm="")
        lines = list(diff)
        more = [f"... and {len(lines) - 80} lines more"] if len(lines) > 80 else []
        return "\n".join(lines[:80] + more)

    def collect(self, names):
        """The tests, and expectations that belong to none."""
        places = [self.root / n for n in names] or sorted(p for p in self.root.iterdir() if p.is_dir())
        tests, strays = [], []
        for place in places:
            if place.is_file():
                tests.append(place)
                continue
            if not place.is_dir():
                raise SystemExit(f"run.py: there is no {place}")
            files = sorted(p for p in place.iterdir() if p.is_file() and not p.name.startswith("."))
            tests += [p for p in files if p.suffix != ".expected"]
            strays += [p for p in files if p.suffix == ".expected" and not p.with_suffix("").exists()]
        return [t for t in tests if "__pycache__" not in t.parts], strays


def main(argv, root=HERE):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", required=True)
    parser.add_argument("--update", action="store_true", default=bool(os.environ.get("HILO_UPDATE")))
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args(argv)
    runner = Runner(args.bin, root)
    tests, strays = runner.collect(args.names)
    n_failed = len(strays)
    for stray in strays:
        print(f"FAILED {stray.relative_to(runner.project)}: no test reads this expectation")
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for path, why in zip(tests, pool.map(lambda t: runner.check(t, args.update), tests)):
            if why:
                n_failed += 1
                print(f"FAILED {path.relative_to(runner.project)}: {why}")
    print(f"{len(tests) + len(strays) - n_failed} passed, {n_failed} failed, 0 skipped")
    return 1 if n_failed or not tests else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
