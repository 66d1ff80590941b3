"""The dense map of the layers: torch's, with torch-geometric's initialisations and its in_channels=-1."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor
from torch.nn.modules.lazy import LazyModuleMixin
from torch.nn.parameter import UninitializedParameter


def glorot(t: Tensor | None) -> None:
    """Uniform in +-sqrt(6 / (fan in + fan out)), as torch-geometric."""
    if t is not None:
        bound = math.sqrt(6.0 / (t.size(-2) + t.size(-1)))
        torch.nn.init.uniform_(t, -bound, bound)


class Linear(torch.nn.Linear):
    """y = x W^T + b; weight [out, in]."""

    initializer: str | None = None

    def reset_parameters(self) -> None:
        if self.initializer == "glorot":
            glorot(self.weight)
            if self.bias is not None:
                torch.nn.init.zeros_(self.bias)
        else:
            super().reset_parameters()


class LazyLinear(LazyModuleMixin, Linear):
    """A Linear that learns its input width from the first input."""

    cls_to_become = Linear
    weight: Any
    bias: Any

    def __init__(self, out_channels: int, bias: bool) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter()
        self.out_features = out_channels
        if bias:
            self.bias = torch.nn.Parameter(torch.zeros(out_channels))

    def reset_parameters(self) -> None:
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, x: Tensor) -> None:
        if self.has_uninitialized_params():
            self.in_features = x.shape[-1]
            self.weight.materialize((self.out_features, self.in_features))
            self.reset_parameters()


def linear(in_channels: int, out_channels: int, bias: bool = True, initializer: str | None = None) -> Linear:
    """A Linear, lazy where in_channels is -1. initializer: "glorot", or None for torch's own."""
    made: Linear = LazyLinear(out_channels, bias) if in_channels == -1 else Linear(in_channels, out_channels, bias)
    made.initializer = initializer
    made.reset_parameters()
    return made
