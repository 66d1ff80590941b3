"""Generated graphs: the same for any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import _core
from .graph import Graph
from .operands import choice, matrix, operand


def rmat(
    scale: int = 17,
    edge_factor: int = 16,
    a: float = 0.57,
    b: float = 0.19,
    c: float = 0.19,
    *,
    simple: bool = True,
    seed: int = 3,
) -> Graph:
    """R-MAT: 2^scale nodes, edge_factor * 2^scale edge draws, duplicates removed when `simple`."""
    return Graph(_core.generate_rmat(scale, edge_factor, a, b, c, simple, seed))


def community(
    nodes: int = 131072,
    degree: int = 16,
    community: int = 64,
    inside: float = 0.9,
    *,
    scramble: bool = True,
    simple: bool = True,
    seed: int = 4,
) -> Graph:
    """Communities of consecutive nodes with a share `inside` of each node's sources in its own; ids scrambled."""
    return Graph(_core.generate_community(nodes, degree, community, inside, scramble, simple, seed))


def sbm(
    nodes: int = 10000, blocks: int = 10, degree_in: float = 8, degree_out: float = 2, *, seed: int = 5
) -> tuple[Graph, np.ndarray]:
    """Stochastic block model; (graph, labels)."""
    core, labels = _core.generate_sbm(nodes, blocks, degree_in, degree_out, seed)
    return Graph(core), np.asarray(labels, np.int64)


def grid(width: int, height: int, neighbours: int = 4) -> Graph:
    """width x height grid with 4 or 8 neighbours, both directions."""
    return Graph(_core.generate_grid(width, height, neighbours))


def nearest_neighbours(
    x: Any, k: int, metric: str = "cosine", *, symmetric: bool = True, progress: bool = False
) -> Graph:
    """Each row's k nearest other rows; x [n, d] finite. O(n^2 d) work in blocks, O(n k) memory."""
    points = matrix(np.ascontiguousarray(x, np.float32), "x")
    code = choice({"cosine": 0, "euclidean": 1}, metric, "metric")
    return Graph(_core.nearest_neighbours(operand(points), k, code, symmetric, progress))
