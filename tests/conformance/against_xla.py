#!/usr/bin/env python3
"""XLA as the judge of what hilo reads and writes, on every HLO module of the corpus.

    against_xla.py --bin BIN [--corpus DIR] [--python PYTHON] [--only WORD]

PYTHON (or HILO_JAX_PYTHON) is a Python with jaxlib 0.10.2, in which XLA runs. For each module that XLA's parser takes:

* hilo reads and verifies it, text to text is a fixpoint and text to proto to text changes nothing but style;
* XLA takes the text and the proto that hilo writes and prints the module as it prints the original after its own
  conversion to that form (so what XLA itself loses on that way is no difference).

What XLA refuses hilo must refuse with a message. Differences that are XLA's are in KNOWN, with the reason.

One line a failure, then `N passed, N failed, N skipped`. Exit status 1 after a failure, 77 without a corpus or a jaxlib.
"""

import concurrent.futures
import hashlib
import json
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile

import hlo_modules
import suite
from hlo_modules import PROTO, TEXT, Failure, require_same

NOT_VALID = "XLA's parser takes it, XLA's verifier would not (round_trip.py says what is wrong)"
RENAMED = "a name that two computations use gets another free number than in XLA"

# {(module, check): reason}: checks in which XLA is wrong, or does something else on purpose.
KNOWN = {
    ("hlo-text/xla-bench__nv_maxtext_deepseek_1n4g_jit_train_step_before_optimization.hlo", "XLA reads the proto"):
        "XLA reads the text `(nan, 0)` as `(nan, nan)`",
    ("hlo-text/xla-bench__hlo_torax_iterhybrid_predictor_corrector_f64.hlo", "XLA reads the proto"):
        "XLA reads the text `-0` as `0`",
    ("hlo-text/xla-lit__custom_call.hlo", "XLA reads the text"): RENAMED,
    ("hlo-text/xla-lit__custom_call.hlo", "XLA reads the proto"): RENAMED,
    ("hlo-text/xla-lit__import.hlo", "read"): NOT_VALID,
    ("hlo-text/xla-lit__import_async.hlo#1", "read"): NOT_VALID,
    ("hlo-text/xla-lit__import_async.hlo#3", "read"): NOT_VALID,
    ("hlo-text/xla-lit__import_async.hlo#10", "read"): NOT_VALID,
    ("hlo-text/xla-lit__import_async.hlo#14", "read"): NOT_VALID,
}


# ---- inside the Python with jaxlib -----------------------------------------------------------------------------

def serve():
    """Answers lines [kind, file, out, whether to print large constants] of JSON by [message or null]; writes out.text and out.proto."""
    from jaxlib import _hlo  # only here: the caller has no jaxlib

    options = _hlo.HloPrintOptions()
    for line in sys.stdin:
        kind, path, out, options.print_large_constants = json.loads(line)
        try:
            data = hlo_modules.read(path)
            if kind == TEXT:
                module = _hlo.hlo_module_from_text(data.decode())
            else:
                module = _hlo.HloModule.from_serialized_hlo_module_proto(data)
            for end, printed in ((TEXT, module.to_string(options).encode()),
                                 (PROTO, module.as_serialized_hlo_module_proto())):
                with open(f"{out}.{end}", "wb") as f:
                    f.write(printed)
            answer = None
        except Exception as error:  # whatever XLA throws is its answer
            answer = str(error).strip().split("\n")[0] or "refused"
        print(json.dumps([answer]), flush=True)


# ---- what XLA prints ---------------------------------------------------------------------------------------------

FRAME_TABLES = ("FileNames", "FunctionNames", "FileLocations", "StackFrames")
FRAME = re.compile(r"stack_frame_id=(\d+)")


def frames_of(lines):
    """(number of lines, {stack frame: what it says}) of the tables in a module's head."""
    tables, table, end = {}, None, 0
    for k, line in enumerate(lines[1:], 1):
        if line in FRAME_TABLES:
            table = tables.setdefault(line, {})
        elif line and line[0].isdigit() and table is not None:
            number, row = line.split(" ", 1)
            table[int(number)] = row
        elif line:
            break
        end = k + 1
    return end, write_out(tables)


def fields_of(row):
    return {word: int(number) for word, number in re.findall(r"(\w+)=(\d+)", row)}


def write_out(tables):
    """{stack frame: its place and those of its callers}. A caller is printed as its number plus one, none as 1."""
    texts = {0: ""}
    for k, row in sorted(tables.get("StackFrames", {}).items()):  # callers come first
        frame = fields_of(row)
        place = fields_of(tables["FileLocations"][frame["file_location_id"]])
        where = tables["FileNames"][place.pop("file_name_id")], tables["FunctionNames"][place.pop("function_name_id")]
        caller = texts.get(frame.get("parent_frame_id", 1) - 1, "?")
        texts[k] = hashlib.sha256(repr((where, sorted(place.items()), caller)).encode()).hexdigest()[:16]
    return texts


def normal_form(text):
    """XLA numbers stack frames and orders computations by the order in which a proto happens to list the latter: frames are
    written out, computations sorted. The partition count goes, for which XLA's proto has no field."""
    lines = text.decode().split("\n")
    end, frames = frames_of(lines)
    head = re.sub(r", (num_partitions|replica_count)=\d+", "", lines[0])
    body = FRAME.sub(lambda m: "stack_frame=" + frames.get(int(m[1]), "none"), "\n".join(lines[end:]))
    return "\n".join([head, *sorted(body.strip("\n").split("\n\n"))]).encode()


# ---- outside ---------------------------------------------------------------------------------------------------

class Xla:
    """XLA in a process of its own: a failed check of its kills the process, not the run."""

    def __init__(self, python):
        self.command = [python, os.path.abspath(__file__), "--serve"]
        self.process = None

    def load(self, kind, path, out, large):
        """None, or why XLA does not take it. `large`: print large constants."""
        if not self.process:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, text=True)
        self.process.stdin.write(json.dumps([kind, path, out, large]) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if answer:
            return json.loads(answer)[0]
        self.close()
        return "XLA died"

    def close(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait()
            self.process.stdout.close()
        self.process = None


def jaxlib_of(python):
    """The version of its jaxlib, or None."""
    if not python:
        return None
    done = subprocess.run([python, "-c", "import jaxlib; print(jaxlib.__version__)"], capture_output=True, text=True,
                          check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def field_1(message):
    """The bytes of a message in field 1, with which the message must start; or None."""
    if message[:1] != b"\n":
        return None
    length, k = 0, 1
    for k in range(1, min(len(message), 6)):
        length |= (message[k] & 127) << 7 * (k - 1)
        if message[k] < 128:
            break
    return message[k + 1:k + 1 + length] if length <= len(message) - k - 1 else None


class Comparison:
    """The checks of one module. Each gives one line when it fails."""

    def __init__(self, opt, xla, module, folder):
        self.opt, self.xla, self.module, self.folder = opt, xla, module, folder
        self.complaints = []

    def path(self, name):
        return os.path.join(self.folder, name)

    def check(self, name, function, *args):
        try:
            function(*args)
        except Failure as failure:
            self.complaints.append((name, str(failure)))

    def run(self):
        source = self.opt_input()
        # For an elided constant XLA prints whatever its memory held.
        self.large = self.module.kind == PROTO or b"{...}" not in hlo_modules.read(source)
        refused = self.load(self.module.kind, source, self.path("xla"))
        for _ in range(2):  # HloProto, HloSnapshot: XLA reads the HloModuleProto in them
            inner = field_1(hlo_modules.read(source)) if refused and self.module.kind == PROTO else None
            if inner is None:
                break
            source = self.path("inner")
            with open(source, "wb") as f:
                f.write(inner)
            refused = self.load(PROTO, source, self.path("xla"))
        if refused:
            self.check("refusal", self.must_refuse, refused)
            return
        self.check("read", self.write)
        if self.complaints:
            return
        self.check("text read again", self.text_again)
        self.check("text of the proto", self.proto_again)
        self.check("XLA reads the text", self.judge, TEXT)
        self.check("XLA reads the proto", self.judge, PROTO)

    def load(self, kind, path, out):
        return self.xla.load(kind, path, out, self.large)

    def opt_input(self):
        """XLA reads no zstd."""
        if not self.module.path.endswith(".zst"):
            return self.module.path
        with open(self.path("plain"), "wb") as f:
            subprocess.run(["zstd", "-dcq", self.module.path], stdout=f, check=True)
        return self.path("plain")

    def must_refuse(self, why):
        status, _, error = self.opt.run("-o", os.devnull, self.module.path)
        if status == 0:
            raise Failure(f"XLA refuses it ({why}), hilo does not")
        if "[ERROR]" not in error:
            raise Failure(f"refused without a message: {error}")

    def write(self):
        self.text = self.opt.convert(self.module.path, self.path("hilo.text"), "hlo")
        self.proto = self.opt.convert(self.module.path, self.path("hilo.proto"), "proto")

    def text_again(self):
        require_same(self.opt.convert(self.path("hilo.text"), self.path("text2"), "hlo"), self.text, "differs")

    def proto_again(self):
        back = self.opt.convert(self.path("hilo.proto"), self.path("back"), "hlo")
        self.opt.convert(self.path("back"), self.path("proto2"), "proto")
        require_same(self.opt.convert(self.path("proto2"), self.path("text2"), "hlo"), back, "differs")

    def judge(self, kind):
        """XLA's print of what hilo wrote is its print of the original on the same way."""
        theirs = self.path("xla") if kind == self.module.kind else self.path("theirs")
        if kind != self.module.kind:
            refused = self.load(kind, f"{self.path('xla')}.{kind}", theirs)
            if refused:
                return  # XLA does not read its own
        refused = self.load(kind, self.path(f"hilo.{kind}"), self.path("ours"))
        if refused:
            raise Failure(f"refused: {refused}")
        ours, theirs = hlo_modules.read(self.path("ours.text")), hlo_modules.read(f"{theirs}.text")
        if PROTO in (kind, self.module.kind):
            ours, theirs = normal_form(ours), normal_form(theirs)
        require_same(ours, theirs, "hilo's, XLA's")


def compare(opt, servers, module):
    """[(check, complaint)]"""
    xla = servers.get()
    try:
        with tempfile.TemporaryDirectory() as folder:
            comparison = Comparison(opt, xla, module, folder)
            comparison.run()
            return comparison.complaints
    finally:
        servers.put(xla)


def main():
    parser = suite.parser(__doc__)
    parser.add_argument("--python", default=os.environ.get("HILO_JAX_PYTHON"))
    if "--serve" in sys.argv:
        return serve()
    args = parser.parse_args()
    corpus, version = suite.corpus_of(args), jaxlib_of(args.python)
    if not version:
        suite.skip("no jaxlib (set HILO_JAX_PYTHON)")
    print(f"jaxlib {version}")
    opt, servers = hlo_modules.HloOpt(args.bin), queue.Queue()
    n_passed, n_failed, known = 0, 0, dict(KNOWN)
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        for _ in range(args.jobs):
            servers.put(Xla(args.python))
        modules = [m for m in hlo_modules.find(corpus, scratch) if suite.is_wanted(args, m.name)]
        n_skipped = 0 if shutil.which("zstd") else sum(m.path.endswith(".zst") for m in modules)
        if n_skipped:
            print("SKIP: compressed modules, as there is no program `zstd`")
            modules = [m for m in modules if not m.path.endswith(".zst")]
        jobs = [(m.name, pool.submit(compare, opt, servers, m)) for m in modules]
        for name, job in jobs:
            complaints = [(check, text) for check, text in job.result() if not known.pop((name, check), None)]
            for check, text in complaints:
                print(f"{name}: {check}: {text}")
            n_failed += bool(complaints)
            n_passed += not complaints
        while not servers.empty():
            servers.get().close()
    if not args.only:
        for name, check in known:
            print(f"{name}: {check}: passes, but is in KNOWN")
        n_failed += len(known)
    return suite.end(n_passed, n_failed, n_skipped)


if __name__ == "__main__":
    sys.exit(main())
