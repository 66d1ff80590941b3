from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..errors import InvalidArgument
from ..torch import functional as ops
from .graphs import check_options, graph_of
from .linear import linear


class GCNConv(torch.nn.Module):
    """Graph convolution (Kipf and Welling, ICLR'17): D^-1/2 (A + I) D^-1/2 X W + b in one pass over the graph.

    X W comes before the aggregation or after it, whichever is narrower. `improved` doubles the added loops of
    weighted graphs only,
    as torch-geometric does. cached=True keeps the first graph and ignores later
    ones.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        improved: bool = False,
        cached: bool = False,
        add_self_loops: bool | None = None,
        normalize: bool = True,
        bias: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        check_options("GCNConv", kwargs)
        self.add_self_loops = normalize if add_self_loops is None else add_self_loops
        if self.add_self_loops and not normalize:
            raise InvalidArgument(
                "GCNConv adds self-loops only when it normalises; pass normalize=True or add_self_loops=False"
            )
        self.in_channels, self.out_channels = in_channels, out_channels
        self.improved, self.cached, self.normalize = improved, cached, normalize
        self.lin = linear(in_channels, out_channels, bias=False, initializer="glorot")
        if bias:
            self.bias = torch.nn.Parameter(torch.zeros(out_channels))
        else:
            self.register_parameter("bias", None)
        self._kept: Any = None

    def reset_parameters(self) -> None:
        self.lin.reset_parameters()
        if self.bias is not None:
            torch.nn.init.zeros_(self.bias)
        self._kept = None

    def forward(self, x: Tensor, edge_index: Any, edge_weight: Tensor | None = None) -> Tensor:
        if isinstance(x, (tuple, list)):
            raise InvalidArgument("GCNConv takes one feature matrix; bipartite graphs go to SAGEConv or GATConv")
        if self._kept is None:
            g, values = graph_of(edge_index, x, None)
            weight = values if edge_weight is None else edge_weight
            if self.cached:
                self._kept = (g, weight)
        else:
            g, weight = self._kept
        # The narrower side is aggregated; a lazy layer learns its width in lin first.
        first = self.lin.in_features >= self.out_channels or self.in_channels == -1
        if first:
            x = self.lin(x)
        bias = self.bias if first else None
        if self.normalize:
            loop = (2.0 if self.improved and weight is not None else 1.0) if self.add_self_loops else 0.0
            y = ops.gcn(g, x, weight, bias, norm="pyg", loop_weight=loop)
        else:
            y = ops.gcn(g, x, weight, bias, norm="none", loop_weight=0.0)
        if not first:
            y = self.lin(y)
            y = y if self.bias is None else y + self.bias
        return y

    def __repr__(self) -> str:
        return f"GCNConv({self.in_channels}, {self.out_channels})"
