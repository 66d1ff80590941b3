"""Counts what every runner passed and failed, and writes the closing line."""

from __future__ import annotations

import json
import xml.etree.ElementTree as xml
from dataclasses import dataclass, field
from pathlib import Path
from typing import List

from step import Outcome, say


@dataclass
class Tally:
    """Sums over all runners. A runner that dies before it reports counts as one failure, never as nothing."""

    passed: int = 0
    failed: int = 0
    complaints: List[str] = field(default_factory=list)

    def add(self, what: str, passed: int, failed: int, outcome: Outcome | None = None) -> None:
        """Adds one runner's counts. With an outcome, a non-zero exit without a failure, or no test at all, is a failure too."""
        if outcome is not None and ((not outcome.passed and failed == 0) or passed + failed == 0):
            failed += 1
        self.passed += passed
        self.failed += failed
        if failed:
            self.complaints.append(f"{what}: {failed} failed" + (f" ({outcome.log})" if outcome is not None else ""))

    def add_one(self, what: str, outcome: Outcome) -> None:
        """A runner that is one test."""
        self.add(what, int(outcome.passed), int(not outcome.passed), outcome)

    def add_gtest(self, what: str, report: Path, outcome: Outcome) -> None:
        """Counts a --gtest_output=json report."""
        try:
            content = json.loads(report.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            content = {}
        failed = content.get("failures", 0) + content.get("errors", 0)
        self.add(what, content.get("tests", 0) - content.get("disabled", 0) - failed, failed, outcome)

    def add_junit(self, what: str, report: Path, outcome: Outcome) -> None:
        """Counts a pytest --junitxml report; skipped tests count as neither."""
        passed = failed = 0
        try:
            for suite in xml.parse(report).getroot().iter("testsuite"):
                counts = {key: int(suite.get(key, 0)) for key in ("tests", "failures", "errors", "skipped")}
                failed += counts["failures"] + counts["errors"]
                passed += counts["tests"] - counts["failures"] - counts["errors"] - counts["skipped"]
        except (OSError, xml.ParseError):
            pass
        self.add(what, passed, failed, outcome)

    def close(self) -> int:
        """Prints what failed and the plain closing line; returns the exit code."""
        for complaint in self.complaints:
            say("FAILED", complaint)
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed or not self.passed else 0
