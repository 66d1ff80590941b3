"""torch.compile: whole graphs, no breaks, no recompiling when the number of nodes changes."""

from __future__ import annotations

import pytest
from conftest import random_edges, run_python

import pantile

torch = pytest.importorskip("torch")
import pantile.torch as pt  # noqa: E402
from pantile import nn as pn  # noqa: E402


def compiled(f):
    """(compiled function, list that grows with every compilation). The backend runs the traced graph as it is."""
    torch._dynamo.reset()
    graphs = []

    def backend(module, inputs):
        graphs.append(module)
        return module.forward

    return torch.compile(f, fullgraph=True, dynamic=True, backend=backend), graphs


def case(n, width, seed=0):
    e = torch.from_numpy(random_edges(n, n, 5 * n, seed))
    return e, pantile.Graph.from_edge_index(e, n), torch.randn(n, width)


FUNCTIONS = {
    "spmm": lambda g, x: pt.spmm(g, x).relu(),
    "spmm_max": lambda g, x: pt.spmm(g, x, reduce="max"),
    "sddmm": lambda g, x: pt.sddmm(g, x, x, heads=2),
    "edge_softmax": lambda g, x: pt.edge_softmax(g, pt.sddmm(g, x, x)),
    "gcn": lambda g, x: pt.gcn(g, x, activation="relu"),
    "gat": lambda g, x: pt.gat(g, x[:, :2], x[:, 2:4], x, heads=2),
    "gatv2": lambda g, x: pt.gatv2(g, x, x, x[:1].view(2, -1), heads=2),
    "transformer": lambda g, x: pt.transformer_attn(g, x, x, x, heads=2),
    "agnn": lambda g, x: pt.agnn(g, x, 0.5),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_operators_compile_whole_and_once(name):
    f = FUNCTIONS[name]
    fast, graphs = compiled(f)
    for n in (30, 47, 101):
        _, g, x = case(n, 8, n)
        torch.testing.assert_close(fast(g, x), f(g, x))
    assert len(graphs) == 1


@pytest.mark.parametrize("form", ["graph", "edge_index"])
@pytest.mark.parametrize("layer", ["GCNConv", "SAGEConv", "GATConv", "GATv2Conv", "TransformerConv", "AGNNConv"])
def test_layers_compile_whole_and_once(layer, form):
    torch.manual_seed(0)
    module = pn.AGNNConv() if layer == "AGNNConv" else getattr(pn, layer)(8, 6)
    fast, graphs = compiled(module)
    for n in (30, 47, 101):
        e, g, x = case(n, 8, n)
        torch.testing.assert_close(fast(x, g if form == "graph" else e), module(x, e))
    assert len(graphs) == 1


def test_training_step_through_aot_autograd():
    torch._dynamo.reset()

    def loss(layer, other, x, g):
        return (other(layer(x, g).relu(), g) ** 2).mean()

    layer, other = pn.GCNConv(8, 6), pn.GATConv(6, 4, heads=2)
    fast = torch.compile(loss, fullgraph=True, dynamic=True, backend="aot_eager")
    for n in (30, 47):
        _, g, x = case(n, 8, n)
        results = []
        for f in (loss, fast):
            layer.zero_grad()
            other.zero_grad()
            f(layer, other, x, g).backward()
            results.append([p.grad.clone() for m in (layer, other) for p in m.parameters()])
        for a, b in zip(*results, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


def test_inductor_gives_the_eager_result_and_gradients():
    torch._dynamo.reset()

    def f(g, x, w):
        return pt.spmm(g, torch.sin(x) * 2, w).cos().sum()

    fast = torch.compile(f, fullgraph=True)
    _, g, x = case(30, 8)
    results = []
    for run in (f, fast):
        xs, ws = x.clone().requires_grad_(), torch.linspace(0, 1, 150).requires_grad_()
        y = run(g, xs, ws)
        y.backward()
        results.append((y.detach(), xs.grad, ws.grad))
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


def test_autocast_inside_compiled_code():
    def f(g, x):
        with torch.autocast("cpu", torch.bfloat16):
            return pt.spmm(g, x)

    fast, _ = compiled(f)
    _, g, x = case(30, 8)
    assert fast(g, x).dtype == torch.bfloat16


def test_a_graph_made_before_torch_was_imported_has_its_tensors():
    code = (
        "import numpy as np, pantile\n"
        "g = pantile.Graph.from_edge_index(np.array([[0, 1], [1, 0]]), 2)\n"
        "assert g._tensors is None\n"
        "import torch, pantile.torch as pt\n"
        "assert g._tensors is not None\n"
        "f = torch.compile(lambda g, x: pt.spmm(g, x), fullgraph=True, backend='eager')\n"
        "x = torch.eye(2)\n"
        "assert torch.equal(f(g, x), x[[1, 0]])\n"
    )
    run_python(code)
