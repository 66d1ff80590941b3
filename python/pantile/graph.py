"""pantile.Graph: one immutable graph for every capability."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from . import _core, inputs
from .operands import choice, operand, weights

REORDERINGS = {"degree": 0, "bfs": 1, "rcm": 2, "community": 3}
COALESCE = {"sum": 0, "mean": 1, "min": 2, "max": 3, "first": 4}

# Graphs made before pantile.torch was imported; it then gives each its tensors, so that a compiled function never has
# to.
_without_tensors: weakref.WeakSet[Graph] = weakref.WeakSet()
_make_tensors: Callable[[Graph], Any] | None = None


def on_tensors(make: Callable[[Graph], Any]) -> None:
    """Called once by pantile.torch."""
    global _make_tensors
    _make_tensors = make
    for graph in list(_without_tensors):
        graph._tensors = make(graph)
    _without_tensors.clear()


class Graph:
    """A graph as a CSR matrix: row = destination, columns = its sources, so that y = A x aggregates over incoming
    edges.

    Duplicates, self-loops and isolated nodes are kept exactly as given; nothing is added or merged unless asked for.
    Edge values (weights, logits, attributes) that accompany a graph are in the caller's edge order: that of
    edge_index, or of
    the arrays the graph was made from. `order` maps CSR positions to it.

    Graphs that come out of a change (`with_self_loops()`, `reorder()`, ...) number their edges in CSR order; `origin`
    says
    which edge of the old graph each came from, so that `values[graph.origin]` carries edge values over.
    """

    def __init__(self, core: _core.Graph, origin: np.ndarray | None = None) -> None:
        self._core = core
        self.origin = origin
        self._tensors: Any = None
        if _make_tensors is not None:
            self._tensors = _make_tensors(self)
        else:
            _without_tensors.add(self)

    @staticmethod
    def from_edges(src: Any, dst: Any, num_nodes: int | tuple[int, int]) -> Graph:
        """Edges src[k] -> dst[k]. num_nodes: node count, or (sources, destinations); -1 means 1 + the largest id."""
        return Graph.from_edge_index((inputs.to_numpy(src), inputs.to_numpy(dst)), num_nodes)

    @staticmethod
    def from_edge_index(edge_index: Any, num_nodes: int | tuple[int, int]) -> Graph:
        """PyG's [2, E]: sources in row 0, destinations in row 1."""
        return Graph(inputs._from_edge_index(edge_index, num_nodes))

    @staticmethod
    def from_csr(ptr: Any, col: Any, shape: tuple[int, int]) -> Graph:
        """CSR arrays of the adjacency whose rows are destinations; columns may be unsorted inside a row."""
        return Graph(inputs.from_csr(ptr, col, shape))

    @staticmethod
    def of(obj: Any, num_nodes: int | tuple[int, int] | None = None) -> Graph:
        """The pattern of anything that `pantile.convert` reads; its values are left behind."""
        return obj if isinstance(obj, Graph) else Graph(inputs.convert(obj, num_nodes)[0])

    @property
    def rows(self) -> int:
        """Destinations."""
        return self._core.rows

    @property
    def cols(self) -> int:
        """Sources."""
        return self._core.cols

    @property
    def edges(self) -> int:
        """Number of edges, duplicates counted."""
        return self._core.edges

    num_edges = edges

    @property
    def num_nodes(self) -> int:
        """Nodes of a square graph; the larger side otherwise."""
        return max(self.rows, self.cols)

    @property
    def shape(self) -> tuple[int, int]:
        """(rows, cols): destinations, sources."""
        return self.rows, self.cols

    @cached_property
    def ptr(self) -> np.ndarray:
        """int64 [rows + 1], a read-only view."""
        return self._core.ptr()

    @cached_property
    def col(self) -> np.ndarray:
        """int32 [edges], a read-only view."""
        return self._core.col()

    @cached_property
    def order(self) -> np.ndarray:
        """int64 [edges]: the caller's edge number of each CSR position; empty when both orders agree."""
        return self._core.order()

    @property
    def edge_index(self) -> np.ndarray:
        """int64 [2, edges] in the caller's order."""
        rows = np.repeat(np.arange(self.rows, dtype=np.int64), np.diff(self.ptr))
        out = np.empty((2, self.edges), np.int64)
        position: Any = self.order if self.order.size else slice(None)
        out[0, position] = self.col
        out[1, position] = rows
        return out

    def in_degrees(self) -> np.ndarray:
        """Edges that end in each node, [rows]."""
        return np.diff(self.ptr)

    def out_degrees(self) -> np.ndarray:
        """Edges that start in each node, [cols]."""
        return np.diff(self._core.transposed()[0])

    def prepare(self) -> Graph:
        """Makes now what operators would make on first use: the schedule, and the transpose that backward passes
        walk."""
        self._core.prepare()
        return self

    def profile(self) -> dict[str, Any]:
        """Degrees, duplicates, self-loops, locality: what plans look at."""
        return self._core.profile()

    def fingerprint(self) -> str:
        """128-bit hash of the pattern; equal patterns have equal fingerprints."""
        return self._core.fingerprint()

    def _changed(self, made: tuple[_core.Graph, np.ndarray]) -> Graph:
        return Graph(*made)

    def with_self_loops(self) -> Graph:
        """One loop more on every node. The loop of node i has origin edges + (its rank among the new edges)."""
        return self._changed(self._core.with_self_loops())

    def with_remaining_self_loops(self) -> Graph:
        """A loop only where none is."""
        return self._changed(self._core.with_remaining_self_loops())

    def without_self_loops(self) -> Graph:
        """The graph without its self-loops."""
        return self._changed(self._core.without_self_loops())

    def reversed(self) -> Graph:
        """The transpose."""
        return self._changed(self._core.reversed())

    def symmetrised(self) -> Graph:
        """A + A^T without duplicates."""
        return self._changed(self._core.symmetrised())

    def coalesce(self, w: Any = None, how: str = "sum") -> tuple[Graph, np.ndarray]:
        """Merges parallel edges; (graph, merged weights, where edges without weights count as 1)."""
        code = choice(COALESCE, how, "how")
        values = None if w is None else weights(inputs.to_numpy(w), np.dtype(np.float32))
        core, merged = self._core.coalesce(None if values is None else operand(values), code)
        return Graph(core), merged

    def reorder(self, how: str = "community") -> tuple[Graph, np.ndarray]:
        """Renames the nodes for locality; (graph, new id of each old node). Features follow by x_new[new_of_old] =
        x."""
        core, origin, new_of_old = self._core.reorder(choice(REORDERINGS, how, "reordering"))
        return Graph(core, origin), new_of_old

    def __repr__(self) -> str:
        return f"Graph(rows={self.rows}, cols={self.cols}, edges={self.edges})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (np.array(self.ptr), np.array(self.col), np.array(self.order), self.shape, self.origin)


def _rebuild(
    ptr: np.ndarray, col: np.ndarray, order: np.ndarray, shape: tuple[int, int], origin: np.ndarray | None
) -> Graph:
    core = _core.Graph.from_csr(shape[0], shape[1], ptr, col)
    if order.size:
        core.set_order(order)
    return Graph(core, origin)
