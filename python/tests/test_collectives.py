"""Collectives over 8 ranks: every rank has its own slice of the inputs' leading axis."""

import ml_dtypes
import numpy as np
import pytest

from builder import Program, Ref, evaluate
from hilo.penguin import EvaluationError, ProgramError

RANKS = 8
HALVES = [[0, 1, 2, 3], [4, 5, 6, 7]]
CROSSED = [[0, 4], [5, 1], [2, 6], [3, 7]]
X = np.random.default_rng(9).integers(-9, 10, (RANKS, 2, 8)).astype(np.float32)
TAIL = {"dtype": "float32", "has_token": False, "stream_id": 0}


def group_of(groups, rank):
    return next(g for g in groups or [list(range(RANKS))] if rank in g)


@pytest.mark.parametrize("groups", [[], HALVES, CROSSED])
@pytest.mark.parametrize("fn", ["add", "maximum", "minimum", "multiply"])
def test_all_reduce(groups, fn):
    got = evaluate(
        "mhlo.all_reduce",
        [X],
        [((2, 8), "float32")],
        fn=f"np.{fn}",
        ranks=RANKS,
        kind="AllReduce",
        replica_groups=groups,
        **TAIL,
    )
    expected = [getattr(np, fn).reduce(X[group_of(groups, r)]) for r in range(RANKS)]
    np.testing.assert_allclose(got, expected, rtol=1e-6)


@pytest.mark.parametrize("groups", [[], HALVES, CROSSED])
@pytest.mark.parametrize("dim", [0, 1])
def test_all_gather_in_the_order_of_the_group(groups, dim):
    size = len(groups[0]) if groups else RANKS
    shape = (2 * size, 8) if dim == 0 else (2, 8 * size)
    got = evaluate(
        "mhlo.all_gather",
        [X],
        [(shape, "float32")],
        ranks=RANKS,
        kind="AllGather",
        all_gather_dim=dim,
        replica_groups=groups,
        **TAIL,
    )
    for r in range(RANKS):
        np.testing.assert_array_equal(got[r], np.concatenate(X[group_of(groups, r)], axis=dim))


@pytest.mark.parametrize("groups", [[], HALVES, CROSSED])
def test_reduce_scatter(groups):
    size = len(groups[0]) if groups else RANKS
    got = evaluate(
        "mhlo.reduce_scatter",
        [X],
        [((2, 8 // size), "float32")],
        fn="np.add",
        ranks=RANKS,
        kind="ReduceScatter",
        reduce_scatter_dim=1,
        replica_groups=groups,
        **TAIL,
    )
    for r in range(RANKS):
        group = group_of(groups, r)
        part = np.split(X[group].sum(0), size, axis=1)[group.index(r)]
        np.testing.assert_array_equal(got[r], part)


def test_all_to_all_splits_and_concatenates():
    got = evaluate(
        "mhlo.all_to_all",
        [X],
        [((8, 2), "float32")],
        ranks=RANKS,
        kind="AlltoAll",
        split_dimension=1,
        concat_dimension=0,
        split_count=4,
        replica_groups=HALVES,
        **TAIL,
    )
    for r in range(RANKS):
        group = group_of(HALVES, r)
        place = group.index(r)
        np.testing.assert_array_equal(
            got[r], np.concatenate([X[other][:, 2 * place : 2 * place + 2] for other in group])
        )


def test_all_to_all_of_one_operand_a_member():
    y = X + 100
    p = Program()
    a, b = p.input((2, 8)), p.input((2, 8))
    made = p.op(
        "mhlo.all_to_all",
        [a, b],
        [((2, 8), "float32")] * 2,
        kind="AlltoAll",
        replica_groups=CROSSED,
        **TAIL,
    )
    p.output(*made)
    first, second = p.run([X, y], ranks=RANKS)
    for r in range(RANKS):
        group = group_of(CROSSED, r)
        sent = [(X, y)[group.index(r)][other] for other in group]
        np.testing.assert_array_equal(first[r], sent[0])
        np.testing.assert_array_equal(second[r], sent[1])


def test_permute_leaves_zeros_where_nothing_arrives():
    pairs = [[0, 7], [7, 0], [3, 4]]
    got = evaluate(
        "mhlo.collective_permute",
        [X],
        [((2, 8), "float32")],
        ranks=RANKS,
        kind="Permute",
        replica_groups=pairs,
        **TAIL,
    )
    expected = np.zeros_like(X)
    for source, target in pairs:
        expected[target] = X[source]
    np.testing.assert_array_equal(got, expected)


def test_variadic_with_a_token_and_a_narrow_type():
    narrow = np.full((RANKS, 3), 1 + 2**-7, ml_dtypes.bfloat16)
    token = np.zeros((RANKS, 1), np.uint8)
    p = Program()
    a, b, t = p.input((2, 8)), p.input((3,), "bfloat16"), p.input((1,), "uint8")
    made = p.op(
        "mhlo.all_reduce",
        [a, b, t],
        [((2, 8), "float32"), ((3,), "bfloat16"), ((1,), "uint8")],
        fn="np.add",
        kind="AllReduce",
        replica_groups=[list(range(RANKS))],
        dtype="float32",
        has_token=True,
        stream_id=1,
    )
    p.output(*made)
    total, rounded, passed = p.run([X, narrow, token], ranks=RANKS)
    np.testing.assert_array_equal(total[5], X.sum(0))
    assert rounded[0].astype(np.float32).tolist() == [8.0625] * 3
    np.testing.assert_array_equal(passed, token)


def test_partition_and_replica_ids():
    p = Program()
    made = [p.op(f"mhlo.{name}_id", [], [((), "uint32")]) for name in ("partition", "replica")]
    p.output(*made)
    partition, replica = p.run(ranks=RANKS)
    assert partition.tolist() == list(range(8)) and replica.tolist() == [0] * 8
    partition, replica = p.run(ranks=RANKS, replicas=2)
    assert partition.tolist() == [0, 1, 2, 3] * 2 and replica.tolist() == [0] * 4 + [1] * 4


def test_send_and_recv():
    p = Program()
    a = p.input((2, 8))
    p.op("mhlo.send", [a], [((), "uint8")], peer_id=3)
    p.output(p.op("mhlo.recv", [], [((2, 8), "float32")], peer_id=5))
    (got,) = p.run([X], ranks=RANKS)
    np.testing.assert_array_equal(got[3], X[5])
    assert not got[[0, 1, 2, 4, 5, 6, 7]].any()
    p = Program()
    p.output(p.op("mhlo.recv", [], [((2,), "float32")], peer_id=1))
    with pytest.raises(EvaluationError, match="sent nothing"):
        p.run(ranks=2)


def test_groups_must_fit_the_run():
    keywords = {"ranks": RANKS, "kind": "AllReduce", **TAIL}
    shape = [((2, 8), "float32")]
    with pytest.raises(ProgramError, match="names rank 9, the run has 8"):
        evaluate("mhlo.all_reduce", [X], shape, fn="np.add", replica_groups=[[0, 9]], **keywords)
    with pytest.raises(EvaluationError, match="leaves rank 2 out"):
        evaluate("mhlo.all_reduce", [X], shape, fn="np.add", replica_groups=[[0, 1]], **keywords)
    got = evaluate(
        "mhlo.all_reduce",
        [X],
        shape,
        fn="np.add",
        replica_groups=[[0, 1, 2, 3, -1], [4, 5, 6, 7, -1]],
        **keywords,
    )
    np.testing.assert_array_equal(got[6], X[4:].sum(0))


def test_collective_matmul_gathers_the_weight():
    generator = np.random.default_rng(10)
    weight = generator.standard_normal((RANKS, 2, 5, 6)).astype(np.float32)
    other = generator.standard_normal((RANKS, 6, 3)).astype(np.float32)
    p = Program()
    a, b = p.input((2, 5, 6)), p.input((6, 3))
    p.output(
        p.op(
            "mhlo.custom_call",
            [a, b],
            [((2, 20, 3), "float32")],
            dtype="float32",
            target_name="AwsNeuronCollectiveMatmul",
            backend_config=Ref(
                '{"rhs_contracting_dim":0, "tp_degree":4, "num_groups":2, "use_sb_to_sb":0}'
            ),
        )
    )
    (got,) = p.run([weight, other], ranks=RANKS)
    for r in range(RANKS):
        first = r // 4 * 4
        whole = np.concatenate(weight[first : first + 4], axis=1)
        np.testing.assert_allclose(got[r], whole @ other[r], rtol=1e-5, atol=1e-5)
