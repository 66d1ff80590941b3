"""Formatting: clang-format for C++ (the profile in .clang-format), ruff for Python where it is installed."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Iterator, List

from tree import Finding, files, read

LOCATED = re.compile(r"^(?P<path>[^:]+):(?P<line>\d+):\d+: error: (?P<message>.*)$")


def _changed(root: Path, paths: List[Path], cache_name: str, salt: str):
    """The paths whose text was not seen clean before, and a function that remembers the clean ones."""
    cache_file = root / "build" / "check" / f"{cache_name}.json"
    try:
        clean = set(json.loads(cache_file.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        clean = set()
    keys = {path: hashlib.sha256((salt + str(path.relative_to(root)) + read(path)).encode()).hexdigest() for path in paths}

    def remember(bad: set) -> None:
        cache_file.parent.mkdir(parents=True, exist_ok=True)
        cache_file.write_text(json.dumps(sorted(key for path, key in keys.items() if path not in bad)), encoding="utf-8")

    return [path for path in paths if keys[path] not in clean], remember


def check_cpp(root: Path) -> Iterator[Finding]:
    """C++ files that clang-format would change."""
    program = shutil.which("clang-format")
    if program is None:
        yield Finding(root / ".clang-format", 0, "clang-format is not installed (apt-get install clang-format)")
        return
    profile = root / ".clang-format"
    stale, remember = _changed(root, files(root, (".h", ".cpp", ".cu", ".cuh")), "format", read(profile) if profile.exists() else "")
    bad = set()
    for at in range(0, len(stale), 40):
        result = subprocess.run([program, "--dry-run", "--Werror", *map(str, stale[at : at + 40])], capture_output=True, text=True, check=False)
        for line in result.stderr.splitlines():
            match = LOCATED.match(line)
            if match and Path(match["path"]) not in bad:
                bad.add(Path(match["path"]))
                yield Finding(Path(match["path"]), int(match["line"]), "not formatted: clang-format -i puts it right")
    remember(bad)


def check_python(root: Path) -> Iterator[Finding]:
    """Python files with an unused import or name, or an undefined name (ruff's F rules), where ruff is installed."""
    program = shutil.which("ruff") or next((str(path) for path in [root / ".venv" / "bin" / "ruff"] if os.access(path, os.X_OK)), None)
    if program is None:
        return
    paths = files(root, (".py",))
    if not paths:
        return
    command = [program, "check", "--quiet", "--no-cache", "--isolated", "--select", "F", "--output-format", "json", *map(str, paths)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    for entry in json.loads(result.stdout or "[]"):
        yield Finding(Path(entry["filename"]), entry["location"]["row"], f"{entry['code']}: {entry['message']}")
