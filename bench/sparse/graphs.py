"""The graphs of the sparse benchmark: real under PANTILE_DATA, else generated with the same statistics."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

import pantile

# name: (file under data/graphs, how to read it, nodes, directed edges, shape of the stand-in)
REAL = {
    "ego-twitter": ("snap/ego-twitter_und.edges1.csv.gz", "und", 81306, 2684606, "power"),
    "slashdot": ("snap/soc-slashdot0902_dir.edges1.csv.gz", "dir", 82168, 948464, "power"),
    "cit-hep-ph": ("snap/cit-hep-ph_dir.edges1.csv.gz", "dir", 34546, 421578, "power"),
    "ca-astroph": ("snap/ca-astroph-cc1_und.edges1.csv.gz", "und", 17903, 394003, "power"),
    "facebook-combined": ("snap/facebook-combined_und.edges1.csv.gz", "und", 4039, 176468, "power"),
    "copter2": ("metis/copter2.graph.gz", "metis", 55476, 704476, "mesh"),
    "4elt": ("networkit/4elt.graph.gz", "metis", 15606, 91756, "mesh"),
    "cora": ("planetoid_plain/cora.edges.csv.gz", "und0", 2708, 10556, "power"),
    "musae-facebook": ("musae/facebook_edges.csv.gz", "und0", 22470, 341825, "power"),
    "musae-de": ("musae/DE_edges.csv.gz", "und0", 9498, 306276, "power"),
}
QUICK = ("ego-twitter", "slashdot", "ca-astroph", "4elt", "cora", "r-mat")


def load(quick: bool) -> list[tuple[str, str, pantile.Graph]]:
    """(name, origin, graph) of every graph of the benchmark; origin is "real" or "generated"."""
    data = os.environ.get("PANTILE_DATA")
    folder = Path(data) / "data" / "graphs" if data else None
    graphs = []
    for name, (file, how, nodes, edges, shape) in REAL.items():
        if quick and name not in QUICK:
            continue
        if folder is not None and (folder / file).exists():
            graphs.append((name, "real", _read(folder / file, how, nodes)))
        else:
            graphs.append((name, "generated", stand_in(nodes, edges, shape, seed=len(graphs))))
    graphs.append(("r-mat", "generated", pantile.generate.rmat(scale=17, edge_factor=16, seed=3)))
    if not quick:
        graphs.append(
            ("communities", "generated", pantile.generate.community(nodes=131072, degree=16, community=64, seed=4))
        )
    # From CSR, so that the caller's edge order is CSR order: rivals and ours then share one array of weights.
    return [(name, origin, pantile.Graph.from_csr(g.ptr, g.col, g.shape)) for name, origin, g in graphs]


def _read(path: Path, how: str, nodes: int) -> pantile.Graph:
    if how == "metis":
        return pantile.read_graph(path, "metis")[0]
    base = 0 if how.endswith("0") else 1
    src, dst = _read_pairs(path, base)
    if how.startswith("und"):
        loop = src == dst
        src, dst = np.concatenate([src, dst[~loop]]), np.concatenate([dst, src[~loop]])
    return pantile.Graph.from_edge_index(np.stack([src, dst]), nodes)


def _read_pairs(path: Path, base: int) -> tuple[np.ndarray, np.ndarray]:
    import gzip

    with gzip.open(path, "rt") as lines:
        pairs = []
        for line in lines:
            head = line.split(",")[:2]
            if line.startswith("#") or not head[0].strip().isdigit() or line.count(",") > 2:
                continue  # comments, column names, and the "nodes,edges,u,graph" line of the SNAP collection
            pairs.append((int(head[0]), int(head[1])))
    table = np.asarray(pairs, dtype=np.int64) - base
    return table[:, 0].copy(), table[:, 1].copy()


def stand_in(nodes: int, edges: int, shape: str, seed: int) -> pantile.Graph:
    """A generated graph with the same node and edge counts: a banded mesh, or heavy-tailed degrees."""
    rng = np.random.default_rng(seed)
    if shape == "mesh":
        offsets = np.array([1, 2, int(nodes**0.5), int(nodes**0.5) + 1, 3, 2 * int(nodes**0.5), 4])
        each = max(1, edges // (2 * nodes))
        src = np.repeat(np.arange(nodes), each)
        dst = (src + np.tile(offsets[:each], nodes)) % nodes
        src, dst = np.concatenate([src, dst]), np.concatenate([dst, src])
    else:
        weight = rng.lognormal(0.0, 1.3, nodes)
        cumulative = np.cumsum(weight) / weight.sum()
        src = np.minimum(np.searchsorted(cumulative, rng.random(edges)), nodes - 1)
        dst = np.minimum(np.searchsorted(cumulative, rng.random(edges)), nodes - 1)
    return pantile.Graph.from_edge_index(np.stack([src, dst]).astype(np.int64), nodes)
