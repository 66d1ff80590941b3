"""Debian packages: looks up what is missing, installs it as root, else prints the exact line."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from typing import Iterable, List, Set

from step import StepFailed, run, say

# What each job needs. Keep in step with docs/dependencies.md.
BUILD = (
    "build-essential cmake ninja-build ccache pkg-config git python3 "
    "libexpected-dev libfmt-dev nlohmann-json3-dev libcli11-dev libhwy-dev libopenblas-dev zlib1g-dev libxxhash-dev"
).split()
DEMO = ["dataset-fashion-mnist"]
TEST = "libgtest-dev libgmock-dev librapidcheck-dev clang clang-format clang-tidy libclang-rt-dev".split()
BENCH = ["libbenchmark-dev"]

# A virtual package or one whose name carries a version: any installed name that matches will do.
ALTERNATIVES = {"libclang-rt-dev": r"libclang-rt-(\d+-)?dev"}


def installed() -> Set[str]:
    """Names of the installed packages (without their architecture)."""
    out = subprocess.run(
        ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Package}\n"], capture_output=True, text=True, check=False
    ).stdout
    return {line.split()[1] for line in out.splitlines() if line.startswith("installed ")}


def missing(wanted: Iterable[str]) -> List[str]:
    """The wanted packages that are not there, in order."""
    have = installed()

    def there(package: str) -> bool:
        pattern = ALTERNATIVES.get(package)
        return package in have or (pattern is not None and any(re.fullmatch(pattern, name) for name in have))

    return [package for package in dict.fromkeys(wanted) if not there(package)]


def ensure(wanted: Iterable[str]) -> None:
    """Makes the wanted packages be there. Raises StepFailed with the exact line when that needs a person."""
    start = time.monotonic()
    wanted = list(dict.fromkeys(wanted))
    if shutil.which("dpkg-query") is None:
        say("note", "not a Debian system: see docs/dependencies.md for the packages that CMake will look for")
        return
    lacking = missing(wanted)
    if not lacking:
        say("ok", f"Debian packages: all {len(wanted)} are there", time.monotonic() - start)
        return
    line = "apt-get install -y --no-install-recommends " + " ".join(lacking)
    if os.geteuid() != 0:
        raise StepFailed(f"{len(lacking)} Debian packages are missing", f"run this, then ./dev again:\n    sudo {line}", code=3)
    env = {"DEBIAN_FRONTEND": "noninteractive"}
    fix = f"check that the Debian mirror answers, then: {line}"
    run("apt-update", "refresh the package lists (apt-get update)", ["apt-get", "update"], fix=fix, env=env)
    run("apt-install", f"install Debian packages: {' '.join(lacking)}", line.split(), fix=fix, env=env)
