"""Layers against torch-geometric's own: outputs, gradients, state_dicts both ways, options, from_pyg."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from conftest import random_edges

import pantile

torch = pytest.importorskip("torch")
pyg = pytest.importorskip("torch_geometric.nn")
from pantile import nn as pn  # noqa: E402

N, M, E = 29, 17, 120


@pytest.fixture(scope="module")
def square():
    e = random_edges(N, N, E, 21)
    e[:, 5] = e[:, 2]  # a node with two loops
    return torch.from_numpy(e)


@pytest.fixture(scope="module")
def bipartite():
    return torch.from_numpy(np.stack([random_edges(M, N, E, 22)[0], random_edges(M, N, E, 23)[1]]))


def randomised(layer):
    torch.manual_seed(1)
    with torch.no_grad():
        for p in layer.parameters():
            p.copy_(torch.randn_like(p) * 0.5)
    return layer


def compare(theirs, ours, x, edge_index, *rest, graph=None, **options):
    """Same parameters both ways; outputs and every gradient equal within 1e-5 of their scale."""
    randomised(theirs)
    ours.load_state_dict(theirs.state_dict())
    theirs.load_state_dict(ours.state_dict())
    results = []
    for layer, g in ((theirs, edge_index), (ours, edge_index if graph is None else graph)):
        inputs = [t.clone().requires_grad_() for t in (x if isinstance(x, tuple) else (x,))]
        layer.zero_grad()
        y = layer(tuple(inputs) if isinstance(x, tuple) else inputs[0], g, *rest, **options)
        y.sin().sum().backward()
        results.append([y, *(t.grad for t in inputs), *(p.grad for p in layer.parameters())])
    for a, b in zip(*results, strict=True):
        if a is None or b is None:
            assert a is None or not a.any()
            continue
        scale = max(1.0, a.abs().max().item())
        assert (a - b).abs().max().item() <= 1e-5 * scale
    return results[1][0]


@pytest.mark.parametrize("form", ["edge_index", "graph"])
@pytest.mark.parametrize("widths", [(7, 12), (12, 7)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "options",
    [{}, {"improved": True}, {"add_self_loops": False}, {"normalize": False}, {"bias": False}, {"cached": True}],
    ids=str,
)
def test_gcn(square, form, widths, weighted, options):
    x = torch.randn(N, widths[0])
    w = torch.rand(square.shape[1]) if weighted else None
    graph = pantile.Graph.from_edge_index(square, N) if form == "graph" else None
    compare(pyg.GCNConv(*widths, **options), pn.GCNConv(*widths, **options), x, square, w, graph=graph)


def test_gcn_gradient_of_the_edge_weights(square):
    theirs, ours = randomised(pyg.GCNConv(5, 6)), pn.GCNConv(5, 6)
    ours.load_state_dict(theirs.state_dict())
    x, w = torch.randn(N, 5), torch.rand(square.shape[1])
    grads = []
    for layer in (theirs, ours):
        v = w.clone().requires_grad_()
        layer(x, square, v).sin().sum().backward()
        grads.append(v.grad)
    # Of two loops on a node only the last counts: the other's gradient is 0, though torch's index_put hands it one too.
    assert grads[1][2] == 0
    grads[0][2] = 0
    torch.testing.assert_close(*grads, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("aggr", ["mean", "max", "add", "min"])
@pytest.mark.parametrize(
    "options", [{}, {"project": True}, {"root_weight": False}, {"normalize": True}, {"bias": False}], ids=str
)
@pytest.mark.parametrize("widths", [(6, 9), (9, 6)])
def test_sage(square, bipartite, aggr, options, widths):
    compare(
        pyg.SAGEConv(*widths, aggr, **options), pn.SAGEConv(*widths, aggr, **options), torch.randn(N, widths[0]), square
    )
    pair = (widths[0], 4)
    if not options.get("normalize"):
        compare(
            pyg.SAGEConv(pair, widths[1], aggr, **options),
            pn.SAGEConv(pair, widths[1], aggr, **options),
            (torch.randn(N, widths[0]), torch.randn(M, 4)),
            bipartite,
        )


@pytest.mark.parametrize("train_eps", [False, True])
def test_gin(square, train_eps):
    def mlp():
        return torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.ReLU(), torch.nn.Linear(8, 5))

    theirs, ours = pyg.GINConv(mlp(), eps=0.3, train_eps=train_eps), pn.GINConv(mlp(), eps=0.3, train_eps=train_eps)
    compare(theirs, ours, torch.randn(N, 6), square)


ATTENTION = [
    {},
    {"heads": 3},
    {"heads": 3, "concat": False},
    {"heads": 2, "add_self_loops": False},
    {"heads": 2, "negative_slope": 0.05, "bias": False},
    {"heads": 2, "residual": True},
    {"heads": 2, "edge_dim": 4},
    {"heads": 2, "edge_dim": 4, "fill_value": 0.5},
    {"heads": 2, "edge_dim": 4, "fill_value": "add"},
    {"heads": 2, "edge_dim": 4, "fill_value": "max"},
    {"heads": 2, "edge_dim": 4, "add_self_loops": False},
]


@pytest.mark.parametrize("options", ATTENTION, ids=str)
@pytest.mark.parametrize("layer", ["GATConv", "GATv2Conv"])
def test_gat_and_gatv2(square, bipartite, layer, options):
    rest = (torch.randn(square.shape[1], 4),) if "edge_dim" in options else ()
    make = lambda lib, width, **more: getattr(lib, layer)(width, 5, **options, **more)  # noqa: E731
    compare(make(pyg, 6), make(pn, 6), torch.randn(N, 6), square, *rest)
    if layer == "GATv2Conv":
        compare(make(pyg, 6, share_weights=True), make(pn, 6, share_weights=True), torch.randn(N, 6), square, *rest)
    rest = (torch.randn(E, 4),) if "edge_dim" in options else ()
    compare(make(pyg, (6, 3)), make(pn, (6, 3)), (torch.randn(N, 6), torch.randn(M, 3)), bipartite, *rest)


@pytest.mark.parametrize("layer", ["GATConv", "GATv2Conv", "TransformerConv"])
def test_attention_weights_in_torch_geometrics_order(square, layer):
    theirs = randomised(getattr(pyg, layer)(6, 5, heads=2))
    ours = getattr(pn, layer)(6, 5, heads=2)
    ours.load_state_dict(theirs.state_dict())
    x = torch.randn(N, 6)
    y, (index, alpha) = theirs(x, square, return_attention_weights=True)
    mine, (my_index, my_alpha) = ours(x, square, return_attention_weights=True)
    torch.testing.assert_close(mine, y, rtol=1e-5, atol=1e-5)
    assert torch.equal(my_index, index)
    torch.testing.assert_close(my_alpha, alpha, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize("trainable", [False, True])
def test_agnn(square, loops, trainable):
    compare(pyg.AGNNConv(trainable, loops), pn.AGNNConv(trainable, loops), torch.randn(N, 6), square)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"heads": 3},
        {"heads": 3, "concat": False},
        {"heads": 2, "beta": True},
        {"heads": 2, "beta": True, "concat": False},
        {"heads": 2, "edge_dim": 4},
        {"heads": 2, "root_weight": False},
        {"heads": 2, "bias": False},
    ],
    ids=str,
)
def test_transformer(square, bipartite, options):
    rest = (torch.randn(square.shape[1], 4),) if "edge_dim" in options else ()
    compare(pyg.TransformerConv(6, 5, **options), pn.TransformerConv(6, 5, **options), torch.randn(N, 6), square, *rest)
    rest = (torch.randn(E, 4),) if "edge_dim" in options else ()
    pair = (torch.randn(N, 6), torch.randn(M, 3))
    compare(pyg.TransformerConv((6, 3), 5, **options), pn.TransformerConv((6, 3), 5, **options), pair, bipartite, *rest)


def test_lazy_widths_are_learnt_from_the_first_input(square):
    layer = pn.GCNConv(-1, 4)
    assert layer(torch.randn(N, 11), square).shape == (N, 4)
    assert layer.lin.weight.shape == (4, 11)
    assert pn.GATConv(-1, 4, heads=2)(torch.randn(N, 3), square).shape == (N, 8)


def test_initial_parameters_have_torch_geometrics_spread():
    for kind, args in (
        ("GCNConv", (64, 32)),
        ("GATConv", (64, 32, 4)),
        ("TransformerConv", (64, 32, 2)),
        ("SAGEConv", (64, 32)),
    ):
        theirs, ours = getattr(pyg, kind)(*args), getattr(pn, kind)(*args)
        assert theirs.state_dict().keys() == ours.state_dict().keys()
        for name, t in theirs.state_dict().items():
            mine = ours.state_dict()[name]
            assert mine.shape == t.shape
            if t.numel() > 500:
                assert abs(mine.std() / t.std() - 1) < 0.15, (kind, name)


def test_from_pyg_swaps_layers_and_shares_parameters(square):
    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = pyg.GATConv(6, 4, heads=2)
            self.rest = torch.nn.ModuleList([pyg.GCNConv(8, 8), pyg.SAGEConv(8, 8, aggr="max"), pyg.ChebConv(8, 3, 2)])
            self.gin = pyg.GINConv(torch.nn.Linear(3, 3), train_eps=True)

        def forward(self, x, e):
            x = self.first(x, e).relu()
            for layer in self.rest:
                x = layer(x, e)
            return self.gin(x, e)

    theirs = Model().eval()
    ours = copy.deepcopy(theirs)
    optimiser = torch.optim.SGD(ours.parameters(), 0.1)
    held = {id(p) for p in ours.parameters()}
    assert pn.from_pyg(ours) is ours
    assert isinstance(ours.first, pn.GATConv) and isinstance(ours.rest[0], pn.GCNConv)
    assert isinstance(ours.rest[1], pn.SAGEConv) and isinstance(ours.gin, pn.GINConv)
    assert isinstance(ours.rest[2], pyg.ChebConv) and not ours.first.training
    assert {id(p) for p in ours.parameters()} == held
    x = torch.randn(N, 6)
    torch.testing.assert_close(ours(x, square), theirs(x, square), rtol=1e-4, atol=1e-5)
    ours(x, square).sum().backward()
    before = ours.first.att_src.clone()
    optimiser.step()
    assert not torch.equal(before, ours.first.att_src)
    assert isinstance(pn.from_pyg(pyg.GCNConv(2, 2)), pn.GCNConv)


def test_whole_models_of_torch_geometric_can_be_swapped(square):
    x = torch.randn(N, 6)
    for model in (pyg.GCN(6, 8, 2, 3), pyg.GraphSAGE(6, 8, 2, 3), pyg.GAT(6, 8, 2, 3, heads=2), pyg.GIN(6, 8, 2, 3)):
        model.eval()
        want = model(x, square)
        torch.testing.assert_close(pn.from_pyg(model)(x, square), want, rtol=1e-4, atol=1e-5)


def test_what_is_not_done_is_refused_by_name(square):
    with pytest.raises(ValueError, match="flow"):
        pn.GCNConv(3, 3, flow="target_to_source")
    with pytest.raises(ValueError, match="lstm"):
        pn.SAGEConv(3, 3, aggr="lstm")
    with pytest.raises(ValueError, match="bipartite"):
        pn.GCNConv(3, 3)((torch.randn(N, 3), torch.randn(N, 3)), square)
    with pytest.raises(ValueError, match="edge_attr"):
        pn.TransformerConv(3, 3, edge_dim=2)(torch.randn(N, 3), square)


def test_dropout_acts_in_training_only(square):
    layer = pn.GATConv(6, 5, heads=2, dropout=0.6)
    x = torch.randn(N, 6)
    assert not torch.equal(layer(x, square), layer(x, square))
    layer.eval()
    assert torch.equal(layer(x, square), layer(x, square))


def test_training_on_a_small_graph_learns():
    g, labels = pantile.generate.sbm(300, 3, 10, 1, seed=2)
    y = torch.from_numpy(labels)
    torch.manual_seed(0)
    x = torch.randn(300, 16) + torch.nn.functional.one_hot(y, 16) * 0.5
    first, second = pn.GCNConv(16, 16), pn.GATConv(16, 3)
    optimiser = torch.optim.Adam([*first.parameters(), *second.parameters()], 0.02)
    for _ in range(60):
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(second(first(x, g).relu(), g)[::2], y[::2])
        loss.backward()
        optimiser.step()
    with torch.no_grad():
        accuracy = (second(first(x, g).relu(), g).argmax(1)[1::2] == y[1::2]).float().mean()
    assert accuracy > 0.9
