"""Steps: each prints one line with its seconds, and keeps what its command said in build/log/<name>.log."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Callable, Optional, Sequence

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"
LOGS = BUILD / "log"
TAIL_LINES = 40

_print_lock = threading.Lock()


class StepFailed(Exception):
    """A step that everything after it needs has failed: main() shows the end of the log and the fix."""

    def __init__(self, name: str, fix: str, log: Optional[Path] = None, code: int = 1):
        super().__init__(name)
        self.name, self.fix, self.log, self.code = name, fix, log, code


@dataclass
class Outcome:
    """How the command of one step ended."""

    name: str
    code: int
    seconds: float
    log: Path

    @property
    def passed(self) -> bool:
        """True when the command exited with 0."""
        return self.code == 0


def say(status: str, what: str, seconds: Optional[float] = None) -> None:
    """Prints the one line of a step."""
    timing = "" if seconds is None else f"{seconds:7.1f} s"
    with _print_lock:
        print(f"  {status:<6} {timing:>9}  {what}", flush=True)


def run(
    name: str,
    what: str,
    command: Sequence[str],
    *,
    fix: str,
    cwd: Path = ROOT,
    env: Optional[dict] = None,
    timeout: Optional[float] = None,
    must: bool = True,
    quiet_failure: bool = False,
) -> Outcome:
    """Runs a command with its output in the log. must: a failure ends everything; else the caller looks at the outcome.
    quiet_failure: the caller has another way, so a failure is only a note."""
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{name}.log"
    start = time.monotonic()
    with open(log, "w", encoding="utf-8", errors="replace") as out:
        out.write("$ " + " ".join(map(str, command)) + "\n")
        out.flush()
        try:
            code = subprocess.run(
                [str(part) for part in command],
                cwd=cwd,
                env={**os.environ, **(env or {})},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                timeout=timeout,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            out.write(f"\nstopped after {timeout:.0f} s\n")
            code = 124
        except FileNotFoundError as error:
            out.write(f"{error}\n")
            code = 127
    seconds = time.monotonic() - start
    outcome = Outcome(name, code, seconds, log)
    say("ok" if outcome.passed else "no" if quiet_failure else "FAILED", what, seconds)
    if must and not outcome.passed:
        raise StepFailed(what, fix, log)
    return outcome


def side_by_side(*jobs: Callable[[], object]) -> None:
    """Runs jobs at the same time; the first failure is raised when all have ended."""
    with ThreadPoolExecutor(max_workers=len(jobs)) as executor:
        futures = [executor.submit(job) for job in jobs]
    for future in futures:
        future.result()


def tail(log: Path, lines: int = TAIL_LINES) -> str:
    """The end of a log, for the person who has to fix it."""
    text = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join("    " + line for line in text[-lines:])


def explain(failure: StepFailed) -> int:
    """Shows what failed, the end of its log and what to do; returns the exit code."""
    sys.stdout.flush()
    print(f"\n{failure.name}: failed", file=sys.stderr)
    if failure.log is not None and failure.log.exists():
        print(f"  the end of {failure.log.relative_to(ROOT)}:\n{tail(failure.log)}", file=sys.stderr)
    print(f"  to fix: {failure.fix}", file=sys.stderr)
    return failure.code
