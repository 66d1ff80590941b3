"""Torch tensors into the core: operands checked and laid out, outputs allocated, the kernel called. No autograd
here."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import _core
from ..errors import InvalidArgument
from ..operands import ACTIVATIONS, BF16, EDGE_OPS, F16, F32, F64, I64, NORMS, REDUCE, TARGETS, Operand, choice

_CODES = {torch.float32: F32, torch.float64: F64, torch.bfloat16: BF16, torch.float16: F16, torch.int64: I64}
_threads = torch.get_num_threads
_CPU = torch.device("cpu")
_HUGE_BYTES = 32 << 20  # from here on every allocation is a new mapping, whose page faults cost as much as the kernel


def output(shape: Any, dtype: torch.dtype) -> Tensor:
    """A new output on the CPU, whatever torch's default device; a large one asks for huge pages, as NumPy's arrays do."""
    y = torch.empty(shape, dtype=dtype, device=_CPU)
    if y.nbytes >= _HUGE_BYTES:
        _core.advise_huge_pages(y.data_ptr(), y.nbytes)
    return y


def accumulator(dtype: torch.dtype) -> torch.dtype:
    """The dtype in which sums over a dtype are kept."""
    return torch.float64 if dtype == torch.float64 else torch.float32


def dense(t: Tensor) -> Tensor:
    """The tensor, or one copy of it where its layout is not row-major with unit column stride."""
    if not t.is_cpu:
        raise InvalidArgument(f"a tensor is on {t.device}; the kernels run on the CPU: pass .cpu()")
    if t.is_neg():
        t = t.resolve_neg()
    if t.is_contiguous():
        return t
    row, col = t.stride()
    return t if col == 1 and row >= t.shape[1] else t.contiguous()


def operand(t: Tensor) -> Operand:
    """Of a tensor that dense() made; the caller keeps it alive."""
    rows, cols = t.shape
    try:
        return (t.data_ptr(), _CODES[t.dtype], rows, cols, t.stride(0) if rows > 1 else cols)
    except KeyError:
        raise InvalidArgument(
            f"dtype {t.dtype} is not supported; allowed: float32, float64, bfloat16, float16"
        ) from None


def _edge(t: Tensor | None) -> tuple[Tensor | None, Operand | None]:
    """Edge values [edges] or [edges, heads] as a matrix."""
    if t is None:
        return None, None
    t = dense(t if t.dim() == 2 else t.reshape(-1, 1))
    return t, operand(t)


def spmm(core: _core.Graph, x: Tensor, w: Tensor | None, reduce: str, transposed: bool, size: int) -> Tensor:
    """y = A x or A^T x with the reduction."""
    x = dense(x)
    y = output((size, x.shape[1]), dtype=x.dtype)
    if w is None:
        _core.spmm(core, transposed, REDUCE[reduce], operand(x), None, operand(y), _threads())
    else:
        w, values = _edge(w)
        _core.spmm(core, transposed, REDUCE[reduce], operand(x), values, operand(y), _threads())
    return y


def spmm_into(core: _core.Graph, x: Tensor, w: Tensor | None, reduce: int, y: Tensor) -> None:
    """spmm into the caller's memory."""
    x = dense(x)
    if y.shape != (core.rows, x.shape[1]) or y.dtype != x.dtype or dense(y).data_ptr() != y.data_ptr():
        raise InvalidArgument(
            f"out has shape {list(y.shape)} and dtype {y.dtype}; expected {[core.rows, x.shape[1]]}, {x.dtype}, "
            "unit column stride"
        )
    w, values = _edge(w)
    _core.spmm(core, False, reduce, operand(x), values, operand(y), _threads())


def spmm_arg(core: _core.Graph, x: Tensor, w: Tensor | None, reduce: str) -> tuple[Tensor, Tensor]:
    """(y, arg) of a min or max."""
    x = dense(x)
    y = output((core.rows, x.shape[1]), dtype=x.dtype)
    arg = output(y.shape, dtype=torch.int64)
    w, values = _edge(w)
    _core.spmm_arg(core, REDUCE[reduce], operand(x), values, operand(y), operand(arg), _threads())
    return y, arg


def spmm_arg_backward(
    core: _core.Graph, dy: Tensor, x: Tensor, w: Tensor | None, arg: Tensor, reduce: str
) -> tuple[Tensor, Tensor]:
    """(dx, dw) through the winners of a min or max."""
    dy, x, arg = dense(dy), dense(x), arg.contiguous()
    dx = output(x.shape, dtype=x.dtype)
    dw = output(0, dtype=x.dtype) if w is None else output(w.shape, dtype=w.dtype)
    w, values = _edge(w)
    dw_operand = None if w is None else operand(dw if dw.dim() == 2 else dw.view(-1, 1))
    _core.spmm_grad(
        core, REDUCE[reduce], operand(x), values, operand(dy), operand(arg), operand(dx), dw_operand, _threads()
    )
    return dx, dw


def sddmm(
    core: _core.Graph,
    lhs: Tensor | None,
    rhs: Tensor | None,
    op: str,
    lhs_on: str,
    rhs_on: str,
    heads: int,
    wide: bool,
    out: Tensor | None = None,
) -> Tensor:
    """A value per edge from its two operands."""
    lhs = None if lhs is None else dense(lhs)
    rhs = None if rhs is None else dense(rhs)
    given: Any = lhs if lhs is not None else rhs
    width = heads if op == "dot" else max(0 if t is None else t.shape[1] for t in (lhs, rhs))
    if out is None:
        out = output((core.edges, width), dtype=accumulator(given.dtype) if wide else given.dtype)
    elif out.shape != (core.edges, width) or dense(out).data_ptr() != out.data_ptr():
        raise InvalidArgument(
            f"out has shape {list(out.shape)}; expected {[core.edges, width]} with unit column stride"
        )
    _core.sddmm(
        core,
        EDGE_OPS[op],
        TARGETS[lhs_on],
        None if lhs is None else operand(lhs),
        TARGETS[rhs_on],
        None if rhs is None else operand(rhs),
        heads,
        operand(out),
        _threads(),
    )
    return out


def edge_sum(core: _core.Graph, e: Tensor, transposed: bool, size: int) -> Tensor:
    """Sum of edge values over the edges of each node."""
    e = dense(e)
    if e.shape[0] != core.edges:
        raise InvalidArgument(f"edge values have {e.shape[0]} rows, but the graph has {core.edges} edges")
    y = output((size, e.shape[1]), dtype=e.dtype)
    _core.edge_reduce(core, transposed, REDUCE["sum"], operand(e), operand(y), _threads())
    return y


def edge_softmax(core: _core.Graph, z: Tensor, by_column: bool, size: int) -> Tensor:
    """Softmax of edge values over the edges of each node."""
    z = dense(z)
    p = output(z.shape, dtype=z.dtype)
    _core.edge_softmax(core, by_column, operand(z), operand(p), _threads())
    return p


def edge_softmax_backward(core: _core.Graph, p: Tensor, dp: Tensor, by_column: bool, size: int) -> Tensor:
    """dz of edge_softmax from p and dp."""
    p, dp = dense(p), dense(dp)
    dz = output(p.shape, dtype=p.dtype)
    _core.edge_softmax_grad(core, by_column, operand(p), operand(dp), operand(dz), _threads())
    return dz


def segment_reduce(x: Tensor, ptr: Tensor, reduce: str) -> Tensor:
    """Reduction over pieces of x."""
    x, ptr = dense(x), ptr.contiguous()
    y = output((ptr.shape[0] - 1, x.shape[1]), dtype=x.dtype)
    code = choice(REDUCE, reduce, "reduce")
    _core.segment_reduce(ptr.data_ptr(), ptr.shape[0] - 1, code, operand(x), operand(y), _threads())
    return y


def _coefficients(
    core: _core.Graph, w: Tensor | None, norm: str, loop_weight: float, dtype: torch.dtype
) -> _core.GcnCoefficients:
    """Kept by the core where they depend on the graph alone; those of weights are made anew, as weights may change."""
    w, values = _edge(w)
    code = F64 if dtype == torch.float64 else F32
    return _core.gcn_coefficients(core, choice(NORMS, norm, "norm"), loop_weight, values, code, _threads())


def gcn(
    core: _core.Graph,
    x: Tensor,
    w: Tensor | None,
    bias: Tensor | None,
    norm: str,
    loop_weight: float,
    activation: str,
    slope: float,
    transposed: bool,
    size: int,
) -> Tensor:
    """The fused layer with coefficients made before."""
    x = dense(x)
    c = _coefficients(core, w, norm, loop_weight, x.dtype)
    if bias is not None:
        bias = bias.to(accumulator(x.dtype)).contiguous()
        if bias.shape != (x.shape[1],):
            raise InvalidArgument(f"bias has shape {list(bias.shape)}; expected [{x.shape[1]}], the width of x")
    y = output((size, x.shape[1]), dtype=x.dtype)
    address = 0 if bias is None else bias.data_ptr()
    code = choice(ACTIVATIONS, activation, "activation")
    _core.gcn(core, transposed, c, operand(x), address, code, slope, operand(y), _threads())
    return y


def _outputs(core: _core.Graph, v: Tensor, heads: int) -> tuple[Tensor, Tensor]:
    return output((core.rows, v.shape[1]), dtype=v.dtype), output((core.rows, heads), dtype=accumulator(v.dtype))


def _dropout(seed: Tensor | None, p: float) -> tuple[float, int]:
    return (p, int(seed)) if seed is not None and p > 0 else (0.0, 0)


def gat(
    core: _core.Graph,
    a_src: Tensor,
    a_dst: Tensor,
    a_edge: Tensor | None,
    v: Tensor,
    seed: Tensor | None,
    heads: int,
    slope: float,
    p: float,
) -> tuple[Tensor, Tensor]:
    """(y, lse) of fused GAT attention."""
    a_src, a_dst, v = dense(a_src), dense(a_dst), dense(v)
    a_edge, edge = _edge(a_edge)
    y, lse = _outputs(core, v, heads)
    _core.gat(
        core,
        operand(a_src),
        operand(a_dst),
        edge,
        operand(v),
        heads,
        slope,
        _dropout(seed, p),
        operand(y),
        operand(lse),
        _threads(),
    )
    return y, lse


def gat_backward(
    core: _core.Graph,
    dy: Tensor,
    y: Tensor,
    lse: Tensor,
    a_src: Tensor,
    a_dst: Tensor,
    a_edge: Tensor | None,
    v: Tensor,
    seed: Tensor | None,
    heads: int,
    slope: float,
    p: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Gradients of every input of gat."""
    dy, y, lse, a_src, a_dst, v = (dense(t) for t in (dy, y, lse, a_src, a_dst, v))
    a_edge, edge = _edge(a_edge)
    da_src, da_dst, dv = (output(t.shape, dtype=t.dtype) for t in (a_src, a_dst, v))
    da_edge = output((0, heads) if a_edge is None else a_edge.shape, dtype=a_src.dtype)
    _core.gat_grad(
        core,
        operand(a_src),
        operand(a_dst),
        edge,
        operand(v),
        heads,
        slope,
        _dropout(seed, p),
        operand(y),
        operand(lse),
        operand(dy),
        operand(da_src),
        operand(da_dst),
        None if edge is None else operand(da_edge),
        operand(dv),
        _threads(),
    )
    return da_src, da_dst, da_edge, dv


def gatv2(
    core: _core.Graph,
    left: Tensor,
    right: Tensor,
    edge: Tensor | None,
    a: Tensor,
    seed: Tensor | None,
    heads: int,
    slope: float,
    p: float,
) -> tuple[Tensor, Tensor]:
    """(y, lse) of fused GATv2 attention."""
    left, right, a = dense(left), dense(right), dense(a)
    edge, e = _edge(edge)
    y, lse = _outputs(core, left, heads)
    _core.gatv2(
        core,
        operand(left),
        operand(right),
        e,
        operand(a),
        heads,
        slope,
        _dropout(seed, p),
        operand(y),
        operand(lse),
        _threads(),
    )
    return y, lse


def gatv2_backward(
    core: _core.Graph,
    dy: Tensor,
    y: Tensor,
    lse: Tensor,
    left: Tensor,
    right: Tensor,
    edge: Tensor | None,
    a: Tensor,
    seed: Tensor | None,
    heads: int,
    slope: float,
    p: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Gradients of every input of gatv2."""
    dy, y, lse, left, right, a = (dense(t) for t in (dy, y, lse, left, right, a))
    edge, e = _edge(edge)
    dl, dr, da = (output(t.shape, dtype=t.dtype) for t in (left, right, a))
    de = output((0, left.shape[1]) if edge is None else edge.shape, dtype=left.dtype)
    _core.gatv2_grad(
        core,
        operand(left),
        operand(right),
        e,
        operand(a),
        heads,
        slope,
        _dropout(seed, p),
        operand(y),
        operand(lse),
        operand(dy),
        operand(dl),
        operand(dr),
        None if e is None else operand(de),
        operand(da),
        _threads(),
    )
    return dl, dr, de, da


def transformer_attn(
    core: _core.Graph, q: Tensor, k: Tensor, v: Tensor, edge: Tensor | None, seed: Tensor | None, heads: int, p: float
) -> tuple[Tensor, Tensor]:
    """(y, lse) of fused graph-transformer attention."""
    q, k, v = dense(q), dense(k), dense(v)
    edge, e = _edge(edge)
    y, lse = _outputs(core, v, heads)
    _core.transformer(
        core, operand(q), operand(k), operand(v), e, heads, _dropout(seed, p), operand(y), operand(lse), _threads()
    )
    return y, lse


def transformer_attn_backward(
    core: _core.Graph,
    dy: Tensor,
    y: Tensor,
    lse: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    edge: Tensor | None,
    seed: Tensor | None,
    heads: int,
    p: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Gradients of every input of transformer_attn."""
    dy, y, lse, q, k, v = (dense(t) for t in (dy, y, lse, q, k, v))
    edge, e = _edge(edge)
    dq, dk, dv = (output(t.shape, dtype=t.dtype) for t in (q, k, v))
    de = output((0, v.shape[1]) if edge is None else edge.shape, dtype=v.dtype)
    _core.transformer_grad(
        core,
        operand(q),
        operand(k),
        operand(v),
        e,
        heads,
        _dropout(seed, p),
        operand(y),
        operand(lse),
        operand(dy),
        operand(dq),
        operand(dk),
        operand(dv),
        None if e is None else operand(de),
        _threads(),
    )
    return dq, dk, dv, de


def agnn(core: _core.Graph, x: Tensor, beta: Tensor) -> tuple[Tensor, Tensor]:
    """(y, lse) of fused AGNN propagation."""
    x = dense(x)
    y, lse = _outputs(core, x, 1)
    _core.agnn(core, operand(x), float(beta), operand(y), operand(lse), _threads())
    return y, lse


def agnn_backward(
    core: _core.Graph, dy: Tensor, y: Tensor, lse: Tensor, x: Tensor, beta: Tensor
) -> tuple[Tensor, Tensor]:
    """(dx, dbeta) of agnn."""
    dy, y, lse, x = (dense(t) for t in (dy, y, lse, x))
    dx = output(x.shape, dtype=x.dtype)
    dbeta = _core.agnn_grad(
        core, operand(x), float(beta), operand(y), operand(lse), operand(dy), operand(dx), _threads()
    )
    return dx, torch.full(beta.shape, dbeta, dtype=beta.dtype)
