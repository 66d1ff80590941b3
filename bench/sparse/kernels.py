"""Pantile's kernels with preallocated outputs, for shares of a bound: no allocation and no Python in the time."""

from __future__ import annotations

from collections.abc import Callable

import torch

from pantile import _core
from pantile.operands import ACTIVATIONS, EDGE_OPS, F32, NORMS, REDUCE, TARGETS
from pantile.torch.kernels import operand


def spmm(g, x: torch.Tensor, w: torch.Tensor | None, out: torch.Tensor, threads: int = 1) -> Callable:
    """Sum; w in CSR order, which is the caller's for a graph that came in sorted."""
    values = None if w is None else operand(w.view(-1, 1))
    features, result = operand(x), operand(out)
    return lambda: _core.spmm(g._core, False, REDUCE["sum"], features, values, result, threads)


def roofline(g, x: torch.Tensor) -> Callable:
    """The gather roofline: the same index stream, loads and adds only."""
    features = operand(x)
    return lambda: _core.gather_roofline(g._core, features, 1)


def sddmm_dot(g, u: torch.Tensor, x: torch.Tensor, out: torch.Tensor) -> Callable:
    """One dot product per edge."""
    left, right, result = operand(u), operand(x), operand(out)
    return lambda: _core.sddmm(g._core, EDGE_OPS["dot"], TARGETS["dst"], left, TARGETS["src"], right, 1, result, 1)


def gcn(g, x: torch.Tensor, bias: torch.Tensor, out: torch.Tensor) -> Callable:
    """A GCN layer after the projection: normalisation, self-loops, bias, ReLU. Coefficients are made once."""
    made = _core.gcn_coefficients(g._core, NORMS["pyg"], 1.0, None, F32, 1)
    features, result = operand(x), operand(out)
    return lambda: _core.gcn(g._core, False, made, features, bias.data_ptr(), ACTIVATIONS["relu"], 0.01, result, 1)


def plan(g) -> dict:
    """Makes the schedule of the graph."""
    return _core.plan_summary(g._core)
