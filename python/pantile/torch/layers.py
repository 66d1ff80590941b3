"""The fused operators: GCN and the four attentions. Their backward passes are kernels too; where a gradient is to be
differentiable
again, it is taken from the composite of linear operators instead (O(edges * heads) memory)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from .. import _core
from . import kernels
from .operators import edge_softmax, edge_sum, on_edges, sddmm, spmm
from .primitive import Primitive, Tensors
from .tensors import GraphTensors, core_of


def _recompute(composite: Callable[..., Tensor], needs: Any, tensors: Tensors, dy: Tensor) -> list[Tensor | None]:
    """Gradients of composite(*tensors), differentiable again."""
    with torch.enable_grad():
        # Fresh aliases: one tensor may stand for two arguments, and each gradient is wanted apart.
        fresh: list[Any] = [None if t is None else t.view_as(t) for t in tensors]
        wanted = [k for k, need in enumerate(needs) if need and fresh[k] is not None]
        y = composite(*fresh)
        found = torch.autograd.grad(y, [fresh[k] for k in wanted], dy.to(y.dtype), create_graph=True, allow_unused=True)
    out: list[Tensor | None] = [None] * len(tensors)
    for k, gradient in zip(wanted, found, strict=True):
        out[k] = gradient
    return out


# -- gcn -------------------------------------------------------------------------------------------


def _activate(y: Tensor, activation: str, slope: float) -> Tensor:
    if activation == "relu":
        return F.relu(y)
    if activation == "elu":
        return F.elu(y)
    return F.leaky_relu(y, slope) if activation == "leaky_relu" else y


def _inactivate(dy: Tensor, y: Tensor, activation: str, slope: float) -> Tensor:
    """dy through the activation, from its output: y > 0 exactly where its input is."""
    if activation == "relu":
        return dy * (y > 0)
    if activation == "elu":
        return dy * torch.where(y > 0, torch.ones_like(y), y + 1)
    return dy * torch.where(y > 0, 1.0, slope).to(dy.dtype) if activation == "leaky_relu" else dy


def _inverse(t: Tensor, power: float) -> Tensor:
    """t ** -power, 0 where t is 0."""
    return torch.where(t == 0, torch.zeros_like(t), torch.where(t == 0, torch.ones_like(t), t).pow(-power))


def _last_loops(g: GraphTensors) -> Tensor:
    """False for self-loops that another loop on the same node follows: the last one counts, as in the kernel;
    caller's order."""
    rows, edges = g.ptr.shape[0] - 1, g.col.shape[0]
    row = torch.repeat_interleave(torch.arange(rows), g.ptr[1:] - g.ptr[:-1], output_size=edges)
    loop = row == g.col
    followed = torch.zeros_like(loop)
    followed[:-1] = loop[:-1] & loop[1:] & (row[:-1] == row[1:])
    if not g.order.shape[0]:
        return ~followed
    kept = torch.empty_like(followed)
    kept[g.order] = ~followed
    return kept


def gcn_composite(
    g: GraphTensors,
    x: Tensor,
    w: Tensor,
    bias: Tensor | None,
    norm: str,
    loop_weight: float,
    activation: str,
    slope: float,
) -> Tensor:
    """The GCN layer from linear operators, so that gradients reach the weights through the normalisation as well."""
    rows, cols = g.ptr.shape[0] - 1, x.shape[0]
    w = w.view(-1, 1)
    loop = None
    if loop_weight != 0:
        w = w * _last_loops(g).to(w.dtype).unsqueeze(1)
        source, target = (
            on_edges(g, torch.arange(cols, dtype=torch.float64).unsqueeze(1), "src"),
            on_edges(g, torch.arange(rows, dtype=torch.float64).unsqueeze(1), "dst"),
        )
        has_loop = edge_sum(g, ((source == target).to(w.dtype),), (False, rows)) > 0
        loop = torch.where(has_loop, 0.0, loop_weight).to(w.dtype)
    if norm == "pyg":
        total = edge_sum(g, (w,), (False, rows))
        scale = _inverse(total if loop is None else total + loop, 0.5)
        edge = on_edges(g, scale, "dst") * w * on_edges(g, scale, "src")
        loop = None if loop is None else loop * scale * scale
    else:
        edge = w
        ones = torch.ones_like(w)
        into = edge_sum(g, (ones,), (False, rows)) + (0 if loop is None else (loop != 0).to(w.dtype))
        out = edge_sum(g, (ones,), (True, cols)) + (0 if loop is None else (loop != 0).to(w.dtype))
        left = out.clamp(min=1).pow(-0.5 if norm == "both" else -1.0)
        right = into.clamp(min=1).pow(-0.5 if norm == "both" else -1.0)
        if norm in ("both", "left"):
            edge = edge * on_edges(g, left, "src")
            loop = None if loop is None else loop * left
        if norm in ("both", "right"):
            edge = edge * on_edges(g, right, "dst")
            loop = None if loop is None else loop * right
    y = spmm(g, (x, edge), ("sum", False, rows))
    if loop is not None:
        y = y + loop.to(x.dtype) * x
    return _activate(y if bias is None else y + bias.to(y.dtype), activation, slope)


def _gcn_backward(g: GraphTensors, needs: Any, saved: Any, kept: Any, attributes: Any, gradients: Any) -> Tensors:
    w, bias, y, x = saved
    norm, loop_weight, activation, slope, transposed, _ = attributes
    dy = gradients[0]
    if needs[1]:
        recomputed = _recompute(
            lambda x_, w_, b_: gcn_composite(g, x_, w_, b_, norm, loop_weight, activation, slope),
            needs,
            (x, w, bias),
            dy,
        )
        return recomputed
    dy = _inactivate(dy, y, activation, slope) if y is not None else dy
    dx = gcn(g, (dy, w, None), (norm, loop_weight, "none", slope, not transposed, kept)) if needs[0] else None
    return dx, None, dy.sum(0, dtype=bias.dtype) if needs[2] else None


def _gcn_save(tensors: Any, outputs: Any, attributes: Any) -> tuple[Tensors, Any]:
    x, w, bias = tensors
    return (
        w,
        bias,
        None if attributes[2] == "none" else outputs[0],
        x if w is not None and w.requires_grad else None,
    ), x.shape[0]


gcn = Primitive(
    "gcn",
    "Tensor x, Tensor? w, Tensor? bias",
    "str norm, float loop_weight, str activation, float slope, bool transposed, SymInt size",
    1,
    kernels.gcn,
    lambda g, x, w, bias, norm, loop_weight, activation, slope, transposed, size: x.new_empty((size, x.shape[1])),
    _gcn_save,
    _gcn_backward,
)

# -- attention -------------------------------------------------------------------------------------


def _mask(g: GraphTensors, seed: Tensor | None, heads: int, p: float, like: Tensor) -> Tensor | float:
    """Dropout factors [edges, heads] as the fused kernels regenerate them: 0 or 1 / (1 - p)."""
    if seed is None or p == 0:
        return 1.0
    factors = torch.empty((g.col.shape[0], heads), dtype=torch.float32)
    _core.dropout_factors(core_of(g), p, int(seed), kernels.operand(factors))
    return (factors > 0).to(like.dtype) / (1 - p)


def _weighted(g: GraphTensors, z: Tensor, v: Tensor, seed: Tensor | None, p: float) -> Tensor:
    return edge_softmax(g, (z,), (False, g.ptr.shape[0] - 1)) * _mask(g, seed, z.shape[1], p, z)


def gat_composite(
    g: GraphTensors,
    a_src: Tensor,
    a_dst: Tensor,
    a_edge: Tensor | None,
    v: Tensor,
    seed: Tensor | None,
    heads: int,
    slope: float,
    p: float,
) -> tuple[Tensor, Tensor]:
    """(y, attention [edges, heads]) from linear operators."""
    z = sddmm(g, (a_dst, a_src), ("add", "dst", "src", 1, False))
    z = F.leaky_relu(z if a_edge is None else z + a_edge, slope)
    alpha = _weighted(g, z, v, seed, p)
    return spmm(g, (v, alpha), ("sum", False, g.ptr.shape[0] - 1)), alpha


def gatv2_composite(
    g: GraphTensors,
    left: Tensor,
    right: Tensor,
    edge: Tensor | None,
    a: Tensor,
    seed: Tensor | None,
    heads: int,
    slope: float,
    p: float,
) -> tuple[Tensor, Tensor]:
    """GATv2 from operators that can be differentiated twice; (y, alpha), alpha per edge."""
    q = sddmm(g, (right, left), ("add", "dst", "src", 1, False))
    q = F.leaky_relu(q if edge is None else q + edge, slope)
    z = (q.view(q.shape[0], heads, a.shape[1]) * a).sum(-1).to(kernels.accumulator(left.dtype))
    alpha = _weighted(g, z, left, seed, p)
    return spmm(g, (left, alpha), ("sum", False, g.ptr.shape[0] - 1)), alpha


def transformer_composite(
    g: GraphTensors, q: Tensor, k: Tensor, v: Tensor, edge: Tensor | None, seed: Tensor | None, heads: int, p: float
) -> tuple[Tensor, Tensor]:
    """The same for the graph transformer."""
    width = q.shape[1] // heads
    z = sddmm(g, (q, k), ("dot", "dst", "src", heads, True))
    if edge is not None:
        z = z + sddmm(g, (q, edge), ("dot", "dst", "edge", heads, True))
    alpha = _weighted(g, z / width**0.5, v, seed, p)
    y = spmm(g, (v, alpha), ("sum", False, g.ptr.shape[0] - 1))
    if edge is not None:
        weighted = edge.view(edge.shape[0], heads, width) * alpha.to(edge.dtype).unsqueeze(2)
        y = y + edge_sum(g, (weighted.flatten(1),), (False, y.shape[0]))
    return y, alpha


def agnn_composite(g: GraphTensors, x: Tensor, beta: Tensor) -> tuple[Tensor, Tensor]:
    """The same for AGNN."""
    unit = F.normalize(x, p=2.0, dim=-1, eps=1e-12)
    z = sddmm(g, (unit, unit), ("dot", "dst", "src", 1, True)) * beta.view(1, 1).to(kernels.accumulator(x.dtype))
    alpha = _weighted(g, z, x, None, 0.0)
    return spmm(g, (x, alpha), ("sum", False, g.ptr.shape[0] - 1)), alpha


def _attention(
    name: str,
    tensors: str,
    attributes: str,
    values: int,
    heads: Callable[[Any], Any],
    composite: Callable[..., tuple[Tensor, Tensor]],
    gradients: tuple[int, ...],
    edge: int | None,
) -> Primitive:
    """A fused attention and its backward kernel.

    values: which tensor holds the values; gradients: which tensors the backward kernel returns gradients for, in its
    order;
    edge: which of the tensors is the optional edge operand.
    """
    count = len(tensors.split(","))

    def shape(g: GraphTensors, *args: Any) -> tuple[Tensor, Tensor]:
        v = args[values]
        rows = g.ptr.shape[0] - 1
        lse = v.new_empty((rows, heads(args[count:])), dtype=kernels.accumulator(v.dtype))
        return v.new_empty((rows, v.shape[1])), lse

    def backward_shape(g: GraphTensors, dy: Tensor, y: Tensor, lse: Tensor, *args: Any) -> tuple[Tensor, ...]:
        out = []
        for k in gradients:
            if args[k] is None:
                like = args[0] if name == "gat" else args[values]
                out.append(like.new_empty((0, heads(args[count:]) if name == "gat" else like.shape[1])))
            else:
                out.append(args[k].new_empty(args[k].shape))
        return tuple(out)

    backward_op = Primitive(
        f"{name}_backward",
        f"Tensor dy, Tensor y, Tensor lse, {tensors}",
        attributes,
        len(gradients),
        getattr(kernels, f"{name}_backward"),
        backward_shape,
    )

    def backward(g: GraphTensors, needs: Any, saved: Any, kept: Any, attributes: Any, incoming: Any) -> Tensors:
        y, lse, *operands = saved
        if torch.is_grad_enabled():
            return _recompute(lambda *t: composite(g, *t, *attributes)[0], needs, operands, incoming[0])
        found = backward_op(g, (incoming[0], y, lse, *operands), attributes)
        out: list[Tensor | None] = [None] * count
        for k, gradient in zip(gradients, found, strict=True):
            out[k] = gradient if needs[k] and operands[k] is not None else None
        return out

    return Primitive(
        name,
        tensors,
        attributes,
        2,
        getattr(kernels, name),
        shape,
        lambda tensors, outputs, attributes: ((*outputs, *tensors), None),
        backward,
    )


gat = _attention(
    "gat",
    "Tensor a_src, Tensor a_dst, Tensor? a_edge, Tensor v, Tensor? seed",
    "SymInt heads, float slope, float p",
    3,
    lambda a: a[0],
    gat_composite,
    (0, 1, 2, 3),
    2,
)
gatv2 = _attention(
    "gatv2",
    "Tensor left, Tensor right, Tensor? edge, Tensor a, Tensor? seed",
    "SymInt heads, float slope, float p",
    0,
    lambda a: a[0],
    gatv2_composite,
    (0, 1, 2, 3),
    2,
)
transformer_attn = _attention(
    "transformer_attn",
    "Tensor q, Tensor k, Tensor v, Tensor? edge, Tensor? seed",
    "SymInt heads, float p",
    2,
    lambda a: a[0],
    transformer_composite,
    (0, 1, 2, 3),
    3,
)
agnn = _attention("agnn", "Tensor x, Tensor beta", "", 0, lambda a: 1, agnn_composite, (0, 1), None)
