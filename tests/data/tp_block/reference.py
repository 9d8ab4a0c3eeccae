"""Seeded inputs for model.hlo.txt and the results that it must give, computed unsharded and in float64.

usage: reference.py FOLDER      writes inputs.npz, outputs.npz and case.json there, as in the outside corpus
"""

import json
import pathlib
import sys

import numpy as np

RANKS, SEQUENCE, WIDTH, HEAD, HIDDEN = 8, 16, 64, 8, 256
SEED = 20


def softmax(scores):
    exps = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exps / exps.sum(axis=-1, keepdims=True)


def block(x, wq, wk, wv, wo, w1, b1, w2):
    """The whole block; wq, wk, wv, wo hold all heads side by side."""
    heads = lambda w: np.stack(np.split(x @ w, RANKS, axis=1))
    q, k, v = heads(wq), heads(wk), heads(wv)
    context = softmax(q @ k.transpose(0, 2, 1) / np.sqrt(HEAD)) @ v
    h = x + np.concatenate(list(context), axis=1) @ wo
    return h + np.tanh(h @ w1 + b1) @ w2


def main(folder):
    rng = np.random.default_rng(SEED)
    normal = lambda *shape: (rng.standard_normal(shape) / np.sqrt(shape[0])).astype(np.float32)
    x = rng.standard_normal((SEQUENCE, WIDTH)).astype(np.float32)
    wq, wk, wv = (normal(WIDTH, RANKS * HEAD) for _ in range(3))
    wo, w1, w2 = normal(RANKS * HEAD, WIDTH), normal(WIDTH, HIDDEN), normal(HIDDEN, WIDTH)
    b1 = normal(HIDDEN)
    columns = lambda w: np.stack(np.split(w, RANKS, axis=-1))
    rows = lambda w: np.stack(np.split(w, RANKS, axis=0))
    every = lambda a: np.stack([a] * RANKS)
    arrays = [every(x), columns(wq), columns(wk), columns(wv), rows(wo), columns(w1), columns(b1), rows(w2)]
    np.savez(folder / "inputs.npz", **{f"arg{i}": a for i, a in enumerate(arrays)})
    result = block(*(a.astype(np.float64) for a in (x, wq, wk, wv, wo, w1, b1, w2)))
    np.savez(folder / "outputs.npz", out0=every(result.astype(np.float32)))
    case = {
        "name": "tp_block",
        "about": "one transformer block, tensor-parallel over 8 ranks, against its unsharded float64 evaluation",
        "num_partitions": RANKS,
        "tolerance": {"rtol": 1e-5, "atol": 1e-5},
    }
    (folder / "case.json").write_text(json.dumps(case, indent=1) + "\n")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
