from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from ..errors import InvalidArgument
from ..torch import functional as ops
from .graphs import check_options, graph_of
from .linear import linear

_REDUCE = {"mean": "mean", "max": "max", "min": "min", "add": "sum", "sum": "sum"}


class SAGEConv(torch.nn.Module):
    """GraphSAGE (Hamilton et al., NIPS'17): W_l reduce(x_j) + W_r x_i; aggr mean, max, min, add or sum."""

    def __init__(
        self,
        in_channels: int | tuple[int, int],
        out_channels: int,
        aggr: str = "mean",
        normalize: bool = False,
        root_weight: bool = True,
        project: bool = False,
        bias: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__()
        check_options("SAGEConv", kwargs)
        if not isinstance(aggr, str) or aggr not in _REDUCE:
            raise InvalidArgument(f"SAGEConv: aggr={aggr!r} is not supported; allowed: {', '.join(_REDUCE)}")
        self.in_channels, self.out_channels, self.aggr = in_channels, out_channels, aggr
        self.normalize, self.root_weight, self.project = normalize, root_weight, project
        src, dst = in_channels if isinstance(in_channels, tuple) else (in_channels, in_channels)
        if project:
            if src <= 0:
                raise InvalidArgument("SAGEConv: project=True needs in_channels; -1 cannot be projected")
            self.lin = linear(src, src, bias=True)
        self.lin_l = linear(src, out_channels, bias=bias)
        if root_weight:
            self.lin_r = linear(dst, out_channels, bias=False)

    def reset_parameters(self) -> None:
        for child in self.children():
            child.reset_parameters()  # type: ignore[operator]

    def forward(self, x: Tensor | tuple[Tensor, Tensor | None], edge_index: Any, size: Any = None) -> Tensor:
        x_src, x_dst = x if isinstance(x, (tuple, list)) else (x, x)
        if self.project:
            x_src = self.lin(x_src).relu()
        g, _ = graph_of(edge_index, x_src, x_dst, size)
        reduce = _REDUCE[self.aggr]
        if reduce in ("sum", "mean") and self.lin_l.in_features > self.out_channels and self.lin_l.in_features > 0:
            # Linear reductions commute with the dense map, so the narrower side is aggregated.
            y = ops.spmm(g, F.linear(x_src, self.lin_l.weight), reduce=reduce)
            y = y if self.lin_l.bias is None else y + self.lin_l.bias
        else:
            y = self.lin_l(ops.spmm(g, x_src, reduce=reduce))
        if self.root_weight and x_dst is not None:
            y = y + self.lin_r(x_dst)
        return F.normalize(y, p=2.0, dim=-1) if self.normalize else y

    def __repr__(self) -> str:
        return f"SAGEConv({self.in_channels}, {self.out_channels}, aggr={self.aggr})"
