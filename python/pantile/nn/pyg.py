"""From torch-geometric's layers to ours, in place."""

from __future__ import annotations

from typing import Any

import torch

from ..errors import InvalidArgument
from .agnn import AGNNConv
from .gat import GATConv
from .gatv2 import GATv2Conv
from .gcn import GCNConv
from .gin import GINConv
from .sage import SAGEConv
from .transformer import TransformerConv

# The attributes of each torch-geometric layer that are its constructor's arguments.
_ATTENTION = ("in_channels", "out_channels", "heads", "concat", "dropout", "edge_dim")
_LAYERS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "GCNConv": (GCNConv, ("in_channels", "out_channels", "improved", "cached", "add_self_loops", "normalize")),
    "SAGEConv": (SAGEConv, ("in_channels", "out_channels", "normalize", "root_weight", "project")),
    "GINConv": (GINConv, ("nn",)),
    "GATConv": (GATConv, (*_ATTENTION, "negative_slope", "add_self_loops", "fill_value", "residual")),
    "GATv2Conv": (
        GATv2Conv,
        (*_ATTENTION, "negative_slope", "add_self_loops", "fill_value", "residual", "share_weights"),
    ),
    "AGNNConv": (AGNNConv, ("requires_grad", "add_self_loops")),
    "TransformerConv": (TransformerConv, (*_ATTENTION, "beta", "root_weight")),
}


def _has_bias(layer: torch.nn.Module, kind: str) -> bool:
    if kind == "SAGEConv":
        return layer.lin_l.bias is not None  # type: ignore[union-attr]
    if kind == "TransformerConv":
        return layer.lin_key.bias is not None  # type: ignore[union-attr]
    if kind == "GATv2Conv":
        return layer.lin_l.bias is not None  # type: ignore[union-attr]
    return getattr(layer, "bias", None) is not None


def _converted(layer: torch.nn.Module) -> torch.nn.Module | None:
    """Our layer over the same parameters, or None where it is not one we have, or is set up in a way that we do not
    do."""
    kind = type(layer).__name__
    if not type(layer).__module__.startswith("torch_geometric.") or kind not in _LAYERS:
        return None
    if getattr(layer, "flow", "source_to_target") != "source_to_target":
        return None
    make, names = _LAYERS[kind]
    options = {name: getattr(layer, name) for name in names}
    if kind == "GINConv":
        options |= {"eps": layer.initial_eps, "train_eps": isinstance(layer.eps, torch.nn.Parameter)}
    elif kind != "AGNNConv":
        options["bias"] = _has_bias(layer, kind)
    if kind == "SAGEConv":
        options["aggr"] = layer.aggr
    try:
        made = make(**options)
    except InvalidArgument:
        return None
    _share(made, layer)
    return made.train(layer.training)


def _share(made: torch.nn.Module, layer: torch.nn.Module) -> None:
    """The very parameters and buffers of the old layer, so that an optimiser made before still holds them."""
    tensors = dict(layer.named_parameters(remove_duplicate=False)) | dict(layer.named_buffers(remove_duplicate=False))
    for name, tensor in tensors.items():
        path, _, leaf = name.rpartition(".")
        owner = made.get_submodule(path)
        if leaf in owner._parameters:
            owner._parameters[leaf] = tensor  # type: ignore[assignment]
        else:
            owner._buffers[leaf] = tensor


def from_pyg(model: torch.nn.Module) -> torch.nn.Module:
    """Swaps every torch-geometric layer that we have for ours, in place, and returns the model (a new one when it is
    itself a layer).

    Parameters are shared, not copied. Layers that we do not have, or not with their options, stay as they are.
    """
    made = _converted(model)
    if made is not None:
        return made
    for name, child in list(model.named_children()):
        swapped = from_pyg(child)
        if swapped is not child:
            setattr(model, name, swapped)
    return model
