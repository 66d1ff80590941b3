"""The include ladder: a module includes only what stands below it, and siblings never include each other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Dict, FrozenSet, Iterator, Optional

from tree import Finding, files, read

# Direct steps of the ladder; what is below is the closure of these.
STEPS = {
    "core": (),
    "io": ("core",),
    "simt": ("core",),
    "pgas": ("core",),
    "graph": ("core", "io"),
    "sparse": ("graph", "simt"),
    "nn": ("sparse",),
    "fullgraph": ("nn", "pgas"),
    "embedding": ("io", "pgas", "simt"),
    "zk": ("core", "io"),
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')
# Public headers promise no framework and no instruction set.
BARRED_IN_PUBLIC = re.compile(r"^(immintrin\.h|x86intrin\.h|arm_neon\.h|cuda.*|torch/.*|ATen/.*|hwy/.*|nlohmann/json\.hpp|CLI/.*|fmt/.*|Python\.h|nanobind/.*)$")


def below() -> Dict[str, FrozenSet[str]]:
    """For each module everything that it may include."""

    def closure(module: str) -> FrozenSet[str]:
        return frozenset(STEPS[module]).union(*(closure(step) for step in STEPS[module]))

    return {module: closure(module) for module in STEPS}


def module_of(path: Path, root: Path) -> Optional[str]:
    """The module whose code a file is, or None for code that stands above the ladder."""
    parts = path.relative_to(root).parts
    if parts[:2] == ("include", "pantile") and len(parts) > 3:
        return parts[2]
    return parts[1] if parts[0] == "src" and len(parts) > 2 else None


def included_module(target: str) -> Optional[str]:
    """The module that an include names: <pantile/graph/graph.h> and "graph/detail.h" both name graph."""
    parts = target.split("/")
    if parts[0] == "pantile" and len(parts) > 2:
        return parts[1]
    return parts[0] if len(parts) > 1 and parts[0] in STEPS else None


def check(root: Path) -> Iterator[Finding]:
    """Includes that climb, reach sideways, or bring an implementation detail into a public header."""
    allowed = below()
    for path in files(root, (".h", ".cpp", ".cuh", ".cu"), ("include", "src", "cli")):
        module, public = module_of(path, root), "include" in path.relative_to(root).parts[:1]
        if module is not None and module not in STEPS:
            yield Finding(path, 0, f"module {module} is not on the ladder; add it to tools/check/ladder.py and docs/architecture.md")
            continue
        for number, line in enumerate(read(path).splitlines(), 1):
            match = INCLUDE.match(line)
            if match is None:
                continue
            target = match.group(1)
            other = included_module(target)
            if module and other and other != module and other not in allowed[module]:
                yield Finding(path, number, f"{module} includes {target}: {other} does not stand below it ({', '.join(sorted(allowed[module])) or 'nothing'} does)")
            if public and BARRED_IN_PUBLIC.match(target):
                yield Finding(path, number, f"a public header includes {target}: keep it in src/")
            if target.startswith("CLI/") and path != root / "cli" / "main.cpp":
                yield Finding(path, number, "only cli/main.cpp includes CLI11")
            if public and other is None and match.group(0).rstrip().endswith('"'):
                yield Finding(path, number, f'"{target}" is not installed with the headers; include public headers as <pantile/...>')
