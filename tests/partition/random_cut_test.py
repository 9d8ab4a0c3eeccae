#!/usr/bin/env python3
"""Random modules with markers anywhere: the pieces, composed, compute what the whole computes.

Modules of the random generator (tests/random), all operations of it, get start and end markers around random stretches of the entry:
an end closes what depends on its start. Each is cut, one layer a module, and evaluated instance by instance against the module
without markers, bit for bit. Modules that the emitter refuses, or that draw random numbers, are counted and left out.

usage: random_cut_test.py BIN [--seeds=N] [--first=N] [--keep=DIR]
"""

import argparse
import concurrent.futures
import os
import random
import re
import subprocess
import sys
import tempfile

INSTRUCTION = re.compile(r"^  (ROOT )?(%[\w.-]+) = (\S.*?\)|\S+) ([\w-]+)\((.*)$")
ARRAY = re.compile(r"^[a-z]\w*\[[\d,]*\](\{[\d,]*\})?$")
NOT_MARKED = {"parameter", "constant", "after-all"}


class Marked:
    """A module of the generator and the same with markers."""

    def __init__(self, text, seed):
        head, _, entry = text.partition("\nENTRY ")
        lines = entry.splitlines()
        self.plain, self.n_layers = text, 0
        pick = random.Random(seed)
        parsed = [INSTRUCTION.match(line) for line in lines]
        at = 0
        while (span := self.find_span(pick, parsed, lines, at)) is not None and self.n_layers < 5:
            start, end = span
            lines = self.mark(lines, parsed, start, end)
            parsed = [INSTRUCTION.match(line) for line in lines]
            self.n_layers += 1
            at = end + 3
        self.text = head + "\nENTRY " + "\n".join(lines) + "\n"

    @staticmethod
    def find_span(pick, parsed, lines, at):
        """Lines of a value and of a later one that needs it."""
        names = {m.group(2): k for k, m in enumerate(parsed) if m}
        needs = [{names[n] for n in re.findall(r"%[\w.-]+", m.group(5)) if n in names and names[n] < k} if m else set()
                 for k, m in enumerate(parsed)]
        live = {k for k, m in enumerate(parsed) if m and m.group(1)}  # what the root needs: the rest would go with its markers
        for k in range(len(lines) - 1, -1, -1):
            live |= needs[k] if k in live else set()
        fit = [k for k, m in enumerate(parsed) if m and k in live and k >= at and ARRAY.match(m.group(3))
               and m.group(4) not in NOT_MARKED and not m.group(1)]
        for start in pick.sample(fit[: max(1, len(fit) // 2)], min(len(fit[: max(1, len(fit) // 2)]), 8)):
            behind = {start}
            for k in range(start + 1, len(lines)):
                if needs[k] & behind:
                    behind.add(k)
            ends = [k for k in fit if k in behind and start < k <= start + 12]
            if ends:
                return start, pick.choice(ends)
        return None

    def mark(self, lines, parsed, start, end):
        out = lines[: start + 1]
        begin, stop = (f"%mark.{word}.{self.n_layers}" for word in ("start", "end"))
        name, shape = parsed[start].group(2, 3)
        out.append(f'  {begin} = {shape} custom-call({name}), custom_call_target="AwsNeuronModuleMarkerStart-Forward"')
        renamed = [self.rename(line, name, begin) for line in lines[start + 1:end + 1]]
        last, shape = parsed[end].group(2, 3)
        out += renamed
        out.append(f'  {stop} = {shape} custom-call({last}), custom_call_target="AwsNeuronModuleMarkerEnd-Forward"')
        return out + [self.rename(line, last, stop) for line in lines[end + 1:]]

    @staticmethod
    def rename(line, old, new):
        left, equals, right = line.partition(" = ")
        return left + equals + re.sub(r"(?<![=\w.-])" + re.escape(old) + r"(?![\w.-])", new, right)  # and no computation of that name


def run(words):
    return subprocess.run(words, capture_output=True, text=True, check=False)


def check(bin_dir, root, seed):
    """(what happened, detail)"""
    text = run([os.path.join(bin_dir, "hilo_random"), f"--seed={seed}", "--plain"]).stdout
    if re.search(r" rng(-\w+)*\(", text):
        return "draws", ""
    module = Marked(text, seed)
    if not module.n_layers:
        return "no span", ""
    folder = os.path.join(root, str(seed))
    os.makedirs(folder, exist_ok=True)
    paths = {name: os.path.join(folder, name + ".hlo") for name in ("plain", "marked")}
    for name, its in (("plain", module.plain), ("marked", module.text)):
        with open(paths[name], "w", encoding="utf-8") as f:
            f.write(its)
    done = run([os.path.join(bin_dir, "hlo2penguin"), f"--input={paths['marked']}", f"--out-dir={folder}/out", "--partition", "--no-dbg",
                "--layers-per-module=1", "--dump-partitioned-hlo", "--logfile=", "--verify-hlo=false", "--verify-supported-ops=false"])
    if done.returncode:
        codes = set(re.findall(r"NCC_(\w+)\]", done.stderr)) - {"EMOD019"}
        refused = done.returncode == 1 and codes and not any(c.startswith(("MOD9", "EMOD9")) for c in codes)
        return ("refused" if refused else "fault"), done.stderr
    done = run([os.path.join(bin_dir, "hlo-run"), "--netlist", f"{folder}/out/hlo_netlist.json", f"--against={paths['plain']}", "--ulp=0",
                f"--seed={seed}"])
    return ("fault", done.stdout + done.stderr) if done.returncode else ("equal", "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin")
    parser.add_argument("--seeds", type=int, default=150)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--keep")
    args = parser.parse_args()
    bin_dir, counts = os.path.abspath(args.bin), {}
    with tempfile.TemporaryDirectory(prefix="hilo-random-cut-") as folder, \
            concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        seeds = range(args.first, args.first + args.seeds)
        for seed, (what, detail) in zip(seeds, pool.map(lambda s: check(bin_dir, args.keep or folder, s), seeds)):
            counts[what] = counts.get(what, 0) + 1
            if what == "fault":
                print(f"seed {seed}: {detail}")
    print(", ".join(f"{n} {what}" for what, n in sorted(counts.items())))
    return 1 if counts.get("fault") or not counts.get("equal") else 0


if __name__ == "__main__":
    sys.exit(main())
