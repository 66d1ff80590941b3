"""segment_reduce needs no graph: an operator of its own."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import kernels


@torch.library.custom_op(
    "pantile::segment_reduce", mutates_args=(), schema="(Tensor x, Tensor ptr, str reduce) -> Tensor"
)
def segment_reduce(x: Tensor, ptr: Tensor, reduce: str) -> Tensor:
    """Reduction over x[ptr[i]:ptr[i + 1]]; sum, mean, min, max or softmax, differentiable."""
    return kernels.segment_reduce(x, ptr, reduce)


@segment_reduce.register_fake
def _(x: Tensor, ptr: Tensor, reduce: str) -> Tensor:
    return x.new_empty((ptr.shape[0] - 1, x.shape[1]))


def _save(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
    x, ptr, reduce = inputs
    ctx.reduce, ctx.rows = reduce, x.shape[0]
    ctx.save_for_backward(ptr, *((x, output) if reduce in ("min", "max") else ()))


def _segment_of(ptr: Tensor, rows: int) -> tuple[Tensor, Tensor]:
    """(segment of each row, whether the row lies in any)."""
    position = torch.arange(rows)
    segment = torch.searchsorted(ptr, position, right=True) - 1
    inside = (segment >= 0) & (segment < ptr.shape[0] - 1)
    return segment.clamp(0, max(ptr.shape[0] - 2, 0)), inside


def _backward(ctx: Any, dy: Tensor) -> tuple[Tensor | None, ...]:
    ptr, *kept = ctx.saved_tensors
    segment, inside = _segment_of(ptr, ctx.rows)
    if ptr.shape[0] == 1:
        return dy.new_zeros((ctx.rows, dy.shape[1])), None, None
    if ctx.reduce == "mean":
        dy = dy / (ptr[1:] - ptr[:-1]).clamp(min=1).to(dy.dtype).unsqueeze(1)
    dx = dy[segment] * inside.to(dy.dtype).unsqueeze(1)
    if kept:
        # One winner, the first, as everywhere: rows equal to the result, reduced to the smallest position.
        x, y = kept
        best = y[segment]
        wins = ((x == best) | (x.isnan() & best.isnan())) & inside.unsqueeze(1)
        position = torch.where(wins, torch.arange(ctx.rows).unsqueeze(1), ctx.rows)
        first = torch.full(y.shape, ctx.rows).scatter_reduce(
            0, segment.unsqueeze(1).expand_as(position), position, "amin"
        )
        dx = dx * (position == first[segment]).to(dx.dtype) * wins.to(dx.dtype)
    return dx, None, None


segment_reduce.register_autograd(_backward, setup_context=_save)
