"""`python -m pantile` starts the C++ program that the wheel carries."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def program() -> str | None:
    """PANTILE_PROGRAM, else the program inside the package."""
    inside = Path(__file__).parent / "bin" / "pantile"
    return os.environ.get("PANTILE_PROGRAM") or (str(inside) if inside.exists() else None)


def main() -> int:
    """Starts the program with this process's arguments; returns its exit code."""
    path = program()
    if path is None:
        print(
            "pantile: this package was built without the command-line program; build it with\n"
            "  cmake -B build/cli -DPANTILE_BUILD_CLI=ON && cmake --build build/cli\n"
            "and set PANTILE_PROGRAM to its path",
            file=sys.stderr,
        )
        return 3
    try:
        os.execv(path, [path, *sys.argv[1:]])
    except OSError as error:
        print(f"pantile: cannot start {path}: {error.strerror}", file=sys.stderr)
        return 3


if __name__ == "__main__":
    sys.exit(main())
