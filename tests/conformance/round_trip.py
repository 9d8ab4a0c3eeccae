#!/usr/bin/env python3
"""Every HLO module of the corpus, read, verified, and written in every form: nothing changes on the way.

    round_trip.py --bin BIN [--corpus DIR] [--only WORD]

For each module: text written once is written the same when it is read again (and is the file itself where XLA printed it), text
to proto to text is the identity, a proto that hilo wrote is written the same again. For each JAX program: one signature from
text, from proto and from a folder with metadata.json.

One line a failure, then `N passed, N failed, N skipped`. Exit status 1 after a failure, 77 without the corpus.
"""

import concurrent.futures
import json
import os
import sys
import tempfile

import hlo_modules
import suite
from hlo_modules import PROTO, TEXT, Failure, require_same

# Files that XLA's parser takes and its verifier does not: they must be refused, with this code.
NOT_VALID = {
    # a converter's expected output; a clamp, a window, an initial value and loop results of wrong types
    "hlo-text/xla-lit__import.hlo": "NCC_EMOD902",
    # the asynchronous pair without the tuple of its operand and its result
    "hlo-text/xla-lit__import_async.hlo#1": "NCC_EMOD918",
    "hlo-text/xla-lit__import_async.hlo#3": "NCC_EMOD918",
    # all-reduce-start with a tuple that only all-gather-start has
    "hlo-text/xla-lit__import_async.hlo#10": "NCC_EMOD918",
    # f32[128,21] received as f32[128,32]
    "hlo-text/xla-lit__import_async.hlo#14": "NCC_EMOD918",
}

# Printed by this version of XLA: the text comes back byte for byte, from a proto as well. Other texts keep their style (names
# without `%`, types of operands, no types in computation headers), for which a proto has no place.
PRINTED_BY_XLA = ("jax/",)


def convert_all(opt, module, folder):
    path = {form: os.path.join(folder, form) for form in ("text", "text2", "proto", "proto2", "back")}
    text = opt.convert(module.path, path["text"], "hlo")
    is_canonical = module.kind == PROTO or module.name.startswith(PRINTED_BY_XLA)
    if is_canonical and module.kind == TEXT:
        require_same(text, hlo_modules.read(module.path), "text is not as it was")
    require_same(opt.convert(path["text"], path["text2"], "hlo"), text, "text read again")
    proto = opt.convert(module.path, path["proto"], "proto")
    back = opt.convert(path["proto"], path["back"], "hlo")
    if is_canonical:
        require_same(back, text, "text of the proto")
    else:
        opt.convert(path["back"], path["proto2"], "proto")
        require_same(opt.convert(path["proto2"], path["text2"], "hlo"), back, "text of the proto, through a proto again")
    if opt.convert(path["proto"], path["proto2"], "proto") != proto:
        raise Failure("proto read again: other bytes")
    signatures = {opt.signature(path[form]) for form in ("text", "proto")} | {opt.signature(module.path)}
    if len(signatures) != 1:
        raise Failure("text and proto that were written have other signatures than the file")


def check_module(opt, module):
    """Returns a complaint or None."""
    with tempfile.TemporaryDirectory() as folder:
        try:
            if module.name in NOT_VALID:
                status, _, error = opt.run("-o", os.devnull, module.path)
                return None if status == 1 and NOT_VALID[module.name] in error else f"not refused: {error}"
            convert_all(opt, module, folder)
        except Failure as failure:
            return str(failure)
    return None


def check_signature(opt, models):
    """One signature from all forms of a program; `models` are its files."""
    with tempfile.TemporaryDirectory() as folder:
        signatures = {}
        try:
            for k, model in enumerate(models):
                signatures[opt.signature(model)] = model
                directory = os.path.join(folder, str(k))
                os.mkdir(directory)
                os.symlink(model, os.path.join(directory, os.path.basename(model)))
                with open(os.path.join(directory, "metadata.json"), "w", encoding="utf-8") as f:
                    json.dump({"model_files": os.path.basename(model)}, f)
                signatures[opt.signature(directory)] = directory
        except Failure as failure:
            return str(failure)
    return None if len(signatures) == 1 else f"{len(signatures)} signatures"


def programs_of(modules):
    """{folder of a JAX program: its files}."""
    programs = {}
    for module in modules:
        if module.name.startswith("jax/"):
            programs.setdefault(os.path.dirname(module.name), []).append(module.path)
    return programs


def main():
    args = suite.parser(__doc__).parse_args()
    corpus = suite.corpus_of(args)
    opt = hlo_modules.HloOpt(args.bin)
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        modules = [m for m in hlo_modules.find(corpus, scratch) if suite.is_wanted(args, m.name)]
        jobs = [(m.name, pool.submit(check_module, opt, m)) for m in modules]
        jobs += [(f"{name}: signature", pool.submit(check_signature, opt, files))
                 for name, files in sorted(programs_of(modules).items())]
        n_failed = 0
        for name, job in jobs:
            complaint = job.result()
            if complaint:
                n_failed += 1
                print(f"{name}: {complaint}")
    return suite.end(len(jobs) - n_failed, n_failed)


if __name__ == "__main__":
    sys.exit(main())
