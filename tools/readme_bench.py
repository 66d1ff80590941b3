"""Puts the figures of a benchmark document into README.md, between its two markers: python3 tools/readme_bench.py bench.json

The document is what `./dev bench sparse --json bench.json` writes; nothing in the table is typed by hand."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

BEGIN, END = "<!-- bench:begin -->", "<!-- bench:end -->"
# key of `summary`: what it says, and whether a larger value is better for us
ROWS = {
    "geomean_vs_torch": "SpMM against torch.sparse.mm (CSR), geometric mean",
    "min_vs_torch": "the same, the worst case",
    "geomean_vs_scipy": "SpMM against scipy.sparse",
    "geomean_vs_pyg_scatter": "SpMM against torch-geometric's gather and scatter",
    "geomean_vs_dgl": "SpMM against DGL",
    "gat_1x64_vs_pyg": "GAT forward and backward against torch-geometric, 1 head x 64",
    "gat_8x8_vs_pyg": "the same, 8 heads x 8",
    "gat_memory_vs_pyg": "peak memory of GAT, as a share of torch-geometric's",
    "fused_gcn_over_spmm": "time of a whole GCN layer over the bare SpMM",
    "sddmm_over_spmm": "time of SDDMM over SpMM, width 64",
    "bf16_speedup": "bfloat16 storage against float32",
    "scaling_2_threads": "two threads against one",
    "build_over_spmm": "building graph and plan from an edge list, over one SpMM of width 64",
    "roofline_f64_deg20": "share of the gather roofline, width 64, mean degree 20 or more",
    "roofline_f64_deg10to20": "the same, mean degree 10 to 20",
    "roofline_f64_short": "the same, mean degree below 10",
    "roofline_f16": "the same, width 16",
}
TIMES = {"geomean_vs_torch", "min_vs_torch", "geomean_vs_scipy", "geomean_vs_pyg_scatter", "geomean_vs_dgl", "gat_1x64_vs_pyg", "gat_8x8_vs_pyg"}


def table(document: dict) -> str:
    """The document as a Markdown table with the machine and versions it was measured on."""
    summary = document["summary"]
    lines = ["| measured | value |", "|---|---|"]
    for key, text in ROWS.items():
        if key not in summary:
            continue
        value = summary[key]
        shown = "unavailable here" if value is None else f"{value:.2f}x faster" if key in TIMES and value >= 1 else f"{value:.2f}"
        lines.append(f"| {text} | {shown} |")
    machine = document.get("machine", {})
    versions = ", ".join(f"{name} {version}" for name, version in document.get("versions", {}).items() if version)
    noise = document.get("noise", {})
    lines += ["", f"Ratios of minima of interleaved calls, one thread unless said; {machine.get('cpu', 'unknown CPU')}, {machine.get('simd', '')}; {versions}."]
    if noise:
        lines.append(f"One contestant against itself in the same run: median {noise['median']:.3f}, 95th percentile {noise['p95']:.3f}.")
    for rival, why in document.get("unavailable", {}).items():
        lines.append(f"{rival} could not run: {why.splitlines()[0][:200]}")
    return "\n".join(lines)


def main() -> int:
    """Rewrites README.md in place."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("document", type=Path)
    parser.add_argument("--readme", type=Path, default=Path(__file__).resolve().parents[1] / "README.md")
    options = parser.parse_args()
    text = options.readme.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        print(f"{options.readme}: the markers {BEGIN} and {END} are missing", file=sys.stderr)
        return 2
    head, rest = text.split(BEGIN, 1)
    document = json.loads(options.document.read_text(encoding="utf-8"))
    options.readme.write_text(f"{head}{BEGIN}\n{table(document)}\n{END}{rest.split(END, 1)[1]}", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
