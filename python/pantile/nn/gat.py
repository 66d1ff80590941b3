from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..torch import functional as ops
from ..torch import layers
from .graphs import attention_in_callers_order, check_options, graph_of, with_loops
from .linear import glorot, linear


def _scores(x: Tensor, att: Tensor) -> Tensor:
    """<x[n, h, :], att[0, h, :]> as [n, heads]."""
    heads, width = att.shape[1], att.shape[2]
    return torch.einsum("nhc,hc->nh", x.view(-1, heads, width), att[0]) if heads > 1 else x @ att.view(width, 1)


class GATConv(torch.nn.Module):
    """Graph attention (Velickovic et al., ICLR'18), forward and backward fused: no tensor of size edges * width is
    made."""

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
        residual: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        check_options("GATConv", kwargs)
        self.in_channels, self.out_channels, self.heads, self.concat = in_channels, out_channels, heads, concat
        self.negative_slope, self.dropout, self.add_self_loops = negative_slope, dropout, add_self_loops
        self.edge_dim, self.fill_value, self.residual = edge_dim, fill_value, residual
        width, total = heads * out_channels, out_channels * (heads if concat else 1)
        self.lin = self.lin_src = self.lin_dst = None
        if isinstance(in_channels, tuple):
            self.lin_src = linear(in_channels[0], width, False, "glorot")
            self.lin_dst = linear(in_channels[1], width, False, "glorot")
        else:
            self.lin = linear(in_channels, width, False, "glorot")
        self.att_src = torch.nn.Parameter(torch.empty(1, heads, out_channels))
        self.att_dst = torch.nn.Parameter(torch.empty(1, heads, out_channels))
        self.lin_edge = None
        if edge_dim is not None:
            self.lin_edge = linear(edge_dim, width, False, "glorot")
            self.att_edge = torch.nn.Parameter(torch.empty(1, heads, out_channels))
        else:
            self.register_parameter("att_edge", None)
        own = in_channels[1] if isinstance(in_channels, tuple) else in_channels
        self.res = linear(own, total, False, "glorot") if residual else None
        if bias:
            self.bias = torch.nn.Parameter(torch.zeros(total))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        for child in self.children():
            child.reset_parameters()  # type: ignore[operator]
        glorot(self.att_src)
        glorot(self.att_dst)
        glorot(self.att_edge)
        if self.bias is not None:
            torch.nn.init.zeros_(self.bias)

    def _edge_scores(self, attr: Tensor | None) -> Tensor | None:
        if attr is None or self.lin_edge is None:
            return None
        attr = attr.view(-1, 1) if attr.dim() == 1 else attr
        # <W e, a> = <e, W^T a>: [edges, edge_dim] x [edge_dim, heads], without the [edges, heads * width] product.
        weight = self.lin_edge.weight.view(self.heads, self.out_channels, -1)
        return attr @ torch.einsum("hcd,hc->dh", weight, self.att_edge[0])

    def forward(
        self,
        x: Tensor | tuple[Tensor, Tensor | None],
        edge_index: Any,
        edge_attr: Tensor | None = None,
        size: Any = None,
        return_attention_weights: bool | None = None,
    ) -> Any:
        x_src, x_dst = x if isinstance(x, (tuple, list)) else (x, x)
        g, _ = graph_of(edge_index, x_src, x_dst, size)
        sources = x_src.shape[0]
        res = self.res(x_dst) if self.res is not None and x_dst is not None else None
        lin_src, lin_dst = (self.lin, self.lin) if self.lin is not None else (self.lin_src, self.lin_dst)
        v = lin_src(x_src)  # type: ignore[misc]
        shared = x_dst is x_src and lin_dst is lin_src
        target = None if x_dst is None else v if shared else lin_dst(x_dst)  # type: ignore[misc]
        a_src = _scores(v, self.att_src)
        a_dst = v.new_zeros((g.ptr.shape[0] - 1, self.heads)) if target is None else _scores(target, self.att_dst)
        loops, origin = None, None
        if self.add_self_loops:
            loops, edge_attr, origin = with_loops(g, edge_attr, sources, self.fill_value)
        a_edge = self._edge_scores(edge_attr)
        walk = g if loops is None else loops
        dropout = self.dropout if self.training else 0.0
        alpha = None
        if return_attention_weights is not None:
            edge = None if a_edge is None else a_edge.to(a_src.dtype)
            y, alpha = layers.gat_composite(
                walk, a_src, a_dst, edge, v, ops._seed(dropout), self.heads, self.negative_slope, dropout
            )
        else:
            y = ops.gat(
                walk, a_src, a_dst, v, a_edge, heads=self.heads, negative_slope=self.negative_slope, dropout=dropout
            )
        if not self.concat:
            y = y.view(-1, self.heads, self.out_channels).mean(dim=1)
        if res is not None:
            y = y + res
        if self.bias is not None:
            y = y + self.bias
        return y if alpha is None else (y, attention_in_callers_order(g, alpha, origin, loops, sources))

    def __repr__(self) -> str:
        return f"GATConv({self.in_channels}, {self.out_channels}, heads={self.heads})"
