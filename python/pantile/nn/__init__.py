"""Layers with torch-geometric's constructor signatures, state_dict keys and results, over the fused operators of
pantile.torch.

forward accepts a pantile.Graph or an edge_index (and what else `pantile.convert` reads); give a Graph where you can:
it is built once.
"""

from __future__ import annotations

from .. import torch as _torch_face  # says what to install where torch is missing
from .agnn import AGNNConv
from .gat import GATConv
from .gatv2 import GATv2Conv
from .gcn import GCNConv
from .gin import GINConv
from .linear import Linear
from .pyg import from_pyg
from .sage import SAGEConv
from .transformer import TransformerConv

__all__ = [
    "AGNNConv",
    "GATConv",
    "GATv2Conv",
    "GCNConv",
    "GINConv",
    "Linear",
    "SAGEConv",
    "TransformerConv",
    "from_pyg",
]
del _torch_face
