"""The Python environment .venv: a Python that torch's wheel fits, torch first and never replaced, then each requirements list once."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Optional

import debian
from step import ROOT, StepFailed, run, say

VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
TORCH = "2.13.0"
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
# torch has wheels for these; the first one found is taken.
VERSIONS = ("3.11", "3.12", "3.10", "3.13")
# Installing one list may not change what an earlier one settled.
CONSTRAINTS = VENV / "pantile-constraints.txt"


def _version_of(python: str) -> Optional[str]:
    probe = "import ensurepip, sys, sysconfig, os; print('%d.%d' % sys.version_info[:2]); " \
            "sys.exit(not os.path.exists(os.path.join(sysconfig.get_path('include'), 'Python.h')))"
    result = subprocess.run([python, "-c", probe], capture_output=True, text=True, check=False)
    return result.stdout.strip() if result.returncode == 0 else None


def find_python() -> Optional[str]:
    """A Python with ensurepip and headers in a version that torch's wheel fits, or None."""
    for version in VERSIONS:
        for candidate in (f"python{version}", "python3", sys.executable):
            path = shutil.which(candidate)
            if path and _version_of(path) == version:
                return path
    return None


def ensure_venv() -> None:
    """Makes .venv if there is none that works."""
    start = time.monotonic()
    if PYTHON.exists() and subprocess.run([PYTHON, "-c", "import pip"], capture_output=True, check=False).returncode == 0:
        say("ok", f".venv is there ({_running_version()})", time.monotonic() - start)
        return
    python = find_python()
    if python is None:
        debian.ensure(["python3", "python3-venv", "python3-dev"])
        python = find_python()
    if python is None:
        raise StepFailed(
            "find a Python", f"install one of Python {', '.join(VERSIONS)} with its venv module and headers (python3-venv, python3-dev)", code=3
        )
    run("venv", f"make .venv with {python}", [python, "-m", "venv", "--clear", VENV], fix="install python3-venv")


def _running_version() -> str:
    config = (VENV / "pyvenv.cfg").read_text(encoding="utf-8")
    match = re.search(r"^version\s*=\s*(\S+)", config, re.MULTILINE)
    return f"Python {match.group(1)}" if match else "Python"


def _site_packages() -> Path:
    return next((VENV / "lib").glob("python3.*/site-packages"))


def torch_version() -> Optional[str]:
    """The version of the torch in .venv without importing it; None when there is none."""
    try:
        text = (_site_packages() / "torch" / "version.py").read_text(encoding="utf-8")
    except (OSError, StopIteration):
        return None
    match = re.search(r"^__version__\s*=\s*['\"]([^'\"]+)", text, re.MULTILINE)
    return match.group(1) if match else None


def _pip(*arguments: str) -> list:
    return [str(PYTHON), "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "--progress-bar", "off", "--no-compile", *arguments]


def ensure_torch(must: bool = True) -> bool:
    """torch goes in before anything that could pull another one. A torch that is there already is left alone."""
    if torch_version() is None:
        attempts = (
            ("the CPU build of the configured index", [f"torch=={TORCH}+cpu"]),
            ("the CPU build of pytorch.org", ["--retries", "0", "--timeout", "15", "--index-url", TORCH_CPU_INDEX, f"torch=={TORCH}"]),
            ("what the configured index has", [f"torch=={TORCH}"]),
        )
        fix = f"install torch {TORCH} into .venv yourself ({PYTHON.relative_to(ROOT)} -m pip install torch=={TORCH}), then run ./dev again"
        for at, (where, arguments) in enumerate(attempts):
            last = at == len(attempts) - 1
            outcome = run(f"torch-{at}", f"install torch {TORCH}: {where}", _pip(*arguments), fix=fix, must=must and last, quiet_failure=not last)
            if outcome.passed:
                break
    if torch_version() is None:
        say("note", "no torch: the parts that need it are left out")
        return False
    return True


def ensure_requirements(name: str, must: bool = True) -> bool:
    """Installs tools/requirements-<name>.txt; a stamp keyed on the list makes the next run skip it."""
    start = time.monotonic()
    wanted = (ROOT / "tools" / f"requirements-{name}.txt").read_bytes()
    before = torch_version()
    key = hashlib.sha256(wanted + _running_version().encode()).hexdigest()
    stamp = VENV / f"pantile-{name}.stamp"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == key:
        say("ok", f"Python packages ({name}): all are there", time.monotonic() - start)
        return True
    constraint = []
    if before is not None:
        CONSTRAINTS.write_text(f"torch=={before}\n", encoding="utf-8")
        constraint = ["--constraint", str(CONSTRAINTS)]
    outcome = run(
        f"pip-{name}",
        f"install Python packages ({name})",
        _pip("--requirement", f"tools/requirements-{name}.txt", *constraint),
        fix=f"check that the package index answers, then: .venv/bin/pip install -r tools/requirements-{name}.txt",
        must=must,
    )
    if torch_version() != before:
        raise StepFailed(
            f"keep torch {before}", f"tools/requirements-{name}.txt pulled torch {torch_version()}; pin what pulled it", outcome.log
        )
    if outcome.passed:
        stamp.write_text(key, encoding="utf-8")
    return outcome.passed


def environment() -> dict:
    """What programs of the environment need to run."""
    return {"VIRTUAL_ENV": str(VENV), "PATH": f"{VENV / 'bin'}{os.pathsep}{os.environ.get('PATH', '')}"}
