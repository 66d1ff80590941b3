from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..torch import functional as ops
from ..torch import layers
from .graphs import attention_in_callers_order, check_options, graph_of, with_loops
from .linear import glorot, linear


class GATv2Conv(torch.nn.Module):
    """Dynamic graph attention (Brody et al., ICLR'22), fused."""

    def __init__(
        self,
        in_channels: int | tuple[int, int],
        out_channels: int,
        heads: int = 1,
        concat: bool = True,
        negative_slope: float = 0.2,
        dropout: float = 0.0,
        add_self_loops: bool = True,
        edge_dim: int | None = None,
        fill_value: float | Tensor | str = "mean",
        bias: bool = True,
        share_weights: bool = False,
        residual: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        check_options("GATv2Conv", kwargs)
        self.in_channels, self.out_channels, self.heads, self.concat = in_channels, out_channels, heads, concat
        self.negative_slope, self.dropout, self.add_self_loops = negative_slope, dropout, add_self_loops
        self.edge_dim, self.fill_value, self.residual, self.share_weights = (
            edge_dim,
            fill_value,
            residual,
            share_weights,
        )
        width, total = heads * out_channels, out_channels * (heads if concat else 1)
        src, dst = in_channels if isinstance(in_channels, tuple) else (in_channels, in_channels)
        self.lin_l = linear(src, width, bias, "glorot")
        self.lin_r = self.lin_l if share_weights else linear(dst, width, bias, "glorot")
        self.att = torch.nn.Parameter(torch.empty(1, heads, out_channels))
        self.lin_edge = linear(edge_dim, width, False, "glorot") if edge_dim is not None else None
        self.res = linear(dst, total, False, "glorot") if residual else None
        if bias:
            self.bias = torch.nn.Parameter(torch.zeros(total))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for child in self.children():
            child.reset_parameters()  # type: ignore[operator]
        glorot(self.att)
        if self.bias is not None:
            torch.nn.init.zeros_(self.bias)

    def forward(
        self,
        x: Tensor | tuple[Tensor, Tensor],
        edge_index: Any,
        edge_attr: Tensor | None = None,
        return_attention_weights: bool | None = None,
    ) -> Any:
        x_src, x_dst = x if isinstance(x, (tuple, list)) else (x, x)
        g, _ = graph_of(edge_index, x_src, x_dst)
        sources = x_src.shape[0]
        res = self.res(x_dst) if self.res is not None else None
        left = self.lin_l(x_src)
        right = left if self.share_weights and x_dst is x_src else self.lin_r(x_dst)
        loops, origin = None, None
        if self.add_self_loops:
            loops, edge_attr, origin = with_loops(g, edge_attr, sources, self.fill_value)
        edge = None
        if edge_attr is not None and self.lin_edge is not None:
            edge = self.lin_edge(edge_attr.view(-1, 1) if edge_attr.dim() == 1 else edge_attr)
        walk = g if loops is None else loops
        dropout = self.dropout if self.training else 0.0
        alpha = None
        if return_attention_weights is not None:
            y, alpha = layers.gatv2_composite(
                walk, left, right, edge, self.att[0], ops._seed(dropout), self.heads, self.negative_slope, dropout
            )
        else:
            y = ops.gatv2(
                walk, left, right, self.att, edge, heads=self.heads, negative_slope=self.negative_slope, dropout=dropout
            )
        if not self.concat:
            y = y.view(-1, self.heads, self.out_channels).mean(dim=1)
        if res is not None:
            y = y + res
        if self.bias is not None:
            y = y + self.bias
        return y if alpha is None else (y, attention_in_callers_order(g, alpha, origin, loops, sources))

    def __repr__(self) -> str:
        return f"GATv2Conv({self.in_channels}, {self.out_channels}, heads={self.heads})"
