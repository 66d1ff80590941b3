"""The linear operators and their derivatives, closed under differentiation:

spmm's derivatives are spmm on the transpose (features) and sddmm dot (weights); sddmm's are spmm and edge_sum;
edge_sum's is sddmm copy.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from . import kernels
from .primitive import Primitive, Tensors
from .tensors import GraphTensors


def _width(w: Tensor | None) -> int:
    return 1 if w is None or w.dim() == 1 else w.shape[1]


def _other(target: str) -> str:
    return "src" if target == "dst" else "dst"


def degrees(g: GraphTensors, dtype: torch.dtype) -> Tensor:
    """max(in-degree, 1) as a column."""
    return (g.ptr[1:] - g.ptr[:-1]).clamp(min=1).to(dtype).unsqueeze(1)


# -- spmm: sum and mean ----------------------------------------------------------------------------


def _spmm_save(tensors: Any, outputs: Any, attributes: Any) -> tuple[Tensors, Any]:
    x, w = tensors
    return (None if w is None else x, w), x.shape[0]


def _spmm_backward(g: GraphTensors, needs: Any, saved: Any, kept: Any, attributes: Any, gradients: Any) -> Tensors:
    x, w = saved
    reduce, transposed, _ = attributes
    dy = gradients[0]
    if reduce == "mean":
        dy = dy / degrees(g, dy.dtype)
    dx = spmm(g, (dy, w), ("sum", not transposed, kept)) if needs[0] else None
    dw = None
    if needs[1]:
        here = "src" if transposed else "dst"
        dw = sddmm(g, (dy, x), ("dot", here, _other(here), _width(w), True)).to(w.dtype).view(w.shape)
    return dx, dw


spmm = Primitive(
    "spmm",
    "Tensor x, Tensor? w",
    "str reduce, bool transposed, SymInt size",
    1,
    kernels.spmm,
    lambda g, x, w, reduce, transposed, size: x.new_empty((size, x.shape[1])),
    _spmm_save,
    _spmm_backward,
)

# -- spmm: min and max -----------------------------------------------------------------------------


def _spmm_arg_composite(g: GraphTensors, needs: Any, dy: Tensor, x: Tensor, w: Tensor | None, arg: Tensor) -> Tensors:
    """The same gradients from differentiable torch operators."""
    valid = (arg >= 0).to(dy.dtype)
    edge = arg.clamp(min=0)
    number = g.order[edge] if g.order.numel() else edge
    column = g.col.long()[edge]
    dy = dy * valid
    heads = _width(w)
    width = x.shape[1] // max(heads, 1)
    head = (torch.arange(x.shape[1]) // max(width, 1)).expand_as(number)
    weight = None if w is None else w.view(w.shape[0], -1)[number, head]
    dx = dw = None
    if needs[0]:
        dx = torch.zeros_like(x).scatter_add(0, column, dy if weight is None else (dy * weight).to(x.dtype))
    if w is not None and needs[1]:
        zeros = w.new_zeros((w.shape[0], heads))
        dw = zeros.index_put((number, head), (dy * x.gather(0, column)).to(w.dtype), accumulate=True).view(w.shape)
    return dx, dw


def _spmm_arg_backward(g: GraphTensors, needs: Any, saved: Any, kept: Any, attributes: Any, gradients: Any) -> Tensors:
    x, w, arg = saved
    dy = gradients[0]
    if torch.is_grad_enabled() and g.col.shape[0] > 0:
        return _spmm_arg_composite(g, needs, dy, x, w, arg)
    dx, dw = spmm_arg_backward(g, (dy, x, w, arg), attributes)
    return dx if needs[0] else None, dw if w is not None and needs[1] else None


spmm_arg_backward = Primitive(
    "spmm_arg_backward",
    "Tensor dy, Tensor x, Tensor? w, Tensor arg",
    "str reduce",
    2,
    kernels.spmm_arg_backward,
    lambda g, dy, x, w, arg, reduce: (
        torch.empty_like(x, memory_format=torch.contiguous_format),
        x.new_empty((0,)) if w is None else w.new_empty(w.shape),
    ),
)

spmm_arg = Primitive(
    "spmm_arg",
    "Tensor x, Tensor? w",
    "str reduce",
    2,
    kernels.spmm_arg,
    lambda g, x, w, reduce: (
        x.new_empty((g.ptr.shape[0] - 1, x.shape[1])),
        x.new_empty((g.ptr.shape[0] - 1, x.shape[1]), dtype=torch.int64),
    ),
    lambda tensors, outputs, attributes: ((tensors[0], tensors[1], outputs[1]), None),
    _spmm_arg_backward,
)

# -- sddmm -----------------------------------------------------------------------------------------


def on_edges(g: GraphTensors, t: Tensor, target: str) -> Tensor:
    """Node values copied to their edges."""
    return t if target == "edge" else sddmm(g, (t, None), ("copy_lhs", target, "edge", 1, False))


def onto(g: GraphTensors, e: Tensor, target: str, size: int) -> Tensor:
    """Edge values summed into where they came from."""
    return e if target == "edge" else edge_sum(g, (e,), (target == "src", size))


def _spread(t: Tensor, width: int) -> Tensor:
    return t if t.shape[1] == width else t.repeat_interleave(width // t.shape[1], dim=1)


def _gathered(t: Tensor, width: int) -> Tensor:
    """The transpose of _spread: `width` columns out of the wider t."""
    return t if t.shape[1] == width else t.view(t.shape[0], width, -1).sum(2)


def _sddmm_save(tensors: Any, outputs: Any, attributes: Any) -> tuple[Tensors, Any]:
    shapes = tuple(None if t is None else (t.shape[0], t.shape[1], t.dtype) for t in tensors)
    return tensors if attributes[0] in ("dot", "mul", "div") else (None, None), shapes


def _dot_backward(g: GraphTensors, needs: Any, saved: Any, attributes: Any, dy: Tensor) -> Tensors:
    _, lhs_on, rhs_on, _, _ = attributes
    out: list[Tensor | None] = []
    for need, mine, mine_on, theirs, theirs_on in (
        (needs[0], saved[0], lhs_on, saved[1], rhs_on),
        (needs[1], saved[1], rhs_on, saved[0], lhs_on),
    ):
        if not need:
            out.append(None)
        elif {mine_on, theirs_on} == {"dst", "src"}:
            weight = dy.to(kernels.accumulator(theirs.dtype))
            out.append(spmm(g, (theirs, weight), ("sum", mine_on == "src", mine.shape[0])))
        else:
            edge = on_edges(g, theirs, theirs_on) * _spread(dy.to(theirs.dtype), theirs.shape[1])
            out.append(onto(g, edge, mine_on, mine.shape[0]))
    return out


def _sddmm_backward(g: GraphTensors, needs: Any, saved: Any, kept: Any, attributes: Any, gradients: Any) -> Tensors:
    op, lhs_on, rhs_on, _, _ = attributes
    dy = gradients[0]
    if op == "dot":
        return _dot_backward(g, needs, saved, attributes, dy)
    left = right = dy
    if op in ("mul", "div"):
        lhs, rhs = (_spread(on_edges(g, t, on), dy.shape[1]) for t, on in zip(saved, (lhs_on, rhs_on), strict=True))
        left = dy * rhs if op == "mul" else dy / rhs
        right = dy * lhs if op == "mul" else -(dy * lhs) / (rhs * rhs)
    elif op == "sub":
        right = -dy
    dl = dr = None
    if needs[0] and op != "copy_rhs":
        rows, width, dtype = kept[0]
        dl = onto(g, _gathered(left, width).to(dtype), lhs_on, rows)
    if needs[1] and op != "copy_lhs":
        rows, width, dtype = kept[1]
        dr = onto(g, _gathered(right, width).to(dtype), rhs_on, rows)
    return dl, dr


def _sddmm_shape(
    g: GraphTensors, lhs: Any, rhs: Any, op: str, lhs_on: str, rhs_on: str, heads: int, wide: bool
) -> Tensor:
    given = lhs if lhs is not None else rhs
    width = given.shape[1]
    if op == "dot":
        width = heads
    elif lhs is not None and rhs is not None and lhs.shape[1] != rhs.shape[1]:
        width = max(lhs.shape[1], rhs.shape[1])
    return given.new_empty((g.col.shape[0], width), dtype=kernels.accumulator(given.dtype) if wide else given.dtype)


sddmm = Primitive(
    "sddmm",
    "Tensor? lhs, Tensor? rhs",
    "str op, str lhs_on, str rhs_on, SymInt heads, bool wide",
    1,
    kernels.sddmm,
    _sddmm_shape,
    _sddmm_save,
    _sddmm_backward,
)

edge_sum = Primitive(
    "edge_sum",
    "Tensor e",
    "bool transposed, SymInt size",
    1,
    kernels.edge_sum,
    lambda g, e, transposed, size: e.new_empty((size, e.shape[1])),
    lambda tensors, outputs, attributes: ((), None),
    lambda g, needs, saved, kept, attributes, gradients: (
        on_edges(g, gradients[0], "src" if attributes[0] else "dst"),
    ),
)

# -- edge softmax ----------------------------------------------------------------------------------


def _softmax_backward_backward(
    g: GraphTensors, needs: Any, saved: Any, kept: Any, attributes: Any, gradients: Any
) -> Tensors:
    """Of dz = p (dp - S(p dp)), where S sums over a node's edges and copies the sum back to them."""
    p, dp = saved
    by_column, size = attributes
    v = gradients[0]
    end = "src" if by_column else "dst"

    def total(e: Tensor) -> Tensor:
        return on_edges(g, onto(g, e, end, size), end)

    grad_p = v * (dp - total(p * dp)) - dp * total(p * v) if needs[0] else None
    return grad_p, edge_softmax_backward(g, (p, v), attributes) if needs[1] else None


edge_softmax_backward = Primitive(
    "edge_softmax_backward",
    "Tensor p, Tensor dp",
    "bool by_column, SymInt size",
    1,
    kernels.edge_softmax_backward,
    lambda g, p, dp, by_column, size: p.new_empty(p.shape),
    lambda tensors, outputs, attributes: (tensors, None),
    _softmax_backward_backward,
)

edge_softmax = Primitive(
    "edge_softmax",
    "Tensor z",
    "bool by_column, SymInt size",
    1,
    kernels.edge_softmax,
    lambda g, z, by_column, size: z.new_empty(z.shape),
    lambda tensors, outputs, attributes: ((outputs[0],), None),
    lambda g, needs, saved, kept, attributes, gradients: (
        edge_softmax_backward(g, (saved[0], gradients[0]), attributes),
    ),
)
