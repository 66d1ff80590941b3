"""House checks: `./dev check`, or `python3 tools/check [NAME ...]`. Standard library only; under a minute on two cores."""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import docstrings
import documents
import formatting
import headers
import ladder
import leftovers

CHECKS = {
    "ladder": ladder.check,
    "headers": headers.check,
    "docstrings": docstrings.check_headers,
    "python-docstrings": docstrings.check_python,
    "leftovers": leftovers.check,
    "sizes": leftovers.check_sizes,
    "format": formatting.check_cpp,
    "python": formatting.check_python,
    "links": documents.check_links,
    "commands": documents.check_commands,
    "examples": documents.check_examples,
    "dependencies": documents.check_dependencies,
}


def main() -> int:
    """Runs the named checks (default: all) and prints their findings; exit 1 when one of them found a fault."""
    parser = argparse.ArgumentParser(prog="check", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"which checks: {', '.join(CHECKS)}")
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    parser.add_argument("--report", type=Path, help="write {check: number of faults} as JSON")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(CHECKS))
    if unknown:
        parser.error(f"no check named {', '.join(unknown)}; there are {', '.join(CHECKS)}")
    faults = {}
    for name, check in CHECKS.items():
        if options.names and name not in options.names:
            continue
        start = time.monotonic()
        findings = list(check(options.root.resolve()))
        faults[name] = sum(not finding.warning for finding in findings)
        print(f"{'ok' if not faults[name] else 'FAILED':<7}{time.monotonic() - start:6.1f} s  {name}", flush=True)
        for finding in findings:
            print("    " + finding.text(options.root.resolve()))
    if options.report:
        options.report.parent.mkdir(parents=True, exist_ok=True)
        options.report.write_text(json.dumps(faults), encoding="utf-8")
    return 1 if any(faults.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
