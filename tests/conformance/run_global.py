#!/usr/bin/env python3
"""JAX's sharded programs before partitioning, evaluated by hlo-run on all ranks against what the partitioned ones give.

The global program takes whole arrays: the stated inputs, which are a slice a rank, are put together as its parameters are sharded.
Every rank's stated result must be a tile of the whole result, within the case's tolerances, and every tile must be some rank's.

    run_global.py --bin BIN [--corpus DIR] [--only NAME]    a line for each program that differs, then the counts
"""

import itertools
import json
import math
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import suite

PARAMETER = re.compile(r" parameter\((\d+)\)(?:.*?sharding=\{(.*?)\})?(?:, |$)")
TILES = re.compile(r"devices=\[([\d,]+)\](?:<=\[([\d,]+)\](?:T\(([\d,]+)\))?|([\d,]+))")


def numbers(text):
    return [int(word) for word in text.split(",")]


def shardings(hlo):
    """{parameter of the entry: (tiles by dimension, devices in the order of the tiles)}; replicated ones are left out."""
    found = {}
    for line in hlo[hlo.index("ENTRY"):].splitlines():
        match = PARAMETER.search(line)
        tiles = match and match[2] and TILES.search(match[2] + "}")
        if not tiles:
            continue
        if tiles[2]:
            order = np.arange(math.prod(numbers(tiles[2]))).reshape(numbers(tiles[2]))
            order = order.transpose(numbers(tiles[3])).ravel() if tiles[3] else order.ravel()
        else:
            order = np.array(numbers(tiles[4]))
        found[int(match[1])] = numbers(tiles[1]), order
    return found


def whole_of(slices, sharding):
    """One array from the slices of all ranks."""
    if not sharding:
        return slices[0]
    tiles, order = sharding
    shape = slices.shape[1:]
    whole = np.empty([n * t for n, t in zip(shape, tiles)], slices.dtype)
    for place, device in zip(itertools.product(*map(range, tiles)), order):
        whole[tuple(slice(k * n, (k + 1) * n) for k, n in zip(place, shape))] = slices[device]
    return whole


def close(got, stated, row):
    if got.dtype.kind in "fc":
        wide = np.complex128 if got.dtype.kind == "c" else np.float64
        return np.allclose(got.astype(wide), stated.astype(wide), rtol=row["rtol"], atol=row["atol"], equal_nan=True)
    return np.array_equal(got, stated)


def compare(whole, stated, row):
    """None, or what is wrong."""
    shape = stated.shape[1:]
    if len(shape) != whole.ndim or any(n % s if s else n for n, s in zip(whole.shape, shape)):
        return f"has the shape {whole.shape}, of which {shape} is no tile"
    starts = list(itertools.product(*(range(0, n, s) if s else [0] for n, s in zip(whole.shape, shape))))
    seen = set()
    for rank, part in enumerate(stated):
        fits = [at for at in starts if close(whole[tuple(slice(a, a + n) for a, n in zip(at, shape))], part, row)]
        if not fits:
            return f"has no tile as rank {rank} states it"
        seen.update(fits)
    return None if len(seen) == len(starts) else f"has {len(starts)} tiles, of which the ranks state {len(seen)}"


def run_one(tools, folder, scratch):
    run, opt = tools
    model = os.path.join(folder, "model.global.stablehlo.mlir")
    with open(os.path.join(folder, "case.json"), encoding="utf-8") as f:
        case = json.load(f)
    hlo = subprocess.run([opt, "--logfile=", "--emit=hlo", model], capture_output=True, text=True, check=True).stdout
    how = shardings(hlo)
    n_ranks = case["num_partitions"]
    with np.load(os.path.join(folder, "inputs.npz")) as given:
        inputs = {name: np.stack([whole_of(given[name], how.get(int(name[3:])))] * n_ranks) for name in given.files}
    paths = [os.path.join(scratch, name) for name in ("in.npz", "out.npz")]
    np.savez(paths[0], **inputs)
    done = subprocess.run([run, "--logfile=", f"--num-partitions={n_ranks}", f"--inputs={paths[0]}", f"--outputs={paths[1]}", model],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        return done.stderr.strip()[:400]
    with np.load(paths[1]) as got, np.load(os.path.join(folder, "outputs.npz")) as stated:
        for row in case["outputs"]:
            whole = got[row["name"]]
            if any(not np.array_equal(whole[0], other, equal_nan=whole.dtype.kind in "fc") for other in whole[1:]):
                return f"{row['name']} is not the same on all ranks"
            why = compare(whole[0], stated[row["name"]], row)
            if why:
                return f"{row['name']} {why}"
    return None


def main():
    args = suite.parser(__doc__).parse_args()
    corpus = suite.corpus_of(args)
    tools = [os.path.join(args.bin, tool) for tool in ("hlo-run", "hlo-opt")]
    n = n_failed = 0
    root = os.path.join(corpus, "jax", "sharded")
    for name in sorted(os.listdir(root)):
        folder = os.path.join(root, name)
        if not suite.is_wanted(args, name) or not os.path.exists(os.path.join(folder, "model.global.stablehlo.mlir")) or \
           not os.path.exists(os.path.join(folder, "outputs.npz")):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            why = run_one(tools, folder, scratch)
        n += 1
        if why:
            n_failed += 1
            print(f"{name}: {why}")
    return suite.end(n - n_failed, n_failed)


if __name__ == "__main__":
    sys.exit(main())
