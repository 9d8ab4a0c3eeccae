"""Large and deep inputs, made here as they are too big to keep: each ends with a diagnosis or is compiled, none with a
crash, and none takes more than seconds. tests/unit/hlo_text_error_test.c asks the reader alone.

usage: deep_input_test.py BIN"""

import pathlib
import subprocess
import sys
import tempfile

DEEP = 100_000
NUMBERS = 4_000_000
BASE_BYTES = 96 << 20  # of the process itself, a sanitizer's tables included
# A small process in between: a child counts what its parent had when it was made.
MEASURE = """import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
sys.exit(status)"""
SECONDS = 60  # far more than any needs, sanitizers included; at quadratic cost it is not enough


def module(body, before="", parameter="f32[4]"):
    return f"HloModule deep\n{before}\nENTRY main {{\n  p = {parameter} parameter(0)\n{body}\n}}\n"


def chain(opcode):
    lines = [f"  i{k} = f32[4] {opcode}({f'i{k - 1}' if k else 'p'})" for k in range(DEEP)]
    return "\n".join(lines)


def nested_calls(n):
    parts = ["f0 { ROOT p = f32[4] parameter(0) }"]
    parts += [f"f{k} {{ p = f32[4] parameter(0) ROOT r = f32[4] call(p), to_apply=f{k - 1} }}" for k in range(1, n)]
    return "\n".join(parts)


def nested_tuples(n):
    """Tuples of tuples, made by instructions: the type of the k-th is k deep."""
    lines, kind, name = [], "f32[4]", "p"
    for k in range(n):
        kind = f"({kind})"
        lines.append(f"  t{k} = {kind} tuple({name})")
        name = f"t{k}"
    for k in range(n):
        kind = kind[1:-1]
        lines.append(f"  g{k} = {kind} get-tuple-element({name}), index=0")
        name = f"g{k}"
    return "\n".join(lines)


def function(body, result="tensor<4xf32>", value="%a"):
    return f"func.func @main(%a: tensor<4xf32>, %c: tensor<i1>) -> {result} {{\n{body}\n  return {value} : {result}\n}}\n"


def call_sites(n):
    """Locations, each the caller of the next; written out, and as aliases."""
    return "callsite(" * n + '"f.py":1:1' + ' at "f.py":2:2)' * n


# name, tool and arguments, text, what standard error holds ("": accepted)
CASES = [
    ("chain", "hlo-opt --emit=none --pipeline=hlo", module(chain("negate")), ""),
    ("chain compiled", "hlo2penguin --output=/dev/null", module(chain("negate")), ""),
    ("calls", "hlo-opt --emit=none --pipeline=hlo", module("  r = f32[4] call(p), to_apply=f19999", nested_calls(20000)), ""),
    ("tuples", "hlo-opt --emit=none --pipeline=hlo", module(nested_tuples(300)), ""),
    ("operands", "hlo-opt --emit=none", module(f"  r = ({', '.join(['f32[4]'] * DEEP)}) tuple({', '.join(['p'] * DEEP)})"), ""),
    ("tuple type", "hlo-opt --emit=none", module("  r = f32[4] negate(p)", parameter="(" * DEEP + "f32[]" + ")" * DEEP), "NCC_EMOD907"),
    ("literal", "hlo-opt --emit=none", module(f"  c = f32[1] constant({'{' * DEEP}1{'}' * DEEP})"), "NCC_EMOD913"),
    ("brackets", "hlo-opt --emit=none", "HloModule deep\n" + "[" * DEEP, "NCC_EMOD900"),
    ("braces", "hlo-opt --emit=none", "HloModule deep\n" + "f {" * DEEP, "NCC_EMOD900"),
    ("attribute", "hlo-opt --emit=none", module(f"  r = f32[4] negate(p), sharding={'{' * DEEP}"), "NCC_EMOD"),
    ("groups", "hlo-opt --emit=none", module(f"  r = f32[4] all-gather(p), dimensions={{0}}, replica_groups={'{' * DEEP}"), "NCC_EMOD"),
    ("dimensions", "hlo-opt --emit=none", module(f"  r = f32[{','.join(['1'] * DEEP)}] negate(p)"), "NCC_EMOD"),
    ("number", "hlo-opt --emit=none", module(f"  r = f32[{'9' * DEEP}] negate(p)"), "NCC_EMOD900"),
    ("name", "hlo-opt --emit=none", module(f"  r = f32[4] negate({'q' * DEEP})"), "NCC_EMOD903"),
    ("opcode", "hlo-opt --emit=none", module(f"  r = f32[4] {'q' * DEEP}(p)"), "NCC_EMOD900"),
    # B28: regions, locations, types, attributes of MLIR
    ("mlir regions", "hlo-opt --emit=none", function('"stablehlo.if"(%c) ({\n' * DEEP), "NCC_EMOD907"),
    ("mlir few regions", "hlo-opt --emit=none", function('"stablehlo.if"(%c) ({ ' * 200 + "stablehlo.return" +
                                                         " }, { stablehlo.return }) : (tensor<i1>) -> () stablehlo.return" * 199 +
                                                         " }, { stablehlo.return }) : (tensor<i1>) -> ()"), ""),
    ("mlir call sites", "hlo-opt --emit=none", function(f"  %0 = stablehlo.abs %a : tensor<4xf32> loc({call_sites(DEEP)})"), "NCC_EMOD907"),
    ("mlir aliased call sites", "hlo-opt --emit=none",
     '#loc0 = loc("f.py":1:1)\n' + "".join(f"#loc{k} = loc(callsite(#loc0 at #loc{k - 1}))\n" for k in range(1, DEEP)) +
     function(f"  %0 = stablehlo.abs %a : tensor<4xf32> loc(#loc{DEEP - 1})"), ""),
    ("mlir tuples", "hlo-opt --emit=none", f"func.func @main(%a: {'tuple<' * DEEP}", "NCC_EMOD907"),
    ("mlir aliases", "hlo-opt --emit=none",
     "!t0 = tensor<4xf32>\n" + "".join(f"!t{k} = !t{k - 1}\n" for k in range(1, DEEP)) +
     f"func.func @main(%a: !t{DEEP - 1}) {{ return }}", "NCC_EMOD907"),
    ("mlir brackets", "hlo-opt --emit=none", function(f"  %0 = stablehlo.abs %a {{x = {'[' * DEEP}}} : tensor<4xf32>"), "NCC_EMOD904"),
    ("mlir modules", "hlo-opt --emit=none", "module {\n" * DEEP, "NCC_EMOD907"),
    ("mlir literal", "hlo-opt --emit=none", function(f"  %0 = stablehlo.constant dense<{'[' * DEEP}> : tensor<1xf32>"), "NCC_EMOD913"),
    ("mlir operands", "hlo-opt --emit=none",
     function(f"  %0 = stablehlo.tuple {', '.join(['%a'] * DEEP)} : tuple<{', '.join(['tensor<4xf32>'] * DEEP)}>"), ""),
    ("mlir chain", "hlo-opt --emit=none", function("\n".join(f"  %{k} = stablehlo.abs %{k - 1 if k else 'a'} : tensor<4xf32>" for k in range(DEEP)),
                                                   value=f"%{DEEP - 1}"), ""),
    ("mlir names", "hlo-opt --emit=none", function("\n".join(f"  %v{k}_x = stablehlo.abs %{f'v{k - 1}_x' if k else 'a'} : tensor<4xf32>" for k in range(DEEP))), ""),
    ("mlir captures", "hlo-opt --emit=none", function("\n".join(f"  %{k} = stablehlo.abs %a : tensor<4xf32>" for k in range(2000)) +
     '\n  "stablehlo.if"(%c) ({\n' + "\n".join(f"  %x{k} = stablehlo.abs %{k} : tensor<4xf32>" for k in range(2000)) +
     "\n stablehlo.return }, { stablehlo.return }) : (tensor<i1>) -> ()"), ""),
]


def run(bin_dir, folder, name, command, text, wanted):
    path = folder / "input.hlo"
    path.write_text(text)
    tool, *args = command.split()
    args += [f"--input={path}"] if tool == "hlo2penguin" else [str(path)]
    try:
        done = subprocess.run([str(bin_dir / tool), *args], cwd=folder, capture_output=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"not done after {SECONDS} s"
    error = done.stderr.decode("utf-8", "replace")
    if done.returncode != (1 if wanted else 0):
        return f"exit status {done.returncode}\n{error[:500]}"
    if wanted not in error:
        return f"expected {wanted} in\n{error[:500]}"
    if len(error) > 4000:
        return f"the message has {len(error)} bytes:\n{error[:500]}"
    return None


def run_literal(bin_dir, folder, name, head, tail):
    """B78: a constant of millions of numbers is read in seconds, in a few times the memory of its text."""
    path = folder / name
    numbers = ", ".join(f"{k % 1000 - 500}.{k % 9973:04}e-{k % 30}" for k in range(NUMBERS))
    path.write_text(head.replace("?", str(NUMBERS)) + numbers + tail.replace("?", str(NUMBERS)))
    size = path.stat().st_size
    command = [sys.executable, "-c", MEASURE, str(bin_dir / "hlo-opt"), "--emit=none", str(path)]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"not done after {SECONDS} s"
    finally:
        path.unlink()
    if done.returncode:
        return f"exit status {done.returncode}\n{done.stderr[:500]}"
    peak = int(done.stdout)
    return f"{peak >> 20} MiB for {size >> 20} MiB of text" if peak > 3 * size + BASE_BYTES else None


LITERALS = [
    ("literal.mlir", "func.func @main() -> tensor<?xf32> {\n  %0 = stablehlo.constant dense<[", "]> : tensor<?xf32>\n  return %0 : tensor<?xf32>\n}\n"),
    ("literal.hlo", "HloModule large\nENTRY e {\n  ROOT c = f32[?] constant({", "})\n}\n"),
]


def main():
    bin_dir = pathlib.Path(sys.argv[1]).resolve()
    n_failed = 0
    with tempfile.TemporaryDirectory(prefix="hilo-deep-") as folder:
        for case in CASES:
            why = run(bin_dir, pathlib.Path(folder), *case)
            if why:
                n_failed += 1
                print(f"FAILED {case[0]}: {why}")
        for case in LITERALS:
            why = run_literal(bin_dir, pathlib.Path(folder), *case)
            if why:
                n_failed += 1
                print(f"FAILED {case[0]}: {why}")
    print(f"{len(CASES) + len(LITERALS) - n_failed} passed, {n_failed} failed, 0 skipped")
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())
