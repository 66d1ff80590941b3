"""Prints the table of a benchmark document, or compares two of them, and calls nothing a win inside the measured noise.

    python bench/compare.py now.json              every rival against ours, per operator and width
    python bench/compare.py before.json now.json  the same measurement of ours in two documents

Exit code 1 when, with two documents, something became slower by more than the noise of both.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import defaultdict
from pathlib import Path


def load(path: str) -> dict:
    """Reads a document and says plainly what is wrong with a bad one."""
    try:
        document = json.loads(Path(path).read_text())
    except (OSError, json.JSONDecodeError) as error:
        raise SystemExit(f"compare: {path}: {error}") from error
    missing = [k for k in ("summary", "noise", "records") if k not in document]
    if missing:
        raise SystemExit(f"compare: {path}: not a benchmark document: {', '.join(missing)} missing")
    return document


def verdict(ratio: float, noise: float) -> str:
    """ratio > 1 means ours is faster; inside the noise nothing is said."""
    if ratio > noise:
        return "win"
    if ratio < 1 / noise:
        return "loss"
    return "within noise"


def geomean(values: list[float]) -> float:
    """Geometric mean."""
    return math.exp(sum(map(math.log, values)) / len(values))


def table(document: dict) -> list[tuple[str, ...]]:
    """One row per operator, width, threads and rival: geometric mean, range, verdict."""
    noise = document["noise"]["p95"]
    ratios = defaultdict(list)
    for record in document["records"]:
        seconds = record["seconds"]
        for rival, value in seconds.items():
            if rival.startswith("ours"):
                continue
            base = (
                seconds.get("ours_beside_slow") if rival in ("scipy", "torch_scatter", "pyg_scatter", "dgl") else None
            )
            ratios[record["op"], record["width"], record["threads"], rival].append(value / (base or seconds["ours"]))
    rows = []
    for (op, width, threads, rival), values in sorted(ratios.items()):
        mean = geomean(values)
        rows.append(
            (
                op,
                str(width),
                str(threads),
                rival,
                f"{mean:.2f}",
                f"{min(values):.2f}-{max(values):.2f}",
                verdict(mean, noise),
            )
        )
    return rows


def changes(before: dict, now: dict) -> list[tuple[str, ...]]:
    """Ours now against ours before, per graph, operator, width and threads."""
    noise = before["noise"]["p95"] * now["noise"]["p95"]

    def key(r):
        return r["graph"], r["op"], r["width"], r["threads"], r.get("weighted"), r.get("heads")

    old = {key(r): r["seconds"]["ours"] for r in before["records"] if "ours" in r["seconds"]}
    rows = []
    for r in now["records"]:
        if "ours" in r["seconds"] and key(r) in old:
            ratio = old[key(r)] / r["seconds"]["ours"]
            rows.append(
                (r["graph"], r["op"], str(r["width"]), str(r["threads"]), f"{ratio:.2f}", verdict(ratio, noise))
            )
    return rows


def show(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> None:
    """Aligned columns on stdout."""
    widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
    for row in [header, *rows]:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(
        prog="bench/compare.py", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("documents", nargs="+", metavar="FILE", help="one or two JSON files of `./dev bench`")
    options = parser.parse_args()
    if len(options.documents) > 2:
        parser.error("give one or two documents")
    documents = [load(path) for path in options.documents]
    if len(documents) == 1:
        noise = documents[0]["noise"]
        print(
            "time of the rival / ours; noise of one contestant against itself: "
            f"median {noise['median']:.3f}, p95 {noise['p95']:.3f}"
        )
        show(("op", "width", "threads", "rival", "geomean", "range", "verdict"), table(documents[0]))
        for rival, why in documents[0].get("unavailable", {}).items():
            print(f"{rival}: unavailable: {why}")
        print()
        show(
            ("summary", "value"), [(k, "null" if v is None else f"{v:.3f}") for k, v in documents[0]["summary"].items()]
        )
        return 0
    rows = changes(*documents)
    show(("graph", "op", "width", "threads", "before/now", "verdict"), rows)
    return 1 if any(row[-1] == "loss" for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
