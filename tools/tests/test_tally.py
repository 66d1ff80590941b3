"""The closing line counts what ran, and a runner that says nothing has failed."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "dev"))

from step import Outcome  # noqa: E402
from tally import Tally  # noqa: E402


def outcome(code: int) -> Outcome:
    return Outcome("runner", code, 0.0, Path("runner.log"))


def gtest_report(path: Path, tests: int, failures: int, disabled: int = 0) -> Path:
    path.write_text(json.dumps({"tests": tests, "failures": failures, "errors": 0, "disabled": disabled}), encoding="utf-8")
    return path


def test_gtest_counts_are_added(tmp_path):
    tally = Tally()
    tally.add_gtest("a", gtest_report(tmp_path / "a.json", 7, 0, disabled=1), outcome(0))
    tally.add_gtest("b", gtest_report(tmp_path / "b.json", 5, 2), outcome(1))
    assert (tally.passed, tally.failed) == (6 + 3, 2)


def test_a_crash_after_passing_tests_is_a_failure(tmp_path):
    tally = Tally()
    tally.add_gtest("a", gtest_report(tmp_path / "a.json", 7, 0), outcome(-11))
    assert (tally.passed, tally.failed) == (7, 1)


def test_a_runner_without_a_report_is_a_failure(tmp_path):
    tally = Tally()
    tally.add_gtest("a", tmp_path / "none.json", outcome(0))
    tally.add_junit("b", tmp_path / "none.xml", outcome(0))
    assert (tally.passed, tally.failed) == (0, 2)


def test_junit_counts_leave_skipped_tests_out(tmp_path):
    report = tmp_path / "r.xml"
    report.write_text('<testsuites><testsuite tests="9" failures="1" errors="1" skipped="2"/></testsuites>', encoding="utf-8")
    tally = Tally()
    tally.add_junit("a", report, outcome(1))
    assert (tally.passed, tally.failed) == (5, 2)


def test_the_closing_line_is_plain_and_nothing_run_is_a_failure(capsys):
    tally = Tally()
    assert tally.close() == 1
    tally.add("a", 3, 0)
    assert tally.close() == 0
    assert capsys.readouterr().out.splitlines()[-1] == "3 passed, 0 failed"
