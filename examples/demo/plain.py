"""The same layers in plain torch, for the time of an epoch: gather and index_add, and torch.sparse.mm."""

from __future__ import annotations

import warnings

import torch
from torch import nn
from torch.nn.functional import leaky_relu

warnings.filterwarnings("ignore", message="Sparse (CSR tensor support|invariant checks)")


def with_loops(edge_index: torch.Tensor, nodes: int) -> torch.Tensor:
    """A self-loop for every node behind the edges."""
    loop = torch.arange(nodes)
    return torch.cat([edge_index, torch.stack([loop, loop])], dim=1)


class PlainGCN(nn.Module):
    """GCN layer of Kipf and Welling; the normalised adjacency is made once, as a careful user would."""

    def __init__(self, features: int, out: int, how: str):
        super().__init__()
        self.linear, self.how, self.kept = nn.Linear(features, out, bias=False), how, None
        self.bias = nn.Parameter(torch.zeros(out))

    def adjacency(self, edge_index: torch.Tensor, nodes: int):
        """(source, target, weight) for scatter; a CSR matrix whose transpose is itself a CSR matrix for sparse_mm."""
        if self.kept is None:
            source, target = with_loops(edge_index, nodes)
            degree = torch.zeros(nodes).index_add_(0, target, torch.ones(target.numel()))
            weight = (degree[source] * degree[target]).rsqrt()
            if self.how == "scatter":
                self.kept = source, target, weight.view(-1, 1)
            else:
                indices = torch.stack([target, source])
                self.kept = torch.sparse_coo_tensor(indices, weight, (nodes, nodes)).coalesce().to_sparse_csr()
        return self.kept

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        h = self.linear(x)
        if self.how == "sparse_mm":
            return torch.sparse.mm(self.adjacency(edge_index, x.shape[0]), h) + self.bias
        source, target, weight = self.adjacency(edge_index, x.shape[0])
        return torch.zeros_like(h).index_add_(0, target, h.index_select(0, source) * weight) + self.bias


class PlainGAT(nn.Module):
    """GAT layer by gather, softmax over the edges of each target, and index_add; heads are concatenated."""

    def __init__(self, features: int, out: int, heads: int):
        super().__init__()
        self.heads, self.out, self.kept = heads, out, None
        self.linear = nn.Linear(features, heads * out, bias=False)
        self.source_vector, self.target_vector = (nn.Parameter(torch.empty(heads, out)) for _ in range(2))
        nn.init.xavier_uniform_(self.source_vector)
        nn.init.xavier_uniform_(self.target_vector)
        self.bias = nn.Parameter(torch.zeros(heads * out))

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        nodes = x.shape[0]
        if self.kept is None:
            self.kept = with_loops(edge_index, nodes)
        source, target = self.kept
        h = self.linear(x).view(nodes, self.heads, self.out)
        at_source, at_target = (h * self.source_vector).sum(-1), (h * self.target_vector).sum(-1)
        z = leaky_relu(at_source[source] + at_target[target], 0.2)
        index = target.view(-1, 1).expand_as(z)
        highest = torch.full((nodes, self.heads), -torch.inf).scatter_reduce_(0, index, z.detach(), "amax")
        p = (z - highest[target]).exp()
        p = p / torch.zeros(nodes, self.heads).index_add_(0, target, p)[target]
        y = torch.zeros_like(h).index_add_(0, target, h[source] * p.unsqueeze(-1))
        return y.flatten(1) + self.bias
