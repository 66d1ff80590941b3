"""The test suite: which runners there are, and how each is built, run and counted."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Callable, List, Optional, Sequence

import build
import debian
import environment
from build import RELEASE, compile_targets, configure, program_environment
from step import BUILD, ROOT, StepFailed, explain, run, side_by_side
from tally import Tally

REPORTS = BUILD / "report"
FIX = "read the log; one test alone: build/release/tests/pantile_<module>_tests --gtest_filter=NAME, .venv/bin/pytest -k NAME"
FUZZ_SECONDS = 5
# What runs threads against each other, for ThreadSanitizer; everything else is the same code on one thread.
THREAD_TESTS = ("core", "graph", "sparse")
THREAD_FILTER = "*Thread*:*Concurrent*:*Pool*:*Parallel*:*Deterministic*:*Bitwise*"
SANITIZER_ENVIRONMENT = {
    "ASAN_OPTIONS": "detect_leaks=1:strict_string_checks=1:detect_stack_use_after_return=1:allocator_may_return_null=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1:die_after_fork=0",
    "OPENBLAS_NUM_THREADS": "1",
}


def setup() -> None:
    """Packages, environment and the release build of everything; Python packages arrive while the C++ compiles."""
    debian.ensure(debian.BUILD + debian.DEMO + debian.TEST)

    def python_side() -> None:
        environment.ensure_venv()
        environment.ensure_torch()
        environment.ensure_requirements("build")
        environment.ensure_requirements("test")

    side_by_side(python_side, lambda: build.release("library, program and C++ tests", tests=True))
    build.python_package()


def without_random_addresses() -> List[str]:
    """A prefix that runs a program at fixed addresses, where the system allows it: ThreadSanitizer of older compilers needs that
    on kernels that randomise more bits than it expects."""
    prefix = ["setarch", platform.machine(), "-R"]
    works = shutil.which("setarch") and subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode == 0
    return prefix if works else []


def gtest(
    tally: Tally,
    folder: Path,
    label: str,
    modules: Optional[Sequence[str]] = None,
    only: str = "",
    env: Optional[dict] = None,
    prefix: Sequence[str] = (),
) -> None:
    """Runs pantile_<module>_tests of a tree and counts their tests."""
    programs = sorted((folder / "tests").glob("pantile_*_tests"))
    REPORTS.mkdir(parents=True, exist_ok=True)
    for program in programs:
        module = program.name[len("pantile_") : -len("_tests")]
        if modules is not None and module not in modules:
            continue
        report = REPORTS / f"{folder.name}-{module}.json"
        report.unlink(missing_ok=True)
        command = [*prefix, program, f"--gtest_output=json:{report}", "--gtest_brief=1"] + ([f"--gtest_filter={only}"] if only else [])
        outcome = run(f"test-{folder.name}-{module}", f"{label}: {module}", command, fix=FIX, must=False, timeout=900, env=env)
        tally.add_gtest(f"{label}: {module}", report, outcome)


def pytest(tally: Tally, label: str, folders: Sequence[str], *arguments: str) -> None:
    """Runs pytest over folders and counts its tests."""
    name = label.replace(" ", "-")
    report = REPORTS / f"pytest-{name}.xml"
    report.unlink(missing_ok=True)
    present = [folder for folder in folders if (ROOT / folder).is_dir()]
    command = [environment.PYTHON, "-m", "pytest", "-q", "--durations=15", f"--junitxml={report}", *present, *arguments]
    outcome = run(f"pytest-{name}", label, command, fix=FIX, must=False, timeout=1500, env=program_environment())
    tally.add_junit(label, report, outcome)


def consumer(tally: Tally) -> None:
    """Installs into a scratch prefix, then builds and runs tests/consumer against it with find_package and pkg-config."""
    prefix = BUILD / "consumer" / "prefix"
    shutil.rmtree(BUILD / "consumer", ignore_errors=True)
    script = ROOT / "tests" / "consumer" / "run.sh"
    outcome = run("consumer", "installed package: find_package and pkg-config", ["bash", script, RELEASE, prefix, BUILD / "consumer"], fix=FIX, must=False)
    tally.add_one("installed package", outcome)


def examples(tally: Tally) -> None:
    """Every program of examples/ runs and ends with 0."""
    for program in sorted((RELEASE / "examples").glob("example_*")):
        if os.access(program, os.X_OK) and program.is_file():
            tally.add_one(program.name, run(program.name, f"example: {program.name}", [program], fix=FIX, must=False, timeout=120))
    for script in sorted((ROOT / "examples").glob("*.py")):
        name = f"example_{script.stem}.py"
        command = [environment.PYTHON, script]
        tally.add_one(name, run(name, f"example: {script.name}", command, fix=FIX, must=False, timeout=300, env=program_environment()))
    for script in sorted((ROOT / "examples").glob("*.sh")):
        name = f"example_{script.stem}.sh"
        tally.add_one(name, run(name, f"example: {script.name}", ["bash", script], fix=FIX, must=False, timeout=300, env=program_environment()))


def house(tally: Tally) -> None:
    """The house checks, one count each."""
    report = REPORTS / "check.json"
    report.unlink(missing_ok=True)
    command = [sys.executable, "-B", "tools/check", "--report", report]
    outcome = run("check", "house checks", command, fix="python3 tools/check prints what to change", must=False)
    faults = json.loads(report.read_text(encoding="utf-8")) if report.exists() else {}
    failed = sum(count > 0 for count in faults.values())
    tally.add("house checks", len(faults) - failed, failed, outcome)


def address_sanitizer(tally: Tally) -> None:
    """All C++ tests under AddressSanitizer and UndefinedBehaviorSanitizer."""
    tree = configure("asan", "ASan and UBSan")
    compile_targets(tree, "C++ tests with ASan and UBSan")
    gtest(tally, tree, "ASan and UBSan", env=SANITIZER_ENVIRONMENT)


def thread_sanitizer(tally: Tally, everything: bool = False) -> None:
    """The tests that run threads against each other under ThreadSanitizer; everything: all tests."""
    tree = configure("tsan", "TSan")
    present = [module for module in THREAD_TESTS if any((ROOT / "tests" / module).glob("*.cpp"))]
    compile_targets(tree, "C++ tests with TSan", () if everything else [f"pantile_{module}_tests" for module in present])
    gtest(tally, tree, "TSan", None if everything else present, "" if everything else THREAD_FILTER, SANITIZER_ENVIRONMENT, without_random_addresses())


def fuzz(tally: Tally, seconds: int = FUZZ_SECONDS) -> None:
    """Each libFuzzer target for a short while; a crash, a leak or a hang is a failure and its input stays in build/fuzz."""
    if shutil.which("clang++") is None:
        raise StepFailed("find clang++", "install clang and libclang-rt-dev", code=3)
    tree = configure("fuzz", "fuzz targets")
    names = sorted(f"pantile_fuzz_{source.stem}" for source in (ROOT / "tests" / "fuzz").glob("*.cpp"))
    compile_targets(tree, "fuzz targets", names)
    for target in (tree / "tests" / "fuzz" / name for name in names):
        corpus = BUILD / "fuzz" / "corpus" / target.name
        corpus.mkdir(parents=True, exist_ok=True)
        command = [target, f"-max_total_time={seconds}", "-timeout=10", "-rss_limit_mb=2048", "-max_len=65536", "-verbosity=0"]
        command += [f"-artifact_prefix={corpus.parent}/{target.name}-", corpus]
        outcome = run(target.name, f"fuzz {target.name} for {seconds} s", command, fix=FIX, must=False, timeout=seconds + 60)
        tally.add_one(target.name, outcome)


def documentation(tally: Tally) -> None:
    """The documentation site builds without a warning."""
    if environment.ensure_requirements("docs", must=False):
        tally.add_one("docs", run("docs", "documentation site", [environment.PYTHON, "-m", "mkdocs", "build", "--strict"], fix=FIX, must=False))


def guarded(tally: Tally, part: Callable[[], None], what: str) -> None:
    """A part of the suite that cannot be set up counts as one failure; the parts after it still run."""
    try:
        part()
    except StepFailed as failure:
        explain(failure)
        tally.add(f"{what}: {failure.name}", 0, 1)


def run_all(ci: bool, long: bool) -> int:
    """The whole suite. ci adds fuzzing (under sanitizers) and the documentation; long adds every test under sanitizers and widens the rest."""
    setup()
    tally = Tally()
    house(tally)
    gtest(tally, RELEASE, "C++")
    pytest(tally, "Python", ["tests/python"])
    pytest(tally, "command line", ["tests/cli"])
    pytest(tally, "house", ["tools/tests"])
    examples(tally)
    consumer(tally)
    if long:
        guarded(tally, lambda: address_sanitizer(tally), "ASan and UBSan")
        guarded(tally, lambda: thread_sanitizer(tally, everything=True), "TSan")
    if ci or long:
        guarded(tally, lambda: fuzz(tally, 300 if long else FUZZ_SECONDS), "fuzzing")
        guarded(tally, lambda: documentation(tally), "documentation")
    return tally.close()
