from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..errors import InvalidArgument
from ..torch import functional as ops
from ..torch import layers
from .graphs import check_options, edge_index_of, graph_of
from .linear import Linear, linear


class TransformerConv(torch.nn.Module):
    """Graph transformer (Shi et al., IJCAI'21), fused: softmax(<q_i, k_j + e> / sqrt(D)) (v_j + e), with a gated skip
    (beta)."""

    lin_edge: Linear | None
    lin_beta: Linear | None

    def __init__(
        self,
        in_channels: int | tuple[int, int],
        out_channels: int,
        heads: int = 1,
        concat: bool = True,
        beta: bool = False,
        dropout: float = 0.0,
        edge_dim: int | None = None,
        bias: bool = True,
        root_weight: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        check_options("TransformerConv", kwargs)
        self.in_channels, self.out_channels, self.heads, self.concat = in_channels, out_channels, heads, concat
        self.beta, self.root_weight = beta and root_weight, root_weight
        self.dropout, self.edge_dim = dropout, edge_dim
        src, dst = in_channels if isinstance(in_channels, tuple) else (in_channels, in_channels)
        width = heads * out_channels
        total = width if concat else out_channels
        self.lin_key = linear(src, width, bias)
        self.lin_query = linear(dst, width, bias)
        self.lin_value = linear(src, width, bias)
        self.lin_edge = linear(edge_dim, width, False) if edge_dim is not None else None
        self.lin_skip = linear(dst, total, bias)
        self.lin_beta = linear(3 * total, 1, False) if self.beta else None

    def reset_parameters(self) -> None:
        for child in self.children():
            child.reset_parameters()  # type: ignore[operator]

    def forward(
        self,
        x: Tensor | tuple[Tensor, Tensor],
        edge_index: Any,
        edge_attr: Tensor | None = None,
        return_attention_weights: bool | None = None,
    ) -> Any:
        x_src, x_dst = x if isinstance(x, (tuple, list)) else (x, x)
        g, _ = graph_of(edge_index, x_src, x_dst)
        query, key, value = self.lin_query(x_dst), self.lin_key(x_src), self.lin_value(x_src)
        edge = None
        if self.lin_edge is not None:
            if edge_attr is None:
                raise InvalidArgument("TransformerConv was made with edge_dim; pass edge_attr [edges, edge_dim]")
            edge = self.lin_edge(edge_attr)
        elif edge_attr is not None:
            raise InvalidArgument("TransformerConv was made without edge_dim; pass edge_dim to use edge_attr")
        dropout = self.dropout if self.training else 0.0
        y = ops.transformer_attn(g, query, key, value, edge, heads=self.heads, dropout=dropout)
        if not self.concat:
            y = y.view(-1, self.heads, self.out_channels).mean(dim=1)
        if self.root_weight:
            skip = self.lin_skip(x_dst)
            if self.lin_beta is not None:
                gate = self.lin_beta(torch.cat([y, skip, y - skip], dim=-1)).sigmoid()
                y = gate * skip + (1 - gate) * y
            else:
                y = y + skip
        if return_attention_weights is None:
            return y
        alpha = layers.transformer_composite(g, query, key, value, edge, None, self.heads, 0.0)[1]
        return y, (edge_index_of(g, x_src.shape[0]), alpha)

    def __repr__(self) -> str:
        return f"TransformerConv({self.in_channels}, {self.out_channels}, heads={self.heads})"
