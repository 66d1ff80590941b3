"""What Pantile is measured against. Each rival is a closure that allocates its own output, as a user's call does."""

from __future__ import annotations

import subprocess
import sys
import types
from collections.abc import Callable

import numpy as np
import torch


class Unavailable(Exception):
    """A rival that cannot run here; the text says which command failed."""


def torch_csr(ptr: np.ndarray, col: np.ndarray, w: np.ndarray, cols: int, x: torch.Tensor) -> dict[str, Callable]:
    """torch.sparse.mm on CSR with 32-bit and with 64-bit indices; the benchmark takes the faster."""
    calls = {}
    for kind in (torch.int32, torch.int64):
        matrix = torch.sparse_csr_tensor(
            torch.from_numpy(ptr).to(kind), torch.from_numpy(col).to(kind), torch.from_numpy(w), (len(ptr) - 1, cols)
        )
        calls[f"torch_{str(kind)[6:]}"] = lambda matrix=matrix: torch.sparse.mm(matrix, x)
    return calls


def torch_scatter(row: torch.Tensor, col: torch.Tensor, w: torch.Tensor | None, rows: int, x: torch.Tensor) -> Callable:
    """Plain torch: gather, multiply, index_add."""
    if w is None:
        return lambda: torch.zeros(rows, x.shape[1]).index_add_(0, row, x.index_select(0, col))
    column = w.view(-1, 1)
    return lambda: torch.zeros(rows, x.shape[1]).index_add_(0, row, x.index_select(0, col) * column)


def scipy_csr(ptr: np.ndarray, col: np.ndarray, w: np.ndarray, cols: int, x: np.ndarray) -> Callable:
    """scipy.sparse CSR times dense."""
    import scipy.sparse

    matrix = scipy.sparse.csr_matrix((w, col.astype(np.int32), ptr.astype(np.int32)), (len(ptr) - 1, cols))
    return lambda: matrix @ x


def pyg_scatter(edge_index: torch.Tensor, w: torch.Tensor | None, x: torch.Tensor) -> Callable:
    """torch-geometric's SimpleConv on an edge_index: its gather-scatter path."""
    from torch_geometric.nn import SimpleConv

    layer = SimpleConv(aggr="sum")
    if w is None:
        return lambda: layer(x, edge_index)
    return lambda: layer(x, edge_index, w)


def import_dgl():
    """DGL's kernels, from its own wheel.

    Its data-loading part (graphbolt) is a library tied to older torch releases; nothing here uses it, and an empty
    module stands in for it.
    """
    import os

    os.environ.setdefault("DGLBACKEND", "pytorch")
    sys.modules.setdefault("dgl.graphbolt", types.ModuleType("dgl.graphbolt"))
    try:
        import dgl
        import dgl.ops
    except Exception as error:  # any failure of a rival's import is a fact to record, not ours to handle
        command = f"{sys.executable} -m pip install --no-deps dgl"
        raise Unavailable(f"import dgl failed ({type(error).__name__}: {error}); installed by: {command}") from error
    return dgl


def dgl_spmm(src: torch.Tensor, dst: torch.Tensor, rows: int, w: torch.Tensor | None, x: torch.Tensor) -> Callable:
    """dgl.ops.copy_u_sum or u_mul_e_sum on a CSC graph with 32-bit ids."""
    dgl = import_dgl()
    graph = dgl.graph((src.int(), dst.int()), num_nodes=rows).formats("csc")
    if w is None:
        return lambda: dgl.ops.copy_u_sum(graph, x)
    # DGL numbers edges by insertion; the edges were inserted in CSR order, so weights need no permutation.
    column = w.view(-1, 1)
    return lambda: dgl.ops.u_mul_e_sum(graph, x, column)


def pyg_gat(heads: int, dim: int, in_features: int):
    """torch-geometric's GATConv, without self-loops and bias so that only the attention is compared."""
    from torch_geometric.nn import GATConv

    return GATConv(in_features, dim, heads=heads, add_self_loops=False, bias=False)


def versions() -> dict[str, str | None]:
    """Versions of all rivals, None where one is missing."""
    import importlib.metadata as metadata

    found = {}
    for package in ("torch", "scipy", "numpy", "torch-geometric", "dgl"):
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            found[package] = None
    return found


def cpu_name() -> str:
    """The processor as the system names it."""
    out = subprocess.run(["lscpu"], capture_output=True, text=True, check=False).stdout
    return next(
        (line.split(":", 1)[1].strip() for line in out.splitlines() if line.startswith("Model name")), "unknown"
    )
