#!/usr/bin/env python3
"""Random modules of one device, evaluated by hlo-run and by XLA's CPU client on the same inputs.

    random_against_xla.py --bin BIN [--python PYTHON] [--seed N] [--count N]

PYTHON (or HILO_JAX_PYTHON) is a Python with jax and jaxlib 0.10.2. Floats agree within a tolerance of their type, relative to the
largest value of the result, everything else bit for bit. What XLA does otherwise on purpose is in KNOWN, by what the module has.
A line a disagreement, then `N passed, N failed, N skipped`: skipped are modules that XLA does not compile. Exit status 77 without jax.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

import suite

# {what the text of the module has: why XLA's CPU client gives something else}
KNOWN = {}
TOLERANCE = {"f64": 1e-12, "c128": 1e-12, "f32": 2e-4, "c64": 2e-4, "bf16": 0.06, "f16": 0.02}


# ---- inside the Python with jax ---------------------------------------------------------------------------------

def make_inputs(numpy, text, seed):
    """Arrays for the entry's parameters, in their order, from the layout in the module's head."""
    import ml_dtypes
    head = re.search(r"entry_computation_layout=\{\((.*?)\)->", text)[1]
    kinds = {"f32": numpy.float32, "f64": numpy.float64, "f16": numpy.float16, "bf16": ml_dtypes.bfloat16, "pred": numpy.bool_,
             "c64": numpy.complex64, "c128": numpy.complex128, **{f"s{n}": f"int{n}" for n in (8, 16, 32, 64)},
             **{f"u{n}": f"uint{n}" for n in (8, 16, 32, 64)}}
    random = numpy.random.default_rng(seed)
    arrays = []
    for kind, dims in re.findall(r"(\w+)\[([\d,]*)\]", re.sub(r"/\*.*?\*/", "", head)):
        shape = [int(d) for d in dims.split(",") if d]
        if kind == "pred":
            values = random.integers(0, 2, shape)
        elif kind[0] in "su":
            values = random.integers(-8 if kind[0] == "s" else 0, 9, shape)
        else:
            values = numpy.round(random.uniform(-2, 2, shape) * 64) / 64
        arrays.append(numpy.asarray(values).astype(kinds[kind]))
    return arrays


def serve():
    """Answers lines [file of HLO text, stem of outputs, seed] by [what went wrong, or null]."""
    import jax
    import numpy
    from jaxlib import _hlo, xla_client
    jax.config.update("jax_enable_x64", True)
    client = jax.devices("cpu")[0].client
    devices = xla_client.DeviceList(tuple(client.local_devices()[:1]))
    for line in sys.stdin:
        path, stem, seed = json.loads(line)
        try:
            with open(path, encoding="utf-8") as f:
                text = f.read()
            inputs = make_inputs(numpy, text, seed)
            raw = lambda a: a.view(numpy.uint16) if a.dtype.name == "bfloat16" else a
            numpy.savez(stem + ".in.npz", **{f"arg{k}": raw(a) for k, a in enumerate(inputs)})
            module = _hlo.hlo_module_from_text(text)
            mlir = xla_client._xla.mlir.xla_computation_to_mlir_module(
                xla_client.XlaComputation(module.as_serialized_hlo_module_proto()))
            options = xla_client.CompileOptions()
            program = client.compile_and_load(mlir, devices, options)
            results = program.execute_sharded([jax.device_put(a) for a in inputs]).disassemble_into_single_device_arrays()
            arrays = [numpy.asarray(r[0]) for r in results]
            numpy.savez(stem + ".out.npz", **{f"out{k}": raw(a) for k, a in enumerate(arrays)})
            answer = [None, [a.dtype.name for a in arrays]]
        except Exception as error:  # whatever XLA throws is its answer
            why = str(error).strip().split("\n")
            answer = [" ".join(why[:3 if "parse" in why[0] else 1])[:300] or "refused", []]
        print(json.dumps(answer), flush=True)


# ---- outside ----------------------------------------------------------------------------------------------------

class Xla:
    """XLA in a process of its own, made anew when it dies."""

    def __init__(self, python):
        self.command, self.process = [python, os.path.abspath(__file__), "--serve"], None

    def run(self, *request):
        if not self.process:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL, text=True)
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if answer:
            return json.loads(answer)
        self.process = None
        return "XLA died", []


def compare(run, module, stem, dtypes):
    """The disagreements of one module, a line each."""
    command = [run, "--logfile=", f"--inputs={stem}.in.npz", f"--expect={stem}.out.npz", "--json", module]
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    records = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if not records:
        return [f"hlo-run: exit status {done.returncode}: {done.stderr.strip()[:300]}"]
    with open(module, encoding="utf-8") as f:
        text = f.read()
    kinds = set(re.findall(r"\b(bf16|f16|f32|f64|c64|c128)\[", text))
    tolerance = max((TOLERANCE[kind] for kind in kinds), default=0)
    lines = []
    for record, dtype in zip(records, dtypes):
        is_float = "float" in dtype or "complex" in dtype
        if record["differing"] and not is_float:
            lines.append(json.dumps(record)[:300])
        elif record["differing"] and not (record.get("max_rel") is not None and record["max_rel"] <= tolerance) \
                and not (record.get("max_abs") is not None and record["max_abs"] <= tolerance):
            lines.append(json.dumps(record)[:300])
    return lines


def main():
    if "--serve" in sys.argv:
        return serve()
    parser = suite.parser(__doc__)
    parser.add_argument("--python", default=os.environ.get("HILO_JAX_PYTHON"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=220)
    args = parser.parse_args()
    has_jax = args.python and subprocess.run([args.python, "-c", "import jax, jaxlib"], capture_output=True, check=False).returncode == 0
    if not has_jax:
        suite.skip("no jax (set HILO_JAX_PYTHON)")
    xla, n_passed, n_failed, refused = Xla(args.python), 0, 0, {}
    with tempfile.TemporaryDirectory() as scratch:
        for seed in range(args.seed, args.seed + args.count):
            module, stem = os.path.join(scratch, "m.hlo"), os.path.join(scratch, "m")
            with open(module, "wb") as f:
                subprocess.run([os.path.join(args.bin, "hilo_random"), "--plain", f"--seed={seed}", "--size=12"], stdout=f, check=True)
            why, dtypes = xla.run(module, stem, seed)
            if why:
                refused[why] = refused.get(why, 0) + 1
                continue
            lines = compare(os.path.join(args.bin, "hlo-run"), module, stem, dtypes)
            with open(module, encoding="utf-8") as f:
                text = f.read()
            known = [reason for part, reason in KNOWN.items() if part in text]
            for line in [] if known else lines:
                print(f"seed {seed}: {line}")
            n_failed += bool(lines) and not known
            n_passed += not lines or bool(known)
    for why, n in sorted(refused.items(), key=lambda item: -item[1]):
        print(f"not run by XLA, {n} modules: {why}")
    return suite.end(n_passed, n_failed, sum(refused.values()), "not compiled by XLA")


if __name__ == "__main__":
    sys.exit(main())
