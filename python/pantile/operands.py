"""Dense operands on their way to the core: (address, dtype code, rows, cols, row stride) of memory that the caller
keeps alive."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import InvalidArgument

Operand = tuple[int, int, int, int, int]

# The numbers of the core's DType.
F64, F32, BF16, F16, I64 = 0, 1, 2, 3, 4
_CODES = {"float64": F64, "float32": F32, "bfloat16": BF16, "float16": F16, "int64": I64}
REDUCE = {"sum": 0, "mean": 1, "min": 2, "max": 3}
EDGE_OPS = {"dot": 0, "add": 1, "sub": 2, "mul": 3, "div": 4, "copy_lhs": 5, "copy_rhs": 6}
TARGETS = {"dst": 0, "src": 1, "edge": 2, "v": 0, "u": 1, "e": 2}
NORMS = {"pyg": 0, "both": 1, "left": 2, "right": 3, "none": 4}
ACTIVATIONS = {"none": 0, "relu": 1, "elu": 2, "leaky_relu": 3}


def choice(table: dict[str, int], value: str, what: str) -> int:
    """The code of an option, or an error that lists what is allowed."""
    try:
        return table[value]
    except (KeyError, TypeError):
        raise InvalidArgument(f"{what} {value!r} is unknown; allowed: {', '.join(table)}") from None


def dtype_code(name: str, what: str) -> int:
    """The code of a dtype's name for the extension."""
    try:
        return _CODES[name]
    except KeyError:
        raise InvalidArgument(
            f"{what} has dtype {name}; allowed: float32, float64, bfloat16, float16 (convert with .astype('float32'))"
        ) from None


def matrix(array: Any, what: str) -> np.ndarray:
    """A 2-D floating array with unit column stride; copies only where the layout needs it (1-D becomes one column)."""
    a = np.asarray(array)
    if a.dtype.kind in "iub":
        raise InvalidArgument(f"{what} has dtype {a.dtype}; features must be floating: convert with .astype('float32')")
    dtype_code(a.dtype.name, what)
    if a.ndim == 1:
        a = a[:, None]
    if a.ndim > 2:
        a = a.reshape(a.shape[0], -1)
    if a.ndim != 2:
        raise InvalidArgument(f"{what} has shape {np.shape(array)}; expected [rows, features]")
    item = a.itemsize
    row, col = a.strides
    if (col != item and a.shape[1] > 1) or (a.shape[0] > 1 and (row < a.shape[1] * item or row % item)):
        a = np.ascontiguousarray(a)
    return a


def operand(a: np.ndarray) -> Operand:
    """The operand of an array that matrix() made."""
    stride = a.strides[0] // a.itemsize if a.shape[0] > 1 else a.shape[1]
    return (a.__array_interface__["data"][0], _CODES[a.dtype.name], a.shape[0], a.shape[1], stride)


def weights(w: Any, features: np.dtype, what: str = "weights") -> np.ndarray:
    """Edge values as the core wants them: dense [edges, heads], float64 beside float64 features, else float32."""
    a = np.asarray(w)
    if a.dtype.kind not in "fiubV" or a.ndim not in (1, 2):
        raise InvalidArgument(
            f"{what} has dtype {a.dtype} and shape {a.shape}; expected floats [edges] or [edges, heads]"
        )
    wanted = np.float64 if features == np.float64 else np.float32
    return np.ascontiguousarray(a if a.ndim == 2 else a[:, None], wanted)
