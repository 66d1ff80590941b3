"""Operators for torch tensors: custom operators with fake kernels, autograd, autocast and torch.compile.

Every function takes a pantile.Graph, or an edge_index, torch.sparse or scipy matrix, torch_geometric Data or
SparseTensor, DGLGraph.
Edge tensors are in the caller's edge order.
"""

from __future__ import annotations

try:
    import torch as _torch  # noqa: F401
except ImportError as error:
    raise ImportError(
        "pantile.torch needs PyTorch, which is not installed: pip install torch "
        "(without a GPU: pip install torch --index-url https://download.pytorch.org/whl/cpu)"
    ) from error

from .. import _core as _native
from . import segment as _segment  # noqa: F401
from .functional import (
    agnn,
    edge_softmax,
    gat,
    gather_roofline,
    gatv2,
    gcn,
    sddmm,
    segment_reduce,
    spmm,
    spmm_arg,
    transformer_attn,
)
from .tensors import GraphTensors, as_graph, looped

__all__ = [
    "GraphTensors",
    "agnn",
    "as_graph",
    "edge_softmax",
    "gat",
    "gather_roofline",
    "gatv2",
    "gcn",
    "looped",
    "sddmm",
    "segment_reduce",
    "spmm",
    "spmm_arg",
    "transformer_attn",
]

# torch's CPU work runs on OpenMP threads that spin for a while after every operator; a pool beside them would have to
# fight them for the cores, so both use the same ones.
_native.borrow_openmp_threads()
