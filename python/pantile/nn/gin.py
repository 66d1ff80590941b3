from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..torch import functional as ops
from .graphs import check_options, graph_of


class GINConv(torch.nn.Module):
    """Graph isomorphism layer (Xu et al., ICLR'19): nn((1 + eps) x_i + sum x_j)."""

    eps: Tensor

    def __init__(
        self, nn: Callable[[Tensor], Tensor], eps: float = 0.0, train_eps: bool = False, **kwargs: Any
    ) -> None:
        super().__init__()
        check_options("GINConv", kwargs)
        self.nn = nn
        self.initial_eps = eps
        if train_eps:
            self.eps = torch.nn.Parameter(torch.full((1,), float(eps)))
        else:
            self.register_buffer("eps", torch.full((1,), float(eps)))

    def reset_parameters(self) -> None:
        for module in self.nn.modules() if isinstance(self.nn, torch.nn.Module) else ():
            if hasattr(module, "reset_parameters"):
                module.reset_parameters()  # type: ignore[operator]
        self.eps.data.fill_(self.initial_eps)

    def forward(self, x: Tensor | tuple[Tensor, Tensor | None], edge_index: Any, size: Any = None) -> Tensor:
        x_src, x_dst = x if isinstance(x, (tuple, list)) else (x, x)
        g, _ = graph_of(edge_index, x_src, x_dst, size)
        y = ops.spmm(g, x_src)
        return self.nn(y if x_dst is None else y + (1 + self.eps) * x_dst)

    def __repr__(self) -> str:
        return f"GINConv(nn={self.nn})"
