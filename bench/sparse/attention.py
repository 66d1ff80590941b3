"""Fused GAT against torch-geometric's: time of forward plus backward, and peak memory of each in a fresh process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from timing import interleave

from sparse import rivals

SHAPES = ((1, 64), (8, 8))
LIMIT = 2.0e8  # edges x heads x dim of torch-geometric's messages: above it one call takes many seconds


def contestants(g, heads: int, dim: int) -> dict[str, Callable]:
    """ours, pyg: attention alone (projected features and logits given), forward and backward to features and logits."""
    import pantile.torch as pt

    generator = torch.Generator().manual_seed(heads)
    ptr = np.asarray(g.ptr)
    edge_index = torch.stack(
        [
            torch.from_numpy(np.asarray(g.col).astype(np.int64)),
            torch.from_numpy(np.repeat(np.arange(g.rows), np.diff(ptr))),
        ]
    )
    v = torch.rand(g.cols, heads * dim, generator=generator).requires_grad_()
    a_src = torch.rand(g.cols, heads, generator=generator).requires_grad_()
    a_dst = torch.rand(g.rows, heads, generator=generator).requires_grad_()
    dy = torch.rand(g.rows, heads * dim, generator=generator)
    layer = rivals.pyg_gat(heads, dim, dim)

    def clear():
        for t in (v, a_src, a_dst):
            t.grad = None

    def pyg():
        clear()
        alpha = layer.edge_updater(edge_index, alpha=(a_src, a_dst), edge_attr=None, size=None)
        values = v.view(-1, heads, dim)
        layer.propagate(edge_index, x=(values, values), alpha=alpha, size=None).backward(dy.view(-1, heads, dim))

    def ours():
        clear()
        pt.gat(g, a_src, a_dst, v, heads=heads, negative_slope=0.2).backward(dy)

    return {"ours": ours, "pyg": pyg}


def measure(bench, name: str, g) -> None:
    """Time on every graph that torch-geometric can do in seconds; memory on those too."""
    torch.set_num_threads(1)
    for heads, dim in SHAPES:
        if g.edges * heads * dim > LIMIT or g.rows != g.cols:
            continue
        seconds = interleave(contestants(g, heads, dim), bench.budget, least_rounds=3)
        bench.record(graph=name, op="gat", width=heads * dim, threads=1, heads=heads, dim=dim, seconds=seconds)
        if g.edges >= 100_000:  # below that a page of slack is a large share
            peak = peak_bytes(g, heads, dim)
            bench.records.append(
                {"graph": name, "op": "gat_memory", "heads": heads, "dim": dim, "bytes": peak, "seconds": {}}
            )
            print(f"{name:18s} gat memory {heads}x{dim}: ours / pyg {peak['ours'] / peak['pyg']:.3f}", file=sys.stderr)


def peak_bytes(g, heads: int, dim: int) -> dict[str, int]:
    """Growth of the resident set at its peak, each contestant in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.npz"
        np.savez(path, ptr=np.asarray(g.ptr), col=np.asarray(g.col))
        peaks = {}
        for who in ("ours", "pyg"):
            run = [sys.executable, "-m", "sparse.attention", str(path), str(heads), str(dim), who]
            env = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
            out = subprocess.run(run, capture_output=True, text=True, check=True, env=env)
            peaks[who] = json.loads(out.stdout)["bytes"]
    return peaks


def _resident(key: str) -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(key + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"/proc/self/status has no {key}")


def _child(path: str, heads: int, dim: int, who: str) -> None:
    import pantile

    torch.set_num_threads(1)
    with np.load(path) as file:
        rows = len(file["ptr"]) - 1
        g = pantile.Graph.from_csr(file["ptr"], file["col"], (rows, rows))
    g.prepare()  # schedules and the transpose: part of the graph, as torch-geometric's edge_index is
    call = contestants(g, heads, dim)[who]
    small = pantile.Graph.from_edge_index(np.array([[0, 1], [1, 0]]), 2)
    contestants(small, heads, dim)[who]()  # loads libraries and code before the measurement begins
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak to what is resident now
    before = _resident("VmRSS")
    call()
    print(json.dumps({"bytes": max(_resident("VmHWM") - before, 1)}))


if __name__ == "__main__":
    _child(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
