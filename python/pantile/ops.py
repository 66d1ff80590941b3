"""The NumPy face of the operators. Every function also takes torch tensors, and then is the function of pantile.torch.

A graph may be a Graph or anything that `pantile.convert` reads; values that come with a matrix count as its weights.
Edge arrays are in the caller's edge order.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from . import _core, inputs
from .errors import InvalidArgument
from .graph import Graph
from .operands import ACTIVATIONS, EDGE_OPS, F32, F64, NORMS, REDUCE, TARGETS, choice, matrix, operand, weights


def convert(obj: Any, num_nodes: int | tuple[int, int] | None = None) -> tuple[Graph, Any]:
    """(graph, values or None) of a scipy or torch sparse matrix, edge_index, torch_geometric Data, SparseTensor or
    DGLGraph.

    Matrices are read as A in y = A x: row = destination. num_nodes (or (sources, destinations)) is for lists of
    edges; -1 means
    1 + the largest id.
    """
    if isinstance(obj, Graph):
        return obj, None
    core, values = inputs.convert(obj, num_nodes)
    return Graph(core), values


def _is_tensor(*arrays: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and any(isinstance(a, torch.Tensor) for a in arrays)


def _face() -> Any:
    import pantile.torch as face

    return face


def _values(graph: Any, w: Any, num_nodes: tuple[int, int]) -> tuple[Graph, Any]:
    if isinstance(graph, Graph):
        return graph, w
    made, own = convert(graph, num_nodes)
    return made, own if w is None else w


def _output(rows: int, like: np.ndarray, cols: int | None = None) -> np.ndarray:
    return np.empty((rows, like.shape[1] if cols is None else cols), like.dtype)


def _shaped(y: np.ndarray, x: Any) -> np.ndarray:
    """Trailing dimensions as the caller had them."""
    return y.reshape(y.shape[0], *np.shape(x)[1:])


def spmm(graph: Any, x: Any, w: Any = None, reduce: str = "sum") -> Any:
    """y[i] = reduce over the edges j -> i of w * x[j]; reduce: sum, mean, min, max.

    x [cols, F] (or [cols, heads, D]); w [edges] or [edges, heads] with heads dividing F. mean divides by the number
    of edges.
    A node without in-edges gets 0 for every reduction. Sums accumulate in float32 (float64 for float64).
    """
    if _is_tensor(x, w):
        return _face().spmm(graph, x, w, reduce)
    features = matrix(x, "x")
    g, w = _values(graph, w, (features.shape[0], features.shape[0]))
    values = None if w is None else weights(w, features.dtype)
    y = _output(g.rows, features)
    _core.spmm(
        g._core,
        False,
        choice(REDUCE, reduce, "reduce"),
        operand(features),
        None if values is None else operand(values),
        operand(y),
    )
    return _shaped(y, x)


def spmm_arg(graph: Any, x: Any, w: Any = None, reduce: str = "max") -> tuple[Any, Any]:
    """(y, arg) of a min or max; arg [rows, F] is the caller's number of the edge that won (the first on ties), -1
    without edges."""
    if _is_tensor(x, w):
        return _face().spmm_arg(graph, x, w, reduce)
    features = matrix(x, "x")
    g, w = _values(graph, w, (features.shape[0], features.shape[0]))
    if reduce not in ("min", "max"):
        raise InvalidArgument(f"reduce {reduce!r} has no arg; allowed: min, max")
    values = None if w is None else weights(w, features.dtype)
    y = _output(g.rows, features)
    arg = np.empty(y.shape, np.int64)
    _core.spmm_arg(
        g._core,
        REDUCE[reduce],
        operand(features),
        None if values is None else operand(values),
        operand(y),
        operand(arg),
    )
    if g.order.size:
        arg = np.where(arg < 0, -1, g.order[arg])
    return _shaped(y, x), _shaped(arg, x)


def sddmm(
    graph: Any, lhs: Any, rhs: Any = None, op: str = "dot", *, lhs_on: str = "dst", rhs_on: str = "src", heads: int = 1
) -> Any:
    """A value per edge from its ends: dot, add, sub, mul, div, copy_lhs, copy_rhs (DGL's gsddmm).

    lhs_on, rhs_on: where an operand lives: dst (v), src (u) or edge (e). dot: [edges, heads]; others: [edges, F],
    where an operand
    with one column, or with `heads` columns, is broadcast.
    """
    if _is_tensor(lhs, rhs):
        return _face().sddmm(graph, lhs, rhs, op, lhs_on=lhs_on, rhs_on=rhs_on, heads=heads)
    code, lt, rt = choice(EDGE_OPS, op, "op"), choice(TARGETS, lhs_on, "lhs_on"), choice(TARGETS, rhs_on, "rhs_on")
    left = None if lhs is None else matrix(lhs, "lhs")
    right = None if rhs is None else matrix(rhs, "rhs")
    if op == "copy_lhs":
        right = None
    if op == "copy_rhs":
        left = None
    given = [a for a in (left, right) if a is not None]
    if len(given) < (1 if op.startswith("copy") else 2):
        raise InvalidArgument(f"op {op!r} needs {'an operand' if op.startswith('copy') else 'two operands'}")
    g, _ = _values(graph, None, (-1, -1))
    width = heads if op == "dot" else max(a.shape[1] for a in given)
    out = np.empty((g.edges, width), given[0].dtype)
    _core.sddmm(
        g._core,
        code,
        lt,
        None if left is None else operand(left),
        rt,
        None if right is None else operand(right),
        heads,
        operand(out),
    )
    return out


def edge_softmax(graph: Any, z: Any, by: str = "dst") -> Any:
    """Softmax of the edge values z [edges] or [edges, heads] over the edges that enter each node (by="src": that
    leave it)."""
    if _is_tensor(z):
        return _face().edge_softmax(graph, z, by)
    logits = matrix(z, "z")
    g, _ = _values(graph, None, (-1, -1))
    p = np.empty(logits.shape, logits.dtype)
    _core.edge_softmax(g._core, choice({"dst": 0, "src": 1}, by, "by") == 1, operand(logits), operand(p))
    return _shaped(p, z)


def segment_reduce(x: Any, ptr: Any, reduce: str = "sum") -> Any:
    """y[i] = reduce over x[ptr[i]:ptr[i + 1]]; sum, mean, min, max (empty segments give 0), or softmax (shape of x)."""
    if _is_tensor(x, ptr):
        return _face().segment_reduce(x, ptr, reduce)
    features = matrix(x, "x")
    offsets = inputs.ids(ptr, "ptr").astype(np.int64, copy=False)
    if offsets.ndim != 1 or offsets.size == 0:
        raise InvalidArgument(f"ptr has shape {offsets.shape}; expected [segments + 1]")
    if reduce == "softmax":
        columns = np.arange(features.shape[0], dtype=np.int32)
        g = inputs.from_csr(offsets, columns, (offsets.size - 1, features.shape[0]))
        p = np.empty(features.shape, features.dtype)
        _core.edge_softmax(g, False, operand(features), operand(p))
        return _shaped(p, x)
    y = _output(offsets.size - 1, features)
    code = choice(REDUCE, reduce, "reduce")
    _core.segment_reduce(offsets.ctypes.data, offsets.size - 1, code, operand(features), operand(y))
    return _shaped(y, x)


def gcn(
    graph: Any,
    x: Any,
    w: Any = None,
    bias: Any = None,
    *,
    norm: str = "pyg",
    loop_weight: float = 1.0,
    activation: str = "none",
    negative_slope: float = 0.01,
) -> Any:
    """One GCN layer's aggregation in one pass: normalisation, self-loops, bias and activation inside.

    norm: pyg (symmetric, degrees include loops), both, left, right (DGL), none. loop_weight: of the loop added to
    each node that
    has none; 0 adds none. activation: none, relu, elu, leaky_relu.
    """
    if _is_tensor(x, w, bias):
        return _face().gcn(
            graph, x, w, bias, norm=norm, loop_weight=loop_weight, activation=activation, negative_slope=negative_slope
        )
    features = matrix(x, "x")
    g, w = _values(graph, w, (features.shape[0], features.shape[0]))
    values = None if w is None else weights(w, features.dtype)
    wide = features.dtype == np.float64
    c = _core.gcn_coefficients(
        g._core,
        choice(NORMS, norm, "norm"),
        float(loop_weight),
        None if values is None else operand(values),
        F64 if wide else F32,
    )
    b = None if bias is None else np.ascontiguousarray(bias, np.float64 if wide else np.float32)
    if b is not None and b.shape != (features.shape[1],):
        raise InvalidArgument(f"bias has shape {b.shape}; expected [{features.shape[1]}], the width of x")
    y = _output(g.rows, features)
    code = choice(ACTIVATIONS, activation, "activation")
    _core.gcn(g._core, False, c, operand(features), 0 if b is None else b.ctypes.data, code, negative_slope, operand(y))
    return y


def _attention_outputs(g: Graph, v: np.ndarray, heads: int) -> tuple[np.ndarray, np.ndarray]:
    if heads < 1 or v.shape[1] % heads:
        raise InvalidArgument(f"{heads} heads do not divide {v.shape[1]} features; pass features of heads * width")
    wide = np.float64 if v.dtype == np.float64 else np.float32
    return np.empty((g.rows, v.shape[1]), v.dtype), np.empty((g.rows, heads), wide)


def gat(
    graph: Any, a_src: Any, a_dst: Any, v: Any, a_edge: Any = None, *, heads: int = 1, negative_slope: float = 0.2
) -> Any:
    """Fused GAT attention: softmax over in-edges of leaky_relu(a_src[j] + a_dst[i] (+ a_edge)), applied to v[j]
    ([cols, heads * D])."""
    if _is_tensor(a_src, a_dst, v, a_edge):
        return _face().gat(graph, a_src, a_dst, v, a_edge, heads=heads, negative_slope=negative_slope)
    features = matrix(v, "v")
    g, _ = _values(graph, None, (features.shape[0], features.shape[0]))
    src, dst = weights(a_src, features.dtype, "a_src"), weights(a_dst, features.dtype, "a_dst")
    edge = None if a_edge is None else weights(a_edge, features.dtype, "a_edge")
    y, lse = _attention_outputs(g, features, heads)
    _core.gat(
        g._core,
        operand(src),
        operand(dst),
        None if edge is None else operand(edge),
        operand(features),
        heads,
        negative_slope,
        (0.0, 0),
        operand(y),
        operand(lse),
    )
    return _shaped(y, v)


def gatv2(
    graph: Any, left: Any, right: Any, att: Any, edge: Any = None, *, heads: int = 1, negative_slope: float = 0.2
) -> Any:
    """Fused GATv2 attention: logits <att, leaky_relu(left[j] + right[i] (+ edge))>, values left[j]."""
    if _is_tensor(left, right, att, edge):
        return _face().gatv2(graph, left, right, att, edge, heads=heads, negative_slope=negative_slope)
    features, target = matrix(left, "left"), matrix(right, "right")
    g, _ = _values(graph, None, (features.shape[0], target.shape[0]))
    a = np.ascontiguousarray(np.reshape(att, (heads, -1)), features.dtype)
    e = None if edge is None else matrix(edge, "edge")
    y, lse = _attention_outputs(g, features, heads)
    _core.gatv2(
        g._core,
        operand(features),
        operand(target),
        None if e is None else operand(e),
        operand(a),
        heads,
        negative_slope,
        (0.0, 0),
        operand(y),
        operand(lse),
    )
    return _shaped(y, left)


def transformer_attn(graph: Any, q: Any, k: Any, v: Any, edge: Any = None, *, heads: int = 1) -> Any:
    """Fused graph-transformer attention: logits <q[i], k[j] (+ edge)> / sqrt(D), values v[j] (+ edge)."""
    if _is_tensor(q, k, v, edge):
        return _face().transformer_attn(graph, q, k, v, edge, heads=heads)
    query, key, value = matrix(q, "q"), matrix(k, "k"), matrix(v, "v")
    g, _ = _values(graph, None, (key.shape[0], query.shape[0]))
    e = None if edge is None else matrix(edge, "edge")
    y, lse = _attention_outputs(g, value, heads)
    _core.transformer(
        g._core,
        operand(query),
        operand(key),
        operand(value),
        None if e is None else operand(e),
        heads,
        (0.0, 0),
        operand(y),
        operand(lse),
    )
    return _shaped(y, v)


def agnn(graph: Any, x: Any, beta: Any = 1.0) -> Any:
    """Fused AGNN attention: logits beta * cos(x[i], x[j]), values x[j]."""
    if _is_tensor(x, beta):
        return _face().agnn(graph, x, beta)
    features = matrix(x, "x")
    g, _ = _values(graph, None, (features.shape[0], features.shape[0]))
    y, lse = _attention_outputs(g, features, 1)
    _core.agnn(g._core, operand(features), float(np.reshape(beta, ())), operand(y), operand(lse))
    return y
