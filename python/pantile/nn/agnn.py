from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..torch import functional as ops
from .graphs import check_options, graph_of, with_loops


class AGNNConv(torch.nn.Module):
    """Attention by cosine similarity (Thekumparampil et al., 2018), fused: softmax(beta cos(x_i, x_j)) x_j."""

    beta: Tensor

    def __init__(self, requires_grad: bool = True, add_self_loops: bool = True, **kwargs: Any) -> None:
        super().__init__()
        check_options("AGNNConv", kwargs)
        self.requires_grad, self.add_self_loops = requires_grad, add_self_loops
        if requires_grad:
            self.beta = torch.nn.Parameter(torch.ones(1))
        else:
            self.register_buffer("beta", torch.ones(1))

    def reset_parameters(self) -> None:
        if self.requires_grad:
            self.beta.data.fill_(1)

    def forward(self, x: Tensor, edge_index: Any) -> Tensor:
        g, _ = graph_of(edge_index, x, None)
        if self.add_self_loops:
            g, _, _ = with_loops(g, None, x.shape[0], 1.0)
        return ops.agnn(g, x, self.beta)

    def __repr__(self) -> str:
        return "AGNNConv()"
