"""Header self-sufficiency: every header compiles by itself. Results are cached by the text of the header and all it includes of ours."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Dict, Iterator, List, Tuple

from tree import Finding, files, read

FLAGS = ["-std=c++20", "-fsyntax-only", "-x", "c++", "-Wall", "-Wextra", "-DFMT_HEADER_ONLY"]
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def _key(path: Path, root: Path, known: Dict[Path, str]) -> str:
    """A hash over the header and everything of ours that it includes."""
    if path in known:
        return known[path]
    known[path] = ""
    text = read(path)
    digest = hashlib.sha256(text.encode())
    for target in INCLUDE.findall(text):
        for candidate in (root / "include" / target, root / "src" / target, path.parent / target, root / target):
            if candidate.is_file():
                digest.update(_key(candidate, root, known).encode())
                break
    known[path] = digest.hexdigest()
    return known[path]


def _compile(compiler: str, path: Path, root: Path) -> Tuple[Path, str]:
    command = [compiler, *FLAGS, f"-I{root / 'include'}", f"-I{root / 'src'}", f"-I{root}", f"-I{root / 'tests'}", "-"]
    result = subprocess.run(command, input=f'#include "{path}"\n', capture_output=True, text=True, check=False)
    return path, "" if result.returncode == 0 else result.stderr


def check(root: Path) -> Iterator[Finding]:
    """Headers that do not compile alone, with the compiler's first error. `-inl.h` files are Highway's: included many times, by design."""
    compiler = os.environ.get("CXX") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        yield Finding(root / "tools", 0, "no C++ compiler found for the header check")
        return
    cache_file = root / "build" / "check" / "headers.json"
    try:
        cache = json.loads(cache_file.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        cache = {}
    known: Dict[Path, str] = {}
    headers = [path for path in files(root, (".h",), ("include", "src", "cli")) if not path.name.endswith("-inl.h")]
    keys = {path: _key(path, root, known) + compiler for path in headers}
    stale: List[Path] = [path for path in headers if cache.get(str(path.relative_to(root))) != keys[path]]
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as executor:
        for path, error in executor.map(lambda header: _compile(compiler, header, root), stale):
            name = str(path.relative_to(root))
            if not error:
                cache[name] = keys[path]
                continue
            cache.pop(name, None)
            first = next((line for line in error.splitlines() if "error" in line or "warning" in line), error.splitlines()[0])
            yield Finding(path, 0, f"does not compile by itself: {first}")
    cache_file.parent.mkdir(parents=True, exist_ok=True)
    cache_file.write_text(json.dumps(cache, indent=0, sort_keys=True), encoding="utf-8")
