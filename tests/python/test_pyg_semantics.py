"""torch-geometric's own spmm, softmax, scatter and segment beside ours."""

from __future__ import annotations

import pytest
from conftest import random_edges

import pantile

torch = pytest.importorskip("torch")
utils = pytest.importorskip("torch_geometric.utils")
import pantile.torch as pt  # noqa: E402

N, E = 41, 260


@pytest.fixture(scope="module")
def case():
    e = torch.from_numpy(random_edges(N, N, E, 31))
    return e, pantile.Graph.from_edge_index(e, N)


@pytest.mark.parametrize("reduce", ["sum", "mean", "min", "max"])
@pytest.mark.parametrize("width", [1, 7, 16, 33, 64])
def test_scatter(case, reduce, width):
    e, g = case
    x = torch.randn(N, width, requires_grad=True)
    want = utils.scatter(x[e[0]], e[1], 0, N, reduce)
    got = pt.spmm(g, x, reduce=reduce)
    torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-5)
    dy = torch.randn(N, width)
    torch.testing.assert_close(
        torch.autograd.grad(got, x, dy)[0], torch.autograd.grad(want, x, dy)[0], rtol=1e-4, atol=1e-5
    )


@pytest.mark.parametrize("reduce", ["sum", "mean", "min", "max"])
def test_spmm_of_a_sparse_tensor(reduce):
    e = torch.unique(torch.from_numpy(random_edges(N, N, E, 32)), dim=1)
    values = torch.rand(e.shape[1]) + 0.1
    adj = torch.sparse_coo_tensor(e.flip(0), values, (N, N)).coalesce().to_sparse_csr()
    x = torch.randn(N, 12)
    torch.testing.assert_close(pt.spmm(adj, x, reduce=reduce), utils.spmm(adj, x, reduce), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("heads", [1, 4])
def test_softmax(case, heads):
    e, g = case
    z = torch.randn(E, heads)
    torch.testing.assert_close(pt.edge_softmax(g, z), utils.softmax(z, e[1], num_nodes=N), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("reduce", ["sum", "mean", "min", "max"])
def test_segment(reduce):
    ptr = torch.tensor([0, 3, 3, 4, 20])
    x = torch.randn(20, 9, requires_grad=True)
    want = utils.segment(x, ptr, reduce)
    want = torch.where(want.isfinite(), want, torch.zeros(()))
    got = pt.segment_reduce(x, ptr, reduce)
    torch.testing.assert_close(got, want, rtol=1e-5, atol=1e-6)


def test_layers_accept_whatever_holds_a_graph(case):
    from torch_geometric.data import Data
    from torch_geometric.transforms import ToSparseTensor

    from pantile import nn as pn

    e, g = case
    x = torch.randn(N, 6)
    layer = pn.GCNConv(6, 4)
    want = layer(x, g)
    data = Data(x=x, edge_index=e)
    torch.testing.assert_close(layer(x, data), want)
    sparse = ToSparseTensor(layout=torch.sparse_csr, remove_edge_index=False)(
        Data(x=x, edge_index=torch.unique(e, dim=1))
    )
    unique = layer(x, torch.unique(e, dim=1))
    torch.testing.assert_close(layer(x, sparse.adj_t), unique, rtol=1e-5, atol=1e-6)
