"""`python -m hilo.penguin run|check|show PROGRAM`; PROGRAM is a penguin.py or an hlo_netlist.json.

Exit status: 0 all equal or nothing to compare, 1 input rejected, 2 results differ, 3 something in
the program can't be evaluated.
"""

import argparse
import json
import sys

import numpy as np

from . import arrays, check, corpus, dtypes, load, show
from .compare import compare_outputs
from .errors import EvaluationError, ProgramError

EQUAL, REJECTED, DIFFERENT, NOT_EVALUATED = range(4)


class Parser(argparse.ArgumentParser):
    """Usage errors have the exit status of a rejected input."""

    def error(self, message):
        self.print_usage(sys.stderr)
        self.exit(REJECTED, f"error: {message}\n")


def _parser():
    parser = Parser(
        prog="python -m hilo.penguin",
        allow_abbrev=False,
        description="Execute, check or describe a penguin program or netlist.",
    )
    commands = parser.add_subparsers(dest="command", required=True, parser_class=Parser)
    run = commands.add_parser(
        "run", help="execute, compare with stated results", allow_abbrev=False
    )
    run.add_argument("program")
    run.add_argument("--inputs", metavar="F.npz", help="arg0, arg1, ...; with ranks a leading axis")
    run.add_argument(
        "--input",
        metavar="K=F.npy",
        action="append",
        default=[],
        help="one input by name, over those of --inputs",
    )
    run.add_argument(
        "--seed",
        type=int,
        default=0,
        help="makes the inputs where none are given, and the random numbers",
    )
    run.add_argument("--outputs", metavar="F.npz", help="write results as out0, out1, ...")
    run.add_argument("--expect", metavar="F.npz", help="compare with these results")
    run.add_argument(
        "--case",
        metavar="CASE",
        help="a corpus folder or its case.json: its inputs, " "results, tolerances and ranks",
    )
    run.add_argument("--rtol", type=float, default=0.0)
    run.add_argument("--atol", type=float, default=0.0)
    run.add_argument("--ulp", type=int, default=0)
    run.add_argument("--ranks", type=int, help="default: what the replica groups need")
    run.add_argument("--num-replicas", type=int, default=1, help="how many replicas the ranks form")
    run.add_argument(
        "--trace", action="store_true", help="print a summary of every operation's values"
    )
    run.add_argument(
        "--share-buffers",
        action="store_true",
        help="write aliased outputs over their inputs, as on a device",
    )
    run.add_argument("--no-verify", action="store_true", help="evaluate without checking first")
    run.add_argument("--json", action="store_true", help="one record a comparison")
    for name, text in (
        ("check", "execute the text and check the structure"),
        ("show", "operations, bytes, peak live memory"),
    ):
        command = commands.add_parser(name, help=text, allow_abbrev=False)
        command.add_argument("program")
        command.add_argument("--json", action="store_true")
    return parser


def _trace(op, rank, results):
    for tensor, array in zip(op.dsts, results):
        text = f"{op.id} {op.tag}{':' + op.fn if op.fn else ''} rank {rank} {tensor.name} "
        print(text + f"{tensor.dtype.name}{list(tensor.shape)} {summary(array)}", file=sys.stderr)


def summary(array):
    """Range, mean and count of non-finite values of an array, in one line."""
    if not array.size:
        return "empty"
    wide = dtypes.widen(array)
    values = wide.astype(np.float64)
    finite = values[np.isfinite(values)]
    if not finite.size:
        return f"no finite value of {array.size}"
    text = f"min {finite.min():.6g} max {finite.max():.6g} mean {finite.mean():.6g}"
    return text + (f" non-finite {array.size - finite.size}" if finite.size < array.size else "")


def _inputs(arguments, program, case, ranks):
    """Input arrays by name: the case's or the file's, then single ones, then seeded ones."""
    made = arrays.seeded(program.inputs, ranks, arguments.seed)
    given = {} if case is None else dict(case.inputs)
    if arguments.inputs:
        given.update(arrays.read_npz(arguments.inputs))
    for item in arguments.input:
        name, equals, path = item.partition("=")
        if not equals:
            raise ProgramError(f"`--input={item}` is not of the form K=F.npy")
        given[name] = arrays.read_npy(path)
    known = {t.name for t in program.inputs} | {f"arg{i}" for i in range(len(program.inputs))}
    extra = [name for name in given if name not in known]
    if extra:
        raise ProgramError(f"`{extra[0]}` is no input; the program has {len(program.inputs)}")
    return [given.get(f"arg{i}", given.get(t.name, made[i])) for i, t in enumerate(program.inputs)]


def _run(arguments):
    case = corpus.read_case(arguments.case) if arguments.case else None
    program = load(arguments.program)
    if not arguments.no_verify:
        for function in corpus.functions(program):
            corpus.verify_function(function)
    ranks, replicas = arguments.ranks, arguments.num_replicas
    if ranks is None:
        ranks = case.ranks if case else max(program.implied_ranks(), replicas)
    if case and arguments.num_replicas == 1:
        replicas = case.replicas
    if ranks < 1:
        raise ProgramError(f"`--ranks` is {ranks}, expected 1 or more")
    outputs = program.run(
        _inputs(arguments, program, case, ranks),
        ranks=ranks,
        replicas=replicas,
        seed=arguments.seed,
        trace=_trace if arguments.trace else None,
        share_buffers=arguments.share_buffers,
    )
    if arguments.outputs:
        arrays.write_npz(arguments.outputs, outputs)
    return _report(arguments, program, outputs, case)


def _report(arguments, program, outputs, case):
    if arguments.expect:
        records = compare_outputs(
            program.outputs,
            outputs,
            arrays.read_npz(arguments.expect),
            arguments.rtol,
            arguments.atol,
            arguments.ulp,
        )
    elif case:
        if len(case.tolerances) != len(outputs):
            raise ProgramError(
                f"the program has {len(outputs)} outputs, the case {len(case.tolerances)}"
            )
        records = compare_outputs(
            program.outputs, outputs, case.outputs, ulp=arguments.ulp, tolerances=case.tolerances
        )
    else:
        if not arguments.outputs and not arguments.json:
            for i, (tensor, array) in enumerate(zip(program.outputs, outputs)):
                print(
                    f"out{i} {tensor.name} {tensor.dtype.name}{list(array.shape)} {summary(array)}"
                )
        return EQUAL
    for record in records:
        print(json.dumps(record.record()) if arguments.json else record)
    return EQUAL if all(record.equal for record in records) else DIFFERENT


def _check(arguments):
    program = load(arguments.program)
    found = []
    for function in corpus.functions(program):
        found += [f"{function.path}: {text}" for text in check.problems(function)]
    if arguments.json:
        print(json.dumps({"program": arguments.program, "problems": found}))
    else:
        for text in found:
            print(f"error: {text}", file=sys.stderr)
        if not found:
            print(f"{arguments.program}: correct")
    return REJECTED if found else EQUAL


def _show(arguments):
    program = load(arguments.program)
    whole = hasattr(program, "definitions")
    if arguments.json:
        print(json.dumps(show.netlist_figures(program) if whole else show.figures(program)))
    else:
        for line in show.netlist_lines(program) if whole else show.lines(program):
            print(line)
    return EQUAL


def main(arguments=None):
    """Runs one command, gives the exit status."""
    parsed = _parser().parse_args(arguments)
    command = {"run": _run, "check": _check, "show": _show}[parsed.command]
    try:
        return command(parsed)
    except EvaluationError as error:
        print(f"error: {error}", file=sys.stderr)
        return NOT_EVALUATED
    except ProgramError as error:
        print(f"error: {error}", file=sys.stderr)
        return REJECTED
