"""Writes tests/unit/eval_rng_vectors.inc: rng-bit-generator as XLA:CPU computes it. Needs jaxlib.

A row: algorithm, element type, rank, dimensions, words of the state, state before and after, CRC-32 of
the bits (one element a byte below 8 bits).
"""

import sys
import zlib

import jax
import numpy as np
from jaxlib import xla_client

ALGORITHMS = ("DEFAULT", "THREE_FRY", "PHILOX")
SHAPES = (
    (), (1,), (2,), (3,), (5,), (8,), (0,), (0, 3), (3, 0), (2, 3), (3, 4), (3, 5), (5, 3),
    (7, 1, 9), (3, 3, 6), (1, 1), (4, 5, 6), (17, 33), (1025,),
)  # fmt: skip
MLIR = {"U4": "ui4", "S4": "i4", "S8": "i8", "S32": "i32", "S64": "i64"}
LAST = 2**64 - 1
STATES = ((0x0123456789ABCDEF, 41), (LAST, LAST - 1))


def run(algorithm, etype, shape, state):
    result = "x".join([*map(str, shape), MLIR.get(etype, etype.lower().replace("u", "ui"))])
    types = f"tensor<{len(state)}xui64>, tensor<{result}>"
    text = f"""func.func @main(%a: tensor<{len(state)}xui64>) -> ({types}) {{
      %s, %o = stablehlo.rng_bit_generator %a, algorithm = {algorithm}
        : (tensor<{len(state)}xui64>) -> ({types})
      return %s, %o : {types}
    }}"""
    devices = xla_client.DeviceList((jax.devices()[0],))
    client = jax.devices()[0].client
    program = client.compile_and_load(text, devices, xla_client.CompileOptions())
    return [np.asarray(x) for x in program.execute([jax.device_put(np.array(state, np.uint64))])]


def row(algorithm, etype, shape, state):
    after, bits = run(algorithm, etype, shape, state)
    if etype in ("U4", "S4"):
        bits = bits.astype(np.int8)  # XLA gives uint4 for both
    if etype == "S4":
        bits = (bits ^ 8) - 8
    words = [
        "{" + ", ".join(f"{int(x):#x}u" for x in (*s, 0)[:3]) + "}" for s in (state, after.tolist())
    ]
    dims = ", ".join(map(str, (*shape, 0, 0, 0)[:3]))
    crc = zlib.crc32(np.ascontiguousarray(bits).tobytes())
    number = ALGORITHMS.index(algorithm)
    return (
        f"{{{number}, HILO_{etype}, {len(shape)}, {{{dims}}}, {len(state)}, {words[0]}, {words[1]}, "
        f"{crc:#010x}}},"
    )


def rows(algorithm):
    for etype in ("U8", "U16", "U32", "U64"):
        for k, shape in enumerate(SHAPES):
            yield row(algorithm, etype, shape, STATES[k % 2])
    for etype, n in (("S32", 15), ("S8", 6), ("S64", 5), ("U4", 9), ("S4", 9)):
        yield row(algorithm, etype, (n,), STATES[0])
    if algorithm != "THREE_FRY":
        for n in (5, 64):
            yield row(algorithm, "U32", (n,), (7, LAST, 3))
            yield row(algorithm, "U64", (n,), (7, LAST - 1, LAST))


def main():
    jax.config.update("jax_enable_x64", True)
    with open(sys.argv[1], "w") as out:
        out.write("/* Made by tests/data/make_eval_rng_vectors.py. */\n")
        for algorithm in ALGORITHMS:
            out.writelines(line + "\n" for line in rows(algorithm))


main()
