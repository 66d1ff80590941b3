"""Graph files."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from . import _core, inputs
from .graph import Graph
from .operands import operand, weights


def read_graph(
    path: str | os.PathLike[str], format: str = "", *, num_nodes: int = -1, undirected: bool = False, base: int = -1
) -> tuple[Graph, np.ndarray | None]:
    """(graph, weights or None). Formats by name and content: mtx, snap, csv, metis, ogb, npz, scipy, pantile (mapped).

    num_nodes, undirected, base (first id): for edge lists. Errors name the file, line and position.
    """
    name = os.fspath(path)
    if format == "pantile" or (not format and name.endswith(".pantile")):
        core, w = _core.map_graph(name)
    else:
        core, w = _core.read_graph(name, format, num_nodes, undirected, base)
    return Graph(core), w


def write_graph(path: str | os.PathLike[str], graph: Graph, w: Any = None, format: str = "") -> None:
    """Writes .pantile, .mtx, .npz (scipy), .csv or .graph (METIS); the file is complete or not there. w in the
    caller's edge order."""
    values = None if w is None else weights(inputs.to_numpy(w), np.dtype(np.float32))
    _core.write_graph(os.fspath(path), graph._core, None if values is None else operand(values), format)
