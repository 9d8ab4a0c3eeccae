"""jaxlib's MLIR as a judge: run by round_trip_stablehlo.py with a Python that has jaxlib.

Reads lines `<text of hilo> <original or ->`; answers each with a line: `refused <why>`, `accepted` (there is no original, or
jaxlib does not take it either), `equal` or `differs <ours> | <original>`. Texts are compared as jaxlib prints them, without the
names of values, and without attributes that say the default.
"""

import re
import sys

from jax._src.interpreters import mlir as jax_mlir
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import mhlo

DEFAULTS = [r"indices_are_sorted = false(, )?", r"(, )?unique_indices = false", r"(, )?is_stable = false",
            r"(base_dilations|window_dilations|window_strides) = array<i64(: 1(, 1)*)?>(, )?",
            r"padding = dense<0> : tensor<\d+x2xi64>(, )?", r"(, )?precision(_config)? = \[[^\]]*DEFAULT[^\]]*\]",
            r'(backend_config|infeed_config|outfeed_config) = ""(, )?', r"(, )?has_side_effect = false",
            r"(, )?use_global_device_ids = false", r"(stride|lhs_dilate|rhs_dilate) = \[1(, 1)*\](, )?",
            r"pad = \[(\[0, 0\](, )?)*\](, )?", r"reverse = \[(false(, )?)*\]", r"(, )?api_version = 1 : i32",
            r"(, )?(FLOAT|SIGNED|UNSIGNED)(?= :)", r"(, )?layout = \[.*?\]\]"]


def plain(line):
    """One line without names of values and defaults."""
    line = re.sub(r"^(\s*)%[^=]*? = ", r"\1% = ", line.rstrip())
    line = re.sub(r"%[A-Za-z0-9_$.]+(#\d+)?", "%", line)
    for default in DEFAULTS:
        line = re.sub(default, "", line)
    line = re.sub(r"dense<.*?> : (tensor<(\d+x)*0x)", r"\1", line)  # no elements: a value says nothing
    line = re.sub(r"chlo.tan % : (.*) -> .*", r"stablehlo.tan % : \1", line)
    line = line.replace("stablehlo.after_all  :", "stablehlo.create_token :").replace("stablehlo.return", "return")
    line = line.replace("func.func public", "func.func").replace(", }", "}").replace("{}", "")
    return re.sub(r" <>|  +(?=\S)(?<!^)", " ", line.replace("<{}>", "")).rstrip()


def judge(ours, original):
    """The answer for one pair of files."""
    with open(ours, encoding="utf-8") as f:
        text = f.read()
    try:
        module = ir.Module.parse(text)
    except Exception as error:  # pylint: disable=broad-exception-caught
        return "refused " + str(error).replace("\n", " ")[:300], original
    if original == "-":
        return "accepted", None
    with open(original, encoding="utf-8") as f:
        text = f.read()
    try:
        wanted = ir.Module.parse(text)
    except Exception:  # pylint: disable=broad-exception-caught
        return "accepted", None
    for x, y in zip(str(module).splitlines(), str(wanted).splitlines()):
        if plain(x) != plain(y):
            return f"differs {x.strip()[:200]} | {y.strip()[:200]}", None
    return "equal", None


def main():
    context = jax_mlir.make_ir_context()
    mhlo.register_mhlo_dialect(context)
    with context:
        for line in sys.stdin:
            ours, original = line.split()
            answer, unsure = judge(ours, original)
            if answer.startswith("refused") and unsure and unsure != "-":
                try:
                    with open(unsure, encoding="utf-8") as f:
                        ir.Module.parse(f.read())
                except Exception:  # pylint: disable=broad-exception-caught
                    answer = "accepted"  # jaxlib lacks what the original itself needs
            print(answer, flush=True)


if __name__ == "__main__":
    main()
