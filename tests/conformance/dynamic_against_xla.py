#!/usr/bin/env python3
"""Programs of dynamic shapes: what hlo-run computes at a size, next to XLA:CPU.

    dynamic_against_xla.py --bin BIN [--corpus DIR] [--python PYTHON] [--size N]

Each module of stablehlo-testdata/dynamic is run by hlo-run on inputs in which every `?`, and every
integer scalar, is N. XLA gets the same module called from a `main` of static types, its shapes refined
by jaxlib. PYTHON (or HILO_JAX_PYTHON) is a Python with jaxlib and numpy.

One line a failure, then `N passed, N failed`. Exit status 1 after a failure, 77 without a corpus or a jaxlib.
"""

import os
import re
import subprocess
import sys
import tempfile

import suite

TENSOR = r"tensor<((?:[^<>]|<[^<>]*>)*)>"
# Where XLA has no answer.
KNOWN = {"dynamlic_slice_t2.mlir": "its constant start lies beyond the array: XLA refuses it, hlo-run moves it"}
MAIN = re.compile(r"func\.func public @main\((.*?)\) -> (.*?) \{\n")


def split_type(text):
    """`2x?xf32` as (["2", "?"], "f32")."""
    match = re.fullmatch(r"((?:[0-9?]+x)*)(.*)", text)
    return match[1].split("x")[:-1], match[2]


def static_type(text, size):
    dims, element = split_type(text)
    return "x".join([*(str(size) if d == "?" else d for d in dims), element])


def make_input(rng, text, size):
    import ml_dtypes
    import numpy as np

    dims, element = split_type(static_type(text, size))
    names = {"bf16": ml_dtypes.bfloat16, "i1": np.bool_, "complex<f32>": np.complex64, "complex<f64>": np.complex128}
    kind = {"f": "float", "i": "int", "u": "uint"}
    dtype = np.dtype(names.get(element) or kind[element[0]] + element.lstrip("fui"))
    shape = [int(d) for d in dims]
    if not shape and dtype.kind == "i":
        return np.array(size, dtype)
    if dtype.kind in "iu":
        return rng.integers(0, 3, shape).astype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind == "c":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    return np.asarray(rng.random(shape) * 0.8 + 0.1).astype(dtype)


def with_static_main(text, size):
    """The module with a `main` of static types that calls the old one; integer scalars are constants."""
    signature = MAIN.search(text)
    given = re.findall(r"%arg\d+: " + TENSOR, signature[1])
    results = re.findall(TENSOR, re.sub(r"\{[^}]*\}", "", signature[2]))
    lines, passed = [], []
    for k, old in enumerate(given):
        new = static_type(old, size)
        if old in ("i32", "i64"):
            lines.append(f"%c{k} = stablehlo.constant dense<{size}> : tensor<{old}>")
        elif new != old:
            lines.append(f"%c{k} = stablehlo.convert %a{k} : (tensor<{new}>) -> tensor<{old}>")
        passed.append(f"%c{k}" if lines and lines[-1].startswith(f"%c{k} ") else f"%a{k}")
    types = ", ".join(f"tensor<{t}>" for t in results)
    arguments = ", ".join(f"%a{k}: tensor<{static_type(t, size)}>" for k, t in enumerate(given))
    n = len(results)
    names = ", ".join(f"%r#{k}" for k in range(n)) if n > 1 else "%r"
    old_types = ", ".join(f"tensor<{t}>" for t in given)
    lines.append(f"%r{f':{n}' if n > 1 else ''} = func.call @old_main({', '.join(passed)}) : ({old_types}) -> ({types})")
    lines.append(f"return {names} : {types}")
    main = f"func.func public @main({arguments}) -> ({types}) {{\n" + "\n".join(lines) + "\n}\n"
    text = text.replace("func.func public @main(", "func.func private @old_main(", 1)
    start = re.search(r"module[^\n]*\{\n", text).end()
    return text[:start] + main + text[start:]


def run_xla(text, size, inputs):
    import jax
    import numpy as np
    from jaxlib import xla_client

    device = jax.devices()[0]
    refined = xla_client._xla.mlir.refine_polymorphic_shapes(
        with_static_main(text, size).encode(), enable_shape_assertions=False, validate_static_shapes=True)
    program = device.client.compile_and_load(
        refined, xla_client.DeviceList((device,)), xla_client.CompileOptions())
    return [np.asarray(x) for x in program.execute([jax.device_put(x) for x in inputs])]


def run_hilo(tool, path, inputs):
    import numpy as np

    with tempfile.TemporaryDirectory() as folder:
        given, made = os.path.join(folder, "in.npz"), os.path.join(folder, "out.npz")
        np.savez(given, **{f"arg{k}": x for k, x in enumerate(inputs)})
        done = subprocess.run([tool, path, f"--inputs={given}", f"--outputs={made}"], capture_output=True, text=True)
        if done.returncode:
            raise ValueError(done.stderr.strip()[-300:])
        with np.load(made) as archive:
            return [archive[f"out{k}"] for k in range(len(archive.files))]


def difference(got, expected):
    """What is wrong, or None. Of two bytes and without a kind in numpy: bfloat16."""
    import numpy as np

    if got.shape != expected.shape:
        return f"has shape {got.shape}, expected {expected.shape}"
    if got.dtype != expected.dtype:
        got = got.view(expected.dtype) if got.dtype.itemsize == expected.dtype.itemsize else got.astype(expected.dtype)
    if expected.dtype.kind in "biu":
        return None if np.array_equal(got, expected) else "differs"
    tolerance = 2e-2 if expected.dtype.itemsize <= 2 else 2e-5
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    near = np.allclose(got.astype(wide), expected.astype(wide), rtol=tolerance, atol=tolerance, equal_nan=True)
    return None if near else "differs"


def check(tool, path, size):
    import numpy as np

    with open(path) as f:
        text = f.read()
    rng = np.random.default_rng(0)
    inputs = [make_input(rng, t, size) for t in re.findall(r"%arg\d+: " + TENSOR, MAIN.search(text)[1])]
    got, expected = run_hilo(tool, path, inputs), run_xla(text, size, inputs)
    if len(got) != len(expected):
        raise ValueError(f"{len(got)} results, expected {len(expected)}")
    for k, (a, b) in enumerate(zip(got, expected)):
        problem = difference(a, b)
        if problem:
            raise ValueError(f"result {k} {problem}")


def main():
    parser = suite.parser(__doc__)
    parser.add_argument("--python", default=os.environ.get("HILO_JAX_PYTHON"))
    parser.add_argument("--size", type=int, default=3)
    options = parser.parse_args()
    folder = os.path.join(suite.corpus_of(options), "stablehlo-testdata", "dynamic")
    try:
        import jax
    except ImportError:
        if not options.python or not os.path.exists(options.python) or os.environ.get("HILO_JAX_PYTHON_TRIED"):
            suite.skip("no jaxlib (set HILO_JAX_PYTHON)")
        os.environ["HILO_JAX_PYTHON_TRIED"] = "1"
        os.execv(options.python, [options.python, *sys.argv])
    jax.config.update("jax_enable_x64", True)
    passed = failed = 0
    for name in sorted(set(os.listdir(folder)) - KNOWN.keys()):
        try:
            check(os.path.join(options.bin, "hlo-run"), os.path.join(folder, name), options.size)
            passed += 1
        except Exception as error:  # whatever XLA or numpy throws is the answer
            failed += 1
            print(f"{name}: {str(error).strip().splitlines()[0][:300]}")
    return suite.end(passed, failed)


sys.exit(main())
