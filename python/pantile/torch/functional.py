"""The public functions: shapes, edge values, autocast, and the choice between the linear and the arg-keeping
operators."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import _core, inputs
from ..errors import InvalidArgument
from ..graph import Graph
from ..operands import ACTIVATIONS, EDGE_OPS, NORMS, REDUCE, TARGETS, choice
from . import kernels, layers, operators
from .direct import spmm_now
from .tensors import GraphTensors, as_graph, core_of

_autocast_on = torch.is_autocast_enabled
_SIDES = {"dst": 0, "src": 1}


def _features(x: Tensor, what: str) -> Tensor:
    """As [rows, features], in autocast's dtype where autocast is on."""
    if not isinstance(x, Tensor):
        x = torch.as_tensor(x)
    if x.dim() != 2:
        if x.dim() == 1:
            x = x.unsqueeze(1)
        elif x.dim() > 2:
            x = x.flatten(1)
        else:
            raise InvalidArgument(f"{what} is a scalar; expected [rows, features]")
    if not x.is_floating_point():
        raise InvalidArgument(f"{what} has dtype {x.dtype}; features must be floating: convert with .float()")
    if _autocast_on("cpu") and x.dtype is not torch.float64:
        x = x.to(torch.get_autocast_dtype("cpu"))
    return x


def _shaped(y: Tensor, x: Any) -> Tensor:
    return y if x.dim() == 2 else y.view(y.shape[0], *x.shape[1:])


def _edge_values(w: Any, g: GraphTensors, dtype: torch.dtype, what: str = "weights") -> Tensor | None:
    """Edge values in accumulator precision, [edges] or [edges, heads]."""
    if w is None:
        return None
    if not isinstance(w, Tensor):
        w = torch.as_tensor(w)
    if w.dim() not in (1, 2) or w.shape[0] != g.col.shape[0]:
        raise InvalidArgument(
            f"{what} have shape {list(w.shape)}; expected [{g.col.shape[0]}] or [{g.col.shape[0]}, heads], "
            "one row per edge"
        )
    return w.to(kernels.accumulator(dtype))


def _same_dtype(tensors: tuple[Tensor | None, ...], names: tuple[str, ...]) -> None:
    first: tuple[str, torch.dtype] | None = None
    for t, name in zip(tensors, names, strict=True):
        if t is None:
            continue
        if first is None:
            first = (name, t.dtype)
        elif t.dtype != first[1]:
            raise InvalidArgument(f"{name} has dtype {t.dtype} but {first[0]} has {first[1]}; convert one of them")


def _no_gradients(what: str, *tensors: Tensor | None) -> None:
    if torch.is_grad_enabled() and any(t is not None and t.requires_grad for t in tensors):
        raise InvalidArgument(f"{what}(out=...) is not differentiable; leave out= away or use torch.no_grad()")


def gather_roofline(graph: Any, x: Tensor) -> None:
    """The bound of every gather: the same index stream over x, loads and additions only. For benchmarks; computes
    nothing."""
    g, _ = as_graph(graph, x.shape[0], x.shape[0])
    xs = kernels.dense(x)
    _core.gather_roofline(core_of(g), kernels.operand(xs), torch.get_num_threads())


def _sources(x: Any, g: GraphTensors, graph: Any, what: str) -> None:
    """Row counts are the kernels' to check, but a wrong count from a Graph is worth the exact advice."""
    core = g.core
    if core is not None and not torch.compiler.is_compiling() and x.shape[0] != core.cols:
        raise InvalidArgument(
            f"{what} has {x.shape[0]} rows, but the graph has {core.cols} source nodes; pass one row per source node"
        )


def spmm(graph: Any, x: Tensor, w: Any = None, reduce: str = "sum", *, out: Tensor | None = None) -> Tensor:
    """y[i] = reduce over the edges j -> i of w * x[j]; reduce: sum, mean, min, max.

    x [cols, F] or [cols, heads, D]; w [edges] or [edges, heads], in the caller's edge order. mean divides by the
    number of edges. A
    node without in-edges gets 0. Differentiable in x and w; sum and mean any number of times. out: a [rows, F] tensor
    of x's
    dtype to write into instead, for loops that do not differentiate (a fresh output's page faults cost time).
    """
    if type(graph) is Graph:
        if out is None and (y := spmm_now(graph._core, x, w, reduce)) is not None:
            return y
        g = graph._tensors
    else:
        g, own = as_graph(graph, x.shape[0], x.shape[0])
        w = own if w is None else w
    xs = x if x.dim() == 2 and x.dtype is torch.float32 and not _autocast_on("cpu") else _features(x, "x")
    if w is not None:
        w = _edge_values(w, g, xs.dtype)
    if out is not None:
        _no_gradients("spmm", xs, w)
        kernels.spmm_into(core_of(g), xs, w, choice(REDUCE, reduce, "reduce"), out)
        return out
    if reduce == "sum" or reduce == "mean":
        y = operators.spmm(g, (xs, w), (reduce, False, g.ptr.shape[0] - 1))
    elif reduce == "min" or reduce == "max":
        if torch.is_grad_enabled() and (xs.requires_grad or (w is not None and w.requires_grad)):
            y = operators.spmm_arg(g, (xs, w), (reduce,))[0]
        else:
            y = operators.spmm(g, (xs, w), (reduce, False, g.ptr.shape[0] - 1))
    else:
        raise InvalidArgument(f"reduce {reduce!r} is unknown; allowed: sum, mean, min, max")
    return y if x.dim() == 2 else _shaped(y, x)


def spmm_arg(graph: Any, x: Tensor, w: Any = None, reduce: str = "max") -> tuple[Tensor, Tensor]:
    """(y, arg) of a min or max; arg is the caller's number of the edge that won (the first on ties), -1 without
    in-edges."""
    if reduce not in ("min", "max"):
        raise InvalidArgument(f"reduce {reduce!r} has no arg; allowed: min, max")
    g, own = as_graph(graph, x.shape[0], x.shape[0])
    xs = _features(x, "x")
    y, arg = operators.spmm_arg(g, (xs, _edge_values(own if w is None else w, g, xs.dtype)), (reduce,))
    if g.order.shape[0]:
        arg = torch.where(arg < 0, arg, g.order[arg.clamp(min=0)])
    return _shaped(y, x), _shaped(arg, x)


def sddmm(
    graph: Any,
    lhs: Tensor | None,
    rhs: Tensor | None = None,
    op: str = "dot",
    *,
    lhs_on: str = "dst",
    rhs_on: str = "src",
    heads: int = 1,
    out: Tensor | None = None,
) -> Tensor:
    """A value per edge from its ends: dot, add, sub, mul, div, copy_lhs, copy_rhs (DGL's gsddmm).

    lhs_on, rhs_on: dst (v), src (u) or edge (e). dot: [edges, heads]; others [edges, F], where an operand with one
    column, or with
    `heads` columns, is broadcast. out: as in spmm.
    """
    choice(EDGE_OPS, op, "op")
    sides = {"v": "dst", "u": "src", "e": "edge"}
    lhs_on, rhs_on = sides.get(lhs_on, lhs_on), sides.get(rhs_on, rhs_on)
    choice(TARGETS, lhs_on, "lhs_on")
    choice(TARGETS, rhs_on, "rhs_on")
    left = None if lhs is None or op == "copy_rhs" else _features(lhs, "lhs")
    right = None if rhs is None or op == "copy_lhs" else _features(rhs, "rhs")
    if (left is None and op != "copy_rhs") or (right is None and op != "copy_lhs"):
        raise InvalidArgument(f"op {op!r} needs {'one operand' if op.startswith('copy') else 'both operands'}")
    _same_dtype((left, right), ("lhs", "rhs"))
    counts = {on: t.shape[0] for on, t in ((lhs_on, left), (rhs_on, right)) if t is not None}
    g, _ = as_graph(graph, counts.get("src", -1), counts.get("dst", -1))
    if out is not None:
        _no_gradients("sddmm", left, right)
        return kernels.sddmm(core_of(g), left, right, op, lhs_on, rhs_on, heads, False, out)
    return operators.sddmm(g, (left, right), (op, lhs_on, rhs_on, heads, False))


def edge_softmax(graph: Any, z: Tensor, by: str = "dst") -> Tensor:
    """Softmax of z [edges] or [edges, heads] over the edges that enter each node (by="src": that leave it); float32
    under autocast."""
    by_column = choice(_SIDES, by, "by") == 1
    g, _ = as_graph(graph)
    zs = z if z.dim() == 2 else z.reshape(z.shape[0], -1)
    if zs.shape[0] != g.col.shape[0]:
        raise InvalidArgument(f"z has {zs.shape[0]} rows, but the graph has {g.col.shape[0]} edges")
    if not zs.is_floating_point():
        raise InvalidArgument(f"z has dtype {zs.dtype}; logits must be floating")
    if _autocast_on("cpu") and zs.dtype is not torch.float64:
        zs = zs.float()
    size = g.core.cols if by_column and g.core is not None else g.ptr.shape[0] - 1
    return _shaped(operators.edge_softmax(g, (zs,), (by_column, size)), z)


def gcn(
    graph: Any,
    x: Tensor,
    w: Any = None,
    bias: Tensor | None = None,
    *,
    norm: str = "pyg",
    loop_weight: float = 1.0,
    activation: str = "none",
    negative_slope: float = 0.01,
) -> Tensor:
    """One GCN layer's aggregation in one pass: normalisation, self-loops, bias and activation inside.

    norm: pyg, both, left, right, none. loop_weight: of the loop added to each node that has none; 0 adds none. Where
    w itself
    wants gradients, the layer runs as a composite, because they also flow through the normalisation.
    """
    choice(NORMS, norm, "norm")
    choice(ACTIVATIONS, activation, "activation")
    g, own = as_graph(graph, x.shape[0], x.shape[0])
    xs = _features(x, "x")
    ws = _edge_values(own if w is None else w, g, xs.dtype)
    _sources(xs, g, graph, "x")
    if ws is not None and ws.requires_grad and torch.is_grad_enabled():
        return layers.gcn_composite(g, xs, ws, bias, norm, float(loop_weight), activation, negative_slope)
    size = g.ptr.shape[0] - 1
    return layers.gcn(g, (xs, ws, bias), (norm, float(loop_weight), activation, float(negative_slope), False, size))


def _seed(dropout: float) -> Tensor | None:
    """Drawn from torch's generator, so that torch.manual_seed fixes the mask."""
    if not 0 <= dropout < 1:
        raise InvalidArgument(f"dropout {dropout} is outside [0, 1)")
    return torch.randint(0, 2**62, (), dtype=torch.int64) if dropout > 0 else None


def _per_head(t: Tensor, heads: int, dtype: torch.dtype, what: str) -> Tensor:
    """Logit terms [rows, heads] in accumulator precision."""
    t = t.reshape(t.shape[0], -1) if t.dim() != 2 else t
    if t.shape[1] != heads:
        raise InvalidArgument(f"{what} has {t.shape[1]} columns; expected one per head ({heads})")
    return t.to(kernels.accumulator(dtype))


def _heads(v: Tensor, heads: int) -> None:
    if heads < 1 or v.shape[1] % heads:
        raise InvalidArgument(f"{heads} heads do not divide {v.shape[1]} features; pass features of heads * width")


def gat(
    graph: Any,
    a_src: Tensor,
    a_dst: Tensor,
    v: Tensor,
    a_edge: Tensor | None = None,
    *,
    heads: int = 1,
    negative_slope: float = 0.2,
    dropout: float = 0.0,
) -> Tensor:
    """Fused GAT attention: softmax over in-edges of leaky_relu(a_src[j] + a_dst[i] (+ a_edge)), applied to v[j].

    a_src [cols, heads], a_dst [rows, heads], a_edge [edges, heads], v [cols, heads * D]. Nothing of size edges * D is
    stored.
    dropout acts on the attention; its mask is regenerated in the backward pass.
    """
    g, _ = as_graph(graph, v.shape[0], a_dst.shape[0])
    vs = _features(v, "v")
    _heads(vs, heads)
    src, dst = _per_head(a_src, heads, vs.dtype, "a_src"), _per_head(a_dst, heads, vs.dtype, "a_dst")
    edge = None if a_edge is None else _edge_values(a_edge.reshape(a_edge.shape[0], heads), g, vs.dtype, "a_edge")
    seed = _seed(dropout)
    y = layers.gat(g, (src, dst, edge, vs, seed), (heads, float(negative_slope), float(dropout)))[0]
    return _shaped(y, v)


def gatv2(
    graph: Any,
    left: Tensor,
    right: Tensor,
    att: Tensor,
    edge: Tensor | None = None,
    *,
    heads: int = 1,
    negative_slope: float = 0.2,
    dropout: float = 0.0,
) -> Tensor:
    """Fused GATv2 attention: logits <att, leaky_relu(left[j] + right[i] (+ edge))>, values left[j]; att [heads, D]."""
    g, _ = as_graph(graph, left.shape[0], right.shape[0])
    ls, rs = _features(left, "left"), _features(right, "right")
    _heads(ls, heads)
    es = None if edge is None else _features(edge, "edge")
    a = att.reshape(heads, ls.shape[1] // heads).to(ls.dtype)
    _same_dtype((ls, rs, es), ("left", "right", "edge"))
    y = layers.gatv2(g, (ls, rs, es, a, _seed(dropout)), (heads, float(negative_slope), float(dropout)))[0]
    return _shaped(y, left)


def transformer_attn(
    graph: Any, q: Tensor, k: Tensor, v: Tensor, edge: Tensor | None = None, *, heads: int = 1, dropout: float = 0.0
) -> Tensor:
    """Fused graph-transformer attention: logits <q[i], k[j] (+ edge)> / sqrt(D), values v[j] (+ edge)."""
    g, _ = as_graph(graph, k.shape[0], q.shape[0])
    qs, ks, vs = _features(q, "q"), _features(k, "k"), _features(v, "v")
    _heads(vs, heads)
    es = None if edge is None else _features(edge, "edge")
    _same_dtype((qs, ks, vs, es), ("q", "k", "v", "edge"))
    y = layers.transformer_attn(g, (qs, ks, vs, es, _seed(dropout)), (heads, float(dropout)))[0]
    return _shaped(y, v)


def agnn(graph: Any, x: Tensor, beta: Any = 1.0) -> Tensor:
    """Fused AGNN attention: logits beta * cos(x[i], x[j]), values x[j]; beta a number or a tensor of one element."""
    g, _ = as_graph(graph, x.shape[0], x.shape[0])
    xs = _features(x, "x")
    b = beta if isinstance(beta, Tensor) else torch.tensor([float(beta)], dtype=kernels.accumulator(xs.dtype))
    return _shaped(layers.agnn(g, (xs, b), ())[0], x)


def segment_reduce(x: Tensor, ptr: Any, reduce: str = "sum") -> Tensor:
    """y[i] = reduce over x[ptr[i]:ptr[i + 1]]; sum, mean, min, max (empty segments give 0), or softmax (shape of x)."""
    offsets = torch.as_tensor(ptr)
    if offsets.is_floating_point() or offsets.dim() != 1 or offsets.shape[0] == 0:
        raise InvalidArgument(
            f"ptr has dtype {offsets.dtype} and shape {list(offsets.shape)}; expected integers [segments + 1]"
        )
    offsets = offsets.long()
    xs = _features(x, "x")
    if reduce == "softmax":
        core = inputs.from_csr(
            offsets, torch.arange(xs.shape[0], dtype=torch.int32), (offsets.shape[0] - 1, xs.shape[0])
        )
        return _shaped(edge_softmax(Graph(core), xs), x)
    return _shaped(torch.ops.pantile.segment_reduce(xs, offsets, reduce), x)
