#!/usr/bin/env python3
"""Write docs/options.md from src/driver/options.def, or with --check say whether it is up to date."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
STRING = r'"((?:[^"\\]|\\.)*)"'
ROW = re.compile(
    rf"^HILO_OPTION\(\s*\w+,\s*{STRING},\s*(\w+),\s*({STRING}|[^,]+),\s*{STRING},\s*(\w+),\s*(\w+),\s*(\w+),\s*(\w+),"
    rf"\s*{STRING}\)",
    re.M,
)

HEAD = """# Options

Written by `scripts/make_options.py` from `src/driver/options.def`: change that file, then run the script.

The grammar is that of LLVM's tools: `-name` and `--name` are the same, `--name=value` or `--name value`, a bool takes
its value only after `=`, `@file` is replaced by the words of the file. "Effect" says whether an option does what it is
meant to do; one that does not yet, or never will, is accepted with a WARNING in the log. Tools: P is `hlo2penguin`, O is
`hlo-opt`, R is `hlo-run`. Options in italics are shown by no help.
"""

SECTIONS = {
    "COMPILE": "hlo2penguin options",
    "OWN": "hilo options",
    "OPT": "hlo-opt options",
    "RUN": "hlo-run options",
    "PARTITION": "Partitioner, also inside `--partitioner-opts`",
    "EXTRA": "Passes, numbers, MLIR and XLA",
    "GENERIC": "Generic options",
}
STATE = {"DONE": "yes", "LATER": "not yet", "IGNORED": "none"}


def show_initial(kind, initial):
    if kind in ("LEVEL", "REPORT", "EMIT", "PIPELINE", "STATISTICS"):
        return "" if initial.endswith(("_NONE", "_AS_INPUT")) else initial.rsplit("_", 1)[1].lower()
    if kind in ("PAIRS", "WORDS", "INTEGER_OPS", "INVERSE", "LIST", "SEED", "PREFIX", "EXPLAIN") or "HELP" in kind:
        return ""
    return "" if kind == "VERSION" else initial.strip('"')


def main():
    source = (ROOT / "src/driver/options.def").read_text()
    rows = list(ROW.finditer(source))
    if len(rows) != len(re.findall(r"^HILO_OPTION\(", source, re.M)):
        sys.exit("options.def: a row is not of the form that the head of the file gives")
    text = HEAD
    for section, title in SECTIONS.items():
        text += f"\n## {title}\n\n| option | default | tools | effect | meaning |\n|---|---|---|---|---|\n"
        for row in sorted((r for r in rows if r[7] == section), key=lambda r: r[1]):
            name, kind, initial, visibility, tools, state, meaning = (row[i] for i in (1, 2, 3, 6, 8, 9, 10))
            shown = f"`--{name}{'*' if kind == 'PREFIX' else ''}`" if len(name) > 1 else f"`-{name}`"
            if visibility == "REALLY":
                shown = f"*{shown}*"
            text += f"| {shown} | {show_initial(kind, initial)} | {tools} | {STATE[state]} | {meaning} |\n"
    path = ROOT / "docs/options.md"
    if "--check" not in sys.argv[1:]:
        path.write_text(text)
    elif not path.exists() or path.read_text() != text:
        sys.exit("docs/options.md is not what options.def says: run scripts/make_options.py")


if __name__ == "__main__":
    main()
