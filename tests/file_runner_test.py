"""The golden runner is itself tested: what it must let pass, and above all what it must not."""

import contextlib
import importlib.util
import io
import pathlib
import sys
import tempfile
import unittest

SPEC = importlib.util.spec_from_file_location("run", pathlib.Path(__file__).parent / "file" / "run.py")
run = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(run)

TOOL = """#!/bin/sh
# echoes its arguments; `fail` fails, `err` writes to stderr, `log` writes a log record, `in` copies stdin
for word in "$@"; do
  case "$word" in
    fail) exit 1 ;;
    crash) kill -11 $$ ;;
    err) echo "to stderr" >&2 ;;
    log) echo "2026-01-02 03:04:05.678901: E module.c:77] broken" >&2 ;;
    in) cat ;;
    file=*) echo content >"${word#file=}" ;;
    *) echo "$word" ;;
  esac
done
"""


class RunnerTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        project = pathlib.Path(self.folder.name).resolve()
        self.root = project / "tests" / "file"
        self.area = self.root / "area"
        self.area.mkdir(parents=True)
        self.bin = project / "bin"
        self.bin.mkdir()
        (self.bin / "tool").write_text(TOOL)
        (self.bin / "tool").chmod(0o755)

    def tearDown(self):
        self.folder.cleanup()

    def add(self, name, text, expected=None):
        (self.area / name).write_text(text)
        if expected is not None:
            (self.area / f"{name}.expected").write_text(expected)

    def run_all(self, *args):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            status = run.main(["--bin", str(self.bin), *args], root=self.root)
        return status, out.getvalue()

    def check(self, name, text, expected, passes, says=""):
        self.add(name, text, expected)
        status, out = self.run_all()
        self.assertEqual(status, 0 if passes else 1, out)
        self.assertTrue(out.endswith("1 passed, 0 failed, 0 skipped\n" if passes else "0 passed, 1 failed, 0 skipped\n"))
        self.assertIn(says, out)

    def test_equal_passes(self):
        self.check("a.hlo", "// RUN: tool one %s\n", "one\ntests/file/area/a.hlo\nexit: 0\n", True)

    def test_one_byte_fails(self):
        self.check("a.hlo", "// RUN: tool one\n", "one \nexit: 0\n", False, "+one")

    def test_more_output_fails(self):
        self.check("a.hlo", "// RUN: tool one two\n", "one\nexit: 0\n", False, "+two")

    def test_missing_expectation_fails(self):
        self.check("a.hlo", "// RUN: tool one\n", None, False, "is missing")

    def test_no_run_line_fails(self):
        self.check("a.hlo", "HloModule m\n", "exit: 0\n", False, "no `RUN:`")

    def test_unknown_tool_fails(self):
        self.check("a.hlo", "// RUN: tol one\n", "one\nexit: 0\n", False, "no tool `tol`")

    def test_stray_expectation_fails(self):
        self.add("a.hlo", "// RUN: tool one\n", "one\nexit: 0\n")
        (self.area / "b.hlo.expected").write_text("exit: 0\n")
        status, out = self.run_all()
        self.assertEqual(status, 1)
        self.assertIn("b.hlo.expected: no test reads", out)
        self.assertIn("1 passed, 1 failed", out)

    def test_empty_area_fails(self):
        status, _ = self.run_all()
        self.assertEqual(status, 1)

    def test_unknown_area_fails(self):
        with self.assertRaises(SystemExit):
            self.run_all("nowhere")

    def test_failure_under_a_plain_name_fails(self):
        self.check("a.hlo", "// RUN: tool fail\n", "exit: 1\n", False, "exit status 1")

    def test_success_under_a_fail_name_fails(self):
        self.check("fail_a.hlo", "// RUN: tool one\n", "one\nexit: 0\n", False, "exit status 0")

    def test_expected_failure_passes(self):
        self.check("fail_a.hlo", "// RUN: tool err fail\n", "stderr:\nto stderr\nexit: 1\n", True)

    def test_crash_fails(self):
        self.check("fail_a.hlo", "// RUN: tool crash\n", "exit: 1\n", False, "exit status -11")

    def test_log_records_lose_time_and_line(self):
        self.check("a.hlo", "// RUN: tool log\n", "stderr:\nE] broken\nexit: 0\n", True)

    def test_standard_input(self):
        self.check("a.run", "# RUN: tool in < %s\n", "# RUN: tool in < tests/file/area/a.run\nexit: 0\n", False)
        self.check("a.run", "# RUN: tool in < %s\n", "# RUN: tool in < %s\nexit: 0\n", True)

    def test_several_runs_and_files(self):
        text = "// RUN: tool file=%t/x\n// RUN: cat x\n// RUN: ls %t\n// RUN: tool %t %d\n"
        self.check("a.hlo", text, "content\nx\n%t\ntests/file/area/data\nexit: 0\n", True)

    def test_a_failing_run_is_the_last(self):
        self.check("fail_a.hlo", "// RUN: tool fail\n// RUN: tool one\n", "exit: 1\n", True)

    def test_no_newline_at_the_end_shows(self):
        (self.bin / "tool").write_text("#!/bin/sh\nprintf x\n")
        self.check("a.hlo", "// RUN: tool\n", "x\nexit: 0\n", False)
        self.check("a.hlo", "// RUN: tool\n", "x\n(no newline at the end)\nexit: 0\n", True)

    def test_update_writes_only_what_differs(self):
        self.add("a.hlo", "// RUN: tool one\n", "one\nexit: 0\n")
        self.add("b.hlo", "// RUN: tool two\n", "old\n")
        self.add("c.hlo", "// RUN: tool three\n")
        status, out = self.run_all("--update")
        self.assertEqual(status, 0)
        self.assertNotIn("a.hlo", out)
        self.assertEqual((self.area / "b.hlo.expected").read_text(), "two\nexit: 0\n")
        self.assertEqual((self.area / "c.hlo.expected").read_text(), "three\nexit: 0\n")
        self.assertEqual(self.run_all()[0], 0)

    def test_update_does_not_bless_a_wrong_status(self):
        self.add("a.hlo", "// RUN: tool fail\n", "old\n")
        self.assertEqual(self.run_all("--update")[0], 1)
        self.assertEqual((self.area / "a.hlo.expected").read_text(), "old\n")


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    n_bad = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - n_bad} passed, {n_bad} failed, 0 skipped")
    sys.exit(1 if n_bad else 0)
