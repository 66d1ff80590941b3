"""Foreign graphs: what each library calls an adjacency, read by duck typing so that none of them need be installed."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from .errors import InvalidArgument


def to_numpy(array: Any) -> np.ndarray:
    """A NumPy view where one exists (torch tensors on the CPU, arrays), else a copy."""
    if hasattr(array, "detach") and hasattr(array, "cpu"):
        return array.detach().cpu().numpy()
    return np.asarray(array)


def ids(array: Any, what: str) -> np.ndarray:
    """Edge ids as int32 or int64, unchanged in value; floats, NaN, bools and text are refused by name."""
    a = to_numpy(array)
    kind = a.dtype.kind
    if kind == "f":
        bad = np.flatnonzero(np.isnan(a.ravel()))
        if bad.size:
            raise InvalidArgument(f"{what} holds NaN at position {bad[0]}; node ids must be integers")
        raise InvalidArgument(
            f"{what} has dtype {a.dtype}; node ids must be integers (floats lose ids beyond 2^24): "
            "convert with .astype('int64')"
        )
    if a.size == 0 and kind not in "iu":
        return np.zeros(a.shape, np.int64)
    if kind not in "iu":
        raise InvalidArgument(f"{what} has dtype {a.dtype}; node ids must be integers of type int32 or int64")
    if a.dtype == np.uint64 and a.size and int(a.max()) > np.iinfo(np.int64).max:
        raise InvalidArgument(f"{what} holds {int(a.max())}, beyond int64; node ids must be below 2^31")
    if a.dtype not in (np.int32, np.int64):
        a = a.astype(np.int64)
    return np.ascontiguousarray(a)


def edge_index_rows(edge_index: Any) -> tuple[np.ndarray, np.ndarray]:
    """(source, destination) of a [2, E] edge_index or a pair of arrays."""
    if isinstance(edge_index, (tuple, list)) and len(edge_index) == 2 and np.ndim(edge_index[0]) == 1:
        src, dst = ids(edge_index[0], "source ids"), ids(edge_index[1], "destination ids")
        if src.shape != dst.shape:
            raise InvalidArgument(f"{src.size} source ids but {dst.size} destination ids; every edge needs one of each")
        if src.dtype != dst.dtype:
            src, dst = src.astype(np.int64), dst.astype(np.int64)
        return src, dst
    a = ids(edge_index, "edge_index")
    if a.ndim == 2 and a.shape[0] == 2:
        return a[0], a[1]
    if a.ndim == 2 and a.shape[1] == 2:
        raise InvalidArgument(
            f"edge_index has shape {a.shape}, one edge per row; expected [2, E] with sources in row 0: "
            "pass edge_index.T"
        )
    if a.size == 0 and a.ndim <= 2:
        empty = np.zeros(0, np.int64)
        return empty, empty
    raise InvalidArgument(
        f"edge_index has shape {a.shape}; expected [2, E] with sources in row 0 and destinations in row 1"
    )


def from_edges(src: np.ndarray, dst: np.ndarray, num_dst: int, num_src: int) -> _core.Graph:
    """The graph of two arrays of ids."""
    return _core.Graph.from_edges(np.ascontiguousarray(src), np.ascontiguousarray(dst), int(num_dst), int(num_src))


def from_csr(ptr: Any, col: Any, shape: tuple[int, int]) -> _core.Graph:
    """The graph of CSR arrays; ids are checked, floats refused."""
    offsets = ids(ptr, "ptr").astype(np.int64, copy=False)
    columns = ids(col, "col")
    if offsets.ndim != 1 or columns.ndim != 1:
        raise InvalidArgument(f"ptr has shape {offsets.shape} and col {columns.shape}; both must be one-dimensional")
    return _core.Graph.from_csr(int(shape[0]), int(shape[1]), offsets, columns)


def convert(obj: Any, num_nodes: int | tuple[int, int] | None = None) -> tuple[_core.Graph, Any]:
    """(graph, values in the caller's edge order or None) of anything that is an adjacency.

    Matrices (scipy.sparse, torch.sparse, SparseTensor) are read as A in y = A x: row = destination, column = source.
    num_nodes: node count, or (sources, destinations); only lists of edges need it.
    """
    kind = type(obj).__module__.split(".")[0]
    if kind == "scipy" and hasattr(obj, "tocsr"):
        return _from_scipy(obj)
    if hasattr(obj, "layout") and hasattr(obj, "is_sparse"):  # torch.Tensor
        layout = str(obj.layout)
        if layout == "torch.sparse_csr":
            return from_csr(obj.crow_indices(), obj.col_indices(), tuple(obj.shape)), obj.values()
        if layout == "torch.sparse_csc":
            return convert(obj.to_sparse_coo(), num_nodes)
        if layout == "torch.sparse_coo":
            row, col = to_numpy(obj._indices())
            return from_edges(col, row, obj.shape[0], obj.shape[1]), obj._values()
        if type(obj).__name__ == "EdgeIndex" and num_nodes is None:
            sizes = obj.sparse_size()
            if None not in sizes:
                num_nodes = (int(sizes[0]), int(sizes[1]))
        return _from_edge_index(obj, num_nodes), None
    if hasattr(obj, "sparse_sizes") and hasattr(obj, "csr"):  # torch_sparse.SparseTensor
        ptr, col, value = obj.csr()
        return from_csr(ptr, col, tuple(obj.sparse_sizes())), value
    if hasattr(obj, "edges") and hasattr(obj, "num_nodes") and callable(obj.num_nodes):  # DGLGraph
        src, dst = obj.edges()
        sources = obj.num_src_nodes() if hasattr(obj, "num_src_nodes") else obj.num_nodes()
        targets = obj.num_dst_nodes() if hasattr(obj, "num_dst_nodes") else obj.num_nodes()
        return from_edges(ids(src, "source ids"), ids(dst, "destination ids"), targets, sources), None
    if hasattr(obj, "edge_index") or hasattr(obj, "adj_t"):  # torch_geometric.data.Data
        weight = getattr(obj, "edge_weight", None)
        if getattr(obj, "edge_index", None) is None and getattr(obj, "adj_t", None) is not None:
            return convert(obj.adj_t)
        return _from_edge_index(obj.edge_index, num_nodes if num_nodes is not None else int(obj.num_nodes)), weight
    if isinstance(obj, (np.ndarray, list, tuple)):
        return _from_edge_index(obj, num_nodes), None
    raise InvalidArgument(
        f"{type(obj).__name__} is not a graph; pass a pantile.Graph, an edge_index [2, E], a scipy or torch matrix, "
        "a torch_geometric Data or SparseTensor, or a DGLGraph"
    )


def _from_scipy(matrix: Any) -> tuple[_core.Graph, Any]:
    if matrix.format == "csr":
        return from_csr(matrix.indptr, matrix.indices, matrix.shape), matrix.data
    coo = matrix.tocoo()
    return from_edges(ids(coo.col, "columns"), ids(coo.row, "rows"), coo.shape[0], coo.shape[1]), coo.data


def _from_edge_index(edge_index: Any, num_nodes: int | tuple[int, int] | None) -> _core.Graph:
    if num_nodes is None:
        raise InvalidArgument(
            "an edge_index does not say how many nodes there are (isolated nodes at the end would vanish); pass "
            "num_nodes, or num_nodes=-1 for 1 + the largest id"
        )
    src, dst = edge_index_rows(edge_index)
    sources, targets = num_nodes if isinstance(num_nodes, tuple) else (num_nodes, num_nodes)
    if sources == -1 and targets == -1 and not isinstance(num_nodes, tuple):
        sources = targets = 1 + max(int(src.max()), int(dst.max())) if src.size else 0
    return from_edges(src, dst, targets, sources)
