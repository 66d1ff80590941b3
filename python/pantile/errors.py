"""Exceptions. Each is a pantile.Error and also the built-in class that callers already catch."""

from __future__ import annotations


class Error(Exception):
    """Anything that Pantile refuses or fails at. `code` is a stable word; `details` holds the values that matter."""

    code: str = "internal"
    details: dict[str, str]

    def __init__(self, message: str, details: dict[str, str] | None = None) -> None:
        super().__init__(message)
        self.details = dict(details or {})


class InvalidArgument(Error, ValueError):
    """A value, shape or option that is not allowed."""

    code = "invalid_argument"


class OutOfRange(Error, IndexError):
    """An index outside its table."""

    code = "out_of_range"


class Corrupt(Error, ValueError):
    """A file or buffer that does not follow its format."""

    code = "corrupt"


class IoError(Error, OSError):
    """The operating system refused a file operation."""

    code = "io"


class OutOfMemory(Error, MemoryError):
    """The work does not fit in memory."""

    code = "out_of_memory"


class Unsupported(Error, RuntimeError):
    """Legal, but not done by this build or machine."""

    code = "unsupported"


class Internal(Error, RuntimeError):
    """A broken promise of Pantile itself; please report it."""

    code = "internal"


_CLASSES: dict[str, type[Error]] = {
    c.code: c for c in (InvalidArgument, OutOfRange, Corrupt, IoError, OutOfMemory, Unsupported, Internal)
}


def make(code: str, message: str, details: dict[str, str]) -> Error:
    """The exception for an error of the core."""
    return _CLASSES.get(code, Internal)(message, details)
