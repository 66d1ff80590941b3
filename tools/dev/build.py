"""Configures and builds with CMake presets; the Python extension is built in the same tree and seen by .venv through a .pth file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Sequence

from environment import PYTHON, VENV, environment
from step import BUILD, ROOT, run

CONFIGURE_FIX = "read the end of the log; a missing package is named there (see docs/dependencies.md)"
COMPILE_FIX = "read the first error in the log; `./dev clean` and a new build rule out a stale tree"


def jobs() -> str:
    """Compile jobs: the CPUs that this process may use."""
    return str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def cmake(preset: str, what: str, *definitions: str, targets: Sequence[str] = (), tree: str = "", env: dict | None = None) -> Path:
    """Configures build/<tree or preset> when its options changed, builds the targets (default: all); returns the tree."""
    name = tree or preset
    folder = BUILD / name
    command = ["cmake", "--preset", preset, "-B", str(folder), *(f"-D{definition}" for definition in definitions)]
    stamp = folder / "pantile-configure.txt"
    key = " ".join(command) + repr(sorted((env or {}).items()))
    if not (folder / "build.ninja").exists() or not stamp.exists() or stamp.read_text(encoding="utf-8") != key:
        run(f"configure-{name}", f"configure {what}", command, fix=CONFIGURE_FIX, env=env)
        stamp.write_text(key, encoding="utf-8")
    build = ["cmake", "--build", str(folder), "--parallel", jobs()]
    if targets:
        build += ["--target", *targets]
    run(f"build-{name}", f"build {what}", build, fix=COMPILE_FIX, env=env)
    return folder


def library_and_program(tests: bool) -> Path:
    """The release build that everything runs: library, program and, when asked, the C++ tests."""
    what = "library, program and C++ tests" if tests else "library and program"
    return cmake("release", what, f"PANTILE_BUILD_TESTS={'ON' if tests else 'OFF'}", "PANTILE_BUILD_PYTHON=OFF")


def python_package() -> None:
    """The extension module, compiled against .venv's Python, and python/ on the environment's path."""
    cmake(
        "release",
        "Python extension",
        "PANTILE_BUILD_TESTS=OFF",
        "PANTILE_BUILD_CLI=OFF",
        "PANTILE_BUILD_PYTHON=ON",
        f"Python_EXECUTABLE={PYTHON}",
        tree="python",
        env=environment(),
    )
    site = next((VENV / "lib").glob("python3.*/site-packages"))
    (site / "pantile-development.pth").write_text(f"{ROOT / 'python'}\n", encoding="utf-8")
