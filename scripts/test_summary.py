"""Add up what the runners reported and close with `N passed, N failed, N skipped`.

usage: test_summary.py RESULTS_DIR [BROKEN_STEP...]

Reads the JUnit files that ctest and pytest wrote. A ctest entry that runs many tests of its own (cmocka, the golden
runner) is counted by these, any other as one. Every skip and failure is listed with its reason. A broken build step, a
runner without a report and a report without a test count as failures.
"""

import pathlib
import re
import sys
import xml.etree.ElementTree as ET

CMOCKA = {
    "passed": re.compile(r"^\[  PASSED  \] (\d+) test\(s\)", re.M),
    "failed": re.compile(r"^\[  FAILED  \] (\d+) test\(s\)", re.M),
    "skipped": re.compile(r"^\[  SKIPPED \] (\d+) test\(s\)", re.M),
}
PLAIN = re.compile(r"^(?:\w+: )?(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.M)
REASON = re.compile(r"^SKIP: (.+)$", re.M)


def inner_counts(output):
    """(passed, failed, skipped) of the runner inside a ctest entry, or None."""
    plain = PLAIN.findall(output)
    if plain:
        return tuple(sum(int(row[i] or 0) for row in plain) for i in range(3))
    if not CMOCKA["passed"].search(output):
        return None
    return tuple(sum(map(int, CMOCKA[key].findall(output))) for key in ("passed", "failed", "skipped"))


def read_case(case):
    """(passed, failed, skipped, reasons) of one <testcase>."""
    output = "\n".join(e.text or "" for e in case.iter("system-out"))
    skip = case.find("skipped")
    is_failed = case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail"
    if skip is not None or case.get("status") in ("notrun", "disabled"):
        why = REASON.findall(output) or [skip.get("message", "") if skip is not None else case.get("status")]
        return 0, 0, 1, why
    passed, failed, skipped = inner_counts(output) or (0 if is_failed else 1, int(is_failed), 0)
    if is_failed and not failed:
        failed = 1  # it crashed, leaked or timed out beside what it counted
    return passed, failed, skipped, REASON.findall(output) or ["no reason given"] * bool(skipped)


def main():
    results, broken = pathlib.Path(sys.argv[1]), sys.argv[2:]
    total = [0, len(broken), 0]
    for step in broken:
        print(f"FAILED {step}")
    for report in sorted(results.glob("*.xml")):
        counts = [0, 0, 0]
        for case in ET.parse(report).getroot().iter("testcase"):
            *case_counts, reasons = read_case(case)
            counts = [a + b for a, b in zip(counts, case_counts)]
            name = ".".join(filter(None, (case.get("classname"), case.get("name"))))
            if case_counts[1]:
                print(f"FAILED {report.stem} {name}")
            if case_counts[2]:
                print(f"SKIPPED {report.stem} {name}: {'; '.join(sorted(set(reasons)))} ({case_counts[2]})")
        if not sum(counts):
            print(f"FAILED {report.stem}: ran no test")
            counts[1] = 1
        print(f"{report.stem}: " + "{} passed, {} failed, {} skipped".format(*counts))
        total = [a + b for a, b in zip(total, counts)]
    for runner in ("release", "asan", "tsan"):
        if not (results / f"{runner}.xml").exists() and f"build {runner}" not in broken:
            print(f"FAILED {runner}: no report")
            total[1] += 1
    print("{} passed, {} failed, {} skipped".format(*total))
    return 1 if total[1] or not total[0] else 0


if __name__ == "__main__":
    sys.exit(main())
