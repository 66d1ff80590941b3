"""Configures and builds with CMake presets. One tree, build/release, holds library, program, tests and Python extension."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Optional, Sequence

from environment import PYTHON, VENV, environment
from step import BUILD, ROOT, run

CONFIGURE_FIX = "read the end of the log; a missing package is named there (see docs/dependencies.md)"
COMPILE_FIX = "read the first error in the log; `./dev clean` and a new build rule out a stale tree"
RELEASE = BUILD / "release"
PROGRAM = RELEASE / "cli" / "pantile"
# Objects are shared between build trees and checkouts of the same text.
CCACHE = {
    "CCACHE_BASEDIR": str(ROOT),
    "CCACHE_NOHASHDIR": "1",
    "CCACHE_SLOPPINESS": "pch_defines,time_macros",
}


def jobs() -> str:
    """Compile jobs: the CPUs that this process may use."""
    return str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def configure(preset: str, what: str, *definitions: str, env: Optional[dict] = None) -> Path:
    """Configures build/<preset> unless that was done with the same options; returns the tree."""
    folder = BUILD / preset
    command = ["cmake", "--preset", preset, *(f"-D{definition}" for definition in definitions)]
    stamp = folder / "pantile-configure.txt"
    key = " ".join(command)
    if not (folder / "build.ninja").exists() or not stamp.exists() or stamp.read_text(encoding="utf-8") != key:
        run(f"configure-{preset}", f"configure {what}", command, fix=CONFIGURE_FIX, env=env)
        stamp.write_text(key, encoding="utf-8")
    return folder


def compile_targets(folder: Path, what: str, targets: Sequence[str] = (), env: Optional[dict] = None) -> None:
    """Builds the targets (default: all) of a configured tree."""
    command = ["cmake", "--build", folder, "--parallel", jobs()]
    if targets:
        command += ["--target", *targets]
    name = "-".join(["build", folder.name, *targets[:1]])
    run(name, f"build {what}", command, fix=COMPILE_FIX, env={**CCACHE, **(env or {})})


def _cached(option: str) -> bool:
    cache = RELEASE / "CMakeCache.txt"
    return cache.exists() and re.search(rf"^{option}:\w+=ON$", cache.read_text(encoding="utf-8"), re.MULTILINE) is not None


def release(what: str, targets: Sequence[str] = (), tests: bool = False, python: bool = False) -> None:
    """Builds in build/release. An option that an earlier job turned on stays on, so that jobs do not undo each other's work."""
    options = {"PANTILE_BUILD_TESTS": tests, "PANTILE_BUILD_EXAMPLES": tests, "PANTILE_BUILD_PYTHON": python}
    definitions = [f"{option}={'ON' if wanted or _cached(option) else 'OFF'}" for option, wanted in options.items()]
    if python or _cached("PANTILE_BUILD_PYTHON"):
        definitions.append(f"Python_EXECUTABLE={PYTHON}")
    compile_targets(configure("release", what, *definitions), what, targets)


def python_package() -> None:
    """The extension module (written into python/pantile), and python/ on the environment's path."""
    release("the Python extension", ["pantile_python"], python=True)
    site = next((VENV / "lib").glob("python3.*/site-packages"))
    (site / "pantile-development.pth").write_text(f"{ROOT / 'python'}\n", encoding="utf-8")


def program_environment() -> dict:
    """The environment in which tests, examples and the demo run: .venv first, the built program on the path."""
    env = environment()
    env["PATH"] = f"{PROGRAM.parent}{os.pathsep}{env['PATH']}"
    env["PANTILE_CLI"] = env["PANTILE_PROGRAM"] = str(PROGRAM)
    return env
