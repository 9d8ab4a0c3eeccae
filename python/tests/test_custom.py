"""Fusions, prints, kernels, annotations, tensors without elements."""

import json

import numpy as np
import pytest

from builder import Program, Ref, evaluate
from hilo.penguin import EvaluationError, check, register_kernel


@pytest.mark.parametrize("kind, precise", [("Expm1", np.expm1), ("Log1p", np.log1p)])
def test_precise_headers_override_the_body(kind, precise):
    x = np.array([1e-8, -1e-8, 1e-4, 0.5], np.float32)
    p = Program()
    a, one = p.input((4,)), p.splat(1.0, "float32", (4,))
    (y,), header = p.fusion([a, one], [((4,), "float32")], kind, "Elementwise")
    inner = (
        [p.op("mhlo.unary", [a], [((4,), "float32")], fn="np.exp", location=header)]
        if kind == "Expm1"
        else [p.op("mhlo.binary", [a, one], [((4,), "float32")], fn="np.add", location=header)]
    )
    if kind == "Expm1":
        p.write("mhlo.binary", [inner[0], one], y, "np.subtract", header)
    else:
        p.write("mhlo.unary", [inner[0]], y, "np.log", header)
    z = p.op("mhlo.unary", [y], [((4,), "float32")], fn="np.negative")
    p.output(y, z)
    got, negated = p.run([x])
    np.testing.assert_allclose(got, precise(x.astype(np.float64)), rtol=1e-7)
    np.testing.assert_array_equal(negated, -got)


def test_other_headers_are_inert():
    x = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)
    p = Program()
    a = p.input((2, 2))
    (y,), header = p.fusion([a], [((2, 2), "float32")], "DotLogistic", "DotFusion")
    inner = p.op(
        "mhlo.dot",
        [a, a],
        [((2, 2), "float32")],
        location=header,
        lhs_batching_dims=[],
        lhs_contract_dims=[1],
        rhs_batching_dims=[],
        rhs_contract_dims=[0],
    )
    p.write("mhlo.unary", [inner], y, "np.negative", header)
    p.output(y)
    np.testing.assert_array_equal(p.run([x])[0], -(x @ x))


def test_device_print_and_sharding_constraint_pass_values_on():
    x = np.arange(3, dtype=np.float32)
    p = Program()
    a = p.input((3,))
    b = p.op("mhlo.device_print", [a], [((3,), "float32")], prefix="seen: ")
    c = p.special(
        "m0.LNCShardingConstraintOp",
        [b],
        [((3,), "float32")],
        target_name="AwsNeuronLNCShardingConstraint",
        sharding="[1,2]",
    )
    p.output(c)
    lines = []
    (got,) = p.run([x], emit=lines.append)
    np.testing.assert_array_equal(got, x)
    assert len(lines) == 1 and lines[0].startswith("seen: ") and "[0. 1. 2.]" in lines[0]


def kernel_program():
    p = Program()
    a = p.input((3,))
    p.output(
        p.special(
            "m0.NativeKernel",
            [a],
            [((3,), "float32")],
            use_opaque_access=True,
            kernel_config=json.dumps({"func_name": "double"}),
        )
    )
    return p


def test_kernels_run_once_they_are_registered():
    x = np.arange(3, dtype=np.float32)
    with pytest.raises(EvaluationError, match="kernel `double`, which is not registered"):
        kernel_program().run([x])
    register_kernel("double", lambda op, a: a * 2)
    try:
        np.testing.assert_array_equal(kernel_program().run([x])[0], x * 2)
        keywords = {
            "target_name": "AwsNeuronCustomOp",
            "function_name": "f",
            "name": "double",
            "lib_file_name": "",
            "ulib_to_ucode_version": "",
            "ulib_to_isa_version": "",
            "dtype": "float32",
            "shape": (3,),
        }
        got = evaluate("mhlo.custom_call", [x], [((3,), "float32")], **keywords)
        np.testing.assert_array_equal(got, x * 2)
    finally:
        register_kernel("double", None)
    with pytest.raises(EvaluationError, match="AwsNeuronMLPNKI"):
        evaluate(
            "mhlo.custom_call",
            [x],
            [((3,), "float32")],
            dtype="float32",
            target_name="AwsNeuronMLPNKI",
        )


def test_native_kernel_records_its_aliases():
    p = kernel_program()
    p.lines.append("v2.aliasTensors(input=[v1])")
    function = p.load()
    assert function.operations[0].aliases == [function.inputs[0]]


def test_tensors_without_elements():
    p = Program()
    a = p.tensor(
        "input0", (1, 4), "float32", "attrs={'CrossPassTensor': \"\", 'actual_shape': \"[0,4]\"}"
    )
    p.lines.append("v0.markInput(v1)")
    b = p.tensor("output0", (3, 1), "int32", "attrs={'actual_shape': \"[3,0]\"}")
    p.output(b)
    assert check.problems(p.load()) == []
    (got,) = p.run([np.zeros((0, 4), np.float32)])
    assert a.shape == (1, 4) and got.shape == (3, 0) and got.dtype == np.int32


def test_keywords_of_a_dot_that_change_nothing():
    x = np.eye(2, dtype=np.float32)
    got = evaluate(
        "mhlo.dot",
        [x, x],
        [((2, 2), "float32")],
        lhs_batching_dims=[],
        lhs_contract_dims=[1],
        rhs_batching_dims=[],
        rhs_contract_dims=[0],
        lhs_zero_point="3",
        rhs_zero_point="4",
        grad_x=True,
        grad_y=Ref("False"),
    )
    np.testing.assert_array_equal(got, x)
