"""What every check works on: the files of the project, and findings."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Iterable, List, Tuple


@dataclass(frozen=True)
class Finding:
    """One thing that a check has to say about one line (0: the whole file)."""

    path: Path
    line: int
    message: str
    warning: bool = False

    def text(self, root: Path) -> str:
        """`path:line: message`, clickable in editors."""
        path = self.path.relative_to(root) if self.path.is_absolute() else self.path
        return f"{path}:{self.line}: {'warning: ' if self.warning else ''}{self.message}"


@lru_cache(maxsize=None)
def project_files(root: Path) -> Tuple[Path, ...]:
    """Tracked and new files that git does not ignore; every file where there is no git."""
    listed = subprocess.run(
        ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True, check=False
    )
    if listed.returncode == 0 and listed.stdout:
        names = listed.stdout.decode().split("\0")
        return tuple(sorted(root / name for name in set(names) if name and (root / name).is_file()))
    return tuple(sorted(path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts))


def files(root: Path, suffixes: Iterable[str], under: Iterable[str] = ("",)) -> List[Path]:
    """Project files with one of the suffixes below one of the folders."""
    suffixes, roots = tuple(suffixes), [root / folder for folder in under]
    return [path for path in project_files(root) if path.name.endswith(suffixes) and any(top == root or top in path.parents for top in roots)]


@lru_cache(maxsize=None)
def read(path: Path) -> str:
    """The text of a file; bytes that are no UTF-8 are replaced."""
    return path.read_text(encoding="utf-8", errors="replace")
