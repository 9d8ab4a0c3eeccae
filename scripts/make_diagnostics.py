#!/usr/bin/env python3
"""Write docs/diagnostics.md from src/base/diag.def, or with --check say whether it is up to date.

Also refuses a list that is not sorted by code, a code that stands twice, and texts against the house
wording (lower case, no full stop, one line)."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
STRING = r'"((?:[^"\\]|\\.)*)"'
ROW = re.compile(r"^HILO_DIAG\(\s*(\w+)\s*,\s*(\w+)\s*,((?:\s*" + STRING + r")+)\s*,((?:\s*" + STRING + r")+)\s*\)", re.M)

HEAD = """# Diagnostics

Written by `scripts/make_diagnostics.py` from `src/base/diag.def`: change that file, then run the script.

A record reads `[ERROR] [NCC_<code>] <place>: <what was seen> - <remedy>`, with context lines below it, indented. The
exit status is then 1. `[INTERNAL_ERROR]` means that hilo, not the input, is at fault, or that the last stage has no
form for the operation. `[WARNING]` stops nothing. Numbers from 900 on are hilo's own.

| code | kind | cause | what to do |
|---|---|---|---|
"""

KIND = {"ERROR": "error", "INTERNAL": "internal", "WARNING": "warning"}


def unescape(literals):
    text = "".join(re.findall(STRING, literals))
    return text.replace('\\"', '"').replace("\\\\", "\\")


def rows():
    source = (ROOT / "src/base/diag.def").read_text()
    source = re.sub(r"/\*.*?\*/", "", source, flags=re.S)
    found = [(m[1], m[2], unescape(m[3]), unescape(m[5])) for m in ROW.finditer(source)]
    if len(found) != source.count("HILO_DIAG("):
        sys.exit("diag.def: a row is not of the form HILO_DIAG(code, level, \"cause\", \"remedy\")")
    return found


def complaints(found):
    codes = [row[0] for row in found]
    for before, after in zip(codes, codes[1:]):
        if before == after:
            yield f"{after} stands twice"
        elif before > after:
            yield f"{after} comes after {before}: the list is sorted by code"
    for code, level, cause, remedy in found:
        if level not in KIND:
            yield f"{code}: unknown level {level}"
        if not cause:
            yield f"{code}: no cause"
        for text in (cause, remedy):
            if text.endswith(".") or "\n" in text:
                yield f"{code}: one line without a full stop, please: {text}"


def main():
    found = rows()
    wrong = list(complaints(found))
    if wrong:
        sys.exit("\n".join("diag.def: " + line for line in wrong))
    text = HEAD + "".join(
        f"| NCC_{code} | {KIND[level]} | {cause.replace('|', '/')} | {remedy.replace('|', '/')} |\n"
        for code, level, cause, remedy in found
    )
    path = ROOT / "docs/diagnostics.md"
    if "--check" not in sys.argv[1:]:
        path.write_text(text)
    elif not path.exists() or path.read_text() != text:
        sys.exit("docs/diagnostics.md is not what diag.def says: run scripts/make_diagnostics.py")


if __name__ == "__main__":
    main()
