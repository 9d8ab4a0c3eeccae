"""The MLIR reader against MLIR's own printer: every program of the corpus that jaxlib's MLIR takes is printed by it in generic form,
with locations, and both, and hilo must read all of them as one and the same module.

usage: mlir_forms.py --bin DIR    HILO_JAX_PYTHON: a Python with jaxlib; HILO_CORPUS: the corpus"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

import suite

MOST_BYTES = 400_000
EVERY = 9  # of the many small programs

PRINTER = r"""
import sys
from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir

FORMS = {"plain": {}, "generic": {"print_generic_op_form": True}, "debug": {"enable_debug_info": True},
         "both": {"print_generic_op_form": True, "enable_debug_info": True}}
out, files = sys.argv[1], sys.stdin.read().split("\n")
with jax_mlir.make_ir_context():
    for n, name in enumerate(files):
        try:
            module = ir.Module.parse(open(name).read())
        except Exception:
            continue  # of another version, or with dialects that jaxlib lacks
        for form, options in FORMS.items():
            with open(f"{out}/{n:04}.{form}.mlir", "w") as f:
                f.write(module.operation.get_asm(**options))
"""


def corpus_files(corpus):
    root = pathlib.Path(corpus)
    files = sorted(root.glob("jax/**/model*.mlir")) + sorted(root.glob("stablehlo-testdata/*.mlir"))[::EVERY]
    return [str(p) for p in files if p.stat().st_size < MOST_BYTES]


def signature(bin_dir, path):
    """The signature, or why there is none: after the text was read, what no form can cure (dynamic dimensions) is refused."""
    done = subprocess.run([os.path.join(bin_dir, "hlo-opt"), "--signature", str(path)], capture_output=True, text=True)
    if done.returncode == 0:
        return done.stdout.strip()
    return re.sub(r"^.*?\[ERROR\]|/\S*\.mlir", "", done.stderr.split("\n")[0])[:500]


def main():
    args = suite.parser(__doc__).parse_args()
    python, files = os.environ.get("HILO_JAX_PYTHON"), corpus_files(suite.corpus_of(args))
    if not python:
        suite.skip("no jaxlib (set HILO_JAX_PYTHON)")
    n = n_failed = 0
    with tempfile.TemporaryDirectory(prefix="hilo-forms-") as folder:
        subprocess.run([python, "-c", PRINTER, folder], input="\n".join(files), text=True, check=True)
        for plain in sorted(pathlib.Path(folder).glob("*.plain.mlir")):
            want = signature(args.bin, plain)
            for form in ("generic", "debug", "both"):
                n += 1
                got = signature(args.bin, plain.with_name(plain.name.replace("plain", form)))
                if got != want:
                    n_failed += 1
                    print(f"FAILED {files[int(plain.name[:4])]}, {form}: {got}, expected {want}")
    return suite.end(n - n_failed, n_failed)


if __name__ == "__main__":
    sys.exit(main())
