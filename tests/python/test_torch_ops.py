"""The torch operators: derivatives, fake kernels, autocast, dtypes."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_edges

import pantile

torch = pytest.importorskip("torch")
import pantile.torch as pt  # noqa: E402

N, E = 9, 26


@pytest.fixture(scope="module")
def small():
    return pantile.Graph.from_edge_index(random_edges(N, N, E, 11), N)


@pytest.fixture(scope="module")
def rectangle():
    e = np.stack([random_edges(5, 8, 19, 12)[0], random_edges(5, 8, 19, 13)[1]])
    return pantile.Graph.from_edge_index(e, (8, 5))


def wanted(*shape, positive=False):
    t = torch.randn(*shape, dtype=torch.float64)
    return (t.abs() + 0.5 if positive else t).requires_grad_()


def check(f, inputs, second=True):
    assert torch.autograd.gradcheck(f, inputs, fast_mode=True)
    if second:
        assert torch.autograd.gradgradcheck(f, inputs, fast_mode=True)


@pytest.mark.parametrize("reduce", ["sum", "mean"])
@pytest.mark.parametrize("heads", [None, 1, 2])
def test_spmm_derivatives(small, rectangle, reduce, heads):
    for g in (small, rectangle):
        x = wanted(g.cols, 4)
        if heads is None:
            check(lambda a: pt.spmm(g, a, reduce=reduce), (x,))  # noqa: B023
        else:
            w = wanted(g.edges, heads) if heads > 1 else wanted(g.edges)
            check(lambda a, b: pt.spmm(g, a, b, reduce), (x, w))  # noqa: B023


@pytest.mark.parametrize("reduce", ["min", "max"])
@pytest.mark.parametrize("heads", [None, 1, 2])
def test_extreme_derivatives(rectangle, reduce, heads):
    x = wanted(8, 4)
    if heads is None:
        check(lambda a: pt.spmm(rectangle, a, reduce=reduce), (x,))
    else:
        w = wanted(19, heads, positive=True) if heads > 1 else wanted(19, positive=True)
        check(lambda a, b: pt.spmm(rectangle, a, b, reduce), (x, w))


@pytest.mark.parametrize("op", ["dot", "add", "sub", "mul", "div", "copy_lhs", "copy_rhs"])
@pytest.mark.parametrize(
    ("lhs_on", "rhs_on"),
    [("dst", "src"), ("src", "dst"), ("dst", "edge"), ("edge", "src"), ("src", "src"), ("edge", "edge")],
)
def test_sddmm_derivatives(rectangle, op, lhs_on, rhs_on):
    count = {"dst": 5, "src": 8, "edge": 19}
    u, v = wanted(count[lhs_on], 4), wanted(count[rhs_on], 4, positive=True)
    heads = 2 if op == "dot" else 1
    f = lambda a, b: pt.sddmm(rectangle, a, b, op, lhs_on=lhs_on, rhs_on=rhs_on, heads=heads)  # noqa: E731
    if op.startswith("copy"):
        check((lambda a: f(a, v)) if op == "copy_lhs" else (lambda b: f(u, b)), (u if op == "copy_lhs" else v,))
    else:
        check(f, (u, v))


@pytest.mark.parametrize("op", ["add", "mul", "div"])
@pytest.mark.parametrize("columns", [1, 2])
def test_sddmm_derivatives_through_broadcasts(rectangle, op, columns):
    u, v = wanted(5, 4), wanted(8, columns, positive=True)
    check(lambda a, b: pt.sddmm(rectangle, a, b, op, heads=columns), (u, v))


@pytest.mark.parametrize("by", ["dst", "src"])
def test_edge_softmax_derivatives(rectangle, by):
    check(lambda z: pt.edge_softmax(rectangle, z, by), (wanted(19, 2),))
    check(lambda z: pt.edge_softmax(rectangle, z, by), (wanted(19),))


@pytest.mark.parametrize("norm", ["pyg", "both", "left", "right", "none"])
@pytest.mark.parametrize("activation", ["none", "relu", "elu", "leaky_relu"])
def test_gcn_derivatives(small, norm, activation):
    x, b = wanted(N, 3), wanted(3)
    loop = 1.0 if norm == "pyg" else 0.0
    f = lambda a, c, w=None: pt.gcn(small, a, w, c, norm=norm, loop_weight=loop, activation=activation)  # noqa: E731
    check(f, (x, b))
    if norm in ("pyg", "none"):
        check(f, (x, b, wanted(E, positive=True)), second=activation == "elu")


def test_gcn_composite_is_the_fused_layer(small):
    x, w = torch.randn(N, 6), torch.rand(E)
    for norm in ("pyg", "both", "left", "right", "none"):
        fused = pt.gcn(small, x, w, norm=norm, loop_weight=0.7 if norm == "pyg" else 0.0)
        composite = pt.gcn(small, x, w.clone().requires_grad_(), norm=norm, loop_weight=0.7 if norm == "pyg" else 0.0)
        torch.testing.assert_close(fused, composite.detach(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dropout", [0.0, 0.4])
@pytest.mark.parametrize("edges", [False, True])
def test_attention_derivatives(rectangle, dropout, edges):
    g, heads = rectangle, 2

    def seeded(f):
        def run(*tensors):
            torch.manual_seed(3)
            return f(*tensors)

        return run

    extra = (wanted(19, 2),) if edges else ()
    gat = seeded(lambda s, d, v, e=None: pt.gat(g, s, d, v, e, heads=heads, dropout=dropout))
    check(gat, (wanted(8, 2), wanted(5, 2), wanted(8, 6), *extra))
    extra = (wanted(19, 6),) if edges else ()
    gatv2 = seeded(lambda a, b, c, e=None: pt.gatv2(g, a, b, c, e, heads=heads, dropout=dropout))
    check(gatv2, (wanted(8, 6), wanted(5, 6), wanted(2, 3), *extra))
    transformer = seeded(lambda q, k, v, e=None: pt.transformer_attn(g, q, k, v, e, heads=heads, dropout=dropout))
    check(transformer, (wanted(5, 6), wanted(8, 6), wanted(8, 6), *extra))


def test_agnn_derivatives(small):
    check(lambda x, b: pt.agnn(small, x, b), (wanted(N, 3), wanted(1)))


def test_dropout_follows_the_torch_seed_and_keeps_the_mean(graph):
    v = torch.ones(37, 8)
    zero = torch.zeros(37, 4)
    torch.manual_seed(0)
    one = pt.gat(graph, zero, zero, v, heads=4, dropout=0.5)
    torch.manual_seed(0)
    assert torch.equal(one, pt.gat(graph, zero, zero, v, heads=4, dropout=0.5))
    assert not torch.equal(one, pt.gat(graph, zero, zero, v, heads=4, dropout=0.5))
    with_edges = torch.from_numpy(graph.in_degrees() > 0)
    assert 0.7 < one[with_edges].mean() < 1.3


@pytest.mark.parametrize("reduce", ["sum", "mean", "min", "max"])
def test_segment_reduce_derivatives(reduce):
    ptr = torch.tensor([0, 0, 3, 4, 4, 9])
    check(lambda x: pt.segment_reduce(x, ptr, reduce), (wanted(9, 3),), second=False)
    check(lambda x: pt.segment_reduce(x, ptr, "softmax"), (wanted(9, 3),))


def test_gradient_of_the_weights_only(graph, features):
    x = torch.from_numpy(features)
    w = torch.rand(211, requires_grad=True)
    pt.spmm(graph, x, w).sum().backward()
    src = graph.edge_index[0]
    torch.testing.assert_close(w.grad, x[torch.from_numpy(src)].sum(1), rtol=1e-4, atol=1e-4)


def test_backward_does_not_keep_what_it_does_not_need(graph):
    x = torch.randn(37, 8, requires_grad=True)
    y = pt.spmm(graph, x)
    assert all(t is None for t in y.grad_fn.saved_tensors)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_rounds_once(graph, dtype):
    x = torch.randn(37, 40).to(dtype)
    w = torch.rand(211)
    want = pt.spmm(graph, x.float(), w)
    torch.testing.assert_close(pt.spmm(graph, x, w), want.to(dtype), rtol=1e-2, atol=1e-6)
    xg = x.clone().requires_grad_()
    wg = w.clone().requires_grad_()
    pt.spmm(graph, xg, wg).float().sum().backward()
    assert xg.grad.dtype == dtype and wg.grad.dtype == torch.float32
    torch.testing.assert_close(
        pt.sddmm(graph, x, x).float(), pt.sddmm(graph, x.float(), x.float()), rtol=2e-2, atol=5e-2
    )
    y = pt.gat(graph, torch.randn(37, 2), torch.randn(37, 2), xg, heads=2)
    assert y.dtype == dtype
    y.float().sum().backward()


@pytest.mark.parametrize("where", ["forward", "both"])
def test_autocast(graph, where):
    x = torch.randn(37, 16, requires_grad=True)
    w = torch.rand(211, requires_grad=True)
    lin = torch.nn.Linear(16, 8)
    with torch.autocast("cpu", torch.bfloat16):
        y = pt.spmm(graph, lin(x), w)
        assert y.dtype == torch.bfloat16
        p = pt.edge_softmax(graph, torch.randn(211, dtype=torch.bfloat16))
        assert p.dtype == torch.float32
        a = pt.gat(graph, y[:, :2], y[:, 2:4], y, heads=2)
        assert a.dtype == torch.bfloat16
        loss = (y.float() ** 2).mean() + (a.float() ** 2).mean() + pt.gcn(graph, y, bias=lin.bias).float().mean()
        if where == "both":
            loss.backward()
    if where == "forward":
        loss.backward()
    for t in (x, w, lin.weight, lin.bias):
        assert t.grad is not None and t.grad.dtype == torch.float32 and t.grad.isfinite().all()


def test_out_is_written_and_not_differentiated(graph, features):
    x = torch.from_numpy(features)
    out = torch.empty(37, 19)
    assert pt.spmm(graph, x, out=out).data_ptr() == out.data_ptr()
    assert torch.equal(out, pt.spmm(graph, x))
    with pytest.raises(ValueError, match="not differentiable"):
        pt.spmm(graph, x.clone().requires_grad_(), out=out)
    edge = torch.empty(211, 1)
    assert pt.sddmm(graph, x, x, out=edge) is edge
    assert torch.equal(edge, pt.sddmm(graph, x, x))
    with pytest.raises(ValueError, match="out has shape"):
        pt.spmm(graph, x, out=torch.empty(36, 19))


OPS = torch.ops.pantile


def _arguments(g):
    t = g._tensors
    parts = (t.ptr, t.col, t.order, t.handle)

    def r(*shape):
        return torch.randn(*shape, requires_grad=True)

    rows, cols, edges = g.rows, g.cols, g.edges
    yield OPS.spmm, (r(cols, 6), None, *parts, "sum", False, rows)
    yield OPS.spmm, (r(cols, 6), r(edges, 2), *parts, "mean", False, rows)
    yield OPS.spmm, (r(rows, 6), r(edges), *parts, "sum", True, cols)
    yield OPS.spmm_arg, (r(cols, 6), r(edges), *parts, "max")
    yield OPS.sddmm, (r(rows, 6), r(cols, 6), *parts, "dot", "dst", "src", 2, False)
    yield OPS.sddmm, (r(rows, 6), r(cols, 1), *parts, "mul", "dst", "src", 1, False)
    yield OPS.sddmm, (r(rows, 6), None, *parts, "copy_lhs", "dst", "edge", 1, False)
    yield OPS.edge_sum, (r(edges, 3), *parts, False, rows)
    yield OPS.edge_softmax, (r(edges, 3), *parts, False, rows)
    yield OPS.edge_softmax_backward, (r(edges, 3), r(edges, 3), *parts, True, cols)
    yield OPS.gat, (r(cols, 2), r(rows, 2), r(edges, 2), r(cols, 6), None, *parts, 2, 0.2, 0.0)
    yield OPS.gat, (r(cols, 2), r(rows, 2), None, r(cols, 6), torch.tensor(5), *parts, 2, 0.2, 0.3)
    yield OPS.gatv2, (r(cols, 6), r(rows, 6), r(edges, 6), r(2, 3), None, *parts, 2, 0.2, 0.0)
    yield OPS.transformer_attn, (r(rows, 6), r(cols, 6), r(cols, 6), r(edges, 6), None, *parts, 2, 0.0)
    if rows == cols:
        yield OPS.gcn, (r(rows, 6), None, r(6), *parts, "pyg", 1.0, "relu", 0.0, False, rows)
        yield OPS.agnn, (r(rows, 6), r(1), *parts)


def test_opcheck_on_every_operator(small, rectangle):
    seen = set()
    for g in (small, rectangle):
        for op, args in _arguments(g):
            torch.library.opcheck(op.default, args)
            seen.add(str(op))
    ptr = torch.tensor([0, 2, 2, 5])
    for reduce in ("sum", "mean", "max"):
        torch.library.opcheck(OPS.segment_reduce.default, (torch.randn(5, 3, requires_grad=True), ptr, reduce))
    torch.library.opcheck(OPS.graph.default, (torch.tensor([[0, 1, 2], [1, 2, 0]]), 3, 3))
    assert len(seen) >= 11


def test_a_handle_of_another_process_is_rebuilt_from_the_tensors(rectangle):
    t = rectangle._tensors
    stranger = t.handle.clone()
    stranger[0] = 123456789
    x, w = torch.randn(8, 3), torch.rand(19)
    got = OPS.spmm(x, w, t.ptr.clone(), t.col.clone(), t.order.clone(), stranger, "sum", False, 5)
    torch.testing.assert_close(got, pt.spmm(rectangle, x, w), rtol=0, atol=0)


def test_a_graph_lives_as_long_as_its_backward_pass():
    x = torch.randn(37, 4, requires_grad=True)
    y = pt.spmm(pantile.Graph.from_edge_index(random_edges(37, 37, 100, 9), 37), x)
    junk = [pantile.Graph.from_edge_index(random_edges(37, 37, 100, s), 37) for s in range(20)]
    y.sum().backward()
    want = torch.from_numpy(np.bincount(random_edges(37, 37, 100, 9)[0], minlength=37)).float()
    torch.testing.assert_close(x.grad, want.unsqueeze(1).expand(37, 4))
    assert len(junk) == 20
