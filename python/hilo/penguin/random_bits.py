"""Random numbers: the two counter-based generators of rng_bit_generator, exact to the bit; rng and
dropout, whose distribution is fixed but whose numbers are a function of the run's seed and of the
operation's id (the same on every rank).
"""

import numpy as np

from . import dtypes, rules
from .errors import require
from .registry import operation

PHILOX_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
PHILOX_WEYL = (np.uint32(0x9E3779B9), np.uint32(0xBB67AE85))
PHILOX_ROUNDS = 10
THREEFRY_ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
THREEFRY_PARITY = np.uint32(0x1BD11BDA)
WORD = np.uint64(32)
LOW = np.uint64(0xFFFFFFFF)


def _halves(x):
    x = np.asarray(x, np.uint64)
    return (x & LOW).astype(np.uint32), (x >> WORD).astype(np.uint32)


def philox_4x32(key, counter):
    """Four u32 arrays from two key words and four counter words."""
    k0, k1 = key
    c0, c1, c2, c3 = counter
    for _ in range(PHILOX_ROUNDS):
        low0, high0 = _halves(c0.astype(np.uint64) * PHILOX_MULTIPLIERS[0])
        low1, high1 = _halves(c2.astype(np.uint64) * PHILOX_MULTIPLIERS[1])
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
        k0, k1 = k0 + PHILOX_WEYL[0], k1 + PHILOX_WEYL[1]
    return c0, c1, c2, c3


def threefry_2x32(key, counter):
    """Two u32 arrays from two key words and two counter words."""
    schedule = (key[0], key[1], key[0] ^ key[1] ^ THREEFRY_PARITY)
    x0, x1 = counter[0] + schedule[0], counter[1] + schedule[1]
    for step in range(5):
        for rotation in THREEFRY_ROTATIONS[step % 2]:
            x0 = x0 + x1
            x1 = (x1 << np.uint32(rotation)) | (x1 >> np.uint32(32 - rotation))
            x1 = x1 ^ x0
        x0 = x0 + schedule[(step + 1) % 3]
        x1 = x1 + schedule[(step + 2) % 3] + np.uint32(step + 1)
    return x0, x1


def philox_words(state, n):
    """(new state, n u32 words) of a u64 state: key, counter and, of three, its upper half.

    A state of two has the key as the upper half of its 128-bit counter.
    """
    blocks = -(-n // 4)
    counter = state[1] + np.arange(blocks, dtype=np.uint64)
    upper = state[-1 if len(state) == 3 else 0] + (counter < state[1]).astype(np.uint64)
    words = philox_4x32(_halves(state[0]), (*_halves(counter), *_halves(upper)))
    advanced = state.copy()
    advanced[1] += np.uint64(blocks)
    if len(state) == 3 and advanced[1] < state[1]:
        advanced[2] += np.uint64(1)
    return advanced, np.stack(words, axis=-1).reshape(-1)[:n]


def threefry_words(state, shape):
    """(new state, u32 words of `shape`) of a u64[2] state, key and counter.

    The two words of a block are neighbours along the first even dimension, or the largest, padded.
    """
    sizes = list(shape) or [1]
    even = [d for d, size in enumerate(sizes) if size % 2 == 0]
    dim = even[0] if even else int(np.argmax(sizes))
    half = sizes.copy()
    half[dim] = -(-sizes[dim] // 2)
    blocks = int(np.prod(half, dtype=np.int64))
    counter = (state[1] + np.arange(blocks, dtype=np.uint64)).reshape(half)
    words = np.stack(threefry_2x32(_halves(state[0]), _halves(counter)), axis=dim + 1)
    half[dim] *= 2
    words = np.take(words.reshape(half), np.arange(sizes[dim]), axis=dim)
    return np.array([state[0], state[1] + np.uint64(blocks)]), words.reshape(shape)


def random_words(algorithm, state, shape, words_each):
    """(new state, flat u32 words) for elements of `shape` with `words_each` words."""
    n = int(np.prod(shape, dtype=np.int64))
    if algorithm != "THREE_FRY":
        return philox_words(state, n * words_each)
    advanced, words = threefry_words(state, shape if words_each == 1 else (2 * n,))
    return advanced, words.reshape(-1)


def _infer_rng_bit_generator(op):
    rules.arity(op, 1, dsts=2)
    state = op.srcs[0]
    algorithm = op["rng_algorithm"]
    require(algorithm in ("DEFAULT", "THREE_FRY", "PHILOX"), f"`rng_algorithm` is '{algorithm}'")
    sizes = {"uint64": (2, 3), "uint32": (4, 6)}.get(state.dtype.name, ())
    if algorithm == "THREE_FRY":
        sizes = sizes[:1]
    require(
        len(state.shape) == 1 and state.shape[0] in sizes,
        f"state is {state.dtype.name}{list(state.shape)}, expected uint64[2]",
    )
    rules.keyword_shape(op, "shape", op.dsts[1].shape)
    rules.keyword_dtype(op, "dtype", 1)
    return [(state.shape, state.dtype), (op.dsts[1].shape, op.dsts[1].dtype)]


@operation(
    "mhlo.rng_bit_generator",
    infer=_infer_rng_bit_generator,
    needs=("rng_algorithm",),
    accepts=("shape", "dtype"),
)
def rng_bit_generator(op, state, seed):
    bits = op.dsts[1]
    words_each = 2 if bits.dtype.bits == 64 else 1
    wide = np.asarray(seed, order="C").view(np.uint64)
    with np.errstate(all="ignore"):
        advanced, words = random_words(op["rng_algorithm"], wide, bits.shape, words_each)
    unsigned = np.dtype(f"uint{bits.dtype.bits}")
    values = words.view(np.uint64) if words_each == 2 else words.astype(unsigned)
    return [advanced.view(seed.dtype), values.view(bits.dtype.numpy).reshape(bits.shape)]


def _generator(op, state, *seeds):
    """A numpy generator that depends on the run's seed, the operation and the seed operands."""
    entropy = [state.seed, op.id]
    for seed in seeds:
        entropy += [int(word) for word in np.frombuffer(seed.tobytes(), np.uint8)]
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(entropy)))


def _infer_rng(op):
    rules.arity(op, (2, 3))
    for bound in op.srcs[:2]:
        rules.scalar(bound)
    kind = op["rng_distribution"]
    require(kind in ("UNIFORM", "NORMAL"), f"`rng_distribution` is '{kind}'")
    dtype = rules.same_dtype(op, *op.srcs[:2])
    require(kind == "UNIFORM" or dtype.is_float, f"NORMAL is not defined for {dtype.name}")
    rules.keyword_dtype(op)
    shape = op.dsts[0].shape if op.get("shape") is None else tuple(op["shape"])
    return [(shape, dtype)]


@operation("mhlo.rng", infer=_infer_rng, needs=("rng_distribution",), accepts=("shape", "dtype"))
def rng(op, state, a, b, shape=None):
    generator, target = _generator(op, state), op.dsts[0]
    if op["rng_distribution"] == "NORMAL":
        return generator.normal(float(a), float(b), target.shape)
    if target.dtype.is_float:
        low, high = float(a), float(b)
        drawn = dtypes.convert(
            low + (high - low) * generator.random(target.shape), target.dtype.numpy
        )
        return np.where(dtypes.widen(drawn) >= high, target.dtype.numpy.type(low), drawn)
    drawn = generator.integers(int(a), max(int(b), int(a) + 1), target.shape)
    return drawn.astype(target.dtype.numpy)


def _infer_dropout(op):
    rules.arity(op, rules.at_least(2), dsts=None)
    require(len(op.dsts) in (1, 2, 3), f"has {len(op.dsts)} results, expected out and mask")
    source, rate = op.srcs[:2]
    require(rate.elements == 1, f"rate has shape {rate.shape}, expected one element")
    return [
        (source.shape, op.dsts[0].dtype),
        (source.shape, None),
        *[(d.shape, None) for d in op.dsts[2:]],
    ][: len(op.dsts)]


def _kept(op, state, shape, rate, seeds):
    return _generator(op, state, *seeds).random(shape) >= float(rate.reshape(-1)[0])


@operation("mhlo.dropout", infer=_infer_dropout, accepts=("dtype", "predicates"))
def dropout(op, state, x, rate, *seeds):
    """out = x / (1 - rate) where kept, else 0; mask = kept; a state that is threaded stays."""
    kept, wide = _kept(op, state, x.shape, rate, seeds), dtypes.widen(x)
    scale = 1.0 - float(rate.reshape(-1)[0])
    out = np.where(kept, wide / wide.dtype.type(scale) if scale else wide, wide.dtype.type(0))
    return [out, kept, *seeds][: len(op.dsts)]


def _infer_dropout_mask(op):
    rules.arity(op, rules.at_least(1))
    rules.keyword_dtype(op)
    return [(op.dsts[0].shape, op.dsts[0].dtype)]


@operation("mhlo.dropout_mask", infer=_infer_dropout_mask, accepts=("dtype",))
def dropout_mask(op, state, *operands):
    """1 where kept; the rate is the first operand with one element."""
    rate = next((x for x in operands if x.size == 1), np.zeros(()))
    seeds = [x for x in operands if x is not rate and dtypes.is_float(x.dtype) is False]
    return _kept(op, state, op.dsts[0].shape, rate, seeds)
