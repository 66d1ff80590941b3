"""Pantile: irregular machine-learning work on regular hardware. Profile, plan, run, explain.

Torch is optional: `pantile.torch` and `pantile.nn` appear when it is installed.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from . import _core, data, generate, io
from .errors import Corrupt, Error, Internal, InvalidArgument, IoError, OutOfMemory, OutOfRange, Unsupported
from .graph import Graph
from .io import read_graph, write_graph
from .ops import agnn, convert, edge_softmax, gat, gatv2, gcn, sddmm, segment_reduce, spmm, spmm_arg, transformer_attn
from .plans import Plan, explain, machine_peaks, plan

if TYPE_CHECKING:
    from . import nn, torch

__version__: str = _core.__version__

__all__ = [
    "Corrupt",
    "Error",
    "Graph",
    "Internal",
    "InvalidArgument",
    "IoError",
    "OutOfMemory",
    "OutOfRange",
    "Plan",
    "Unsupported",
    "agnn",
    "convert",
    "cpu_info",
    "data",
    "edge_softmax",
    "explain",
    "gat",
    "gatv2",
    "gcn",
    "generate",
    "io",
    "machine_peaks",
    "nn",
    "num_threads",
    "plan",
    "read_graph",
    "sddmm",
    "segment_reduce",
    "set_num_threads",
    "spmm",
    "spmm_arg",
    "torch",
    "transformer_attn",
    "write_graph",
]


def cpu_info() -> dict[str, Any]:
    """CPU model, features, caches, and the instruction set that the kernels chose."""
    return _core.cpu_info()


def num_threads() -> int:
    """Threads that the next call may use."""
    """Threads that calls use now."""
    return _core.num_threads()


def set_num_threads(n: int) -> None:
    """n >= 1 fixes the number of threads for every call; n <= 0 goes back to torch.get_num_threads() or the
    environment."""
    _core.set_num_threads(n)


def __getattr__(name: str) -> Any:
    if name in ("torch", "nn"):
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
