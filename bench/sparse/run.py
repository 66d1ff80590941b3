"""`./dev bench sparse`: Pantile's sparse operators and their rivals, interleaved in one run.

Writes one JSON document: `machine`, `versions`, `unavailable` (rival -> why), `noise` (a contestant against itself),
`records` (one per graph, operator, width, thread count) and `summary` (ratios of minima; see docs/benchmarks.md).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from timing import geomean, interleave

import pantile
import pantile.torch as pt
from sparse import attention, graphs, kernels, rivals

WIDTHS = (16, 32, 64, 128, 256)
ODD_WIDTHS = (7, 41, 100)
SCATTER_LIMIT = 3e8  # edges x width above which gather-scatter rivals would need gigabytes for one call


class Bench:
    """Runs the measurements and keeps their records."""

    def __init__(self, quick: bool):
        self.quick = quick
        self.budget = 0.25 if quick else 1.0
        self.records: list[dict] = []
        self.unavailable: dict[str, str] = {}
        try:
            rivals.import_dgl()
        except rivals.Unavailable as why:
            self.unavailable["dgl"] = str(why)

    def record(self, **fields) -> None:
        """Keeps one record and shows it on stderr."""
        self.records.append(fields)
        times = fields["seconds"]
        ours = times.get("ours")
        shown = " ".join(f"{k} {v / ours:.2f}" for k, v in times.items() if k != "ours") if ours else ""
        head = f"{fields['graph']:18s} {fields['op']:10s} F={fields['width']:<4} t={fields['threads']}"
        print(f"{head} ours {ours * 1e3:9.3f} ms   {shown}", file=sys.stderr, flush=True)

    def spmm(self, name: str, g: pantile.Graph) -> None:
        """SpMM against every rival."""
        arrays = Arrays(g)
        widths = (16, 41, 64, 128) if self.quick else WIDTHS + ODD_WIDTHS
        for width in widths:
            x = features(g.cols, width)
            for weighted in (True, False):
                for threads in (1, 2):
                    if self.quick and ((not weighted and width != 64) or (threads == 2 and width not in (16, 64))):
                        continue
                    torch.set_num_threads(threads)
                    seconds = self.fast_rivals(g, arrays, x, weighted, threads)
                    if width in (16, 64, 256) or self.quick:
                        seconds |= self.slow_rivals(g, arrays, x, weighted, seconds["ours"])
                    self.record(graph=name, op="spmm", width=width, threads=threads, weighted=weighted, seconds=seconds)
        torch.set_num_threads(1)

    def fast_rivals(self, g, arrays, x, weighted, threads) -> dict[str, float]:
        """Ours (twice: the noise), torch.sparse.mm with both index types."""
        w = arrays.weights if weighted else None
        values = arrays.w if weighted else arrays.ones
        calls = {"ours": lambda: pt.spmm(g, x, w), "ours_again": lambda: pt.spmm(g, x, w)}
        calls |= rivals.torch_csr(arrays.ptr, arrays.col, values, g.cols, x)
        seconds = interleave(calls, self.budget)
        if min(seconds["torch_int32"], seconds["torch_int64"]) < 1.1 * seconds["ours"]:
            # Close calls are measured longer, for both sides alike: the fewest calls make the noisiest minima.
            longer = interleave(calls, 4 * self.budget)
            seconds = {name: min(seconds[name], longer[name]) for name in seconds}
        return seconds

    def slow_rivals(self, g, arrays, x, weighted, ours_s) -> dict[str, float]:
        """scipy, gather-scatter, torch-geometric, DGL; ours beside them again, so that each ratio is of one run."""
        w = arrays.weights if weighted else None
        values = arrays.w if weighted else arrays.ones
        calls = {
            "ours_beside_slow": lambda: pt.spmm(g, x, w),
            "scipy": rivals.scipy_csr(arrays.ptr, arrays.col, values, g.cols, x.numpy()),
        }
        if g.edges * x.shape[1] <= SCATTER_LIMIT:
            calls["torch_scatter"] = rivals.torch_scatter(arrays.row, arrays.col64, w, g.rows, x)
            calls["pyg_scatter"] = rivals.pyg_scatter(torch.stack([arrays.col64, arrays.row]), w, x)
        if "dgl" not in self.unavailable and g.rows == g.cols:
            calls["dgl"] = rivals.dgl_spmm(arrays.col64, arrays.row, g.rows, w, x)
        return interleave(calls, self.budget, least_rounds=3)

    def bounds(self, name: str, g: pantile.Graph) -> None:
        """Shares of the gather roofline and of a copy; two threads against one; storage and operators against SpMM.

        Outputs are preallocated here: the roofline writes none, and page faults of a fresh output are not a kernel's.
        """
        arrays = Arrays(g)
        for width in (16, 64):
            x = features(g.cols, width)
            out = torch.empty(g.rows, width)
            source, target = torch.empty_like(x), torch.empty_like(x)
            calls = {
                "ours": kernels.spmm(g, x, None, out),
                "ours_weighted": kernels.spmm(g, x, arrays.weights, out),
                "roofline": kernels.roofline(g, x),
                "copy": lambda source=source, target=target: target.copy_(source),
            }
            if width == 64:
                half, half_out = x.bfloat16(), out.bfloat16()
                u, bias = features(g.rows, width), torch.zeros(width)
                edge_out = torch.empty(g.edges, 1)
                looped = with_loops(g)
                calls |= {
                    "bf16_weighted": kernels.spmm(g, half, arrays.weights, half_out),
                    "sddmm": kernels.sddmm_dot(g, u, x, edge_out),
                    "gcn": kernels.gcn(g, x, bias, out),
                    # The bare product of the same layer: the graph with its self-loops, normalised weights given.
                    "spmm_with_loops": kernels.spmm(looped, x, torch.rand(looped.edges), out),
                }
            torch.set_num_threads(1)
            seconds = interleave(calls, 2 * self.budget, least_rounds=15)
            self.record(
                graph=name, op="bounds", width=width, threads=1, degree=g.edges / max(g.rows, 1), seconds=seconds
            )
        x, out = features(g.cols, 64), torch.empty(g.rows, 64)
        best = {1: float("inf"), 2: float("inf")}
        for _ in range(
            3 if self.quick else 6
        ):  # the pool is remade when the number changes, so threads alternate in blocks
            for threads in best:
                torch.set_num_threads(threads)
                seconds = interleave({"ours": kernels.spmm(g, x, arrays.weights, out, threads)}, self.budget / 4)
                best[threads] = min(best[threads], seconds["ours"])
        torch.set_num_threads(1)
        self.record(
            graph=name, op="scaling", width=64, threads=2, seconds={"ours": best[2], "ours_one_thread": best[1]}
        )

    def build(self, name: str, g: pantile.Graph) -> None:
        """Building the graph and its plan from an edge list in random order, against one SpMM at width 64."""
        rng = np.random.default_rng(0)
        arrays = Arrays(g)
        order = rng.permutation(g.edges)
        edge_index = np.stack([arrays.col[order].astype(np.int64), arrays.rows_of_edges[order]])
        x = features(g.cols, 64)
        for threads in (1, 2):
            torch.set_num_threads(threads)
            pantile.set_num_threads(threads)  # building has no torch call around it that would say
            calls = {
                "ours": lambda: pt.spmm(g, x, arrays.weights),
                "build": lambda: kernels.plan(pantile.Graph.from_edge_index(edge_index, g.rows)),
            }
            self.record(graph=name, op="build", width=64, threads=threads, seconds=interleave(calls, self.budget))
        torch.set_num_threads(1)
        pantile.set_num_threads(0)


class Arrays:
    """The arrays of a graph in the forms that rivals take; weights in the caller's order, which is CSR order here."""

    def __init__(self, g: pantile.Graph):
        self.ptr, self.col = np.array(g.ptr), np.array(g.col)
        self.rows_of_edges = np.repeat(np.arange(g.rows, dtype=np.int64), np.diff(self.ptr))
        self.w = (np.random.default_rng(1).random(g.edges, np.float32) + np.float32(0.1)).astype(np.float32)
        self.ones = np.ones(g.edges, np.float32)
        self.weights = torch.from_numpy(self.w)
        self.row, self.col64 = torch.from_numpy(self.rows_of_edges), torch.from_numpy(self.col.astype(np.int64))


def with_loops(g: pantile.Graph) -> pantile.Graph:
    """The graph with a loop on every node that has none, its edges numbered in CSR order."""
    made = g.with_remaining_self_loops()
    return pantile.Graph.from_csr(made.ptr, made.col, made.shape)


def features(rows: int, width: int) -> torch.Tensor:
    """Uniform features, the same in every run."""
    return torch.rand(rows, width, generator=torch.Generator().manual_seed(width)) - 0.3


def summarise(records: list[dict], have_dgl: bool) -> dict[str, float | None]:
    """The summary keys: ratios of minima, geometric means over graphs (and widths 16..256 for `geomean_vs_torch`)."""

    def ratio(record, over, under):
        s = record["seconds"]
        return s[over] / s[under] if over in s and under in s else None

    spmm = [r for r in records if r["op"] == "spmm"]
    even = [r for r in spmm if r["width"] in WIDTHS]
    versus_torch = [min(r["seconds"][k] for k in ("torch_int32", "torch_int64")) / r["seconds"]["ours"] for r in even]
    bounds64 = [r for r in records if r["op"] == "bounds" and r["width"] == 64]
    bounds16 = [r for r in records if r["op"] == "bounds" and r["width"] == 16]

    def share(rows, low, high):
        return geomean(ratio(r, "roofline", "ours") for r in rows if low <= r["degree"] < high)

    gat = {(r["heads"], r["dim"]): [] for r in records if r["op"] == "gat"}
    for r in records:
        if r["op"] == "gat":
            gat[r["heads"], r["dim"]].append(ratio(r, "pyg", "ours"))
    memory = [r["bytes"]["ours"] / r["bytes"]["pyg"] for r in records if r["op"] == "gat_memory"]
    scaling = [r for r in records if r["op"] == "scaling" and r["seconds"]["ours_one_thread"] >= 1e-3]
    return {
        "geomean_vs_torch": geomean(versus_torch),
        "min_vs_torch": min(versus_torch, default=None),
        "geomean_vs_scipy": geomean(ratio(r, "scipy", "ours_beside_slow") for r in spmm),
        "geomean_vs_pyg_scatter": geomean(ratio(r, "pyg_scatter", "ours_beside_slow") for r in spmm),
        "geomean_vs_dgl": geomean(ratio(r, "dgl", "ours_beside_slow") for r in spmm) if have_dgl else None,
        "roofline_f64_deg20": share(bounds64, 20, float("inf")),
        "roofline_f64_deg10to20": share(bounds64, 10, 20),
        "roofline_f64_short": share(bounds64, 0, 10),
        "roofline_f16": share(bounds16, 0, float("inf")),
        "scaling_2_threads": geomean(ratio(r, "ours_one_thread", "ours") for r in scaling),
        "fused_gcn_over_spmm": geomean(ratio(r, "gcn", "spmm_with_loops") for r in bounds64),
        "bf16_speedup": geomean(ratio(r, "ours_weighted", "bf16_weighted") for r in bounds64),
        "sddmm_over_spmm": geomean(ratio(r, "sddmm", "ours_weighted") for r in bounds64),
        "gat_1x64_vs_pyg": geomean(gat.get((1, 64), [])),
        "gat_8x8_vs_pyg": geomean(gat.get((8, 8), [])),
        "gat_memory_vs_pyg": geomean(memory),
        "build_over_spmm": geomean(
            ratio(r, "build", "ours") for r in records if r["op"] == "build" and r["threads"] == 1
        ),
    }


def noise(records: list[dict]) -> dict[str, float]:
    """Spread of ours against itself: what a ratio must exceed before it means anything."""
    ratios = sorted(
        max(q, 1 / q)
        for r in records
        if "ours_again" in r["seconds"]
        for q in [r["seconds"]["ours_again"] / r["seconds"]["ours"]]
    )
    if not ratios:
        return {"median": 1.0, "p95": 1.0}
    return {"median": ratios[len(ratios) // 2], "p95": ratios[min(len(ratios) - 1, int(0.95 * len(ratios)))]}


def document_of(bench: Bench, options: argparse.Namespace, began: float) -> dict:
    """Everything measured so far, with its summary."""
    summary = summarise(bench.records, "dgl" not in bench.unavailable)
    return {
        "benchmark": "sparse",
        "quick": options.quick,
        "machine": {"cpu": rivals.cpu_name(), "simd": pantile.cpu_info()["simd_target"]},
        "versions": rivals.versions() | {"pantile": pantile.__version__},
        "unavailable": bench.unavailable,
        "noise": noise(bench.records),
        "seconds": time.time() - began,
        "summary": {k: v for k, v in summary.items() if v is not None} if options.only else summary,
        "records": bench.records,
    }


def main() -> int:
    """Runs the benchmark; prints the summary as JSON on stdout."""
    parser = argparse.ArgumentParser(prog="./dev bench sparse", description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer graphs, widths and repetitions: about ten minutes")
    parser.add_argument("--json", metavar="FILE", help="where the whole document goes")
    parser.add_argument("--only", default="", help="operators to run, comma-separated: spmm,bounds,build,gat")
    options = parser.parse_args()
    only = set(filter(None, options.only.split(","))) or {"spmm", "bounds", "build", "gat"}
    began = time.time()
    torch.manual_seed(0)
    bench = Bench(options.quick)
    for name, origin, g in graphs.load(options.quick):
        print(f"# {name} ({origin}): {g.rows} nodes, {g.edges} edges", file=sys.stderr, flush=True)
        if "bounds" in only:
            bench.bounds(name, g)
        if "build" in only:
            bench.build(name, g)
        if "gat" in only:
            attention.measure(bench, name, g)
        if "spmm" in only:
            bench.spmm(name, g)
        document = document_of(bench, options, began)
        if options.json:  # after every graph: an interrupted run keeps what it measured
            Path(options.json).write_text(json.dumps(document, indent=1))
    print(json.dumps(document["summary"], indent=1))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
