"""Header self-sufficiency: every header compiles by itself.

A header that some source file includes before anything else is proven by every build, and so is what such a header includes first; the
others are compiled here. Results are cached by the text of the header and all it includes of ours."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Dict, Iterator, List, Optional, Set, Tuple

from tree import Finding, files, read

FLAGS = ["-std=c++20", "-fsyntax-only", "-x", "c++", "-Wall", "-Wextra", "-DFMT_HEADER_ONLY"]
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def _resolve(target: str, path: Path, root: Path) -> Optional[Path]:
    """The file of ours that an include in `path` names, or None."""
    candidates = (root / "include" / target, root / "src" / target, path.parent / target, root / target)
    return next((candidate for candidate in candidates if candidate.is_file()), None)


def proven_by_the_build(root: Path) -> Set[Path]:
    """Headers that come first in a translation unit."""
    proven: Set[Path] = set()
    for source in files(root, (".cpp",), ("src", "cli", "tests", "examples")):
        path = source
        while True:
            first = INCLUDE.search(read(path))
            header = _resolve(first.group(1), path, root) if first else None
            if header is None or header in proven:
                break
            proven.add(header)
            path = header
    return proven


def _key(path: Path, root: Path, known: Dict[Path, str]) -> str:
    """A hash over the header and everything of ours that it includes."""
    if path in known:
        return known[path]
    known[path] = ""
    text = read(path)
    digest = hashlib.sha256(text.encode())
    for target in INCLUDE.findall(text):
        ours = _resolve(target, path, root)
        if ours is not None:
            digest.update(_key(ours, root, known).encode())
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
    proven = proven_by_the_build(root)
    headers = [path for path in files(root, (".h",), ("include", "src", "cli")) if not path.name.endswith("-inl.h") and path not in proven]
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
