"""What a finished change does not leave behind: open marks, paths of one machine, prints in the library, dead code, skipped tests."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Iterator

from tree import Finding, files, read

CODE = (".h", ".cpp", ".cu", ".cuh", ".py", ".pyi", ".sh", ".cmake", "CMakeLists.txt", ".toml", ".yml", ".json", ".md", "dev", "run")
OPEN_MARK = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
MACHINE_PATH = re.compile(r"(?<![\w.$}~*/-])/(root|home|Users|work|workspace|mnt|private)/\w")
DEAD_CODE = re.compile(r"^\s*#\s*if\s+0\b")
CPP_PRINT = re.compile(r"\bstd::(cout|cerr|clog)\b|(?<![\w:])(?:std::)?(printf|puts|putchar|perror)\s*\(|\bfprintf\s*\(\s*std(out|err)")
CPP_END = re.compile(r"(?<![\w:.])(?:std::)?(exit|abort|_Exit|quick_exit|terminate)\s*\(|(?<!\w)throw\b(?!\s+std::bad_alloc\b)")
PYTHON_PRINT = re.compile(r"(?<![\w.])print\s*\(")
SKIPPED_TEST = re.compile(r"\b(GTEST_SKIP|DISABLED_\w+)|pytest\.mark\.(skip|xfail)\b|pytest\.(skip|xfail)\(|unittest\.skip")
# Where the pattern is the purpose: what shows progress on stderr, what aborts on a broken promise, programs.
MAY_PRINT = ("src/core/progress.cpp", "include/pantile/core/assert.h", "python/pantile/__main__.py", "python/pantile/cli.py")
BLOB_BYTES = 1_000_000
LONG_FILE = 350


def _without_strings(line: str) -> str:
    """The line without its literals and `//` comment, so that text about a thing is not the thing."""
    line = re.sub(r'"(?:\\.|[^"\\])*"', '""', line)
    return re.sub(r"//.*|^\s*\*.*", "", line)


def check(root: Path) -> Iterator[Finding]:
    """Leftovers, line by line."""
    own = root / "tools"
    for path in files(root, CODE):
        if own / "check" in path.parents or own / "tests" in path.parents:
            continue
        name = str(path.relative_to(root))
        library = name.startswith(("src/", "include/")) and name not in MAY_PRINT
        package = name.startswith("python/pantile/") and name not in MAY_PRINT
        for number, line in enumerate(read(path).splitlines(), 1):
            if OPEN_MARK.search(line):
                yield Finding(path, number, "an open mark: finish it, or write it down as an issue")
            if MACHINE_PATH.search(line):
                yield Finding(path, number, "a path of one machine")
            if DEAD_CODE.match(line):
                yield Finding(path, number, "dead code under #if 0")
            if SKIPPED_TEST.search(line):
                yield Finding(path, number, "a test that may not run")
            if library:
                code = _without_strings(line)
                if CPP_PRINT.search(code):
                    yield Finding(path, number, "the library never prints")
                if CPP_END.search(code):
                    yield Finding(path, number, "the library never throws, exits or aborts: return an Error")
            if package and path.suffix == ".py" and PYTHON_PRINT.search(re.sub(r'"(?:\\.|[^"\\])*"|#.*', "", line)):
                yield Finding(path, number, "the package never prints")


def check_sizes(root: Path) -> Iterator[Finding]:
    """Large blobs are faults, long files a place to look."""
    for path in files(root, ("",)):
        if path.stat().st_size > BLOB_BYTES:
            yield Finding(path, 0, f"{path.stat().st_size / 1e6:.1f} MB in the repository: does a user need it?")
        elif path.suffix in (".h", ".cpp", ".cu", ".cuh", ".py"):
            lines = read(path).count("\n")
            if lines > LONG_FILE:
                yield Finding(path, 0, f"{lines} lines: a place to look, not a verdict", warning=True)
