"""`./dev bench`: the rivals are installed once, then the benchmark runs with its progress on the screen."""

from __future__ import annotations

import os
import subprocess
from typing import Optional

import build
import debian
import environment
from step import ROOT, StepFailed, run, say


def setup() -> None:
    """Everything that a benchmark compares with. dgl is tried without its dependencies: it may not pull another torch."""
    debian.ensure(debian.BUILD)
    environment.ensure_venv()
    environment.ensure_torch()
    environment.ensure_requirements("build")
    environment.ensure_requirements("bench")
    before = environment.torch_version()
    tried = environment.VENV / "pantile-dgl.stamp"
    if not tried.exists():
        command = [environment.PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "--no-deps", "dgl"]
        fix = "the benchmark goes on without dgl and records why"
        outcome = run("pip-dgl", "install dgl beside this torch", command, fix=fix, must=False, quiet_failure=True)
        tried.write_text("there\n" if outcome.passed else "unavailable\n", encoding="utf-8")
    if environment.torch_version() != before:
        raise StepFailed(f"keep torch {before}", "remove .venv and report which rival replaced torch")


def run_bench(module: str, quick: bool, json_file: Optional[str]) -> int:
    """Runs bench/<module>/run.py; its result is on stdout, its progress on stderr."""
    program = ROOT / "bench" / module / "run.py"
    if not program.exists():
        known = ", ".join(sorted(path.parent.name for path in (ROOT / "bench").glob("*/run.py")))
        raise StepFailed(f"bench {module}", f"there is no benchmark of that name; there are: {known}", code=2)
    setup()
    build.python_package()
    command = [str(environment.PYTHON), str(program)]
    command += ["--quick"] if quick else []
    command += ["--json", json_file] if json_file else []
    say("run", f"{module} benchmark; a quiet machine gives better numbers")
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **build.program_environment()}, check=False).returncode

