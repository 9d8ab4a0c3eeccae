"""The HLO modules of the outside corpus, and hlo-opt called on them; shared by round_trip.py and against_xla.py."""

import os
import subprocess
from dataclasses import dataclass

SEPARATOR = "\n// -----\n"  # between the modules of one text file, as in XLA's tests
TEXT, PROTO = "text", "proto"


@dataclass
class Module:
    """One module of the corpus."""

    name: str  # path below the corpus, with #k for the k-th part of a file
    kind: str  # TEXT or PROTO
    path: str  # a file with this module alone


class Failure(Exception):
    """What was seen, in one line."""


def _kind(name):
    if name.endswith((".hlo", ".hlo.txt", "_hlo.txt", ".before_optimizations.txt")):
        return TEXT
    return PROTO if name.endswith((".pb", ".pb.zst")) else None


def find(corpus, scratch):
    """Every HLO module of the corpus, in order of the names. A file of several is cut into parts, written to `scratch`."""
    modules = []
    for part in ("jax", "hlo-text", "hlo-pb"):
        for folder, folders, files in os.walk(os.path.join(corpus, part)):
            folders.sort()
            for file in sorted(files):
                if _kind(file):
                    modules += _modules_of(corpus, os.path.join(folder, file), scratch)
    return modules


def _modules_of(corpus, path, scratch):
    name = os.path.relpath(path, corpus)
    kind = _kind(path)
    if kind == TEXT:
        with open(path, encoding="utf-8", newline="") as f:
            text = f.read()
        if SEPARATOR in text:
            return [_part(name, k, part, scratch) for k, part in enumerate(text.split(SEPARATOR))]
    return [Module(name, kind, path)]


def _part(name, k, text, scratch):
    path = os.path.join(scratch, f"{name.replace('/', '_')}.{k}")
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.write(text)
    return Module(f"{name}#{k}", TEXT, path)


class HloOpt:
    """hlo-opt of one build; files go to a folder of the caller."""

    def __init__(self, bin_dir):
        self.tool = os.path.join(bin_dir, "hlo-opt")

    def run(self, *args):
        """(exit status, stdout, first line of stderr); a Failure when the tool died."""
        done = subprocess.run([self.tool, "--logfile=", *args], stdin=subprocess.DEVNULL, capture_output=True, check=False)
        lines = done.stderr.decode(errors="replace").strip().splitlines()
        errors = [line for line in lines if "[ERROR]" in line] or lines or [""]
        if done.returncode not in (0, 1):
            raise Failure(f"hlo-opt {' '.join(args)}: exit status {done.returncode}: {errors[0]}")
        return done.returncode, done.stdout, errors[0]

    def convert(self, source, target, form):
        """Reads, verifies and writes `source`; returns the bytes of `target`. `form` is hlo or proto."""
        status, _, error = self.run(f"--emit={form}", "-o", target, source)
        if status:
            raise Failure(f"not read: {error}")
        return read(target)

    def signature(self, source):
        status, out, error = self.run("--signature", source)
        if status:
            raise Failure(f"no signature: {error}")
        return out


def read(path):
    with open(path, "rb") as f:
        return f.read()


def difference(left, right):
    """The first line that differs, of two texts."""
    a, b = left.split(b"\n"), right.split(b"\n")
    for k in range(max(len(a), len(b))):
        x, y = (s[k] if k < len(s) else b"<end>" for s in (a, b))
        if x != y:
            return f"line {k + 1}: {shorten(x, y)} against {shorten(y, x)}"
    return "nothing"


def shorten(line, other):
    """The place of a line that differs from the other."""
    n = len(os.path.commonprefix([line, other]))
    return "`" + line[max(0, n - 60):n + 60].decode(errors="replace").strip() + "`"


def require_same(left, right, what):
    if left != right:
        raise Failure(f"{what}: {difference(left, right)}")
