"""Graphs as torch sees them: zero-copy tensors over the core's memory, a registry from handles back to graphs, and
the cache that turns
an edge_index into a graph once."""

from __future__ import annotations

import itertools
import os
import threading
import weakref
from collections import OrderedDict
from typing import Any

import numpy as np
import torch
from torch import Tensor

from .. import _core, inputs
from ..errors import InvalidArgument
from ..graph import Graph, on_tensors


class GraphTensors:
    """What custom operators take instead of a graph.

    ptr int64 [rows + 1], col int32 [edges], order int64 [edges] or [0] (the caller's edge number of each CSR
    position; empty when
    both orders agree), handle int64 [2]: a key of this process's registry, and the number of columns. With them an
    operator
    finds its graph, or builds it anew where the key is unknown, as in another process.
    """

    def __init__(
        self, ptr: Tensor, col: Tensor, order: Tensor, handle: Tensor, core: _core.Graph | None = None
    ) -> None:
        self.ptr = ptr
        self.col = col
        self.order = order
        self.handle = handle
        self.core = core
        self.derived: dict[str, Any] = {}


def _fresh_keys() -> itertools.count[int]:
    """Keys start at a random place, so that a handle of another process finds nothing here instead of a stranger's
    graph."""
    return itertools.count(int.from_bytes(os.urandom(7), "little") << 6)


def _restart_keys() -> None:
    global _keys
    _keys = _fresh_keys()


_keys = _fresh_keys()
os.register_at_fork(after_in_child=_restart_keys)
_graphs: weakref.WeakValueDictionary[int, _core.Graph] = weakref.WeakValueDictionary()


class _Recent:
    """The last few entries, held strongly; safe to use from several threads."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._entries: OrderedDict[Any, Any] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Any) -> Any:
        with self._lock:
            if key in self._entries:
                self._entries.move_to_end(key)
                return self._entries[key]
            return None

    def put(self, key: Any, value: Any) -> None:
        with self._lock:
            self._entries[key] = value
            while len(self._entries) > self._limit:
                self._entries.popitem(last=False)


_rebuilt = _Recent(8)
_from_pointer = _Recent(16)
_from_content = _Recent(16)


def _borrow(view: np.ndarray) -> Tensor:
    """A tensor over a read-only view. Torch has no read-only tensors; operators never write to these."""
    if view.size == 0:
        return torch.empty(0, dtype=torch.int64 if view.dtype == np.int64 else torch.int32)
    address = view.__array_interface__["data"][0]
    return torch.from_numpy(np.asarray(_Writable(address, view)))


class _Writable:
    """The same memory without the read-only flag; keeps the view, and with it the graph, alive."""

    def __init__(self, address: int, view: np.ndarray) -> None:
        self._view = view
        self.__array_interface__ = {
            "data": (address, False),
            "shape": view.shape,
            "typestr": view.dtype.str,
            "version": 3,
        }


def tensors_of(core: _core.Graph) -> GraphTensors:
    """The graph's arrays as tensors, and the key under which operators find it."""
    key = next(_keys)
    _graphs[key] = core
    handle = torch.tensor([key, core.cols], dtype=torch.int64)
    return GraphTensors(_borrow(core.ptr()), _borrow(core.col()), _borrow(core.order()), handle, core)


on_tensors(lambda graph: tensors_of(graph._core))


def core_of(g: GraphTensors) -> _core.Graph:
    """The graph behind the tensors; rebuilt from them when this process never saw the handle."""
    if g.core is None:
        key, cols = g.handle.tolist()
        core = _graphs.get(key)
        if core is None:
            core = _core.Graph.from_csr(g.ptr.shape[0] - 1, cols, g.ptr.numpy(), g.col.numpy())
            if g.order.numel():
                core.set_order(g.order.numpy())
            _graphs[key] = core
            _rebuilt.put(key, core)
        g.core = core
    return g.core


def _edge_index_graph(edge_index: Tensor, num_src: int, num_dst: int) -> Graph:
    """The graph of an edge_index, from the cache when pointer, version, shape and node counts are those of before.

    The cache keeps its tensors, so that their memory cannot be given to others while it is a key.
    """
    try:
        key = (
            edge_index.data_ptr(),
            edge_index._version,
            edge_index.shape,
            edge_index.stride(),
            edge_index.dtype,
            num_src,
            num_dst,
        )
    except RuntimeError:  # inference tensors have no version: look at the content instead
        return _content_graph(edge_index, num_src, num_dst)
    found = _from_pointer.get(key)
    if found is not None:
        return found[1]
    made = Graph(inputs._from_edge_index(edge_index, (num_src, num_dst)))
    _from_pointer.put(key, (edge_index, made))
    return made


def _content_graph(edge_index: Tensor, num_src: int, num_dst: int) -> Graph:
    """The same by a hash of the content, for tensors whose version says nothing: compiled code reuses memory without
    telling."""
    dense = edge_index.detach().contiguous()
    digest = _core.hash_bytes(dense.data_ptr(), dense.numel() * dense.element_size())
    key = (digest, dense.shape, dense.dtype, num_src, num_dst)
    found = _from_content.get(key)
    if found is None:
        found = Graph(inputs._from_edge_index(dense, (num_src, num_dst)))
        _from_content.put(key, found)
    return found


@torch.library.custom_op(
    "pantile::graph",
    mutates_args=(),
    schema="(Tensor edge_index, SymInt num_src, SymInt num_dst) -> (Tensor, Tensor, Tensor, Tensor)",
)
def graph_op(edge_index: Tensor, num_src: int, num_dst: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """ptr, col, order, handle of an edge_index inside compiled code: copies, because compiled code may reuse an
    output's memory."""
    g = _content_graph(edge_index, num_src, num_dst)._tensors
    order = g.order.clone() if g.order.numel() else torch.arange(g.col.shape[0])
    return g.ptr.clone(), g.col.clone(), order, g.handle.clone()


@graph_op.register_fake
def _(edge_index: Tensor, num_src: int, num_dst: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    edges = edge_index.shape[1]
    long = edge_index.new_empty
    return (
        long((num_dst + 1,), dtype=torch.int64),
        long((edges,), dtype=torch.int32),
        long((edges,), dtype=torch.int64),
        long((2,), dtype=torch.int64),
    )


@torch.library.custom_op(
    "pantile::looped",
    mutates_args=(),
    schema="(Tensor ptr, Tensor col, Tensor order, Tensor handle) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
)
def looped_op(ptr: Tensor, col: Tensor, order: Tensor, handle: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """ptr, col, order, handle, origin of the graph whose self-loops are replaced by one on every node, inside
    compiled code."""
    g, origin = looped(GraphTensors(ptr, col, order, handle))
    return g.ptr.clone(), g.col.clone(), g.order.clone(), g.handle.clone(), origin.clone()


@looped_op.register_fake
def _(ptr: Tensor, col: Tensor, order: Tensor, handle: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    edges = torch.library.get_ctx().new_dynamic_size()
    return (
        torch.empty_like(ptr),
        col.new_empty((edges,)),
        order.new_empty((0,)),
        torch.empty_like(handle),
        order.new_empty((edges,)),
    )


_looped: weakref.WeakKeyDictionary[_core.Graph, tuple[GraphTensors, Tensor]] = weakref.WeakKeyDictionary()


def _with_loops(core: _core.Graph) -> tuple[_core.Graph, np.ndarray]:
    if core.rows == core.cols:
        bare, kept = core.without_self_loops()
        made, origin = bare.with_self_loops()
        # Positions in the loop-free graph become edge numbers of the old one; the loops follow them.
        new = origin >= bare.edges
        return made, np.where(
            new, core.edges + (origin - bare.edges), kept[np.where(new, 0, origin)] if kept.size else origin
        )
    col = core.col().astype(np.int64)
    row = np.repeat(np.arange(core.rows, dtype=np.int64), np.diff(core.ptr()))
    order = core.order()
    number = order if order.size else np.arange(core.edges)
    keep = row != col
    loops = np.arange(min(core.rows, core.cols), dtype=np.int64)
    src, dst = np.concatenate([col[keep], loops]), np.concatenate([row[keep], loops])
    by_row = np.lexsort((src, dst))
    made = inputs.from_edges(src[by_row], dst[by_row], core.rows, core.cols)
    return made, np.concatenate([number[keep], core.edges + loops])[by_row]


def looped(g: GraphTensors) -> tuple[GraphTensors, Tensor]:
    """(the graph without its self-loops and with one loop on each node, origin); origin < edges: that edge of g, else
    a new loop,
    edges + node. Kept with the graph."""
    if torch.compiler.is_compiling():
        *parts, origin = torch.ops.pantile.looped(g.ptr, g.col, g.order, g.handle)
        return GraphTensors(*parts), origin
    core = core_of(g)
    found = _looped.get(core)
    if found is None:
        made, edge = _with_loops(core)
        found = _looped[core] = (tensors_of(made), torch.from_numpy(edge))
    return found


def as_graph(obj: Any, num_src: int = -1, num_dst: int = -1) -> tuple[GraphTensors, Any]:
    """(tensors, values that came with a matrix or None) of a Graph or of anything that pantile.convert reads."""
    if type(obj) is Graph:
        return obj._tensors, None
    if type(obj) is GraphTensors:
        return obj, None
    if isinstance(obj, Graph):
        return obj._tensors, None
    if isinstance(obj, Tensor) and obj.layout == torch.strided:
        if obj.device.type not in ("cpu", "meta"):
            raise InvalidArgument(f"edge_index is on {obj.device}; the kernels run on the CPU: pass edge_index.cpu()")
        if torch.compiler.is_compiling():
            if obj.dim() != 2 or obj.shape[0] != 2:
                raise InvalidArgument("edge_index must have shape [2, E], sources in row 0")
            if num_src < 0 or num_dst < 0:
                raise InvalidArgument("compiled code must know the number of nodes; pass a pantile.Graph")
            return GraphTensors(*torch.ops.pantile.graph(obj, num_src, num_dst)), None
        plain = obj.as_subclass(Tensor) if type(obj) is not Tensor else obj
        return _edge_index_graph(plain, num_src, num_dst)._tensors, None
    core, values = inputs.convert(obj, (num_src, num_dst))
    return tensors_of(core), values
