"""Cora, public split, ten seeds: the accuracies that the papers report, with our layers. Needs PANTILE_DATA."""

from __future__ import annotations

import csv
import gzip

import numpy as np
import pytest

import pantile

torch = pytest.importorskip("torch")
from pantile import nn as pn  # noqa: E402


@pytest.fixture(scope="module")
def cora(graph_files):
    folder = graph_files / "planetoid_plain"

    with gzip.open(folder / "cora.nodes.csv.gz", "rt") as file:
        nodes = list(csv.DictReader(file))
    pairs = np.loadtxt(folder / "cora.edges.csv.gz", np.int64, delimiter=",").T
    with np.load(folder / "cora.features_csr.npz") as f:
        words = pantile.Graph.from_csr(f["indptr"], f["indices"], tuple(f["shape"]))
        x = f["data"] / np.repeat(np.diff(f["indptr"]), np.diff(f["indptr"])).astype(np.float32)
    y = np.array([int(row["label"]) for row in nodes])
    masks = {name: np.array([row["split"] == name for row in nodes]) for name in ("train", "val", "test")}
    assert [int(m.sum()) for m in masks.values()] == [140, 500, 1000]
    graph = pantile.Graph.from_edge_index(np.concatenate([pairs, pairs[::-1]], axis=1), len(nodes))
    return graph, words, torch.from_numpy(x), torch.from_numpy(y), {k: torch.from_numpy(m) for k, m in masks.items()}


class WordsLinear(torch.nn.Module):
    """A layer's dense map for features that are 99 % zeros: x W^T as an spmm over the words of each paper."""

    def __init__(self, lin, words):
        super().__init__()
        self.weight, self.in_features, self.words = lin.weight, lin.in_features, words

    def forward(self, counts):
        return pantile.torch.spmm(self.words, self.weight.t(), counts)


class Net(torch.nn.Module):
    def __init__(self, words, first, second, dropout, activation):
        super().__init__()
        self.first, self.second, self.dropout, self.activation = first, second, dropout, activation
        first.lin = WordsLinear(first.lin, words)

    def forward(self, x, g):
        x = torch.nn.functional.dropout(x, self.dropout, self.training)
        x = self.activation(self.first(x, g))
        x = torch.nn.functional.dropout(x, self.dropout, self.training)
        return self.second(x, g)


def accuracy(make, cora, seed, rate, decay, epochs=200, patience=40):
    """Test accuracy at the epoch of the lowest validation loss; stops after `patience` epochs without a lower one."""
    graph, words, x, y, masks = cora
    torch.manual_seed(seed)
    net = make(words)
    optimiser = torch.optim.Adam(net.parameters(), rate, weight_decay=decay)
    best, result, since = float("inf"), 0.0, 0
    for _ in range(epochs):
        net.train()
        optimiser.zero_grad()
        torch.nn.functional.cross_entropy(net(x, graph)[masks["train"]], y[masks["train"]]).backward()
        optimiser.step()
        net.eval()
        with torch.no_grad():
            out = net(x, graph)
            loss = torch.nn.functional.cross_entropy(out[masks["val"]], y[masks["val"]]).item()
            since += 1
            if loss < best:
                best, since = loss, 0
                result = (out.argmax(1) == y)[masks["test"]].float().mean().item()
        if since >= patience:
            break
    return result


def test_gcn_reaches_the_published_accuracy(cora):
    scores = [
        accuracy(
            lambda words: Net(words, pn.GCNConv(1433, 16), pn.GCNConv(16, 7), 0.5, torch.relu), cora, seed, 0.01, 5e-4
        )
        for seed in range(10)
    ]
    assert np.mean(scores) >= 0.805, scores


def test_gat_reaches_the_published_accuracy(cora):
    def make(words):
        first = pn.GATConv(1433, 8, heads=8, dropout=0.6)
        return Net(words, first, pn.GATConv(64, 7, heads=1, dropout=0.6), 0.6, torch.nn.functional.elu)

    scores = [accuracy(make, cora, seed, 0.005, 5e-4, epochs=400) for seed in range(10)]
    assert np.mean(scores) >= 0.815, scores
