#!/usr/bin/env python3
"""Batches and the cache, as processes: what golden files cannot hold, since times and file names in it differ from run to run.

usage: batch_cache_test.py BIN
"""

import filecmp
import glob
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

LAYER = """\
  s{k} = f32[4,4] custom-call({x}), custom_call_target="AwsNeuronModuleMarkerStart-Forward"
  d{k} = f32[4,4] dot(s{k}, w), lhs_contracting_dims={{1}}, rhs_contracting_dims={{0}}
  t{k} = f32[4,4] tanh(d{k})
  e{k} = f32[4,4] custom-call(t{k}), custom_call_target="AwsNeuronModuleMarkerEnd-Forward"
"""


def model(n_layers, name="m", alias=""):
    """A module of so many equal layers, and of as many names as one likes."""
    body, x = "", "p"
    for k in range(n_layers):
        body, x = body + LAYER.format(k=k, x=x), f"e{k}"
    return (f"HloModule {name}{alias}\nENTRY {name} {{\n  p = f32[4,4] parameter(0)\n  w = f32[4,4] parameter(1)\n{body}"
            f"  ROOT {name}_out = f32[4,4] negate({x})\n}}\n")


class Place:
    """A temporary folder with tools in it."""

    def __init__(self, bin_dir):
        self.tool = os.path.join(os.path.abspath(bin_dir), "hlo2penguin")
        self.folder = tempfile.TemporaryDirectory(prefix="hilo-batch-")
        self.root = self.folder.name

    def path(self, *parts):
        return os.path.join(self.root, *parts)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)
        return self.path(name)

    def run(self, *words, stdin=None, status=0):
        done = subprocess.run([self.tool, "--logfile=", *words], input=stdin, capture_output=True, text=True, cwd=self.root,
                              check=False, stdin=subprocess.DEVNULL if stdin is None else None)
        assert done.returncode == status, f"{words}: exit status {done.returncode}\n{done.stdout}{done.stderr}"
        return done

    def compile(self, name, out, *words):
        return self.run(f"--input={name}", "--output=penguin.py", f"--out-dir={out}", *words)

    def entries(self):
        return sorted(glob.glob(self.path("cache", "*", "*.hilo")))

    def signature(self, folder):
        with open(self.path(folder, "hlo_netlist.json"), encoding="utf-8") as f:
            return json.load(f)["Signature"]

    def same(self, left, right):
        files = [os.path.relpath(os.path.join(d, f), self.path(left)) for d, _, names in os.walk(self.path(left)) for f in names]
        assert files
        match, mismatch, errors = filecmp.cmpfiles(self.path(left), self.path(right), files, shallow=False)
        assert not mismatch and not errors, (mismatch, errors)


# ---- batches ----


def batch_records_are_in_order(place):
    place.write("m.hlo", model(2))
    lines = ["# a comment", ""]
    lines += [f"--input=m.hlo --output=penguin.py --out-dir=out{k} --logfile=" for k in range(50)]
    lines += ["--input=absent.hlo --output=penguin.py --out-dir=absent", "--nosuch", "--input=m.hlo",
              "--input=m.hlo --output=penguin.py --out-dir=out3", "--batch=other"]
    for jobs in (1, 2, 3):
        done = place.run("--batch=-", f"--jobs={jobs}", stdin="\n".join(lines), status=1)
        records = [json.loads(line) for line in done.stdout.splitlines()]
        assert [r["line"] for r in records] == list(range(3, 58))
        bad = {r["line"]: r for r in records if r["status"] != "ok"}
        assert sorted(bad) == [6, 53, 54, 55, 56, 57], sorted(bad)
        assert bad[53]["code"] == "NCC_EMOD905" and "absent.hlo" in bad[53]["diagnostics"]
        assert "--nosuch" in bad[54]["diagnostics"]
        assert "line 56" in bad[6]["diagnostics"] and "line 6 " in bad[56]["diagnostics"]
        assert "6 of 55 lines of the batch failed" in done.stderr
        assert not os.path.exists(place.path("out3")) and os.path.exists(place.path("out4", "penguin.py"))
        place.same("out0", "out49")


def batch_lines_may_be_partitioned(place):
    place.write("m.hlo", model(3))
    done = place.run("--batch=-", "--max-memory=1", stdin="\n".join(
        f"--input=m.hlo --out-dir=p{k} --partition --layers-per-module=1" for k in range(4)))
    assert all(json.loads(line)["status"] == "ok" for line in done.stdout.splitlines())
    place.compile("m.hlo", "alone", "--partition", "--layers-per-module=1")
    place.same("alone", "p3")


# ---- memory ----


def a_compile_keeps_to_its_budget(place):
    """B80: it stops with an error, in whichever phase the memory would run out, or its program is the same."""
    def peak_of(*words):
        lines = place.compile("m.hlo", "free", "--timings", *words).stderr.splitlines()
        return next(int(line.split()[-3]) for line in lines if line.startswith("all ")) << 10

    place.write("m.hlo", model(40))
    phases = set()
    for words in [(), ("--partition", "--layers-per-module=1", "--jobs=2")]:
        least = peak_of(*words, "--jobs=1")  # two threads need as much, and more if they meet
        shutil.rmtree(place.path("free"))
        peak = peak_of(*words)
        n_failed = 0
        for part in range(1, 33, 2):
            n_bytes = peak * part // 16
            done = subprocess.run([place.tool, "--logfile=", "--input=m.hlo", "--output=penguin.py", "--out-dir=bounded",
                                   f"--max-memory={n_bytes}", *words], capture_output=True, text=True, cwd=place.root, check=False,
                                  stdin=subprocess.DEVNULL)
            if done.returncode == 0:
                assert n_bytes >= least, (n_bytes, least)
                place.same("free", "bounded")
            else:
                assert done.returncode == 1 and part < 30, done
                assert f"needs more memory than the {n_bytes} bytes of `--max-memory`" in done.stderr, done.stderr
                assert not os.listdir(place.path("bounded")), os.listdir(place.path("bounded"))
                n_failed += 1
                phases.add(done.stderr.splitlines()[-1])
            shutil.rmtree(place.path("bounded"))
        assert n_failed >= 2, n_failed  # those far below `least`; `peak` may be a few times as much
        shutil.rmtree(place.path("free"))
    assert len(phases) >= 2, phases


def a_line_of_a_batch_has_its_own_budget(place):
    place.write("m.hlo", model(40))
    done = place.run("--batch=-", "--jobs=2", status=1, stdin="\n".join(
        f"--input=m.hlo --output=penguin.py --out-dir=p{k}{' --max-memory=60000' if k % 2 else ''}" for k in range(6)))
    records = [json.loads(line) for line in done.stdout.splitlines()]
    assert [r["status"] for r in records] == ["ok", "error"] * 3, records
    assert all(r["code"] == "NCC_EMOD910" for r in records if r["status"] != "ok")
    place.same("p0", "p4")


def timings_show_the_peak_of_each_phase(place):
    place.write("m.hlo", model(40))
    for words in [(), ("--partition", "--layers-per-module=1")]:
        lines = place.compile("m.hlo", "out", "--timings", *words).stderr.splitlines()
        peaks = {line.split()[0]: int(line.split()[-3]) for line in lines if line.endswith(" KiB peak")}
        assert {"read", "verify", "compile", "commit", "all"} <= set(peaks), lines
        assert all(peak > 0 for peak in peaks.values()), lines
        assert peaks["all"] == max(peak for phase, peak in peaks.items() if phase != "all"), lines


# ---- the cache ----


def cached(place, name, out, *words):
    return place.compile(name, out, "--cache-dir=cache", "--explain-miss", *words).stderr


def layers_hit_across_models(place):
    place.write("three.hlo", model(3))
    place.write("five.hlo", model(5, "other"))
    words = ("--partition", "--layers-per-module=1")
    assert cached(place, "three.hlo", "a", *words).count("cache miss: no entry is of this module") == 2
    assert len(place.entries()) == 2
    assert cached(place, "five.hlo", "b", *words) == ""
    assert cached(place, "three.hlo", "c", *words) == ""
    place.same("a", "c")


def misses_are_explained(place):
    place.write("m.hlo", model(1))
    cached(place, "m.hlo", "a")
    assert "here --target-instance=trn2, in the nearest entry the default" in cached(place, "m.hlo", "b", "--target-instance=trn2")
    place.write("aliased.hlo", model(1, alias=", input_output_alias={ {}: (0, {}, may-alias) }"))
    assert "no entry is of this module" in cached(place, "aliased.hlo", "c")  # B64: donation is part of the key
    place.write("renamed.hlo", model(1, "another"))
    assert cached(place, "renamed.hlo", "d") == ""


def damaged_entries_are_misses(place):
    """B85: what a killed process left is a miss, and does not keep others from writing."""
    place.write("m.hlo", model(1))
    cached(place, "m.hlo", "a")
    (entry,) = place.entries()
    with open(entry, "rb") as f:
        whole = f.read()
    for bad in (whole[: len(whole) // 2], b"", b"something else", whole[:-9] + bytes([whole[-9] ^ 1]) + whole[-8:]):
        with open(entry, "wb") as f:
            f.write(bad)
        assert "the entry is damaged" in cached(place, "m.hlo", "b")
        place.same("a", "b")
        assert cached(place, "m.hlo", "c") == ""


def the_cache_is_bounded(place):
    for k in range(40):
        place.write("m.hlo", model(1).replace("tanh", "exponential").replace("4,4", f"{k + 1},{k + 1}"))
        cached(place, "m.hlo", "a", "--cache-size=1")
    assert len(place.entries()) <= 40 and len({os.path.dirname(e) for e in place.entries()}) == len(place.entries())
    orphan = os.path.join(os.path.dirname(place.entries()[0]), ".dead.tmp")
    with open(orphan, "w", encoding="utf-8") as f:
        f.write("left by a killed process")
    os.utime(orphan, (0, 0))
    first = place.entries()[0]
    os.unlink(first)
    for k in range(40):
        place.write("m.hlo", model(1).replace("tanh", "exponential").replace("4,4", f"{k + 1},{k + 1}"))
        cached(place, "m.hlo", "a", "--cache-size=1")
    assert not os.path.exists(orphan)


def unlike(n_layers, op):
    """A module of so many layers, no two the same: each applies the operation once more than the one before."""
    text = model(n_layers)
    for k in range(n_layers):
        more = "".join(f"  t{k}.{j} = f32[4,4] {op}(t{k}{f'.{j - 1}' if j else ''})\n" for j in range(k + 1))
        text = text.replace(f"  e{k} = f32[4,4] custom-call(t{k})", f"{more}  e{k} = f32[4,4] custom-call(t{k}.{k})")
    return text


def processes_share_a_directory(place):
    place.write("m.hlo", unlike(8, "sine"))
    words = [place.tool, "--logfile=", "--input=m.hlo", "--output=penguin.py", "--partition", "--layers-per-module=1",
             "--cache-dir=cache", "--jobs=2"]
    running = [subprocess.Popen([*words, f"--out-dir=p{k}"], cwd=place.root) for k in range(6)]
    assert [p.wait() for p in running] == [0] * 6
    for k in range(1, 6):
        place.same("p0", f"p{k}")
    assert not glob.glob(place.path("cache", "*", ".*.tmp"))


def killed_processes_leave_nothing_wrong(place):
    """B85. Two processes, two models in turn, killed at any moment: a netlist that is there vouches for every file it names, and no
    entry of the cache is ever read wrong."""
    words = ["--partition", "--layers-per-module=1", "--jobs=2"]
    wanted = {}
    for name, op in (("a", "sine"), ("b", "cosine")):
        place.write(f"{name}.hlo", unlike(6, op))
        start = time.monotonic()
        place.compile(f"{name}.hlo", name, *words)
        longest = 1.2 * (time.monotonic() - start)
        wanted[place.signature(name)] = name
    pick, vouched = random.Random(5), 0
    for turn in range(100):
        running = [subprocess.Popen([place.tool, "--logfile=", f"--input={name}.hlo", "--output=penguin.py", f"--out-dir=out{out}",
                                     "--cache-dir=cache", *words], cwd=place.root, stderr=subprocess.DEVNULL)
                   for out, name in enumerate("ab" if turn % 2 else "ba")]
        time.sleep(pick.uniform(0, longest))
        for process in running:
            process.kill()
        finished = [process.wait() == 0 for process in running]
        longest *= 0.95 if any(finished) else 1.1  # about the time that it takes, however busy the machine is
        for out in ("out0", "out1"):
            if os.path.exists(place.path(out, "hlo_netlist.json")):
                place.same(wanted[place.signature(out)], out)
                vouched += 1
        if turn % 10 == 9:
            shutil.rmtree(place.path("cache"), ignore_errors=True)
    assert vouched, "no process came to its end"
    for name in "ab":
        place.compile(f"{name}.hlo", f"{name}2", "--cache-dir=cache", *words)
        place.same(name, f"{name}2")


def a_directory_that_cannot_be_written_is_a_warning(place):
    place.write("m.hlo", model(1))
    place.write("file", "no directory")
    done = place.compile("m.hlo", "a", "--cache-dir=file", "--verbose=warning")
    assert "cache directory" in done.stderr
    assert os.path.exists(place.path("a", "penguin.py"))


TESTS = [batch_records_are_in_order, batch_lines_may_be_partitioned, a_compile_keeps_to_its_budget,
         a_line_of_a_batch_has_its_own_budget, timings_show_the_peak_of_each_phase, layers_hit_across_models, misses_are_explained,
         damaged_entries_are_misses, the_cache_is_bounded, processes_share_a_directory,
         killed_processes_leave_nothing_wrong, a_directory_that_cannot_be_written_is_a_warning]

if __name__ == "__main__":
    for test in TESTS:
        place = Place(sys.argv[1])
        test(place)
        print(f"ok {test.__name__}")
        place.folder.cleanup()
